//go:build linux

package hosttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/plugintest"
	"conclave/app/test/programtest"
	"conclave/app/test/testkit"
	"conclave/app/tool"
)

// openers is a plugin that opens files in every way that a plugin in Python can.
const openers = `
import ctypes, errno, os, pathlib, shutil, struct, threading

def read(path: str) -> str:
    "Read a file."
    with open(path) as f:
        return f.read()

def read_by_path(path: str) -> str:
    "Read a file as pathlib does."
    return pathlib.Path(path).read_text()

def listing(path: str) -> str:
    "List a folder."
    names = sorted(os.listdir(path))
    walked = sorted(name for _, folders, files in os.walk(path) for name in folders + files)
    return " ".join(names) + " / " + " ".join(walked)

def write(path: str, text: str) -> str:
    "Write a file."
    with open(path, "w") as f:
        f.write(text)
    return "written"

def add(path: str, text: str) -> str:
    "Add to a file."
    fd = os.open(path, os.O_WRONLY | os.O_APPEND)
    os.write(fd, text.encode())
    os.close(fd)
    return "added"

def link(path: str) -> str:
    "Make a link in its own folder, and read through it."
    here = os.path.join(os.environ["HOME"], "link")
    if os.path.lexists(here):
        os.unlink(here)
    os.symlink(path, here)
    with open(here) as f:
        return f.read()

def process() -> int:
    "Say which process this is."
    return os.getpid()

libc = ctypes.CDLL(None, use_errno=True)

def ask(path, flags: int, resolve: int = 0, at: int = -100) -> str:
    how = ctypes.create_string_buffer(struct.pack("=QQQ", flags, 0, resolve), 24)
    fd = libc.syscall(ctypes.c_long(437), ctypes.c_long(at), path, how, ctypes.c_size_t(24))
    if fd < 0:
        return errno.errorcode[ctypes.get_errno()]
    if flags & os.O_DIRECTORY:
        return " ".join(sorted(os.listdir(fd)))
    with os.fdopen(fd, "rb") as f:
        return f.read().decode()

def raw(path: str, flags: int = 0, resolve: int = 0) -> str:
    "Ask past every library."
    return ask(path.encode(), flags, resolve)

def below(folder: str, name: str) -> str:
    "Ask for a folder, and then for something from there on."
    how = ctypes.create_string_buffer(struct.pack("=QQQ", os.O_RDONLY | os.O_DIRECTORY, 0, 0), 24)
    fd = libc.syscall(ctypes.c_long(437), ctypes.c_long(-100), folder.encode(), how, ctypes.c_size_t(24))
    if fd < 0:
        return errno.errorcode[ctypes.get_errno()]
    try:
        return ask(name.encode(), 0, at=fd) + " " + str(os.open(name, os.O_RDONLY, dir_fd=fd))
    except OSError as e:
        return errno.errorcode[e.errno]

def changing(good: str, bad: str) -> str:
    "Ask for one file while a thread changes the name, and the link that it names, to another's."
    own = os.environ["HOME"]
    a, b, here = (os.path.join(own, n) for n in ("a", "b", "here"))
    for link, to in ((a, good), (b, bad)):
        if not os.path.lexists(link):
            os.symlink(to, link)
    size = max(len(good), len(bad), len(here)) + 1
    memory = ctypes.create_string_buffer(good.encode(), size)
    over = False
    def flip():
        while not over:
            for text in (bad, good, here):
                ctypes.memmove(memory, text.encode() + b"\0", len(text) + 1)
            for link in (a, b):
                temporary = here + ".new"
                os.symlink(os.readlink(link), temporary)
                os.rename(temporary, here)
    t = threading.Thread(target=flip)
    t.start()
    try:
        seen = {ask(memory, 0) for _ in range(60)}
    finally:
        over = True
        t.join()
    ctypes.memmove(memory, good.encode() + b"\0", len(good) + 1)
    return " ".join(sorted(seen)) + ", at last " + ask(memory, 0)
`

// archive is a host with that plugin, approved, and a folder of the person's with a letter.
func archive(t *testing.T) (c *core, letters, outside string) {
	t.Helper()
	c = open(t, t.TempDir(), t.TempDir())
	programtest.Held(t, c.launcher.Confinement())
	c.write("notes.py", openers)
	c.approved("notes")
	home := t.TempDir()
	letters, outside = filepath.Join(home, "Letters"), filepath.Join(home, "Other")
	for path, text := range map[string]string{
		"Letters/a.txt": "dear a", "Letters/old/b.txt": "dear b", "Other/secret.txt": "the secret",
	} {
		path = filepath.Join(home, path)
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return c, letters, outside
}

// object is arguments of a call.
func object(t *testing.T, names ...string) string {
	t.Helper()
	values := map[string]string{}
	for i := 0; i < len(names); i += 2 {
		values[names[i]] = names[i+1]
	}
	text, err := json.Marshal(values)
	must(t, err)
	return string(text)
}

// asks makes a call that a person is asked about once, and answers.
func (c *core) asks(id, arguments, title string, a gate.Answer) string {
	c.t.Helper()
	ended := make(chan tool.Result)
	go func() { ended <- c.call(id, arguments) }() // ends with the answer
	var requests []gate.Request
	testkit.Until(c.t, "a request", func() bool { requests = c.gate.Questions.List(); return len(requests) == 1 })
	if r := requests[0]; !strings.HasSuffix(r.Title, title) || r.Plugin != "notes" {
		c.t.Errorf("%s: asked %q, want %q: %+v", id, r.Title, title, r)
	}
	must(c.t, c.gate.Questions.Answer(c.t.Context(), requests[0].ID, requests[0].Nonce, a))
	r := <-ended
	return strings.TrimSpace(chat.TextOf(r.Content) + " " + r.Error)
}

func TestAFolderIsAskedForAtTheMomentItIsUsed(t *testing.T) {
	t.Parallel()
	c, letters, _ := archive(t)
	t.Cleanup(c.gate.Questions.Attach())
	letter := object(t, "path", filepath.Join(letters, "a.txt"))
	process := c.said("notes:process", "{}")
	if r := c.call("notes:process", "{}"); r.Outside {
		t.Error("a plugin that was given no file returns what others wrote")
	}
	once, always := gate.Answer{Effect: gate.Allow, Scope: gate.Once},
		gate.Answer{Effect: gate.Allow, Scope: gate.Always}
	reads, writes := " wants to read "+letters, " wants to read and write "+letters

	no := gate.Answer{Effect: gate.Deny, Reason: "Not today"}
	got := c.asks("notes:read", letter, reads, no)
	if !strings.Contains(got, "Permission denied") || !strings.Contains(got, "may not read files in "+letters) {
		t.Errorf("denied: %q", got)
	}
	s, err := c.host.Status("notes")
	must(t, err)
	if len(s.Refused) != 1 || s.Refused[0].Path != letters || s.Refused[0].Write {
		t.Errorf("the card says that it was refused %+v", s.Refused)
	}
	for _, id := range []string{"notes:read", "notes:read_by_path", "notes:raw"} {
		if got := c.asks(id, letter, reads, once); got != "dear a" {
			t.Errorf("%s: %q", id, got)
		}
	}
	if got := c.asks("notes:read", letter, reads, always); got != "dear a" {
		t.Errorf("always: %q", got)
	}
	if r := c.call("notes:process", "{}"); !r.Outside { // it may have kept what it read
		t.Error("what a plugin returns that was given a file is taken for its own")
	}
	for _, one := range []struct{ id, path, want string }{
		{"notes:read", "a.txt", "dear a"},
		{"notes:read", "old/b.txt", "dear b"},
		{"notes:link", "old/b.txt", "dear b"},
		{"notes:listing", "", "a.txt old / a.txt b.txt old"},
	} {
		if got := c.said(one.id, object(t, "path", filepath.Join(letters, one.path))); got != one.want {
			t.Errorf("%s of %s: %q, want %q", one.id, one.path, got, one.want)
		}
	}
	text := []string{"path", filepath.Join(letters, "new.txt"), "text", "dear c"}
	if got := c.asks("notes:write", object(t, text...), writes, always); got != "written" {
		t.Errorf("write: %q", got)
	}
	if got := c.said("notes:add", object(t, text...)); got != "added" {
		t.Errorf("add: %q", got)
	}
	if written, err := os.ReadFile(filepath.Join(letters, "new.txt")); err != nil || string(written) != "dear cdear c" {
		t.Errorf("the file holds %q, %v", written, err)
	}
	if s, err = c.host.Status("notes"); err != nil || len(s.Folders) != 1 || s.Folders[0].Path != letters ||
		!s.Folders[0].Write || len(s.Refused) != 0 {
		t.Errorf("the card has the folders %+v and refused %+v, %v", s.Folders, s.Refused, err)
	}
	if after := c.said("notes:process", "{}"); after != process {
		t.Errorf("the process %s was started again as %s for a folder", process, after)
	}
	must(t, c.gate.Reach.RevokeFolder(t.Context(), "notes", letters))
	if after := c.said("notes:process", "{}"); after == process {
		t.Error("the process that may have its files open goes on")
	}
	if got := c.asks("notes:read", letter, reads, no); !strings.Contains(got, "Permission denied") {
		t.Errorf("taken back: %q", got)
	}
}

// The time of a call does not run while a person is asked for what it does, and runs again
// once they answered.
func TestACallHasItsTimeWhileAPersonIsAsked(t *testing.T) {
	t.Parallel()
	c, letters, _ := archive(t)
	t.Cleanup(c.gate.Questions.Attach())
	process := c.said("notes:process", "{}")
	found, _ := c.tools.Set().ByID("notes:read")
	invoker, _ := c.tools.Set().Invoker("notes:read")
	r := plugintest.AnswerLate(t.Context(), t, c.gate, invoker, tool.Call{
		ID: "c", Tool: found, Arguments: json.RawMessage(object(t, "path", filepath.Join(letters, "a.txt"))),
	})
	if chat.TextOf(r.Content) != "dear a" {
		t.Errorf("it came to %+v", r)
	}
	if after := c.said("notes:process", "{}"); after != process {
		t.Errorf("the process %s was ended, and started again as %s", process, after)
	}
}

// Nobody is asked for a call that is over, nor can they allow what it wanted to do.
func TestAttackACallThatIsOverOpensNothingAnyMore(t *testing.T) {
	t.Parallel()
	c, letters, _ := archive(t)
	t.Cleanup(c.gate.Questions.Attach())
	path := filepath.Join(letters, "a.txt")
	found, _ := c.tools.Set().ByID("notes:write")
	invoker, _ := c.tools.Set().Invoker("notes:write")
	ctx, stop := context.WithCancel(gate.WithBehalf(t.Context(), gate.Call{ID: "c", Tool: found}))
	ended := make(chan tool.Result)
	go func() { // ends with stop
		r, err := invoker.Call(ctx, tool.Call{
			ID: "c", Tool: found, Arguments: json.RawMessage(object(t, "path", path, "text", "overwritten")),
			Deadline: time.Now().Add(time.Hour),
		})
		if err != nil {
			t.Error(err)
		}
		ended <- r
	}()
	var requests []gate.Request
	testkit.Until(t, "a request", func() bool { requests = c.gate.Questions.List(); return len(requests) == 1 })
	stop()
	if r := <-ended; r.Status != chat.CallCancelled {
		t.Errorf("it came to %+v", r)
	}
	testkit.Until(t, "the request to go", func() bool { return len(c.gate.Questions.List()) == 0 })
	err := c.gate.Questions.Answer(t.Context(), requests[0].ID, requests[0].Nonce, gate.Answer{Effect: gate.Allow})
	if fault.KindOf(err) != fault.Conflict {
		t.Errorf("it was allowed afterwards: %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "dear a" {
		t.Errorf("the file says %q, %v", text, err)
	}
}

// A folder that a person opened for the main model is not open to a member of the council.
func TestAttackAMembersCallWritesThroughAFolderOpenedForTheMainModel(t *testing.T) {
	t.Parallel()
	c, letters, _ := archive(t)
	t.Cleanup(c.gate.Questions.Attach())
	text := []string{"path", filepath.Join(letters, "new.txt"), "text", "dear c"}
	always := gate.Answer{Effect: gate.Allow, Scope: gate.Always}
	got := c.asks("notes:write", object(t, text...), " wants to read and write "+letters, always)
	if got != "written" {
		t.Fatal(got)
	}
	found, _ := c.tools.Set().ByID("notes:write")
	invoker, _ := c.tools.Set().Invoker("notes:write")
	ada := gate.Call{ID: "c", Caller: "member:ada", Tool: found, Capabilities: []gate.Capability{gate.Compute}}
	path := filepath.Join(letters, "ada.txt")
	r, err := invoker.Call(gate.WithBehalf(t.Context(), ada), tool.Call{
		ID: "c", Tool: found, Arguments: json.RawMessage(object(t, "path", path, "text", "by Ada")),
		Deadline: time.Now().Add(time.Hour),
	})
	must(t, err)
	if _, err := os.Stat(path); !os.IsNotExist(err) || !strings.Contains(r.Error, "may not write files in "+letters) {
		t.Errorf("it came to %+v, and the file: %v", r, err)
	}
}

func TestAttackAPluginOpensWhatNobodyLetItOpen(t *testing.T) {
	t.Parallel()
	c, letters, outside := archive(t)
	t.Cleanup(c.gate.Questions.Attach())
	letter, secret := filepath.Join(letters, "a.txt"), filepath.Join(outside, "secret.txt")
	always := gate.Answer{Effect: gate.Allow, Scope: gate.Always}
	if got := c.asks("notes:read", object(t, "path", letter), " wants to read "+letters, always); got != "dear a" {
		t.Fatal(got)
	}
	// Where a link leads is asked about, and so is what ".." leads to, in the system's order.
	must(t, os.Symlink(secret, filepath.Join(letters, "to.txt")))
	must(t, os.Symlink(outside, filepath.Join(letters, "sub")))
	must(t, os.Symlink(filepath.Join(letters, "nothing"), filepath.Join(letters, "dangling")))
	no := gate.Answer{Effect: gate.Deny}
	for _, path := range []string{"to.txt", "sub/secret.txt", "../Other/secret.txt", "sub/../Other/secret.txt"} {
		arguments := object(t, "path", letters+"/"+path)
		for _, id := range []string{"notes:raw", "notes:link"} {
			if got := c.asks(id, arguments, " wants to read "+outside, no); strings.Contains(got, "the secret") {
				t.Errorf("%s of %s: %q", id, path, got)
			}
		}
	}
	// Nobody is asked about what no plugin is given, and the system refuses it.
	must(t, os.WriteFile(filepath.Join(c.data, "key.txt"), []byte("the key"), 0o600))
	home, err := os.UserHomeDir()
	must(t, err)
	for _, path := range []string{
		"/etc/shadow", "/proc/1/environ", "/proc/self/root" + secret, "/proc/self/cwd/../../" + secret, "/dev/kmsg",
		"/run/x", filepath.Join(c.data, "key.txt"), filepath.Join(home, ".ssh", "id_ed25519"), "/", home,
		"/proc/thread-self/root" + letter,
	} {
		switch got := c.said("notes:raw", object(t, "path", path)); got {
		case "EACCES", "ENOENT", "EPERM":
		default:
			t.Errorf("%s: %q", path, got)
		}
	}
	for _, one := range []string{
		`{"path":%q,"resolve":8}`, `{"path":%q,"flags":2097152}`, `{"path":%q,"flags":4259840}`, `{"path":%q,"flags":3}`,
	} { // O_PATH, O_TMPFILE and both ways at once are left to the system
		switch got := c.said("notes:raw", fmt.Sprintf(one, secret)); got {
		case "EACCES", "EINVAL", "EXDEV", "EISDIR", "ENOTDIR":
		case "OSError: [Errno 9] Bad file descriptor": // opened, and not to be read
		default:
			t.Errorf("%s: %q", one, got)
		}
	}
	if got := c.said("notes:below", object(t, "folder", letters, "name", "a.txt")); got != "EACCES" {
		t.Errorf("from a folder that was let: %q", got)
	}
	if got := c.said("notes:write", object(t, "path", filepath.Join(letters, "dangling"), "text", "x")); got == "written" {
		t.Error("a link to nothing was written through")
	}
	// What changes while it is asked for is what was asked about, or nothing.
	must(t, c.gate.Reach.SetPermission(t.Context(), "notes", gate.Filesystem, gate.Ask))
	must(t, openRule(c, letters, gate.Allow))
	must(t, openRule(c, outside, gate.Deny))
	if got := c.said("notes:changing", object(t, "good", letter, "bad", secret)); strings.Contains(got, "the secret") ||
		!strings.HasSuffix(got, ", at last dear a") {
		t.Errorf("while it changes: %q", got)
	}
	if requests := c.gate.Questions.List(); len(requests) != 0 {
		t.Errorf("asked: %+v", requests)
	}
}

// A person says never to one folder, and later grants the one around it.
func TestAttackAProcessOpensWhatARuleRefusesOfAGrantedFolder(t *testing.T) {
	t.Parallel()
	c, letters, outside := archive(t)
	t.Cleanup(c.gate.Questions.Attach())
	letter, secret := object(t, "path", filepath.Join(letters, "a.txt")),
		object(t, "path", filepath.Join(outside, "secret.txt"))
	never := gate.Answer{Effect: gate.Deny, Scope: gate.Always}
	c.asks("notes:read", letter, " wants to read "+letters, never)
	around := gate.Folder{Path: filepath.Dir(letters)}
	_, err := c.gate.Reach.GrantFolder(t.Context(), "notes", around)
	must(t, err)
	refused := func(when string) {
		t.Helper()
		for _, id := range []string{"notes:read", "notes:raw", "notes:link"} {
			if got := c.said(id, letter); strings.Contains(got, "dear a") {
				t.Errorf("%s, %s reads what is refused: %q", when, id, got)
			}
			if got := c.said(id, secret); got != "the secret" {
				t.Errorf("%s, %s does not read what was granted: %q", when, id, got)
			}
		}
	}
	refused("granted after the no")
	rules, err := c.gate.Rules.List(t.Context())
	must(t, err)
	for _, rule := range rules {
		if rule.Effect == gate.Deny {
			_, err := c.gate.Rules.Revoke(t.Context(), rule.ID)
			must(t, err)
		}
	}
	if got := c.said("notes:read", letter); got != "dear a" {
		t.Errorf("once the no is taken back: %q", got)
	}
	must(t, openRule(c, letters, gate.Deny)) // while a process runs that may open it
	refused("granted before the no")
	if requests := c.gate.Questions.List(); len(requests) != 0 {
		t.Errorf("asked: %+v", requests)
	}
}

// openRule is a rule as an answer about a folder makes it.
func openRule(c *core, folder string, effect gate.Effect) error {
	_, err := c.gate.Rules.Add(c.t.Context(), gate.Rule{
		Effect: effect, Plugin: "notes", Permission: gate.Filesystem, Scope: gate.Always, MadeFrom: "ask_x",
		Match: []gate.Match{
			{Field: "path", Op: gate.PathUnder, Value: folder}, {Field: "access", Op: gate.Equals, Value: "read"},
		},
	})
	return err
}

// A folder was granted, and what may write around it makes it a link to another, or the folder
// around it, just when a process starts that may open it.
func TestAttackAGrantedFolderBecomesALinkWhileAProcessStarts(t *testing.T) {
	t.Parallel()
	for what, inner := range map[string]string{"it": "old", "the folder around it": ""} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			c, letters, outside := archive(t)
			old, kept := filepath.Join(letters, "old"), filepath.Join(filepath.Dir(letters), "kept")
			secret := filepath.Join(outside, "old", "b.txt")
			must(t, os.Mkdir(filepath.Dir(secret), 0o700), os.WriteFile(secret, []byte("the secret"), 0o600))
			_, err := c.gate.Reach.GrantFolder(t.Context(), "notes", gate.Folder{Path: old})
			must(t, err)
			swapped, to := filepath.Join(letters, inner), filepath.Join(outside, inner)
			c.launcher.Meanwhile(func() {
				if err := errors.Join(os.Rename(swapped, kept), os.Symlink(to, swapped)); err != nil {
					t.Error(err)
				}
			})
			for _, path := range []string{secret, filepath.Join(old, "b.txt")} {
				if got := c.said("notes:read", object(t, "path", path)); !strings.Contains(got, "Permission denied") {
					t.Errorf("of %s it reads %q", path, got)
				}
			}
			must(t, os.Remove(swapped), os.Rename(kept, swapped))
			c.launcher.Crash()
			if got := c.said("notes:read", object(t, "path", filepath.Join(old, "b.txt"))); got != "dear b" {
				t.Errorf("once it is a folder again: %q", got)
			}
		})
	}
}

// What a rule refuses is asked for by another of its names: one in a folder that was granted, and
// the one under which it lies since the person moved it and left a link behind.
func TestAttackWhatARuleRefusesIsOpenedByAnotherOfItsNames(t *testing.T) {
	t.Parallel()
	c, letters, outside := archive(t)
	t.Cleanup(c.gate.Questions.Attach())
	secret, second := filepath.Join(outside, "secret.txt"), filepath.Join(letters, "second.txt")
	must(t, os.Link(secret, second))
	must(t, openRule(c, letters, gate.Allow), openRule(c, secret, gate.Deny))
	for _, id := range []string{"notes:read", "notes:raw", "notes:link"} {
		if got := c.said(id, object(t, "path", second)); strings.Contains(got, "the secret") {
			t.Errorf("%s of a second name: %q", id, got)
		}
		if got := c.said(id, object(t, "path", filepath.Join(letters, "a.txt"))); got != "dear a" {
			t.Errorf("%s of what lies beside: %q", id, got)
		}
	}
	old, moved := filepath.Join(letters, "old"), filepath.Join(letters, "moved")
	must(t, openRule(c, old, gate.Deny), os.Rename(old, moved), os.Symlink(moved, old))
	for _, folder := range []string{old, moved} {
		if got := c.said("notes:read", object(t, "path", filepath.Join(folder, "b.txt"))); strings.Contains(got, "dear b") {
			t.Errorf("of %s it reads %q", folder, got)
		}
	}
	_, err := c.gate.Reach.GrantFolder(t.Context(), "notes", gate.Folder{Path: moved})
	if got := c.said("notes:read", object(t, "path", filepath.Join(moved, "b.txt"))); strings.Contains(got, "dear b") {
		t.Errorf("granted by hand (%v), it reads %q", err, got)
	}
	if requests := c.gate.Questions.List(); len(requests) != 0 {
		t.Errorf("asked: %+v", requests)
	}
}

// A plugin keeps in its own folder what it read by itself in one that was granted by hand, or took
// from the network, and tells of it once that is taken back.
func TestAttackAPluginTellsOfWhatItReadOnceTheGrantIsTakenBack(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	c := open(t, dir, data)
	programtest.Held(t, c.launcher.Confinement())
	c.write("notes.py", openers)
	c.approved("notes")
	folder := real(t)
	outside := func(when string, want bool) {
		t.Helper()
		if r := c.call("notes:process", "{}"); r.Status != chat.CallOK || r.Outside != want {
			t.Errorf("%s: it came to %s, and may tell of what others wrote: %v", when, r.Status, r.Outside)
		}
	}
	outside("before", false)
	_, err := c.gate.Reach.GrantFolder(t.Context(), "notes", gate.Folder{Path: folder})
	must(t, err)
	outside("while it may read, of which the gate knows", false)
	must(t, c.gate.Reach.RevokeFolder(t.Context(), "notes", folder))
	outside("once the folder is taken back", true)
	_, err = c.gate.Reach.GrantFolder(t.Context(), "notes", gate.Folder{Path: folder})
	must(t, err)
	outside("granted again", false)
	must(t, c.gate.Reach.SetPermission(t.Context(), "notes", gate.Network, gate.Allow))
	outside("with the network", false)
	must(t, c.gate.Reach.SetPermission(t.Context(), "notes", gate.Network, gate.Deny))
	outside("without the network, and with the folder", true)
	c.end()
	c = open(t, dir, data)
	c.becomes("notes", plugin.Ready)
	outside("after a restart", true)
}

func TestMakingRenamingAndDeletingAreAskedAboutAtTheMomentOfUse(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	programtest.Walls(t, c.launcher.Confinement())
	folder := real(t)
	must(t, os.WriteFile(filepath.Join(folder, "a.txt"), []byte("a"), 0o600),
		os.Symlink("/etc", filepath.Join(folder, "out")))
	c.write("notes.py", `
import os

def make(path: str) -> str:
    "Make a folder."
    os.makedirs(path)
    return "made"

def rename(path: str, to: str) -> str:
    "Rename."
    os.rename(path, to)
    return "renamed"

def delete(path: str) -> str:
    "Delete."
    os.remove(path)
    return "deleted"

def drop(path: str) -> str:
    "Delete a folder."
    os.rmdir(path)
    return "dropped"
`)
	c.approved("notes")
	t.Cleanup(c.gate.Questions.Attach())
	in := func(name string) string { return filepath.Join(folder, name) }
	writes := " wants to read and write " + folder
	got := c.asks("notes:make", object(t, "path", in("sub")), writes, never)
	if !strings.Contains(got, "PermissionError") ||
		!strings.HasSuffix(got, "conclave plugins grant notes filesystem --match path="+folder+" --match access=write") {
		t.Errorf("not allowed: %q", got)
	}
	if got := c.asks("notes:make", object(t, "path", in("sub")), writes, always); got != "made" {
		t.Errorf("allowed: %q", got)
	}
	if got := c.said("notes:rename", object(t, "path", in("a.txt"), "to", in("sub/b.txt"))); got != "renamed" {
		t.Errorf("in a folder that was allowed: %q", got)
	}
	if text, err := os.ReadFile(in("sub/b.txt")); err != nil || string(text) != "a" {
		t.Errorf("renamed to %q, %v", text, err)
	}
	for range 2 { // each time
		must(t, os.WriteFile(in("c.txt"), []byte("c"), 0o600))
		got := c.asks("notes:delete", object(t, "path", in("c.txt")), " wants to delete c.txt in "+folder, once)
		if got != "deleted" {
			t.Errorf("deleting: %q", got)
		}
		if _, err := os.Lstat(in("c.txt")); err == nil {
			t.Error("it is still there")
		}
	}
	must(t, os.Mkdir(in("empty"), 0o700))
	got = c.asks("notes:drop", object(t, "path", in("empty")), " wants to delete "+in("empty"), once)
	if got != "dropped" {
		t.Errorf("deleting a folder: %q", got)
	}
	got = c.asks("notes:drop", object(t, "path", in("sub")), " wants to delete "+in("sub"), once)
	if !strings.Contains(got, "not empty") {
		t.Errorf("deleting a folder that is not empty: %q", got)
	}
	must(t, os.WriteFile(in("c.txt"), []byte("c"), 0o600))
	c.notKept = fault.New(fault.Unavailable, "undo", "The disk is full.", "")
	got = c.said("notes:rename", object(t, "path", in("c.txt"), "to", in("d.txt")))
	if _, err := os.Lstat(in("c.txt")); err != nil || !strings.Contains(got, "PermissionError") {
		t.Errorf("renaming what cannot be kept for undoing: %q, %v", got, err)
	}
	if !slices.ContainsFunc(c.host.Log("notes", 0), func(l plugin.LogLine) bool {
		return strings.Contains(l.Text, "nobody could undo it: The disk is full.")
	}) {
		t.Errorf("the plugin's log: %v", c.host.Log("notes", 0))
	}
	c.notKept = nil
	for id, arguments := range map[string]string{
		"notes:make":   object(t, "path", in("out/made")),
		"notes:delete": object(t, "path", "/etc/hostname"),
		"notes:rename": object(t, "path", in("sub/b.txt"), "to", filepath.Join(c.data, "b.txt")),
	} {
		if got := c.said(id, arguments); !strings.Contains(got, "PermissionError") && !strings.Contains(got, "Errno 18") {
			t.Errorf("%s %s: %q", id, arguments, got)
		}
	}
	if len(c.gate.Questions.List()) != 0 {
		t.Error("a place that no plugin is given is asked about")
	}
}

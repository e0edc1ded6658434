//go:build unix

package gate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"conclave/app/base/fault"
	"conclave/app/base/textdiff"
	"conclave/app/gate"
	"conclave/app/tool"
)

// drawn is a preview as text.
func drawn(p *gate.Preview) string {
	if p == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString(p.Words)
	signs := map[textdiff.Kind]string{textdiff.Same: "=", textdiff.Added: "+", textdiff.Removed: "-", textdiff.Gap: "@"}
	for _, l := range p.Lines {
		b.WriteString("\n" + signs[l.Kind] + l.Text)
	}
	return b.String()
}

// A person who is asked about a call that names a file and what it becomes is shown what
// would change in it, as far as its plugin may write it.
func TestARequestShowsWhatWouldChangeInAFile(t *testing.T) {
	synctest.Test(t, showsWhatWouldChange) // where no time passes while a file is read
}

func showsWhatWouldChange(t *testing.T) {
	tools := map[string]tool.Tool{}
	g, c := trusted(t, gate.Options{}, func(c *gate.PluginVersion) {
		c.Permissions = []string{"tools", "filesystem"}
		for _, name := range []string{"append_note", "insert_note", "edit"} {
			c.Tools = append(c.Tools, tool.Normal(tool.Tool{Plugin: "notes", Name: name, Description: "Writes."}))
		}
		for _, one := range c.Tools {
			tools[one.Name] = one
		}
	})
	folder, read, elsewhere := t.TempDir(), t.TempDir(), t.TempDir()
	for path, text := range map[string]string{
		filepath.Join(folder, "todo.md"): "milk\nbread\ntea\n", filepath.Join(read, "r.md"): "r",
		filepath.Join(elsewhere, "e.md"): "e",
		filepath.Join(folder, "picture"): "\xff\xfe", filepath.Join(folder, "long"): strings.Repeat("x\n", 200_000),
		filepath.Join(folder, "many"): strings.Repeat("x\n", 300), filepath.Join(folder, "tricky"): "a\u202eb\n",
	} {
		must(t, os.WriteFile(path, []byte(text), 0o600))
	}
	must(t, os.Symlink(filepath.Join(elsewhere, "e.md"), filepath.Join(folder, "link")))
	must(t, syscall.Mkfifo(filepath.Join(folder, "pipe"), 0o600))
	for path, write := range map[string]bool{folder: true, read: false} {
		_, err := g.Reach.GrantFolder(t.Context(), c.Plugin, gate.Folder{Path: path, Write: write})
		must(t, err)
	}
	at := filepath.Join(folder, "todo.md")
	would := "What would change in " + at + ", if the tool does with it what its arguments say:\n"
	for name, row := range map[string]struct{ tool, arguments, want string }{
		"all of it":    {"write_note", `{"path":"AT","content":"milk\nbutter\ntea\n"}`, would + "=milk\n-bread\n+butter\n=tea"},
		"a short name": {"write_note", `{"path":"todo.md","text":"milk"}`, would + "=milk\n-bread\n-tea"},
		"the same":     {"write_note", `{"path":"AT","text":"milk\nbread\ntea\n"}`, at + " says this already."},
		"its end":      {"write_note", `{"path":"AT","text":"milk\nbread\ntea"}`, "Of " + at + " only the end of the last line would change."},
		"more":         {"append_note", `{"filePath":"AT","text":"jam\n"}`, would + "=milk\n=bread\n=tea\n+jam"},
		"more, by mode": {
			"write_note", `{"path":"AT","text":"jam\n","mode":"a"}`,
			would + "=milk\n=bread\n=tea\n+jam",
		},
		"a mode nobody knows": {"write_note", `{"path":"AT","text":"jam\n","mode":"r+"}`, ""},
		"a place nobody says": {"insert_note", `{"path":"AT","text":"jam\n"}`, ""},
		"a part":              {"edit", `{"file_path":"AT","old_string":"bread","new_string":"rye"}`, would + "=milk\n-bread\n+rye\n=tea"},
		"a part twice": {
			"edit", `{"path":"AT","old_string":"e","new_string":"E","replace_all":true}`,
			would + "=milk\n-bread\n-tea\n+brEad\n+tEa",
		},
		"a part that is gone": {
			"edit", `{"path":"AT","old_string":"ham","new_string":"rye"}`,
			"What it would replace is not in " + at + " as it is now.",
		},
		"several": {
			"edit", `{"path":"AT","edits":[{"oldText":"milk","newText":"soy"},{"oldText":"tea","newText":""}]}`,
			would + "-milk\n+soy\n=bread\n-tea\n+",
		},
		"new": {"write_note", `{"path":"` + folder + `/new.md","content":"x"}`, filepath.Join(folder, "new.md") + " does not exist yet."},
		"a part of nothing": {
			"edit", `{"path":"` + folder + `/new.md","old_str":"x","new_str":"y"}`,
			filepath.Join(folder, "new.md") + " does not exist, so there is nothing to replace in it.",
		},
		"no text":            {"write_note", `{"path":"` + folder + `/picture","content":"x"}`, filepath.Join(folder, "picture") + " has 2 bytes now, which are no text."},
		"long":               {"write_note", `{"path":"` + folder + `/long","content":"x"}`, filepath.Join(folder, "long") + " has 390.6 KiB now; what would change is too long to be shown."},
		"hidden characters":  {"write_note", `{"path":"` + folder + `/tricky","content":"ab"}`, strings.ReplaceAll(would, "todo.md", "tricky") + `-a\u{202e}b` + "\n+ab"},
		"one it may read":    {"write_note", `{"path":"` + read + `/r.md","content":"x"}`, ""},
		"one of others":      {"write_note", `{"path":"` + elsewhere + `/e.md","content":"x"}`, ""},
		"a link to another":  {"write_note", `{"path":"` + folder + `/link","content":"x"}`, ""},
		"a link, shortly":    {"write_note", `{"path":"link","content":"x"}`, ""},
		"up and out":         {"write_note", `{"path":"../` + filepath.Base(elsewhere) + `/e.md","content":"x"}`, ""},
		"a pipe":             {"write_note", `{"path":"` + folder + `/pipe","content":"x"}`, ""},
		"the folder":         {"write_note", `{"path":"` + folder + `","content":"x"}`, ""},
		"two paths":          {"write_note", `{"path":"AT","file":"AT","content":"x"}`, ""},
		"two texts":          {"write_note", `{"path":"AT","text":"x","content":"x"}`, ""},
		"one written twice":  {"write_note", `{"path":"AT","path":"AT","text":"x"}`, ""},
		"no text of its own": {"write_note", `{"path":"AT","text":7}`, ""},
		"no path":            {"write_note", `{"text":"x"}`, ""},
	} {
		call := gate.Call{
			ID: "1", Caller: gate.Main, Tool: tools[row.tool], Conversation: "chat",
			Capabilities: []gate.Capability{gate.WriteFiles},
			Arguments:    json.RawMessage(strings.ReplaceAll(row.arguments, "AT", at)),
		}
		q := refused(t, g, call)
		if got := drawn(q.Preview); got != row.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, row.want)
		}
		if raw, err := json.Marshal(q); err != nil || strings.Contains(string(raw), "bread\\ntea\\n\"") && row.want == "" {
			t.Errorf("%s: it would be stored: %s, %v", name, raw, err)
		}
	}
	call := gate.Call{
		ID: "1", Caller: gate.Main, Tool: c.Tools[0],
		Capabilities: []gate.Capability{gate.WriteFiles}, Arguments: json.RawMessage(`{"path":"many","text":""}`),
	}
	if p := refused(t, g, call).Preview; p == nil || len(p.Lines) != 80 || p.Left != 220 {
		t.Errorf("of 300 lines: %+v", p)
	}
	call.Capabilities, call.Arguments = []gate.Capability{gate.SendWeb}, json.RawMessage(`{"path":"todo.md","text":""}`)
	if p := refused(t, g, call).Preview; p != nil {
		t.Errorf("of a call that writes no files: %+v", p)
	}
}

// So is one of a plugin for which Conclave opens the folder that the person let it write, though
// its own process may write nowhere.
func TestARequestShowsWhatWouldChangeInAFolderThatIsOpenedForItsPlugin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := trusted(t, gate.Options{})
		folder := t.TempDir()
		must(t, os.WriteFile(filepath.Join(folder, "a.md"), []byte("old"), 0o600))
		a := &asker{answer: gate.Answer{Effect: gate.Allow, Scope: gate.Always}}
		g.Open(t.Context(), gate.Opening{
			Plugin: c.Plugin, Path: filepath.Join(folder, "a.md"), Write: true, Behalf: gate.Call{Asker: a},
		})
		q := refused(t, g, gate.Call{
			ID: "1", Caller: gate.Main, Tool: c.Tools[0], Capabilities: []gate.Capability{gate.Compute},
			Arguments: json.RawMessage(`{"path":"` + folder + `/a.md","text":"new"}`),
		})
		if got := drawn(q.Preview); !strings.HasSuffix(got, "\n-old\n+new") {
			t.Errorf("it shows %q", got)
		}
	})
}

// A window is shown the same as a terminal.
func TestAWindowIsShownWhatWouldChange(t *testing.T) {
	synctest.Test(t, showsAWindowWhatWouldChange)
}

func showsAWindowWhatWouldChange(t *testing.T) {
	g, c := trusted(t, gate.Options{}, func(c *gate.PluginVersion) { c.Permissions = []string{"tools", "filesystem"} })
	folder := t.TempDir()
	must(t, os.WriteFile(filepath.Join(folder, "a.md"), []byte("old"), 0o600))
	_, err := g.Reach.GrantFolder(t.Context(), c.Plugin, gate.Folder{Path: folder, Write: true})
	must(t, err)
	defer g.Questions.Attach()()
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan string, 1)
	decided := make(chan gate.Decision, 1)
	go func() {
		decided <- g.Decide(ctx, gate.Call{
			ID: "1", Caller: gate.Main, Tool: c.Tools[0], Capabilities: []gate.Capability{gate.WriteFiles},
			Arguments: json.RawMessage(`{"path":"a.md","text":"new"}`), OnWait: func(id string) { asked <- id },
		})
	}()
	<-asked
	if waiting := g.Questions.List(); len(waiting) != 1 || !strings.HasSuffix(drawn(waiting[0].Preview), "\n-old\n+new") {
		t.Errorf("it shows %+v", waiting)
	}
	cancel()
	<-decided
}

// Two connections to one host are asked about as one, and a person is shown what each of them
// would send.
func TestAttackARequestBehindAnotherIsShownToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := approvedNotes(t)
		allowed("other.example.org")(t, g)
		defer g.Questions.Attach()()
		ctx, cancel := context.WithCancel(t.Context())
		var connecting sync.WaitGroup
		connect := func(text string) {
			t.Helper()
			connecting.Go(func() {
				g.Connect(ctx, gate.Connection{
					Plugin: "notes", URL: "http://api.example.org:80",
					Preview: func(context.Context) *gate.Preview { return gate.Sending(text) },
				})
			})
			synctest.Wait()
		}
		connect("hello")
		connect("hello")
		connect("all your letters")
		waiting := g.Questions.List()
		const want = "What waits to be sent:\n=hello\n@\n=all your letters"
		if len(waiting) != 1 || waiting[0].Count != 3 || drawn(waiting[0].Preview) != want {
			t.Errorf("it shows %+v, %s", waiting, drawn(waiting[0].Preview))
		}
		for i := range 30 {
			before := g.Questions.List()[0]
			connect(fmt.Sprint("steals ", i, "\n") + strings.Repeat("line\n", 50))
			p := g.Questions.List()[0]
			if shown := drawn(p.Preview); len(p.Preview.Lines) > 80 || !strings.Contains(shown, "=hello\n") ||
				!strings.Contains(shown, fmt.Sprint("=steals ", i, "\n")) {
				t.Errorf("of many it shows %s", shown)
			}
			err := g.Questions.Answer(t.Context(), before.ID, before.Nonce,
				gate.Answer{Effect: gate.Allow, Scope: gate.Once})
			if fault.KindOf(err) != fault.Conflict || before.Nonce == p.Nonce {
				t.Errorf("a yes to what was shown before is %v", err)
			}
		}
		const sent, gaps = 2 + 30*52, 20 - 1 // lines of all requests, and those between the ones that are shown
		if p := g.Questions.List()[0].Preview; len(p.Lines)-gaps+p.Left != sent {
			t.Errorf("of many it shows %d lines, and %d are left", len(p.Lines), p.Left)
		}
		cancel()
		connecting.Wait()
	})
}

// A plugin that puts a link or a pipe in the place of its file, while a person is shown what
// would change in that, shows them nothing else.
func TestAttackAFileThatBecomesSomethingElseIsNotShown(t *testing.T) {
	g, c := trusted(t, gate.Options{}, func(c *gate.PluginVersion) { c.Permissions = []string{"tools", "filesystem"} })
	folder, elsewhere := t.TempDir(), t.TempDir()
	file, secret := filepath.Join(folder, "a.md"), filepath.Join(elsewhere, "secret")
	must(t, os.WriteFile(secret, []byte("the secret"), 0o600), os.WriteFile(file, []byte("old"), 0o600))
	_, err := g.Reach.GrantFolder(t.Context(), c.Plugin, gate.Folder{Path: folder, Write: true})
	must(t, err)
	ended := make(chan struct{})
	var swapping sync.WaitGroup
	swapping.Go(func() { // ends with ended
		for i := 0; ; i++ {
			select {
			case <-ended:
				return
			default:
			}
			other := filepath.Join(folder, "other")
			_ = os.Remove(other)
			switch i % 3 {
			case 0:
				_ = os.Symlink(secret, other)
			case 1:
				_ = syscall.Mkfifo(other, 0o600)
			case 2:
				_ = os.WriteFile(other, []byte("old"), 0o600)
			}
			_ = os.Rename(other, file)
		}
	})
	shown := 0
	for range 500 {
		p := refused(t, g, gate.Call{
			ID: "1", Caller: gate.Main, Tool: c.Tools[0], Capabilities: []gate.Capability{gate.WriteFiles},
			Arguments: json.RawMessage(`{"path":"a.md","text":"new"}`),
		}).Preview
		if got := drawn(p); strings.Contains(got, "secret") {
			t.Fatalf("it shows %s", got)
		} else if strings.HasSuffix(got, "-old\n+new") {
			shown++
		}
	}
	close(ended)
	swapping.Wait()
	t.Logf("the file was there in %d of 500", shown)
}

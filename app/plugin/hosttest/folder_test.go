package hosttest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/test/testkit"
)

const words = `def count(text: str) -> int:
    "Count words."
    return len(text.split())
`

// greet is a script that greets in its own way.
func greet(how string) string {
	return `spindle.registerTool({ name: "greet", description: "Greet.", parameters: { type: "object", properties: {} } });
spindle.on("TOOL_INVOCATION", () => "` + how + `");
`
}

func TestAFolderIsFollowed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plugins") // appears later
	c := open(t, dir, t.TempDir())
	must(t, os.Mkdir(dir, 0o700))
	c.write("words.py", words)
	c.becomes("words", plugin.NeedsApproval)
	c.write("hello.js", greet("hello"))
	c.becomes("hello", plugin.NeedsApproval)
	if n := c.launcher.Started(); n != 0 {
		t.Errorf("LF-08: %d processes were started before anybody approved", n)
	}
	c.trust("words")
	c.trust("hello")
	c.answers("words:count", `{"text":"a b c"}`, "3")
	c.answers("hello:greet", "{}", "hello")

	c.replace("hello.js", greet("good day"))
	u := c.until("the replaced file being served", func(u plugin.Update) bool {
		return u.Plugin == "hello" && u.State == plugin.Ready && u.Generation == 2
	})
	if len(u.Tools) != 1 || u.Tools[0] != "hello:greet" {
		t.Errorf("the update is %+v", u)
	}
	c.answers("hello:greet", "{}", "good day")

	// A broken save: shown with its place, while the last good version serves.
	c.write("words.py", "def count(text: str) -> int:\n    retrun 1\n")
	u = c.becomes("words", plugin.Failed)
	if p := u.Problem; p.File != "words.py" || p.Line != 2 || !strings.Contains(p.Frame, "retrun 1") ||
		p.Type != "SyntaxError" {
		t.Errorf("the problem is %+v", p)
	}
	c.answers("words:count", `{"text":"a b"}`, "2")

	must(t, os.Rename(filepath.Join(dir, "hello.js"), filepath.Join(dir, "bye.js")))
	c.until("the old name going", func(u plugin.Update) bool { return u.Plugin == "hello" && u.Removed })
	c.until("the new name waiting", func(u plugin.Update) bool {
		return u.Plugin == "bye" && u.State == plugin.NeedsApproval
	})
	must(t, os.Remove(filepath.Join(dir, "bye.js")))
	c.until("it going", func(u plugin.Update) bool { return u.Plugin == "bye" && u.Removed })
	if n := c.tools.Set().Len(); n != 1 {
		t.Errorf("%d tools are left, want that of words.py", n)
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 1 {
		t.Errorf("LF-11: the folder holds %v", entries)
	}

	// All of it is there after a restart: the problem, and the last good copy.
	c.end()
	c = open(t, dir, c.data)
	c.becomes("words", plugin.Failed)
	c.answers("words:count", `{"text":"a b"}`, "2")
	c.write("words.py", words)
	c.becomes("words", plugin.Ready)
	c.answers("words:count", `{"text":"a b c d"}`, "4")
}

func TestLF08ASideEffectAtImportHasNotHappenedBeforeApproval(t *testing.T) {
	c := open(t, t.TempDir(), t.TempDir())
	c.write("effect.py", "import conclave\n(conclave.storage_dir() / 'ran').write_text('ran')\ndef f():\n    return 1\n")
	c.write("effect2.js", "await spindle.storage.write('ran', 'ran');\n"+greet("hello"))
	c.becomes("effect", plugin.NeedsApproval)
	c.becomes("effect2", plugin.NeedsApproval)
	for _, id := range []string{"effect", "effect2"} {
		ran := filepath.Join(c.data, "storage", id, "ran")
		if _, err := os.Stat(ran); err == nil {
			t.Errorf("%s ran before it was approved", id)
		}
		c.trust(id)
		if _, err := os.Stat(ran); err != nil {
			t.Errorf("%s did not run once it was approved: %v", id, err)
		}
	}
}

// A person is asked once about a plugin whose source shows every word that a model is told of it,
// however many lines it has.
func TestAFunctionIsAskedAboutOnceWithAllThatItsDocstringSays(t *testing.T) {
	c := open(t, t.TempDir(), t.TempDir())
	c.write("add.py", `class Sums:
    pass

def add(a: int, b: int) -> int:
    """Add two numbers.

    It is exact:
        always.

    Args:
        a: the first
        b: the second, which
            may be large
    """
    return a + b
`)
	c.becomes("add", plugin.NeedsApproval)
	s, err := c.host.Status("add")
	must(t, err)
	const want = "Add two numbers.\n\nIt is exact:\n    always.\n\n" +
		"Args:\n    a: the first\n    b: the second, which\n        may be large"
	if len(s.Tools) != 1 || s.Tools[0].Description != want {
		t.Errorf("before it is approved its tools are %+v", s.Tools)
	}
	requests := c.gate.Questions.List()
	if len(requests) != 1 {
		t.Fatalf("a person is asked %+v", requests)
	}
	yes := gate.Answer{Effect: gate.Allow, Scope: gate.Always}
	must(t, c.gate.Questions.Answer(t.Context(), requests[0].ID, requests[0].Nonce, yes))
	c.becomes("add", plugin.Ready)
	c.answers("add:add", `{"a":1,"b":2}`, "3")
	if s, err := c.host.Status("add"); err != nil || s.State != plugin.Ready || len(c.gate.Questions.List()) != 0 {
		t.Errorf("once it is approved it is %+v, %v, and a person is asked %+v", s, err, c.gate.Questions.List())
	}
}

func TestAnEditOfASiblingReloadsThePluginThatImportsIt(t *testing.T) {
	c := open(t, t.TempDir(), t.TempDir())
	c.write("_rates.py", "VAT = 19\n")
	c.write("tax.py", "import _rates\ndef tax(n: int) -> int:\n    'Reckon the tax.'\n    return n * _rates.VAT\n")
	c.becomes("tax", plugin.NeedsApproval)
	c.trust("tax")
	c.answers("tax:tax", `{"n":2}`, "38")
	c.write("_rates.py", "VAT = 7\n")
	testkit.Until(t, "the sibling's edit being served", func() bool {
		return chat.TextOf(c.call("tax:tax", `{"n":2}`).Content) == "14"
	})
	// A broken sibling: the last good version keeps the sibling it was read with,
	// also after a restart.
	c.write("_rates.py", "VAT = \n")
	c.becomes("tax", plugin.Failed)
	c.answers("tax:tax", `{"n":2}`, "14")
	c.end()
	c = open(t, c.dir, c.data)
	c.becomes("tax", plugin.Failed)
	c.answers("tax:tax", `{"n":2}`, "14")
}

// TestBadPluginsHurtNobody has one good plugin beside each bad one.
func TestBadPluginsHurtNobody(t *testing.T) {
	c := open(t, t.TempDir(), t.TempDir())
	c.write("good.py", words)
	c.becomes("good", plugin.NeedsApproval)
	c.trust("good")
	for _, one := range []struct{ name, text, kind, words string }{
		{"zero.py", "", "script", "zero.py is empty."},
		{"zero.js", "", "script", "zero.js is empty."},
		{"exits.py", "import os\nos._exit(3)\ndef f(): ...\n", "crashed", "exit 3"},
		{"leaves.py", "import sys\nsys.exit(4)\ndef f(): ...\n", "script", "SystemExit"},
		{"floods.py", "import sys\nwhile True: sys.stderr.write('x' * 4000 + '\\n')\ndef f(): ...\n", "", ""},
		{
			"prints.py",
			"import os\nfor fd in range(1, 30):\n  try: os.write(fd, b'not a message\\n')\n  except OSError: pass\ndef " +
				"f(): return 1\n", "", "",
		},
		{"forks.py", "import os\nos.fork()\ndef f(): return 1\n", "", ""},
		{"missing.py", "import no_such_package_at_all\ndef f(): ...\n", "unavailable", "no_such_package_at_all"},
		{"wild.js", "process.exit(3)\n", "script", ""},
		{"hoards.js", "const all = []; for (;;) all.push(new Array(1e5).fill(1));\n", "memory", ""},
	} {
		t.Run(one.name, func(t *testing.T) {
			id := strings.TrimSuffix(strings.ReplaceAll(one.name, ".", "_"), "_py")
			id = strings.TrimSuffix(id, "_js") + map[bool]string{true: "_js", false: ""}[strings.HasSuffix(one.name, ".js")]
			name := id + filepath.Ext(one.name)
			c.write(name, one.text)
			u := c.until(name+" being read", func(u plugin.Update) bool {
				return u.Plugin == id && (u.State == plugin.NeedsApproval || u.State == plugin.Failed)
			})
			if u.State == plugin.NeedsApproval {
				c.trust(id)
			}
			s, err := c.host.Status(id)
			must(t, err)
			if one.kind != "" && (s.State != plugin.Failed || s.Problem.Kind != one.kind ||
				!strings.Contains(s.Problem.Message+s.Problem.Type, strings.ReplaceAll(one.words, one.name, name))) {
				t.Errorf("it is %s: %+v, want %s and %q", s.State, s.Problem, one.kind, one.words)
			}
			if s.State == plugin.Failed && (s.Problem.Message == "" || s.Serving) {
				t.Errorf("the card says %+v", s)
			}
			c.answers("good:count", `{"text":"a b c"}`, "3")
		})
	}
	big, err := os.Create(filepath.Join(c.dir, "big.py"))
	must(t, err)
	must(t, big.Truncate(50<<20), big.Close())
	if u := c.becomes("big", plugin.Failed); !strings.Contains(u.Problem.Message, "big.py") {
		t.Errorf("50 MB: %+v", u.Problem)
	}
	for _, s := range c.host.List() {
		if s.ID != "good" && s.State == plugin.Ready {
			must(t, os.Remove(s.Path))
		}
	}
	c.answers("good:count", `{"text":"a b c"}`, "3")
}

func TestCallsThatMisbehave(t *testing.T) {
	c := open(t, t.TempDir(), t.TempDir())
	c.write("rough.py", `import os
def exits():
    os._exit(3)
def big():
    return "x" * 20_000_000
def raw():
    return b"\xff\xfe"
def half():
    return "\ud800 half"
def fine():
    return "fine"
`)
	c.becomes("rough", plugin.NeedsApproval)
	c.trust("rough")
	for _, one := range []struct {
		name   string
		status chat.CallStatus
		words  string
	}{
		{"exits", chat.CallDied, "exit 3"},
		{"big", "", ""},
		{"raw", "", ""},
		{"half", "", ""},
	} {
		r := c.call("rough:"+one.name, "{}")
		if one.status != "" && (r.Status != one.status || !strings.Contains(r.Error, one.words)) {
			t.Errorf("LF-28: %s got %s %q", one.name, r.Status, r.Error)
		}
		if size := len(chat.TextOf(r.Content)); size > 8<<20 {
			t.Errorf("%s answered %d bytes", one.name, size)
		}
		c.answers("rough:fine", "{}", "fine")
	}
}

func TestAPluginsFolderThatCannotBeReadIsShown(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "plugins")
	must(t, os.WriteFile(dir, []byte("a file"), 0o600))
	c := open(t, dir, t.TempDir())
	err := c.host.Scan()
	if err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("the error is %v", err)
	}
	if why := c.host.Folder.Problem(); why == nil || !strings.Contains(fmt.Sprint(why.Message, why.Hint), dir) {
		t.Errorf("the folder says %v", why)
	}
	must(t, os.Remove(dir), os.Mkdir(dir, 0o700))
	c.write("words.py", words)
	c.becomes("words", plugin.NeedsApproval)
	if why := c.host.Folder.Problem(); why != nil {
		t.Errorf("once mended the folder says %v", why)
	}
}

// A folder that is replaced by the same files while another changes is no news to
// the watcher, so the look that the other one's change causes must not drop it.
func TestAFolderThatIsBackAtOnceIsNotForgotten(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	lay := func() {
		c.write("there/dist/backend.js", says("say", "1"))
		c.write("there/spindle.json", manifest("there", ""))
	}
	lay()
	c.becomes("there", plugin.NeedsApproval)
	for n := range 5 {
		must(t, os.RemoveAll(filepath.Join(c.dir, "there")))
		c.write(fmt.Sprintf("other%d.js", n), says("say", "2"))
		c.becomes(fmt.Sprintf("other%d", n), plugin.NeedsApproval)
		lay()
		testkit.Until(t, "the plugin that came back", func() bool {
			s, err := c.host.Status("there")
			return err == nil && s.State == plugin.NeedsApproval
		})
	}
}

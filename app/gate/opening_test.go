package gate_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/gate"
)

// A card names the folders that a plugin was given and those that are opened when it asks for
// them, from the home folder where they lie in that.
func TestTheCardOfACallNamesTheFolders(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	notes, letters := filepath.Join(home, "Documents", "Notes"), filepath.Join(home, "Letters")
	for _, path := range []string{notes, letters} {
		must(t, os.MkdirAll(path, 0o700))
	}
	g, c := trusted(t, gate.Options{})
	_, err := g.Reach.GrantFolder(t.Context(), c.Plugin, gate.Folder{Path: notes, Write: true})
	must(t, err)
	a := &asker{answer: gate.Answer{Effect: gate.Allow, Scope: gate.Always}}
	d, _ := g.Open(t.Context(), gate.Opening{
		Plugin: c.Plugin, Path: filepath.Join(letters, "a"), Behalf: gate.Call{Asker: a},
	})
	if d.Effect != gate.Allow {
		t.Fatalf("%+v", d)
	}
	call := request(c)
	call.Asker = a
	g.Decide(t.Context(), call)
	want := "Can touch: its own storage folder. " +
		"It may also read and write files in Documents/Notes and read files in Letters."
	if got := a.asked[len(a.asked)-1].Reach; got != want {
		t.Errorf("the card says %q", got)
	}
}

// A yes to a call is none to the folder that it names: the card says that a question follows.
func TestTheCardOfACallSaysThatItsFolderIsAskedAbout(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	letters := filepath.Join(home, "Letters")
	must(t, os.MkdirAll(letters, 0o700))
	for name, c := range map[string]struct {
		before func(*gate.Gate) error
		shape  func(*gate.PluginVersion)
		path   string
		says   bool
	}{
		"a folder of the person's": {path: "~/Letters/a.txt", says: true},
		"one that it was given": {path: "~/Letters/a.txt", before: func(g *gate.Gate) error {
			_, err := g.Reach.GrantFolder(t.Context(), "notes", gate.Folder{Path: letters})
			return err
		}},
		"files as a whole": {path: "~/Letters/a.txt", before: func(g *gate.Gate) error {
			return g.Reach.SetPermission(t.Context(), "notes", gate.Filesystem, gate.Deny)
		}},
		"one that no plugin is given": {path: "/etc/passwd"},
		"one of its own":              {path: "letters/a.txt"},
		"outside of walls": {path: "~/Letters/a.txt", shape: func(v *gate.PluginVersion) {
			v.Isolation = "process"
		}},
	} {
		g, v := trusted(t, gate.Options{}, func(v *gate.PluginVersion) {
			describing(`{"properties": {"path": {"type": "string"}}}`)(v)
			if c.shape != nil {
				c.shape(v)
			}
		})
		if c.before != nil {
			must(t, c.before(g))
		}
		call := request(v)
		call.Arguments = json.RawMessage(`{"path": "` + c.path + `"}`)
		p := refused(t, g, call)
		if says := strings.HasSuffix(p.Reach, " You are asked about Letters before it opens that."); says != c.says {
			t.Errorf("%s: the card says %q", name, p.Reach)
		}
	}
}

// Rules about files that Conclave opens: who may write may read, who may not read may not
// write, and none of them opens the sandbox.
func TestRulesAboutFilesThatAreOpenedForAPlugin(t *testing.T) {
	g := approvedNotes(t)
	folder := t.TempDir()
	letters, other := filepath.Join(folder, "Letters"), filepath.Join(folder, "Letters of others")
	for _, path := range []string{filepath.Join(letters, "old"), other} {
		must(t, os.MkdirAll(path, 0o700))
	}
	rule := func(effect gate.Effect, path, access string) gate.Rule {
		return answered(t, g, effect, path, access)
	}
	opens := func(path string, write bool) gate.Effect { return opens(t, g, path, write) }
	letter, deeper := filepath.Join(letters, "a.txt"), filepath.Join(letters, "old", "b.txt")
	type row struct {
		path  string
		write bool
		want  gate.Effect
	}
	check := func(when string, rows ...row) {
		t.Helper()
		for _, r := range rows {
			if got := opens(r.path, r.write); got != r.want {
				t.Errorf("%s: %s, write %v: %s, want %s", when, r.path, r.write, got, r.want)
			}
		}
	}
	check("no rule", row{letter, false, gate.Deny}, row{"/etc/passwd", false, "not asked"})
	reads := rule(gate.Allow, letters, "read")
	check("reading", row{letter, false, gate.Allow}, row{deeper, false, gate.Allow}, row{letter, true, gate.Deny},
		row{filepath.Join(other, "a.txt"), false, gate.Deny}, row{letters, false, gate.Allow})
	writes := rule(gate.Allow, filepath.Join(letters, "old"), "write")
	check("writing below", row{deeper, true, gate.Allow}, row{deeper, false, gate.Allow},
		row{letter, true, gate.Deny})
	no := rule(gate.Deny, filepath.Join(letters, "old"), "write")
	check("no writing below", row{deeper, true, gate.Deny}, row{deeper, false, gate.Allow})
	_, err := g.Rules.Revoke(t.Context(), no.ID)
	must(t, err)
	rule(gate.Deny, filepath.Join(letters, "old"), "read")
	check("no reading below", row{deeper, true, gate.Deny}, row{deeper, false, gate.Deny},
		row{letter, false, gate.Allow})
	if granted, _ := g.Reach.Permissions("notes"); len(granted) != 0 || len(g.Reach.Folders("notes")) != 0 {
		t.Errorf("the sandbox is open: %v, %+v", granted, g.Reach.Folders("notes"))
	}
	if got := len(g.Reach.Opened("notes")); got != 2 {
		t.Errorf("%d folders are opened for it, want 2", got)
	}
	for sentence, r := range map[string]gate.Rule{
		"Notes may read files in " + letters:                                     reads,
		"Notes may read and write files in " + filepath.Join(letters, "old"):     writes,
		"Notes may not read and write files in " + filepath.Join(letters, "old"): no,
	} {
		if got := gate.Sentence(r, "Notes"); got != sentence {
			t.Errorf("%q, want %q", got, sentence)
		}
	}
	must(t, g.Reach.SetPermission(t.Context(), "notes", gate.Filesystem, gate.Deny))
	check("all denied", row{letter, false, gate.Deny})
}

// answered adds the rule that an answer about a folder makes.
func answered(t *testing.T, g *gate.Gate, effect gate.Effect, path, access string) gate.Rule {
	t.Helper()
	r, err := g.Rules.Add(t.Context(), gate.Rule{
		Effect: effect, Plugin: "notes", Permission: gate.Filesystem, Scope: gate.Always, MadeFrom: "ask_x",
		Match: []gate.Match{
			{Field: "path", Op: gate.PathUnder, Value: path}, {Field: "access", Op: gate.Equals, Value: access},
		},
	})
	must(t, err)
	return r
}

// opens returns what becomes of a file that the plugin asks Conclave to open.
func opens(t *testing.T, g *gate.Gate, path string, write bool) gate.Effect {
	t.Helper()
	d, at := g.Open(t.Context(), gate.Opening{Plugin: "notes", Path: path, Write: write})
	if at == "" {
		return "not asked"
	}
	return d.Effect
}

// A sandbox opens a folder whole. One of which a rule refuses some, or asks about it, is opened
// file by file, in whichever order the person said both.
func TestAFolderThatARuleRefusesPartlyIsOpenedFileByFile(t *testing.T) {
	root := t.TempDir()
	given := filepath.Join(root, "Documents")
	letters, beside := filepath.Join(given, "Letters"), filepath.Join(root, "Music")
	for _, path := range []string{letters, beside} {
		must(t, os.MkdirAll(path, 0o700))
	}
	letter, list := filepath.Join(letters, "a.txt"), filepath.Join(given, "list.txt")
	for name, c := range map[string]struct {
		effect       gate.Effect
		path, access string
		byItself     bool
		letter       gate.Effect // of reading one
	}{
		"refuses some":            {gate.Deny, letters, "read", false, gate.Deny},
		"refuses to change some":  {gate.Deny, letters, "write", false, gate.Allow},
		"asks about some":         {gate.Ask, letters, "read", false, gate.Deny}, // there is nobody to ask
		"allows some":             {gate.Allow, letters, "read", true, gate.Allow},
		"refuses what is besides": {gate.Deny, beside, "read", true, gate.Allow},
	} {
		for _, granted := range []string{"before", "after"} {
			g := approvedNotes(t)
			grant := func() {
				_, err := g.Reach.GrantFolder(t.Context(), "notes", gate.Folder{Path: given, Write: true})
				must(t, err)
			}
			if granted == "before" {
				grant()
			}
			rule := answered(t, g, c.effect, c.path, c.access)
			if granted == "after" {
				grant()
			}
			check := func(when string, byItself bool, of gate.Effect) {
				t.Helper()
				all, _ := g.Reach.Permissions("notes")
				if got := len(g.Reach.Folders("notes")) == 1; got != byItself || (len(all) == 1) != byItself {
					t.Errorf("%s, granted %s, %s: it opens by itself %+v, granted %v", name, granted, when,
						g.Reach.Folders("notes"), all)
				}
				if got := opens(t, g, letter, false); got != of {
					t.Errorf("%s, granted %s, %s: a letter: %s, want %s", name, granted, when, got, of)
				}
				if got := opens(t, g, list, true); got != gate.Allow {
					t.Errorf("%s, granted %s, %s: what lies beside: %s", name, granted, when, got)
				}
			}
			check("while the rule stands", c.byItself, c.letter)
			if opened := g.Reach.Opened("notes"); !c.byItself &&
				!slices.Contains(opened, gate.Folder{Path: given, Write: true}) {
				t.Errorf("%s, granted %s: Conclave opens %+v", name, granted, opened)
			}
			_, err := g.Rules.Revoke(t.Context(), rule.ID)
			must(t, err)
			check("once it is gone", true, gate.Allow)
		}
	}

	g := approvedNotes(t)
	rule := answered(t, g, gate.Deny, given, "read")
	_, err := g.Reach.GrantFolder(t.Context(), "notes", gate.Folder{Path: letters})
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(fault.Of(err).Hint, rule.ID) ||
		!strings.Contains(fault.Of(err).Message, "Notes may not read files in "+given) {
		t.Errorf("what lies in a refused folder is granted: %v", err)
	}
	named := []gate.Folder{{Path: given, Setting: "folder"}}
	if err := g.Reach.SetFolders(t.Context(), "notes", named); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a setting names the refused folder: %v", err)
	}
	_, err = g.Reach.GrantFolder(t.Context(), "notes", gate.Folder{Path: given}) // in place of the rule
	must(t, err)
	if got := g.Reach.Folders("notes"); len(got) != 1 || opens(t, g, letter, false) != gate.Allow {
		t.Errorf("what is granted after all: %+v", got)
	}
}

// What the person allowed the main model is not allowed to the council: what a plugin would
// write for a member's call is refused, whichever of its calls says that it is for it.
func TestAMembersCallWritesNoFilesThatAreOpenedForAPlugin(t *testing.T) {
	g := approvedNotes(t)
	letters := t.TempDir()
	_, err := g.Rules.Add(t.Context(), gate.Rule{
		Effect: gate.Allow, Plugin: "notes", Permission: gate.Filesystem, Scope: gate.Always, MadeFrom: "ask_x",
		Match: []gate.Match{
			{Field: "path", Op: gate.PathUnder, Value: letters},
			{Field: "access", Op: gate.Equals, Value: "write"},
		},
	})
	must(t, err)
	anybody := asks(func(gate.Request) gate.Answer { return gate.Answer{Effect: gate.Allow} })
	main := gate.Call{ID: "1", Caller: gate.Main, Asker: anybody}
	ada := gate.Call{ID: "2", Caller: "member:ada", Asker: anybody, Capabilities: []gate.Capability{gate.Compute}}
	writes := ada // which the person allowed to write files, by a rule about the tool
	writes.Capabilities = []gate.Capability{gate.Compute, gate.ReadFiles, gate.WriteFiles}
	const refused = "council members may not write files"
	for name, c := range map[string]struct {
		behalf gate.Call
		within []gate.Call
		read   bool
		want   string // why it is denied; empty: it is allowed
	}{
		"the main model's":       {behalf: main, within: []gate.Call{main}},
		"what it does by itself": {},
		"a member's":             {behalf: ada, within: []gate.Call{ada}, want: refused},
		"a member's alone":       {behalf: ada, want: refused},
		"either's":               {within: []gate.Call{main, ada}, want: refused},
		"a member's, reading":    {behalf: ada, read: true},
		"a member's that may":    {behalf: writes},
		"of two members one's":   {behalf: writes, within: []gate.Call{writes, ada}, want: refused},
	} {
		d, _ := g.Open(t.Context(), gate.Opening{
			Plugin: "notes", Path: filepath.Join(letters, "a.txt"), Write: !c.read, Behalf: c.behalf, Within: c.within,
		})
		if want := c.want == ""; (d.Effect == gate.Allow) != want || d.Reason != c.want {
			t.Errorf("%s: %s, %s", name, d.Effect, d.Reason)
		}
	}
}

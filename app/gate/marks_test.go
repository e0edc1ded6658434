package gate_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"conclave/app/gate"
	"conclave/app/tool"
)

// shows returns what a person is asked about a call with these arguments.
func shows(t *testing.T, change func(*gate.Call)) gate.Request {
	t.Helper()
	g, c := trusted(t, gate.Options{})
	r := request(c)
	change(&r)
	a := &asker{answer: gate.Answer{Effect: gate.Deny, Scope: gate.Once}}
	r.Asker = a
	g.Decide(t.Context(), r)
	if len(a.asked) != 1 {
		t.Fatalf("asked %d times", len(a.asked))
	}
	return a.asked[0]
}

func TestWhatNobodySeesOrTakesForSomethingElseIsShownWhereItStands(t *testing.T) {
	for name, c := range map[string]struct {
		arguments string
		hidden    string
		marks     []gate.Mark
		warned    string
	}{
		"nothing": {`{"text":"Grüße, привет, a, б","to":["ada@example.org"]}`, "", nil, ""},
		"hidden characters": {
			`{"to":["a\u200bda"]}`, "1 hidden character removed.",
			[]gate.Mark{{"to › 1", "a‹U+200B, invisible›da"}},
			"",
		},
		"within an object": {
			`{"options":{"n":1,"name":"b\u202e\u202ea"}}`, "2 hidden characters removed.",
			[]gate.Mark{{"options › name", "b‹U+202E and 1 more, turns the direction›a"}},
			"",
		},
		"in a name": {
			`{"options":{"pa\u200bth":"x"}}`, "1 hidden character removed.",
			[]gate.Mark{{"a name in options", "pa‹U+200B, invisible›th"}},
			"",
		},
		"letters of another alphabet": {
			`{"url":"https://p\u0430ypal.com/\u043f\u0440\u0438"}`, "",
			[]gate.Mark{{"url", "https://p‹U+0430, looks like a›ypal.com/при"}},
			"1 word in what it is given holds letters that look like others.",
		},
		"both in a line": {
			`{"text":"first\n\u0430pple \u200bb\u0430nana"}`, "1 hidden character removed.",
			[]gate.Mark{{"text", "‹U+0430, looks like a›pple ‹U+200B, invisible›b‹U+0430, looks like a›nana"}},
			"2 words in what it is given hold letters that look like others.",
		},
	} {
		p := shows(t, func(r *gate.Call) { r.Arguments = json.RawMessage(c.arguments) })
		if p.HiddenWords() != c.hidden || !slices.Equal(p.Marks, c.marks) || strings.Join(p.Warnings, "|") != c.warned {
			t.Errorf("%s: %q, %+v, %q", name, p.HiddenWords(), p.Marks, p.Warnings)
		}
	}
	p := shows(t, func(r *gate.Call) {
		r.Arguments = json.RawMessage(`{"lines":[` + strings.Repeat(`"\u200b",`, 40) + `""]}`)
	})
	if n := len(p.Marks); n != tool.MaxMarked+1 || p.Marks[n-1].Text != "and 20 more lines" {
		t.Errorf("of 40 lines %d are shown: %+v", n, p.Marks)
	}
	p = shows(t, func(r *gate.Call) {
		r.Because, r.Original = []string{"a hook changed it"}, &gate.Original{Arguments: json.RawMessage(`{"a":"b\u200b"}`)}
		r.Tool.Hidden, r.Tool.Marked = 1, []string{"Saves‹U+200B, invisible›."}
	})
	want := []gate.Mark{
		{"as it was asked, a", "b‹U+200B, invisible›"}, {"what the tool says of itself", "Saves‹U+200B, invisible›."},
	}
	if p.HiddenWords() != "2 hidden characters removed." || !slices.Equal(p.Marks, want) {
		t.Errorf("%q, %+v", p.HiddenWords(), p.Marks)
	}
}

// Only a word that reads as one of a single alphabet is taken for something that it is not.
func TestLettersThatAreTakenForOthersAreThoseWithinAWord(t *testing.T) {
	for text, want := range map[string]string{
		"5μm, 3 kΩ, ΔT, λmax, TNFα and NFκB":     "",
		"PDFка, USBшный, SMSки, PDFа, RAMом":     "",
		"в gitе и Linuxу, о Windowsах":           "",
		"Перевод PDF, προς API, привет-world":    "",
		"kadın, coração, naïve, Ångström, GROẞE": "",
		"支付pay付款, ひらがなkana":                      "",
		"g\u043eogle":                            "g‹U+043E, looks like o›ogle",
		"раyраl": "‹U+0440, looks like p›‹U+0430, looks like a›y" +
			"‹U+0440, looks like p›‹U+0430, looks like a›l",
		"支付g\u043eogle":                           "支付g‹U+043E, looks like o›ogle",
		"pl\u03b1in":                              "pl‹U+03B1, looks like a›in",
		"привeт":                                  "прив‹U+0065, a Latin letter›т",
		"banan\u0430":                             "banan‹U+0430, looks like a›",
		"cp a banan\u0430.org":                    "cp a banan‹U+0430, looks like a›.org",
		"to ada@exampl\u0435":                     "to ada@exampl‹U+0435, looks like e›",
		"about banan\u0430. All of it":            "about banan‹U+0430, looks like a›. All of it",
		"a PDF\u0430, and a note":                 "a PDF‹U+0430, looks like a›, and a note",
		"о gitе, что в нём":                       "",
		"pr\u043eg \u2013 \u0442о, что p\u043eрт": "pr‹U+043E, looks like o›g – то, что ‹U+0070, a Latin letter›орт",
	} {
		p := shows(t, func(r *gate.Call) { r.Arguments = json.RawMessage(`{"text":"` + text + `"}`) })
		got := ""
		for _, m := range p.Marks {
			got += m.Text
		}
		if got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

func TestAnArgumentThatStandsTwiceIsSaidAndBothAreShown(t *testing.T) {
	const once = `{"path":"/notes/a.md","in":{"path":"x"},"all":[{"path":1},{"path":2}]}`
	if p := shows(t, func(r *gate.Call) { r.Arguments = json.RawMessage(once) }); len(p.Warnings) != 0 {
		t.Errorf("of a name in several objects: %q", p.Warnings)
	}
	for arguments, want := range map[string]string{
		`{"path":"/etc/passwd","path":"/notes/a.md"}`:      `{"path":"/etc/passwd","path":"/notes/a.md"}`,
		`{"pa\u0074h":"/etc/passwd","path":"/notes/a.md"}`: `{"path":"/etc/passwd","path":"/notes/a.md"}`,
		`{"path":"/notes/a\u200b","path":"/etc"}`:          `{"path":"/notes/a","path":"/etc"}`,
		`{"in":{"path":1,"path":2}}`:                       `{"in":{"path":1,"path":2}}`,
	} {
		p := shows(t, func(r *gate.Call) { r.Arguments = json.RawMessage(arguments) })
		if len(p.Warnings) != 1 || !strings.HasPrefix(p.Warnings[0], "The name “path” stands more than once") ||
			string(p.Arguments) != want {
			t.Errorf("%s: shown %s, %q", arguments, p.Arguments, p.Warnings)
		}
	}
}

// The attacks: a call is asked about with a name twice, so that a card, a refusal or an earlier
// question knows the one value and the plugin takes the other.
func TestAttackANameThatStandsTwiceHidesNothing(t *testing.T) {
	g, c := trusted(t, gate.Options{})
	r := request(c)
	r.Capabilities = []gate.Capability{gate.Fetch}
	for _, arguments := range []string{
		`{"url":"http://169.254.169.254/latest","url":"https://example.org"}`,
		`{"url":"https://example.org","url":"http://169.254.169.254/latest"}`,
	} {
		r.Arguments = json.RawMessage(arguments)
		if d := g.Decide(t.Context(), r); d.Effect != gate.Deny || d.By != "built-in" {
			t.Errorf("%s: %+v", arguments, d)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		g, c := trusted(t, gate.Options{})
		defer g.Questions.Attach()()
		r := request(c)
		r.Arguments = json.RawMessage(`{"path":"/notes/a.md"}`)
		one, first := asked(t, g, r)
		r.ID, r.Arguments = "call-2", json.RawMessage(`{"path":"/etc/passwd","path":"/notes/a.md"}`)
		other, second := asked(t, g, r)
		if one.ID == other.ID {
			t.Error("they share a card")
		}
		deny(t, g, one, other)
		<-first
		<-second
	})
}

func TestARequestSaysInWhichFolderTheFileLiesThatItNames(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	reports := filepath.Join(home, "Reports")
	must(t, os.Mkdir(reports, 0o700))
	g, c := trusted(t, gate.Options{})
	for arguments, want := range map[string]string{
		`{"path":"Reports/tuesday.md"}`:                 "Reports",
		`{"file_path":"` + reports + `/tuesday.md"}`:    "Reports",
		`{"path":"` + reports + `"}`:                    "Reports",
		`{"path":"~/Reports/tuesday.md","text":"a/b"}`:  "Reports",
		`{"path":"Reports/../.ssh/id","text":"a"}`:      ".ssh",
		`{"path":"../Reports/tuesday.md"}`:              "",
		`{"path":"tuesday.md"}`:                         "",
		`{"path":"Reports/a.md","target":"Other/b.md"}`: "",
		`{"path":"Reports/a.md","path":"Other/b.md"}`:   "",
		`{"path":"Rep\u200borts/tuesday.md"}`:           "",
		`{"path":"` + home + `/.config/secret/a.md"}`:   "",
		`{"text":"Reports/tuesday.md"}`:                 "",
	} {
		a := &asker{}
		r := request(c)
		r.Asker, r.Arguments, r.Capabilities = a, json.RawMessage(arguments), []gate.Capability{gate.WriteFiles}
		g.Decide(t.Context(), r)
		if len(a.asked) != 1 || a.asked[0].Folder != want {
			t.Errorf("%s: asked %+v", arguments, a.asked)
		}
	}
}

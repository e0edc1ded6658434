package gate_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/gate"
	"conclave/app/test/testkit"
	"conclave/app/tool"
)

// rule is one that goes this way for calls of write_note under a condition.
func rule(effect gate.Effect, m ...gate.Match) gate.Rule {
	return gate.Rule{
		Effect: effect, Plugin: "notes", Tool: "write_note", Callers: []gate.Caller{gate.Main},
		Scope: gate.Always, Match: m,
	}
}

// decidedBy returns the step of the order and its effect for a call with these
// arguments.
func decidedBy(g *gate.Gate, c gate.PluginVersion, arguments string) gate.Step {
	call := request(c)
	call.Arguments = json.RawMessage(arguments)
	steps := g.Decisions.Explain(call)
	return steps[len(steps)-1]
}

func TestARuleHoldsForTheArgumentsItNames(t *testing.T) {
	home := t.TempDir()
	notes := filepath.Join(home, "Notes")
	must(t, os.MkdirAll(filepath.Join(notes, "deep"), 0o700))
	must(t, os.MkdirAll(filepath.Join(home, "elsewhere/inner"), 0o700))
	must(t, os.Symlink(filepath.Join(home, "elsewhere/inner"), filepath.Join(notes, "link")))
	t.Setenv("HOME", home)

	under := gate.Match{Field: "path", Op: gate.PathUnder, Value: notes}
	host := gate.Match{Field: "url", Op: gate.HostIs, Value: "API.example.org."}
	port := gate.Match{Field: "url", Op: gate.HostIs, Value: "api.example.org:8443"}
	domain := gate.Match{Field: "url", Op: gate.HostSuffix, Value: "example.org"}
	letters := gate.Match{Field: "url", Op: gate.HostIs, Value: "bücher.example"}
	address := gate.Match{Field: "url", Op: gate.HostIs, Value: "93.184.216.34"}
	sharp := gate.Match{Field: "url", Op: gate.HostIs, Value: "fass.example"}
	most := gate.Match{Field: "amount", Op: gate.AtMost, Value: "20"}
	same := gate.Match{Field: "to", Op: gate.Equals, Value: "ada"}
	oneOf := gate.Match{Field: "to", Op: gate.OneOf, Values: []string{"ada", "bo"}}
	pattern := gate.Match{Field: "to", Op: gate.Pattern, Value: "a|ab"}
	within := gate.Match{Field: "/options/a~1b", Op: gate.Equals, Value: "true"}
	no := gate.Match{Field: "to", Op: gate.Equals, Value: "false"}
	many := gate.Match{Field: "to", Op: gate.Equals, Value: "1000"}
	someNumber := gate.Match{Field: "to", Op: gate.OneOf, Values: []string{"7", "1e3"}}
	// sure: a rule that allows holds. possible: one that denies does.
	for _, c := range []struct {
		m              gate.Match
		arguments      string
		sure, possible bool
	}{
		{under, `{"path": "` + notes + `/a.md"}`, true, true},
		{under, `{"path": "` + notes + `"}`, true, true},
		{under, `{"path": "~/Notes/deep/new/file"}`, true, true},
		{under, `{"path": "` + notes + `x/a.md"}`, false, false},
		{under, `{"path": "` + notes + `/../secret"}`, false, false},
		{under, `{"path": "` + notes + `/link/a"}`, false, false},
		{under, `{"path": "` + notes + `/link/../a"}`, false, false}, // in elsewhere, whatever it looks like
		{under, `{"path": "a.md"}`, false, true},
		{under, `{"path": ["` + notes + `/a", "` + notes + `/b"]}`, true, true},
		{under, `{"path": ["` + notes + `/a", "/tmp/b"]}`, false, true},
		{under, `{"path": ["/tmp/a", "/tmp/b"]}`, false, false},
		{under, `{"path": []}`, false, true},
		{under, `{"path": null}`, false, true},
		{under, `{"path": {"a": 1}}`, false, true},
		{under, `{"path": 7}`, false, true},
		{under, `{"path": "` + notes + `/a", "path": "/tmp/b"}`, false, true},
		{under, `{"other": "` + notes + `/a"}`, false, true},
		{under, `{"path": "` + notes + `/a\u0000"}`, false, true},
		{host, `{"url": "https://api.example.org/x?y#z"}`, true, true},
		{host, `{"url": "HTTPS://API.EXAMPLE.ORG:443"}`, true, true},
		{host, `{"url": "api.example.org"}`, true, true},
		{host, `{"url": "https://api.example.org:8443/"}`, false, true},
		{host, `{"url": "https://evil.example:8443/"}`, false, false},
		{host, `{"url": "https://api.example.org@evil.example/"}`, false, false},
		{host, `{"url": "https://evil.example/api.example.org"}`, false, false},
		{host, `{"url": "https://api.example.org\\@evil.example"}`, false, true},
		{host, `{"url": "//api.example.org"}`, false, true},
		{host, `{"url": "javascript://api.example.org"}`, false, true},
		{host, `{"url": "https://аpi.example.org"}`, false, false}, // its first letter is Cyrillic
		{host, `{"url": "https://evil.example api.example.org"}`, false, true},
		{port, `{"url": "https://api.example.org:8443/"}`, true, true},
		{port, `{"url": "https://api.example.org/"}`, false, false},
		{domain, `{"url": "https://example.org"}`, true, true},
		{domain, `{"url": "https://a.b.example.org/"}`, true, true},
		{domain, `{"url": "https://a.example.org:8443/"}`, false, true},
		{domain, `{"url": "https://example.org:8443/"}`, false, true},
		{port, `{"url": "https://api.example.org:9443/"}`, false, false},
		{domain, `{"url": "https://badexample.org"}`, false, false},
		{domain, `{"url": "https://example.org.evil.example"}`, false, false},
		{letters, `{"url": "https://xn--bcher-kva.example/"}`, true, true},
		{address, `{"url": "http://93.184.216.34./"}`, true, true},
		{address, `{"url": "http://[::ffff:93.184.216.34]/"}`, true, true},
		{address, `{"url": "http://９３.184.216.34/"}`, true, true}, // its first digits are wide ones
		{address, `{"url": "http://0x5db8d822/"}`, false, true},
		{address, `{"url": "http://0X5DB8D822。/"}`, false, true},
		{address, `{"url": "http://1572395042/"}`, false, true},
		{address, `{"url": "http://93.12113954/"}`, false, true},
		{address, `{"url": "http://0135.0270.0330.042/"}`, false, true},
		{address, `{"url": "http://93.184.216.35/"}`, false, false},
		{address, `{"url": "http://[::ffff:93.184.216.35]/"}`, false, false},
		{port, `{"url": "https://api.example.org:08443/"}`, true, true},
		{sharp, `{"url": "https://fass.example/"}`, true, true},
		{sharp, `{"url": "https://fa\u00df.example/"}`, false, true}, // the same for Python's own library
		{sharp, `{"url": "https://xn--fa-hia.example/"}`, false, false},
		{host, `{"url": "https://api.example.org/stra\u00dfe"}`, true, true},
		{address, `{"url": "http://93.184.216.34.example.org/"}`, false, false},
		{most, `{"amount": 20}`, true, true},
		{most, `{"amount": 2e1}`, true, true},
		{most, `{"amount": 20.000001}`, false, false},
		{most, `{"amount": "7"}`, false, true},
		{most, `{"amount": true}`, false, true},
		{same, `{"to": "ada"}`, true, true},
		{same, `{"to": "Ada"}`, false, false},
		{same, `{"to": ["ada", "eve"]}`, false, true},
		{no, `{"to": false}`, true, true},
		{no, `{"to": true}`, false, false},
		{no, `{"to": "false"}`, false, true}, // which is true in Python
		{no, `{"to": "no"}`, false, false},
		{many, `{"to": 1000}`, true, true},
		{many, `{"to": 1000.0}`, true, true},
		{many, `{"to": 1e3}`, true, true},
		{many, `{"to": "1000"}`, true, true},
		{many, `{"to": "1e3"}`, false, true},
		{many, `{"to": 1000.00000000000000000001}`, false, true}, // which most programs round
		{many, `{"to": 1001}`, false, false},
		{many, `{"to": 1e9999}`, false, false},
		{someNumber, `{"to": 1000}`, true, true},
		{someNumber, `{"to": [7.0, 1000]}`, true, true},
		{someNumber, `{"to": 8}`, false, false},
		{oneOf, `{"to": ["bo", "ada"]}`, true, true},
		{oneOf, `{"to": "eve"}`, false, false},
		{pattern, `{"to": "ab"}`, true, true},
		{pattern, `{"to": "xab"}`, false, false},
		{pattern, `{"to": "a\n"}`, false, false},
		{within, `{"options": {"a/b": true}}`, true, true},
		{within, `{"/options/a~1b": true}`, false, true},
		{within, `{"options": [{"a/b": true}]}`, false, true},
		{within, `not JSON`, false, true},
	} {
		for effect, holds := range map[gate.Effect]bool{
			gate.Allow: c.sure, gate.Deny: c.possible, gate.Ask: c.possible,
		} {
			g, version := trusted(t, gate.Options{})
			_, err := g.Rules.Add(t.Context(), rule(effect, c.m))
			must(t, err)
			if s := decidedBy(g, version, c.arguments); (s.Rule != "") != holds {
				t.Errorf("%s: a rule to %s holds %v for %s; %s", c.m.Sentence(), effect, s.Rule != "", c.arguments, s)
			}
		}
	}
}

// A program that reads numbers exactly pays what was written, and not what it is rounded to.
func TestAttackANumberIsAboveTheBoundThatItIsRoundedTo(t *testing.T) {
	for _, c := range []struct {
		bound, amount  string
		sure, possible bool
	}{
		{"9007199254740992", "9007199254740993", false, true},
		{"9007199254740992", "9007199254740992", true, true},
		{"9007199254740992", "9007199254740994", false, false},
		{"20", "20.0000000000000000001", false, true},
		{"20", "19.9999999999999999999", false, true},
		{"20", "20.000000000000004", false, false},
		{"20", "20.0", true, true},
		{"20", "2e1", true, true},
		{"+20.50", "20.5", true, true},
		{"0", "1e-400", false, true},
		{"0", "1e-99999999999", false, true},
		{"0", "-0", true, true},
		{"0.1", "0.1", true, true},
	} {
		for effect, holds := range map[gate.Effect]bool{gate.Allow: c.sure, gate.Deny: c.possible} {
			g, version := trusted(t, gate.Options{})
			_, err := g.Rules.Add(t.Context(), rule(effect, gate.Match{Field: "amount", Op: gate.AtMost, Value: c.bound}))
			must(t, err)
			step := decidedBy(g, version, `{"amount":`+c.amount+`}`)
			if got := step.Rule != ""; got != holds {
				t.Errorf("%s a call of %s while amount is at most %s: it holds: %v, decided by %+v",
					effect, c.amount, c.bound, got, step)
			}
		}
	}
}

// A plugin gets the same number however a model writes it.
func TestAttackANumberIsWrittenSoThatThePatternOfARuleMissesIt(t *testing.T) {
	for _, c := range []struct {
		amount         string
		sure, possible bool
	}{
		{"666", true, true},
		{"666.0", false, true},
		{"6.66e2", false, true},
		{"66600E-2", false, true},
		{"667", false, false},
		{"666.5", false, false},
		{`"6.66e2"`, false, true},
		{`" 666"`, false, true},
		{`"\ufeff666"`, false, true},
		{`"0x29a"`, false, true},
		{`" 667"`, false, false},
		{`"2026-11-24"`, false, false},
		{"true", false, false},
	} {
		for effect, holds := range map[gate.Effect]bool{gate.Allow: c.sure, gate.Deny: c.possible} {
			g, version := trusted(t, gate.Options{})
			_, err := g.Rules.Add(t.Context(), rule(effect, gate.Match{Field: "amount", Op: gate.Pattern, Value: "666"}))
			must(t, err)
			step := decidedBy(g, version, `{"amount":`+c.amount+`}`)
			if got := step.Rule != ""; got != holds {
				t.Errorf("%s a call of %s while amount matches 666: it holds: %v, decided by %+v", effect, c.amount, got, step)
			}
		}
	}
}

// A plugin that wants a number makes one of a text.
func TestAttackATextThatAPluginReadsAsTheNumberOfARule(t *testing.T) {
	number := gate.Match{Field: "amount", Op: gate.Equals, Value: "666"}
	oneOf := gate.Match{Field: "amount", Op: gate.OneOf, Values: []string{"666", "ada"}}
	name := gate.Match{Field: "amount", Op: gate.Equals, Value: "ada"}
	one := gate.Match{Field: "amount", Op: gate.Equals, Value: "1"}
	zero := gate.Match{Field: "amount", Op: gate.Equals, Value: "0"}
	zeros := gate.Match{Field: "amount", Op: gate.Pattern, Value: "0"}
	for _, c := range []struct {
		m              gate.Match
		amount         string
		sure, possible bool
	}{
		{number, `"666"`, true, true},
		{number, `" 666"`, false, true},
		{number, `"666.0"`, false, true},
		{number, `"6_66"`, false, true},
		{number, `"0666"`, false, true},
		{number, `"6.66e2"`, false, true},
		{number, `"\u0666\u0666\u0666"`, false, true},
		{number, `"ada"`, false, false},
		{number, `"route 66"`, false, false},
		{number, `"667"`, false, false},
		{number, `"-"`, false, false},
		{number, `"0x29a"`, false, true},
		{number, `"+0x29a"`, false, true},
		{number, `"-0x29a"`, false, false},
		{number, `"\u001c666\u001f"`, false, true}, // which Python takes for spaces
		{number, `"2026-11-24"`, false, false},
		{number, "true", false, false},
		{one, "true", false, true},
		{one, "false", false, false},
		{number, `"\ufeff666"`, false, true},
		{number, `""`, false, false},
		{zero, `""`, false, true}, // which is 0 for JavaScript
		{zero, `" \ufeff\n"`, false, true},
		{zeros, `""`, false, true},
		{zeros, `"  "`, false, true},
		{zeros, "-0", false, true},
		{zeros, `"-0"`, false, true},
		{zeros, "0.0", false, true},
		{zeros, "0", true, true},
		{zeros, "-5", false, false},
		{zeros, "-0.5", false, false},
		{zeros, `"-5.5"`, false, false},
		{oneOf, `" 666"`, false, true},
		{oneOf, `"ada"`, true, true},
		{oneOf, `"bo"`, false, false},
		{name, `" 666"`, false, false},
	} {
		for effect, holds := range map[gate.Effect]bool{gate.Allow: c.sure, gate.Deny: c.possible} {
			g, version := trusted(t, gate.Options{})
			_, err := g.Rules.Add(t.Context(), rule(effect, c.m))
			must(t, err)
			step := decidedBy(g, version, `{"amount":`+c.amount+`}`)
			if got := step.Rule != ""; got != holds {
				t.Errorf("%s a call of %s %s: it holds: %v, decided by %+v", effect, c.amount, c.m.Sentence(), got, step)
			}
		}
	}
}

func TestARuleWithConditionsReadsAsASentence(t *testing.T) {
	ends := time.Date(2026, 12, 24, 18, 30, 0, 0, time.Local)
	for want, r := range map[string]gate.Rule{
		"Notes may run write_note, only in /home/me/Notes, when I ask, always": rule(gate.Allow,
			gate.Match{Field: "path", Op: gate.PathUnder, Value: "/home/me/Notes", Sole: true}),
		"Notes may run write_note, while path is in /home/me/Notes, when I ask, always": rule(gate.Allow,
			gate.Match{Field: "path", Op: gate.PathUnder, Value: "/home/me/Notes"}),
		"Notes may run write_note, while url leads to api.example.org, while amount is at most 20, " +
			"when I ask, always": rule(gate.Allow,
			gate.Match{Field: "url", Op: gate.HostIs, Value: "api.example.org"},
			gate.Match{Field: "amount", Op: gate.AtMost, Value: "20"}),
		"Notes may run write_note, while url leads to bücher.example (xn--bcher-kva.example) and what is below it, " +
			"when I ask, always": rule(
			gate.Allow, gate.Match{Field: "url", Op: gate.HostSuffix, Value: "xn--bcher-kva.example"}),
		"Notes may never run write_note, while to is one of “ada” and “bo”, when I ask": rule(gate.Deny,
			gate.Match{Field: "to", Op: gate.OneOf, Values: []string{"ada", "bo"}}),
		"Notes has to ask each time before it runs write_note, while options/deep matches a+, when I ask": rule(
			gate.Ask, gate.Match{Field: "/options/deep", Op: gate.Pattern, Value: "a+"}),
		"Notes may run write_note, when I ask, always, 1 more time": {
			Effect: gate.Allow, Tool: "write_note", Callers: []gate.Caller{gate.Main}, Scope: gate.Always,
			MaxUses: 3, Uses: 2,
		},
		"Notes may run write_note, when I ask, in one chat, until December 24, 2026 18:30": {
			Effect: gate.Allow, Tool: "write_note", Callers: []gate.Caller{gate.Main}, Scope: gate.ThisChat,
			Expires: ends,
		},
	} {
		if got := gate.Sentence(r, "Notes"); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
}

func TestARuleOverTheBoundsIsRefused(t *testing.T) {
	g, c := trusted(t, gate.Options{})
	long := gate.Match{Field: "to", Op: gate.Equals, Value: strings.Repeat("a", limit.RuleCondition)}
	for want, matches := range map[string][]gate.Match{
		"A rule has at most 16 conditions.":        make([]gate.Match, limit.RuleConditions+1),
		"A condition of a rule has at most 4 KiB.": {long},
		"names no argument":                        {{Op: gate.Equals, Value: "a"}},
		"no absolute path":                         {{Field: "path", Op: gate.PathUnder, Value: "Notes"}},
		"is no host":                               {{Field: "url", Op: gate.HostIs, Value: "https://a.example/path"}},
		"nothing is below":                         {{Field: "url", Op: gate.HostSuffix, Value: "127.0.0.1"}},
		"is no number":                             {{Field: "n", Op: gate.AtMost, Value: "NaN"}},
		"is no pattern":                            {{Field: "n", Op: gate.Pattern, Value: "a)|(b"}},
		"nothing to choose from":                   {{Field: "n", Op: gate.OneOf}},
		"nothing to compare with":                  {{Field: "n", Op: gate.PathUnder}},
		"does not know":                            {{Field: "n", Op: "sounds-like", Value: "a"}},
	} {
		if _, err := g.Rules.Add(t.Context(), rule(gate.Allow, matches...)); err == nil ||
			fault.Of(err).Kind != fault.Invalid ||
			!strings.Contains(fault.Of(err).Message, want) {
			t.Errorf("%q: %v", want, err)
		}
	}
	if _, err := g.Rules.Add(t.Context(), gate.Rule{Effect: gate.Allow, Plugin: "notes", MaxUses: -1}); err == nil {
		t.Error("a rule for -1 calls is made")
	}
	long.Value = long.Value[:limit.RuleCondition-2]
	if _, err := g.Rules.Add(t.Context(), rule(gate.Allow, long)); err != nil {
		t.Errorf("one of just the length is refused: %v", err)
	}
	if s := decidedBy(g, c, `{"to": "a"}`); s.Rule != "" {
		t.Errorf("what was refused decides: %s", s)
	}
}

func TestAConditionOfALaterVersionAllowsNothingAndRefusesAlways(t *testing.T) {
	for effect, step := range map[gate.Effect]int{gate.Allow: 9, gate.Deny: 2, gate.Ask: 6} {
		store := newMemory()
		r := rule(effect, gate.Match{Field: "to", Op: "sounds-like", Value: "ada"})
		r.ID, r.Made = "grant_1", time.Now()
		store.grants[r.ID] = r
		g, c := trusted(t, gate.Options{Store: store})
		if s := decidedBy(g, c, `{"to": "ada"}`); s.Number != step {
			t.Errorf("a rule to %s that cannot be read: %s", effect, s)
		}
	}
}

func TestARuleIsUsedUpAlsoAfterACrash(t *testing.T) {
	store := newMemory()
	g, c := trusted(t, gate.Options{Store: store})
	r := rule(gate.Allow)
	r.MaxUses = 2
	_, err := g.Rules.Add(t.Context(), r)
	must(t, err)
	effect := func(g *gate.Gate) gate.Effect { return g.Decide(t.Context(), request(c)).Effect }
	if effect(g) != gate.Allow {
		t.Fatal("the first is refused")
	}
	again := open(t, gate.Options{Store: store}) // the first was never closed
	again.Approvals.Status(c)
	if effect(again) != gate.Allow || effect(again) != gate.Deny {
		t.Error("after a crash it does not hold for exactly the second call")
	}
	if rules, err := again.Rules.List(t.Context()); err != nil || len(rules) != 0 {
		t.Errorf("a rule that is used up is listed: %+v, %v", rules, err)
	}

	third := open(t, gate.Options{Store: store})
	third.Approvals.Status(c)
	_, err = third.Rules.Add(t.Context(), r)
	must(t, err)
	store.broken = true
	if d := third.Decide(t.Context(), request(c)); d.Effect != gate.Deny ||
		!strings.Contains(d.Reason, "could not be written") {
		t.Errorf("a use that could not be written is %+v", d)
	}
}

func TestARequestOffersNarrowConditionsAndTakesNoOthers(t *testing.T) {
	home := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(home, "Notes", "old"), 0o700))
	must(t, os.MkdirAll(filepath.Join(home, ".ssh"), 0o700))
	t.Setenv("HOME", home)
	g, c := trusted(t, gate.Options{}, declaring(`{"text": {"type": "string"}, "amount": {"type": "number"},
		"path": {"type": "string"}, "url": {"type": "string"}, "to": {"type": "string"}, "deep": {}, "b": {}}`))
	ask := func(arguments string, answer gate.Answer) ([]string, gate.Decision) {
		return offers(t, g, c, arguments, answer)
	}
	no := gate.Answer{Effect: gate.Deny, Scope: gate.Once}
	for arguments, want := range map[string]string{
		`{"text": "a long text of some words", "amount": 20, "path": "~/Notes/a.md", "url": "https://api.example.org/x", "to": "ada"}`: "while path is in " + home + "/Notes, while url leads to api.example.org | while path is in " + home +
			"/Notes, whatever url is | while url leads to api.example.org, whatever path is | while amount is at most 20, " +
			"whatever path and url are | while to is “ada”, whatever path and url are",
		`{"path": "~/Notes"}`:     "while path is in " + home + "/Notes",
		`{"path": "~/Notes/old"}`: "while path is in " + home + "/Notes/old",
		`{"path": "~/Notes/new"}`: "while path is in " + home + "/Notes", // there is none yet
		// What its definition does not name, its caller made up.
		`{"cwd": "~/Notes", "path": "/etc/passwd"}`: "",
		`{"path": "` + home + `/a.md"}`:             "", // the whole home folder is never offered
		`{"path": "/etc/passwd"}`:                   "",
		`{"to": "ada", "to": "eve"}`:                "",
		`{"deep": {"to": "ada"}, "b": []}`:          "",
	} {
		if offered, _ := ask(arguments, no); strings.Join(offered, " | ") != want {
			t.Errorf("%s offers %q", arguments, offered)
		}
	}
	wrong := gate.Answer{
		Effect: gate.Allow, Scope: gate.Always,
		Match: []gate.Match{{Field: "amount", Op: gate.AtMost, Value: "1000"}},
	}
	if _, d := ask(`{"amount": 20}`, wrong); d.Effect != gate.Deny {
		t.Errorf("a condition that was not offered: %+v", d)
	}
	right := wrong
	right.Match = []gate.Match{{Field: "amount", Op: gate.AtMost, Value: "20"}}
	if _, d := ask(`{"amount": 20}`, right); d.Effect != gate.Allow || d.Rule == "" {
		t.Errorf("one that was: %+v", d)
	}
	if offered, d := ask(`{"amount": 19}`, no); offered != nil || d.Effect != gate.Allow {
		t.Errorf("less is asked about again: %+v", d)
	}
	if offered, d := ask(`{"amount": 21}`, no); len(offered) != 1 || d.Effect != gate.Deny {
		t.Errorf("more is not asked about: %+v", d)
	}
}

// The attack: a tool of many paths has the person read four of them.
func TestAttackAnOfferSaysWhatItLeavesFree(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, name := range []string{"a", "b"} {
		must(t, os.MkdirAll(filepath.Join(home, name), 0o700))
	}
	names := []string{"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"}
	var declared, within []string
	for _, name := range names {
		declared = append(declared, `"`+name+`": {}`)
		within = append(within, "while "+name+" is in "+home+"/a")
	}
	g, c := trusted(t, gate.Options{}, declaring("{"+strings.Join(declared, ",")+"}"))
	paths := func(n int) string {
		var all []string
		for _, name := range names[:n] {
			all = append(all, `"`+name+`": "~/a/x"`)
		}
		return strings.Join(all, ",")
	}
	eight, no := strings.Join(within[:8], ", "), gate.Answer{Effect: gate.Deny, Scope: gate.Once}
	for arguments, want := range map[string]string{
		"{" + paths(5) + "}":                                   strings.Join(within[:5], ", "),
		"{" + paths(8) + "}":                                   eight,
		"{" + paths(10) + "}":                                  eight + ", whatever nine and ten are",
		"{" + paths(12) + "}":                                  eight + ", whatever nine, ten, eleven and twelve are",
		"{" + paths(2) + `, "three": "/etc/passwd"}`:           within[0] + ", " + within[1] + ", whatever three is",
		`{"one": "~/a/x", "two": ["x", {"in": "~/b"}]}`:        within[0] + ", whatever two is",
		`{"one": "~/a/x", "two": ["http://a b", "not /home"]}`: within[0],
		`{"one": "~/a/x", "two": "x", "two": "sftp://b/x"}`:    within[0] + ", whatever two is",
		`{"one": "~/a/x", "other": "/etc/passwd"}`:             within[0] + ", whatever other is",
		`{"one": "~/a/x", "two": "~/a/x", "other": "a word"}`:  within[0] + ", " + within[1],
		`{"one": "~/a/x", "a is, not b": ["file:/b"]}`:         within[0] + ", whatever “a is, not b” is",
	} {
		if offered, _ := offers(t, g, c, arguments, no); len(offered) == 0 || len(offered) > 5 || offered[0] != want {
			t.Errorf("%s offers\n     %q\nwant %q", arguments, offered, want)
		}
	}
	call := request(c)
	call.Arguments = json.RawMessage("{" + paths(1) + `, "two": "/", "three": "/", "four": "/", "five": "/", "six": "/"}`)
	p := refused(t, g, call)
	want := "always, " + within[0] + ", whatever two, three, four and 2 more arguments are"
	if _, words, _ := p.Lasting(); words != want {
		t.Errorf("one press allows %q, want %q", words, want)
	}
}

// The attack: once calls are allowed that lead to one folder alone, as far as the tool's definition
// says, a call names another in an argument of which the definition says nothing, or in a place
// where nobody looks.
func TestAttackAnArgumentThatADefinitionDoesNotNameLeadsElsewhere(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, name := range []string{"a", "Documents"} {
		must(t, os.MkdirAll(filepath.Join(home, name), 0o700))
	}
	only := gate.Answer{Effect: gate.Allow, Scope: gate.Always, Match: []gate.Match{
		{Field: "path", Op: gate.PathUnder, Value: filepath.Join(home, "a")},
	}}
	no := gate.Answer{Effect: gate.Deny, Scope: gate.Once}
	const path = `"properties": {"path": {"type": "string"}}`
	for name, schema := range map[string]string{
		"what it leaves open":     `{"type": "object", ` + path + `}`,
		"what it opens":           `{"type": "object", ` + path + `, "additionalProperties": true}`,
		"what it names elsewhere": `{` + path + `, "allOf": [{"properties": {"output": {"type": "string"}}}]}`,
		"what looks like naming":  `{` + path + `, "PROPERTIES": {"output": {"type": "string"}}}`,
		"what it refers to":       `{` + path + `, "$ref": "#/$defs/more", "$defs": {"more": {"properties": {"output": {}}}}}`,
	} {
		g, c := trusted(t, gate.Options{}, describing(schema))
		alone, elsewhere := `{"path": "~/a/x"}`, `{"path": "~/a/x", "output": {"in": "~/Documents/Taxes.ods"}}`
		offered, d := offers(t, g, c, alone, only)
		if want := "only in " + home + "/a"; strings.Join(offered, " | ") != want || d.Effect != gate.Allow {
			t.Fatalf("%s: offered %q, %+v", name, offered, d)
		}
		for _, arguments := range []string{alone, `{"path": "~/a/y", "output": 7}`} {
			if offered, d = offers(t, g, c, arguments, no); offered != nil || d.Effect != gate.Allow {
				t.Errorf("%s: %s is asked about again: %q, %+v", name, arguments, offered, d)
			}
		}
		offered, d = offers(t, g, c, elsewhere, only)
		want := "while path is in " + home + "/a, whatever output is"
		if strings.Join(offered, " | ") != want || d.Effect != gate.Allow || d.Rule == "" {
			t.Errorf("%s: elsewhere is offered %q, %+v", name, offered, d)
		}
		if offered, d = offers(t, g, c, elsewhere, no); offered != nil || d.Effect != gate.Allow {
			t.Errorf("%s: what was allowed whatever output is is asked about: %q, %+v", name, offered, d)
		}
	}
}

// The same, where more arguments may be texts, so that the condition names the one that it is about.
func TestAttackAnArgumentThatAppearsOnceOthersAreAllowed(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, name := range []string{"a", "Documents"} {
		must(t, os.MkdirAll(filepath.Join(home, name), 0o700))
	}
	store := newMemory()
	g, c := trusted(t, gate.Options{Store: store}, declaring(`{"path": {"type": "string"}, "as": {"type": "string"}}`))
	only := gate.Answer{Effect: gate.Allow, Scope: gate.Always, Match: []gate.Match{
		{Field: "path", Op: gate.PathUnder, Value: filepath.Join(home, "a")},
	}}
	no := gate.Answer{Effect: gate.Deny, Scope: gate.Once}
	if _, d := offers(t, g, c, `{"path": "~/a/x", "as": "pdf"}`, only); d.Effect != gate.Allow {
		t.Fatalf("%+v", d)
	}
	const elsewhere = `{"path": "~/a/x", "as": "pdf", "output": "~/Documents/Taxes.ods"}`
	for arguments, asked := range map[string]bool{
		`{"path": "~/a/y", "as": "ods"}`:                        false,
		`{"path": "~/a/y", "as": "ods", "note": "for Ada"}`:     false,
		`{"path": "~/a/y", "as": "ods", "output": ["file:/b"]}`: true,
		elsewhere: true,
	} {
		if offered, d := offers(t, g, c, arguments, no); (offered != nil) != asked || (d.Effect == gate.Deny) != asked {
			t.Errorf("%s: offered %q, %+v", arguments, offered, d)
		}
	}
	want := "while path is in " + home + "/a, whatever output is"
	if offered, d := offers(t, g, c, elsewhere, only); len(offered) == 0 || offered[0] != want || d.Rule == "" {
		t.Errorf("offered %q, %+v", offered, d)
	}
	again := open(t, gate.Options{Store: store})
	again.Approvals.Status(c)
	if offered, d := offers(t, again, c, elsewhere, no); offered != nil || d.Effect != gate.Allow {
		t.Errorf("what was allowed whatever output is, after a restart: %q, %+v", offered, d)
	}
	other := `{"path": "~/a/x", "as": "pdf", "log": "/tmp/log"}`
	if offered, d := offers(t, again, c, other, no); offered == nil || d.Effect != gate.Deny {
		t.Errorf("another argument leads elsewhere: %q, %+v", offered, d)
	}
}

// declaring has the first tool name these arguments, which its schema does not close.
func declaring(properties string) func(*gate.PluginVersion) {
	return describing(`{"type":"object","properties":` + properties + `}`)
}

// describing has the first tool take arguments of this schema.
func describing(schema string) func(*gate.PluginVersion) {
	return func(v *gate.PluginVersion) {
		v.Tools[0].Parameters = json.RawMessage(schema)
		v.Tools[0] = tool.Normal(v.Tools[0])
	}
}

// offers returns the conditions that a question about a call offers, and what its answer came to.
func offers(t *testing.T, g *gate.Gate, c gate.PluginVersion, arguments string, answer gate.Answer) (
	[]string, gate.Decision,
) {
	t.Helper()
	call := request(c)
	a := &asker{answer: answer}
	call.Arguments, call.Asker = json.RawMessage(arguments), a
	d := g.Decide(t.Context(), call)
	var offered []string
	if len(a.asked) > 0 {
		for _, offer := range a.asked[0].Offers() {
			offered = append(offered, a.asked[0].OfferWords(offer))
		}
	}
	return offered, d
}

func TestWhatLastsHoldsEveryPathThatACallNames(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	notes := filepath.Join(home, "Documents", "Notes")
	must(t, os.MkdirAll(notes, 0o700))
	g, c := trusted(t, gate.Options{}, declaring(`{"source": {"type": "string"}, "destination": {"type": "string"}}`))
	within := `{"cwd": "` + notes + `/x", "source": "` + notes + `/a.md", "destination": "` + notes + `/b.md"}`
	call := request(c)
	call.Arguments = json.RawMessage(within)
	defer g.Questions.Attach()()
	p, decided := asked(t, g, call)
	lasting, words, ok := p.Lasting()
	want := "always, while source is in " + notes + ", while destination is in " + notes + ", whatever cwd is"
	if !ok || words != want {
		t.Fatalf("got  %q\nwant %q", words, want)
	}
	must(t, g.Questions.Answer(t.Context(), p.ID, p.Nonce, lasting))
	<-decided
	no := gate.Answer{Effect: gate.Deny, Scope: gate.Once}
	if offered, d := offers(t, g, c, within, no); offered != nil || d.Effect != gate.Allow {
		t.Errorf("the same again: %+v", d)
	}
	out := `{"source": "` + notes + `/a.md", "destination": "` + home + `/Documents/Taxes.ods"}`
	if offered, d := offers(t, g, c, out, no); d.Effect != gate.Deny {
		t.Errorf("out of the folder: offered %q, %+v", offered, d)
	}
}

// The attack: an ecosystem that checks no types takes the path of another file for a number.
func TestAttackANumberThatIsAText(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	must(t, os.MkdirAll(filepath.Join(home, "Notes"), 0o700))
	g, c := trusted(t, gate.Options{}, declaring(`{"path": {"type": "string"}, "lines": {"type": "integer"}}`))
	only := gate.Answer{Effect: gate.Allow, Scope: gate.Always, Match: []gate.Match{
		{Field: "path", Op: gate.PathUnder, Value: filepath.Join(home, "Notes")},
	}}
	if offered, d := offers(t, g, c, `{"path": "~/Notes/a", "lines": 3}`, only); d.Effect != gate.Allow ||
		offered[0] != "only in "+home+"/Notes" {
		t.Fatalf("offered %q, %+v", offered, d)
	}
	for lines, want := range map[string]gate.Effect{
		`7`: gate.Allow, `"7"`: gate.Allow, `" 7.5 "`: gate.Allow, `"true"`: gate.Allow, `[1, "2"]`: gate.Allow,
		`"~/Taxes"`: gate.Deny, `"secret"`: gate.Deny, `{"a": "secret"}`: gate.Deny, `["secret"]`: gate.Deny,
	} {
		no := gate.Answer{Effect: gate.Deny, Scope: gate.Once}
		if _, d := offers(t, g, c, `{"path": "~/Notes/a", "lines": `+lines+`}`, no); d.Effect != want {
			t.Errorf("%s: %+v", lines, d)
		}
	}
}

func TestTheOnlyArgumentThatCanBeMeantNeedsNoName(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	must(t, os.MkdirAll(filepath.Join(home, "Notes"), 0o700))
	for properties, want := range map[string]string{
		`{"path": {"type": "string"}, "lines": {"type": "integer"}, "all": {"type": "boolean"}}`: "only in " + home + "/Notes",
		`{"path": {"type": "string"}, "to": {"type": "string"}}`:                                 "while path is in " + home + "/Notes",
		`{"path": {"type": "string"}, "to": {"type": ["string", "null"]}}`:                       "while path is in " + home + "/Notes",
		`{"path": {"type": "string"}, "to": {"type": "string", "TYPE": "integer"}}`:              "while path is in " + home + "/Notes",
		`{"path": {"type": "string"}, "to": true}`:                                               "while path is in " + home + "/Notes",
		`{"path": {"type": "string"}, "files": {}}`:                                              "while path is in " + home + "/Notes",
	} {
		g, c := trusted(t, gate.Options{}, declaring(properties))
		offered, _ := offers(t, g, c, `{"path": "~/Notes/a.md"}`, gate.Answer{Effect: gate.Deny, Scope: gate.Once})
		if strings.Join(offered, " | ") != want {
			t.Errorf("%s offers %q", properties, offered)
		}
	}
}

// random makes rules and calls out of a number, so that a failure can be repeated.
type random struct{ *rand.Rand }

func pick[T any](r random, of ...T) T { return of[r.IntN(len(of))] }

func (r random) match() gate.Match {
	return pick(r,
		gate.Match{Field: "to", Op: gate.Equals, Value: pick(r, "ada", "bo")},
		gate.Match{Field: "to", Op: gate.OneOf, Values: []string{"ada", "bo"}},
		gate.Match{Field: "to", Op: gate.Pattern, Value: pick(r, "a.*", ".*", "b+")},
		gate.Match{Field: "amount", Op: gate.AtMost, Value: pick(r, "1", "20")},
		gate.Match{Field: "url", Op: gate.HostSuffix, Value: "example.org"},
		gate.Match{Field: "path", Op: gate.PathUnder, Value: pick(r, "/", "/tmp")},
	)
}

func (r random) rule(effect gate.Effect) gate.Rule {
	out := gate.Rule{
		Effect: effect, Plugin: "notes", Tool: pick(r, "write_note", "read_note", "*"),
		Callers: []gate.Caller{pick(r, gate.Main, gate.Person, "member:*", "member:a")},
		Scope:   pick(r, gate.Always, gate.UntilQuit, gate.ThisChat, gate.ThisProject, gate.ThisAnswer),
	}
	switch out.Scope {
	case gate.ThisChat:
		out.Conversation = "chat-1"
	case gate.ThisProject:
		out.Project = pick(r, "/home/me/notes", "/home/me/other")
	case gate.ThisAnswer:
		out.Turn = "turn-1"
	}
	for range r.IntN(3) {
		out.Match = append(out.Match, r.match())
	}
	if r.IntN(4) == 0 {
		out.MaxUses = 1 + r.IntN(3)
	}
	return out
}

func (r random) call(c gate.PluginVersion) gate.Call {
	call := gate.Call{
		ID: fmt.Sprint("call-", r.Uint64()), Tool: c.Tools[r.IntN(2)], Conversation: "chat-1", Turn: "turn-1",
		Caller: pick(r, gate.Main, gate.Person, "member:a", "member:b", "plugin:x"),
		Arguments: json.RawMessage(pick(r, `{}`, `{"to":"ada"}`, `{"to":["ada","eve"],"amount":7}`, `{"amount":21}`,
			`{"url":"https://a.example.org/","path":"/tmp/x"}`, `{"path":"~/.ssh/id"}`, `broken`)),
	}
	if r.IntN(2) == 0 {
		call.Capabilities = []gate.Capability{pick(r, gate.Compute, gate.ReadFiles, gate.Fetch, gate.WriteFiles,
			gate.SendWeb, gate.Delete, gate.RunPrograms, gate.UseSecret, gate.CallModel, "unheard of")}
	}
	if r.IntN(4) == 0 {
		call.Taint = fromExample
	}
	if r.IntN(8) == 0 {
		call.Tool.Digest = "another"
	}
	return call
}

// grantsLoosenNothing checks calls and rules made of a number: what one of the first
// seven steps decided without any rule that allows is decided the same with many, and
// the gate decides as it explains.
func grantsLoosenNothing(t *testing.T, seed uint64) {
	t.Helper()
	r := random{rand.New(rand.NewPCG(seed, 1))}
	mode := pick(r, gate.Standard, gate.Careful)
	o := gate.Options{Mode: func() gate.Mode { return mode }}
	strict, c := trusted(t, o)
	loose, _ := trusted(t, o)
	add := func(g *gate.Gate, rule gate.Rule) {
		_, err := g.Rules.Add(t.Context(), rule)
		must(t, err)
	}
	for range r.IntN(4) {
		rule := r.rule(pick(r, gate.Deny, gate.Ask))
		add(strict, rule)
		add(loose, rule)
	}
	for range 1 + r.IntN(6) {
		add(loose, r.rule(gate.Allow))
	}
	if r.IntN(10) == 0 {
		strict.Modes.SetPaused(true)
		loose.Modes.SetPaused(true)
	}
	call := r.call(c)
	steps := strict.Decisions.Explain(call)
	before := steps[len(steps)-1]
	steps = loose.Decisions.Explain(call)
	after := steps[len(steps)-1]
	if before.Number < 7 && (after.Number != before.Number || after.Effect != before.Effect) {
		t.Errorf("seed %d: %s became %s by rules that allow, for %+v", seed, before, after, call)
	}
	if d := loose.Decide(t.Context(), call); d.Step != after.Number ||
		after.Effect != gate.Ask && d.Effect != after.Effect || after.Effect == gate.Ask && d.Effect != gate.Deny {
		t.Errorf("seed %d: explained is %s, decided %+v", seed, after, d)
	}
}

func TestNoRuleThatAllowsLoosensAnEarlierStepIn1000Calls(t *testing.T) {
	withoutHome(t)
	for seed := range uint64(1000) {
		grantsLoosenNothing(t, seed)
	}
}

func FuzzNoRuleThatAllowsLoosensAnEarlierStep(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(grantsLoosenNothing)
}

// BenchmarkDecideAmong10000Rules decides among 10,000 rules of 200 plugins, of which
// 1,000 compare arguments, all of them of the tool that is called.
func BenchmarkDecideAmong10000Rules(b *testing.B) {
	g, c := trusted(b, gate.Options{})
	for i := range 10_000 {
		r := rule(gate.Allow)
		switch {
		case i < 1000:
			r.Match = []gate.Match{{Field: "path", Op: gate.PathUnder, Value: fmt.Sprintf("/tmp/%d", i)}}
		default:
			r.Plugin = fmt.Sprintf("p%d", i%200)
		}
		if _, err := g.Rules.Add(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
	call := request(c)
	call.Arguments = json.RawMessage(`{"path": "/tmp/0/a"}`) // the oldest, which is compared last
	var slowest []time.Duration
	for b.Loop() {
		began := time.Now()
		if g.Decide(b.Context(), call).Effect != gate.Allow {
			b.Fatal("refused")
		}
		slowest = append(slowest, time.Since(began))
	}
	b.ReportMetric(float64(testkit.Percentile(slowest, 99).Nanoseconds())/1000, "µs-p99")
}

func TestHostileArgumentsDoNotHoldTheGate(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	g, c := trusted(t, gate.Options{})
	_, err := g.Rules.Add(t.Context(), rule(gate.Allow, gate.Match{Field: "path", Op: gate.PathUnder, Value: home}))
	must(t, err)
	counts := gate.Match{Field: "text", Op: gate.OneOf}
	for i := range 800 {
		counts.Values = append(counts.Values, strconv.Itoa(i))
	}
	for range 8 {
		_, err := g.Rules.Add(t.Context(), rule(gate.Allow,
			gate.Match{Field: "text", Op: gate.Pattern, Value: "[1 ]*"}, counts))
		must(t, err)
	}
	var names, alike strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&names, `"a%d": "/usr/../usr/lib", `, i)
	}
	for i := range 4_000 { // which are shown alike, since they differ behind what is shown of them
		fmt.Fprintf(&alike, `"\u200b%s%d": 1, `, strings.Repeat("a", tool.ShownLine), i)
	}
	inside := `"` + home + `/a"`
	for name, arguments := range map[string]string{
		"names": `{` + names.String() + `"path": "/usr"}`,
		"alike": `{` + alike.String() + `"path": "/usr"}`,
		"parts": `{"path": "/usr` + strings.Repeat("/../usr", 100_000) + `"}`,
		"deep":  `{"path": "` + home + strings.Repeat("/none", 100_000) + `"}`,
		"items": `{"path": [` + strings.Repeat(inside+`, `, 15_000) + inside + `]}`,
		"mixed": `{"path": "/usr", "text": "ж` + strings.Repeat(",gitе", 50_000) + `"}`, // with a Cyrillic е
		"count": `{"path": "/usr", "text": "` + strings.Repeat("1 ", 130_000) + `"}`,
	} {
		call := request(c)
		a := &asker{answer: gate.Answer{Effect: gate.Deny, Scope: gate.Once}}
		call.Arguments, call.Asker = json.RawMessage(arguments), a
		if d := g.Decide(t.Context(), call); d.Effect != gate.Deny || len(a.asked) != 1 {
			t.Errorf("%s: %+v, asked %d times", name, d, len(a.asked))
			continue
		}
		var given, shown map[string]any
		must(t, json.Unmarshal(call.Arguments, &given))
		must(t, json.Unmarshal(a.asked[0].Arguments, &shown))
		if len(given) != len(shown) {
			t.Errorf("%s: %d arguments are shown of %d", name, len(shown), len(given))
		}
	}
}

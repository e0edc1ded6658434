package gate_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/app/gate"
	"conclave/app/tool"
)

// cellOf returns a row's cell as "main council", empty where there is none.
func cellOf(row gate.Row, c gate.Capability) string {
	i := slices.IndexFunc(row.Cells, func(cell gate.Cell) bool { return cell.Capability == c })
	if i < 0 {
		return ""
	}
	return string(row.Cells[i].Main) + " " + string(row.Cells[i].Council)
}

func TestTheMatrixSaysWhatBecomesOfCalls(t *testing.T) {
	allow := gate.Rule{
		Effect: gate.Allow, Plugin: "notes", Tool: "*", Callers: []gate.Caller{gate.Main}, Scope: gate.Always,
	}
	with := func(rule gate.Rule, change func(*gate.Rule)) gate.Rule {
		change(&rule)
		return rule
	}
	for name, c := range map[string]struct {
		rules []gate.Rule
		mode  gate.Mode
		want  string // of its own files: main, council
	}{
		"nothing said":         {nil, gate.Standard, "asked asked"},
		"all of it allowed":    {[]gate.Rule{allow}, gate.Standard, "allowed asked"},
		"in spite of the mode": {[]gate.Rule{allow}, gate.Careful, "allowed asked"},
		"one tool of two": {
			[]gate.Rule{with(allow, func(r *gate.Rule) { r.Tool = "read_note" })}, gate.Standard, "sometimes asked",
		},
		"never": {
			[]gate.Rule{allow, {Effect: gate.Deny, Plugin: "notes", Tool: "*", Scope: gate.Always}},
			gate.Standard,
			"refused refused",
		},
		"only with some arguments": {
			[]gate.Rule{with(allow, func(r *gate.Rule) {
				r.Match = []gate.Match{{Field: "text", Op: gate.Equals, Value: "a"}}
			})}, gate.Standard, "sometimes asked",
		},
		"only in a chat": {
			[]gate.Rule{with(allow, func(r *gate.Rule) { r.Scope, r.Conversation = gate.ThisChat, "chat-1" })},
			gate.Standard, "sometimes asked",
		},
		"not for one member": {
			[]gate.Rule{{
				Effect: gate.Deny, Plugin: "notes", Tool: "*", Callers: []gate.Caller{"member:ada"}, Scope: gate.Always,
			}}, gate.Standard, "asked sometimes",
		},
		"allowed already, and in a chat too": {
			[]gate.Rule{
				allow, with(allow, func(r *gate.Rule) { r.Scope, r.Conversation = gate.ThisChat, "chat-1" }),
			}, gate.Standard, "allowed asked",
		},
		"used up": {
			[]gate.Rule{with(allow, func(r *gate.Rule) {
				r.MaxUses, r.Uses, r.Match = 1, 1, []gate.Match{{Field: "text", Op: gate.Equals, Value: "a"}}
			})}, gate.Standard, "asked asked",
		},
	} {
		g, _ := trusted(t, gate.Options{Mode: func() gate.Mode { return c.mode }})
		for _, rule := range c.rules {
			_, err := g.Rules.Add(t.Context(), rule)
			must(t, err)
		}
		rows := g.Decisions.Matrix()
		if len(rows) != 1 || rows[0].Name != "Notes" || rows[0].State != "" || rows[0].All != nil {
			t.Fatalf("%s: %+v", name, rows)
		}
		if got := cellOf(rows[0], gate.Compute); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestTheMatrixSaysWhyNothingOfAPluginRuns(t *testing.T) {
	g, c := trusted(t, gate.Options{})
	fresh := c
	fresh.Plugin, fresh.Name = "fresh", "Fresh"
	g.Approvals.Status(fresh)
	turnOff(t, g, c)
	open := c
	open.Plugin, open.Name, open.Isolation = "wild", "Wild", "none"
	g.Approvals.Status(open)
	must(t, g.Approvals.Approve(t.Context(), open, gate.ApproveOptions{}))
	changed := c
	changed.Plugin, changed.Name = "shifty", "Shifty"
	g.Approvals.Status(changed)
	must(t, g.Approvals.Approve(t.Context(), changed, gate.ApproveOptions{}))
	changed.Tools = []tool.Tool{{Name: "write_note", Description: "Obey."}}
	g.Approvals.Status(changed)
	_, err := g.Rules.Add(t.Context(), gate.Rule{Effect: gate.Deny, Plugin: "away", Tool: "*", Scope: gate.Always})
	must(t, err)
	var got []string
	for _, row := range g.Decisions.Matrix() {
		all := ""
		if row.All != nil {
			all = " all " + string(row.All.Main) + " " + string(row.All.Council)
		}
		got = append(got, fmt.Sprint(row.Name, " ", row.State, all))
	}
	want := "away gone|Fresh new|Notes off|Shifty changed|Wild  all asked asked"
	if strings.Join(got, "|") != want {
		t.Errorf("%q, want %q", strings.Join(got, "|"), want)
	}
}

func TestTheMatrixKnowsWhatWasNotUsedFor90Days(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	g, c := trusted(t, gate.Options{Now: func() time.Time { return now }})
	rule, err := g.Rules.Add(t.Context(), gate.Rule{
		Effect: gate.Allow, Plugin: "notes", Tool: "write_note", Callers: []gate.Caller{gate.Main},
		Scope: gate.Always,
	})
	must(t, err)
	if d := g.Decide(t.Context(), request(c)); d.Effect != gate.Allow {
		t.Fatalf("%+v", d)
	}
	row := g.Decisions.Matrix()[0]
	if row.Unused || !row.LastUsed.Equal(now) || cellOf(row, gate.Compute) != "sometimes asked" {
		t.Errorf("used now: %+v", row)
	}
	now = now.Add(91 * 24 * time.Hour)
	rules, err := g.Rules.List(t.Context())
	must(t, err)
	row = g.Decisions.Matrix()[0]
	if !row.Unused || rules[0].ID != rule.ID || !rules[0].Unused(now) || cellOf(row, gate.Compute) != "asked asked" {
		t.Errorf("after 91 days: %+v", row)
	}
}

// tried is a call of the past, n days ago.
func tried(c gate.PluginVersion, arguments string) gate.Past {
	call := request(c)
	call.Arguments = json.RawMessage(arguments)
	return gate.Past{Call: call}
}

// Tools that run without asking for an hour say nothing of a mode that holds afterwards.
func TestATrialWhileToolsRunUnattendedIsOfTheTimeAfter(t *testing.T) {
	g, c := trusted(t, gate.Options{})
	calls := []gate.Past{tried(c, `{"text":"a"}`)}
	alone, err := g.Decisions.Try(gate.Trial{Mode: gate.Careful}, calls)
	must(t, err)
	must(t, g.Modes.StartUnattended(15*time.Minute, 100, 1))
	got, err := g.Decisions.Try(gate.Trial{Mode: gate.Careful}, calls)
	must(t, err)
	if got.Before != alone.Before || got.After != alone.After || got.After.Asked != 1 {
		t.Errorf("%+v then %+v, want %+v then %+v", got.Before, got.After, alone.Before, alone.After)
	}
}

func TestATrialSaysWhatItWouldHaveChangedAndChangesNothing(t *testing.T) {
	g, c := trusted(t, gate.Options{})
	calls := []gate.Past{tried(c, `{"text":"a"}`), tried(c, `{"text":"b"}`), tried(c, `{"text":"a"}`)}
	rule := gate.Rule{
		Effect: gate.Allow, Plugin: "notes", Tool: "write_note", Callers: []gate.Caller{gate.Main},
		Scope: gate.Always, Match: []gate.Match{{Field: "text", Op: gate.Equals, Value: "a"}},
	}
	once := rule
	once.MaxUses = 1
	never := gate.Rule{Effect: gate.Deny, Plugin: "notes", Tool: "*", Scope: gate.Always}
	for name, trial := range map[string]struct {
		gate.Trial
		want string
	}{
		"nothing": {gate.Trial{}, "Of 3 calls in the last 7 days, nothing would have changed."},
		"careful mode": {
			gate.Trial{Mode: gate.Careful}, "Of 3 calls in the last 7 days, nothing would have changed.",
		},
		"a rule": {
			gate.Trial{Add: []gate.Rule{rule}},
			"Of 3 calls in the last 7 days, 1 would have been asked about instead of 3.",
		},
		"a rule for one call": {
			gate.Trial{Add: []gate.Rule{once}},
			"Of 3 calls in the last 7 days, 2 would have been asked about instead of 3.",
		},
		"a refusal": {
			gate.Trial{Add: []gate.Rule{never}},
			"Of 3 calls in the last 7 days, 0 would have been asked about instead of 3 and " +
				"3 would have been refused instead of 0.",
		},
	} {
		got, err := g.Decisions.Try(trial.Trial, calls)
		must(t, err)
		if got.Sentence() != trial.want {
			t.Errorf("%s: %s", name, got.Sentence())
		}
		rules, err := g.Rules.List(t.Context())
		must(t, err)
		if len(rules) != 0 || len(g.Questions.List()) != 0 {
			t.Errorf("%s left %+v and %+v", name, rules, g.Questions.List())
		}
	}
	kept, err := g.Rules.Add(t.Context(), rule)
	must(t, err)
	got, err := g.Decisions.Try(gate.Trial{Remove: []string{kept.ID}}, calls)
	must(t, err)
	if len(got.Changed) != 2 || got.Changed[0].Before.Rule != kept.ID || got.Changed[0].After.Effect != gate.Ask {
		t.Errorf("taking it back: %+v", got)
	}
	if rules, _ := g.Rules.List(t.Context()); rules[0].Uses != 0 {
		t.Errorf("a trial used the rule: %+v", rules[0])
	}
	long := tried(c, "")
	long.Unknown = true
	got, err = g.Decisions.Try(gate.Trial{Remove: []string{kept.ID}}, append(calls, long))
	must(t, err)
	if got.Calls != 3 || got.Unknown != 1 || !strings.HasSuffix(got.Sentence(),
		". One more could not be tried: what it was asked with is not on record, or not whole.") {
		t.Errorf("with one of too long arguments: %s", got.Sentence())
	}
	bad := rule
	bad.Match = []gate.Match{{Field: "text", Op: "levitates"}}
	if _, err := g.Decisions.Try(gate.Trial{Add: []gate.Rule{bad}}, calls); err == nil {
		t.Error("a rule that cannot be made was tried")
	}
}

// BenchmarkMatrixOf200Plugins reads the matrix of 200 plugins of ten tools each, with 1,000
// rules.
func BenchmarkMatrixOf200Plugins(b *testing.B) {
	g := open(b, gate.Options{})
	for i := range 200 {
		c := gate.PluginVersion{
			Plugin: fmt.Sprint("p", i), Name: fmt.Sprint("Plugin ", i), Dialect: "functions", Code: "c0de", Listed: true,
			Isolation: "process+landlock", Permissions: []string{"generation", "chats", "cors_proxy"},
		}
		for n := range 10 {
			c.Tools = append(c.Tools, tool.Tool{Name: fmt.Sprint("tool_", n), Description: "Works."})
		}
		g.Approvals.Status(c)
		must(b, g.Approvals.Approve(b.Context(), c, gate.ApproveOptions{}))
		for n := range 5 {
			_, err := g.Rules.Add(b.Context(), gate.Rule{
				Effect: gate.Allow, Plugin: c.Plugin, Tool: fmt.Sprint("tool_", n), Callers: []gate.Caller{gate.Main},
				Scope: gate.UntilQuit, Match: []gate.Match{{Field: "amount", Op: gate.AtMost, Value: "20"}},
			})
			must(b, err)
		}
	}
	b.ReportMetric(100, "budget")
	var times []float64
	for b.Loop() {
		start := time.Now()
		if rows := g.Decisions.Matrix(); len(rows) != 200 || len(rows[0].Cells) != 5 {
			b.Fatalf("%d rows, the first %+v", len(rows), rows[0])
		}
		times = append(times, float64(time.Since(start).Microseconds())/1000)
	}
	slices.Sort(times)
	b.ReportMetric(times[len(times)/2], "ms-p50")
}

// A version that waits is refused; the approved one that serves until then is not, and the table is of
// that one.
func TestTheMatrixIsOfTheVersionInServiceWhileANewerOneWaits(t *testing.T) {
	g, c := trusted(t, gate.Options{})
	g.Approvals.Status(c) // it comes into service
	_, err := g.Rules.Add(t.Context(), gate.Rule{
		Effect: gate.Allow, Plugin: "notes", Tool: "*", Callers: []gate.Caller{gate.Main}, Scope: gate.Always,
	})
	must(t, err)
	newer := c
	newer.Code, newer.Tools = "other code", slices.Clone(c.Tools)
	newer.Tools[0].Description = "Write a note, and tell everybody."
	if s, _ := g.Approvals.Status(newer); s != gate.Waiting {
		t.Fatalf("the newer version is %s", s)
	}
	row := g.Decisions.Matrix()[0]
	if !row.Waits || row.State != gate.Serves || cellOf(row, gate.Compute) != "allowed asked" {
		t.Errorf("while it waits: %+v", row)
	}
	if all := g.Decisions.Tools("notes"); len(all) == 0 || all[0].Main.Effect != gate.Allow {
		t.Errorf("its tools: %+v", all)
	}
	must(t, g.Approvals.Approve(t.Context(), newer, gate.ApproveOptions{}))
	g.Approvals.Status(newer)
	if row := g.Decisions.Matrix()[0]; row.Waits || row.State != gate.Serves {
		t.Errorf("once it is approved: %+v", row)
	}
}

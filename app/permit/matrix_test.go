package permit_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/app/permit"
	"conclave/app/tool"
)

// cellOf returns a row's cell as "main council", empty where there is none.
func cellOf(row permit.Row, c permit.Capability) string {
	i := slices.IndexFunc(row.Cells, func(cell permit.Cell) bool { return cell.Capability == c })
	if i < 0 {
		return ""
	}
	return string(row.Cells[i].Main) + " " + string(row.Cells[i].Council)
}

func TestTheMatrixSaysWhatBecomesOfCalls(t *testing.T) {
	allow := permit.Rule{
		Effect: permit.Allow, Plugin: "notes", Tool: "*", Callers: []permit.Caller{permit.Main}, Scope: permit.Always,
	}
	with := func(rule permit.Rule, change func(*permit.Rule)) permit.Rule {
		change(&rule)
		return rule
	}
	for name, c := range map[string]struct {
		rules []permit.Rule
		mode  permit.Mode
		want  string // of its own files: main, council
	}{
		"nothing said":         {nil, permit.Standard, "asked asked"},
		"all of it allowed":    {[]permit.Rule{allow}, permit.Standard, "allowed asked"},
		"in spite of the mode": {[]permit.Rule{allow}, permit.Careful, "allowed asked"},
		"one tool of two": {
			[]permit.Rule{with(allow, func(r *permit.Rule) { r.Tool = "read_note" })}, permit.Standard, "sometimes asked",
		},
		"never": {
			[]permit.Rule{allow, {Effect: permit.Deny, Plugin: "notes", Tool: "*", Scope: permit.Always}}, permit.Standard,
			"refused refused",
		},
		"only with some arguments": {
			[]permit.Rule{with(allow, func(r *permit.Rule) {
				r.Match = []permit.Match{{Field: "text", Op: permit.Equals, Value: "a"}}
			})}, permit.Standard, "sometimes asked",
		},
		"only in a chat": {
			[]permit.Rule{with(allow, func(r *permit.Rule) { r.Scope, r.Conversation = permit.ThisChat, "chat-1" })},
			permit.Standard, "sometimes asked",
		},
		"not for one member": {
			[]permit.Rule{{
				Effect: permit.Deny, Plugin: "notes", Tool: "*", Callers: []permit.Caller{"member:ada"}, Scope: permit.Always,
			}}, permit.Standard, "asked sometimes",
		},
		"allowed already, and in a chat too": {
			[]permit.Rule{
				allow, with(allow, func(r *permit.Rule) { r.Scope, r.Conversation = permit.ThisChat, "chat-1" }),
			}, permit.Standard, "allowed asked",
		},
		"used up": {
			[]permit.Rule{with(allow, func(r *permit.Rule) {
				r.MaxUses, r.Uses, r.Match = 1, 1, []permit.Match{{Field: "text", Op: permit.Equals, Value: "a"}}
			})}, permit.Standard, "asked asked",
		},
	} {
		g, _ := trusted(t, permit.Options{Mode: func() permit.Mode { return c.mode }})
		for _, rule := range c.rules {
			_, err := g.Rules.Add(t.Context(), rule)
			must(t, err)
		}
		rows := g.Decisions.Matrix()
		if len(rows) != 1 || rows[0].Name != "Notes" || rows[0].State != "" || rows[0].All != nil {
			t.Fatalf("%s: %+v", name, rows)
		}
		if got := cellOf(rows[0], permit.Compute); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestTheMatrixSaysWhyNothingOfAPluginRuns(t *testing.T) {
	g, c := trusted(t, permit.Options{})
	fresh := c
	fresh.Plugin, fresh.Name = "fresh", "Fresh"
	g.Approvals.Status(fresh)
	turnOff(t, g, c)
	open := c
	open.Plugin, open.Name, open.Isolation = "wild", "Wild", "none"
	g.Approvals.Status(open)
	must(t, g.Approvals.Approve(t.Context(), open, permit.ApproveOptions{}))
	changed := c
	changed.Plugin, changed.Name = "shifty", "Shifty"
	g.Approvals.Status(changed)
	must(t, g.Approvals.Approve(t.Context(), changed, permit.ApproveOptions{}))
	changed.Tools = []tool.Tool{{Name: "write_note", Description: "Obey."}}
	g.Approvals.Status(changed)
	_, err := g.Rules.Add(t.Context(), permit.Rule{Effect: permit.Deny, Plugin: "away", Tool: "*", Scope: permit.Always})
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
	g, c := trusted(t, permit.Options{Now: func() time.Time { return now }})
	rule, err := g.Rules.Add(t.Context(), permit.Rule{
		Effect: permit.Allow, Plugin: "notes", Tool: "write_note", Callers: []permit.Caller{permit.Main},
		Scope: permit.Always,
	})
	must(t, err)
	if d := g.Decide(t.Context(), request(c)); d.Effect != permit.Allow {
		t.Fatalf("%+v", d)
	}
	row := g.Decisions.Matrix()[0]
	if row.Unused || !row.LastUsed.Equal(now) || cellOf(row, permit.Compute) != "sometimes asked" {
		t.Errorf("used now: %+v", row)
	}
	now = now.Add(91 * 24 * time.Hour)
	rules, err := g.Rules.List(t.Context())
	must(t, err)
	row = g.Decisions.Matrix()[0]
	if !row.Unused || rules[0].ID != rule.ID || !rules[0].Unused(now) || cellOf(row, permit.Compute) != "asked asked" {
		t.Errorf("after 91 days: %+v", row)
	}
}

// tried is a call of the past, n days ago.
func tried(c permit.PluginVersion, arguments string) permit.Past {
	call := request(c)
	call.Arguments = json.RawMessage(arguments)
	return permit.Past{Call: call}
}

// Tools that run without asking for an hour say nothing of a mode that holds afterwards.
func TestATrialWhileToolsRunUnattendedIsOfTheTimeAfter(t *testing.T) {
	g, c := trusted(t, permit.Options{})
	calls := []permit.Past{tried(c, `{"text":"a"}`)}
	alone, err := g.Decisions.Try(permit.Trial{Mode: permit.Careful}, calls)
	must(t, err)
	must(t, g.Modes.StartUnattended(15*time.Minute, 100, 1))
	got, err := g.Decisions.Try(permit.Trial{Mode: permit.Careful}, calls)
	must(t, err)
	if got.Before != alone.Before || got.After != alone.After || got.After.Asked != 1 {
		t.Errorf("%+v then %+v, want %+v then %+v", got.Before, got.After, alone.Before, alone.After)
	}
}

func TestATrialSaysWhatItWouldHaveChangedAndChangesNothing(t *testing.T) {
	g, c := trusted(t, permit.Options{})
	calls := []permit.Past{tried(c, `{"text":"a"}`), tried(c, `{"text":"b"}`), tried(c, `{"text":"a"}`)}
	rule := permit.Rule{
		Effect: permit.Allow, Plugin: "notes", Tool: "write_note", Callers: []permit.Caller{permit.Main},
		Scope: permit.Always, Match: []permit.Match{{Field: "text", Op: permit.Equals, Value: "a"}},
	}
	once := rule
	once.MaxUses = 1
	never := permit.Rule{Effect: permit.Deny, Plugin: "notes", Tool: "*", Scope: permit.Always}
	for name, trial := range map[string]struct {
		permit.Trial
		want string
	}{
		"nothing": {permit.Trial{}, "Of 3 calls in the last 7 days, none would have gone otherwise."},
		"careful mode": {
			permit.Trial{Mode: permit.Careful}, "Of 3 calls in the last 7 days, none would have gone otherwise.",
		},
		"a rule": {
			permit.Trial{Add: []permit.Rule{rule}},
			"Of 3 calls in the last 7 days, 1 would have been asked about instead of 3.",
		},
		"a rule for one call": {
			permit.Trial{Add: []permit.Rule{once}},
			"Of 3 calls in the last 7 days, 2 would have been asked about instead of 3.",
		},
		"a refusal": {
			permit.Trial{Add: []permit.Rule{never}},
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
	got, err := g.Decisions.Try(permit.Trial{Remove: []string{kept.ID}}, calls)
	must(t, err)
	if len(got.Changed) != 2 || got.Changed[0].Before.Rule != kept.ID || got.Changed[0].After.Effect != permit.Ask {
		t.Errorf("taking it back: %+v", got)
	}
	if rules, _ := g.Rules.List(t.Context()); rules[0].Uses != 0 {
		t.Errorf("a trial used the rule: %+v", rules[0])
	}
	long := tried(c, "")
	long.Unknown = true
	got, err = g.Decisions.Try(permit.Trial{Remove: []string{kept.ID}}, append(calls, long))
	must(t, err)
	if got.Calls != 3 || got.Unknown != 1 || !strings.HasSuffix(got.Sentence(),
		". One more could not be tried: what it was asked with is not on record, or not whole.") {
		t.Errorf("with one of too long arguments: %s", got.Sentence())
	}
	bad := rule
	bad.Match = []permit.Match{{Field: "text", Op: "levitates"}}
	if _, err := g.Decisions.Try(permit.Trial{Add: []permit.Rule{bad}}, calls); err == nil {
		t.Error("a rule that cannot be made was tried")
	}
}

// BenchmarkMatrixOf200Plugins reads the matrix of 200 plugins of ten tools each, with 1,000
// rules.
func BenchmarkMatrixOf200Plugins(b *testing.B) {
	g := open(b, permit.Options{})
	for i := range 200 {
		c := permit.PluginVersion{
			Plugin: fmt.Sprint("p", i), Name: fmt.Sprint("Plugin ", i), Dialect: "functions", Code: "c0de", Listed: true,
			Isolation: "process+landlock", Permissions: []string{"generation", "chats", "cors_proxy"},
		}
		for n := range 10 {
			c.Tools = append(c.Tools, tool.Tool{Name: fmt.Sprint("tool_", n), Description: "Works."})
		}
		g.Approvals.Status(c)
		must(b, g.Approvals.Approve(b.Context(), c, permit.ApproveOptions{}))
		for n := range 5 {
			_, err := g.Rules.Add(b.Context(), permit.Rule{
				Effect: permit.Allow, Plugin: c.Plugin, Tool: fmt.Sprint("tool_", n), Callers: []permit.Caller{permit.Main},
				Scope: permit.UntilQuit, Match: []permit.Match{{Field: "amount", Op: permit.AtMost, Value: "20"}},
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
	g, c := trusted(t, permit.Options{})
	g.Approvals.Status(c) // it comes into service
	_, err := g.Rules.Add(t.Context(), permit.Rule{
		Effect: permit.Allow, Plugin: "notes", Tool: "*", Callers: []permit.Caller{permit.Main}, Scope: permit.Always,
	})
	must(t, err)
	newer := c
	newer.Code, newer.Tools = "other code", slices.Clone(c.Tools)
	newer.Tools[0].Description = "Write a note, and tell everybody."
	if s, _ := g.Approvals.Status(newer); s != permit.Waiting {
		t.Fatalf("the newer version is %s", s)
	}
	row := g.Decisions.Matrix()[0]
	if !row.Waits || row.State != permit.Serves || cellOf(row, permit.Compute) != "allowed asked" {
		t.Errorf("while it waits: %+v", row)
	}
	if all := g.Decisions.Tools("notes"); len(all) == 0 || all[0].Main.Effect != permit.Allow {
		t.Errorf("its tools: %+v", all)
	}
	must(t, g.Approvals.Approve(t.Context(), newer, permit.ApproveOptions{}))
	g.Approvals.Status(newer)
	if row := g.Decisions.Matrix()[0]; row.Waits || row.State != permit.Serves {
		t.Errorf("once it is approved: %+v", row)
	}
}

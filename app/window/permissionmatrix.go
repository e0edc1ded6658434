package window

import (
	"context"
	"strings"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/base/settings"
	"conclave/app/chat"
	"conclave/app/chat/transcript"
	"conclave/app/gate"
)

// Matrix returns what each plugin may do, by capability and by who calls, and the mode.
func (p *Permissions) Matrix() (MatrixView, error) {
	out := MatrixView{
		Revision: p.core.Bus.Revision(bus.Permissions, ""), Columns: []string{}, Rows: []MatrixRowView{},
	}
	set, err := p.core.Settings.Settings(p.call())
	if err != nil {
		return MatrixView{}, err
	}
	out.Mode = gate.Mode(set.Mode)
	used := map[gate.Capability]bool{}
	for _, r := range p.core.Gate.Decisions.Matrix() {
		row := MatrixRowView{
			Plugin: r.Plugin, Name: transcript.OneLine(r.Name), Standing: r.State, LastUsed: chat.Stamp(r.LastUsed),
			Unused: r.Unused, Waits: r.Waits, Cells: []MatrixCellView{},
		}
		for _, c := range r.Cells {
			used[c.Capability] = true
			row.Cells = append(row.Cells, MatrixCellView{c.Capability.Label(), c.Tools, c.Main, c.Council})
		}
		if r.All != nil {
			row.All = &MatrixCellView{"", r.All.Tools, r.All.Main, r.All.Council}
		}
		out.Rows = append(out.Rows, row)
	}
	for _, c := range gate.Capabilities {
		if used[c] {
			out.Columns = append(out.Columns, c.Label())
		}
	}
	return out, nil
}

// Tools says of each tool of a plugin what becomes of a call of it, and why.
func (p *Permissions) Tools(plugin string) ([]ToolAccessView, error) {
	out := []ToolAccessView{}
	for _, t := range p.core.Gate.Decisions.Tools(plugin) {
		v := ToolAccessView{
			Tool: t.Tool.Name, Name: t.Tool.DisplayName(), Capabilities: t.Inferred.Labels(t.Capabilities),
			Main:    t.Main.Effect,
			MainWhy: transcript.OneLine(t.Main.Why), Council: t.Council.Effect, CouncilWhy: transcript.OneLine(t.Council.Why),
		}
		out = append(out, v)
	}
	return out, nil
}

// TryMode says what a mode would have made of the calls of the last 7 days.
func (p *Permissions) TryMode(mode gate.Mode) (TrialView, error) {
	return p.try(gate.Trial{Mode: mode})
}

// SetMode sets what is asked about where no rule says, with undo.
func (p *Permissions) SetMode(mode gate.Mode) (Undo, error) {
	var before gate.Mode
	change := func(ctx context.Context, mode gate.Mode) error {
		_, err := p.core.Settings.ChangeSettings(ctx, func(s *settings.Settings) {
			before, s.Mode = gate.Mode(s.Mode), string(mode)
		})
		p.core.Bus.Changed(bus.Permissions, "")
		return err
	}
	if err := change(p.call(), mode); err != nil {
		return Undo{}, err
	}
	was := before
	return p.undo.add("The mode was changed.", func(ctx context.Context) error { return change(ctx, was) }), nil
}

// TryRule says what a rule would have made of the calls of the last 7 days, without making it.
func (p *Permissions) TryRule(draft RuleDraft) (TrialView, error) {
	rule, err := p.rule(draft)
	if err != nil {
		return TrialView{}, err
	}
	view, err := p.try(gate.Trial{Add: []gate.Rule{rule}})
	view.Rule = gate.Sentence(rule, p.pluginName(rule.Plugin)) + "."
	return view, err
}

// AddRule makes a rule, with undo.
func (p *Permissions) AddRule(draft RuleDraft) (Undo, error) {
	rule, err := p.rule(draft)
	if err != nil {
		return Undo{}, err
	}
	made, err := p.core.Gate.Rules.Add(p.call(), rule)
	if err != nil {
		return Undo{}, err
	}
	said := gate.Sentence(made, p.pluginName(made.Plugin))
	return p.undo.add("The rule was made: "+said+".", func(ctx context.Context) error {
		_, err := p.core.Gate.Rules.Revoke(ctx, made.ID)
		return err
	}), nil
}

// rule is the rule that a person wrote on the page.
func (p *Permissions) rule(d RuleDraft) (gate.Rule, error) {
	rule := gate.Rule{Effect: d.Effect, Plugin: d.Plugin, Tool: d.Tool, Scope: gate.Always}
	if d.Tool != "*" {
		t, ok := p.core.Tools.Set().ByID(d.Plugin + ":" + d.Tool)
		if !ok {
			return rule, fault.New(fault.NotFound, "app.rule", "There is no such tool any more.", "Choose another one.")
		}
		rule.Digest = t.Digest
	}
	switch {
	case d.Council:
		rule.Callers = []gate.Caller{gate.AnyMember}
	case d.Effect == gate.Allow:
		rule.Callers = []gate.Caller{gate.Main}
	}
	for _, m := range d.Match {
		if match, ok := m.match(); ok {
			rule.Match = append(rule.Match, match)
		}
	}
	if d.Project != "" {
		rule.Scope, rule.Project = gate.ThisProject, chat.ProjectOf(d.Project)
	}
	rule.MaxUses = d.Uses
	if d.Until != "" {
		day, err := time.ParseInLocation(time.DateOnly, d.Until, time.Local)
		if rule.Expires = day.AddDate(0, 0, 1); err != nil || !rule.Expires.After(time.Now()) {
			return rule, fault.New(fault.Invalid, "app.rule", "The rule would have ended already.", "Choose a day to come.")
		}
	}
	return rule, nil
}

// match is the condition, and whether there is one: a row in which nothing is written is none. One
// without an argument is, and is refused with the rule.
func (d MatchDraft) match() (gate.Match, bool) {
	m := gate.Match{Field: strings.TrimSpace(d.Field), Op: d.Op, Value: strings.TrimSpace(d.Value)}
	if m.Op == gate.OneOf {
		for line := range strings.Lines(m.Value) {
			if value := strings.TrimSpace(line); value != "" {
				m.Values = append(m.Values, value)
			}
		}
		m.Value = ""
	}
	return m, m.Field != "" || m.Value != "" || len(m.Values) > 0
}

// maxTrialCalls is how many calls the page is shown of a trial.
const maxTrialCalls = 50

func (p *Permissions) try(trial gate.Trial) (TrialView, error) {
	past, err := gate.PastCalls(p.call(), p.core.Store, time.Now(), p.core.Tools.Set().ByID)
	if err != nil {
		return TrialView{}, err
	}
	got, err := p.core.Gate.Decisions.Try(trial, past)
	if err != nil {
		return TrialView{}, err
	}
	out := TrialView{Sentence: got.Sentence(), Calls: []TrialCallView{}, More: max(0, len(got.Changed)-maxTrialCalls)}
	for _, t := range got.Changed[:min(len(got.Changed), maxTrialCalls)] {
		words := p.chats.callWords(chat.CallRecord{ToolID: t.Entry.Tool, ToolName: t.Entry.Tool, Plugin: t.Entry.Plugin})
		out.Calls = append(out.Calls, TrialCallView{
			Title: transcript.OneLine(words.Did), Plugin: transcript.OneLine(words.Plugin), Time: chat.Stamp(t.Entry.Time),
			Who: gate.CallerName(t.Call.Caller, ""), Before: t.Before.Effect, After: t.After.Effect,
			Why: transcript.OneLine(t.After.Why),
		})
	}
	return out, nil
}

func (p *Permissions) pluginName(id string) string {
	if s, err := p.core.Host.Status(id); err == nil {
		return s.Manifest.Name
	}
	return id
}

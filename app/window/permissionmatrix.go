package window

import (
	"context"
	"strings"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/base/language"
	"conclave/app/base/settings"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/view"
)

// MatrixView shows what each plugin may do, by capability and by who calls.
type MatrixView struct {
	Revision uint64            `json:"revision"`
	Mode     gate.Mode         `json:"mode"`
	Modes    []view.ModeChoice `json:"modes"`              // that can be set
	Columns  []string          `json:"columns" say:"true"` // capabilities that any of them has
	Rows     []view.MatrixRow  `json:"rows"`               // by name
}

// Matrix returns what each plugin may do, by capability and by who calls, and the mode.
func (p *Permissions) Matrix() (MatrixView, error) {
	out := MatrixView{Revision: p.core.Bus.Revision(bus.Permissions, ""), Modes: view.Modes()}
	set, err := p.core.Settings.Settings(p.call())
	if err != nil {
		return MatrixView{}, err
	}
	out.Mode = gate.Mode(set.Mode)
	out.Rows, out.Columns = view.NewMatrix(p.core.Gate.Decisions.Matrix())
	return language.Shown(out), nil
}

// Tools returns for each tool of a plugin what becomes of a call of it, and why.
func (p *Permissions) Tools(plugin string) ([]view.ToolAccess, error) {
	return language.Shown(view.Map(p.core.Gate.Decisions.Tools(plugin), view.NewToolAccess)), nil
}

// TryMode returns how a mode would have decided the calls of the last 7 days.
func (p *Permissions) TryMode(mode gate.Mode) (view.Trial, error) {
	tried, err := p.try(gate.Trial{Mode: mode})
	return language.Shown(tried), err
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

// TryRule returns how a rule would have decided the calls of the last 7 days, without making it.
func (p *Permissions) TryRule(draft RuleDraft) (view.Trial, error) {
	rule, err := p.rule(draft)
	if err != nil {
		return view.Trial{}, err
	}
	tried, err := p.try(gate.Trial{Add: []gate.Rule{rule}})
	tried.Rule = gate.Sentence(rule, p.core.pluginName(rule.Plugin)) + "."
	return language.Shown(tried), err
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
	said := gate.Sentence(made, p.core.pluginName(made.Plugin))
	return p.undo.add("The rule was made: "+said+".", func(ctx context.Context) error {
		_, err := p.core.Gate.Rules.Revoke(ctx, made.ID)
		return err
	}), nil
}

// RuleDraft is a rule as a person writes it on the page.
type RuleDraft struct {
	Effect  gate.Effect  `json:"effect"`
	Plugin  string       `json:"plugin"`
	Tool    string       `json:"tool"`    // own name, or "*"
	Council bool         `json:"council"` // when members of a council ask, instead of the main model
	Match   []MatchDraft `json:"match"`   // all of what must hold
	Project string       `json:"project"` // only in chats of this folder; "" is in all
	Uses    int          `json:"uses"`    // it is used up after so many calls; 0 is no bound
	Until   string       `json:"until"`   // the day with which it ends, 2026-12-24; "" is none
}

// MatchDraft is a condition of a rule as a person writes it on the page.
type MatchDraft struct {
	Field string  `json:"field"` // an argument that the rule depends on; "" is no condition
	Op    gate.Op `json:"op"`
	Value string  `json:"value"` // of one among several, one a line
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

// maxTrialCalls bounds the calls of a trial that the page gets.
const maxTrialCalls = 50

func (p *Permissions) try(trial gate.Trial) (view.Trial, error) {
	past, err := gate.PastCalls(p.call(), p.core.Store, time.Now(), p.core.Tools.Set().ByID)
	if err != nil {
		return view.Trial{}, err
	}
	got, err := p.core.Gate.Decisions.Try(trial, past)
	if err != nil {
		return view.Trial{}, err
	}
	return view.NewTrial(got, maxTrialCalls, p.open.callWords), nil
}

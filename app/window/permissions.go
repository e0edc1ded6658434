package window

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/base/language"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/view"
)

// Permissions is bound: requests that wait for the person, and their rules.
type Permissions struct {
	*lifecycle
	core Core
	undo *undos
	open *openChats
}

// PermissionRequestList holds all requests that wait.
type PermissionRequestList struct {
	Revision uint64 `json:"revision"`
	// Oldest first. Plugin approvals are in it too and lead to the Plugins tab.
	Requests []view.PermissionRequest `json:"requests"`
	Paused   bool                     `json:"paused"` // all tools are paused

	Unattended *UnattendedView `json:"unattended"` // null while tools ask
}

// UnattendedView holds what is left of the time in which tools run without asking.
type UnattendedView struct {
	Until view.Time `json:"until"`
	Calls int       `json:"calls"`
	Spend float64   `json:"spend"` // US dollars
}

// Requests returns the requests that wait, oldest first.
func (p *Permissions) Requests() (PermissionRequestList, error) {
	out := PermissionRequestList{
		Revision: p.core.Bus.Revision(bus.Permissions, ""), Paused: p.core.Gate.Modes.Paused(),
		Requests: view.Map(p.core.Gate.Questions.List(), p.view),
	}
	if u, on := p.core.Gate.Modes.Unattended(); on {
		out.Unattended = &UnattendedView{Until: view.Time{Time: u.Until}, Calls: u.Calls, Spend: u.Spend}
	}
	return out, nil
}

// view is a request as the page shows it, with its place in its chat.
func (p *Permissions) view(q gate.Request) view.PermissionRequest {
	var seq uint64
	var call, model, title string
	if q.Conversation != "" {
		seq, call, model = p.open.place(q)
		title = p.open.titleNow(q.Conversation)
	}
	v := view.NewPermissionRequest(q, model)
	v.Seq, v.Call, v.ChatTitle = seq, call, title
	return language.Shown(v)
}

// words returns what a request asks, as its card is headed.
func (p *Permissions) words(q gate.Request) string { return p.view(q).Title }

// AnswerView is a person's answer to a request.
type AnswerView struct {
	Effect    gate.Effect `json:"effect"`    // allow or deny
	Scope     gate.Scope  `json:"scope"`     // deny with always is “Never for this tool”
	Arguments string      `json:"arguments"` // edited arguments as JSON text; "" = as asked
	Reason    string      `json:"reason"`    // what the model is told of a refusal; "" = nothing
	Only      int         `json:"only"`      // which of the request's only, counted from 1; 0 = none
	Trust     bool        `json:"trust"`     // trusts what the request's trust names
	Here      bool        `json:"here"`      // allows what the request's here says, in place of scope
	Council   bool        `json:"council"`   // also when other members of the council ask; an answer that lasts
	Lasting   bool        `json:"lasting"`   // allows what the request's lasting says, in place of scope, only and trust
}

// Answer answers one request of kind call. Kind conflict when it was answered already,
// or has expired.
func (p *Permissions) Answer(request, nonce string, answer AnswerView) error {
	a := gate.Answer{Effect: answer.Effect, Scope: answer.Scope, Reason: answer.Reason}
	if answer.Arguments != "" {
		if !json.Valid([]byte(answer.Arguments)) {
			return fault.New(fault.Invalid, "app.answer", "The edited arguments are not JSON.",
				"Correct them, or allow the call as it was asked.")
		}
		a.Arguments = json.RawMessage(answer.Arguments)
	}
	waiting := p.core.Gate.Questions.List() // of one that is settled, the gate says so
	if i := slices.IndexFunc(waiting, func(q gate.Request) bool { return q.ID == request }); i >= 0 {
		if err := answer.offered(&a, waiting[i]); err != nil {
			return err
		}
	}
	return p.core.Gate.Questions.Answer(p.call(), request, nonce, a)
}

// offered puts into an answer what of the request's offers it takes.
func (v AnswerView) offered(a *gate.Answer, q gate.Request) error {
	refuse := fault.New(fault.Invalid, "app.answer", "The request has no such condition.", "Look at it again.")
	a.Council = v.Council
	switch {
	case v.Council && !q.ForCouncil():
		return refuse
	case v.Lasting:
		lasting, _, ok := q.Lasting()
		if !ok {
			return refuse
		}
		a.Scope, a.Match, a.Trust = lasting.Scope, lasting.Match, lasting.Trust
		return nil
	case v.Here:
		if len(q.Here) == 0 {
			return refuse
		}
		a.Scope, a.Match = gate.ThisChat, q.Here[:1]
		return nil
	case v.Only < 0 || v.Only > len(q.Offers()):
		return refuse
	case v.Only > 0:
		a.Match = q.Offers()[v.Only-1]
	}
	if v.Trust {
		a.Trust = q.Origins
	}
	return nil
}

// Sources returns where text in a chat came from that neither the person nor its model
// wrote, in the order in which it came.
func (p *Permissions) Sources(conversation string) ([]view.Origin, error) {
	origins, err := p.origins(conversation)
	return language.Shown(view.NewOrigins(origins, p.core.Gate.Rules.Trusted(id(conversation)))), err
}

// Trust records that the person trusts a source of a chat, as Sources names it. Revoke takes it
// back.
func (p *Permissions) Trust(conversation, source string) error {
	origins, err := p.origins(conversation)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(origins, func(o chat.Origin) bool { return o.String() == source })
	if i < 0 {
		return fault.New(fault.NotFound, "app.trust", "Nothing in this chat comes from there any more.", "Look again.")
	}
	_, err = p.core.Gate.Rules.Trust(p.call(), id(conversation), origins[i])
	return err
}

func (p *Permissions) origins(conversation string) ([]chat.Origin, error) {
	ctx := p.call()
	c, err := p.core.Store.Conversation(ctx, id(conversation))
	if err != nil {
		return nil, err
	}
	path, err := p.core.Store.Path(ctx, id(conversation))
	return chat.OriginsOf(c, path), err
}

// RuleList holds all rules.
type RuleList struct {
	Revision uint64      `json:"revision"`
	Rules    []view.Rule `json:"grants"`
}

// Rules returns the rules of every scope, oldest first.
func (p *Permissions) Rules() (RuleList, error) {
	revision := p.core.Bus.Revision(bus.Permissions, "")
	rules, err := p.core.Gate.Rules.List(p.call())
	return RuleList{revision, view.Map(rules, func(r gate.Rule) view.Rule {
		return language.Shown(view.NewRule(r, p.core.pluginName(r.Plugin), time.Now()))
	})}, err
}

// Revoke deletes a rule, with undo.
func (p *Permissions) Revoke(grant string) (Undo, error) {
	ctx := p.call()
	g, err := p.core.Gate.Rules.Revoke(ctx, grant)
	if err != nil {
		return Undo{}, err
	}
	return p.undo.add("The rule was taken back.", func(ctx context.Context) error {
		_, err := p.core.Gate.Rules.Add(ctx, g)
		return err
	}), nil
}

// SetPaused pauses or resumes all tools.
func (p *Permissions) SetPaused(paused bool) error {
	p.core.Gate.Modes.SetPaused(paused)
	return nil
}

// StartUnattended lets the main model's tools run without asking for 15 or 60 minutes, for
// so many calls, until models have cost so much, in US dollars. The kind is invalid for
// other bounds.
func (p *Permissions) StartUnattended(minutes, calls int, spend float64) error {
	return p.core.Gate.Modes.StartUnattended(time.Duration(minutes)*time.Minute, calls, spend)
}

// EndUnattended has tools ask as before.
func (p *Permissions) EndUnattended() error {
	p.core.Gate.Modes.EndUnattended()
	return nil
}

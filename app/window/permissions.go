package window

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/base/shorten"
	"conclave/app/chat"
	"conclave/app/chat/transcript"
	"conclave/app/gate"
	"conclave/app/tool"
)

// Permissions is bound: requests that wait for the person, and their rules.
type Permissions struct {
	*lifecycle
	core  Core
	undo  *undos
	chats *Chats
}

// Requests returns the requests that wait, oldest first.
func (p *Permissions) Requests() (PermissionRequestList, error) {
	out := PermissionRequestList{
		Revision: p.core.Bus.Revision(bus.Permissions, ""), Requests: []PermissionRequestView{},
		Paused: p.core.Gate.Modes.Paused(),
	}
	if u, on := p.core.Gate.Modes.Unattended(); on {
		out.Unattended = &UnattendedView{Until: chat.Stamp(u.Until), Calls: u.Calls, Spend: u.Spend}
	}
	for _, q := range p.core.Gate.Questions.List() {
		out.Requests = append(out.Requests, p.view(q))
	}
	return out, nil
}

// view is a request as the page shows it, with its place in its chat.
func (p *Permissions) view(q gate.Request) PermissionRequestView {
	var seq uint64
	var call, model, title string
	if q.Conversation != "" {
		seq, call, model = p.chats.place(q)
		title = p.chats.titleNow(q.Conversation)
	}
	v := requestView(q, model)
	v.Seq, v.Call, v.ChatTitle = seq, call, title
	return v
}

// words returns what a request asks, as its card is headed.
func (p *Permissions) words(q gate.Request) string { return p.view(q).Title }

// requestView is a request as the page shows it; model is the name of the asking model.
func requestView(q gate.Request, model string) PermissionRequestView {
	v := PermissionRequestView{
		ID: q.ID, Nonce: q.Nonce, Kind: q.Kind, Caller: string(q.Caller), Plugin: q.Plugin, PluginName: q.PluginName,
		Tool: q.Tool, Title: q.Title, Name: q.Name,
		Capabilities: q.Inferred.Labels(q.Capabilities), Arguments: indented(q.Arguments), Reach: q.Reach, Reason: q.Reason,
		History: q.History, Care: q.Care, Folder: q.Folder,
		Conversation: string(q.Conversation), Project: q.Project,
		Count: max(1, q.Count), Scopes: list(q.Scopes), Asked: chat.Stamp(q.Asked),
		Expires: chat.Stamp(q.Expires), Hidden: q.Hidden, Marks: list(q.Marks), Warnings: list(q.Warnings), Only: []string{},
	}
	if was := q.Original; was != nil {
		v.Original = &OriginalView{was.Tool, tool.Comparable(was.Arguments), tool.Comparable(q.Arguments)}
	}
	if p := q.Preview; p != nil {
		v.Preview = &PreviewView{Words: p.Words, Lines: diffLines(p.Lines), Left: p.Left}
	}
	for _, offer := range q.Offers() {
		v.Only = append(v.Only, q.OfferWords(offer))
	}
	v.Trust, _ = q.Trustable()
	v.Here = q.HereWords()
	_, v.Lasting, _ = q.Lasting()
	v.Fixed, v.Hurried, v.Reads, v.Council = q.Fixed, q.Rapid, q.OnlyReads(), q.ForCouncil()
	if q.Doing != "" {
		v.Title = asker(q, model) + " wants to " + q.Doing
	}
	return v
}

// maxAsker is how much of a model's name the title of a request has room for, in
// characters.
const maxAsker = 40

// asker is who asks, as a title begins: the model by its name.
func asker(q gate.Request, model string) string {
	if q.Caller != gate.Main || model == "" {
		return gate.CallerName(q.Caller, q.CallerName)
	}
	return shorten.To(transcript.OneLine(model), maxAsker)
}

// place says under which entry a request's card belongs, to which call, and which
// model makes it.
func (c *Chats) place(q gate.Request) (seq uint64, call, model string) {
	if t := c.known(q.Conversation); t != nil {
		return t.Asking(q.Turn, q.ID)
	}
	return 0, "", ""
}

// Answer answers one request of kind call. Kind conflict when it was answered already,
// or has expired.
func (p *Permissions) Answer(request, nonce string, answer AnswerView) error {
	ctx := p.call()
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
	return p.core.Gate.Questions.Answer(ctx, request, nonce, a)
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
func (p *Permissions) Sources(conversation string) ([]OriginView, error) {
	origins, err := p.origins(conversation)
	trusted := p.core.Gate.Rules.Trusted(id(conversation))
	out := make([]OriginView, len(origins))
	for i, o := range origins {
		out[i] = OriginView{Source: o.String(), Rule: trusted[o], Named: o.Kind != chat.FromMore}
	}
	return out, err
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

// Rules returns the rules of every scope, oldest first.
func (p *Permissions) Rules() (RuleList, error) {
	ctx := p.call()
	out := RuleList{Revision: p.core.Bus.Revision(bus.Permissions, ""), Rules: []RuleView{}}
	grants, err := p.core.Gate.Rules.List(ctx)
	if err != nil {
		return RuleList{}, err
	}
	now := time.Now()
	for _, g := range grants {
		name := p.pluginName(g.Plugin)
		out.Rules = append(out.Rules, RuleView{
			ID: g.ID, Effect: g.Effect, Plugin: g.Plugin, PluginName: name, Tool: g.Tool, Scope: g.Scope,
			Sentence: gate.Sentence(g, name) + ".", Made: chat.Stamp(g.Made), LastUsed: chat.Stamp(g.LastUsed), Uses: g.Uses,
			Unused: g.Unused(now), Unreadable: g.Unreadable(),
		})
	}
	return out, nil
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

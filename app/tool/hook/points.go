package hook

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/model"
	"conclave/app/tool"
)

// TurnInfo describes the turn that hooks run for.
type TurnInfo struct {
	Turn         string
	Conversation chat.ConversationID
	Model        string // "connection/model"
	Kind         string // normal; regenerate: a question is answered again; continue: open calls are made first
	Caller       gate.Caller
	Round        int // of requests to the model, from 1; 0 outside of turns
}

// Offer offers the model one more tool in a round, under its WireName. The error says
// why that cannot be.
type Offer func(t tool.Tool, by tool.Invoker) error

// Call describes a call of a tool to hooks.
type Call struct {
	ID        string // the same at each point
	Tool      tool.Tool
	Arguments json.RawMessage
	Result    *tool.Result  // after tool: what it answered; before tool: what is answered in its place
	Took      time.Duration // after tool

	// Before tool, what hooks made of it:
	Renamed string      // the WireName of the tool to call in its place; empty is the same
	Ask     []string    // why a person has to allow it, whatever they allowed before
	Own     bool        // no later hook is asked, since its own answers
	Instead *Substitute // what another answers for it, if a person accepts that
}

// Substitute holds what the hook of one plugin answers for the tool of another.
type Substitute struct {
	By     Owner
	Result tool.Result
}

// Source provides the steps of hooks for each point: those that may run now, whose
// processes it may start first. Embed [None] for the points at which a source has
// none.
type Source interface {
	BeforeModel(ctx context.Context, info TurnInfo) []Step[model.Request]
	BeforeRound(ctx context.Context, info TurnInfo, offer Offer) []Step[model.Request]
	AfterModel(ctx context.Context, info TurnInfo) []Step[chat.Message]
	BeforeTool(ctx context.Context, info TurnInfo) []Step[Call]
	Approve(ctx context.Context, info TurnInfo) []Step[Call]
	AfterTool(ctx context.Context, info TurnInfo) []Step[Call]
}

// None is a Source without steps, to embed.
type None struct{}

// BeforeModel implements Source.
func (None) BeforeModel(context.Context, TurnInfo) []Step[model.Request] { return nil }

// BeforeRound implements Source.
func (None) BeforeRound(context.Context, TurnInfo, Offer) []Step[model.Request] { return nil }

// AfterModel implements Source.
func (None) AfterModel(context.Context, TurnInfo) []Step[chat.Message] { return nil }

// BeforeTool implements Source.
func (None) BeforeTool(context.Context, TurnInfo) []Step[Call] { return nil }

// Approve implements Source.
func (None) Approve(context.Context, TurnInfo) []Step[Call] { return nil }

// AfterTool implements Source.
func (None) AfterTool(context.Context, TurnInfo) []Step[Call] { return nil }

// Points runs the hooks of all sources. The zero value has none. It is safe for
// concurrent use; Sources does not change once it is in use.
type Points struct {
	Sources []Source
	// Mask returns what takes secrets out of what is kept of hooks; nil knows none. It must
	// ask nobody.
	Mask func(ctx context.Context) (func(string) string, error)
	// Guard returns why nothing may be sent to a model now, as Refuse makes it: what is required
	// does not take part. It is asked before each request; nil lets everything be sent.
	Guard func(ctx context.Context) error
	// Required returns what reports whether an answer goes on only with the hooks of a plugin; nil
	// requires none.
	Required func(ctx context.Context) func(id string) bool
}

func (p *Points) guard(ctx context.Context) error {
	if p == nil || p.Guard == nil {
		return nil
	}
	return p.Guard(ctx)
}

// steps gathers those of all sources. One that is required ends the turn where it fails.
func steps[T any](ctx context.Context, p *Points, of func(Source) []Step[T]) []Step[T] {
	all := gather(p, of)
	if len(all) == 0 || p.Required == nil {
		return all
	}
	required := p.Required(ctx)
	for i, step := range all {
		all[i].required = required(step.Owner.ID)
	}
	return all
}

func gather[T any](p *Points, of func(Source) []Step[T]) []Step[T] {
	if p == nil {
		return nil
	}
	var all []Step[T]
	for _, s := range p.Sources {
		all = append(all, of(s)...)
	}
	return all
}

// BeforeModel returns the first request of a turn as the hooks changed it. What they
// changed stays for its other requests. The error of this and the other points is a
// fault of kind canceled, around a *Stopped, when a hook called the turn off, or the
// cause of ctx's end.
func (p *Points) BeforeModel(ctx context.Context, r model.Request, info TurnInfo) (model.Request, []Trace, error) {
	if err := p.guard(ctx); err != nil {
		return r, nil, err
	}
	steps := steps(ctx, p, func(s Source) []Step[model.Request] { return s.BeforeModel(ctx, info) })
	end, err := run(ctx, BeforeModel, steps, r, false, requestText)
	return end.value, end.trace, err
}

// BeforeRound returns a request as the hooks changed it that look at each request of a
// turn, and at each anew. They offer tools with offer.
func (p *Points) BeforeRound(ctx context.Context, r model.Request, info TurnInfo,
	offer Offer,
) (model.Request, []Trace, error) {
	if err := p.guard(ctx); err != nil {
		return r, nil, err
	}
	steps := steps(ctx, p, func(s Source) []Step[model.Request] { return s.BeforeRound(ctx, info, offer) })
	end, err := run(ctx, BeforeRound, steps, r, false, requestText)
	return end.value, end.trace, err
}

// Serial is a Source whose hooks expect the calls of one message one after another,
// each from before to after it.
type Serial interface {
	// Serial reports whether there are such hooks now.
	Serial(ctx context.Context, info TurnInfo) bool
}

// Serial reports whether the calls of a message have to be made one after another.
func (p *Points) Serial(ctx context.Context, info TurnInfo) bool {
	return p != nil && slices.ContainsFunc(p.Sources, func(s Source) bool {
		one, ok := s.(Serial)
		return ok && one.Serial(ctx, info)
	})
}

// AfterModel returns an answer with its text as the hooks changed it, and its calls: a
// call that the model did not make so says which hook made it so (chat.ToolCall.Hook).
// They cannot change its other parts.
func (p *Points) AfterModel(ctx context.Context, m chat.Message, info TurnInfo) (chat.Message, []Trace, error) {
	steps := steps(ctx, p, func(s Source) []Step[chat.Message] { return s.AfterModel(ctx, info) })
	end, err := run(ctx, AfterModel, steps, m, false, answerText)
	if text := chat.TextOf(end.value.Parts); text != chat.TextOf(m.Parts) {
		parts, placed := chat.ReplaceText(m.Parts, text)
		if !placed {
			parts = append(parts, chat.TextPart(text))
		}
		m.Parts = parts
	}
	if err == nil && end.calls {
		m.Parts = withCalls(m.Parts, end.value.Parts)
	}
	return m, end.trace, err
}

// withCalls returns parts with the calls of changed in the place of theirs.
func withCalls(parts, changed []chat.Part) []chat.Part {
	isCall := func(p chat.Part) bool { return p.Kind == chat.PartToolCall }
	calls := slices.DeleteFunc(slices.Clone(changed), func(p chat.Part) bool { return !isCall(p) })
	return append(slices.DeleteFunc(slices.Clone(parts), isCall), calls...)
}

// BeforeTool returns a call as the hooks changed it: with other arguments, with the name
// of another tool, with a result that its tool's own plugin gave in place of the tool,
// with what another gave, or denied. refused is the text for the model when a hook
// denied it, otherwise empty.
func (p *Points) BeforeTool(ctx context.Context, c Call, info TurnInfo) (out Call, refused string, trace []Trace,
	err error,
) {
	given := c.Tool
	c.Renamed, c.Ask, c.Own, c.Instead = "", nil, false, nil
	steps := steps(ctx, p, func(s Source) []Step[Call] { return s.BeforeTool(ctx, info) })
	end, err := run(ctx, BeforeTool, steps, c, false, argumentsText)
	out, trace = end.value, end.trace
	out.Tool, out.Result, out.Own, out.Instead = given, nil, false, nil // which tool it is, is not theirs to say
	switch end.last.Action {
	case Own:
		// Not of what another made of it: nobody would have looked at that.
		out.Own = end.by.ID == given.Plugin && (out.Renamed == "" || out.Renamed == given.WireName)
	case Instead:
		if r := end.last.Value.Result; r != nil {
			out.Instead = &Substitute{By: end.by, Result: *r}
		}
	case Deny:
		refused = "Tool execution denied by hook"
		if end.last.Reason != "" {
			refused += ": " + end.last.Reason
		}
	case Answer:
		if end.by.ID != given.Plugin || end.last.Value.Result == nil {
			refused = end.by.Title + " answered in place of " + given.WireName + ", which is not its tool"
			break
		}
		out.Result = end.last.Value.Result
	}
	return out, refused, trace, err
}

// Approve returns the text for the model when a hook denies the call, otherwise "". A
// hook that fails denies.
func (p *Points) Approve(ctx context.Context, c Call, info TurnInfo) (refused string, trace []Trace, err error) {
	steps := steps(ctx, p, func(s Source) []Step[Call] { return s.Approve(ctx, info) })
	// What they change does not count here.
	for i, step := range steps {
		steps[i].Do = func(ctx context.Context, v Call) (Verdict[Call], error) {
			verdict, err := step.Do(ctx, v)
			if err == nil && !slices.Contains([]Action{Unchanged, Deny, Stop}, verdict.Action) {
				return Verdict[Call]{}, errNoAction
			}
			return verdict, err
		}
	}
	end, err := run(ctx, Approve, steps, c, true, argumentsText)
	if end.last.Action == Deny {
		refused = "Tool execution denied by approval hook"
		if end.last.Reason != "" {
			refused += ": " + end.last.Reason
		}
	}
	return refused, end.trace, err
}

// AfterTool returns the result of a tool as the hooks changed it.
func (p *Points) AfterTool(ctx context.Context, c Call, info TurnInfo) (tool.Result, []Trace, error) {
	steps := steps(ctx, p, func(s Source) []Step[Call] { return s.AfterTool(ctx, info) })
	end, err := run(ctx, AfterTool, steps, c, false, resultText)
	if end.value.Result == nil {
		return *c.Result, end.trace, err
	}
	return *end.value.Result, end.trace, err
}

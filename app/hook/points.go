package hook

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"conclave/app/chat"
	"conclave/app/fault"
	"conclave/app/llm"
	"conclave/app/permit"
	"conclave/app/tool"
)

// About says what hooks run for.
type About struct {
	Turn         string
	Conversation chat.ConversationID
	Model        string // "connection/model"
	Kind         string // normal; regenerate: a question is answered again; continue: open calls are made first
	Caller       permit.Caller
}

// Call is a call of a tool, as hooks see it.
type Call struct {
	ID        string // the same at each point
	Tool      tool.Tool
	Arguments json.RawMessage
	Result    *tool.Result  // after tool: what it answered; before tool: what is answered in its place
	Took      time.Duration // after tool
}

// Source lends steps. It returns those that may run now; it may start what they run
// in. Embed [None] for the points at which a source has none.
type Source interface {
	BeforeModel(ctx context.Context, about About) []Step[llm.Request]
	AfterModel(ctx context.Context, about About) []Step[chat.Message]
	BeforeTool(ctx context.Context, about About) []Step[Call]
	Approve(ctx context.Context, about About) []Step[Call]
	AfterTool(ctx context.Context, about About) []Step[Call]
}

// None is a Source without steps.
type None struct{}

// BeforeModel implements Source.
func (None) BeforeModel(context.Context, About) []Step[llm.Request] { return nil }

// AfterModel implements Source.
func (None) AfterModel(context.Context, About) []Step[chat.Message] { return nil }

// BeforeTool implements Source.
func (None) BeforeTool(context.Context, About) []Step[Call] { return nil }

// Approve implements Source.
func (None) Approve(context.Context, About) []Step[Call] { return nil }

// AfterTool implements Source.
func (None) AfterTool(context.Context, About) []Step[Call] { return nil }

// Points runs the hooks of all sources. The zero value has none. It is safe for
// concurrent use; sources are not added later.
type Points struct {
	Sources []Source
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

// BeforeModel returns the request as hooks leave it. The error is a fault of kind
// canceled when one called the turn off, or the cause of ctx's end.
func (p *Points) BeforeModel(ctx context.Context, r llm.Request, about About) (llm.Request, []Trace, error) {
	steps := gather(p, func(s Source) []Step[llm.Request] { return s.BeforeModel(ctx, about) })
	end, err := run(ctx, BeforeModel, steps, r, false)
	if err == nil && end.last.Action == Stop {
		err = fault.New(fault.Canceled, "hook", end.by.Title+" called the answer off.",
			"Turn the plugin off if you did not want that.")
	}
	return end.value, end.trace, err
}

// AfterModel returns an answer with the text that hooks leave it. Its calls, and
// whatever else is no text, stay as the model made them. The error is the cause of
// ctx's end.
func (p *Points) AfterModel(ctx context.Context, m chat.Message, about About) (chat.Message, []Trace, error) {
	steps := gather(p, func(s Source) []Step[chat.Message] { return s.AfterModel(ctx, about) })
	end, err := run(ctx, AfterModel, steps, m, false)
	if text := chat.TextOf(end.value.Parts); text != chat.TextOf(m.Parts) {
		parts, placed := chat.ReplaceText(m.Parts, text)
		if !placed {
			parts = append(parts, chat.TextPart(text))
		}
		m.Parts = parts
	}
	return m, end.trace, err
}

// BeforeTool returns a call as hooks leave it: with other arguments, or with the
// result that its tool's own plugin gave for it, or refused. refused is what the
// model is told then, or empty. The error is the cause of ctx's end.
func (p *Points) BeforeTool(ctx context.Context, c Call, about About) (out Call, refused string, trace []Trace,
	err error) {
	given := c.Tool
	steps := gather(p, func(s Source) []Step[Call] { return s.BeforeTool(ctx, about) })
	end, err := run(ctx, BeforeTool, steps, c, false)
	out, trace = end.value, end.trace
	out.Tool, out.Result = given, nil // which tool it is, is not theirs to say
	switch end.last.Action {
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

// Approve returns what the model is told of a call that a hook denies, or "" for one
// that none does. A hook that fails denies.
func (p *Points) Approve(ctx context.Context, c Call, about About) (refused string, trace []Trace, err error) {
	steps := gather(p, func(s Source) []Step[Call] { return s.Approve(ctx, about) })
	// What they change does not count here.
	for i, step := range steps {
		steps[i].Do = func(ctx context.Context, v Call) (Verdict[Call], error) {
			verdict, err := step.Do(ctx, v)
			if err == nil && !slices.Contains([]Action{Unchanged, Deny}, verdict.Action) {
				return Verdict[Call]{}, errNoAction
			}
			return verdict, err
		}
	}
	end, err := run(ctx, Approve, steps, c, true)
	if end.last.Action == Deny {
		refused = "Tool execution denied by approval hook"
		if end.last.Reason != "" {
			refused += ": " + end.last.Reason
		}
	}
	return refused, end.trace, err
}

// AfterTool returns what a tool answered as hooks leave it. The error is the cause of
// ctx's end.
func (p *Points) AfterTool(ctx context.Context, c Call, about About) (tool.Result, []Trace, error) {
	steps := gather(p, func(s Source) []Step[Call] { return s.AfterTool(ctx, about) })
	end, err := run(ctx, AfterTool, steps, c, false)
	if end.value.Result == nil {
		return *c.Result, end.trace, err
	}
	return *end.value.Result, end.trace, err
}

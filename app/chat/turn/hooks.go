package turn

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"conclave/app/chat"
	"conclave/app/model"
	"conclave/app/tool"
	"conclave/app/tool/hook"
)

// hooked is a request as hooks changed it, and how much of the path it covers.
type hooked struct {
	request model.Request
	path    int // messages of the path that were in it
}

// prepared returns the request of a round: built from the path, then changed by the hooks of the turn
// and by those of each round.
func (t *run) prepared(ctx context.Context) (model.Request, error) {
	if t.o.Points == nil {
		return t.request(ctx), nil
	}
	r, err := t.once(ctx)
	if err != nil {
		return r, err
	}
	return t.each(ctx, r)
}

// each runs the hooks of every round on a request. The tools that they offer are for this round alone.
func (t *run) each(ctx context.Context, r model.Request) (model.Request, error) {
	var more []tool.Tool
	invokers := map[string]tool.Invoker{}
	offer := func(offered tool.Tool, by tool.Invoker) error {
		switch {
		case t.req.Tools == nil:
			return errors.New("this answer is written without tools")
		case slices.ContainsFunc(r.Tools, func(d model.ToolDefinition) bool { return d.Name == offered.WireName }) ||
			slices.ContainsFunc(more, func(m tool.Tool) bool { return m.WireName == offered.WireName }):
			return errors.New("there is a tool of that name")
		}
		if _, taken := t.req.Tools.ByWire(offered.WireName); taken {
			return errors.New("there is a tool of that name")
		}
		if t.names.taken(ctx, offered) {
			return errors.New("that name is another tool's in this chat")
		}
		more, invokers[offered.Plugin] = append(more, offered), by
		return nil
	}
	t.callTurn.Tools = t.req.Tools
	next, trace, err := t.o.Points.BeforeRound(ctx, r, t.callTurn.TurnInfo, offer)
	t.traced(trace)
	if err != nil {
		return r, err
	}
	if len(more) > 0 {
		if err := t.names.add(ctx, more); err != nil {
			return r, err
		}
		t.callTurn.Tools = t.req.Tools.Plus(more, invokers)
	}
	next.Tools = allowed(next.Tools, r.Tools, more)
	return next, nil
}

// allowed returns the definitions of wanted that the model may get: those it got anyway, unchanged, and
// those of more.
func allowed(wanted, given []model.ToolDefinition, more []tool.Tool) []model.ToolDefinition {
	var out []model.ToolDefinition
	for _, d := range given {
		if slices.ContainsFunc(wanted, func(w model.ToolDefinition) bool { return w.Name == d.Name }) {
			out = append(out, d)
		}
	}
	for _, m := range more {
		if slices.ContainsFunc(wanted, func(w model.ToolDefinition) bool { return w.Name == m.WireName }) {
			out = append(out, definition(m))
		}
	}
	return out
}

// once returns the request of a round, with what the hooks of the turn did to the first one.
func (t *run) once(ctx context.Context) (model.Request, error) {
	if t.hooked == nil {
		r, trace, err := t.o.Points.BeforeModel(ctx, t.request(ctx), t.callTurn.TurnInfo)
		t.traced(trace)
		if err != nil {
			return r, err
		}
		t.hooked = &hooked{r, len(t.path)}
		return r, nil
	}
	r := model.Request{Tools: t.toolSearch().definitions()}
	r.System, r.Temperature, r.MaxTokens = t.hooked.request.System, t.hooked.request.Temperature,
		t.hooked.request.MaxTokens
	since := t.history.messages(ctx, t.turn, t.path[t.hooked.path:])
	r.Messages = make([]model.Message, 0, len(t.hooked.request.Messages)+len(since))
	r.Messages = append(r.Messages, t.hooked.request.Messages...)
	for _, m := range since {
		if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == m.Role {
			last := &r.Messages[n-1]
			last.Parts = append(last.Parts[:len(last.Parts):len(last.Parts)], m.Parts...)
			continue
		}
		r.Messages = append(r.Messages, m)
	}
	return r, nil
}

// traced remembers what hooks did for the message that is written next, and shows the person their
// notes.
func (t *run) traced(trace []hook.Trace) {
	t.trace = append(t.trace, trace...)
	t.added = chat.AddOrigins(t.added, hook.Origins(trace)...)
	for _, note := range hook.Notes(trace) {
		t.remark(note)
	}
}

// afterModel runs the hooks on a whole answer and applies their changes to its text and its calls. The
// closing answer has no calls.
func (t *run) afterModel(ctx context.Context, w *writing, closing bool) error {
	if t.o.Points == nil {
		return nil
	}
	m, trace, err := t.o.Points.AfterModel(ctx, w.m, t.callTurn.TurnInfo)
	t.traced(trace)
	if w.m.Parts = m.Parts; closing {
		w.m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), isCall)
	}
	switch calls := len(callsOf(&w.m)); {
	case calls > 0:
		w.m.Reason = ""
	case w.m.Reason == "":
		w.m.Reason = chat.EndDone
	}
	return err
}

func isCall(p chat.Part) bool { return p.Kind == chat.PartToolCall }

// hookStopped reports whether err is that of a hook which called the turn off.
func hookStopped(err error) (*hook.Stopped, bool) { return errors.AsType[*hook.Stopped](err) }

// undone hides the messages of the turn, so that later turns do not send them.
func (t *run) undone(ctx context.Context) {
	t.scribe.do(ctx, func(save context.Context) error {
		path, err := t.log.Path(save, t.req.Conversation)
		for _, m := range path {
			if m.Turn == t.turn {
				err = cmp.Or(err, t.scribe.update(save, m.Seq, func(stored *chat.Message) { stored.Hidden = true }))
			}
		}
		return err
	})
}

package turn

import (
	"cmp"
	"context"

	"conclave/app/chat"
)

// rounds makes the calls that are open, then asks the model until it is done.
func (t *run) rounds(ctx context.Context, open []*chat.ToolCall) Outcome {
	out := Outcome{Turn: t.turn, Reason: chat.EndDone}
	if len(open) > 0 {
		i, _ := openCalls(t.path)
		reason, err := t.calls(ctx, t.path[i].Seq, open, false, nil)
		if err != nil {
			return t.broke(ctx, out, err)
		}
		if reason != "" {
			out.Reason = reason
			return out
		}
	}
	for {
		t.round++
		t.callTurn.Round = t.round
		if err := t.renewTools(ctx); err != nil {
			return t.broke(ctx, out, err)
		}
		w, err := t.ask(ctx, false)
		if w != nil {
			out.Message = &w.m
		}
		if err != nil {
			if w != nil {
				w.write(ctx)
			}
			return t.broke(ctx, out, err)
		}
		t.off = nil
		if err := t.afterModel(ctx, w, false); err != nil {
			if _, off := hookStopped(err); !off || len(callsOf(&w.m)) == 0 {
				w.write(ctx)
				return t.broke(ctx, out, err)
			}
			t.off = err // its calls get results with that reason
		}
		calls := callsOf(&w.m)
		if len(calls) == 0 {
			w.write(ctx)
			return out
		}
		if err := t.scribe.wait(); err != nil {
			return t.broke(ctx, out, err)
		}
		seq := w.m.Seq
		if seq == 0 {
			seq, _ = t.scribe.next()
		}
		last := t.req.ChainLimit > 0 && t.round >= t.req.ChainLimit
		reason, err := t.calls(ctx, seq, calls, last, w)
		switch {
		case err != nil:
			return t.broke(ctx, out, err)
		case reason != "":
			out.Reason = reason
			return out
		case last:
			return t.close(ctx, out)
		}
	}
}

// calls makes the calls of the message numbered response. It returns why the turn
// ends with them, or "". w is that message, when it is still to be written.
func (t *run) calls(ctx context.Context, response chat.MessageSeq, calls []*chat.ToolCall, limit bool,
	w *writing,
) (chat.EndReason, error) {
	pending, err := t.record(ctx, response, calls)
	if w != nil {
		w.write(ctx)
	} else { // the message is there, and its calls run again
		t.scribe.do(ctx, t.log.Sync)
	}
	if err != nil {
		return "", err
	}
	b := t.batch(ctx, pending, limit)
	var reason chat.EndReason
	switch {
	case ctx.Err() != nil:
		reason = chat.EndStopped
	case b.paused:
		reason = chat.EndHandled
	case b.stuck:
		reason = chat.EndLimit
	case b.done:
		reason = chat.EndDone
	}
	if t.off != nil && ctx.Err() == nil {
		reason = chat.EndError
	}
	if !t.writeResults(ctx, pending, reason) && reason != "" && w != nil {
		w.ended(ctx, reason)
	}
	return reason, cmp.Or(t.scribe.failed(), t.off)
}

// close makes the closing request: the model answers with what it has
// (contracts/llm-functions, section 8.7).
func (t *run) close(ctx context.Context, out Outcome) Outcome {
	w, err := t.ask(ctx, true)
	if w != nil {
		out.Message = &w.m
		if err == nil {
			err = t.afterModel(ctx, w, true)
		}
		w.write(ctx)
	}
	if err != nil {
		return t.broke(ctx, out, err)
	}
	out.Reason = chat.EndLimit
	return out
}

// conclude writes into the log that the turn ended with its question or with results, and why. An answer
// holds that itself, but one that was stopped before its first word does not exist.
func (t *run) conclude(ctx context.Context, reason chat.EndReason) {
	t.scribe.do(ctx, func(save context.Context) error {
		m := t.scribe.answered()
		if n := len(t.path); m.Seq == 0 && n > 0 {
			m = t.path[n-1] // what was to be answered
		}
		if m.Seq == 0 || m.Role == chat.RoleAssistant || m.Reason != "" {
			return t.log.Sync(save)
		}
		return t.scribe.update(save, m.Seq, func(stored *chat.Message) {
			if stored.Open = false; stored.Role == chat.RoleTool {
				stored.Reason = reason
			}
		})
	})
}

// broke returns the outcome of a turn whose round failed or was stopped.
func (t *run) broke(ctx context.Context, out Outcome, err error) Outcome {
	if ctx.Err() != nil {
		out.Reason = chat.EndStopped
		return out
	}
	if off, ok := hookStopped(err); ok && off.Undo {
		t.undone(ctx)
	}
	out.Reason, out.Err = chat.EndError, asFault(err)
	return out
}

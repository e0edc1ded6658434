package deliberation

import (
	"context"
	"slices"
	"sync"

	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/council"
)

// watch is a live run as pages watch it and as lists show it, both at the same step. It is safe for
// concurrent use.
type watch struct {
	mu     sync.Mutex
	w      *council.Watch
	newest council.Header // after the last step; zero before the first
}

// header returns the header of the run as it is watched, zero before its first step.
func (w *watch) header() council.Header {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.newest
}

// take applies an event of the run.
func (w *watch) take(e record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case e.Step != nil:
		w.w.Step(e.Run)
		w.newest = e.header
	case e.Live != nil:
		w.w.Live(e.Task, *e.Live, e.MS)
	case e.Due != nil:
		w.w.Due(e.Due)
	case e.SaveError != nil:
		w.w.Problem(*e.SaveError)
	}
}

// View returns the changes of a run since a revision, or everything for 0. The kind is not_found
// without such a run.
func (r *Runner) View(ctx context.Context, id council.RunID, since uint64) (council.RunView, error) {
	if l := r.loop(id); l != nil {
		l.watch.mu.Lock()
		defer l.watch.mu.Unlock()
		v := l.watch.w.View(since, r.o.Now())
		v.Live = v.State != council.Over // a finished run stays live until it is stored
		return v, nil
	}
	run, _, err := r.stored(ctx, id)
	if err != nil {
		return council.RunView{}, err
	}
	w := council.NewWatch(r.watchOptions(ctx, r.Texts(ctx, id).Words))
	w.Step(run)
	v := w.View(0, run.Last.At) // it is not worked on, so no time passes
	v.Reset = since != 0
	v.Edited = r.edited(ctx, run)
	r.mu.Lock()
	v.Problem = r.unsaved[id]
	r.mu.Unlock()
	return v, nil
}

// Live reports whether this program works on a run now.
func (r *Runner) Live(id council.RunID) bool { return r.loop(id) != nil }

func (r *Runner) watchOptions(ctx context.Context, text func(council.Hash) string) council.WatchOptions {
	return council.WatchOptions{Text: text, Call: func(id uint64) (chat.CallRecord, bool) {
		record, err := r.o.Call(ctx, id)
		return record, err == nil
	}}
}

// edited reports whether the chat was changed since a run, up to its question. It is false where
// another branch of the chat is shown.
func (r *Runner) edited(ctx context.Context, run council.Run) bool {
	path, err := r.o.Chats.Path(ctx, run.Conversation)
	if err != nil || run.Path == "" {
		return false
	}
	for i, m := range path {
		if m.Seq == run.Question {
			return pathHash(path[:i+1]) != run.Path
		}
	}
	return false
}

// pathHash returns the hash of the chat up to a question.
func pathHash(path []chat.Message) council.Hash { return windowOf([]council.Given{{Path: path}}) }

// Contexts returns what each member of a council would see of a chat now, by its id; the chat "" is a
// new one.
func (r *Runner) Contexts(ctx context.Context, c council.Council, id chat.ConversationID) (map[string]council.Given,
	error,
) {
	s := &session{r: r, council: c, req: turn.Request{Conversation: id}}
	if err := s.readChat(ctx, slices.Clip[[]chat.Message]); err != nil {
		return nil, err
	}
	kind := council.Opine
	if c.Mode == council.Tools {
		kind = council.UseTool
	}
	all := map[string]council.Given{}
	for _, m := range c.Members {
		all[m.ID] = council.Give(s.giveInput(m, council.Task{Kind: kind, Member: m.ID}))
	}
	return all, nil
}

package deliberation

import (
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/council"
)

// ErrClosing is the cause of runs that end with the program. They can be resumed.
var ErrClosing = fault.New(fault.Canceled, "deliberation.close", "Conclave closed.", "")

// Runner runs councils. Use New, and Close when done. It is safe for concurrent use.
type Runner struct {
	o               Options
	temporary       *council.Memory // runs of temporary chats, and runs that could not be saved
	durations       durations
	loadedDurations sync.Once
	ctx             context.Context //nolint:containedctx // of all runs; ends with Close
	close           context.CancelCauseFunc
	loops           sync.WaitGroup

	rates sync.Mutex // held while steps are added to a run that is not live, or a run becomes live

	mu      sync.Mutex // guards the fields below
	live    map[council.RunID]*loop
	unsaved map[council.RunID]string // why finished runs could not be saved
	given   map[string]allowedReads  // by the turn of a member
}

// New returns a runner.
func New(o Options) *Runner {
	if o.Slog == nil {
		o.Slog = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Seed == nil {
		o.Seed = rand.Uint64
	}
	if o.Bus == nil {
		o.Bus = bus.New()
	}
	o.SaveAgain = cmp.Or(o.SaveAgain, saveAgain)
	r := &Runner{
		o: o, temporary: council.NewMemory(), live: map[council.RunID]*loop{}, unsaved: map[council.RunID]string{},
		given: map[string]allowedReads{},
	}
	r.ctx, r.close = context.WithCancelCause(context.Background()) // ended by Close
	return r
}

// Close ends all runs and waits for them. Another program can resume them.
func (r *Runner) Close() {
	r.close(ErrClosing)
	r.loops.Wait()
}

// Run runs the turn that answers in a chat, as conversation.Owner.Run does, after the chat's council,
// if it is on.
func (r *Runner) Run(ctx context.Context, req turn.Request, how How, on func(chat.Event)) (turn.Outcome, error) {
	s, err := r.session(ctx, req, how)
	if err != nil {
		return turn.Outcome{}, err
	}
	if s == nil {
		return r.o.Conversations.Run(ctx, req, on)
	}
	if s.toolsAlone() {
		all, err := r.load(ctx, s.council)
		if err != nil {
			return turn.Outcome{}, err
		}
		s.req.Newest = nil // the members' tools are those of this turn
		s.req.Tools, s.req.Inline = inlineTools(s.council.WithTools(all.Tools()), s.how.Only, all, s.req.Tools)
		return r.o.Conversations.Run(ctx, s.req, on)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(r.ctx, func() { cancel(ErrClosing) })()
	c := &chair{Model: s.req.Model, s: s, cancel: cancel}
	req = s.req
	req.Model, req.Taint, req.Reserve = c, c.taint(req.Taint), NotesTokens(s.council)
	out, err := r.o.Conversations.Run(ctx, req, c.hear(on))
	c.conclude(out, closes(ctx))
	return out, err
}

// closes reports whether a context ended because the program closes.
func closes(ctx context.Context) bool {
	return ctx.Err() != nil && errors.Is(context.Cause(ctx), ErrClosing)
}

// Act applies a person's act to a live run; a run that was cut off can be stopped. The kind is
// conflict when the act is too late, and not_found without such a run.
func (r *Runner) Act(ctx context.Context, run council.RunID, what council.Act, member string, tasks []string,
	text string,
) error {
	s := council.Step{Kind: council.Acts, Act: what, By: council.Person, Member: member, Tasks: tasks, Text: text}
	for {
		if l := r.loop(run); l != nil {
			err := l.act(ctx, s)
			if errors.Is(err, errOver) {
				return tooLate()
			}
			return err
		}
		if what != council.Stop {
			if _, _, err := r.stored(ctx, run); err != nil {
				return err
			}
			return tooLate()
		}
		// It was cut off. The time since then does not count.
		if err := r.amend(ctx, run, council.Step{Kind: council.Resumes}, s); !errors.Is(err, errLive) {
			return err
		}
	}
}

func tooLate() error {
	return fault.New(fault.Conflict, "deliberation.act", "It is too late for that in this council run.",
		"Answer the question again to have the council work again.")
}

// loop returns a live run, or nil.
func (r *Runner) loop(run council.RunID) *loop {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.live[run]
}

// Stored returns a run as it is stored. The kind is not_found when there is none.
func (r *Runner) Stored(ctx context.Context, id council.RunID) (council.Run, error) {
	run, _, err := r.stored(ctx, id)
	return run, err
}

// stored reads a stored run. The kind is not_found when there is none.
func (r *Runner) stored(ctx context.Context, id council.RunID) (council.Run, council.Log, error) {
	var log council.Log = r.temporary
	steps, err := log.Steps(ctx, id)
	if err != nil {
		log = r.o.Log
		steps, err = log.Steps(ctx, id)
	}
	if err != nil {
		return council.Run{}, nil, err
	}
	run, err := council.Replay(steps)
	if err != nil {
		return run, log, fault.Wrap(fault.Damaged, "deliberation.read", "The record of this run of the council is damaged.",
			"Answer the question again to have the council work again.", err)
	}
	return run, log, nil
}

// Council returns the council that applies to a chat, and its scope: the chat, its project, or
// everywhere. project is that of a new or temporary chat.
func (r *Runner) Council(ctx context.Context, id chat.ConversationID,
	project string,
) (council.Council, council.Scope, error) {
	if id != "" {
		switch v, err := r.o.Chats.Conversation(ctx, id); {
		case err == nil:
			project = v.Project
		case fault.KindOf(err) != fault.NotFound:
			return council.Council{}, "", err
		}
	}
	var scopes []council.Scope
	if id != "" {
		scopes = append(scopes, council.OfChat(id))
	}
	if project != "" {
		scopes = append(scopes, council.OfProject(project))
	}
	for _, s := range append(scopes, council.Global) {
		if c, there, err := r.o.Settings.Council(ctx, s); there || err != nil {
			return c, s, err
		}
	}
	return council.Default(), council.Global, nil
}

// Runs lists the runs of a chat, oldest first, live ones with their current state.
func (r *Runner) Runs(ctx context.Context, id chat.ConversationID) ([]council.Header, error) {
	headers, err := r.o.Log.Runs(ctx, id)
	if err != nil {
		return nil, err
	}
	temporary, err := r.temporary.Runs(ctx, id)
	for _, h := range temporary { // the log has less of a run that could not be saved
		headers = slices.DeleteFunc(headers, func(kept council.Header) bool { return kept.Run == h.Run })
	}
	headers = append(slices.Clip(headers), temporary...)
	for i, h := range headers {
		l := r.loop(h.Run)
		if l == nil {
			continue
		}
		if now := l.watch.header(); now.Run != "" { // else it has no step since it was resumed
			headers[i] = now
		}
	}
	return headers, err
}

// Steps returns the steps of a run, including those that could not be saved yet.
func (r *Runner) Steps(ctx context.Context, id council.RunID) ([]council.Step, error) {
	if steps, err := r.temporary.Steps(ctx, id); err == nil {
		return steps, nil
	}
	return r.o.Log.Steps(ctx, id)
}

// Texts returns the texts of a run.
func (r *Runner) Texts(ctx context.Context, run council.RunID) council.ReadText {
	return func(h council.Hash) (string, error) {
		if h == "" {
			return "", nil
		}
		if l := r.loop(run); l != nil {
			if text, ok := l.texts.get(h); ok {
				return string(text), nil
			}
		}
		text, err := r.temporary.Text(ctx, run, h)
		if err != nil {
			text, err = r.o.Log.Text(ctx, run, h)
		}
		return string(text), err
	}
}

// Export writes a run as a file, see council.WriteRun.
func (r *Runner) Export(ctx context.Context, to io.Writer, run council.RunID, mask func(string) string) (left []string,
	err error,
) {
	steps, err := r.Steps(ctx, run)
	if err != nil {
		return nil, err
	}
	return council.WriteRun(to, steps, r.Texts(ctx, run), mask)
}

// Rate saves a person's rating of a member's point.
func (r *Runner) Rate(ctx context.Context, id council.RunID, member string, point int, good bool) error {
	s := council.Step{Kind: council.Rates, Member: member, Point: point, Good: good}
	for {
		if l := r.loop(id); l != nil {
			if err := l.act(ctx, s); !errors.Is(err, errOver) {
				return err
			}
		}
		if err := r.amend(ctx, id, s); !errors.Is(err, errLive) {
			return err
		}
	}
}

// errLive is the error of a change to a run that is live, so that its loop has to make it.
var errLive = errors.New("the run is live")

// amend applies steps to a run that is not live. The kind is conflict when they are too late, and
// not_found without such a run; for a live run the error is errLive.
func (r *Runner) amend(ctx context.Context, id council.RunID, steps ...council.Step) error {
	r.rates.Lock()
	defer r.rates.Unlock()
	if l := r.loop(id); l != nil {
		select {
		case <-l.over:
		default:
			return errLive
		}
	}
	run, log, err := r.stored(ctx, id)
	if err != nil {
		return err
	}
	at := later(r.o.Now(), run.Last.At)
	for i := range steps {
		s := &steps[i]
		s.At = at
		s.Number = run.Last.Number + 1
		if err := run.Apply(*s); err != nil {
			return tooLate()
		}
	}
	var result *council.Result
	if !run.Handed.IsZero() {
		compared := council.ResultOf(run, r.Texts(ctx, id).Words)
		result = &compared
	}
	if err := log.AppendSteps(ctx, council.HeaderOf(run, result), steps, nil); err != nil {
		return err
	}
	r.o.Bus.Changed(bus.Council, string(id))
	r.o.Bus.Changed(bus.Councils, string(run.Conversation))
	return nil
}

// later returns the time of a step: now, but not before the step before it.
func later(now, before time.Time) time.Time {
	now = now.UTC().Round(time.Microsecond) // as it is stored
	if now.Before(before) {
		return before
	}
	return now
}

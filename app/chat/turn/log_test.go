package turn_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/model"
	"conclave/app/tool"
)

// disk is a log whose every durable write takes a while, and that remembers what
// a kill at any moment would leave.
type disk struct {
	*turn.MemoryLog
	write time.Duration

	mu      sync.Mutex // guards the fields below
	writes  []string
	lasting map[chat.MessageSeq]string // the text that a kill would leave, by message
	full    bool
	asked   map[uint64]bool // the records of calls that are in a message on the disk
	pending map[uint64]chat.CallRecord
	records map[uint64]chat.CallRecord // those of calls that a kill would leave
	open    map[chat.MessageSeq]bool   // what was written of messages whose turn went on
}

func newDisk(write time.Duration) *disk {
	return &disk{
		MemoryLog: turn.NewMemoryLog(chat.Conversation{ID: talk}), write: write,
		lasting: map[chat.MessageSeq]string{}, asked: map[uint64]bool{}, open: map[chat.MessageSeq]bool{},
		pending: map[uint64]chat.CallRecord{}, records: map[uint64]chat.CallRecord{},
	}
}

func (d *disk) note(what string, m chat.Message) error {
	if what != alongWith {
		time.Sleep(d.write)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.full {
		return fault.New(fault.Unavailable, "test", "The disk is full.", "Free some space.")
	}
	d.writes = append(d.writes, what+" "+string(m.Role))
	d.lasting[m.Seq], d.open[m.Seq] = chat.TextOf(m.Parts), m.Open
	for _, p := range m.Parts {
		if p.Call != nil && m.State == chat.Complete {
			d.asked[p.Call.Sequence] = true
		}
	}
	return nil
}

func (d *disk) Append(ctx context.Context, messages ...*chat.Message) error {
	if err := d.MemoryLog.Append(ctx, messages...); err != nil {
		return err
	}
	defer d.settle()()
	what := "append"
	for _, m := range messages {
		if err := d.note(what, *m); err != nil {
			return err
		}
		what = alongWith
	}
	return nil
}

func (d *disk) UpdateMessages(ctx context.Context, id chat.ConversationID, seqs []chat.MessageSeq,
	change func([]chat.Message) error,
) error {
	defer d.settle()()
	var after []chat.Message
	err := d.MemoryLog.UpdateMessages(ctx, id, seqs, func(messages []chat.Message) error {
		err := change(messages)
		after = slices.Clone(messages)
		return err
	})
	for _, m := range after {
		err = errors.Join(err, d.note("replace", m))
	}
	return err
}

// alongWith is written of a message that is appended in one step with the one before it.
const alongWith = "along with it"

// PutCall remembers a record, which is on the disk with the next write.
func (d *disk) PutCall(ctx context.Context, r *chat.CallRecord) error {
	err := d.MemoryLog.PutCall(ctx, r)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.pending[r.ID] = *r
	return err
}

// Sync writes the records.
func (d *disk) Sync(ctx context.Context) error {
	defer d.settle()()
	return d.MemoryLog.Sync(ctx)
}

// settle begins a write, which the function it returns ends: then the records that were there at its
// beginning are on the disk.
func (d *disk) settle() (written func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	taken := d.pending
	d.pending = map[uint64]chat.CallRecord{}
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		maps.Copy(d.records, taken)
	}
}

func (d *disk) Journal(m chat.Message) {
	d.MemoryLog.Journal(m)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lasting[m.Seq] = chat.TextOf(m.Parts)
}

func TestAKillLosesLessThanAQuarterOfASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk(time.Millisecond)
		b := newBench(t, nil)
		b.open(d, nil)
		var said atomic.Int64 // characters the model has said
		stall := make(chan struct{})
		talking := func(ctx context.Context, r model.Request, say func(model.Event) bool) error {
			for range 100 {
				say(model.Event{Kind: model.Text, Text: "word "})
				said.Add(5)
				time.Sleep(7 * time.Millisecond)
			}
			// A burst, then silence: the last words must not wait for more.
			for range 50 {
				say(model.Event{Kind: model.Text, Text: "word "})
				said.Add(5)
			}
			<-stall
			return says()(ctx, r, say)
		}
		done := make(chan turn.Outcome)
		go func() { // ends with the turn
			out, _ := b.try(t.Context(), scriptedModel(talking))
			done <- out
		}()
		for range 20 {
			time.Sleep(33 * time.Millisecond)
			d.mu.Lock()
			kept := len(d.lasting[2])
			d.mu.Unlock()
			if lost := int(said.Load()) - kept; lost > 50/7*5+5 {
				t.Errorf("a kill now loses %d of %d characters", lost, said.Load())
			}
		}
		time.Sleep(time.Second)
		d.mu.Lock()
		if kept := len(d.lasting[2]); kept != int(said.Load()) {
			t.Errorf("in silence, %d of %d characters are kept", kept, said.Load())
		}
		d.mu.Unlock()
		close(stall)
		<-done
		if !slices.Equal(d.writes, []string{"append user", "append assistant", "replace assistant"}) {
			t.Errorf("wrote %q", d.writes)
		}
	})
}

func TestACallAndItsResultAreOnTheDiskBeforeTheyAreShown(t *testing.T) {
	slow := func(d time.Duration) func(context.Context, model.Request, func(model.Event) bool) error {
		return func(ctx context.Context, r model.Request, say func(model.Event) bool) error {
			time.Sleep(d)
			say(model.Event{Kind: model.Text, Text: "Well. "})
			return calls(call("count", `{}`))(ctx, r, say)
		}
	}
	for name, script := range map[string][]round{
		"a chain of quick answers": append(slices.Repeat([]round{calls(call("count", `{}`))}, 20), says("Done.")),
		"an answer that takes its time": {
			calls(call("count", `{}`)), slow(time.Second), slow(30 * time.Millisecond), slow(0), says("Done."),
		},
		"calls at once, one of them slow": {
			calls(call("count", `{"n":1}`), call("wait", `{}`), call("count", `{"n":2}`)), says("Done."),
		},
		"an answer that cannot be given": {
			calls(call("count", `{}`)),
			func(context.Context, model.Request, func(model.Event) bool) error { return errors.New("no") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDisk(3 * time.Millisecond)
				b := newBench(t, nil)
				b.open(d, tools{"count": takes(2*time.Millisecond, "1"), "wait": takes(time.Minute, "2")})
				shown := lasts(t, b, d)
				b.say(scriptedModel(script...), func(r *turn.Request) { r.ChainLimit = 0 })
				if *shown == 0 || *shown != len(d.Calls()) {
					t.Errorf("%d of %d results were shown", *shown, len(d.Calls()))
				}
			})
		})
	}
}

// lasts checks that what is shown of calls is on the disk, and counts the results.
func lasts(t *testing.T, b *bench, d *disk) (shown *int) {
	shown = new(int)
	b.on = func(e chat.Event) {
		if e.Kind != chat.EventAsked && e.Kind != chat.EventAnswered {
			return
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		lasting, there := d.records[e.Call.ID]
		if !there || lasting.Timestamp != e.Call.Timestamp ||
			e.Kind == chat.EventAnswered && lasting.Status != e.Call.Status {
			t.Errorf("%s of call %d is shown, and a kill would leave %+v", e.Kind, e.Call.ID, lasting)
		}
		if e.Kind == chat.EventAnswered {
			*shown++
			if late := time.Since(e.Call.Ended); e.Call.Status.Over() && late > 60*time.Millisecond {
				t.Errorf("a result is shown after %s", late)
			}
		}
	}
	return shown
}

func TestACallThatRunsAgainIsOnTheDiskBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk(3 * time.Millisecond)
		b := newBench(t, nil)
		ran := 0
		b.open(d, tools{"pause": func(context.Context, tool.Call) tool.Result {
			d.mu.Lock()
			defer d.mu.Unlock()
			if ran++; len(d.records) != 1 {
				t.Errorf("it runs with %d records", len(d.records))
			}
			for _, lasting := range d.records {
				if lasting.Status != chat.CallAsked {
					t.Errorf("it runs the %d. time, and a kill would leave %+v", ran, lasting)
				}
			}
			return tool.Result{Status: chat.CallPaused}
		}})
		shown := lasts(t, b, d)
		m := scriptedModel(calls(call("pause", `{}`)))
		b.say(m)
		for range 2 {
			time.Sleep(time.Second)
			b.say(m, func(r *turn.Request) { r.Text = "" })
		}
		if ran != 3 || *shown != 3 {
			t.Errorf("it ran %d times, and %d results were shown", ran, *shown)
		}
	})
}

func TestAChainOfQuickCallsWritesOnceARoundAndBehindIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const write = 3 * time.Millisecond
		d := newDisk(write)
		b := newBench(t, nil)
		const working = 2 * time.Millisecond
		work := takes(working, "1")
		b.open(d, tools{"count": work})
		script := slices.Repeat([]round{calls(call("count", `{}`))}, 50)
		began := time.Now()
		b.say(scriptedModel(append(script, says("Done."))...), func(r *turn.Request) { r.ChainLimit = 0 })
		took := time.Since(began)
		// The question, the first answer, and the results of each round with the answer that follows them.
		writes := slices.DeleteFunc(slices.Clone(d.writes), func(what string) bool {
			return strings.HasPrefix(what, alongWith)
		})
		if n := len(writes); n != 1+1+50 {
			t.Errorf("%d writes: %q", n, writes)
		}
		// A call waits for the message that asks for it, or a kill while it runs would
		// lose what was asked.
		if limit := 50*(write+working) + 20*time.Millisecond; took > limit {
			t.Errorf("took %s, more than its writes and calls (%s)", took, limit)
		}
		path := b2path(t, d)
		if len(path) != 102 {
			t.Fatalf("%d messages", len(path))
		}
		for i, m := range path {
			if m.Seq != chat.MessageSeq(i+1) || m.Parent != chat.MessageSeq(i) {
				t.Fatalf("message %d follows %d", m.Seq, m.Parent)
			}
		}
		for _, r := range d.Calls() {
			if m := path[r.ResponseID-1]; m.Role != chat.RoleAssistant || m.Parts[0].Call.Sequence != r.ID {
				t.Fatalf("record %d says it was asked by message %d, which is %+v", r.ID, r.ResponseID, m)
			}
		}
	})
}

func b2path(t *testing.T, d *disk) []chat.Message {
	t.Helper()
	path, err := d.Path(t.Context(), talk)
	must(t, err)
	return path
}

func TestAShortAnswerIsWrittenOnceAndALongOneIsShownSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const write = 3 * time.Millisecond
		for _, pause := range []time.Duration{0, time.Second} {
			d := newDisk(write)
			b := newBench(t, nil)
			b.open(d, nil)
			var spoken, shown time.Time
			m := scriptedModel(func(ctx context.Context, r model.Request, say func(model.Event) bool) error {
				spoken = time.Now()
				say(model.Event{Kind: model.Text, Text: "Hel"})
				time.Sleep(pause)
				return says("lo.")(ctx, r, say)
			})
			var kinds []chat.EventKind
			_, err := b.runner.Run(t.Context(), turn.Request{Conversation: talk, Text: "Hi.", Model: m}, func(e chat.Event) {
				if e.Kind == chat.EventText && shown.IsZero() {
					shown = time.Now()
				}
				if e.Kind == chat.EventBegun || e.Kind == chat.EventText {
					kinds = append(kinds, e.Kind)
				}
			})
			must(t, err)
			want := 2 // the question and the answer
			if pause > 0 {
				want = 3 // and its beginning
			}
			if len(d.writes) != want || shown.Sub(spoken) > 2*write+5*time.Millisecond {
				t.Errorf("pause of %s: %q, and the first word is shown after %s", pause, d.writes, shown.Sub(spoken))
			}
			if !slices.Equal(kinds, []chat.EventKind{chat.EventBegun, chat.EventText, chat.EventText}) {
				t.Errorf("pause of %s: %q", pause, kinds)
			}
		}
	})
}

func TestTheFirstMessageIsInTheLogBeforeItsWordsAreSent(t *testing.T) {
	d := newDisk(0)
	b := newBench(t, tools{"count": answers("1")})
	b.open(d, tools{"count": answers("1")})
	m := scriptedModel(calls(call("count", `{}`)), says("Done."))
	_, err := b.runner.Run(t.Context(), turn.Request{Conversation: talk, Text: "Hi.", Model: m, Tools: b.set},
		func(e chat.Event) {
			if e.Seq == 0 {
				return
			}
			d.mu.Lock()
			defer d.mu.Unlock()
			if _, ok := d.lasting[e.Seq]; !ok && e.Kind != chat.EventAsked {
				t.Errorf("%s names message %d, which is not written", e.Kind, e.Seq)
			}
			if e.Kind == chat.EventProposed && e.Seq != 2 {
				t.Errorf("the call is proposed in message %d", e.Seq)
			}
		})
	must(t, err)
}

func TestAFullDiskEndsTheTurnAndSaysSo(t *testing.T) {
	d := newDisk(0)
	b := newBench(t, nil)
	b.open(d, tools{"fill": func(ctx context.Context, c tool.Call) tool.Result {
		d.mu.Lock()
		d.full = true
		d.mu.Unlock()
		return answers("full")(ctx, c)
	}})
	m := scriptedModel(calls(call("fill", `{}`)), says("Never kept."))
	out := b.say(m)
	if out.Reason != chat.EndError || fault.KindOf(out.Err) != fault.Unavailable ||
		!strings.Contains(out.Err.Error(), "The disk is full.") {
		t.Errorf("outcome %+v", out)
	}
	if ended := b.heard(chat.EventEnded); len(ended) != 1 || ended[0].Failure == nil ||
		ended[0].Failure.Hint != "Free some space." {
		t.Errorf("told %+v", ended)
	}

	d = newDisk(0)
	d.full = true
	b.open(d, nil)
	if _, err := b.try(t.Context(), m); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("got %v", err)
	}
}

func TestATemporaryChatWritesNothingToTheLog(t *testing.T) {
	b := newBench(t, tools{"count": answers("1")})
	memory := turn.NewMemoryLog(chat.Conversation{ID: "temporary"})
	b.say(scriptedModel(calls(call("count", `{}`)), says("Done.")), func(r *turn.Request) {
		r.Conversation, r.Log = "temporary", memory
	})
	path, err := memory.Path(t.Context(), "temporary")
	if err != nil || len(path) != 4 || len(memory.Calls()) != 1 {
		t.Errorf("the temporary log has %d messages, %v", len(path), err)
	}
	if len(b.path()) != 0 || len(b.log.Calls()) != 0 {
		t.Error("the kept log was written")
	}
}

func TestNoCallIsMadeBeforeTheMessageThatAsksForItIsOnTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk(20 * time.Millisecond)
		b := newBench(t, nil)
		made := 0
		work := func(context.Context, tool.Call) tool.Result {
			d.mu.Lock()
			defer d.mu.Unlock()
			made++
			if last := d.writes[len(d.writes)-1]; !strings.HasSuffix(last, " assistant") || len(d.asked) != made {
				t.Errorf("call %d is made when %d are on the disk, after %q", made, len(d.asked), d.writes)
			}
			return tool.Result{Status: chat.CallOK, Content: []chat.Part{{Kind: chat.PartText, Text: "1"}}}
		}
		b.open(d, tools{"count": work})
		b.say(scriptedModel(calls(call("count", `{}`)), calls(call("count", `{}`)), says("Done.")), func(*turn.Request) {})
		if made != 2 {
			t.Errorf("%d calls were made", made)
		}
	})
}

func TestATurnStoppedAfterAResultSaysSoThereAndIsNoLongerOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk(time.Millisecond)
		b := newBench(t, nil)
		b.open(d, tools{"count": takes(0, "1")})
		ctx, stop := context.WithCancel(t.Context())
		silent := func(ctx context.Context, _ model.Request, _ func(model.Event) bool) error {
			stop()
			<-ctx.Done()
			return context.Cause(ctx)
		}
		if out, err := b.try(ctx, scriptedModel(calls(call("count", `{}`)), silent)); err != nil || out.Reason != chat.EndStopped {
			t.Errorf("got %+v, %v", out, err)
		}
		path := b2path(t, d)
		if last := path[len(path)-1]; last.Role != chat.RoleTool || last.Reason != chat.EndStopped || d.open[last.Seq] {
			t.Errorf("the results are %+v, open %v", last, d.open)
		}
	})
}

// patient is a log that notices whether a write has to be over by some time.
type patient struct {
	*turn.MemoryLog
	hurried atomic.Bool
}

func (p *patient) look(ctx context.Context) {
	if _, hurries := ctx.Deadline(); hurries {
		p.hurried.Store(true)
	}
}

func (p *patient) Append(ctx context.Context, messages ...*chat.Message) error {
	p.look(ctx)
	return p.MemoryLog.Append(ctx, messages...)
}

func (p *patient) UpdateMessages(ctx context.Context, id chat.ConversationID, seqs []chat.MessageSeq,
	change func([]chat.Message) error,
) error {
	p.look(ctx)
	return p.MemoryLog.UpdateMessages(ctx, id, seqs, change)
}

func (p *patient) Sync(ctx context.Context) error {
	p.look(ctx)
	return p.MemoryLog.Sync(ctx)
}

// A disk that others keep busy slows a turn, and must not end it.
func TestNoWriteOfATurnHasToBeOverInTime(t *testing.T) {
	p := &patient{MemoryLog: turn.NewMemoryLog(chat.Conversation{ID: talk})}
	b := newBench(t, nil)
	b.open(p, tools{"count": answers("one")})
	out := b.say(scriptedModel(calls(call("count", `{}`)), says("It is one.")))
	if out.Err != nil || out.Reason != chat.EndDone || p.hurried.Load() {
		t.Errorf("hurried %v, outcome %+v", p.hurried.Load(), out)
	}
}

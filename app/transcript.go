package app

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/app/bus"
	"conclave/app/chat"
	"conclave/app/render"
	"conclave/app/turn"
)

// firstEntries is how many entries the first pull of a conversation brings
// whole; keptEntries how many rendered ones a transcript remembers.
const (
	firstEntries = 30
	keptEntries  = 400
)

// transcript is one conversation as the page shows it: which entries there are,
// what is rendered of them, and at which revision each last changed. A revision
// is of this transcript alone and goes out as a notice of topic "chat".
type transcript struct {
	c  *Chats
	id chat.ConversationID

	mu       sync.Mutex // guards the fields below
	revision uint64
	floor    uint64 // a pull from before it starts anew
	outline  Outline
	entries  []folded
	shapes   []shape // how the outline changed
	chatRev  uint64
	views    map[chat.MessageSeq]*entryView
	order    []chat.MessageSeq // of views, oldest use first
	live     *liveTurn         // the turn that runs
	status   *TurnStatus
}

// shape says that at a revision the outline changed from an index on.
type shape struct {
	revision uint64
	from     int
}

func newTranscript(c *Chats, id chat.ConversationID) *transcript {
	return &transcript{c: c, id: id, revision: 1, views: map[chat.MessageSeq]*entryView{}}
}

// load reads the outline anew and notes what changed of it. The caller holds mu.
func (t *transcript) load(ctx context.Context) error {
	o, err := t.c.core.Keep.Outline(ctx, t.id)
	if err != nil {
		return err
	}
	next := fold(o)
	from := splice(t.entries, next)
	if from < len(next) || from < len(t.entries) || t.shapes == nil {
		t.revision++
		t.shapes = append(t.shapes, shape{t.revision, from})
		if len(t.shapes) > 500 { // windows pull often; an older one starts anew
			t.floor = t.shapes[250].revision
			t.shapes = slices.Clone(t.shapes[250:])
		}
	}
	for i, e := range next { // an entry that grew is drawn anew
		if i < len(t.entries) && t.entries[i].seq == e.seq && len(t.entries[i].messages) != len(e.messages) && !t.isLive(e.seq) {
			delete(t.views, e.seq)
		}
	}
	t.outline, t.entries = o, next
	t.chatRev = t.revision
	return nil
}

func (t *transcript) isLive(seq chat.MessageSeq) bool {
	return t.live != nil && t.live.view != nil && t.live.view.entry.Seq == uint64(seq)
}

// changed makes a revision and tells the page. The caller holds mu.
func (t *transcript) changed() uint64 {
	t.revision++
	t.c.core.Bus.Publish(bus.Notice{Topic: bus.Chat, ID: string(t.id), Revision: t.revision})
	return t.revision
}

// refresh reads the conversation anew after something other than a turn changed
// it. seqs are entries whose bodies changed.
func (t *transcript) refresh(ctx context.Context, seqs ...chat.MessageSeq) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.load(ctx); err != nil {
		return err
	}
	revision := t.changed()
	t.chatRev = revision
	for _, seq := range seqs {
		delete(t.views, seq)
		view, err := t.build(ctx, seq)
		if err != nil {
			return err
		}
		view.born = revision
	}
	return nil
}

// pull answers Chats.Pull.
func (t *transcript) pull(ctx context.Context, since uint64) (Pull, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shapes == nil {
		if err := t.load(ctx); err != nil {
			return Pull{}, err
		}
	}
	if t.live != nil {
		t.live.draw(t.revision)
	}
	out := Pull{Conversation: string(t.id), Revision: t.revision, Entries: []Entry{}, Status: t.status}
	if since == 0 || since < t.floor || since > t.revision {
		out.Reset = since != 0
		view := t.c.chatView(ctx, t.outline.Conversation)
		out.Chat, out.Outline = &view, t.seqs(0)
		for _, e := range t.entries[max(0, len(t.entries)-firstEntries):] {
			view, err := t.view(ctx, e.seq)
			if err != nil {
				return Pull{}, err
			}
			out.Entries = append(out.Entries, view.whole())
		}
		return out, nil
	}
	if t.chatRev > since {
		view := t.c.chatView(ctx, t.outline.Conversation)
		out.Chat = &view
	}
	from := -1
	for _, s := range t.shapes {
		if s.revision > since && (from < 0 || s.from < from) {
			from = s.from
		}
	}
	if from >= 0 {
		out.Outline = t.seqs(from)
	}
	for _, e := range t.entries {
		view, ok := t.views[e.seq]
		switch {
		case !ok || view.rev <= since && view.born <= since:
		case view.born > since:
			out.Entries = append(out.Entries, view.whole())
		default:
			out.Entries = append(out.Entries, view.since(since))
		}
	}
	return out, nil
}

func (t *transcript) seqs(from int) *OutlineSplice {
	out := &OutlineSplice{From: from, Seqs: []uint64{}}
	for _, e := range t.entries[min(from, len(t.entries)):] {
		out.Seqs = append(out.Seqs, uint64(e.seq))
	}
	return out
}

// whole returns entries by seq, in the order asked.
func (t *transcript) whole(ctx context.Context, seqs []uint64) ([]Entry, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shapes == nil {
		if err := t.load(ctx); err != nil {
			return nil, err
		}
	}
	if t.live != nil {
		t.live.draw(t.revision)
	}
	out := []Entry{}
	for _, seq := range seqs {
		if !slices.ContainsFunc(t.entries, func(e folded) bool { return uint64(e.seq) == seq }) {
			continue
		}
		view, err := t.view(ctx, chat.MessageSeq(seq))
		if err != nil {
			return nil, err
		}
		out = append(out, view.whole())
	}
	return out, nil
}

// view returns an entry that is drawn, drawing it first if need be.
func (t *transcript) view(ctx context.Context, seq chat.MessageSeq) (*entryView, error) {
	if v, ok := t.views[seq]; ok {
		return v, nil
	}
	v, err := t.build(ctx, seq)
	if err != nil {
		return nil, err
	}
	v.born = 0 // it only was not drawn before: no news
	return v, nil
}

// build draws an entry from the store. The caller holds mu.
func (t *transcript) build(ctx context.Context, seq chat.MessageSeq) (*entryView, error) {
	i := slices.IndexFunc(t.entries, func(e folded) bool { return e.seq == seq })
	if i < 0 {
		return &entryView{}, nil // it is on another branch
	}
	messages, err := t.c.core.Keep.Messages(ctx, t.id, t.entries[i].messages)
	if err != nil {
		return nil, err
	}
	v := t.draw(ctx, t.entries[i], messages)
	v.rev, v.born = t.revision, t.revision
	t.keep(seq, v)
	return v, nil
}

func (t *transcript) keep(seq chat.MessageSeq, v *entryView) {
	t.views[seq] = v
	t.order = append(t.order, seq)
	for len(t.order) > keptEntries {
		oldest := t.order[0]
		t.order = t.order[1:]
		if oldest != seq && !t.isLive(oldest) {
			delete(t.views, oldest)
		}
	}
}

// draw makes an entry of its messages.
func (t *transcript) draw(ctx context.Context, f folded, messages []chat.Message) *entryView {
	v := &entryView{}
	if len(messages) == 0 {
		return v
	}
	first, last := messages[0], messages[len(messages)-1]
	v.entry = Entry{
		Seq: uint64(f.seq), Role: string(f.role), Turn: first.Turn, State: string(last.State), Reason: string(last.Reason),
		Created: stamp(first.Created), Ended: stamp(last.Ended), Hidden: first.Hidden, Siblings: []uint64{},
	}
	if f.role == chat.RoleAssistant {
		v.entry.Model = t.c.modelTitle(ctx, first.Model)
	}
	for _, s := range siblings(t.outline, f.seq) {
		v.entry.Siblings = append(v.entry.Siblings, uint64(s))
	}
	if n := len(v.entry.Siblings); n > 1 {
		other := v.entry.Siblings[n-1]
		if other == v.entry.Seq {
			other = v.entry.Siblings[n-2]
		}
		v.entry.OtherBranch = entriesBehind(t.outline, chat.MessageSeq(other))
	}
	var usage chat.Usage
	calls := map[string]*partView{}
	for _, m := range messages {
		if m.Usage != nil {
			usage = usage.Add(*m.Usage)
		}
		if m.Role == chat.RoleAssistant {
			v.entry.State, v.entry.Ended = string(m.State), stamp(m.Ended)
			if m.Reason != "" {
				v.entry.Reason = string(m.Reason)
			}
		}
		if m.Error != nil {
			v.entry.Error = &Failure{Kind: kindOf(m.Error), Message: m.Error.Message, Hint: m.Error.Hint, Detail: m.Error.Detail}
		}
		for _, p := range m.Parts {
			t.drawPart(ctx, v, calls, p)
		}
	}
	if usage != (chat.Usage{}) {
		v.entry.Usage = usageView(usage)
	}
	return v
}

func (t *transcript) drawPart(ctx context.Context, v *entryView, calls map[string]*partView, p chat.Part) {
	switch p.Kind {
	case chat.PartText, chat.PartReasoning:
		if p.Text == "" {
			return
		}
		if p.Kind == chat.PartText {
			v.entry.Words += len(strings.Fields(p.Text))
		}
		part := v.add(string(p.Kind))
		part.done = true
		for _, b := range render.Render(p.Text) {
			part.blocks = append(part.blocks, blockView{html: b.HTML, done: true})
		}
	case chat.PartToolCall:
		part := v.add("tool_call")
		part.done = true
		record, err := t.c.core.Keep.Call(ctx, p.Call.Sequence)
		if err != nil || p.Call.Sequence == 0 {
			record = chat.CallRecord{RequestID: p.Call.ID, ToolName: p.Call.Tool, Arguments: p.Call.Arguments, RawArguments: p.Call.Raw, Status: chat.CallCancelled}
		}
		part.call = t.c.callView(record)
		calls[p.Call.ID] = part
	case chat.PartToolResult:
		if part := calls[p.Result.CallID]; part != nil && part.call.ID == "" {
			part.call.State = callState(chat.CallRecord{Status: p.Result.Status})
		}
		for _, c := range p.Result.Content {
			if c.Kind == chat.PartMedia {
				t.drawPart(ctx, v, calls, c)
			}
		}
	case chat.PartMedia:
		part := v.add("media")
		part.done = true
		part.media = mediaView(*p.Media)
	}
}

func kindOf(f *chat.Failure) (kind faultKind) { return faultKind(f.Kind) }

// running reports whether a turn runs, and which.
func (t *transcript) running() *liveTurn {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.live
}

// hear puts an event of the running turn into the transcript.
func (t *transcript) hear(ctx context.Context, e turn.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.live == nil {
		return
	}
	switch e.Kind {
	case turn.Questioned, turn.Begun, turn.Ended:
		if err := t.load(ctx); err != nil {
			t.c.log.Error("a chat could not be read while its turn ran", "conversation", t.id, "err", err)
		}
	}
	t.live.hear(ctx, e)
	t.changed()
}

// end closes the running turn.
func (t *transcript) end(ctx context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.live, t.status = nil, nil
	if err := t.load(ctx); err != nil {
		t.c.log.Error("a chat could not be read after its turn", "conversation", t.id, "err", err)
	}
	t.changed()
}

// phase says what the turn is doing.
func (t *transcript) phase(s TurnStatus) {
	s.Since = stamp(time.Now())
	if t.status != nil && t.status.Phase == s.Phase && t.status.Tool == s.Tool {
		s.Since = t.status.Since
	}
	t.status = &s
}

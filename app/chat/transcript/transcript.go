// Package transcript keeps what a page shows of one conversation: its entries in
// order, the rendered blocks of each, and the revision at which each last changed. A
// page pulls what changed since the revision it has; however it pulled, it then holds
// what a pull from 0 would return.
//
// Read [Transcript.Pull] first. An entry is rendered from the store when a page needs
// it, or by a [Live] turn as the model writes; any number of turns may write at once,
// each into its own entry. The package knows the store as a [Store], and nothing of
// plugins, settings or the window. What is sent to the page is in views.go, from which
// frontend/src/lib/bridge/generated.ts is written; a list is never nil there.
package transcript

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"

	"conclave/app/chat"
	"conclave/app/chat/showing"
)

// firstEntries is the number of entries the first pull of a conversation brings at most,
// keptEntries how many drawn ones a transcript remembers, and keptShapes how many
// changes of the outline.
const (
	firstEntries = 30
	keptEntries  = 400
	keptShapes   = 500
)

// Store reads conversations. Errors are *fault.Error.
type Store interface {
	Outline(ctx context.Context, id chat.ConversationID) (chat.Outline, error)
	// Messages reads the named messages, in the order asked; one that is not there is
	// an error.
	Messages(ctx context.Context, id chat.ConversationID, seqs []chat.MessageSeq) ([]chat.Message, error)
	Call(ctx context.Context, id uint64) (chat.CallRecord, error)
}

// Options configure a Transcript. Everything is required but After. The functions are
// called while the transcript is locked, and must not call it.
type Options struct {
	Conversation chat.ConversationID
	Store        Store
	Chat         func(context.Context, chat.Conversation) Chat
	ModelTitle   func(ctx context.Context, model string) string
	Words        func(chat.CallRecord) showing.Words
	// Council returns the line of the council that deliberated before a turn answered, or nil;
	// nil itself where there are no councils.
	Council func(ctx context.Context, turn string) *CouncilLine
	// Changed is called with each new revision, in order. It must not block.
	Changed func(revision uint64)
	// After is a revision that no page has got beyond; this transcript's are greater.
	After uint64
	Log   *slog.Logger
}

// Transcript is one conversation as a page shows it. Use New. It is safe for
// concurrent use.
type Transcript struct {
	o Options

	mu       sync.Mutex // guards the fields below
	revision uint64
	floor    uint64 // a pull from before it starts again
	tree     *tree  // nil before it was read
	chatRev  uint64
	path     []*place
	places   map[chat.MessageSeq]*place // all that were ever on the path, and those of live turns
	given    []*place                   // those that a page may hold, on whichever branch
	drawn    []*place                   // those with a drawing, oldest first
	shapes   []shape                    // how the path changed
	live     []*Live                    // the turns that run, oldest first
}

// shape says that at a revision the path changed from an index on.
type shape struct {
	revision uint64
	from     int
}

// place is one entry, and what a page may hold of it.
type place struct {
	Folded
	siblings []uint64
	behind   int // entries that follow on the sibling last looked at
	hidden   bool

	onPath  bool
	given   bool     // a page may hold it
	rev     uint64   // of the newest change
	whole   uint64   // a page that pulled before it gets the entry whole
	drawing *drawing // nil: not drawn, or forgotten
	live    *Live    // the turn that writes it, or nil
}

// New returns the transcript of a conversation. Nothing is read yet.
func New(o Options) *Transcript {
	return &Transcript{o: o, revision: o.After + 1, floor: o.After + 1, places: map[chat.MessageSeq]*place{}}
}

// Revision returns the newest revision.
func (t *Transcript) Revision() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.revision
}

// Pull returns what changed since a revision, and the blocks that the page wants in
// addition. With since 0, or a revision that is not this transcript's or too old, it
// returns the chat, the whole path and as many of its last entries as there is room
// for.
func (t *Transcript) Pull(ctx context.Context, since uint64, wants ...Want) (Pull, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.open(ctx); err != nil {
		return Pull{}, err
	}
	reset := since == 0 || since < t.floor || since > t.revision
	out := Pull{
		Conversation: string(t.o.Conversation), Revision: t.revision, Entries: []Entry{}, Reset: reset && since != 0,
	}
	if len(t.live) > 0 {
		status := t.live[0].status
		out.Status = &status
	}
	if reset || t.chatRev > since {
		view := t.o.Chat(ctx, t.tree.Conversation)
		out.Chat = &view
	}
	entries := t.changed(since)
	if reset {
		out.Outline = t.splice(0)
		entries = slices.Clone(t.path[max(0, len(t.path)-firstEntries):])
	} else if from := t.changedFrom(since); from >= 0 {
		out.Outline = t.splice(from)
	}
	left := room{pullBytes, wantBytes}
	wanted := t.wanted(wants)
	for p := range wanted {
		if !slices.Contains(entries, p) {
			entries = append(entries, p)
		}
	}
	slices.SortFunc(entries, func(a, b *place) int { return cmp.Compare(a.Seq, b.Seq) })
	for _, p := range slices.Backward(entries) { // the newest are at the end, where a page opens
		wants, whole := wanted[p], reset || p.whole > since
		if reset && len(wants) == 0 && left.changed < endBytes {
			continue // asked for when it is seen
		}
		for _, w := range wants {
			whole = whole || w.To == 0
		}
		if err := t.drawNow(ctx, p); err != nil {
			if p.onPath {
				return Pull{}, err
			}
			continue // nobody sees it
		}
		out.Entries = append(out.Entries, p.entry(since, whole, wants, &left))
	}
	slices.Reverse(out.Entries)
	return out, nil
}

// wanted returns what a page wants of each entry of the path.
func (t *Transcript) wanted(wants []Want) map[*place][]Want {
	out := map[*place][]Want{}
	for _, w := range wants {
		if p := t.places[chat.MessageSeq(w.Seq)]; p != nil && p.onPath {
			out[p] = append(out[p], w)
		}
	}
	return out
}

// changed returns the entries that a page may hold and that changed since a
// revision. They need not be on the path: a page keeps what it holds for when the
// person comes back to it.
func (t *Transcript) changed(since uint64) []*place {
	var out []*place
	for _, p := range t.given {
		if p.rev > since {
			out = append(out, p)
		}
	}
	return out
}

// changedFrom returns the index from which the path changed since a revision, -1
// when it did not.
func (t *Transcript) changedFrom(since uint64) int {
	from := -1
	for _, s := range t.shapes {
		if s.revision > since && (from < 0 || s.from < from) {
			from = s.from
		}
	}
	return from
}

func (t *Transcript) splice(from int) *OutlineSplice {
	out := &OutlineSplice{From: from, Seqs: []uint64{}}
	for _, p := range t.path[min(from, len(t.path)):] {
		out.Seqs = append(out.Seqs, uint64(p.Seq))
	}
	return out
}

// Refresh reads the conversation again after something else than a live turn changed
// it. seqs are entries whose content changed.
func (t *Transcript) Refresh(ctx context.Context, seqs ...chat.MessageSeq) error {
	return t.refresh(ctx, func() {
		for _, seq := range seqs {
			if p := t.places[seq]; p != nil {
				t.redraw(ctx, p)
			}
		}
	})
}

// RefreshAll reads the conversation again when any of its entries may have changed.
func (t *Transcript) RefreshAll(ctx context.Context) error {
	return t.refresh(ctx, func() {
		if len(t.given) > len(t.drawn) { // a page may hold what is forgotten here, and starts again
			t.restart()
			return
		}
		for _, p := range slices.Clone(t.drawn) {
			t.redraw(ctx, p)
		}
	})
}

func (t *Transcript) refresh(ctx context.Context, redraw func()) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.revision++
	if err := t.load(ctx); err != nil {
		return err
	}
	redraw()
	t.o.Changed(t.revision)
	return nil
}

// restart has every page start again, and forgets what is drawn.
func (t *Transcript) restart() {
	t.floor, t.drawn = t.revision, nil
	t.given = slices.DeleteFunc(t.given, func(p *place) bool {
		if p.live != nil {
			t.drawn = append(t.drawn, p)
			return false
		}
		p.given, p.drawing = false, nil
		return true
	})
}

// open reads the conversation, unless it was read.
func (t *Transcript) open(ctx context.Context) error {
	if t.tree != nil {
		return nil
	}
	return t.load(ctx)
}

// load reads the outline again and notes what changed of it, as of the present
// revision. The caller holds mu, and made the revision.
func (t *Transcript) load(ctx context.Context) error {
	o, err := t.o.Store.Outline(ctx, t.o.Conversation)
	if err != nil {
		return err
	}
	t.chatRev = t.revision
	t.adopt(ctx, o)
	return nil
}

// grow adds a message that was written behind the end of the path, as the store has it
// now, and reports whether that is where it was written. The caller holds mu, and made
// the revision.
func (t *Transcript) grow(ctx context.Context, n chat.OutlineItem) bool {
	o := t.tree.Outline
	if len(o.Path) == 0 || o.Path[len(o.Path)-1] != n.Parent || o.Items[len(o.Items)-1].Seq >= n.Seq {
		return false
	}
	o.Items, o.Path, o.Conversation.Head = append(o.Items, n), append(o.Path, n.Seq), n.Seq
	t.adopt(ctx, o)
	return true
}

// adopt takes in an outline that differs from the one before as of the present
// revision.
func (t *Transcript) adopt(ctx context.Context, o chat.Outline) {
	t.tree = newTree(o)
	folded := Fold(o)
	path := make([]*place, len(folded))
	var grown []*place
	for i, f := range folded {
		p := t.at(f.Seq)
		if p.given && !slices.Equal(p.Messages, f.Messages) {
			grown = append(grown, p)
		}
		p.Folded, path[i] = f, p
	}
	from := 0
	for from < len(path) && from < len(t.path) && path[from] == t.path[from] {
		from++
	}
	if from < len(path) || from < len(t.path) {
		t.reshape(from)
	}
	for _, p := range t.path {
		p.onPath = false
	}
	for _, p := range path {
		p.onPath = true
		if p.given && t.learn(p) {
			p.rev = t.revision
		}
	}
	t.path = path
	for _, p := range grown {
		t.redraw(ctx, p)
	}
}

func (t *Transcript) reshape(from int) {
	t.shapes = append(t.shapes, shape{t.revision, from})
	if len(t.shapes) > keptShapes { // windows pull often; an older one starts again
		t.floor = t.shapes[keptShapes/2].revision
		t.shapes = slices.Clone(t.shapes[keptShapes/2:])
	}
}

// at returns the place of an entry, a new one if need be.
func (t *Transcript) at(seq chat.MessageSeq) *place {
	p := t.places[seq]
	if p == nil {
		p = &place{}
		t.places[seq] = p
	}
	return p
}

// learn takes in what the outline tells of an entry, and reports whether it is
// news.
func (t *Transcript) learn(p *place) bool {
	n, _ := t.tree.Item(p.Seq)
	siblings, behind := t.tree.siblings(p.Seq), 0
	if n := len(siblings); n > 0 {
		other := siblings[n-1]
		if other == uint64(p.Seq) {
			other = siblings[n-2]
		}
		behind = t.tree.behind(chat.MessageSeq(other))
	}
	if n.Hidden == p.hidden && behind == p.behind && slices.Equal(siblings, p.siblings) {
		return false
	}
	p.hidden, p.behind, p.siblings = n.Hidden, behind, siblings
	return true
}

// drawNow sees to it that an entry is drawn as it is now.
func (t *Transcript) drawNow(ctx context.Context, p *place) error {
	if p.drawing != nil {
		p.drawing.render(t.revision)
		return nil
	}
	drawing, err := t.read(ctx, p)
	if err != nil {
		return err
	}
	if !p.given {
		t.learn(p)
	}
	t.keep(p, drawing)
	return nil
}

// read draws an entry from the store.
func (t *Transcript) read(ctx context.Context, p *place) (*drawing, error) {
	messages, err := t.o.Store.Messages(ctx, t.o.Conversation, p.Messages)
	if err != nil {
		return nil, err
	}
	return t.draw(ctx, p.Folded, messages), nil
}

// keep gives an entry its drawing, and forgets the oldest when there are too many.
func (t *Transcript) keep(p *place, d *drawing) {
	p.drawing = d
	t.drawn = append(t.drawn, p)
	if !p.given {
		p.given = true
		t.given = append(t.given, p)
	}
	for i := 0; len(t.drawn) > keptEntries && t.drawn[i] != p; {
		if t.drawn[i].live != nil {
			i++
			continue
		}
		t.forget(t.drawn[i])
	}
}

// forget lets go of a drawing. A page that has not pulled its last change gets the
// entry whole.
func (t *Transcript) forget(p *place) {
	p.drawing, p.whole = nil, p.rev
	t.drawn = slices.DeleteFunc(t.drawn, func(other *place) bool { return other == p })
}

// redraw draws an entry again whose messages changed, when a page may hold it. What
// a live turn writes it draws itself.
func (t *Transcript) redraw(ctx context.Context, p *place) {
	if !p.given || p.live != nil {
		return
	}
	if p.drawing != nil {
		fresh, err := t.read(ctx, p)
		if err == nil {
			if fresh.follow(p.drawing, t.revision) {
				p.rev = t.revision
			}
			p.drawing = fresh
			return
		}
		t.o.Log.Error("a message could not be drawn again",
			"conversation", t.o.Conversation, "message", p.Seq, "err", err)
	}
	p.rev = t.revision
	t.forget(p) // the next pull reads it again, or gets the error
}

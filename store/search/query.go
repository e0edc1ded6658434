package search

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"conclave/app/base/fault"
	"conclave/app/chat"
)

// Query is a search.
type Query struct {
	// Text holds words that must all stand in a message or a title; the last one
	// may be the beginning of a word, as somebody types. "Words in quotation
	// marks" must stand together.
	Text string

	Conversation chat.ConversationID // only in this one
	Role         chat.Role           // only what this one said; leaves titles out
	Since, Until time.Time           // only what was written at or after, and before
	Limit        int                 // at most so many; 0 means 50
	Offset       int
	// Bare leaves out of the hits what has to be read from the store: title, role,
	// time and snippet. Show adds them to those that are looked at.
	Bare bool
}

// Hit is one message, or with Seq 0 the title of a conversation, that was found.
type Hit struct {
	Conversation chat.ConversationID `json:"conversation"`
	Seq          chat.MessageSeq     `json:"seq"`
	Title        string              `json:"title"` // of the conversation
	Role         chat.Role           `json:"role"`  // empty for a title
	Created      time.Time           `json:"created"`
	Snippet      string              `json:"snippet"` // the text around the first word found, on one line
	Marks        [][2]int            `json:"marks"`   // where the words are in Snippet: byte offsets, from and to
	Score        float64             `json:"score"`
}

// Result holds what a query found.
type Result struct {
	Hits     []Hit    // best first
	Total    int      // how many there are in the index
	Progress Progress // what part of the store the answer is from
}

// Query finds what was said, best first. It opens the index when that has not
// been done, waits for it to catch up with the store no longer than
// Options.Patience, and answers from what is there; Progress says whether that is
// all, and the catching up goes on. The kind is Unavailable when the index cannot
// be made.
func (x *Index) Query(ctx context.Context, q Query) (Result, error) {
	result := Result{Hits: []Hit{}}
	if err := x.current(ctx); err != nil {
		return result, err
	}
	limit := q.Limit
	if limit <= 0 {
		limit = 50
	}
	w := compile(q.Text)
	found, err := x.find(ctx, q, w, q.Offset+limit, &result)
	for _, f := range found[min(q.Offset, len(found)):] {
		hit, ok := Hit{Conversation: f.id, Seq: f.seq}, true
		if !q.Bare && err == nil {
			hit, ok, err = x.hit(ctx, f.id, f.seq, w)
		}
		if ok {
			hit.Score = f.score
			result.Hits = append(result.Hits, hit)
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.restLater(ctx)
	switch {
	case err == nil:
		return result, nil
	case errors.Is(err, errBroken):
		x.scrap()
		return result, fault.Wrap(fault.Damaged, "search.query", "The search index is damaged and will be rebuilt.",
			"Search again.", err)
	case ctx.Err() != nil:
		return result, fmt.Errorf("search: %w", context.Cause(ctx))
	}
	return result, fmt.Errorf("search: %w", err)
}

// Show adds to hits of a Bare query with the same text what is read from the
// store. A hit that is gone meanwhile keeps an empty snippet.
func (x *Index) Show(ctx context.Context, text string, hits []Hit) error {
	defer func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.restLater(ctx)
	}()
	w := compile(text)
	for i := range hits {
		shown, ok, err := x.hit(ctx, hits[i].Conversation, hits[i].Seq, w)
		if err != nil {
			return fmt.Errorf("search: %w", err)
		}
		if ok {
			shown.Score = hits[i].Score
			hits[i] = shown
		}
	}
	return nil
}

// current opens the index and has it catch up as far as patience allows.
func (x *Index) current(ctx context.Context) error {
	x.mu.Lock()
	err := x.ready(ctx)
	var done <-chan struct{}
	if err == nil {
		x.restLater(ctx)
		done, err = x.follow(ctx)
	}
	x.mu.Unlock()
	if err != nil || done == nil {
		return err
	}
	patience := time.NewTimer(x.o.Patience)
	defer patience.Stop()
	select {
	case <-done:
	case <-patience.C:
	case <-ctx.Done():
		return fmt.Errorf("search: %w", context.Cause(ctx))
	}
	return nil
}

// leastPrefix is from how many letters on a last word finds longer ones: one
// letter finds nearly everything.
const leastPrefix = 2

// wanted is a compiled query: pieces that must all stand in a text.
type wanted struct {
	pieces []piece         // each is words that stand together, between spaces; the last may be a beginning
	terms  map[string]bool // folded words that are marked
	prefix string          // folded beginning of words that are marked, or empty
}

// marks reports whether a folded word is one that was looked for.
func (w *wanted) marks(term string) bool {
	return w.terms[term] || w.prefix != "" && strings.HasPrefix(term, w.prefix)
}

// compile reads the text of a query.
func compile(text string) *wanted {
	w := &wanted{terms: map[string]bool{}}
	quoted := strings.Split(text, `"`)
	for i, part := range quoted {
		var terms []string
		for t := range wordsOf(part) {
			terms = append(terms, t.folded)
			w.terms[t.folded] = true
		}
		if i%2 == 1 && len(terms) > 0 { // between quotation marks; an open one ends at the end
			w.pieces = append(w.pieces, piece{text: []byte(" " + strings.Join(terms, " ") + " ")})
			continue
		}
		for j, t := range terms {
			last := i == len(quoted)-1 && j == len(terms)-1 && !strings.HasSuffix(part, " ")
			if last && utf8.RuneCountInString(t) >= leastPrefix {
				w.pieces, w.prefix = append(w.pieces, piece{text: []byte(" " + t)}), t
			} else {
				w.pieces = append(w.pieces, piece{text: []byte(" " + t + " ")})
			}
		}
	}
	slices.SortFunc(w.pieces, func(a, b piece) int { return cmp.Compare(len(b.text), len(a.text)) }) // the rarest first
	return w
}

// piece is a part of a query that must stand in a folded text. It is found by its rarest byte.
type piece struct {
	text []byte
	rare int // the place of that byte
}

// aim finds the rarest byte of each piece, by a sample of the texts.
func (w *wanted) aim(sample []byte) {
	var often [256]int
	for _, c := range sample {
		often[c]++
	}
	for i, p := range w.pieces {
		for at, c := range p.text {
			if often[c] < often[p.text[w.pieces[i].rare]] {
				w.pieces[i].rare = at
			}
		}
	}
}

// index returns where a piece stands first in a text, -1 if it does not.
func (p piece) index(text []byte) int {
	for from := p.rare; from < len(text); {
		at := bytes.IndexByte(text[from:], p.text[p.rare])
		if at < 0 {
			break
		}
		if from += at; bytes.HasPrefix(text[from-p.rare:], p.text) {
			return from - p.rare
		}
		from++
	}
	return -1
}

// enough bounds how often a piece is counted in a text. Counting on changes the order little.
const enough = 4

// count returns how often a piece stands in a text, at most enough times. The beginning of a word counts
// once more where it is the whole word, which is likelier what was meant.
func (p piece) count(text []byte) (n int) {
	for n < enough {
		at := p.index(text)
		if at < 0 {
			break
		}
		n++
		text = text[at+len(p.text)-1:] // two pieces may share a space
		if text[0] != ' ' && bytes.HasPrefix(text[1:], []byte(" ")) {
			n++
		}
	}
	return n
}

// score returns how well a text answers, 0 where something is missing in it.
func (w *wanted) score(f *file, e entry) (score float64) {
	for _, p := range w.pieces {
		n := p.count(e.text)
		if n == 0 {
			return 0
		}
		score += f.worth(n, e.words)
	}
	return score
}

// found is an entry that was found.
type found struct {
	score   float64
	created int64
	id      chat.ConversationID
	seq     chat.MessageSeq
}

// better orders what was found: the best first, of equals the newest.
func better(a, b found) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.created, a.created), cmp.Compare(a.id, b.id),
		cmp.Compare(a.seq, b.seq))
}

// find returns the best of what a query finds, and notes in result how many there are, and from what
// part of the store.
func (x *Index) find(ctx context.Context, q Query, w *wanted, most int, result *Result) ([]found, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	result.Progress = x.progress
	if x.file == nil || len(w.terms) == 0 {
		return nil, nil
	}
	f := x.file
	if len(f.frames) > 0 {
		sample, err := f.read(f.frames[0], nil)
		if err != nil {
			return nil, err
		}
		w.aim(sample[:min(len(sample), 16<<10)])
	}
	var next, total atomic.Int64
	var mu sync.Mutex
	var best []found
	var failed error
	var all sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(f.frames)) {
		all.Go(func() {
			var own []found
			var buf []byte
			least := 0.0 // the score of the last of the best
			var err error
			for i := int(next.Add(1)) - 1; i < len(f.frames) && err == nil; i = int(next.Add(1)) - 1 {
				if err = context.Cause(ctx); err != nil {
					break
				}
				if buf, err = f.read(f.frames[i], buf); err != nil {
					break
				}
				err = eachEntry(buf, func(place int, e entry) {
					if !q.admits(e) {
						return
					}
					score := w.score(f, e)
					if score == 0 || !f.stands(f.frames[i].at+int64(place), e) {
						return
					}
					total.Add(1)
					if score < least {
						return
					}
					own = append(own, found{score, e.created, chat.ConversationID(e.id), e.seq})
					if len(own) >= 2*most+1000 {
						slices.SortFunc(own, better)
						own = own[:most]
						least = own[most-1].score
					}
				})
			}
			mu.Lock()
			defer mu.Unlock()
			best, failed = append(best, own...), cmp.Or(failed, err)
		})
	}
	all.Wait()
	slices.SortFunc(best, better)
	result.Total = int(total.Load())
	return best[:min(most, len(best))], failed
}

// admits reports whether an entry passes the filters of a query.
func (q *Query) admits(e entry) bool {
	return (q.Conversation == "" || string(q.Conversation) == string(e.id)) &&
		(q.Role == "" || q.Role == roles[e.role]) &&
		(q.Since.IsZero() || e.created >= q.Since.Unix()) && (q.Until.IsZero() || e.created < q.Until.Unix())
}

// hit reads what was found from the store. ok is false when it is gone.
func (x *Index) hit(ctx context.Context, id chat.ConversationID, seq chat.MessageSeq, w *wanted) (
	hit Hit, ok bool, err error,
) {
	c, err := x.o.Source.Conversation(ctx, id)
	if err != nil {
		return hit, false, unlessGone(err)
	}
	hit = Hit{Conversation: id, Seq: seq, Title: c.Title, Created: c.Created}
	text := c.Title
	if seq != 0 {
		m, err := x.o.Source.Message(ctx, id, seq)
		if err != nil {
			return hit, false, unlessGone(err)
		}
		text, hit.Role, hit.Created = textOf(m), m.Role, m.Created
	}
	hit.Snippet, hit.Marks = snippet(text, w)
	return hit, true, nil
}

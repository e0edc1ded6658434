package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"conclave/app/base/fault"
	"conclave/app/chat"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search/query"
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
	index, words, err := x.current(ctx)
	if err != nil {
		return result, err
	}
	err = safely(func() error {
		wanted, err := compile(q, index, words)
		if err != nil || wanted == nil {
			return err
		}
		limit := q.Limit
		if limit <= 0 {
			limit = 50
		}
		found, err := index.SearchInContext(ctx, bleve.NewSearchRequestOptions(wanted.query, limit, q.Offset, false))
		if err != nil {
			return err
		}
		result.Total = int(found.Total)
		for _, match := range found.Hits {
			var hit Hit
			ok := true
			if q.Bare {
				hit.Conversation, hit.Seq, err = parseDocID(match.ID)
			} else {
				hit, ok, err = x.hit(ctx, match.ID, wanted)
			}
			if err != nil {
				return err
			}
			if ok {
				hit.Score = match.Score
				result.Hits = append(result.Hits, hit)
			}
		}
		return nil
	})
	x.mu.Lock()
	defer x.mu.Unlock()
	x.restLater(ctx)
	result.Progress = x.progress
	switch {
	case err == nil:
		return result, nil
	case errors.Is(err, errBroken):
		x.scrap()
		return result, fault.Wrap(fault.Damaged, "search.query", "The search index is damaged and will be rebuilt.",
			"Search again.", err)
	case errors.Is(err, bleve.ErrorIndexClosed):
		return result, fault.Wrap(fault.Unavailable, "search.query", "The search was closed meanwhile.", "Search again.", err)
	case ctx.Err() != nil:
		return result, fmt.Errorf("search: %w", context.Cause(ctx))
	}
	return result, fmt.Errorf("search: %w", err)
}

// Show adds to hits of a Bare query with the same text what is read from the
// store. A hit that is gone meanwhile keeps an empty snippet.
func (x *Index) Show(ctx context.Context, text string, hits []Hit) error {
	x.mu.Lock()
	words := x.words
	x.mu.Unlock()
	if words == nil {
		return nil // nothing was found without an index
	}
	defer func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.restLater(ctx)
	}()
	wanted, err := compile(Query{Text: text}, nil, words)
	if err != nil || wanted == nil {
		return err
	}
	for i := range hits {
		shown, ok, err := x.hit(ctx, docID(hits[i].Conversation, hits[i].Seq), wanted)
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

// current returns the open index, caught up as far as patience allows.
func (x *Index) current(ctx context.Context) (bleve.Index, *mapping.IndexMappingImpl, error) {
	x.mu.Lock()
	err := safely(func() error { return x.ready(ctx) })
	var done <-chan struct{}
	if err == nil {
		x.restLater(ctx)
		done, err = x.follow(ctx)
	}
	index, words := x.index, x.words
	x.mu.Unlock()
	if err != nil {
		return nil, nil, err
	}
	if done != nil {
		patience := time.NewTimer(x.o.Patience)
		defer patience.Stop()
		select {
		case <-done:
		case <-patience.C:
		case <-ctx.Done():
			return nil, nil, fmt.Errorf("search: %w", context.Cause(ctx))
		}
	}
	return index, words, nil
}

// wanted is a compiled query.
type wanted struct {
	query  query.Query
	words  *mapping.IndexMappingImpl // what a word is
	terms  map[string]bool           // folded words that are marked
	prefix string                    // folded beginning of words that are marked, or empty
}

// marks reports whether a folded word is one that was looked for.
func (w *wanted) marks(term string) bool {
	return w.terms[term] || w.prefix != "" && strings.HasPrefix(term, w.prefix)
}

const (
	// leastPrefix is the length from which a last word finds longer ones: one
	// letter finds nearly everything.
	leastPrefix = 2
	// maxLonger bounds the longer words that a last word finds, the most frequent
	// ones: each costs time, and another letter brings the others.
	maxLonger = 20
	// maxLongerIn is in how many messages they may be, taken together: no further
	// word is looked for once it is reached. That many cost some 10 ms, and who
	// typed what so many words begin with types on.
	maxLongerIn = 60_000
)

// beginningWith returns queries for the words that begin with prefix and are
// longer.
func beginningWith(index bleve.Index, prefix string) ([]query.Query, error) {
	dict, err := index.FieldDictPrefix(fieldText, []byte(prefix))
	if err != nil {
		return nil, err
	}
	type word struct {
		term  string
		count uint64
	}
	var words []word
	for {
		entry, err := dict.Next()
		if err != nil {
			return nil, errors.Join(err, dict.Close())
		}
		if entry == nil {
			break
		}
		if entry.Term != prefix {
			words = append(words, word{entry.Term, entry.Count})
		}
	}
	slices.SortStableFunc(words, func(a, b word) int { return cmp.Compare(b.count, a.count) })
	var longer []query.Query
	in := uint64(0)
	for _, w := range words[:min(len(words), maxLonger)] {
		if in >= maxLongerIn {
			break
		}
		in += w.count
		q := bleve.NewTermQuery(w.term)
		q.SetField(fieldText)
		longer = append(longer, q)
	}
	return longer, dict.Close()
}

// compile makes bleve's query of q. It returns nil when there is no word in it.
// Without an index it serves only to mark words.
func compile(q Query, index bleve.Index, words *mapping.IndexMappingImpl) (*wanted, error) {
	w := &wanted{words: words, terms: map[string]bool{}}
	var all []query.Query
	pieces := strings.Split(q.Text, `"`)
	for i, piece := range pieces {
		terms, err := termsOf(piece, words)
		if err != nil {
			return nil, err
		}
		if len(terms) == 0 {
			continue
		}
		for _, t := range terms {
			w.terms[t] = true
		}
		if i%2 == 1 { // between quotation marks; an open one ends at the end
			all = append(all, phraseQuery(terms))
			continue
		}
		for j, t := range terms {
			exact := bleve.NewTermQuery(t)
			exact.SetField(fieldText)
			last := i == len(pieces)-1 && j == len(terms)-1 && !strings.HasSuffix(piece, " ")
			if !last || utf8.RuneCountInString(t) < leastPrefix {
				all = append(all, exact)
				continue
			}
			w.prefix = t
			if index == nil {
				continue
			}
			longer, err := beginningWith(index, t)
			if err != nil {
				return nil, err
			}
			exact.SetBoost(2) // the whole word is likelier what was meant
			all = append(all, bleve.NewDisjunctionQuery(append(longer, exact)...))
		}
	}
	if index == nil && len(w.terms) > 0 {
		return w, nil
	}
	if len(all) == 0 {
		return nil, nil //nolint:nilnil // nothing was asked for
	}
	for field, value := range map[string]string{fieldConversation: string(q.Conversation), fieldRole: string(q.Role)} {
		if value != "" {
			term := bleve.NewTermQuery(value)
			term.SetField(field)
			all = append(all, term)
		}
	}
	if !q.Since.IsZero() || !q.Until.IsZero() {
		var from, to *float64
		if !q.Since.IsZero() {
			s := float64(q.Since.Unix())
			from = &s
		}
		if !q.Until.IsZero() {
			u := float64(q.Until.Unix())
			to = &u
		}
		between := bleve.NewNumericRangeQuery(from, to)
		between.SetField(fieldCreated)
		all = append(all, between)
	}
	w.query = bleve.NewConjunctionQuery(all...)
	return w, nil
}

// termsOf returns the folded words of text.
func termsOf(text string, words *mapping.IndexMappingImpl) ([]string, error) {
	tokens, err := words.AnalyzeText(wordsName, []byte(text))
	if err != nil {
		return nil, err
	}
	terms := make([]string, len(tokens))
	for i, t := range tokens {
		terms[i] = string(t.Term)
	}
	return terms, nil
}

// hit reads what was found from the store. ok is false when it is gone.
func (x *Index) hit(ctx context.Context, doc string, w *wanted) (hit Hit, ok bool, err error) {
	hit.Conversation, hit.Seq, err = parseDocID(doc)
	if err != nil {
		return hit, false, err
	}
	c, err := x.o.Source.Conversation(ctx, hit.Conversation)
	if err != nil {
		return hit, false, unlessGone(err)
	}
	hit.Title, hit.Created = c.Title, c.Created
	text := c.Title
	if hit.Seq != 0 {
		m, err := x.o.Source.Message(ctx, hit.Conversation, hit.Seq)
		if err != nil {
			return hit, false, unlessGone(err)
		}
		text, hit.Role, hit.Created = textOf(m), m.Role, m.Created
	}
	hit.Snippet, hit.Marks, err = snippet(text, w)
	return hit, true, err
}

func unlessGone(err error) error {
	if isGone(err) {
		return nil
	}
	return err
}

// The size of a snippet, in bytes: about two lines in the list of results, the
// word found in the first.
const (
	snippetBefore = 60
	snippetSize   = 220
)

// snippetWindow is the size of the text around the first possible place of a word that is
// searched before the whole text, in bytes.
const snippetWindow = 1 << 10

// snippet returns the text around the first word that was looked for, on one
// line, and where such words are in it.
func snippet(text string, w *wanted) (string, [][2]int, error) {
	if from, to, ok := nearby(text, w); ok {
		line, marks, err := snippetOf(text[from:to], w)
		if err != nil || len(marks) > 0 {
			return line, marks, err
		}
	}
	return snippetOf(text, w)
}

// nearby returns a part of a long text that begins and ends between words and
// holds the first place where a word that was looked for stands as it was typed,
// in any case. ok is false when the text is short, or there is no such place.
func nearby(text string, w *wanted) (from, to int, ok bool) {
	if len(text) <= 2*snippetWindow {
		return 0, 0, false
	}
	first := -1
	lower := strings.ToLower(text)
	if len(lower) != len(text) {
		return 0, 0, false
	}
	for term := range w.terms {
		if at := strings.Index(lower, term); at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	if first < 0 {
		return 0, 0, false
	}
	from, to = max(0, first-snippetWindow), min(len(text), first+snippetWindow)
	if from > 0 {
		space := strings.IndexByte(text[from:first], ' ')
		if space < 0 {
			return 0, 0, false
		}
		from += space + 1
	}
	if to < len(text) {
		space := strings.LastIndexByte(text[first:to], ' ')
		if space < 0 {
			return 0, 0, false
		}
		to = first + space
	}
	return from, to, true
}

// snippetOf is snippet by the words of the whole text.
func snippetOf(text string, w *wanted) (string, [][2]int, error) {
	tokens, err := w.words.AnalyzeText(wordsName, []byte(text))
	if err != nil {
		return "", nil, err
	}
	first := -1
	for i, t := range tokens {
		if w.marks(string(t.Term)) {
			first = i
			break
		}
	}
	from, to := 0, min(len(text), snippetSize)
	if first >= 0 && tokens[first].End > snippetSize-snippetBefore {
		// From a word's beginning, so that no word is cut.
		i := first
		for i > 0 && tokens[i-1].Start > tokens[first].Start-snippetBefore {
			i--
		}
		from = tokens[i].Start
		to = min(len(text), max(from+snippetSize, tokens[first].End))
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	marks := [][2]int{}
	for i := max(first, 0); i < len(tokens) && tokens[i].End <= to; i++ {
		if t := tokens[i]; t.Start >= from && w.marks(string(t.Term)) {
			marks = append(marks, [2]int{t.Start - from, t.End - from})
		}
	}
	oneLine := []byte(text[from:to])
	for i, c := range oneLine {
		if c < ' ' {
			oneLine[i] = ' '
		}
	}
	return string(oneLine), marks, nil
}

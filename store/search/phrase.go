package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search"
	"github.com/blevesearch/bleve/v2/search/query"
	"github.com/blevesearch/bleve/v2/search/searcher"
	index "github.com/blevesearch/bleve_index_api"
)

// phraseQuery finds words that stand one after the other in the text. bleve's own
// collects and scores all places of all words of a message before it compares
// them, which makes it slow exactly where both words are frequent; this one
// compares positions first, and has bleve score those messages that hold the
// phrase.
type phraseQuery []string

// Searcher implements query.Query.
func (q phraseQuery) Searcher(ctx context.Context, reader index.IndexReader, m mapping.IndexMapping,
	o search.SearcherOptions,
) (search.Searcher, error) {
	terms := make([]query.Query, len(q))
	for i, t := range q {
		term := query.NewTermQuery(t)
		term.SetField(fieldText)
		terms[i] = term
	}
	scored, err := query.NewConjunctionQuery(terms).Searcher(ctx, reader, m, o)
	if err != nil {
		return nil, err
	}
	if _, none := scored.(*searcher.MatchNoneSearcher); none || len(q) == 1 {
		return scored, nil
	}
	p := &phraseSearcher{Searcher: scored}
	for i, t := range q {
		places, err := reader.TermFieldReader(ctx, []byte(t), fieldText, true, true, true)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("read where %q stands: %w", t, err), p.Close())
		}
		p.words = append(p.words, &phraseWord{TermFieldReader: places, offset: i})
	}
	// The rarest word leads, so that the others skip what it is not in.
	slices.SortStableFunc(p.words, func(a, b *phraseWord) int { return cmp.Compare(a.Count(), b.Count()) })
	return p, nil
}

// phraseWord is one word of a phrase, at the next message that has it.
type phraseWord struct {
	index.TermFieldReader
	offset int                 // its place in the phrase
	at     *index.TermFieldDoc // nil before the first message and after the last
	doc    index.TermFieldDoc  // reused for at
}

// next goes to the next message, or with an ID to the first that is not before it.
func (w *phraseWord) next(id index.IndexInternalID) (err error) {
	w.doc.Reset()
	if id == nil {
		w.at, err = w.Next(&w.doc)
	} else {
		w.at, err = w.Advance(id, &w.doc)
	}
	return err
}

// phraseSearcher finds the messages of a phrase. What it embeds finds those that
// have all of its words, and scores them.
type phraseSearcher struct {
	search.Searcher
	words []*phraseWord // the rarest first
}

// Next implements search.Searcher.
func (p *phraseSearcher) Next(ctx *search.SearchContext) (*search.DocumentMatch, error) {
	return p.from(ctx, nil)
}

// Advance implements search.Searcher.
func (p *phraseSearcher) Advance(ctx *search.SearchContext, id index.IndexInternalID) (*search.DocumentMatch, error) {
	return p.from(ctx, id)
}

// from returns the next message that holds the phrase, or with an ID the first
// that is not before it.
func (p *phraseSearcher) from(ctx *search.SearchContext, id index.IndexInternalID) (*search.DocumentMatch, error) {
	lead := p.words[0]
	for {
		if err := lead.next(id); err != nil || lead.at == nil {
			return nil, err
		}
		id = nil
		for _, w := range p.words[1:] {
			if w.at == nil || w.at.ID.Compare(lead.at.ID) < 0 {
				if err := w.next(lead.at.ID); err != nil || w.at == nil {
					return nil, err
				}
			}
			if w.at.ID.Compare(lead.at.ID) > 0 {
				id = slices.Clone(w.at.ID)
				break
			}
		}
		if id == nil && p.together() {
			return p.Searcher.Advance(ctx, lead.at.ID)
		}
	}
}

// together reports whether the words, all at one message, stand there as in the
// phrase.
func (p *phraseSearcher) together() bool {
	lead := p.words[0]
	return slices.ContainsFunc(lead.at.Vectors, func(v *index.TermFieldVector) bool {
		return !slices.ContainsFunc(p.words[1:], func(w *phraseWord) bool {
			return !w.stands(int(v.Pos) - lead.offset + w.offset)
		})
	})
}

// stands reports whether the word is the text's word at place.
func (w *phraseWord) stands(place int) bool {
	_, found := slices.BinarySearchFunc(w.at.Vectors, place, func(v *index.TermFieldVector, place int) int {
		return cmp.Compare(int(v.Pos), place)
	})
	return found
}

// Count implements search.Searcher.
func (p *phraseSearcher) Count() uint64 { return p.words[0].Count() }

// Close implements search.Searcher.
func (p *phraseSearcher) Close() error {
	errs := []error{p.Searcher.Close()}
	for _, w := range p.words {
		errs = append(errs, w.Close())
	}
	return errors.Join(errs...)
}

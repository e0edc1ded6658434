package search

import (
	"context"
	"errors"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
)

// restLater has memory given back once no query came for a while, and is called whenever
// some was taken: at the end of a query, which may take longer than that. x.mu is held.
func (x *Index) restLater(ctx context.Context) {
	if x.closed {
		return
	}
	if x.resting != nil {
		x.resting.Stop()
	}
	// It is over before Close is: both hold x.mu.
	x.resting = time.AfterFunc(x.o.Rest, func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.index != nil {
			x.giveBack(context.WithoutCancel(ctx), x.index)
		}
	})
}

// giveBack lets go of the memory that reading the index and the store took. index
// is not closed meanwhile.
func (x *Index) giveBack(ctx context.Context, index bleve.Index) {
	if err := safely(func() error { return unmapSegments(index) }); err != nil {
		x.o.Log.Debug("Memory of the search index could not be given back.", "err", err)
	}
	x.o.Source.GiveBack(ctx)
}

// unmapSegments unmaps the index's files as far as they are mapped.
func unmapSegments(index bleve.Index) error {
	inner, err := index.Advanced()
	if err != nil {
		return err
	}
	reader, err := inner.Reader()
	if err != nil {
		return err
	}
	snapshot, ok := reader.(*scorch.IndexSnapshot)
	if !ok || snapshot == nil {
		return nil
	}
	var errs []error
	for _, s := range snapshot.Segments() { // they stay mapped until the snapshot is closed
		if file, ok := s.Segment().(interface{ Data() []byte }); ok {
			errs = append(errs, unmap(file.Data()))
		}
	}
	return errors.Join(append(errs, snapshot.Close())...)
}

// Package search is the full-text index over what was said: every message and
// every title, ranked, with the words marked. Its file, in the folder search/ next to
// the store, has the words of each message, and a query reads through all of it: some
// hundred bytes a message, at the speed of memory (ADR 36). It holds only what the
// store has: it can be removed at any time and is made again from the store's
// change log.
//
// An [Index] is opened by its first [Index.Query] and brought up to date by it,
// so a program that never searches pays nothing.
//
// Read [Index], [Query] and [Hit] first. What a word is, is decided in words.go.
package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
)

// Source has the messages and titles that are indexed; store.Store is the real one.
type Source interface {
	// Lineage names the history that Changes tells; an index of another is void.
	Lineage(ctx context.Context) (string, error)
	// LastChange returns the counter of the last change.
	LastChange(ctx context.Context) (uint64, error)
	// Changes passes what changed after a counter, oldest first and at most limit
	// rows, each with its counter, and returns the counter of the last one. seq 0 is
	// the conversation.
	Changes(ctx context.Context, after uint64, limit int,
		fn func(n uint64, id chat.ConversationID, seq chat.MessageSeq) error) (uint64, error)
	// Conversation and Message read what is indexed; of the kind NotFound when it
	// is gone.
	Conversation(ctx context.Context, id chat.ConversationID) (chat.Conversation, error)
	Message(ctx context.Context, id chat.ConversationID, seq chat.MessageSeq) (chat.Message, error)
	// GiveBack lets go of the memory that reading took.
	GiveBack(ctx context.Context)
}

// Options say what to index and where.
type Options struct {
	// Dir is the data folder; the index is its folder "search".
	Dir    string
	Source Source
	// Log receives what the index coped with. nil discards it.
	Log *slog.Logger
	// Patience bounds the wait of a query for the index to catch up; then it
	// answers from what is there. 0 means 20 ms, within which a few new messages
	// are indexed; more of them are worth another answer (see OnProgress).
	Patience time.Duration
	// Rest is the time from the last query until the memory of searching is freed.
	// 0 means 10 s: longer than somebody thinks between two letters, shorter than
	// anybody watches a program's memory.
	Rest time.Duration
	// OnProgress is called while the index catches up, after each step and at the
	// end, on its goroutine: what was asked before may have another answer now. It
	// may be nil.
	OnProgress func()
}

// Index is the full-text index of one store. Its methods are safe for concurrent
// use. Close it before the store.
type Index struct {
	o    Options
	path string

	mu       sync.RWMutex // guards what follows; held for reading while a query reads the file
	file     *file
	lineage  string
	catching chan struct{} // closed when the catch-up under way ends; nil when none is
	stop     context.CancelCauseFunc
	resting  *time.Timer // runs out when memory is to be given back; nil before the first query
	progress Progress
	closed   bool
	wg       sync.WaitGroup
}

// Progress is the part of the store that is indexed.
type Progress struct {
	Done  uint64 // the change up to which it knows all
	Total uint64 // the last change there was
}

// Complete reports whether everything is indexed.
func (p Progress) Complete() bool { return p.Done >= p.Total }

// Percent returns how much is indexed, from 0 to 100.
func (p Progress) Percent() int {
	if p.Complete() {
		return 100
	}
	return int(p.Done * 100 / p.Total)
}

// New returns an index that is opened by its first query.
func New(o Options) *Index {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Patience == 0 {
		o.Patience = 20 * time.Millisecond
	}
	if o.Rest == 0 {
		o.Rest = 10 * time.Second
	}
	if o.OnProgress == nil {
		o.OnProgress = func() {}
	}
	return &Index{o: o, path: filepath.Join(o.Dir, "search", "words")}
}

// ready opens the index, making it again when there is none, when it cannot be
// opened, or when it follows another history. x.mu is held.
func (x *Index) ready(ctx context.Context) error {
	const op = "search.open"
	if x.closed {
		return fault.New(fault.Unavailable, op, "The search is closed: Conclave is quitting.", "Start Conclave again.")
	}
	if x.file != nil {
		return nil
	}
	lineage, err := x.o.Source.Lineage(ctx)
	if err != nil {
		return fmt.Errorf("open the search index: %w", err)
	}
	x.lineage = lineage
	x.file, err = openFile(x.path, lineage)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			x.o.Log.Info("The search index is rebuilt.", "why", err)
		}
		if x.file, err = createFile(x.path, lineage); err != nil {
			return fault.Wrap(fault.Unavailable, op, "The search index in "+filepath.Dir(x.path)+" cannot be made.",
				"Check that there is room and that you may write there. Nothing else is affected.", err)
		}
	}
	x.progress.Done = x.file.done
	return nil
}

// Close stops indexing and closes the index. It may be called twice.
func (x *Index) Close() error {
	x.mu.Lock()
	x.closed = true
	if x.resting != nil {
		x.resting.Stop()
	}
	if x.stop != nil {
		x.stop(errClosed)
	}
	x.mu.Unlock()
	x.wg.Wait()
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.drop()
}

var errClosed = errors.New("the search index is closed")

// drop closes the file; the next query opens it. x.mu is held.
func (x *Index) drop() error {
	if x.file == nil {
		return nil
	}
	err := x.file.Close()
	x.file, x.progress = nil, Progress{}
	return err
}

// scrap has the next query make the index again. x.mu is held.
func (x *Index) scrap() {
	if x.file == nil {
		return
	}
	if x.stop != nil {
		x.stop(errClosed)
		x.catching = nil
	}
	if err := errors.Join(x.file.Truncate(0), x.drop()); err != nil {
		x.o.Log.Warn("The broken search index could not be removed.", "err", err)
	}
}

// restLater has memory given back once no query came for a while, and is called whenever
// some was taken: at the end of a query, which may take longer than that. x.mu is held.
func (x *Index) restLater(ctx context.Context) {
	if x.closed {
		return
	}
	if x.resting != nil {
		x.resting.Stop()
	}
	x.resting = time.AfterFunc(x.o.Rest, func() {
		x.mu.RLock() // it is over before Close is
		defer x.mu.RUnlock()
		if x.file != nil {
			x.o.Source.GiveBack(context.WithoutCancel(ctx))
		}
	})
}

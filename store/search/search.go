// Package search is the full-text index over what was said: every message and
// every title, ranked, with the words marked. It is a bleve index in the folder
// search/ next to the store and holds only what the store has: it can be removed at
// any time and is made again from the store's change log.
//
// An [Index] is opened by its first [Index.Query] and brought up to date by it,
// so a program that never searches pays nothing at run time. Linking bleve does
// cost each start of a process some milliseconds (BenchmarkStart measures them),
// so this package is for the window; the command line has store.Find, which
// reads all messages and needs no index.
//
// Read [Index], [Query] and [Hit] first. What a word is, is decided in words.go.
package search

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	"github.com/blevesearch/bleve/v2/mapping"
)

// Source has the messages and titles that are indexed; store.Store is the real one.
type Source interface {
	// Lineage names the history that Changes tells; an index of another is void.
	Lineage(ctx context.Context) (string, error)
	// LastChange returns the counter of the last change.
	LastChange(ctx context.Context) (uint64, error)
	// Changes passes what changed after a counter, oldest first and at most limit
	// rows, and returns the counter of the last one. seq 0 is the conversation.
	Changes(ctx context.Context, after uint64, limit int,
		fn func(id chat.ConversationID, seq chat.MessageSeq) error) (uint64, error)
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

	mu       sync.Mutex // guards what follows
	index    bleve.Index
	words    *mapping.IndexMappingImpl
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
	return &Index{o: o, path: filepath.Join(o.Dir, "search")}
}

// The internal records of an index: which history it follows, up to where, and
// in which form.
var (
	keyLineage = []byte("lineage")
	keyDone    = []byte("done")
	keyForm    = []byte("form")
)

// form is the form of the index. A change of words.go or of what is indexed
// needs another, and has every index made again.
const form = "1"

// ready opens the index, making it again when there is none, when it cannot be
// opened, or when it follows another history. x.mu is held.
func (x *Index) ready(ctx context.Context) error {
	const op = "search.open"
	if x.closed {
		return fault.New(fault.Unavailable, op, "The search is closed: Conclave is quitting.", "Start Conclave again.")
	}
	if x.index != nil {
		return nil
	}
	lineage, err := x.o.Source.Lineage(ctx)
	if err != nil {
		return fmt.Errorf("open the search index: %w", err)
	}
	words, err := newMapping()
	if err != nil {
		return fmt.Errorf("describe the search index: %w", err)
	}
	config := map[string]any{
		// What was not yet on the disk is indexed again, so a batch need not wait.
		"unsafe_batch": true,
		// The store's lock keeps others out; should somebody hold the index all the
		// same, this says so instead of waiting for ever.
		"bolt_timeout": "2s",
	}
	index, err := bleve.OpenUsing(x.path, config)
	if err == nil && !follows(index, lineage) {
		err = errors.Join(errVoid, index.Close())
	}
	if err != nil {
		if !errors.Is(err, bleve.ErrorIndexPathDoesNotExist) {
			x.o.Log.Info("The search index is rebuilt.", "why", err)
		}
		if index, err = recreate(x.path, lineage, words, config); err != nil {
			return fault.Wrap(fault.Unavailable, op, "The search index in "+x.path+" cannot be made.",
				"Check that there is room and that you may write there. Nothing else is affected.", err)
		}
	}
	done, err := index.GetInternal(keyDone)
	if err != nil {
		return errors.Join(fmt.Errorf("open the search index: %w", err), index.Close())
	}
	if len(done) == 8 {
		x.progress.Done = binary.BigEndian.Uint64(done)
	}
	x.index, x.words = index, words
	return nil
}

// errVoid says that an index follows another history or has another form.
var errVoid = errors.New("it belongs to another store, or to another version of Conclave")

func follows(index bleve.Index, lineage string) bool {
	have, err := index.GetInternal(keyLineage)
	if err != nil || string(have) != lineage {
		return false
	}
	have, err = index.GetInternal(keyForm)
	return err == nil && string(have) == form
}

// recreate makes an empty index in place of whatever there is.
func recreate(path, lineage string, words *mapping.IndexMappingImpl, config map[string]any) (bleve.Index, error) {
	if err := os.RemoveAll(path); err != nil {
		return nil, err
	}
	index, err := bleve.NewUsing(path, words, scorch.Name, scorch.Name, config)
	if err != nil {
		return nil, err
	}
	// bleve makes its folder readable by all.
	err = errors.Join(os.Chmod(path, 0o700), index.SetInternal(keyLineage, []byte(lineage)),
		index.SetInternal(keyForm, []byte(form)))
	if err != nil {
		return nil, errors.Join(err, index.Close())
	}
	return index, nil
}

// Close stops indexing and closes the index. It may be called twice.
func (x *Index) Close() error {
	x.mu.Lock()
	x.closed = true
	if x.resting != nil {
		x.resting.Stop()
	}
	if x.stop != nil {
		x.stop(errClosing)
	}
	x.mu.Unlock()
	x.wg.Wait()
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.drop()
}

var errClosing = errors.New("the search is closing")

// drop closes bleve's index; the next query opens it. x.mu is held.
func (x *Index) drop() error {
	if x.index == nil {
		return nil
	}
	err := x.index.Close()
	x.index, x.progress = nil, Progress{}
	return err
}

// docID names the document of a message, or with seq 0 of a title.
func docID(id chat.ConversationID, seq chat.MessageSeq) string {
	return string(id) + "/" + strconv.FormatUint(uint64(seq), 10)
}

// parseDocID is the reverse of docID.
func parseDocID(doc string) (chat.ConversationID, chat.MessageSeq, error) {
	at := strings.LastIndexByte(doc, '/')
	if at < 0 {
		return "", 0, fmt.Errorf("the search index has a document %q", doc)
	}
	seq, err := strconv.ParseUint(doc[at+1:], 10, 64)
	return chat.ConversationID(doc[:at]), chat.MessageSeq(seq), err
}

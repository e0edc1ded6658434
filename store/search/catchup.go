package search

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"unicode/utf8"

	"conclave/app/base/fault"
	"conclave/app/chat"

	"github.com/blevesearch/bleve/v2"
)

const (
	// batchRows counts the changes that are indexed at once: enough that bleve's cost
	// for a batch does not count, few enough that progress is seen several times
	// a second and that little memory is used at a time.
	batchRows = 500
	// maxText bounds what is indexed of one message, in bytes. A longer one is a
	// file somebody pasted; its beginning finds it.
	maxText = 256 << 10
)

// follow starts catching up with the store unless that is under way, and returns
// a channel that is closed when it ends; nil when there is nothing to catch up
// with. x.mu is held and the index is open.
func (x *Index) follow(ctx context.Context) (<-chan struct{}, error) {
	last, err := x.o.Source.LastChange(ctx)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	x.progress.Total = max(last, x.progress.Total)
	if x.catching != nil || x.progress.Complete() {
		return x.catching, nil
	}
	done := make(chan struct{})
	x.catching = done
	// The work outlives the query that began it, and ends with Close.
	background, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	x.stop = stop
	index, from := x.index, x.progress.Done
	x.wg.Go(func() {
		err := safely(func() error { return x.catchUp(background, index, from) })
		if x.step(from) {
			debug.FreeOSMemory() // a large index was built, and what that took is not needed again
			x.o.OnProgress()
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		x.catching = nil
		close(done)
		if err != nil && !errors.Is(err, errClosing) {
			x.o.Log.Warn("The search index could not catch up with the store.", "err", err)
		}
		if errors.Is(err, errBroken) {
			x.scrap()
		}
	})
	return done, nil
}

// catchUp indexes what changed after from, in batches, until nothing is left.
func (x *Index) catchUp(ctx context.Context, index bleve.Index, from uint64) error {
	for {
		batch := index.NewBatch()
		var gone []chat.ConversationID
		n, err := x.o.Source.Changes(ctx, from, batchRows, func(id chat.ConversationID, seq chat.MessageSeq) error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			lost, err := x.add(ctx, batch, id, seq)
			if lost {
				gone = append(gone, id)
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("read what changed: %w", err)
		}
		if n == from {
			// Rows before the last change may have moved behind it meanwhile; the
			// next query sees them.
			x.advance(from, true)
			x.mu.Lock()
			defer x.mu.Unlock()
			x.restLater(ctx)
			return nil
		}
		for _, id := range gone {
			if err := forget(ctx, index, batch, id); err != nil {
				return err
			}
		}
		batch.SetInternal(keyDone, binary.BigEndian.AppendUint64(nil, n))
		if err := index.Batch(batch); err != nil {
			return fmt.Errorf("write the search index: %w", err)
		}
		from = n
		x.advance(n, false)
		x.giveBack(ctx, index)
		x.o.OnProgress()
	}
}

// step reports whether the index knows more than up to a change by more than one
// batch.
func (x *Index) step(from uint64) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.progress.Done > from+batchRows
}

func (x *Index) advance(done uint64, all bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.progress.Done = done
	x.progress.Total = max(x.progress.Total, done)
	if all {
		x.progress.Total = done
	}
}

// add puts one document, as it is now, into the batch. lost reports that its
// conversation is gone.
func (x *Index) add(ctx context.Context, batch *bleve.Batch, id chat.ConversationID,
	seq chat.MessageSeq,
) (lost bool, err error) {
	doc := docID(id, seq)
	fields := map[string]any{fieldConversation: string(id)}
	if seq == 0 {
		c, err := x.o.Source.Conversation(ctx, id)
		if isGone(err) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		fields[fieldText], fields[fieldRole], fields[fieldCreated] = c.Title, roleTitle, float64(c.Created.Unix())
		return false, batch.Index(doc, fields)
	}
	m, err := x.o.Source.Message(ctx, id, seq)
	if isGone(err) {
		batch.Delete(doc)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	fields[fieldText], fields[fieldRole], fields[fieldCreated] = textOf(m), string(m.Role), float64(m.Created.Unix())
	return false, batch.Index(doc, fields)
}

func isGone(err error) bool {
	var f *fault.Error
	return errors.As(err, &f) && f.Kind == fault.NotFound
}

// textOf returns what is searched of a message: its text and the text of tool
// results, not reasoning.
func textOf(m chat.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		switch {
		case p.Kind == chat.PartText:
			b.WriteString(p.Text)
		case p.Result != nil:
			b.WriteString(p.Result.Text())
		default:
			continue
		}
		b.WriteByte('\n')
	}
	text := strings.TrimSuffix(b.String(), "\n")
	if len(text) > maxText {
		end := maxText
		for !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end]
	}
	return text
}

// forget takes all documents of a conversation out of the index.
func forget(ctx context.Context, index bleve.Index, batch *bleve.Batch, id chat.ConversationID) error {
	q := bleve.NewTermQuery(string(id))
	q.SetField(fieldConversation)
	request := bleve.NewSearchRequestOptions(q, batchRows, 0, false)
	request.SortBy([]string{"_id"})
	for {
		found, err := index.SearchInContext(ctx, request)
		if err != nil {
			return fmt.Errorf("find what was said in a deleted chat: %w", err)
		}
		for _, hit := range found.Hits {
			batch.Delete(hit.ID)
		}
		if len(found.Hits) < batchRows {
			return nil
		}
		request.SetSearchAfter([]string{found.Hits[len(found.Hits)-1].ID})
	}
}

// errBroken marks an index whose files made bleve panic.
var errBroken = errors.New("the search index is broken")

// safely runs fn and turns a panic, which only damaged files should bring about,
// into errBroken.
func safely(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: %v", errBroken, r)
		}
	}()
	return fn()
}

// scrap has the next query make the index again. x.mu is held.
func (x *Index) scrap() {
	if x.index == nil {
		return
	}
	if err := x.index.SetInternal(keyForm, []byte("broken")); err != nil {
		x.o.Log.Warn("The broken search index could not be marked.", "err", err)
	}
	if err := x.drop(); err != nil {
		x.o.Log.Warn("The broken search index did not close cleanly.", "err", err)
	}
}

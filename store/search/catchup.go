package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"conclave/app/base/fault"
	"conclave/app/base/shorten"
	"conclave/app/chat"
)

const (
	// batchRows is the number of changes that are indexed at once: few enough that progress is
	// seen several times a second and that little memory is used at a time.
	batchRows = 1000
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
	from := x.progress.Done
	x.wg.Go(func() {
		err := x.catchUp(background, from)
		x.mu.Lock()
		several := x.progress.Done > from+batchRows
		x.mu.Unlock()
		if several {
			x.o.OnProgress()
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.catching == done { // else the index is made again
			x.catching = nil
		}
		close(done)
		if err != nil && !errors.Is(err, errClosed) {
			x.o.Log.Warn("The search index could not catch up with the store.", "err", err)
		}
		if errors.Is(err, errBroken) {
			x.scrap()
		}
	})
	return done, nil
}

// catchUp indexes what changed after from, in batches, until nothing is left.
func (x *Index) catchUp(ctx context.Context, from uint64) error {
	for {
		changes, err := x.changes(ctx, from)
		if err != nil {
			return fmt.Errorf("read what changed: %w", err)
		}
		if len(changes) == 0 {
			return x.caughtUp(ctx, from)
		}
		from = changes[len(changes)-1].n
		x.mu.Lock()
		if err = context.Cause(ctx); err == nil { // else the file is another, or none
			err = x.file.append(changes)
		}
		if err == nil {
			x.progress = Progress{from, max(x.progress.Total, from)}
		}
		x.mu.Unlock()
		if err != nil {
			return fmt.Errorf("write the search index: %w", err)
		}
		x.o.Source.GiveBack(ctx)
		x.o.OnProgress()
	}
}

// caughtUp ends a catch-up: rows before the last change may have moved behind it meanwhile; the
// next query sees them.
func (x *Index) caughtUp(ctx context.Context, done uint64) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if err := context.Cause(ctx); err != nil {
		return err
	}
	x.progress = Progress{done, done}
	x.restLater(ctx)
	if !x.file.stale() {
		return nil
	}
	if err := x.file.compact(x.path, x.lineage); err != nil {
		return fmt.Errorf("remove what is gone: %w", err)
	}
	return nil
}

// changes returns what the next changes after from are, read by as many goroutines as there are
// processors.
func (x *Index) changes(ctx context.Context, from uint64) ([]change, error) {
	var changes []change
	_, err := x.o.Source.Changes(ctx, from, batchRows, func(
		n uint64, id chat.ConversationID, seq chat.MessageSeq,
	) error {
		changes = append(changes, change{entry{id: []byte(id), seq: seq}, n})
		return nil
	})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var next atomic.Int64
	var all sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(changes) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := x.readEntry(ctx, &changes[i].entry); err != nil {
					stop(err)
				}
			}
		})
	}
	all.Wait()
	return changes, context.Cause(ctx)
}

// readEntry reads the message or the title that an entry is of, as it is now.
func (x *Index) readEntry(ctx context.Context, e *entry) error {
	id := chat.ConversationID(e.id)
	var text string
	if e.seq == 0 {
		c, err := x.o.Source.Conversation(ctx, id)
		if err != nil {
			e.role = roleGone
			return unlessGone(err)
		}
		text, e.role, e.created = shorten.Bytes(c.Title, maxText), roleTitle, c.Created.Unix()
	} else {
		m, err := x.o.Source.Message(ctx, id, e.seq)
		if err != nil {
			e.role = roleGone
			return unlessGone(err)
		}
		text, e.role, e.created = textOf(m), roleOf(m.Role), m.Created.Unix()
	}
	if len(e.id) > math.MaxUint16 { // no chat of ours: it is not searched
		e.id, e.role = e.id[:math.MaxUint16], roleGone
		return nil
	}
	e.text, e.words = foldText(make([]byte, 0, len(text)+len(text)/16+2), text)
	return nil
}

// roleOf returns the index of a role in roles.
func roleOf(r chat.Role) byte {
	for i, is := range roles[roleGone+1:] {
		if is == r {
			return byte(i + roleGone + 1)
		}
	}
	return byte(len(roles) - 1)
}

// unlessGone returns the error of a read, nil where what was read is not there.
func unlessGone(err error) error {
	if fault.KindOf(err) == fault.NotFound {
		return nil
	}
	return err
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
	return shorten.Bytes(text, maxText)
}

package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/record/activity"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// file is the opened file of a store.
type file struct {
	dir       string
	readOnly  bool // nothing may be written in dir
	log       *slog.Logger
	now       func() time.Time
	mask      func(string) string
	onTrouble func(error)
	onRecord  func()

	lock *lockFile
	db   *bbolt.DB
	raw  *os.File // db's file, to close it when db itself is past closing

	writer  chan struct{} // holds one token; whoever has it may write
	waiting *queue
	ahead   ahead

	damaged atomic.Pointer[fault.Error]
	closed  atomic.Bool

	stop   chan struct{} // closed by Close
	cancel context.CancelCauseFunc
	wg     sync.WaitGroup
	once   sync.Once
	final  error // what Close returns
}

var (
	// errDamaged marks an error whose cause is a file that is not what it should
	// be: nothing in it can be trusted.
	errDamaged = errors.New("the file is damaged")
	// errRecord marks an error that concerns one record of a sound file.
	errRecord = errors.New("a record cannot be read")
)

// view runs fn in a transaction that only reads. fn must not write to the store
// or call back into it.
func (s *file) view(ctx context.Context, op string, fn func(*bbolt.Tx) error) error {
	if s.ahead.holds.Load() && s.write(ctx, op, nil) != nil && s.claim(ctx, op) == nil { // the disk is full
		defer s.yield()
		if tx := s.ahead.tx; tx != nil && s.damaged.Load() == nil && !s.closed.Load() {
			return s.asFault(op, guarded(func() error { return fn(tx) }))
		}
	}
	return s.viewCommitted(ctx, op, fn)
}

// viewCommitted is view for what rounds of turns do not change: it does not see those that are ahead.
func (s *file) viewCommitted(ctx context.Context, op string, fn func(*bbolt.Tx) error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}
	if s.closed.Load() {
		return closedFault(op)
	}
	if f := s.damaged.Load(); f != nil {
		return f
	}
	return s.asFault(op, guarded(func() error { return s.db.View(fn) }))
}

// write runs fn in a transaction that writes, after whatever was pending, and
// returns once it is on the disk. fn may be nil. When it fails, nothing of it
// is written and what was pending is pending still.
func (s *file) write(ctx context.Context, op string, fn func(*bbolt.Tx) error) error {
	return s.writeAt(ctx, op, func(tx *bbolt.Tx, _ time.Time) error {
		if fn == nil {
			return nil
		}
		return fn(tx)
	}, nil)
}

// writeAt is write; fn gets the time of the write. If fn appends messages of a turn that goes on, which are
// appended then, these and the records of calls that were pending may be written ahead.
func (s *file) writeAt(ctx context.Context, op string, fn func(*bbolt.Tx, time.Time) error,
	appended []chat.Message,
) error {
	if err := s.claim(ctx, op); err != nil {
		return err
	}
	defer s.yield()
	if s.closed.Load() {
		return closedFault(op)
	}
	if s.readOnly {
		return fault.Wrap(fault.Unavailable, op, "Conclave may not write in "+s.dir+"; what is there can be read.",
			"Make the folder writable, or copy it and name the copy with --data.", fs.ErrPermission)
	}
	if f := s.damaged.Load(); f != nil {
		return f
	}
	taken, written, at := s.waiting.take(appended != nil), false, s.now()
	defer func() { s.waiting.taken(taken, written) }() // also when fn panics
	var before, after activity.Head
	var made func(*bbolt.Tx) round
	if appended != nil {
		made = func(tx *bbolt.Tx) round { return roundOf(tx, at, taken.calls, appended) }
	}
	err := guarded(func() error {
		return s.update(func(tx *bbolt.Tx) error {
			before = activityHead(tx)
			defer func() { after = activityHead(tx) }()
			if err := bucket(tx, bucketMeta).Put(keyAlive, timeKey(at)); err != nil {
				return err
			}
			s.waiting.writeBatch(tx, taken)
			return fn(tx, at)
		}, made)
	})
	written = err == nil
	if written && after != before && s.onRecord != nil {
		s.onRecord()
	}
	return s.asFault(op, err)
}

// claim waits for the right to write. The caller gives it back with yield.
func (s *file) claim(ctx context.Context, op string) error {
	select {
	case s.writer <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}
	if ctx.Err() != nil {
		s.yield()
		return fmt.Errorf("%s: %w", op, context.Cause(ctx))
	}
	return nil
}

func (s *file) yield() { <-s.writer }

// asFault turns err into the fault that the caller gets, and stops all use of a file that
// proved damaged.
func (s *file) asFault(op string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, errDamaged) {
		f := fault.Wrap(fault.Damaged, op,
			"The store in "+s.dir+" is damaged and was stopped, so that nothing is written over it.",
			"Close Conclave and start it again: it sets the file aside and offers the newest good copy.", err)
		if s.damaged.CompareAndSwap(nil, f) {
			s.log.Error("The store's file is damaged.", "err", err)
			if err := suspect(s.dir); err != nil {
				s.log.Warn("The damaged store could not be marked.", "err", err)
			}
		}
		return s.damaged.Load()
	}
	if errors.Is(err, errRecord) {
		return fault.Wrap(fault.Damaged, op,
			"A record in the store in "+s.dir+" cannot be read; the others are not affected.",
			"conclave doctor checks the store and lists the copies there are.", err)
	}
	return explain(op, s.dir, err)
}

func closedFault(op string) error {
	return fault.New(fault.Unavailable, op, "The store is closed: Conclave is quitting.", "Start Conclave again.")
}

// guarded runs fn and turns a panic out of a damaged file into an error. bbolt
// trusts its pages and panics on what it finds in a bad one; a page that cannot
// be read at all is a fault of the memory map. Any other panic goes on.
func guarded(fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		if _, ok := r.(interface{ Addr() uintptr }); ok || panickedIn("go.etcd.io/bbolt") {
			err = contradiction{r}
			return
		}
		if d, ok := r.(error); ok && errors.Is(d, errDamaged) {
			err = d
			return
		}
		panic(r)
	}()
	return fn()
}

// contradiction is the damage of a file whose pages contradict each other. found
// holds the panic of bbolt: words for the log, and not for a person.
type contradiction struct{ found any }

// Error implements error.
func (c contradiction) Error() string {
	return errDamaged.Error() + ": its pages contradict each other"
}

// Is makes it an errDamaged.
func (c contradiction) Is(target error) bool { return target == errDamaged }

// LogValue implements slog.LogValuer.
func (c contradiction) LogValue() slog.Value {
	return slog.StringValue(fmt.Sprintf("%s: %v", c.Error(), c.found))
}

// panickedIn reports, while a panic unwinds, whether it began in the package
// with that import path: in its own frame, or in one of the standard library
// called from it.
func panickedIn(path string) bool {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	panicking := false
	for {
		frame, more := frames.Next()
		switch name := frame.Function; {
		case name == "runtime.gopanic":
			panicking = true
		case !panicking:
		case strings.HasPrefix(name, path):
			return true
		case strings.Contains(name, "conclave/"):
			return false
		}
		if !more {
			return false
		}
	}
}

// openFile opens the bbolt file at path. errDamaged says that it cannot be one.
func openFile(path string, readOnly bool) (db *bbolt.DB, file *os.File, err error) {
	if err := checkHeader(path); err != nil {
		return nil, nil, err
	}
	err = guarded(func() error {
		var err error
		db, err = bbolt.Open(path, 0o600, &bbolt.Options{
			// Ours is the lock that counts; this one keeps other bbolt programs out.
			Timeout:         1,
			FreelistType:    bbolt.FreelistMapType,
			PreLoadFreelist: true,
			ReadOnly:        readOnly,
			InitialMmapSize: initialMap(readOnly),
			OpenFile: func(name string, flag int, mode os.FileMode) (*os.File, error) {
				var err error
				file, err = os.OpenFile(name, flag, mode)
				return file, err
			},
		})
		return err
	})
	if err == nil {
		// Growing in steps of 1 MiB, not 16, keeps a small store a small file.
		db.AllocSize = 1 << 20
		return db, file, nil
	}
	if file != nil {
		letGo(file) // bbolt has closed it already unless it panicked
	}
	for _, cause := range []error{bolterrors.ErrInvalid, bolterrors.ErrChecksum, bolterrors.ErrVersionMismatch} {
		if errors.Is(err, cause) {
			err = fmt.Errorf("%w: %w", errDamaged, err)
			break
		}
	}
	return nil, nil, err
}

package store

import (
	"context"
	"errors"
	"fmt"

	"conclave/app/base/fault"

	"go.etcd.io/bbolt"
)

// Layout is the number of the format in which this program writes the store. It is raised
// with every change of what is stored, also when a record only gets one more field: an
// older program would read the record without it, and a rule without its conditions allows
// more. A test that describes all records fails until it is raised.
const Layout = 11

// A program of an older layout that keeps the fields it does not know may be let in all the
// same. Both numbers are raised to [Layout] by a change that it must not miss: oldestWriter
// where it would do harm by writing (a rule that it does not apply as it is meant, an index
// that it does not keep up), oldestReader where it would also show something untrue.
// Programs of layout 2 know neither number, and refuse every newer layout.
const (
	oldestWriter = 3
	oldestReader = 3
)

// migration brings a store from one version to the next, inside the one
// transaction that all due steps share.
type migration struct {
	from uint64
	does string
	run  func(*bbolt.Tx) error
}

// migrations are all steps, by the version they start from. A step is never
// changed once a release has it; a new layout is a new step, unless all that an
// older one holds means the same.
var migrations = []migration{
	// Version 1 stored records only. Lists and paths were made by reading all of
	// them.
	{1, "make the indexes of the records", deriveIndexes},
	// Programs that wrote version 2 knew different sets of fields. What they wrote
	// means the same in version 3. Version 4 added how many calls of a plugin run at once,
	// which an older program keeps and does without; 5 and 6 added records and fields of that
	// kind, the last the summaries of chats; 7 how the model of a chat is asked, and favourites;
	// 8 saved prompts; 9 temporary chats; 10 the places of the window.
}

// layout holds the numbers with which a store names its format.
type layout struct {
	written        uint64 // the layout it was written in
	writer, reader uint64 // the oldest layouts whose programs may write and read it
}

// layoutOf reads the layout. ok is false where there is none, so that the file is no
// store of Conclave's.
func layoutOf(tx *bbolt.Tx) (l layout, ok bool) {
	meta := tx.Bucket(bucketMeta)
	if meta == nil {
		return l, false
	}
	raw := meta.Get(keyVersion)
	if len(raw) != 8 {
		return l, false
	}
	l.written = lastNumber(raw)
	l.writer, l.reader = l.written, l.written // where it says nothing: only those that know it
	if raw := meta.Get(keyWriter); len(raw) == 8 {
		l.writer = lastNumber(raw)
	}
	if raw := meta.Get(keyReader); len(raw) == 8 {
		l.reader = lastNumber(raw)
	}
	return l, true
}

// putLayout notes in which layout the store is written from now on.
func putLayout(tx *bbolt.Tx) error {
	meta := bucket(tx, bucketMeta)
	return errors.Join(
		meta.Put(keyVersion, number(Layout)),
		meta.Put(keyWriter, number(oldestWriter)),
		meta.Put(keyReader, number(oldestReader)),
	)
}

// newer reports whether this program must not write the store; where it only reads, whether it
// must not even do that.
func (l layout) newer(reads bool) bool {
	if reads {
		return l.written > Layout && l.reader > Layout
	}
	return l.written > Layout && l.writer > Layout
}

// migrate brings an older store forward, after a copy of it as it was. A newer
// one is refused untouched, unless it says that this program may use it.
func (s *file) migrate(ctx context.Context) error {
	const op = "store.migrate"
	var have layout
	err := s.view(ctx, op, func(tx *bbolt.Tx) error {
		var ok bool
		if have, ok = layoutOf(tx); !ok {
			return fault.New(fault.Damaged, op, "The file conclave.db in "+s.dir+" is no store of Conclave's.",
				"Move it away, or name another data folder with --data. It was not changed.")
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case have.newer(s.readOnly):
		return fault.New(fault.Unavailable, op, fmt.Sprintf(
			"The store in %s was written by a newer Conclave (layout %d; this one knows %d).", s.dir, have.written, Layout),
			"Update Conclave, or name another data folder with --data. The store was not changed.")
	case have.written >= Layout:
		return nil
	case s.readOnly:
		return s.checkReadable(have)
	}
	path, err := s.keepCopy(ctx, have.written)
	if err != nil && !errors.Is(err, errRecord) {
		return s.asFault(op, fmt.Errorf("copy the store before bringing it to layout %d: %w", Layout, err))
	}
	s.log.Info("The store is brought to a newer layout.", "from", have.written, "to", Layout, "copy", path)
	err = s.write(ctx, op, func(tx *bbolt.Tx) error {
		for _, m := range migrations {
			if m.from < have.written {
				continue
			}
			if err := m.run(tx); err != nil {
				return fmt.Errorf("layout %d: %s: %w", m.from, m.does, err)
			}
		}
		return putLayout(tx)
	})
	var f *fault.Error
	if err != nil && (!errors.As(err, &f) || f.Kind != fault.Damaged) {
		return fmt.Errorf("bring the store forward; it is as before, and there is a copy of it: %w", err)
	}
	return err
}

// checkReadable refuses a store in a folder where nothing may be written, and
// which must be brought forward before it can be read.
func (s *file) checkReadable(have layout) error {
	for _, m := range migrations {
		if m.from >= have.written {
			return fault.New(fault.Unavailable, "store.migrate", fmt.Sprintf(
				"The store in %s is of an older Conclave (layout %d; this one knows %d), and nothing may be written there.",
				s.dir, have.written, Layout),
				"Copy the folder to where you may write, and name the copy with --data.")
		}
	}
	return nil
}

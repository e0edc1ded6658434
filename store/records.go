package store

import (
	"bytes"
	"context"
	"fmt"

	"conclave/app/base/fault"

	"go.etcd.io/bbolt"
)

// bucketRecords holds what plugins share: kind 0 id → text. The id of a record
// under another begins with that one's. The bucket is made when the first is
// written, so that a store without records is as it was.
var bucketRecords = []byte("plugin_records")

// Records reads all records of a kind, in the order in which they were added;
// parent is empty for those that are under none.
func (s *PluginData) Records(ctx context.Context, kind, parent string) (ids []string, values [][]byte, err error) {
	err = s.view(ctx, "store.records", func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucketRecords)
		if b == nil {
			return nil
		}
		start := recordKey(kind, under(parent))
		cursor := b.Cursor()
		for k, v := cursor.Seek(start); k != nil && bytes.HasPrefix(k, start); k, v = cursor.Next() {
			ids, values = append(ids, string(k[len(kind)+1:])), append(values, bytes.Clone(v))
		}
		return nil
	})
	return ids, values, err
}

// Record reads one record; there is false when it is not there.
func (s *PluginData) Record(ctx context.Context, kind, id string) (value []byte, there bool, err error) {
	err = s.view(ctx, "store.record", func(tx *bbolt.Tx) error {
		if b := tx.Bucket(bucketRecords); b != nil && id != "" {
			raw := b.Get(recordKey(kind, id))
			value, there = bytes.Clone(raw), raw != nil
		}
		return nil
	})
	return value, there, err
}

// AddRecord adds a record and returns its id. parentKind and parent name the
// record it is under; the kind is NotFound when there is none.
func (s *PluginData) AddRecord(ctx context.Context, kind, parentKind, parent string, value []byte) (id string,
	err error) {
	const op = "store.add_record"
	err = s.write(ctx, op, func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists(bucketRecords)
		if err != nil {
			return err
		}
		if parentKind != "" && (parent == "" || b.Get(recordKey(parentKind, parent)) == nil) {
			return fault.New(fault.NotFound, op, "There is nothing of that id to add to.", "")
		}
		next, err := b.NextSequence()
		if err != nil {
			return err
		}
		id = under(parent) + fmt.Sprintf("%012d", next) // so that keys are in order
		return b.Put(recordKey(kind, id), value)
	})
	return id, err
}

// PutRecord replaces a record, and reports whether it was there.
func (s *PluginData) PutRecord(ctx context.Context, kind, id string, value []byte) (there bool, err error) {
	err = s.write(ctx, "store.put_record", func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucketRecords)
		if there = b != nil && id != "" && b.Get(recordKey(kind, id)) != nil; !there {
			return nil
		}
		return b.Put(recordKey(kind, id), value)
	})
	return there, err
}

// DeleteRecord deletes a record with all of kind below that are under it, and
// reports whether it was there. below may be empty.
func (s *PluginData) DeleteRecord(ctx context.Context, kind, id, below string) (there bool, err error) {
	err = s.write(ctx, "store.delete_record", func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucketRecords)
		if there = b != nil && id != "" && b.Get(recordKey(kind, id)) != nil; !there {
			return nil
		}
		gone := [][]byte{recordKey(kind, id)}
		if below != "" {
			start := recordKey(below, under(id))
			cursor := b.Cursor()
			for k, _ := cursor.Seek(start); k != nil && bytes.HasPrefix(k, start); k, _ = cursor.Next() {
				gone = append(gone, bytes.Clone(k))
			}
		}
		for _, k := range gone {
			if err := b.Delete(k); err != nil {
				return err
			}
		}
		return nil
	})
	return there, err
}

// under is how the ids of what is under a record begin.
func under(parent string) string {
	if parent == "" {
		return ""
	}
	return parent + "."
}

func recordKey(kind, id string) []byte {
	return []byte(kind + "\x00" + id)
}

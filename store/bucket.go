package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"conclave/app/base/jsonobject"

	"go.etcd.io/bbolt"
)

// kind is the name of a bucket, which holds one kind of record or index. Those of records and
// indexes are in every store; the others are made with their first record, so that a store
// without any is as it was.
type kind []byte

// in returns the bucket, or nil where it is not made yet. One that every store has and that is
// missing is damage.
func (k kind) in(tx *bbolt.Tx) *bbolt.Bucket {
	b := tx.Bucket(k)
	if b == nil && slices.ContainsFunc(slices.Concat(records, indexes), func(o kind) bool { return bytes.Equal(k, o) }) {
		panic(fmt.Errorf("%w: it has no %s", errDamaged, k))
	}
	return b
}

// bucket returns a bucket that every store has. One that is missing is damage.
func bucket(tx *bbolt.Tx, k kind) *bbolt.Bucket { return k.in(tx) }

// get returns a record, which is valid until the transaction ends; nil where there is none.
func (k kind) get(tx *bbolt.Tx, key []byte) []byte {
	if b := k.in(tx); b != nil && len(key) > 0 {
		return b.Get(key)
	}
	return nil
}

// put writes a record.
func (k kind) put(tx *bbolt.Tx, key, value []byte) (err error) {
	b := k.in(tx)
	if b == nil {
		if b, err = tx.CreateBucket(k); err != nil {
			return err
		}
	}
	return b.Put(key, value)
}

// putJSON writes a record as JSON. Members that it has no field for, because a newer program
// wrote them into the record that it replaces, stay in it; so all records that are rewritten go
// through here.
func (k kind) putJSON(tx *bbolt.Tx, key []byte, value any) error {
	return k.putOver(tx, key, k.get(tx, key), value)
}

// putOver is putJSON for a record that replaces old, which lies elsewhere.
func (k kind) putOver(tx *bbolt.Tx, key, old []byte, value any) error {
	raw, err := encode(value)
	if err != nil {
		return err
	}
	return k.put(tx, key, jsonobject.Keep(old, raw, reflect.TypeOf(value)))
}

// delete removes records. One that is not there does not matter.
func (k kind) delete(tx *bbolt.Tx, keys ...[]byte) error {
	b := k.in(tx)
	if b == nil {
		return nil
	}
	for _, key := range keys {
		if err := b.Delete(key); err != nil {
			return err
		}
	}
	return nil
}

// each calls fn with the records whose keys begin with start, in order. fn must not write into
// the bucket.
func (k kind) each(tx *bbolt.Tx, start []byte, fn func(key, value []byte) error) error {
	b := k.in(tx)
	if b == nil {
		return nil
	}
	cursor := b.Cursor()
	for key, value := cursor.Seek(start); key != nil && bytes.HasPrefix(key, start); key, value = cursor.Next() {
		if err := fn(key, value); err != nil {
			return err
		}
	}
	return nil
}

// keys returns copies of the keys that begin with start.
func (k kind) keys(tx *bbolt.Tx, start []byte) [][]byte {
	var keys [][]byte
	_ = k.each(tx, start, func(key, _ []byte) error { // it does not fail
		keys = append(keys, slices.Clone(key))
		return nil
	})
	return keys
}

// numbered returns copies of the keys that are start and a number.
func (k kind) numbered(tx *bbolt.Tx, start []byte) [][]byte {
	return slices.DeleteFunc(k.keys(tx, start), func(key []byte) bool { return len(key) != len(start)+8 })
}

// empty reports whether there is no record.
func (k kind) empty(tx *bbolt.Tx) bool {
	b := k.in(tx)
	if b == nil {
		return true
	}
	key, _ := b.Cursor().First()
	return key == nil
}

// getJSON reads a record into value and reports whether there is one. One that cannot be read is
// errRecord.
func getJSON(tx *bbolt.Tx, k kind, key []byte, value any) (bool, error) {
	raw := k.get(tx, key)
	if raw == nil {
		return false, nil
	}
	return true, decode(raw, value)
}

func decode(raw []byte, value any) error {
	if err := json.Unmarshal(raw, value); err != nil {
		return fmt.Errorf("%w: %w", errRecord, err)
	}
	return nil
}

// encode returns value as JSON without HTML's escapes, so that what people wrote is found as
// they wrote it.
func encode(value any) ([]byte, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return []byte(b.String()[:b.Len()-1]), nil
}

// read returns what fn returns of a transaction that only reads.
func read[T any](ctx context.Context, f *file, op string, fn func(tx *bbolt.Tx) (T, error)) (value T, err error) {
	err = f.view(ctx, op, func(tx *bbolt.Tx) (err error) {
		value, err = fn(tx)
		return err
	})
	return value, err
}

// all returns the records of a kind, and their keys. One that cannot be read is an error.
func all[T any](ctx context.Context, f *file, k kind) (values []T, keys []string, err error) {
	values = []T{}
	err = f.view(ctx, "store.read "+string(k), func(tx *bbolt.Tx) error {
		return k.each(tx, nil, func(key, raw []byte) error {
			var value T
			if err := decode(raw, &value); err != nil {
				return err
			}
			values, keys = append(values, value), append(keys, string(key))
			return nil
		})
	})
	if err != nil {
		return nil, nil, err
	}
	return values, keys, nil
}

// eachOf calls fn with the records of a kind whose keys begin with start. Those that cannot be
// read are passed to bad; nil leaves them out.
func eachOf[T any](tx *bbolt.Tx, k kind, start []byte, fn func(key []byte, value T) error,
	bad func(key []byte, err error),
) error {
	return k.each(tx, start, func(key, raw []byte) error {
		var value T
		err := decode(raw, &value)
		switch {
		case err == nil:
			return fn(key, value)
		case bad != nil:
			bad(key, err)
		}
		return nil
	})
}

// putRecord writes a record under an id.
func putRecord(ctx context.Context, f *file, k kind, what, id string, value any) error {
	op := "store.write " + string(k)
	if err := checkID(op, what, id); err != nil {
		return err
	}
	return f.write(ctx, op, func(tx *bbolt.Tx) error { return k.putJSON(tx, []byte(id), value) })
}

// deleteRecord deletes the record with an id, if there is one.
func deleteRecord(ctx context.Context, f *file, k kind, id string) error {
	return f.write(ctx, "store.delete "+string(k), func(tx *bbolt.Tx) error { return k.delete(tx, []byte(id)) })
}

// neighbours reads records of a bucket whose keys mostly follow one another: a step of the cursor finds the
// next one without a search.
type neighbours struct {
	cursor *bbolt.Cursor
	step   func() (key, value []byte) // Next or Prev of the cursor
	at     []byte                     // the key that the cursor is at
}

// get returns a record, which is valid until the transaction ends; nil where there is none.
func (n *neighbours) get(key []byte) (value []byte) {
	if n.at != nil {
		n.at, value = n.step()
	}
	if !bytes.Equal(n.at, key) {
		n.at, value = n.cursor.Seek(key)
	}
	if !bytes.Equal(n.at, key) {
		return nil
	}
	return value
}

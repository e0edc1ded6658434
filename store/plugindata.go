package store

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/chat"

	"go.etcd.io/bbolt"
)

// PluginData are the records and variables that plugins share.
type PluginData struct{ *file }

var (
	// bucketRecords holds kind 0 id → text. The id of a record under another begins with that one's.
	bucketRecords = kind("plugin_records")
	// bucketVariables holds what plugins and macros set: scope 0 chat 0 key → text.
	bucketVariables = kind("variables")
	// bucketVariableAuthors holds who wrote variables, under their keys: JSON of []chat.Author.
	// Variables that an earlier version wrote have none in it.
	bucketVariableAuthors = kind("variable_authors")
)

// maxVariableKey is bbolt's bound of a key, less what stands before it.
const maxVariableKey = bbolt.MaxKeySize - 128

// Records reads all records of a kind, in the order in which they were added;
// parent is empty for those that are under none.
func (d *PluginData) Records(ctx context.Context, kind, parent string) (ids []string, values [][]byte, err error) {
	err = d.view(ctx, "store.records", func(tx *bbolt.Tx) error {
		return bucketRecords.each(tx, recordKey(kind, under(parent)), func(k, v []byte) error {
			ids, values = append(ids, string(k[len(kind)+1:])), append(values, bytes.Clone(v))
			return nil
		})
	})
	return ids, values, err
}

// Record reads one record; there is false when it is not there.
func (d *PluginData) Record(ctx context.Context, kind, id string) (value []byte, there bool, err error) {
	value, err = read(ctx, d.file, "store.record", func(tx *bbolt.Tx) (raw []byte, err error) {
		raw, there = findRecord(tx, kind, id)
		return bytes.Clone(raw), nil
	})
	return value, there, err
}

func findRecord(tx *bbolt.Tx, kind, id string) (value []byte, there bool) {
	if id != "" {
		value = bucketRecords.get(tx, recordKey(kind, id))
	}
	return value, value != nil
}

// AddRecord adds a record and returns its id. parentKind and parent name the
// record it is under; the kind is NotFound when there is none.
func (d *PluginData) AddRecord(ctx context.Context, kind, parentKind, parent string, value []byte) (
	id string, err error,
) {
	const op = "store.add_record"
	err = d.write(ctx, op, func(tx *bbolt.Tx) error {
		if _, there := findRecord(tx, parentKind, parent); parentKind != "" && !there {
			return fault.New(fault.NotFound, op, "There is nothing of that id to add to.", "")
		}
		b, err := tx.CreateBucketIfNotExists(bucketRecords)
		if err != nil {
			return err
		}
		next, err := b.NextSequence()
		id = under(parent) + fmt.Sprintf("%012d", next) // so that keys are in order
		if err != nil {
			return err
		}
		return b.Put(recordKey(kind, id), value)
	})
	return id, err
}

// PutRecord replaces a record, and reports whether it was there.
func (d *PluginData) PutRecord(ctx context.Context, kind, id string, value []byte) (there bool, err error) {
	err = d.write(ctx, "store.put_record", func(tx *bbolt.Tx) error {
		if _, there = findRecord(tx, kind, id); !there {
			return nil
		}
		return bucketRecords.put(tx, recordKey(kind, id), value)
	})
	return there, err
}

// DeleteRecord deletes a record with all records of kind below that are under it, and
// reports whether it was there. below may be empty.
func (d *PluginData) DeleteRecord(ctx context.Context, kind, id, below string) (there bool, err error) {
	err = d.write(ctx, "store.delete_record", func(tx *bbolt.Tx) error {
		if _, there = findRecord(tx, kind, id); !there {
			return nil
		}
		gone := [][]byte{recordKey(kind, id)}
		if below != "" {
			gone = append(gone, bucketRecords.keys(tx, recordKey(below, under(id)))...)
		}
		return bucketRecords.delete(tx, gone...)
	})
	return there, err
}

// under returns what the ids of records under another begin with.
func under(parent string) string {
	if parent == "" {
		return ""
	}
	return parent + "."
}

func recordKey(kind, id string) []byte { return []byte(kind + "\x00" + id) }

// Variable reads one variable; in is empty for those of all chats. there is false when it
// is not set.
func (d *PluginData) Variable(ctx context.Context, scope string, in chat.ConversationID, key string) (
	v chat.Variable, there bool, err error,
) {
	name := variableKey(scope, in, key)
	err = d.view(ctx, "store.variable", func(tx *bbolt.Tx) error {
		if raw := bucketVariables.get(tx, name); raw != nil {
			v, there = variable(tx, name, raw), true
		}
		return nil
	})
	return v, there, err
}

// Variables reads all variables of a scope of a chat.
func (d *PluginData) Variables(ctx context.Context, scope string, in chat.ConversationID) (
	map[string]chat.Variable, error,
) {
	all, start := map[string]chat.Variable{}, variableKey(scope, in, "")
	return all, d.view(ctx, "store.variables", func(tx *bbolt.Tx) error {
		return bucketVariables.each(tx, start, func(k, raw []byte) error {
			all[string(k[len(start):])] = variable(tx, k, raw)
			return nil
		})
	})
}

// variable returns a variable by its key and its text, with who wrote it. Authors that
// cannot be read become one without a name.
func variable(tx *bbolt.Tx, name, text []byte) chat.Variable {
	v := chat.Variable{Value: string(text)}
	if raw := bucketVariableAuthors.get(tx, name); raw != nil && json.Unmarshal(raw, &v.Authors) != nil {
		v.Authors = []chat.Author{{}}
	}
	return v
}

// PutVariable sets a variable. The kind is Invalid for a name that cannot be stored, and
// NotFound for a chat that does not exist.
func (d *PluginData) PutVariable(ctx context.Context, scope string, in chat.ConversationID, key string,
	v chat.Variable,
) error {
	const op = "store.put_variable"
	if key == "" || len(key) > maxVariableKey || strings.Contains(scope+string(in), "\x00") {
		return fault.New(fault.Invalid, op, "A variable cannot be stored under that name.", "")
	}
	authors, err := json.Marshal(v.Authors)
	if err != nil {
		return err
	}
	return d.write(ctx, op, func(tx *bbolt.Tx) error {
		if in != "" {
			if _, err := getConversation(tx, op, in); err != nil {
				return err
			}
		}
		name := variableKey(scope, in, key)
		if err := bucketVariables.put(tx, name, []byte(v.Value)); err != nil {
			return err
		}
		return bucketVariableAuthors.put(tx, name, authors)
	})
}

// DeleteVariable deletes a variable, and reports whether it was set.
func (d *PluginData) DeleteVariable(ctx context.Context, scope string, in chat.ConversationID, key string) (
	there bool, err error,
) {
	name := variableKey(scope, in, key)
	err = d.write(ctx, "store.delete_variable", func(tx *bbolt.Tx) error {
		there = bucketVariables.get(tx, name) != nil
		return deleteVariables(tx, name)
	})
	return there, err
}

// deleteVariables deletes variables, and who wrote them.
func deleteVariables(tx *bbolt.Tx, names ...[]byte) error {
	if err := bucketVariableAuthors.delete(tx, names...); err != nil {
		return err
	}
	return bucketVariables.delete(tx, names...)
}

// purgeVariables deletes those of a conversation that is deleted for good.
func purgeVariables(tx *bbolt.Tx, id chat.ConversationID) error {
	part := slices.Concat([]byte{0}, []byte(id), []byte{0})
	return deleteVariables(tx, slices.DeleteFunc(bucketVariables.keys(tx, nil), func(k []byte) bool {
		i := bytes.IndexByte(k, 0)
		return i < 0 || !bytes.HasPrefix(k[i:], part)
	})...)
}

func variableKey(scope string, in chat.ConversationID, key string) []byte {
	return []byte(scope + "\x00" + string(in) + "\x00" + key)
}

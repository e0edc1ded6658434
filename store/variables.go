package store

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/chat"

	"go.etcd.io/bbolt"
)

// bucketVariables holds what plugins and macros set: scope 0 chat 0 key → text.
// It is made when the first is written, so that a store without variables is as
// it was.
var bucketVariables = []byte("variables")

// bucketVariableAuthors holds who wrote them, under the keys of bucketVariables: JSON of
// []chat.Author. It is made when the first is written; variables that an earlier version
// wrote have none in it.
var bucketVariableAuthors = []byte("variable_authors")

// maxVariableKey is bbolt's bound of a key, less what stands before it.
const maxVariableKey = bbolt.MaxKeySize - 128

// Variable reads one variable; in is empty for those of all chats. there is false when it
// is not set.
func (s *PluginData) Variable(ctx context.Context, scope string, in chat.ConversationID,
	key string,
) (v chat.Variable, there bool, err error) {
	err = s.view(ctx, "store.variable", func(tx *bbolt.Tx) error {
		if b := tx.Bucket(bucketVariables); b != nil {
			name := variableKey(scope, in, key)
			if raw := b.Get(name); raw != nil {
				v, there = variable(tx, name, raw), true
			}
		}
		return nil
	})
	return v, there, err
}

// Variables reads all variables of a scope of a chat.
func (s *PluginData) Variables(ctx context.Context, scope string, in chat.ConversationID) (map[string]chat.Variable,
	error) {
	all := map[string]chat.Variable{}
	err := s.view(ctx, "store.variables", func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucketVariables)
		if b == nil {
			return nil
		}
		start := variableKey(scope, in, "")
		cursor := b.Cursor()
		for k, raw := cursor.Seek(start); k != nil && bytes.HasPrefix(k, start); k, raw = cursor.Next() {
			all[string(k[len(start):])] = variable(tx, k, raw)
		}
		return nil
	})
	return all, err
}

// variable returns a variable by its key and its text, with who wrote it. Authors that
// cannot be read are some that are not named.
func variable(tx *bbolt.Tx, name, text []byte) chat.Variable {
	v := chat.Variable{Value: string(text)}
	if b := tx.Bucket(bucketVariableAuthors); b != nil {
		if raw := b.Get(name); raw != nil && json.Unmarshal(raw, &v.Authors) != nil {
			v.Authors = []chat.Author{{}}
		}
	}
	return v
}

// PutVariable sets a variable. The kind is Invalid for a name that cannot be kept, and
// NotFound for a chat there is not.
func (s *PluginData) PutVariable(ctx context.Context, scope string, in chat.ConversationID, key string,
	v chat.Variable,
) error {
	const op = "store.put_variable"
	if key == "" || len(key) > maxVariableKey || strings.Contains(scope, "\x00") ||
		strings.Contains(string(in), "\x00") {
		return fault.New(fault.Invalid, op, "A variable cannot be kept under that name.", "")
	}
	whose, err := json.Marshal(v.Authors)
	if err != nil {
		return err
	}
	return s.write(ctx, op, func(tx *bbolt.Tx) error {
		if in != "" {
			if _, err := getConversation(tx, op, in); err != nil {
				return err
			}
		}
		b, err := tx.CreateBucketIfNotExists(bucketVariables)
		if err != nil {
			return err
		}
		authors, err := tx.CreateBucketIfNotExists(bucketVariableAuthors)
		if err != nil {
			return err
		}
		name := variableKey(scope, in, key)
		if err := b.Put(name, []byte(v.Value)); err != nil {
			return err
		}
		return authors.Put(name, whose)
	})
}

// DeleteVariable unsets a variable, and reports whether it was set.
func (s *PluginData) DeleteVariable(ctx context.Context, scope string, in chat.ConversationID,
	key string,
) (there bool, err error) {
	err = s.write(ctx, "store.delete_variable", func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucketVariables)
		if b == nil {
			return nil
		}
		name := variableKey(scope, in, key)
		there = b.Get(name) != nil
		return dropVariable(tx, b, name)
	})
	return there, err
}

// dropVariable deletes a variable of a bucket, and who wrote it.
func dropVariable(tx *bbolt.Tx, b *bbolt.Bucket, name []byte) error {
	if authors := tx.Bucket(bucketVariableAuthors); authors != nil {
		if err := authors.Delete(name); err != nil {
			return err
		}
	}
	return b.Delete(name)
}

// purgeVariables deletes those of a conversation that is deleted for good.
func purgeVariables(tx *bbolt.Tx, id chat.ConversationID) error {
	b := tx.Bucket(bucketVariables)
	if b == nil {
		return nil
	}
	part := append(append([]byte{0}, id...), 0)
	var gone [][]byte
	if err := b.ForEach(func(k, _ []byte) error {
		if i := bytes.IndexByte(k, 0); i >= 0 && bytes.HasPrefix(k[i:], part) {
			gone = append(gone, bytes.Clone(k))
		}
		return nil
	}); err != nil {
		return err
	}
	for _, k := range gone {
		if err := dropVariable(tx, b, k); err != nil {
			return err
		}
	}
	return nil
}

func variableKey(scope string, in chat.ConversationID, key string) []byte {
	return []byte(scope + "\x00" + string(in) + "\x00" + key)
}

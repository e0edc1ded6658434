// Package jsonobject reads the members of a JSON object, and the texts of any JSON, in the order
// in which they are written, which a Go map forgets.
package jsonobject

import (
	"bytes"
	"encoding/json"
	"iter"
)

// Fields yields the names and the values of the members of raw, in their order. A
// name that is written twice is yielded twice. Of what is no object it yields
// nothing, and of a broken one the members before the break.
func Fields(raw json.RawMessage) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		d := json.NewDecoder(bytes.NewReader(raw))
		if start, err := d.Token(); err != nil || start != json.Delim('{') {
			return
		}
		for d.More() {
			token, err := d.Token()
			name, ok := token.(string)
			var value json.RawMessage
			if err != nil || !ok || d.Decode(&value) != nil || !yield(name, value) {
				return
			}
		}
	}
}

package jsonobject

import (
	"bytes"
	"encoding/json"
	"iter"
)

// Text is one text of JSON: a value, or the name of a member of the innermost object.
type Text struct {
	Value    string
	From, To int // where it is written, with its quotes
	IsName   bool
	Within   []*Level // what it stands in, the outermost first; valid until the next text
}

// Level is an object or a list that a text of JSON stands in.
type Level struct {
	Item int    // of a list: the number of the item, from 1; of an object 0
	Name string // of the member
}

// Texts yields the texts of raw in the order in which they are written, also those of members
// of one name. Of what is no JSON it yields nothing.
func Texts(raw json.RawMessage) iter.Seq[Text] {
	return func(yield func(Text) bool) {
		if !json.Valid(raw) {
			return
		}
		var within []*Level
		for i := 0; i < len(raw); i++ {
			switch raw[i] {
			case '{':
				within = append(within, &Level{})
			case '[':
				within = append(within, &Level{Item: 1})
			case '}', ']':
				within = within[:len(within)-1]
			case ',':
				if last := within[len(within)-1]; last.Item > 0 {
					last.Item++
				}
			case '"':
				t := Text{From: i, To: i + 1, Within: within}
				for ; raw[t.To] != '"'; t.To++ {
					if raw[t.To] == '\\' {
						t.To++
					}
				}
				t.To++
				_ = json.Unmarshal(raw[t.From:t.To], &t.Value) // it is valid
				rest := bytes.TrimLeft(raw[t.To:], " \t\r\n")
				t.IsName = len(rest) > 0 && rest[0] == ':'
				if !yield(t) {
					return
				}
				if t.IsName {
					within[len(within)-1].Name = t.Value
				}
				i = t.To - 1
			}
		}
	}
}

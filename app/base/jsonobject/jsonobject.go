// Package jsonobject reads the members of a JSON object, and the texts of any JSON, in the order
// in which they are written, which a Go map forgets.
package jsonobject

import (
	"bytes"
	"encoding/json"
	"iter"
	"unicode/utf8"
)

// Fields yields the names and the values of the members of raw, in their order. A
// name that is written twice is yielded twice. Of what is no object it yields
// nothing, and of a broken one the members before the break. The values are parts of raw.
func Fields(raw json.RawMessage) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		rest, ok := bytes.CutPrefix(trim(raw), []byte("{"))
		for more := byte(','); ok && more == ','; {
			rest = trim(rest)
			quoted := rest[:textEnd(rest)]
			name, isText := textOf(quoted)
			if rest, ok = bytes.CutPrefix(trim(rest[len(quoted):]), []byte(":")); !ok || !isText {
				return
			}
			end := valueEnd(rest)
			value := trim(rest[:end])
			if !json.Valid(value) || !yield(name, value[:len(value):len(value)]) {
				return
			}
			if rest = rest[end:]; len(rest) == 0 {
				return
			}
			more, rest = rest[0], rest[1:]
		}
	}
}

// trim returns JSON without what may stand around a value.
func trim(raw []byte) []byte { return bytes.Trim(raw, " \t\r\n") }

// textOf returns a text as JSON writes it, and whether it is one.
func textOf(quoted []byte) (text string, ok bool) {
	if len(quoted) < 2 || quoted[0] != '"' {
		return "", false
	}
	inner := quoted[1 : len(quoted)-1]
	for _, c := range inner {
		if c < ' ' || c == '\\' || c >= utf8.RuneSelf {
			err := json.Unmarshal(quoted, &text)
			return text, err == nil
		}
	}
	return string(inner), true
}

// textEnd returns where a text ends that raw begins with: behind its quote.
func textEnd(raw []byte) int {
	for i := 1; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(raw)
}

// valueEnd returns where a value ends that raw begins with: at the comma or the bracket behind it.
func valueEnd(raw []byte) int {
	depth := 0
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			i += textEnd(raw[i:]) - 1
		case c == '{' || c == '[':
			depth++
		case depth == 0 && (c == ',' || c == '}' || c == ']'):
			return i
		case c == '}' || c == ']':
			depth--
		}
	}
	return len(raw)
}

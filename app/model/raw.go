package model

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// Object returns the members of a JSON object, or nil for anything else.
func Object(raw []byte) map[string]json.RawMessage {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	return members
}

// List returns the elements of a JSON array. One object, which some servers send in place of an
// array of one, is its own element. Anything else has none.
func List(raw []byte) []json.RawMessage {
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && raw[0] == '{' {
		return []json.RawMessage{raw}
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// Member returns the first of the named members that is a text or a number and not empty, as text.
func Member(members map[string]json.RawMessage, names ...string) string {
	for _, name := range names {
		raw := members[name]
		if len(raw) == 0 {
			continue
		}
		var text string
		if json.Unmarshal(raw, &text) == nil && text != "" {
			return text
		}
		if c := raw[0]; c == '-' || c >= '0' && c <= '9' {
			return string(raw)
		}
	}
	return ""
}

// Joint reads a text that comes in JSON strings, one after the other: what one of them cuts in the
// middle of a character is held until the next. The zero value is ready.
type Joint struct {
	half []byte // the beginning of a character, as it is written in JSON
}

// Next returns the text of the next JSON string; of anything else it returns "".
func (j *Joint) Next(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) < 2 || raw[0] != '"' {
		return ""
	}
	inner := raw[1 : len(raw)-1]
	if len(inner) == 0 {
		return ""
	}
	if len(j.half) > 0 {
		inner = append(j.half, inner...)
		j.half = nil
	}
	if n := halfAtEnd(inner); n > 0 {
		j.half = bytes.Clone(inner[len(inner)-n:])
		inner = inner[:len(inner)-n]
	}
	return unquote(inner)
}

// Rest returns what is still held at the end: U+FFFD, or "".
func (j *Joint) Rest() string {
	half := j.half
	j.half = nil
	return unquote(half)
}

// unquote returns the text of what stands between the quotes of a JSON string.
func unquote(inner []byte) string {
	if len(inner) == 0 {
		return ""
	}
	var text string
	_ = json.Unmarshal(append(append([]byte{'"'}, inner...), '"'), &text) // it was a string before
	return text
}

// halfAtEnd returns how many bytes at the end of a JSON string's inside are the first half of a
// surrogate pair, or the beginning of a character in UTF-8.
func halfAtEnd(inner []byte) int {
	const escape = len(`\ud83d`)
	if n := len(inner); n >= escape && inner[n-escape] == '\\' && inner[n-escape+1] == 'u' {
		before := 0
		for i := n - escape - 1; i >= 0 && inner[i] == '\\'; i-- {
			before++
		}
		h := bytes.ToLower(inner[n-escape+2:])
		if before%2 == 0 && h[0] == 'd' && (h[1] == '8' || h[1] == '9' || h[1] == 'a' || h[1] == 'b') {
			return escape
		}
	}
	for n := 1; n < utf8.UTFMax && n <= len(inner); n++ {
		b := inner[len(inner)-n]
		if utf8.RuneStart(b) {
			if b >= utf8.RuneSelf && !utf8.FullRune(inner[len(inner)-n:]) {
				return n
			}
			break
		}
	}
	return 0
}

// Package view has what a person sees of Conclave, as structs: the window's page pulls them, the
// terminal prints them with --json and makes its tables of them. Its functions turn values of the
// other packages into these structs. They read no store, call no plugin and decide nothing.
//
// The TypeScript types of the page are generated from here (app/window/generated_test.go). A list
// is never null, a text that does not apply is "", and a time is UTC, or "".
package view

import (
	"encoding/json"
	"time"

	"conclave/app/chat"
	"conclave/app/tool"
)

// Time is a time as JSON has it: RFC 3339 in UTC, with milliseconds; "" where there is none.
type Time struct{ time.Time }

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) { return json.Marshal(chat.Stamp(t.Time)) }

// UnmarshalJSON implements json.Unmarshaler.
func (t *Time) UnmarshalJSON(raw []byte) error {
	if string(raw) == `""` {
		t.Time = time.Time{}
		return nil
	}
	return t.Time.UnmarshalJSON(raw)
}

// Minute returns the time as a table has it, "" where there is none.
func (t Time) Minute() string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04")
}

// List returns items, never nil.
func List[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}

// Map returns the view of each item, never nil.
func Map[T, V any](items []T, of func(T) V) []V {
	out := make([]V, len(items))
	for i, item := range items {
		out[i] = of(item)
	}
	return out
}

// Milliseconds returns a duration with three digits after the point.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Indented returns JSON as indented text, every character of it; "" of nothing and of null.
func Indented(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	return tool.Indented(raw)
}

// clean returns a text without hidden characters.
func clean(text string) string {
	text, _ = tool.Strip(text)
	return text
}

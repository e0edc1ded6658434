package chat

import (
	"slices"
	"strings"
	"time"
)

// TextPart returns a part that says text.
func TextPart(text string) Part { return Part{Kind: PartText, Text: text} }

// TextOf returns the text parts of parts, joined by newlines.
func TextOf(parts []Part) string {
	var text strings.Builder
	first := true
	for _, p := range parts {
		if p.Kind != PartText {
			continue
		}
		if !first {
			text.WriteByte('\n')
		}
		text.WriteString(p.Text)
		first = false
	}
	return text.String()
}

// ReplaceText returns parts with text in place of their first text, and without their
// other texts; with text empty it leaves none. placed is false when parts held no text:
// then out is parts as they are, and the caller says where text belongs.
func ReplaceText(parts []Part, text string) (out []Part, placed bool) {
	out, placed = make([]Part, 0, len(parts)+1), text == ""
	for _, p := range parts {
		if p.Kind == PartText {
			if placed {
				continue
			}
			p.Text, placed = text, true
		}
		out = append(out, p)
	}
	return out, placed
}

// WithText returns parts with text in place of their texts: where the first of them was, or
// before all else where there was none. Reasoning belonged to the old text, and is left out.
func WithText(parts []Part, text string) []Part {
	rest := slices.DeleteFunc(slices.Clone(parts), func(p Part) bool { return p.Kind == PartReasoning })
	out, placed := ReplaceText(rest, text)
	if !placed {
		out = slices.Insert(out, 0, TextPart(text))
	}
	return out
}

// Stamp returns a time as pages get it: RFC 3339 in UTC with milliseconds, or "".
func Stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z")
}

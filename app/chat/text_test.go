package chat

import (
	"strings"
	"testing"
)

func TestATextIsReplacedWhereTheFirstOneStood(t *testing.T) {
	call, thought := Part{Kind: PartToolCall}, Part{Kind: PartReasoning, Text: "hm"}
	for name, c := range map[string]struct {
		parts  []Part
		text   string
		want   string
		placed bool
	}{
		"one text":           {[]Part{TextPart("old")}, "new", "text:new", true},
		"between others":     {[]Part{thought, TextPart("old"), call}, "new", "reasoning:hm text:new tool_call:", true},
		"several texts":      {[]Part{TextPart("a"), call, TextPart("b"), TextPart("c")}, "new", "text:new tool_call:", true},
		"no text":            {[]Part{thought, call}, "new", "reasoning:hm tool_call:", false},
		"no parts":           {nil, "new", "", false},
		"nothing to say":     {[]Part{TextPart("a"), call, TextPart("b")}, "", "tool_call:", true},
		"an empty text part": {[]Part{TextPart("")}, "new", "text:new", true},
	} {
		t.Run(name, func(t *testing.T) {
			unchanged(t, c.parts)
			out, placed := ReplaceText(c.parts, c.text)
			if got := said(out); got != c.want || placed != c.placed {
				t.Errorf("got %q, placed %v; want %q, %v", got, placed, c.want, c.placed)
			}
		})
	}
}

func TestAnotherTextTakesThePlaceOfTheOldAndItsReasoning(t *testing.T) {
	call, thought := Part{Kind: PartToolCall}, Part{Kind: PartReasoning, Text: "hm"}
	for name, c := range map[string]struct {
		parts []Part
		text  string
		want  string
	}{
		"one text":       {[]Part{thought, call, TextPart("old"), TextPart("b")}, "new", "tool_call: text:new"},
		"no text":        {[]Part{thought, call}, "new", "text:new tool_call:"},
		"no parts":       {nil, "new", "text:new"},
		"nothing to say": {[]Part{TextPart("a"), call}, "", "tool_call:"},
	} {
		t.Run(name, func(t *testing.T) {
			unchanged(t, c.parts)
			if got := said(WithText(c.parts, c.text)); got != c.want {
				t.Errorf("got %q; want %q", got, c.want)
			}
		})
	}
}

// unchanged fails the test if parts are others at its end than they are now.
func unchanged(t *testing.T, parts []Part) {
	t.Helper()
	before := said(parts)
	t.Cleanup(func() {
		if after := said(parts); after != before {
			t.Errorf("what was given was changed from %q to %q", before, after)
		}
	})
}

func said(parts []Part) string {
	words := make([]string, len(parts))
	for i, p := range parts {
		words[i] = string(p.Kind) + ":" + p.Text
	}
	return strings.Join(words, " ")
}

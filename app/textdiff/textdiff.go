// Package textdiff compares two texts line by line, for a person to read.
package textdiff

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// Kind says of which text a line is.
type Kind string

// The kinds of lines.
const (
	Same    Kind = "same"
	Removed Kind = "removed" // only in the first
	Added   Kind = "added"   // only in the second
	Gap     Kind = "gap"     // no line: lines that are the same are left out
)

// Line is one line of what Lines returns.
type Line struct {
	Kind Kind
	Text string // without its line end; of a gap ""
	At   int    // of a gap: how many lines of the first text come before the next line
}

// Lines returns the lines by which two texts differ, each with up to three around it. A
// gap stands before each group but one that begins where both texts do. A last line
// without an end is as one with it.
func Lines(before, after string) []Line {
	out := []Line{}
	began := false
	for line := range bytes.Lines(diff.Diff("", ended(before), "", ended(after))) {
		text := strings.TrimSuffix(string(line), "\n")
		var first int
		switch {
		case strings.HasPrefix(text, "@@"):
			began = true
			if _, err := fmt.Sscanf(text, "@@ -%d", &first); err == nil && first > 1 {
				out = append(out, Line{Kind: Gap, At: first - 1})
			}
		case !began || text == "":
		case text[0] == '+':
			out = append(out, Line{Kind: Added, Text: text[1:]})
		case text[0] == '-':
			out = append(out, Line{Kind: Removed, Text: text[1:]})
		case text[0] == ' ':
			out = append(out, Line{Kind: Same, Text: text[1:]})
		}
	}
	return out
}

func ended(text string) []byte {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return []byte(text)
}

// Package textdiff compares two texts line by line, for a person to read.
package textdiff

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"
)

// Kind says in which of the texts a line stands.
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

// around is the length of the shared text that Near leaves on each side of what differs.
const around = 60

// Near shortens lines of more than most characters: of a removed line and of the added one
// that takes its place, what both begin with and what both end with is cut.
func Near(lines []Line, most int) []Line {
	out := slices.Clone(lines)
	for i := 0; i < len(out); {
		removed := run(out[i:], Removed)
		added := run(out[i+removed:], Added)
		for n := range min(removed, added) {
			was, now := &out[i+n], &out[i+removed+n]
			if utf8.RuneCountInString(was.Text) > most || utf8.RuneCountInString(now.Text) > most {
				was.Text, now.Text = apart(was.Text, now.Text)
			}
		}
		i += max(removed+added, 1)
	}
	return out
}

// run returns how many lines of a kind there are in a row.
func run(lines []Line, kind Kind) int {
	if n := slices.IndexFunc(lines, func(l Line) bool { return l.Kind != kind }); n >= 0 {
		return n
	}
	return len(lines)
}

// apart cuts what two texts begin and end with alike.
func apart(before, after string) (string, string) {
	a, b := []rune(before), []rune(after)
	least := min(len(a), len(b))
	start := 0
	for start < least && a[start] == b[start] {
		start++
	}
	end := 0
	for end < least-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	head, tail := "", ""
	if start > around {
		head, a, b = "…", a[start-around:], b[start-around:]
	}
	if end > around {
		tail, a, b = "…", a[:len(a)-end+around], b[:len(b)-end+around]
	}
	return head + string(a) + tail, head + string(b) + tail
}

package tool

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"conclave/app/base/hidden"
)

// MaxMarked bounds how many lines with hidden characters are shown of one text.
const MaxMarked = 20

// Marked returns the lines of a text that hold characters which Strip removes, the first
// MaxMarked of them, with these written out: “pay‹U+202E, turns the direction›pal”. also,
// when not nil, returns what else is to be said of characters of a line, by where they
// begin in it: “looks like a”. It is not asked about lines of plain letters.
func Marked(text string, also func(line string) map[int]string) []string {
	return markedLines(text, false, also)
}

// markedLines is Marked. padding says that blanks are written out too of which Clean leaves
// one.
func markedLines(text string, padding bool, also func(line string) map[int]string) []string {
	var all []string
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if i < len(lines)-1 {
			line = strings.TrimSuffix(line, "\r")
		}
		if hidden.Plain(line) && !(padding && strings.Contains(line, padded)) {
			continue
		}
		var more map[int]string
		if also != nil {
			more = also(line)
		}
		if marked, ok := markedLine(line, padding, more); ok && len(all) < MaxMarked {
			all = append(all, marked)
		}
	}
	return all
}

// padded is the shortest run of blanks of which Clean leaves one.
var padded = strings.Repeat(" ", maxRun+1)

// markedLine writes out what nobody sees in a line, and what more says of it; ok is false
// where that is nothing. Of a long line it returns what is around the first such place.
func markedLine(line string, padding bool, more map[int]string) (marked string, ok bool) {
	var out []rune
	var gone []string // the pieces that nobody sees since the last that is seen
	first := -1
	mark := func(words string) {
		if first < 0 {
			first = len(out)
		}
		out = append(out, []rune("‹"+words+"›")...)
	}
	seen := 0 // where the blanks end that are written out
	for i, piece := range hidden.Pieces(line) {
		if i < seen {
			continue
		}
		if piece.Hidden {
			gone = append(gone, piece.Text)
			continue
		}
		writtenOut(gone, mark)
		gone = nil
		words, known := more[i]
		switch {
		case padding && strings.HasPrefix(line[i:], padded):
			blanks := len(line[i:]) - len(strings.TrimLeft(line[i:], " "))
			seen = i + blanks
			mark(strconv.Itoa(blanks) + " blanks")
		case known:
			r, _ := utf8.DecodeRuneInString(piece.Text)
			mark(fmt.Sprintf("U+%04X, %s", r, words))
		default:
			out = append(out, []rune(piece.Shown)...)
		}
	}
	writtenOut(gone, mark)
	if first < 0 {
		return "", false
	}
	if len(out) > ShownLine {
		from := max(0, first-ShownLine/4)
		to := min(len(out), from+ShownLine)
		shown := slices.Clone(out[from:to])
		if from > 0 {
			shown = slices.Insert(shown, 0, '…')
		}
		if to < len(out) {
			shown = append(shown, '…')
		}
		out = shown
	}
	marked, _ = Strip(string(out)) // what joined two that are apart now
	return marked, true
}

// writtenOut marks pieces that nobody sees, those of one kind together.
func writtenOut(pieces []string, mark func(words string)) {
	for len(pieces) > 0 {
		kind, same := kindOf(pieces[0]), 1
		for same < len(pieces) && kindOf(pieces[same]) == kind {
			same++
		}
		mark(kind.words(pieces[:same]))
		pieces = pieces[same:]
	}
}

// unseen is a kind of characters that nobody sees, in words.
type unseen string

const (
	invisible unseen = "invisible"
	direction unseen = "turns the direction"
	control   unseen = "a control character"
	sequence  unseen = "for terminals"
	tags      unseen = "hidden letters"
)

// kindOf returns the kind of a piece that Strip removes.
func kindOf(piece string) unseen {
	switch r, size := utf8.DecodeRuneInString(piece); {
	case len(piece) > size || r == 0x1b:
		return sequence
	case r < 0xa0:
		return control
	case r == 0x061c, r == 0x200e, r == 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return direction
	case r >= 0xe0020 && r < 0xe007f:
		return tags
	}
	return invisible
}

// words describes pieces of one kind: each by its number, of hidden letters what they spell.
func (u unseen) words(pieces []string) string {
	first, _ := utf8.DecodeRuneInString(pieces[0])
	switch u {
	case sequence:
		return fmt.Sprintf("%s, %s", cutTo(strconv.QuoteToASCII(strings.Join(pieces, "")), ShownLine/4), u)
	case tags:
		var spelled strings.Builder
		for _, piece := range pieces {
			r, _ := utf8.DecodeRuneInString(piece)
			spelled.WriteRune(r - 0xe0000) // the letter of ASCII that the tag stands for
		}
		return fmt.Sprintf("%s: %s", u, cutTo(spelled.String(), ShownLine/4))
	}
	if n := len(pieces); n > 1 {
		return fmt.Sprintf("U+%04X and %d more, %s", first, n-1, u)
	}
	return fmt.Sprintf("U+%04X, %s", first, u)
}

// cutTo shortens a text of ASCII to n characters.
func cutTo(text string, n int) string {
	if len(text) > n {
		return text[:n] + "…"
	}
	return text
}

package search

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// The size of a snippet, in bytes: about two lines in the list of results, the
// word found in the first.
const (
	snippetBefore = 60
	snippetSize   = 220
)

// snippetWindow bounds the text around the first place where a word could be that is
// looked at, before the whole text is.
const snippetWindow = 1 << 10

// snippet returns the text around the first word that was looked for, on one
// line, and where such words are in it.
func snippet(text string, w *wanted) (string, [][2]int) {
	if from, to, ok := nearby(text, w); ok {
		if line, marks := snippetOf(text[from:to], w); len(marks) > 0 {
			return line, marks
		}
	}
	return snippetOf(text, w)
}

// nearby returns a part of a long text that begins and ends between words and
// holds the first place where a word that was looked for stands as it was typed,
// in any case. ok is false when the text is short, or there is no such place.
func nearby(text string, w *wanted) (from, to int, ok bool) {
	if len(text) <= 2*snippetWindow {
		return 0, 0, false
	}
	first := -1
	lower := strings.ToLower(text)
	if len(lower) != len(text) {
		return 0, 0, false
	}
	for term := range w.terms {
		if at := strings.Index(lower, term); at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	if first < 0 {
		return 0, 0, false
	}
	from, to = max(0, first-snippetWindow), min(len(text), first+snippetWindow)
	if from > 0 {
		space := strings.IndexByte(text[from:first], ' ')
		if space < 0 {
			return 0, 0, false
		}
		from += space + 1
	}
	if to < len(text) {
		space := strings.LastIndexByte(text[first:to], ' ')
		if space < 0 {
			return 0, 0, false
		}
		to = first + space
	}
	return from, to, true
}

// snippetOf is snippet by the words of the whole text.
func snippetOf(text string, w *wanted) (string, [][2]int) {
	tokens := slices.Collect(wordsOf(text))
	first := slices.IndexFunc(tokens, func(t word) bool { return w.marks(t.folded) })
	from, to := 0, min(len(text), snippetSize)
	if first >= 0 && tokens[first].end > snippetSize-snippetBefore {
		// From a word's beginning, so that no word is cut.
		i := first
		for i > 0 && tokens[i-1].start > tokens[first].start-snippetBefore {
			i--
		}
		from = tokens[i].start
		to = min(len(text), max(from+snippetSize, tokens[first].end))
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	marks := [][2]int{}
	for i := max(first, 0); i < len(tokens) && tokens[i].end <= to; i++ {
		if t := tokens[i]; t.start >= from && w.marks(t.folded) {
			marks = append(marks, [2]int{t.start - from, t.end - from})
		}
	}
	oneLine := []byte(text[from:to])
	for i, c := range oneLine {
		if c < ' ' {
			oneLine[i] = ' '
		}
	}
	return string(oneLine), marks
}

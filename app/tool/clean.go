package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"conclave/app/base/hidden"
	"conclave/app/base/jsonobject"
	"conclave/app/base/shorten"
)

// maxRun limits how many columns of blanks a description keeps. More is padding that
// pushes text out of sight; honest tables and code stay below it.
const maxRun = 40

// blank returns how many columns a character takes of which nothing is seen, or 0: those
// of Unicode's White_Space, but for the line end, and the empty cell of Braille.
func blank(r rune) int {
	switch {
	case r == '\t':
		return 4
	case r == ' ' || r == 0x2800 || r != '\n' && r >= 0x80 && unicode.Is(unicode.White_Space, r):
		return 1
	}
	return 0
}

// Strip is [hidden.Strip].
func Strip(text string) (string, int) { return hidden.Strip(text) }

// Clean is Strip for a definition's texts: it also folds runs of blanks that are wider than
// 40 columns into one, and more than three line ends with nothing but blanks between them
// into two, and counts what it took.
func Clean(text string) (string, int) {
	text, removed := Strip(text)
	var b strings.Builder
	done := 0
	for i := 0; i < len(text); {
		if c := text[i]; c > ' ' && c < utf8.RuneSelf { // as most are
			i++
			continue
		}
		run := emptyRun(text[i:])
		if run < 4 { // neither 40 columns nor four line ends
			_, size := utf8.DecodeRuneInString(text[i+run:])
			i += run + size
			continue
		}
		kept := folded(text[i : i+run])
		if n := utf8.RuneCountInString(text[i:i+run]) - utf8.RuneCountInString(kept); n > 0 {
			b.WriteString(text[done:i])
			b.WriteString(kept)
			removed, done = removed+n, i+run
		}
		i += run
	}
	if done == 0 {
		return text, removed
	}
	b.WriteString(text[done:])
	return b.String(), removed
}

// emptyRun returns how many bytes of blanks and line ends a text begins with.
func emptyRun(text string) int {
	for i, r := range text {
		if r != '\n' && blank(r) == 0 {
			return i
		}
	}
	return len(text)
}

// folded returns what is kept of a run of blanks and line ends.
func folded(run string) string {
	lines := strings.Split(run, "\n")
	if len(lines) > 4 {
		lines = []string{lines[0], "", lines[len(lines)-1]}
	}
	for i, line := range lines {
		columns := 0
		for _, r := range line {
			columns += blank(r)
		}
		if columns > maxRun {
			lines[i] = " "
		}
	}
	return strings.Join(lines, "\n")
}

// Unseen reports whether a person does not see r in a line of text, or sees a gap for it.
func Unseen(r rune) bool { return hidden.Is(r) || !unicode.IsPrint(r) }

// saying are the keywords by which a schema says something to a model.
var saying = []string{"description", "title", "$comment"}

// cleanSchema cleans the texts a schema says to a model (description, title,
// $comment) and leaves every other byte, and so the order of its properties, as
// it is. It returns how many characters it removed, and the lines of which, as Tool.Marked.
func cleanSchema(raw json.RawMessage) (json.RawMessage, int, []string) {
	return cleanTexts(raw, says)
}

// says reports whether a text of a schema is one that the schema says to a model.
func says(t jsonobject.Text) bool {
	return !t.IsName && len(t.Within) > 0 && slices.Contains(saying, t.Within[len(t.Within)-1].Name)
}

// cleanAnnotations cleans all texts of annotations but names, and returns how many characters it removed.
func cleanAnnotations(raw json.RawMessage) (json.RawMessage, int) {
	raw, removed, _ := cleanTexts(raw, func(t jsonobject.Text) bool { return !t.IsName })
	return raw, removed
}

// hiddenValues returns the lines with hidden characters of what a schema has besides what it says: names and values,
// which cannot be changed. They are as Tool.Marked has them.
func hiddenValues(raw json.RawMessage) (marked []string) {
	if hidden.Plain(string(raw)) && !bytes.ContainsRune(raw, '\\') {
		return nil
	}
	for t := range jsonobject.Texts(raw) {
		if _, n := Strip(t.Value); n > 0 && !says(t) && len(marked) < MaxMarked {
			marked = append(marked, markedLines(t.Value, false, nil)...)
		}
	}
	return marked
}

// cleanTexts cleans the texts of a JSON value that which reports.
func cleanTexts(raw json.RawMessage, which func(jsonobject.Text) bool) (json.RawMessage, int, []string) {
	if hidden.Plain(string(raw)) && !bytes.ContainsRune(raw, '\\') && !bytes.Contains(raw, []byte("          ")) &&
		!bytes.ContainsRune(raw, '\t') {
		return raw, 0, nil
	}
	var out []byte
	var marked []string
	removed, done := 0, 0
	for t := range jsonobject.Texts(raw) {
		if !which(t) {
			continue
		}
		if clean, n := Clean(t.Value); n > 0 {
			removed += n
			marked = append(marked, markedLines(t.Value, true, nil)...)
			out = append(out, raw[done:t.From]...)
			out = appendString(out, clean)
			done = t.To
		}
	}
	if removed == 0 {
		return raw, 0, nil
	}
	return append(out, raw[done:]...), removed, marked
}

// ShownLine limits how many characters of a line ShowLine keeps: a minified file is one line.
const ShownLine = 400

// ShowLine returns a line of foreign text as a person is shown it where they compare
// texts: bounded, and with a hidden character written out, since it may be all that
// differs.
func ShowLine(line string) string {
	if _, changed := Strip(line); changed > 0 {
		var b strings.Builder
		for _, r := range line {
			if _, changed := Strip(string(r)); changed > 0 {
				fmt.Fprintf(&b, "\\u{%04x}", r)
			} else {
				b.WriteRune(r)
			}
		}
		line = b.String()
	}
	return shorten.After(line, ShownLine)
}

package terminal

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"conclave/app/base/shorten"
)

// table prints columns for a person: as wide as they need. Where that is wider than the
// terminal, the widest are cut, but not the first, which names what a command is given.
type table struct {
	head []string
	rows [][]string
}

func newTable(head ...string) *table { return &table{head: head} }

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// print writes the table, or the sentence when there are no rows.
func (t *table) print(c *terminal, none string) error {
	if len(t.rows) == 0 {
		return c.say(c.Out, "%s", none)
	}
	for i, title := range t.head {
		t.head[i] = c.said(title)
	}
	widths := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], columns(cell))
		}
	}
	t.fit(widths, c.Width)
	for _, row := range append([][]string{t.head}, t.rows...) {
		var line strings.Builder
		for i, cell := range row {
			cell = cut(cell, widths[i])
			if i == len(row)-1 {
				line.WriteString(cell)
				break
			}
			line.WriteString(padded(cell, widths[i]) + "  ")
		}
		if _, err := fmt.Fprintln(c.Out, cut(strings.TrimRight(line.String(), " "), c.Width)); err != nil {
			return err
		}
	}
	return nil
}

// leastColumn is the least width of a column that is cut, in characters.
const leastColumn = 8

// fit makes the widest columns narrower until a line fits a width; 0 is no bound.
func (t *table) fit(widths []int, width int) {
	if width <= 1 {
		return
	}
	sum := 2 * (len(widths) - 1)
	for _, w := range widths {
		sum += w
	}
	for ; sum > width; sum-- {
		widest := -1
		for i := 1; i < len(widths); i++ {
			least := max(leastColumn, columns(t.head[i]))
			if widths[i] > least && (widest < 0 || widths[i] >= widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return // the line is cut
		}
		widths[widest]--
	}
}

// columns returns how wide a text is in a terminal: Chinese, Japanese and Korean characters take two.
func columns(text string) int {
	n := utf8.RuneCountInString(text)
	for _, r := range text {
		if r >= 0x2e80 && r <= 0xd7a3 || r >= 0xf900 && r <= 0xfaff || r >= 0xff01 && r <= 0xff60 {
			n++
		}
	}
	return n
}

// padded returns a text with spaces up to a width.
func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(width-columns(text), 0))
}

// cut shortens a line to width columns, where width is known.
func cut(line string, width int) string {
	if width <= 1 {
		return line
	}
	return shorten.To(line, width)
}

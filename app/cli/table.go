package cli

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"conclave/app/shorten"
)

// table prints columns for a person: as wide as they need, the last one cut to
// the terminal's width.
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
	widths := make([]int, len(t.head))
	for _, row := range append([][]string{t.head}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range append([][]string{t.head}, t.rows...) {
		var line strings.Builder
		for i, cell := range row {
			if i == len(row)-1 {
				line.WriteString(cell)
				break
			}
			line.WriteString(cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		if _, err := fmt.Fprintln(c.Out, cut(strings.TrimRight(line.String(), " "), c.Width)); err != nil {
			return err
		}
	}
	return nil
}

// cut shortens a line to width columns, where width is known.
func cut(line string, width int) string {
	if width <= 1 {
		return line
	}
	return shorten.To(line, width)
}

package wire

import (
	"fmt"
	"strconv"
	"strings"
)

// Frame shows the lines around a place, which count from 1, as docs/WIRE.md draws
// them; a column of 0 marks the line alone.
func Frame(text string, line, column int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if line < 1 || line > len(lines) {
		return ""
	}
	from, to := max(line-2, 1), min(line+1, len(lines))
	width := len(strconv.Itoa(to))
	// Minified bundles have lines of a megabyte: only the part around the place
	// is shown, from the same column in each line.
	const wide, before = 120, 60
	cut := 0
	if column > wide {
		cut = column - before
	}
	var b strings.Builder
	for n := from; n <= to; n++ {
		mark := " "
		if n == line {
			mark = ">"
		}
		shown := []rune(strings.TrimRight(lines[n-1], "\r"))
		shown = shown[min(cut, len(shown)):]
		shown = shown[:min(wide, len(shown))]
		fmt.Fprintf(&b, "%s %*d | %s\n", mark, width, n, strings.TrimRight(string(shown), " \t"))
		if n == line && column > 0 {
			pad := make([]rune, 0, wide)
			for i := range column - cut - 1 {
				if i < len(shown) && shown[i] == '\t' {
					pad = append(pad, '\t')
				} else {
					pad = append(pad, ' ')
				}
			}
			fmt.Fprintf(&b, "  %*s | %s^\n", width, "", string(pad))
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

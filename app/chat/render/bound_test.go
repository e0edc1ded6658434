package render

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"conclave/app/base/limit"
	"conclave/app/test/testkit"
)

// units are pieces of Markdown that cost much when they are repeated, or did.
var units = []string{
	"[a](", "[](", "[a](<", "[a](b \"", "![a](", "[", "![", "[a][", "]", "[[a](b)](c)", "[a]: b\n", "[a]\n\n",
	"*a ", "**a _b ", "*_", "*a**", "a_", "_a", "a**b", "~~a ", "`a", "``a`", "&", "&#",
	"<", "<a ", "<!--", "<?", "<![CDATA[", "<b>", "<b></i>", "<a@b.c>", "<br>", "</b>",
	`\(`, `\[`, "$$", "$$a\n", "\\[\na\n", "> ", ">", "- ", "1. ", "+ ", "> > > a\n\n", "- - - a\n",
	"[^1]: ", "[^1] ", "[^a]: x\n", "<details>\n", "<details>\n<summary>a</summary>\n", "- <details>\n",
	": a\n", "a\n: b\n", "a\n:   b\n\n    c\n", "http://", "www.a.b ", "a@b.c ", "http://a.b/(",
	"| a", "|a|b|\n|-|-|\n", "||\n", "|`\\|`", "- [x] ", "a\n\n", "a\n===\n", "# a\n", "```\n", "- ```\n", "\t", "-\t",
	strings.Repeat("> ", 16) + "a\nb\n", strings.Repeat("- ", 16) + "a\n", strings.Repeat(">", 16) + "a\n\n",
}

// prefixes stand before what is repeated, so that it means something else.
var prefixes = []string{
	"", "|a|b|\n|-|-|\n", strings.Repeat("|a", 90) + "\n" + strings.Repeat("|-", 90) + "|\n",
	strings.Repeat("|", 3000) + "a\n" + strings.Repeat("|-", 3000) + "|\n",
	"[a]: http://b/" + strings.Repeat("b", 4000) + "\n\n", "[a]: http://b/ '" + strings.Repeat("b", 15000) + "'\n\n",
	"- ", "> ", "<details>\n", "a\n: ", "[^a]: ", "|`a`|\n|-|\n",
}

// checkProportion renders a text and reports HTML or time that is out of
// proportion to its length. Both bounds are several times what the costliest of
// units takes: a step that grows with the square of the text takes far more.
func checkProportion(t *testing.T, md string) {
	t.Helper()
	start := testkit.ProcessorTime()
	size := 0
	for _, b := range Render(md) {
		size += len(b.HTML)
	}
	took := testkit.ProcessorTime() - start
	if most := 2*allowance + limit.HTML*len(md); size > most {
		t.Errorf("%d bytes of HTML of %d bytes of text, want at most %d: %.100q", size, len(md), most, md)
	}
	if most := 300*time.Millisecond + slow*time.Duration(len(md))*20*time.Microsecond; took > most {
		t.Errorf("%v for %d bytes of text, want at most %v: %.100q", took, len(md), most, md)
	}
}

func TestTimeAndHTMLGrowWithTheTextAlone(t *testing.T) {
	size := 32 << 10
	for _, prefix := range prefixes {
		if prefix != "" {
			size = 8 << 10
		}
		for _, unit := range units {
			checkProportion(t, prefix+strings.Repeat(unit, size/len(unit)))
		}
	}
	size = 32 << 10
	for name, md := range map[string]string{
		"open targets": strings.Repeat("[a](", 50_000),
		"a wide table": strings.Repeat("|a", 1500) + "|\n" + strings.Repeat("|-", 1500) + "|\n" +
			strings.Repeat("|\n", 3500),
		"growing ticks":   ticks(size),
		"deeper lists":    deeper(size),
		"late references": late(size),
	} {
		t.Run(name, func(t *testing.T) { checkProportion(t, md) })
	}
}

// ticks are runs of backticks that no other run closes.
func ticks(size int) string {
	var b strings.Builder
	for i := 1; b.Len() < size; i++ {
		b.WriteString(strings.Repeat("`", i) + "a")
	}
	return b.String()
}

// deeper is a list in a list in a list.
func deeper(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		b.WriteString(strings.Repeat(" ", 2*(i%200)) + "- a\n")
	}
	return b.String()
}

// late names what is defined further down.
func late(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, "[z%d]\n\n", i)
	}
	for i := 0; b.Len() < 2*size; i++ {
		fmt.Fprintf(&b, "[z%d]: https://a.org/%d\n\n", i, i)
	}
	return b.String()
}

func TestATableOverTheBoundsIsShownAsText(t *testing.T) {
	table := func(columns, rows int, row string) string {
		return strings.Repeat("|head", columns) + "|\n" + strings.Repeat("|-", columns) + "|\n" +
			strings.Repeat(row+"\n", rows)
	}
	columns, cells, escapes := limit.TableColumns, limit.TableCells, limit.TableEscapes
	for name, c := range map[string]struct {
		md   string
		over string
	}{
		"as many columns as may be": {table(columns, 3, "|last"), ""},
		"a column more": {
			table(columns+1, 3, "|last"),
			"Shown as text: a table with more than 100 columns.",
		},
		"many cells, written out": {table(20, 600, strings.Repeat("|last", 20)+"|"), ""},
		"as many empty as may be": {table(99, cells/99-2, "|last"), ""},
		"a row more": {
			table(99, cells/99+1, "|last"),
			"Shown as text: a table with too many empty cells.",
		},
		"as many bars as may be": {table(2, escapes, "|`a\\|b`|last|"), ""},
		"a bar more": {
			table(2, escapes+1, "|`a\\|b`|last|"),
			"Shown as text: a table with more than 500 escaped bars.",
		},
		"in a quote": {
			"> " + strings.ReplaceAll(table(columns+1, 1, "|last"), "\n", "\n> "),
			"Shown as text: a table with more than 100 columns.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := joined(Render(c.md))
			if isTable := strings.Contains(got, "<table>"); isTable != (c.over == "") {
				t.Errorf("a table: %v, want %v", isTable, c.over == "")
			}
			if c.over != "" && !strings.Contains(got, "<small>"+c.over+"</small>") {
				t.Errorf("it does not say %q: %.300s", c.over, got)
			}
			if !strings.Contains(got, "head") || strings.Count(got, "last") != strings.Count(c.md, "last") {
				t.Errorf("%d of %d cells with text are shown", strings.Count(got, "last"), strings.Count(c.md, "last"))
			}
		})
	}
}

func TestReferencesBeyondTheBoundAreShownAsWritten(t *testing.T) {
	const long = 1000
	md := "[x]: https://a.org/" + strings.Repeat("b", long) + "\n\n" + strings.Repeat("[x] ", 500)
	links := strings.Count(joined(Render(md)), "<a href")
	if most := (limit.References + 16*len(md)) / long; links < most/2 || links > most {
		t.Errorf("%d links, want up to %d", links, most)
	}
	if shown := strings.Count(joined(Render(md)), "[x]"); shown != 500-links {
		t.Errorf("%d references are shown as written, want %d", shown, 500-links)
	}
	few := "[x]: https://a.org/" + strings.Repeat("b", long) + "\n\n" + strings.Repeat("[x] ", 50)
	if links := strings.Count(joined(Render(few)), "<a href"); links != 50 {
		t.Errorf("%d links, want all 50", links)
	}
}

func TestABlockOfTooMuchHTMLIsShownAsText(t *testing.T) {
	const src = "<b>a text"
	for _, over := range []int{0, 1} {
		out := bytes.NewBufferString(strings.Repeat("x", allowance+limit.HTML*len(src)+over))
		got := bounded(out, []byte(src)).String()
		if isText := strings.Contains(got, "Shown as text: formatted it would be too large.") &&
			strings.Contains(got, "&lt;b&gt;a text"); isText != (over == 1) {
			t.Errorf("%d over: %.100s", over, got)
		}
	}
}

// FuzzTimeAndHTMLGrowWithTheTextAlone repeats a piece of text until whatever
// grows with its square shows.
func FuzzTimeAndHTMLGrowWithTheTextAlone(f *testing.F) {
	for i, unit := range units {
		f.Add(prefixes[i%len(prefixes)], unit)
	}
	f.Fuzz(func(t *testing.T, prefix, unit string) {
		const size = 32 << 10
		if unit == "" || len(prefix) > size {
			t.Skip()
		}
		checkProportion(t, prefix+strings.Repeat(unit, max(1, size/len(unit))))
	})
}

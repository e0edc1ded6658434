package render

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/test/testkit"

	"golang.org/x/net/html"
)

var must = testkit.Must

// shownText returns what a reader sees of some HTML, with single spaces.
func shownText(markup string) string {
	var b strings.Builder
	z := html.NewTokenizer(strings.NewReader(markup))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return strings.Join(strings.Fields(b.String()), " ")
		case html.TextToken:
			b.Write(z.Text())
		case html.StartTagToken:
			if name, _ := z.TagName(); len(name) == 2 && name[0] == 't' && name[1] != 'r' {
				b.WriteByte(' ')
			}
		}
	}
}

func TestLongTableAndParagraphShowAtOnceWhatComes(t *testing.T) {
	const size = 15_000
	for name, c := range map[string]struct{ head, unit string }{
		"paragraph": {"", "words that *lean*, `code`, **two words**, a [link](https://a.org/x) and ünd 😀 so on "},
		"lines":     {"", "some words\nand [others](https://a.org/x) of\n"},
		"wide":      {"", "語は**大事**だと言う。これは`code`で、"},
		"table":     {"| a | b |\n|---|--:|\n", "| 1 &amp; x | **2** 😀 |\n"},
		"intro":     {"before\n| a | b |\n|---|--:|\n", "| one | `2` |\n"},
		"lone mark": {"a * b [ c ** d ~~ e ", "and words of an * open ** mark "},
	} {
		t.Run(name, func(t *testing.T) {
			plain := strings.NewReplacer(
				"**",
				"",
				"*",
				"",
				"`",
				"",
				"[",
				"",
				"](https://a.org/x)",
				"",
				"|---|--:|\n",
				"",
				"|",
				" ",
				"&amp;",
				"&amp;",
			)
			if name == "lone mark" {
				plain = strings.NewReplacer()
			}
			var s Stream
			var window applied
			text, sent := c.head, 0
			s.Append(c.head)
			window.apply(t, s.Patches())
			for n := 0; len(text) < size; n++ {
				text += c.unit
				s.Append(c.unit)
				patches := s.Patches()
				window.apply(t, patches)
				for _, p := range patches {
					if sent += len(p.HTML) - p.Same; p.Done {
						t.Fatalf("block %d is done after %d bytes", p.Block, len(text))
					}
				}
				got := shownText(strings.Join(window, ""))
				if want := strings.Join(strings.Fields(shownText(plain.Replace(text))), " "); got != want {
					from := 0
					for from < min(len(got), len(want)) && got[from] == want[from] {
						from++
					}
					from = max(0, from-20)
					t.Fatalf("of %d bytes\n%.100q is shown, want\n%.100q", len(text), got[from:], want[from:])
				}
			}
			// Each time the last piece or two, and not the whole.
			if most := 5 * 2 * pieceSize * size / len(c.unit); sent > most {
				t.Errorf("%d bytes were sent, want at most %d", sent, most)
			}
			s.Finish()
			window.apply(t, s.Patches())
			same(t, text, window, s.Blocks())
		})
	}
}

func TestPiecesOfAnOpenBlockAreSafeByThemselves(t *testing.T) {
	texts := hostile(9000)
	random := rand.New(rand.NewPCG(123, 1))
	for i := range 20 {
		marks := []string{
			"*", "**", "`", "``", "[", "](b)", "<b>", "</b>", "<sub>", "~~", "$$", `\(`, `\)`, "word", " word ",
			"words and words ", "\n", "_", "https://a.b", "&lt;", "![", "|", "| |\n", "語",
		}
		var soup strings.Builder
		if i%2 == 0 {
			soup.WriteString("| a | b |\n|---|---|\n| ")
		}
		for soup.Len() < 9000 {
			soup.WriteString(marks[random.IntN(len(marks))])
		}
		texts[fmt.Sprint("soup ", i)] = soup.String()
	}
	for name, text := range texts {
		var s Stream
		for _, piece := range deltas(text, 30) {
			s.Append(piece)
			for _, p := range s.Patches() {
				if found := unsafe(p.HTML); found != "" {
					t.Fatalf("%s: %s", name, found)
				}
				if again := sanitize(bytes.NewBufferString(p.HTML)); again != p.HTML {
					t.Fatalf("%s\nrendered  %q\nsanitized %q", name, p.HTML, again)
				}
				if opened, closed := strings.Count(p.HTML, "<"), strings.Count(p.HTML, "</"); opened-closed < closed {
					t.Fatalf("%s closes %d elements and opens %d: %q", name, closed, opened-closed, p.HTML)
				}
			}
		}
	}
}

var update = flag.Bool("update", false, "rewrite testdata/seams.json")

// The page adds to a long open block at its seam. What it knows of seams it shows in
// frontend/src/lib/prose/seams.test.ts, by the same file.
func TestTheSeamsAreThoseThatThePageKnows(t *testing.T) {
	type step struct {
		Before string `json:"before"`
		After  string `json:"after"`
		Same   int    `json:"same"` // UTF-16 units that both begin with
	}
	steps := map[string]step{}
	for name, c := range map[string]struct{ head, unit string }{
		"code":      {"```go\n", "var größe = 1 // 😀\n"},
		"table":     {"| a | b |\n|---|--:|\n", "| größe | **2** 😀 with some words more |\n"},
		"paragraph": {"", "It says *größe* and 😀 and goes on for some words more. "},
	} {
		var s Stream
		s.Append(c.head + strings.Repeat(c.unit, 60))
		before := s.Patches()
		s.Append(strings.Repeat(c.unit, 9) + c.unit[:8])
		after := s.Patches()
		if len(before) != 1 || len(after) != 1 || after[0].SameUTF16 == 0 {
			t.Fatalf("a %s does not grow: %+v", name, after)
		}
		steps[name] = step{before[0].HTML, after[0].HTML, after[0].SameUTF16}
	}
	var got bytes.Buffer
	e := json.NewEncoder(&got)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	must(t, e.Encode(steps))
	file := filepath.Join("testdata", "seams.json")
	if *update {
		must(t, os.WriteFile(file, got.Bytes(), 0o600))
	}
	if want, err := os.ReadFile(file); err != nil || string(want) != got.String() {
		t.Errorf(
			"what grows is not as in %s; if it is right, go test ./app/chat/render -update, and teach grow.ts: %v",
			file,
			err,
		)
	}
}

package render

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

// samples are texts with every kind of block, and with what is hard about their
// borders.
var samples = []string{
	reply(3000),
	"a\n\n\n  b\nc\n\n    code\n\n    more\n\nd",
	"- a\n- b\n\n  c\n- d\n\n\ne",
	"1. Step:\n```bash\nls\n```\n2. Next\n   ```go\n   - x\n\n   # y\n   ```\n3. End\nlazy\n\ntext",
	"- a\n  - b\n    ```\n    x\n\n\n- y\n    ```\n* other",
	"* a\n* * *\n- b\n- - -\n+ c",
	"para\n# h\npara\n***\npara\n---\nx\n===\n> q\n> ```\n> code\n\n```\nopen",
	"> a\nlazy\n- b\n> c\n\n> d\n>\n> e",
	"intro\n| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3\n\n| c |\n| - |",
	"| just\n| text\n\n| a | b |\n|--",
	"$$\na\n- b\n# c\n$$\ntext\n\\[\nx\n\\]\n\n$$\nnever\n\n- closed",
	"T\n: d\n\nT2\n\n: d2\n\n    more\n\n: d3\n\nend",
	"[^1]: one\n    two\n\n    three\n[^2]: four\n\nx[^2]",
	"see [a] and [^n] and ![pic][b]\n\n[a]: https://a.org\n[b]: /media/x\n\n[^n]: note\n\n[A]: https://not.first",
	"<details>\n<summary>s</summary>\n\n- " +
		"a\n\n<details><summary>t</summary>\n\nb\n\n</details>\n\n```\n</details>\n```\n\n</details>\n\nafter " +
		"<b>x</b>\n\n<details>\n\nnever closed",
	"Here:\n\n```markdown\n# T\n```bash\nnpm i\n```\n~~~\nx\n```\n\nafter\n\n- a\n\n  ````md" +
		"\n  ````js\n  b\n  ````\n  ```\n  ````\n\nend",
	"> ```text\n> ```go\n> x\n> ```\n> y\n> ```\n> z\n\n<details>\n\n```md\n```js\n```" +
		"\n</details>\n```\n\n</details>\n\nb",
	"It costs $5 and $x^2$ is $n$th\n\\begin{align}\na\n- b\n\\end{align}\n" +
		"\n\\begin{equation} a \\end{equation}\n\n\\begin{equation}\nopen\n\nx",
	"这是**重点：**内容，以及**“引号”**后文。~~「あ」~~です\n\n<!-- a\nb --> c <center>d</center>\n\n<div align=center>\n\n<!--\n\ne",
	"~~~ py\n```\n~~~\n~~~~\n~~~\n~~~~ \nend",
	"a\r\nb\r\rc\n\r\nd\x00e\xff\xf0\x9f\x98\x80\xe2\x82",
	"\ttab\n\n-\ttab\n\n\tmore\n1)\tx\n2) y",
	"#\n##\n####### x\n#x\n-\n-\n\n1.\n\na",
	"*a **b `c` ~~d\n\n**x [y](http://z",
	"```mermaid\ngraph TD\n```\n```math\nx^2\n```\n``` a b` c\n",
}

// applied holds what a window shows after the patches it was given.
type applied []string

func (a *applied) apply(t testing.TB, patches []Patch) {
	last := -1
	for _, p := range patches {
		if p.Block <= last || p.Block > len(*a) {
			t.Fatalf("block %d after %d, of %d", p.Block, last, len(*a))
		}
		last = p.Block
		if p.Block == len(*a) {
			*a = append(*a, "")
		}
		before := (*a)[p.Block]
		if p.Same > len(before) || p.HTML[:p.Same] != before[:p.Same] {
			t.Fatalf("block %d says that %d bytes stay:\nbefore %q\nnow    %q", p.Block, p.Same, before, p.HTML)
		}
		if got := len(utf16.Encode([]rune(before[:p.Same]))); got != p.SameUTF16 {
			t.Fatalf("block %d says %d units, want %d", p.Block, p.SameUTF16, got)
		}
		(*a)[p.Block] = p.HTML
	}
}

// streamed renders text in pieces and returns what a window would show.
func streamed(t testing.TB, pieces []string, ask func(i int) bool) (applied, []Block) {
	var s Stream
	var window applied
	for i, piece := range pieces {
		s.Append(piece)
		if ask(i) {
			window.apply(t, s.Patches())
		}
	}
	s.Finish()
	blocks := s.Blocks()
	window.apply(t, s.Patches())
	if more := s.Patches(); len(more) > 0 {
		t.Fatalf("%d patches more after the last", len(more))
	}
	return window, blocks
}

// same fails unless window and blocks are what Render makes of text.
func same(t testing.TB, text string, window applied, blocks []Block) {
	whole := Render(text)
	if !slices.Equal(blocks, whole) {
		t.Fatalf("of %q\nstreamed %q\nwhole    %q", text, blocks, whole)
	}
	if len(window) > len(whole) {
		t.Fatalf("of %q\nthe window keeps %d blocks, want %d", text, len(window), len(whole))
	}
	for i, b := range whole {
		if window[i] != b.HTML {
			t.Fatalf("of %q\nblock %d in the window %q\nwant %q", text, i, window[i], b.HTML)
		}
	}
}

func always(int) bool { return true }

func TestAnyCutIntoDeltasEndsLikeTheWhole(t *testing.T) {
	for i, text := range samples {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			bytewise := strings.Split(text, "")
			if !utf8.ValidString(text) {
				bytewise = nil
				for i := range len(text) {
					bytewise = append(bytewise, text[i:i+1])
				}
			}
			window, blocks := streamed(t, bytewise, always)
			same(t, text, window, blocks)
			random := rand.New(rand.NewPCG(1, uint64(i)))
			for range 20 {
				var pieces []string
				for rest := text; rest != ""; {
					n := min(len(rest), 1+random.IntN(30))
					pieces, rest = append(pieces, rest[:n]), rest[n:]
				}
				window, blocks := streamed(t, pieces, func(int) bool { return random.IntN(3) == 0 })
				same(t, text, window, blocks)
			}
		})
	}
}

func TestLongTextsEndLikeTheWhole(t *testing.T) {
	for name, text := range longTexts(40_000) {
		t.Run(name, func(t *testing.T) {
			window, blocks := streamed(t, deltas(text, 301), func(i int) bool { return i%8 == 0 })
			same(t, text, window, blocks)
		})
	}
}

// longTexts are texts of about size bytes that are one block.
func longTexts(size int) map[string]string {
	fill := func(head, unit string) string { return head + strings.Repeat(unit, size/len(unit)) }
	return map[string]string{
		"paragraph":   fill("", "some words that go *on* and `on`, "),
		"lines":       fill("", "some words\n"),
		"list":        fill("", "- item with **bold**\n"),
		"one item":    fill("1. x\n", "   text of one item\n\n"),
		"nested list": fill("- a\n", "  - item\n"),
		"table":       fill("| a | b |\n|---|---|\n", "| 1 | **2** |\n"),
		"code":        fill("```go\n", "func f() { return \"x\" } // y\n"),
		"quote":       fill("", "> quoted words\n"),
		"fold":        fill("<details>\n", "- a\n\nb\n\n"),
		"line":        fill("", "x"),
		"wide runes":  fill("", "語"),
		"code line":   fill("```json\n", "{\"a\":1},"),
		"blank":       fill("", "\n"),
		"headings":    fill("", "# a\n"),
	}
}

func TestFinishedBlockIsRenderedOnce(t *testing.T) {
	var s Stream
	seen := map[int]bool{}
	for _, delta := range deltas(reply(20_000), 834) {
		s.Append(delta)
		for _, p := range s.Patches() {
			if seen[p.Block] {
				t.Fatalf("block %d changed after it was done: %q", p.Block, p.HTML)
			}
			seen[p.Block] = p.Done
		}
	}
}

func TestOpenBlockShowsWhatHasArrived(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"words":              {"Hello wor", "<p>Hello wor</p>"},
		"open emphasis":      {"a **bo", "<p>a <strong>bo</strong></p>"},
		"open code":          {"a `co", "<p>a <code>co</code></p>"},
		"half closed":        {"a **bo*", "<p>a <strong>bo</strong></p>"},
		"open link":          {"a [words](https://exa", "<p>a words</p>"},
		"list mark":          {"a\n-", "<p>a</p>"},
		"heading mark":       {"a\n\n##", "<p>a</p>"},
		"fence":              {"a\n\n```g", "<p>a</p>"},
		"head of a table":    {"a\n\n| b | c", "<p>a</p>"},
		"second line":        {"a\n\n| b | c |\n|--", "<p>a</p>"},
		"row without second": {"| b |\n| c", "<p>| b |\n| c</p>"},
		"item":               {"- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"},
		"item after a gap":   {"- a\n\n- b", "<ul>\n<li>\n<p>a</p>\n</li>\n<li>\n<p>b</p>\n</li>\n</ul>"},
		"after a list":       {"- a\n\nb", "<ul>\n<li>a</li>\n</ul><p>b</p>"},
		"code": {
			"```\na\nb",
			"<figure class=\"code\" data-lang=\"\"><figcaption><span class=\"code-lang\">Text</span></figcaption><pre " +
				"tabindex=\"0\"><code>a\n</code><code>b</code></pre></figure>",
		},
		"closing fence": {
			"```\na\n``",
			"<figure class=\"code\" data-lang=\"\"><figcaption><span class=\"code-lang\">Text</span></figcaption><pre " +
				"tabindex=\"0\"><code></code><code>a</code></pre></figure>",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var s Stream
			var window applied
			for _, piece := range strings.Split(c.text, "") {
				s.Append(piece)
				window.apply(t, s.Patches())
			}
			var got strings.Builder
			for _, html := range window {
				got.WriteString(strings.TrimSuffix(html, "\n"))
			}
			if got.String() != c.want {
				t.Errorf("got  %q\nwant %q", got.String(), c.want)
			}
		})
	}
}

func TestCodeIsNotFoldedWhileItIsBeingWritten(t *testing.T) {
	var s Stream
	s.Append("```go\n")
	for i := range 2 * foldOver {
		s.Append(fmt.Sprintf("line %d\n", i))
		for _, p := range s.Patches() {
			if strings.Contains(p.HTML, "<details") {
				t.Fatalf("folded at line %d while more comes", i)
			}
			if want := fmt.Sprintf(">%d</span>", i); !strings.Contains(p.HTML, want) {
				t.Fatalf("line %d is not shown: %.300q", i, p.HTML[max(0, len(p.HTML)-300):])
			}
		}
	}
	s.Append("```\n\nafter")
	if got := s.Patches()[0].HTML; !strings.Contains(got, "<details") {
		t.Error("not folded when done")
	}
}

func TestLineOfOpenCodeIsShownAtOnceHoweverLongTheBlockIs(t *testing.T) {
	const lines = 2000
	var s Stream
	s.Append("```go\n")
	sent, whole := 0, 0
	for i := range lines {
		s.Append(fmt.Sprintf("x := \"ünd %d 😀\" // note\n", i))
		patches := s.Patches()
		if len(patches) != 1 {
			t.Fatalf("%d patches after line %d, want its block", len(patches), i)
		}
		sent += len(patches[0].HTML) - patches[0].Same
		whole += len(patches[0].HTML)
	}
	if sent > whole/100 {
		t.Errorf("%d bytes for %d lines, of %d with the block whole each time", sent, lines, whole)
	}
}

func TestBlockOnceShownNeverVanishes(t *testing.T) {
	for i, text := range samples {
		var s Stream
		shown := map[int]bool{}
		for j := range len(text) {
			s.Append(text[j : j+1])
			for _, p := range s.Patches() {
				if p.HTML == "" && shown[p.Block] && !p.Done {
					t.Errorf("sample %d: block %d vanishes at %q", i, p.Block, text[:j+1])
				}
				shown[p.Block] = p.HTML != ""
			}
		}
	}
}

func TestLateDefinitionChangesOnlyTheBlocksThatNameIt(t *testing.T) {
	var s Stream
	var before applied
	s.Append("one [a]\n\ntwo\n\nthree [none]\n\n")
	before.apply(t, s.Patches())
	s.Append("[a]: https://a.org\n")
	s.Finish()
	after := slices.Clone(before)
	after.apply(t, s.Patches())
	var changed []int
	for i := range before {
		if after[i] != before[i] {
			changed = append(changed, i)
		}
	}
	if !slices.Equal(changed, []int{0}) {
		t.Errorf("changed %v, want block 0 alone", changed)
	}
	if got := s.Blocks()[0].HTML; !strings.Contains(got, `href="https://a.org"`) {
		t.Errorf("got %q, want a link", got)
	}
}

func TestSplitAgreesWithGoldmarkOnTheWhole(t *testing.T) {
	for i, text := range samples {
		if strings.Contains(text, "[A]") {
			continue // two definitions of a label are one block's matter here
		}
		var in intake
		source := in.finish(in.append(nil, text))
		s := Stream{text: source}
		whole, _ := s.markdown(chunk{end: len(source)}, source)
		var blocks strings.Builder
		for _, b := range Render(text) {
			blocks.WriteString(b.HTML)
		}
		// A fence that is never closed ends without a line feed here, and terms
		// with a blank line between them are separate lists.
		alike := strings.NewReplacer("\n</code>", "</code>", "</dl>\n<dl>\n", "")
		if got, whole := alike.Replace(blocks.String()), alike.Replace(whole); got != whole {
			t.Errorf("sample %d %q\nin blocks %s\nat once   %s", i, text, got, whole)
		}
	}
}

func TestLongListIsCutBetweenItemsAndCountsOn(t *testing.T) {
	var b strings.Builder
	for range 300 {
		b.WriteString("1. An item of the list\n")
	}
	blocks := Render(b.String())
	if len(blocks) < 3 {
		t.Fatalf("%d blocks of %d bytes", len(blocks), b.Len())
	}
	items := 0
	for i, block := range blocks {
		want := "<ol>"
		if i > 0 {
			want = fmt.Sprintf("<ol start=\"%d\" class=\"continued\">", items+1)
		}
		if !strings.HasPrefix(block.HTML, want) {
			t.Errorf("block %d begins %.50q, want %q", i, block.HTML, want)
		}
		items += strings.Count(block.HTML, "<li>")
	}
	if items != 300 {
		t.Errorf("%d items, want 300", items)
	}
}

func TestLongTableRepeatsItsHead(t *testing.T) {
	blocks := Render("| a | b |\n|---|--:|\n" + strings.Repeat("| 1 | 2 |\n", 10_000))
	rows := 0
	for i, b := range blocks {
		if b.Kind != KindTable || !strings.Contains(b.HTML, `<th scope="col" class="right">b</th>`) {
			t.Fatalf("block %d is %.100q", i, b.HTML)
		}
		if got := strings.Contains(b.HTML, `class="table continued"`); got != (i > 0) {
			t.Errorf("block %d says continued: %t", i, got)
		}
		rows += strings.Count(b.HTML, "<tr><td>")
	}
	if rows != 10_000 || len(blocks) < 2 {
		t.Errorf("%d rows in %d blocks, want 10000 in several", rows, len(blocks))
	}
}

func FuzzStreamEndsLikeTheWhole(f *testing.F) {
	for _, text := range samples {
		f.Add(text, uint64(7))
	}
	f.Add("1. a\n\n\n2. b\n   ```\n\nc", uint64(1))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 0))
		var pieces []string
		for rest := text; rest != ""; {
			n := min(len(rest), 1+random.IntN(12))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		window, blocks := streamed(t, pieces, func(int) bool { return random.IntN(2) == 0 })
		same(t, text, window, blocks)
	})
}

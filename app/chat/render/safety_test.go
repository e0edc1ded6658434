package render

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"conclave/app/test/testkit"

	"golang.org/x/net/html"
)

// joined is the HTML of all blocks.
func joined(blocks []Block) string {
	var b strings.Builder
	for _, block := range blocks {
		b.WriteString(block.HTML)
	}
	return b.String()
}

// unsafe returns what a browser would find in the HTML that should not be
// there, or "". It is written from the point of view of the window and knows
// nothing of the policy in sanitize.go.
func unsafe(markup string) string {
	z := html.NewTokenizer(strings.NewReader(markup))
	for {
		switch z.Next() {
		case html.ErrorToken:
			if !errors.Is(z.Err(), io.EOF) {
				return z.Err().Error()
			}
			return ""
		case html.CommentToken, html.DoctypeToken:
			return "a comment"
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			if strings.Contains(" script style iframe object embed form button link meta base svg math audio video source "+
				"textarea select template noscript title h1 h2 ", " "+token.Data+" ") {
				return "an element " + token.Data
			}
			for _, a := range token.Attr {
				switch {
				case strings.HasPrefix(a.Key, "on"), a.Key == "style", a.Key == "id", a.Key == "name", a.Key == "srcset",
					a.Key == "formaction":
					return "an attribute " + a.Key
				case a.Key == "src" && !localMedia.MatchString(a.Val):
					return "a picture from " + a.Val
				case a.Key == "href":
					u, err := url.Parse(a.Val)
					if err != nil || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto" ||
						u.Scheme != "mailto" && u.Host == "" {
						return "a link to " + a.Val
					}
				}
			}
		}
	}
}

var localMedia = regexp.MustCompile(`^/media/[A-Za-z0-9._-]+$`)

func TestHostileMarkdownBecomesHarmless(t *testing.T) {
	for name, md := range map[string]string{
		"script":            "<script>alert(1)</script>",
		"script in a block": "a\n\n<script>\nalert(1)\n</script>\n\nb",
		"handler":           "<img src=x onerror=alert(1)> <b onclick=alert(1)>x</b>",
		"svg":               "<svg/onload=alert(1)>",
		"unclosed":          "<b <script>alert(1)//",
		"iframe":            "<iframe src=\"https://evil.org\"></iframe>",
		"style":             "<style>*{background:url(https://evil.org)}</style>",
		"comment":           "<!-- <script>alert(1)</script> -->",
		"cdata":             "<![CDATA[<script>alert(1)</script>]]>",
		"summary": "<details><summary " +
			"onclick=alert(1)><script>alert(1)</script></summary>\n<script>x</script>\n</details>",
		"fold with handler":  "<details ontoggle=alert(1) open>\nx\n</details>",
		"script link":        "[x](javascript:alert(1))",
		"capitals":           "[x](JaVaScRiPt:alert(1))",
		"entity":             "[x](java&#115;cript:alert(1)) [y](javascript&colon;alert(1))",
		"tab":                "[x](java&Tab;script:alert(1)) [y](<java\tscript:alert(1)>)",
		"control":            "[x](\x01javascript:alert(1)) [y](&#1;javascript:alert(1))",
		"percent":            "[x](%6aavascript:alert(1))",
		"space":              "[x](< javascript:alert(1)>)",
		"vbscript":           "[x](vbscript:x) [y](file:///etc/passwd) [z](blob:x) [w](wails://x)",
		"data":               "[x](data:text/html;base64,PHNjcmlwdD4=) ![y](data:image/svg+xml,<svg/onload=alert(1)>)",
		"autolink":           "<javascript:alert(1)> <data:text/html,x>",
		"definition":         "[x]\n\n[x]: javascript:alert(1)",
		"protocol-relative":  "[x](//evil.org) [y](/local) [z](#id) ![w](//evil.org/p.png)",
		"quotes in address":  "[x](https://a.org/\"onmouseover=\"alert(1))",
		"quotes in title":    "[x](https://a.org '\"onmouseover=alert(1) x=\"')",
		"quotes in alt":      "![\"onerror=alert(1) x=\"](/media/a) ![\"onerror=\"](https://a.org/p)",
		"media path":         "![x](/media/../secret) ![y](/media/a/b) ![z](conclave-media://a?b) ![w](/media/%2e%2e)",
		"language":           "```\"onclick=\"alert(1)\nx\n```\n\n```<script>\nx\n```",
		"code":               "```html\n</code></pre><script>alert(1)</script>\n```",
		"diagram":            "```mermaid\n\"><script>alert(1)</script>\n```",
		"formula":            "$$\n\"><script>alert(1)</script>\n$$\n\n\\(\"><img src=x onerror=alert(1)>\\)",
		"formula of a fence": "```math\n\"><script>\n```",
		"footnote":           "[^\"onclick=\"x]: a\n\n[^<b>] [^1]\n\n[^1]: <script>x</script>",
		"table": "| <script>x</script> | [a](javascript:x) |\n|---|---|\n| <img src=x onerror=y> | " +
			"![](//e.org/a) |",
		"attributes":           "# a {#id onclick=alert(1)}\n\npara\n{: onclick=alert(1)}",
		"NUL":                  "<scr\x00ipt>alert(1)</scr\x00ipt> [x](java\x00script:alert(1))",
		"invalid UTF-8":        "<script\xff>alert(1)</script> [x](javascript\xc0\xba:alert(1))",
		"mutation":             "<b><noscript><p title=\"</noscript><img src=x onerror=alert(1)>\"></b>",
		"mutation by a table":  "| a |\n|---|\n| <b></table><script>x</script></b> |",
		"user in the address":  "[x](https://javascript:alert(1)@evil.org/)",
		"long address":         "[x](https://a.org/" + strings.Repeat("a", 1<<20) + ")",
		"mail with a line end": "[x](mailto:a@b.c?body=%0d%0aBcc:x)",
	} {
		t.Run(name, func(t *testing.T) {
			got := joined(Render(md))
			if found := unsafe(got); found != "" {
				t.Errorf("%s in %.500s", found, got)
			}
			if strings.Contains(got, "<script") {
				t.Errorf("a script in %.500s", got)
			}
		})
	}
}

func TestElementsOfAReply(t *testing.T) {
	const aOpen = `rel="noopener noreferrer nofollow" target="_blank"`
	for name, c := range map[string]struct{ md, want string }{
		"heading is two lower": {"# a\n\n#### b", "<h3>a</h3>\n<h6>b</h6>"},
		"link": {
			"[a](https://b.org/c?d=e&f)",
			`<a href="https://b.org/c?d=e&amp;f" ` + aOpen + ` data-host="b.org">a</a>`,
		},
		"bare link": {
			"see https://b.org/c.", `<a href="https://b.org/c" ` + aOpen + ` data-host="b.org">https://b.org/c</a>.`,
		},
		"mail":                {"<a@b.org>", `<a href="mailto:a@b.org" ` + aOpen + `>a@b.org</a>`},
		"other host":          {"[bank.com](https://evil.org)", `data-host="evil.org" data-mismatch="bank.com"`},
		"other host in full":  {"[https://bank.com/login](https://evil.org)", `data-mismatch="bank.com"`},
		"hidden characters":   {"[bank\u200b.com](https://evil.org)", `data-mismatch="bank.com"`},
		"entity in the words": {"[bank&#46;com](https://evil.org)", `data-mismatch="bank.com"`},
		"emphasis in words":   {"[**bank**.com](https://evil.org)", `data-mismatch="bank.com"`},
		"user as a host":      {"[x](https://bank.com@evil.org)", `data-host="evil.org" data-mismatch="bank.com"`},
		"homograph":           {"[pаypal.com](https://p\u0430ypal.com)", `data-host="xn--pypal-4ve.com"`},
		"same host":           {"[www.a.org/x](https://a.org)", `data-host="a.org">www`},
		"host above":          {"[a.org](https://docs.a.org)", `data-host="docs.a.org">a.org`},
		"file":                {"[README.md](https://a.org)", `data-host="a.org">README`},
		"remote picture": {
			"![alt](https://b.org/p.png)",
			`<span class="blocked-image" role="button" tabindex="0" data-src="https://b.org/p.png" data-host="b.org" data-alt="alt">Load image from b.org</span>`,
		},
		"kept picture": {"![alt](conclave-media://a-1.png)", `<img src="/media/a-1.png" alt="alt" loading="lazy">`},
		"dead link":    {"a [b](javascript:x) c", "<p>a b c</p>"},
		"tags": {
			"a <B>b</B> <sub>c</sub> <br/> <kbd class=x>d</kbd>", "a <b>b</b> <sub>c</sub> <br> <kbd>d</kbd>",
		},
		"tag without pair": {"a <b> c </i>", "<p>a &lt;b&gt; c &lt;/i&gt;</p>"},
		"pairs that cross": {"<b>a<i>b</b>c</i>", "<p><b>a&lt;i&gt;b</b>c&lt;/i&gt;</p>"},
		"task": {
			"- [x] a\n- [ ] b",
			`<li><input type="checkbox" disabled="" checked=""> a</li>` + "\n" +
				`<li><input type="checkbox" disabled=""> b</li>`,
		},
		"table": {
			"|a|b|\n|-|-:|\n|c|d|",
			`<div class="table" role="region" tabindex="0" aria-label="Table, 2 columns, 1 row"><table><thead><tr><th scope="col">a</th><th scope="col" class="right">b</th></tr></thead><tbody>` + "\n" + `<tr><td>c</td><td class="right">d</td></tr>`,
		},
		"code in a list": {
			"- a\n\n  ```python\n  x = 1\n  ```",
			`<figure class="code" data-lang="python" data-lines="1"><figcaption><span class="code-lang">Python</span>`,
		},
		"unknown language": {
			"```brainhack\n<x>\n```",
			`<span class="code-lang">brainhack</span> <span class="code-lines">1 line</span></figcaption><pre tabindex="0"><code>&lt;x&gt;`,
		},
		"attributes of code": {"```{.js title=\"a b\"}\nlet x\n```", `data-lang="js"`},
		"diagram": {
			"```mermaid\na-->\"b\"\n```", "<pre class=\"mermaid\" data-source=\"a--&gt;&#34;b&#34;\n\">a--&gt;",
		},
		"formula":              {"a \\(x<y\\) b", `<span class="math" data-tex="x&lt;y">x&lt;y</span>`},
		"formula on its lines": {"$$\nx\n$$", `<div class="math" data-tex="x">x</div>`},
		"formula in a list":    {"1. a\n   \\[\n   x\n   \\]\n2. b", `<div class="math" data-tex="x">x</div>`},
		"money":                {"$5 or $6", "<p>$5 or $6</p>"},
		"escaped formula":      {`\\(x\\)`, `<p>\(x\)</p>`},
		"formula in code":      {"`$$x$$`", "<code>$$x$$</code>"},
		"footnote": {
			"a[^1]\n\n[^1]: *b*",
			"<sup class=\"footnote-ref\" data-footnote-ref=\"1\">1</sup></p>\n<div class=\"footnote\" " +
				"data-footnote=\"1\"><span class=\"footnote-label\">1</span>\n<p><em>b</em></p>\n</div>",
		},
		"not a footnote": {"[^a-z]", "<p>[^a-z]</p>"},
		"struck":         {"~~a~~ ~5 to ~6", "<p><del>a</del> ~5 to ~6</p>"},
		"definitions":    {"a\n: b", "<dl>\n<dt>a</dt>\n<dd>b</dd>\n</dl>"},
		"fold": {
			"<details>\n<summary>a *b*</summary>\n\n- c\n\n</details>\n\nd",
			"<details>\n<summary>a <em>b</em></summary>\n<ul>\n<li>c</li>\n</ul>\n</details>\n<p>d</p>",
		},
		"fold on one line": {
			"<details><summary>a</summary>\nb\n</details>", "<details>\n<summary>a</summary>\n<p>b</p>\n</details>",
		},
		"formula between dollars": {
			"Energy is $E=mc^2$ and $\\alpha$.",
			`<span class="math" data-tex="E=mc^2">E=mc^2</span> and`,
		},
		"formula in a sentence without spaces": {
			"能量$E=mc^2$是",
			`能量<span class="math" data-tex="E=mc^2">E=mc^2</span>是`,
		},
		"formula with a number": {
			"the $2^n$ ways, $n$th of $10$",
			`<span class="math" data-tex="n">n</span>th of <span class="math" data-tex="10">`,
		},
		"more money": {
			"$5-$9, US$5 or US$6, $5/$6, ~$5–$7 and 5$ or 6$",
			"<p>$5-$9, US$5 or US$6, $5/$6, ~$5–$7 and 5$ or 6$</p>",
		},
		"money behind the number": {"I have $20 and he has 30$.", "<p>I have $20 and he has 30$.</p>"},
		"names of a shell": {
			"$PATH:$HOME, ${a}-${b} and $A_$B",
			"<p>$PATH:$HOME, ${a}-${b} and $A_$B</p>",
		},
		"escaped dollars":     {`\$a\$ b$`, "<p>$a$ b$</p>"},
		"dollars around code": {"$a `b$` c$", "<p>$a <code>b$</code> c$</p>"},
		"environment": {
			"see\n\\begin{equation}\na<b\n\\end{equation}\nhere",
			`<div class="math" data-tex="\begin{equation}` + "\n" + `a&lt;b` + "\n" + `\end{equation}">`,
		},
		"environment on one line": {
			"\\begin{align*} a &= b \\end{align*}",
			`<div class="math" data-tex="\begin{align*}` + "\n" + `a &amp;= b` + "\n" + `\end{align*}">`,
		},
		"environment without its end": {
			"\\begin{equation}\na\n\nb",
			"<p>\\begin{equation}\na</p>\n<p>b</p>",
		},
		"comment":         {"a <!-- b\nc --> d\n\n<!-- e -->\n\nf", "<p>a  d</p>\n<p>f</p>"},
		"comment in code": {"`<!-- a -->`", "<code>&lt;!-- a --&gt;</code>"},
		"centred": {
			"<center>a *b*</center>\n\n<div align=\"center\">\n\n# c\n\n</div>",
			"<p>a <em>b</em></p>\n<h3>c</h3>",
		},
		"centred lines": {"<p align=center>\na\n</p>", "a"},
		"tags that are spoken of": {
			"Close a <div> with </div>",
			"<p>Close a &lt;div&gt; with &lt;/div&gt;</p>",
		},
		"list in a cell": {
			"|a|\n|-|\n|<ul><li>b</li><li>c</li></ul>|",
			"<td><ul><li>b</li><li>c</li></ul></td>",
		},
		"list of tags elsewhere": {"<ul><li>b</li></ul>", "<p>&lt;ul&gt;&lt;li&gt;b"},
		"bold beside full stops": {
			"这是**重点：**内容，以及**“引号”**后文。",
			"<p>这是<strong>重点：</strong>内容，以及<strong>“引号”</strong>后文。</p>",
		},
		"bold beside Japanese marks":       {"日本語の**「強調」**です。", "<p>日本語の<strong>「強調」</strong>です。</p>"},
		"bold beside Korean marks":         {"한국어**(괄호)**는 그대로.", "<p>한국어<strong>(괄호)</strong>는 그대로.</p>"},
		"one star and tildes beside marks": {"这*（一）*和~~“二”~~的", "<p>这<em>（一）</em>和<del>“二”</del>的</p>"},
		"stars in Latin writing":           {"a**\"b\"**c 2 * 3 * 4", "<p>a**&#34;b&#34;**c 2 * 3 * 4</p>"},
		"fence in a fence": {
			"```markdown\n# T\n\n```bash\nnpm i\n```\n\nDone.\n```\n\nafter", "Done.\n</code></pre></figure>\n<p>after</p>",
		},
		"fence in a fence of a list": {
			"- a\n\n  ```md\n  ```js\n  b\n  ```\n  c\n  ```\n\n  d", "<p>d</p>\n</li>",
		},
		"fence in a fence of code": {"```go\n```js\n```\nb", "<p>b</p>"},
		"hidden characters stay":   {"a\u200bb", "a\u200bb"},
	} {
		t.Run(name, func(t *testing.T) {
			got := joined(Render(c.md))
			if !strings.Contains(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if found := unsafe(got); found != "" {
				t.Errorf("%s in %s", found, got)
			}
		})
	}
}

func TestLongCodeIsFoldedAndKeepsEveryLine(t *testing.T) {
	var code strings.Builder
	for i := range 1240 {
		fmt.Fprintf(&code, "line %d <\n", i)
	}
	got := joined(Render("```text\n" + code.String() + "```"))
	if !strings.Contains(got, "<summary>Show all 1,240 lines</summary>") || !strings.Contains(got, `data-lines="1240"`) {
		t.Fatalf("no fold in %.600s", got)
	}
	head, _, _ := strings.Cut(got, "<details")
	if n := strings.Count(head, "line "); n != foldHead {
		t.Errorf("%d lines before the fold, want %d", n, foldHead)
	}
	var text strings.Builder
	for _, part := range regexp.MustCompile(`(?s)<code>(.*?)</code>`).FindAllStringSubmatch(got, -1) {
		text.WriteString(html.UnescapeString(part[1]))
	}
	if text.String() != code.String() {
		t.Errorf("the code elements hold %d bytes, want the %d of the source", text.Len(), code.Len())
	}
}

// Blocks of code are not sanitized, since they are escaped text between fixed
// tags. The policy must find nothing in them to change.
func TestPolicyChangesNothingInCode(t *testing.T) {
	for _, md := range []string{
		"```go\nfunc main() { x := `<b>\"'&` }\n```", "```html\n<a href='x' onclick=\"y\">&amp;</a>\n```",
		"```mermaid\na-->\"b\" & '<c>'\n```", "```math\nx<y\n```", "    indented <b>\n    'x'",
		"```\n" + strings.Repeat("<\n", 500) + "```",
	} {
		got := joined(Render(md))
		if again := sanitize(bytes.NewBufferString(got)); again != got {
			t.Errorf("rendered  %s\nsanitized %s", got, again)
		}
	}
}

// hostile are texts that are long, deep, or both, of about size bytes.
func hostile(size int) map[string]string {
	texts := longTexts(size)
	for _, unit := range []string{
		">", "> ", "[", "![", "](", "[a](", "*", "**a ", "*a **b ", "_a", "`", "``a`", "~~", "~~~", "<", "<b>", "<a ", "<!--",
		"<details>\n",
		"- ", "1. ", "- > ", "+ - * ", "|", "|-", "a|b\n", "$$", "\\(", "\\[", "\\", "[^", "[^a]", "[^1]: ", ": a\n", "&",
		"&#x", "#", "=\n", "-\n",
		"\t", "\x00", "\xff", "\r", "\u202e", "http://", "www.", "a@b.", "https://a.b/", "![a](b)", "[a]: b\n", "[a][b]",
		"```\n", "    a\n", "<b></b>", "*a*", "\n\n-\n",
	} {
		texts[fmt.Sprintf("%q", unit)] = strings.Repeat(unit, size/len(unit))
	}
	texts["brackets"] = strings.Repeat("[", size/2) + strings.Repeat("]", size/2)
	texts["parentheses"] = "[a]" + strings.Repeat("(", size/2) + strings.Repeat(")", size/2)
	texts["quotes"] = strings.Repeat(">", size/2) + " a"
	var deep strings.Builder
	for i := 0; deep.Len() < size; i++ {
		deep.WriteString(strings.Repeat("  ", i) + "- a\n")
	}
	texts["staircase"] = deep.String()
	return texts
}

func TestHostileTextsTakeTimeInProportion(t *testing.T) {
	// More than a block may hold, so that each step that grows with the square
	// of a block has its full length.
	for name, md := range hostile(maxOther + maxOther/4) {
		start := testkit.ProcessorTime()
		got := joined(Render(md))
		// Prose of this length takes some 10 ms, the worst of these 500 ms.
		if took := testkit.ProcessorTime() - start; took > 60*time.Second {
			t.Errorf("%d kB of %s took %v", len(md)>>10, name, took)
		}
		if found := unsafe(got); found != "" {
			t.Errorf("%s: %s", name, found)
		}
		if depth := depthOf(got); depth > 400 { // browsers flatten what is deeper than 512
			t.Errorf("%s is %d elements deep", name, depth)
		}
	}
}

func TestOneLineOfAMegabyteIsKept(t *testing.T) {
	for name, c := range map[string]struct {
		head  string
		words int
	}{
		"text": {"", 1 << 17}, "code": {"```\n", 1 << 17}, // 1 MB
		"item": {"- ", 1 << 14}, "heading": {"# ", 1 << 14}, "quote": {"> ", 1 << 14}, "cell": {"| a |\n|---|\n| ", 1 << 14},
	} {
		text := c.head + strings.Repeat("<b>word ", c.words)
		start := testkit.ProcessorTime()
		window, _ := streamed(t, deltas(text, 1000), func(i int) bool { return i%200 == 0 })
		if took := testkit.ProcessorTime() - start; took > 60*time.Second { // some 500 ms
			t.Errorf("%s took %v", name, took)
		}
		got := strings.Join(window, "")
		if n := strings.Count(got, "&lt;b&gt;word"); n < c.words-100 { // cuts may fall into a tag
			t.Errorf("%s: %d of %d words are left", name, n, c.words)
		}
		if found := unsafe(got); found != "" {
			t.Errorf("%s: %s", name, found)
		}
	}
}

// depthOf returns how deep the elements of the HTML nest.
func depthOf(markup string) int {
	depth, deepest := 0, 0
	z := html.NewTokenizer(strings.NewReader(markup))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return deepest
		case html.StartTagToken:
			if name, _ := z.TagName(); !strings.Contains(" br hr img input ", " "+string(name)+" ") {
				depth++
				deepest = max(deepest, depth)
			}
		case html.EndTagToken:
			depth--
		}
	}
}

func FuzzRenderIsSafe(f *testing.F) {
	for _, text := range samples {
		f.Add(text)
	}
	for _, seed := range []string{
		"<b>[x](javascript:y)</b>", "![a](/media/x)<details>", "[^\"]: <x>", "| <b> |\n|-|\n| </b> |", "$$\n\"\n$$",
		"```\"x\ny\n```",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, md string) {
		for _, b := range Render(md) {
			if found := unsafe(b.HTML); found != "" {
				t.Fatalf("%s in %q of %q", found, b.HTML, md)
			}
			if again := sanitize(bytes.NewBufferString(b.HTML)); again != b.HTML {
				t.Fatalf("of %q\nrendered  %q\nsanitized %q", md, b.HTML, again)
			}
		}
	})
}

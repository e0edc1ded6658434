package syntax

import (
	"html"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/app/test/testkit"
)

// colour renders text, line by line, as app/chat/render does.
func colour(l *Language, text string) string {
	var out []byte
	var st State
	for line := range strings.SplitSeq(text, "\n") {
		out, st = l.Line(out, st, line)
		out = append(out, '\n')
	}
	return strings.TrimSuffix(string(out), "\n")
}

// textOf removes the spans and the escapes. It fails on any tag but a span.
func textOf(t *testing.T, s string) string {
	t.Helper()
	var out strings.Builder
	for s != "" {
		before, rest, found := strings.Cut(s, "<")
		out.WriteString(html.UnescapeString(before))
		if !found {
			break
		}
		tag, after, closed := strings.Cut(rest, ">")
		if !closed || tag != "/span" && (!strings.HasPrefix(tag, `span class="`) || strings.Count(tag, `"`) != 2) {
			t.Fatalf("a tag of its own: <%s>", tag)
		}
		s = after
	}
	return out.String()
}

func TestWordsOfEachKindAreTold(t *testing.T) {
	for name, c := range map[string]struct {
		lang, code string
		want       []string
	}{
		"go": {
			"go", "func main() { return \"a\\\"b\", 0x1F, 'x' } // end",
			[]string{
				`<span class="k">func</span>`, `<span class="nf">main</span>`, `<span class="s">&#34;a\&#34;b&#34;</span>`,
				`<span class="m">0x1F</span>`, `<span class="s">&#39;x&#39;</span>`, `<span class="c">// end</span>`,
			},
		},
		"raw string": {
			"go", "x := `a\nfunc b`\nfunc",
			[]string{"<span class=\"s\">`a</span>\n<span class=\"s\">func b`</span>", `<span class="k">func</span>`},
		},
		"comment": {
			"c", "/* a\nint b */ int c;",
			[]string{`<span class="c">/* a</span>`, `<span class="c">int b */</span> <span class="kt">int</span>`},
		},
		"nested": {
			"rust", "/* a /* b */ c */ fn", []string{`<span class="c">/* a /* b */ c */</span> <span class="k">fn</span>`},
		},
		"lifetime": {
			"rust", "fn f<'a>(s: &'a str) -> char { 'c' }", []string{`&lt;&#39;a&gt;`, `<span class="s">&#39;c&#39;</span>`},
		},
		"docstring": {
			"python", "def f():\n    \"\"\"Say # hi\n    for\n    \"\"\"\n    return rb'x' + f\"y\" # no",
			[]string{
				`<span class="nf">f</span>`, `<span class="s">    for</span>`, `<span class="s">rb&#39;x&#39;</span>`,
				`<span class="s">f&#34;y&#34;</span>`, `<span class="c"># no</span>`,
			},
		},
		"decorator": {"python", "@app.get(\"/\")", []string{`<span class="nd">@app.get</span>`}},
		"template": {
			"ts", "const a: string = `x ${b}\n y`;",
			[]string{`<span class="kt">string</span>`, "<span class=\"s\">`x ${b}</span>"},
		},
		"regex": {"js", "a = b / c; s.match(/[/]\"/g)", []string{`b / c`, `<span class="s">/[/]&#34;/g</span>`}},
		"shell": {
			"bash", "for f in $HOME/*; do echo \"$f\" # c\ndone",
			[]string{`<span class="nv">$HOME</span>`, `<span class="nb">echo</span>`, `<span class="c"># c</span>`},
		},
		"shell #": {"bash", "echo $# ${#a}", []string{`$#`}},
		"json": {
			"json", `{"a": "b", "c": [1.5e-3, true]}`,
			[]string{
				`<span class="na">&#34;a&#34;</span>`, `<span class="s">&#34;b&#34;</span>`, `<span class="m">1.5e-3</span>`,
				`<span class="kc">true</span>`,
			},
		},
		"yaml": {
			"yaml", "- name: x # c\n  url: http://a.b",
			[]string{`<span class="na">name</span>`, `<span class="c"># c</span>`, `<span class="na">url</span>`},
		},
		"toml": {
			"toml", "[a.b]\nc = \"d\"",
			[]string{`<span class="gh">[a.b]</span>`, `<span class="na">c </span>`, `<span class="s">&#34;d&#34;</span>`},
		},
		"sql": {
			"SQL", "SELECT count(*) FROM t WHERE a = 'it''s' -- c",
			[]string{`<span class="k">SELECT</span>`, `<span class="nf">count</span>`, `<span class="c">-- c</span>`},
		},
		"html": {
			"html", "<p class=\"a\n b\">x</p><script>let a = '<'</script><b>",
			[]string{
				`<span class="nt">&lt;p</span>`, `<span class="na">class</span>`, `<span class="k">let</span>`,
				`<span class="nt">&lt;/script</span>`, `<span class="nt">&lt;b</span>`,
			},
		},
		"style": {
			"html", "<style>\n/* a\nb */ p { color: red }\n</style>",
			[]string{`<span class="c">b */</span>`, `<span class="na">color</span>`},
		},
		"diff":    {"diff", "@@ -1 +1 @@\n-a\n+b", []string{`<span class="gd">-a</span>`, `<span class="gi">+b</span>`}},
		"console": {"console", "$ echo \"a\"\na", []string{`<span class="nd">$</span> <span class="nb">echo</span>`}},
		"markdown": {
			"md", "# T\n`a` **b**",
			[]string{`<span class="gh"># T</span>`, "<span class=\"s\">`a`</span>", `<span class="gs">**b**</span>`},
		},
		"css": {
			"css", ".a:hover { margin-top: 2px; }",
			[]string{`<span class="nd">.a</span>`, `<span class="na">margin-top</span>`, `<span class="m">2px</span>`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := colour(Find(c.lang), c.code)
			if text := textOf(t, got); text != c.code {
				t.Fatalf("text is %q, want %q", text, c.code)
			}
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("got %s\nwant in it %s", got, want)
				}
			}
		})
	}
}

func TestUnknownLanguageIsNil(t *testing.T) {
	for _, name := range []string{"", "no-such", strings.Repeat("x", 1<<20)} {
		if got := Find(name); got != nil {
			t.Errorf("Find(%.20q) = %s, want nil", name, got.Name())
		}
	}
}

func TestNoAliasIsTakenTwice(t *testing.T) {
	seen := map[string]string{}
	for _, l := range languages() {
		for alias := range strings.FieldsSeq(l.spec.aliases) {
			if seen[alias] != "" {
				t.Errorf("%q names %s and %s", alias, seen[alias], l.name)
			}
			seen[alias] = l.name
		}
	}
}

func TestOwnSourcesKeepTheirText(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range languages() {
			if got := textOf(t, colour(l, string(code))); got != string(code) {
				t.Errorf("%s as %s loses text", file, l.name)
			}
		}
	}
}

func TestHostileLinesTakeLinearTime(t *testing.T) {
	for _, unit := range []string{
		"'", "\"", "/*", "/", "<", "<a ", "\\", "${", "`", "((((", "1e+", "#", "/[", "=/(", "@[", "a:", "[", "é",
	} {
		line := strings.Repeat(unit, 50_000/len(unit))
		for _, l := range languages() {
			start := testkit.ProcessorTime()
			l.Line(nil, State{}, line)
			if d := testkit.ProcessorTime() - start; d > time.Second { // about 1 ms when linear
				t.Errorf("%s takes %v for 50 kB of %q", l.name, d, unit)
			}
		}
	}
}

func FuzzTextIsKept(f *testing.F) {
	f.Add("go", "func main() { `\n` }")
	f.Add("html", "<a b='\n'><script>\"</script>")
	f.Add("py", "rb'''\\\n'''#")
	f.Add("rust", "r#\"\"# 'a' '\\''")
	f.Add("yaml", "- a: 'b: c\n'")
	f.Fuzz(func(t *testing.T, name, text string) {
		l := Find(name)
		if l == nil {
			l = languages()[len(text)%len(languages())]
		}
		text = strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "\r", "")
		if got := textOf(t, colour(l, text)); got != text {
			t.Fatalf("%s: text is %q, want %q", l.name, got, text)
		}
	})
}

func BenchmarkLine(b *testing.B) {
	code := "\tfor job := range in { // comment\n\t\tif err := job.Run(ctx); err != nil {\n\t\t\treturn " +
		"fmt.Errorf(\"step: %w\", err)\n"
	for _, name := range []string{"go", "python", "typescript", "json", "html"} {
		l := Find(name)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(code)))
			var out []byte
			for b.Loop() {
				var st State
				out = out[:0]
				for line := range strings.SplitSeq(code, "\n") {
					out, st = l.Line(out, st, line)
				}
			}
		})
	}
}

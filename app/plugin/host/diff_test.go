package host

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"conclave/app/base/limit"
	"conclave/app/tool"
)

func textFile(lines int, line string) sourceFile {
	data := bytes.Repeat([]byte(line+"\n"), lines)
	return sourceFile{data: data, size: int64(len(data)), there: true}
}

func TestTheLinesThatAreShownAreBounded(t *testing.T) {
	none := sourceFile{}
	for name, c := range map[string]struct {
		files []sourceFile
		want  string
		lines int
	}{
		// A heading and where the lines are come with each file.
		"as many lines as may be": {[]sourceFile{textFile(limit.DiffLines-2, "x")}, "", limit.DiffLines},
		"one line over": {
			[]sourceFile{textFile(limit.DiffLines-1, "x")},
			"1 more line differs and is not shown. Open its folder in your editor to read all of it.",
			limit.DiffLines + 1,
		},
		"lines and files over": {
			[]sourceFile{textFile(1000, "x"), textFile(1, "y"), textFile(1, "z")},
			"602 more lines and 2 more files differ and are not shown. Open its folder in your editor to read all of it.",
			limit.DiffLines + 1,
		},
		"long lines": {
			[]sourceFile{textFile(200, strings.Repeat("x", tool.ShownLine))},
			"more lines differ and are not shown.", 0,
		},
		"one long line": {[]sourceFile{textFile(1, strings.Repeat("x", 100_000))}, "x…", 3},
		"a file too long": {
			[]sourceFile{textFile(int(limit.DiffFile), "x")},
			"0.js: new; lines of files over 512 KiB are not compared.", 1,
		},
		"no text": {[]sourceFile{textFile(3, "\x00")}, "0.js: new; it is no text.", 1},
	} {
		t.Run(name, func(t *testing.T) {
			d := &diffText{}
			for i, f := range c.files {
				d.file(fmt.Sprintf("%d.js", i), none, f)
			}
			got := d.String()
			if len(got) > limit.DiffBytes+200 || !strings.HasSuffix(strings.TrimSpace(got), c.want) &&
				!strings.Contains(got, c.want) {
				t.Errorf("%d bytes end %q", len(got), got[max(0, len(got)-200):])
			}
			if n := strings.Count(got, "\n"); c.lines != 0 && n != c.lines {
				t.Errorf("%d lines, want %d", n, c.lines)
			}
		})
	}
}

func TestWhatIsShownOfChangedCodeCannotHideOrForgeAnything(t *testing.T) {
	file := func(text string) sourceFile {
		return sourceFile{data: []byte(text), size: int64(len(text)), there: true}
	}
	d := &diffText{}
	d.file("same.js", file("x\n"), file("x\n"))
	d.file(shownFile("a\u202e.js\n=== safe.js"), file("one\n-- two\n"),
		file("one\n=== safe.js (new)\n\u202eeval(x)\u200b \x1b[2J\n"))
	got := d.String()
	want := "=== a\\u{202e}.js === safe.js (changed)\n@@ -1,2 +1,3 @@\n one\n--- two\n+=== safe.js (new)\n" +
		"+\\u{202e}eval(x)\\u{200b} \\u{001b}[2J\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

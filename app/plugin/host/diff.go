package host

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"conclave/app/base/limit"
	"conclave/app/plugin"
	"conclave/app/plugin/safefs"
	"conclave/app/plugin/watch"
	"conclave/app/tool"

	"github.com/rogpeppe/go-internal/diff"
)

// diff returns the lines by which the files of v differ from the last good copy,
// as a unified diff that a person can read: cleaned and bounded, with a sentence
// for what is left out. It is empty where the files changed again meanwhile.
func (f *files) diff(good, v version) string {
	if good.digest == v.digest {
		return ""
	}
	if !v.src.HasFiles() {
		out := &diffText{}
		out.file("what is registered", rowFile(good.src), rowFile(v.src))
		return out.String()
	}
	before, after := sourceFiles(good), sourceFiles(v)
	names := slices.Sorted(slices.Values(slices.Concat(before.names, after.names)))
	out := &diffText{}
	for _, name := range slices.Compact(names) {
		out.file(shownFile(name), before.read(name), after.read(name))
	}
	if !f.holds(v.src, v) {
		return ""
	}
	return out.String()
}

// sources are the files of one version that count, below a folder.
type sources struct {
	folder string
	names  []string
}

func sourceFiles(v version) sources {
	if !v.src.Folder {
		return sources{filepath.Dir(v.src.Path), append(slices.Clone(v.manifest.Files), filepath.Base(v.src.Path))}
	}
	if v.manifest.Files != nil {
		return sources{v.src.Path, v.manifest.Files}
	}
	_, names, _ := watch.Digest(v.src.Path)
	return sources{v.src.Path, names}
}

// sourceFile is a file as far as it is compared. The zero value is none.
type sourceFile struct {
	data  []byte
	size  int64
	there bool
}

// rowFile is the row of a plugin without files, as a file.
func rowFile(src plugin.Source) sourceFile {
	data := []byte(src.Row + "\n")
	return sourceFile{data, int64(len(data)), true}
}

func (s sources) read(name string) sourceFile {
	if !slices.Contains(s.names, name) {
		return sourceFile{}
	}
	data, size, err := safefs.ReadSource(s.folder, name, limit.DiffFile)
	return sourceFile{data, size, err == nil}
}

func (f sourceFile) text() bool { return !bytes.ContainsRune(f.data, 0) && utf8.Valid(f.data) }

// diffText gathers what is shown.
type diffText struct {
	b     strings.Builder
	lines int
	left  int // lines that are not shown
	files int // files that differ without a line that is shown
}

// file adds what differs in one file.
func (d *diffText) file(name string, before, after sourceFile) {
	size := max(before.size, after.size)
	switch {
	case before.there == after.there && before.size == after.size && bytes.Equal(before.data, after.data) &&
		size <= limit.DiffFile:
		return
	case d.full():
		d.files++
		return
	case size > limit.DiffFile:
		d.add(fmt.Sprintf("%s: %s; lines of files over %s are not compared.", name,
			cmp.Or(appeared(before, after), "it may have changed"), limit.Size(limit.DiffFile)))
		return
	case !before.text() || !after.text():
		d.add(name + ": " + cmp.Or(appeared(before, after), "it changed") + "; it is no text.")
		return
	}
	text := diff.Diff("approved", before.data, "now", after.data)
	_, text, _ = bytes.Cut(text, []byte("\n+++ now\n")) // three lines that name both
	what := cmp.Or(appeared(before, after), "changed")
	d.add("=== " + name + " (" + what + ")") // no line of a diff begins so
	for line := range strings.Lines(string(text)) {
		d.add(tool.ShowLine(strings.TrimSuffix(line, "\n")))
	}
}

func appeared(before, after sourceFile) string {
	switch {
	case !before.there:
		return "new"
	case !after.there:
		return "removed"
	}
	return ""
}

func (d *diffText) full() bool {
	return d.lines >= limit.DiffLines || d.b.Len() >= limit.DiffBytes
}

func (d *diffText) add(line string) {
	if d.full() || d.b.Len()+len(line) >= limit.DiffBytes {
		d.left++
		return
	}
	d.lines++
	d.b.WriteString(line)
	d.b.WriteByte('\n')
}

// diffLeftOut returns a sentence about the lines and files that are not shown.
func diffLeftOut(lines, files int) string {
	var parts []string
	if lines > 0 {
		parts = append(parts, limit.Counted(lines, "more line"))
	}
	if files > 0 {
		parts = append(parts, limit.Counted(files, "more file"))
	}
	verb := "differ and are"
	if lines+files == 1 {
		verb = "differs and is"
	}
	return strings.Join(parts, " and ") + " " + verb + " not shown. Open its folder in your editor to read all of it."
}

// String returns the text, with what is left out.
func (d *diffText) String() string {
	if d.left+d.files > 0 {
		fmt.Fprintf(&d.b, "%s\n", diffLeftOut(d.left, d.files))
	}
	return d.b.String()
}

// shownFile is a file's name on one line.
func shownFile(name string) string { return strings.Join(strings.Fields(tool.ShowLine(name)), " ") }

package gate

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"conclave/app/base/limit"
	"conclave/app/base/place"
	"conclave/app/base/textdiff"
	"conclave/app/tool"
)

// Bounds of a preview.
const (
	previewLines = 80
	previewBytes = 256 << 10 // of a file that is compared, and of what it becomes
	previewTime  = 300 * time.Millisecond
	previewEdits = 64 // replacements of one call
)

// NewPreview returns a preview of so many of the lines as a person is shown.
func NewPreview(words string, lines []textdiff.Line) *Preview {
	p := &Preview{Words: words, Left: max(len(lines)-previewLines, 0)}
	for _, l := range textdiff.Near(lines[:len(lines)-p.Left], tool.ShownLine/2) {
		l.Text = tool.ShowLine(l.Text)
		p.Lines = append(p.Lines, l)
	}
	return p
}

// Sending returns the preview of a text that waits to be sent. A long line is broken, since
// what is sent is often one line.
func Sending(text string) *Preview {
	var lines []textdiff.Line
	add := func(line string) { lines = append(lines, textdiff.Line{Kind: textdiff.Same, Text: line}) }
	for line := range strings.SplitSeq(text, "\n") {
		rest := []rune(line)
		for ; len(rest) > sendingLine; rest = rest[sendingLine:] {
			add(string(rest[:sendingLine]))
		}
		add(string(rest))
	}
	return NewPreview("What waits to be sent:", lines)
}

// sendingLine is the number of characters per line of what is sent.
const sendingLine = tool.ShownLine / 2

// together returns one preview of one request or several, which a person answers with the same
// words: of each as many lines as fit, so that none hides another.
func together(all []*Preview) *Preview {
	if len(all) == 1 {
		return all[0]
	}
	both, words, shown := &Preview{}, []string{}, 0
	for _, p := range all {
		if !slices.Contains(words, p.Words) {
			words = append(words, p.Words)
		}
		if len(p.Lines) > 0 {
			shown++
		}
	}
	both.Words = strings.Join(words, " ")
	for _, p := range all {
		both.Left += p.Left
		if len(p.Lines) == 0 {
			continue
		}
		if len(both.Lines) > 0 {
			both.Lines = append(both.Lines, textdiff.Line{Kind: textdiff.Gap})
		}
		fits := min(len(p.Lines), (previewLines-len(both.Lines)-shown+1)/shown)
		both.Lines, both.Left, shown = append(both.Lines, p.Lines[:fits]...), both.Left+len(p.Lines)-fits, shown-1
	}
	return both
}

func (p *Preview) equal(o *Preview) bool {
	return p.Words == o.Words && slices.Equal(p.Lines, o.Lines) && p.Left == o.Left
}

// preview returns what a person who is asked about a call is shown of what it would do;
// nil where nothing is known. It reads a file at most, of a folder that the plugin may
// write, and waits for it no longer than previewTime.
func (r *Reach) preview(ctx context.Context, call *Call, p *Request) *Preview {
	if call.Preview != nil {
		return call.Preview(ctx)
	}
	if call.Permission != "" {
		return nil
	}
	change, ok := changeOf(call.Tool.Name, call.Arguments)
	if !ok {
		return nil
	}
	folders := r.Opened(call.Tool.Plugin) // the capabilities do not cover these
	if len(p.Capabilities) == 0 || slices.Contains(p.Capabilities, WriteFiles) {
		folders = append(folders, r.Folders(call.Tool.Plugin)...)
	}
	in, path, ok := r.places.writable(change.path, folders)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, previewTime)
	defer cancel()
	read := make(chan *Preview, 1)
	go func() { read <- change.of(in, path) }() // a disk of the network may never answer
	select {
	case found := <-read:
		return found
	case <-ctx.Done():
		return nil
	}
}

// writable returns the real path of a file that a call names, and the folder in which a
// plugin with these folders may write it. A path that is not absolute is looked for in each
// of them.
func (p *places) writable(name string, folders []Folder) (in, path string, ok bool) {
	folders = slices.DeleteFunc(slices.Clone(folders), func(f Folder) bool { return !f.Write })
	if path, absolute := p.realPath(name); absolute {
		i := slices.IndexFunc(folders, func(f Folder) bool { return place.Inside(f.Path, path) })
		if i < 0 {
			return "", "", false
		}
		return folders[i].Path, path, true
	}
	if !filepath.IsLocal(name) {
		return "", "", false
	}
	found := 0
	for _, f := range folders {
		real, ok := p.realPath(filepath.Join(f.Path, name))
		if !ok || !place.Inside(f.Path, real) {
			continue
		}
		if _, err := os.Lstat(real); err == nil {
			in, path, found = f.Path, real, found+1
		}
	}
	return in, path, found == 1
}

// change holds what the arguments of a call say of a file: all that it becomes, or texts in
// it that others take the place of.
type change struct {
	path     string
	whole    string
	adds     bool // whole comes after what there is
	replaces []replacement
}

type replacement struct {
	old, now string
	every    bool
}

// changeOf reads a change from a call's arguments. Of what could be meant in two ways it
// reads none.
func changeOf(name string, raw json.RawMessage) (change, bool) {
	is := namedArguments(raw)
	c := change{path: is.text(pathNames)}
	if c.path == "" {
		return change{}, false
	}
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '_' || r == '-' || r == '.' })
	switch {
	case is.has(editsNames):
		var edits []json.RawMessage
		if json.Unmarshal(is.one(editsNames), &edits) != nil || len(edits) == 0 || len(edits) > previewEdits {
			return change{}, false
		}
		for _, edit := range edits {
			r, ok := namedArguments(edit).replacement()
			if !ok {
				return change{}, false
			}
			c.replaces = append(c.replaces, r)
		}
		return c, true
	case is.has(oldNames):
		r, ok := is.replacement()
		c.replaces = []replacement{r}
		return c, ok
	case !is.has(wholeNames) || slices.ContainsFunc(words, func(w string) bool {
		return w == "insert" || w == "add" || w == "prepend" || w == "patch"
	}):
		return change{}, false // where it would go is not said
	}
	c.whole = is.text(wholeNames)
	c.adds = slices.Contains(words, "append") || string(is.one([]string{"append"})) == "true"
	switch mode := is.text([]string{"mode"}); {
	case mode == "a" || mode == "append":
		c.adds = true
	case mode != "" && mode != "w" && mode != "write" && mode != "overwrite":
		return change{}, false
	}
	return c, is.one(wholeNames)[0] == '"'
}

func (n named) replacement() (replacement, bool) {
	r := replacement{n.text(oldNames), n.text(newNames), string(n.one(everyNames)) == "true"}
	return r, r.old != "" && n.one(newNames)[0] == '"'
}

// of compares the file at a real path below a folder with what it becomes.
func (c change) of(in, path string) *Preview {
	shown := plain(path)
	before, size, err := readText(in, path)
	switch {
	case os.IsNotExist(err) && len(c.replaces) == 0:
		return &Preview{Words: shown + " does not exist yet."}
	case os.IsNotExist(err):
		return &Preview{Words: shown + " does not exist, so there is nothing to replace in it."}
	case err != nil:
		return nil
	case size > previewBytes || len(c.whole) > previewBytes:
		return &Preview{Words: shown + " has " + limit.Size(size) + " now; what would change is too long to be shown."}
	case !utf8.ValidString(before):
		return &Preview{Words: shown + " has " + limit.Size(size) + " now, which are no text."}
	}
	after, ok := c.applied(before)
	switch lines := textdiff.Lines(before, after); {
	case !ok:
		return &Preview{Words: "What it would replace is not in " + shown + " as it is now."}
	case len(after) > 2*previewBytes:
		return &Preview{Words: shown + " would be too long to be compared with what it is now."}
	case before == after:
		return &Preview{Words: shown + " says this already."}
	case len(lines) == 0:
		return &Preview{Words: "Of " + shown + " only the end of the last line would change."}
	default:
		return NewPreview("What would change in "+shown+", if the tool does with it what its arguments say:", lines)
	}
}

// applied is a text after the change; ok is false if it has not what would be replaced.
func (c change) applied(text string) (after string, ok bool) {
	switch {
	case c.adds:
		return text + c.whole, true
	case len(c.replaces) == 0:
		return c.whole, true
	}
	for _, r := range c.replaces {
		times := strings.Count(text, r.old)
		switch {
		case times == 0:
			return "", false
		case !r.every:
			times = 1
		}
		if text = replaced(text, r, times); len(text) > 2*previewBytes {
			break
		}
	}
	return text, true
}

// replaced is a text with so many of the replacements made; of what would be longer than a
// preview is made of, only as much as says so.
func replaced(text string, r replacement, times int) string {
	if most := 2*previewBytes/(len(r.now)+1) + 1; len(r.now) > len(r.old) {
		times = min(times, most)
	}
	return strings.Replace(text, r.old, r.now, times)
}

// readText reads a file below a folder up to previewBytes. The plugin may put something else
// in its place meanwhile: no link is followed out of the folder, and no pipe is waited for.
func readText(in, path string) (text string, size int64, err error) {
	if in == path { // it may write this file alone
		in = filepath.Dir(path)
	}
	root, err := os.OpenRoot(in)
	if err != nil {
		return "", 0, err
	}
	defer root.Close() //nolint:errcheck // only read
	name, err := filepath.Rel(in, path)
	if err != nil {
		return "", 0, err
	}
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", 0, err
	}
	defer file.Close() //nolint:errcheck // only read
	is, err := file.Stat()
	if err != nil {
		return "", 0, err
	}
	if !is.Mode().IsRegular() {
		return "", 0, os.ErrInvalid
	}
	read, err := io.ReadAll(io.LimitReader(file, previewBytes+1))
	return string(read), max(is.Size(), int64(len(read))), err
}

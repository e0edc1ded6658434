package plugins_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/app/test/programtest"
	"conclave/app/test/testkit"
	"conclave/plugins"
)

var must = testkit.Must

// program is the path of the static terminal program, built by TestMain.
var program string

func TestMain(m *testing.M) { programtest.TerminalMain(m, &program) }

// patience is far above any command here; one that takes this long hangs.
const patience = 2 * time.Minute

// house is a place to run the program in: a data folder and a plugins folder of
// its own, which is the working folder.
type house struct {
	dir string
	env []string
}

func newHouse(t *testing.T) house {
	t.Helper()
	dir := t.TempDir()
	h := house{dir: filepath.Join(dir, "plugins"), env: append(os.Environ(),
		"HOME="+dir, "CONCLAVE_DATA="+filepath.Join(dir, "data"), "CONCLAVE_PLUGINS="+filepath.Join(dir, "plugins"),
		"PATH="+filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))}
	must(t, os.MkdirAll(h.dir, 0o700))
	return h
}

func needPython(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 was not found")
	}
}

// run runs one command, and returns what it said on both outputs and its status.
func (h house) run(t *testing.T, name string, args ...string) (string, int) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), patience, errors.New("it hangs"))
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env = h.dir, h.env
	var out bytes.Buffer
	cmd.Stdout = &out
	if !slices.Contains(args, "--json") { // what it prints for a person is no part of the value
		cmd.Stderr = &out
	}
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		return out.String(), exit.ExitCode()
	}
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out.String())
	}
	return out.String(), 0
}

// block is one fenced block of a document.
type block struct {
	line     int
	language string
	file     string // the file it is to be saved as, or empty
	text     string
}

// blocks reads the fenced blocks of a Markdown document. The words after the
// fence are the language and, for a file, its name.
func blocks(t *testing.T, path string) []block {
	t.Helper()
	source, err := os.ReadFile(path)
	must(t, err)
	var found []block
	var open *block
	line := 0
	for text := range strings.Lines(string(source)) {
		line++
		fence := strings.HasPrefix(text, "```")
		switch {
		case fence && open == nil:
			words := append(strings.Fields(strings.TrimPrefix(text, "```")), "", "")
			open = &block{line: line, language: words[0], file: words[1]}
		case fence:
			found = append(found, *open)
			open = nil
		case open != nil:
			open.text += text
		}
	}
	if open != nil {
		t.Fatalf("%s:%d: a block does not end", path, open.line)
	}
	return found
}

// follow does what a document says: it saves its files and types its commands, in
// order, and compares what they print. A line of dots stands for any lines, dots
// inside one for any text, and a last line "exit status 1" for a command that
// fails. Blocks of shell are for the reader's machine and are left out.
func (h house) follow(t *testing.T, path string) (files, commands int) {
	t.Helper()
	for _, b := range blocks(t, path) {
		where := fmt.Sprintf("%s:%d", filepath.Base(path), b.line)
		switch {
		case b.file != "":
			to := filepath.Join(h.dir, filepath.FromSlash(b.file))
			must(t, os.MkdirAll(filepath.Dir(to), 0o700))
			must(t, os.WriteFile(to, []byte(b.text), 0o600))
			files++
		case b.language == "console":
			for _, c := range typed(b.text) {
				got, status := h.run(t, "sh", "-c", c.command)
				if status != 0 {
					got += fmt.Sprintf("exit status %d\n", status)
				}
				if !c.prints.MatchString(got) {
					t.Errorf("%s: $ %s\ngot:\n%s\nwant:\n%s", where, c.command, got, c.shown)
				}
				commands++
			}
		}
	}
	return files, commands
}

// typedCommand is a command of a console block and what it prints.
type typedCommand struct {
	command, shown string
	prints         *regexp.Regexp
}

func typed(text string) []typedCommand {
	var all []typedCommand
	for line := range strings.Lines(text) {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			all = append(all, typedCommand{command: strings.TrimSpace(command)})
			continue
		}
		all[len(all)-1].shown += line
	}
	for i := range all {
		pattern := regexp.QuoteMeta(all[i].shown)
		pattern = regexp.MustCompile(`(?m)^\\\.\\\.\\\.\n`).ReplaceAllString(pattern, `(?:.*\n)*`)
		pattern = strings.ReplaceAll(pattern, `\.\.\.`, `.*`)
		all[i].prints = regexp.MustCompile(`^` + pattern + `\n*$`)
	}
	return all
}

func TestEveryBlockOfTheReadmeWorks(t *testing.T) {
	needPython(t)
	if runtime.GOOS == "windows" {
		t.Skip("the commands are typed as a Unix shell takes them")
	}
	files, commands := newHouse(t).follow(t, "README.md")
	// What it promises: Python, JavaScript, TypeScript, storage, tests.
	if files < 7 || commands < 15 {
		t.Errorf("got %d files and %d commands; the blocks are not read as they are written", files, commands)
	}
}

func TestTheFirstPluginOfTheFrontPageWorks(t *testing.T) {
	needPython(t)
	if runtime.GOOS == "windows" {
		t.Skip("the commands are typed as a Unix shell takes them")
	}
	files, commands := newHouse(t).follow(t, filepath.Join("..", "README.md"))
	if files != 1 || commands == 0 {
		t.Errorf("got %d files and %d commands, want one plugin and how it is tried", files, commands)
	}
}

func TestTheExamplesOfTheGuideWork(t *testing.T) {
	needPython(t)
	if runtime.GOOS == "windows" {
		t.Skip("the commands are typed as a Unix shell takes them")
	}
	files, commands := newHouse(t).follow(t, filepath.Join("..", "docs", "PLUGINS.md"))
	if files == 0 || commands == 0 {
		t.Errorf("got %d files and %d commands", files, commands)
	}
}

func TestTheExamplesOfThePageAboutHooksWork(t *testing.T) {
	needPython(t)
	if runtime.GOOS == "windows" {
		t.Skip("the commands are typed as a Unix shell takes them")
	}
	files, commands := newHouse(t).follow(t, filepath.Join("..", "docs", "HOOKS.md"))
	if files < 4 || commands < 5 {
		t.Errorf("got %d files and %d commands; the blocks are not read as they are written", files, commands)
	}
}

func TestTheExamplesOfThePageAboutServicesWork(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are typed as a Unix shell takes them")
	}
	if _, commands := newHouse(t).follow(t, filepath.Join("..", "docs", "HTTP.md")); commands < 2 {
		t.Errorf("got %d commands; the blocks are not read as they are written", commands)
	}
}

// shipped are the plugins of this folder, by file name.
func shipped(t *testing.T) []string {
	t.Helper()
	entries, err := plugins.Files.ReadDir(".")
	must(t, err)
	var names []string
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	if len(names) < 2 {
		t.Fatalf("got the plugins %v, want a Python and a JavaScript one at least", names)
	}
	return names
}

func TestShippedPluginsAnswerTheirRecordedCalls(t *testing.T) {
	needPython(t)
	for _, name := range shipped(t) {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			copyShipped(t, h)
			out, status := h.run(t, program, "plugins", "test", name, "--json")
			replayed := 0
			for decoder := json.NewDecoder(strings.NewReader(out)); decoder.More(); replayed++ {
				var r struct {
					Name, Got, Want string
					OK              bool
				}
				if err := decoder.Decode(&r); err != nil {
					t.Fatalf("read what plugins test says: %v\n%s", err, out)
				}
				if !r.OK {
					t.Errorf("%s:\ngot  %s\nwant %s", r.Name, r.Got, r.Want)
				}
			}
			if status != 0 || replayed == 0 {
				t.Errorf("got status %d after %d calls, want 0 after some:\n%s", status, replayed, out)
			}
		})
	}
}

func TestEveryToolThatShipsHasARecordedCallAndSaysWhatItDoes(t *testing.T) {
	needPython(t)
	for _, name := range shipped(t) {
		h := newHouse(t)
		copyShipped(t, h)
		out, status := h.run(t, program, "plugins", "check", name, "--json")
		var checked struct {
			Tools []struct {
				Name, Description string
			}
			Problems []struct{ Message string }
		}
		if err := json.Unmarshal([]byte(out), &checked); err != nil || status != 0 {
			t.Fatalf("check %s: status %d, %v\n%s", name, status, err, out)
		}
		for _, p := range checked.Problems {
			t.Errorf("%s: %s", name, p.Message)
		}
		var calls []struct{ Tool string }
		raw, err := plugins.Files.ReadFile(strings.TrimSuffix(name, filepath.Ext(name)) + ".tests/calls.json")
		must(t, err)
		must(t, json.Unmarshal(raw, &calls))
		for _, tool := range checked.Tools {
			if !slices.ContainsFunc(calls, func(c struct{ Tool string }) bool { return c.Tool == tool.Name }) {
				t.Errorf("%s: no call of %s is recorded", name, tool.Name)
			}
			if tool.Description == "" {
				t.Errorf("%s: %s does not say what it does", name, tool.Name)
			}
		}
		if len(checked.Tools) == 0 {
			t.Errorf("%s has no tools", name)
		}
	}
}

// copyShipped puts what ships into a house's plugins folder.
func copyShipped(t *testing.T, h house) {
	t.Helper()
	must(t, os.CopyFS(h.dir, plugins.Files))
}

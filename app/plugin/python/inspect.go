package python

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
	"conclave/app/tool"
)

// inspectTimeout bounds reading a plugin's sources. The parser is linear; what
// takes this long is built to.
const inspectTimeout = 10 * time.Second

// maxInspected bounds the sources that are read together, in bytes.
const maxInspected = 8 << 20

// Inspected holds what the syntax trees of a plugin's sources show, as
// shim/conclave_worker/listing.py answers.
type Inspected struct {
	Functions []InspectedFunction `json:"functions"` // those of the entry that would become tools
	Decorated []InspectedMark     `json:"decorated"` // every decorator of a function, in all files
	// first parts of the modules that are imported and not among the sources
	Imports []string `json:"imports"`
	Lazy    []string `json:"lazy"`    // first parts of those that are imported in functions alone
	Guarded []string `json:"guarded"` // first parts of those whose failure to import is caught
	// what of a home folder they name, as ~/name; “~” alone if that is not known
	Home []string `json:"home"`
	// JSON Schema of the variables and keys that the sources ask for by name
	Options json.RawMessage     `json:"options"`
	Classes map[string][]string `json:"classes"` // those of the entry's top level, with the last names of their bases
	Exports bool                `json:"exports"` // whether the entry has an __all__
	Known   bool                `json:"known"`   // whether Functions is complete; false when only running can tell
	Problem *plugin.Problem     `json:"problem"`
}

// InspectedFunction is one public function of a source file.
type InspectedFunction struct {
	Name string `json:"name"`
	Line int    `json:"line"` // from 1
	Doc  string `json:"doc"`
}

// InspectedMark is one decorator of one function or method.
type InspectedMark struct {
	Decorator string         `json:"decorator"` // its last name: llm_tool of @sdk.llm_tool(…)
	File      string         `json:"file"`
	Name      string         `json:"name"` // of the function
	Line      int            `json:"line"`
	Doc       string         `json:"doc"`
	Options   map[string]any `json:"options"` // its keyword arguments, as far as they are literal
	Values    []string       `json:"values"`  // its other arguments; "" for one that is no literal text
}

// Value returns the argument at position i, or "".
func (m InspectedMark) Value(i int) string {
	if i >= len(m.Values) {
		return ""
	}
	return m.Values[i]
}

// Text returns an option that is text, or "".
func (m InspectedMark) Text(option string) string {
	text, _ := m.Options[option].(string)
	return text
}

// Declared returns the listing of a plugin that declares its tools by decorators; it
// may register more once it runs. declared returns the tool of one decorator, by its
// name at least; Declared skips a name that is there already, or none. Imports are
// those that the modules of provided, which the worker brings, do not satisfy.
func (i Inspected) Declared(provided []string, declared func(InspectedMark) tool.Tool) plugin.Listing {
	listing := plugin.Listing{Tools: []tool.Tool{}, Imports: []string{}, Home: i.Home}
	for _, name := range i.Imports {
		if first, _, _ := strings.Cut(name, "."); !slices.Contains(provided, first) {
			listing.Imports = append(listing.Imports, name)
		}
	}
	for _, mark := range i.Decorated {
		made := declared(mark)
		if made.Name == "" || slices.ContainsFunc(listing.Tools, func(t tool.Tool) bool { return t.Name == made.Name }) {
			continue
		}
		made.Title, made.File, made.Line = made.Name, mark.File, mark.Line
		listing.Tools = append(listing.Tools, made)
	}
	return listing
}

// Inspect returns which functions entry offers and what is imported: an
// interpreter parses the sources, by their names, and runs none of them. The
// error is a *plugin.Problem.
func (d *Interpreters) Inspect(ctx context.Context, entry string, files map[string][]byte) (Inspected, error) {
	return d.inspect(ctx, entry, files, false)
}

// InspectRegistered is Inspect for a plugin of the llm program: the functions are
// those that its register_tools hooks are seen to register, in any file.
func (d *Interpreters) InspectRegistered(ctx context.Context, entry string,
	files map[string][]byte,
) (Inspected, error) {
	return d.inspect(ctx, entry, files, true)
}

func (d *Interpreters) inspect(ctx context.Context, entry string, files map[string][]byte,
	registered bool,
) (Inspected, error) {
	python, shimDir, err := d.Resolve(ctx, d.options.Runtime)
	if err != nil {
		return Inspected{}, err
	}
	// A []byte is base64 in JSON, so a source of any encoding arrives as it is.
	input, err := json.Marshal(struct {
		Entry      string            `json:"entry"`
		Files      map[string][]byte `json:"files"`
		Registered bool              `json:"registered,omitempty"`
	}{entry, files, registered})
	if err != nil {
		return Inspected{}, err
	}
	return d.inspected(ctx, python, shimDir, entry, input)
}

// Sources reads the entry of a plugin below root and, as far as they are
// readable and small together, the other files named. The error is a
// *plugin.Problem.
func Sources(root, entry string, names []string) (map[string][]byte, error) {
	source, err := ReadSource(root, entry)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{entry: source}
	size := len(source)
	for _, name := range names {
		if name == entry {
			continue
		}
		text, err := ReadSource(root, name)
		if err != nil {
			// An empty __init__.py, or a file that loading will complain about.
			files[name] = []byte{}
			continue
		}
		if size += len(text); size > maxInspected {
			break
		}
		files[name] = text
	}
	return files, nil
}

// inspected has the interpreter read the sources in input. It runs in a sandbox where
// there is a launcher, as plugins do: whoever wrote the sources may have written
// them against the parser. A launcher is missing in tests alone.
func (d *Interpreters) inspected(ctx context.Context, python Python, shimDir, entry string,
	input []byte,
) (Inspected, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, busyFactor*d.options.InspectTime, errTooBusy)
	defer cancel()
	input = append(fmt.Appendf(nil, "%d\n", len(input)), input...)
	read := unconfined
	if d.options.Launcher != nil {
		read = d.confined
	}
	out, said, err := read(ctx, python, shimDir, input)
	switch {
	case errors.Is(context.Cause(ctx), errTooBusy):
		return Inspected{}, &plugin.Problem{
			Kind: "busy", File: entry,
			Message: fmt.Sprintf("The computer was too busy to read %s within %g s.", entry,
				busyFactor*d.options.InspectTime.Seconds()),
			Hint: "It is tried again; close what keeps the computer busy, or reload the plugin later.",
		}
	case errors.Is(err, errTooLong):
		return Inspected{}, &plugin.Problem{
			Kind: "deadline", File: entry,
			Message: fmt.Sprintf("Reading %s took longer than %g s.", entry, d.options.InspectTime.Seconds()),
			Hint:    "Is it a source file written by a person?",
		}
	case ctx.Err() != nil:
		return Inspected{}, context.Cause(ctx)
	case err != nil:
		return Inspected{}, unread(entry, said, err)
	}
	var answer Inspected
	if err := json.Unmarshal(out, &answer); err != nil {
		return Inspected{}, &plugin.Problem{
			Kind: "crashed", File: entry, Stderr: strings.ToValidUTF8(said, ""),
			Message: "Python could not read " + filepath.Base(entry) + ": its answer was cut off.",
		}
	}
	if answer.Problem != nil {
		return Inspected{}, answer.Problem
	}
	if answer.Imports == nil {
		answer.Imports = []string{}
	}
	return answer, nil
}

// inspector returns the command that reads sources.
func inspector(python Python, shimDir string) []string {
	return append([]string{python.Executable}, append(Flags(), "-c", boot, shimDir, "inspect")...)
}

// unread returns why nothing came of reading entry: err is how the process ended, or
// why there was none, and said what it wrote to standard error.
func unread(entry, said string, err error) *plugin.Problem {
	if p, ok := errors.AsType[*plugin.Problem](err); ok {
		return p // Python was not started, which is not the fault of the source
	}
	if exit, ok := errors.AsType[ended](err); ok && string(exit) == fmt.Sprintf("exit %d", sandbox.NotStarted) {
		return &plugin.Problem{
			Kind: "unavailable", Message: "Python could not be started in its sandbox.",
			Hint: strings.TrimSpace(strings.ToValidUTF8(said, "")),
		}
	}
	return &plugin.Problem{
		Kind: "crashed", File: entry, Stderr: said[max(0, len(said)-4096):],
		Message: "Python could not read " + filepath.Base(entry) + ": " + err.Error() + ".",
		Hint:    "Look for an expression that nests very deeply.",
	}
}

// ended is how a process ended, as its launcher says it.
type ended string

func (e ended) Error() string { return string(e) }

// busyFactor is the number of times its time the reading of sources may take on a busy computer.
const busyFactor = 6

// errTooLong and errTooBusy are why the reading of sources was ended.
var (
	errTooLong = errors.New("reading it took too long")
	errTooBusy = errors.New("the computer was too busy to read it")
)

// boundTime kills a process once it took its time to read sources, without that in which it waited
// for a processor. end ends that, and reports whether it was killed so.
func (d *Interpreters) boundTime(p sandbox.Process) (end func() (tooLong bool)) {
	began, before := time.Now(), p.Usage().Waited
	var mu sync.Mutex // guards the variables below
	var timer *time.Timer
	killed, over := false, false
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(d.options.InspectTime, func() {
		mu.Lock()
		defer mu.Unlock()
		if over {
			return
		}
		if left := d.options.InspectTime - (time.Since(began) - (p.Usage().Waited - before)); left > 0 {
			timer.Reset(left)
			return
		}
		killed = true
		p.Kill()
	})
	return func() bool {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		over = true
		return killed
	}
}

// unconfined has an interpreter that runs as the person answer one question.
func unconfined(ctx context.Context, python Python, shimDir string, input []byte) ([]byte, string, error) {
	argv := inspector(python, shimDir)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...) //nolint:gosec // the interpreter that was found
	cmd.Dir = shimDir
	cmd.Env = Environment("")
	cmd.Stdin = bytes.NewReader(input)
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	return out, stderr.String(), err
}

package functions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"conclave/app/plugin"
	"conclave/app/tool"
)

// inspectTimeout bounds reading a plugin's sources. The parser is linear; what
// takes this long is built to.
const inspectTimeout = 10 * time.Second

// maxInspected bounds the sources that are read together, in bytes.
const maxInspected = 8 << 20

// Inspect tells which functions will become tools and what is imported, from
// the syntax trees: an interpreter parses the sources and runs none of them.
// The error is a *plugin.Problem.
func (d *Dialect) Inspect(ctx context.Context, src plugin.Source, m plugin.Manifest) (plugin.Listing, error) {
	python, shimDir, err := d.resolve(ctx, d.options.Runtime)
	if err != nil {
		return plugin.Listing{}, err
	}
	question, err := sources(src, m)
	if err != nil {
		return plugin.Listing{}, err
	}
	input, err := json.Marshal(question)
	if err != nil {
		return plugin.Listing{}, err
	}
	answer, err := inspect(ctx, python, shimDir, m.Entry, input)
	if err != nil {
		return plugin.Listing{}, err
	}
	listing := plugin.Listing{Known: answer.Known, Tools: []tool.Tool{}, Imports: answer.Imports}
	for _, f := range answer.Functions {
		listing.Tools = append(listing.Tools, tool.Tool{
			Plugin: src.ID, Name: f.Name, Title: f.Name, Description: f.Doc,
			Visibility: tool.Direct, Contract: Contract, File: m.Entry, Line: f.Line,
		})
	}
	return listing, nil
}

// inspection is the question: every source by its name. A []byte is base64 in
// JSON, so a source of any encoding arrives as it is.
type inspection struct {
	Entry string            `json:"entry"`
	Files map[string][]byte `json:"files"`
}

// inspected is the answer of shim/conclave_worker/listing.py.
type inspected struct {
	Functions []struct {
		Name string `json:"name"`
		Line int    `json:"line"`
		Doc  string `json:"doc"`
	} `json:"functions"`
	Imports []string        `json:"imports"`
	Known   bool            `json:"known"`
	Problem *plugin.Problem `json:"problem"`
}

// sources reads the entry and, as far as they are readable and small, the files
// that may be imported with it.
func sources(src plugin.Source, m plugin.Manifest) (inspection, error) {
	entry, err := readSource(rootOf(src), m.Entry)
	if err != nil {
		return inspection{}, err
	}
	question := inspection{Entry: m.Entry, Files: map[string][]byte{m.Entry: entry}}
	names, root := m.Files, rootOf(src)
	if src.Folder {
		names = pythonFiles(src.Path)
	}
	size := len(entry)
	for _, name := range names {
		text, err := readSource(root, name)
		if err != nil {
			// An empty __init__.py, or a file that loading will complain about.
			question.Files[name] = []byte{}
			continue
		}
		if size += len(text); size > maxInspected {
			break
		}
		question.Files[name] = text
	}
	question.Files[m.Entry] = entry
	return question, nil
}

func inspect(ctx context.Context, python Python, shimDir, entry string, input []byte) (inspected, error) {
	tooLong := errors.New("reading it took too long")
	ctx, cancel := context.WithTimeoutCause(ctx, inspectTimeout, tooLong)
	defer cancel()
	cmd := exec.CommandContext(ctx, python.Executable, append(flags(), "-c", boot, shimDir, "inspect")...)
	cmd.Dir = shimDir
	cmd.Env = environment("")
	cmd.Stdin = bytes.NewReader(input)
	cmd.WaitDelay = time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		switch {
		case errors.Is(context.Cause(ctx), tooLong):
			return inspected{}, &plugin.Problem{Kind: "deadline", File: entry,
				Message: "Reading " + entry + " took longer than 10 s.", Hint: "Is it a source file written by a person?"}
		case ctx.Err() != nil:
			return inspected{}, context.Cause(ctx)
		}
		said := stderr.String()
		return inspected{}, &plugin.Problem{Kind: "crashed", File: entry, Stderr: said[max(0, len(said)-4096):],
			Message: "Python could not read " + filepath.Base(entry) + ": " + err.Error() + ".",
			Hint:    "Look for an expression that nests very deeply."}
	}
	var answer inspected
	if err := json.Unmarshal(out, &answer); err != nil {
		return inspected{}, &plugin.Problem{Kind: "crashed", File: entry, Stderr: strings.ToValidUTF8(stderr.String(), ""),
			Message: "Python could not read " + filepath.Base(entry) + ": its answer was cut off."}
	}
	if answer.Problem != nil {
		return inspected{}, answer.Problem
	}
	if answer.Imports == nil {
		answer.Imports = []string{}
	}
	return answer, nil
}

package engine

import (
	"fmt"
	"strconv"
	"strings"

	"conclave/app/base/pattern"
)

// Problem describes why a plugin did not load: data.problem of docs/WIRE.md, section
// 1. It is an error.
//
//	{"kind":"script","message":"TypeError: boom","type":"TypeError",
//	 "file":"dice.js","line":3,"column":9,"frame":"> 3 | …"}
type Problem struct {
	Kind    string   `json:"kind"` // script, deadline, memory, unavailable or refused
	Message string   `json:"message"`
	Type    string   `json:"type,omitempty"`
	File    string   `json:"file,omitempty"` // relative to the plugin's folder
	Line    int      `json:"line,omitempty"` // from 1
	Column  int      `json:"column,omitempty"`
	Frame   string   `json:"frame,omitempty"`
	Hint    string   `json:"hint,omitempty"`
	Missing []string `json:"missing,omitempty"`
}

// Error returns "file:line: message", or the message alone.
func (p *Problem) Error() string {
	if p.File == "" || p.Line == 0 {
		return p.Message
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
}

// thrown holds what the prelude says of a value that was thrown (bridge.js,
// describe).
type thrown struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Stack   string `json:"stack"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Thrown  string `json:"thrown"` // what it was, when it was no object: string, number, null …

	Frame string `json:"-"` // the author's lines around the first place of Stack
}

// outOfMemory reports whether the engine threw it for want of memory. When there
// is none left even for the exception, QuickJS throws null.
func (t thrown) outOfMemory() bool {
	return t.Name == "InternalError" && t.Message == "out of memory" || t.Thrown == "null"
}

// interrupted reports whether the engine threw it because it was interrupted.
func (t thrown) interrupted() bool { return t.Name == "InternalError" && t.Message == "interrupted" }

// sentence is the message with the name of the error, as a stack begins.
func (t thrown) sentence() string {
	switch {
	case t.Name == "" || t.Thrown != "":
		return t.Message
	case t.Message == "":
		return t.Name
	default:
		return t.Name + ": " + t.Message
	}
}

// place is one line of a stack: "    at f (src/backend.ts:2:31)".
type place struct {
	function, file string
	line, column   int
}

var stackLine = pattern.Lazy(`^\s*at (?:(.*?) \()?([^()]*?):(\d+)(?::(\d+))?\)?$`)

// stackOf reads a stack. Lines of the prelude and of the engine are left out;
// they are no place a person can look at.
func stackOf(stack string) []place {
	var places []place
	for line := range strings.Lines(stack) {
		m := stackLine().FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil || strings.HasPrefix(m[2], preludeScheme) || strings.HasPrefix(m[2], "<") {
			continue
		}
		p := place{function: m[1], file: m[2]}
		p.line, _ = strconv.Atoi(m[3]) // digits, by the expression
		p.column, _ = strconv.Atoi(m[4])
		places = append(places, p)
	}
	return places
}

// hints say what to do about names that other JavaScript hosts have.
var hints = []struct{ name, hint string }{
	{"require", "require does not exist here: use import, or ship the plugin as one bundle."},
	{"module", "This looks like CommonJS: use import and export, or ship the plugin as one bundle."},
	{"exports", "This looks like CommonJS: use import and export, or ship the plugin as one bundle."},
	{"window", "A plugin's backend has no window and no document."},
	{"document", "A plugin's backend has no window and no document."},
	{"localStorage", "Use spindle.storage to keep data."},
	{"Bun", "Bun's own functions do not exist here."},
	{"Deno", "Deno's own functions do not exist here."},
}

func hintFor(t thrown) string {
	if t.Name != "ReferenceError" {
		return ""
	}
	for _, h := range hints {
		if t.Message == fmt.Sprintf("'%s' is not defined", h.name) {
			return h.hint
		}
	}
	return ""
}

// memoryProblem says that the heap was too small.
func memoryProblem(heap int64) *Problem {
	return &Problem{
		Kind: "memory", Message: memorySentence(heap),
		Hint: "Look for a list that grows without end.",
	}
}

func memorySentence(heap int64) string {
	return fmt.Sprintf("The plugin ran out of its %d MB of memory.", heap>>20)
}

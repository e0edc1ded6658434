package plugin

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
)

// Problem describes why a plugin did not load, for a person. It is an error.
type Problem struct {
	Kind    string   `json:"kind"`    // script, deadline, memory, crashed, refused, flooded, unavailable
	Message string   `json:"message"` // one sentence
	Type    string   `json:"type,omitempty"`
	File    string   `json:"file,omitempty"` // relative to the plugin's folder
	Line    int      `json:"line,omitempty"` // from 1
	Column  int      `json:"column,omitempty"`
	Frame   string   `json:"frame,omitempty"` // a few lines of source with the place marked
	Hint    string   `json:"hint,omitempty"`
	Missing []string `json:"missing,omitempty"` // packages
	Stderr  string   `json:"stderr,omitempty"`  // tail, when it crashed

	Program     string   `json:"program,omitempty"`     // a command that was not found, for which a person can choose one
	Install     string   `json:"install,omitempty"`     // the command of this system that installs what is missing
	Permissions []string `json:"permissions,omitempty"` // what it lacks, in permit's words
}

// Error returns "file:line: message", with as much of the place as is known.
func (p *Problem) Error() string {
	if p.File == "" {
		return p.Message
	}
	if p.Line == 0 { // the file as a whole
		return p.File + ": " + p.Message
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
}

// Unreadable returns the problem of a file of a plugin that cannot be read. An error that is a *Problem is
// returned as it is.
func Unreadable(file string, err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err
	}
	return &Problem{
		Kind: "unavailable", File: file, Message: fmt.Sprintf("%s cannot be read: %v.", file, err),
		Hint: "Check that it is a file that you may read.",
	}
}

// NeedsPlugins returns the problem of a plugin whose manifest, a file of its folder, asks for
// other plugins that are not there.
func NeedsPlugins(manifest string, missing []string) *Problem {
	return &Problem{
		Kind: "unavailable", File: manifest, Missing: missing,
		Message: fmt.Sprintf("It needs the plugin %s, which is not here.", strings.Join(missing, ", ")),
		Hint:    "Add it to the plugins folder, then reload this one.",
	}
}

// ProblemOf returns err as a Problem: itself, or one made of its sentence, cleaned.
func ProblemOf(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p.cleaned()
	}
	f := fault.Of(err)
	message := f.Message
	if f.Kind == fault.Internal {
		message = strings.TrimSpace(err.Error())
	}
	return (&Problem{Kind: "crashed", Message: message, Hint: f.Hint}).cleaned()
}

// cleaned is the problem as a person may read it: it quotes what a plugin says.
func (p *Problem) cleaned() *Problem {
	s := &scrub{}
	c := *p
	c.Message, c.Hint = s.line(p.Message, limit.ManifestText), s.line(p.Hint, limit.ManifestText)
	c.Type, c.File, c.Missing = s.name(p.Type), s.line(p.File, limit.ManifestText), s.names(p.Missing)
	c.Frame, c.Stderr = s.text(p.Frame, 4*limit.ManifestText), p.Stderr
	if frame := strings.TrimRight(p.Frame, "\n"); frame == strings.TrimRight(c.Frame, "\n") ||
		strings.TrimSpace(frame) == c.Frame {
		c.Frame = p.Frame // its first line may be indented
	}
	return &c
}

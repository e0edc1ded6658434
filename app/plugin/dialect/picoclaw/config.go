package picoclaw

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/app/base/limit"
	"conclave/app/plugin"
	"conclave/app/plugin/safefs"
)

// FileName is the file that makes a folder a hook process.
const FileName = "hook.json"

// Process is one entry of PicoClaw's hooks.processes (contracts/picoclaw-hooks, section
// 2), with its name.
type Process struct {
	Name      string            `json:"name"`
	Enabled   *bool             `json:"enabled"` // of a file of its own: nil is on
	Priority  int               `json:"priority"`
	Transport string            `json:"transport"`
	Command   []string          `json:"command"`
	Dir       string            `json:"dir"`
	Env       map[string]string `json:"env"`
	Observe   []string          `json:"observe"`
	Intercept []string          `json:"intercept"`
	Own       Own               `json:"x_conclave"`

	Defaults Defaults `json:"defaults"` // of the hooks block that it stands in
}

// Own are the keys that PicoClaw ignores.
type Own struct {
	HelloMS       int  `json:"hello_timeout_ms"`
	InterceptorMS int  `json:"interceptor_timeout_ms"`
	ApprovalMS    int  `json:"approval_timeout_ms"`
	FailClosed    bool `json:"fail_closed"`

	Permissions []string `json:"permissions"` // asked for besides those that its modes need
}

// Defaults are hooks.defaults.
type Defaults struct {
	ObserverMS    int `json:"observer_timeout_ms"`
	InterceptorMS int `json:"interceptor_timeout_ms"`
	ApprovalMS    int `json:"approval_timeout_ms"`
}

// The times of section 2, and of section 4.3 for hello.
const (
	helloTime       = 5 * time.Second
	interceptorTime = 5 * time.Second
	approvalTime    = time.Minute
	// mostTime bounds what a hook may set for itself: a person waits for it.
	mostTime = 5 * time.Minute
)

func milliseconds(fallback time.Duration, settings ...int) time.Duration {
	if ms := cmp.Or(slices.DeleteFunc(slices.Clone(settings), func(ms int) bool { return ms <= 0 })...); ms > 0 {
		return min(time.Duration(min(ms, int(mostTime.Milliseconds())))*time.Millisecond, mostTime)
	}
	return fallback
}

// HelloTime is the time that the process may take to answer hook.hello.
func (p Process) HelloTime() time.Duration { return milliseconds(helloTime, p.Own.HelloMS) }

// InterceptorTime is the time that it may take to answer at a stage.
func (p Process) InterceptorTime() time.Duration {
	return milliseconds(interceptorTime, p.Own.InterceptorMS, p.Defaults.InterceptorMS)
}

// ApprovalTime is the time that it may take to say whether a call may be made.
func (p Process) ApprovalTime() time.Duration {
	return milliseconds(approvalTime, p.Own.ApprovalMS, p.Defaults.ApprovalMS)
}

// LLM reports whether the hook is asked before and after each request to a model:
// naming one stage switches on both.
func (p Process) LLM() bool {
	return slices.Contains(p.Intercept, "before_llm") || slices.Contains(p.Intercept, "after_llm")
}

// Tools reports whether it is asked before and after each call of a tool.
func (p Process) Tools() bool {
	return slices.Contains(p.Intercept, "before_tool") || slices.Contains(p.Intercept, "after_tool")
}

// Approves reports whether it is asked whether a call may be made.
func (p Process) Approves() bool { return slices.Contains(p.Intercept, "approve_tool") }

// Observes reports whether it gets events.
func (p Process) Observes() bool { return len(p.Observe) > 0 }

// Modes are those of hook.hello, in its order.
func (p Process) Modes() []string {
	var modes []string
	for _, mode := range []struct {
		name string
		on   bool
	}{{"observe", p.Observes()}, {"llm", p.LLM()}, {"tool", p.Tools()}, {"approve", p.Approves()}} {
		if mode.on {
			modes = append(modes, mode.name)
		}
	}
	return modes
}

// Guards reports whether what it guards is asked about while it does not answer.
func (p Process) Guards() bool { return p.Approves() || p.Own.FailClosed }

// On reports whether the entry is switched on. An entry of a hooks block is off unless
// it says so; a file that is nothing but an entry is on.
func (p Process) On() bool { return p.Enabled == nil || *p.Enabled }

// block is a hooks block, or a config.json around one.
type block struct {
	Enabled   *bool                      `json:"enabled"`
	Defaults  Defaults                   `json:"defaults"`
	Processes map[string]json.RawMessage `json:"processes"`
	Builtins  map[string]json.RawMessage `json:"builtins"`
}

// readHooks reads a file with hooks. The error is a *plugin.Problem.
func readHooks(folder, name string) ([]byte, error) {
	text, size, err := safefs.ReadSource(folder, name, limit.HookFile)
	switch {
	case err != nil:
		return nil, plugin.Unreadable(FileName, err)
	case size > limit.HookFile:
		return nil, &plugin.Problem{
			Kind: "refused", File: FileName, Message: "The file with its hooks has more than 1 MiB, so it was not read.",
		}
	}
	return bytes.TrimPrefix(text, []byte("\uFEFF")), nil
}

// readProcess reads the hook.json of a folder. The error is a *plugin.Problem.
func readProcess(src plugin.Source) (Process, error) {
	text, err := readHooks(src.Path, FileName)
	if err != nil {
		return Process{}, err
	}
	all, err := Parse(text)
	if err != nil {
		return Process{}, err
	}
	on := slices.DeleteFunc(slices.Clone(all), func(p Process) bool { return !p.On() })
	switch {
	case len(on) == 1:
		all = on
	case len(all) == 0:
		return Process{}, wrong(text, "", "hook.json names no hook process.",
			`Give it a "command" and "intercept" or "observe", as in docs/HOOKS.md.`)
	case len(all) > 1:
		return Process{}, wrong(text, "processes",
			fmt.Sprintf("hook.json holds %d hook processes; a folder is one.", len(all)),
			"Make a folder of each with: conclave plugins add "+FileName)
	}
	p := all[0]
	p.Name = cmp.Or(p.Name, src.ID)
	if !p.On() {
		return p, nil
	}
	return p, p.check(text, src)
}

// Parse reads the hook processes of a hook.json: one entry, a hooks block, or a
// config.json that has one, sorted by name. Nothing of them is checked. The error is a
// *plugin.Problem.
func Parse(text []byte) ([]Process, error) {
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, broken(text, err)
	}
	if raw, ok := fields["hooks"]; ok && fields["command"] == nil {
		text = raw
		fields = nil
		if err := json.Unmarshal(raw, &fields); err != nil {
			return nil, wrong(text, "hooks", `"hooks" is no object.`, "")
		}
	}
	if fields["processes"] == nil && fields["command"] == nil && (fields["builtins"] != nil || fields["defaults"] != nil ||
		len(fields) == 0) {
		return nil, nil
	}
	if fields["processes"] == nil {
		var p Process
		if err := json.Unmarshal(text, &p); err != nil {
			return nil, broken(text, err)
		}
		return []Process{p}, nil
	}
	var b block
	if err := json.Unmarshal(text, &b); err != nil {
		return nil, broken(text, err)
	}
	var all []Process
	for _, name := range slices.Sorted(maps.Keys(b.Processes)) {
		p := Process{Defaults: b.Defaults}
		if err := json.Unmarshal(b.Processes[name], &p); err != nil {
			return nil, broken(b.Processes[name], err)
		}
		p.Name = name
		off := p.Enabled == nil || b.Enabled != nil && !*b.Enabled
		if off {
			p.Enabled = new(bool)
		}
		all = append(all, p)
	}
	return all, nil
}

// stages are the words of intercept (section 2).
var stages = []string{"before_llm", "after_llm", "before_tool", "after_tool", "approve_tool"}

// check refuses what PicoClaw refuses (section 2).
func (p Process) check(text []byte, src plugin.Source) error {
	for _, stage := range p.Intercept {
		if stage != "" && !slices.Contains(stages, stage) {
			return wrong(text, stage, fmt.Sprintf("It wants to intercept %q, which there is not.", stage),
				"There are: "+strings.Join(stages, ", ")+".")
		}
	}
	for _, kind := range p.Observe {
		if !observable(kind) {
			return wrong(text, kind, fmt.Sprintf("It wants to observe %q, which there is not.", kind),
				`“*” is everything; docs/HOOKS.md has the names.`)
		}
	}
	switch {
	case p.Transport != "" && p.Transport != "stdio":
		return wrong(text, "transport", fmt.Sprintf("Its transport %q is not supported.", p.Transport),
			"Hooks speak over standard input and output: stdio.")
	case len(p.Command) == 0 || p.Command[0] == "":
		return wrong(text, "command", "It names no command.", `For example: "command": ["python3", "hook.py"].`)
	case len(p.Modes()) == 0:
		return wrong(text, "", "It neither intercepts nor observes anything.",
			`Name stages in "intercept" or events in "observe".`)
	}
	if p.Dir != "" {
		if info, err := os.Stat(p.folder(src)); err != nil || !info.IsDir() {
			return wrong(text, "dir", "Its folder "+p.Dir+" does not exist.", "Leave “dir” out for the folder of hook.json.")
		}
	}
	return nil
}

// folder is the working folder of the process; src says from where it runs.
func (p Process) folder(src plugin.Source) string {
	if filepath.IsAbs(p.Dir) {
		return p.Dir
	}
	return filepath.Join(src.Path, filepath.FromSlash(p.Dir))
}

// wrong is a mistake in hook.json, at the line that has the word.
func wrong(text []byte, word, message, hint string) *plugin.Problem {
	line := 0
	if word != "" {
		if i := bytes.Index(text, []byte(word)); i >= 0 {
			line = 1 + bytes.Count(text[:i], []byte("\n"))
		}
	}
	return &plugin.Problem{Kind: "script", File: FileName, Line: line, Message: message, Hint: hint}
}

// broken is JSON that cannot be read.
func broken(text []byte, err error) *plugin.Problem {
	p := &plugin.Problem{Kind: "script", File: FileName, Message: "It cannot be read: " + err.Error() + "."}
	at := int64(0)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		at = syntax.Offset
	}
	if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		at = kind.Offset
		p.Message = fmt.Sprintf("%q is a JSON %s, which it cannot be.", kind.Field, kind.Value)
	}
	if at > 0 && at <= int64(len(text)) {
		p.Line = 1 + bytes.Count(text[:at], []byte("\n"))
	}
	return p
}

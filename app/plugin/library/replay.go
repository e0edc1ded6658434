package library

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/plugin"
	"conclave/app/plugin/safefs"
	"conclave/app/tool"
)

// TestCase is one recorded call in a file of a plugin's tests folder: tests/*.json
// holds a list of them, run in order in one process.
type TestCase struct {
	Name string `json:"name"`
	Tool string `json:"tool,omitempty"` // the tool's own name
	// Or: what its process is asked in the words of its dialect (plugin.Asker), such as
	// hook.before_tool. Arguments are the params then, and the text is the result as JSON, its
	// keys in order.
	Event     string          `json:"event,omitempty"`
	Arguments json.RawMessage `json:"arguments"`
	Expect    *string         `json:"expect,omitempty"`  // the whole text it answers
	Matches   string          `json:"matches,omitempty"` // or: a regular expression (RE2) its text matches
	Error     string          `json:"error,omitempty"`   // or: a part of the error it answers with

	Context []tool.ContextMessage `json:"context,omitempty"` // makes it a council call
}

// TestResult is the result of one TestCase.
type TestResult struct {
	File string `json:"file"`
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	Got  string `json:"got"`
	Want string `json:"want"`
}

// Replay runs the recorded calls of the plugin at path: those in its folder's tests/,
// or for a single file NAME.py in NAME.tests/ or tests/NAME*.json. With update, it
// writes the answers as the expected ones. Kind not_found when nothing is recorded.
func (l *Library) Replay(ctx context.Context, id, path string, update bool) ([]TestResult, error) {
	if _, err := l.o.Host.Find(id); err != nil {
		return nil, err
	}
	files, err := recordedFiles(path)
	if err != nil {
		return nil, err
	}
	folder, err := recordedIn(path)
	if err != nil {
		return nil, err
	}
	defer folder.Close() //nolint:errcheck // nothing is buffered
	ask, release := l.asking(ctx, id)
	defer release()
	tools, invoker := l.o.Host.Serving(id)
	if invoker == nil {
		return nil, fault.New(fault.Unavailable, "plugin.replay", "The plugin "+id+" does not run.", "")
	}
	var out []TestResult
	for _, file := range files {
		name := filepath.Join(filepath.Base(filepath.Dir(file)), filepath.Base(file))
		raw, _, err := folder.Read(name, plugin.MaxBytes)
		if err != nil {
			return nil, err
		}
		calls, results, err := runCases(file, raw, func(rec *TestCase) (TestResult, error) {
			return replay(ctx, tools, invoker, ask, rec, update)
		})
		if err != nil {
			return nil, err
		}
		out = append(out, results...)
		if update {
			text, err := json.MarshalIndent(calls, "", "  ")
			if err != nil {
				return nil, err
			}
			if err := folder.Write(name, append(text, '\n')); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// runCases reads the recorded calls of a file and runs each.
func runCases(file string, raw []byte, run func(*TestCase) (TestResult, error)) ([]TestCase, []TestResult, error) {
	var calls []TestCase
	if err := json.Unmarshal(raw, &calls); err != nil {
		return nil, nil, fault.Wrap(fault.Invalid, "plugin.replay", "The file "+file+" is not a JSON list of recorded calls.",
			"See plugins/README.md.", err)
	}
	out := make([]TestResult, len(calls))
	for i := range calls {
		r, err := run(&calls[i])
		if err != nil {
			return nil, nil, err
		}
		r.File = filepath.Base(file)
		out[i] = r
	}
	return calls, out, nil
}

// ReplayCalls runs the recorded calls of a file by call: those of a plugin that has no
// folder.
func ReplayCalls(file string, raw []byte,
	call func(name string, arguments json.RawMessage) (tool.Result, error),
) ([]TestResult, error) {
	_, out, err := runCases(file, raw, func(rec *TestCase) (TestResult, error) {
		result, err := call(rec.Tool, rec.Arguments)
		if err != nil {
			return TestResult{}, err
		}
		return judge(rec, result, false)
	})
	return out, err
}

// asking returns the process of a plugin where it can be asked directly, or nil. release
// gives it back.
func (l *Library) asking(ctx context.Context, id string) (_ plugin.Asker, release func()) {
	connection, release, err := l.o.Host.Backends.Borrow(ctx, id)
	if err != nil {
		return nil, func() {} // whoever calls it says why
	}
	ask, _ := connection.(plugin.Asker)
	return ask, release
}

// askEvent asks a process by an event, and returns what it answers as a result.
func askEvent(ctx context.Context, ask plugin.Asker, rec *TestCase) tool.Result {
	if ask == nil {
		return tool.Result{Status: chat.CallUnknown, Error: "the plugin is no hook: name a tool in place of an event"}
	}
	raw, err := ask.Ask(ctx, rec.Event, rec.Arguments)
	if err != nil {
		return tool.Result{Status: chat.CallRaised, Error: err.Error()}
	}
	var value any
	if json.Unmarshal(raw, &value) == nil {
		if ordered, err := json.Marshal(value); err == nil {
			raw = ordered
		}
	}
	return tool.Result{Status: chat.CallOK, Content: []chat.Part{chat.TextPart(string(raw))}}
}

// recordedIn opens the folder that holds the folders of the calls recorded for the
// plugin at path. Links may have come with a plugin, and what is recorded is
// written again, so none in there is followed.
func recordedIn(path string) (*safefs.Folder, error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		path = filepath.Dir(path)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	return safefs.Open(real)
}

func recordedFiles(path string) ([]string, error) {
	var files []string
	var err error
	if info, statErr := os.Stat(path); statErr == nil && info.IsDir() {
		files, err = filepath.Glob(filepath.Join(path, "tests", "*.json"))
	} else {
		stem := strings.TrimSuffix(path, filepath.Ext(path))
		var recorded []string
		files, err = filepath.Glob(stem + plugin.TestsEnding + "/*.json")
		recorded, _ = filepath.Glob(filepath.Join(filepath.Dir(path), "tests", filepath.Base(stem)+"*.json"))
		files = append(files, recorded...)
	}
	if err != nil || len(files) == 0 {
		return nil, errors.Join(fault.New(fault.NotFound, "plugin.replay", "No calls are recorded for "+path+".",
			`Put them into its tests folder as JSON: [{"name": "…", "tool": "…", "arguments": {}, "expect": "…"}].`), err)
	}
	slices.Sort(files)
	return files, nil
}

func replay(ctx context.Context, tools []tool.Tool, invoker tool.Invoker, ask plugin.Asker, rec *TestCase,
	update bool,
) (TestResult, error) {
	if rec.Event != "" {
		return judge(rec, askEvent(ctx, ask, rec), update)
	}
	out := TestResult{Name: rec.Name}
	i := slices.IndexFunc(tools, func(t tool.Tool) bool { return t.Name == rec.Tool })
	if i < 0 {
		out.Got, out.Want = "no tool of that name", rec.Tool
		return out, nil
	}
	now := time.Now()
	call := tool.Call{
		ID: fmt.Sprintf("replay-%d", now.UnixNano()), Tool: tools[i], Arguments: rec.Arguments, ContextMessages: rec.Context,
		Deadline: now.Add(tools[i].TimeLimit()),
	}
	var compact bytes.Buffer
	if json.Compact(&compact, rec.Arguments) == nil {
		call.Arguments = compact.Bytes()
	}
	result, err := invoker.Call(ctx, call)
	if err != nil {
		return out, err
	}
	return judge(rec, result, update)
}

// judge compares the result of a recorded call with what is expected, which update makes
// of it.
func judge(rec *TestCase, result tool.Result, update bool) (TestResult, error) {
	out := TestResult{Name: rec.Name}
	out.Got = chat.TextOf(result.Content)
	if result.Status != chat.CallOK {
		out.Got = "error: " + cmp.Or(result.Error, string(result.Status))
	}
	if update && rec.Matches == "" {
		rec.Expect, rec.Error = nil, ""
		if result.Status == chat.CallOK {
			rec.Expect = &out.Got
		} else {
			rec.Error = result.Error
		}
	}
	switch {
	case rec.Error != "":
		out.Want = "error: …" + rec.Error
		out.OK = result.Status != chat.CallOK && strings.Contains(result.Error, rec.Error)
	case rec.Matches != "":
		out.Want = "match of " + rec.Matches
		re, err := regexp.Compile("(?s)^(?:" + rec.Matches + ")$")
		if err != nil {
			return out, fault.Wrap(fault.Invalid, "plugin.replay", "The call "+rec.Name+
				" has a pattern that is no regular expression.", "", err)
		}
		out.OK = result.Status == chat.CallOK && re.MatchString(out.Got)
	case rec.Expect != nil:
		out.Want = *rec.Expect
		out.OK = result.Status == chat.CallOK && out.Got == *rec.Expect
	default:
		out.Want, out.OK = "any answer", result.Status == chat.CallOK
	}
	return out, nil
}

package terminal

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/gate"
)

// endless is input that never ends, as /dev/zero.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) {
	e.read += int64(len(p))
	return len(p), nil
}

func TestOnlyRegularFilesOfABoundedSizeAreRead(t *testing.T) {
	dir := t.TempDir()
	full := filepath.Join(dir, "full")
	must(t, os.WriteFile(full, make([]byte, limit.Attachment), 0o600))
	if data, err := readFile("t", full, "full", limit.Attachment); err != nil ||
		int64(len(data)) != limit.Attachment {
		t.Errorf("as large as may be: %d bytes, %v", len(data), err)
	}
	over := filepath.Join(dir, "over")
	must(t, os.WriteFile(over, make([]byte, limit.Attachment+1), 0o600))
	refused := map[string]string{
		over: "The file over has more than 20 MiB, the most that is taken.",
		dir:  "The file " + filepath.Base(dir) + " cannot be read: it is a folder.",
	}
	if runtime.GOOS != "windows" {
		refused["/dev/zero"] = "zero is not an ordinary file."
	}
	for path, want := range refused {
		_, err := readFile("t", path, filepath.Base(path), limit.Attachment)
		if f := fault.Of(err); err == nil || f.Message != want || f.Hint == "" {
			t.Errorf("%s: got %v, want %q and a hint", path, err, want)
		}
	}

	in := &endless{}
	_, err := readAtMost("t", "The text", in, limit.MessageText)
	if err == nil || !strings.Contains(fault.Of(err).Message, "more than 16 MiB") ||
		in.read > 2*limit.MessageText {
		t.Errorf("input without an end: %v, after %d bytes", err, in.read)
	}
}

// Lines without end, and a message of them, end the input with a sentence, and not the memory.
func TestAttackALineWithoutEndFillsTheMemory(t *testing.T) {
	for name, in := range map[string]io.Reader{
		"a line": &endless{}, "a message": io.MultiReader(strings.NewReader("\"\"\"\n"), &endlessLines{}),
	} {
		c := newTerminal(&Session{In: in}, nil)
		text, _, err := c.person.message(t.Context())
		f := fault.Of(err)
		if err == nil || f.Message != "The text has more than 16 MiB, the most that is taken." || f.Hint != sendPart {
			t.Errorf("%s: %d bytes, %v", name, len(text), err)
		}
	}
	whole := strings.Repeat("x", 10_000)
	c := newTerminal(&Session{In: strings.NewReader(whole + "\ny\n\"\"\"\na\nb\n\"\"\"\nlast")}, nil)
	for _, want := range []string{whole, "y", "a\nb", "last"} {
		if got, _, err := c.person.message(t.Context()); err != nil || got != want {
			t.Errorf("got %d bytes, %v, want %d", len(got), err, len(want))
		}
	}
}

// endlessLines is input without end, in lines.
type endlessLines struct{}

func (endlessLines) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'y'
		if i%1000 == 999 {
			p[i] = '\n'
		}
	}
	return len(p), nil
}

func TestANameThatAModelMadeUpCannotDrawOnTheScreen(t *testing.T) {
	var out strings.Builder
	p := &printer{c: newTerminal(&Session{Out: &out, Err: &out}, nil), debug: true}
	name := "a\x1b[2J\u202e\nconclave: approved\u200b"
	call := &chat.CallRecord{ToolName: name, Decision: "allow", DecidedBy: "a rule"}
	p.event(chat.Event{Kind: chat.EventAsked, Call: call})
	p.event(chat.Event{Kind: chat.EventDecided, Call: call})
	p.event(chat.Event{Kind: chat.EventAnswered, Call: call, Result: &chat.ToolResult{Tool: name}})
	if got := out.String(); strings.ContainsAny(got, "\x1b\u202e\u200b") || strings.Count(got, "\n") != 3 {
		t.Errorf("it printed %q", got)
	}
}

func TestACallThatApproveAlwaysLetsOutWithTextOfOthersIsSaid(t *testing.T) {
	const words = "--approve always allowed it once, although this chat contains text from example.org"
	for name, c := range map[string]struct {
		call chat.CallRecord
		want string
	}{
		"sent unasked": {
			chat.CallRecord{
				Decider: gate.AlwaysAsker{}.By(), Origins: []chat.Origin{chat.NewOrigin(chat.FromWeb, "example.org")},
			},
			"allow send: " + words + "\n",
		},
		"asked about": {
			chat.CallRecord{Decider: "person", Origins: []chat.Origin{chat.NewOrigin(chat.FromWeb, "example.org")}}, "",
		},
		"with no such text": {chat.CallRecord{Decider: gate.AlwaysAsker{}.By()}, ""},
	} {
		for _, json := range []bool{false, true} {
			var out, errs strings.Builder
			p := &printer{c: newTerminal(&Session{Out: &out, Err: &errs}, nil)}
			p.c.json = json
			c.call.ToolName, c.call.Decision, c.call.DecidedBy = "send", "allow", words
			p.event(chat.Event{Kind: chat.EventDecided, Call: &c.call})
			if got := errs.String(); got != c.want {
				t.Errorf("%s, JSON %v: it says %q", name, json, got)
			}
		}
	}
}

func TestSettingsAreReadAsJSONWhereTheyAreJSON(t *testing.T) {
	for _, c := range []struct {
		kind, text, want string
		secret           bool
	}{
		{"string", "Yo", `"Yo"`, false},
		{"string", `"Yo"`, `"Yo"`, false},
		{"string", `"Yo`, `"\"Yo"`, false},
		{"string", "5", `"5"`, false},
		{"string", `"a-key"`, `"\"a-key\""`, true},
		{"integer", "5", "5", false},
		{"boolean", "true", "true", false},
		{"array", `["a"]`, `["a"]`, false},
	} {
		if got := string(setting{Type: c.kind, Secret: c.secret}.read(c.text)); got != c.want {
			t.Errorf("%s of %s: got %s, want %s", c.text, c.kind, got, c.want)
		}
	}
}

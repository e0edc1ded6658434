// Package mcptest is a Model Context Protocol server for tests. It behaves well, or badly in one of the ways
// that servers of today do, one flag for each; over standard streams, Streamable HTTP and the older HTTP
// with server-sent events; in this process or as a process.
//
// It is built on nothing of the client and nothing of an SDK, so that it can break any rule. Read Flags and
// New first.
package mcptest

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Flags choose how a Server behaves. The zero value is a good server of 2025-11-25.
type Flags struct {
	Modern  bool   // speaks 2026-07-28 alone
	Version string // of a legacy server's answer; empty is 2025-11-25

	Silent       bool          // answers no request that it does not know
	Banner       int           // lines of text before the first message, and one between messages
	DiesOnProbe  bool          // ends at a first request other than initialize
	DiesInCall   bool          // ends in tools/call
	Slow         time.Duration // before the first answer
	Flood        string        // progress, log, list_changed, sampling, or one id (of sampling): 10,000 in a call
	Changes      bool          // changes its tool after the first list, and says so
	Claims       bool          // says that its tool only reads, and after a call of change that it destroys
	Icons        string        // an address, of the icons and the page that it names
	Hidden       bool          // hidden characters in a description
	HugeAnswer   int           // bytes of text in the answer of huge
	InvalidUTF8  bool          // a byte that is no UTF-8 in each answer of echo
	WrongID      bool          // answers tools/call with an id that nobody used
	SameIDs      bool          // two tools have one name
	AnswersTwice bool
	NeverEnds    bool // goes on when its input ends
	IgnoreCancel bool
	ClosesListen bool // ends each subscription at once
	// NoSubscriptions announces them, and has none.
	NoSubscriptions bool
	ForgetsAfter    int  // HTTP: forgets the session after so many messages
	ForgetsBy400    bool // and answers 400 for it, as examples of SDKs do, instead of 404
	Unauthorized    bool // HTTP: 401 for ever
	Redirect        string
	Fails           int  // HTTP: so many first requests get 503
	OldSSE          bool // HTTP: speaks the HTTP of 2024-11-05 alone
	Circle          bool // the cursor of its list goes in a circle
	Pages           int  // of its list, with one tool each
	BreaksOff       bool // HTTP: closes the stream of a call before its answer
	BadHeaders      bool // refuses the first call for its headers, as if the tool had changed
	Batches         bool // sends its messages in lists
	Bare            bool // announces tools alone
	Tools           int  // so many tools more in its list
	// ForgetsTask makes it say that a task lives so long, never end it, and forget it some time after that.
	ForgetsTask time.Duration
	Endless     bool // HTTP: streams comments in answer to a call, for ever
}

// environment carries flags to a process.
const environment = "CONCLAVE_MCPTEST_FLAGS"

// Main serves over standard streams and exits, if the process was started by Command. Call it at the
// beginning of TestMain.
func Main() {
	text, ok := os.LookupEnv(environment)
	if !ok {
		return
	}
	var f Flags
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		panic(err)
	}
	New(f).ServeStream(stdio{})
	if f.NeverEnds {
		select {}
	}
	os.Exit(0)
}

// Command returns a command that is a server with these flags: the test binary, whose TestMain calls Main.
func Command(t testing.TB, f Flags) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	flags, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), environment+"="+string(flags))
	return cmd
}

// Entry returns an entry of a configuration: the test binary as a server with these flags.
func Entry(t testing.TB, f Flags) map[string]any {
	t.Helper()
	cmd := Command(t, f)
	_, flags, _ := strings.Cut(cmd.Env[len(cmd.Env)-1], "=")
	return map[string]any{"command": cmd.Path, "env": map[string]string{environment: flags}}
}

// stdio is the process's standard input and output.
type stdio struct{}

func (stdio) Read(p []byte) (int, error)  { return os.Stdin.Read(p) }
func (stdio) Write(p []byte) (int, error) { return os.Stdout.Write(p) }
func (stdio) Close() error                { return os.Stdout.Close() }

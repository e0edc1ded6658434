package modeltest

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/app/model"
	"conclave/app/test/testkit"
)

// StartAimock starts aimock with the answers of aimock/serve.mjs and returns its
// address. It fails the test, and does not skip it, when it cannot be started:
// make test installs it. With -short the test is skipped.
func StartAimock(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("aimock is not started with -short")
	}
	dir := aimockDir(t)
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "@copilotkit", "aimock")); err != nil {
		t.Fatalf("aimock is not installed. Run make test, or: npm ci --prefix %s", dir)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("aimock needs node 20 or newer, which was not found. Install Node, or run the tests with -short.")
	}
	ctx, cancel := context.WithCancel(context.Background()) // outlives t.Context, so that cleanups can still talk to it
	command := exec.CommandContext(ctx, node, "serve.mjs")
	command.Dir = dir
	command.WaitDelay = 5 * time.Second
	var problems strings.Builder
	command.Stderr = &problems
	input, err := command.StdinPipe()
	testkit.Must(t, err)
	output, err := command.StdoutPipe()
	testkit.Must(t, err)
	if err := command.Start(); err != nil {
		t.Fatalf("start aimock: %v", err)
	}
	t.Cleanup(func() {
		input.Close() // it ends with its input
		timer := time.AfterFunc(patience, cancel)
		_ = command.Wait() // how it ended says nothing about us
		timer.Stop()
		cancel()
	})
	line := make(chan string, 1)
	go func() { // ends with the first line, or with the process
		text, _ := bufio.NewReader(output).ReadString('\n')
		line <- strings.TrimSpace(text)
	}()
	select {
	case address := <-line:
		if !strings.HasPrefix(address, "http://127.0.0.1:") {
			t.Fatalf("aimock did not start: it said %q\n%s", address, problems.String())
		}
		return address
	case <-time.After(2 * patience):
		t.Fatal("aimock said nothing for " + (2 * patience).String())
	}
	return ""
}

// aimockDir finds the folder from that of the test, which is below the module's
// root.
func aimockDir(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	testkit.Must(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "app", "model", "modeltest", "aimock")
		}
		if parent := filepath.Dir(dir); parent != dir {
			dir = parent
			continue
		}
		t.Fatal("there is no go.mod above the test's folder")
	}
}

// aimock puts the questions to a server that was not written by us.
func (w Wire) aimock(t *testing.T) {
	server := StartAimock(t)
	c := w.connection(server)
	c.URL = server + w.AimockBase
	m := w.Open(c, model.Timeouts{}).Open(w.Model)
	ask := func(t *testing.T, text string) Heard {
		return Hear(m.Stream(t.Context(), question(text)))
	}
	for name, check := range map[string]func(*testing.T){
		"text": func(t *testing.T) {
			h := ask(t, "greet me")
			equal(t, "text", h.Text, "Hello from another server. Grüße 👋")
			equal(t, "stop", h.Stop, model.StopEnd)
			equal(t, "usage", h.Usage, chat.Usage{Input: 11, Output: 5})
		},
		"reasoning": func(t *testing.T) {
			h := ask(t, "think first")
			equal(t, "reasoning", h.Reasoning, "Six times seven.")
			equal(t, "text", h.Text, "The answer is 42.")
		},
		"a call and its result": func(t *testing.T) {
			h := ask(t, "one tool")
			equal(t, "calls", names(h.Calls), "get_weather")
			if len(h.Calls) != 1 {
				t.Fatal(detail(h.Err))
			}
			equal(t, "arguments", compact(h.Calls[0].Arguments), `{"city":"Oslo","days":3}`)
			equal(t, "stop", h.Stop, model.StopCalls)
			next := question("one tool")
			next.Messages = append(next.Messages,
				model.Message{Role: chat.RoleAssistant, Parts: h.Parts},
				model.Message{Role: chat.RoleTool, Parts: []chat.Part{result(h.Calls[0].ID, "get_weather", "sunny")}})
			h = Hear(m.Stream(t.Context(), next))
			equal(t, "text", h.Text, "The tool said it is sunny.")
			equal(t, "error", detail(h.Err), "<nil>")
		},
		"parallel calls": func(t *testing.T) {
			h := ask(t, "two tools")
			equal(t, "calls", names(h.Calls), "get_weather word_count")
			if len(h.Calls) == 2 {
				equal(t, "arguments", compact(h.Calls[1].Arguments), `{"text":"a \"b\" c"}`)
				equal(t, "two ids", h.Calls[0].ID != h.Calls[1].ID, true)
			}
		},
		"rate limit": func(t *testing.T) {
			if e := wantKind(t, ask(t, "be busy").Err, model.RateLimited); e != nil {
				equal(t, "retry after", e.RetryAfter, 7*time.Second)
			}
		},
		"key":        func(t *testing.T) { wantKind(t, ask(t, "refuse my key").Err, model.KeyRefused) },
		"overloaded": func(t *testing.T) { wantKind(t, ask(t, "be overloaded").Err, model.Overloaded) },
		"cut": func(t *testing.T) {
			h := ask(t, "break off")
			wantKind(t, h.Err, model.StreamCut)
			equal(t, "whole", strings.HasSuffix(h.Text, "breaks."), false)
		},
	} {
		t.Run(name, func(t *testing.T) {
			if why, ok := w.AimockLacks[name]; ok {
				t.Skip(why)
			}
			check(t)
		})
	}
}

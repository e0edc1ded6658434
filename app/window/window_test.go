package window_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/chat/transcript"
	"conclave/app/core"
	"conclave/app/gate"
	"conclave/app/model/modeltest"
	"conclave/app/test/programtest"
	"conclave/app/test/testkit"
	"conclave/app/tool"
	"conclave/app/window"
	"conclave/app/window/windowstore"
)

var must, write = testkit.Must, testkit.Write

// patience bounds every wait: far above what anything takes.
var patience = testkit.Patience

// window is the window's side of a real core, with a scripted model as the default.
type testWindow struct {
	*window.App
	t     *testing.T
	core  *core.Core
	model *modeltest.Model
	data  string
}

func TestMain(m *testing.M) { programtest.Main(m) }

// open opens a window over a new store, in which the model gives these answers.
func open(t *testing.T, answers ...[]modeltest.Step) *testWindow {
	t.Helper()
	return openOn(t, t.TempDir(), "", answers...)
}

func openOn(t *testing.T, data, worker string, answers ...[]modeltest.Step) *testWindow {
	t.Helper()
	w := &testWindow{t: t, model: modeltest.New(answers...), data: data}
	c, err := core.Open(t.Context(), core.Options{
		Data: data, Plugins: filepath.Join(data, "plugins"), Work: data,
		Worker: worker, LoadTimeout: 2 * time.Minute, Model: w.model,
	})
	must(t, err)
	w.core = c
	keep := windowstore.New(c)
	facts := window.Info{
		Version: "1.2.3", Data: data, Plugins: filepath.Join(data, "plugins"),
		Logs: filepath.Join(data, "logs"), Isolation: c.Isolation(),
	}
	parts := keep.Core(facts)
	w.App = window.New(parts, slog.New(slog.DiscardHandler))
	w.HearNotices(func(...any) {})
	must(t, c.Scan(t.Context()))
	detach := c.Gate.Questions.Attach()
	w.Startup(context.WithoutCancel(t.Context()))
	t.Cleanup(func() {
		w.Shutdown(context.Background())
		detach()
		keep.Close()
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// quiet turns off that models name chats, which would ask the script once more.
func (w *testWindow) quiet() *testWindow {
	w.t.Helper()
	if _, err := w.Settings.Set(map[string]json.RawMessage{"model_titles": json.RawMessage("false")}); err != nil {
		w.t.Fatal(err)
	}
	return w
}

// until waits until done, looking whenever something changed.
func (w *testWindow) until(what string, done func() bool) {
	w.t.Helper()
	news := w.core.Bus.Subscribe()
	defer news.Close()
	ctx, cancel := context.WithTimeout(w.t.Context(), patience)
	defer cancel()
	for !done() {
		if _, err := news.Next(ctx); err != nil {
			w.t.Fatalf("%s: %v", what, err)
		}
	}
}

// pull opens a chat as the page does.
func (w *testWindow) pull(id string) transcript.Pull {
	w.t.Helper()
	p, err := w.Chats.Pull(id, 0, nil)
	must(w.t, err)
	return p
}

// over waits until no turn runs in a chat.
func (w *testWindow) over(id string) transcript.Pull {
	w.t.Helper()
	w.until("the end of the answer", func() bool { return w.pull(id).Status == nil })
	return w.pull(id)
}

// send sends a message and returns its chat; empty makes one.
func (w *testWindow) send(id, text string) string {
	w.t.Helper()
	sent, err := w.Chats.Send(id, window.Outgoing{Text: text})
	must(w.t, err)
	return sent.Conversation
}

// ask sends a message, waits for the answer, and returns the chat.
func (w *testWindow) ask(id, text string) string {
	w.t.Helper()
	id = w.send(id, text)
	w.over(id)
	return id
}

// shown returns the rows of a chat: role, text, and what is special.
func (w *testWindow) shown(id string) []string {
	w.t.Helper()
	var rows []string
	for _, e := range w.pull(id).Entries {
		text, err := w.Chats.Source(id, e.Seq)
		if fault.KindOf(err) == fault.NotFound {
			return nil // it was taken off the path since
		}
		must(w.t, err)
		row := string(e.Role) + ": " + text
		if e.State != chat.Complete {
			row += " (" + string(e.State) + ")"
		}
		if e.Hidden {
			row += " (hidden)"
		}
		if len(e.Siblings) > 0 {
			row += fmt.Sprintf(" (%d of %d)", slices.Index(e.Siblings, e.Seq)+1, len(e.Siblings))
		}
		rows = append(rows, row)
	}
	return rows
}

func (w *testWindow) wants(id, when string, want ...string) {
	w.t.Helper()
	if got := w.shown(id); !slices.Equal(got, want) {
		w.t.Errorf("%s:\n got %q\nwant %q", when, got, want)
	}
}

// kind fails the test unless err is a fault of this kind that says what happened.
func kind(t *testing.T, what string, err error, want fault.Kind, words string) {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Kind != want || !strings.Contains(f.Message, words) {
		t.Errorf("%s: got %v, want a fault of kind %s with “%s”", what, err, want, words)
	}
}

// lend publishes a tool that is approved; change says what it is.
func (w *testWindow) lend(invoker tool.Invoker, change func(*tool.Tool)) {
	w.t.Helper()
	made := tool.Tool{
		Name: "write_note", Description: "Writes a note.", Dialect: "spindle",
		Parameters: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"},"amount":{"type":"number"}}}`),
	}
	if change != nil {
		change(&made)
	}
	w.core.Tools.Publish("notes", []tool.Tool{made}, invoker)
	candidate := gate.PluginVersion{
		Plugin: "notes", Name: "Notes", Dialect: "functions", Isolation: "process+landlock",
		Code: "c", Tools: w.core.Tools.Set().Tools(), Listed: true,
	}
	w.core.Gate.Approvals.Status(candidate)
	must(w.t, w.core.Gate.Approvals.Approve(w.t.Context(), candidate, gate.ApproveOptions{}))
}

// say is an answer of one text.
func say(text string) []modeltest.Step {
	return []modeltest.Step{modeltest.Say(text), modeltest.Used(10, 5)}
}

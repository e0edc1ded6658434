package plugintest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/app/base/bus"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/host"
	"conclave/app/plugin/sandbox"
	"conclave/app/test/testkit"
	"conclave/app/tool"
)

// Subject is a dialect on trial: what it reads, and how its processes are
// started. The sources are whole single-file plugins.
type Subject struct {
	Dialect  plugin.Dialect
	Launcher sandbox.Launcher
	Name     string // of the plugin's file: subject.py
	Foreign  string // the name of a file that belongs to another dialect

	// Source offers these tools, each described as "The tool NAME.":
	//
	//	echo {text}  answers the text
	//	fail         throws an error whose message is "no such thing"
	//	spin         computes for ever
	//	hold {ms}    waits for so long without computing, then answers "one"
	//	keep {text}  writes the text to note.txt in its storage, answers "kept"
	//	noise        prints a line, as a script prints, and answers "quiet"
	Source string
	// Changed is Source, except that hold answers "two".
	Changed string
	// Broken has a syntax error in line BrokenLine, Throws throws "no such thing"
	// in line ThrowsLine while it is loaded, and Endless computes for ever then.
	Broken, Throws, Endless string
	BrokenLine, ThrowsLine  int
}

// patient bounds every wait of the suite, far above what anything takes.
var patient = testkit.Patience

// Suite tests what every dialect must hold to, with real processes. Its parts run
// in parallel.
func Suite(t *testing.T, s Subject) {
	for name, test := range map[string]func(*testing.T, *trial){
		"it takes its own files and leaves others":                testRecognize,
		"reading runs nothing":                                    testReading,
		"a call is answered":                                      testCalls,
		"a call that computes for ever is ended, the next works":  testEndlessCall,
		"a stopped call ends at once, the next works":             testStopped,
		"a broken save keeps the last good version, LF-06":        testBroken,
		"what throws while it loads says where, LF-06":            testThrows,
		"what loads for ever is given up, LF-06":                  testEndless,
		"a call ends on the old code, the next on the new, LF-10": testSwap,
		"after a restart it is listed without being started":      testRestart,
		"a process that was killed is started again":              testKilled,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newTrial(t, s))
		})
	}
}

// trial is one host with the subject in its folder.
type trial struct {
	t        *testing.T
	s        Subject
	dir      string
	data     string
	launcher *Counted
	gate     *gate.Gate
	cache    *Memory
	tools    *tool.Registry
	host     *host.Host
	id       string
}

func newTrial(t *testing.T, s Subject) *trial {
	r := &trial{
		t: t, s: s, dir: t.TempDir(), data: t.TempDir(), launcher: &Counted{Launcher: s.Launcher},
		cache: &Memory{},
	}
	r.id = strings.TrimSuffix(s.Name, filepath.Ext(s.Name))
	gate, err := gate.Open(t.Context(), gate.Options{Bus: bus.New()})
	testkit.Must(t, err)
	r.gate = gate
	r.open(patient)
	t.Cleanup(func() {
		r.host.Close()
		if n := r.launcher.Running(); n != 0 {
			t.Errorf("%d processes outlived the host", n)
		}
		entries, err := os.ReadDir(r.dir)
		if err != nil {
			t.Error(err)
		}
		if len(entries) > 1 {
			t.Errorf("LF-11: something was written next to the plugin: %v", entries)
		}
	})
	return r
}

func (r *trial) open(limit time.Duration) {
	if r.host != nil {
		r.host.Close()
	}
	r.tools = tool.NewRegistry()
	r.host = host.New(host.Options{
		Dir: r.dir, Data: r.data, Dialects: []plugin.Dialect{r.s.Dialect}, Launcher: r.launcher, Registry: r.tools,
		Gate:  r.gate,
		Store: r.cache, Log: slog.New(slog.DiscardHandler), LoadTimeout: limit,
	})
}

// save writes the plugin and has it loaded.
func (r *trial) save(source string) plugin.Status {
	r.t.Helper()
	testkit.Must(r.t, os.WriteFile(filepath.Join(r.dir, r.s.Name), []byte(source), 0o600))
	return r.scan()
}

func (r *trial) scan() plugin.Status {
	r.t.Helper()
	testkit.Must(r.t, r.host.Scan())
	ctx, cancel := context.WithTimeout(r.t.Context(), patient)
	defer cancel()
	testkit.Must(r.t, r.host.WaitIdle(ctx))
	return r.status()
}

func (r *trial) status() plugin.Status {
	r.t.Helper()
	s, err := r.host.Status(r.id)
	testkit.Must(r.t, err)
	return s
}

// serve saves the plugin and approves it and all edits of it.
func (r *trial) serve(source string) plugin.Status {
	r.t.Helper()
	r.save(source)
	testkit.Must(r.t, Approve(r.t.Context(), r.host, r.id, true))
	return r.status()
}

func (r *trial) call(ctx context.Context, name, arguments string, limit time.Duration) tool.Result {
	r.t.Helper()
	return r.invoked(name, arguments, limit)(ctx)
}

// invoked returns what makes a call of a tool as it is offered now.
func (r *trial) invoked(name, arguments string, limit time.Duration) func(context.Context) tool.Result {
	r.t.Helper()
	set := r.tools.Set()
	found, ok := set.ByID(r.id + ":" + name)
	if !ok {
		r.t.Errorf("there is no tool %s: %+v", name, r.status().Problem)
		return func(context.Context) tool.Result { return tool.Result{} }
	}
	invoker, _ := set.Invoker(found.ID())
	return func(ctx context.Context) tool.Result {
		result, err := invoker.Call(ctx, tool.Call{
			ID: "call-" + name, Tool: found, Arguments: json.RawMessage(arguments),
			Deadline: time.Now().Add(limit),
		})
		if err != nil {
			r.t.Error(err)
		}
		return result
	}
}

// answers calls a tool and checks what it answers.
func (r *trial) answers(name, arguments, want string) {
	r.t.Helper()
	result := r.call(r.t.Context(), name, arguments, patient)
	if got := chat.TextOf(result.Content); result.Status != chat.CallOK || got != want {
		r.t.Errorf("%s answered %s %q %s, want %q", name, result.Status, got, result.Error, want)
	}
}

func testRecognize(t *testing.T, r *trial) {
	r.save(r.s.Source)
	src := plugin.Source{ID: r.id, Path: filepath.Join(r.dir, r.s.Name), Display: filepath.Join(r.dir, r.s.Name)}
	m, err := r.s.Dialect.Recognize(t.Context(), src)
	if err != nil || m == nil || m.Dialect != r.s.Dialect.Facts().Name || m.Entry != r.s.Name ||
		m.Permissions == nil {
		t.Errorf("its own file: %+v, %v", m, err)
	}
	other := filepath.Join(t.TempDir(), r.s.Foreign)
	testkit.Must(t, os.WriteFile(other, []byte("x = 1\n"), 0o600))
	if m, err := r.s.Dialect.Recognize(t.Context(), plugin.Source{ID: "other", Path: other, Display: other}); m != nil ||
		err != nil {
		t.Errorf("a file of another dialect: %+v, %v", m, err)
	}
	if got := r.save(""); got.State != plugin.Failed || got.Problem.File != r.s.Name || got.Problem.Message == "" {
		t.Errorf("an empty file: %s, %+v", got.State, got.Problem)
	}
}

func testReading(t *testing.T, r *trial) {
	s := r.save(r.s.Source)
	if s.State != plugin.NeedsApproval || r.launcher.Started() != 0 {
		t.Errorf("LF-08: it is %s, %v; %d processes were started", s.State, s.Problem, r.launcher.Started())
	}
	var names []string
	for _, one := range s.Tools {
		names = append(names, one.Name)
	}
	if want := []string{"echo", "fail", "spin", "hold", "keep", "noise"}; !slices.Equal(names, want) {
		t.Errorf("what waits is listed as %q, want %q", names, want)
	}
	if _, err := os.Stat(filepath.Join(r.data, "storage", r.id)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it has a storage folder before it was approved: %v", err)
	}
}

func testCalls(t *testing.T, r *trial) {
	s := r.serve(r.s.Source)
	if s.State != plugin.Ready || len(s.Tools) != 6 {
		t.Fatalf("it is %s with %d tools: %+v", s.State, len(s.Tools), s.Problem)
	}
	for _, one := range s.Tools {
		if one.Description != "The tool "+one.Name+"." || one.Line == 0 || one.File == "" || !json.Valid(one.Parameters) {
			t.Errorf("the tool is %+v", one)
		}
	}
	text := "ü \u2028 😀 \x00 </script>"
	arguments, err := json.Marshal(map[string]string{"text": text})
	testkit.Must(t, err)
	r.answers("echo", string(arguments), text)
	long := strings.Repeat("0123456789", 100_000)
	r.answers("echo", fmt.Sprintf(`{"text":%q}`, long), long)
	if got := r.call(t.Context(), "fail", "{}", patient); got.Status != chat.CallRaised ||
		!strings.Contains(got.Error, "no such thing") {
		t.Errorf("an error: %+v", got)
	}
	r.answers("noise", "{}", "quiet")
	r.answers("keep", `{"text":"a note"}`, "kept")
	kept, err := os.ReadFile(filepath.Join(r.data, "storage", r.id, "note.txt"))
	if err != nil || string(kept) != "a note" {
		t.Errorf("its storage holds %q, %v", kept, err)
	}
	if n := r.launcher.Started(); n != 1 {
		t.Errorf("%d processes were started for all of that, want 1", n)
	}
}

func testEndlessCall(t *testing.T, r *trial) {
	r.serve(r.s.Source)
	began := time.Now()
	got := r.call(t.Context(), "spin", "{}", time.Second)
	if got.Status != chat.CallTimeout || time.Since(began) > patient {
		t.Errorf("SP-33, LF-28: got %+v after %s", got, time.Since(began))
	}
	r.answers("echo", `{"text":"again"}`, "again")
	if s := r.status(); s.State != plugin.Ready {
		t.Errorf("it is %s", s.State)
	}
}

func testStopped(t *testing.T, r *trial) {
	r.serve(r.s.Source)
	for _, one := range []struct{ name, arguments string }{{"hold", `{"ms":600000}`}, {"spin", "{}"}} {
		ctx, cancel := context.WithCancelCause(t.Context())
		result := make(chan tool.Result, 1)
		go func() { result <- r.call(ctx, one.name, one.arguments, patient) }() // ends with cancel
		// The other tools answer meanwhile, so the call has begun.
		if one.name == "hold" {
			r.answers("echo", `{"text":"beside"}`, "beside")
		}
		began := time.Now()
		cancel(errors.New("you stopped it"))
		if got := <-result; got.Status != chat.CallCancelled || got.Error != "you stopped it" ||
			time.Since(began) > patient {
			t.Errorf("%s: got %+v after %s", one.name, got, time.Since(began))
		}
		r.answersSoon("echo", `{"text":"again"}`, "again")
	}
}

// answersSoon is answers for a process that may be ending: a call that it takes
// with it says that it may be made again.
func (r *trial) answersSoon(name, arguments, want string) {
	r.t.Helper()
	for range 5 {
		result := r.call(r.t.Context(), name, arguments, patient)
		if result.Status != chat.CallDied {
			if got := chat.TextOf(result.Content); result.Status != chat.CallOK || got != want {
				r.t.Errorf("%s answered %s %q %s, want %q", name, result.Status, got, result.Error, want)
			}
			return
		}
		if !strings.Contains(result.Error, "again") {
			r.t.Errorf("%s does not say that it may be called again: %+v", name, result)
		}
	}
	r.t.Errorf("%s died five times", name)
}

// place checks where a problem is.
func (r *trial) place(p *plugin.Problem, line int, words string) {
	r.t.Helper()
	if p == nil || p.File != r.s.Name || p.Line != line || p.Frame == "" || !strings.Contains(p.Message+p.Type, words) {
		r.t.Errorf("the problem is %+v, want line %d with a frame and %q", p, line, words)
	}
}

func testBroken(t *testing.T, r *trial) {
	r.serve(r.s.Source)
	s := r.save(r.s.Broken)
	if s.State != plugin.Failed || !s.Serving || !s.LastGood {
		t.Errorf("it is %s, serving %v", s.State, s.Serving)
	}
	r.place(s.Problem, r.s.BrokenLine, "SyntaxError")
	r.answers("echo", `{"text":"still"}`, "still")
	r.open(patient)
	if s = r.scan(); s.State != plugin.Failed || !s.Serving {
		t.Errorf("after a restart it is %s, serving %v", s.State, s.Serving)
	}
	r.answers("echo", `{"text":"even now"}`, "even now")
	if s = r.save(r.s.Source); s.State != plugin.Ready || s.LastGood {
		t.Errorf("once mended it is %s: %+v", s.State, s.Problem)
	}
}

func testThrows(t *testing.T, r *trial) {
	s := r.serve(r.s.Throws)
	if s.State != plugin.Failed || s.Serving {
		t.Errorf("it is %s, serving %v", s.State, s.Serving)
	}
	r.place(s.Problem, r.s.ThrowsLine, "no such thing")
}

func testEndless(t *testing.T, r *trial) {
	r.open(3 * time.Second)
	began := time.Now()
	s := r.serve(r.s.Endless)
	if took := time.Since(began); s.State != plugin.Failed || s.Problem.Kind != "deadline" || took > patient {
		t.Errorf("after %s it is %s: %+v", took, s.State, s.Problem)
	}
	if n := r.launcher.Running(); n != 0 {
		t.Errorf("%d processes still run", n)
	}
}

func testSwap(t *testing.T, r *trial) {
	r.serve(r.s.Source)
	result := make(chan tool.Result, 1)
	hold := r.invoked("hold", `{"ms":1500}`, patient) // of the old code
	go func() { result <- hold(t.Context()) }()       // ends by itself
	r.answers("echo", `{"text":"beside"}`, "beside")
	if s := r.save(r.s.Changed); s.State != plugin.Ready {
		t.Errorf("it is %s: %+v", s.State, s.Problem)
	}
	r.answers("hold", `{"ms":0}`, "two")
	if got := <-result; chat.TextOf(got.Content) != "one" {
		t.Errorf("the call that was under way answered %+v", got)
	}
	// And a save that changes nothing starts nothing.
	before := r.launcher.Started()
	if r.save(r.s.Changed); r.launcher.Started() != before {
		t.Error("a save without a change started a process")
	}
}

func testRestart(t *testing.T, r *trial) {
	r.serve(r.s.Source)
	r.open(patient)
	before := r.launcher.Started()
	s := r.scan()
	if s.State != plugin.Ready || len(s.Tools) != 6 || s.Running || r.launcher.Started() != before {
		t.Errorf("it is %s with %d tools, running %v", s.State, len(s.Tools), s.Running)
	}
	r.answers("echo", `{"text":"lazily"}`, "lazily")
}

func testKilled(t *testing.T, r *trial) {
	r.serve(r.s.Source)
	for range 2 {
		r.launcher.mu.Lock()
		last := r.launcher.processes[len(r.launcher.processes)-1]
		r.launcher.mu.Unlock()
		last.Kill()
		<-last.Done()
		r.answers("echo", `{"text":"again"}`, "again")
	}
	if s := r.status(); s.State != plugin.Ready {
		t.Errorf("it is %s: %+v", s.State, s.Problem)
	}
}

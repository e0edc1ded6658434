package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"conclave/app/plugin/dialect/spindle/job"
	"conclave/app/plugin/wire"
)

// worker runs one plugin: it loads it once, keeps what it registered, and
// answers calls until the engine is stopped for good. Its methods are safe for
// concurrent use, but for those that say they belong to the engine's goroutine.
type worker struct {
	cfg    job.Config
	vm     vm
	loop   *loop
	loader *loader
	tools  tools
	stderr io.Writer
	ctx    context.Context // of requests to Conclave; ends with the worker

	host    *wire.HostClient // Conclave; set before anything is served
	emit    func(logLine)    // a line of the plugin's log
	changed func()           // the tool list changed after loading
	wg      sync.WaitGroup   // requests to Conclave, and watches
	loads   chan *thrown     // one for each attempt: nil when it loaded
	limiter limiter          // of log lines; the engine's goroutine

	loadOnce sync.Once
	problem  *Problem // set by load

	clocks wire.Clocks // of the open calls

	mu     sync.Mutex // guards what follows
	loaded bool
	calls  map[string]*call
	last   int
	asking int
}

// maxAsks bounds the requests a plugin has open; wire lets 64 travel at once.
const maxAsks = 256

// grantTimeout bounds the wait for Conclave's answer about permissions, also on a busy
// machine: without it the plugin assumes that it has none.
// Another MCP client may never answer.
const grantTimeout = 5 * time.Second

func newWorker(ctx context.Context, cfg job.Config, vm vm, stderr io.Writer) *worker {
	return &worker{
		cfg: cfg, vm: vm, loop: newLoop(vm), loader: newLoader(nil, cfg.Entry, cfg.Single), stderr: stderr, ctx: ctx,
		emit: func(logLine) {}, changed: func() {}, loads: make(chan *thrown, 1), calls: map[string]*call{},
	}
}

// load reads and evaluates the plugin, once; later calls return the same. It
// blocks until the plugin is ready, did not load, or had its time.
func (w *worker) load(ctx context.Context) *Problem {
	w.loadOnce.Do(func() {
		w.problem = w.loadFirst(ctx)
		w.mu.Lock()
		w.loaded = true
		w.mu.Unlock()
		if w.problem == nil {
			w.loop.do(w.afterLoad)
		}
	})
	return w.problem
}

// afterLoad finishes the start of a plugin that loaded. It belongs to the engine's
// goroutine.
func (w *worker) afterLoad() {
	w.loop.guard(w.idleLimit(), w.runsAway)
	fresh := w.loader.fresh
	w.loader.fresh = nil
	w.wg.Go(func() { w.giveBack(fresh) })
}

// restAfter is when a plugin that loaded gives back what loading took: late enough
// not to cost its first call anything.
const restAfter = time.Second

// giveBack has what was built kept, and returns to the system what loading took:
// 13 MB for half a megabyte that was built, and 1 MB for a small script.
func (w *worker) giveBack(fresh []built) {
	rest := time.NewTimer(restAfter)
	defer rest.Stop()
	select {
	case <-rest.C:
		w.keep(fresh)
		clear(fresh)         // or it would be kept meanwhile
		debug.FreeOSMemory() // takes a few ms
	case <-w.loop.stop:
	}
}

func (w *worker) idleLimit() time.Duration { return time.Duration(w.cfg.IdleBusyMS) * time.Millisecond }

func (w *worker) loadFirst(ctx context.Context) *Problem {
	src, err := openSource(w.cfg)
	if err != nil {
		return &Problem{Kind: "unavailable", Message: "The plugin's folder cannot be read: " + err.Error() + "."}
	}
	names, ok := w.granted(ctx)
	if !ok {
		names = w.cfg.Permissions
	}
	w.loop.do(func() {
		w.loader.source, w.loader.kept = src, w.cfg.Built
		_, _ = w.vm.Call("manifest", string(w.cfg.Manifest))
		_, _ = w.vm.Call("granted", toJSON(map[string]any{"id": w.cfg.Identifier, "names": append([]string{}, names...)}))
		if w.cfg.Entry == "" {
			w.loadDone(nil)
			return
		}
		_, _ = w.vm.Call("load", w.cfg.Entry)
	})
	return w.awaitLoad(ctx)
}

// awaitLoad waits for the plugin to be evaluated, within its two limits: so much
// computing, and so much time in all.
func (w *worker) awaitLoad(ctx context.Context) *Problem {
	budget := time.Duration(w.cfg.LoadBusyMS) * time.Millisecond
	busy := time.NewTimer(budget)
	defer busy.Stop()
	meter := w.loop.meter()
	total := time.NewTimer(time.Duration(w.cfg.LoadTotalMS) * time.Millisecond)
	defer total.Stop()
	for {
		select {
		case t := <-w.loads:
			if t == nil {
				return nil
			}
			problem, again := w.failed(*t)
			if !again {
				return problem
			}
		case <-busy.C:
			if left := meter.left(budget); left > 0 {
				busy.Reset(left)
				continue
			}
			return w.endless(budget)
		case <-total.C:
			if w.loop.computing() > budget {
				return w.endless(budget) // the machine had too little time for it to use up its budget
			}
			w.script(logLine{
				level: "warning", text: "The plugin still awaits something at its top level; it counts as started.",
			}, false)
			return nil // as contracts/spindle, section 4.3 has it
		case <-w.loop.stop:
			return &Problem{Kind: "deadline", File: w.cfg.Entry, Message: "It was stopped while it was loading."}
		case <-ctx.Done():
			return &Problem{Kind: "deadline", File: w.cfg.Entry, Message: "It was stopped while it was loading."}
		}
	}
}

// endless stops a load that computes without end.
func (w *worker) endless(budget time.Duration) *Problem {
	p := &Problem{
		Kind: "deadline", File: w.cfg.Entry,
		Message: fmt.Sprintf("It was still computing after %v of loading and was stopped.", budget),
		Hint:    "Look for an endless loop at the top level.",
	}
	w.loop.end(&Ended{Reason: "deadline", Message: p.Message})
	return p
}

// failed makes the problem of a load that threw t. again is true when the
// plugin is being loaded once more, built for an older engine.
func (w *worker) failed(t thrown) (problem *Problem, again bool) {
	type outcome struct {
		problem *Problem
		again   bool
	}
	done := make(chan outcome, 1)
	w.loop.do(func() { // the loader belongs to this goroutine
		if w.loader.newer(t) {
			w.loader.lower = true
			done <- outcome{again: true}
			_, _ = w.vm.Call("load", w.cfg.Entry)
			return
		}
		done <- outcome{problem: w.loader.problem(t, w.cfg.HeapBytes)}
	})
	select {
	case o := <-done:
		return o.problem, o.again
	case <-w.loop.stop:
		return &Problem{Kind: "deadline", File: w.cfg.Entry, Message: "It was stopped while it was loading."}, false
	}
}

// loadDone reports the end of one attempt to load. It belongs to the engine's
// goroutine.
func (w *worker) loadDone(t *thrown) {
	select {
	case w.loads <- t:
	default: // it counted as loaded before
		if t != nil {
			w.script(logLine{level: "error", text: "Loading failed after all: " + t.sentence()}, false)
		}
	}
}

// granted asks Conclave what this plugin may do.
func (w *worker) granted(ctx context.Context) ([]string, bool) {
	ctx, cancel := context.WithTimeout(ctx, grantTimeout)
	defer cancel()
	value, err := w.host.Call(ctx, "permissions.granted", nil, "")
	if err != nil {
		return nil, false
	}
	var answer struct {
		Granted []string `json:"granted"`
	}
	if json.Unmarshal(value, &answer) != nil {
		return nil, false
	}
	return answer.Granted, true
}

// runsAway is called when the engine has computed in one go for longer than
// anybody asked it to; it reports whether to go on watching.
func (w *worker) runsAway() bool {
	if w.open() > 0 {
		return true // the calls have deadlines
	}
	w.loop.end(&Ended{
		Reason:  "deadline",
		Message: fmt.Sprintf("The plugin computed for %v although nobody had called it, and was stopped.", w.idleLimit()),
	})
	return false
}

func (w *worker) open() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.calls)
}

// event hands an event of Conclave's to the plugin. It never waits.
func (w *worker) event(name string, payload json.RawMessage) {
	if name == wire.AskingEvent { // no business of the plugin's
		var a wire.Asking
		if json.Unmarshal(payload, &a) == nil {
			w.clocks.Move(a)
		}
		return
	}
	if len(payload) == 0 {
		payload = json.RawMessage("null")
	}
	if name == "PERMISSION_CHANGED" { // never dropped: what is granted must be right
		text := toJSON(map[string]any{"notice": payload, "user": wire.User})
		w.loop.do(func() { _, _ = w.vm.Call("permission", text) })
		return
	}
	text := toJSON(map[string]any{"name": name, "payload": payload, "user": wire.User})
	if strings.HasPrefix(name, "conclave.") { // Conclave waits for the answer
		w.loop.do(func() { _, _ = w.vm.Call("event", text) })
		return
	}
	w.loop.event(func() { _, _ = w.vm.Call("event", text) })
}

// ask sends a plugin's request to Conclave; the answer comes back as "answer".
// It belongs to the engine's goroutine.
func (w *worker) ask(text string) {
	var q struct {
		ID         int             `json:"id"`
		Capability string          `json:"capability"`
		Args       json.RawMessage `json:"args"`
	}
	if json.Unmarshal([]byte(text), &q) != nil {
		return
	}
	w.mu.Lock()
	tooMany := w.asking >= maxAsks
	if !tooMany {
		w.asking++
	}
	w.mu.Unlock()
	if tooMany {
		w.answer(q.ID, nil, &wire.HostError{
			Kind: "failed", Message: fmt.Sprintf("%s was not asked: %d requests are open already.", q.Capability, maxAsks),
		})
		return
	}
	on := w.onlyCall()
	w.wg.Go(func() { // ends when Conclave answers, or with the worker
		value, err := w.host.Call(w.ctx, q.Capability, q.Args, on)
		w.mu.Lock()
		w.asking--
		w.mu.Unlock()
		w.answer(q.ID, value, err)
	})
}

func (w *worker) answer(id int, value json.RawMessage, err error) {
	reply := map[string]any{"id": id}
	if err != nil {
		kind := "failed"
		if h, ok := errors.AsType[*wire.HostError](err); ok {
			kind = h.Kind
		}
		reply["error"], reply["kind"] = err.Error(), kind
	} else {
		reply["value"] = value
	}
	text := toJSON(reply)
	w.loop.do(func() { _, _ = w.vm.Call("answer", text) })
}

// onlyCall returns the id of the call that is open, when just one is: only then
// is it certain on whose behalf a plugin asks or prints.
func (w *worker) onlyCall() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.calls) != 1 {
		return ""
	}
	for _, c := range w.calls {
		return c.request
	}
	return ""
}

// addTool registers a tool and returns why it did not, for the plugin's log. It
// belongs to the engine's goroutine.
func (w *worker) addTool(text string) string {
	var entry struct{ Descriptor, Stack string }
	if err := json.Unmarshal([]byte(text), &entry); err != nil {
		return "A tool was not registered: its description cannot be read."
	}
	var at place
	if places := stackOf(entry.Stack); len(places) > 0 {
		at = w.loader.author(places[0])
	}
	t, refused := readTool(entry.Descriptor, at)
	if refused == "" {
		refused = w.tools.put(t)
	}
	if refused != "" {
		return refused
	}
	for _, warning := range t.warnings {
		w.script(logLine{level: "warning", text: warning}, false)
	}
	w.toolsChanged()
	return ""
}

func (w *worker) toolsChanged() {
	w.mu.Lock()
	loaded := w.loaded
	w.mu.Unlock()
	if loaded {
		w.changed()
	}
}

// Bounds of a plugin's log.
const (
	maxLogLine    = 8 << 10 // bytes
	linesInSecond = 200     // what a person could not read anyway
	maxPrinted    = 8 << 10 // docs/WIRE.md, section 4
)

// script writes one line of the plugin's log. printed says that the plugin
// printed it, so that it is also what its call printed.
func (w *worker) script(l logLine, printed bool) {
	if len(l.text) > maxLogLine {
		l.text = strings.ToValidUTF8(l.text[:maxLogLine], "") + "…"
	}
	if printed {
		w.print(l.text)
	}
	pass, dropped := w.limiter.pass(time.Now())
	if dropped > 0 {
		w.emit(logLine{
			level: "warning",
			text:  fmt.Sprintf("%d lines were dropped: a plugin may log %d lines in a second.", dropped, linesInSecond),
		})
	}
	if pass {
		w.emit(l)
	}
}

// print adds a line to what the one open call printed.
func (w *worker) print(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.calls) != 1 {
		return
	}
	for _, c := range w.calls {
		c.printed = append(append(c.printed, text...), '\n')
		if over := len(c.printed) - maxPrinted; over > 0 {
			c.printed = append(c.printed[:0], c.printed[over:]...)
		}
	}
}

// limiter lets so many lines pass in each second.
type limiter struct {
	mu      sync.Mutex // guards the rest
	second  time.Time
	lines   int
	dropped int
}

// pass reports whether a line may pass now, and how many were dropped in the
// second before.
func (l *limiter) pass(now time.Time) (ok bool, dropped int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.second) >= time.Second {
		dropped, l.dropped = l.dropped, 0
		l.second, l.lines = now, 0
	}
	l.lines++
	if l.lines > linesInSecond {
		l.dropped++
		return false, dropped
	}
	return true, dropped
}

// Ended is why a worker ended although nobody closed its input.
type Ended struct {
	Reason  string // deadline, memory or cancelled
	Message string // one sentence
}

// Error returns the sentence.
func (e *Ended) Error() string { return e.Message }

package plugintest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
)

// patience is the time that a process may take to end by itself, as in plugin/worker.
const patience = 200 * time.Millisecond

// Process is a goroutine that plays a plugin's process.
type Process struct {
	w     *World
	id    string
	path  string
	files []string // of the plugin, its entry first; siblings lie next to it

	in  *io.PipeReader // what Conclave sends
	out *io.PipeWriter // what Conclave reads
	rw  wireEnd

	killed chan struct{} // closed by Kill
	done   chan struct{}
	kill   sync.Once

	mu     sync.Mutex // guards the fields below
	exit   string
	stderr strings.Builder
	script Script
	hidden []Tool            // what Flips took back
	asked  map[string]string // id of our request → id of the call it is for
	waits  map[string]chan struct{}
	// since when the World has no time for it; zero where it has
	starved time.Time

	writing sync.Mutex
	calls   sync.WaitGroup
}

// wireEnd is Conclave's end.
type wireEnd struct {
	*io.PipeReader
	w *io.PipeWriter
}

func (e wireEnd) Write(p []byte) (int, error) { return e.w.Write(p) }

func (e wireEnd) Close() error {
	_ = e.w.Close()
	return e.PipeReader.Close()
}

func newProcess(w *World, id, path string, files []string) *Process {
	p := &Process{
		w: w, id: id, path: path, files: files, killed: make(chan struct{}), done: make(chan struct{}),
		asked: map[string]string{}, waits: map[string]chan struct{}{},
	}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p.in, p.out, p.rw = inR, outW, wireEnd{outR, inW}
	return p
}

// message is one line of the wire.
type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

func (p *Process) run() {
	defer func() {
		p.end("exit 0")
		p.calls.Wait()
		_ = p.out.Close()
		_ = p.in.Close()
		p.w.gone(p)
		close(p.done)
	}()
	s, err := p.load()
	if err == nil {
		p.print(s.Stderr)
	}
	switch s.Load {
	case LoadExits:
		p.print("bye")
		p.end("exit 3")
		return
	case LoadGarbage:
		_, _ = p.out.Write([]byte("Hello, I print where messages belong.\n"))
		<-p.killed
		return
	case LoadFloods:
		line := []byte(strings.Repeat("x", 64<<10))
		for {
			if _, err := p.out.Write(line); err != nil {
				return
			}
		}
	case LoadHangs:
		<-p.killed
		return
	case LoadStarved:
		p.mu.Lock()
		p.starved = time.Now()
		p.mu.Unlock()
		for p.w.Busy.Load() {
			select {
			case <-p.killed:
				return
			case <-time.After(time.Second):
			}
		}
	}
	lines := bufio.NewScanner(p.in)
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var m message
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			continue
		}
		p.handle(m, err)
	}
	p.calls.Wait() // until they are over, or killed
}

// load reads the plugin's source, and its siblings'. Their tools become its own.
func (p *Process) load() (Script, error) {
	s, err := read(p.path)
	if err != nil {
		return s, err
	}
	if len(p.files) > 1 {
		for _, name := range p.files[1:] {
			beside, err := read(filepath.Join(filepath.Dir(p.path), name))
			if err != nil {
				return s, err
			}
			s.Tools = append(s.Tools, beside.Tools...)
		}
	}
	p.mu.Lock()
	p.script = s
	p.mu.Unlock()
	return s, nil
}

func (p *Process) handle(m message, loadErr error) {
	switch m.Method {
	case "initialize":
		p.initialize(m, loadErr)
	case "tools/list":
		p.list(m)
	case "tools/call":
		p.calls.Go(func() { p.call(m) }) // ends with the call, or when the process is killed
	case "notifications/cancelled":
		var params struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		_ = json.Unmarshal(m.Params, &params)
		p.mu.Lock()
		if waiting := p.waits[string(params.RequestID)]; waiting != nil {
			close(waiting)
			delete(p.waits, string(params.RequestID))
		}
		p.mu.Unlock()
	case "conclave/event":
		var params struct {
			Name    string          `json:"name"`
			Payload json.RawMessage `json:"payload"`
		}
		_ = json.Unmarshal(m.Params, &params)
		p.w.onEvent(p.id, params.Name, params.Payload)
	case "ping":
		p.answer(m.ID, map[string]any{})
	case "": // an answer to what a call asked
		p.mu.Lock()
		call := p.asked[string(m.ID)]
		delete(p.asked, string(m.ID))
		p.mu.Unlock()
		if call == "" {
			return
		}
		text, failed := string(m.Result), false
		if m.Error != nil {
			text, failed = string(m.Error), true
		}
		p.say(json.RawMessage(call), text, failed)
	}
}

func (p *Process) initialize(m message, loadErr error) {
	p.mu.Lock()
	s := p.script
	p.mu.Unlock()
	lacks := s.Load == LoadLacks && len(p.w.StartedWith(p.id).Site) == 0
	if loadErr != nil || s.Load == LoadFails || lacks {
		problem := s.Problem
		if wrong, ok := errors.AsType[*plugin.Problem](loadErr); ok {
			problem = *wrong
		}
		p.send(message{
			ID: m.ID,
			Error: marshal(map[string]any{
				"code": -32001, "message": problem.Message,
				"data": map[string]any{"problem": problem},
			}),
		})
		return
	}
	p.answer(m.ID, map[string]any{
		"protocolVersion": "2025-06-18",
		"serverInfo":      map[string]any{"name": p.id, "version": "0"},
		"capabilities": map[string]any{
			"tools":        map[string]any{"listChanged": true},
			"experimental": map[string]any{"conclave/host": map[string]any{"version": 1}},
		},
	})
}

func (p *Process) list(m message) {
	p.mu.Lock()
	tools, options := p.script.Tools, p.script.Options
	p.mu.Unlock()
	listed := []map[string]any{}
	for i, t := range tools {
		schema := t.Parameters
		if schema == nil {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		listed = append(listed, map[string]any{
			"name": t.Name, "title": t.Name, "description": t.Description, "inputSchema": schema,
			"_meta": map[string]any{
				"conclave/line": i + 1, "conclave/timeout-ms": t.TimeoutMS,
				"conclave/inline-available": true, "conclave/async": t.Async,
			},
		})
	}
	answer := map[string]any{"tools": listed}
	if options != nil {
		answer["_meta"] = map[string]any{"conclave/options": options, "conclave/notes": []string{"Says what it needs."}}
	}
	p.answer(m.ID, answer)
}

func (p *Process) call(m message) {
	var params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	_ = json.Unmarshal(m.Params, &params)
	p.mu.Lock()
	var t Tool
	for _, one := range p.script.Tools {
		if one.Name == params.Name {
			t = one
		}
	}
	p.mu.Unlock()
	if t.Name == "" {
		p.send(message{ID: m.ID, Error: marshal(map[string]any{"code": -32602, "message": "unknown tool " + params.Name})})
		return
	}
	switch t.Do {
	case Raises:
		p.say(m.ID, t.Text, true)
		return
	case Waits:
		p.w.calls <- Called{p.id, t.Name}
		select {
		case <-p.w.release:
		case <-p.killed:
			return
		}
	case Hangs:
		p.w.calls <- Called{p.id, t.Name}
		<-p.killed
		return
	case Heeds:
		cancelled := make(chan struct{})
		p.mu.Lock()
		p.waits[string(m.ID)] = cancelled
		p.mu.Unlock()
		p.w.calls <- Called{p.id, t.Name}
		select {
		case <-cancelled:
			p.say(m.ID, "cancelled", true)
		case <-p.killed:
		}
		return
	case Dies:
		p.print("dying")
		p.end("exit 3")
		return
	case Blurts:
		_, _ = p.out.Write([]byte("oops\n"))
		return
	case Becomes:
		var next Script
		_ = json.Unmarshal([]byte(t.Text), &next)
		p.mu.Lock()
		p.script.Tools = append(next.Tools, t)
		p.mu.Unlock()
		p.send(message{Method: "notifications/tools/list_changed"})
		p.say(m.ID, "became", false)
		return
	case Flips:
		p.mu.Lock()
		if p.hidden == nil {
			p.hidden, p.script.Tools = p.script.Tools, []Tool{t}
		} else {
			p.hidden, p.script.Tools = nil, p.hidden
		}
		p.mu.Unlock()
		p.send(message{Method: "notifications/tools/list_changed"})
		p.say(m.ID, "flipped", false)
		return
	case Shows:
		p.answer(m.ID, map[string]any{"content": json.RawMessage(t.Text)})
		return
	case Tells:
		p.answer(m.ID, map[string]any{
			"content": []any{}, "_meta": map[string]any{"conclave/for-person": []string{t.Text}},
		})
		return
	case Asks:
		id, err := json.Marshal(fmt.Sprintf("w%d", time.Now().UnixNano()))
		if err != nil {
			return
		}
		p.mu.Lock()
		p.asked[string(id)] = string(m.ID)
		p.mu.Unlock()
		p.send(message{ID: id, Method: "conclave/host", Params: params.Arguments})
		return
	}
	p.say(m.ID, t.Text, false)
}

// say answers a call with text.
func (p *Process) say(id json.RawMessage, text string, failed bool) {
	p.answer(id, map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}, "isError": failed})
}

func (p *Process) answer(id json.RawMessage, result any) {
	p.send(message{ID: id, Result: marshal(result)})
}

func (p *Process) send(m message) {
	raw := marshal(struct {
		Version string `json:"jsonrpc"`
		message
	}{"2.0", m})
	p.writing.Lock()
	defer p.writing.Unlock()
	_, _ = p.out.Write(append(raw, '\n'))
}

func marshal(value any) json.RawMessage {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err) // everything here marshals
	}
	return raw
}

func (p *Process) print(text string) {
	if text == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stderr.WriteString(text + "\n")
}

// end ends the process as if it had ended so by itself; the first word counts.
func (p *Process) end(exit string) {
	p.mu.Lock()
	if p.exit == "" {
		p.exit = exit
	}
	p.mu.Unlock()
	p.kill.Do(func() { close(p.killed) })
	_ = p.out.Close()
	_ = p.in.Close()
}

// Wire implements sandbox.Process.
func (p *Process) Wire() io.ReadWriteCloser { return p.rw }

// Done implements sandbox.Process.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit implements sandbox.Process.
func (p *Process) Exit() string {
	select {
	case <-p.done:
	default:
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exit
}

// Stderr implements sandbox.Process.
func (p *Process) Stderr() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.String()
}

// End implements sandbox.Process. As a real one, the process ends with its input
// unless a call keeps it.
func (p *Process) End() {
	_ = p.rw.w.Close()
	moment := time.NewTimer(patience)
	defer moment.Stop()
	select {
	case <-p.done:
	case <-moment.C:
		p.Kill()
	}
	<-p.done
}

// Kill implements sandbox.Process.
func (p *Process) Kill() { p.end("signal: killed") }

// Usage implements sandbox.Process.
func (p *Process) Usage() (u sandbox.Usage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.starved.IsZero() {
		u.Waited = time.Since(p.starved)
	}
	return u
}

// Deleted implements sandbox.Process.
func (p *Process) Deleted() int64 { return 0 }

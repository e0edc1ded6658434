package client_test

import (
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/app/plugin/dialect/mcp/client"
	"conclave/app/plugin/dialect/mcp/mcptest"
)

const everything = "@modelcontextprotocol/server-everything/dist/index.js"

// everythingOverStream begins a session with server-everything as a process.
func everythingOverStream(t *testing.T, o client.Options) *client.Session {
	cmd := exec.CommandContext(t.Context(), mcptest.Node(t), mcptest.Script(t, everything))
	cmd.Env = append(os.Environ(), "CONCLAVE_SECRET=none")
	in, out := must[io.WriteCloser](t)(cmd.StdinPipe()), must[io.ReadCloser](t)(cmd.StdoutPipe())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s, err := client.OverStream(t.Context(), pipes{out, in}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		<-s.Done()
		s.Close()
		_ = cmd.Wait() // ended by its input
	})
	return s
}

// everythingOverHTTP begins a session with server-everything at a port.
func everythingOverHTTP(t *testing.T, mode, path string, o client.Options) *client.Session {
	l := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	at := l.Addr().String()
	_ = l.Close()
	cmd := exec.CommandContext(t.Context(), mcptest.Node(t), mcptest.Script(t, everything), mode)
	_, port, _ := net.SplitHostPort(at)
	cmd.Env = append(os.Environ(), "PORT="+port)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	eventually(t, "the server does not listen", func() bool {
		c, err := net.Dial("tcp", at)
		if err != nil {
			return false
		}
		_ = c.Close()
		return true
	})
	s, err := client.OverHTTP(t.Context(), "http://"+at+path, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestMC133ServerEverythingOverEachTransport(t *testing.T) {
	for name, begin := range map[string]func(*testing.T, client.Options) *client.Session{
		client.Stdio: everythingOverStream,
		client.HTTP: func(t *testing.T, o client.Options) *client.Session {
			return everythingOverHTTP(t, "streamableHttp", "/mcp", o)
		},
		client.SSE: func(t *testing.T, o client.Options) *client.Session {
			return everythingOverHTTP(t, "sse", "/sse", o)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &everythingTest{updated: make(chan string, 100)}
			o := asker(func(q client.Question) {
				e.mu.Lock()
				defer e.mu.Unlock()
				e.asked = append(e.asked, q)
			})
			o.ResourceUpdated = func(uri string) { e.updated <- uri }
			o.ToolsChanged = func() {}
			o.Log, o.LogLevel = e.log.write, "debug"
			e.s = begin(t, o)
			if i := e.s.Server(); i.Transport != name || i.Version != "2025-11-25" || len(i.Instructions) < 1000 {
				t.Errorf("server: %+v", i)
			}
			e.tools(t)
			e.questions(t)
			e.task(t)
			e.resources(t)
			e.prompts(t)
		})
	}
}

// everythingTest is a session with server-everything.
type everythingTest struct {
	s       *client.Session
	log     log
	updated chan string
	mu      sync.Mutex // guards asked
	asked   []client.Question
}

// call calls a tool and returns its result, which is no error.
func (e *everythingTest) call(t *testing.T, c client.Call) client.Result {
	t.Helper()
	r, err := e.s.Call(t.Context(), c)
	if err != nil || r.IsError {
		t.Errorf("%s: %v, %s", c.Tool, err, text(r))
	}
	return r
}

func (e *everythingTest) tools(t *testing.T) {
	tools, left, err := e.s.Tools(t.Context())
	if err != nil || len(left) != 0 {
		t.Fatal(left, err)
	}
	if len(tools) != 17 {
		t.Errorf("%d tools", len(tools))
	}
	for _, c := range []struct{ tool, arguments, want string }{
		{"echo", `{"message":"héllo"}`, "Echo: héllo"},
		{"get-sum", `{"a":2,"b":3}`, "5"},
		{"get-structured-content", `{"location":"Chicago"}`, "temperature"},
		{"get-tiny-image", `{}`, "MCP logo"},
		{"get-resource-links", `{"count":3}`, "3 resource links"},
		{"get-resource-reference", `{"resourceType":"Text","resourceId":1}`, "resource"},
		{"get-annotated-message", `{"messageType":"success","includeImage":true}`, "success"},
		{"get-env", `{}`, "PATH"},
		{"gzip-file-as-resource", `{"name":"x.gz","data":"data:text/plain;base64,aGVsbG8=","outputType":"resource"}`, ""},
		{"get-roots-list", `{}`, "file:///work"},
	} {
		r := e.call(t, client.Call{Tool: c.tool, Arguments: json.RawMessage(c.arguments)})
		if !strings.Contains(text(r), c.want) {
			t.Errorf("%s: %s", c.tool, text(r))
		}
		switch c.tool {
		case "get-structured-content":
			if !strings.Contains(string(r.Structured), "humidity") {
				t.Errorf("structured: %s", r.Structured)
			}
		case "get-tiny-image":
			if !slices.ContainsFunc(r.Blocks, func(b client.Block) bool {
				return b.Type == client.ImageBlock && len(b.Data) > 100
			}) {
				t.Errorf("no picture: %v", r.Blocks)
			}
		case "get-annotated-message":
			if r.Blocks[0].Priority == nil || len(r.Blocks[0].Audience) == 0 {
				t.Errorf("no annotations: %+v", r.Blocks[0])
			}
		}
	}
	var steps []float64
	e.call(t, client.Call{
		Tool: "trigger-long-running-operation", Arguments: json.RawMessage(`{"duration":1,"steps":4}`),
		Silence: 600 * time.Millisecond, Progress: func(p client.Progress) { steps = append(steps, p.Done) },
	})
	if !slices.Equal(steps, []float64{1, 2, 3, 4}) {
		t.Errorf("progress: %v", steps)
	}
	e.call(t, client.Call{Tool: "toggle-simulated-logging"})
	eventually(t, "no line of the log", func() bool { return e.log.count("message") > 0 })
	e.call(t, client.Call{Tool: "toggle-simulated-logging"})
}

func (e *everythingTest) questions(t *testing.T) {
	for _, c := range []struct{ tool, arguments, want string }{
		{"trigger-elicitation-request", `{}`, "Ada"},
		{"trigger-url-elicitation", `{"url":"https://example.com/"}`, "completed"},
		{"trigger-url-elicitation", `{"url":"https://example.com/2","errorPath":true}`, "completed"},
		{"trigger-sampling-request", `{"prompt":"1+1"}`, "2"},
	} {
		r := e.call(t, client.Call{ID: c.tool, Tool: c.tool, Arguments: json.RawMessage(c.arguments)})
		if !strings.Contains(text(r), c.want) {
			t.Errorf("%s: %s", c.tool, text(r))
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, q := range e.asked {
		if q.Call == "" {
			t.Errorf("a question without its call: %+v", q)
		}
	}
	if len(e.asked) != 5 || len(e.asked[0].Fields) < 13 {
		t.Errorf("%d questions", len(e.asked))
	}
}

func (e *everythingTest) task(t *testing.T) {
	// A plain call is refused.
	c := client.Call{Tool: "simulate-research-query", Arguments: json.RawMessage(`{"topic":"python","ambiguous":true}`)}
	if r, err := e.s.Call(t.Context(), c); err != nil || !r.IsError {
		t.Errorf("without a task: %v, %v", r, err)
	}
	c.Task = "required"
	var states []string
	c.Running = func(task client.Task) { states = append(states, task.Status) }
	r := e.call(t, c)
	if !strings.Contains(text(r), "Research Report") || !slices.Contains(states, "input_required") {
		t.Errorf("%v, %.200s", states, text(r))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if last := e.asked[len(e.asked)-1]; !strings.Contains(last.Message, "python") {
		t.Errorf("the task asked %+v", last)
	}
}

func (e *everythingTest) resources(t *testing.T) {
	ctx := t.Context()
	all := must[[]client.Resource](t)(e.s.Resources(ctx))
	templates := must[[]client.Template](t)(e.s.Templates(ctx))
	if len(all) == 0 || len(templates) != 2 {
		t.Errorf("%d resources, %d templates", len(all), len(templates))
	}
	for _, r := range all {
		if _, err := e.s.Read(ctx, r.URI); err != nil {
			t.Errorf("%s: %v", r.URI, err)
		}
	}
	const uri = "demo://resource/dynamic/blob/2"
	if b := must[[]client.Block](t)(e.s.Read(ctx, uri)); len(b) != 1 || len(b[0].Data) == 0 {
		t.Errorf("blob: %+v", b)
	}
	if err := e.s.Subscribe(ctx, uri); err != nil {
		t.Fatal(err)
	}
	e.call(t, client.Call{Tool: "toggle-subscriber-updates"})
	select {
	case got := <-e.updated:
		if got != uri {
			t.Errorf("updated: %s", got)
		}
	case <-time.After(8 * time.Second):
		t.Error("no update")
	}
	e.call(t, client.Call{Tool: "toggle-subscriber-updates"})
	if err := e.s.Unsubscribe(ctx, uri); err != nil {
		t.Error(err)
	}
	c := must[client.Completion](t)(
		e.s.Complete(ctx, client.Reference{Template: templates[0].URITemplate}, "resourceId", "1", nil))
	if !slices.Equal(c.Values, []string{"1"}) {
		t.Errorf("completion: %+v", c)
	}
}

func (e *everythingTest) prompts(t *testing.T) {
	ctx := t.Context()
	if all := must[[]client.Prompt](t)(e.s.Prompts(ctx)); len(all) != 4 {
		t.Errorf("%d prompts", len(all))
	}
	for name, arguments := range map[string]map[string]string{
		"simple-prompt":      nil,
		"args-prompt":        {"city": "Oslo"},
		"completable-prompt": {"department": "Sales", "name": "Eve"},
		"resource-prompt":    {"resourceType": "Text", "resourceId": "1"},
	} {
		p, err := e.s.Prompt(ctx, name, arguments)
		if err != nil || len(p.Messages) == 0 {
			t.Errorf("%s: %+v, %v", name, p, err)
			continue
		}
		if name == "resource-prompt" && p.Messages[1].Block.Type != client.ResourceBlock {
			t.Errorf("no resource: %+v", p.Messages)
		}
	}
	c := must[client.Completion](t)(e.s.Complete(ctx, client.Reference{Prompt: "completable-prompt"}, "name", "",
		map[string]string{"department": "Sales"}))
	if !slices.Equal(c.Values, []string{"David", "Eve", "Frank"}) {
		t.Errorf("completion: %+v", c)
	}
}

package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/app/model"
	"conclave/app/test/testkit"
)

var update = flag.Bool("update", false, "rewrite the golden files of the llm suite")

// Key is the secret that the suite's connections have. It looks like none, so
// that a test which finds it masked knows that it was recognized and not guessed.
const Key = "correct horse battery staple"

// Wire is a vendor's package under test. All fields are required unless they say
// otherwise.
type Wire struct {
	Kind string
	// Model is the id that requests are made for.
	Model string
	// Open returns the provider of a connection.
	Open func(c model.Connection, timeouts model.Timeouts) model.Provider
	// Base is appended to the address of a test server to make the connection's.
	Base string
	// Returned are texts that must be in the request after reasoning.sse, since the
	// vendor wants its thinking back with the results.
	Returned []string
	// Lacks names recordings that this wire has no form for, each with the reason.
	Lacks map[string]string
	// AimockBase is Base for aimock; AimockLacks are its questions that it does not
	// put to this wire rightly, with the reason.
	AimockBase  string
	AimockLacks map[string]string
}

// Suite puts the questions to a vendor's package. Its testdata holds, as the
// vendor's wire writes them:
//
//	text.sse reasoning.sse calls.sse noargs.sse badargs.sse length.sse filter.sse error.sse
//	refusals/STATUS-KIND[-note].json   the body of a refusal, and which kind it means
//	models.json                        a list of models
//	*.golden.json                      what we send and read; rewritten by -update
func Suite(t *testing.T, w Wire) {
	t.Run("recordings", w.recordings)
	t.Run("refusals", w.refusals)
	t.Run("requests", w.requests)
	t.Run("models", w.models)
	t.Run("broken", w.broken)
	t.Run("stopping", w.stopping)
	t.Run("keys", w.keys)
	t.Run("together", w.together)
	t.Run("aimock", w.aimock)
}

// Greeting is the text of text.sse, with the counts Input 12, Output 7 and Cached 4.
const Greeting = "Hello, world. Grüße aus Köln 👋🏽 \u2028done"

// sse returns a recording, or skips with the reason that the wire gives.
func (w Wire) sse(t *testing.T, name string) []byte {
	t.Helper()
	if why, ok := w.Lacks[name]; ok {
		t.Skipf("%s has no %s: %s", w.Kind, name, why)
	}
	return read(t, name+".sse")
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	testkit.Must(t, err)
	return data
}

// connection is a connection to a test server, with Key.
func (w Wire) connection(server string) model.Connection {
	return model.Connection{
		Name: "mine", Kind: w.Kind, URL: server + w.Base, HasKey: true,
		Key: func(context.Context) (string, error) { return Key, nil },
	}
}

// open returns the model of a server that answers with handler.
func (w Wire) open(t *testing.T, handler http.HandlerFunc) model.Model {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return w.Open(w.connection(server.URL), model.Timeouts{}).Open(w.Model)
}

// serve answers with a recording in pieces of size bytes; 0 is all at once.
func serve(body []byte, size int) http.HandlerFunc {
	return func(out http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		out.Header().Set("Content-Type", "text/event-stream")
		if size == 0 {
			_, _ = out.Write(body)
			return
		}
		for piece := range slices.Chunk(body, size) {
			if _, err := out.Write(piece); err != nil {
				return
			}
			out.(http.Flusher).Flush()
		}
	}
}

func question(text string) model.Request {
	return model.Request{
		Messages: []model.Message{{Role: chat.RoleUser, Parts: []chat.Part{{Kind: chat.PartText, Text: text}}}},
		Tools:    Tools(),
	}
}

// Tools are the tools of the suite's requests.
func Tools() []model.ToolDefinition {
	return []model.ToolDefinition{
		{
			Name: "get_weather", Description: "Say what the weather will be.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string","description":"Where."},"days":{"type":"integer","default":1},"as":{"enum":["c","f"],"type":"string"}},"required":["city"]}`),
		},
		{
			Name: "word_count", Description: "Count words.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
		},
		{Name: "now", Parameters: json.RawMessage(`{"type":"object","properties":{}}`)},
	}
}

// recordings reads each recording whole, in pieces of 7 bytes and byte by byte:
// what is heard must not depend on how it was cut.
func (w Wire) recordings(t *testing.T) {
	checks := map[string]func(*testing.T, Heard){
		"text": func(t *testing.T, h Heard) {
			equal(t, "text", h.Text, Greeting)
			equal(t, "usage", h.Usage, chat.Usage{Input: 12, Output: 7, Cached: 4})
			equal(t, "stop", h.Stop, model.StopEnd)
			equal(t, "calls", len(h.Calls)+len(h.Started), 0)
		},
		"reasoning": func(t *testing.T, h Heard) {
			equal(t, "reasoning", h.Reasoning, "The question is about Oslo. I look it up.")
			equal(t, "text", h.Text, "Let me see.")
			equal(t, "calls", names(h.Calls), "get_weather")
			equal(t, "usage", h.Usage, chat.Usage{Input: 20, Output: 30, Reasoning: 9})
		},
		"calls": func(t *testing.T, h Heard) {
			equal(t, "calls", names(h.Calls), "get_weather word_count")
			equal(t, "started", names(h.Started), "get_weather word_count")
			equal(t, "stop", h.Stop, model.StopCalls)
			if len(h.Calls) != 2 {
				return
			}
			equal(t, "first arguments", compact(h.Calls[0].Arguments), `{"city":"Oslo","days":3}`)
			equal(t, "second arguments", compact(h.Calls[1].Arguments), `{"text":"a \"b\" ü {c}"}`)
			for i, c := range h.Calls {
				equal(t, "raw", c.Raw, "")
				equal(t, "id of start and call", c.ID, h.Started[i].ID)
			}
			if a, b := h.Calls[0].ID, h.Calls[1].ID; a == b || a == "" || b == "" {
				t.Errorf("ids %q and %q are not two", a, b)
			}
		},
		"noargs": func(t *testing.T, h Heard) {
			equal(t, "calls", names(h.Calls), "now")
			if len(h.Calls) == 1 {
				equal(t, "arguments", string(h.Calls[0].Arguments), "{}")
				equal(t, "raw", h.Calls[0].Raw, "")
			}
		},
		"badargs": func(t *testing.T, h Heard) {
			equal(t, "calls", names(h.Calls), "word_count")
			if len(h.Calls) == 1 {
				equal(t, "arguments", string(h.Calls[0].Arguments), "{}")
				equal(t, "raw", h.Calls[0].Raw, `{"text": "never`)
			}
		},
		"length": func(t *testing.T, h Heard) {
			equal(t, "text", h.Text, "This is as far as")
			equal(t, "stop", h.Stop, model.StopLength)
		},
	}
	for name, check := range checks {
		for _, size := range []int{0, 7, 1} {
			t.Run(fmt.Sprintf("%s by %d", name, size), func(t *testing.T) {
				h := Hear(w.open(t, serve(w.sse(t, name), size)).Stream(t.Context(), question("go on")))
				if h.Err != nil || !h.Ended {
					t.Fatalf("ended %v, error %v", h.Ended, detail(h.Err))
				}
				check(t, h)
			})
		}
	}
	t.Run("filter", func(t *testing.T) {
		h := Hear(w.open(t, serve(w.sse(t, "filter"), 7)).Stream(t.Context(), question("go on")))
		wantKind(t, h.Err, model.Filtered)
		equal(t, "ended", h.Ended, false)
	})
	t.Run("error after text", func(t *testing.T) {
		h := Hear(w.open(t, serve(w.sse(t, "error"), 7)).Stream(t.Context(), question("go on")))
		equal(t, "text", h.Text, "So far ")
		wantKind(t, h.Err, model.Overloaded)
		equal(t, "ended", h.Ended, false)
	})
}

// refusals reads the refusals of testdata: the file's name says the HTTP status
// and the kind.
func (w Wire) refusals(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "refusals", "*"))
	if err != nil || len(files) < 8 {
		t.Fatalf("%d recorded refusals, want at least 8 (%v)", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		t.Run(name, func(t *testing.T) {
			parts := strings.SplitN(name, "-", 3)
			status := 0
			if _, err := fmt.Sscan(parts[0], &status); err != nil {
				t.Fatal(err)
			}
			body := read(t, filepath.Join("refusals", filepath.Base(file)))
			m := w.open(t, func(out http.ResponseWriter, r *http.Request) {
				out.Header().Set("Content-Type", "application/json")
				if parts[1] == string(model.RateLimited) {
					out.Header().Set("Retry-After", "7")
				}
				out.WriteHeader(status)
				_, _ = out.Write(body)
			})
			h := Hear(m.Stream(t.Context(), question("go on")))
			e := wantKind(t, h.Err, model.ErrorKind(parts[1]))
			if e == nil {
				return
			}
			equal(t, "status", e.Status, status)
			equal(t, "provider", e.Provider, "mine")
			equal(t, "model", e.Model, w.Model)
			equal(t, "events", h.Events, 0)
			if e.Kind == model.RateLimited {
				equal(t, "retry after", e.RetryAfter, 7*time.Second)
			}
			if e.Sentence() == "" || e.Hint() == "" || e.Detail == "" {
				t.Errorf("sentence %q, hint %q, detail %q: one is empty", e.Sentence(), e.Hint(), e.Detail)
			}
		})
	}
	t.Run("asked again", func(t *testing.T) {
		attempts := 0
		text := w.sse(t, "text")
		m := w.open(t, func(out http.ResponseWriter, r *http.Request) {
			if attempts++; attempts < 3 {
				out.Header().Set("Retry-After-Ms", "1")
				out.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			serve(text, 0)(out, r)
		})
		h := Hear(model.WithRetry(m, model.Policy{}).Stream(t.Context(), question("go on")))
		equal(t, "text", h.Text, Greeting)
		equal(t, "attempts", attempts, 3)
	})
}

// requests compares what is sent with the golden files.
func (w Wire) requests(t *testing.T) {
	closing := Full()
	closing.NoCalls, closing.Temperature, closing.MaxTokens, closing.Reasoning = true, nil, 0, ""
	forced := question("What about Oslo?")
	forced.MustCall = true
	for name, request := range map[string]model.Request{
		"request": Full(), "closing": closing, "plain": {Messages: question("Hi").Messages}, "forced": forced,
	} {
		t.Run(name, func(t *testing.T) {
			var body []byte
			var header http.Header
			text := w.sse(t, "text")
			model := w.open(t, func(out http.ResponseWriter, r *http.Request) {
				body, _ = io.ReadAll(r.Body)
				header = r.Header
				serve(text, 0)(out, r)
			})
			if h := Hear(model.Stream(t.Context(), request)); h.Err != nil {
				t.Fatal(detail(h.Err))
			}
			golden(t, name+".golden.json", body)
			for field := range header {
				if strings.HasPrefix(field, "X-Stainless") {
					t.Errorf("the request sends %s about this computer", field)
				}
			}
			equal(t, "user agent", header.Get("User-Agent"), "Conclave")
		})
	}
	t.Run("thinking goes back", func(t *testing.T) {
		var second []byte
		thinking, text := w.sse(t, "reasoning"), w.sse(t, "text")
		m := w.open(t, func(out http.ResponseWriter, r *http.Request) {
			second, _ = io.ReadAll(r.Body)
			serve(thinking, 0)(out, r)
		})
		request := question("What about Oslo?")
		request.Reasoning = "medium"
		h := Hear(m.Stream(t.Context(), request))
		if h.Err != nil || len(h.Calls) != 1 {
			t.Fatalf("%d calls, error %v", len(h.Calls), detail(h.Err))
		}
		thinking = text
		request.Messages = append(request.Messages,
			model.Message{Role: chat.RoleAssistant, Parts: h.Parts},
			model.Message{Role: chat.RoleTool, Parts: []chat.Part{result(h.Calls[0].ID, "get_weather", "sunny")}})
		if h := Hear(m.Stream(t.Context(), request)); h.Err != nil {
			t.Fatal(detail(h.Err))
		}
		for _, part := range w.Returned {
			if !strings.Contains(compact(second), part) {
				t.Errorf("the second request does not hold %s:\n%s", part, compact(second))
			}
		}
	})
}

// Full is a request with everything in it: a history of two rounds with parallel
// calls, pictures from the person and from a tool, a failed result, and calls of
// another vendor's.
func Full() model.Request {
	warm := 0.5
	picture := &chat.Media{ID: "p", MIME: "image/png", Name: "map.png", Size: 4, Data: []byte("\x89PNG")}
	return model.Request{
		System: "Be brief.", Tools: Tools(), MaxTokens: 1000, Temperature: &warm,
		Messages: []model.Message{
			{Role: chat.RoleUser, Parts: []chat.Part{
				{Kind: chat.PartText, Text: "What is the weather here? <b>&</b>"},
				{Kind: chat.PartMedia, Media: picture},
				{Kind: chat.PartMedia, Media: &chat.Media{ID: "z", MIME: "application/zip", Name: "a.zip", Size: 9}},
			}},
			{Role: chat.RoleAssistant, Parts: []chat.Part{
				{
					Kind: chat.PartReasoning, Text: "Somebody else's thinking.",
					Vendor: map[string]json.RawMessage{"other": json.RawMessage(`{"x":1}`)},
				},
				{Kind: chat.PartText, Text: "Let me look."},
				{
					Kind: chat.PartToolCall,
					Call: &chat.ToolCall{ID: "call_1", Tool: "get_weather", Arguments: json.RawMessage(`{"city":"Oslo","days":3}`)},
				},
				{
					Kind: chat.PartToolCall,
					Call: &chat.ToolCall{ID: "tc_made/by:another vendor, and far longer than any wire takes it", Tool: "now"},
				},
			}},
			{Role: chat.RoleTool, Parts: []chat.Part{
				{Kind: chat.PartToolResult, Result: &chat.ToolResult{CallID: "call_1", Tool: "get_weather", Content: []chat.Part{
					{Kind: chat.PartText, Text: "sunny"}, {Kind: chat.PartMedia, Media: picture},
				}}},
				{
					Kind: chat.PartToolResult,
					Result: &chat.ToolResult{
						CallID: "tc_made/by:another vendor, and far longer than any wire takes it", Tool: "now", IsError: true,
						Content: []chat.Part{{Kind: chat.PartText, Text: "Error: no clock"}},
					},
				},
			}},
			{Role: chat.RoleAssistant, Parts: []chat.Part{{Kind: chat.PartText, Text: "Sunny."}}},
			{Role: chat.RoleUser, Parts: []chat.Part{{Kind: chat.PartText, Text: "And tomorrow?"}}},
		},
	}
}

func result(id, tool, text string) chat.Part {
	return chat.Part{
		Kind:   chat.PartToolResult,
		Result: &chat.ToolResult{CallID: id, Tool: tool, Content: []chat.Part{{Kind: chat.PartText, Text: text}}},
	}
}

// models reads a list, and what is done without one.
func (w Wire) models(t *testing.T) {
	list := read(t, "models.json")
	serving := func(status int, body []byte) model.Provider {
		server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			out.Header().Set("Content-Type", "application/json")
			out.WriteHeader(status)
			_, _ = out.Write(body)
		}))
		t.Cleanup(server.Close)
		c := w.connection(server.URL)
		c.Models = []string{"by-hand"}
		return w.Open(c, model.Timeouts{})
	}
	t.Run("list", func(t *testing.T) {
		p := serving(http.StatusOK, list)
		models, err := p.Models(t.Context())
		if err != nil {
			t.Fatal(detail(err))
		}
		data, err := json.Marshal(models)
		testkit.Must(t, err)
		golden(t, "models.golden.json", data)
		equal(t, "sorted", slices.IsSortedFunc(models, func(a, b model.Info) int { return strings.Compare(a.ID, b.ID) }),
			true)
		if len(models) > 0 {
			equal(t, "info of an opened model", p.Open(models[0].ID).Info(), models[0])
		}
	})
	for name, status := range map[string]int{
		"refused key": http.StatusUnauthorized, "broken server": http.StatusInternalServerError,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := serving(status, []byte(`{"error":{"message":"no"}}`)).Models(t.Context())
			kind := model.KeyRefused
			if status == http.StatusInternalServerError {
				kind = model.Overloaded
			}
			wantKind(t, err, kind)
		})
	}
	t.Run("a web page", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(out, "<!doctype html><title>Welcome</title>")
		}))
		t.Cleanup(server.Close)
		_, err := w.Open(w.connection(server.URL), model.Timeouts{}).Models(t.Context())
		if e, ok := errors.AsType[*model.Error](err); !ok || (e.Kind != model.WrongAddress && e.Kind != model.Malformed) {
			t.Errorf("got %v, want a wrong address", detail(err))
		}
	})
}

// together asks many times at once, for the race detector.
func (w Wire) together(t *testing.T) {
	text := w.sse(t, "text")
	model := w.open(t, serve(text, 64))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if h := Hear(model.Stream(t.Context(), Full())); h.Text != Greeting {
				t.Errorf("got %q, error %v", h.Text, detail(h.Err))
			}
			model.Info()
		})
	}
	wg.Wait()
}

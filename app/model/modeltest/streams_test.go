package modeltest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/model"
	"conclave/app/model/anthropic"
	"conclave/app/model/google"
	"conclave/app/model/modeltest"
	"conclave/app/model/ollama"
	"conclave/app/model/openai"
	"conclave/app/test/testkit"
)

var must = testkit.Must

// wires open a connection to a server at an address, by the folder of the recordings.
var wires = map[string]func(address string) model.Provider{
	"openai": func(at string) model.Provider {
		return openai.New(model.Connection{Name: "mine", URL: at + "/v1"}, openai.Options{})
	},
	"ollama": func(at string) model.Provider {
		return ollama.New(model.Connection{Name: "mine", URL: at}, ollama.Options{})
	},
	"anthropic": func(at string) model.Provider {
		return anthropic.New(model.Connection{Name: "mine", URL: at}, anthropic.Options{})
	},
	"google": func(at string) model.Provider {
		return google.New(model.Connection{Name: "mine", URL: at}, google.Options{})
	},
}

// TestRecordedStreamsAreReadAsTheirServersMeanThem reads each stream of testdata/streams: what servers
// send in the wild, in every spelling. The file .want next to it holds what is heard, and what of it goes
// back with the next request; -update rewrites it. How a stream is cut into pieces changes nothing.
func TestRecordedStreamsAreReadAsTheirServersMeanThem(t *testing.T) {
	files, err := filepath.Glob("testdata/streams/*/*")
	must(t, err)
	seen := 0
	for _, file := range files {
		ending := filepath.Ext(file)
		if ending == ".want" {
			continue
		}
		seen++
		wire := filepath.Base(filepath.Dir(file))
		t.Run(strings.TrimSuffix(strings.TrimPrefix(file, "testdata/streams/"), ending), func(t *testing.T) {
			body, err := os.ReadFile(file)
			must(t, err)
			kind := "text/event-stream"
			if ending == ".json" {
				kind = "application/json"
			}
			whole := heard(t, wires[wire], kind, body, 0)
			compare(t, strings.TrimSuffix(file, ending)+".want", whole)
			for _, size := range []int{1, 7} {
				if got := heard(t, wires[wire], kind, body, size); got != whole {
					t.Errorf("in pieces of %d bytes it is heard otherwise:\n%s\nand not\n%s", size, got, whole)
				}
			}
		})
	}
	if seen < 60 {
		t.Errorf("%d streams were read", seen)
	}
}

func compare(t *testing.T, file, got string) {
	t.Helper()
	if flag.Lookup("update").Value.String() == "true" {
		must(t, os.WriteFile(file, []byte(got), 0o600))
		return
	}
	want, err := os.ReadFile(file)
	must(t, err)
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// heard asks a server that answers with body, asks again with the answer in the chat, and returns in
// lines what was heard and what went back. size is how many bytes are sent at once; 0 is all.
func heard(t *testing.T, open func(string) model.Provider, kind string, body []byte, size int) string {
	t.Helper()
	var sent []byte
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		sent, _ = io.ReadAll(r.Body)
		out.Header().Set("Content-Type", kind)
		for piece := range slices.Chunk(body, max(size, 1+len(body)*(1-min(size, 1)))) {
			_, _ = out.Write(piece)
			out.(http.Flusher).Flush()
		}
	}))
	defer server.Close()
	request := model.Request{
		Messages: []model.Message{{Role: chat.RoleUser, Parts: []chat.Part{chat.TextPart("Go on.")}}},
		Tools: []model.ToolDefinition{
			{Name: "word_count", Parameters: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`)},
			{Name: "now"},
		},
	}
	h := modeltest.Hear(open(server.URL).Open("some-model").Stream(t.Context(), request))
	var b strings.Builder
	for _, line := range [][2]string{{"thinking", h.Reasoning}, {"text", h.Text}} {
		if line[1] != "" {
			fmt.Fprintf(&b, "%s: %q\n", line[0], line[1])
		}
	}
	for _, m := range h.Drawn {
		fmt.Fprintf(&b, "drawn: %s, %d bytes\n", m.MIME, len(m.Data))
	}
	results := model.Message{Role: chat.RoleTool}
	for _, c := range h.Calls {
		fmt.Fprintf(&b, "call: %s %s", c.Tool, c.Arguments)
		if c.Raw != "" {
			fmt.Fprintf(&b, " unread: %q", c.Raw)
		}
		if c.Mended != nil {
			fmt.Fprintf(&b, " mended: %s", strings.Join(c.Mended.What, "; "))
		}
		b.WriteByte('\n')
		results.Parts = append(results.Parts, chat.Part{Kind: chat.PartToolResult, Result: &chat.ToolResult{
			CallID: c.ID, Tool: c.Tool, Content: []chat.Part{chat.TextPart("3")},
		}})
	}
	for _, notice := range h.Notices {
		fmt.Fprintf(&b, "notice: %s\n", notice)
	}
	if h.Err != nil {
		e, ok := errors.AsType[*model.Error](h.Err)
		if !ok {
			t.Fatal(h.Err)
		}
		fmt.Fprintf(&b, "failure: %s: %s / %s / %s\n", e.Kind, e.Sentence(), e.Details(), e.Hint())
		return strings.ReplaceAll(b.String(), strings.TrimPrefix(server.URL, "http://"), "SERVER")
	}
	fmt.Fprintf(&b, "stop: %s, %d and %d tokens\n", h.Stop, h.Usage.Input, h.Usage.Output)
	request.Messages = append(request.Messages, model.Message{Role: chat.RoleAssistant, Parts: h.Parts})
	if len(results.Parts) > 0 {
		request.Messages = append(request.Messages, results)
	}
	request.Messages = append(request.Messages, model.Message{
		Role: chat.RoleUser, Parts: []chat.Part{chat.TextPart("And now?")},
	})
	modeltest.Hear(open(server.URL).Open("some-model").Stream(t.Context(), request))
	var next struct {
		Messages []json.RawMessage `json:"messages"`
		Contents []json.RawMessage `json:"contents"`
	}
	must(t, json.Unmarshal(sent, &next))
	for _, m := range append(next.Messages, next.Contents...) {
		if role := model.Member(model.Object(m), "role"); role == "assistant" || role == "model" {
			var line bytes.Buffer
			must(t, json.Compact(&line, m))
			fmt.Fprintf(&b, "next: %s\n", made.ReplaceAllString(line.String(), "tc_MADE"))
		}
	}
	return b.String()
}

// made matches the ids that are made for calls without one.
var made = regexp.MustCompile(`tc_[0-9A-V]{26}`)

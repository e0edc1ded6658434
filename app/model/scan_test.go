package model_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"conclave/app/model"
	"conclave/app/test/testkit"
)

var must = testkit.Must

// local serves fixed replies by path and returns its port.
func local(t *testing.T, replies map[string]string, server string) int {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if server != "" {
			w.Header().Set("Server", server)
		}
		reply, ok := replies[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(reply))
	}))
	t.Cleanup(s.Close)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(s.URL, "http://"))
	must(t, err)
	n, err := strconv.Atoi(port)
	must(t, err)
	return n
}

func openaiList(owner string) string {
	return `{"object":"list","data":[{"id":"b","object":"model","owned_by":"` + owner +
		`"},{"id":"a","object":"model","owned_by":"` + owner + `"}]}`
}

func TestScanKnowsServersByTheirReply(t *testing.T) {
	for name, c := range map[string]struct {
		replies                      map[string]string
		server, kind, title, version string
	}{
		"Ollama": {
			map[string]string{
				"/": "Ollama is running", "/api/version": `{"version":"0.12.3"}`,
				"/api/tags": `{"models":[{"name":"b"},{"name":"a"}]}`, "/v1/models": openaiList("library"),
			},
			"", "ollama", "Ollama", "0.12.3",
		},
		"LM Studio": {
			map[string]string{"/lmstudio-greeting": `{"lmstudio":true}`, "/v1/models": openaiList("organization_owner")},
			"",
			"openai", "LM Studio", "",
		},
		"llama.cpp": {
			map[string]string{
				"/props": `{"default_generation_settings":{},"build_info":"b6000-x"}`, "/v1/models": openaiList("llamacpp"),
			},
			"llama.cpp", "openai", "llama.cpp", "b6000-x",
		},
		"Jan": {
			map[string]string{
				"/openapi.json": `{"info":{"title":"Jan API Server Endpoints","version":"0.0.1"}}`,
				"/v1/models":    openaiList("menlo"),
			},
			"", "openai", "Jan", "0.0.1",
		},
		"vLLM": {
			map[string]string{"/version": `{"version":"0.11.0"}`, "/v1/models": openaiList("vllm")},
			"uvicorn", "openai", "vLLM",
			"0.11.0",
		},
		"KoboldCpp": {
			map[string]string{
				"/": "Ollama is running", "/api/extra/version": `{"result":"KoboldCpp","version":"1.99"}`,
				"/v1/models": openaiList("koboldcpp"),
			},
			"", "openai", "KoboldCpp", "1.99",
		},
		"GPT4All":    {map[string]string{"/v1/models": openaiList("humanity")}, "", "openai", "GPT4All", ""},
		"some other": {map[string]string{"/v1/models": openaiList("me")}, "", "openai", "A model server", ""},
		"a web site": {
			map[string]string{"/": "<html>hello</html>", "/version": `{"version":"9"}`, "/api/version": `{"version":"9"}`},
			"nginx", "", "", "",
		},
		"a strange reply": {
			map[string]string{"/v1/models": `{"data":"none"}`, "/lmstudio-greeting": `{"lmstudio":"no"}`}, "", "", "", "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			port := local(t, c.replies, c.server)
			// Patient, since this machine may be busy; 400 ms is for idle ones.
			found, err := model.Scanner{Ports: []int{port}, Limit: time.Minute}.Scan(t.Context())
			must(t, err)
			if c.kind == "" {
				if len(found) != 0 {
					t.Errorf("it was taken for %+v", found)
				}
				return
			}
			if len(found) != 1 {
				t.Fatalf("found %+v", found)
			}
			f := found[0]
			url := "http://127.0.0.1:" + strconv.Itoa(port)
			if c.kind == "openai" {
				url += "/v1"
			}
			if f.Kind != c.kind || f.Title != c.title || f.Version != c.version || f.URL != url ||
				strings.Join(f.Models, " ") != "a b" {
				t.Errorf("got %+v", f)
			}
		})
	}
}

func TestScanGivesUpOnASilentPort(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") // accepts and says nothing
	must(t, err)
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	start := time.Now()
	found, err := model.Scanner{Ports: []int{port, port}, Limit: 50 * time.Millisecond}.Scan(t.Context())
	if err != nil || len(found) != 0 {
		t.Errorf("found %v, error %v", found, err)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	if _, err := (model.Scanner{Ports: []int{port}}).Scan(ctx); !errors.Is(err, stopped) {
		t.Errorf("got %v", err)
	}
}

func TestCapabilitiesAreGuessedFromNames(t *testing.T) {
	for id, want := range map[string]model.Features{
		"gpt-4o-mini":                {Tools: true, Vision: true},
		"gpt-5.1":                    {Tools: true, Vision: true, Reasoning: true},
		"gpt-3.5-turbo":              {Tools: true},
		"o4-mini":                    {Tools: true, Vision: true, Reasoning: true},
		"openai/o3":                  {Tools: true, Vision: true, Reasoning: true},
		"claude-sonnet-4-5-20250929": {Tools: true, Vision: true, Reasoning: true},
		"claude-3-5-haiku-20241022":  {Tools: true, Vision: true},
		"gemini-2.5-flash":           {Tools: true, Vision: true, Reasoning: true},
		"gemini-2.0-flash":           {Tools: true, Vision: true},
		"deepseek-chat":              {Tools: true},
		"deepseek-reasoner":          {Tools: true, Reasoning: true},
		"qwen3:8b":                   {Tools: true, Reasoning: true},
		"qwen2.5-vl-7b-instruct":     {Tools: true, Vision: true},
		"llava:13b":                  {Vision: true},
		"gemma3:4b":                  {Tools: true, Vision: true},
		"nomic-embed-text":           {},
		"llama3.1:8b":                {Tools: true},
		"my-own-model":               {Tools: true},
	} {
		if got := model.FeaturesOf(id); got != want {
			t.Errorf("%s: got %+v, want %+v", id, got, want)
		}
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"conclave/app/test/testkit"
)

// modelKey is the one key that the model server takes.
const modelKey = "sk-test-0123456789abcdef"

// modelServer is a server that speaks Chat Completions, and an address where
// nobody listens. Its models:
//
//	echo      says what it was told, and how many pictures came with it;
//	          echo-vl can be shown pictures
//	caller    calls the tool of "call NAME JSON", then says what it answered
//	looper    calls the first tool it is offered, every time
//	refuser   refuses requests that hold tools
//	cut       breaks off in the middle of a word
//	failing   answers 500
//	picky     answers 422 and says why; sullen answers 422 without a word
//	hourly    answers 429 and wants an hour
//	mute      calls a tool like caller; told what it answered, or asked to "wait FILE",
//	          it makes a file of that name and never says a word
//	silent    ends without a word; thinker ends after thinking
//	endless   says words until nobody listens any more
func modelServer(t *testing.T) (address, refused string) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"object":"list","data":[{"id":"echo"},{"id":"caller"},{"id":"gemma-2:9b"}]}`)
	})
	mux.HandleFunc("POST /v1/chat/completions", complete)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+modelKey {
			fail(w, http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided")
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1", "http://127.0.0.1:" + testkit.FreePort(t) + "/v1"
}

func fail(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{
		"error": map[string]string{"code": code, "type": code, "message": message},
	})
}

// asked holds what the server reads of a request.
type asked struct {
	Model    string `json:"model"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	} `json:"messages"`
	Tools []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	} `json:"tools"`
	ToolChoice any `json:"tool_choice"`
}

// last is the text of the last message of a role, and how many pictures it has.
func (a asked) last(role string) (text string, pictures int) {
	for _, m := range a.Messages {
		if m.Role != role {
			continue
		}
		text, pictures = "", 0
		var parts []struct{ Type, Text string }
		if json.Unmarshal(m.Content, &text) == nil {
			continue
		}
		_ = json.Unmarshal(m.Content, &parts)
		for _, p := range parts {
			text += p.Text
			if p.Type == "image_url" {
				pictures++
			}
		}
	}
	return text, pictures
}

func complete(w http.ResponseWriter, r *http.Request) {
	var a asked
	if err := json.NewDecoder(r.Body).Decode(&a); err != nil {
		fail(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	s := &answer{w: w}
	question, pictures := a.last("user")
	system, _ := a.last("system")
	told := len(a.Messages) > 0 && a.Messages[len(a.Messages)-1].Role == "tool"
	switch a.Model {
	case "echo", "echo-vl":
		if system != "" {
			system = " as " + system
		}
		s.say(fmt.Sprintf("You said%s: %s (%d pictures, %d messages)", system, question, pictures, len(a.Messages)))
		s.end("stop")
	case "caller", "mute":
		result, _ := a.last("tool")
		name, waits := strings.CutPrefix(question, "wait ")
		if a.Model == "mute" && (told || waits) {
			if told {
				name = result
			}
			_ = os.WriteFile(name, nil, 0o600)
			<-r.Context().Done()
			return
		}
		if told {
			s.say("It answered " + result)
			s.end("stop")
			return
		}
		words := strings.SplitN(question, " ", 3)
		s.call(words[1], words[2])
	case "looper":
		if len(a.Tools) == 0 || a.ToolChoice == "none" {
			s.say("That is enough.")
			s.end("stop")
			return
		}
		s.call(a.Tools[0].Function.Name, "{}")
	case "refuser":
		if len(a.Tools) > 0 {
			fail(w, http.StatusBadRequest, "invalid_request_error", "refuser does not support tools")
			return
		}
		s.say("I answer without tools.")
		s.end("stop")
	case "cut":
		s.say("This will be brok")
		panic(http.ErrAbortHandler)
	case "failing":
		fail(w, http.StatusInternalServerError, "server_error", "it is broken")
	case "picky":
		fail(w, http.StatusUnprocessableEntity, "invalid_value", "temperature must be 1, not 0.7")
	case "sullen":
		w.WriteHeader(http.StatusUnprocessableEntity)
	case "hourly":
		w.Header().Set("Retry-After", "3600")
		fail(w, http.StatusTooManyRequests, "rate_limit", "slow down")
	case "silent":
		s.end("stop")
	case "thinker":
		s.send(map[string]any{"role": "assistant", "reasoning_content": "Let me think."}, nil)
		s.end("stop")
	case "endless":
		for r.Context().Err() == nil {
			s.say("on and on ")
		}
	default:
		fail(w, http.StatusNotFound, "model_not_found", "The model does not exist")
	}
}

// answer writes a stream of server-sent events.
type answer struct {
	w     http.ResponseWriter
	begun bool
}

func (s *answer) send(delta map[string]any, finish any) {
	if !s.begun {
		s.w.Header().Set("Content-Type", "text/event-stream")
		s.begun = true
	}
	chunk := map[string]any{
		"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
		"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}},
	}
	if finish != nil {
		chunk["usage"] = map[string]int{"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
	}
	raw, _ := json.Marshal(chunk)
	_, _ = fmt.Fprintf(s.w, "data: %s\n\n", raw)
	s.w.(http.Flusher).Flush()
}

func (s *answer) say(text string) { s.send(map[string]any{"role": "assistant", "content": text}, nil) }

func (s *answer) call(name, arguments string) {
	s.send(map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{
		"index": 0, "id": "call_1", "type": "function", "function": map[string]string{"name": name, "arguments": arguments},
	}}}, nil)
	s.end("tool_calls")
}

func (s *answer) end(why string) {
	s.send(map[string]any{}, why)
	_, _ = fmt.Fprint(s.w, "data: [DONE]\n\n")
}

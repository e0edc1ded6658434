package openai_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/model"
	"conclave/app/model/modeltest"
	"conclave/app/model/openai"
)

// server answers each request with what answer returns for its body.
func server(t *testing.T, answer func(body map[string]json.RawMessage) (status int, reply string)) model.Provider {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		var body map[string]json.RawMessage
		if err := json.Unmarshal(data, &body); err != nil {
			t.Error(err)
		}
		status, reply := answer(body)
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, reply)
	}))
	t.Cleanup(s.Close)
	return openai.New(model.Connection{Name: "mine", Kind: openai.Kind, URL: s.URL}, openai.Options{})
}

func chunks(deltas ...string) string {
	var b strings.Builder
	for _, d := range deltas {
		b.WriteString(`data: {"choices":[{"index":0,"delta":` + d + `}]}` + "\n\n")
	}
	return b.String()
}

const done = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"

func TestRefusedParametersAreLeftOutAndRemembered(t *testing.T) {
	requests := 0
	provider := server(t, func(body map[string]json.RawMessage) (int, string) {
		requests++
		for _, name := range []string{"reasoning_effort", "temperature", "top_p", "max_tokens", "stream_options"} {
			if _, ok := body[name]; ok {
				return http.StatusBadRequest, `{"error":{"message":"Unsupported parameter: '` + name +
					`' is not supported with this model."}}`
			}
		}
		if _, ok := body["max_completion_tokens"]; !ok {
			t.Error("the limit was dropped and not renamed")
		}
		return http.StatusOK, chunks(`{"content":"hi"}`) + done
	})
	warm := 0.7
	request := model.Request{
		Temperature: &warm, TopP: &warm, MaxTokens: 9, Reasoning: "low",
		Messages: []model.Message{{Role: chat.RoleUser, Parts: []chat.Part{{Kind: chat.PartText, Text: "x"}}}},
	}
	model := provider.Open("picky")
	for _, want := range []int{6, 7} { // five concessions, then none
		if heard := modeltest.Hear(model.Stream(t.Context(), request)); heard.Err != nil || heard.Text != "hi" {
			t.Fatalf("text %q, error %v", heard.Text, heard.Err)
		}
		if requests != want {
			t.Errorf("%d requests, want %d", requests, want)
		}
	}
}

func TestARefusalThatNamesAParameterForeverEnds(t *testing.T) {
	requests := 0
	provider := server(t, func(map[string]json.RawMessage) (int, string) {
		requests++
		return http.StatusBadRequest, `{"error":{"message":"temperature and max_tokens and stream_options are bad"}}`
	})
	heard := modeltest.Hear(provider.Open("m").Stream(t.Context(), model.Request{}))
	if e, ok := errors.AsType[*model.Error](heard.Err); !ok || e.Kind != model.BadRequest || requests > 6 {
		t.Errorf("error %v after %d requests", heard.Err, requests)
	}
}

func TestThinkingInContentIsReasoning(t *testing.T) {
	provider := server(t, func(map[string]json.RawMessage) (int, string) {
		return http.StatusOK, chunks(
			`{"content":"<th"}`,
			`{"content":"ink>so</thi"}`,
			`{"content":"nk>\n\nyes"}`,
		) + done
	})
	heard := modeltest.Hear(provider.Open("r1").Stream(t.Context(), model.Request{}))
	if heard.Reasoning != "so" || heard.Text != "yes" || heard.Err != nil {
		t.Errorf("got %q, %q, %v", heard.Reasoning, heard.Text, heard.Err)
	}
}

func TestEndMarkWithoutFinishReasonIsAnEnd(t *testing.T) {
	provider := server(t, func(map[string]json.RawMessage) (int, string) {
		return http.StatusOK, chunks(`{"content":"hi"}`) + "data: [DONE]\n\n"
	})
	if heard := modeltest.Hear(
		provider.Open("m").Stream(t.Context(), model.Request{}),
	); heard.Err != nil ||
		!heard.Ended ||
		heard.Stop != model.StopEnd {
		t.Errorf("ended %v, error %v", heard.Ended, heard.Err)
	}
}

func TestOpenRouterGetsItsReasoningDetailsBackAndItsCostIsRead(t *testing.T) {
	var second map[string]json.RawMessage
	provider := server(t, func(body map[string]json.RawMessage) (int, string) {
		second = body
		return http.StatusOK, chunks(
			`{"reasoning":"hm","reasoning_details":[{"type":"reasoning.encrypted","data":"abc"}]}`,
			`{"content":"hi"}`,
		) + `data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,"cost":0.00125}}` + "\n\n" + done
	})
	m := provider.Open("acme/thinker")
	request := model.Request{
		Messages: []model.Message{{Role: chat.RoleUser, Parts: []chat.Part{{Kind: chat.PartText, Text: "x"}}}},
	}
	heard := modeltest.Hear(m.Stream(t.Context(), request))
	if heard.Usage.Cost != 0.00125 || heard.Reasoning != "hm" {
		t.Errorf("usage %+v, reasoning %q, error %v", heard.Usage, heard.Reasoning, heard.Err)
	}
	request.Messages = append(request.Messages, model.Message{Role: chat.RoleAssistant, Parts: heard.Parts},
		request.Messages[0])
	modeltest.Hear(m.Stream(t.Context(), request))
	if got := string(second["messages"]); !strings.Contains(got,
		`"reasoning_details":[{"type":"reasoning.encrypted","data":"abc"}]`) {
		t.Errorf("sent %s", got)
	}
	// Another server, or a finished question's plain reasoning text, gets nothing.
	other := server(t, func(body map[string]json.RawMessage) (int, string) {
		second = body
		return http.StatusOK, chunks(`{"content":"hi"}`) + done
	})
	modeltest.Hear(other.Open("m").Stream(t.Context(), request))
	if got := string(second["messages"]); strings.Contains(got, "reasoning") {
		t.Errorf("another server was sent %s", got)
	}
}

func TestModelsByHandStandInForAMissingList(t *testing.T) {
	s := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	c := model.Connection{Name: "mine", Kind: openai.Kind, URL: s.URL, Models: []string{"b", "a"}}
	models, err := openai.New(c, openai.Options{}).Models(t.Context())
	if err != nil || len(models) != 2 || models[0].ID != "a" {
		t.Errorf("got %v, %v", models, err)
	}
	c.Models = nil
	if _, err := openai.New(c, openai.Options{}).Models(t.Context()); err == nil {
		t.Error("a server without models has models")
	}
}

func TestAVendorsOwnAddressNeedsAKey(t *testing.T) {
	heard := modeltest.Hear(openai.New(model.Connection{Name: "openai", Kind: openai.Kind},
		openai.Options{}).Open("gpt-4o").Stream(t.Context(), model.Request{}))
	if e, ok := errors.AsType[*model.Error](heard.Err); !ok || e.Kind != model.KeyMissing ||
		e.Sentence() != "There is no key for openai." {
		t.Errorf("got %v", heard.Err)
	}
}

// conversation asks a first question whose answer calls a tool, and then a second one, of a server that
// refuses what refuse returns words for, and returns the last error.
func conversation(t *testing.T, first string,
	refuse func(messages []map[string]json.RawMessage) string,
) (requests int, err error) {
	t.Helper()
	provider := server(t, func(body map[string]json.RawMessage) (int, string) {
		requests++
		var messages []map[string]json.RawMessage
		if err := json.Unmarshal(body["messages"], &messages); err != nil {
			t.Error(err)
		}
		if words := refuse(messages); words != "" {
			return http.StatusBadRequest, `{"error":{"message":"` + words + `"}}`
		}
		if len(messages) == 1 {
			return http.StatusOK, first + done
		}
		return http.StatusOK, chunks(`{"reasoning_content":"I know."}`, `{"content":"three"}`) + done
	})
	m := provider.Open("m")
	request := model.Request{Tools: modeltest.Tools(), Messages: []model.Message{
		{Role: chat.RoleUser, Parts: []chat.Part{chat.TextPart("x")}},
	}}
	for range 3 {
		heard := modeltest.Hear(m.Stream(t.Context(), request))
		if heard.Err != nil {
			return requests, heard.Err
		}
		request.Messages = append(request.Messages, model.Message{Role: chat.RoleAssistant, Parts: heard.Parts})
		next := model.Message{Role: chat.RoleUser, Parts: []chat.Part{chat.TextPart("more")}}
		if len(heard.Calls) > 0 {
			next = model.Message{
				Role: chat.RoleTool,
				Parts: []chat.Part{{Kind: chat.PartToolResult, Result: &chat.ToolResult{
					CallID: heard.Calls[0].ID, Tool: heard.Calls[0].Tool, Content: []chat.Part{chat.TextPart("3")},
				}}},
			}
		}
		request.Messages = append(request.Messages, next)
	}
	return requests, nil
}

func TestAChatWithACallGoesOnWhateverTheServerWantsBack(t *testing.T) {
	called := chunks(
		`{"reasoning_content":"I count."}`,
		`{"tool_calls":[{"index":0,"id":"c1","extra_content":{"s":1},"function":{"name":"word_count","arguments":"{}"}}]}`,
	)
	plain := chunks(`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"word_count","arguments":"{}"}}]}`)
	// each returns a refusal for a message of the model
	with := func(check func(m map[string]json.RawMessage) string) func([]map[string]json.RawMessage) string {
		return func(messages []map[string]json.RawMessage) string {
			for _, m := range messages {
				if string(m["role"]) != `"assistant"` {
					continue
				}
				if words := check(m); words != "" {
					return words
				}
			}
			return ""
		}
	}
	has := func(m map[string]json.RawMessage, name string) bool { _, ok := m[name]; return ok }
	for name, c := range map[string]struct {
		first    string
		refuse   func([]map[string]json.RawMessage) string
		requests int
	}{
		"thinking with calls": {called, with(func(m map[string]json.RawMessage) string {
			if has(m, "tool_calls") && !has(m, "reasoning_content") {
				return "The `reasoning_content` in the thinking mode must be passed back to the API."
			}
			return ""
		}), 3},
		"thinking with every message": {called, with(func(m map[string]json.RawMessage) string {
			if !has(m, "reasoning_content") {
				return "The reasoning_content in the thinking mode must be passed back to the API."
			}
			return ""
		}), 4},
		"thinking with calls that were made without": {plain, with(func(m map[string]json.RawMessage) string {
			if has(m, "tool_calls") && !has(m, "reasoning_content") {
				return "Missing reasoning_content field in the assistant message"
			}
			return ""
		}), 4},
		"no thinking": {called, with(func(m map[string]json.RawMessage) string {
			if has(m, "reasoning_content") {
				return "property 'messages.1.reasoning_content' is unsupported"
			}
			return ""
		}), 5},
		"no other members": {called, with(func(m map[string]json.RawMessage) string {
			if strings.Contains(string(m["tool_calls"]), "extra_content") {
				return "Extra inputs are not permitted: tool_calls.0.extra_content"
			}
			return ""
		}), 4},
		"a text everywhere": {plain, with(func(m map[string]json.RawMessage) string {
			if !strings.HasPrefix(string(m["content"]), `"`) {
				return "'messages' array must only contain objects with a 'content' field that is a string"
			}
			return ""
		}), 3},
		"no empty text": {plain, with(func(m map[string]json.RawMessage) string {
			if string(m["content"]) == `""` {
				return "messages.1.content: text must be non-empty"
			}
			return ""
		}), 4},
	} {
		t.Run(name, func(t *testing.T) {
			if requests, err := conversation(t, c.first, c.refuse); err != nil || requests != c.requests {
				t.Errorf("%d requests, want %d; error %v", requests, c.requests, err)
			}
		})
	}
}

func TestAModelWhoseThinkingHasNoBeginningIsKnownAfterwards(t *testing.T) {
	replies := []string{
		`{"content":"Hm.\n</think>\n\nOne."}`,
		`{"content":"Hm, hm.\n</think>\n\nTwo."}`,
		`{"content":"Three."}`,
	}
	provider := server(t, func(map[string]json.RawMessage) (int, string) {
		reply := replies[0]
		replies = replies[1:]
		return http.StatusOK, chunks(reply) + done
	})
	m := provider.Open("r1")
	for i, want := range [][2]string{{"Hm.\n", "One."}, {"Hm, hm.\n", "Two."}, {"", "Three."}} {
		moved := 0
		for e, err := range m.Stream(t.Context(), model.Request{}) {
			if err != nil {
				t.Fatal(err)
			}
			if e.Kind == model.Moved {
				moved++
			}
			if i == 1 && e.Kind == model.Text && strings.Contains(e.Text, "Hm") {
				t.Error("the second answer's thinking was text first")
			}
		}
		if i != 1 && moved != 1 {
			t.Errorf("answer %d was moved %d times", i+1, moved)
		}
		_ = want
	}
}

package turn_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"conclave/app/chat"
	"conclave/app/model"
)

// A path of any shape, as crashes, stops, edits and hidden messages leave them,
// must be sent as something every provider takes.
func TestAnyPathIsSentInAnOrderThatEveryProviderTakes(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		b := newBench(t, nil)
		parent := chat.MessageSeq(0)
		var open []string
		id := 0
		for range r.IntN(12) {
			m := chat.Message{
				Conversation: talk, Parent: parent, Model: []string{"test/m", "other/m"}[r.IntN(2)],
				Hidden: r.IntN(8) == 0,
				State: []chat.MessageState{
					chat.Complete, chat.Complete, chat.Complete, chat.Stopped, chat.Failed, chat.Interrupted,
				}[r.IntN(6)],
			}
			switch kind := r.IntN(6); {
			case kind < 2:
				m.Role = chat.RoleUser
				if r.IntN(4) > 0 {
					m.Parts = []chat.Part{{Kind: chat.PartText, Text: "u"}}
				}
			case kind < 5:
				m.Role = chat.RoleAssistant
				if r.IntN(2) > 0 {
					m.Parts = append(m.Parts, chat.Part{Kind: chat.PartReasoning, Text: "r"})
				}
				if r.IntN(2) > 0 {
					m.Parts = append(m.Parts, chat.Part{Kind: chat.PartText, Text: []string{"a", " ", ""}[r.IntN(3)]})
				}
				open = nil
				for range r.IntN(4) {
					id++
					open = append(open, fmt.Sprint(id))
					m.Parts = append(m.Parts, chat.Part{
						Kind: chat.PartToolCall, Call: &chat.ToolCall{ID: fmt.Sprint(id), Tool: "x", Arguments: []byte("{}")},
					})
				}
			default:
				m.Role = chat.RoleTool
				for _, call := range open {
					if r.IntN(3) > 0 {
						m.Parts = append(m.Parts, chat.Part{
							Kind: chat.PartToolResult, Result: &chat.ToolResult{CallID: call, Tool: "x", Status: chat.CallOK},
						})
					}
				}
			}
			must(t, b.log.Append(t.Context(), &m))
			parent = m.Seq
		}
		m := scriptedModel(says("Hi."))
		b.say(m)
		check(t, seed, m.requests[0].Messages)
	}
}

func check(t *testing.T, seed uint64, messages []model.Message) {
	t.Helper()
	if n := len(messages); n == 0 || messages[n-1].Role != chat.RoleUser {
		t.Errorf("seed %d: what is sent does not end with the question", seed)
	}
	for i, m := range messages {
		if len(m.Parts) == 0 {
			t.Errorf("seed %d: message %d is empty", seed, i)
		}
		if i > 0 && messages[i-1].Role == m.Role {
			t.Errorf("seed %d: messages %d and %d are both %s", seed, i-1, i, m.Role)
		}
		var calls []string
		for _, p := range m.Parts {
			if p.Call != nil {
				calls = append(calls, p.Call.ID)
			}
			if p.Result != nil && len(p.Result.Content) == 0 {
				t.Errorf("seed %d: result %s is empty", seed, p.Result.CallID)
			}
		}
		var results []string
		if m.Role == chat.RoleAssistant && i+1 < len(messages) && messages[i+1].Role == chat.RoleTool {
			for _, p := range messages[i+1].Parts {
				results = append(results, p.Result.CallID)
			}
		}
		if fmt.Sprint(calls) != fmt.Sprint(results) {
			t.Errorf("seed %d: the calls %v of message %d are followed by the results %v", seed, calls, i, results)
		}
	}
}

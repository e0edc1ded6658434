package turn_test

import (
	"testing"

	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/gate"
)

func TestTheModelOfAChatIsAskedAsTheChatSaysAndAMemberIsNot(t *testing.T) {
	cool := 0.2
	asking := chat.Asking{Reasoning: "high", Temperature: &cool, MaxTokens: 900}
	b := newBench(t, nil)
	must(t, b.log.UpdateConversation(t.Context(), talk, func(c *chat.Conversation) { c.Asking = asking }))

	thinks := scriptedModel(says("one"), says("two"))
	thinks.info.Can.Reasoning = true
	b.say(thinks, func(r *turn.Request) { r.Text = "Hello" })
	if r := thinks.requests[0]; r.Reasoning != "high" || r.Temperature == nil || *r.Temperature != cool ||
		r.MaxTokens != 900 {
		t.Errorf("asked with %q, %v, %d", r.Reasoning, r.Temperature, r.MaxTokens)
	}
	b.say(thinks, func(r *turn.Request) { r.Text, r.Caller, r.Reasoning = "Hello", gate.Member("ada"), "low" })
	if r := thinks.requests[1]; r.Reasoning != "low" || r.Temperature != nil || r.MaxTokens != 0 {
		t.Errorf("a member was asked with %q, %v, %d", r.Reasoning, r.Temperature, r.MaxTokens)
	}
	plain := scriptedModel(says("three"))
	b.say(plain, func(r *turn.Request) { r.Text = "Hello" })
	if r := plain.requests[0]; r.Reasoning != "" || r.MaxTokens != 900 {
		t.Errorf("a model that does not reason was asked with %q, %d", r.Reasoning, r.MaxTokens)
	}
}

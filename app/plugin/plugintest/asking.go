package plugintest

import (
	"context"
	"testing"
	"time"

	"conclave/app/gate"
	"conclave/app/test/testkit"
	"conclave/app/tool"
)

// AnswerLate makes a call that a person is asked for while it runs, and has them allow it 2 s
// after its time was over. It returns what the call came to.
func AnswerLate(ctx context.Context, t *testing.T, g *gate.Gate, by tool.Invoker, call tool.Call) tool.Result {
	t.Helper()
	call.Deadline = time.Now().Add(8 * time.Second)
	ended := make(chan tool.Result)
	go func() { // ends with the answer
		r, err := by.Call(ctx, call)
		if err != nil {
			t.Error(err)
		}
		ended <- r
	}()
	var requests []gate.Request
	testkit.Until(t, "a request", func() bool { requests = g.Questions.List(); return len(requests) == 1 })
	select {
	case r := <-ended:
		t.Fatalf("it ended while the person was asked: %+v", r)
	case <-time.After(time.Until(call.Deadline) + 2*time.Second): // the time that they take
	}
	if requests = g.Questions.List(); len(requests) != 1 { // with its preview, by now
		t.Fatalf("%d requests wait", len(requests))
	}
	testkit.Must(t, g.Questions.Answer(t.Context(), requests[0].ID, requests[0].Nonce,
		gate.Answer{Effect: gate.Allow, Scope: gate.Once}))
	return <-ended
}

package turn_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/gate"
	"conclave/app/model"
)

// presser is a person who presses Allow at once; it notes what was asked, and when.
type presser struct {
	began time.Time
	asked map[string]time.Duration // by arguments
}

func (p *presser) Ask(_ context.Context, r gate.Request) (gate.Answer, error) {
	p.asked[string(r.Arguments)] = time.Since(p.began)
	return gate.Answer{Effect: gate.Allow, Scope: gate.Once}, nil
}

func TestAllowIsAskedForWholeArgumentsAndAPressWhileOthersAreStillWrittenCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, tools{"one": answers("first"), "two": answers("second")})
		m := scriptedModel(func(_ context.Context, _ model.Request, say func(model.Event) bool) error {
			one, two := call("one", `{"n":1}`), call("two", `{"n":2}`)
			one.ID, two.ID = "1", "2"
			say(model.Event{Kind: model.CallStart, Call: chat.ToolCall{ID: "1", Tool: "one"}})
			time.Sleep(time.Minute) // its arguments are written
			say(model.Event{Kind: model.Call, Call: one})
			say(model.Event{Kind: model.CallStart, Call: chat.ToolCall{ID: "2", Tool: "two"}})
			time.Sleep(time.Minute)
			say(model.Event{Kind: model.Call, Call: two})
			say(model.Event{Kind: model.End, Stop: model.StopCalls})
			return nil
		}, says("Both."))
		p := &presser{began: time.Now(), asked: map[string]time.Duration{}}
		b.say(m, func(r *turn.Request) { r.Asker = p })
		equal(t, "the calls", b.results(m, 1), []string{"ok: first", "ok: second"})
		if len(p.asked) != 2 || p.asked[`{"n":1}`] < time.Minute || p.asked[`{"n":2}`] < 2*time.Minute {
			t.Errorf("the person was asked after %v", p.asked)
		}
	})
}

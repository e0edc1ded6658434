package turn_test

import (
	"encoding/json"
	"testing"

	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/model"
)

// What a request cost is kept with its message, and told as the turn goes on.
func TestWhatARequestCostIsWorkedOutWhenItEnds(t *testing.T) {
	b := newBench(t, nil)
	price := 2.0
	b.runner = turn.New(turn.Options{Log: b.log, Calls: b.calls, Price: func(m model.Info, u chat.Usage) chat.Usage {
		if m.ID == "" {
			t.Error("the model is not named")
		}
		u.Cost, u.Priced = price*float64(u.Input), "2026-11-22"
		return u
	}})
	out := b.say(scriptedModel(says("Yes.")))
	price = 99
	path := b.path()
	want := chat.Usage{Input: 10, Output: 5, Cost: 20, Priced: "2026-11-22"}
	if got := path[len(path)-1].Usage; got == nil || *got != want {
		t.Errorf("the answer took %+v, want %+v", got, want)
	}
	if out.Usage != want {
		t.Errorf("the turn took %+v", out.Usage)
	}
	line, err := json.Marshal(turn.Line(b.heard(chat.EventUsed)[0]))
	if err != nil ||
		string(line) != `{"cost":20,"input_tokens":10,"output_tokens":5,"priced":"2026-11-22","type":"usage"}` {
		t.Errorf("prompt --json says %s, %v", line, err)
	}
}

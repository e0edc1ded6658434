package turn

import (
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/model"
)

func TestReasoningKeepsHowLongItTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d draft
		d.take(model.Event{Kind: model.Reasoning, Text: "One thing "})
		time.Sleep(time.Second)
		d.take(model.Event{Kind: model.Reasoning, Text: "after the other."})
		time.Sleep(300 * time.Millisecond)
		d.take(model.Event{Kind: model.Text, Text: "That was"})
		time.Sleep(time.Second)
		d.take(model.Event{Kind: model.Text, Text: " thought about."})
		parts, _ := d.snapshot()
		if len(parts) != 2 || parts[0].MS != 1300 || parts[1].MS != 0 {
			t.Errorf("the parts are %+v", parts)
		}
	})
}

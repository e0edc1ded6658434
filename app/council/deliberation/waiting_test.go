package deliberation_test

import (
	"context"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/council/deliberation"
	"conclave/app/model"
)

// answers has a model answer in the chat.
func (b *bench) answers(model string) {
	b.t.Helper()
	if err := b.store.Chats.UpdateConversation(b.t.Context(), b.id,
		func(c *chat.Conversation) { c.Model = model }); err != nil {
		b.t.Fatal(err)
	}
}

// lines returns what was told of the runs so far, as “Member: state, text”.
func (b *bench) lines() []string {
	var teller deliberation.Reporter
	var out []string
	for _, e := range b.heardSoFar() {
		for _, l := range teller.Report(e) {
			out = append(out, l.Member+": "+l.State+", "+l.Text)
		}
	}
	return out
}

func TestOneModelThatHangsHoldsUpItsCouncilForABoundedTimeAndSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.council(`{"enabled": true, "parallel": 1, "members": [
			{"name": "Hang", "model": "test/hang"}, {"name": "Bo", "model": "test/bo"}, {"name": "Cy", "model": "test/cy"}]}`)
		b.models.all["test/hang"] = dawdler{b.model("test/hang"), make(chan bool, 1)}
		b.says("test/bo", "Yes.")
		b.says("test/cy", "No.")
		began := time.Now()
		var noted []string
		how := deliberation.How{OnEvent: b.hear}
		_, err := b.runner.Run(t.Context(), turn.Request{
			Conversation: b.id, Text: "Go?", Model: b.says("test/main", "So."),
		}, how, func(e chat.Event) {
			if e.Kind == chat.EventNoted {
				noted = append(noted, e.Note)
			}
		})
		if err != nil || len(noted) > 0 { // the chair was not asked before, so it was not silent
			t.Errorf("the answer was noted %q, %v", noted, err)
		}
		if took := time.Since(began); took < 2*time.Minute || took > 2*time.Minute+time.Second {
			t.Errorf("it took %v", took)
		}
		run, _ := b.stored()
		if got := states(run); got != "0/hang/answer failed, 0/bo/answer done, 0/cy/answer done" {
			t.Errorf("the tasks are %s", got)
		}
		if f := run.Tasks[0].End.Failure; f == nil || f.Message != "The model of Hang did not answer for 120 s." {
			t.Errorf("it failed: %+v", f)
		}
		lines := b.lines()
		for _, want := range []string{
			"Bo: waiting, waits for Hang: one member works at a time.",
			"Cy: waiting, waits for Hang: one member works at a time.",
			"Hang: waiting, The model test/hang has not said a word for 30s; Conclave goes on waiting.",
		} {
			if n := len(slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return l != want })); n != 1 {
				t.Errorf("%q was said %d times, in\n%s", want, n, strings.Join(lines, "\n"))
			}
		}
		b.runner.Close()
	})
}

func TestAMemberWithItsOwnTimeIsWaitedForThatLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.council(`{"enabled": true, "members": [{"name": "Ada", "model": "test/ada", "limits": {"seconds": 300}}]}`)
		b.models.all["test/ada"] = dawdler{b.model("test/ada"), make(chan bool, 1)}
		began := time.Now()
		b.ask(t.Context(), b.says("test/main", "Alone."), "Go.", deliberation.How{}).end()
		if took := time.Since(began); took != 5*time.Minute {
			t.Errorf("it took %v", took)
		}
		b.runner.Close()
	})
}

func TestAMemberWithoutAVoteIsSaidToHaveNone(t *testing.T) {
	b := newBench(t)
	c := b.council(`{"enabled": true, "mode": "vote", "members": [{"name": "Ada", "model": "test/ada"},
		{"name": "Bo", "model": "test/bo", "context": {"policy": "all", "others": false}}, {"name": "Cy", "model": "test/cy"}]}`)
	const why = "does not see the others' answers, so it has no vote"
	for _, name := range []string{"test/ada", "test/bo", "test/cy"} {
		b.says(name, "Yes.", "No ballot.", "None.")
	}
	main := b.says("test/main", "So.")
	b.answers("test/main")
	e, err := b.estimate(c, "Go?")
	if err != nil || !slices.Contains(e.Problems, "Bo "+why+".") {
		t.Errorf("the estimate says %q, %v", e.Problems, err)
	}
	b.ask(t.Context(), main, "Go?", deliberation.How{}).end()
	if lines := b.lines(); !slices.Contains(lines, "Bo: waiting, "+why+".") {
		t.Errorf("it is not said in the run:\n%s", strings.Join(lines, "\n"))
	}
}

func TestTheEstimateIsTheMedianOfTheLastTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		c := b.council(`{"enabled": true, "members": [{"name": "Ada", "model": "test/ada"}]}`)
		ada := slowModel{b.says("test/ada", "1", "2", "3", "4"), make(chan time.Duration, 1)}
		b.models.all["test/ada"] = ada
		main := b.says("test/main", "1", "2", "3", "4")
		b.answers("test/main")
		for _, took := range []time.Duration{10 * time.Second, 12 * time.Second, 90 * time.Second} {
			ada.takes <- took
			b.ask(t.Context(), main, "Go.", deliberation.How{}).end()
			synctest.Wait()
		}
		e, err := b.estimate(c, "Go?")
		if ms := e.Tasks["0/ada/answer"].MS; err != nil || ms != 12_000 {
			t.Errorf("after 10, 12 and 90 s it is estimated at %d ms, %v", ms, err)
		}
		b.runner.Close()
	})
}

// slowModel answers after the time that it is told next.
type slowModel struct {
	model.Model
	takes chan time.Duration
}

func (s slowModel) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	time.Sleep(<-s.takes)
	return s.Model.Stream(ctx, r)
}

package deliberation_test

import (
	"maps"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/model/modeltest"
)

func TestAnAnswerThatIsStoppedConcludesTheRun(t *testing.T) {
	b := newBench(t)
	b.council(two)
	b.says("test/ada", "A.")
	b.says("test/bo", "B.")
	main := b.model("test/main", []modeltest.Step{modeltest.Say("Well, "), modeltest.Wait(never)})
	a := b.ask(t.Context(), main, "Go.", deliberation.How{})
	b.until(state(council.Answering))
	b.owner.Stop(t.Context(), b.id, fault.New(fault.Canceled, "test", "You stopped it.", ""))
	<-a.over
	run, header := b.stored()
	if run.State != council.Over || run.Answer == nil || run.Answer.Reason != chat.EndStopped ||
		header.State != council.Over {
		t.Errorf("the run is %s, %+v", run.State, run.Answer)
	}
}

func TestAnAnswerThatTheClosingProgramCutsOffIsMadeOfTheSameNotes(t *testing.T) {
	b := newBench(t)
	b.council(two)
	ada, bo := b.says("test/ada", "Ada SAYS."), b.says("test/bo", "B.")
	a := b.ask(t.Context(), b.model("test/main", []modeltest.Step{modeltest.Wait(never)}), "Go.", deliberation.How{})
	b.until(state(council.Answering))
	b.runner.Close()
	<-a.over
	cut, _ := b.stored()
	if cut.State != council.Answering {
		t.Fatalf("it was left %s", cut.State)
	}
	main := b.says("test/main", "So.")
	_, err := b.again().Run(t.Context(), turn.Request{Conversation: b.id, Parent: &cut.Question, Model: main},
		deliberation.How{Resume: cut.Begin.Run}, nil)
	if err != nil {
		t.Fatal(err)
	}
	run, _ := b.stored()
	if run.State != council.Over || run.Notes != cut.Notes || len(ada.Requests())+len(bo.Requests()) != 2 {
		t.Errorf("the run is %s, after %d requests", run.State, len(ada.Requests())+len(bo.Requests()))
	}
	if s := toldIn(main.Requests()[0]); !strings.Contains(s, "Ada SAYS.") {
		t.Errorf("the main model was told %s", s)
	}
}

// Who writes the answer of a run that goes on may be another than who was to.
func TestARunThatGoesOnSaysWhoWritesTheAnswer(t *testing.T) {
	b := newBench(t)
	b.council(two)
	b.says("test/ada", "A.")
	b.says("test/bo", "B.")
	b.models.all["test/main"] = b.model("test/main", []modeltest.Step{modeltest.Wait(never)})
	a := b.ask(t.Context(), b.models.all["test/main"], "Go.", deliberation.How{})
	b.until(state(council.Answering))
	b.runner.Close()
	<-a.over
	cut, _ := b.stored()
	delete(b.models.all, "test/main")
	now := b.says("test/now", "So.")
	if _, err := b.again().Run(t.Context(), turn.Request{Conversation: b.id, Parent: &cut.Question, Model: now},
		deliberation.How{Resume: cut.Begin.Run}, nil); err != nil {
		t.Fatal(err)
	}
	run, _ := b.stored()
	const gone = "test/main cannot be asked to write the answer: There is no model test/main. test/now writes it."
	if run.State != council.Over || run.Models[""] != "test/now" || run.Out[""] != gone ||
		cut.Models[""] != "test/main" || cut.Out[""] != "" {
		t.Errorf("it was answered by %s: %s; it was left with %v: %v", run.Models[""], run.Out[""], cut.Models, cut.Out)
	}
}

func TestTheCouncilOfATemporaryChatIsKeptNowhere(t *testing.T) {
	b := newBench(t)
	b.council(two)
	b.tools("p", echo{}, "echo")
	b.says("test/ada", "Ada SAYS.")
	b.says("test/bo", "B.")
	main := b.says("test/main", "So.")
	heard := false
	log := turn.NewMemoryLog(chat.Conversation{ID: "temporary"})
	_, err := b.runner.Run(t.Context(), turn.Request{Conversation: "temporary", Text: "Go.", Model: main, Log: log},
		deliberation.How{OnEvent: func(deliberation.Event) { heard = true }}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s := toldIn(main.Requests()[0]); !strings.Contains(s, "Ada SAYS.") || !heard {
		t.Errorf("the main model was told %s", s)
	}
	if kept, err := b.store.Councils.Runs(t.Context(), "temporary"); err != nil || len(kept) != 0 {
		t.Errorf("kept are %+v, %v", kept, err)
	}
	headers, err := b.runner.Runs(t.Context(), "temporary")
	if err != nil || len(headers) != 1 || headers[0].State != council.Over {
		t.Fatalf("there are %+v, %v", headers, err)
	}
	if v, err := b.runner.View(t.Context(), headers[0].Run, 0); err != nil || len(v.Lanes) != 3 {
		t.Errorf("it is shown as %+v, %v", v, err)
	}
}

// The program lets go of a run a moment after its last step: whoever looks meanwhile, and hears
// nothing more of it, must not see it at work for good.
func TestARunIsAtWorkUntilItsLastStep(t *testing.T) {
	b := newBench(t)
	b.council(two)
	b.says("test/ada", "A.")
	b.says("test/bo", "B.")
	live := map[council.RunState]bool{}
	b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{OnEvent: func(e deliberation.Event) {
		view, err := b.runner.View(t.Context(), e.Run.Begin.Run, 0)
		if err != nil {
			t.Error(err)
		}
		live[view.State] = view.Live
	}}).end()
	want := map[council.RunState]bool{
		council.Running: true, council.Ready: true, council.Answering: true, council.Over: false,
	}
	if !maps.Equal(live, want) {
		t.Errorf("by its state the run was at work: %v, want %v", live, want)
	}
}

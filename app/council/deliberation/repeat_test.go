package deliberation_test

import (
	"slices"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/model/modeltest"
)

// repeated makes the newest run again with a change, and returns it as it then is.
func (b *bench) repeated(main *modeltest.Model, change deliberation.Change) council.Run {
	b.t.Helper()
	before, _ := b.stored()
	if _, err := b.runner.Run(b.t.Context(), again(b, main, before.Question),
		deliberation.How{Again: before.Begin.Run, Change: change}, nil); err != nil {
		b.t.Fatal(err)
	}
	run, _ := b.stored()
	return run
}

func TestARunIsMadeAgainWithTheHelpersModelOrWithoutARole(t *testing.T) {
	b := newBench(t)
	b.council(`{"enabled": true, "mode": "opinions", "helper": {"model": "test/help"}, "members": [
		{"name": "Ada", "model": "test/ada"},
		{"name": "Bo", "role": "Sceptic", "model": "test/bo", "tools": ["look:look"], "context": {"policy": "question"}}]}`)
	b.says("test/ada", "Ada.")
	b.says("test/bo", "Bo.", "Bo without a role.")
	help := b.says("test/help", "Bo through the helper.")
	main := b.says("test/main", "So.", "So again.", "So once more.")
	b.ask(t.Context(), main, "Go.", deliberation.How{}).end()
	first, _ := b.stored()
	view, err := b.runner.View(t.Context(), first.Begin.Run, 0)
	if bo := view.Lanes[1]; err != nil || bo.Context.Span != council.Question ||
		!slices.Equal(bo.Tools, []string{"look:look"}) {
		t.Errorf("the lane says that Bo was given %+v and the tools %v, %v", bo.Context, bo.Tools, err)
	}
	run := b.repeated(main, deliberation.Change{Member: "bo", Role: new("")})
	if run.Change != "Bo had no role." || run.Council.Members[1].Role != "" || len(help.Requests()) != 0 {
		t.Errorf("without a role it is %q, as %q", run.Change, run.Council.Members[1].Role)
	}
	run = b.repeated(main, deliberation.Change{Member: "bo", Model: new("")})
	if run.Change != "Bo spoke through the helper's model." || run.Models["bo"] != "test/help" ||
		len(help.Requests()) != 1 {
		t.Errorf("with the helper's model it is %q, through %q", run.Change, run.Models["bo"])
	}
}

// A summary comes before everything else: what the others did is their work all the same.
func TestWhatOthersDidStaysWhereASummaryComesOrGoes(t *testing.T) {
	b := newBench(t)
	b.council(three("review", ""))
	ada := b.says("test/ada", "Ada.", "Ada 1.", "Ada 2.", "Ada 3.")
	bo := b.says("test/bo", "Bo.", "Bo 1.", "Bo again.", "Bo 2.", "Bo once more.", "Bo 3.")
	b.says("test/cy", "Cy.", "Cy 1.", "Cy 2.", "Cy 3.")
	main := b.says("test/main", "So.", "So again.", "So once more.")
	b.ask(t.Context(), main, "Go.", deliberation.How{}).end()
	for _, c := range []struct {
		span council.Span
		kept []string
	}{
		{council.Summary, []string{"1/ada/answer", "1/cy/answer"}},
		{council.Question, []string{"0/ada/answer", "0/cy/answer"}},
	} {
		run := b.repeated(main, deliberation.Change{
			Member: "bo", Context: &council.ContextPolicy{Span: c.span, Others: true},
		})
		var kept []string
		for _, task := range run.Tasks {
			if task.State != council.Done {
				t.Errorf("given %s, %s is %s", c.span, task.ID, task.State)
			}
			if _, there := run.Kept[task.ID]; there {
				kept = append(kept, task.ID)
			}
		}
		if !slices.Equal(kept, c.kept) || len(run.Kept) != len(kept) {
			t.Errorf("given %s, taken over were %v of %d", c.span, kept, len(run.Kept))
		}
	}
	if len(ada.Requests()) != 4 || len(bo.Requests()) != 6 { // an answer and three reviews; three of both
		t.Errorf("asked were %d and %d times", len(ada.Requests()), len(bo.Requests()))
	}
}

func TestARunIsMadeAgainByTheModelThatAnsweredIt(t *testing.T) {
	b := newBench(t)
	b.council(three("opinions", ""))
	for _, name := range []string{"ada", "bo", "cy"} {
		b.says("test/"+name, "One.", "Two.", "Three.", "Four.")
	}
	main := b.says("test/main", "So.", "So again.")
	b.ask(t.Context(), main, "Go.", deliberation.How{}).end()
	first, _ := b.stored()
	now := b.says("test/now", "Chosen.", "In its place.") // the chat's by now
	if run := b.repeated(now, deliberation.Change{}); run.Models[""] != "test/main" || len(main.Requests()) != 2 {
		t.Errorf("it was answered by %s", run.Models[""])
	}
	if _, err := b.runner.Run(t.Context(), again(b, now, first.Question),
		deliberation.How{Again: first.Begin.Run, Chosen: true}, nil); err != nil {
		t.Fatal(err)
	}
	if run, _ := b.stored(); run.Models[""] != "test/now" || run.Out[""] != "" {
		t.Errorf("with another chosen it was answered by %s: %s", run.Models[""], run.Out[""])
	}
	delete(b.models.all, "test/main")
	if _, err := b.runner.Run(t.Context(), again(b, now, first.Question), deliberation.How{Again: first.Begin.Run},
		nil); err != nil {
		t.Fatal(err)
	}
	run, _ := b.stored()
	const gone = "test/main cannot be asked to write the answer: There is no model test/main. test/now writes it."
	if run.Models[""] != "test/now" || run.Out[""] != gone || len(now.Requests()) != 2 {
		t.Errorf("with that gone it was answered by %s: %s", run.Models[""], run.Out[""])
	}
}

func TestACouncilWhoseChairIsGoneIsAnsweredByTheChatsModel(t *testing.T) {
	b := newBench(t)
	if err := b.store.Chats.UpdateConversation(t.Context(), b.id,
		func(c *chat.Conversation) { c.Model = "test/main" }); err != nil {
		t.Fatal(err)
	}
	set := b.council(three("opinions", `, "chair": "gone/chair"`))
	for _, name := range []string{"ada", "bo", "cy"} {
		b.says("test/"+name, opinion("Blue", "It is "+name))
	}
	main := b.says("test/main", "So.")
	const gone = "gone/chair cannot be asked to write the answer: There is no model gone/chair. " +
		"test/main writes it."
	if e, err := b.estimate(set, "Go."); err != nil || !slices.Contains(e.Problems, gone) ||
		e.Helper {
		t.Errorf("it is estimated as %+v, %v", e, err)
	}
	b.ask(t.Context(), main, "Go.", deliberation.How{}).end()
	run, _ := b.stored()
	if run.Out[""] != gone || run.Models[""] != "test/main" || run.State != council.Over {
		t.Errorf("it is %s, answered by %s: %s", run.State, run.Models[""], run.Out[""])
	}
	if s := toldIn(main.Requests()[0]); !strings.Contains(s, gone) {
		t.Errorf("the main model was told %s", s)
	}
	view, err := b.runner.View(t.Context(), run.Begin.Run, 0)
	if answer := view.Lanes[3]; err != nil || answer.Why != gone || !slices.Equal(view.Result.Missing, []string{gone}) {
		t.Errorf("its lane says %q, and below the answer stands %q, %v", answer.Why, view.Result.Missing, err)
	}
	teller := deliberation.Reporter{}
	lines := teller.Report(b.heardSoFar()[0])
	if last := lines[len(lines)-1]; last.Words() != gone {
		t.Errorf("the timeline says %q", last.Words())
	}
}

func TestAModelThatWasChosenForAnAnswerWritesItInPlaceOfTheChair(t *testing.T) {
	b := newBench(t)
	b.council(three("opinions", `, "chair": "test/chair"`))
	for _, name := range []string{"ada", "bo", "cy"} {
		b.says("test/"+name, "One.", "Two.")
	}
	chair, main := b.says("test/chair", "The chair."), b.says("test/main", "The chosen one.")
	for _, c := range []struct {
		chosen bool
		want   string
	}{{false, "The chair."}, {true, "The chosen one."}} {
		out := b.ask(t.Context(), main, "Go.", deliberation.How{Chosen: c.chosen}).end()
		if got := chat.TextOf(out.Message.Parts); got != c.want {
			t.Errorf("with a model chosen: %t, the answer is %q", c.chosen, got)
		}
	}
	if run, _ := b.stored(); run.Models[""] != "test/main" || len(chair.Requests()) != 1 {
		t.Errorf("the second was answered by %s", run.Models[""])
	}
}

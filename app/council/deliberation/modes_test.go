package deliberation_test

import (
	"slices"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/model"
	"conclave/app/model/modeltest"
)

// three is a council of three in a mode.
func three(mode, more string) string {
	return `{"enabled": true, "mode": "` + mode + `", "members": [
		{"name": "Ada", "model": "test/ada"}, {"name": "Bo", "model": "test/bo"}, {"name": "Cy", "model": "test/cy"}]` +
		more + `}`
}

func opinion(text, claim string) string {
	return text + "\n\n```council\n{\"position\": \"" + text + "\", \"points\": [{\"claim\": \"" + claim +
		"\", \"basis\": \"own\"}]}\n```\n"
}

func TestReviewsAreUnsigned(t *testing.T) {
	b := newBench(t)
	b.council(three("review", ""))
	ada := b.says("test/ada", "Ada thinks red.", "Fine.")
	b.says("test/bo", "Bo thinks blue.", "Fine.")
	b.says("test/cy", "Cy thinks green.", "Fine.")
	b.ask(t.Context(), b.says("test/main", "So."), "Which?", deliberation.How{}).end()
	run, _ := b.stored()
	if want := "0/ada/answer done, 0/bo/answer done, 0/cy/answer done, 1/ada/review done, 1/bo/review done, " +
		"1/cy/review done"; states(run) != want {
		t.Fatalf("the tasks are %s", states(run))
	}
	first, second := ada.Requests()[0], ada.Requests()[1]
	if s := toldIn(first); strings.Contains(s, "blue") || strings.Contains(s, "green") {
		t.Errorf("before it answered it was told %s", s)
	}
	s := toldIn(second)
	if !strings.Contains(s, "blue") || !strings.Contains(s, "green") {
		t.Errorf("in the review it was told %s", s)
	}
	for _, other := range []string{"words of Bo", "words of Cy"} {
		if strings.Contains(s, other) {
			t.Errorf("the review is signed: %q is in %s", other, s)
		}
	}
}

func TestNoVoteIsShownBeforeAllHaveVoted(t *testing.T) {
	b := newBench(t)
	b.council(three("vote", `, "choices": ["yes", "no"]`))
	ballot := "```council\n{\"choice\": \"yes\", \"why\": \"BECAUSE\"}\n```"
	b.says("test/ada", "A.", ballot)
	b.says("test/bo", "B.", "```council\n{\"choice\": \"no\"}\n```")
	b.says("test/cy", "C.", "I vote yes.", ballot) // the first is no ballot
	b.ask(t.Context(), b.says("test/main", "So."), "Which?", deliberation.How{}).end()
	run, _ := b.stored()
	if !run.Opened {
		t.Fatalf("the ballots were not opened: %s", states(run))
	}
	tally, err := council.Count(run, b.words(run))
	if err != nil || len(tally) != 2 || tally[0].Choice != "yes" || tally[0].Votes != 2 || tally[1].Votes != 1 {
		t.Errorf("counted were %+v, %v", tally, err)
	}
	opened := false
	for _, e := range b.events {
		if e.Step != nil && e.Step.Kind == council.Opens {
			opened = true
		}
		if e.Live != nil && !opened && strings.Contains(e.Live.Text, "BECAUSE") {
			t.Error("a vote was shown before all had voted")
		}
	}
	for _, task := range run.Tasks {
		if task.Kind == council.Cast && (task.End.Ballot == "" || task.End.Text != "") {
			t.Errorf("%s is kept as %+v", task.ID, task.End)
		}
	}
}

func TestABallotThatCannotBeReadIsNamedAndTheOthersCount(t *testing.T) {
	b := newBench(t)
	b.council(three("vote", `, "choices": ["yes", "no"]`))
	ballot := "```council\n{\"choice\": \"no\"}\n```"
	b.says("test/ada", "A.", ballot)
	b.says("test/bo", "B.", ballot)
	b.says("test/cy", "C.", "Yes!", "```council\n{\"choice\": \"perhaps\"}\n```")
	b.ask(t.Context(), b.says("test/main", "So."), "Which?", deliberation.How{}).end()
	run, _ := b.stored()
	last := run.Tasks[len(run.Tasks)-1]
	if last.State != council.Failed || last.End.Failure.Message !=
		"The ballot of Cy cannot be read: the ballot names “perhaps”, which is no choice." || last.End.Failure.Hint == "" {
		t.Errorf("Cy's vote ended %+v, %+v", last.State, last.End.Failure)
	}
	if tally, err := council.Count(run, b.words(run)); err != nil || tally[0].Votes != 2 {
		t.Errorf("counted were %+v, %v", tally, err)
	}
}

func TestInARelayEachIsGivenTheAnswerBeforeIt(t *testing.T) {
	b := newBench(t)
	b.council(three("relay", ""))
	ada, bo := b.says("test/ada", "First ONE."), b.says("test/bo", "Then TWO.")
	cy := b.says("test/cy", "Then THREE.")
	b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{}).end()
	if s := toldIn(ada.Requests()[0]); strings.Contains(s, "ONE") {
		t.Errorf("the first was told %s", s)
	}
	if s := toldIn(bo.Requests()[0]); !strings.Contains(s, "ONE") {
		t.Errorf("the second was told %s", s)
	}
	if s := toldIn(cy.Requests()[0]); !strings.Contains(s, "TWO") {
		t.Errorf("the third was told %s", s)
	}
}

func TestInARelayNothingIsLostBehindOneThatIsGivenNobodysAnswer(t *testing.T) {
	b := newBench(t)
	b.council(`{"enabled": true, "mode": "relay", "members": [{"name": "Ada", "model": "test/ada"},
		{"name": "Bo", "model": "test/bo", "context": {"policy": "question"}}, {"name": "Cy", "model": "test/cy"},
		{"name": "Dee", "model": "test/dee"}]}`)
	b.says("test/ada", "First ONE.")
	bo, cy, dee := b.says("test/bo", "Alone TWO."), b.says("test/cy", "Then THREE."), b.says("test/dee", "Then FOUR.")
	b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{}).end()
	for name, c := range map[string]struct {
		told string
		want []string
	}{
		"Bo":  {toldIn(bo.Requests()[0]), nil},
		"Cy":  {toldIn(cy.Requests()[0]), []string{"ONE", "TWO", "the answers of the members before you"}},
		"Dee": {toldIn(dee.Requests()[0]), []string{"THREE", "the answer of the member before you"}},
	} {
		for _, word := range []string{
			"ONE", "TWO", "THREE", "the answers of the members before you", "the answer of the member before you",
		} {
			if got := strings.Contains(c.told, word); got != slices.Contains(c.want, word) {
				t.Errorf("%s was told %q: %t, in %s", name, word, got, c.told)
			}
		}
	}
}

func TestCriticsSpeakAgainstTheDraft(t *testing.T) {
	b := newBench(t)
	b.council(three("advocate", ""))
	ada, bo := b.says("test/ada", "The DRAFT."), b.says("test/bo", "Wrong.")
	b.says("test/cy", "Worse.")
	b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{}).end()
	run, _ := b.stored()
	if states(run) != "0/ada/draft done, 1/bo/critique done, 1/cy/critique done" || len(ada.Requests()) != 1 {
		t.Errorf("the tasks are %s", states(run))
	}
	if s := toldIn(bo.Requests()[0]); !strings.Contains(s, "DRAFT") {
		t.Errorf("the critic was told %s", s)
	}
}

func TestOneMemberIsAskedByNameThoughTheCouncilIsOff(t *testing.T) {
	b := newBench(t)
	c := b.council(three("review", ""))
	c.Enabled = false
	if err := b.store.Councils.PutCouncil(t.Context(), council.Global, &c); err != nil {
		t.Fatal(err)
	}
	b.says("test/ada")
	b.says("test/cy")
	b.says("test/bo", "Bo alone.")
	b.ask(t.Context(), b.says("test/main", "So."), "Bo?", deliberation.How{Only: "bo"}).end()
	if run, _ := b.stored(); states(run) != "0/bo/answer done" {
		t.Errorf("the tasks are %s", states(run))
	}
	a := b.ask(t.Context(), b.says("test/main", "So."), "Di?", deliberation.How{Only: "di"})
	if <-a.over; fault.KindOf(a.err) != fault.NotFound {
		t.Errorf("asking nobody: %v", a.err)
	}
}

func TestThePieceOfJSONAtTheEndIsNeitherShownNorPartOfTheAnswer(t *testing.T) {
	b := newBench(t)
	b.council(two)
	b.says("test/ada", opinion("Blue", "The sky is blue"))
	b.says("test/bo", opinion("Blue too", "It is blue by day"))
	main := b.says("test/main", "It is blue.\n\n```council\n{\"groups\": [[\"a1\", \"b1\"]]}\n```\n")
	out := b.ask(t.Context(), main, "Which?", deliberation.How{}).end()
	run, _ := b.stored()
	if run.Notes == "" {
		t.Fatal("there were no notes")
	}
	if got := chat.TextOf(out.Message.Parts); got != "It is blue." {
		t.Errorf("the answer is %q", got)
	}
	if run.Answer.Groups == "" {
		t.Errorf("the groups are not kept: %+v", run.Answer)
	}
	for _, e := range b.events {
		if e.Live != nil && strings.Contains(e.Live.Text, "position") {
			t.Errorf("shown was %q", e.Live.Text)
		}
	}
}

func TestNotesStayWhereTheyStoodInLaterRequestsOfTheAnswer(t *testing.T) {
	b := newBench(t)
	b.tools("p", echo{}, "echo")
	b.council(two)
	b.says("test/ada", "Ada says HELLO.")
	b.says("test/bo", "Bo too.")
	main := b.model(
		"test/main",
		[]modeltest.Step{modeltest.Call("1", "echo", "{}")},
		[]modeltest.Step{modeltest.Say("So.")},
	)
	b.allow("p", "echo")
	a := b.answered(t.Context(), main, "Which?")
	if a.out.Reason != chat.EndDone || len(main.Requests()) != 2 {
		t.Fatalf("it ended %+v after %d requests", a.out, len(main.Requests()))
	}
	first, second := main.Requests()[0].Messages, main.Requests()[1].Messages
	for i := range first {
		if x, y := chat.TextOf(first[i].Parts), chat.TextOf(second[i].Parts); x != y {
			t.Errorf("message %d was %q and became %q", i, x, y)
		}
	}
	if !strings.Contains(toldIn(model.Request{Messages: second}), "HELLO") {
		t.Error("the notes are gone")
	}
}

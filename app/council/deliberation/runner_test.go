package deliberation_test

import (
	"context"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/council/deliberation"
)

const two = `{"enabled": true, "mode": "opinions", "members": [
	{"name": "Ada", "role": "Analyst", "model": "test/ada"}, {"name": "Bo", "role": "Sceptic", "model": "test/bo"}]}`

func TestTwoMembersAnswerBeforeTheMainModelDoes(t *testing.T) {
	b := newBench(t)
	b.council(two)
	ada, bo := b.says("test/ada", "It is blue."), b.says("test/bo", "It is green.")
	main := b.says("test/main", "They differ.")
	out := b.ask(t.Context(), main, "Which colour?", deliberation.How{}).end()
	if chat.TextOf(out.Message.Parts) != "They differ." || out.Reason != chat.EndDone {
		t.Errorf("the answer is %+v", out)
	}
	run, header := b.stored()
	if got := states(run); got != "0/ada/answer done, 0/bo/answer done" || run.State != council.Over ||
		header.State != council.Over || header.Members != 2 || header.Turn != out.Turn {
		t.Errorf("the run is %s, %s, %+v", run.State, got, header)
	}
	if len(ada.Requests()) != 1 || len(bo.Requests()) != 1 || len(main.Requests()) != 1 {
		t.Fatalf("there were %d, %d and %d requests: N + 1", len(ada.Requests()), len(bo.Requests()), len(main.Requests()))
	}
	sent := toldIn(main.Requests()[0])
	if !strings.Contains(sent, "It is blue.") || !strings.Contains(sent, "It is green.") {
		t.Errorf("the main model was told %s", sent)
	}
	if run.Spent("").Output != 10 || run.Answer.Reason != chat.EndDone || run.Answer.Seq != out.Seq {
		t.Errorf("it used %+v, and ended %+v", run.Spent(""), run.Answer)
	}
	for _, task := range run.Tasks {
		said, err := b.runner.Texts(t.Context(), run.Begin.Run)(task.End.Text)
		if err != nil || !strings.HasPrefix(said, "It is ") || len(task.End.Requests) != 1 {
			t.Errorf("kept is %q, %v, of %+v", said, err, task.End)
		}
		body, err := b.runner.Texts(t.Context(), run.Begin.Run)(task.End.Requests[0].Body)
		if err != nil || !strings.Contains(body, "Which colour?") {
			t.Errorf("sent was %s, %v", body, err)
		}
	}
}

func TestSP50ACouncilThatIsOffOrEmptyChangesNothing(t *testing.T) {
	for name, text := range map[string]string{
		"off":       `{"enabled": false, "members": [{"name": "Ada", "model": "test/ada"}]}`,
		"nobody":    `{"enabled": true, "members": []}`,
		"nobody in": `{"enabled": true, "mode": "tools", "members": [{"name": "Ada", "tools": ["p:t"], "chance": 0}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.says("test/ada")
			plain, main := b.says("test/main", "Yes."), b.says("test/main", "Yes.")
			b.ask(t.Context(), plain, "Is it so?", deliberation.How{Skip: true}).end()
			b.council(text)
			parent := chat.MessageSeq(1)
			if _, err := b.runner.Run(t.Context(), again(b, main, parent), deliberation.How{}, nil); err != nil {
				t.Fatal(err)
			}
			if a, b := toldIn(plain.Requests()[0]), toldIn(main.Requests()[0]); a != b {
				t.Errorf("without it was told %q, with it %q", a, b)
			}
		})
	}
}

func TestTheContextOfAMemberIsCountedWithWhatIsKnownOutsideTheChat(t *testing.T) {
	b := newBench(t, func(o *deliberation.Options) {
		o.Background = func(context.Context, chat.ConversationID, []chat.Message) ([]council.Background, error) {
			return []council.Background{{Kind: "persona", Title: "You", Text: "PERSONA"}}, nil
		}
	})
	b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{Skip: true}).end()
	c := b.council(`{"members": [{"name": "Ada"}, {"name": "Bo", "context": {"policy": "question"}}]}`)
	all, err := b.runner.Contexts(t.Context(), c, b.id)
	if err != nil || len(all) != 2 || !strings.Contains(all["ada"].System, "PERSONA") ||
		strings.Contains(all["bo"].System, "PERSONA") {
		t.Errorf("they are told %+v, %v", all, err)
	}
	if all, err = b.runner.Contexts(t.Context(), c, ""); err != nil || len(all["ada"].Blocks) == 0 {
		t.Errorf("in a chat that is not begun they are told %+v, %v", all, err)
	}
}

package deliberation_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/model"
	"conclave/app/model/modeltest"
	"conclave/app/test/testkit"
	"conclave/app/tool"
)

// spender is a model that says as much as it may, and calls a tool with every answer. Its first
// requests end together.
type spender struct {
	model.Model
	together *sync.WaitGroup

	mu    sync.Mutex
	asked []int64 // the most that each answer could have
}

func (s *spender) Stream(_ context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		s.mu.Lock()
		s.asked = append(s.asked, r.MaxTokens)
		first := len(s.asked) == 1
		s.mu.Unlock()
		if first {
			s.together.Done()
			s.together.Wait()
		}
		said := r.MaxTokens
		if said == 0 {
			said = 50_000
		}
		_ = yield(
			model.Event{Kind: model.Call, Call: chat.ToolCall{ID: "1", Tool: "look", Arguments: []byte("{}")}},
			nil,
		) &&
			yield(model.Event{Kind: model.End, Usage: chat.Usage{Output: said}, Stop: model.StopCalls}, nil)
	}
}

const eachToken = 10.0 / 1_000_000

// outputs prices what is said alone.
func outputs(_ model.Info, u chat.Usage) chat.Usage {
	u.Cost, u.Priced = float64(u.Output)*eachToken, "test"
	return u
}

func TestACapOfMoneyHoldsWhoeverWorksAtOnce(t *testing.T) {
	b := newBench(t, func(o *deliberation.Options) { o.Price = outputs })
	b.tools("p", echo{}, "look")
	b.allow("p", "look")
	var members []string
	var all []*spender
	var together sync.WaitGroup
	for _, name := range []string{"ada", "bo", "cy", "dee"} {
		members = append(members, fmt.Sprintf(`{"name": %q, "model": "test/%[1]s", "tools": ["p:look"]}`, name))
		s := &spender{Model: b.model("test/" + name), together: &together}
		b.models.all["test/"+name] = s
		all = append(all, s)
		together.Add(1)
	}
	b.council(`{"enabled": true, "limits": {"money": 0.06}, "members": [` + strings.Join(members, ",") + `]}`)
	b.ask(t.Context(), b.says("test/main", "Alone."), "Go.", deliberation.How{}).end()
	run, _ := b.stored()
	for _, s := range all {
		if s.asked[0] == 0 || s.asked[0] > 1024 {
			t.Errorf("an answer could have %d tokens", s.asked[0])
		}
	}
	if spent := run.Spent("").Cost; spent < 4*1024*eachToken || spent > 0.06+eachToken {
		t.Errorf("they spent %g", spent)
	}
	for _, task := range run.Tasks {
		if task.State != council.Capped || task.Why != "There was nothing left for "+strings.Split(task.ID, "/")[1]+
			" under the council's cap." {
			t.Errorf("%s is %s: %s", task.ID, task.State, task.Why)
		}
	}
	if run.Early == nil || run.Early.By != council.Cap || !strings.HasPrefix(run.Early.Why, "The cap of $0.06 was ") {
		t.Errorf("it ended %+v", run.Early)
	}
}

func TestWhatATaskMayCostIsReservedWhereAModelIsAsked(t *testing.T) {
	b := newBench(t, func(o *deliberation.Options) { o.Price = dear })
	b.publish("p", echo{}, tool.Tool{Name: "plain", Description: "A tool.", Dialect: "functions"}, tool.Tool{
		Name: "planned", Description: "A tool.", Dialect: "functions",
		Parameters: []byte(`{"type":"object","properties":{"n":{"type":"string"}},"required":["n"]}`),
	})
	b.allow("p", "plain")
	b.council(`{"enabled": true, "mode": "tools", "limits": {"money": 2}, "helper": {"model": "test/help"}, "members": [
		{"name": "Ada", "tools": ["p:plain", "p:planned"]}, {"name": "Bo", "tools": ["p:plain"]},
		{"name": "Cy", "tools": ["voice_concern"]}]}`)
	help := b.says("test/help")
	b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{}).end()
	run, _ := b.stored()
	const want = "0/ada/p:plain done, 0/ada/p:planned capped, 0/bo/p:plain done, 0/cy/voice_concern capped"
	if states(run) != want || len(help.Requests()) != 0 {
		t.Errorf("the tasks are %s", states(run))
	}
	if r := run.Reserve; len(r) != 3 || r[council.ReserveOf("ada", "p:planned")] == 0 || r[""] == 0 ||
		r[council.ReserveOf("cy", "voice_concern")] == 0 {
		t.Errorf("reserved are %v", r)
	}
}

// What is kept of a run for lists has its answer, and the sum of its chat has it once.
func TestTheSumOfARunHasItsAnswerAndThatOfItsChatHasItOnce(t *testing.T) {
	b := newBench(t, func(o *deliberation.Options) { o.Price = dear })
	b.council(two)
	b.says("test/ada", "Ada.")
	b.says("test/bo", "Bo.")
	b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{}).end()
	run, header := b.stored()
	all := run.Spent("").Add(run.Answer.Usage)
	if got := header.Spent(); got != all || got.Output != 15 || header.Usage != run.Spent("") {
		t.Errorf("the run used %+v, and its header says %+v", all, got)
	}
	view, err := b.runner.View(t.Context(), run.Begin.Run, 0)
	if err != nil || view.Spent.Output != header.Spent().Output || view.Spent.Cost != header.Spent().Cost {
		t.Errorf("its view says %+v, %v", view.Spent, err)
	}
	c, err := b.store.Chats.Conversation(t.Context(), b.id)
	if err != nil || c.Spent == nil || c.Spent.Input != all.Input || c.Spent.Output != all.Output {
		t.Errorf("the chat says %+v, %v", c.Spent, err)
	}
}

func TestATaskThatUsesAllThatItsMemberMayEnds(t *testing.T) {
	b := newBench(t)
	b.tools("p", echo{}, "look")
	b.allow("p", "look")
	b.council(`{"enabled": true, "members": [
		{"name": "Ada", "model": "test/ada", "tools": ["p:look"], "limits": {"tokens": 2000}}]}`)
	calls := []modeltest.Step{modeltest.Call("1", "look", "{}"), modeltest.Used(900, 20)}
	ada := b.model("test/ada", calls, calls, calls, calls, calls, []modeltest.Step{modeltest.Say("So.")})
	b.ask(t.Context(), b.says("test/main", "Alone."), "Go.", deliberation.How{}).end()
	run, _ := b.stored()
	task := run.Tasks[0]
	if len(ada.Requests()) != 2 || task.State != council.Capped ||
		task.Why != "Ada has reached its limits for one run." ||
		task.End.Usage.Input != 1800 {
		t.Errorf("after %d requests it is %s: %s, %+v", len(ada.Requests()), task.State, task.Why, task.End.Usage)
	}
	if run.Early != nil {
		t.Errorf("at the limit of a member the run ended %+v", run.Early)
	}
	if first := ada.Requests()[0].MaxTokens; ada.Requests()[1].MaxTokens >= first-800 {
		t.Errorf("its answers could have %d and %d tokens", first, ada.Requests()[1].MaxTokens)
	}
}

func TestWhatWasUsedBeforeARunGoesOnCountsOnce(t *testing.T) {
	b := newBench(t)
	b.council(`{"enabled": true, "limits": {"tokens": 20000}, "members": [
		{"name": "Ada", "model": "test/ada", "context": {"policy": "summary"}}, {"name": "Bo", "model": "test/bo"}]}`)
	b.model("test/ada", []modeltest.Step{modeltest.Say("Ada."), modeltest.Used(11_000, 100)})
	b.model("test/bo", []modeltest.Step{modeltest.Say("I "), modeltest.Wait(never)})
	a := b.ask(t.Context(), b.says("test/main", "never"), "Go.", deliberation.How{})
	b.until(done("1/ada/answer"))
	b.until(at("1/bo/answer", council.Writing))
	b.runner.Close()
	<-a.over
	cut, _ := b.stored()
	b.says("test/bo", "Bo.")
	if _, err := b.again().Run(t.Context(), again(b, b.says("test/main", "So."), cut.Question),
		deliberation.How{Resume: cut.Begin.Run}, nil); err != nil {
		t.Fatal(err)
	}
	if run, _ := b.stored(); states(run) != "0//summary done, 1/ada/answer done, 1/bo/answer done" {
		t.Errorf("the tasks are %s", states(run))
	}
}

func TestACapOfTokensHoldsForAllMembers(t *testing.T) {
	b := newBench(t)
	b.council(three("relay", `, "limits": {"tokens": 4000}`))
	b.model("test/ada", []modeltest.Step{modeltest.Say("Ada."), modeltest.Used(3800, 190)})
	bo, cy := b.says("test/bo"), b.says("test/cy")
	b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{Asks: true}).end()
	run, _ := b.stored()
	if n := len(bo.Requests()) + len(cy.Requests()); n != 0 ||
		states(run) != "0/ada/answer done, 1/bo/answer capped, 2/cy/answer capped" {
		t.Errorf("after %d requests the tasks are %s", n, states(run))
	}
	const early = "The cap of 4000 tokens was reached, and the answer made with what there was. Raise it, or give the " +
		"members less to read, to have more done."
	if run.Early == nil || run.Early.Why != early {
		t.Errorf("it ended %+v", run.Early)
	}
}

func TestWhatIsLeftIsSharedByThoseThatStillWork(t *testing.T) {
	b := newBench(t)
	b.tools("p", echo{}, "look")
	b.allow("p", "look")
	b.council(`{"enabled": true, "limits": {"tokens": 9000}, "members": [{"name": "Ada", "model": "test/ada"},
		{"name": "Bo", "model": "test/bo"}, {"name": "Cy", "model": "test/cy", "tools": ["p:look"]}]}`)
	asked, alone := make(chan struct{}), make(chan struct{})
	b.model("test/ada", []modeltest.Step{modeltest.Wait(asked), modeltest.Say("Ada.")})
	b.model("test/bo", []modeltest.Step{modeltest.Wait(asked), modeltest.Say("Bo.")})
	cy := b.model(
		"test/cy",
		[]modeltest.Step{modeltest.Wait(alone), modeltest.Call("1", "look", "{}"), modeltest.Used(10, 5)},
		[]modeltest.Step{modeltest.Say("Cy."), modeltest.Used(10, 5)},
	)
	a := b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{})
	testkit.Until(t, "what Cy is asked", func() bool { return len(cy.Requests()) == 1 })
	close(asked)
	b.until(done("0/ada/answer"))
	b.until(done("0/bo/answer"))
	close(alone)
	a.end()
	if all := cy.Requests(); len(all) != 2 || all[0].MaxTokens > 4500 || all[1].MaxTokens < 6000 {
		t.Errorf("of %d requests the first could be answered with %d tokens, the last with %d", len(all),
			all[0].MaxTokens, all[len(all)-1].MaxTokens)
	}
}

func TestWhatIsCutOffCountsWithTheToolsItWasTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // what is cut off has some time to end, which passes for nobody who works
		b := newBench(t)
		b.publish("p", echo{}, tool.Tool{
			Name: "look", Description: strings.Repeat("It looks. ", 400), Dialect: "functions",
		})
		b.council(`{"enabled": true, "members": [
			{"name": "Ada", "model": "test/ada", "tools": ["p:look"]}, {"name": "Bo", "model": "test/bo"}]}`)
		b.model("test/ada", []modeltest.Step{modeltest.Say("I "), modeltest.Wait(make(chan struct{}))})
		b.says("test/bo", "Bo.")
		a := b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{})
		run := b.until(at("0/ada/answer", council.Writing)).Run.Begin.Run
		b.until(done("0/bo/answer"))
		if err := b.runner.Act(t.Context(), run, council.Skip, "ada", nil, ""); err != nil {
			t.Fatal(err)
		}
		a.end()
		if stored, _ := b.stored(); stored.Spent("ada").Input < 1000 {
			t.Errorf("it is taken to have used %+v", stored.Spent("ada"))
		}
		b.runner.Close()
	})
}

func TestAMemberThatOnlyThoughtSaysThatItsAnswerWasFull(t *testing.T) {
	b := newBench(t, func(o *deliberation.Options) { o.Price = outputs })
	b.council(`{"enabled": true, "limits": {"money": 1}, "members": [{"name": "Ada", "model": "test/ada"}]}`)
	b.model("test/ada", []modeltest.Step{
		modeltest.Think("Hm"), modeltest.Event(model.Event{Kind: model.End, Stop: model.StopLength}),
	})
	b.ask(t.Context(), b.says("test/main", "Alone."), "Go.", deliberation.How{}).end()
	run, _ := b.stored()
	if f := run.Tasks[0].End.Failure; f == nil || f.Message != "Ada ended without an answer: its model used up the "+
		"1024 tokens that it may write, thinking included." || !strings.Contains(f.Hint, "longer answer") {
		t.Errorf("the tasks are %s, %+v", states(run), f)
	}
}

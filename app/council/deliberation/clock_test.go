package deliberation_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/gate"
	"conclave/app/model"
	"conclave/app/model/modeltest"
	"conclave/app/tool"
)

// slowly allows all, once, after ten seconds.
type slowly struct{}

func (slowly) Ask(context.Context, gate.Request) (gate.Answer, error) {
	time.Sleep(10 * time.Second)
	return gate.Answer{Effect: gate.Allow, Scope: gate.Once}, nil
}

// newSlowBench is a bench on which a person lets members send, slowly.
func newSlowBench(t *testing.T) *bench {
	t.Helper()
	b := newBench(t)
	b.tools("p", echo{}, "send")
	b.unsure("p")
	b.asker = slowly{}
	return b
}

func TestTheTimeInWhichAPersonIsAskedIsNobodys(t *testing.T) {
	const member = `"members": [{"name": "Ada", "model": "test/ada", "tools": ["p:send"], "limits": {"seconds": 3}}]`
	for name, text := range map[string]string{
		"of a member that answers":   `{"enabled": true, ` + member + `}`,
		"of a member's tool":         `{"enabled": true, "mode": "tools", ` + member + `}`,
		"of a council that answers":  `{"enabled": true, "limits": {"seconds": 3}, ` + member + `}`,
		"of the council and a tool ": `{"enabled": true, "mode": "tools", "limits": {"seconds": 3}, ` + member + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newSlowBench(t)
				b.council(text)
				b.model("test/ada", []modeltest.Step{modeltest.Call("1", "send", "{}")}, []modeltest.Step{modeltest.Say("So.")})
				b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{}).end()
				run, _ := b.stored()
				if run.Tasks[0].State != council.Done || run.Early != nil {
					t.Errorf("the tasks are %s, %+v; it ended %+v", states(run), run.Tasks[0].End.Failure, run.Early)
				}
				view, err := b.runner.View(t.Context(), run.Begin.Run, 0)
				if err != nil || view.Lanes[0].Tasks[0].AskedMS != 10_000 {
					t.Errorf("the lane says that a person was asked for %d ms, %v", view.Lanes[0].Tasks[0].AskedMS, err)
				}
				b.runner.Close()
			})
		})
	}
}

// patient is a tool that a person is asked about while it runs, and that then never ends.
type patient struct{}

func (patient) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	c.Moved(c.Deadline.Add(10 * time.Minute))
	time.Sleep(10 * time.Second)
	c.Moved(c.Deadline.Add(10 * time.Second))
	<-ctx.Done()
	return tool.Result{Status: chat.CallCancelled}, nil
}

func TestTimeGoesOnOnceAPersonHasAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.tools("p", patient{}, "wait")
		b.allow("p", "wait")
		b.council(`{"enabled": true, "mode": "tools", "members": [
			{"name": "Ada", "tools": ["p:wait"], "limits": {"seconds": 3}}]}`)
		began := time.Now()
		b.ask(t.Context(), b.says("test/main", "Alone."), "Go.", deliberation.How{}).end()
		run, _ := b.stored()
		failure := run.Tasks[0].End.Failure
		if failure == nil || failure.Kind != "timeout" || failure.Message != "Ada took longer than its limit of 3 s." {
			t.Errorf("the tasks are %s, %+v", states(run), failure)
		}
		if took := time.Since(began); took < 13*time.Second || took > 14*time.Second {
			t.Errorf("it took %s", took)
		}
		b.runner.Close()
	})
}

func TestADeadlineIsSeenAndStandsStillWhileAPersonIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSlowBench(t)
		b.council(`{"enabled": true, "limits": {"seconds": 9}, "members": [
			{"name": "Ada", "model": "test/ada", "tools": ["p:send"], "limits": {"seconds": 3}}]}`)
		b.model("test/ada", []modeltest.Step{modeltest.Call("1", "send", "{}")},
			[]modeltest.Step{modeltest.Wait(make(chan struct{}))})
		a := b.ask(t.Context(), b.says("test/main", "Alone."), "Go.", deliberation.How{})
		run := b.until(at("0/ada/answer", council.Using)).Run.Begin.Run
		due := func() [2]int64 {
			synctest.Wait()
			view, err := b.runner.View(t.Context(), run, 0)
			if err != nil {
				t.Fatal(err)
			}
			return [2]int64{view.DueMS, view.Lanes[0].Tasks[0].DueMS}
		}
		if asked := due(); asked != [2]int64{} {
			t.Errorf("while a person is asked they end at %v", asked)
		}
		time.Sleep(11 * time.Second)
		if after := due(); after[0] != 19_000 || after[1] != 13_000 {
			t.Errorf("then they end at %v", after)
		}
		a.end()
		if over := due(); over != [2]int64{} {
			t.Errorf("once it is over they end at %v", over)
		}
		b.runner.Close()
	})
}

func TestTheTimeOfAQuestionIsNobodysAfterTheProgramWasClosedToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSlowBench(t)
		b.council(`{"enabled": true, "mode": "review", "members": [
			{"name": "Ada", "model": "test/ada", "tools": ["p:send"], "limits": {"seconds": 3}},
			{"name": "Bo", "model": "test/bo"}]}`)
		b.model("test/ada", []modeltest.Step{modeltest.Call("1", "send", "{}")}, []modeltest.Step{modeltest.Say("So.")},
			[]modeltest.Step{modeltest.Say("Fine.")})
		b.model("test/bo", []modeltest.Step{modeltest.Wait(make(chan struct{}))})
		a := b.ask(t.Context(), b.says("test/main", "never"), "Go.", deliberation.How{})
		b.until(done("0/ada/answer"))
		b.runner.Close()
		<-a.over
		cut, _ := b.stored()
		b.says("test/bo", "So.", "Fine.")
		main, later := b.says("test/main", "So."), b.again()
		_, err := later.Run(t.Context(), again(b, main, cut.Question), deliberation.How{Resume: cut.Begin.Run}, nil)
		if err != nil {
			t.Fatal(err)
		}
		run, _ := b.stored()
		if got := states(run); got != "0/ada/answer done, 0/bo/answer done, 1/ada/review done, 1/bo/review done" ||
			run.Tasks[0].Asked != 10*time.Second {
			t.Errorf("the tasks are %s, and a person was asked for %s", got, run.Tasks[0].Asked)
		}
		later.Close()
	})
}

func TestWhatFailedIsDoneAgainWhateverTimeTheQuestionTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.council(`{"enabled": true, "limits": {"seconds": 3}, "members": [
			{"name": "Ada", "model": "test/ada", "limits": {"seconds": 1}}, {"name": "Bo", "model": "test/bo"}]}`)
		b.model("test/ada", []modeltest.Step{modeltest.Wait(make(chan struct{}))}, []modeltest.Step{modeltest.Say("So.")})
		b.model("test/bo", []modeltest.Step{modeltest.Fail(errors.New("no"))}, []modeltest.Step{modeltest.Say("So.")})
		a := b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{Asks: true})
		run := b.until(state(council.Asking)).Run.Begin.Run
		time.Sleep(5 * time.Second)
		if err := b.runner.Act(t.Context(), run, council.Retry, "", nil, ""); err != nil {
			t.Fatal(err)
		}
		a.end()
		if r, _ := b.stored(); states(r) != "0/ada/answer done, 0/bo/answer done" || r.Early != nil {
			t.Errorf("the tasks are %s; it ended %+v", states(r), r.Early)
		}
		b.runner.Close()
	})
}

// steps is tools that do as their names say: "hang" never ends, "work" takes two seconds, "fail" fails
// at once and then takes half a second. It is called in bubbles, where that costs no time.
type steps struct{ fail flaky }

func (s *steps) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	switch c.Tool.Name {
	case "work":
		time.Sleep(2 * time.Second)
	case "fail":
		r, err := s.fail.Call(ctx, c)
		if r.Status == chat.CallOK {
			time.Sleep(500 * time.Millisecond)
		}
		return r, err
	default:
		<-ctx.Done()
		return tool.Result{Status: chat.CallCancelled}, nil
	}
	return tool.Result{Status: chat.CallOK}, nil
}

func TestToolsThatFailTakeTheirMembersTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(o *deliberation.Options) { o.Price = outputs })
		b.tools("p", &steps{}, "hang", "hang_too", "hang_again")
		for _, name := range []string{"hang", "hang_too", "hang_again"} {
			b.allow("p", name)
		}
		// Of the cap there is room for one task at a time, and for the answer.
		b.council(`{"enabled": true, "mode": "tools", "limits": {"money": 0.04}, "toolsSettings": {"timeoutMs": 2000},
			"members": [{"name": "Ada", "model": "test/ada", "tools": ["p:hang", "p:hang_too", "p:hang_again"],
			"limits": {"seconds": 3}}]}`)
		b.model("test/ada")
		began := time.Now()
		b.ask(t.Context(), b.says("test/main", "Alone."), "Go.", deliberation.How{}).end()
		if took := time.Since(began); took < 3*time.Second || took > 3500*time.Millisecond {
			t.Errorf("it took %s", took)
		}
		run, _ := b.stored()
		for _, task := range run.Tasks[1:] {
			if f := task.End.Failure; f == nil || f.Message != "Ada took longer than its limit of 3 s." {
				t.Errorf("%s is %s, %+v", task.ID, task.State, f)
			}
		}
		b.runner.Close()
	})
}

func TestToolsThatRunAtOnceTakeTheirMembersTimeOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		for _, plugin := range []string{"p", "q"} { // calls of one plugin wait for one another
			b.tools(plugin, &steps{}, "work", "fail")
			b.allow(plugin, "work")
			b.allow(plugin, "fail")
		}
		b.council(`{"enabled": true, "mode": "tools", "members": [
			{"name": "Ada", "tools": ["p:work", "q:work", "p:fail"], "limits": {"seconds": 3}}]}`)
		a := b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{Asks: true})
		run := b.until(state(council.Asking)).Run.Begin.Run
		if err := b.runner.Act(t.Context(), run, council.Retry, "", nil, ""); err != nil {
			t.Fatal(err)
		}
		a.end()
		if r, _ := b.stored(); states(r) != "0/ada/p:work done, 0/ada/q:work done, 0/ada/p:fail done" {
			t.Errorf("the tasks are %s, %+v", states(r), r.Tasks[2].End.Failure)
		}
		b.runner.Close()
	})
}

// dawdler is a model that says nothing until its time is over, and then looks when that was.
type dawdler struct {
	model.Model
	bounded chan bool
}

func (d dawdler) Stream(ctx context.Context, _ model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		<-ctx.Done()
		_, bounded := ctx.Deadline()
		d.bounded <- bounded
		yield(model.Event{}, context.Cause(ctx))
	}
}

func TestADeadlineStandsOnceItIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.council(`{"enabled": true, "members": [{"name": "Ada", "model": "test/ada", "limits": {"seconds": 1}}]}`)
		ada := dawdler{b.model("test/ada"), make(chan bool, 1)}
		b.models.all["test/ada"] = ada
		b.ask(t.Context(), b.says("test/main", "Alone."), "Go.", deliberation.How{}).end()
		if !<-ada.bounded {
			t.Error("it had none any more")
		}
		run, _ := b.stored()
		failure := run.Tasks[0].End.Failure
		if failure == nil || failure.Message != "Ada took longer than its limit of 1 s." {
			t.Errorf("the tasks are %s, %+v", states(run), failure)
		}
		b.runner.Close()
	})
}

func TestTheTimeOfARunBeginsWithItAndNotWithWhatIsReadBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, func(o *deliberation.Options) {
			o.Background = func(context.Context, chat.ConversationID, []chat.Message) ([]council.Background, error) {
				time.Sleep(400 * time.Millisecond)
				return nil, nil
			}
		})
		b.council(`{"enabled": true, "limits": {"seconds": 2}, "members": [{"name": "Ada", "model": "test/ada"}]}`)
		b.model("test/ada", []modeltest.Step{modeltest.Wait(make(chan struct{}))})
		b.ask(t.Context(), b.says("test/main", "Alone."), "Go.", deliberation.How{}).end()
		run, _ := b.stored()
		kept, err := b.store.Councils.Steps(t.Context(), run.Begin.Run)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range kept {
			if took := run.After(s.At); s.Act == council.Finish && took != 2*time.Second {
				t.Errorf("the limit of 2 s was met after %s", took)
			}
		}
		if run.Early == nil || run.Early.Why != "The council's time is over." {
			t.Errorf("it ended %+v", run.Early)
		}
		b.runner.Close()
	})
}

func TestToolsOfOneNameAreToldApartInATimeline(t *testing.T) {
	run := council.Run{Begin: council.Begin{Council: council.Council{Members: []council.Member{
		{ID: "ada", Name: "Ada", Tools: []string{"p:fail", "p:own"}}, {ID: "bo", Name: "Bo", Tools: []string{"q:fail"}},
	}}}}
	for tool, want := range map[string]string{"p:fail": "uses p:fail", "q:fail": "uses q:fail", "p:own": "uses own"} {
		run.Tasks = []council.Task{{ID: "1", Kind: council.UseTool, Member: "ada", Tool: tool}}
		var teller deliberation.Reporter
		lines := teller.Report(deliberation.Event{Run: run, Step: &council.Step{Kind: council.Starts, Task: "1"}})
		if len(lines) == 0 || lines[0].Words() != want {
			t.Errorf("%s: %+v", tool, lines)
		}
	}
}

// fading is models of which one cannot be opened any more once it was asked often enough.
type fading struct {
	*models
	name string
	most int
}

func (f *fading) Open(ctx context.Context, name string) (model.Model, error) {
	model, err := f.models.Open(ctx, name)
	if asked, ok := model.(*modeltest.Model); ok && name == f.name && len(asked.Requests()) >= f.most {
		return nil, fault.New(fault.NotFound, "models.open", "There is no model "+name+".", "Choose another.")
	}
	return model, err
}

func TestABallotWhoseModelIsGoneFails(t *testing.T) {
	b := newBench(t, func(o *deliberation.Options) {
		o.Models = &fading{o.Models.(*models), "test/cy", 2} //nolint:forcetypeassert // the bench's
	})
	b.council(three("vote", `, "choices": ["yes", "no"]`))
	ballot := "```council\n{\"choice\": \"no\"}\n```"
	b.says("test/ada", "A.", ballot)
	b.says("test/bo", "B.", ballot)
	b.says("test/cy", "C.", "Yes!")
	b.ask(t.Context(), b.says("test/main", "So."), "Which?", deliberation.How{}).end()
	run, _ := b.stored()
	cy := run.Tasks[len(run.Tasks)-1]
	if cy.State != council.Failed || cy.End.Failure.Message != "There is no model test/cy." || len(cy.End.Requests) != 1 {
		t.Fatalf("Cy's ballot is %s, %+v", cy.State, cy.End)
	}
	if _, err := b.runner.Texts(t.Context(), run.Begin.Run)(cy.End.Requests[0].Body); err != nil {
		t.Errorf("what it was sent: %v", err)
	}
}

// bug is a model with one: it says what it says, and is asked once too often.
type bug struct{ *modeltest.Model }

func (b bug) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	if len(b.Requests()) > 0 {
		panic("a bug")
	}
	return b.Model.Stream(ctx, r)
}

// thisOnce is a person who allows all for this answer.
type thisOnce struct{}

func (thisOnce) Ask(context.Context, gate.Request) (gate.Answer, error) {
	return gate.Answer{Effect: gate.Allow, Scope: gate.ThisAnswer}, nil
}

func TestABugEndsOneTaskAlone(t *testing.T) {
	b := newBench(t)
	b.tools("p", echo{}, "send")
	b.unsure("p")
	b.asker = thisOnce{}
	b.council(`{"enabled": true, "members": [
		{"name": "Ada", "model": "test/ada", "tools": ["p:send"]}, {"name": "Bo", "model": "test/bo"}]}`)
	b.models.all["test/ada"] = bug{b.model("test/ada", []modeltest.Step{modeltest.Call("1", "send", "{}")})}
	b.says("test/bo", "So.")
	b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{}).end()
	run, _ := b.stored()
	failure := run.Tasks[0].End.Failure
	if states(run) != "0/ada/answer failed, 0/bo/answer done" || failure.Kind != string(fault.Internal) ||
		!strings.HasPrefix(failure.Message, "Ada could not go on") {
		t.Errorf("the tasks are %s, %+v", states(run), failure)
	}
	if rules, err := b.gate.Rules.List(t.Context()); err != nil || len(rules) != 0 {
		t.Errorf("what was allowed for the answer still is: %+v, %v", rules, err)
	}
}

package deliberation_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/gate"
	"conclave/app/model/modeltest"
	"conclave/app/tool"
)

// deaf is a tool that never answers, whatever happens, until the test is over.
type deaf struct{ over <-chan struct{} }

func (d deaf) Call(context.Context, tool.Call) (tool.Result, error) {
	<-d.over
	return tool.Result{}, errors.New("over")
}

// never is not closed.
var never = make(chan struct{})

// held is a person who does not answer.
type held struct{}

func (held) Ask(ctx context.Context, _ gate.Request) (gate.Answer, error) {
	<-ctx.Done()
	return gate.Answer{}, ctx.Err()
}

// at matches the event of a task that is in a phase.
func at(task string, phase council.Phase) func(deliberation.Event) bool {
	return func(e deliberation.Event) bool { return e.Task == task && e.Live != nil && e.Live.Phase == phase }
}

// done matches a step after which a task is done: an attempt that was given up ends too.
func done(task string) func(deliberation.Event) bool {
	return func(e deliberation.Event) bool {
		return e.Step != nil && slices.ContainsFunc(e.Run.Tasks,
			func(t council.Task) bool { return t.ID == task && t.State == council.Done })
	}
}

// state matches a step after which the run is in a state.
func state(s council.RunState) func(deliberation.Event) bool {
	return func(e deliberation.Event) bool { return e.Step != nil && e.Run.State == s }
}

func TestSP56StopEndsARunWithinHalfASecondWhateverIsUnderWay(t *testing.T) {
	for name, set := range map[string]func(b *bench) (string, func(deliberation.Event) bool){
		"a tool that never answers": func(b *bench) (string, func(deliberation.Event) bool) {
			b.tools("p", deaf{b.t.Context().Done()}, "wait")
			b.allow("p", "wait")
			return `{"enabled": true, "mode": "tools", "members": [{"name": "Ada", "tools": ["p:wait"]}]}`,
				func(e deliberation.Event) bool {
					return e.Live != nil && e.Live.Call != nil && e.Live.Call.Status == chat.CallRunning
				}
		},
		"a request to a model": func(b *bench) (string, func(deliberation.Event) bool) {
			b.model("test/ada", []modeltest.Step{modeltest.Say("I "), modeltest.Wait(make(chan struct{}))})
			b.says("test/bo", "Done.")
			return two, at("0/ada/answer", council.Writing)
		},
		"a permission that is asked for": func(b *bench) (string, func(deliberation.Event) bool) {
			b.tools("p", echo{}, "send")
			b.unsure("p")
			b.asker = held{}
			b.model("test/ada", []modeltest.Step{modeltest.Call("1", "send", "{}")})
			return `{"enabled": true, "members": [{"name": "Ada", "model": "test/ada", "tools": ["p:send"]}]}`,
				at("0/ada/answer", council.Using)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t)
				text, under := set(b)
				b.council(text)
				main := b.says("test/main", "never")
				a := b.ask(t.Context(), main, "Go.", deliberation.How{})
				b.until(under)
				began := time.Now()
				b.owner.Stop(shortly(t), b.id, fault.New(fault.Canceled, "test", "You stopped it.", ""))
				<-a.over
				if took := time.Since(began); took > 500*time.Millisecond {
					t.Errorf("it took %v", took)
				}
				if a.out.Reason != chat.EndStopped || len(main.Requests()) != 0 {
					t.Errorf("the answer ended %+v after %d requests", a.out, len(main.Requests()))
				}
				b.stopped()
				b.runner.Close()
			})
		})
	}
}

// stopped fails the test unless the run that is kept is over, since a person stopped it.
func (b *bench) stopped() {
	b.t.Helper()
	run, header := b.stored()
	if run.State != council.Over || header.State != council.Over || run.Early == nil || run.Early.By != council.Person {
		b.t.Errorf("the run is %s, %+v", run.State, run.Early)
	}
	for _, task := range run.Tasks {
		if task.State != council.Stopped && task.State != council.Done {
			b.t.Errorf("%s is %s", task.ID, task.State)
		}
	}
}

// shortly ends when nobody waits any longer for a tool that never answers.
func shortly(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 450*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

// unsure has nobody know what the tools of a plugin touch, so that a person is asked.
func (b *bench) unsure(plugin string) {
	b.t.Helper()
	version := gate.PluginVersion{
		Plugin: plugin, Name: plugin, Dialect: "functions", Isolation: "process", Code: "c", Listed: true,
	}
	for _, t := range b.registry.Set().Tools() {
		if t.Plugin == plugin {
			version.Tools = append(version.Tools, t)
		}
	}
	b.gate.Approvals.Status(version)
	rules, err := b.gate.Rules.List(b.t.Context())
	for _, rule := range rules {
		if rule.Plugin == plugin {
			_, failed := b.gate.Rules.Revoke(b.t.Context(), rule.ID)
			err = errors.Join(err, failed)
		}
	}
	if err != nil {
		b.t.Fatal(err)
	}
	if err := b.gate.Approvals.Approve(b.t.Context(), version, gate.ApproveOptions{}); err != nil {
		b.t.Fatal(err)
	}
}

func TestStopFromThePanelEndsTheAnswerToo(t *testing.T) {
	b := newBench(t)
	b.council(two)
	b.model("test/ada", []modeltest.Step{modeltest.Say("I "), modeltest.Wait(never)})
	b.says("test/bo", "Done.")
	main := b.says("test/main", "never")
	a := b.ask(t.Context(), main, "Go.", deliberation.How{})
	run := b.until(at("0/ada/answer", council.Writing)).Run.Begin.Run
	if err := b.runner.Act(t.Context(), run, council.Stop, "", nil, ""); err != nil {
		t.Fatal(err)
	}
	if <-a.over; a.out.Reason != chat.EndStopped || len(main.Requests()) != 0 {
		t.Errorf("the answer ended %+v", a.out)
	}
	if err := b.runner.Act(t.Context(), run, council.Finish, "", nil, ""); fault.KindOf(err) != fault.Conflict {
		t.Errorf("an act that comes too late: %v", err)
	}
	if err := b.runner.Act(t.Context(), "none", council.Finish, "", nil, ""); fault.KindOf(err) != fault.NotFound {
		t.Errorf("an act on no run: %v", err)
	}
}

func TestActsAtAnyMoment(t *testing.T) {
	b := newBench(t)
	b.council(three("opinions", ""))
	goes := make(chan struct{})
	ada := b.model("test/ada", []modeltest.Step{modeltest.Say("I "), modeltest.Wait(never)},
		[]modeltest.Step{modeltest.Say("I saw the NUDGED.")})
	b.model("test/bo", []modeltest.Step{modeltest.Say("I "), modeltest.Wait(never)})
	b.model("test/cy", []modeltest.Step{modeltest.Say("I "), modeltest.Wait(goes), modeltest.Say("end.")})
	main := b.says("test/main", "So.")
	a := b.ask(t.Context(), main, "Go.", deliberation.How{})
	run := b.until(at("0/ada/answer", council.Writing)).Run.Begin.Run
	b.until(at("0/bo/answer", council.Writing))
	b.until(at("0/cy/answer", council.Writing))
	act := func(what council.Act, member, text string) {
		t.Helper()
		if err := b.runner.Act(t.Context(), run, what, member, nil, text); err != nil {
			t.Fatal(err)
		}
	}
	act(council.Nudge, "ada", "Look at the SKY.")
	act(council.Skip, "bo", "")
	b.until(done("0/ada/answer"))
	act(council.Finish, "", "Enough.")
	close(goes)
	a.end()
	r, _ := b.stored()
	if got := states(r); got != "0/ada/answer done, 0/bo/answer skipped, 0/cy/answer stopped" &&
		got != "0/ada/answer done, 0/bo/answer skipped, 0/cy/answer done" {
		t.Errorf("the tasks are %s", got)
	}
	if s := toldIn(ada.Requests()[1]); !strings.Contains(s, "Look at the SKY.") {
		t.Errorf("nudged, it was told %s", s)
	}
	if s := toldIn(main.Requests()[0]); !strings.Contains(s, "NUDGED") {
		t.Errorf("the main model was told %s", s)
	}
}

func TestSP57MembersAndToolsRunAtOnceAndTheNotesKeepTheirOrder(t *testing.T) {
	for _, first := range []int{0, 3} {
		b := newBench(t)
		gate := &together{all: 4, first: first, came: map[string]chan struct{}{}}
		for _, p := range []string{"p", "q", "r", "s"} {
			b.tools(p, gate, "look")
			b.allow(p, "look")
			gate.came[p] = make(chan struct{})
			gate.order = append(gate.order, p)
		}
		b.council(`{"enabled": true, "mode": "tools", "members": [{"name": "A", "tools": ["p:look"]},
			{"name": "B", "tools": ["q:look"]}, {"name": "C", "tools": ["r:look"]}, {"name": "D", "tools": ["s:look"]}]}`)
		main := b.says("test/main", "So.")
		b.ask(t.Context(), main, "Go.", deliberation.How{}).end()
		run, _ := b.stored()
		if states(run) != "0/a/p:look done, 0/b/q:look done, 0/c/r:look done, 0/d/s:look done" {
			t.Fatalf("the tasks are %s", states(run))
		}
		s, last := toldIn(main.Requests()[0]), -1
		for _, p := range gate.order {
			i := strings.Index(s, "seen by "+p)
			if i <= last {
				t.Errorf("finished from %d on, the notes are %s", first, s)
			}
			last = i
		}
	}
}

func TestAMembersTimeAndTheCouncilsTimeEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.council(`{"enabled": true, "limits": {"seconds": 3}, "members": [
			{"name": "Ada", "model": "test/ada", "limits": {"seconds": 1}}, {"name": "Bo", "model": "test/bo"}]}`)
		for _, model := range []string{"test/ada", "test/bo"} {
			b.model(model, []modeltest.Step{modeltest.Say("I "), modeltest.Wait(make(chan struct{}))})
		}
		b.ask(t.Context(), b.says("test/main", "Alone."), "Go.", deliberation.How{}).end()
		run, _ := b.stored()
		ada, bo := run.Tasks[0], run.Tasks[1]
		if ada.State != council.Failed || ada.End.Failure.Kind != "timeout" ||
			ada.End.Failure.Message != "Ada took longer than its limit of 1 s." {
			t.Errorf("Ada is %s, %+v", ada.State, ada.End.Failure)
		}
		if bo.State != council.Stopped || run.Early == nil || run.Early.By != council.Deadline {
			t.Errorf("Bo is %s, and the run ended %+v", bo.State, run.Early)
		}
		b.runner.Close()
	})
}

func TestAfterTenMinutesWhatFailedIsLeftAsItIs(t *testing.T) {
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	late := make(chan struct{})
	b := newBench(t, func(o *deliberation.Options) {
		o.Now = func() time.Time {
			select {
			case <-late:
				return now.Add(10*time.Minute + time.Second)
			default:
				return now
			}
		}
	})
	b.council(two)
	b.model("test/ada", []modeltest.Step{modeltest.Fail(errors.New("no"))})
	b.model("test/bo", []modeltest.Step{modeltest.Fail(errors.New("no"))})
	main := b.says("test/main", "Alone.")
	a := b.ask(t.Context(), main, "Go.", deliberation.How{Asks: true})
	run := b.until(state(council.Asking)).Run.Begin.Run
	close(late)
	if err := b.runner.Rate(t.Context(), run, "ada", 1, true); err != nil { // anything that happens
		t.Fatal(err)
	}
	a.end()
	r, _ := b.stored()
	found := false
	for _, e := range b.events {
		found = found || e.Step != nil && e.Step.Act == council.GoOn && e.Step.By == council.Deadline
	}
	if r.State != council.Over || !found {
		t.Errorf("the run is %s", r.State)
	}
}

func TestSP53WhatFailedIsDoneAgainAlone(t *testing.T) {
	b := newBench(t)
	flaky := &flaky{}
	b.tools("p", flaky, "look")
	b.tools("q", echo{}, "look")
	b.allow("p", "look")
	b.allow("q", "look")
	b.council(`{"enabled": true, "mode": "tools", "members": [{"name": "A", "tools": ["p:look"]}, {"name": "B", "tools": ["q:look"]}]}`)
	main := b.says("test/main", "So.")
	a := b.ask(t.Context(), main, "Go.", deliberation.How{Asks: true})
	run := b.until(state(council.Asking)).Run.Begin.Run
	if err := b.runner.Act(t.Context(), run, council.Retry, "", []string{"0/a/p:look"}, ""); err != nil {
		t.Fatal(err)
	}
	a.end()
	r, _ := b.stored()
	if states(r) != "0/a/p:look done, 0/b/q:look done" || r.Tasks[0].Attempt != 2 || r.Tasks[1].Attempt != 1 {
		t.Errorf("the tasks are %s", states(r))
	}
	if s := toldIn(main.Requests()[0]); strings.Count(s, "at last") != 1 {
		t.Errorf("the main model was told %s", s)
	}
}

// cut asks, closes the program once Ada and Cy have answered, in the midst of what Bo answers,
// and returns the run as it is left.
func (b *bench) cut() council.Run {
	b.t.Helper()
	a := b.ask(b.t.Context(), b.says("test/main", "never"), "Go.", deliberation.How{})
	b.until(done("0/ada/answer"))
	b.until(done("0/cy/answer"))
	b.until(at("0/bo/answer", council.Writing))
	b.runner.Close()
	<-a.over
	run, header := b.stored()
	if header.State != council.Running || run.State != council.Running {
		b.t.Fatalf("it was left %s", run.State)
	}
	return run
}

func TestARunGoesOnAfterTheProgramWasClosed(t *testing.T) {
	var closed atomic.Int64 // how long
	b := newBench(t, func(o *deliberation.Options) {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(closed.Load())) }
	})
	b.council(three("review", ""))
	b.says("test/ada", "Ada FIRST.", "Ada reviews.")
	b.model("test/bo", []modeltest.Step{modeltest.Say("I "), modeltest.Wait(never)})
	b.says("test/cy", "Cy FIRST.", "Cy reviews.")
	cut := b.cut()
	closed.Store(int64(72 * time.Hour))
	again := b.again()
	bo := b.says("test/bo", "Bo SECOND.", "Bo reviews.")
	main := b.says("test/main", "So.")
	out, err := again.Run(t.Context(), turn.Request{Conversation: b.id, Parent: &cut.Question, Model: main},
		deliberation.How{Resume: cut.Begin.Run, OnEvent: b.hear}, nil)
	if err != nil || out.Reason != chat.EndDone {
		t.Fatalf("it went on to %+v, %v", out, err)
	}
	r, header := b.stored()
	if r.Begin.Run != cut.Begin.Run || r.State != council.Over || header.Turn != out.Turn || len(bo.Requests()) != 2 {
		t.Errorf("the run is %s in turn %s of %s", states(r), header.Turn, out.Turn)
	}
	if s := toldIn(main.Requests()[0]); !strings.Contains(s, "Ada FIRST.") || !strings.Contains(s, "Bo SECOND.") {
		t.Errorf("the main model was told %s", s)
	}
	for _, task := range r.Tasks {
		if task.State != council.Done {
			t.Errorf("%s is %s", task.ID, task.State)
		}
	}
	for _, e := range b.heardSoFar() {
		if e.MS > time.Hour.Milliseconds() {
			t.Errorf("after %d ms there was %+v, %+v", e.MS, e.Step, e.Live)
		}
	}
	if _, err := again.Run(t.Context(), turn.Request{Conversation: b.id, Parent: &cut.Question, Model: main},
		deliberation.How{Resume: cut.Begin.Run}, nil); fault.KindOf(err) != fault.Conflict {
		t.Errorf("to go on twice: %v", err)
	}
}

// looking is a log of runs that has the test look around whenever a run is read.
type looking struct {
	council.Log
	look func()
}

func (l *looking) Steps(ctx context.Context, id council.RunID) ([]council.Step, error) {
	l.look()
	return l.Log.Steps(ctx, id)
}

func TestARunIsShownWhileItBeginsToGoOn(t *testing.T) {
	log := &looking{look: func() {}}
	b := newBench(t, func(o *deliberation.Options) { log.Log, o.Log = o.Log, log })
	b.council(three("review", ""))
	b.says("test/ada", "Ada FIRST.", "Ada reviews.")
	b.model("test/bo", []modeltest.Step{modeltest.Say("I "), modeltest.Wait(never)})
	b.says("test/cy", "Cy FIRST.", "Cy reviews.")
	cut := b.cut()
	after := b.again()
	left, err := after.View(t.Context(), cut.Begin.Run, 0)
	if err != nil {
		t.Fatal(err)
	}
	looked, waits := false, false
	log.look = func() {
		if !after.Live(cut.Begin.Run) {
			return
		}
		looked = true
		headers, err := after.Runs(t.Context(), b.id)
		if err != nil || len(headers) != 1 || headers[0].Run != cut.Begin.Run {
			t.Errorf("the runs of the chat are %+v, %v", headers, err)
		}
		view, err := after.View(t.Context(), cut.Begin.Run, 0)
		if err != nil || !view.Live || view.Run != string(cut.Begin.Run) || len(view.Lanes) != 4 {
			t.Errorf("it is shown as %+v, %v", view, err)
		}
	}
	b.says("test/bo", "Bo FIRST.", "Bo reviews.")
	_, err = after.Run(t.Context(), again(b, b.says("test/main", "So."), cut.Question), deliberation.How{
		Resume: cut.Begin.Run,
		OnEvent: func(e deliberation.Event) {
			if e.Step == nil || e.Step.Kind != council.Resumes {
				return
			}
			view, err := after.View(t.Context(), cut.Begin.Run, left.Revision)
			if err != nil {
				t.Error(err)
			}
			for _, lane := range view.Lanes {
				waits = waits || lane.Member == "bo" && lane.Tasks[0].State == council.Waiting
			}
		},
	}, nil)
	if err != nil || !looked || !waits {
		t.Errorf("it was looked at: %v; who watched it saw that Bo begins anew: %v; %v", looked, waits, err)
	}
}

func TestARunThatWasCutOffIsAnsweredWithWhatThereIs(t *testing.T) {
	b := newBench(t)
	b.council(three("review", ""))
	ada := b.says("test/ada", "Ada FIRST.", "Ada reviews.")
	bo := b.model("test/bo", []modeltest.Step{modeltest.Say("I "), modeltest.Wait(never)})
	b.says("test/cy", "Cy FIRST.", "Cy reviews.")
	cut := b.cut()
	main := b.says("test/main", "So.")
	out, err := b.again().Run(t.Context(), turn.Request{Conversation: b.id, Parent: &cut.Question, Model: main},
		deliberation.How{Resume: cut.Begin.Run, Finish: true}, nil)
	if err != nil || out.Reason != chat.EndDone {
		t.Fatalf("it went on to %+v, %v", out, err)
	}
	r, _ := b.stored()
	if r.State != council.Over || r.Early == nil || r.Early.By != council.Person || r.Early.Why != council.Finish.Why() ||
		len(ada.Requests()) != 1 || len(bo.Requests()) != 1 {
		t.Errorf("the run is %s, %s, ended %+v", r.State, states(r), r.Early)
	}
	if s := toldIn(main.Requests()[0]); !strings.Contains(s, "Ada FIRST.") || !strings.Contains(s, "Cy FIRST.") {
		t.Errorf("the main model was told %s", s)
	}
}

func TestARunThatWasCutOffIsLeftAsItIs(t *testing.T) {
	b := newBench(t)
	b.council(three("review", ""))
	b.says("test/ada", "Ada FIRST.")
	b.model("test/bo", []modeltest.Step{modeltest.Say("I "), modeltest.Wait(never)})
	b.says("test/cy", "Cy FIRST.")
	cut := b.cut()
	b.options.Now = func() time.Time { return time.Now().Add(time.Hour) }
	after := b.again()
	changed := b.bus.Revision(bus.Councils, string(b.id))
	if err := after.Act(t.Context(), cut.Begin.Run, council.Stop, "", nil, council.Stop.Why()); err != nil {
		t.Fatal(err)
	}
	b.stopped()
	run, header := b.stored()
	if header.MS >= time.Hour.Milliseconds() || header.MS != run.After(run.Ended).Milliseconds() {
		t.Errorf("it took %d ms", header.MS)
	}
	if b.bus.Revision(bus.Councils, string(b.id)) == changed {
		t.Error("nobody is told")
	}
	main := b.says("test/main", "never")
	for name, err := range map[string]error{
		"to leave it twice": after.Act(t.Context(), cut.Begin.Run, council.Stop, "", nil, ""),
		"to go on": func() error {
			_, err := after.Run(t.Context(), again(b, main, cut.Question), deliberation.How{Resume: cut.Begin.Run}, nil)
			return err
		}(),
	} {
		if fault.KindOf(err) != fault.Conflict {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestARunIsMadeAgainWithOneChange(t *testing.T) {
	b := newBench(t)
	b.council(three("review", ""))
	ada, cy := b.says("test/ada", "Ada.", "R.", "R2."), b.says("test/cy", "Cy.", "R.", "R2.")
	b.says("test/bo", "Bo.", "R.")
	b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{}).end()
	before, _ := b.stored()
	other := b.says("test/other", "Bo OTHERWISE.", "R2.")
	main := b.says("test/main", "Otherwise.")
	if _, err := b.runner.Run(t.Context(), turn.Request{Conversation: b.id, Parent: &before.Question, Model: main},
		deliberation.How{Again: before.Begin.Run, Change: deliberation.Change{Member: "bo", Model: new("test/other")}},
		nil); err != nil {
		t.Fatal(err)
	}
	r, _ := b.stored()
	if r.Again != before.Begin.Run || r.Change != "Bo spoke through test/other." || r.Seed != before.Seed {
		t.Errorf("it is %+v", r.Begin)
	}
	if len(ada.Requests()) != 3 || len(cy.Requests()) != 3 || len(other.Requests()) != 2 {
		t.Errorf("asked were %d, %d and %d times", len(ada.Requests()), len(cy.Requests()), len(other.Requests()))
	}
	if r.Tasks[0].End.Usage != (chat.Usage{}) || r.Tasks[0].End.Text != before.Tasks[0].End.Text {
		t.Errorf("what was taken over is %+v", r.Tasks[0].End)
	}
	for _, h := range []council.Hash{
		r.Tasks[0].End.Text, r.Tasks[0].End.Requests[0].Body, r.Tasks[0].End.Requests[0].Given,
	} {
		if text, err := b.store.Councils.Text(t.Context(), r.Begin.Run, h); err != nil || len(text) == 0 {
			t.Errorf("the run does not have the text %s: %v", h, err)
		}
	}
	if s := toldIn(main.Requests()[0]); !strings.Contains(s, "OTHERWISE") || !strings.Contains(s, "Ada.") {
		t.Errorf("the main model was told %s", s)
	}
}

func TestARunIsMadeAgainByEverybody(t *testing.T) {
	b := newBench(t)
	b.council(three("opinions", ""))
	all := []*modeltest.Model{
		b.says("test/ada", "Ada.", "Ada 2."), b.says("test/bo", "Bo.", "Bo 2."), b.says("test/cy", "Cy.", "Cy 2."),
	}
	b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{}).end()
	before, _ := b.stored()
	if _, err := b.runner.Run(t.Context(), again(b, b.says("test/main", "So."), before.Question),
		deliberation.How{Again: before.Begin.Run}, nil); err != nil {
		t.Fatal(err)
	}
	r, _ := b.stored()
	if r.Again != before.Begin.Run || r.Change != "Everybody did their work again." || len(r.Kept) != 0 {
		t.Errorf("it is %+v", r.Begin)
	}
	for _, model := range all {
		if len(model.Requests()) != 2 {
			t.Errorf("%s was asked %d times", model.Info().ID, len(model.Requests()))
		}
	}
}

package deliberation_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/gate"
	"conclave/app/model"
	"conclave/app/model/modeltest"
	"conclave/app/tool"
)

// Bad input: each has a sentence, and a way on.

func TestWhereEveryMemberFailsTheAnswerIsMadeWithoutTheCouncil(t *testing.T) {
	now := time.Now()
	b := newBench(t, func(o *deliberation.Options) {
		var mu sync.Mutex
		o.Now = func() time.Time { // each look at the clock takes a second
			mu.Lock()
			defer mu.Unlock()
			now = now.Add(time.Second)
			return now
		}
	})
	b.council(two)
	offline := &model.Error{Kind: model.Unreachable, Provider: "Test", Host: "example.org"}
	b.model("test/ada", []modeltest.Step{modeltest.Fail(offline)})
	b.model("test/bo", []modeltest.Step{modeltest.Fail(errors.New("broken"))})
	plain := b.says("test/main", "Alone.")
	out := b.ask(t.Context(), plain, "Go.", deliberation.How{}).end()
	run, _ := b.stored()
	if states(run) != "0/ada/answer failed, 0/bo/answer failed" || run.State != council.Over {
		t.Errorf("the run is %s, %s", run.State, states(run))
	}
	if f := run.Tasks[0].End.Failure; f.Message != "Ada could not reach its model." || f.Hint == "" {
		t.Errorf("offline is told as %+v", f)
	}
	if chat.TextOf(out.Message.Parts) != "Alone." || len(plain.Requests()) != 1 {
		t.Errorf("the answer is %+v", out)
	}
	answers := func(e deliberation.Event) bool { return e.Run.State == council.Answering }
	if !slices.ContainsFunc(b.heardSoFar(), answers) {
		t.Error("nothing says that the main model answers")
	}
	v, err := b.runner.View(t.Context(), run.Begin.Run, 0)
	if err != nil {
		t.Fatal(err)
	}
	answer := v.Lanes[2].Tasks[0]
	if last := max(v.Lanes[0].Tasks[0].EndMS, v.Lanes[1].Tasks[0].EndMS); last == 0 || answer.StartMS <= last ||
		answer.Spent.MS != answer.EndMS-answer.StartMS || answer.State != council.Done {
		t.Errorf("the answer began %d ms after the run, and the last member ended after %d", answer.StartMS, last)
	}
}

func TestOneMemberAloneIsACouncil(t *testing.T) {
	for mode, want := range map[council.Mode]string{
		council.Opinions: "0/ada/answer done",
		council.Review:   "0/ada/answer done",
		council.Vote:     "0/ada/answer done",
		council.Advocate: "0/ada/draft done",
		council.Relay:    "0/ada/answer done",
	} {
		b := newBench(t)
		b.council(`{"enabled": true, "mode": "` + string(mode) + `", "limits": {"rounds": 4}, "members": [
			{"name": "Ada", "model": "test/ada"}]}`)
		b.says("test/ada", "Four, says Ada.")
		main := b.says("test/main", "So: four.")
		out := b.ask(t.Context(), main, "How many?", deliberation.How{}).end()
		run, _ := b.stored()
		if states(run) != want || run.State != council.Over {
			t.Errorf("%s: the run is %s, %s", mode, run.State, states(run))
		}
		told := fmt.Sprint(main.Requests()[0])
		if chat.TextOf(out.Message.Parts) != "So: four." || !strings.Contains(told, "Four, says Ada.") {
			t.Errorf("%s: the main model was told %s and answered %+v", mode, told, out)
		}
	}
}

func TestNobodyIsAskedAboutWordsThatNobodySaid(t *testing.T) {
	for _, c := range []struct {
		mode, more, members, want string
		asked                     int // requests to Ada
	}{
		{"vote", "", "ada bo", "0/ada/answer done, 0/bo/answer failed, 1/ada/ballot skipped, 1/bo/ballot skipped", 1},
		{
			"vote", `, "choices": ["yes", "no"]`, "ada bo",
			"0/ada/answer done, 0/bo/answer failed, 1/ada/ballot done, 1/bo/ballot skipped", 2,
		},
		{"review", "", "ada bo", "0/ada/answer done, 0/bo/answer failed, 1/ada/review skipped, 1/bo/review skipped", 1},
		{"advocate", "", "bo ada", "0/bo/draft failed, 1/ada/critique skipped", 0},
	} {
		b := newBench(t)
		var members []string
		for name := range strings.FieldsSeq(c.members) {
			members = append(members, fmt.Sprintf(`{"name": %q, "model": "test/%s"}`, name, name))
		}
		b.council(
			`{"enabled": true, "mode": "` + c.mode + `", "members": [` + strings.Join(
				members,
				", ",
			) + `]` + c.more + `}`,
		)
		ada := b.says("test/ada", "Yes.", "```council\n{\"choice\": \"yes\"}\n```")
		b.model("test/bo", []modeltest.Step{modeltest.Fail(errors.New("broken"))})
		b.ask(t.Context(), b.says("test/main", "So."), "Is it?", deliberation.How{}).end()
		run, _ := b.stored()
		if states(run) != c.want || len(ada.Requests()) != c.asked {
			t.Errorf(
				"%s%s: after %d requests to Ada the tasks are %s",
				c.mode,
				c.more,
				len(ada.Requests()),
				states(run),
			)
		}
		for _, task := range run.Tasks {
			if task.Member == "ada" && task.State == council.Skipped && (task.Why != council.AloneWhy ||
				task.End.Failure.Hint == "") {
				t.Errorf("%s: %s was skipped since %q", c.mode, task.ID, task.Why)
			}
		}
	}
}

func TestOfflineTheAnswerFailsOnceAndTheQuestionCanBeAskedAgain(t *testing.T) {
	b := newBench(t)
	b.council(two)
	offline := []modeltest.Step{
		modeltest.Fail(&model.Error{Kind: model.Unreachable, Provider: "Test", Host: "example.org"}),
	}
	b.model("test/ada", offline)
	b.model("test/bo", offline)
	asked := b.ask(t.Context(), b.model("test/main", offline), "Go.", deliberation.How{})
	<-asked.over
	out := asked.out
	run, header := b.stored()
	if states(run) != "0/ada/answer failed, 0/bo/answer failed" || header.State != council.Over {
		t.Errorf("the run is %s, %s", header.State, states(run))
	}
	if m := out.Message; m.State != chat.Failed || m.Error == nil || m.Error.Message == "" || m.Error.Hint == "" {
		t.Errorf("the answer is %+v", m)
	}
	b.says("test/ada", "A.")
	b.says("test/bo", "B.")
	out = b.ask(t.Context(), b.says("test/main", "Here again."), "Go.", deliberation.How{}).end()
	if chat.TextOf(out.Message.Parts) != "Here again." {
		t.Errorf("online again, the answer is %+v", out)
	}
}

func TestAMemberWithoutAModelSitsOutAndSaysWhy(t *testing.T) {
	b := newBench(t)
	b.council(
		`{"enabled": true, "members": [{"name": "Ada"}, {"name": "Bo", "model": "gone/model"}, {"name": "Cy", "model": "test/cy"}]}`,
	)
	b.says("test/cy", "Here.")
	b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{}).end()
	run, _ := b.stored()
	const none = "Ada has no model. Choose one for it, or a helper model for the council."
	if run.Seats[0].In || run.Seats[0].Why != none || run.Seats[1].In ||
		run.Seats[1].Why != "Bo has no model that can be asked: There is no model gone/model." ||
		states(run) != "0/cy/answer done" {
		t.Errorf("the seats are %+v, the tasks %s", run.Seats, states(run))
	}
}

func TestACapOfOneCentStopsTheCouncilAndTheAnswerIsMade(t *testing.T) {
	price := func(_ model.Info, u chat.Usage) chat.Usage {
		u.Cost, u.Priced = float64(u.Input+u.Output)*0.00002, "test"
		return u
	}
	b := newBench(t, func(o *deliberation.Options) { o.Price = price })
	b.council(`{"enabled": true, "limits": {"money": 0.01}, "members": [
		{"name": "Ada", "model": "test/ada"}, {"name": "Bo", "model": "test/bo"}]}`)
	ada, bo := b.says("test/ada", "A."), b.says("test/bo", "B.")
	b.ask(t.Context(), b.says("test/main", "Alone."), "Go.", deliberation.How{}).end()
	run, _ := b.stored()
	if n := len(
		ada.Requests(),
	) + len(
		bo.Requests(),
	); n != 0 ||
		states(run) != "0/ada/answer capped, 0/bo/answer capped" {
		t.Errorf("after %d requests the tasks are %s", n, states(run))
	}
	if run.Early == nil || run.Early.By != council.Cap || run.Early.Why == "" || run.Spent("").Cost > 0.01 {
		t.Errorf("it ended %+v and cost %g", run.Early, run.Spent("").Cost)
	}
}

func TestWhatIsLeftOfACapBoundsTheAnswer(t *testing.T) {
	b := newBench(t)
	b.council(`{"enabled": true, "members": [{"name": "Ada", "model": "test/ada", "limits": {"tokens": 2000}}]}`)
	ada := b.says("test/ada", "A.")
	b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{}).end()
	if n := ada.Requests()[0].MaxTokens; n <= 0 || n >= 2000 {
		t.Errorf("it may say %d tokens", n)
	}
}

func TestAMemberThatDoesNotStopIsCut(t *testing.T) {
	b := newBench(t)
	b.council(two)
	var flood []modeltest.Step
	piece := strings.Repeat("ä", 32<<10)
	for range 80 { // 5 MB
		flood = append(flood, modeltest.Say(piece))
	}
	b.model("test/ada", flood)
	b.says("test/bo", "B.")
	b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{}).end()
	run, _ := b.stored()
	text, err := b.runner.Texts(t.Context(), run.Begin.Run)(run.Tasks[0].End.Text)
	if err != nil || run.Tasks[0].State != council.Done || int64(len(text)) > limit.MemberAnswer+200 ||
		int64(len(text)) < limit.MemberAnswer-1000 ||
		!strings.HasSuffix(string(text), "["+"The answer was longer than 256 KiB and was cut here."+"]") {
		t.Errorf("kept are %d bytes of it, %s, %v", len(text), run.Tasks[0].State, err)
	}
	if run.Tasks[0].End.Usage.Output == 0 {
		t.Error("what it said counts nothing")
	}
	words := func(h council.Hash) string {
		text, err := b.runner.Texts(t.Context(), run.Begin.Run)(h)
		if err != nil {
			t.Error(err)
		}
		return string(text)
	}
	if got := council.Compare(run, words, council.Groups{}).Missing; len(got) == 0 ||
		!strings.Contains(got[0], "said more than an answer may hold, and was cut before it gave points") {
		t.Errorf("it says that %q", got)
	}
}

func TestARequestThatIsTooLongToBeKeptIsNamedByItsHash(t *testing.T) {
	b := newBench(t)
	b.council(two)
	b.says("test/ada", "A.")
	b.says("test/bo", "B.")
	c, err := b.store.Chats.Conversation(t.Context(), b.id)
	if err == nil {
		err = b.store.Chats.UpdateConversation(t.Context(), c.ID, func(c *chat.Conversation) {
			c.System = strings.Repeat("x", limit.CouncilRequest)
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{}).end()
	run, _ := b.stored()
	sent := run.Tasks[0].End.Requests[0]
	if _, err := b.runner.Texts(t.Context(), run.Begin.Run)(sent.Body); fault.KindOf(err) != fault.NotFound ||
		int64(sent.Bytes) <= limit.CouncilRequest || sent.Body == "" {
		t.Errorf("of %d bytes the answer is %v", sent.Bytes, err)
	}
}

// leaves is a tool that takes its plugin away, and asks the test what it is replaced by.
type leaves struct {
	registry *tool.Registry
	then     func(*tool.Registry)
}

func (l leaves) Call(context.Context, tool.Call) (tool.Result, error) {
	l.then(l.registry)
	return tool.Result{Status: chat.CallOK, Content: []chat.Part{chat.TextPart("gone")}}, nil
}

func TestAToolThatIsRemovedOrUpdatedInMidRunIsAsItWasWhenTheRunBegan(t *testing.T) {
	for name, then := range map[string]func(*tool.Registry){
		"removed": func(r *tool.Registry) { r.Unpublish("q") },
		"updated": func(r *tool.Registry) {
			r.Publish("q", []tool.Tool{{Name: "other", Description: "Another.", Dialect: "functions"}}, echo{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.tools("p", leaves{b.registry, then}, "first")
			b.tools("q", echo{}, "second")
			b.allow("p", "first")
			b.allow("q", "second")
			b.council(`{"enabled": true, "mode": "tools", "parallel": 1, "members": [
				{"name": "A", "tools": ["p:first"]}, {"name": "B", "tools": ["q:second", "q:never"]}]}`)
			b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{}).end()
			run, _ := b.stored()
			if got := states(run); got != "0/a/p:first done, 0/b/q:second done, 0/b/q:never skipped" {
				t.Errorf("the tasks are %s", got)
			}
			if f := run.Tasks[2].End.Failure; f == nil || f.Message != "The tool q:never is not available." {
				t.Errorf("it is told as %+v", f)
			}
			b.ask(t.Context(), b.says("test/main", "So."), "Again.", deliberation.How{}).end()
			if run, _ := b.stored(); run.Tasks[1].State != council.Skipped {
				t.Errorf("in the next run the tasks are %s", states(run))
			}
		})
	}
}

func TestAToolThatIsNotThereIsNamedAndItsMemberAnswersWithout(t *testing.T) {
	b := newBench(t)
	b.tools("p", echo{}, "first")
	b.council(`{"enabled": true, "members": [
		{"name": "Ada", "model": "test/ada", "tools": ["p:first", "q:gone", "web_search_none:x"]}, {"name": "Bo", "model": "test/bo"}]}`)
	ada := b.says("test/ada", "A.")
	b.says("test/bo", "B.")
	b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{}).end()
	run, _ := b.stored()
	want := "The tool q:gone is not available. The tool web_search_none:x is not available."
	if s := run.Seats[0]; !s.In || s.Why != want || run.Seats[1].Why != "" {
		t.Errorf("the seats are %+v", run.Seats)
	}
	v, err := b.runner.View(t.Context(), run.Begin.Run, 0)
	if err != nil || v.Lanes[0].Why != want || v.Lanes[1].Why != "" {
		t.Errorf("the lanes say %q and %q, %v", v.Lanes[0].Why, v.Lanes[1].Why, err)
	}
	if tools := ada.Requests()[0].Tools; len(tools) != 1 || tools[0].Name != "first" {
		t.Errorf("Ada is offered %+v", tools)
	}
}

func TestACouncilWaitsForPluginsThatAreBeingLoaded(t *testing.T) {
	var b *bench
	asked := []string{}
	b = newBench(t, func(o *deliberation.Options) {
		o.Load = func(_ context.Context, plugins ...string) error {
			asked = append(asked, plugins...)
			b.tools("late", echo{}, "first")
			b.allow("late", "first")
			return nil
		}
	})
	b.council(`{"enabled": true, "mode": "tools", "members": [{"name": "Ada", "tools": ["late:first"]}]}`)
	b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{}).end()
	if run, _ := b.stored(); states(run) != "0/ada/late:first done" || strings.Join(asked, " ") != "late" {
		t.Errorf("waited for %q the tasks are %s", asked, states(run))
	}
	b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{}).end()
	if len(asked) != 1 {
		t.Errorf("what is there was waited for: %q", asked)
	}
}

func TestAChatThatWasChangedAfterARunIsSaidToBe(t *testing.T) {
	b := newBench(t)
	b.council(two)
	b.says("test/ada", "A.")
	b.says("test/bo", "B.")
	b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{}).end()
	run, _ := b.stored()
	if v, err := b.runner.View(t.Context(), run.Begin.Run, 0); err != nil || v.Edited || v.Live || len(v.Lanes) != 3 {
		t.Errorf("before, it is shown as %+v, %v", v, err)
	}
	err := b.store.Chats.UpdateMessages(t.Context(), b.id, []chat.MessageSeq{run.Question}, func(m []chat.Message) error {
		m[0].Parts = []chat.Part{chat.TextPart("Stay.")}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if v, err := b.runner.View(t.Context(), run.Begin.Run, 0); err != nil || !v.Edited {
		t.Errorf("after it, it is shown as %+v, %v", v, err)
	}
	body, err := b.runner.Texts(t.Context(), run.Begin.Run)(run.Tasks[0].End.Requests[0].Body)
	if err != nil || !strings.Contains(string(body), "Go.") {
		t.Errorf("the run does not show what was there: %s, %v", body, err)
	}
}

// fullDisk is a log that cannot write for a while.
type fullDisk struct {
	council.Log

	mu    sync.Mutex // guards fails
	fails int
}

// frees makes room.
func (f *fullDisk) frees() {
	f.mu.Lock()
	f.fails = 0
	f.mu.Unlock()
}

func (f *fullDisk) AppendSteps(ctx context.Context, h council.Header, steps []council.Step,
	texts map[council.Hash][]byte,
) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fails > 0 {
		f.fails--
		return fault.New(fault.Unavailable, "store", "The disk is full.", "Free some space.")
	}
	return f.Log.AppendSteps(ctx, h, steps, texts)
}

func TestARunGoesOnWhereTheDiskIsFullAndIsWrittenLater(t *testing.T) {
	b := newBench(t, func(o *deliberation.Options) { o.Log = &fullDisk{Log: o.Log, fails: 2} })
	b.council(two)
	b.says("test/ada", "A.")
	b.says("test/bo", "B.")
	var told []string
	var teller deliberation.Reporter
	b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{OnEvent: func(e deliberation.Event) {
		for _, line := range teller.Report(e) {
			if e.SaveError != nil {
				view, err := b.runner.View(t.Context(), e.Run.Begin.Run, 0)
				if err != nil {
					t.Error(err)
				}
				told = append(told, line.State+": "+line.Words(), "window: "+view.Problem)
			}
		}
	}}).end()
	if run, _ := b.stored(); run.State != council.Over || states(run) != "0/ada/answer done, 0/bo/answer done" {
		t.Errorf("kept is %s, %s", run.State, states(run))
	}
	// C23: whoever watches is told, once, and once that it is over.
	const full = "Conclave cannot save this council run. The disk is full. Free some space."
	want := []string{
		"unkept: " + full,
		"window: " + full,
		"kept: Conclave can save this council run again.",
		"window: ",
	}
	if !slices.Equal(told, want) {
		t.Errorf("told was %q, want %q", told, want)
	}
}

// Also where there is room only once all has happened: no step is written any more that could say so.
func TestARunThatIsKeptAfterItsLastStepSaysSo(t *testing.T) {
	disk := &fullDisk{fails: 1 << 30}
	b := newBench(t, func(o *deliberation.Options) { disk.Log, o.Log = o.Log, disk })
	b.council(two)
	b.says("test/ada", "A.")
	b.says("test/bo", "B.")
	var told []string
	b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{OnEvent: func(e deliberation.Event) {
		if e.SaveError != nil {
			told = append(told, *e.SaveError)
		}
		if e.Step != nil && e.Run.State == council.Over {
			disk.frees()
		}
	}}).end()
	if run, _ := b.stored(); run.State != council.Over {
		t.Errorf("kept is %s", run.State)
	}
	if len(told) != 2 || told[0] == "" || told[1] != "" {
		t.Errorf("told was %q", told)
	}
}

// A run that is over and could not be kept is shown and exported from memory, and kept once
// there is room.
func TestARunThatCouldNotBeKeptIsHeldUntilItCan(t *testing.T) {
	disk := &fullDisk{fails: 1 << 30}
	b := newBench(t, func(o *deliberation.Options) { disk.Log, o.Log, o.SaveAgain = o.Log, disk, time.Millisecond })
	b.council(two)
	b.says("test/ada", "A SAYS.\n```council\n"+`{"points": [{"claim": "It is so.", "basis": "own"}]}`+"\n```")
	b.says("test/bo", "B.")
	b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{}).end()
	headers, err := b.runner.Runs(t.Context(), b.id)
	if err != nil || len(headers) != 1 || headers[0].State != council.Over {
		t.Fatalf("listed are %+v, %v", headers, err)
	}
	id := headers[0].Run
	v, err := b.runner.View(t.Context(), id, 0)
	if err != nil || !strings.Contains(v.Problem, "The disk is full.") || v.State != council.Over {
		t.Errorf("it is shown as %+v, %v", v, err)
	}
	steps, err := b.runner.Steps(t.Context(), id)
	if run, failed := council.Replay(steps); err != nil || failed != nil || run.State != council.Over {
		t.Errorf("its steps are %d, %v, %v", len(steps), err, failed)
	}
	for _, good := range []bool{false, true} { // a thumb, and another in its place
		if err := b.runner.Rate(t.Context(), id, "ada", 1, good); err != nil {
			t.Fatal(err)
		}
	}
	news := b.bus.Subscribe(bus.Council)
	defer news.Close()
	disk.frees()
	for v.Problem != "" {
		if _, err = news.Next(t.Context()); err == nil {
			v, err = b.runner.View(t.Context(), id, 0)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	run, header := b.stored()
	text, err := b.store.Councils.Text(t.Context(), id, run.Tasks[0].End.Text)
	if header.State != council.Over || err != nil || !strings.HasPrefix(string(text), "A SAYS.") {
		t.Errorf("kept is %s, %q, %v", header.State, text, err)
	}
	if s := header.Seats[0]; s.Rated != 1 || s.Helped != 1 {
		t.Errorf("of the thumbs is kept %+v", s)
	}
}

func TestAMemberMayAskForToolsAsOftenAsTheTurnMay(t *testing.T) {
	b := newBench(t)
	b.tools("p", echo{}, "read")
	b.council(`{"enabled": true, "members": [{"name": "Ada", "model": "test/ada", "tools": ["p:read"]}]}`)
	again := func(id string) []modeltest.Step { return []modeltest.Step{modeltest.Call(id, "read", `{}`)} }
	ada := b.model("test/ada", again("c1"), again("c2"), []modeltest.Step{modeltest.Say("Read.")})
	_, err := b.runner.Run(t.Context(), turn.Request{
		Conversation: b.id, Text: "Go.", Model: b.says("test/main", "So."), Asker: gate.AlwaysAsker{}, ChainLimit: 2,
	}, deliberation.How{OnEvent: b.hear}, nil)
	if requests := ada.Requests(); err != nil || len(requests) != 3 || requests[1].NoCalls || !requests[2].NoCalls {
		t.Errorf("it was asked %d times, %v", len(requests), err)
	}
}

func TestAMemberIsAskedForByNameAndItsCallsAreItsOwn(t *testing.T) {
	b := newBench(t)
	b.tools("p", echo{}, "send")
	b.unsure("p")
	asked := &asks{}
	b.asker = asked
	b.council(`{"enabled": true, "members": [
		{"name": "Ada", "model": "test/ada", "tools": ["p:send"]}, {"name": "Bo", "model": "test/bo", "tools": ["p:send"]}]}`)
	for _, who := range []string{"test/ada", "test/bo"} { // the same id of a call, as vendors give
		b.model(
			who,
			[]modeltest.Step{modeltest.Call("call_0", "send", `{"by":"`+who+`"}`)},
			[]modeltest.Step{modeltest.Say("Sent.")},
		)
	}
	b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{}).end()
	run, _ := b.stored()
	for i, name := range []string{"Ada", "Bo"} {
		end := run.Tasks[i].End
		if len(end.Calls) != 1 || len(end.Used) != 1 || end.Used[0] != "p:send" {
			t.Fatalf("%s is kept as %+v", name, end)
		}
		record, err := b.store.Calls.Call(t.Context(), end.Calls[0])
		if err != nil || record.Turn != end.Turn || record.Caller != "member:"+strings.ToLower(name) ||
			!strings.Contains(string(record.Arguments), strings.ToLower(name)) {
			t.Errorf("the call of %s is on record as %+v, %v", name, record, err)
		}
	}
	titles := asked.all()
	for _, want := range []string{"Ada (council) wants to run “send” with p", "Bo (council) wants to run “send” with p"} {
		if !strings.Contains(strings.Join(titles, "\n"), want) {
			t.Errorf("asked was %q", titles)
		}
	}
}

func TestTheHelperSumsTheChatUpAndIsNoMember(t *testing.T) {
	b := newBench(t)
	b.council(`{"enabled": true, "helper": {"model": "test/helper"}, "members": [
		{"name": "Ada", "model": "test/ada", "context": {"policy": "summary"}}, {"name": "Bo", "model": "test/ada"}]}`)
	for _, question := range []string{"Go.", "Go on."} {
		b.ask(t.Context(), b.says("test/main", "So."), question, deliberation.How{Skip: true}).end()
	}
	offline := []modeltest.Step{
		modeltest.Fail(&model.Error{Kind: model.Unreachable, Provider: "Test", Host: "example.org"}),
	}
	b.model("test/ada", offline, offline)
	helper, main := b.says("test/helper", "They SPOKE."), b.says("test/main", "Alone.")
	var asked string
	b.ask(t.Context(), main, "And now?", deliberation.How{Asks: true, OnEvent: func(e deliberation.Event) {
		var teller deliberation.Reporter
		for _, line := range teller.Report(e) {
			if line.State == "asking" {
				asked = line.Text
				go func() { _ = b.runner.Act(t.Context(), e.Run.Begin.Run, council.GoOn, "", nil, "") }()
			}
		}
	}}).end()
	if len(helper.Requests()) != 1 || len(main.Requests()) != 1 {
		t.Errorf("the helper was asked %d times, the main model %d times", len(helper.Requests()), len(main.Requests()))
	}
	if run, _ := b.stored(); run.Tasks[0].State != council.Done || asked != "2 of 2 members failed." {
		t.Errorf("the tasks are %s, and a person was told %q", states(run), asked)
	}
}

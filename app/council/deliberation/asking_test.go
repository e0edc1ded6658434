package deliberation_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/gate"
	"conclave/app/model"
	"conclave/app/model/modeltest"
	"conclave/app/test/testkit"
	"conclave/app/tool"
)

// fails is a plugin whose tool "bad" fails, and whose other tools answer.
type fails struct{}

func (fails) Call(_ context.Context, c tool.Call) (tool.Result, error) {
	if c.Tool.Name == "bad" {
		return tool.Result{Status: chat.CallRaised, Error: "It broke."}, nil
	}
	return tool.Result{Status: chat.CallOK, Content: []chat.Part{chat.TextPart("It is well.")}}, nil
}

func TestSP53WhereNobodySaysHowItGoesOnItDoesAfterTenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		b.tools("p", fails{}, "good", "bad")
		b.council(`{"enabled": true, "mode": "tools", "members": [
			{"name": "Ada", "tools": ["p:good"]}, {"name": "Bo", "tools": ["p:bad"]}]}`)
		main := b.says("test/main", "So it is.")
		began := time.Now()
		b.ask(t.Context(), main, "Is it so?", deliberation.How{Asks: true}).end()
		if took := time.Since(began); took < 10*time.Minute || took > 11*time.Minute {
			t.Errorf("it went on after %s", took)
		}
		run, _ := b.stored()
		if got := states(run); got != "0/ada/p:good done, 0/bo/p:bad failed" || run.State != council.Over {
			t.Errorf("it is %s: %s", run.State, got)
		}
		if sent := toldIn(
			main.Requests()[0],
		); !strings.Contains(sent, "It is well.") ||
			strings.Contains(sent, "It broke.") {
			t.Errorf("the main model was told %s", sent)
		}
		b.runner.Close()
	})
}

func TestANudgeIsPassedOnToAPrompt(t *testing.T) {
	b := newBench(t)
	b.council(`{"enabled": true, "mode": "tools", "members": [
		{"name": "Ada", "model": "test/ada", "tools": ["voice_concern"]}]}`)
	wait := make(chan struct{})
	ada := b.model(
		"test/ada",
		[]modeltest.Step{modeltest.Wait(wait)},
		[]modeltest.Step{modeltest.Say("The boat has two names.")},
	)
	main := b.says("test/main", "So it is.")
	asked := b.ask(t.Context(), main, "Is it so?", deliberation.How{})
	started := b.until(func(e deliberation.Event) bool { return e.Live != nil && e.Live.Phase == council.Reading })
	id := started.Run.Begin.Run
	testkit.Until(t, "its first request", func() bool { return len(ada.Requests()) > 0 })
	if err := b.runner.Act(t.Context(), id, council.Nudge, "ada", nil, "Look at the names."); err != nil {
		t.Fatal(err)
	}
	asked.end()
	requests := ada.Requests()
	if last := toldIn(requests[len(requests)-1]); !strings.Contains(last, "Look at the names.") {
		t.Errorf("it was told %s", last)
	}
	if sent := toldIn(main.Requests()[0]); !strings.Contains(sent, "The boat has two names.") {
		t.Errorf("the main model was told %s", sent)
	}
}

// C30, C31: a search is no tool that a member was given, so nothing rests on it.
func TestAMemberIsOfferedItsToolsThatOthersHaveToLookFor(t *testing.T) {
	b := newBench(t)
	b.tools("p", echo{}, "send")
	b.registry.Publish("p", []tool.Tool{{
		Name: "send", Description: "A tool.", Dialect: "functions", Visibility: tool.Deferred,
	}}, echo{})
	b.council(`{"enabled": true, "members": [{"name": "Ada", "model": "test/ada", "tools": ["p:send"]}]}`)
	ada := b.model("test/ada", []modeltest.Step{modeltest.Call("1", tool.SearchName, `{"query":"send"}`)},
		[]modeltest.Step{modeltest.Say("So.\n```council\n" +
			`{"points":[{"claim":"It is so.","basis":"tool","source":"tool_search"}]}` + "\n```")})
	b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{}).end()
	if offered := ada.Requests()[0].Tools; len(offered) != 1 || offered[0].Name != "send" {
		t.Errorf("it is offered %+v", offered)
	}
	run, _ := b.stored()
	if view, err := b.runner.View(t.Context(), run.Begin.Run, 0); err != nil || len(view.Result.NotChecked) != 1 {
		t.Errorf("not checked are %+v, %v", view.Result, err)
	}
}

func TestTheInspectorHasTheRequestsInWhichArgumentsWerePlanned(t *testing.T) {
	price := func(_ model.Info, u chat.Usage) chat.Usage {
		u.Cost, u.Priced = float64(u.Input+u.Output), "test"
		return u
	}
	b := newBench(t, func(o *deliberation.Options) { o.Price = price })
	b.publish("p", echo{}, tool.Tool{
		Name:        "weather",
		Description: "Tells the weather.",
		Dialect:     "functions",
		Parameters: json.RawMessage(
			`{"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}}`,
		),
	})
	b.allow("p", "weather")
	b.council(`{"enabled": true, "mode": "tools", "members": [{"name": "Ada", "tools": ["p:weather"]}],
		"helper": {"model": "test/helper", "temperature": 1.5}}`)
	helper := b.model(
		"test/helper",
		[]modeltest.Step{modeltest.Call("1", "weather", `{"city":"Oslo"}`), modeltest.Used(50, 7)},
	)
	b.ask(t.Context(), b.says("test/main", "Warm."), "Is it warm in Oslo?", deliberation.How{}).end()
	run, _ := b.stored()
	end := run.Tasks[0].End
	if end.State != council.Done || len(end.Requests) != 1 || end.Usage.Cost != 57 || run.Spent("").Cost != 57 {
		t.Fatalf("it ended %+v", end)
	}
	if heat := *helper.Requests()[0].Temperature; heat > 0.2 {
		t.Errorf("arguments are planned at %g", heat)
	}
	given, err := b.runner.Texts(t.Context(), run.Begin.Run)(end.Requests[0].Given)
	var blocks []council.Block
	if err != nil || json.Unmarshal([]byte(given), &blocks) != nil || len(blocks) != 5 {
		t.Fatalf("it was made of %s, %v", given, err)
	}
	for i, want := range []struct{ title, words string }{
		{"Role", ""},
		{"System prompt", "Be kind."},
		{"Your question", "Is it warm in Oslo?"},
		{"Task", "Tells the weather."},
		{"weather", "Tells the weather.\n{"},
	} {
		words, err := b.runner.Texts(t.Context(), run.Begin.Run)(blocks[i].Text)
		if err != nil || blocks[i].Title != want.title || !strings.Contains(words, want.words) {
			t.Errorf("piece %d is %s: %s, %v", i, blocks[i].Title, words, err)
		}
	}
}

func TestAMemberThatWasRefusedACallIsDoneWithoutIt(t *testing.T) {
	b := newBench(t)
	b.tools("p", echo{}, "send", "look")
	b.unsure("p")
	b.asker = gate.NeverAsker{}
	b.council(`{"enabled": true, "members": [{"name": "Ada", "model": "test/ada", "tools": ["p:send"]}]}`)
	b.model("test/ada", []modeltest.Step{modeltest.Call("1", "send", `{}`)},
		[]modeltest.Step{modeltest.Say("So.\n```council\n" +
			`{"points":[{"claim":"It is so.","basis":"tool","source":"p:send"}]}` + "\n```")})
	b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{}).end()
	run, _ := b.stored()
	view, err := b.runner.View(t.Context(), run.Begin.Run, 0)
	if err != nil || run.Tasks[0].State != council.Done || run.Tasks[0].End.Refused != 1 ||
		view.Lanes[0].Tasks[0].Refused != 1 {
		t.Errorf("it ended %+v, and is shown as %+v, %v", run.Tasks[0], view.Lanes[0].Tasks, err)
	}
	var teller deliberation.Reporter
	var words []string
	for _, e := range b.heardSoFar() {
		for _, line := range teller.Report(e) {
			words = append(words, line.Words())
		}
	}
	if !strings.Contains(strings.Join(words, "\n"), "\ndone, 1 call refused\n") {
		t.Errorf("the terminal tells %q", words)
	}
	// What it was told of the call stands under the tool's title.
	text := func(h council.Hash) (string, error) {
		text, err := b.runner.Texts(t.Context(), run.Begin.Run)(h)
		return string(text), err
	}
	blocks := run.Tasks[0].End.Requests[1].Blocks(text)
	if last := blocks[len(blocks)-1]; last.Source != council.FromCall || last.Title != "Result of Send" {
		t.Errorf("the result of its call is shown as %+v", last.Block)
	}
	// Of what is counted, each part is shown.
	for i, request := range run.Tasks[0].End.Requests {
		sum, titles := int64(0), []string{}
		for _, block := range request.Blocks(text) {
			sum += block.Tokens
			titles = append(titles, block.Title)
		}
		if off := request.Tokens - sum; off < -4 || off > 4 || !slices.Contains(titles, "Send") ||
			i == 1 && !slices.Contains(titles, "Its call of Send") {
			t.Errorf("request %d of %d tokens is made of %d: %q", i, request.Tokens, sum, titles)
		}
	}
}

package deliberation_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/model"
	"conclave/app/tool"
)

// dear prices a model by its name: a dollar for each token that it writes, or nothing known.
func dear(m model.Info, u chat.Usage) chat.Usage {
	if m.ID != "unknown" {
		u.Cost, u.Priced = float64(u.Output)/1000, "2026-11-22"
	}
	return u
}

// estimate returns what a council may come to if it is asked in the chat.
func (b *bench) estimate(c council.Council, question string) (council.Estimate, error) {
	return b.runner.Estimate(b.t.Context(), c, turn.Request{Conversation: b.id, Text: question})
}

func members(n int, model string) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"name": "M%d", "model": %q}`, i, model))
	}
	return strings.Join(all, ", ")
}

func TestAHelperModelIsOfferedWhereItWouldHelp(t *testing.T) {
	b := newBench(t)
	b.tools("p", echo{}, "look")
	b.says("test/main")
	if err := b.store.Chats.UpdateConversation(t.Context(), b.id,
		func(c *chat.Conversation) { c.Model = "test/main" }); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		`"tools", "members": [{"name": "Ada"}]`:                                       false,
		`"tools", "members": [{"name": "Ada", "tools": ["p:look"], "chance": 0}]`:     false,
		`"tools", "members": [{"name": "Ada", "tools": ["voice_concern"]}]`:           true,
		`"opinions", "members": [{"name": "Ada"}]`:                                    true,
		`"opinions", "members": [{"name": "Ada", "model": "gone/m"}]`:                 false,
		`"opinions", "helper": {"model": "gone/m"}, "members": [{"name": "Ada"}]`:     true,
		`"opinions", "members": [{"name": "Ada", "model": "test/main", "off": true}]`: false,
	} {
		e, err := b.estimate(b.council(`{"enabled": true, "mode": `+text+`}`), "Go.")
		if err != nil || e.Helper != want {
			t.Errorf("%s: %+v, %v", text, e, err)
		}
	}
}

func TestAnEstimateCountsTheRequestsOfEachMode(t *testing.T) {
	b := newBench(t, func(o *deliberation.Options) { o.Price = dear })
	b.says("test/main")
	b.says("test/ada")
	if err := b.store.Chats.UpdateConversation(t.Context(), b.id,
		func(c *chat.Conversation) { c.Model = "test/main" }); err != nil {
		t.Fatal(err)
	}
	var lone council.Estimate
	for _, c := range []struct {
		mode  string
		calls int // N + 1, and 2N + 1 with a review or a vote
	}{
		{`"opinions"`, 4},
		{`"review"`, 7},
		{`"vote"`, 7},
		{`"advocate"`, 4},
		{`"relay"`, 4},
		{`"opinions", "chair": "test/ada"`, 4},
	} {
		set := b.council(`{"enabled": true, "mode": ` + c.mode + `, "members": [` + members(3, "test/ada") + `]}`)
		e, err := b.estimate(set, "Which colour?")
		if err != nil || e.Calls != c.calls || e.Tools != 0 || !e.Known || e.Cost <= 0 || e.Seconds <= 0 ||
			e.Input <= 0 || len(e.Problems) > 0 {
			t.Errorf("%s comes to %+v, %v; want %d requests", c.mode, e, err, c.calls)
		}
		if c.mode == `"opinions"` {
			lone = e
		}
		if c.mode == `"review"` && (e.Cost <= lone.Cost || e.Seconds <= lone.Seconds || e.Input <= 2*lone.Input-1000) {
			t.Errorf("a review comes to %+v, answers alone to %+v", e, lone)
		}
	}
	long, err := b.estimate(b.council(two), strings.Repeat("Which colour? ", 2000))
	if err != nil || long.Input <= lone.Input+10_000 {
		t.Errorf("a long question comes to %+v, %v", long, err)
	}
}

func TestAnEstimateIsOfTheModelThatIsToAnswerAndOfAllThatIsAsked(t *testing.T) {
	known := func(context.Context, chat.ConversationID, []chat.Message) ([]council.Background, error) {
		return []council.Background{{
			Kind: council.PersonaInfo, Title: "Persona", Text: strings.Repeat("Likes red. ", 4000), // 11,000 tokens
		}}, nil
	}
	b := newBench(t, func(o *deliberation.Options) { o.Price, o.Background = dear, known })
	b.says("test/ada")
	main, unknown := b.says("test/main"), b.says("test/unknown")
	if err := b.store.Chats.UpdateConversation(t.Context(), b.id,
		func(c *chat.Conversation) { c.Model = "test/main" }); err != nil {
		t.Fatal(err)
	}
	set := b.council(`{"members": [` + members(2, "test/ada") + `]}`)
	estimate := func(req turn.Request) council.Estimate {
		t.Helper()
		req.Text = "Which colour?"
		e, err := b.runner.Estimate(t.Context(), set, req)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	inChat := estimate(turn.Request{Conversation: b.id})
	if e := estimate(turn.Request{Conversation: b.id, Model: unknown}); !inChat.Known || e.Known {
		t.Errorf("of the chat's model the price is known %v, of one chosen beside it %v", inChat.Known, e.Known)
	}
	begun := turn.Request{Model: main}
	if e := estimate(begun); !e.Known || e.Input < 2*11_000 {
		t.Errorf("a chat that is not begun, with a persona, comes to %+v", e)
	}
	picture := chat.Part{Kind: chat.PartMedia, Media: &chat.Media{ID: "1", MIME: "image/png", Name: "red.png", Size: 9}}
	begun.Attachments = []chat.Part{picture}
	if with, without := estimate(begun), estimate(turn.Request{Model: main}); with.Input < without.Input+2000 {
		t.Errorf("with a picture it comes to %d tokens, without to %d", with.Input, without.Input)
	}
	set.Chair = "test/unknown"
	if e := estimate(begun); e.Known {
		t.Errorf("with a model of its own to answer, the price is known: %+v", e)
	}
}

func TestAnEstimateOfTimeIsOfWhatIsDoneAtOnce(t *testing.T) {
	b := newBench(t)
	b.tools("p", echo{}, "one", "two", "three", "four")
	for _, name := range []string{"demo/maker", "demo/guide"} {
		_, id, _ := strings.Cut(name, "/")
		b.says(name).SetInfo(model.Info{Connection: "demo", ID: id, Provider: "demo"})
	}
	b.says("test/slow")
	if err := b.store.Chats.UpdateConversation(t.Context(), b.id,
		func(c *chat.Conversation) { c.Model = "demo/guide" }); err != nil {
		t.Fatal(err)
	}
	const answer = 2
	slow := members(2, "demo/maker") + `, {"name": "Slow", "model": "test/slow"}`
	four := `{"name": "A", "tools": ["p:one", "p:two", "p:three", "p:four"]}`
	for name, c := range map[string]struct {
		council string
		seconds float64 // before the answer
	}{
		"the longest":                  {`{"members": [` + slow + `]}`, 9},
		"two of three at once":         {`{"members": [` + slow + `], "parallel": 2}`, 11},
		"three alike, two at once":     {`{"members": [` + members(3, "demo/maker") + `], "parallel": 2}`, 4},
		"one after another":            {`{"members": [` + slow + `], "parallel": 1}`, 13},
		"the tools of one member":      {`{"mode": "tools", "members": [` + four + `]}`, 1},
		"five of one tool, four first": {`{"mode": "tools", "members": [` + ofTool(5, "p:one") + `]}`, 2},
	} {
		e, err := b.estimate(b.council(c.council), "Well?")
		if err != nil || e.Seconds != c.seconds+answer {
			t.Errorf("%s: it may take %g s, want %g, %v", name, e.Seconds, c.seconds+answer, err)
		}
	}
}

func ofTool(n int, tool string) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf(`{"name": "M%d", "tools": [%q]}`, i, tool))
	}
	return strings.Join(all, ", ")
}

func TestAnEstimateKnowsTheToolsThatAreForAMemberByName(t *testing.T) {
	b := newBench(t)
	b.says("test/main")
	if err := b.store.Chats.UpdateConversation(t.Context(), b.id,
		func(c *chat.Conversation) { c.Model = "test/main" }); err != nil {
		t.Fatal(err)
	}
	set := b.council(`{"mode": "tools", "members": [{"name": "Ada", "model": "test/main"}]}`)
	none := "Ada has no tools."
	if e, err := b.estimate(set, "Well?"); err != nil || !slices.Contains(e.Problems, none) {
		t.Errorf("without tools: %+v, %v", e, err)
	}
	b.registry.Publish("log", []tool.Tool{{Name: "log", Role: "Ada", Visibility: tool.Direct}}, nil)
	if e, err := b.estimate(set, "Well?"); err != nil || slices.Contains(e.Problems, none) {
		t.Errorf("with one that is for it: %+v, %v", e, err)
	}
}

func TestWhereTheMainModelIsOfferedTheToolsNobodyWorksBefore(t *testing.T) {
	b := newBench(t)
	b.says("test/main")
	b.publish("p", echo{}, tool.Tool{
		Name: "look", Description: "A tool.", Dialect: "functions", Parameters: json.RawMessage(`{"type": "object", "required": ["at"]}`),
	})
	if err := b.store.Chats.UpdateConversation(t.Context(), b.id,
		func(c *chat.Conversation) { c.Model = "test/main" }); err != nil {
		t.Fatal(err)
	}
	sidecar := `{"mode": "tools", "members": [{"name": "Ada", "tools": ["p:look"], "chance": 0}, {"name": "Bo", "model": "test/main",
		"tools": ["p:look"]}], "helper": {"max_tokens": 9000}`
	inline := sidecar + `, "toolsSettings": {"mode": "inline"}}`
	e, err := b.estimate(b.council(inline), "Well?")
	if err != nil || e.Calls != 1 || e.Tools != 0 || e.Seconds != 12 || e.Input > 1000 || len(e.Problems) > 0 {
		t.Errorf("it comes to %+v, %v", e, err)
	}
	if e, err := b.estimate(b.council(sidecar+"}"), "Well?"); err != nil || e.Tools != 1 ||
		e.Calls != 2 || len(e.Problems) != 1 {
		t.Errorf("where members use them it comes to %+v, %v", e, err)
	}
	prompts := strings.ReplaceAll(inline, `["p:look"]`, `["p:look", "voice_concern"]`)
	left := []string{
		"Ada goes without a tool: Concerns is a prompt, which the model that answers cannot call.",
		"Bo goes without a tool: Concerns is a prompt, which the model that answers cannot call.",
	}
	e, err = b.estimate(b.council(prompts), "Well?")
	if err != nil || !slices.Equal(e.Problems, left) || e.Calls != 1 {
		t.Errorf("with tools that are prompts it comes to %+v, %v", e, err)
	}
	gone := strings.ReplaceAll(inline, "p:look", "p:gone")
	if e, err := b.estimate(b.council(gone), "Well?"); err != nil || len(e.Problems) != 2 {
		t.Errorf("without the tool it comes to %+v, %v", e, err)
	}
}

// thoughtful is a model that takes its time, which passes at once in a bubble.
type thoughtful struct {
	model.Model
	time time.Duration
}

func (m thoughtful) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		time.Sleep(m.time)
		m.Model.Stream(ctx, r)(yield)
	}
}

func TestAnEstimateOfTimeIsOfWhatTheModelsTookLately(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t)
		if err := b.store.Chats.UpdateConversation(t.Context(), b.id,
			func(c *chat.Conversation) { c.Model = "test/main" }); err != nil {
			t.Fatal(err)
		}
		set := b.council(`{"enabled": true, "members": [{"name": "Ada", "model": "test/ada"},
			{"name": "Bo", "model": "test/bo"}]}`)
		main := thoughtful{b.says("test/main", "So."), 2 * time.Second}
		for _, name := range []string{"test/ada", "test/bo"} {
			b.models.all[name] = thoughtful{b.says(name, "Yes."), 3 * time.Second}
		}
		seconds := func() float64 {
			t.Helper()
			e, err := b.estimate(set, "Well?")
			if err != nil {
				t.Fatal(err)
			}
			return e.Seconds
		}
		if before := seconds(); before != 21 {
			t.Errorf("before anything is known it may take %g s", before)
		}
		b.ask(t.Context(), main, "Go.", deliberation.How{}).end()
		if after := seconds(); after != 5 {
			t.Errorf("after 3 s of members and 2 s of an answer it may take %g s", after)
		}
		b.runner.Close()
		b.runner = b.again() // Conclave was closed: what is kept of the run says it
		if after := seconds(); after != 5 {
			t.Errorf("after a start, it may take %g s", after)
		}
		b.runner.Close()
	})
}

func TestWhatEachTaskWasToCostStandsBesideWhatItDid(t *testing.T) {
	b := newBench(t, func(o *deliberation.Options) { o.Price = dear })
	b.council(`{"enabled": true, "mode": "review", "members": [` + members(2, "test/ada") + `]}`)
	b.says("test/ada", "A.", "B.", "Fine.", "Fine.")
	b.ask(t.Context(), b.says("test/main", "So."), "Go.", deliberation.How{}).end()
	run, _ := b.stored()
	view, err := b.runner.View(t.Context(), run.Begin.Run, 0)
	if err != nil || view.Estimate.Tasks != nil {
		t.Fatalf("the run is estimated at %+v, %v", view.Estimate, err)
	}
	sum := 0.0
	for _, lane := range view.Lanes {
		for _, task := range lane.Tasks {
			if e := task.Expected; e.Cost <= 0 || e.MS <= 0 || e.Input <= 0 || !e.Known {
				t.Errorf("%s of %s was to come to %+v", task.ID, lane.Name, e)
			}
			sum += task.Expected.Cost
		}
	}
	if whole := view.Estimate.Cost; sum < whole*0.999 || sum > whole*1.001 {
		t.Errorf("the tasks were to cost %g, all of it %g", sum, whole)
	}
}

func TestScriptsAndToolsAreNotTakenToThink(t *testing.T) {
	b := newBench(t)
	b.tools("p", echo{}, "look")
	for _, name := range []string{"demo/guide", "demo/maker"} {
		_, id, _ := strings.Cut(name, "/")
		b.says(name).SetInfo(model.Info{
			Connection: "demo", ID: id, Title: "Demo guide", Provider: "demo", Can: model.Features{Tools: true},
		})
	}
	if err := b.store.Chats.UpdateConversation(t.Context(), b.id,
		func(c *chat.Conversation) { c.Model = "demo/guide" }); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		council string
		seconds float64
	}{
		{`{"members": [` + members(3, "demo/maker") + `]}`, 4},
		{`{"mode": "review", "members": [` + members(3, "demo/maker") + `]}`, 6},
		{`{"mode": "tools", "members": [{"name": "A", "tools": ["p:look"]}, {"name": "B", "tools": ["p:look"]}]}`, 3},
	} {
		e, err := b.estimate(b.council(c.council), "Well?")
		if err != nil || e.Seconds != c.seconds {
			t.Errorf("%s may take %g s, want %g, %v", c.council, e.Seconds, c.seconds, err)
		}
	}
}

func TestAnEstimateSaysWhatStandsAgainstARun(t *testing.T) {
	b := newBench(t, func(o *deliberation.Options) { o.Price = dear })
	for _, name := range []string{"test/main", "test/ada", "test/unknown"} {
		b.says(name)
	}
	if err := b.store.Chats.UpdateConversation(t.Context(), b.id,
		func(c *chat.Conversation) { c.Model = "test/main" }); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ council, problem string }{
		{`{"members": []}`, "The council has no members."},
		{`{"members": [` + members(1, "test/ada") + `]}`, "One member works; there is nothing to compare."},
		{
			`{"members": [{"name": "Ada"}, {"name": "Bo", "model": "test/ada"}]}`,
			"Ada has no model. Choose one for it, or a helper model for the council.",
		},
		{
			`{"members": [` + members(2, "test/ada") + `], "limits": {"money": 1}}`,
			"It may cost $1.60, and stops at its cap of $1.00.",
		},
		{
			`{"members": [` + members(2, "test/ada") + `], "limits": {"money": 0.01}}`,
			"The answer alone may cost $0.70, more than the cap of $0.01: the council would not work. " +
				"Raise the cap, or choose a cheaper model to write the answer.",
		},
		{
			`{"members": [` + members(2, "test/unknown") + `], "limits": {"money": 1}}`,
			"The price of a model is not known, so the cap of $1.00 cannot be kept.",
		},
		{`{"members": [` + members(2, "test/ada") + `, {"name": "Cy", "off": true}]}`, ""},
		{
			`{"members": [{"name": "Ada", "model": "test/ada", "tools": ["voice_concern"]}, ` + members(1, "test/ada") + `]}`,
			"Ada goes without a tool: Concerns is for councils of mode tools.",
		},
		{
			`{"members": [{"name": "Ada", "model": "test/ada", "tools": ["gone:tool"]}, ` + members(1, "test/ada") + `]}`,
			"Ada goes without a tool: The tool gone:tool is not available.",
		},
		{
			`{"mode": "tools", "members": [{"name": "Ada", "tools": ["voice_concern"]}]}`,
			"Concerns needs a helper model. Choose one for the council, or a model for Ada.",
		},
		{`{"mode": "tools", "members": [{"name": "Ada", "model": "test/ada", "tools": ["voice_concern"]}]}`, ""},
		{
			`{"mode": "tools", "members": [{"name": "Ada", "tools": ["gone:tool"]}]}`,
			"Ada goes without a tool: The tool gone:tool is not available.",
		},
	} {
		e, err := b.estimate(b.council(c.council), "Well?")
		if err != nil || c.problem != "" && !slices.Contains(e.Problems, c.problem) ||
			c.problem == "" && len(e.Problems) > 0 || e.Helper != strings.Contains(c.problem, " helper model") {
			t.Errorf("%s: %+v, %v", c.council, e, err)
		}
	}
}

package deliberation

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/council"
	"conclave/app/gate"
	"conclave/app/model"
	"conclave/app/model/modeltest"
	"conclave/app/tool"
	"conclave/app/tool/call"
)

// toolBench is a worker for the tools of one member, Ada, over the real gate and in
// memory.
type toolBench struct {
	t      *testing.T
	work   *toolWork
	gate   *gate.Gate
	model  *modeltest.Model // nil: there is none
	run    council.Run
	member *council.Member

	spoken []council.Given
	lives  []council.Live
	log    *turn.MemoryLog

	mu     sync.Mutex // guards last, and calls onCall
	last   tool.Call
	onCall func(tool.Call)
}

// answering is a plugin in memory: each tool is a function.
type answering struct {
	b  *toolBench
	do map[string]func(context.Context, tool.Call) tool.Result
}

func (a answering) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	a.b.mu.Lock()
	a.b.last = c
	if a.b.onCall != nil {
		a.b.onCall(c)
	}
	a.b.mu.Unlock()
	return a.do[c.Tool.Name](ctx, c), nil
}

func ok(text string) tool.Result {
	return tool.Result{Status: chat.CallOK, Content: []chat.Part{chat.TextPart(text)}}
}

const (
	noParameters = `{"type":"object","properties":{"deep":{"type":"boolean"}}}`
	needsACity   = `{"type":"object","required":["city"],"properties":{"city":{"type":"string"},"days":{"type":"number"}}}`
)

func newToolBench(t *testing.T) *toolBench {
	t.Helper()
	b := &toolBench{t: t, log: turn.NewMemoryLog(chat.Conversation{ID: "c"})}
	plugin := answering{b, map[string]func(context.Context, tool.Call) tool.Result{
		"look":    func(context.Context, tool.Call) tool.Result { return ok("3 files") },
		"weather": func(_ context.Context, c tool.Call) tool.Result { return ok("sunny for " + string(c.Arguments)) },
		"read":    func(context.Context, tool.Call) tool.Result { return ok("I have read it.") },
		"secret":  func(context.Context, tool.Call) tool.Result { return ok("never") },
		"raise":   func(context.Context, tool.Call) tool.Result { return tool.Result{Status: chat.CallRaised, Error: "no"} },
		"hang": func(ctx context.Context, _ tool.Call) tool.Result {
			<-ctx.Done()
			return tool.Result{Status: chat.CallCancelled}
		},
	}}
	var list []tool.Tool
	for name := range plugin.do {
		made := tool.Tool{
			Name: name, Description: "Does " + name + ".", Dialect: "d", Parameters: json.RawMessage(noParameters),
		}
		switch name {
		case "weather":
			made.Parameters = json.RawMessage(needsACity)
		case "read":
			made.Parameters = json.RawMessage(needsACity)
			made.Convention = tool.Convention{Chat: true, Council: true}
			made.CouncilEligible = true
		case "secret":
			made.Convention = tool.Convention{Chat: true, Council: true}
		}
		list = append(list, made)
	}
	registry := tool.NewRegistry()
	registry.Publish("p", list, plugin)
	set := registry.Set()
	permissions, err := gate.Open(t.Context(), gate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b.gate = permissions
	version := gate.PluginVersion{
		Plugin: "p", Name: "P", Dialect: "d", Isolation: "process+landlock", Code: "c", Tools: set.Tools(), Listed: true,
	}
	permissions.Approvals.Status(version)
	if err := permissions.Approvals.Approve(t.Context(), version, gate.ApproveOptions{}); err != nil {
		t.Fatal(err)
	}
	c := council.Default()
	c.Enabled, c.Mode, c.Members = true, council.Tools, []council.Member{{
		ID: "ada", Name: "Ada", Role: "Analyst", Chance: 100,
		Persona: council.Persona{Definition: "A mathematician.", Personality: "Exact.", Behavior: "Counts twice."},
	}}
	b.run = council.Run{Begin: council.Begin{Run: "r", Conversation: "c", Council: c}, Seats: []council.Seat{
		{Member: c.Members[0], In: true},
	}}
	b.member = &b.run.Seats[0].Member
	b.work = &toolWork{
		calls: call.New(call.Options{Gate: permissions, Log: b.log}), now: time.Now, tools: set,
		turn: call.Turn{Asker: gate.AlwaysAsker{}},
		given: func(council.Job) (council.Given, error) {
			return council.Given{Blocks: []council.BlockText{{}}, Path: []chat.Message{
				{Role: chat.RoleSystem, Parts: []chat.Part{chat.TextPart("Be kind.")}},
				{Role: chat.RoleUser, Parts: []chat.Part{
					chat.TextPart("Is it warm in Oslo?"), {Kind: chat.PartMedia, Media: &chat.Media{MIME: "image/png"}},
				}},
				{Role: chat.RoleAssistant, Parts: []chat.Part{{Kind: chat.PartToolCall, Call: &chat.ToolCall{}}}},
				{Role: chat.RoleTool, Parts: []chat.Part{chat.TextPart("a result")}},
				{Role: chat.RoleAssistant, Parts: []chat.Part{chat.TextPart("Where?")}},
			}}, nil
		},
		gives: func(string, chat.ConversationID, council.Given) func() { return func() {} },
		taint: func(council.Job, council.Given) func() []chat.Origin { return nil },
		answer: func(_ context.Context, _ council.Job, g council.Given, _ func(council.Live)) council.Work {
			b.spoken = append(b.spoken, g)
			return doneWork("spoken")
		},
		model: func(_ context.Context, job council.Job, _ council.Given) (*recorded, error) {
			if b.model == nil {
				return nil, nil
			}
			return &recorded{
				Model: b.model, price: func(u chat.Usage) chat.Usage { return u }, job: job, ledger: newLedger(b.run),
				now:         time.Now,
				temperature: b.run.Council.Helper.Temperature,
			}, nil
		},
	}
	return b
}

// helper gives the member a model that answers so.
func (b *toolBench) helper(answers ...[]modeltest.Step) {
	b.model = modeltest.New(answers...)
	b.run.Models = map[string]string{"ada": "test/scripted"}
}

// do does one tool of Ada, and returns how it ended and the text.
func (b *toolBench) do(ctx context.Context, assigned string) (council.End, string) {
	b.t.Helper()
	job := council.Job{Run: b.run, Attempt: 1, Task: council.Task{
		ID: "0/ada/" + assigned, Kind: council.UseTool, Member: "ada", Tool: assigned,
	}}
	work := b.work.Do(ctx, job, func(l council.Live) { b.lives = append(b.lives, l) })
	if (work.End.State == council.Done) != (work.End.Failure == nil) {
		b.t.Errorf("%s ended %+v", assigned, work.End)
	}
	return work.End, string(work.Texts[work.End.Text])
}

// why is the sentence with which a task failed.
func why(e council.End) string {
	if e.Failure == nil {
		return ""
	}
	return string(e.State) + ": " + e.Failure.Kind + ": " + e.Failure.Message
}

func TestSP25AToolThatReadsTheChatIsHandedItAndHasNoArguments(t *testing.T) {
	b := newToolBench(t)
	end, text := b.do(t.Context(), "p:read")
	if end.State != council.Done || text != "I have read it." || string(b.last.Arguments) != "{}" {
		t.Fatalf("it ended %+v, %q, with %s", end, text, b.last.Arguments)
	}
	want := []tool.ContextMessage{
		{Role: "system", Content: "Be kind."},
		{Role: "user", Content: "Is it warm in Oslo?"},
		{Role: "assistant", Content: "Where?"},
	}
	if !slices.Equal(b.last.ContextMessages, want) {
		t.Errorf("SP-28: it was told %+v", b.last.ContextMessages)
	}
	sent, err := json.Marshal(want)
	if err != nil || len(end.Requests) != 1 || end.Requests[0].Model != "p:read" ||
		end.Requests[0].Body != council.HashOf(sent) || end.Requests[0].Given == "" || end.Requests[0].Tokens == 0 {
		t.Errorf("the inspector has %+v, %v", end.Requests, err)
	}
	records := b.log.Calls()
	if len(records) != 1 || records[0].Caller != "member:ada" || records[0].Turn != end.Turn ||
		!slices.Equal(end.Calls, []uint64{records[0].ID}) || records[0].Conversation != "c" {
		t.Errorf("on record are %+v, and it ended %+v", records, end)
	}
	if n := len(b.lives); n < 3 || b.lives[0].Phase != council.Reading || b.lives[n-1].Phase != council.Using {
		t.Errorf("its lane saw %+v", b.lives)
	}
	b.member.Plan = []string{"p:read"}
	b.helper([]modeltest.Step{modeltest.Call("1", "read", `{"city":"Oslo"}`)})
	if _, _ = b.do(t.Context(), "p:read"); string(b.last.Arguments) != `{"city":"Oslo"}` ||
		len(b.last.ContextMessages) != 3 {
		t.Errorf("where the person has them planned, it had %s and %+v", b.last.Arguments, b.last.ContextMessages)
	}
}

func TestSP29TheMemberHasTwelveFieldsAndAPersonaThatIsGoneIsEmpty(t *testing.T) {
	two := 2
	for name, c := range map[string]struct {
		member council.Member
		want   string
	}{
		"a persona": {council.Member{
			ID: "ada", Name: "Ada", Role: "Analyst", Chance: 50, PackID: "p", Pack: "P", ItemID: "i",
			Persona: council.Persona{Definition: "d", Personality: "e", Behavior: "f", Avatar: "x.png", Gender: &two},
		}, `{"memberId":"ada","itemId":"i","packId":"p","packName":"P","name":"Ada","role":"Analyst","chance":50,` +
			`"avatarUrl":"media/x.png","definition":"d","personality":"e","behavior":"f","genderIdentity":2}`},
		"none": {
			council.Member{ID: "bo", Name: "Bo", Chance: 100},
			`{"memberId":"bo","itemId":"","packId":"","packName":"","name":"Bo","role":"","chance":100,` +
				`"avatarUrl":null,"definition":"","personality":"","behavior":"","genderIdentity":3}`,
		},
	} {
		if got := string(council.MemberContext(c.member)); got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestArgumentsArePlannedThroughOneFunction(t *testing.T) {
	b := newToolBench(t)
	if end, text := b.do(t.Context(), "p:look"); end.State != council.Done || text != "3 files" {
		t.Errorf("a tool that needs none ended %+v, %q", end, text)
	}
	b.helper([]modeltest.Step{modeltest.Call("1", "weather", `{"city":"Oslo"}`), modeltest.Used(50, 7)})
	end, text := b.do(t.Context(), "p:weather")
	if text != `sunny for {"city":"Oslo"}` || end.Usage.Input != 50 || end.Usage.Output != 7 {
		t.Errorf("it ended %+v, %q", end, text)
	}
	r := b.model.Requests()[0]
	told := chat.TextOf(r.Messages[0].Parts)
	if len(r.Tools) != 1 || r.Tools[0].Name != "weather" || !r.MustCall || *r.Temperature > plannedHeat ||
		!strings.Contains(told, "user: Is it warm in Oslo?\n\nassistant: Where?") {
		t.Errorf("it was asked %+v: %s", r, told)
	}
}

func TestWhatPlannedArgumentsWasToldIsKeptAndPaidOnce(t *testing.T) {
	b := newToolBench(t)
	hot := 1.5
	b.run.Council.Helper.Temperature = &hot
	b.helper([]modeltest.Step{modeltest.Call("1", "weather", `{}`), modeltest.Used(50, 7)},
		[]modeltest.Step{modeltest.Say(`{"city":"Oslo"}`), modeltest.Used(60, 8)})
	end, _ := b.do(t.Context(), "p:weather")
	if end.Usage.Input != 110 || end.Usage.Output != 15 || len(end.Requests) != 2 {
		t.Errorf("it took %+v in %d requests", end.Usage, len(end.Requests))
	}
	for _, r := range b.model.Requests() {
		if *r.Temperature != plannedHeat {
			t.Errorf("arguments are planned at %g", *r.Temperature)
		}
	}
	no := []modeltest.Step{modeltest.Say("no"), modeltest.Used(1, 1)}
	b.helper(no, no)
	if end, _ := b.do(t.Context(), "p:weather"); end.State != council.Failed || end.Usage.Input != 2 ||
		len(end.Requests) != 2 {
		t.Errorf("what came to nothing took %+v in %d requests", end.Usage, len(end.Requests))
	}
}

func TestArgumentsThatDoNotFitAreRepairedOnce(t *testing.T) {
	b := newToolBench(t)
	b.helper([]modeltest.Step{modeltest.Call("1", "weather", `{"days":"x"}`)},
		[]modeltest.Step{modeltest.Say("Here:\n```json\n{\"city\":\"Oslo\"}\n```")})
	if _, text := b.do(t.Context(), "p:weather"); text != `sunny for {"city":"Oslo"}` {
		t.Errorf("repaired it answered %q", text)
	}
	second := b.model.Requests()[1]
	if told := chat.TextOf(second.Messages[2].Parts); !strings.Contains(told, "city") || len(second.Tools) != 0 {
		t.Errorf("it was asked again %q", told)
	}
	b.helper([]modeltest.Step{modeltest.Say("no")}, []modeltest.Step{modeltest.Say("never")})
	b.last = tool.Call{}
	end, _ := b.do(t.Context(), "p:weather")
	if got := why(end); got != "failed: bad_arguments: The helper model wrote no arguments that fit Weather." ||
		b.last.ID != "" || len(b.model.Requests()) != 2 {
		t.Errorf("it ended %q", got)
	}
}

func TestAHelperThatWritesWithoutEndIsStopped(t *testing.T) {
	b := newToolBench(t)
	part := strings.Repeat("x", int(limit.PlannedArguments/4))
	fits := []modeltest.Step{modeltest.Say(part), modeltest.Say(part), modeltest.Say(part), modeltest.Say(part)}
	b.helper(fits, []modeltest.Step{modeltest.Say(`{"city":"Oslo"}`)})
	if end, _ := b.do(t.Context(), "p:weather"); end.State != council.Done {
		t.Errorf("what is as long as it may be ended %q", why(end))
	}
	b.helper(append(fits, modeltest.Say("x")))
	end, _ := b.do(t.Context(), "p:weather")
	if got := why(end); got != "failed: provider: The helper model wrote more than 1 MiB to plan the arguments of "+
		"one call, and was stopped." || len(b.model.Requests()) != 1 {
		t.Errorf("one over, it ended %q", got)
	}
}

func TestAModelWithoutToolsWritesArgumentsAsText(t *testing.T) {
	b := newToolBench(t)
	b.helper([]modeltest.Step{modeltest.Fail(&model.Error{Kind: model.NoTools})}, []modeltest.Step{modeltest.Say(`{"city":"Rome"}`)})
	if _, text := b.do(t.Context(), "p:weather"); text != `sunny for {"city":"Rome"}` {
		t.Errorf("refused, it answered %q", text)
	}
	b.helper([]modeltest.Step{modeltest.Say(`{"city":"Bern"}`)})
	b.model.SetInfo(model.Info{Connection: "test", ID: "small"})
	_, text := b.do(t.Context(), "p:weather")
	if r := b.model.Requests()[0]; text != `sunny for {"city":"Bern"}` || len(r.Tools) != 0 ||
		!strings.Contains(chat.TextOf(r.Messages[0].Parts), `"required":["city"]`) {
		t.Errorf("it answered %q, asked %+v", text, r)
	}
}

func TestWithoutAModelToolsThatNeedOneFailAtOnceWithASentence(t *testing.T) {
	b := newToolBench(t)
	for assigned, want := range map[string]string{
		"voice_concern": "failed: usage: Concerns needs a helper model.",
		"p:weather":     "failed: usage: Weather needs a helper model.",
		"p:gone":        "skipped: not_found: The tool p:gone is not available.",
		"q:look":        "skipped: not_found: The tool q:look is not available.",
		"no_such":       "skipped: not_found: The tool no_such is not available.",
		"p:secret":      "skipped: not_found: Its plugin does not offer Secret to members of a council.",
		"p:raise":       "failed: raised: no",
	} {
		end, _ := b.do(t.Context(), assigned)
		if got := why(end); got != want {
			t.Errorf("%s ended %q, want %q", assigned, got, want)
		}
	}
	marks := map[string]string{
		"voice_concern": "Concerns needs a helper model.", "p:weather": "Weather needs a helper model.",
		"p:look": "", "p:read": "", "p:gone": "",
	}
	for assigned, want := range marks {
		if got := NeedsModel(b.work.tools, assigned, *b.member); got != want {
			t.Errorf("before the run %s says %q", assigned, got)
		}
	}
}

func TestSP33AToolOfAMemberEndsAtItsTimeAndWithTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newToolBench(t)
		b.run.Council.Tool.TimeoutMS = 15_000
		began := time.Now()
		end, _ := b.do(t.Context(), "p:hang")
		if got := why(end); got != "failed: timeout: hang took longer than 15 s and was stopped." ||
			time.Since(began) > 17*time.Second {
			t.Errorf("it ended %q after %s", got, time.Since(began))
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		began = time.Now()
		if end, _ := b.do2(ctx, "p:hang"); end.State != council.Stopped || time.Since(began) > 1500*time.Millisecond {
			t.Errorf("stopped, it ended %+v after %s", end, time.Since(began))
		}
		b.member.Limits.Seconds = 1
		ctx, cancel = context.WithTimeoutCause(t.Context(), time.Second, errMemberTime)
		defer cancel()
		end, _ = b.do(ctx, "p:hang")
		if got := why(end); got != "failed: timeout: Ada took longer than its limit of 1 s." {
			t.Errorf("its member's time was over, and it ended %q", got)
		}
		b.helper([]modeltest.Step{modeltest.Wait(make(chan struct{}))})
		end, _ = b.do(t.Context(), "p:weather")
		want := "failed: timeout: Planning the arguments of Weather took longer than 15 s and was stopped."
		if got := why(end); got != want {
			t.Errorf("planning ended %q", got)
		}
	})
}

// do2 is do for a task that was stopped, which has no failure.
func (b *toolBench) do2(ctx context.Context, assigned string) (council.End, []byte) {
	work := b.work.Do(ctx, council.Job{Run: b.run, Attempt: 1, Task: council.Task{
		Kind: council.UseTool, Member: "ada", Tool: assigned,
	}}, func(council.Live) {})
	return work.End, work.Texts[work.End.Text]
}

func TestSP59WordsControlAndPersonaChangeWhatIsAskedOfAPrompt(t *testing.T) {
	b := newToolBench(t)
	b.helper()
	asked := func() council.Given {
		t.Helper()
		b.spoken = nil
		if end, _ := b.do(t.Context(), "voice_concern"); end.State != council.Done || len(b.spoken) != 1 {
			t.Fatalf("it ended %+v", end)
		}
		return b.spoken[0]
	}
	base := asked()
	prompt, _ := builtInOf("voice_concern")
	for _, part := range []string{
		"Ada, a member of a council", "Its role: Analyst.", "A mathematician.", "Exact.", "Counts twice.", prompt.Title,
		prompt.Description, prompt.prompt, "Use at most 250 words.", "Never plan what the person's own character says",
		"\n\nBe kind.",
	} {
		if !strings.Contains(base.System, part) {
			t.Errorf("%q is not in\n%s", part, base.System)
		}
	}
	last := base.Path[len(base.Path)-1]
	if len(base.Path) != 5 || last.Role != chat.RoleUser || !strings.Contains(chat.TextOf(last.Parts), "“Concerns”") {
		t.Errorf("it is asked %+v", base.Path)
	}
	set := &b.run.Council.Tool
	set.MaxWords = 40
	if got := asked().System; got != strings.Replace(base.System, "at most 250 words", "at most 40 words", 1) {
		t.Errorf("with 40 words it is told\n%s", got)
	}
	set.MaxWords = 0
	if got := asked().System; got != strings.Replace(base.System, "\n\nUse at most 250 words.", "", 1) {
		t.Errorf("without a number of words it is told\n%s", got)
	}
	set.MaxWords, set.UserControl = 250, true
	if got := asked().System; got != strings.Replace(base.System, part("user-not.md"), part("user-may.md"), 1) {
		t.Errorf("where it may plan for the person it is told\n%s", got)
	}
	set.UserControl = false
	b.member.Persona = council.Persona{}
	if got := asked().System; strings.Contains(got, "mathematician") || !strings.Contains(got, "Its role: Analyst.") {
		t.Errorf("without a persona it is told\n%s", got)
	}
}

func TestPromptToolsHaveATitleADescriptionAndAPrompt(t *testing.T) {
	if len(PromptTools) != 14 {
		t.Errorf("there are %d", len(PromptTools))
	}
	for _, p := range PromptTools {
		if p.Title == "" || p.Description == "" || len(p.prompt) < 100 || strings.Contains(p.Title, "#") ||
			strings.ContainsRune(p.Name, ':') {
			t.Errorf("%s is %+v", p.Name, p)
		}
	}
}

// thisTime is a person who allows all for this answer.
type thisTime struct{}

func (thisTime) Ask(context.Context, gate.Request) (gate.Answer, error) {
	return gate.Answer{Effect: gate.Allow, Scope: gate.ThisAnswer}, nil
}

func TestWhatATaskWasAllowedEndsWithItAfterABugToo(t *testing.T) {
	b := newToolBench(t)
	b.gate.Approvals.Status(gate.PluginVersion{ // nothing bounds what it can do, so a person is asked
		Plugin: "p", Name: "P", Dialect: "d", Isolation: "process", Code: "c", Tools: b.work.tools.Tools(), Listed: true,
	})
	b.work.turn.Asker = thisTime{}
	allowed := 0
	rules := func() int {
		all, err := b.gate.Rules.List(t.Context())
		if err != nil {
			t.Error(err)
		}
		return len(all)
	}
	func() {
		defer func() { _ = recover() }()
		b.work.Do(t.Context(), council.Job{Run: b.run, Attempt: 1, Task: council.Task{
			ID: "0/ada/p:look", Kind: council.UseTool, Member: "ada", Tool: "p:look",
		}}, func(l council.Live) {
			if l.Call != nil && l.Call.Status == chat.CallOK {
				allowed = rules()
				panic("a bug")
			}
		})
	}()
	if left := rules(); allowed != 1 || left != 0 {
		t.Errorf("of %d rules for this answer %d still hold", allowed, left)
	}
}

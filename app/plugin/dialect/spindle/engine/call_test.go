package engine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/app/plugin/wire"
)

func TestSP24EveryCallHasItsOwnRequestID(t *testing.T) {
	p := script(t,
		`spindle.registerTool({ name: "a:b", description: "d" }); spindle.on("TOOL_INVOCATION", (p) => ({ name: p.toolName, id: p.requestId }))`)
	seen := map[string]bool{}
	for _, m := range []meta{nil, nil, {wire.MetaCall: "given"}} {
		var got struct{ Name, ID string }
		must(t, json.Unmarshal([]byte(p.call("a:b", meta{}, m).text), &got))
		if got.Name != "a:b" || got.ID == "" || seen[got.ID] {
			t.Errorf("got %+v", got)
		}
		seen[got.ID] = true
	}
	if !seen["given"] {
		t.Error("the call's own id was not passed on")
	}
}

// payload holds the arguments of a handler, as JSON.
type payload struct {
	ToolName        string                     `json:"toolName"`
	Args            map[string]json.RawMessage `json:"args"`
	Keys            []string                   `json:"keys"`
	User            string                     `json:"user"`
	Context         string                     `json:"context"`
	CouncilMember   map[string]any             `json:"councilMember"`
	ContextMessages []message                  `json:"contextMessages"`
	Has             map[string]bool            `json:"has"`
}

const echo = `return { ...payload, keys: Object.keys(args), user, context: args.context, has: { member: "councilMember" in payload, messages: "contextMessages" in payload } }`

func (p *plug) echo(args any, m meta) payload {
	p.tb.Helper()
	var got payload
	a := p.call("t", args, m)
	if err := json.Unmarshal([]byte(a.text), &got); err != nil {
		p.tb.Fatalf("%v: %+v", err, a)
	}
	return got
}

func TestSP25ACouncilCallCarriesTheTwoHostKeysOnly(t *testing.T) {
	p := script(t, handler(echo))
	deadline := time.Now().Add(15 * time.Second)
	got := p.echo(meta{}, meta{
		wire.MetaDeadline: deadline.UnixMilli(), wire.MetaMessages: []any{}, wire.MetaMember: map[string]any{"memberId": "m"},
	})
	if strings.Join(got.Keys, " ") != "context __deadlineMs" {
		t.Errorf("keys = %v", got.Keys)
	}
	var ms int64
	if err := json.Unmarshal(got.Args["__deadlineMs"], &ms); err != nil || ms != deadline.UnixMilli() {
		t.Errorf("__deadlineMs = %d, %v; want %d", ms, err, deadline.UnixMilli())
	}
	before := time.Now()
	got = p.echo(nil, nil)
	if err := json.Unmarshal(got.Args["__deadlineMs"], &ms); err != nil || ms <= before.UnixMilli() ||
		ms > before.Add(31*time.Second).UnixMilli() {
		t.Errorf("without a deadline: %d, %v", ms, err)
	}
}

func TestSP26ADirectCallCarriesTheArgumentsWithoutUserIDs(t *testing.T) {
	p := script(t, handler(echo))
	got := p.echo(meta{
		"a": 1.5, "userId": "x", "__userId": "x", "__user_id": "x", "context": "mine", "__deadlineMs": 1,
		"in": meta{"userId": "kept"}, "__proto__": meta{"b": 1},
	}, nil)
	if len(got.Keys) != 5 || string(got.Args["a"]) != "1.5" || got.Context != "" ||
		string(got.Args["in"]) != `{"userId":"kept"}` || string(got.Args["__deadlineMs"]) == "1" ||
		got.Args["__proto__"] == nil {
		t.Errorf("got %+v", got)
	}
}

func TestSP27And28TheContextIsTheMessagesAsText(t *testing.T) {
	p := script(t, handler(echo))
	got := p.echo(meta{}, meta{wire.MetaMessages: []any{
		meta{"role": "system", "content": "Rules."},
		meta{"role": "user", "content": "Hi", "name": "Ann"},
		meta{
			"role": "assistant",
			"content": []any{
				meta{"type": "text", "text": "one"}, meta{"type": "image", "data": "AAAA"}, meta{"type": "text", "text": "two"},
			},
		},
		meta{"role": "robot", "content": nil},
	}})
	if want := "Rules.\n\nuser: Hi\n\nassistant: one\ntwo\n\nuser: "; got.Context != want {
		t.Errorf("context = %q", got.Context)
	}
	if len(got.ContextMessages) != 4 || got.ContextMessages[1].Name != "Ann" || got.ContextMessages[3].Role != "user" {
		t.Errorf("messages = %+v", got.ContextMessages)
	}
}

func TestSP29TheMemberIsThereOnCouncilCallsOnly(t *testing.T) {
	p := script(t, handler(echo))
	member := meta{
		"memberId": "m", "itemId": "i", "packId": "p", "packName": "P", "name": "N", "role": "R", "chance": 100.0,
		"avatarUrl": nil, "definition": "", "personality": "", "behavior": "", "genderIdentity": 3.0,
	}
	got := p.echo(meta{}, meta{wire.MetaMember: member})
	if len(got.CouncilMember) != 12 || got.CouncilMember["genderIdentity"] != 3.0 ||
		got.CouncilMember["avatarUrl"] != nil {
		t.Errorf("member = %v", got.CouncilMember)
	}
	if got := p.echo(meta{}, nil); got.Has["member"] || got.Has["messages"] {
		t.Errorf("outside a council: %+v", got.Has)
	}
}

func TestSP30TheSecondArgumentIsTheUser(t *testing.T) {
	p := script(t,
		handler(`await spindle.userStorage.write("u", user, user); return await spindle.userStorage.read("u", user)`))
	for range 2 {
		if got := p.call("t", meta{}, meta{wire.MetaUser: "somebody"}).text; !strings.HasPrefix(got, "somebody") {
			t.Errorf("user = %q", got)
		}
	}
	if got := p.call("t", meta{}, nil).text; !strings.HasPrefix(got, "conclave-user") {
		t.Errorf("without one: %q", got)
	}
}

func TestSP31AllHandlersRunAndTheFirstAnswerWins(t *testing.T) {
	head := `const ran = []; spindle.registerTool({ name: "t", description: "d" });` + "\n"
	tests := map[string]struct{ handlers, want, status string }{
		"first": {`spindle.on("TOOL_INVOCATION", () => "a"); spindle.on("TOOL_INVOCATION", () => "b")`, "a", "ok"},
		"first that is not null": {
			`spindle.on("TOOL_INVOCATION", async () => null); spindle.on("TOOL_INVOCATION", () => {}); spindle.on("TOOL_INVOCATION", () => 0); spindle.on("TOOL_INVOCATION", () => "b")`,
			"0", "ok",
		},
		"one after another": {
			`spindle.on("TOOL_INVOCATION", async () => { await new Promise((d) => setTimeout(d, 10)); ran.push(1) }); spindle.on("TOOL_INVOCATION", () => { ran.push(2); return ran.join() })`,
			"1,2", "ok",
		},
		"a throw after an answer": {
			`spindle.on("TOOL_INVOCATION", () => "a"); spindle.on("TOOL_INVOCATION", () => { throw new Error("late") })`, "late",
			"raised",
		},
		"a throw before an answer": {
			`spindle.on("TOOL_INVOCATION", () => { throw new Error("early") }); spindle.on("TOOL_INVOCATION", () => { ran.push(1); return "a" })`,
			"early", "raised",
		},
		"a handler that was removed": {
			`const off = spindle.on("TOOL_INVOCATION", () => "gone"); off(); off(); spindle.on("TOOL_INVOCATION", () => "b")`,
			"b", "ok",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := script(t, head+test.handlers).call("t", meta{}, nil)
			if got.text != test.want || got.status != test.status || got.isError != (test.status != "ok") {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestSP32WhatIsReturnedBecomesText(t *testing.T) {
	tests := map[string]struct{ value, want, typed string }{
		"text": {`"x"`, "x", ""}, "number": {"-1.50", "-1.5", ""}, "true": {"true", "true", ""},
		"false":  {"false", "false", ""},
		"object": {`{ a: [1, "ü"] }`, `{"a":[1,"ü"]}`, `{"a":[1,"ü"]}`}, "array": {`[1, null]`, `[1,null]`, `[1,null]`},
		"null": {"null", "", ""}, "undefined": {"undefined", "", ""}, "bigint": {"12n", "12", ""},
		"no prototype": {"Object.assign(Object.create(null), { a: 1 })", `{"a":1}`, `{"a":1}`},
		"own text":     {"new (class { toString() { return 'me' } })()", "me", ""},
		"class":        {"new (class { x = 1 })()", `{"x":1}`, `{"x":1}`},
		"date":         {"new Date(0).toISOString()", "1970-01-01T00:00:00.000Z", ""},
		"half a pair":  {`"a\ud800b"`, "a\ufffdb", ""},
		"zero byte":    {`"a\u0000b"`, "a\x00b", ""},
		"toJSON":       {"({ toJSON() { return undefined } })", "", ""},
	}
	p := script(t, `const values = {`+func() string {
		var b strings.Builder
		for name, test := range tests {
			b.WriteString(toJSON(name) + ": () => (" + test.value + "),\n")
		}
		return b.String()
	}()+`};`+handler("return values[args.name]()"))
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := p.call("t", meta{"name": name}, nil)
			typed := ""
			if v, ok := got.meta[wire.MetaResult]; ok {
				typed = toJSON(v)
			}
			if got.isError || got.text != test.want || typed != test.typed {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestSP32WhatCannotBeWrittenIsAnError(t *testing.T) {
	p := script(t,
		handler(`if (args.kind === "circular") { const o = {}; o.o = o; return o } if (args.kind === "bigint") return [1n]; if (args.kind === "huge") return "x".repeat(5e6); if (args.kind === "symbol") return new (class { toString() { throw new Error("no text") } })()`))
	for kind, want := range map[string]string{
		"circular": "circular", "bigint": "bigint", "huge": "at most 3 MB can be passed on", "symbol": "no text",
	} {
		if got := p.call("t", meta{"kind": kind}, nil); !got.isError || got.status != "raised" ||
			!strings.Contains(strings.ToLower(got.text), strings.ToLower(want)) {
			t.Errorf("%s: %.200v", kind, got)
		}
	}
	if got := p.call("t", meta{}, nil); got.isError {
		t.Errorf("afterwards: %+v", got)
	}
}

func TestSP33AHandlerThatNeverAnswersFailsAtItsDeadline(t *testing.T) {
	p := script(t, handler(`await new Promise(() => {})`))
	got, start := p.within(2*time.Second, meta{})
	if !got.isError || got.status != "timeout" || !strings.Contains(got.text, `"t" did not answer within`) {
		t.Errorf("got %+v", got)
	}
	if took := time.Since(start); took < 1900*time.Millisecond {
		t.Errorf("it was given %v", took)
	}
	if code := p.waitExit(); code != 3 {
		t.Errorf("exit = %d; a worker that missed a deadline is not used again", code)
	}
}

func TestSP33NeighboursOfAMissedDeadlineGetAnError(t *testing.T) {
	p := script(t,
		handler(`if (args.loop) for (;;); console.log("begin"); await new Promise((d) => setTimeout(d, 60000))`), watched())
	var neighbour answer
	var wg sync.WaitGroup
	wg.Go(func() { neighbour, _ = p.tryCall(context.Background(), "t", meta{}, nil) })
	p.waitLog("begin") // the first call has to be open before the loop begins
	got, _ := p.within(2*time.Second, meta{"loop": true})
	wg.Wait()
	if got.status != "timeout" {
		t.Errorf("got %+v", got)
	}
	if neighbour.status != "cancelled" || !strings.Contains(neighbour.text, "Try again") {
		t.Errorf("neighbour = %+v", neighbour)
	}
}

func TestADeadlineThatHasPassedCallsNobody(t *testing.T) {
	p := script(t, handler(`console.log("called"); return "x"`))
	if got := p.call("t", meta{},
		meta{wire.MetaDeadline: time.Now().Add(-time.Second).UnixMilli()}); got.status != "timeout" {
		t.Errorf("got %+v", got)
	}
	if got := p.call("t", meta{}, nil); got.text != "x" {
		t.Errorf("afterwards %+v", got)
	}
}

func TestSP35EachFailureHasItsOwnSentence(t *testing.T) {
	p := script(t, `spindle.registerTool({ name: "t", description: "d" });`)
	if got := p.call("t", meta{}, nil); !got.isError || got.status != "raised" ||
		got.text != "No TOOL_INVOCATION handler registered" {
		t.Errorf("without a handler: %+v", got)
	}
	if got := p.call("gone", meta{}, nil); !got.isError || got.status != "unknown" ||
		got.text != `The plugin has no tool "gone".` {
		t.Errorf("unknown tool: %+v", got)
	}
}

func TestSP36AThrownErrorIsAResult(t *testing.T) {
	text := "interface Skip { a: string }\ntype Also = Skip\n" + `const deep = (x: unknown): never => {
  throw new RangeError("too far: " + x);
};
class Own extends Error { name = "OwnError" }
spindle.registerTool({ name: "t", description: "d" });
spindle.on("TOOL_INVOCATION", async ({ args }) => {
  await null;
  if (args.kind === "text") throw "plain text";
  if (args.kind === "object") throw { message: "from an object" };
  if (args.kind === "bare") throw { code: 7 };
  if (args.kind === "own") throw new Own("mine");
  if (args.kind === "empty") throw new TypeError();
  if (args.kind === "nasty") throw { get message() { throw 1 }, toString() { throw 2 } };
  deep(args.kind);
});`
	p := load(t, "dir/p.ts", map[string]string{"dir/p.ts": text, "x": ""})
	tests := map[string]struct{ text, kind string }{
		"range": {"too far: range", "RangeError"}, "text": {"plain text", "Error"}, "object": {"from an object", "Error"},
		"bare": {`{"code":7}`, "Error"}, "own": {"mine", "OwnError"}, "empty": {"TypeError", "TypeError"},
		"nasty": {"[object Object]", "Error"},
	}
	for kind, want := range tests {
		got := p.call("t", meta{"kind": kind}, nil)
		if !got.isError || got.status != "raised" || got.text != want.text || got.meta[wire.MetaErrorType] != want.kind {
			t.Errorf("%s: %+v", kind, got)
		}
	}
	trace, _ := p.call("t", meta{"kind": "range"}, nil).meta[wire.MetaTraceback].(string)
	if !strings.Contains(trace, "RangeError: too far") || !strings.Contains(trace, "dir/p.ts:4:") ||
		strings.Contains(trace, "conclave:") {
		t.Errorf("traceback = %s", trace)
	}
}

func TestArgumentsThatAreNoObjectAreRefused(t *testing.T) {
	if isObject(json.RawMessage(`[1]`)) || isObject(json.RawMessage(`"x"`)) || isObject(json.RawMessage(`null`)) ||
		!isObject(nil) || !isObject(json.RawMessage(` {"a":1} `)) {
		t.Error("isObject is wrong")
	}
}

func TestCallsRunConcurrentlyAtAwaitPoints(t *testing.T) {
	// None is answered before all have come.
	p := script(t, handler(`
globalThis.all ??= (() => { let come; return { here: 0, promise: new Promise((d) => come = d), come } })();
await new Promise((d) => setTimeout(d, 1));
if (++all.here === 20) all.come();
await all.promise;
return args.n`), watched())
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var wg sync.WaitGroup
	for n := range 20 {
		wg.Go(func() {
			if got, err := p.tryCall(ctx, "t", meta{"n": n}, nil); err != nil || got.text != toJSON(n) {
				t.Errorf("call %d: %+v, %v", n, got, err)
			}
		})
	}
	wg.Wait()
}

func TestACancelledCallIsLetGoAndTheWorkerLives(t *testing.T) {
	p := script(t,
		handler(`if (args.wait) console.log("begin"); if (args.wait) await new Promise((d) => setTimeout(d, 60000)); return "here"`),
		watched())
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() { // awaited below
		_, err := p.tryCall(ctx, "t", meta{"wait": true}, nil)
		result <- err
	}()
	p.waitLog("begin")
	cancel()
	if err := <-result; !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
	if got := p.call("t", meta{}, nil); got.text != "here" {
		t.Errorf("afterwards: %+v", got)
	}
}

func TestACancelledCallThatGoesOnComputingEndsTheWorker(t *testing.T) {
	p := script(t, handler(`console.log("begin"); for (;;);`), watched())
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() { // awaited below
		_, err := p.tryCall(ctx, "t", meta{}, nil)
		result <- err
	}()
	p.waitLog("begin")
	cancel()
	<-result
	if code := p.waitExit(); code != 3 {
		t.Errorf("exit = %d", code)
	}
	if got := p.stderr.String(); !strings.Contains(got, "was cancelled and went on computing") {
		t.Errorf("stderr = %q", got)
	}
}

func TestTooManyCallsAreTurnedAway(t *testing.T) {
	p := script(t, `let open; const go = new Promise((d) => { open = d }); spindle.on("GO", () => open());`+
		handler(`await go; return "x"`), watched())
	const over = 10
	ended := make(chan string)
	late := meta{wire.MetaDeadline: time.Now().Add(patience).UnixMilli()}
	for range maxCalls + over {
		go func() { // ends with its call
			got, err := p.tryCall(context.Background(), "t", meta{}, late)
			if err != nil {
				t.Error(err)
			}
			ended <- got.status
		}()
	}
	for i := range maxCalls + over { // none that is open ends before those over the bound have
		if i == over {
			must(t, p.wire.Notify("GO", nil))
		}
		if got, want := <-ended, map[bool]string{true: "raised", false: "ok"}[i < over]; got != want {
			t.Fatalf("call %d to end is %s, want %s", i+1, got, want)
		}
	}
}

func TestALogLineComesBeforeTheAnswer(t *testing.T) {
	p := script(t,
		handler(`spindle.log.info("one"); spindle.toast.success("two", { title: "T" }); console.log("three"); return "x"`))
	got := p.call("t", meta{}, nil)
	if got.meta[wire.MetaPrinted] != "three\n" {
		t.Errorf("printed = %v", got.meta[wire.MetaPrinted])
	}
	p.waitLog("three")
	if got := p.logged(); got != "info: one\ninfo: T: two\ninfo: three" {
		t.Errorf("log = %s", got)
	}
}

func TestEventsReachThePluginAndItsFailuresAreLogged(t *testing.T) {
	p := script(t, `const seen = []; spindle.on("CHAT_SWITCHED", (p, user) => { seen.push(p.chatId + user); throw new Error("listener broke") });
spindle.on("CHAT_SWITCHED", async () => { throw new Error("async broke") }); spindle.on("GENERATION_ENDED", () => seen.push("generation"));
spindle.on("CHAT_SWITCHED", 5); spindle.on("LAST", () => console.log("all arrived"));`+handler(`return seen.join()`), watched())
	for _, name := range []string{"CHAT_SWITCHED", "GENERATION_ENDED", "NEVER_HEARD_OF", "LAST"} {
		must(t, p.wire.Notify(name, map[string]any{"chatId": "c"}))
	}
	p.waitLog("all arrived") // a call may overtake an event on its way
	if got := p.call("t", meta{}, nil).text; got != "cconclave-user" {
		t.Errorf("seen = %s", got)
	}
	for _, want := range []string{"listener broke", "async broke", "was given no function"} {
		p.waitLog(want)
	}
}

func TestEndOfInputEndsTheWorker(t *testing.T) {
	p := script(t, handler(`console.log("begun"); for (;;);`))
	go func() { _, _ = p.tryCall(context.Background(), "t", meta{}, nil) }() // ends with the process
	p.waitLog("begun")
	must(t, p.input.Close())
	if code := p.waitExit(); code != 0 {
		t.Errorf("exit = %d, stderr %s", code, p.stderr)
	}
}

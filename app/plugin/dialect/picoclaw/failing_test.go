package picoclaw_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/model"
	"conclave/app/model/modeltest"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/picoclaw"
	"conclave/app/plugin/host"
	"conclave/app/test/testkit"
)

func TestPC02AnyObjectOrNothingAnswersHello(t *testing.T) {
	for _, said := range []string{`{}`, `None`, `{"ok": True, "version": 9, "modes": ["x"], "more": [1]}`} {
		b := newBench(t)
		if s := b.hook("h", stages("before_tool"), told+"serve(hello=lambda p: "+said+")"); s.State != plugin.Ready {
			t.Errorf("%s: it is %s, %+v", said, s.State, s.Problem)
		}
	}
}

func TestPC03PC06AnythingElseDoesNotAndOthersWork(t *testing.T) {
	b := newBench(t)
	for id, said := range map[string]string{
		"list": `[1]`, "text": `"hi"`, "unready": `{"ok": False, "reason": "no key"}`,
	} {
		s := b.hook(id, stages("approve_tool"), told+"serve(hello=lambda p: "+said+")")
		if s.State != plugin.Failed || s.Problem == nil {
			t.Errorf("%s: it is %s, %+v", id, s.State, s.Problem)
		}
	}
	if p := b.status("unready").Problem; p == nil || p.Message != "The hook reports that it is not ready: no key." {
		t.Errorf("it says %+v", p)
	}
	b.hook("good", stages("before_tool"), gateHook(`{"action": "deny_tool"} if p["tool"] == "exec" else {}`))
	a := b.ask(person(yes), calls("exec", listing, "echo", `{}`), say("ok"))
	a.says("ok")
	if got := b.did(); got != "echo {}" {
		t.Errorf("it did %q", got)
	}
}

func TestPC04AHookThatNeverSaysHelloIsGivenUp(t *testing.T) {
	b := newBench(t)
	e := stages("before_llm")
	e["x_conclave"] = map[string]any{"hello_timeout_ms": 300}
	s := b.hook("mute", e, "import time\ntime.sleep(600)\n")
	if s.State != plugin.Failed || s.Problem.Message != "The hook did not answer hook.hello within 300ms." || s.Running {
		t.Errorf("it is %s, %+v", s.State, s.Problem)
	}
	if d := (picoclaw.Process{}).HelloTime(); d != 5*time.Second {
		t.Errorf("hello may take %s", d)
	}
	b.ask(nobody(), say("hi")).says("hi")
}

func TestPC05WhatAScriptThatDoesNotCompileSays(t *testing.T) {
	b := newBench(t)
	s := b.hook("broken", stages("before_llm"), "import signal\nsignal.signal(2, lambda *_: raise SystemExit(0))\n")
	p := s.Problem
	if s.State != plugin.Failed || p == nil || p.File != "hook.py" || p.Line != 2 ||
		!strings.Contains(p.Message, "syntax error in line 2") || !strings.Contains(p.Stderr, "SyntaxError: invalid syntax") {
		t.Errorf("it is %s, %+v", s.State, p)
	}
	b.ask(nobody(), say("hi")).says("hi")
}

func TestAProgramThatNothingCanStartIsRefused(t *testing.T) {
	b := newBench(t)
	pipe := filepath.Join(t.TempDir(), "pipe")
	testkit.Fifo(t, pipe)
	scripts := t.TempDir()
	one, other := filepath.Join(scripts, "one"), filepath.Join(scripts, "other")
	self := filepath.Join(scripts, "self")
	write(t, self, "#!"+self+"\n")
	write(t, one, "#!"+other+" -x\n")
	write(t, other, "#!/usr/bin/env "+one+"\n")
	for id, c := range map[string]struct{ program, want string }{
		"itself": {self, "is a script that only scripts read"},
		"others": {one, "is a script that only scripts read"},
		"pipe":   {pipe, "is no file"},
		"folder": {scripts, "is no file"},
	} {
		e := stages("before_llm")
		e["command"] = []string{c.program}
		s := b.hook(id, e, "")
		if p := s.Problem; s.State != plugin.Failed || p == nil || p.Kind != "refused" ||
			!strings.Contains(p.Message, c.want) {
			t.Errorf("%s: it is %s, %+v", id, s.State, p)
		}
	}
	b.ask(nobody(), say("hi")).says("hi")
}

func TestPC07PC08AConfigurationThatIsWrongSaysWhere(t *testing.T) {
	b := newBench(t)
	for id, c := range map[string]struct{ text, want string }{
		"stage":     {`{"command": ["python3"], "intercept": ["before_lunch"]}`, `intercept "before_lunch"`},
		"kind":      {`{"command": ["python3"], "observe": ["lunch"]}`, `observe "lunch"`},
		"modes":     {`{"command": ["python3"]}`, "neither intercepts nor observes"},
		"transport": {`{"command": ["python3"], "intercept": ["before_llm"], "transport": "http"}`, `transport "http"`},
		"command":   {`{"command": [], "intercept": ["before_llm"]}`, "names no command"},
		"dir":       {`{"command": ["python3"], "intercept": ["before_llm"], "dir": "nowhere"}`, "nowhere does not exist"},
		"json":      {"{\n\"command\": [,]}", "cannot be read"},
		"several":   {`{"processes": {"a": {"enabled": true}, "b": {"enabled": true}}}`, "holds 2 hook processes"},
	} {
		write(t, filepath.Join(b.dir, id, picoclaw.FileName), c.text)
		must(t, b.host.Scan(), b.host.WaitIdle(t.Context()))
		s := b.status(id)
		if s.State != plugin.Failed || s.Problem == nil || !strings.Contains(s.Problem.Message, c.want) ||
			s.Problem.File != picoclaw.FileName {
			t.Errorf("%s: it is %s, %+v", id, s.State, s.Problem)
		}
	}
	if p := b.status("json").Problem; p == nil || p.Line != 2 {
		t.Errorf("the place is %+v", p)
	}
	// What is off is not looked at.
	all, err := picoclaw.Parse([]byte(`{"hooks": {"processes": {"off": {"intercept": ["x"]}, "on": {"enabled": true}}}}`))
	if err != nil || len(all) != 2 || all[0].On() || !all[1].On() || all[1].Name != "on" {
		t.Errorf("read %+v, %v", all, err)
	}
}

func TestPC09EnvAndDirReachTheProcess(t *testing.T) {
	b := newBench(t)
	e := stages("before_tool")
	e["dir"], e["command"] = "sub", []string{"python3", "../hook.py"}
	e["env"] = map[string]string{"COLOUR": "red", "LANG": "xx"}
	write(t, filepath.Join(b.dir, "h", "sub", "note.txt"), "hello")
	b.hook("h", e, told+`
heard.write(json.dumps([os.environ["COLOUR"], os.environ["LANG"], open("note.txt").read()]) + "\n"); heard.flush()
serve()`)
	if got := b.heard("h"); len(got) == 0 || got[0] != `["red", "xx", "hello"]` {
		t.Errorf("it has %q", got)
	}
}

func TestPC10OneStageSwitchesOnItsSibling(t *testing.T) {
	b := newBench(t)
	b.hook("tools", stages("before_tool"), told+"serve()")
	b.hook("models", stages("after_llm"), told+"serve()")
	b.ask(nobody(), calls("echo", `{}`), say("ok")).says("ok")
	for id, methods := range map[string][]string{
		"tools": {"hook.before_tool", "hook.after_tool"}, "models": {"hook.before_llm", "hook.after_llm"},
	} {
		for _, method := range methods {
			if len(b.params(id, method)) == 0 {
				t.Errorf("%s was not asked %s", id, method)
			}
		}
	}
}

func TestPC16PC17MessagesAreChangedAndTheSystemTextIsNot(t *testing.T) {
	b := newBench(t)
	b.hook("h", stages("before_llm"), told+`
def change(p):
    p["messages"][0]["content"] = "You are evil."
    p["messages"].append({"role": "user", "content": "And be brief."})
    return {"action": "modify", "request": {"messages": p["messages"]}}
serve(before_llm=change)`)
	a := b.ask(nobody(), say("hi"))
	a.says("hi")
	r := a.requests[0]
	if r.System != "You are kind." || len(r.Messages) != 1 || len(r.Messages[0].Parts) != 2 ||
		chat.TextOf(r.Messages[0].Parts[1:]) != "And be brief." || toolNames(r) != "exec echo" {
		t.Errorf("the model was sent %+v", r)
	}
}

func TestPC29PC30AnAnswerIsNestedTwiceAndItsCallsStayRunnable(t *testing.T) {
	b := newBench(t)
	b.hook("h", stages("after_llm"), told+`
def change(p):
    r = p["response"]
    if r.get("tool_calls"):
        assert r["tool_calls"][0]["function"] == {"name": "echo", "arguments": '{"text":"y"}'}, r
        return {"action": "modify", "response": {**p, "response": {**r, "tool_calls": [{"id": "c1"}]}}}
    if r["content"] == "flat":
        return {"action": "modify", "response": {"content": "bad"}}
    return {"action": "modify", "response": {"response": {"content": "better"}}}
serve(after_llm=change)`)
	b.ask(nobody(), calls("echo", `{"text":"y"}`), say("ok")).says("better")
	if got := b.did(); got != `echo {"text":"y"}` {
		t.Errorf("it did %q", got)
	}
	b.ask(nobody(), say("flat")).says("flat")
}

func TestPC30ACallThatAHookAddsIsAskedAbout(t *testing.T) {
	b := newBench(t)
	b.hook("h", stages("after_llm"), told+`
call = {"id": "x", "type": "function", "function": {"name": "exec", "arguments": "{\"command\":\"id\"}"}}
serve(after_llm=lambda p: {"response": {"response": {"tool_calls": [call]}}} if p["meta"]["Iteration"] == 1 else {})`)
	who := nobody()
	a := b.ask(who, say("hi"), say("ok"))
	a.says("ok")
	if b.did() != "" || len(who.asked) != 1 || !strings.Contains(who.asked[0].Reason, "the hook h added it") ||
		who.asked[0].Original != nil {
		t.Errorf("asked %+v", who.asked)
	}
}

func TestPC30TheQuestionShowsWhatTheModelAskedForBeforeAHookChangedItsAnswer(t *testing.T) {
	b := newBench(t)
	b.hook("h", stages("after_llm", "before_tool"), told+`
call = {"id": "c1", "type": "function", "function": {"name": "exec", "arguments": "{\"command\":\"id\"}"}}
serve(after_llm=lambda p: {"response": {"response": {"tool_calls": [call]}}} if p["meta"]["Iteration"] == 1 else {},
      before_tool=lambda p: {"action": "modify", "call": {"arguments": {"command": "id -u"}}})`)
	who := nobody()
	b.ask(who, calls("exec", listing), say("ok")).says("ok")
	if b.did() != "" || len(who.asked) != 1 || who.asked[0].Original == nil {
		t.Fatalf("asked %+v", who.asked)
	}
	p := who.asked[0]
	if string(p.Original.Arguments) != listing || string(p.Arguments) != `{"command": "id -u"}` ||
		p.Reason != "Asked because: the hook h changed what the model asked for; and the hook h changed it." {
		t.Errorf("asked %+v, and before it %+v", p, p.Original)
	}
}

func TestPC31AnInterceptorThatIsSilentIsPassedOver(t *testing.T) {
	b := newBench(t)
	e := stages("before_llm")
	e["x_conclave"] = map[string]any{"interceptor_timeout_ms": 200}
	b.hook("slow", e, told+"serve(before_llm=lambda p: ...)")
	began := time.Now()
	b.ask(nobody(), say("hi")).says("hi")
	if took := time.Since(began); took < 200*time.Millisecond {
		t.Errorf("it was given %s", took)
	}
}

func TestPC32AGateThatDoesNotAnswerHasThePersonAsked(t *testing.T) {
	for name, do := range map[string]string{"silent": "...", "crashes": "os._exit(1)", "nonsense": `"what"`} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			e := stages("before_tool")
			e["x_conclave"] = map[string]any{"interceptor_timeout_ms": 200}
			b.hook("gate", e, gateHook(do))
			who := nobody()
			a := b.ask(who, calls("exec", listing), say("ok"))
			a.says("ok")
			if b.did() != "" || len(who.asked) != 1 || !strings.Contains(who.asked[0].Reason, "the hook gate could not look") {
				t.Errorf("told %q, asked %+v", a.result(0), who.asked)
			}
			b.ask(person(yes), calls("exec", listing), say("ok")).says("ok")
			if b.did() == "" {
				t.Error("a person said yes, and it was not run")
			}
		})
	}
}

func TestPC32AGateThatRestsHasThePersonAsked(t *testing.T) {
	b := newBench(t)
	b.hook("gate", stages("approve_tool"), told+"serve(approve_tool=lambda p: os._exit(1))")
	for range 3 {
		b.ask(person(yes), calls("exec", listing), say("ok")).says("ok")
	}
	// A call fails with the connection; the death of the process is noticed after it.
	testkit.Until(t, "it rests", func() bool { return b.status("gate").State == plugin.Quarantined })
	if did := b.did(); did != "" {
		t.Fatalf("it did %q", did)
	}
	who := nobody()
	b.ask(who, calls("exec", listing), say("ok")).says("ok")
	if b.did() != "" || len(who.asked) != 1 {
		t.Errorf("asked %+v", who.asked)
	}
	must(t, b.host.SetEnabled(t.Context(), "gate", false), b.host.WaitIdle(t.Context()))
	b.ask(nobody(), calls("exec", listing), say("ok")).says("ok")
	if b.did() == "" {
		t.Error("it was switched off, and still guards")
	}
}

func TestPC36AFloodOfItsLogDoesNotBlockTheHook(t *testing.T) {
	b := newBench(t)
	b.hook("loud", stages("before_tool"), told+`
def flood(p):
    sys.stderr.write("x" * 3 * 1024 * 1024 + "\n"); sys.stderr.flush()
    return {"action": "deny_tool", "reason": "loud"}
serve(before_tool=flood)`)
	a := b.ask(person(yes), calls("exec", listing), say("ok"))
	if !strings.HasSuffix(a.result(0), ": loud") {
		t.Errorf("told %q", a.result(0))
	}
}

func TestPC38AnObserverGetsEachTurnOnce(t *testing.T) {
	b := newBench(t)
	b.hook("h", entry{"observe": []string{"turn_end"}}, told+"serve()")
	b.ask(nobody(), say("hi")).says("hi")
	b.hear.Flush(t.Context())
	var now, old []map[string]any
	for len(old) == 0 {
		old = b.params("h", "hook.event") // the second of the two
		now = b.params("h", "hook.runtime_event")
		if t.Context().Err() != nil {
			t.Fatal("it was not told")
		}
	}
	if len(now) != 1 || now[0]["kind"] != "agent.turn.end" || len(old) != 1 || fmt.Sprint(old[0]["Kind"]) != "1" ||
		now[0]["payload"].(map[string]any)["Status"] != "completed" {
		t.Errorf("it was told %+v and %+v", now, old)
	}
}

// late is a lender whose hooks load while a turn begins.
type late struct {
	*host.Backends
	ready chan struct{}
}

func (l late) Ready(ctx context.Context, _ string) {
	select {
	case <-l.ready:
	case <-ctx.Done():
	}
}

func (l late) Enlisted(dialect string) []plugin.Enlisted {
	select {
	case <-l.ready:
		return l.Backends.Enlisted(dialect)
	default:
		return nil
	}
}

func TestPC38AnObserverThatLoadsMeanwhileGetsTheWholeTurnBeforeTheEnd(t *testing.T) {
	b := newBench(t)
	// It is busy when it is told: what is not waited for would be lost with the program's end.
	b.hook("h", entry{"observe": []string{"turn_start", "turn_end"}}, told+"time.sleep(0.5)\nserve()")
	l := late{b.host.Backends, make(chan struct{})}
	o := b.dialect.Observer(l)
	defer o.Close()
	turns := turn.New(turn.Options{Log: b.store.Turns, Calls: b.calls, OnEvent: o.Take})
	model := modeltest.New(slices.Repeat([]modeltest.Step{modeltest.Say("word ")}, 200))
	_, err := turns.Run(t.Context(), turn.Request{Conversation: b.chat, Model: model, Text: "hi"}, nil)
	must(t, err)
	close(l.ready)
	o.Flush(t.Context())
	b.host.Close() // the program ends: what was told before is read to its end
	var kinds []string
	for _, p := range b.params("h", "hook.event") {
		kinds = append(kinds, fmt.Sprint(p["Kind"]))
		if payload := p["Payload"].(map[string]any); p["Kind"] == 0.0 &&
			(payload["Channel"] != "conclave" || payload["ChatID"] != string(b.chat)) {
			t.Errorf("turn_start says %v", payload)
		}
	}
	if strings.Join(kinds, " ") != "0 1" {
		t.Errorf("it was told the kinds %v, want 0 and 1", kinds)
	}
}

func TestAHookOfNodeLoadsWithoutPermissions(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("hooks in Node need it: ", err)
	}
	b := newBench(t)
	e := stages("before_tool")
	e["command"] = []string{"node", "hook.mjs"}
	write(t, filepath.Join(b.dir, "n", "hook.mjs"), `
import { createInterface } from "node:readline";
for await (const line of createInterface({ input: process.stdin })) {
  const { id } = JSON.parse(line);
  if (id) process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result: {} }) + "\n");
}
`)
	if s := b.hook("n", e, ""); s.State != plugin.Ready {
		t.Errorf("it is %s, %+v", s.State, s.Problem)
	}
}

func TestACommandBehindEnvIsStartedWithoutIt(t *testing.T) {
	b := newBench(t)
	for id, command := range map[string][]string{
		"plain": {"/usr/bin/env", "python3", "hook.py"},
		"split": {"env", "-i", "-u", "HOME2", "-S", "COLOUR=red python3 -u", "hook.py"},
	} {
		e := stages("before_tool")
		e["command"], e["env"] = command, map[string]string{"COLOUR": "blue"}
		s := b.hook(id, e, told+`heard.write(json.dumps([os.environ["COLOUR"], os.environ["USER"]]) + "\n"); heard.flush()
serve()`)
		want := map[string]string{"plain": `["blue", "conclave"]`, "split": `["red", "conclave"]`}[id]
		if got := b.heard(id); s.State != plugin.Ready || len(got) == 0 || got[0] != want {
			t.Errorf("%s: it is %s, %+v, and has %q, want %s", id, s.State, s.Problem, got, want)
		}
	}
}

func TestAHookOfTheShellSaysWhatItNeedsToStartPrograms(t *testing.T) {
	b := newBench(t)
	e := stages("before_tool")
	e["command"] = []string{"/bin/sh", "gate.sh"}
	write(t, filepath.Join(b.dir, "gate", "gate.sh"), "read -r line\nid=$(printf %s \"$line\" | sed s/x/y/)\n")
	s := b.hook("gate", e, "")
	if s.Problem == nil || !strings.HasSuffix(s.Problem.Hint, "conclave plugins grant gate programs.") {
		t.Errorf("it is %s, %+v", s.State, s.Problem)
	}
}

func TestPC48ATurnThatIsAbortedKeepsAWholeHistory(t *testing.T) {
	for _, stage := range []string{"before_llm", "after_llm", "before_tool", "after_tool"} {
		t.Run(stage, func(t *testing.T) {
			b := newBench(t)
			b.hook("stop", stages(stage), told+"serve("+stage+`=lambda p: {"action": "abort_turn", "reason": "enough"})`)
			a := b.ask(nobody(), calls("echo", `{}`, "exec", listing), say("never"))
			if a.Err == nil || !strings.Contains(a.Err.Error(), "stop called the answer off: enough") || len(a.requests) > 1 {
				t.Errorf("it ended %s, %v after %d requests", a.Reason, a.Err, len(a.requests))
			}
			if got := b.did(); strings.Contains(got, "exec") {
				t.Errorf("it did %q", got)
			}
			must(t, b.host.SetEnabled(t.Context(), "stop", false), b.host.WaitIdle(t.Context()))
			a = b.ask(nobody(), say("hi"))
			a.says("hi")
			asked, answered := 0, 0
			for _, m := range a.requests[0].Messages {
				for _, p := range m.Parts {
					if p.Call != nil {
						asked++
					}
					if p.Result != nil {
						answered++
					}
				}
			}
			if asked != answered {
				t.Errorf("%d calls have %d results", asked, answered)
			}
		})
	}
}

func TestPC49AHardAbortTakesTheTurnBack(t *testing.T) {
	b := newBench(t)
	b.ask(nobody(), say("first")).says("first")
	b.hook("stop", stages("before_tool"), gateHook(`{"action": "hard_abort", "reason": "no"}`))
	if a := b.ask(nobody(), calls("echo", `{}`), say("never")); a.Err == nil || b.did() != "" {
		t.Errorf("it ended %s, %v", a.Reason, a.Err)
	}
	must(t, b.host.SetEnabled(t.Context(), "stop", false), b.host.WaitIdle(t.Context()))
	a := b.ask(nobody(), say("again"))
	a.says("again")
	var roles []string
	for _, m := range a.requests[0].Messages {
		roles = append(roles, string(m.Role))
	}
	if got := strings.Join(roles, " "); got != "user assistant user" || len(a.requests[0].Messages[2].Parts) != 1 {
		t.Errorf("the model was sent %s", got)
	}
}

func TestPC50AHookThatIgnoresItsEndIsGone(t *testing.T) {
	b := newBench(t)
	b.hook("deaf", stages("before_tool"), told+"serve()\ntime.sleep(600)")
	began := time.Now()
	b.host.Close()
	if took := time.Since(began); took > 5*time.Minute { // it sleeps for ten
		t.Errorf("it took %s", took)
	}
}

func TestPC51AHookThatDiesIsStartedAgain(t *testing.T) {
	b := newBench(t)
	b.hook("weather", stages("before_llm", "before_tool"), told+`
def dying(p):
    if p["arguments"]["city"] == "Ur": os._exit(9)
    return answer(p)
serve(before_llm=inject, before_tool=dying)`)
	a := b.ask(person(yes), calls("get_weather", `{"city":"Ur"}`), calls("get_weather", beijing), say("ok"))
	a.says("ok")
	if !a.results[0].IsError || !strings.Contains(a.result(1), "sunny") {
		t.Errorf("told %q and %q", a.result(0), a.result(1))
	}
	hellos := 0
	for _, line := range b.heard("weather") {
		if strings.HasPrefix(line, `{"jsonrpc":"2.0","id":1,"method":"hook.hello"`) {
			hellos++
		}
	}
	if hellos != 2 {
		t.Errorf("it was greeted %d times", hellos)
	}
}

func TestPC54TheDocumentationSitesDialectIsNamed(t *testing.T) {
	b := newBench(t)
	b.hook("site", stages("before_tool"), gateHook(`{"decision": {"action": "deny"}, "hook_result": {}}`))
	b.ask(nobody(), calls("echo", `{}`), say("ok")).says("ok")
	if b.did() == "" {
		t.Error("it was heeded")
	}
	found := 0
	testkit.Until(t, "its log says so", func() bool {
		found = strings.Count(fmt.Sprint(b.host.Log("site", 0)), "documentation site's dialect")
		return found > 0
	})
	if found != 1 {
		t.Errorf("its log says %v", b.host.Log("site", 0))
	}
}

func TestPC55APastedConfigurationIsReadAsItIs(t *testing.T) {
	b := newBench(t)
	b.hook("pasted", entry{
		"agents": map[string]any{"defaults": map[string]any{"model": "x"}},
		"hooks": map[string]any{
			"enabled": true, "defaults": map[string]any{"interceptor_timeout_ms": 70_000, "odd": 1},
			"processes": map[string]any{
				"old": map[string]any{"enabled": false, "intercept": []string{"x"}},
				"gate": map[string]any{
					"enabled": true, "transport": "stdio", "command": []string{"python3", "hook.py"},
					"intercept": []string{"before_tool"}, "unknown": []int{1},
					"x_conclave": map[string]any{"hello_timeout_ms": 120_000},
				},
			},
		},
	}, gateHook(`{"action": "deny_tool", "reason": "pasted"}`))
	s := b.status("pasted")
	if p := picoclaw.ProcessOf(s.Manifest); s.State != plugin.Ready || p.Name != "gate" ||
		p.InterceptorTime() != 70*time.Second {
		t.Fatalf("it is %s, %+v, %+v", s.State, s.Problem, p)
	}
	a := b.ask(person(yes), calls("exec", listing), say("ok"))
	if !strings.HasSuffix(a.result(0), ": pasted") {
		t.Errorf("told %q", a.result(0))
	}
}

// payloads returns what a hook was told of a kind of event, once there are so many.
func (b *bench) payloads(id, kind string, many int) []map[string]any {
	b.t.Helper()
	var found []map[string]any
	testkit.Until(b.t, "it is told of "+kind, func() bool {
		found = nil
		for _, p := range b.params(id, "hook.runtime_event") {
			if p["kind"] == kind {
				found = append(found, p["payload"].(map[string]any))
			}
		}
		return len(found) >= many
	})
	return found
}

func TestPC38PayloadsHoldTheTextsAndCountsOfTheirKind(t *testing.T) {
	b := newBench(t)
	b.hook("h", entry{"observe": []string{"*"}}, told+"serve()")
	b.hook("w", stages("before_llm", "before_tool"), strings.Replace(weather, "20 degrees.\"}",
		"20 degrees.\", \"for_user\": \"sunny!\"}", 1))
	unavailable := &model.Error{Kind: model.Overloaded, RetryAfter: time.Millisecond}
	b.askAs(turn.Request{
		Text: "how is it?", Asker: person(yes), Attachments: []chat.Part{chat.TextPart("a file")},
	}, []modeltest.Step{modeltest.Fail(unavailable)},
		append([]modeltest.Step{modeltest.Think("hm")}, calls("get_weather", `{"city":"Beijing"}`)...),
		say("sunny")).says("sunny")
	for _, want := range []struct {
		kind string
		n    int
		have map[string]any
	}{
		{"agent.turn.start", 0, map[string]any{"UserMessage": "how is it?", "MediaCount": 1.0}},
		{"agent.llm.request", 0, map[string]any{"MessagesCount": 1.0, "ToolsCount": 3.0}},
		{"agent.llm.request", 1, map[string]any{"MessagesCount": 3.0, "ToolsCount": 3.0}},
		{"agent.llm.retry", 0, map[string]any{"Attempt": 1.0, "MaxRetries": 2.0, "Backoff": 1e6}},
		{"agent.llm.response", 0, map[string]any{"ContentLen": 0.0, "ToolCalls": 1.0, "HasReasoning": true}},
		{"agent.llm.response", 1, map[string]any{"ContentLen": 5.0, "ToolCalls": 0.0, "HasReasoning": false}},
		{"agent.tool.exec_end", 0, map[string]any{"ForUserLen": 9.0, "IsError": false}},
		{"agent.turn.end", 0, map[string]any{"UserMessage": "how is it?", "FinalContent": "sunny", "Iterations": 2.0}},
	} {
		got := b.payloads("h", want.kind, want.n+1)[want.n]
		for key, value := range want.have {
			if got[key] != value {
				t.Errorf("%s has %s %v, want %v", want.kind, key, got[key], value)
			}
		}
	}
}

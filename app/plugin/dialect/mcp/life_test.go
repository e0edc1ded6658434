package mcp_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/test/testkit"
)

func TestMC02AServerRunsNothingBeforeItsApprovalAndItsToolsAreApprovedToo(t *testing.T) {
	b := newBench(t)
	b.save("s.mcp.json", map[string]any{"s": b.entry()})
	if s := b.status("s"); s.State != plugin.NeedsApproval || b.started.Started() != 0 {
		t.Fatalf("before the approval it is %s, and %d processes were started", s.State, b.started.Started())
	}
	must(t, approveOnce(b, "s"))
	if s := b.status("s"); s.State != plugin.NeedsApproval || len(s.Tools) != 1 {
		t.Fatalf("once it has listed its tools it is %s with %v", s.State, s.Tools)
	}
	if n := b.tools.Set().Len(); n != 0 {
		t.Errorf("%d tools are offered that nobody approved", n)
	}
	must(t, approveOnce(b, "s"))
	b.says("s:echo", `{"text":"hi"}`, "hi")
}

func TestMC02OneYesStartsAServerAndOffersWhatItLists(t *testing.T) {
	b := newBench(t)
	b.save("s.mcp.json", map[string]any{"s": b.entry("+more")})
	must(t, b.host.Approvals.Approve(t.Context(), "s", b.status("s").Shown, gate.ApproveOptions{Tools: true}))
	b.ready("s")
	b.says("s:echo", `{"text":"hi"}`, "hi")
	b.call(t.Context(), "s:more", "{}") // which adds a tool
	testkit.Until(t, "the tool that came later waits", func() bool { return b.status("s").State == plugin.Quarantined })
}

func TestMC28AStartOfConclaveUsesTheStoredListAndStartsNoServer(t *testing.T) {
	b := newBench(t)
	b.save("s.mcp.json", map[string]any{"s": b.entry()})
	b.approve("s")
	before := b.started.Started()
	b.again()
	b.ready("s")
	if b.started.Started() != before || b.status("s").Running {
		t.Error("the start started a server")
	}
	b.says("s:echo", `{"text":"hi"}`, "hi")
	if b.started.Started() != before+1 {
		t.Errorf("the first call started %d processes", b.started.Started()-before)
	}
}

func TestMC05AServerThatDiesOnTheFirstQuestionIsStartedOnceMore(t *testing.T) {
	b := newBench(t)
	b.save("s.mcp.json", map[string]any{"s": b.entry("dies on probe", "+pid")})
	b.approve("s")
	b.ready("s")
	if n := b.started.Started(); n != 2 {
		t.Errorf("%d processes were started", n)
	}
	must(t, b.host.Reload("s"))
	must(t, b.host.WaitIdle(t.Context()))
	if n := b.started.Started(); n != 3 {
		t.Errorf("the next start took %d processes", n-2)
	}
	b.again()
	b.says("s:echo", `{"text":"hi"}`, "hi")
	if n := b.started.Started(); n != 4 {
		t.Errorf("MC-07: the first start of another run took %d processes", n-3)
	}
}

func TestMC10TheEnvironmentIsUTF8AndHoldsNothingElseOfThePersons(t *testing.T) {
	t.Setenv("MY_PRIVATE_TOKEN", "secret")
	b := newBench(t)
	entry := b.entry("+env")
	entry["env"] = map[string]string{"CITY": "Köln"}
	b.save("s.mcp.json", map[string]any{"s": entry})
	b.approve("s")
	var env map[string]string
	must(t, json.Unmarshal([]byte(textOf(b.call(t.Context(), "s:env", "{}"))), &env))
	if env["PYTHONUTF8"] != "1" || !strings.Contains(strings.ToLower(env["LANG"]), "utf") || env["CITY"] != "Köln" ||
		env["PATH"] == "" || env["HOME"] == "" {
		t.Errorf("the environment is %v", env)
	}
	if env["MY_PRIVATE_TOKEN"] != "" {
		t.Error("it has a variable of the person's that nobody named")
	}
	b.says("s:echo", `{"text":"→ 世界 \u00a0"}`, "→ 世界 \u00a0")
}

func TestMC92SecretsOfAnEntryAreOnNoCardAndANewValueNeedsNoApproval(t *testing.T) {
	b := newBench(t)
	entry := b.entry("+env")
	entry["env"] = map[string]string{"API_KEY": "hunter2-hunter2"}
	b.save("s.mcp.json", map[string]any{"s": entry})
	b.approve("s")
	if raw, err := json.Marshal(b.status("s").Manifest); err != nil || strings.Contains(string(raw), "hunter2") {
		t.Errorf("the manifest is %s, %v", raw, err)
	}
	record, err := b.store.Plugins.PluginCache(t.Context(), "s")
	if err != nil || strings.Contains(string(record), "hunter2") {
		t.Errorf("the record holds the secret: %v", err)
	}
	got := textOf(b.call(t.Context(), "s:env", "{}"))
	if strings.Contains(got, "hunter2") || !strings.Contains(got, "•••") {
		t.Errorf("a result holds the secret: %s", got)
	}
	entry["env"] = map[string]string{"API_KEY": "hunter3-hunter3"}
	b.save("s.mcp.json", map[string]any{"s": entry})
	b.ready("s")
	got = textOf(b.call(t.Context(), "s:env", "{}"))
	if strings.Contains(got, "hunter") || !strings.Contains(got, "•••") {
		t.Errorf("after a new value: %s", got)
	}
}

func TestMC93AServerWithoutItsSettingsIsNotStartedAndItsCardAsks(t *testing.T) {
	b := newBench(t)
	entry := b.entry("+env")
	entry["env"] = map[string]string{"CITY": "${input:city}"}
	raw, err := json.Marshal(map[string]any{
		"servers": map[string]any{"s": entry},
		"inputs":  []any{map[string]any{"type": "promptString", "id": "city", "description": "Where you live"}},
	})
	must(t, err)
	write(t, filepath.Join(b.dir, "s.mcp.json"), string(raw))
	b.scan()
	must(t, approveOnce(b, "s"))
	s := b.status("s")
	if s.State != plugin.NeedsSettings || b.started.Started() != 0 || !strings.Contains(s.Problem.Message, "city") {
		t.Fatalf("it is %s: %+v; %d processes", s.State, s.Problem, b.started.Started())
	}
	must(t, b.host.Settings.Set(t.Context(), "s", json.RawMessage(`{"city":"Köln"}`)))
	must(t, b.host.WaitIdle(t.Context()))
	b.approve("s")
	b.ready("s")
	if got := textOf(b.call(t.Context(), "s:env", "{}")); !strings.Contains(got, "K\\u00f6ln") {
		t.Errorf("its environment is %s", got)
	}
}

func TestMC27AChangedListWaitsForThePersonAndAnUnchangedToolGoesOn(t *testing.T) {
	b := newBench(t)
	b.save("s.mcp.json", map[string]any{"s": b.entry("+more")})
	b.approve("s")
	b.call(t.Context(), "s:more", "{}")
	began := time.Now()
	testkit.Until(t, "the new list is known", func() bool { return b.status("s").State == plugin.Quarantined })
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %s", took)
	}
	if _, ok := b.tools.Set().ByID("s:extra"); ok {
		t.Error("a tool that nobody approved is offered")
	}
	b.says("s:echo", `{"text":"hi"}`, "hi")
	b.approve("s")
	if _, ok := b.tools.Set().ByID("s:extra"); !ok {
		t.Error("the approved tool is not offered")
	}
}

func TestMC108AServerStartsAgainAtTheNextUseAndRestsAfterThreeDeaths(t *testing.T) {
	b := newBench(t)
	b.save("s.mcp.json", map[string]any{"s": b.entry("+die")})
	b.approve("s")
	for range 2 {
		if r := b.call(t.Context(), "s:die", "{}"); r.Status != chat.CallDied {
			t.Fatalf("a call that its server does not survive: %+v", r)
		}
	}
	b.says("s:echo", `{"text":"again"}`, "again")
	b.call(t.Context(), "s:die", "{}")
	testkit.Until(t, "it rests", func() bool { return b.status("s").State == plugin.Quarantined })
	if p := b.status("s").Problem; p == nil || !strings.Contains(p.Hint, "used again from") {
		t.Errorf("its card says %+v", p)
	}
}

func TestMC107AServerThatCannotStartSaysWhyAndWhatToDo(t *testing.T) {
	b := newBench(t)
	b.save("s.mcp.json", map[string]any{
		"gone": map[string]any{"command": "no-such-program-here"}, "exits": b.entry("exits"),
		"npx": map[string]any{"command": "npx", "args": []string{"-y", "x"}},
	})
	for _, id := range []string{"s-gone", "s-exits", "s-npx"} {
		must(t, approveOnce(b, id))
	}
	if p := b.status("s-gone").Problem; p == nil || !strings.Contains(p.Message, "no-such-program-here") || p.Hint == "" {
		t.Errorf("a missing command: %+v", p)
	}
	if p := b.status("s-exits").Problem; p == nil || !strings.Contains(p.Message, "exit 3") {
		t.Errorf("one that ends at once: %+v", p)
	}
	if p := b.status("s-npx").Problem; p == nil || !strings.Contains(p.Message, gate.Network) {
		t.Errorf("a runner without permissions: %+v", p)
	}
}

func TestMC12AServerWhoseProgramIsMissingStartsWithTheOneThatIsChosen(t *testing.T) {
	b := newBench(t)
	entry := b.entry()
	entry["command"] = "python-of-nobody"
	b.save("s.mcp.json", map[string]any{"s": entry})
	must(t, approveOnce(b, "s"))
	if p := b.status("s").Problem; p == nil || p.Program != "python-of-nobody" {
		t.Fatalf("it lacks %+v", p)
	}
	if err := b.host.Settings.ChooseProgram("s", filepath.Join(b.scripts, "server.py")); err == nil {
		t.Error("a file that cannot be executed was chosen")
	}
	must(t, b.host.Settings.ChooseProgram("s", python))
	must(t, b.host.WaitIdle(t.Context()))
	b.approve("s")
	b.ready("s")
	b.says("s:echo", `{"text":"hi"}`, "hi")
}

func TestMC110AServerThatHangsDelaysNobody(t *testing.T) {
	b := newBench(t)
	b.save("good.mcp.json", map[string]any{"good": b.entry()})
	b.approve("good")
	hanging := map[string]any{}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		hanging[name] = b.entry("hangs")
	}
	b.save("bad.mcp.json", hanging)
	for name := range hanging {
		go func() { _ = plugin.ProblemOf(approveOnce(b, "bad-"+name)) }() // ends with the host
	}
	testkit.Until(t, "they are starting", func() bool { return b.started.Running() == 6 || b.started.Started() >= 6 })
	began := time.Now()
	must(t, b.host.WaitOffered(t.Context()))
	write(t, filepath.Join(b.dir, "new.mcp.json"), `{"mcpServers": {"new": {"command": "true"}}}`)
	must(t, b.host.Scan())
	testkit.Until(t, "a new one is read", func() bool { return b.host.Known("new") && b.status("new").Shown != "" })
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
	b.says("good:echo", `{"text":"hi"}`, "hi")
}

func TestMC40ACallThatIsStoppedEndsAtOnceAndTheServerLives(t *testing.T) {
	b := newBench(t)
	b.save("s.mcp.json", map[string]any{"s": b.entry("+sleep", "+pid")})
	b.approve("s")
	pid := textOf(b.call(t.Context(), "s:pid", "{}"))
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, stop)
	began := time.Now()
	if r := b.call(ctx, "s:sleep", "{}"); r.Status != chat.CallCancelled || time.Since(began) > 5*time.Second {
		t.Errorf("after %s: %+v", time.Since(began), r)
	}
	time.Sleep(time.Second) // the host gives a plugin half a second
	if got := textOf(b.call(t.Context(), "s:pid", "{}")); got != pid {
		t.Errorf("its process was %s and is %s", pid, got)
	}
}

func TestMC15ClosingEndsEveryServerWithWhatItStarted(t *testing.T) {
	b := newBench(t)
	b.save("s.mcp.json", map[string]any{"s": b.entry("+child")})
	b.approve("s")
	must(t, b.gate.Reach.SetPermission(t.Context(), "s", gate.Programs, gate.Allow))
	child := textOf(b.call(t.Context(), "s:child", "{}"))
	if !lives(child) {
		t.Fatalf("there is no child %q", child)
	}
	began := time.Now()
	b.host.Close()
	if took := time.Since(began); took > 6*time.Second {
		t.Errorf("closing took %s", took)
	}
	testkit.Until(t, "what the server started has ended", func() bool { return !lives(child) })
}

// approveOnce approves what waits of a server now.
func approveOnce(b *bench, id string) error {
	s, err := b.host.Status(id)
	if err != nil {
		return err
	}
	return b.host.Approvals.Approve(b.t.Context(), id, s.Shown, gate.ApproveOptions{})
}

// lives reports whether a process runs: one that is dead and was not reaped does not.
func lives(pid string) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", pid, "stat"))
	_, state, _ := strings.Cut(string(stat), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}

func TestMC47InstructionsAreOnTheCardPartOfWhatIsApprovedAndForModels(t *testing.T) {
	b := newBench(t)
	b.save("s.mcp.json", map[string]any{"s": b.entry("+pid")})
	must(t, approveOnce(b, "s"))
	s := b.status("s")
	if !strings.Contains(gate.ToolText(s.Tools[0]), "Be kind.") {
		t.Errorf("what is approved is %q", gate.ToolText(s.Tools[0]))
	}
	if !slices.Contains(s.About, plugin.Fact{Name: "For models", Text: "Be kind."}) {
		t.Errorf("the card says %+v", s.About)
	}
	must(t, approveOnce(b, "s"))
	for _, one := range b.tools.Set().Tools() {
		if one.Guide != "Be kind." {
			t.Errorf("%s comes with %q", one.Name, one.Guide)
		}
	}
	b.again()
	if one, _ := b.tools.Set().ByID("s:pid"); one.Guide != "Be kind." {
		t.Errorf("after a restart it comes with %q", one.Guide)
	}
	b.says("s:echo", `{"text":"hi"}`, "hi")
}

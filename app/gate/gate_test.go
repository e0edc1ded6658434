package gate_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/tool"
)

// memory is a Store in memory; broken makes every write fail.
type memory struct {
	mu        sync.Mutex
	grants    map[string]gate.Rule
	approvals map[string]gate.Approval
	uses      map[string]gate.Use
	puts      int // of uses
	broken    bool
}

func newMemory() *memory {
	return &memory{
		grants: map[string]gate.Rule{}, approvals: map[string]gate.Approval{},
		uses: map[string]gate.Use{},
	}
}

func (l *memory) write(do func()) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken {
		return fault.New(fault.Unavailable, "test", "The disk is full.", "Free some space.")
	}
	do()
	return nil
}

func (l *memory) Rules(context.Context) ([]gate.Rule, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Values(l.grants)), nil
}

func (l *memory) Approvals(context.Context) ([]gate.Approval, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Values(l.approvals)), nil
}

func (l *memory) PutRule(_ context.Context, g gate.Rule) error {
	return l.write(func() { l.grants[g.ID] = g })
}

func (l *memory) DeleteRule(_ context.Context, id string) error {
	return l.write(func() { delete(l.grants, id) })
}

func (l *memory) PutApproval(_ context.Context, a gate.Approval) error {
	return l.write(func() { l.approvals[a.Plugin] = a })
}

func (l *memory) DeleteApproval(_ context.Context, plugin string) error {
	return l.write(func() { delete(l.approvals, plugin) })
}

func (l *memory) Uses(context.Context) (map[string]gate.Use, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.uses), nil
}

func (l *memory) PutUses(_ context.Context, uses map[string]gate.Use) error {
	return l.write(func() {
		l.puts++
		maps.Copy(l.uses, uses)
	})
}

func (l *memory) ForgetRequests(context.Context) error { return nil }

// withoutHome spares a test that opens many gates the look for places of keys in the home folder,
// which none of its calls names.
func withoutHome(t *testing.T) {
	t.Helper()
	t.Setenv("HOME", "")
	t.Setenv("USERPROFILE", "")
}

func open(t testing.TB, o gate.Options) *gate.Gate {
	t.Helper()
	g, err := gate.Open(t.Context(), o)
	must(t, err)
	return g
}

// notes is a script plugin behind walls, with two tools.
func notes() gate.PluginVersion {
	return gate.PluginVersion{
		Plugin: "notes", Name: "Notes", Dialect: "functions", Code: "c0de", Listed: true, Isolation: "process+landlock",
		Tools: []tool.Tool{
			tool.Normal(tool.Tool{
				Plugin: "notes", Name: "write_note", Description: "Writes a note.",
				Parameters: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string","description":"what"}}}`),
			}),
			tool.Normal(tool.Tool{Plugin: "notes", Name: "read_note", Description: "Reads a note."}),
		},
	}
}

// trusted opens a gate to which notes is known and approved.
func trusted(t testing.TB, o gate.Options, more ...func(*gate.PluginVersion)) (*gate.Gate, gate.PluginVersion) {
	t.Helper()
	g := open(t, o)
	c := notes()
	for _, change := range more {
		change(&c)
	}
	g.Approvals.Status(c)
	must(t, g.Approvals.Approve(t.Context(), c, gate.ApproveOptions{}))
	return g, c
}

// turnOff turns a plugin off as a person does, who is asked about changed code of it.
func turnOff(t testing.TB, g *gate.Gate, c gate.PluginVersion) {
	t.Helper()
	c.Code = "c0de0ff"
	no := &asker{answer: gate.Answer{Effect: gate.Deny, Scope: gate.Always}}
	if s, err := g.Questions.AskApproval(t.Context(), c, no); err != nil || s != gate.Refused {
		t.Fatalf("turned off, it is %v, %v", s, err)
	}
}

func request(c gate.PluginVersion) gate.Call {
	return gate.Call{
		ID: "call-1", Caller: gate.Main, Tool: c.Tools[0], Arguments: json.RawMessage(`{"text":"a"}`),
		Conversation: "chat-1", Turn: "turn-1",
	}
}

// asked runs Ask on its own goroutine and waits until the request is pending.
func asked(t *testing.T, g *gate.Gate, r gate.Call) (gate.Request, <-chan gate.Decision) {
	t.Helper()
	waiting := make(chan string, 1)
	decided := make(chan gate.Decision, 1)
	r.OnWait = func(id string) { waiting <- id }
	go func() { decided <- g.Decide(t.Context(), r) }() // ends when the request is settled, at the latest with the test
	select {
	case id := <-waiting:
		list := g.Questions.List()
		if i := slices.IndexFunc(list, func(p gate.Request) bool { return p.ID == id }); i >= 0 {
			return list[i], decided
		}
		t.Fatalf("the request %s is not among %+v", id, list)
	case d := <-decided:
		t.Fatalf("nobody was asked: %+v", d)
	}
	return gate.Request{}, nil
}

// deny answers requests with a no, for once.
func deny(t *testing.T, g *gate.Gate, requests ...gate.Request) {
	t.Helper()
	for _, p := range requests {
		must(t, g.Questions.Answer(t.Context(), p.ID, p.Nonce, gate.Answer{Effect: gate.Deny, Scope: gate.Once}))
	}
}

func TestAHeldCallIsNoticedOnceAndMarkedBefore(t *testing.T) {
	notices := bus.New()
	g, c := trusted(t, gate.Options{Bus: notices})
	defer g.Questions.Attach()()
	before, marked := notices.Revision(bus.Permissions, ""), uint64(0)
	r := request(c)
	r.OnWait = func(string) { marked = notices.Revision(bus.Permissions, "") }
	synced, stop := context.WithCancel(t.Context())
	news := notices.Subscribe(bus.Permissions)
	defer news.Close()
	ended := make(chan struct{})
	go func() { // ends with synced
		defer close(ended)
		g.Decide(synced, r)
	}()
	if _, err := news.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
	if now := notices.Revision(bus.Permissions, ""); marked != before || now != before+1 {
		t.Errorf("of revision %d it was marked at %d and noticed until %d", before, marked, now)
	}
	stop()
	<-ended
}

// asker answers with one answer and remembers what it was asked.
type asker struct {
	answer gate.Answer
	err    error
	asked  []gate.Request
}

func (a *asker) Ask(_ context.Context, p gate.Request) (gate.Answer, error) {
	a.asked = append(a.asked, p)
	return a.answer, a.err
}

// refused makes a call and returns what the person was asked, who says no.
func refused(t *testing.T, g *gate.Gate, call gate.Call) gate.Request {
	t.Helper()
	a := &asker{answer: gate.Answer{Effect: gate.Deny}}
	call.Asker = a
	g.Decide(t.Context(), call)
	if len(a.asked) != 1 {
		t.Fatalf("%s: asked %d times", call.Tool.Name, len(a.asked))
	}
	return a.asked[0]
}

func TestAPersonIsAskedWhenANewlyDroppedScriptsToolRunsFirst(t *testing.T) {
	for _, mode := range []gate.Mode{gate.Standard, gate.Careful} {
		g, c := trusted(t, gate.Options{Mode: func() gate.Mode { return mode }})
		a := &asker{answer: gate.Answer{Effect: gate.Allow, Scope: gate.Once}}
		r := request(c)
		r.Asker = a
		if d := g.Decide(t.Context(), r); d.Effect != gate.Allow || d.By != "person" || d.Step != 9 ||
			d.Why != "you allowed it once" {
			t.Errorf("%s: %+v", mode, d)
		}
		if len(a.asked) != 1 {
			t.Fatalf("%s: asked %d times", mode, len(a.asked))
		}
		p := a.asked[0]
		if p.Title != "Main assistant wants to run “write_note” with Notes" ||
			p.Reason != "Asked because: first time this tool runs." ||
			p.Reach != "Can touch: its own storage folder." || p.History != "Not allowed before." || p.Count != 1 ||
			!p.Usual {
			t.Errorf("%s: the card says %+v", mode, p)
		}
		if !slices.Equal(p.Scopes, []gate.Scope{
			gate.Once, gate.ThisAnswer, gate.ThisChat, gate.UntilQuit, gate.Always,
		}) {
			t.Errorf("%s: scopes %v", mode, p.Scopes)
		}
		// Once is once: the next call asks again, and says why.
		if g.Decide(t.Context(), r); len(a.asked) != 2 ||
			a.asked[1].Reason != "Asked because: you allowed it before, but not for longer." {
			t.Errorf("%s: the second call was not asked about rightly", mode)
		}
		a.answer.Scope = gate.Always
		g.Decide(t.Context(), r)
		if d := g.Decide(t.Context(), r); len(a.asked) != 3 || d.Step != 7 ||
			d.Why != "rule: Notes may run write_note, when I ask, always" {
			t.Errorf("%s: always did not end the asking: %+v", mode, d)
		}
	}
}

// What a member used, or the person by hand, is nothing that the person allowed.
func TestOnlyWhatAPersonWasAskedCountsAsAllowedBefore(t *testing.T) {
	g, c := trusted(t, gate.Options{})
	a := &asker{answer: gate.Answer{Effect: gate.Allow, Scope: gate.Once}}
	r := request(c)
	r.Asker, r.Caller = a, gate.Person
	if d := g.Decide(t.Context(), r); d.Effect != gate.Allow || len(a.asked) != 0 {
		t.Fatalf("run by hand it is %+v", d)
	}
	r.Caller = gate.Main
	g.Decide(t.Context(), r)
	g.Decide(t.Context(), r)
	if len(a.asked) != 2 || a.asked[0].Reason != "Asked because: you have not been asked about it before." ||
		a.asked[1].Reason != "Asked because: you allowed it before, but not for longer." {
		t.Errorf("asked was %+v", a.asked)
	}
}

func TestEachScopeEndsWhenItsNameSays(t *testing.T) {
	type change func(*gate.Call)
	sameTurn := func(*gate.Call) {}
	otherTurn := func(r *gate.Call) { r.Turn = "turn-2" }
	otherChat := func(r *gate.Call) { r.Turn, r.Conversation = "turn-2", "chat-2" }
	for scope, holds := range map[gate.Scope][]bool{ // same turn, other turn, other chat, after a restart
		gate.Once:       {false, false, false, false},
		gate.ThisAnswer: {true, false, false, false},
		gate.ThisChat:   {true, true, false, true},
		gate.UntilQuit:  {true, true, true, false},
		gate.Always:     {true, true, true, true},
	} {
		l := newMemory()
		g, c := trusted(t, gate.Options{Store: l})
		r := request(c)
		r.Asker = &asker{answer: gate.Answer{Effect: gate.Allow, Scope: scope}}
		g.Decide(t.Context(), r)
		r.Asker = nil
		for i, change := range []change{sameTurn, otherTurn, otherChat} {
			next := r
			change(&next)
			if got := g.Decide(t.Context(), next).Effect == gate.Allow; got != holds[i] {
				t.Errorf("%s: case %d: allowed %v, want %v", scope, i, got, holds[i])
			}
		}
		g.TurnEnded(r.Turn)
		if scope == gate.ThisAnswer && g.Decide(t.Context(), r).Effect == gate.Allow {
			t.Error("this-answer outlived its answer")
		}
		must(t, g.Close(t.Context()))
		again := open(t, gate.Options{Store: l})
		again.Approvals.Status(c)
		if got := again.Decide(t.Context(), r).Effect == gate.Allow; got != holds[3] {
			t.Errorf("%s: after a restart allowed %v, want %v", scope, got, holds[3])
		}
	}
}

func TestNeverRefusesEveryCallerUntilItIsRevoked(t *testing.T) {
	g, c := trusted(t, gate.Options{})
	r := request(c)
	r.Asker = &asker{answer: gate.Answer{Effect: gate.Deny, Scope: gate.Always, Reason: "not this one"}}
	first := g.Decide(t.Context(), r)
	if first.Effect != gate.Deny || first.Reason != "the person did not allow it: not this one" || first.Rule == "" {
		t.Fatalf("got %+v", first)
	}
	// An allow that was there all along does not beat it.
	if _, err := g.Rules.Add(t.Context(), gate.Rule{
		Effect: gate.Allow, Plugin: "notes", Tool: "*", Callers: []gate.Caller{gate.Main}, Scope: gate.Always,
	}); err != nil {
		t.Fatal(err)
	}
	for _, caller := range []gate.Caller{gate.Main, gate.Person, "member:maker", "http:x"} {
		r.Caller, r.Asker = caller, gate.AlwaysAsker{}
		d := g.Decide(t.Context(), r)
		if d.Effect != gate.Deny || d.Step != 2 || d.Rule != first.Rule ||
			d.Why != "rule: Notes may never run write_note" {
			t.Errorf("%s: %+v", caller, d)
		}
	}
	revoked, err := g.Rules.Revoke(t.Context(), first.Rule)
	must(t, err)
	r.Caller, r.Asker = gate.Main, nil
	if d := g.Decide(t.Context(), r); d.Effect != gate.Allow || d.Step != 7 {
		t.Errorf("after revoking: %+v", d)
	}
	if _, err := g.Rules.Add(t.Context(), revoked); err != nil {
		t.Fatal(err)
	}
	if d := g.Decide(t.Context(), r); d.Step != 2 {
		t.Errorf("after taking the revocation back: %+v", d)
	}
	if _, err := g.Rules.Revoke(t.Context(), "no such"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("got %v", err)
	}
}

func TestWithNobodyToAskTheAnswerIsNo(t *testing.T) {
	g, c := trusted(t, gate.Options{})
	for name, a := range map[string]gate.Asker{
		"no window": nil, "never": gate.NeverAsker{},
		"an error":               &asker{err: errors.New("the terminal is gone")},
		"an answer that is none": &asker{},
	} {
		r := request(c)
		r.Asker = a
		d := g.Decide(t.Context(), r)
		if d.Effect != gate.Deny || d.By != "nobody to ask" ||
			d.Reason != "it needs a person's permission, and there is nobody to ask" {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if got := g.Questions.List(); len(got) != 0 {
		t.Errorf("still pending: %+v", got)
	}
}

func TestApproveAlwaysIsNoWayAroundARefusal(t *testing.T) {
	g, c := trusted(t, gate.Options{})
	r := request(c)
	r.Asker = gate.AlwaysAsker{}
	if d := g.Decide(t.Context(), r); d.Effect != gate.Allow || d.By != "--approve always" ||
		d.Why != "--approve always allowed it once" || d.Rule != "" {
		t.Errorf("got %+v", d)
	}
	g.Modes.SetPaused(true)
	if d := g.Decide(t.Context(), r); d.Effect != gate.Deny || d.Step != 0 || !g.Modes.Paused() {
		t.Errorf("paused: %+v", d)
	}
	g.Modes.SetPaused(false)
	if d := g.Decide(t.Context(), r); d.Effect != gate.Allow {
		t.Errorf("after the pause: %+v", d)
	}
}

// --approve always answers for a person, and not where they said that they want to be asked,
// whichever step of the order asks.
func TestAttackApproveAlwaysPassesARuleToAsk(t *testing.T) {
	g, c := trusted(t, gate.Options{})
	call := func(taint []chat.Origin, capabilities ...gate.Capability) gate.Call {
		r := request(c)
		r.Asker, r.Capabilities, r.Taint = gate.AlwaysAsker{}, capabilities, taint
		return r
	}
	calls := map[string]gate.Call{
		"sends": call(nil, gate.SendWeb), "deletes": call(nil, gate.Delete),
		"sends on": call(fromExample, gate.SendWeb),
	}
	for name, r := range calls {
		if d := g.Decide(t.Context(), r); d.Effect != gate.Allow || d.By != "--approve always" {
			t.Errorf("without a rule, one that %s: %+v", name, d)
		}
	}
	const although = "--approve always allowed it once, although this chat contains text from example.org"
	if d := g.Decide(t.Context(), calls["sends on"]); d.Why != although || !slices.Equal(d.Origins, fromExample) {
		t.Errorf("of untrusted text it says %q", d.Why)
	}
	rule, err := g.Rules.Add(t.Context(), gate.Rule{
		Effect: gate.Ask, Plugin: "notes", Tool: "write_note", Scope: gate.Always,
	})
	must(t, err)
	for name, r := range calls {
		d := g.Decide(t.Context(), r)
		if d.Effect != gate.Deny || d.By != "--approve always" ||
			!strings.HasPrefix(d.Why, "--approve always does not answer where you want to be asked: rule: ") {
			t.Errorf("with one, one that %s: %+v", name, d)
		}
	}
	_, err = g.Rules.Revoke(t.Context(), rule.ID)
	must(t, err)
	if d := g.Decide(t.Context(), calls["sends"]); d.Effect != gate.Allow {
		t.Errorf("once it is taken back: %+v", d)
	}
}

// Four calls of one plugin, and the order around them: each case
// names the step that must decide.
func TestTheOrderOfDecisions(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	data := t.TempDir()
	write := []gate.Capability{gate.WriteFiles}
	run := []gate.Capability{gate.RunPrograms}
	web := []gate.Capability{gate.Fetch}
	allowTool := gate.Rule{
		Effect: gate.Allow, Plugin: "notes", Tool: "write_note", Callers: []gate.Caller{gate.Main},
		Scope: gate.Always,
	}
	allowAll := gate.Rule{
		Effect: gate.Allow, Plugin: "notes", Tool: "*", Callers: []gate.Caller{gate.Main, "member:*"},
		Scope: gate.Always,
	}
	askTool := gate.Rule{Effect: gate.Ask, Plugin: "notes", Tool: "write_note", Scope: gate.Always}
	never := gate.Rule{Effect: gate.Deny, Plugin: "notes", Tool: "*", Scope: gate.Always}
	other := func(r *gate.Call) { r.Tool.Description += " And more."; r.Tool = tool.Normal(r.Tool) }
	for name, c := range map[string]struct {
		paused bool
		mode   gate.Mode
		grants []gate.Rule
		change func(*gate.Call)
		step   int
		effect gate.Effect // Ask: a person was asked
		why    string      // part of it
	}{
		"paused beats everything": {
			paused: true, grants: []gate.Rule{allowTool, never}, step: 0, effect: gate.Deny, why: "paused",
		},
		"Conclave's own data": {grants: []gate.Rule{allowTool}, change: func(r *gate.Call) {
			r.Capabilities, r.Arguments = write, arguments(filepath.Join(data, "x", "..", "conclave.db"))
		}, step: 1, effect: gate.Deny, why: "no tool may touch"},
		"SSH keys": {
			grants: []gate.Rule{allowTool},
			change: func(r *gate.Call) { r.Capabilities, r.Arguments = write, arguments("~/.ssh/id_ed25519") }, step: 1,
			effect: gate.Deny, why: "no tool may touch",
		},
		"metadata address": {
			grants: []gate.Rule{allowTool},
			change: func(r *gate.Call) { r.Capabilities, r.Arguments = web, arguments("http://169.254.169.254/latest") },
			step:   1, effect: gate.Deny, why: "metadata address",
		},
		"metadata address held in another": {grants: []gate.Rule{allowTool}, change: func(r *gate.Call) {
			r.Capabilities, r.Arguments = web, arguments("http://[64:ff9b::a9fe:a9fe]/latest")
		}, step: 1, effect: gate.Deny, why: "metadata address"},
		"metadata address of another cloud": {
			grants: []gate.Rule{allowTool},
			change: func(r *gate.Call) { r.Capabilities, r.Arguments = web, arguments("http://168.63.129.16/") }, step: 1,
			effect: gate.Deny, why: "metadata address",
		},
		"metadata address in IPv6": {change: func(r *gate.Call) {
			r.Capabilities, r.Arguments = web, arguments("http://[::ffff:169.254.169.254]/")
		}, step: 1, effect: gate.Deny, why: "metadata address"},
		"a word is no address": {grants: []gate.Rule{allowTool}, change: func(r *gate.Call) {
			r.Capabilities, r.Arguments = web, arguments("about 169.254.169.254 and ~/.ssh")
		}, step: 7, effect: gate.Allow, why: "rule"},
		"computing may read about SSH": {
			grants: []gate.Rule{allowTool}, change: func(r *gate.Call) { r.Arguments = arguments("~/.ssh/id_rsa") },
			step: 7, effect: gate.Allow, why: "rule",
		},
		"SSH keys, and nothing isolates the plugin": {
			grants: []gate.Rule{allowTool},
			change: func(r *gate.Call) {
				r.Capabilities, r.Arguments = []gate.Capability{}, arguments("~/.ssh/id_ed25519")
			}, step: 1, effect: gate.Deny, why: "no tool may touch",
		},
		"metadata address, and nothing isolates the plugin": {
			grants: []gate.Rule{allowTool},
			change: func(r *gate.Call) {
				r.Capabilities, r.Arguments = []gate.Capability{}, arguments("http://169.254.169.254/latest")
			}, step: 1, effect: gate.Deny, why: "metadata address",
		},
		"refusal beats quarantine": {
			grants: []gate.Rule{never}, change: other, step: 2, effect: gate.Deny, why: "may never run any of its tools",
		},
		"refusal beats permission": {
			grants: []gate.Rule{never, allowTool}, step: 2, effect: gate.Deny, why: "may never",
		},
		"a changed description is paused": {
			grants: []gate.Rule{allowTool}, change: other, step: 3, effect: gate.Deny, why: "describes itself differently",
		},
		"a new tool is paused": {
			change: func(r *gate.Call) { r.Tool.Name = "new"; r.Tool = tool.Normal(r.Tool) }, step: 3, effect: gate.Deny,
			why: "differently",
		},
		"another plugin is unknown": {
			change: func(r *gate.Call) { r.Tool.Plugin = "stranger" }, step: 3, effect: gate.Deny,
			why: "nobody has approved",
		},
		"taint asks in spite of a rule": {
			grants: []gate.Rule{allowTool},
			change: func(r *gate.Call) { r.Capabilities, r.Taint = write, fromExample }, step: 4,
			effect: gate.Ask, why: "this chat contains text from example.org",
		},
		"taint does not matter to computing": {
			grants: []gate.Rule{allowTool}, change: func(r *gate.Call) { r.Taint = fromExample }, step: 7,
			effect: gate.Allow, why: "rule",
		},
		"programs ask in spite of a rule": {
			grants: []gate.Rule{allowTool}, change: func(r *gate.Call) { r.Capabilities = run }, step: 5,
			effect: gate.Ask, why: "run programs",
		},
		"your rule to ask beats your yes": {
			grants: []gate.Rule{askTool, allowTool}, step: 6, effect: gate.Ask, why: "has to ask each time",
		},
		"your yes": {
			grants: []gate.Rule{allowTool}, change: func(r *gate.Call) { r.Capabilities = write }, step: 7,
			effect: gate.Allow, why: "rule: Notes may run write_note, when I ask, always",
		},
		"the tool's rule before the plugin's": {
			grants: []gate.Rule{allowAll, allowTool}, step: 7, effect: gate.Allow, why: "write_note",
		},
		"a rule for another caller": {
			grants: []gate.Rule{allowTool},
			change: func(r *gate.Call) { r.Caller, r.Capabilities = "member:maker", write }, step: 9, effect: gate.Deny,
			why: "council members may not write files",
		},
		"a rule for members too": {
			grants: []gate.Rule{allowAll},
			change: func(r *gate.Call) { r.Caller, r.Capabilities = "member:maker", write }, step: 7, effect: gate.Allow,
			why: "when council members ask",
		},
		"programs for a member": {
			grants: []gate.Rule{allowAll}, change: func(r *gate.Call) { r.Caller, r.Capabilities = "member:maker", run },
			step: 5, effect: gate.Deny, why: "council members may not run programs",
		},
		"careful mode": {
			mode: gate.Careful, change: func(r *gate.Call) { r.Capabilities = []gate.Capability{gate.ReadChat} },
			step: 8, effect: gate.Ask, why: "careful mode",
		},
		"careful mode is under your rules": {
			mode: gate.Careful, grants: []gate.Rule{allowTool}, change: func(r *gate.Call) { r.Capabilities = write },
			step: 7, effect: gate.Allow, why: "rule",
		},
		"the stricter capability wins": {change: func(r *gate.Call) {
			r.Capabilities = []gate.Capability{gate.Compute, gate.WriteFiles, gate.ShowUI}
		}, step: 9, effect: gate.Ask, why: "it could write files"},
		"what is not known asks": {
			change: func(r *gate.Call) { r.Capabilities = []gate.Capability{"levitate"} }, step: 9, effect: gate.Ask,
			why: "levitate",
		},
		"no capabilities ask": {
			change: func(r *gate.Call) { r.Capabilities = []gate.Capability{} }, step: 9, effect: gate.Ask,
			why: "not known",
		},
		"a member computes for the first time": {
			change: func(r *gate.Call) { r.Caller = "member:maker" }, step: 9, effect: gate.Ask,
			why: "first time this tool runs",
		},
		"a person runs it themselves": {
			change: func(r *gate.Call) { r.Caller = gate.Person }, step: 9, effect: gate.Allow,
			why: "you ran it yourself",
		},
		"a person writes files": {
			change: func(r *gate.Call) { r.Caller, r.Capabilities = gate.Person, write }, step: 9, effect: gate.Ask,
			why: "write files",
		},
		"Conclave's own tools": {
			change: func(r *gate.Call) { r.Tool.Plugin = gate.BuiltIn }, step: 9, effect: gate.Allow,
			why: "need no permission",
		},
	} {
		g, cand := trusted(t, gate.Options{Mode: func() gate.Mode { return c.mode }, Protected: []string{data}})
		for _, rule := range c.grants {
			if _, err := g.Rules.Add(t.Context(), rule); err != nil {
				t.Fatal(err)
			}
		}
		g.Modes.SetPaused(c.paused)
		r := request(cand)
		if c.change != nil {
			c.change(&r)
		}
		a := &asker{answer: gate.Answer{Effect: gate.Deny}}
		r.Asker = a
		steps := g.Decisions.Explain(r)
		last := steps[len(steps)-1]
		if last.Number != c.step || len(steps) != c.step+1 || last.Effect != c.effect || !strings.Contains(last.Why, c.why) {
			t.Errorf("%s: the walk ended with %s, want step %d, %s, …%s…", name, last, c.step, c.effect, c.why)
		}
		for _, s := range steps[:len(steps)-1] {
			if s.Effect != "" {
				t.Errorf("%s: the walk went on after %s", name, s)
			}
		}
		d := g.Decide(t.Context(), r)
		if wasAsked := len(a.asked) == 1; wasAsked != (c.effect == gate.Ask) || d.Step != c.step {
			t.Errorf("%s: asked %v, decided at step %d", name, wasAsked, d.Step)
		}
		if c.effect == gate.Deny && (d.Effect != gate.Deny || d.Reason == "" || d.Why == "") {
			t.Errorf("%s: %+v", name, d)
		}
		if c.step >= 4 && c.step <= 6 && len(a.asked) == 1 && !slices.Equal(a.asked[0].Scopes, []gate.Scope{gate.Once}) {
			t.Errorf("%s: offered %v", name, a.asked[0].Scopes)
		}
	}
}

func arguments(text string) json.RawMessage {
	raw, _ := json.Marshal(map[string]any{"where": []string{text}})
	return raw
}

func TestAGrantIsForTheDefinitionItWasGivenFor(t *testing.T) {
	g, c := trusted(t, gate.Options{})
	r := request(c)
	r.Asker = &asker{answer: gate.Answer{Effect: gate.Allow, Scope: gate.Always, Council: true}}
	g.Decide(t.Context(), r)
	r.Asker = nil
	r.Caller = "member:sceptic"
	if d := g.Decide(t.Context(), r); d.Step != 7 {
		t.Errorf("also when council members ask: %+v", d)
	}
	r.Caller = gate.Main
	changed := notes()
	changed.Code = "c0de2"
	changed.Tools[0].Description = "Writes a note, and reads your mail."
	changed.Tools[0] = tool.Normal(changed.Tools[0])
	must(t, g.Approvals.Approve(t.Context(), changed, gate.ApproveOptions{}))
	r2 := r
	r2.Tool = changed.Tools[0]
	if d := g.Decide(t.Context(), r2); d.Effect != gate.Deny || d.By != "nobody to ask" {
		t.Errorf("the old rule let the new definition pass: %+v", d)
	}
	// A turn that froze the approved old definition may go on calling it.
	if d := g.Decide(t.Context(), r); d.Effect != gate.Allow {
		t.Errorf("the old definition was forgotten: %+v", d)
	}
}

func TestAGrantUnusedFor90DaysAsksAgain(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	l := newMemory()
	g, c := trusted(t, gate.Options{Store: l, Now: func() time.Time { return now }})
	if _, err := g.Rules.Add(t.Context(), gate.Rule{
		Effect: gate.Allow, Plugin: "notes", Tool: "*", Callers: []gate.Caller{gate.Main}, Scope: gate.Always,
	}); err != nil {
		t.Fatal(err)
	}
	now = now.AddDate(0, 0, 80)
	if d := g.Decide(t.Context(), request(c)); d.Effect != gate.Allow {
		t.Fatalf("got %+v", d)
	}
	must(t, g.Close(t.Context()))
	for _, rule := range l.grants {
		if rule.Uses != 1 || !rule.LastUsed.Equal(now) {
			t.Errorf("the store has %+v", rule)
		}
	}
	now = now.AddDate(0, 0, 91)
	if d := g.Decide(t.Context(), request(c)); d.Effect != gate.Deny {
		t.Errorf("after 91 unused days: %+v", d)
	}
}

// A call that used a rule up is made: only the next one is without it.
func TestTheLastUseOfARuleIsOfTheCallThatUsedItUp(t *testing.T) {
	g, c := trusted(t, gate.Options{})
	_, err := g.Rules.Add(t.Context(), gate.Rule{
		Effect: gate.Allow, Plugin: "notes", Tool: "write_note", Callers: []gate.Caller{"member:*"},
		Scope: gate.Always, MaxUses: 1,
	})
	must(t, err)
	call := request(c)
	call.Caller, call.Capabilities = "member:ada", []gate.Capability{gate.WriteFiles}
	d := g.Decide(t.Context(), call)
	held, ended := g.Begin(t.Context(), call, d, func(d gate.Decision) { t.Errorf("it was stopped: %s", d.Why) })
	if d.Effect != gate.Allow || held.Effect != gate.Allow {
		t.Errorf("it came to %+v, and once it could be made to %+v", d, held)
	}
	defer ended()
	if d := g.Decide(t.Context(), call); d.Effect != gate.Deny {
		t.Errorf("once was twice: %+v", d)
	}
}

// A call stands on what allows it now, whatever allowed it at first.
func TestACallIsStoppedOnceTheLastRuleThatAllowsItIsTakenBack(t *testing.T) {
	for name, goneBefore := range map[string]bool{"taken back while it runs": false, "taken back before it runs": true} {
		g, c := trusted(t, gate.Options{})
		for range 2 {
			_, err := g.Rules.Add(t.Context(), rule(gate.Allow))
			must(t, err)
		}
		call, stopped := request(c), ""
		d := g.Decide(t.Context(), call)
		revoke := func(id string) {
			_, err := g.Rules.Revoke(t.Context(), id)
			must(t, err)
		}
		if goneBefore {
			revoke(d.Rule)
		}
		held, ended := g.Begin(t.Context(), call, d, func(d gate.Decision) { stopped = d.Why })
		defer ended()
		if !goneBefore {
			revoke(d.Rule)
		}
		if held.Effect != gate.Allow || stopped != "" {
			t.Errorf("%s: with the other rule it comes to %+v, stopped: %q", name, held, stopped)
		}
		rules, err := g.Rules.List(t.Context())
		must(t, err)
		revoke(rules[len(rules)-1].ID)
		if stopped != "you took back what allowed it" {
			t.Errorf("%s: without any rule it goes on: %q", name, stopped)
		}
	}
}

func TestACallThatWasAllowedOnceStandsOnNoRule(t *testing.T) {
	g, c := trusted(t, gate.Options{})
	call := request(c)
	call.Asker = &asker{answer: gate.Answer{Effect: gate.Allow, Scope: gate.Once}}
	d := g.Decide(t.Context(), call)
	_, ended := g.Begin(t.Context(), call, d, func(d gate.Decision) { t.Errorf("it was stopped: %s", d.Why) })
	defer ended()
	made, err := g.Rules.Add(t.Context(), rule(gate.Allow))
	must(t, err)
	_, err = g.Rules.Revoke(t.Context(), made.ID)
	must(t, err)
}

// Programs take more than a path for the name of a file.
func TestAPlaceThatNoToolMayTouchIsKnownHoweverItIsNamed(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	g, c := trusted(t, gate.Options{})
	named := func(text string) gate.Step {
		call := request(c)
		call.Capabilities, call.Arguments = []gate.Capability{gate.ReadFiles}, arguments(text)
		return decisive(g, call)
	}
	for _, text := range []string{
		home + "/.ssh/id_rsa", "~/.ssh/id_rsa", "file://" + home + "/.ssh/id_rsa", "file:" + home + "/.ssh/id_rsa",
		"file://localhost" + home + "/.ssh/id_rsa", "FILE://" + home + "/.ssh/id_rsa?a#b", " file://" + home + "/.ssh\n",
		"file://" + home + "/%2Essh/id_rsa", "file://" + home + "/Notes/%2e%2e/.ssh/%zz", "file:~/.ssh/id_rsa",
		"file:////" + home + "/.netrc", "file://" + home + "/.netrc?x", "file://" + home + "/.netrc#x",
		"~/snap/firefox/common/.mozilla/firefox/profiles.ini", "~/snap/chromium/common/chromium/Default/Cookies",
		"~/.var/app/org.mozilla.firefox/.mozilla/firefox/profiles.ini",
		"~/.var/app/org.chromium.Chromium/config/chromium/Default/Cookies",
		"~/.npmrc", "~/.git-credentials", "~/.config/gh/hosts.yml", "~/.cargo/credentials.toml", "~/.pypirc",
		"~/.docker/config.json", "~/.kube/config", "~/.m2/settings.xml", "~/.config/rclone/rclone.conf", "~/.pgpass",
		"~/.claude/.credentials.json", "~/.codex/auth.json", "~/.cache/huggingface/token", "~/.vault-token",
	} {
		if s := named(text); s.Number != 1 || s.Effect != gate.Deny {
			t.Errorf("%q: %s", text, s)
		}
	}
	for _, text := range []string{
		"file://" + home + "/Notes/a.md", "file:", "file:about .ssh", "profile:" + home + "/.ssh", "~/snap/notes/common/a",
		"~/.cargo/bin/rustc", "~/.config/git/config", "~/.docker/cli-plugins/x", "~/.m2/repository/a.jar", "~/project/.npmrc",
		"file://" + home + "/.netrc%3Fx", "https://example.org" + home + "/.ssh/id_rsa",
	} {
		if s := named(text); s.Number == 1 {
			t.Errorf("%q: %s", text, s)
		}
	}
}

func TestAYesForAHostAFolderOrACommandUnusedFor90DaysAsksAgain(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	g, c := trusted(t, gate.Options{Now: func() time.Time { return now }})
	folder := t.TempDir()
	a := &asker{answer: gate.Answer{Effect: gate.Allow, Scope: gate.Always}}
	behalf := gate.Call{Caller: gate.Main, Asker: a}
	ctx := t.Context()
	uses := []func(){
		func() {
			g.Connect(ctx, gate.Connection{Plugin: c.Plugin, URL: "https://api.example.org:443", Behalf: behalf})
		},
		func() {
			g.Open(ctx, gate.Opening{Plugin: c.Plugin, Path: filepath.Join(folder, "a"), Behalf: behalf})
		},
		func() {
			s := echo()
			s.Behalf = behalf
			g.Start(ctx, s)
		},
	}
	must(t, g.Reach.AllowHost(ctx, c.Plugin, gate.Network, gate.Allow, gate.HostIs, "api.example.org"))
	for i, asked := range []int{2, 2, 2, 5} { // the host was allowed by hand
		for _, use := range uses {
			use()
		}
		if len(a.asked) != asked {
			t.Errorf("round %d: asked %d times, want %d", i, len(a.asked), asked)
		}
		if now = now.AddDate(0, 0, 80); i == 2 {
			now = now.AddDate(0, 0, 11)
			rules, err := g.Rules.List(ctx)
			must(t, err)
			for _, rule := range rules {
				if !rule.Unused(now) {
					t.Errorf("it is not told: %s", gate.Sentence(rule, "Notes"))
				}
			}
		}
	}
	whole := gate.Rule{Effect: gate.Allow, Permission: gate.Network, Scope: gate.Always}
	given := gate.Rule{
		Effect: gate.Allow, Permission: gate.Filesystem, Scope: gate.Always,
		Match: []gate.Match{{Field: "path", Op: gate.PathUnder, Value: folder}},
	}
	if whole.Unused(now) || given.Unused(now) {
		t.Error("what opens the sandbox ages, whose uses nobody sees")
	}
}

// A rule for one chat outlives the program as a lasting one does, and so does how often it
// was used.
func TestTheUsesOfARuleForOneChatOutliveTheProgram(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	l := newMemory()
	g, c := trusted(t, gate.Options{Store: l, Now: func() time.Time { return now }})
	r := request(c)
	r.Asker = &asker{answer: gate.Answer{Effect: gate.Allow, Scope: gate.ThisChat}}
	for range 3 { // the first is asked about
		if d := g.Decide(t.Context(), r); d.Effect != gate.Allow {
			t.Fatalf("got %+v", d)
		}
	}
	must(t, g.Close(t.Context()))
	rules, err := open(t, gate.Options{Store: l}).Rules.List(t.Context())
	must(t, err)
	if len(rules) != 1 || rules[0].Scope != gate.ThisChat || rules[0].Uses != 3 || !rules[0].LastUsed.Equal(now) {
		t.Errorf("got %+v", rules)
	}
}

func TestWhenAToolWasLastUsedOutlivesTheProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newMemory()
		g, c := trusted(t, gate.Options{Store: l})
		r := request(c)
		r.Asker = &asker{answer: gate.Answer{Effect: gate.Allow, Scope: gate.Once}}
		id := r.Tool.ID()
		release := func(times int) time.Time {
			t.Helper()
			for range times {
				if d := g.Decide(t.Context(), r); d.Effect != gate.Allow {
					t.Fatalf("got %+v", d)
				}
			}
			return time.Now()
		}
		written := func(puts, times int, last time.Time) {
			t.Helper()
			l.mu.Lock()
			defer l.mu.Unlock()
			if u := l.uses[id]; l.puts != puts || u.Times != times || !u.Last.Equal(last) {
				t.Errorf("after %d writes the store has %+v, want %d writes, %d times, last %s", l.puts, u, puts, times, last)
			}
		}
		first := release(3)
		written(0, 0, time.Time{})
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		written(1, 3, first) // together, and once

		l.mu.Lock()
		l.broken = true
		l.mu.Unlock()
		second := release(1)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		written(1, 3, first)
		l.mu.Lock()
		l.broken = false
		l.mu.Unlock()
		for range 2 { // what could not be written is written now, once
			must(t, g.Close(t.Context()))
		}
		written(2, 4, second)

		again := open(t, gate.Options{Store: l})
		if times, last := again.Rules.Uses(id); times != 4 || !last.Equal(second) {
			t.Errorf("the next program knows %d uses, last %s", times, last)
		}
		if times, last := again.Rules.Uses("notes:other"); times != 0 || !last.IsZero() {
			t.Errorf("a tool that was not used: %d, %s", times, last)
		}
	})
}

func TestTwoWindowsAnswerOneRequestAndOneIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 50 {
			l := newMemory()
			g, c := trusted(t, gate.Options{Store: l})
			defer g.Questions.Attach()()
			defer g.Questions.Attach()()
			p, decided := asked(t, g, request(c))
			answers := []gate.Answer{{Effect: gate.Allow, Scope: gate.Always}, {Effect: gate.Deny, Scope: gate.Always}}
			errs := make([]error, len(answers))
			var wg sync.WaitGroup
			for i, a := range answers {
				wg.Go(func() { errs[i] = g.Questions.Answer(t.Context(), p.ID, p.Nonce, a) })
			}
			wg.Wait()
			d := <-decided
			won := slices.Index(errs, nil)
			if won < 0 || errs[1-won] == nil || fault.KindOf(errs[1-won]) != fault.Conflict {
				t.Fatalf("answers ended with %v", errs)
			}
			rules, _ := g.Rules.List(t.Context())
			if d.Effect != answers[won].Effect || len(rules) != 1 || rules[0].Effect != d.Effect || len(l.grants) != 1 {
				t.Fatalf("window %d won, but the decision is %+v and the grants are %+v", won, d, rules)
			}
			if len(g.Questions.List()) != 0 {
				t.Fatal("the settled request still waits")
			}
		}
	})
}

func TestOnlyTheRightNonceAndAnOfferedAnswerSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := trusted(t, gate.Options{})
		defer g.Questions.Attach()()
		r := request(c)
		r.Capabilities = []gate.Capability{gate.RunPrograms}
		p, decided := asked(t, g, r)
		for name, bad := range map[string]struct {
			nonce string
			a     gate.Answer
			kind  fault.Kind
		}{
			"wrong nonce":      {"x", gate.Answer{Effect: gate.Allow}, fault.Conflict},
			"always":           {p.Nonce, gate.Answer{Effect: gate.Allow, Scope: gate.Always}, fault.Invalid},
			"no effect":        {p.Nonce, gate.Answer{}, fault.Invalid},
			"broken arguments": {p.Nonce, gate.Answer{Effect: gate.Allow, Arguments: json.RawMessage(`[`)}, fault.Invalid},
		} {
			if err := g.Questions.Answer(t.Context(), p.ID, bad.nonce, bad.a); fault.KindOf(err) != bad.kind {
				t.Errorf("%s: %v", name, err)
			}
		}
		if len(g.Questions.List()) != 1 {
			t.Fatal("a refused answer took the request")
		}
		must(t, g.Questions.Answer(t.Context(), p.ID, p.Nonce, gate.Answer{
			Effect: gate.Allow, Scope: gate.Once, Arguments: json.RawMessage(`{"text":"b"}`),
		}))
		if d := <-decided; d.Effect != gate.Allow || !d.Edited || string(d.Arguments) != `{"text":"b"}` ||
			d.Why != "you allowed it once, with edited arguments" {
			t.Errorf("got %+v", d)
		}
	})
}

func TestIdenticalCallsMergeIntoOneCard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := bus.New()
		g, c := trusted(t, gate.Options{Bus: b})
		defer g.Questions.Attach()()
		news := b.Subscribe(bus.Permissions)
		defer news.Close()
		r := request(c)
		p, first := asked(t, g, r)
		if got, _ := news.Next(t.Context()); len(got) != 1 {
			t.Errorf("notices %+v", got)
		}
		r.ID, r.Arguments = "call-2", json.RawMessage(`{ "text": "a" }`)
		again, second := asked(t, g, r)
		r.ID, r.Arguments = "call-3", json.RawMessage(`{"text":"other"}`)
		other, third := asked(t, g, r)
		if again.ID != p.ID || other.ID == p.ID {
			t.Fatalf("cards %s, %s, %s", p.ID, again.ID, other.ID)
		}
		list := g.Questions.List()
		if len(list) != 2 || list[0].Count != 2 || list[1].Count != 1 {
			t.Fatalf("pending %+v", list)
		}
		yes := gate.Answer{Effect: gate.Allow, Scope: gate.Once}
		if err := g.Questions.Answer(t.Context(), p.ID, p.Nonce, yes); fault.KindOf(err) != fault.Conflict {
			t.Errorf("a yes to one call is one to two: %v", err)
		}
		must(t, g.Questions.Answer(t.Context(), p.ID, again.Nonce, yes))
		if a, b := <-first, <-second; a.Effect != gate.Allow || b.Effect != gate.Allow {
			t.Errorf("got %+v and %+v", a, b)
		}
		// A wider answer settles the other cards that it covers.
		fourth, done := asked(t, g, r) // merges with the third
		must(t, g.Questions.Answer(t.Context(), fourth.ID, fourth.Nonce,
			gate.Answer{Effect: gate.Allow, Scope: gate.ThisChat}))
		if a, b := <-third, <-done; a.Effect != gate.Allow || b.Effect != gate.Allow {
			t.Errorf("got %+v and %+v", a, b)
		}
	})
}

func TestACardHasWhatWasAskedForBeforeAHookChangedIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := trusted(t, gate.Options{Store: newMemory()})
		defer g.Questions.Attach()()
		r := request(c)
		r.Because = []string{"the hook h changed it"}
		r.Original = &gate.Original{Tool: "Say\nit", Arguments: json.RawMessage("{\"text\":\"\u200bb\"}")}
		p, first := asked(t, g, r)
		if p.Original == nil || p.Original.Tool != "Say it" || string(p.Original.Arguments) != `{"text":"b"}` ||
			p.Hidden != 1 || r.Original.Tool != "Say\nit" {
			t.Errorf("the card has %+v, %d hidden", p.Original, p.Hidden)
		}
		// The same call, of something else or of nothing, is another question.
		r.ID, r.Original = "call-2", &gate.Original{Arguments: json.RawMessage(`{"text":"c"}`)}
		other, second := asked(t, g, r)
		r.ID, r.Original = "call-3", nil
		plain, third := asked(t, g, r)
		if other.ID == p.ID || plain.ID == p.ID || plain.ID == other.ID || plain.Original != nil {
			t.Errorf("cards %s, %s, %s", p.ID, other.ID, plain.ID)
		}
		g.Modes.SetPaused(true)
		<-first
		<-second
		<-third
	})
}

func TestAWiderAnswerSettlesOtherCardsAndAPauseSettlesAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := trusted(t, gate.Options{})
		defer g.Questions.Attach()()
		r := request(c)
		one, first := asked(t, g, r)
		r.Arguments = json.RawMessage(`{"text":"b"}`)
		_, second := asked(t, g, r)
		r.Tool = c.Tools[1]
		_, third := asked(t, g, r)
		must(t, g.Questions.Answer(t.Context(), one.ID, one.Nonce,
			gate.Answer{Effect: gate.Allow, Scope: gate.ThisAnswer}))
		if a, b := <-first, <-second; a.By != "person" || b.Step != 7 || b.Effect != gate.Allow {
			t.Errorf("got %+v and %+v", a, b)
		}
		g.Modes.SetPaused(true)
		if d := <-third; d.Effect != gate.Deny || d.Step != 0 {
			t.Errorf("got %+v", d)
		}
	})
}

func TestTenMinutesWithoutAnAnswerMeanNo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newMemory()
		g, c := trusted(t, gate.Options{Store: l})
		defer g.Questions.Attach()()
		began := time.Now()
		p, decided := asked(t, g, request(c))
		d := <-decided
		if took := time.Since(began); took != gate.AnswerTimeout {
			t.Errorf("took %s", took)
		}
		if d.Effect != gate.Deny || !d.Expired || d.Why != "no answer in 10 minutes, so it was not run" {
			t.Errorf("got %+v", d)
		}
		if err := g.Questions.Answer(t.Context(), p.ID, p.Nonce,
			gate.Answer{Effect: gate.Allow}); fault.KindOf(err) != fault.Conflict {
			t.Errorf("a late answer: %v", err)
		}
		if len(g.Questions.List()) != 0 {
			t.Error("the expired request still waits")
		}
		r := request(c)
		r.Asker = sleeper{}
		if d := g.Decide(t.Context(), r); !d.Expired {
			t.Errorf("in a terminal: %+v", d)
		}
	})
}

// sleeper is a person who went away.
type sleeper struct{}

func (sleeper) Ask(ctx context.Context, _ gate.Request) (gate.Answer, error) {
	<-ctx.Done()
	return gate.Answer{Effect: gate.Allow}, nil
}

func TestClosingTheLastWindowMeansNo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := trusted(t, gate.Options{})
		detach, detachOther := g.Questions.Attach(), g.Questions.Attach()
		_, decided := asked(t, g, request(c))
		detach()
		detach() // twice is once
		synctest.Wait()
		select {
		case d := <-decided:
			t.Fatalf("one window is still open, but: %+v", d)
		default:
		}
		detachOther()
		if d := <-decided; d.Effect != gate.Deny || d.Why != "the window was closed before you answered" {
			t.Errorf("got %+v", d)
		}
		defer g.Questions.Attach()()
		_, decided = asked(t, g, request(c))
		must(t, g.Close(t.Context()))
		if d := <-decided; d.Effect != gate.Deny || d.Why != "Conclave was closed before you answered" {
			t.Errorf("got %+v", d)
		}
	})
}

func TestAStoppedTurnWithdrawsItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := trusted(t, gate.Options{})
		defer g.Questions.Attach()()
		ctx, cancel := context.WithCancel(t.Context())
		decided := make(chan gate.Decision)
		go func() { decided <- g.Decide(ctx, request(c)) }() // ends with cancel
		synctest.Wait()
		if len(g.Questions.List()) != 1 {
			t.Fatal("nothing is pending")
		}
		cancel()
		if d := <-decided; d.Effect != gate.Deny {
			t.Errorf("got %+v", d)
		}
		if len(g.Questions.List()) != 0 {
			t.Error("the request still waits")
		}
		if d := g.Decide(ctx, request(c)); d.Effect != gate.Deny {
			t.Errorf("after the stop: %+v", d)
		}
	})
}

// A card without a call behind it could be answered, and nothing would come of the yes. A call that
// is made again after a restart is asked about again.
func TestAfterARestartNoRequestWaitsThatNoCallIsBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newMemory()
		g, c := trusted(t, gate.Options{Store: l})
		detach := g.Questions.Attach()
		_, decided := asked(t, g, request(c))
		crashed := newMemory() // what was on the disk when the program died
		crashed.approvals = maps.Clone(l.approvals)
		detach()
		<-decided

		again := open(t, gate.Options{Store: crashed})
		again.Approvals.Status(c)
		defer again.Questions.Attach()()
		if list := again.Questions.List(); len(list) != 0 {
			t.Fatalf("after the restart waits %+v", list)
		}
		p, decided := asked(t, again, request(c))
		if p.History != "Not allowed before." {
			t.Errorf("the call that is made again is asked about with %q", p.History)
		}
		must(t, again.Questions.Answer(t.Context(), p.ID, p.Nonce, gate.Answer{Effect: gate.Allow, Scope: gate.Once}))
		if d := <-decided; d.Effect != gate.Allow || d.By != "person" {
			t.Errorf("the call that is made again is decided %+v", d)
		}
	})
}

func TestAnAnswerThatCannotBeKeptHoldsUntilConclaveQuits(t *testing.T) {
	l := newMemory()
	g, c := trusted(t, gate.Options{Store: l})
	l.broken = true
	rule, err := g.Rules.Add(t.Context(), gate.Rule{
		Effect: gate.Allow, Plugin: "notes", Tool: "write_note", Callers: []gate.Caller{gate.Main},
		Scope: gate.Always,
	})
	if fault.KindOf(err) != fault.Unavailable || rule.Scope != gate.UntilQuit {
		t.Errorf("got %+v, %v", rule, err)
	}
	if d := g.Decide(t.Context(), request(c)); d.Effect != gate.Allow {
		t.Errorf("got %+v", d)
	}
}

func TestHiddenTextInArgumentsIsNotShownAndIsCounted(t *testing.T) {
	g, c := trusted(t, gate.Options{})
	r := request(c)
	r.Arguments = json.RawMessage(`{"text":"a\u202eb","n":12345678901234567}`)
	a := &asker{answer: gate.Answer{Effect: gate.Allow, Scope: gate.Once}}
	r.Asker = a
	d := g.Decide(t.Context(), r)
	if p := a.asked[0]; p.Hidden != 1 || string(p.Arguments) != `{"text":"ab","n":12345678901234567}` {
		t.Errorf("shown %s with %d hidden", p.Arguments, p.Hidden)
	}
	if string(d.Arguments) != string(r.Arguments) || d.Edited {
		t.Errorf("the call itself was changed: %s", d.Arguments)
	}
}

func TestAttackAHiddenCharacterDoesNotMakeOneNameAnother(t *testing.T) {
	g, c := trusted(t, gate.Options{})
	for range 50 {
		r := request(c)
		r.Arguments = json.RawMessage(`{"path":"/taxes","pa\u200bth":"/notes","pa\\u{200b}th":"/more"}`)
		a := &asker{answer: gate.Answer{Effect: gate.Deny, Scope: gate.Once}}
		r.Asker = a
		g.Decide(t.Context(), r)
		const want = `{"path":"/taxes","pa\\u{200b}th":"/notes","pa\\u{200b}th’":"/more"}`
		if p := a.asked[0]; p.Hidden != 1 || string(p.Arguments) != want {
			t.Fatalf("shown %s with %d hidden", p.Arguments, p.Hidden)
		}
	}
}

func TestAttackCallsThatDifferInADigitOrInWhyTheyAreAskedAreTwoCards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := trusted(t, gate.Options{})
		defer g.Questions.Attach()()
		r := request(c)
		r.Arguments = json.RawMessage(`{"id":12345678901234567}`)
		one, first := asked(t, g, r)
		r.Arguments = json.RawMessage(`{"id":12345678901234568}`)
		other, second := asked(t, g, r)
		r.Because = []string{"the hook H changed it"}
		made, third := asked(t, g, r)
		if one.ID == other.ID || other.ID == made.ID || string(other.Arguments) != string(r.Arguments) {
			t.Fatalf("cards %s, %s, %s", one.ID, other.ID, made.ID)
		}
		must(t, g.Questions.Answer(t.Context(), one.ID, one.Nonce, gate.Answer{
			Effect: gate.Allow, Scope: gate.Once, Arguments: json.RawMessage(`{"id":12345678901234569}`),
		}))
		if d := <-first; !d.Edited || string(d.Arguments) != `{"id":12345678901234569}` {
			t.Errorf("edited by a digit: %+v", d)
		}
		deny(t, g, other, made)
		<-second
		<-third
	})
}

// Calls that differ in what some program tells apart are asked about one by one; those that no
// program does are one card, of which a stopped call takes itself out, and another changes it.
func TestAttackCallsThatOnlySomeProgramTellsApartHaveTheirOwnCards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := trusted(t, gate.Options{})
		defer g.Questions.Attach()()
		base := request(c)
		call := func(arguments string, change func(*gate.Call)) gate.Call {
			r := base
			r.Arguments = json.RawMessage(arguments)
			if change != nil {
				change(&r)
			}
			return r
		}
		page := func(name string) chat.Origin { return chat.NewOrigin(chat.FromAttachment, name) }
		apart := []gate.Call{
			call(`{"a":1,"b":"x"}`, nil), call(`{"a":1.0,"b":"x"}`, nil), call(`{"a":1e0,"b":"x"}`, nil),
			call(`{"a":-0,"b":"x"}`, nil), call(`{"a":0,"b":"x"}`, nil), call(`{"a":"1","b":"x"}`, nil),
			call(`{"a":1,"b":"x","a":1}`, nil), call(`{"a":1,"a":1,"b":"x"}`, nil), call(`{"A":1,"b":"x"}`, nil),
			call(`{"a":1,"b":"x","c":null}`, nil), call(`{"a":1,"b":"X"}`, nil), call(`{"a":1,"b":"x\u200b"}`, nil),
			call(`{"a":1,"b":"x"}`, func(r *gate.Call) { r.Because = []string{"h", "i"} }),
			call(`{"a":1,"b":"x"}`, func(r *gate.Call) { r.Because = []string{"h i"} }),
			call(`{"a":1,"b":"x"}`, func(r *gate.Call) { r.Original = &gate.Original{Tool: "t", Arguments: []byte(`1`)} }),
			call(`{"a":1,"b":"x"}`, func(r *gate.Call) { r.Original = &gate.Original{Tool: "t", Arguments: []byte(`1.0`)} }),
			call(`{"a":1,"b":"x"}`, func(r *gate.Call) { r.Taint = []chat.Origin{page("p")} }),
			call(`{"a":1,"b":"x"}`, func(r *gate.Call) { r.Taint = []chat.Origin{page("p"), page("q")} }),
			call(`{"a":1,"b":"x"}`, func(r *gate.Call) { r.Conversation = "chat-2" }),
		}
		var decided []<-chan gate.Decision
		cards := map[string]bool{}
		for _, r := range apart {
			p, d := asked(t, g, r)
			decided, cards[p.ID] = append(decided, d), true
		}
		if len(cards) != len(apart) {
			t.Errorf("%d calls that differ are %d cards", len(apart), len(cards))
		}
		deny(t, g, g.Questions.List()...)
		for _, d := range decided {
			<-d
		}

		ctx, stop := context.WithCancel(t.Context())
		stopped := make(chan gate.Decision)
		go func() { stopped <- g.Decide(ctx, apart[0]) }() // ends with stop
		synctest.Wait()
		first := g.Questions.List()[0]
		decided = decided[:0]
		for _, arguments := range []string{
			`{"a":1,"b":"x"}`, `{"b":"x","a":1}`, `{"b":"\u0078","a":1}`, ` { "a" : 1, "b" : "x" } `, `{"\u0061":1,"b":"x"}`,
		} {
			p, d := asked(t, g, call(arguments, nil))
			if decided = append(decided, d); p.ID != first.ID {
				t.Fatalf("%s is a card of its own: %+v", arguments, p)
			}
		}
		six := g.Questions.List()[0]
		stop()
		if d := <-stopped; d.Effect != gate.Deny {
			t.Errorf("the call that was stopped: %+v", d)
		}
		seventh, late := asked(t, g, call(`{"b":"x","a":1}`, nil))
		yes := gate.Answer{Effect: gate.Allow, Scope: gate.Once}
		if err := g.Questions.Answer(t.Context(), six.ID, six.Nonce, yes); fault.KindOf(err) != fault.Conflict {
			t.Errorf("a yes to six, of which one was stopped and to which one was added: %v", err)
		}
		if seventh.Count != 6 {
			t.Errorf("it counts %d", seventh.Count)
		}
		must(t, g.Questions.Answer(t.Context(), seventh.ID, seventh.Nonce, yes))
		for _, d := range append(decided, late) {
			if d := <-d; d.Effect != gate.Allow {
				t.Errorf("a yes to all: %+v", d)
			}
		}
		eighth, d := asked(t, g, apart[0])
		if eighth.Count != 1 {
			t.Errorf("another: %+v", eighth)
		}
		deny(t, g, eighth)
		<-d
	})
}

func TestAttackARuleForAnyToolOfAPluginIsNoneToAnswerForAnothers(t *testing.T) {
	g, c := trusted(t, gate.Options{})
	r := request(c)
	r.Instead = "exec"
	for name, want := range map[string]gate.Effect{"*": gate.Ask, r.Tool.Name: gate.Allow} {
		rule, err := g.Rules.Add(t.Context(), gate.Rule{
			Effect: gate.Allow, Plugin: "notes", Tool: name, Callers: []gate.Caller{gate.Main}, Scope: gate.Always,
		})
		must(t, err)
		if s := decisive(g, r); s.Effect != want {
			t.Errorf("with a rule for %s: %s", name, s)
		}
		_, err = g.Rules.Revoke(t.Context(), rule.ID)
		must(t, err)
	}
}

func TestTheCardTellsTheHistory(t *testing.T) {
	now := time.Date(2026, 11, 20, 14, 7, 0, 0, time.UTC) // a Friday
	for want, last := range map[string]time.Time{
		"Allowed 4 times, last at 09:00.":            time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC),
		"Allowed 4 times, last on Tuesday.":          time.Date(2026, 11, 17, 9, 0, 0, 0, time.UTC),
		"Allowed 4 times, last on November 3, 2026.": time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC),
	} {
		uses := newMemory()
		uses.uses["notes:write_note"] = gate.Use{Times: 9, Last: now, Yes: 4, Allowed: last}
		g, c := trusted(t, gate.Options{Now: func() time.Time { return now }, Store: uses})
		a := &asker{}
		r := request(c)
		r.Asker = a
		g.Decide(t.Context(), r)
		if got := a.asked[0].History; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestARulesSentence(t *testing.T) {
	for want, g := range map[string]gate.Rule{
		"Notes may run write_note, when I ask, until Conclave quits": {
			Effect: gate.Allow, Plugin: "notes", Tool: "write_note", Callers: []gate.Caller{"main"}, Scope: gate.UntilQuit,
		},
		"Notes may run any of its tools, when I ask and when council members ask, always": {
			Effect: gate.Allow, Plugin: "notes", Tool: "*", Callers: []gate.Caller{"main", "member:*"}, Scope: gate.Always,
		},
		"Notes may not run write_note, in one chat": {
			Effect: gate.Deny, Plugin: "notes", Tool: "write_note", Scope: gate.ThisChat,
		},
		"Notes has to ask each time before it runs write_note": {
			Effect: gate.Ask, Plugin: "notes", Tool: "write_note", Scope: gate.Always,
		},
		"Notes may never run pay, when council members ask": {
			Effect: gate.Deny, Plugin: "notes", Tool: "pay", Callers: []gate.Caller{"member:*"}, Scope: gate.Always,
		},
		"Notes may not run pay, when Ada asks in the council, in one chat": {
			Effect: gate.Deny, Plugin: "notes", Tool: "pay", Callers: []gate.Caller{"member:ada"}, CallerName: "Ada",
			Scope: gate.ThisChat,
		},
		"Notes has to ask each time before it runs pay, when I ask": {
			Effect: gate.Ask, Plugin: "notes", Tool: "pay", Callers: []gate.Caller{"main"}, Scope: gate.Always,
		},
		"Notes may run pay, when the program curl asks, always": {
			Effect: gate.Allow, Plugin: "notes", Tool: "pay", Callers: []gate.Caller{"http:curl"}, Scope: gate.Always,
		},
		"Notes may run pay, when the plugin other asks and when a program asks, always": {
			Effect: gate.Allow, Plugin: "notes", Tool: "pay", Callers: []gate.Caller{"plugin:other", "http:"},
			Scope: gate.Always,
		},
		"Notes has the permission chats":           {Effect: gate.Allow, Plugin: "notes", Permission: "chats"},
		"Notes does not have the permission chats": {Effect: gate.Deny, Plugin: "notes", Permission: "chats"},
	} {
		if got := gate.Sentence(g, "Notes"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func BenchmarkAskWithARule(b *testing.B) {
	g, c := trusted(b, gate.Options{})
	for i := range 100 {
		if _, err := g.Rules.Add(b.Context(), gate.Rule{
			Effect: gate.Allow, Plugin: "notes", Tool: []string{"read_note", "write_note"}[i%2],
			Callers: []gate.Caller{gate.Main}, Scope: gate.Always,
		}); err != nil {
			b.Fatal(err)
		}
	}
	r := request(c)
	for b.Loop() {
		if g.Decide(b.Context(), r).Effect != gate.Allow {
			b.Fatal("refused")
		}
	}
}

func TestACardAboutThePersonsOwnCallSaysThatTheyWantIt(t *testing.T) {
	g, c := trusted(t, gate.Options{})
	r := request(c)
	a := &asker{answer: gate.Answer{Effect: gate.Allow}}
	r.Caller, r.Asker, r.Capabilities = gate.Person, a, []gate.Capability{gate.ReadFiles}
	g.Decide(t.Context(), r)
	if len(a.asked) != 1 || !strings.HasPrefix(a.asked[0].Title, "You want to ") {
		t.Errorf("asked was %+v", a.asked)
	}
}

func TestARuleOfAMembersCardIsForItOrForAllMembersAndNamesIt(t *testing.T) {
	for all, sentence := range map[bool]string{
		false: "when Ada asks in the council", true: "when council members ask",
	} {
		g, c := trusted(t, gate.Options{})
		r := request(c)
		a := &asker{answer: gate.Answer{Effect: gate.Allow, Scope: gate.Always, Council: all}}
		r.Caller, r.CallerName, r.Asker, r.Capabilities = "member:x1", "Ada", a, []gate.Capability{gate.ReadFiles}
		g.Decide(t.Context(), r)
		if len(a.asked) != 1 || !strings.HasPrefix(a.asked[0].Title, "Ada (council) wants to ") ||
			a.asked[0].CallerName != "Ada" {
			t.Fatalf("asked was %+v", a.asked)
		}
		rules, err := g.Rules.List(t.Context())
		if err != nil || len(rules) != 1 || !strings.Contains(gate.Sentence(rules[0], "Notes"), sentence) {
			t.Errorf("the rule is %+v", rules)
		}
		r.Asker, r.Caller, r.CallerName = nil, "member:x2", "Bo"
		if d := g.Decide(t.Context(), r); (d.Effect == gate.Allow) != all {
			t.Errorf("for all %v, another member's call is decided %+v", all, d)
		}
		r.Caller = gate.Main
		if d := g.Decide(t.Context(), r); d.Effect == gate.Allow {
			t.Errorf("the main model inherits it: %+v", d)
		}
	}
}

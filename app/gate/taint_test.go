package gate_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/store"
)

var (
	example     = chat.NewOrigin(chat.FromWeb, "example.org")
	report      = chat.NewOrigin(chat.FromAttachment, "report.pdf")
	fromExample = []chat.Origin{example}
)

// decisive returns the step that decides about a call.
func decisive(g *gate.Gate, call gate.Call) gate.Step {
	steps := g.Decisions.Explain(call)
	return steps[len(steps)-1]
}

func TestNoRuleModeOrScopeGetsPastUntrustedText(t *testing.T) {
	out := map[string][]gate.Capability{
		"sends": {gate.SendWeb}, "reads from the web": {gate.Fetch}, "writes": {gate.WriteFiles},
		"runs":    {gate.RunPrograms},
		"deletes": {gate.Delete}, "is unheard of": {"levitate"}, "is not known": {},
		"computes and sends": {gate.Compute, gate.SendWeb},
	}
	for name, capabilities := range out {
		for _, mode := range []gate.Mode{gate.Standard, gate.Careful} {
			for _, scope := range []gate.Scope{gate.ThisAnswer, gate.ThisChat, gate.UntilQuit, gate.Always} {
				for _, about := range []string{"write_note", "*"} {
					g, c := trusted(t, gate.Options{Mode: func() gate.Mode { return mode }})
					_, err := g.Rules.Add(t.Context(), gate.Rule{
						Effect: gate.Allow, Plugin: "notes", Tool: about, Callers: []gate.Caller{gate.Main}, Scope: scope,
						Conversation: "chat-1", Turn: "turn-1",
					})
					must(t, err)
					call := request(c)
					call.Capabilities, call.Taint = capabilities, []chat.Origin{example, report}
					s := decisive(g, call)
					const why = "this chat contains text from example.org and the attachment “report.pdf”"
					if s.Number != 4 || s.Effect != gate.Ask || s.Why != why {
						t.Errorf("what %s, %s, %s on %s: %s", name, mode, scope, about, s)
					}
				}
			}
		}
	}
}

func TestTextFromOutsideIsNoReasonToAskBeforeWhatStaysInside(t *testing.T) {
	for _, capability := range []gate.Capability{
		gate.Compute, gate.ReadChat, gate.ReadFiles, gate.UseSecret, gate.CallModel, gate.ShowUI,
	} {
		g, c := trusted(t, gate.Options{})
		call := request(c)
		call.Capabilities = []gate.Capability{gate.Compute, capability}
		clean := decisive(g, call)
		call.Taint = fromExample
		if tainted := decisive(g, call); tainted != clean {
			t.Errorf("%s: %s became %s", capability, clean, tainted)
		}
	}
}

// strictness orders effects.
var strictness = map[gate.Effect]int{gate.Allow: 0, gate.Ask: 1, gate.Deny: 2}

// taintOnlyTightens checks a call and rules made of a number: text from outside never makes
// a decision milder, and as long as nobody trusts it, a call that goes out is not
// made unasked.
func taintOnlyTightens(t *testing.T, seed uint64) {
	t.Helper()
	r := random{rand.New(rand.NewPCG(seed, 2))}
	mode := pick(r, gate.Standard, gate.Careful)
	g, c := trusted(t, gate.Options{Mode: func() gate.Mode { return mode }})
	for range r.IntN(8) {
		_, err := g.Rules.Add(t.Context(), r.rule(pick(r, gate.Allow, gate.Allow, gate.Ask, gate.Deny)))
		must(t, err)
	}
	call := r.call(c)
	call.Taint = nil
	clean := decisive(g, call)
	call.Taint = []chat.Origin{example, report}
	call.Wrote = pick(r, nil, []string{"https://b.example.org/", "https://a.example.org"}) // never what it says
	if tainted := decisive(g, call); strictness[tainted.Effect] < strictness[clean.Effect] {
		t.Errorf("seed %d: %s became %s", seed, clean, tainted)
	}
	call.Capabilities = append(call.Capabilities, pick(r, gate.SendWeb, gate.WriteFiles, gate.RunPrograms))
	if _, err := g.Rules.Trust(t.Context(), pick(r, chat.ConversationID("chat-1"), "chat-2"),
		pick(r, example, report)); err != nil {
		t.Fatal(err)
	}
	if s := decisive(g, call); s.Effect == gate.Allow {
		t.Errorf("seed %d: %s, with one of two origins trusted", seed, s)
	}
	if d := g.Decide(t.Context(), call); d.Effect != gate.Deny { // there is nobody to ask
		t.Errorf("seed %d: it was made: %+v", seed, d)
	}
}

func TestTextFromOutsideOnlyTightensIn1000Calls(t *testing.T) {
	withoutHome(t)
	for seed := range uint64(1000) {
		taintOnlyTightens(t, seed)
	}
}

func FuzzTextFromOutsideOnlyTightens(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(taintOnlyTightens)
}

// sends is a call that sends, in a chat that holds text of these origins.
func sends(c gate.PluginVersion, origins ...chat.Origin) gate.Call {
	call := request(c)
	call.Capabilities, call.Taint = []gate.Capability{gate.SendWeb}, origins
	return call
}

func TestAPersonTrustsASourceInOneChatAndStopsTrustingIt(t *testing.T) {
	s, err := store.Open(t.Context(), store.Options{Dir: t.TempDir()})
	must(t, err)
	defer s.Close()
	g, c := trusted(t, gate.Options{Store: s.Permissions})
	detach := g.Questions.Attach()
	defer detach()
	_, err = g.Rules.Add(t.Context(), rule(gate.Allow))
	must(t, err)
	p, decided := asked(t, g, sends(c, example, report))
	if !slices.Equal(p.Origins, []chat.Origin{example, report}) || !slices.Equal(p.Scopes, []gate.Scope{gate.Once}) {
		t.Errorf("the request offers %v and %v", p.Origins, p.Scopes)
	}
	stranger := chat.NewOrigin(chat.FromWeb, "evil.example")
	for _, wrong := range []gate.Answer{
		{Effect: gate.Allow, Scope: gate.Once, Trust: []chat.Origin{stranger}},
		{Effect: gate.Deny, Scope: gate.Once, Trust: []chat.Origin{example}},
		{Effect: gate.Allow, Scope: gate.Always},
	} {
		if err := g.Questions.Answer(t.Context(), p.ID, p.Nonce, wrong); fault.KindOf(err) != fault.Invalid {
			t.Errorf("the answer %+v is taken: %v", wrong, err)
		}
	}
	must(t, g.Questions.Answer(t.Context(), p.ID, p.Nonce, gate.Answer{
		Effect: gate.Allow, Scope: gate.Once, Trust: []chat.Origin{example},
	}))
	d := <-decided
	if d.Effect != gate.Allow || !slices.Equal(d.Origins, []chat.Origin{example, report}) {
		t.Errorf("decided: %+v", d)
	}
	if s := decisive(g, sends(c, example)); s.Number != 7 {
		t.Errorf("what is trusted: %s", s)
	}
	if s := decisive(g, sends(c, example, report)); s.Why != "this chat contains the attachment “report.pdf”" {
		t.Errorf("what is not: %s", s)
	}
	elsewhere := sends(c, example)
	elsewhere.Conversation = "chat-2"
	if s := decisive(g, elsewhere); s.Number != 4 {
		t.Errorf("in another chat: %s", s)
	}

	again, err := gate.Open(t.Context(), gate.Options{Store: s.Permissions})
	must(t, err)
	again.Approvals.Status(c)
	if s := decisive(again, sends(c, example)); s.Number != 7 {
		t.Errorf("after a restart: %s", s)
	}
	id := again.Rules.Trusted("chat-1")[example]
	gone, err := again.Rules.Revoke(t.Context(), id)
	must(t, err)
	if got := gate.Sentence(gone, ""); got != "Text from example.org is trusted in one chat" {
		t.Errorf("the rule reads %q", got)
	}
	if s := decisive(again, sends(c, example)); s.Number != 4 {
		t.Errorf("taken back: %s", s)
	}
}

func TestNobodyCanTrustPlacesWithoutANameOrInAllChats(t *testing.T) {
	g, _ := trusted(t, gate.Options{})
	more := chat.Origin{Kind: chat.FromMore}
	if _, err := g.Rules.Trust(t.Context(), "chat-1", more); fault.KindOf(err) != fault.Invalid {
		t.Errorf("places without a name: %v", err)
	}
	if _, err := g.Rules.Trust(t.Context(), "", example); fault.KindOf(err) != fault.Invalid {
		t.Errorf("no chat: %v", err)
	}
	everywhere := gate.Rule{Effect: gate.Allow, Scope: gate.Always, Conversation: "chat-1", Origin: &example}
	if _, err := g.Rules.Add(t.Context(), everywhere); fault.KindOf(err) != fault.Invalid {
		t.Errorf("always: %v", err)
	}
}

func TestARequestThatNamesNoSourceDoesNotAnswerOneThatDoes(t *testing.T) {
	g, c := trusted(t, gate.Options{})
	defer g.Questions.Attach()()
	plain, first := asked(t, g, sends(c))
	tainted, second := asked(t, g, sends(c, example))
	if plain.ID == tainted.ID {
		t.Fatal("both are one request")
	}
	deny(t, g, plain, tainted)
	<-first
	<-second
}

func TestWhatACallReturnsComesFromTheHostsItNamesOrFromItsPlugin(t *testing.T) {
	weather := chat.NewOrigin(chat.FromTool, "Notes")
	for _, c := range []struct {
		capabilities []gate.Capability
		arguments    string
		want         []chat.Origin
	}{
		{[]gate.Capability{gate.Compute}, `{"url":"https://example.org/a"}`, nil},
		{[]gate.Capability{gate.Compute, gate.UseSecret, gate.ShowUI}, `{}`, nil},
		{[]gate.Capability{gate.Fetch}, `{"url":"https://example.org/a"}`, fromExample},
		{[]gate.Capability{gate.Fetch}, `{"pages":["https://b.example/","http://a.example:81"],"n":1}`, []chat.Origin{
			chat.NewOrigin(chat.FromWeb, "a.example:81"), chat.NewOrigin(chat.FromWeb, "b.example"),
		}},
		{[]gate.Capability{gate.Fetch}, `{"city":"Rome"}`, []chat.Origin{weather}},
		{[]gate.Capability{gate.ReadFiles}, `{"path":"/tmp/a"}`, []chat.Origin{weather}},
		{[]gate.Capability{gate.ReadChat}, `{}`, []chat.Origin{weather}},
		{[]gate.Capability{}, `{}`, []chat.Origin{weather}},
	} {
		g, version := trusted(t, gate.Options{})
		call := request(version)
		call.Capabilities, call.Arguments = c.capabilities, json.RawMessage(c.arguments)
		call.Asker = gate.AlwaysAsker{}
		d := g.Decide(t.Context(), call)
		if d.Effect != gate.Allow || !slices.Equal(d.Brought, c.want) {
			t.Errorf("%v with %s: %v brings %v, not %v", c.capabilities, c.arguments, d.Effect, d.Brought, c.want)
		}
	}
}

func TestWhyAPersonIsAskedNamesTheSourceAndWhatHooksDid(t *testing.T) {
	g, c := trusted(t, gate.Options{})
	call := sends(c, example)
	call.Because = []string{"the hook Guard changed it"}
	if s := decisive(g, call); s.Why != "this chat contains text from example.org; and the hook Guard changed it" {
		t.Errorf("why: %s", s)
	}
	many := []chat.Origin{}
	for i := range 30 {
		many = chat.AddOrigins(many, chat.NewOrigin(chat.FromWeb, fmt.Sprint("h", i)))
	}
	if s := decisive(g, sends(c, many...)); !strings.HasSuffix(s.Why, " and text from more places") {
		t.Errorf("why: %s", s)
	}
}

package gate_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/tool"
)

// pages is a plugin that reads from the web, and may send to it.
func pages(v *gate.PluginVersion) {
	v.Tools[0] = tool.Normal(tool.Tool{
		Plugin: "notes", Name: "fetch", Description: "Reads a page.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"url":{"type":"string"},"body":{"type":"string"},
			"max_length":{"type":"integer","default":5000},"raw":{"type":"boolean"},"more":{}}}`),
	})
}

const own = "https://example.org/a?b=c"

// reading is a call that reads the address that the person wrote, in a chat that holds text
// of others.
func reading(c gate.PluginVersion, arguments string) gate.Call {
	call := request(c)
	call.Capabilities = []gate.Capability{gate.Compute, gate.Fetch, gate.SendWeb}
	call.Taint, call.Wrote, call.Arguments = fromExample, []string{own}, json.RawMessage(arguments)
	return call
}

func TestAnAddressThatThePersonWroteCarriesNothingAndNothingElseDoesWithIt(t *testing.T) {
	for name, c := range map[string]struct {
		arguments string
		change    func(*gate.Call)
		unasked   bool
	}{
		"as it was written":         {`{"url":"https://example.org/a?b=c"}`, nil, true},
		"with what the schema says": {`{"url":"https://example.org/a?b=c","max_length":5000}`, nil, true},
		"with more to say in it":    {`{"url":"https://example.org/a?b=c&said=secret"}`, nil, false},
		"another path":              {`{"url":"https://example.org/secret"}`, nil, false},
		"a part of it":              {`{"url":"https://example.org/a"}`, nil, false},
		"another host":              {`{"url":"https://evil.example/?said=secret"}`, nil, false},
		"with a body":               {`{"url":"https://example.org/a?b=c","body":"secret"}`, nil, false},
		"with a number":             {`{"url":"https://example.org/a?b=c","max_length":83101}`, nil, false},
		"with a choice":             {`{"url":"https://example.org/a?b=c","raw":true}`, nil, false},
		"with an object":            {`{"url":"https://example.org/a?b=c","more":{"said":"secret"}}`, nil, false},
		"with a list":               {`{"url":["https://example.org/a?b=c","secret"]}`, nil, false},
		"with a name of its own":    {`{"url":"https://example.org/a?b=c","secret":null}`, nil, false},
		"twice, the second time hidden": {
			`{"url":"https://example.org/a?b=c","url":"https://evil.example/secret"}`, nil, false,
		},
		"twice, the first time hidden": {
			`{"url":"https://evil.example/secret","url":"https://example.org/a?b=c"}`, nil, false,
		},
		"twice over": {
			`{"url":"https://example.org/a?b=c","body":"https://example.org/a?b=c"}`, nil, false,
		},
		"nothing at all": {`{}`, nil, false},
		"no JSON":        {`https://example.org/a?b=c`, nil, false},
		"a tool that knows files": {
			`{"url":"https://example.org/a?b=c"}`, can(gate.ReadFiles, gate.SendWeb), false,
		},
		"a tool that knows the chat": {
			`{"url":"https://example.org/a?b=c"}`, can(gate.ReadChat, gate.SendWeb), false,
		},
		"a tool that knows a secret": {
			`{"url":"https://example.org/a?b=c"}`, can(gate.UseSecret, gate.Fetch), false,
		},
		"a tool that runs programs": {`{"url":"https://example.org/a?b=c"}`, can(gate.RunPrograms), false},
		"a tool that writes files": {
			`{"url":"https://example.org/a?b=c"}`, can(gate.Fetch, gate.WriteFiles), false,
		},
		"a tool of which nothing is known": {`{"url":"https://example.org/a?b=c"}`, can(), false},
		"a call that a hook made": {
			`{"url":"https://example.org/a?b=c"}`, func(c *gate.Call) { c.Because = []string{"the hook H changed it"} }, false,
		},
		"an answer in a tool's place": {
			`{"url":"https://example.org/a?b=c"}`, func(c *gate.Call) { c.Instead = "Fetch" }, false,
		},
		"a member of the council": {
			`{"url":"https://example.org/a?b=c"}`, func(c *gate.Call) { c.Caller = "member:ada" }, false,
		},
	} {
		g, version := trusted(t, gate.Options{}, pages)
		_, err := g.Rules.Add(t.Context(), gate.Rule{
			Effect: gate.Allow, Plugin: "notes", Tool: "fetch", Callers: []gate.Caller{gate.Main, "member:*"},
			Scope: gate.Always,
		})
		must(t, err)
		call := reading(version, c.arguments)
		if c.change != nil {
			c.change(&call)
		}
		if s := decisive(g, call); (s.Effect == gate.Allow) != c.unasked || !c.unasked && s.Number != 4 {
			t.Errorf("%s: %s", name, s)
		}
		if d := g.Decide(t.Context(), call); d.Alone != c.unasked {
			t.Errorf("%s: handed nothing beside its arguments: %v", name, d.Alone)
		}
	}
}

func can(capabilities ...gate.Capability) func(*gate.Call) {
	return func(c *gate.Call) { c.Capabilities = append([]gate.Capability{}, capabilities...) }
}

func TestOneYesCoversReadingFromOneHostDespiteTheTextThatThePersonWasShown(t *testing.T) {
	g, c := trusted(t, gate.Options{}, pages)
	defer g.Questions.Attach()()
	const first = `{"url":"https://docs.example/first"}`
	docs := chat.NewOrigin(chat.FromWeb, "docs.example")
	p, decided := asked(t, g, reading(c, first))
	here := []gate.Match{{Field: "url", Op: gate.HostIs, Value: "docs.example"}}
	if !slices.EqualFunc(p.Here, here, gate.Match.Equal) || !slices.Equal(p.Scopes, []gate.Scope{gate.Once}) {
		t.Errorf("it offers %v and %v", p.Here, p.Scopes)
	}
	elsewhere := []gate.Match{{Field: "url", Op: gate.HostIs, Value: "evil.example"}}
	for _, wrong := range []gate.Answer{
		{Effect: gate.Allow, Scope: gate.ThisChat},
		{Effect: gate.Allow, Scope: gate.Always, Match: here},
		{Effect: gate.Allow, Scope: gate.ThisChat, Match: elsewhere},
		{Effect: gate.Allow, Scope: gate.ThisChat, Match: here, Arguments: json.RawMessage(`[]`)},
	} {
		if err := g.Questions.Answer(t.Context(), p.ID, p.Nonce, wrong); fault.KindOf(err) != fault.Invalid {
			t.Errorf("the answer %+v is taken: %v", wrong, err)
		}
	}
	must(t, g.Questions.Answer(t.Context(), p.ID, p.Nonce,
		gate.Answer{Effect: gate.Allow, Scope: gate.ThisChat, Match: here}))
	d := <-decided
	if d.Effect != gate.Allow {
		t.Fatalf("decided: %+v", d)
	}
	rules, err := g.Rules.List(t.Context())
	must(t, err)
	const sentence = "Notes may run fetch, only to docs.example, when I ask, in one chat, " +
		"even though it contains text from example.org " +
		"and text from docs.example"
	if got := gate.Sentence(rules[0], "Notes"); len(rules) != 1 || got != sentence {
		t.Errorf("the rule reads %q", got)
	}
	more := `{"url":"https://docs.example/second?page=2"}`
	for name, one := range map[string]struct {
		arguments string
		change    func(*gate.Call)
		unasked   bool
	}{
		"the next page":                  {more, func(*gate.Call) {}, true},
		"with what the host answered":    {more, func(c *gate.Call) { c.Taint = []chat.Origin{example, docs} }, true},
		"once the text is trusted":       {more, func(c *gate.Call) { c.Taint = nil }, true},
		"with another text read":         {more, func(c *gate.Call) { c.Taint = []chat.Origin{example, report} }, false},
		"in another chat":                {more, func(c *gate.Call) { c.Conversation = "chat-2" }, false},
		"by a member of the council":     {more, func(c *gate.Call) { c.Caller = "member:ada" }, false},
		"by another tool":                {more, func(c *gate.Call) { c.Tool = notes().Tools[1] }, false},
		"changed by a hook":              {more, func(c *gate.Call) { c.Because = []string{"a hook changed it"} }, false},
		"from another host":              {`{"url":"https://evil.example/?said=secret"}`, func(*gate.Call) {}, false},
		"from a host that looks like it": {`{"url":"https://docs.example.evil.example/"}`, func(*gate.Call) {}, false},
		"with a body":                    {`{"url":"https://docs.example/","body":"secret"}`, func(*gate.Call) {}, false},
		"with a choice":                  {`{"url":"https://docs.example/","raw":true}`, func(*gate.Call) {}, false},
		"with a body, and nothing read": {
			`{"url":"https://docs.example/","body":"b"}`, func(c *gate.Call) { c.Taint = nil }, false,
		},
		"to a second address": {
			`{"url":"https://docs.example/","url":"https://evil.example/"}`, func(*gate.Call) {}, false,
		},
	} {
		call := reading(c, one.arguments)
		one.change(&call)
		if s := decisive(g, call); (s.Effect == gate.Allow) != one.unasked {
			t.Errorf("%s: %s", name, s)
		}
	}
	_, err = g.Rules.Revoke(t.Context(), rules[0].ID)
	must(t, err)
	if s := decisive(g, reading(c, more)); s.Number != 4 {
		t.Errorf("taken back: %s", s)
	}
}

// The attack: of two pages that are read at once, the second is let pass by the yes to the first.
func TestACallAllowedDespiteUntrustedTextGetsOnlyItsArguments(t *testing.T) {
	g, c := trusted(t, gate.Options{}, pages)
	defer g.Questions.Attach()()
	p, first := asked(t, g, reading(c, `{"url":"https://docs.example/first"}`))
	_, second := asked(t, g, reading(c, `{"url":"https://docs.example/second"}`))
	must(t, g.Questions.Answer(t.Context(), p.ID, p.Nonce, gate.Answer{
		Effect: gate.Allow, Scope: gate.ThisChat, Match: p.Here,
	}))
	<-first
	if d := <-second; d.Effect != gate.Allow || !d.Alone {
		t.Errorf("it came to %+v", d)
	}
}

func TestOnlyReadingFromOneHostIsOfferedDespiteUntrustedText(t *testing.T) {
	for arguments, want := range map[string]int{
		`{"url":"https://docs.example/a"}`:                            1,
		`{"url":"https://docs.example/a","max_length":5000}`:          1,
		`{"url":"https://docs.example/a","body":"Hello."}`:            0,
		`{"body":"https://docs.example/a","url":"https://b.example"}`: 0,
		`{"url":"docs.example"}`:                                      0,
		`{"url":"file:///etc/passwd"}`:                                0,
		`{"more":{"url":"https://docs.example/a"}}`:                   0,
		`{"address":"https://docs.example/a"}`:                        0,
	} {
		g, c := trusted(t, gate.Options{}, pages)
		a := &asker{answer: gate.Answer{Effect: gate.Deny}}
		call := reading(c, arguments)
		call.Asker, call.Wrote = a, nil
		g.Decide(t.Context(), call)
		if len(a.asked) != 1 || len(a.asked[0].Here) != want {
			t.Errorf("%s: %+v", arguments, a.asked)
		}
	}
	g, _ := trusted(t, gate.Options{})
	rule := rule(gate.Allow, gate.Match{Field: "url", Op: gate.HostIs, Value: "docs.example"})
	rule.Origins = fromExample
	for name, change := range map[string]func(*gate.Rule){
		"for good":                 func(r *gate.Rule) { r.Scope = gate.Always },
		"everywhere":               func(r *gate.Rule) { r.Scope, r.Match = gate.ThisChat, nil },
		"for each of its tools":    func(r *gate.Rule) { r.Scope, r.Tool = gate.ThisChat, "*" },
		"for what is below a host": func(r *gate.Rule) { r.Scope, r.Match[0].Op = gate.ThisChat, gate.HostSuffix },
	} {
		wide := rule
		wide.Conversation, wide.Match = "chat-1", slices.Clone(rule.Match)
		change(&wide)
		if _, err := g.Rules.Add(t.Context(), wide); fault.KindOf(err) != fault.Invalid ||
			!strings.Contains(err.Error(), "while the chat holds untrusted text") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

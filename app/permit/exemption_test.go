package permit_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/fault"
	"conclave/app/permit"
	"conclave/app/tool"
)

// pages is a plugin that reads from the web, and may send to it.
func pages(v *permit.PluginVersion) {
	v.Tools[0] = tool.Normal(tool.Tool{
		Plugin: "notes", Name: "fetch", Description: "Reads a page.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"url":{"type":"string"},"body":{"type":"string"},
			"max_length":{"type":"integer","default":5000},"raw":{"type":"boolean"},"more":{}}}`),
	})
}

const own = "https://example.org/a?b=c"

// reading is a call that reads the address that the person wrote, in a chat that holds text
// of others.
func reading(c permit.PluginVersion, arguments string) permit.Call {
	call := request(c)
	call.Capabilities = []permit.Capability{permit.Compute, permit.Fetch, permit.SendWeb}
	call.Taint, call.Wrote, call.Arguments = fromExample, []string{own}, json.RawMessage(arguments)
	return call
}

func TestAnAddressThatThePersonWroteCarriesNothingAndNothingElseDoesWithIt(t *testing.T) {
	for name, c := range map[string]struct {
		arguments string
		change    func(*permit.Call)
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
			`{"url":"https://example.org/a?b=c"}`, can(permit.ReadFiles, permit.SendWeb), false,
		},
		"a tool that knows the chat": {
			`{"url":"https://example.org/a?b=c"}`, can(permit.ReadChat, permit.SendWeb), false,
		},
		"a tool that knows a secret": {
			`{"url":"https://example.org/a?b=c"}`, can(permit.UseSecret, permit.Fetch), false,
		},
		"a tool that runs programs": {`{"url":"https://example.org/a?b=c"}`, can(permit.RunPrograms), false},
		"a tool that writes files": {
			`{"url":"https://example.org/a?b=c"}`, can(permit.Fetch, permit.WriteFiles), false,
		},
		"a tool of which nothing is known": {`{"url":"https://example.org/a?b=c"}`, can(), false},
		"a call that a hook made": {
			`{"url":"https://example.org/a?b=c"}`, func(c *permit.Call) { c.Because = []string{"the hook H changed it"} }, false,
		},
		"an answer in a tool's place": {
			`{"url":"https://example.org/a?b=c"}`, func(c *permit.Call) { c.Instead = "Fetch" }, false,
		},
		"a member of the council": {
			`{"url":"https://example.org/a?b=c"}`, func(c *permit.Call) { c.Caller = "member:ada" }, false,
		},
	} {
		g, version := trusted(t, permit.Options{}, pages)
		_, err := g.Rules.Add(t.Context(), permit.Rule{
			Effect: permit.Allow, Plugin: "notes", Tool: "fetch", Callers: []permit.Caller{permit.Main, "member:*"},
			Scope: permit.Always,
		})
		must(t, err)
		call := reading(version, c.arguments)
		if c.change != nil {
			c.change(&call)
		}
		if s := decisive(g, call); (s.Effect == permit.Allow) != c.unasked || !c.unasked && s.Number != 4 {
			t.Errorf("%s: %s", name, s)
		}
		if d := g.Decide(t.Context(), call); d.Alone != c.unasked {
			t.Errorf("%s: handed nothing beside its arguments: %v", name, d.Alone)
		}
	}
}

func can(capabilities ...permit.Capability) func(*permit.Call) {
	return func(c *permit.Call) { c.Capabilities = append([]permit.Capability{}, capabilities...) }
}

func TestOneYesCoversReadingFromOneHostInSpiteOfTheTextThatItsMakerWasShown(t *testing.T) {
	g, c := trusted(t, permit.Options{}, pages)
	defer g.Questions.Attach()()
	const first = `{"url":"https://docs.example/first"}`
	docs := chat.NewOrigin(chat.FromWeb, "docs.example")
	p, decided := asked(t, g, reading(c, first))
	here := []permit.Match{{Field: "url", Op: permit.HostIs, Value: "docs.example"}}
	if !slices.EqualFunc(p.Here, here, permit.Match.Equal) || !slices.Equal(p.Scopes, []permit.Scope{permit.Once}) {
		t.Errorf("it offers %v and %v", p.Here, p.Scopes)
	}
	elsewhere := []permit.Match{{Field: "url", Op: permit.HostIs, Value: "evil.example"}}
	for _, wrong := range []permit.Answer{
		{Effect: permit.Allow, Scope: permit.ThisChat},
		{Effect: permit.Allow, Scope: permit.Always, Match: here},
		{Effect: permit.Allow, Scope: permit.ThisChat, Match: elsewhere},
		{Effect: permit.Allow, Scope: permit.ThisChat, Match: here, Arguments: json.RawMessage(`[]`)},
	} {
		if err := g.Questions.Answer(t.Context(), p.ID, p.Nonce, wrong); fault.KindOf(err) != fault.Invalid {
			t.Errorf("the answer %+v is taken: %v", wrong, err)
		}
	}
	must(t, g.Questions.Answer(t.Context(), p.ID, p.Nonce,
		permit.Answer{Effect: permit.Allow, Scope: permit.ThisChat, Match: here}))
	d := <-decided
	if d.Effect != permit.Allow {
		t.Fatalf("decided: %+v", d)
	}
	rules, err := g.Rules.List(t.Context())
	must(t, err)
	const sentence = "Notes may run fetch, only to docs.example, when I ask, in one chat, " +
		"even though it contains text from example.org " +
		"and text from docs.example"
	if got := permit.Sentence(rules[0], "Notes"); len(rules) != 1 || got != sentence {
		t.Errorf("the rule reads %q", got)
	}
	more := `{"url":"https://docs.example/second?page=2"}`
	for name, one := range map[string]struct {
		arguments string
		change    func(*permit.Call)
		unasked   bool
	}{
		"the next page":                  {more, func(*permit.Call) {}, true},
		"with what the host answered":    {more, func(c *permit.Call) { c.Taint = []chat.Origin{example, docs} }, true},
		"once the text is vouched for":   {more, func(c *permit.Call) { c.Taint = nil }, true},
		"with another text read":         {more, func(c *permit.Call) { c.Taint = []chat.Origin{example, report} }, false},
		"in another chat":                {more, func(c *permit.Call) { c.Conversation = "chat-2" }, false},
		"by a member of the council":     {more, func(c *permit.Call) { c.Caller = "member:ada" }, false},
		"by another tool":                {more, func(c *permit.Call) { c.Tool = notes().Tools[1] }, false},
		"changed by a hook":              {more, func(c *permit.Call) { c.Because = []string{"a hook changed it"} }, false},
		"from another host":              {`{"url":"https://evil.example/?said=secret"}`, func(*permit.Call) {}, false},
		"from a host that looks like it": {`{"url":"https://docs.example.evil.example/"}`, func(*permit.Call) {}, false},
		"with a body":                    {`{"url":"https://docs.example/","body":"secret"}`, func(*permit.Call) {}, false},
		"with a choice":                  {`{"url":"https://docs.example/","raw":true}`, func(*permit.Call) {}, false},
		"with a body, and nothing read": {
			`{"url":"https://docs.example/","body":"b"}`, func(c *permit.Call) { c.Taint = nil }, false,
		},
		"to a second address": {
			`{"url":"https://docs.example/","url":"https://evil.example/"}`, func(*permit.Call) {}, false,
		},
	} {
		call := reading(c, one.arguments)
		one.change(&call)
		if s := decisive(g, call); (s.Effect == permit.Allow) != one.unasked {
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
func TestACallThatWaitedForAYesInSpiteOfTextIsHandedNothingBesideItsArguments(t *testing.T) {
	g, c := trusted(t, permit.Options{}, pages)
	defer g.Questions.Attach()()
	p, first := asked(t, g, reading(c, `{"url":"https://docs.example/first"}`))
	_, second := asked(t, g, reading(c, `{"url":"https://docs.example/second"}`))
	must(t, g.Questions.Answer(t.Context(), p.ID, p.Nonce, permit.Answer{
		Effect: permit.Allow, Scope: permit.ThisChat, Match: p.Here,
	}))
	<-first
	if d := <-second; d.Effect != permit.Allow || !d.Alone {
		t.Errorf("it came to %+v", d)
	}
}

func TestOnlyReadingFromOneHostIsOfferedInSpiteOfText(t *testing.T) {
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
		g, c := trusted(t, permit.Options{}, pages)
		a := &asker{answer: permit.Answer{Effect: permit.Deny}}
		call := reading(c, arguments)
		call.Asker, call.Wrote = a, nil
		g.Decide(t.Context(), call)
		if len(a.asked) != 1 || len(a.asked[0].Here) != want {
			t.Errorf("%s: %+v", arguments, a.asked)
		}
	}
	g, _ := trusted(t, permit.Options{})
	rule := rule(permit.Allow, permit.Match{Field: "url", Op: permit.HostIs, Value: "docs.example"})
	rule.Origins = fromExample
	for name, change := range map[string]func(*permit.Rule){
		"for good":                 func(r *permit.Rule) { r.Scope = permit.Always },
		"everywhere":               func(r *permit.Rule) { r.Scope, r.Match = permit.ThisChat, nil },
		"for each of its tools":    func(r *permit.Rule) { r.Scope, r.Tool = permit.ThisChat, "*" },
		"for what is below a host": func(r *permit.Rule) { r.Scope, r.Match[0].Op = permit.ThisChat, permit.HostSuffix },
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

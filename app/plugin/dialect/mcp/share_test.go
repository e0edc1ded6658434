package mcp_test

import (
	"slices"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/plugin"
)

func TestMC37AModelReadsAResourceWithAToolOfItsOwnServer(t *testing.T) {
	b := newBench(t)
	b.save("s.mcp.json", map[string]any{"s": b.entry("shares"), "plain": b.entry()})
	b.approve("s", "s-plain")
	b.says("s:read_resource", `{"uri":"demo://a"}`, "demo://a\n```\ninside a\n```")
	r := b.call(t.Context(), "s:read_resource", `{"uri":"demo://b"}`)
	if r.Status != chat.CallRaised || !strings.Contains(r.Error, "no resource demo://b") {
		t.Errorf("a resource that is not there: %+v", r)
	}
	if _, ok := b.tools.Set().ByID("s-plain:read_resource"); ok {
		t.Error("a server without resources has the tool")
	}
}

func TestMC48AServersResourcesAndPromptsAreThePersons(t *testing.T) {
	b := newBench(t)
	b.save("s.mcp.json", map[string]any{"s": b.entry("shares"), "plain": b.entry()})
	b.approve("s", "s-plain")
	share := func(id string) plugin.Sharer {
		backend, release, err := b.host.Backends.Borrow(t.Context(), id)
		must(t, err)
		t.Cleanup(release)
		sharer, ok := backend.(plugin.Sharer)
		if !ok {
			t.Fatalf("%T shares nothing", backend)
		}
		return sharer
	}
	s := share("s")
	resources, templates, err := s.Resources(t.Context())
	must(t, err)
	if len(resources) != 1 || len(templates) != 1 || !slices.Equal(templates[0].Places, []string{"city", "day", "hour"}) {
		t.Errorf("resources %+v, templates %+v", resources, templates)
	}
	prompts, err := s.Prompts(t.Context())
	must(t, err)
	messages, err := s.Fill(t.Context(), "ask", map[string]string{"who": "Ada"})
	must(t, err)
	if len(prompts) != 1 || !prompts[0].Arguments[0].Required || chat.TextOf(messages[0].Parts) != "Hello Ada" {
		t.Errorf("prompts %+v, filled %+v", prompts, messages)
	}
	values, more, err := s.Complete(t.Context(), plugin.Completing{Prompt: "ask", Argument: "who", Value: "Ad"})
	must(t, err)
	if !more || !slices.Equal(values, []string{"Ada", "Adam"}) {
		t.Errorf("values %q, more %t", values, more)
	}
	resources, templates, err = share("s-plain").Resources(t.Context())
	if err != nil || len(resources)+len(templates) != 0 {
		t.Errorf("a server without resources: %v, %v, %v", resources, templates, err)
	}
}

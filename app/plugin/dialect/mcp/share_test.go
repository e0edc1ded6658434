package mcp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/plugin"
	"conclave/app/test/testkit"
	"conclave/app/tool"
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

func TestMC50AResourceThatIsKeptFreshTellsOfItsChangesAndOfItsEnd(t *testing.T) {
	b := newBench(t)
	b.save("s.mcp.json", map[string]any{"s": b.entry("shares", "tells"), "silent": b.entry("shares")})
	b.approve("s", "s-silent")
	share := func(id string) plugin.Sharer {
		backend, release, err := b.host.Backends.Borrow(t.Context(), id)
		must(t, err)
		release() // a watch keeps no server running
		sharer, _ := backend.(plugin.Sharer)
		return sharer
	}
	s, silent := share("s"), share("s-silent")
	if !s.Watches() || silent.Watches() {
		t.Errorf("the one that tells does: %t, the silent one does: %t", s.Watches(), silent.Watches())
	}
	if _, err := silent.Watch(t.Context(), "demo://a", func(bool) {}); err == nil {
		t.Error("a server is watched that reports nothing")
	}
	news := make(chan string, 10)
	hear := func(who string) func(bool) {
		return func(ended bool) { news <- fmt.Sprint(who, " ", ended) }
	}
	first, err := s.Watch(t.Context(), "demo://a", hear("first"))
	must(t, err)
	if got := <-news; got != "first false" {
		t.Errorf("its change: %s", got)
	}
	second, err := s.Watch(t.Context(), "demo://a", hear("second")) // the server is not asked again
	must(t, err)
	first()
	first()
	must(t, b.host.SetEnabled(t.Context(), "s", false))
	if got := <-news; got != "second true" {
		t.Errorf("its end: %s", got)
	}
	second()
	if len(news) > 0 {
		t.Errorf("there is more: %s", <-news)
	}
}

func TestMC50AServerLearnsThatNobodyWatchesAnyLonger(t *testing.T) {
	b := newBench(t)
	b.save("s.mcp.json", map[string]any{"s": b.entry("shares", "tells")})
	b.approve("s")
	backend, release, err := b.host.Backends.Borrow(t.Context(), "s")
	must(t, err)
	defer release()
	sharer, _ := backend.(plugin.Sharer)
	stop, err := sharer.Watch(t.Context(), "demo://a", func(bool) {})
	must(t, err)
	stop()
	testkit.Until(t, "the server knows", func() bool {
		offer, err := backend.List(t.Context())
		must(t, err)
		return slices.ContainsFunc(offer.Tools, func(one tool.Tool) bool { return one.Name == "left" })
	})
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

package mcp_test

import (
	"testing"

	"conclave/app/council"
	"conclave/app/tool"
)

func TestMC44EachToolIsOfferedAsThePersonSaysAlsoAfterARestart(t *testing.T) {
	b := newBench(t)
	b.save("s.mcp.json", map[string]any{"s": b.entry("+more", "+less")})
	b.approve("s")
	must(t, b.host.ToolChoices.SetVisibility(t.Context(), "s", "more", tool.Deferred),
		b.host.ToolChoices.SetVisibility(t.Context(), "s", "less", tool.Hidden),
		b.host.ToolChoices.SetForMembers(t.Context(), "s", "echo", false))
	check := func(when string) {
		t.Helper()
		for name, want := range map[string]tool.Visibility{
			"echo": tool.Direct, "more": tool.Deferred, "less": tool.Hidden,
		} {
			found, _ := b.tools.Set().ByID("s:" + name)
			if found.Visibility != want {
				t.Errorf("%s, %s is %s", when, name, found.Visibility)
			}
			if ok, why := council.Eligible(found); ok != (name == "more") {
				t.Errorf("%s, a member may have %s: %t, %s", when, name, ok, why)
			}
		}
		if _, there := b.tools.Set().ForModel().ByID("s:echo"); !there {
			t.Errorf("%s, what members do not get is taken from the main model too", when)
		}
	}
	check("once it is set")
	b.again()
	check("after a restart")
	must(t, b.host.ToolChoices.SetVisibility(t.Context(), "s", "more", tool.Direct),
		b.host.ToolChoices.SetForMembers(t.Context(), "s", "echo", true))
	if more, _ := b.tools.Set().ByID("s:more"); more.Visibility != tool.Direct {
		t.Errorf("taken back, it is %s", more.Visibility)
	}
}

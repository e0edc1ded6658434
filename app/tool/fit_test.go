package tool_test

import (
	"slices"
	"strings"
	"testing"

	"conclave/app/tool"
)

// crowd has a small plugin, a large one and one of many tools.
func crowd() *tool.Set {
	r := tool.NewRegistry()
	r.Publish("large", []tool.Tool{{Name: "book", Description: strings.Repeat("x", 4000)}}, nil)
	many := make([]tool.Tool, 40)
	for i := range many {
		many[i] = tool.Tool{Name: "m" + strings.Repeat("i", i+1), Description: "Short."}
	}
	r.Publish("many", many, nil)
	r.Publish("small", []tool.Tool{{Name: "add", Description: "Adds."}, {Name: "later", Visibility: tool.Deferred}}, nil)
	return r.Set()
}

// deferredFor returns the plugins whose tools Fit deferred.
func deferredFor(s *tool.Set) []string {
	var plugins []string
	for _, t := range s.Tools() {
		if t.ForRoom && t.Visibility == tool.Deferred && !slices.Contains(plugins, t.Plugin) {
			plugins = append(plugins, t.Plugin)
		}
	}
	return plugins
}

func TestToolsThatDoNotFitAreDeferredByPluginTheLargestFirst(t *testing.T) {
	all := crowd()
	for _, c := range []struct {
		tokens, count int
		want          []string
	}{
		{100_000, 1000, nil},
		{1000, 1000, []string{"large"}},
		{100_000, 20, []string{"many"}},
		{100, 1000, []string{"large", "many"}},
		{1, 1000, []string{"large", "many", "small"}},
	} {
		if got := deferredFor(all.Fit(c.tokens, c.count)); !slices.Equal(got, c.want) {
			t.Errorf("in %d tokens and %d tools, those of %v are deferred, want %v", c.tokens, c.count, got, c.want)
		}
	}
	if fit := all.Fit(100_000, 1000); fit != all {
		t.Error("a set that fits is another one")
	}
	if x, _ := all.Fit(1, 1000).ByID("small:later"); x.ForRoom {
		t.Error("what was deferred before is so for room")
	}
}

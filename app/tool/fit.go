package tool

import (
	"cmp"
	"slices"
)

// bytesPerToken is the usual estimate for English and JSON.
const bytesPerToken = 4

// Tokens estimates how many tokens the definition takes of each request.
func (t Tool) Tokens() int {
	return (len(t.WireName) + len(t.Description) + len(t.Parameters) + bytesPerToken - 1) / bytesPerToken
}

// Fit returns the set with so many tokens and tools at most that are direct: of the plugins that need the
// most, tools are deferred (ForRoom), all of a plugin together. The order stays. It is the set itself if
// all fits.
func (s *Set) Fit(tokens, count int) *Set {
	type load struct {
		plugin        string
		tokens, tools int
	}
	var loads []load
	at := map[string]int{}
	all := load{}
	for i := range s.tools {
		t := &s.tools[i]
		if t.Visibility != Direct && t.Visibility != "" {
			continue
		}
		n, there := at[t.Plugin]
		if !there {
			n = len(loads)
			at[t.Plugin], loads = n, append(loads, load{plugin: t.Plugin})
		}
		need := t.Tokens()
		loads[n].tokens, loads[n].tools = loads[n].tokens+need, loads[n].tools+1
		all.tokens, all.tools = all.tokens+need, all.tools+1
	}
	if all.tokens <= tokens && all.tools <= count {
		return s
	}
	slices.SortStableFunc(loads, func(a, b load) int { return cmp.Compare(a.tokens, b.tokens) })
	later := map[string]bool{}
	for _, l := range loads {
		if l.tokens > tokens || l.tools > count {
			later[l.plugin] = true
			continue
		}
		tokens, count = tokens-l.tokens, count-l.tools
	}
	tools := slices.Clone(s.tools)
	for i := range tools {
		if t := &tools[i]; later[t.Plugin] && (t.Visibility == Direct || t.Visibility == "") {
			t.Visibility, t.ForRoom = Deferred, true
		}
	}
	return newSet(s.generation, tools, s.invokers)
}

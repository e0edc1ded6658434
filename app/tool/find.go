package tool

import (
	"cmp"
	"slices"
	"strings"
)

// SearchName is the name of the built-in tool by which a model finds deferred
// ones. No other tool gets it for its wire name.
const SearchName = "tool_search"

// Find returns the deferred tools that a query finds, best first, at most limit:
// by the scores of contracts/maibot, section 6, and of equal ones by name. Search
// is the search of people, which looks at all tools.
func (s *Set) Find(query string, limit int) []Tool {
	q := strings.Join(strings.Fields(strings.ToLower(query)), " ")
	if q == "" {
		return nil
	}
	terms := strings.Fields(strings.NewReplacer("_", " ", "-", " ").Replace(q))
	type hit struct {
		tool  Tool
		score int
	}
	var hits []hit
	for _, t := range s.tools {
		if t.Visibility != Deferred {
			continue
		}
		score := max(scoreOf(q, terms, t.Name, t.Description), scoreOf(q, terms, t.WireName, t.Description))
		if score > 0 {
			hits = append(hits, hit{t, score})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.tool.WireName, b.tool.WireName))
	})
	found := make([]Tool, 0, min(len(hits), limit))
	for _, h := range hits[:min(len(hits), limit)] {
		found = append(found, h.tool)
	}
	return found
}

func scoreOf(q string, terms []string, name, description string) int {
	name, description = strings.ToLower(name), strings.ToLower(description)
	score := 0
	if name == q {
		score += 1000
	}
	if strings.HasPrefix(name, q) {
		score += 300
	}
	if strings.Contains(name, q) {
		score += 200
	}
	if strings.Contains(description, q) {
		score += 100
	}
	for _, term := range terms {
		if strings.Contains(name, term) {
			score += 25
		}
		if strings.Contains(description, term) {
			score += 10
		}
	}
	return score
}

// Promote returns the set with the tools that which is true for as direct ones:
// those that a person named are offered at once.
func (s *Set) Promote(which func(Tool) bool) *Set {
	tools := slices.Clone(s.tools)
	for i := range tools {
		if tools[i].Visibility == Deferred && which(tools[i]) {
			tools[i].Visibility = Direct
		}
	}
	return newSet(s.generation, tools, s.invokers)
}

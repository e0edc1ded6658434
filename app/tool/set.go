package tool

import (
	"maps"
	"slices"

	"conclave/app/base/limit"
)

// Set is an immutable, numbered snapshot of the tools there are: by plugin, then
// in the plugin's own order. A turn takes one and keeps it. The zero value is an
// empty set of generation 0. Its methods are safe for concurrent use.
type Set struct {
	generation uint64
	tools      []Tool
	byWire     map[string]int
	byID       map[string]int
	invokers   map[string]Invoker // by plugin
}

func newSet(generation uint64, tools []Tool, invokers map[string]Invoker) *Set {
	s := &Set{generation, tools, make(map[string]int, len(tools)), make(map[string]int, len(tools)), invokers}
	for i, t := range tools {
		s.byWire[t.WireName] = i
		if _, there := s.byID[t.ID()]; !there || t.Member == "" {
			s.byID[t.ID()] = i
		}
	}
	return s
}

// Generation numbers the registry's states from 1; a subset has the number of
// the set it was taken from.
func (s *Set) Generation() uint64 { return s.generation }

// Len returns how many tools there are.
func (s *Set) Len() int { return len(s.tools) }

// Tools returns the tools. The slice is the caller's; the JSON in it is shared
// and must not be changed.
func (s *Set) Tools() []Tool { return slices.Clone(s.tools) }

// ByWire finds a tool by the name a model uses.
func (s *Set) ByWire(name string) (Tool, bool) { return s.at(s.byWire, name) }

// ByID finds a tool by "plugin:name"; of those of With the one that is nobody's, where
// it is there.
func (s *Set) ByID(id string) (Tool, bool) { return s.at(s.byID, id) }

func (s *Set) at(index map[string]int, key string) (Tool, bool) {
	i, ok := index[key]
	if !ok {
		return Tool{}, false
	}
	return s.tools[i], true
}

// Invoker returns what runs the tool with this id.
func (s *Set) Invoker(id string) (Invoker, bool) {
	i, ok := s.byID[id]
	if !ok {
		return nil, false
	}
	invoker, ok := s.invokers[s.tools[i].Plugin]
	return invoker, ok
}

// Filter returns the tools that keep is true for, under the same names and the same
// generation; Named gives names of their own set.
func (s *Set) Filter(keep func(Tool) bool) *Set {
	kept := make([]Tool, 0, len(s.tools))
	for _, t := range s.tools {
		if keep(t) {
			kept = append(kept, t)
		}
	}
	return newSet(s.generation, kept, s.invokers)
}

// ForModel returns what a main model may call: all but the hidden tools and those that
// are for somebody else. Of the deferred ones it gets the names only.
func (s *Set) ForModel() *Set {
	return s.Filter(Tool.forModel)
}

// Plus returns the set with more tools behind those it has, under the names they come
// with, and with the invokers of their plugins. A name that is taken stays whose it is.
func (s *Set) Plus(more []Tool, invokers map[string]Invoker) *Set {
	tools := slices.Clone(s.tools)
	for _, t := range more {
		if _, taken := s.byWire[t.WireName]; !taken {
			tools = append(tools, t)
		}
	}
	all := maps.Clone(invokers)
	maps.Copy(all, s.invokers)
	return newSet(s.generation, tools, all)
}

// With returns the set with more tools of its plugins behind those it has, each of them
// somebody's (Member). Those it has keep their names.
func (s *Set) With(more []Tool) *Set {
	kept := make(map[string]string, len(s.tools))
	for _, t := range s.tools {
		kept[t.WireName] = t.Whose()
	}
	tools := append(slices.Clone(s.tools), more...)
	wireNames(tools, kept)
	return newSet(s.generation, tools, s.invokers)
}

// Named returns the set with the names by which models know its tools in one chat, and all
// names of that chat, by whose they are (Tool.Whose). given holds those that the chat gave
// before, and is not changed: a tool keeps its name, and no other tool ever gets it. Where
// given is full (limit.ChatToolNames), no tool gets its bare name any more, and names that are
// new are not among those returned.
func (s *Set) Named(given map[string]string) (*Set, map[string]string) {
	tools := slices.Clone(s.tools)
	if full := len(given) >= limit.ChatToolNames; full {
		for i := range tools {
			tools[i].Qualified = true
		}
		wireNames(tools, given)
		for i := range tools {
			tools[i].Qualified = s.tools[i].Qualified
		}
		return newSet(s.generation, tools, s.invokers), given
	}
	names := wireNames(tools, given)
	return newSet(s.generation, tools, s.invokers), names
}

// AddNames returns given with names that it does not have, as far as there is room.
func AddNames(given, fresh map[string]string) map[string]string {
	all := make(map[string]string, len(given)+len(fresh))
	maps.Copy(all, given)
	for name, whose := range fresh {
		if _, there := given[name]; !there && len(all) < limit.ChatToolNames {
			all[name] = whose
		}
	}
	return all
}

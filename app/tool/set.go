package tool

import (
	"maps"
	"slices"
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

// Filter returns the tools that keep is true for, under the same names and the
// same generation.
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
	return s.Filter(func(t Tool) bool { return t.Visibility != Hidden && t.For(MainRole) })
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
// somebody's (Member). The WireName of each is taken for the left part of its new one,
// "<left>__<name>", which is made legal and unique.
func (s *Set) With(more []Tool) *Set {
	tools, taken := slices.Clone(s.tools), make(map[string]bool, len(s.tools)+len(more))
	for _, t := range tools {
		taken[t.WireName] = true
	}
	for _, t := range more {
		t.WireName = qualified(t.WireName, &t, taken)
		taken[t.WireName] = true
		tools = append(tools, t)
	}
	return newSet(s.generation, tools, s.invokers)
}

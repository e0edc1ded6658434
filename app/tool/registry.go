package tool

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// Registry is where plugins publish their tools. Each change makes a new Set with the next
// generation, once somebody asks for it: a start publishes the tools of each plugin, and putting
// all of them together takes time by their number. Sets handed out before stay as they are, with
// invokers that still work. Use NewRegistry. Its methods are safe for concurrent use.
type Registry struct {
	set atomic.Pointer[Set] // the newest that was asked for; nil once there was a change

	mu         sync.Mutex // guards the fields below
	plugins    map[string]published
	generation uint64
}

type published struct {
	tools   []Tool
	invoker Invoker
}

// NewRegistry returns a registry without tools.
func NewRegistry() *Registry { return &Registry{plugins: map[string]published{}} }

// Newest returns what a main model may call now, nil while the registry is still at this generation.
func (r *Registry) Newest(generation uint64) *Set {
	if set := r.Set(); set.Generation() != generation {
		return set.ForModel()
	}
	return nil
}

// Set returns the newest snapshot; never nil.
func (r *Registry) Set() *Set {
	if set := r.set.Load(); set != nil {
		return set
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	set := r.set.Load()
	if set == nil {
		set = r.gather()
		r.set.Store(set)
	}
	return set
}

// Publish puts the plugin's tools in place of those it had, in one step. Tools are made Normal;
// their Plugin becomes plugin. Of two with one name the later counts, in the earlier's place; a
// tool without a name is left out.
func (r *Registry) Publish(plugin string, tools []Tool, invoker Invoker) {
	list := make([]Tool, 0, len(tools))
	place := make(map[string]int, len(tools))
	for _, t := range tools {
		t.Plugin = plugin
		if t.Name == "" {
			continue
		}
		if i, ok := place[t.Name]; ok {
			list[i] = Normal(t)
			continue
		}
		place[t.Name] = len(list)
		list = append(list, Normal(t))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.plugins[plugin] = published{list, invoker}
	r.change()
}

// Unpublish removes the tools of a plugin.
func (r *Registry) Unpublish(plugin string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.plugins[plugin]; ok {
		delete(r.plugins, plugin)
		r.change()
	}
}

// change notes that the newest set is another one. The caller holds mu.
func (r *Registry) change() {
	r.generation++
	r.set.Store(nil)
}

// gather makes the set of all tools. The caller holds mu.
func (r *Registry) gather() *Set {
	n := 0
	for _, p := range r.plugins {
		n += len(p.tools)
	}
	tools := make([]Tool, 0, n)
	invokers := make(map[string]Invoker, len(r.plugins))
	for _, plugin := range slices.Sorted(maps.Keys(r.plugins)) {
		tools = append(tools, r.plugins[plugin].tools...)
		invokers[plugin] = r.plugins[plugin].invoker
	}
	offered := slices.DeleteFunc(slices.Clone(tools), func(t Tool) bool { return !t.forModel() })
	wireNames(tools, wireNames(offered, nil)) // what no main model is offered takes no name from what one is
	return newSet(r.generation, tools, invokers)
}

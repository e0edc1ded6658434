package tool

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// Registry is where plugins publish their tools. Each change makes a new Set
// with the next generation; sets handed out before stay as they are, with
// invokers that still work. Use NewRegistry. Its methods are safe for
// concurrent use.
type Registry struct {
	set atomic.Pointer[Set]

	mu      sync.Mutex // guards plugins
	plugins map[string]published
}

type published struct {
	tools   []Tool
	invoker Invoker
}

// NewRegistry returns a registry without tools.
func NewRegistry() *Registry {
	r := &Registry{plugins: map[string]published{}}
	r.set.Store(newSet(0, nil, nil))
	return r
}

// Set returns the newest snapshot; never nil.
func (r *Registry) Set() *Set { return r.set.Load() }

// Publish puts the plugin's tools in place of those it had, in one step, and
// returns the set that holds them. Tools are made Normal; their Plugin becomes
// plugin. Of two with one name the later counts, in the earlier's place; a tool
// without a name is left out.
func (r *Registry) Publish(plugin string, tools []Tool, invoker Invoker) *Set {
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
	return r.change(func() { r.plugins[plugin] = published{list, invoker} })
}

// Unpublish removes the tools of a plugin and returns the new set.
func (r *Registry) Unpublish(plugin string) *Set {
	r.mu.Lock()
	_, ok := r.plugins[plugin]
	r.mu.Unlock()
	if !ok {
		return r.Set()
	}
	return r.change(func() { delete(r.plugins, plugin) })
}

func (r *Registry) change(do func()) *Set {
	r.mu.Lock()
	defer r.mu.Unlock()
	do()
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
	set := newSet(r.set.Load().generation+1, tools, invokers)
	r.set.Store(set)
	return set
}

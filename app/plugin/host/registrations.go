package host

import (
	"fmt"
	"slices"
	"strings"

	"conclave/app/base/limit"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// panelEvent is listened to by plugins for messages from its own window, which
// Conclave does not run: it never comes.
const panelEvent = "FRONTEND_MESSAGE"

// hookWords say what each kind of hook does, after “it”.
var hookWords = map[string]string{
	"interceptor":     "changes what a model is sent",
	"context_handler": "looks at the setting of each answer",
	"macro":           "fills in {{…}}",
}

// maxShown bounds how many names one sentence has.
const maxShown = 6

// registered are sentences about what a plugin registered the last time it ran:
// what it receives and what not, and, for one with its own window or without tools,
// what of it works here. wakes are as in record; tools is how many it offers.
func registered(m plugin.Manifest, facts plugin.Facts, tools int, wakes, granted []string) []string {
	r := registration{granted: granted}
	if tools > 0 {
		r.works = append(r.works, "offers "+limit.Counted(tools, "tool"))
	}
	for _, wake := range wakes {
		if kind, name, _ := strings.Cut(wake, " "); kind == "hook" {
			r.hook(name)
		} else {
			r.event(name)
		}
	}
	out := r.sentences()
	if m.Panel != "" || facts.Registers && tools == 0 {
		out = append(out, r.whatWorks())
	}
	return out
}

// registration gathers what a plugin registered, by the sentence about it.
type registration struct {
	granted []string
	groups  []group
	works   []string // what it does here, as verbs
	follows []string // the events it receives
	panel   bool     // it waits for messages of its window
}

// group is names that one sentence is about.
type group struct {
	sentence string // with a gap for the names
	names    []string
}

func (r *registration) may(permission string) bool { return slices.Contains(r.granted, permission) }

func (r *registration) add(sentence, name string) {
	name, _ = tool.Strip(strings.Join(strings.Fields(name), " "))
	i := slices.IndexFunc(r.groups, func(g group) bool { return g.sentence == sentence })
	if i < 0 {
		r.groups = append(r.groups, group{sentence, []string{name}})
		return
	}
	r.groups[i].names = append(r.groups[i].names, name)
}

func (r *registration) hook(kind string) {
	needs, words := hookKinds[kind].permissions, hookWords[kind]
	if slices.ContainsFunc(needs, r.may) {
		r.works = append(r.works, words)
		return
	}
	r.add("It %s only once you grant it "+needs[0]+".", words)
}

func (r *registration) event(name string) {
	rule, known := eventRules[name]
	switch {
	case name == panelEvent:
		r.panel = true
	case !known:
		r.add("It waits for %s, which Conclave never sends.", name)
	case rule.hear != "" && !r.may(rule.hear):
		r.add("It listens to %s and receives nothing, since it was not granted "+rule.hear+".", name)
	case rule.content == "":
		r.follows = append(r.follows, name)
	case r.may(rule.content):
		r.follows = append(r.follows, name)
		r.add("It receives %s with the content, which "+rule.content+" allows.", name)
	default:
		r.follows = append(r.follows, name)
		r.add("It receives %s without the content, since it was not granted "+rule.content+".", name)
	}
}

func (r *registration) sentences() []string {
	var out []string
	for _, g := range r.groups {
		out = append(out, fmt.Sprintf(g.sentence, listed(g.names)))
	}
	return out
}

// whatWorks returns what a plugin does here whose own window is not run, or that has no tools.
func (r *registration) whatWorks() string {
	sentence := "Nothing of it works here: it offers no tools, changes no prompts and follows no events."
	works := r.works
	if len(r.follows) > 0 {
		works = append(slices.Clone(works), "follows what happens ("+
			strings.Join(r.follows[:min(len(r.follows), maxShown)], ", ")+")")
	}
	if len(works) > 0 {
		sentence = "What works of it here: it " + listed(works) + "."
	}
	if r.panel {
		sentence += " What one would do in its own window (settings, buttons, connecting an account) does not reach it."
	}
	return sentence
}

// listed joins names to “a, b and c”, with how many more there are.
func listed(names []string) string {
	if more := len(names) - maxShown; more > 0 {
		names = append(slices.Clone(names[:maxShown]), fmt.Sprintf("%d more", more))
	}
	return limit.Listed(names)
}

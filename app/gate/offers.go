package gate

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"conclave/app/base/jsonobject"
	"conclave/app/tool"
)

// maxSuggestions bounds the conditions that a request offers each by itself, and maxReach those
// that it offers together, which a person reads as one sentence.
const (
	maxSuggestions = 4
	maxReach       = 8
)

// maxSuggested is the longest text, in bytes, that a request offers to keep as it is: a name or an
// address, not prose.
const maxSuggested = 64

// maxFree bounds the arguments that an offer names as free.
const maxFree = 4

// suggest returns the conditions under which calls like this one could be allowed for
// longer, those that say where it reaches first. They are about arguments that the tool's
// definition names: what else stands among them, its caller may have made up. free names the
// arguments that say where it reaches too, and about which no condition is offered.
func (p *places) suggest(t tool.Tool, raw json.RawMessage) (all []Match, free []string) {
	declared := propertiesOf(t)
	values := map[string][]json.RawMessage{}
	var names, open []string
	for name, value := range jsonobject.Fields(raw) {
		if _, ok := declared[name]; !ok {
			continue
		}
		if values[name] = append(values[name], value); len(values[name]) == 1 {
			names = append(names, name)
		}
	}
	extra := p.unnamed(t, raw)
	for _, u := range extra {
		if u.leads {
			open = append(open, u.name)
		}
	}
	var rest []Match
	for i, name := range names {
		var m Match
		ok := i < maxLooked && len(values[name]) == 1 // of one written twice, programs differ in which they take
		if ok {
			m, ok = p.suggestOne(name, values[name][0])
		}
		switch {
		case ok && !m.reaches():
			rest = append(rest, m)
		case ok && len(all) < maxReach:
			m.Sole, m.Free = len(extra) == 0 && declared.sole(name), open[:min(len(open), maxLooked)]
			all = append(all, m)
		case slices.ContainsFunc(values[name], p.leads):
			free = append(free, name)
		}
	}
	free = append(free, open...)
	return append(all, rest[:min(len(rest), max(maxSuggestions-len(all), 0))]...), free
}

// leads reports whether the value of an argument, or one within it, says where a call reaches:
// it is an absolute path or an address.
func (p *places) leads(raw json.RawMessage) (leads bool) {
	absolute := func(path string) bool { return filepath.IsAbs(p.expand(path)) }
	eachText(raw, func(text string) {
		path := !strings.Contains(text, "\n") && slices.ContainsFunc(pathsOf(text), absolute)
		leads = leads || path || strings.Contains(text, "://") && !strings.ContainsAny(text, " \n")
	})
	return leads
}

// properties are the arguments that a tool's definition names.
type properties map[string]property

type property struct {
	Type    any
	Default json.RawMessage
}

// propertiesOf returns the arguments that a tool's definition names; nil where that cannot be
// read. It takes names as they are written, as who checks the arguments by it does: TYPE says
// nothing of a type.
func propertiesOf(t tool.Tool) properties {
	var schema, named map[string]json.RawMessage
	if json.Unmarshal(t.Parameters, &schema) != nil || json.Unmarshal(schema["properties"], &named) != nil {
		return nil
	}
	all := make(properties, len(named))
	for name, raw := range named {
		var says map[string]json.RawMessage
		_ = json.Unmarshal(raw, &says) // true says that it may be anything
		is := property{Default: says["default"]}
		_ = json.Unmarshal(says["type"], &is.Type) // so does what says no type
		all[name] = is
	}
	return all
}

// unnamed is an argument that holds a text and that its tool's definition does not name: it may
// leave others open, or name them where properties does not look, in an allOf. So is one that is
// named as a number and holds another text: not every ecosystem checks that.
type unnamed struct {
	name  string
	leads bool // it says where the call reaches
}

// unnamed returns those of a call, each once.
func (p *places) unnamed(t tool.Tool, arguments json.RawMessage) (all []unnamed) {
	declared, at := propertiesOf(t), map[string]int{}
	for name, value := range jsonobject.Fields(arguments) {
		says := false
		if is, named := declared[name]; !named || !is.text() {
			eachText(value, func(text string) { says = says || !named || !numeric(text) })
		}
		if !says {
			continue
		}
		i, again := at[name]
		if !again {
			i, at[name] = len(all), len(all)
			all = append(all, unnamed{name: name})
		}
		all[i].leads = all[i].leads || p.leads(value)
	}
	return all
}

// text reports whether an argument may hold a text.
func (p property) text() bool {
	return p.Type != "integer" && p.Type != "number" && p.Type != "boolean"
}

// numeric reports whether a text is a number or a truth value, which some ecosystems make of it.
func numeric(text string) bool {
	_, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	words := []string{"", "true", "false", "yes", "no", "on", "off"}
	return err == nil || slices.Contains(words, strings.ToLower(strings.TrimSpace(text)))
}

// sole reports whether no other argument of them can hold a text.
func (p properties) sole(name string) bool {
	for other, is := range p {
		if other != name && is.text() {
			return false
		}
	}
	return true
}

// suggestOne returns the condition under which an argument may be as it is, or like it.
func (p *places) suggestOne(name string, value json.RawMessage) (Match, bool) {
	text, isText, ok := scalar(value)
	if !ok {
		return Match{}, false
	}
	if strings.HasPrefix(name, "/") {
		name = "/" + strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
	}
	m := Match{Field: name}
	switch path, absolute := p.realPath(text); {
	case !isText && text != "true" && text != "false":
		m.Op, m.Value = AtMost, text
	case isText && absolute:
		at, _, ok := p.askedPlace(path)
		if !ok {
			return Match{}, false // too wide to be offered
		}
		m.Op, m.Value = PathUnder, at
	case isText && strings.Contains(text, "://"):
		if m.Value, ok = hostOf(text); !ok {
			return Match{}, false
		}
		m.Op = HostIs
	case text != "" && len(text) <= maxSuggested && !strings.ContainsAny(text, " \t\r\n"):
		m.Op, m.Value = Equals, text
	default:
		return Match{}, false
	}
	_, err := m.compile(Allow)
	return m, err == nil
}

package gate

import (
	"cmp"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/chat"
)

// ruleBook holds rules, and finds those about a call, a plugin or a text. It has no lock: whoever has
// it guards it.
type ruleBook struct {
	rules    []*Rule
	byTool   map[ruleKey]*ruleSet   // the rules about calls; nil while these four are out of date
	byID     map[string]*Rule       // all by their ids
	ofPlugin map[string][]*Rule     // the rules about a plugin's permissions, oldest first
	trusted  map[trustedText]string // the ids of the rules about origins
}

// ruleKey names the calls that a rule is about, and its effect.
type ruleKey struct {
	plugin, tool string // tool is "*" for each of the plugin's
	effect       Effect
}

// trustedText is text of one origin in one chat, which a person may trust.
type trustedText struct {
	in     chat.ConversationID
	origin chat.Origin
}

func (b *ruleBook) add(rule *Rule) { b.rules, b.byTool = append(b.rules, rule), nil }

// remove removes the rules that which reports, and reports whether there were any.
func (b *ruleBook) remove(which func(*Rule) bool) bool {
	before := len(b.rules)
	b.rules, b.byTool = slices.DeleteFunc(b.rules, which), nil
	return len(b.rules) != before
}

// calls returns the rules about calls of a tool, nil where there are none.
func (b *ruleBook) calls(key ruleKey) *ruleSet {
	b.index()
	return b.byTool[key]
}

// rule returns the rule of an id, or nil.
func (b *ruleBook) rule(id string) *Rule {
	b.index()
	return b.byID[id]
}

// about returns the rules about a plugin's permissions, oldest first.
func (b *ruleBook) about(plugin string) []*Rule {
	b.index()
	return b.ofPlugin[plugin]
}

// trust returns the id of the rule by which a person trusts a text.
func (b *ruleBook) trust(text trustedText) (id string, ok bool) {
	b.index()
	id, ok = b.trusted[text]
	return id, ok
}

// index makes the rules findable, unless they are.
func (b *ruleBook) index() {
	if b.byTool != nil {
		return
	}
	b.byTool, b.byID, b.ofPlugin = map[ruleKey]*ruleSet{}, map[string]*Rule{}, map[string][]*Rule{}
	b.trusted = map[trustedText]string{}
	for _, rule := range b.rules {
		b.byID[rule.ID] = rule
		switch {
		case rule.Origin != nil:
			b.trusted[trustedText{rule.Conversation, *rule.Origin}] = rule.ID
		case rule.Permission != "":
			b.ofPlugin[rule.Plugin] = append(b.ofPlugin[rule.Plugin], rule)
		default:
			key := ruleKey{rule.Plugin, rule.Tool, rule.Effect}
			if b.byTool[key] == nil {
				b.byTool[key] = &ruleSet{}
			}
			b.byTool[key].rules = append(b.byTool[key].rules, rule)
		}
	}
	for _, rules := range b.byTool {
		rules.sort()
	}
}

// ruleSet holds the rules of one effect about one tool, or about all of a plugin's, so that
// a decision among thousands of them looks at the few that may match.
type ruleSet struct {
	rules []*Rule // the narrowest of equals first: those with conditions, then the newest
	// What follows holds places in rules, in order: by the subjects of their first
	// conditions, and of rules that have none.
	about map[subject][]int
	other []int
	looks []look // of the subjects in about
}

// look describes which argument a condition is about, and how it compares.
type look struct {
	field string
	op    Op
}

// subject is a folder or a host below which a condition holds.
type subject struct {
	look
	value string
}

// sort puts the rules in order, and makes them findable.
func (s *ruleSet) sort() {
	slices.SortStableFunc(s.rules, func(a, b *Rule) int {
		return cmp.Or(cmp.Compare(min(1, len(b.Match)), min(1, len(a.Match))), b.Made.Compare(a.Made))
	})
	s.about = map[subject][]int{}
	for i, rule := range s.rules {
		about, ok := rule.subject()
		if !ok {
			s.other = append(s.other, i)
			continue
		}
		if !slices.Contains(s.looks, about.look) {
			s.looks = append(s.looks, about.look)
		}
		s.about[about] = append(s.about[about], i)
	}
}

// subject returns what the rule's first condition is about, if that is a folder or a host.
func (g *Rule) subject() (of subject, ok bool) {
	if g.broken || len(g.conditions) == 0 {
		return subject{}, false
	}
	first := g.Match[0]
	value := first.Value
	switch first.Op {
	case PathUnder:
		value = strings.TrimSuffix(value, string(filepath.Separator))
	case HostIs, HostSuffix:
		value, _ = hostOf(value)
	default:
		return subject{}, false
	}
	return subject{look{first.Field, first.Op}, value}, true
}

// near returns the rules that may match a call with these arguments, the narrowest first.
// Those that it leaves out do not match.
func (s *ruleSet) near(a *arguments, effect Effect) iter.Seq[*Rule] {
	if s == nil {
		return s.all()
	}
	var found []int
	for _, at := range s.looks {
		values, any := at.values(a, effect)
		if any {
			return s.all()
		}
		for _, v := range values {
			found = append(found, s.about[subject{at, v}]...)
		}
	}
	slices.Sort(found)
	found = slices.Compact(found)
	return func(yield func(*Rule) bool) {
		found, other := found, s.other
		for len(found)+len(other) > 0 {
			next := &found
			if len(found) == 0 || len(other) > 0 && other[0] < found[0] {
				next = &other
			}
			if !yield(s.rules[(*next)[0]]) {
				return
			}
			*next = (*next)[1:]
		}
	}
}

// all returns the rules, the narrowest first.
func (s *ruleSet) all() iter.Seq[*Rule] {
	if s == nil {
		return func(func(*Rule) bool) {}
	}
	return slices.Values(s.rules)
}

// maxNear bounds the values that rules are looked up by; of a call with more, each rule is
// looked at.
const maxNear = 64

// values returns what the subjects of rules that may match are called, of those that look
// here. any says that each of them may.
func (at look) values(a *arguments, effect Effect) (values []string, any bool) {
	items := a.values(argumentKey{at.field, readsAs[at.op]})
	unknown := func(i item) bool { return !i.known }
	switch {
	case effect == Allow && (len(items) == 0 || slices.ContainsFunc(items, unknown)):
		return nil, false
	case effect == Allow:
		items = items[:1] // each has to match
	case len(items) == 0 || len(items) > maxNear || slices.ContainsFunc(items, unknown):
		return nil, true
	}
	for _, i := range items {
		names := []string{i.text}
		if effect != Allow && at.op != PathUnder { // a rule that names no port is about every port
			names = append(names, withoutPort(i.text))
		}
		for _, v := range slices.Compact(names) {
			for ok := true; ok; v, ok = at.above(v) {
				if len(values) == maxNear {
					return nil, true
				}
				values = append(values, v)
			}
		}
	}
	return values, false
}

// above returns the next wider subject for which a condition may hold, and whether there
// is one.
func (at look) above(value string) (string, bool) {
	switch at.op {
	case PathUnder:
		i := strings.LastIndexByte(value, filepath.Separator)
		return value[:max(i, 0)], i >= 0
	case HostSuffix:
		_, wider, ok := strings.Cut(value, ".")
		return wider, ok
	}
	return "", false
}

package tool

import (
	"encoding/json"
	"math/big"
	"slices"
	"strconv"

	"conclave/app/base/limit"
)

// check gives value, which is so deep, to the schema.
func (c *compiled) check(value any, depth int) (warning string, err error) {
	var wrong []*mistake
	func() {
		c.checking.Lock()
		defer c.checking.Unlock()
		defer func() {
			if r := recover(); r != nil {
				warning = unusable(recovered(r))
			}
		}()
		wrong = c.mistakes(value, depth)
	}()
	if warning != "" || wrong == nil {
		return warning, nil
	}
	return "", argumentError(explainAll(wrong))
}

// mistakes returns what is wrong with value, which is so deep. c.checking is held. It panics
// with errWork or errEndless.
func (c *compiled) mistakes(value any, depth int) []*mistake {
	c.left = int(limit.CheckSteps) / (2 + depth) // mistakes in what is deep take more memory
	v := visit{c: c, at: &position{}, value: value}
	return v.look(c.root)
}

// position is where a value lies in the arguments.
type position struct {
	up     *position // nil for the arguments themselves
	step   string    // name or index in up
	within int       // schemas within each other that look at this value now
}

func (p *position) path() (path []string) {
	for ; p.up != nil; p = p.up {
		path = append(path, p.step)
	}
	slices.Reverse(path)
	return path
}

// mistake is one thing that is wrong with a value.
type mistake struct {
	at      *position
	value   any
	of      *node
	keyword string
	names   []string
	bound   bound
	forms   [][]*mistake // why none of several forms fits
}

// visit is one value and what looks at it.
type visit struct {
	c     *compiled
	at    *position
	value any
	scope *scope
	seen  *evaluated // nil where nobody asks for it
}

// scope is the resources that the way to a schema led through, the innermost first.
type scope struct {
	in *resource
	up *scope
}

// evaluated holds the parts of one object or list that schemas looked at.
type evaluated struct {
	names map[string]bool
	items map[int]bool
	first int // items before this one
	all   bool
}

func (e *evaluated) add(other *evaluated) {
	for name := range other.names {
		e.name(name)
	}
	for i := range other.items {
		e.item(i)
	}
	e.first = max(e.first, other.first)
	e.all = e.all || other.all
}

func (e *evaluated) name(name string) {
	if e.names == nil {
		e.names = map[string]bool{}
	}
	e.names[name] = true
}

func (e *evaluated) item(i int) {
	if e.items == nil {
		e.items = map[int]bool{}
	}
	e.items[i] = true
}

// look returns what is wrong with the value by n.
func (v visit) look(n *node) []*mistake {
	v.at.within++
	defer func() { v.at.within-- }()
	if v.at.within > len(v.c.nodes)+1 {
		panic(errEndless)
	}
	v.c.spend(1)
	if n.nothing {
		return []*mistake{{at: v.at, value: v.value, of: n, keyword: "false"}}
	}
	if !n.accepts(v.value) {
		return []*mistake{{at: v.at, value: v.value, of: n, keyword: "type"}}
	}
	v.c.spend(n.weight + length(v.value))
	if v.scope == nil || v.scope.in != n.in {
		v.scope = &scope{n.in, v.scope}
	}
	outside := v.seen
	if outside != nil || n.unevaluatedProperties != nil || n.unevaluatedItems != nil {
		v.seen = &evaluated{}
	}
	l := looker{v, n, nil}
	l.references()
	if n.enum != nil && !n.enum[v.c.exactText(v.value)] {
		l.add("enum")
	}
	if n.constant != nil && !n.constant[v.c.exactText(v.value)] {
		l.add("const")
	}
	switch value := v.value.(type) {
	case map[string]any:
		l.object(value)
	case []any:
		l.list(value)
	case string:
		l.count("character", size(value))
		if n.pattern != nil && !n.pattern.MatchString(value) {
			l.add("pattern")
		}
	case json.Number:
		l.compare("", exact(value))
	}
	l.forms()
	if l.mistakes == nil { // what is left may only follow from another mistake
		l.unevaluated()
	}
	if outside != nil && l.mistakes == nil {
		outside.add(l.seen)
	}
	return l.mistakes
}

// looker looks at one value by one schema.
type looker struct {
	visit
	n        *node
	mistakes []*mistake
}

func (l *looker) add(keyword string, names ...string) *mistake {
	m := &mistake{at: l.at, value: l.value, of: l.n, keyword: keyword, names: names}
	l.mistakes = append(l.mistakes, m)
	return m
}

// part looks at a part of the value. keyword is that of n, where n may accept nothing.
func (l *looker) part(n *node, step string, value any, keyword string) {
	l.mistakes = append(l.mistakes, l.ofPart(n, step, value, keyword)...)
}

func (l *looker) ofPart(n *node, step string, value any, keyword string) []*mistake {
	v := l.visit
	v.at, v.value, v.seen = &position{up: l.at, step: step}, value, nil
	wrong := v.look(n)
	if n.nothing {
		wrong[0].keyword = keyword
	}
	return wrong
}

func (l *looker) references() {
	n := l.n
	if n.ref != nil {
		l.mistakes = append(l.mistakes, l.look(n.ref)...)
	}
	if to := n.recursive; to != nil {
		if to.in.recursive && l.c.nodes[to.in.location] == to {
			for s := l.scope; s != nil; s = s.up {
				if l.c.spend(1); s.in.recursive {
					to = l.c.nodes[s.in.location]
				}
			}
		}
		l.mistakes = append(l.mistakes, l.look(to)...)
	}
	if to := n.dynamic; to != nil {
		for s := l.scope; s != nil && n.dynamicName != ""; s = s.up {
			l.c.spend(1)
			if location, ok := s.in.dynamic[n.dynamicName]; ok {
				to = l.c.nodes[location]
			}
		}
		l.mistakes = append(l.mistakes, l.look(to)...)
	}
}

// compare compares n, a number of units, with the bounds on them.
func (l *looker) compare(unit string, n *big.Rat) {
	for _, b := range l.n.bounds {
		if comparisons[b.keyword].unit == unit && !b.holds(n) {
			l.add(b.keyword).bound = b
		}
	}
}

func (l *looker) count(unit string, n int) { l.compare(unit, new(big.Rat).SetInt64(int64(n))) }

func (l *looker) object(object map[string]any) {
	n := l.n
	l.count("parameter", len(object))
	if missing := missingOf(object, n.required); missing != nil {
		l.add("required", missing...)
	}
	for name, value := range object {
		known := false
		if of := n.properties[name]; of != nil {
			known = true
			l.part(of, name, value, "false")
		}
		for _, p := range n.patternProperties {
			if p.name.MatchString(name) {
				known = true
				l.part(p.of, name, value, "false")
			}
		}
		if !known && n.additional != nil {
			known = true
			l.part(n.additional, name, value, "additionalProperties")
		}
		if known && l.seen != nil {
			l.seen.name(name)
		}
		if n.propertyNames != nil {
			names := visit{c: l.c, at: &position{}, value: name, scope: l.scope}
			if names.look(n.propertyNames) != nil {
				l.add("propertyNames", name)
			}
		}
	}
	for name, of := range n.dependentSchemas {
		if _, ok := object[name]; ok {
			l.mistakes = append(l.mistakes, l.look(of)...)
		}
	}
	for name, required := range n.dependentRequired {
		if _, ok := object[name]; ok {
			l.c.spend(len(required))
			if missing := missingOf(object, required); missing != nil {
				l.add("dependentRequired", append([]string{name}, missing...)...)
			}
		}
	}
}

func missingOf(object map[string]any, names []string) (missing []string) {
	for _, name := range names {
		if _, ok := object[name]; !ok {
			missing = append(missing, name)
		}
	}
	return missing
}

func (l *looker) list(list []any) {
	n := l.n
	l.count("item", len(list))
	if n.unique && len(l.c.exactTexts(list...)) < len(list) {
		l.add("uniqueItems")
	}
	first := min(len(n.prefixItems), len(list))
	for i, item := range list[:first] {
		l.part(n.prefixItems[i], strconv.Itoa(i), item, "false")
	}
	if n.items != nil {
		for i, item := range list[first:] {
			l.part(n.items, strconv.Itoa(first+i), item, "false")
		}
		first = len(list)
	}
	if l.seen != nil {
		l.seen.first = max(l.seen.first, first)
	}
	if n.contains != nil {
		l.contains(list)
	}
}

func (l *looker) contains(list []any) {
	found := 0
	for i, item := range list {
		if l.ofPart(l.n.contains, strconv.Itoa(i), item, "false") != nil {
			continue
		}
		found++
		if l.seen != nil && l.n.in.draft >= draft2020 {
			l.seen.item(i)
		}
	}
	l.count("fitting item", found)
	if found == 0 && !slices.ContainsFunc(l.n.bounds, func(b bound) bool { return b.keyword == "minContains" }) {
		l.add("contains")
	}
}

// forms looks at the value by the schemas of which it must fit some.
func (l *looker) forms() {
	n := l.n
	if n.not != nil && l.look(n.not) == nil {
		l.add("not")
	}
	for _, of := range n.allOf {
		l.mistakes = append(l.mistakes, l.look(of)...)
	}
	l.choice("anyOf", n.anyOf, len(n.anyOf))
	l.choice("oneOf", n.oneOf, 1)
	if n.condition == nil {
		return
	}
	if l.look(n.condition) == nil {
		if n.then != nil {
			l.mistakes = append(l.mistakes, l.look(n.then)...)
		}
	} else if n.otherwise != nil {
		l.mistakes = append(l.mistakes, l.look(n.otherwise)...)
	}
}

// choice looks at the value by several forms, of which it may fit so many.
func (l *looker) choice(keyword string, forms []*node, most int) {
	if len(forms) == 0 {
		return
	}
	fitting := 0
	var wrong [][]*mistake
	for _, of := range forms {
		mistakes := l.look(of)
		if mistakes != nil {
			wrong = append(wrong, mistakes)
			continue
		}
		fitting++
		if fitting > most {
			l.add(keyword)
			return
		}
		if keyword == "anyOf" && l.seen == nil {
			return
		}
	}
	if fitting == 0 {
		l.add(keyword).forms = wrong
	}
}

// unevaluated looks at the parts that no schema looked at.
func (l *looker) unevaluated() {
	if object, ok := l.value.(map[string]any); ok && l.n.unevaluatedProperties != nil {
		for name, value := range object {
			if !l.seen.all && !l.seen.names[name] {
				l.part(l.n.unevaluatedProperties, name, value, "unevaluatedProperties")
			}
		}
		l.seen.all = true
	}
	if list, ok := l.value.([]any); ok && l.n.unevaluatedItems != nil {
		for i, item := range list {
			if !l.seen.all && i >= l.seen.first && !l.seen.items[i] {
				l.part(l.n.unevaluatedItems, strconv.Itoa(i), item, "false")
			}
		}
		l.seen.all = true
	}
}

package tool

import (
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// node is one schema, compiled. Fields are named for the keywords; nil stands for one that is
// not there.
type node struct {
	object  map[string]any // as it is written
	in      *resource
	weight  int  // what looking at it once takes
	nothing bool // the schema false, which accepts nothing

	ref, recursive, dynamic *node
	dynamicName             string // that dynamic is looked up by when a value is checked

	types          []string
	enum, constant map[string]bool // exact texts of the values that they accept
	bounds         []bound
	pattern        *readPattern

	required                        []string
	properties                      map[string]*node
	patternProperties               []patternProperty
	additional, propertyNames       *node
	unevaluatedProperties           *node
	dependentRequired               map[string][]string
	dependentSchemas                map[string]*node
	unique                          bool
	prefixItems                     []*node
	items, contains                 *node
	unevaluatedItems                *node
	allOf, anyOf, oneOf             []*node
	not, condition, then, otherwise *node
}

type patternProperty struct {
	name *readPattern
	of   *node
}

// bound is a keyword that compares a number, or how many there are of something.
type bound struct {
	keyword string
	with    *big.Rat
	written json.Number
}

// holds reports whether n is within the bound.
func (b bound) holds(n *big.Rat) bool {
	order := n.Cmp(b.with)
	switch {
	case b.keyword == "multipleOf":
		return new(big.Rat).Quo(n, b.with).IsInt()
	case b.keyword == "exclusiveMinimum":
		return order > 0
	case b.keyword == "exclusiveMaximum":
		return order < 0
	case strings.HasPrefix(b.keyword, "min"):
		return order >= 0
	}
	return order <= 0
}

// nodeAt compiles the schema at a location that was noted, once.
func (c *compiled) nodeAt(location string) (*node, error) {
	if n, ok := c.nodes[location]; ok {
		return n, nil
	}
	p := c.places[location]
	n := &node{in: p.in, weight: 1}
	c.nodes[location] = n
	if accepts, ok := p.value.(bool); ok {
		n.nothing = !accepts
		return n, nil
	}
	n.object, _ = p.value.(map[string]any)
	for _, v := range n.object {
		n.weight += length(v)
	}
	b := builder{c, n, location, shapesOf()[p.in.draft], nil}
	b.references()
	if n.ref == nil || p.in.draft >= draft2019 { // else all next to it counts for nothing
		b.values()
		b.properties()
		b.items()
		b.forms()
	}
	return n, b.err
}

// builder fills in one node.
type builder struct {
	c        *compiled
	n        *node
	location string
	shapes   map[string]shape // of the keywords that its draft has
	err      error            // the first one
}

// get returns the value of a keyword, nil if it or the keyword is not there.
func (b *builder) get(keyword string) any {
	if _, ok := b.shapes[keyword]; !ok {
		return nil
	}
	return b.n.object[keyword]
}

func (b *builder) at(way string) *node {
	n, err := b.c.nodeAt(b.location + way)
	if b.err == nil {
		b.err = err
	}
	return n
}

func (b *builder) one(keyword string) *node {
	switch b.get(keyword).(type) {
	case bool, map[string]any:
		return b.at("/" + keyword)
	}
	return nil
}

func (b *builder) list(keyword string) (nodes []*node) {
	list, _ := b.get(keyword).([]any)
	for i := range list {
		nodes = append(nodes, b.at("/"+keyword+"/"+strconv.Itoa(i)))
	}
	return nodes
}

func (b *builder) byName(keywords ...string) (nodes map[string]*node) {
	for _, keyword := range keywords {
		object, _ := b.get(keyword).(map[string]any)
		for name, v := range object {
			if _, isList := v.([]any); isList {
				continue // of names, in dependencies
			}
			if nodes == nil {
				nodes = map[string]*node{}
			}
			nodes[name] = b.at("/" + keyword + "/" + escaped(name))
		}
	}
	return nodes
}

func (b *builder) references() {
	to := func(keyword string) (n *node, fragment string) {
		if reference, ok := b.get(keyword).(string); ok && b.err == nil {
			n, fragment, b.err = b.c.resolve(reference, b.n.in)
		}
		return n, fragment
	}
	b.n.ref, _ = to("$ref")
	b.n.recursive, _ = to("$recursiveRef")
	var name string
	b.n.dynamic, name = to("$dynamicRef")
	if b.n.dynamic != nil && name != "" && b.n.dynamic.object["$dynamicAnchor"] == name {
		b.n.dynamicName = name
	}
}

// values compiles the keywords about single values.
func (b *builder) values() {
	n := b.n
	n.types = texts(b.get("type"))
	if list, ok := b.get("enum").([]any); ok {
		n.enum = b.c.exactTexts(list...)
	}
	if v, ok := n.object["const"]; ok && b.shapes["const"] != "" {
		n.constant = b.c.exactTexts(v)
	}
	for keyword := range comparisons {
		written, ok := b.get(keyword).(json.Number)
		if !ok {
			continue
		}
		exclusive := "exclusive" + strings.ToUpper(keyword[:1]) + keyword[1:]
		if flag, _ := b.get(exclusive).(bool); flag { // draft 4
			keyword = exclusive
		}
		n.bounds = append(n.bounds, bound{keyword, exact(written), written})
	}
	if text, ok := b.get("pattern").(string); ok {
		n.pattern = b.c.pattern(text)
	}
}

func (b *builder) properties() {
	n := b.n
	n.required = texts(b.get("required"))
	n.properties = b.byName("properties")
	for name, of := range b.byName("patternProperties") {
		p := b.c.pattern(name)
		if p.Regexp == nil {
			of = &node{in: n.in, weight: 1} // it may have meant any of them
		}
		n.patternProperties = append(n.patternProperties, patternProperty{p, of})
	}
	n.additional = b.one("additionalProperties")
	n.propertyNames = b.one("propertyNames")
	n.unevaluatedProperties = b.one("unevaluatedProperties")
	n.dependentSchemas = b.byName("dependentSchemas", "dependencies")
	for _, keyword := range []string{"dependencies", "dependentRequired"} {
		object, _ := b.get(keyword).(map[string]any)
		for name, v := range object {
			if _, isList := v.([]any); !isList {
				continue
			}
			if n.dependentRequired == nil {
				n.dependentRequired = map[string][]string{}
			}
			n.dependentRequired[name] = append(n.dependentRequired[name], texts(v)...)
		}
	}
}

func (b *builder) items() {
	n := b.n
	n.unique, _ = b.get("uniqueItems").(bool)
	n.prefixItems, n.items = b.list("prefixItems"), b.one("items")
	if _, isList := b.get("items").([]any); isList {
		n.prefixItems, n.items = b.list("items"), b.one("additionalItems")
	}
	n.contains = b.one("contains")
	n.unevaluatedItems = b.one("unevaluatedItems")
}

func (b *builder) forms() {
	n := b.n
	n.allOf, n.anyOf, n.oneOf = b.list("allOf"), b.list("anyOf"), b.list("oneOf")
	n.not, n.condition, n.then, n.otherwise = b.one("not"), b.one("if"), b.one("then"), b.one("else")
}

// accepts reports whether value is of the types of n.
func (n *node) accepts(value any) bool {
	return n.types == nil || slices.ContainsFunc(n.types, func(t string) bool {
		switch v := value.(type) {
		case nil:
			return t == "null"
		case bool:
			return t == "boolean"
		case string:
			return t == "string"
		case []any:
			return t == "array"
		case map[string]any:
			return t == "object"
		case json.Number:
			return t == "number" || t == "integer" && exact(v).IsInt()
		}
		return false
	})
}

// exact returns n as it is written, whose size decode bounds.
func exact(n json.Number) *big.Rat {
	r, _ := new(big.Rat).SetString(string(n))
	return r
}

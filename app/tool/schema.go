package tool

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"

	"conclave/app/base/limit"
	"conclave/app/base/shorten"
)

// Bounds on the schemas that are read and kept.
const (
	maxCompiled    = 512     // compiled schemas kept; more than any person's plugins have
	maxKeptParts   = 30_000  // parts of all of them, some 2 KiB each
	maxSchemaDepth = 100     // lists and objects within each other
	maxSchemaParts = 5000    // reading takes time by its square
	maxLocations   = 8 << 20 // bytes of the ways to all of its schemas, each of which has all names above it
	maxAddress     = 2000    // characters; each reference is resolved against one
)

// here is the address of the schema that is compiled.
const here = "conclave:///"

var (
	errEndless = errors.New("it refers to itself without end")
	errNames   = errors.New("it has names that are too long")
)

// compiled is a schema ready for use, or why it is not.
type compiled struct {
	warning string
	size    int // in parts
	root    *node

	resources map[string]*resource // by their addresses
	places    map[string]place     // schemas in it, by their locations
	order     []string             // their locations
	written   int                  // bytes of these
	nodes     map[string]*node     // those that are compiled, by their locations

	patterns     map[string]*readPattern
	instructions int // of all patterns

	checking sync.Mutex // guards left
	left     int        // steps that the check under way may still take
}

func newCompiled() *compiled {
	return &compiled{
		resources: map[string]*resource{}, places: map[string]place{}, nodes: map[string]*node{},
		patterns: map[string]*readPattern{}, left: int(limit.CheckSteps),
	}
}

var schemas = struct {
	sync.Mutex // guards kept and parts
	kept       map[[sha256.Size]byte]*compiled
	parts      int
}{kept: map[[sha256.Size]byte]*compiled{}}

// compiledSchema compiles raw, or finds what it gave before. Safe for concurrent
// use.
func compiledSchema(raw json.RawMessage) *compiled {
	key := sha256.Sum256(raw)
	schemas.Lock()
	c, ok := schemas.kept[key]
	schemas.Unlock()
	if ok {
		return c
	}
	c, err := compile(raw)
	if err != nil {
		c = &compiled{warning: unusable(err)}
	}
	schemas.Lock()
	defer schemas.Unlock()
	if len(schemas.kept) >= maxCompiled || schemas.parts+c.size > maxKeptParts {
		clear(schemas.kept)
		schemas.parts = 0
	}
	schemas.kept[key] = c
	schemas.parts += c.size
	return c
}

func unusable(why error) string {
	if errors.Is(why, errWork) {
		return errWork.Error()
	}
	return "Its schema cannot be used: " + shorten.To(strings.Join(strings.Fields(why.Error()), " "), maxLine) + "."
}

// recovered makes an error of a panic in the library, whose code is not ours and reads
// what a foreigner wrote.
func recovered(r any) error {
	if err, ok := r.(error); ok {
		return err
	}
	return fmt.Errorf("%v", r)
}

func compile(raw json.RawMessage) (c *compiled, err error) {
	defer func() {
		if r := recover(); r != nil {
			c, err = nil, recovered(r)
		}
	}()
	value, size, err := decode(raw)
	switch {
	case err != nil:
		return nil, err
	case size.depth > maxSchemaDepth:
		return nil, fmt.Errorf("it is nested more than %d deep", maxSchemaDepth)
	case size.parts > maxSchemaParts:
		return nil, fmt.Errorf("it has more than %d parts", maxSchemaParts)
	}
	c = newCompiled()
	c.size = size.parts
	draft, err := draftOf(value, draft2020)
	if err != nil {
		return nil, err
	}
	c.tidy(value, draft == draft2020)
	if err := c.build(value, draft); err != nil {
		return nil, err
	}
	if c.endless() {
		return nil, errEndless
	}
	return c, nil
}

// build compiles value and all schemas in it.
func (c *compiled) build(value any, d draft) error {
	root := &resource{base: &url.URL{Scheme: "conclave", Path: "/"}, draft: d}
	c.resources[here] = root
	if err := c.collect(place{value: value, in: root}, d); err != nil {
		return err
	}
	return c.compileAll()
}

// compileAll compiles the schemas that are noted.
func (c *compiled) compileAll() error {
	for i := 0; i < len(c.order); i++ { // it grows by what references lead to
		if _, err := c.nodeAt(c.order[i]); err != nil {
			return err
		}
	}
	c.root = c.nodes[""]
	return nil
}

// Keywords that bear on no value, that count only with something in their list,
// and whose names are no keywords.
var (
	annotations = []string{
		"title", "description", "$comment", "default", "examples", "deprecated", "readOnly", "writeOnly",
		"format", "contentEncoding", "contentMediaType", "contentSchema",
	}
	lists = []string{"required", "allOf", "anyOf", "oneOf", "prefixItems"}
	named = []string{
		"properties", "patternProperties", "definitions", "$defs", "dependentSchemas", "dependentRequired", "dependencies",
	}
)

// tidy takes from a schema what bears on no value, and what generators write that
// the drafts do not allow: keywords that are null, lists that are empty, values
// that come twice, and since draft 2020-12 a list of items.
func (c *compiled) tidy(schema any, latest bool) {
	if list, ok := schema.([]any); ok {
		for _, s := range list {
			c.tidy(s, latest)
		}
	}
	object, _ := schema.(map[string]any)
	for key, v := range object {
		list, isList := v.([]any)
		_, isObject := v.(map[string]any) // it may be a schema of that name, in a place of its own
		switch {
		case key == "const":
		case v == nil, !isObject && slices.Contains(annotations, key),
			isList && len(list) == 0 && slices.Contains(lists, key), isList && latest && key == "items":
			delete(object, key)
		case isList && (key == "required" || key == "enum" || key == "type"):
			seen := map[string]bool{}
			object[key] = slices.DeleteFunc(list, func(v any) bool {
				before := len(seen)
				seen[c.exactText(v)] = true
				return len(seen) == before
			})
		case slices.Contains(named, key):
			within, _ := v.(map[string]any)
			for _, s := range within {
				c.tidy(s, latest)
			}
		default:
			c.tidy(v, latest)
		}
	}
}

// endless reports whether checking a value would come back to the same schema
// and the same value. A schema that refers to itself from a property or an item
// is no such one: there the value gets smaller.
func (c *compiled) endless() bool {
	done := map[*node]bool{} // false while it is looked at
	var visit func(*node) bool
	visit = func(n *node) bool {
		if was, seen := done[n]; n == nil || seen {
			return n != nil && !was
		}
		done[n] = false
		within := slices.Concat(n.allOf, n.anyOf, n.oneOf, slices.Collect(maps.Values(n.dependentSchemas)))
		within = append(within, n.ref, n.recursive, n.dynamic, n.not, n.condition, n.then, n.otherwise)
		endless := slices.ContainsFunc(within, visit)
		done[n] = true
		return endless
	}
	for _, n := range c.nodes {
		if visit(n) {
			return true
		}
	}
	return false
}

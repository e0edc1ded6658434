package tool

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"conclave/app/base/limit"
	"conclave/app/base/shorten"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Bounds on the schemas that are read and kept.
const (
	maxCompiled    = 512    // compiled schemas kept; more than any person's plugins have
	maxKeptParts   = 30_000 // parts of all of them, some 2 KiB each
	maxSchemaDepth = 100    // lists and objects within each other
	maxSchemaParts = 5000   // reading takes time by its square
)

// here is the address of the schema that is compiled.
const here = "conclave:///"

var errEndless = errors.New("it refers to itself without end")

// compiled is a schema ready for use, or why it is not.
type compiled struct {
	warning string
	size    int // in parts
	schema  *jsonschema.Schema
	parts   map[string]*part // the schemas in it, by their location

	patterns     map[string]*readPattern
	instructions int // of all patterns

	checking sync.Mutex // guards left
	left     int        // steps that the check under way may still take
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
	c = &compiled{size: size.parts, parts: map[string]*part{}, patterns: map[string]*readPattern{}}
	c.left = int(limit.CheckSteps)
	draft := draftOf(value)
	c.tidy(value, draft == "" || strings.Contains(draft, "2020-12"))
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(nil) // nothing outside the schema is opened
	compiler.UseRegexpEngine(c.newPattern)
	compiler.RegisterVocabulary(&jsonschema.Vocabulary{URL: here + "checked", Compile: c.newPart})
	compiler.AssertVocabs()
	if err := compiler.AddResource(here, value); err != nil {
		return nil, err
	}
	if c.schema, err = compiler.Compile(here); err != nil {
		return nil, reason(err, value)
	}
	if c.endless() {
		return nil, errEndless
	}
	return c, nil
}

func draftOf(schema any) string {
	root, _ := schema.(map[string]any)
	draft, _ := root["$schema"].(string)
	return draft
}

// Keywords that bear on no value, that count only with something in their list,
// and that name schemas.
var (
	annotations = []string{
		"title", "description", "$comment", "default", "examples", "deprecated", "readOnly", "writeOnly",
		"format", "contentEncoding", "contentMediaType", "contentSchema",
	}
	lists = []string{"required", "allOf", "anyOf", "oneOf", "prefixItems"}
	named = []string{"properties", "patternProperties", "definitions", "$defs", "dependentSchemas", "dependencies"}
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
	done := map[*jsonschema.Schema]bool{} // false while it is looked at
	var visit func(*jsonschema.Schema) bool
	visit = func(s *jsonschema.Schema) bool {
		if was, seen := done[s]; s == nil || seen {
			return s != nil && !was
		}
		done[s] = false
		within := slices.Concat(s.AllOf, s.AnyOf, s.OneOf, slices.Collect(maps.Values(s.DependentSchemas)))
		within = append(within, s.Ref, s.RecursiveRef, s.Not, s.If, s.Then, s.Else)
		if s.DynamicRef != nil {
			within = append(within, s.DynamicRef.Ref)
		}
		for _, dependency := range s.Dependencies {
			if to, ok := dependency.(*jsonschema.Schema); ok {
				within = append(within, to)
			}
		}
		endless := slices.ContainsFunc(within, visit)
		done[s] = true
		return endless
	}
	for _, p := range c.parts {
		if visit(p.schema) {
			return true
		}
	}
	return false
}

// reason says in our words why the library does not take schema.
func reason(err error, schema any) error {
	if outside, ok := errors.AsType[*jsonschema.LoadURLError](err); ok {
		if draft := draftOf(schema); draft != "" && strings.TrimSuffix(draft, "#") == outside.URL {
			return fmt.Errorf("it is written in the draft %q, which Conclave does not know", draft)
		}
		return fmt.Errorf("it refers to %s, which Conclave does not open", strings.TrimPrefix(outside.URL, here))
	}
	if dangling, ok := errors.AsType[*jsonschema.JSONPointerNotFoundError](err); ok {
		return fmt.Errorf("it refers to %s, which is not there", strings.TrimPrefix(dangling.URL, here))
	}
	if dangling, ok := errors.AsType[*jsonschema.AnchorNotFoundError](err); ok {
		return fmt.Errorf("it refers to %s, which is not there", strings.TrimPrefix(dangling.Reference, here))
	}
	mistakes, ok := errors.AsType[*jsonschema.ValidationError](err)
	if invalid, by := errors.AsType[*jsonschema.SchemaValidationError](err); by { // it does not unwrap
		mistakes, ok = errors.AsType[*jsonschema.ValidationError](invalid.Err)
	}
	if !ok {
		return errors.New(strings.ReplaceAll(err.Error(), here, ""))
	}
	var found []*jsonschema.ValidationError
	var visit func(*jsonschema.ValidationError)
	visit = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 {
			found = append(found, e)
		}
		for _, cause := range e.Causes {
			visit(cause)
		}
	}
	visit(mistakes)
	wrong := slices.MinFunc(found, func(a, b *jsonschema.ValidationError) int { // the metaschema finds several in one
		return cmp.Or(
			len(b.InstanceLocation)-len(a.InstanceLocation),
			rank(a)-rank(b),
			slices.Compare(a.InstanceLocation, b.InstanceLocation),
		)
	})
	value, keyword := shown(at(schema, wrong.InstanceLocation)), ""
	if n := len(wrong.InstanceLocation); n > 0 {
		keyword = wrong.InstanceLocation[n-1]
	}
	switch k := wrong.ErrorKind.(type) {
	case *kind.Enum:
		return fmt.Errorf("there is no type %s", value)
	case *kind.Type:
		if slices.Contains(k.Want, "object") {
			return fmt.Errorf("%s is no schema", value)
		}
	case *kind.ExclusiveMinimum:
		return fmt.Errorf("%q is %s, and nothing is a multiple of that", keyword, value)
	}
	return fmt.Errorf("%q cannot be %s", keyword, value)
}

// rank puts a wrong choice before other mistakes at the same place.
func rank(e *jsonschema.ValidationError) int {
	if _, choice := e.ErrorKind.(*kind.Enum); choice {
		return 0
	}
	return 1
}

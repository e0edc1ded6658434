package tool

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"conclave/app/limit"
)

// Bounds on the schemas that are kept and read.
const (
	maxCompiled    = 512 // compiled schemas kept; more than any person's plugins have
	maxSchemaDepth = 100 // schemas within schemas; reading takes time by its square
)

// compiled is a schema ready for use, or why it is not.
type compiled struct {
	resolved *jsonschema.Resolved
	form     form
	warning  string
}

var schemas = struct {
	sync.Mutex // guards kept
	kept       map[[sha256.Size]byte]compiled
}{kept: map[[sha256.Size]byte]compiled{}}

// compiledSchema compiles raw, or finds what it gave before. Safe for concurrent
// use.
func compiledSchema(raw json.RawMessage) compiled {
	key := sha256.Sum256(raw)
	schemas.Lock()
	c, ok := schemas.kept[key]
	schemas.Unlock()
	if ok {
		return c
	}
	c, err := compile(raw)
	if err != nil {
		c = compiled{warning: "Its schema cannot be used: " + oneLine(err) + "."}
	}
	schemas.Lock()
	defer schemas.Unlock()
	if len(schemas.kept) >= maxCompiled {
		clear(schemas.kept)
	}
	schemas.kept[key] = c
	return c
}

func compile(raw json.RawMessage) (c compiled, err error) {
	defer func() { // the schema is a foreigner's and the compiler not ours
		if r := recover(); r != nil {
			c, err = compiled{}, fmt.Errorf("%v", r)
		}
	}()
	value, err := decode(raw)
	if err != nil {
		return compiled{}, err
	}
	f, err := newForm(value)
	if err != nil {
		return compiled{}, err
	}
	if f.endless() {
		return compiled{}, errors.New("it refers to itself without end")
	}
	data, err := json.Marshal(f.root)
	if err != nil {
		return compiled{}, err
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(data, &schema); err != nil {
		return compiled{}, err
	}
	resolved, err := schema.Resolve(nil) // without a loader: nothing outside is opened
	if err != nil {
		return compiled{}, err
	}
	return compiled{resolved: resolved, form: f}, nil
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// check gives value to the schema. That its library stops at the first problem
// is why a value that does not fit is then explained (see form.explain).
func (c compiled) check(value map[string]any) (warning string, err error) {
	defer func() {
		if r := recover(); r != nil {
			warning, err = fmt.Sprintf("Its schema cannot be used: %v.", r), nil
		}
	}()
	if c.form.tooMuch(value) {
		return limit.CheckSteps.Person, nil
	}
	refusal := c.resolved.Validate(doubles(value))
	if refusal == nil && !c.form.fractions {
		return "", nil
	}
	problems := c.form.explain("", value, nil)
	if len(problems) == 0 && refusal != nil {
		problems = []problem{other(refusal)}
	}
	if len(problems) == 0 {
		return "", nil
	}
	return "", argumentError(problems)
}

// The drafts of JSON Schema, by the address in "$schema" without its scheme and
// "#" (https://json-schema.org/specification-links).
const (
	draft4    = "json-schema.org/draft-04/schema"
	draft6    = "json-schema.org/draft-06/schema"
	draft7    = "json-schema.org/draft-07/schema"
	draft2019 = "json-schema.org/draft/2019-09/schema"
	draft2020 = "json-schema.org/draft/2020-12/schema"
)

// form is a schema in the shape that the library reads: the keywords that bear
// on a value and no others, older drafts written as draft 7 or 2020-12.
type form struct {
	root      any
	draft     string
	id        string // what its references may call it
	old       bool   // draft 7 or before: what stands beside a "$ref" does not count
	fractions bool   // it has a "multipleOf" that is no whole number, under fractionKey
	patterns  int    // instructions of all its patterns together
}

// fractionKey is where a "multipleOf" goes that is no whole number. The library
// divides floating-point numbers, by which 19.99 is no multiple of 0.01; so it
// is left to explain, which does not see those within "not", "if" and the like.
const fractionKey = "conclave:multipleOf"

// What the value of a keyword is.
type valueKind int

const (
	plainValue valueKind = iota
	oneSchema
	manySchemas // a list
	namedSchemas
)

// keywords are those of drafts 7 and 2020-12 that bear on a value, and those that
// a reference leads through. "$id" is not among them: references are taken to be
// within the one schema.
var keywords = map[string]valueKind{
	"$ref": plainValue, "$defs": namedSchemas, "definitions": namedSchemas,
	"type": plainValue, "enum": plainValue, "const": plainValue,
	"multipleOf": plainValue, "minimum": plainValue, "maximum": plainValue, "exclusiveMinimum": plainValue, "exclusiveMaximum": plainValue,
	"minLength": plainValue, "maxLength": plainValue, "pattern": plainValue,
	"prefixItems": manySchemas, "items": oneSchema, "additionalItems": oneSchema, "contains": oneSchema, "unevaluatedItems": oneSchema,
	"minItems": plainValue, "maxItems": plainValue, "uniqueItems": plainValue, "minContains": plainValue, "maxContains": plainValue,
	"properties": namedSchemas, "patternProperties": namedSchemas, "additionalProperties": oneSchema, "propertyNames": oneSchema, "unevaluatedProperties": oneSchema,
	"required": plainValue, "minProperties": plainValue, "maxProperties": plainValue, "dependentRequired": plainValue, "dependentSchemas": namedSchemas, "dependencies": namedSchemas,
	"allOf": manySchemas, "anyOf": manySchemas, "oneOf": manySchemas, "not": oneSchema, "if": oneSchema, "then": oneSchema, "else": oneSchema,
}

var typeNames = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

// newForm rewrites a decoded schema. The error says what is wrong with it.
func newForm(value any) (form, error) {
	f := form{draft: draft2020}
	if object, ok := value.(map[string]any); ok {
		if named, ok := object["$schema"].(string); ok {
			_, address, _ := strings.Cut(strings.TrimSuffix(named, "#"), "://")
			if !slices.Contains([]string{draft4, draft6, draft7, draft2019, draft2020}, address) {
				return form{}, fmt.Errorf("it is written in the draft %q, which Conclave does not know", named)
			}
			f.draft = address
		}
		f.id, _ = object["$id"].(string)
		if f.draft == draft4 {
			f.id, _ = object["id"].(string)
		}
	}
	f.old = f.draft == draft4 || f.draft == draft6 || f.draft == draft7
	root, err := f.rewrite(value, 0)
	if err != nil {
		return form{}, err
	}
	if object, ok := root.(map[string]any); ok && f.old {
		object["$schema"] = "http://" + draft7 + "#"
	}
	f.root = root
	return f, nil
}

// rewrite copies one schema and those within it.
func (f *form) rewrite(value any, depth int) (any, error) {
	if depth > maxSchemaDepth {
		return nil, fmt.Errorf("it is nested more than %d deep", maxSchemaDepth)
	}
	object, ok := value.(map[string]any)
	if !ok {
		if _, ok := value.(bool); !ok {
			return nil, fmt.Errorf("%s is no schema", shown(value))
		}
		return value, nil
	}
	out := map[string]any{}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		kind, known := keywords[key]
		if !known {
			continue
		}
		v, err := f.rewriteKeyword(key, kind, object[key], depth)
		if err != nil {
			return nil, err
		}
		out[key] = v
	}
	return out, f.rewriteHere(out, object)
}

// rewriteKeyword copies what a keyword says, with the schemas in it.
func (f *form) rewriteKeyword(key string, kind valueKind, value any, depth int) (any, error) {
	list, isList := value.([]any)
	switch {
	case kind == manySchemas || key == "items" && isList:
		if !isList {
			return nil, fmt.Errorf("%q is no list of schemas", key)
		}
		out := make([]any, len(list))
		for i, v := range list {
			var err error
			if out[i], err = f.rewrite(v, depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	case kind == oneSchema:
		return f.rewrite(value, depth+1)
	case kind == namedSchemas:
		named, ok := value.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%q is no object of schemas", key)
		}
		out := map[string]any{}
		for name, v := range named {
			if _, names := v.([]any); names && key == "dependencies" {
				out[name] = v
				continue
			}
			var err error
			if out[name], err = f.rewrite(v, depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return value, nil
}

// rewriteHere checks and rewrites the keywords of out itself, which was object.
func (f *form) rewriteHere(out, object map[string]any) error {
	if err := checkTypes(out["type"]); err != nil {
		return err
	}
	if err := f.rewriteReference(out, object); err != nil {
		return err
	}
	if pattern, ok := out["pattern"].(string); ok {
		if err := f.takePatterns(pattern); err != nil {
			return err
		}
		if _, err := regexp.Compile(pattern); err != nil { // a look-ahead
			delete(out, "pattern")
		}
	}
	if named, ok := out["patternProperties"].(map[string]any); ok {
		if err := f.takePatterns(slices.Collect(maps.Keys(named))...); err != nil {
			return err
		}
		for pattern := range named {
			if _, err := regexp.Compile(pattern); err != nil {
				delete(named, pattern)
				named[""] = true // it may have meant any of them
			}
		}
	}
	if n, ok := out["multipleOf"].(json.Number); ok {
		r, ok := new(big.Rat).SetString(string(n))
		if !ok || r.Sign() <= 0 {
			return fmt.Errorf("%q is %s, and nothing is a multiple of that", "multipleOf", n)
		}
		if !r.IsInt() {
			delete(out, "multipleOf")
			out[fractionKey] = n
			f.fractions = true
		}
	}
	if f.draft == draft4 { // a flag on the bound there, a bound of its own later
		for exclusive, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
			if flag, ok := out[exclusive].(bool); ok {
				delete(out, exclusive)
				if limit, there := out[bound]; flag && there {
					delete(out, bound)
					out[exclusive] = limit
				}
			}
		}
	}
	if list, ok := out["items"].([]any); ok && f.draft == draft2019 {
		out["prefixItems"] = list
		delete(out, "items")
		if rest, there := out["additionalItems"]; there {
			out["items"] = rest
		}
	}
	return nil
}

func checkTypes(value any) error {
	if value == nil {
		return nil
	}
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	for _, v := range list {
		if name, ok := v.(string); !ok || !slices.Contains(typeNames, name) {
			return fmt.Errorf("there is no type %s", shown(v))
		}
	}
	if len(list) == 0 {
		return errors.New(`"type" names none`)
	}
	return nil
}

// rewriteReference lets through references by JSON Pointer to places in this
// schema, and refuses all others.
func (f *form) rewriteReference(out, object map[string]any) error {
	if recursive, ok := object["$recursiveRef"]; ok && f.draft == draft2019 {
		out["$ref"] = recursive
	}
	if dynamic, ok := object["$dynamicRef"]; ok && !f.old {
		return fmt.Errorf("it refers to %s by \"$dynamicRef\", which Conclave does not follow", shown(dynamic))
	}
	value, there := out["$ref"]
	if !there {
		return nil
	}
	ref, ok := value.(string)
	if !ok {
		return fmt.Errorf("%s is no reference", shown(value))
	}
	place, fragment, _ := strings.Cut(ref, "#")
	switch {
	case place != "" && place != strings.TrimSuffix(f.id, "#"):
		return fmt.Errorf("it refers to %s, which Conclave does not open", cut(ref))
	case fragment != "" && !strings.HasPrefix(fragment, "/"):
		return fmt.Errorf("it refers to %s by name, which Conclave does not follow", cut(ref))
	}
	out["$ref"] = "#" + fragment
	return nil
}

// target is the pointer that the "$ref" of schema leads to.
func target(schema map[string]any) (pointer string, ok bool) {
	ref, ok := schema["$ref"].(string)
	if !ok {
		return "", false
	}
	pointer, err := url.PathUnescape(strings.TrimPrefix(ref, "#"))
	return pointer, err == nil
}

// at is the schema that a JSON Pointer (RFC 6901) leads to.
func (f form) at(pointer string) any {
	value := f.root
	for step := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if pointer == "" {
			break
		}
		switch v := value.(type) {
		case map[string]any:
			value = v[unescapeStep.Replace(step)]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}

var (
	escapeStep   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapeStep = strings.NewReplacer("~0", "~", "~1", "/")
)

// under is the pointer to what lies below pointer.
func under(pointer string, steps ...string) string {
	for _, step := range steps {
		pointer += "/" + escapeStep.Replace(step)
	}
	return pointer
}

// endless reports whether checking a value would come back to the same schema
// and the same value. A schema that refers to itself from a property or an item
// is no such one: there the value gets smaller.
func (f form) endless() bool {
	const (
		open = iota + 1
		done
	)
	state := map[string]int{}
	var visit func(pointer string) bool
	visit = func(pointer string) bool {
		if state[pointer] != 0 {
			return state[pointer] == open
		}
		state[pointer] = open
		defer func() { state[pointer] = done }()
		return slices.ContainsFunc(f.inPlace(pointer), visit)
	}
	return slices.ContainsFunc(f.everywhere("", f.root, nil), visit)
}

// inPlace lists the schemas that the one at pointer gives its own value to.
func (f form) inPlace(pointer string) []string {
	schema, ok := f.at(pointer).(map[string]any)
	if !ok {
		return nil
	}
	var out []string
	if to, ok := target(schema); ok {
		out = append(out, to)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"} {
		out = append(out, within(pointer, key, schema[key])...)
	}
	return out
}

// everywhere lists the schemas at and below pointer.
func (f form) everywhere(pointer string, value any, out []string) []string {
	out = append(out, pointer)
	schema, _ := value.(map[string]any)
	for key, v := range schema {
		if keywords[key] == plainValue {
			continue
		}
		for _, p := range within(pointer, key, v) {
			out = f.everywhere(p, f.at(p), out)
		}
	}
	return out
}

// within lists the schemas in the value of a keyword of the schema at pointer.
func within(pointer, key string, value any) []string {
	var out []string
	switch v := value.(type) {
	case []any:
		for i := range v {
			out = append(out, under(pointer, key, strconv.Itoa(i)))
		}
	case map[string]any:
		if keywords[key] != namedSchemas {
			return []string{under(pointer, key)}
		}
		for name := range v {
			out = append(out, under(pointer, key, name))
		}
	}
	return out
}

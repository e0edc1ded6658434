package tool

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// draft is an edition of JSON Schema.
type draft int

const (
	draft4 draft = iota
	draft6
	draft7
	draft2019
	draft2020
)

// draftPaths are the addresses of the drafts, without https:// or http:// and an empty fragment.
var draftPaths = [...]string{
	draft4:    "json-schema.org/draft-04/schema",
	draft6:    "json-schema.org/draft-06/schema",
	draft7:    "json-schema.org/draft-07/schema",
	draft2019: "json-schema.org/draft/2019-09/schema",
	draft2020: "json-schema.org/draft/2020-12/schema",
}

// draftAt returns the draft with this address.
func draftAt(address string) (draft, bool) {
	scheme, path, _ := strings.Cut(strings.TrimSuffix(address, "#"), "://")
	if scheme != "https" && scheme != "http" {
		return 0, false
	}
	if path == "json-schema.org/schema" {
		return draft2020, true
	}
	for d, known := range draftPaths {
		if path == known {
			return draft(d), true
		}
	}
	return 0, false
}

// shape describes the value of a keyword, as a JSON Schema.
type shape string

const (
	aSchema         shape = `{"$ref":"#"}`
	schemaOrFlag    shape = `{"anyOf":[{"$ref":"#"},{"type":"boolean"}]}`
	schemaOrSchemas shape = `{"anyOf":[{"$ref":"#"},{"type":"array","items":{"$ref":"#"}}]}`
	aListOfSchemas  shape = `{"type":"array","minItems":1,"items":{"$ref":"#"}}`
	schemasByName   shape = `{"type":"object","additionalProperties":{"$ref":"#"}}`
	schemaOrNames   shape = `{"type":"object","additionalProperties":{"anyOf":[{"$ref":"#"},{"type":"array","items":{"type":"string"}}]}}`
	namesByName     shape = `{"type":"object","additionalProperties":{"type":"array","items":{"type":"string"}}}`
	nameList        shape = `{"type":"array","items":{"type":"string"}}`
	aText           shape = `{"type":"string"}`
	aFlag           shape = `{"type":"boolean"}`
	aNumber         shape = `{"type":"number"}`
	aStep           shape = `{"type":"number","exclusiveMinimum":0}`
	aCount          shape = `{"type":"integer","minimum":0}`
	aList           shape = `{"type":"array"}`
	filledList      shape = `{"type":"array","minItems":1}`
	anything        shape = `{}`
	typeNames       shape = `{"anyOf":[{"enum":TYPES},{"type":"array","minItems":1,"items":{"enum":TYPES}}]}`
)

const allTypes = `["array","boolean","integer","null","number","object","string"]`

// keywords are those that bear on values, with their shapes and the drafts that have them.
var keywords = []struct {
	names    string
	shape    shape
	from, to draft
}{
	{"not", aSchema, draft4, draft2020},
	{"contains propertyNames", aSchema, draft6, draft2020},
	{"if then else", aSchema, draft7, draft2020},
	{"unevaluatedItems unevaluatedProperties", aSchema, draft2019, draft2020},
	{"additionalItems", schemaOrFlag, draft4, draft2019},
	{"additionalProperties", schemaOrFlag, draft4, draft2020},
	{"items", schemaOrSchemas, draft4, draft2019},
	{"items", aSchema, draft2020, draft2020},
	{"allOf anyOf oneOf", aListOfSchemas, draft4, draft2020},
	{"prefixItems", aListOfSchemas, draft2020, draft2020},
	{"properties patternProperties definitions", schemasByName, draft4, draft2020},
	{"$defs dependentSchemas", schemasByName, draft2019, draft2020},
	{"dependencies", schemaOrNames, draft4, draft2020},
	{"dependentRequired", namesByName, draft2019, draft2020},
	{"required", nameList, draft4, draft2020},
	{"pattern $schema $ref", aText, draft4, draft2020},
	{"id", aText, draft4, draft4},
	{"$id", aText, draft6, draft2020},
	{"$anchor $recursiveRef", aText, draft2019, draft2020},
	{"$dynamicAnchor $dynamicRef", aText, draft2020, draft2020},
	{"uniqueItems", aFlag, draft4, draft2020},
	{"exclusiveMinimum exclusiveMaximum", aFlag, draft4, draft4},
	{"$recursiveAnchor", aFlag, draft2019, draft2019},
	{"minimum maximum", aNumber, draft4, draft2020},
	{"exclusiveMinimum exclusiveMaximum", aNumber, draft6, draft2020},
	{"multipleOf", aStep, draft4, draft2020},
	{"minLength maxLength minItems maxItems minProperties maxProperties", aCount, draft4, draft2020},
	{"minContains maxContains", aCount, draft2019, draft2020},
	{"enum", filledList, draft4, draft6},
	{"enum", aList, draft7, draft2020},
	{"const", anything, draft6, draft2020},
	{"type", typeNames, draft4, draft2020},
}

// shapesOf returns the shapes of the keywords that each draft has. What it returns is not
// written to.
var shapesOf = sync.OnceValue(func() (all [draft2020 + 1]map[string]shape) {
	for d := range all {
		all[d] = map[string]shape{}
		for _, k := range keywords {
			if k.from <= draft(d) && draft(d) <= k.to {
				for name := range strings.FieldsSeq(k.names) {
					all[d][name] = k.shape
				}
			}
		}
	}
	return all
})

// metaschema returns the schema of the draft's schemas. It is written in draft 2020-12.
func (d draft) metaschema() map[string]any {
	var b bytes.Buffer
	b.WriteString(`{"type":["object","boolean"],"properties":{`)
	if d == draft4 {
		b.Reset()
		b.WriteString(`{"type":"object","properties":{`)
	}
	separator := ""
	for name, shape := range shapesOf()[d] {
		b.WriteString(separator + `"` + name + `":` + strings.ReplaceAll(string(shape), "TYPES", allTypes))
		separator = ","
	}
	b.WriteString(`}}`)
	decoder := json.NewDecoder(&b)
	decoder.UseNumber()
	var schema map[string]any
	if err := decoder.Decode(&schema); err != nil {
		panic(err) // the shapes above are not JSON
	}
	return schema
}

// metaschemas are compiled at their first use.
var metaschemas [draft2020 + 1]struct {
	once sync.Once
	*compiled
}

// checkShape returns why schema is none of the draft. It panics with errWork.
func (d draft) checkShape(schema any) error {
	m := &metaschemas[d]
	m.once.Do(func() {
		m.compiled = newCompiled()
		root := &resource{base: &url.URL{}, draft: draft2020}
		err := m.note(place{d.metaschema(), "", root})
		if err == nil {
			m.resources[""] = root
			err = m.compileAll()
		}
		if err != nil {
			panic(err) // the shapes above are no schemas
		}
	})
	m.checking.Lock()
	defer m.checking.Unlock()
	wrong := m.mistakes(schema, 0)
	if wrong == nil {
		return nil
	}
	return reason(wrong)
}

// eachSchema calls back with the schemas that lie directly in object, and the way to each.
func (d draft) eachSchema(object map[string]any, do func(way string, schema any) error) error {
	shapes := shapesOf()[d]
	for _, keyword := range sortedNames(object) {
		shape, ok := shapes[keyword]
		if !ok || !strings.Contains(string(shape), `"$ref"`) {
			continue
		}
		way := "/" + keyword
		err := error(nil)
		switch v := object[keyword].(type) {
		case []any:
			for i, s := range v {
				if err = do(way+"/"+strconv.Itoa(i), s); err != nil {
					return err
				}
			}
		case map[string]any:
			if shape != schemasByName && shape != schemaOrNames {
				err = do(way, v)
				break
			}
			for _, name := range sortedNames(v) {
				if _, isList := v[name].([]any); isList {
					continue // of names, in dependencies
				}
				if err = do(way+"/"+escaped(name), v[name]); err != nil {
					return err
				}
			}
		case bool:
			err = do(way, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// reason returns the nearest of what is wrong with a schema, in our words.
func reason(wrong []*mistake) error {
	var found []*mistake
	var visit func([]*mistake)
	visit = func(wrong []*mistake) {
		for _, m := range wrong {
			if m.forms == nil {
				found = append(found, m)
			}
			for _, form := range m.forms {
				visit(form)
			}
		}
	}
	visit(wrong)
	choiceFirst := func(m *mistake) int {
		if m.keyword == "enum" {
			return 0
		}
		return 1
	}
	nearest := slices.MinFunc(found, func(a, b *mistake) int { // a choice finds several in one
		one, other := a.at.path(), b.at.path()
		return cmp.Or(len(other)-len(one), choiceFirst(a)-choiceFirst(b), slices.Compare(one, other))
	})
	value, keyword := shown(nearest.value), nearest.at.step
	switch {
	case nearest.keyword == "enum":
		return fmt.Errorf("there is no type %s", value)
	case nearest.keyword == "type" && slices.Contains(nearest.of.types, "object"):
		return fmt.Errorf("%s is no schema", value)
	case nearest.keyword == "exclusiveMinimum":
		return fmt.Errorf("%q is %s, and nothing is a multiple of that", keyword, value)
	}
	return fmt.Errorf("%q cannot be %s", keyword, value)
}

package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"conclave/app/base/limit"
)

// Bounds of a text that a shape keeps: a name, or one of the values that are allowed. What is longer could be read as
// an order. A pattern or a reference has no blanks and may be longer.
const (
	maxShapeText    = 64
	maxShapeWords   = 3
	maxShapePattern = 256
)

// Keywords of all drafts that decide which values fit: those with a schema or a list of schemas, those with schemas by
// name (named), and those with other values.
var (
	ofSchemas = []string{
		"additionalItems", "additionalProperties", "allOf", "anyOf", "contains", "else", "if", "items", "not", "oneOf",
		"prefixItems", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
	}
	ofValues = []string{
		"const", "enum", "exclusiveMaximum", "exclusiveMinimum", "format", "maxContains", "maxItems", "maxLength",
		"maxProperties", "maximum", "minContains", "minItems", "minLength", "minProperties", "minimum", "multipleOf",
		"required", "type", "uniqueItems",
	}
	ofAddresses = []string{
		"$anchor", "$dynamicAnchor", "$dynamicRef", "$id", "$recursiveAnchor", "$recursiveRef", "$ref", "$schema", "id",
		"pattern",
	}
)

// Shape returns what a schema says about values, without titles, descriptions, comments, defaults, examples and
// keywords that no draft has. So nothing is left that a model could read as an order. Where another text could be
// read so, or where the schema cannot be used, there is no shape, and the error says why.
func Shape(schema json.RawMessage) (json.RawMessage, error) {
	if len(schema) > limit.ToolDefinition {
		return nil, fmt.Errorf("it is larger than %s", limit.Size(limit.ToolDefinition))
	}
	d := json.NewDecoder(bytes.NewReader(schema))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil || d.More() {
		return nil, errors.New("it is no JSON")
	}
	if _, object := value.(map[string]any); !object {
		return nil, errors.New("it is no JSON object")
	}
	value, err := shapeOf(value)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	raw := bytes.TrimSpace(b.Bytes())
	if warning, _ := Check(raw, json.RawMessage("{}")); warning != "" {
		return nil, errors.New(strings.TrimSuffix(strings.ToLower(warning[:1])+warning[1:], "."))
	}
	return raw, nil
}

// shapeOf is Shape of one schema, or of a list of schemas.
func shapeOf(value any) (any, error) {
	switch v := value.(type) {
	case bool:
		return v, nil
	case []any:
		for i := range v {
			one, err := shapeOf(v[i])
			if err != nil {
				return nil, err
			}
			v[i] = one
		}
		return v, nil
	case map[string]any:
		for keyword, part := range v {
			kept, err := shapeOfKeyword(keyword, part)
			switch {
			case err != nil:
				return nil, err
			case kept == nil:
				delete(v, keyword)
			default:
				v[keyword] = kept
			}
		}
		return v, nil
	}
	return nil, errors.New("a part of it is no schema")
}

// shapeOfKeyword returns what is kept of a keyword's value; nil for nothing.
func shapeOfKeyword(keyword string, part any) (any, error) {
	switch {
	case part == nil:
		return nil, nil
	case slices.Contains(ofSchemas, keyword):
		return shapeOf(part)
	case slices.Contains(ofValues, keyword):
		return part, onlyShort(part, maxShapeText, maxShapeWords)
	case slices.Contains(ofAddresses, keyword):
		return part, onlyShort(part, maxShapePattern, 1)
	case !slices.Contains(named, keyword):
		return nil, nil
	}
	parts, object := part.(map[string]any)
	if !object {
		return nil, fmt.Errorf("its %s are no JSON object", keyword)
	}
	for name, one := range parts {
		if err := onlyShort(name, maxShapeText, maxShapeWords); err != nil {
			return nil, err
		}
		names, list := one.([]any)
		if list && strings.HasPrefix(keyword, "dependen") { // names of properties
			if err := onlyShort(names, maxShapeText, maxShapeWords); err != nil {
				return nil, err
			}
			continue
		}
		kept, err := shapeOf(one)
		if err != nil {
			return nil, err
		}
		parts[name] = kept
	}
	return parts, nil
}

// onlyShort returns an error where a text in value has more characters or words, or anything that is not seen.
func onlyShort(value any, characters, words int) error {
	switch v := value.(type) {
	case string:
		_, removed := Strip(v)
		unseen := removed > 0 || strings.ContainsFunc(v, func(r rune) bool { return !unicode.IsPrint(r) })
		if unseen || utf8.RuneCountInString(v) > characters || len(strings.Fields(v)) > words {
			return errors.New("a name or value in it could be read as a sentence")
		}
	case []any:
		for _, one := range v {
			if err := onlyShort(one, characters, words); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, one := range v {
			if err := onlyShort([]any{name, one}, characters, words); err != nil {
				return err
			}
		}
	}
	return nil
}

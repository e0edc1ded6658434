package tool

import (
	"errors"
	"regexp"
	"regexp/syntax"

	"conclave/app/limit"
)

// Checking a value takes as long as a schema likes: ten schemas that each refer to
// the next one twice look at it a thousand times, and forty of them longer than
// anybody lives. The library cannot be stopped once it has begun, so what it would
// do is counted first, without doing it.

// What a check is made of, in steps of about 20 ns.
const (
	visitSteps = 500 // a schema is given a value, and the problem is put in words
	equalSteps = 25  // two values are compared
	readSteps  = 20  // one instruction of a pattern is read; to try it on a character is one step
)

// maxPatterns is how many instructions all patterns of one schema may have. One
// that describes an address of mail has some hundreds.
const maxPatterns = 10_000

// errPatterns is why a schema is not used whose patterns are programs.
var errPatterns = errors.New("its patterns are too large")

// effort counts the steps of one check.
type effort struct {
	form  form
	left  int64
	depth int64                     // of the value that is looked at
	found map[string]map[string]any // schemas that references lead to
	sizes map[string]int64          // of patterns
}

// tooMuch reports whether checking value by the schema takes longer than a check
// may. What the library leaves out when something does not fit is counted as well.
func (f form) tooMuch(value any) bool {
	e := effort{form: f, left: limit.CheckSteps.Value, found: map[string]map[string]any{}, sizes: map[string]int64{}}
	root, _ := f.root.(map[string]any)
	e.visit(root, value)
	return e.left < 0
}

// spend takes n steps and reports whether any are left.
func (e *effort) spend(n int64) bool {
	e.left -= n
	return e.left >= 0
}

// visit counts what the schema does with a value. A schema that is true or false is
// nil here.
func (e *effort) visit(schema map[string]any, value any) {
	if !e.spend(visitSteps+e.depth) || !e.compare(schema, value) {
		return
	}
	if to, ok := target(schema); ok {
		found, known := e.found[to]
		if !known {
			found, _ = e.form.at(to).(map[string]any)
			e.found[to] = found
		}
		e.visit(found, value)
	}
	for key, kind := range inPlaceKeywords {
		e.each(kind, schema[key], func(s map[string]any) { e.visit(s, value) })
	}
	e.depth++
	switch v := value.(type) {
	case []any:
		e.items(schema, v)
	case map[string]any:
		e.properties(schema, v)
	}
	e.depth--
}

// inPlaceKeywords hold schemas that get the value of the one they stand in.
var inPlaceKeywords = map[string]valueKind{
	"allOf": manySchemas, "anyOf": manySchemas, "oneOf": manySchemas, "not": oneSchema, "if": oneSchema, "then": oneSchema, "else": oneSchema,
	"dependentSchemas": namedSchemas, "dependencies": namedSchemas,
}

// each calls visit with the schemas in the value of a keyword, while steps are left.
func (e *effort) each(kind valueKind, value any, visit func(map[string]any)) {
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			if schema, _ := one.(map[string]any); e.left >= 0 {
				visit(schema)
			}
		}
	case map[string]any:
		if kind == oneSchema {
			visit(v)
			return
		}
		for _, one := range v {
			if schema, _ := one.(map[string]any); e.left >= 0 {
				visit(schema)
			}
		}
	}
}

// compare counts what is done with the value itself, and reports whether steps are
// left.
func (e *effort) compare(schema map[string]any, value any) bool {
	if list, ok := schema["enum"].([]any); ok && !e.spend(equalSteps*(nodes(list)+int64(len(list))*nodes(value))) {
		return false
	}
	if constant, ok := schema["const"]; ok && !e.spend(equalSteps*(nodes(constant)+nodes(value))) {
		return false
	}
	switch v := value.(type) {
	case string:
		pattern, _ := schema["pattern"].(string)
		return e.match(pattern, v)
	case []any:
		if schema["uniqueItems"] == true && !e.spend(equalSteps*nodes(v)) {
			return false
		}
		return e.spend(equalSteps * int64(len(v)))
	case map[string]any:
		required, _ := schema["required"].([]any)
		return e.spend(equalSteps * int64(len(v)+len(required)))
	}
	return true
}

// match counts the work of reading a pattern, and of matching a text.
func (e *effort) match(pattern, text string) bool {
	size, known := e.sizes[pattern]
	if !known {
		size = int64(instructions(pattern))
		e.sizes[pattern] = size
	}
	return e.spend(int64(len(text)) + size*(readSteps+int64(len(text))))
}

func (e *effort) items(schema map[string]any, list []any) {
	for _, key := range []string{"prefixItems", "items", "additionalItems", "contains", "unevaluatedItems"} {
		switch s := schema[key].(type) {
		case map[string]any:
			for _, item := range list {
				if e.left >= 0 {
					e.visit(s, item)
				}
			}
		case []any:
			for i, item := range list[:min(len(list), len(s))] {
				if one, _ := s[i].(map[string]any); e.left >= 0 {
					e.visit(one, item)
				}
			}
		}
	}
}

func (e *effort) properties(schema, object map[string]any) {
	properties, _ := schema["properties"].(map[string]any)
	patterns, _ := schema["patternProperties"].(map[string]any)
	for name, value := range object {
		if s, ok := properties[name].(map[string]any); ok {
			e.visit(s, value)
		}
		for pattern, one := range patterns {
			if !e.match(pattern, name) {
				return
			}
			if s, ok := one.(map[string]any); ok && matches(pattern, name) {
				e.visit(s, value)
			}
		}
		for _, key := range []string{"additionalProperties", "unevaluatedProperties"} {
			if s, ok := schema[key].(map[string]any); ok {
				e.visit(s, value)
			}
		}
		if s, ok := schema["propertyNames"].(map[string]any); ok {
			e.visit(s, name)
		}
		if e.left < 0 {
			return
		}
	}
}

func matches(pattern, text string) bool {
	re, err := regexp.Compile(pattern)
	return err == nil && re.MatchString(text)
}

// nodes returns of how many values one is made.
func nodes(value any) int64 {
	n := int64(1)
	switch v := value.(type) {
	case []any:
		for _, one := range v {
			n += nodes(one)
		}
	case map[string]any:
		for _, one := range v {
			n += nodes(one)
		}
	case string:
		n += int64(len(v)) / 64
	}
	return n
}

// instructions returns how long the program is that a pattern stands for; 0 for one
// that Go cannot read.
func instructions(pattern string) int {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0
	}
	return len(program.Inst)
}

// takePatterns counts the patterns of a schema as they are read.
func (f *form) takePatterns(patterns ...string) error {
	for _, pattern := range patterns {
		if f.patterns += instructions(pattern); f.patterns > maxPatterns {
			return errPatterns
		}
	}
	return nil
}

// shownAll shows the values that an enumeration has, the first ones of many.
func shownAll(list []any) []string {
	const most = 100
	var all []string
	for _, v := range list[:min(len(list), most)] {
		all = append(all, shown(v))
	}
	if len(list) > most {
		all = append(all, "…")
	}
	return all
}

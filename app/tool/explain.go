package tool

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
)

// problem is one thing that is wrong with a value.
type problem struct {
	path  []string // names and indices that lead to it
	text  string
	types []string // what it could have been, where that is all that is wrong
}

func (p problem) String() string {
	if len(p.path) == 0 {
		return p.text
	}
	return strings.Join(p.path, ".") + ": " + p.text
}

// argumentError puts problems in order, without repeats and not too many.
func argumentError(problems []problem) *ArgumentError {
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.String())
	}
	slices.Sort(lines)
	lines = slices.Compact(lines)
	if n := len(lines); n > maxProblems {
		lines = append(lines[:maxProblems], fmt.Sprintf("and %d more", n-maxProblems))
	}
	return &ArgumentError{lines}
}

// other is what the library says of a value in which explain finds nothing
// wrong: it wraps its reason in the schemas that led there.
func other(refusal error) problem {
	text := oneLine(refusal)
	var place string
	for {
		rest, ok := strings.CutPrefix(text, "validating ")
		if !ok {
			break
		}
		if place, rest, ok = strings.Cut(rest, ": "); !ok {
			break
		}
		text = rest
	}
	var path []string
	steps := strings.Split(place, "/")
	for i := 1; i < len(steps); i++ {
		if steps[i-1] == "properties" {
			path = append(path, unescapeStep.Replace(steps[i]))
		}
	}
	keyword, rest, _ := strings.Cut(text, ":")
	if words, ok := ownWords[keyword]; ok && !strings.Contains(rest, "did not") {
		text = words
	}
	if runes := []rune(text); len(runes) > 5*maxShown {
		text = string(runes[:5*maxShown-1]) + "…"
	}
	return problem{path: path, text: text}
}

// ownWords are for keywords of which the library would print its own structures.
var ownWords = map[string]string{
	"contains":    "none of its items is of the kind that must be there",
	"not":         "is of the kind that it must not be",
	"oneOf":       "fits more than one of its forms, and must fit one",
	"uniqueItems": "two of its items are equal",
}

// explain lists what is wrong with value by the schema at pointer: all that a
// person or a model can mend at once. It knows the keywords that schemas of
// arguments are made of. Whatever it reports is wrong; that it reports nothing
// does not mean that the value fits.
func (f form) explain(pointer string, value any, path []string) []problem {
	schema, ok := f.at(pointer).(map[string]any)
	if !ok {
		if f.at(pointer) == false {
			return []problem{{path: path, text: "nothing is allowed here, got " + shown(value)}}
		}
		return nil
	}
	var out []problem
	if to, ok := target(schema); ok {
		out = append(out, f.explain(to, value, path)...)
		if f.old {
			return out
		}
	}
	if want := wantedTypes(schema); want != nil && !slices.ContainsFunc(want, func(name string) bool { return isType(value, name) }) {
		return append(out, wrongType(path, want, value))
	}
	say := func(format string, args ...any) {
		out = append(out, problem{path: path, text: fmt.Sprintf(format, args...)})
	}
	if list, ok := schema["enum"].([]any); ok && !slices.ContainsFunc(list, func(v any) bool { return equal(v, value) }) {
		say("expected one of %s, got %s", strings.Join(shownAll(list), ", "), shown(value))
	}
	if want, ok := schema["const"]; ok && !equal(want, value) {
		say("expected %s, got %s", shown(want), shown(value))
	}
	switch v := value.(type) {
	case json.Number:
		explainNumber(schema, v, say)
	case string:
		explainText(schema, v, say)
	case []any:
		explainSize(schema, len(v), "Items", "item", "items", say)
		out = append(out, f.explainItems(pointer, schema, v, path)...)
	case map[string]any:
		explainSize(schema, len(v), "Properties", "parameter", "parameters", say)
		out = append(out, f.explainObject(pointer, schema, v, path)...)
	}
	for _, p := range within(pointer, "allOf", schema["allOf"]) {
		out = append(out, f.explain(p, value, path)...)
	}
	for _, key := range []string{"anyOf", "oneOf"} {
		out = append(out, f.explainChoice(within(pointer, key, schema[key]), value, path)...)
	}
	return out
}

// wantedTypes are the types a schema names, nil if it names none.
func wantedTypes(schema map[string]any) []string {
	switch v := schema["type"].(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, name := range v {
			if name, ok := name.(string); ok {
				out = append(out, name)
			}
		}
		return out
	}
	return nil
}

func wrongType(path, want []string, value any) problem {
	return problem{path: path, types: want, text: fmt.Sprintf("expected %s, got %s", strings.Join(want, " or "), shown(value))}
}

func isType(value any, name string) bool {
	switch v := value.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case json.Number:
		if name == "integer" {
			n, _ := doubles(v).(float64)
			return n == math.Trunc(n)
		}
		return name == "number"
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	}
	return false
}

func explainNumber(schema map[string]any, n json.Number, say func(string, ...any)) {
	value := rational(n)
	for _, bound := range []struct {
		key, words string
		broken     func(order int) bool
	}{
		{"minimum", "at least", func(order int) bool { return order < 0 }},
		{"maximum", "at most", func(order int) bool { return order > 0 }},
		{"exclusiveMinimum", "more than", func(order int) bool { return order <= 0 }},
		{"exclusiveMaximum", "less than", func(order int) bool { return order >= 0 }},
	} {
		if limit, ok := schema[bound.key].(json.Number); ok && bound.broken(value.Cmp(rational(limit))) {
			say("expected %s %s, got %s", bound.words, limit, cut(string(n)))
		}
	}
	for _, key := range []string{"multipleOf", fractionKey} {
		if step, ok := schema[key].(json.Number); ok && !new(big.Rat).Quo(exact(n), exact(step)).IsInt() {
			say("expected a multiple of %s, got %s", step, cut(string(n)))
		}
	}
}

// exact is n as it is written, rational as the library sees it: rounded to a
// double.
func exact(n json.Number) *big.Rat {
	r, _ := new(big.Rat).SetString(string(n)) // decode bounds its size
	return r
}

func rational(n json.Number) *big.Rat {
	v, _ := doubles(n).(float64)
	return new(big.Rat).SetFloat64(v)
}

func explainText(schema map[string]any, text string, say func(string, ...any)) {
	explainSize(schema, utf8.RuneCountInString(text), "Length", "character", "characters", say)
	pattern, _ := schema["pattern"].(string)
	if re, err := regexp.Compile(pattern); err == nil && !re.MatchString(text) {
		say("expected a text that matches %s, got %s", pattern, shown(text))
	}
}

// explainSize compares n with the bounds of a text, a list or an object, whose
// keywords end in what.
func explainSize(schema map[string]any, n int, what, one, many string, say func(string, ...any)) {
	for _, bound := range []struct {
		key, words string
		sign       int
	}{{"min" + what, "at least", -1}, {"max" + what, "at most", 1}} {
		limit, ok := schema[bound.key].(json.Number)
		if !ok || big.NewRat(int64(n), 1).Cmp(exact(limit)) != bound.sign {
			continue
		}
		unit := many
		if limit == "1" {
			unit = one
		}
		say("expected %s %s %s, got %d", bound.words, limit, unit, n)
	}
}

func (f form) explainItems(pointer string, schema map[string]any, list []any, path []string) []problem {
	first, rest := "prefixItems", "items"
	if f.old {
		if _, isList := schema["items"].([]any); isList {
			first, rest = "items", "additionalItems"
		}
	} else if _, isList := schema["items"].([]any); isList {
		return nil // it means nothing since draft 2020-12
	}
	places := within(pointer, first, schema[first])
	if f.old && first == "prefixItems" {
		places = nil // it means nothing before
	}
	var out []problem
	for i, item := range list {
		place := under(pointer, rest)
		if i < len(places) {
			place = places[i]
		}
		out = append(out, f.explain(place, item, below(path, strconv.Itoa(i)))...)
	}
	return out
}

func (f form) explainObject(pointer string, schema map[string]any, object map[string]any, path []string) []problem {
	var out []problem
	required, _ := schema["required"].([]any)
	for _, name := range required {
		name, ok := name.(string)
		if _, there := object[name]; ok && !there {
			out = append(out, problem{path: below(path, name), text: "is missing"})
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	patterns, _ := schema["patternProperties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(object)) {
		known := false
		if _, known = properties[name]; known {
			out = append(out, f.explain(under(pointer, "properties", name), object[name], below(path, name))...)
		}
		for pattern := range patterns {
			if re, err := regexp.Compile(pattern); err == nil && re.MatchString(name) {
				known = true
				out = append(out, f.explain(under(pointer, "patternProperties", pattern), object[name], below(path, name))...)
			}
		}
		switch {
		case known:
		case schema["additionalProperties"] == false:
			out = append(out, problem{path: below(path, name), text: "there is no such parameter"})
		default:
			out = append(out, f.explain(under(pointer, "additionalProperties"), object[name], below(path, name))...)
		}
	}
	return out
}

// explainChoice says in one line why none of the schemas at pointers fits: the
// types that they would take, or what the first of them lacks.
func (f form) explainChoice(pointers []string, value any, path []string) []problem {
	var first []problem
	var types []string
	onlyTypes := true
	for i, p := range pointers {
		problems := f.explain(p, value, path)
		if len(problems) == 0 {
			return nil
		}
		if i == 0 {
			first = problems
		}
		for _, q := range problems {
			onlyTypes = onlyTypes && q.types != nil && len(q.path) == len(path)
			types = append(types, q.types...)
		}
	}
	if len(pointers) == 0 {
		return nil
	}
	if onlyTypes {
		slices.Sort(types)
		return []problem{wrongType(path, slices.Compact(types), value)}
	}
	return append(first, problem{path: path, text: fmt.Sprintf("fits none of its %d forms, got %s", len(pointers), shown(value))})
}

func below(path []string, step string) []string { return append(slices.Clone(path), step) }

func equal(x, y any) bool { return jsonschema.Equal(doubles(x), doubles(y)) }

// doubles is value with its numbers as the library wants them: doubles. One past
// their range becomes the largest there is.
func doubles(value any) any {
	switch v := value.(type) {
	case json.Number:
		n, err := v.Float64()
		if err != nil {
			n = math.Copysign(math.MaxFloat64, n)
		}
		return n
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = doubles(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, item := range v {
			out[name] = doubles(item)
		}
		return out
	}
	return value
}

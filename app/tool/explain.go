package tool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"conclave/app/base/shorten"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// problem is one thing that is wrong with a value.
type problem struct {
	path  []string // names and indices that lead to it
	text  string
	types []string // what it could have been, where that is all that is wrong
}

func (p problem) String() string {
	if len(p.path) == 0 {
		return shorten.To(p.text, maxLine)
	}
	var path strings.Builder
	for i, step := range p.path {
		if i > 0 {
			path.WriteByte('.')
		}
		if path.WriteString(shorten.To(step, 5*maxShown)); path.Len() > maxLine {
			break
		}
	}
	return shorten.To(shorten.To(path.String(), maxLine/2)+": "+p.text, maxLine)
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

// bounds are the keywords that compare a number, and what they expect.
var bounds = map[string]string{
	"minimum": "at least", "exclusiveMinimum": "more than", "maximum": "at most", "exclusiveMaximum": "less than",
	"multipleOf": "a multiple of",
}

// sizes are the keywords that compare how many there are of something.
var sizes = map[string][2]string{
	"minLength": {"at least", "character"}, "maxLength": {"at most", "character"},
	"minItems": {"at least", "item"}, "maxItems": {"at most", "item"},
	"minProperties": {"at least", "parameter"}, "maxProperties": {"at most", "parameter"},
}

// others are keywords of which there is only one thing to say.
var others = map[string]string{
	"uniqueItems":   "two of its items are equal",
	"contains":      "none of its items is of the kind that must be there",
	"minContains":   "too few of its items are of the kind that must be there",
	"maxContains":   "too many of its items are of a kind of which there may be few",
	"propertyNames": "no parameter may have this name",
}

// explain lists what the library found wrong with arguments, all that a person
// or a model can mend at once.
func (c *compiled) explain(e *jsonschema.ValidationError, arguments any) []problem {
	path, value := e.InstanceLocation, at(arguments, e.InstanceLocation)
	var object map[string]any
	if p := c.parts[e.SchemaURL]; p != nil {
		object = p.object
	}
	say := func(format string, args ...any) []problem {
		return []problem{{path: path, text: fmt.Sprintf(format, args...)}}
	}
	each := func(names []string, text string) (out []problem) {
		for _, name := range names {
			out = append(out, problem{path: append(slices.Clone(path), name), text: text})
		}
		return out
	}
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		causes := slices.DeleteFunc(slices.Clone(e.Causes), unevaluated)
		if len(causes) == 0 { // beside others it may only follow from them
			causes = e.Causes
		}
		var out []problem
		for _, cause := range causes {
			out = append(out, c.explain(cause, arguments)...)
		}
		return out
	case *kind.AnyOf:
		return c.explainChoice(e, arguments)
	case *kind.OneOf:
		if k.Subschemas == nil {
			return c.explainChoice(e, arguments)
		}
		return say("fits more than one of its forms, and must fit one")
	case *kind.RefCycle:
		panic(errEndless)
	case *kind.Type:
		return []problem{wrongType(path, texts(object["type"]), value)}
	case *kind.Enum:
		list, _ := object["enum"].([]any)
		return say("expected one of %s, got %s", strings.Join(shownAll(list), ", "), shown(value))
	case *kind.Const:
		return say("expected %s, got %s", shown(object["const"]), shown(value))
	case *kind.Pattern:
		return say("expected a text that matches %s, got %s", k.Want, shown(value))
	case *kind.Required:
		return each(k.Missing, "is missing")
	case *kind.AdditionalProperties:
		return each(k.Properties, "there is no such parameter")
	case *kind.PropertyNames:
		return each([]string{k.Property}, others["propertyNames"])
	case *kind.AdditionalItems:
		var out []problem
		list := value.([]any)
		for i := len(list) - k.Count; i < len(list); i++ {
			out = append(out, problem{path: append(slices.Clone(path), strconv.Itoa(i)), text: notAllowed(list[i])})
		}
		return out
	case *kind.FalseSchema:
		if unevaluated(e) {
			return say("there is no such parameter")
		}
		return say("%s", notAllowed(value))
	case *kind.Not:
		return say("is of the kind that it must not be")
	case *kind.Dependency:
		return say("dependentRequired[%q]: missing properties %q", k.Prop, k.Missing)
	case *kind.DependentRequired:
		return say("dependentRequired[%q]: missing properties %q", k.Prop, k.Missing)
	}
	keyword := strings.Join(e.ErrorKind.KeywordPath(), " ")
	want := object[keyword]
	if words, ok := bounds[keyword]; ok {
		if _, flag := want.(bool); flag { // draft 4: on the bound
			want = object[strings.ToLower(strings.TrimPrefix(keyword, "exclusive"))]
		}
		return say("expected %s %s, got %s", words, want, cut(fmt.Sprint(value)))
	}
	if words, ok := sizes[keyword]; ok {
		unit := words[1] + "s"
		if want == json.Number("1") {
			unit = words[1]
		}
		return say("expected %s %s %s, got %d", words[0], want, unit, size(value))
	}
	return say("%s", cmp.Or(others[keyword], "does not fit “"+keyword+"”"))
}

// explainChoice says in one line why none of the forms of value fits: the types
// that they would take, or what the first that is of its type lacks.
func (c *compiled) explainChoice(e *jsonschema.ValidationError, arguments any) []problem {
	var nearest []problem
	var types []string
	value := at(arguments, e.InstanceLocation)
	for _, form := range e.Causes {
		problems := c.explain(form, arguments)
		for _, p := range problems {
			types = append(types, p.types...)
			if nearest == nil && (p.types == nil || len(p.path) > len(e.InstanceLocation)) {
				nearest = problems
			}
		}
	}
	if nearest == nil {
		slices.Sort(types)
		return []problem{wrongType(e.InstanceLocation, slices.Compact(types), value)}
	}
	text := fmt.Sprintf("fits none of its %d forms, got %s", len(e.Causes), shown(value))
	return append(nearest, problem{path: e.InstanceLocation, text: text})
}

// unevaluated reports whether e is about a name that no part of the schema knows.
func unevaluated(e *jsonschema.ValidationError) bool {
	return strings.HasSuffix(e.SchemaURL, "/unevaluatedProperties")
}

func wrongType(path, want []string, value any) problem {
	text := fmt.Sprintf("expected %s, got %s", strings.Join(want, " or "), shown(value))
	return problem{path: path, types: want, text: text}
}

func notAllowed(value any) string { return "nothing is allowed here, got " + shown(value) }

// shownAll shows the values that an enumeration has, the first ones of many.
func shownAll(list []any) (all []string) {
	const most = 100
	for _, v := range list[:min(len(list), most)] {
		all = append(all, shown(v))
	}
	if len(list) > most {
		all = append(all, "…")
	}
	return all
}

// texts are the texts of a list, or of the one there is.
func texts(value any) (out []string) {
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	for _, v := range list {
		if text, ok := v.(string); ok {
			out = append(out, text)
		}
	}
	return out
}

// size counts the characters, items or parameters of value.
func size(value any) int {
	if text, ok := value.(string); ok {
		return utf8.RuneCountInString(text)
	}
	return length(value)
}

// at returns the part of value at path.
func at(value any, path []string) any {
	for _, step := range path {
		switch v := value.(type) {
		case map[string]any:
			value = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			value = v[i]
		}
	}
	return value
}

package tool

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"conclave/app/base/shorten"
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

// comparisons are the keywords that compare a number, or how many there are of something: what
// they expect, and of what; nothing for numbers.
var comparisons = map[string]struct{ expects, unit string }{
	"minimum": {"at least", ""}, "exclusiveMinimum": {"more than", ""},
	"maximum": {"at most", ""}, "exclusiveMaximum": {"less than", ""}, "multipleOf": {"a multiple of", ""},
	"minLength": {"at least", "character"}, "maxLength": {"at most", "character"},
	"minItems": {"at least", "item"}, "maxItems": {"at most", "item"},
	"minProperties": {"at least", "parameter"}, "maxProperties": {"at most", "parameter"},
	"minContains": {"", "fitting item"}, "maxContains": {"", "fitting item"}, // see others
}

// others are keywords of which there is only one thing to say.
var others = map[string]string{
	"uniqueItems": "two of its items are equal",
	"contains":    "none of its items is of the kind that must be there",
	"minContains": "too few of its items are of the kind that must be there",
	"maxContains": "too many of its items are of a kind of which there may be few",
}

func explainAll(wrong []*mistake) (problems []problem) {
	for _, m := range wrong {
		problems = append(problems, m.explain()...)
	}
	return problems
}

// explain returns what a person or a model can mend, in words.
func (m *mistake) explain() []problem {
	path := m.at.path()
	say := func(format string, args ...any) []problem {
		return []problem{{path: path, text: fmt.Sprintf(format, args...)}}
	}
	each := func(text string) (out []problem) {
		for _, name := range m.names {
			out = append(out, problem{path: append(slices.Clone(path), name), text: text})
		}
		return out
	}
	if c, compares := comparisons[m.keyword]; compares && c.expects != "" {
		got := cut(fmt.Sprint(m.value))
		if c.unit != "" {
			got = strconv.Itoa(size(m.value))
			c.unit = " " + c.unit
			if m.bound.written != "1" {
				c.unit += "s"
			}
		}
		return say("expected %s %s%s, got %s", c.expects, m.bound.written, c.unit, got)
	}
	switch m.keyword {
	case "anyOf", "oneOf":
		if m.forms != nil {
			return m.explainChoice(path)
		}
		return say("fits more than one of its forms, and must fit one")
	case "type":
		return []problem{wrongType(path, m.of.types, m.value)}
	case "enum":
		list, _ := m.of.object["enum"].([]any)
		return say("expected one of %s, got %s", strings.Join(shownAll(list), ", "), shown(m.value))
	case "const":
		return say("expected %s, got %s", shown(m.of.object["const"]), shown(m.value))
	case "pattern":
		return say("expected a text that matches %s, got %s", shorten.To(m.of.pattern.text, maxLine), shown(m.value))
	case "required":
		return each("is missing")
	case "propertyNames":
		return each("no parameter may have this name")
	case "additionalProperties", "unevaluatedProperties":
		return say("there is no such parameter")
	case "false":
		return say("nothing is allowed here, got %s", shown(m.value))
	case "not":
		return say("is of the kind that it must not be")
	case "dependentRequired":
		missing := strings.Join(shownAll(m.names[1:]), " ")
		return say("dependentRequired[%s]: missing properties [%s]", shown(m.names[0]), missing)
	}
	return say("%s", others[m.keyword])
}

// explainChoice returns why none of the forms of a value fits: the types that they would take,
// or what the first that is of its type lacks.
func (m *mistake) explainChoice(path []string) []problem {
	var nearest []problem
	var types []string
	for _, form := range m.forms {
		problems := explainAll(form)
		for _, p := range problems {
			types = append(types, p.types...)
			if nearest == nil && (p.types == nil || len(p.path) > len(path)) {
				nearest = problems
			}
		}
	}
	if nearest == nil {
		slices.Sort(types)
		return []problem{wrongType(path, slices.Compact(types), m.value)}
	}
	text := fmt.Sprintf("fits none of its %d forms, got %s", len(m.forms), shown(m.value))
	return append(nearest, problem{path: path, text: text})
}

func wrongType(path, want []string, value any) problem {
	text := fmt.Sprintf("expected %s, got %s", strings.Join(want, " or "), shown(value))
	return problem{path: path, types: want, text: text}
}

// shownAll shows values, the first ones of many.
func shownAll[V any](list []V) (all []string) {
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

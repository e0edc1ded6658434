package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"conclave/app/base/shorten"
)

// Bounds on what is checked.
const (
	maxNumber   = 400  // digits or exponent of a number: past a double's range, and cheap as a fraction
	maxProblems = 20   // lines of one ArgumentError
	maxShown    = 40   // characters of a wrong value in a message
	maxLine     = 2000 // characters of a line; a list of all countries fits
)

// ArgumentError says everything that is wrong with the arguments of one call,
// one line each.
type ArgumentError struct{ Problems []string }

// Error returns the problems, one line each.
func (e *ArgumentError) Error() string { return strings.Join(e.Problems, "\n") }

// CheckArguments checks the arguments of a call of t. The error is an
// *ArgumentError. warning says why a schema could not be used; then anything
// fits that is a JSON object.
//
// Of a tool with a loose Convention it is checked that they are a JSON object. A
// Strict one gave a schema of its own, by which nothing is converted.
func (t Tool) CheckArguments(arguments json.RawMessage) (warning string, err error) {
	if t.Convention.Loose && !t.Strict {
		if _, _, err := decodeObject(arguments); err != nil {
			return "", err
		}
		return "", nil
	}
	warning, err = Check(t.Parameters, arguments)
	if err != nil && len(t.Convention.Ignored) > 0 {
		if w, retried := Check(t.Parameters, without(arguments, t.Convention.Ignored)); retried == nil {
			return w, nil
		}
	}
	return warning, err
}

// without returns the arguments without those of the given names.
func without(arguments json.RawMessage, names []string) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(arguments, &object) != nil {
		return arguments // checked as it is
	}
	before := len(object)
	for _, name := range names {
		delete(object, name)
	}
	if len(object) == before {
		return arguments
	}
	rest, err := json.Marshal(object)
	if err != nil {
		return arguments
	}
	return rest
}

// Check checks arguments, a JSON object, against a JSON Schema (draft 2020-12
// unless it names another: 4, 6, 7 or 2019-09). The error is an *ArgumentError.
// A schema that is wrong, or that refers to a file or an address, accepts every
// object, and warning says why; a pattern that Go cannot read accepts every
// text.
func Check(schema, arguments json.RawMessage) (warning string, err error) {
	value, measured, err := decodeObject(arguments)
	if err != nil {
		return "", err
	}
	return checkDecoded(schema, value, measured)
}

// CheckResult is Check of the value that a tool returned, which may be any JSON.
func CheckResult(schema, value json.RawMessage) (warning string, err error) {
	decoded, measured, err := decode(value)
	if err != nil {
		return "", &ArgumentError{[]string{err.Error()}}
	}
	return checkDecoded(schema, decoded, measured)
}

func checkDecoded(schema json.RawMessage, value any, measured extent) (warning string, err error) {
	c := compiledSchema(schema)
	if c.warning != "" {
		return c.warning, nil
	}
	return c.check(value, measured.depth)
}

// decodeObject reads a JSON object and refuses numbers that would take for ever
// to compare, and texts that programs read differently.
func decodeObject(raw json.RawMessage) (map[string]any, extent, error) {
	value, size, err := decode(raw)
	if err != nil {
		return nil, size, &ArgumentError{[]string{err.Error()}}
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, size, &ArgumentError{[]string{"expected a JSON object, got " + shown(value)}}
	}
	if what := notText(raw); what != "" {
		return nil, size, &ArgumentError{[]string{"a text holds " + what + "; write the character itself"}}
	}
	return object, size, nil
}

func decode(raw json.RawMessage) (value any, size extent, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&value); err != nil {
		return nil, size, jsonProblem(raw, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, size, errors.New("there is text after the JSON value")
	}
	err = size.measure(value, 0)
	return value, size, err
}

// jsonProblem returns where raw stops being JSON.
func jsonProblem(raw []byte, err error) error {
	offset := int64(len(raw)) + 1
	what := "it ends too early"
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset, what = syntax.Offset, syntax.Error()
	}
	before := raw[:min(max(offset-1, 0), int64(len(raw)))]
	line := bytes.Count(before, []byte{'\n'}) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Errorf("not JSON: %s (line %d, column %d)", what, line, column)
}

// extent is the size of a JSON value.
type extent struct {
	depth int
	parts int // objects and truth values, which in a schema are schemas, or hold some
}

// measure adds value, which lies so deep. The error names a number that is out of
// bounds.
func (s *extent) measure(value any, depth int) error {
	s.depth = max(s.depth, depth)
	switch v := value.(type) {
	case bool:
		s.parts++
	case json.Number:
		digits, exponent, _ := strings.Cut(strings.ToLower(string(v)), "e")
		n := 0
		if exponent != "" {
			var err error
			if n, err = strconv.Atoi(exponent); err != nil {
				n = maxNumber + 1
			}
		}
		if len(digits) > maxNumber || n > maxNumber || n < -maxNumber {
			return fmt.Errorf("the number %s is out of range", cut(string(v)))
		}
	case []any:
		for _, item := range v {
			if err := s.measure(item, depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		s.parts++
		for _, item := range v {
			if err := s.measure(item, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// shown is value as short JSON.
func shown(value any) string { return cut(string(appendHead(nil, value))) }

// appendHead writes the beginning of value as JSON, more than shown has room for:
// the whole may be large, and is shown often.
func appendHead(b []byte, value any) []byte {
	if len(b) > 4*maxShown {
		return b
	}
	switch v := value.(type) {
	case string:
		return appendString(b, cut(v))
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			if b = appendHead(b, item); len(b) > 4*maxShown {
				return b
			}
		}
		return append(b, ']')
	case map[string]any:
		if len(v) > 25*maxShown {
			return append(b, "{…}"...) // bringing them in order takes time
		}
		b = append(b, '{')
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b = append(b, ',')
			}
			if b = appendHead(append(appendString(b, cut(name)), ':'), v[name]); len(b) > 4*maxShown {
				return b
			}
		}
		return append(b, '}')
	case nil:
		return append(b, "null"...)
	}
	return fmt.Append(b, value)
}

func cut(text string) string { return shorten.To(text, maxShown) }

package httptools

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"conclave/app/base/limit"
	"conclave/app/tool"
)

// invalid is one row of the answer to a request that is not as it should be
// (contracts/neko, item 45).
type invalid struct {
	Type  string          `json:"type"`
	Loc   []string        `json:"loc"`
	Msg   string          `json:"msg"`
	Input json.RawMessage `json:"input"`
}

// form reads the fields of a body, and gathers what is wrong with them.
type form struct {
	fields map[string]json.RawMessage
	wrong  []invalid
}

// maxInput bounds how much of a wrong value is sent back, in bytes.
const maxInput = 200

func (f *form) bad(kind, field, message string) {
	input := f.fields[field]
	if len(input) == 0 || len(input) > maxInput {
		input = json.RawMessage("null")
	}
	f.wrong = append(f.wrong, invalid{kind, []string{"body", field}, message, input})
}

// text reads a text of least to most characters; most 0 is any number. One that need not
// be there has a default.
func (f *form) text(field string, required bool, least, most int, otherwise string) string {
	raw, there := f.fields[field]
	if !there {
		if required {
			f.bad("missing", field, "Field required")
		}
		return otherwise
	}
	var value *string
	if json.Unmarshal(raw, &value) != nil || value == nil {
		f.bad("string_type", field, "Input should be a valid string")
		return otherwise
	}
	switch n := utf8.RuneCountInString(*value); {
	case n < least:
		f.bad("string_too_short", field, "String should have at least "+strconv.Itoa(least)+" character")
	case most > 0 && n > most:
		f.bad("string_too_long", field, "String should have at most "+strconv.Itoa(most)+" characters")
	}
	return *value
}

// role reads a role: a text or null, neither of which need be there.
func (f *form) role() string {
	if raw, there := f.fields["role"]; !there || isNull(raw) {
		return ""
	}
	return f.text("role", false, 0, 0, "")
}

// object reads a JSON object.
func (f *form) object(field string, otherwise json.RawMessage) json.RawMessage {
	raw, there := f.fields[field]
	if !there {
		return otherwise
	}
	var value map[string]json.RawMessage
	if json.Unmarshal(raw, &value) != nil || value == nil {
		f.bad("dict_type", field, "Input should be a valid dictionary")
		return otherwise
	}
	if len(value) == 0 {
		return otherwise
	}
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return otherwise
	}
	return compact.Bytes()
}

// number reads a number over 0, at most most; texts of numbers and true are numbers.
func (f *form) number(field string, most, otherwise float64) float64 {
	raw, there := f.fields[field]
	if !there {
		return otherwise
	}
	var value any
	_ = json.Unmarshal(raw, &value) // it is JSON
	var n float64
	switch v := value.(type) {
	case float64:
		n = v
	case bool:
		if v {
			n = 1
		}
	case string:
		var err error
		if n, err = strconv.ParseFloat(strings.TrimSpace(v), 64); err != nil && !math.IsInf(n, 0) {
			f.bad("float_parsing", field, "Input should be a valid number, unable to parse string as a number")
			return otherwise
		}
	default:
		f.bad("float_type", field, "Input should be a valid number")
		return otherwise
	}
	switch {
	case math.IsNaN(n) || math.IsInf(n, 0):
		f.bad("finite_number", field, "Input should be a finite number")
	case n <= 0:
		f.bad("greater_than", field, "Input should be greater than 0")
	case n > most:
		f.bad("less_than_equal", field, "Input should be less than or equal to "+strconv.FormatFloat(most, 'f', -1, 64))
	}
	return n
}

func isNull(raw json.RawMessage) bool { return string(bytes.TrimSpace(raw)) == "null" }

// emptySchema is the schema of a tool that was registered with none.
var emptySchema = json.RawMessage(`{"type":"object","properties":{}}`)

// Bounds and defaults of a registration (contracts/neko, section 8.1).
const (
	maxName       = 64
	maxTimeout    = 300
	usualTimeout  = 30
	defaultSource = "external"
)

// registration reads what register is sent.
func (f *form) registration() Registration {
	r := Registration{
		Name:        f.text("name", true, 1, maxName, ""),
		Description: f.text("description", false, 0, 0, ""),
		Parameters:  f.object("parameters", emptySchema),
		CallbackURL: f.text("callback_url", true, 1, 0, ""),
		Role:        f.role(),
		Source:      f.text("source", false, 0, 0, defaultSource),
		Timeout:     f.number("timeout_seconds", maxTimeout, usualTimeout),
	}
	if len(r.Description)+len(r.Parameters) > limit.ToolDefinition {
		f.bad("value_error", "parameters", "description and parameters have more than "+
			""+limit.Size(limit.ToolDefinition)+
			", the most that a model is sent of one tool")
	}
	if tool.Depth(r.Parameters) > maxDepth {
		f.bad("value_error", "parameters", "lists and objects are nested more than "+strconv.Itoa(maxDepth)+" deep")
	}
	for field, value := range map[string]string{"source": r.Source, "role": r.Role, "callback_url": r.CallbackURL} {
		if len(value) > maxText {
			f.bad("value_error", field, "it has more than "+strconv.Itoa(maxText)+" bytes")
		}
	}
	return r
}

// maxText bounds a source, a role and an address, in bytes.
const maxText = 2000

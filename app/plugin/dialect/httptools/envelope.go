package httptools

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Bounds of an answer, so that it fits into a line of the wire with its pictures, in bytes.
const (
	maxAnswerText = 1 << 20
	maxValue      = 64 << 10
	maxDepth      = 100 // lists and objects within each other; what reads the line takes few more
)

// Outcome holds the result of a call.
type Outcome struct {
	Failed   bool
	TimedOut bool
	Kind     string          // of an error, as contracts/neko, item 42 names them
	Text     string          // what a model gets, if that is a text
	Value    json.RawMessage // the output, where it is no text
	Pictures []picture
}

// interpret returns what an answer means: the first row of contracts/neko, item 56, that fits.
func interpret(answer []byte) Outcome {
	var value any
	if !json.Valid(answer) || json.Unmarshal(answer, &value) != nil {
		return Outcome{Text: strings.ToValidUTF8(string(answer), "�")}
	}
	var fields map[string]json.RawMessage
	if _, object := value.(map[string]any); !object || json.Unmarshal(answer, &fields) != nil {
		return outputOf(answer)
	}
	images, pictured := fields["images"]
	output, given := fields["output"]
	failed, says := fields["is_error"]
	var warnings []string
	var shown []picture
	if pictured && (given || says) {
		shown, warnings = pictures(images)
	}
	switch {
	case given:
	case says:
		delete(fields, "images")
		output, _ = json.Marshal(fields) // it was read from JSON
	default:
		return outputOf(answer)
	}
	o := outputOf(withWarnings(output, warnings))
	o.Pictures = shown
	if !truthy(failed) {
		return o
	}
	o.Failed = true
	if why := textOf(fields["error"]); why != "" && given {
		// Upstream leaves the error out, and a model learns nothing from null.
		o.Text = strings.TrimSpace(why + "\n" + said(o))
		o.Value = nil
	}
	return o
}

// outputOf is the outcome of a call whose output is a JSON value.
func outputOf(raw []byte) Outcome {
	var text string
	if json.Unmarshal(raw, &text) == nil && !isNull(raw) {
		return Outcome{Text: text}
	}
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return Outcome{Text: string(raw)}
	}
	return Outcome{Value: compact.Bytes()}
}

// said returns the text of an output; nothing of one that says nothing.
func said(o Outcome) string {
	switch text := string(o.Value); text {
	case "", "null", "{}":
		return o.Text
	default:
		return text
	}
}

// withWarnings puts warnings about pictures into an output.
func withWarnings(output json.RawMessage, warnings []string) json.RawMessage {
	if len(warnings) == 0 {
		return output
	}
	list, err := encode(warnings)
	var fields map[string]json.RawMessage
	if json.Unmarshal(output, &fields) != nil || fields == nil {
		fields = map[string]json.RawMessage{"result": output}
	}
	fields["_image_warnings"] = list
	all, err2 := encode(fields)
	if err != nil || err2 != nil { // texts and what was JSON can be written
		return output
	}
	return all
}

// truthy reports whether a value counts as true in Python.
func truthy(raw json.RawMessage) bool {
	switch text := string(bytes.TrimSpace(raw)); text {
	case "", "null", "false", "0", "0.0", `""`, "[]", "{}":
		return false
	}
	return true
}

// textOf is a JSON value as text; empty for none.
func textOf(raw json.RawMessage) string {
	var text string
	if len(raw) == 0 || isNull(raw) {
		return ""
	}
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"conclave/app/base/shorten"
	"conclave/app/chat"
)

// maxMended bounds the argument text that is mended: it is read several times.
const maxMended = 1 << 20

// Arguments reads a model's argument text: the JSON object, or {} and the text
// itself when it was none. Nothing at all and null mean no arguments. It mends nothing.
func Arguments(text string) (arguments json.RawMessage, raw string) {
	data := bytes.TrimSpace([]byte(text))
	if len(data) == 0 || string(data) == "null" {
		return json.RawMessage("{}"), ""
	}
	if data[0] != '{' || !json.Valid(data) {
		return json.RawMessage("{}"), text
	}
	return data, ""
}

// readArguments reads the argument text of a call, which came in pieces, as Arguments does. Text
// that is no object is mended where it can be read in one way only: it then says what was mended,
// and holds the text as it came.
func readArguments(pieces []string) (arguments json.RawMessage, raw string, mended chat.Mended) {
	text := strings.Join(pieces, "")
	if arguments, raw = Arguments(text); raw == "" || len(raw) > maxMended {
		return arguments, raw, mended
	}
	object, what := mend(text)
	if object == nil && grown(pieces) {
		object, what = json.RawMessage(pieces[len(pieces)-1]), []string{"each piece of its arguments held those before it"}
	}
	if object == nil {
		return arguments, raw, mended
	}
	return object, "", chat.Mended{What: what, Arguments: text}
}

// grown reports whether each piece begins with the one before it, and the last is an object.
func grown(pieces []string) bool {
	for i := 1; i < len(pieces); i++ {
		if !strings.HasPrefix(pieces[i], pieces[i-1]) {
			return false
		}
	}
	last := strings.TrimSpace(pieces[len(pieces)-1])
	return strings.HasPrefix(last, "{") && json.Valid([]byte(last))
}

// mend returns the one object that a text can be read as and what was wrong with the text, or nil.
func mend(text string) (json.RawMessage, []string) {
	var what []string
	inner := strings.TrimSpace(strings.TrimPrefix(text, "\uFEFF"))
	if fenced, ok := unfenced(inner); ok {
		inner, what = fenced, append(what, "its arguments stood between Markdown fences")
	}
	spelled, found := respelled(inner)
	what = append(what, found...)
	object, found := oneObject(spelled, 0)
	return object, append(what, found...)
}

// unfenced returns what stands between ``` and ```, and whether the text is that.
func unfenced(text string) (string, bool) {
	rest, ok := strings.CutPrefix(text, "```")
	if !ok {
		return text, false
	}
	language, body, ok := strings.Cut(rest, "\n")
	if !ok || strings.ContainsAny(language, "{[\"") {
		return text, false
	}
	body, ok = strings.CutSuffix(strings.TrimSpace(body), "```")
	return strings.TrimSpace(body), ok
}

// respelled returns a JSON text with what its author spelled as other languages do: line ends and
// tabs inside of strings, commas before a closing bracket, and Python's words.
func respelled(text string) (string, []string) {
	var b strings.Builder
	raw, comma, words := false, false, false
	inString := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case inString && c == '\\' && i+1 < len(text):
			b.WriteByte(c)
			i++
			c = text[i]
		case inString && c < ' ':
			b.WriteString(escaped(c))
			raw = true
			continue
		case c == '"':
			inString = !inString
		case !inString && c == ',':
			if rest := strings.TrimLeft(text[i+1:], " \t\r\n"); rest != "" && (rest[0] == '}' || rest[0] == ']') {
				comma = true
				continue
			}
		case !inString && (c == 'T' || c == 'F' || c == 'N'):
			if word, ok := pythonWord(text[i:]); ok {
				b.WriteString(strings.ToLower(strings.Replace(word, "None", "null", 1)))
				i += len(word) - 1
				words = true
				continue
			}
		}
		b.WriteByte(c)
	}
	var what []string
	for _, one := range []struct {
		found bool
		what  string
	}{
		{raw, "line ends or tabs in its arguments were not escaped"},
		{comma, "its arguments had a comma too many"},
		{words, "its arguments held words of Python"},
	} {
		if one.found {
			what = append(what, one.what)
		}
	}
	return b.String(), what
}

// escaped returns a control character as a JSON string holds it.
func escaped(c byte) string {
	switch c {
	case '\n':
		return `\n`
	case '\r':
		return `\r`
	case '\t':
		return `\t`
	}
	return fmt.Sprintf(`\u%04x`, c)
}

func pythonWord(text string) (string, bool) {
	for _, word := range []string{"True", "False", "None"} {
		if strings.HasPrefix(text, word) {
			return word, true
		}
	}
	return "", false
}

// oneObject returns the object that all values of a text are, or nil. The values may be encoded
// once more, empty ones do not count, and one bracket may be too many at the end.
func oneObject(text string, depth int) (json.RawMessage, []string) {
	found, notes, ok := objectsIn(text, depth)
	if !ok || len(found) == 0 {
		return nil, notes
	}
	var object json.RawMessage
	for _, value := range found {
		switch {
		case object == nil && !isEmpty(value):
			object = value
		case object != nil && !isEmpty(value) && !sameJSON(object, value):
			return nil, nil // two calls' arguments: which are meant is not known
		}
	}
	if len(found) > 1 {
		notes = addNote(notes, "its arguments came more than once")
	}
	if object == nil {
		object = json.RawMessage("{}")
	}
	return object, notes
}

// objectsIn returns the values of a text in their order, those decoded that are encoded once more,
// and notes about what was mended. ok is false if one is neither an object nor null.
func objectsIn(text string, depth int) (found []json.RawMessage, notes []string, ok bool) {
	decoder := json.NewDecoder(strings.NewReader(text))
	for {
		before := decoder.InputOffset()
		var value json.RawMessage
		switch err := decoder.Decode(&value); {
		case errors.Is(err, io.EOF):
			return found, notes, true
		case err != nil:
			rest := strings.TrimSpace(text[before:])
			if len(found) == 0 || rest != "}" && rest != "]" {
				return nil, nil, false
			}
			return found, addNote(notes, "its arguments had a bracket too many"), true
		}
		var inner string
		if string(value) != "null" && json.Unmarshal(value, &inner) == nil {
			var more []string
			if value, more = encodedTwice(inner, depth); value == nil {
				return nil, nil, false
			}
			notes = addNote(addNote(notes, "its arguments were encoded twice"), more...)
		}
		if string(value) != "null" && value[0] != '{' {
			return nil, nil, false
		}
		found = append(found, value)
	}
}

// encodedTwice returns the object that is encoded in a string, or nil. An empty string is an empty
// object.
func encodedTwice(inner string, depth int) (json.RawMessage, []string) {
	if depth >= 2 {
		return nil, nil
	}
	object, notes := oneObject(inner, depth+1)
	if object == nil && strings.TrimSpace(inner) == "" {
		return json.RawMessage("{}"), nil
	}
	return object, notes
}

// addNote adds the notes that are not among them yet.
func addNote(notes []string, more ...string) []string {
	for _, one := range more {
		if !slices.Contains(notes, one) {
			notes = append(notes, one)
		}
	}
	return notes
}

// isEmpty reports whether a JSON value is null or an object without members.
func isEmpty(value json.RawMessage) bool {
	var b bytes.Buffer
	return json.Compact(&b, value) == nil && (b.String() == "{}" || b.String() == "null")
}

// sameJSON reports whether two JSON values are equal, however they are written.
func sameJSON(a, b json.RawMessage) bool {
	read := func(raw json.RawMessage) (value any, ok bool) {
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		return value, decoder.Decode(&value) == nil
	}
	x, okX := read(a)
	y, okY := read(b)
	return okX && okY && reflect.DeepEqual(x, y)
}

// toolName returns the tool that is meant by a name as a model wrote it: the name itself, or the one
// tool whose name is left without the prefixes of other programs (functions., default_api:), what
// follows a control word (<|channel|>…), quotes and blanks. The name stays where no tool fits, or
// several do.
func toolName(name string, tools []ToolDefinition) string {
	offered := map[string]bool{}
	for _, t := range tools {
		offered[t.Name] = true
	}
	if offered[name] {
		return name
	}
	fits := map[string]bool{}
	bare := name
	if strings.HasPrefix(bare, "<|") { // <|channel|>commentary to=functions.word_count
		if i := strings.LastIndexAny(bare, ">=\t "); i >= 0 {
			bare = bare[i+1:]
		}
	}
	bare, _, _ = strings.Cut(bare, "<|")
	for {
		bare = strings.Trim(bare, " \t\r\n\"'`()")
		if offered[bare] {
			fits[bare] = true
		}
		i := strings.IndexAny(bare, ".:/")
		if i < 0 {
			break
		}
		if offered[bare[:i]] {
			fits[bare[:i]] = true
		}
		bare = bare[i+1:]
	}
	if len(fits) != 1 {
		return name
	}
	for fit := range fits {
		name = fit
	}
	return name
}

// printable returns a name as it can stand in a sentence.
func printable(name string) string { return shorten.To(clean(name), 80) }

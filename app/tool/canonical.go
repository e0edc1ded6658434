package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Canonical returns the canonical form of one JSON value (RFC 8785, JSON
// Canonicalization Scheme): no blanks, names sorted by their UTF-16 units,
// numbers as ECMAScript writes them. Two texts of the same value give the same
// bytes. A repeated name counts once, with its last value. The error is for
// text that is not one JSON value, and for a number that no double can hold.
func Canonical(raw []byte) ([]byte, error) { return canonical(raw, appendNumber) }

// Exact returns the form of Canonical, but with a number that no double holds as it is written:
// two that differ in a digit give different bytes, whatever programs make of them.
func Exact(raw []byte) ([]byte, error) { return canonical(raw, appendExact) }

// Written returns the form of Canonical, but with all numbers as they are written: some programs
// tell 1 from 1.0.
func Written(raw []byte) ([]byte, error) {
	return canonical(raw, func(b []byte, number string) ([]byte, error) { return append(b, number...), nil })
}

func canonical(raw []byte, number func([]byte, string) ([]byte, error)) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("more than one value")
	}
	return appendJSON(make([]byte, 0, len(raw)), value, number)
}

// Indented returns JSON as a person reads it, a value a line; as it is where that would be
// far longer, and other text.
func Indented(raw []byte) string {
	var b bytes.Buffer
	if !indentable(raw) || json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// maxIndent limits how many times as long indenting may make JSON. What people and programs
// write stays below a few times; a few kilobytes that are nested ten thousand deep would be
// a hundred megabytes.
const maxIndent = 16

// Depth returns how many lists and objects of JSON are within each other.
func Depth(raw []byte) int {
	most := 0
	nesting(raw, func(depth int) { most = max(most, depth) })
	return most
}

// indentable reports whether JSON that is indented by two blanks a level is not far longer.
func indentable(raw []byte) bool {
	blanks := 0
	nesting(raw, func(depth int) { blanks += 2 * depth })
	return blanks <= maxIndent*len(raw)
}

// nesting calls back with each bracket and comma of JSON, and how deep what follows it is.
func nesting(raw []byte, at func(depth int)) {
	depth, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			at(depth)
		case c == '}' || c == ']':
			depth--
			at(depth)
		case c == ',':
			at(depth)
		}
	}
}

// Comparable returns JSON as Indented does, in the one form that all texts of the same
// value have: what differs between two is what they say.
func Comparable(raw []byte) string {
	if exact, err := Exact(raw); err == nil {
		raw = exact
	}
	return Indented(raw)
}

// SameJSON reports whether two texts are the same JSON value, to each digit of its numbers.
func SameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return json.Valid(a)
	}
	one, err := Exact(a)
	other, err2 := Exact(b)
	return err == nil && err2 == nil && bytes.Equal(one, other)
}

// appendJSON writes value with its names in order, and its numbers with number.
func appendJSON(b []byte, value any, number func([]byte, string) ([]byte, error)) ([]byte, error) {
	switch v := value.(type) {
	case nil:
		return append(b, "null"...), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case string:
		return appendString(b, v), nil
	case json.Number:
		return number(b, string(v))
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			var err error
			if b, err = appendJSON(b, item, number); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.SortFunc(names, compareUTF16)
		b = append(b, '{')
		for i, name := range names {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, name), ':')
			var err error
			if b, err = appendJSON(b, v[name], number); err != nil {
				return nil, err
			}
		}
		return append(b, '}'), nil
	}
	return nil, fmt.Errorf("%T is no JSON value", value)
}

// appendString writes text as RFC 8785, section 3.2.2.2 says: two-character
// escapes where there are any, \u00xx for other control characters, everything
// else as it is.
func appendString(b []byte, text string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	done := 0 // what is written of the text
	for i, r := range text {
		if r >= 0x20 && r != '"' && r != '\\' && r != utf8.RuneError {
			continue
		}
		b = append(b, text[done:i]...)
		_, size := utf8.DecodeRuneInString(text[i:])
		done = i + size
		switch r {
		case '"', '\\':
			b = append(b, '\\', byte(r))
		case '\b':
			b = append(b, '\\', 'b')
		case '\t':
			b = append(b, '\\', 't')
		case '\n':
			b = append(b, '\\', 'n')
		case '\f':
			b = append(b, '\\', 'f')
		case '\r':
			b = append(b, '\\', 'r')
		case utf8.RuneError: // also of bytes that are no UTF-8
			b = utf8.AppendRune(b, r)
		default:
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		}
	}
	b = append(b, text[done:]...)
	return append(b, '"')
}

// appendNumber writes a number as ECMAScript's Number::toString does, with the
// shortest digits that read back the same (RFC 8785, section 3.2.2.3).
func appendNumber(b []byte, text string) ([]byte, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		return nil, fmt.Errorf("the number %s is too large", text)
	}
	if f == 0 {
		return append(b, '0'), nil // -0 too
	}
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(b, f, 'f', -1, 64), nil
	}
	b = strconv.AppendFloat(b, f, 'e', -1, 64)
	// Go writes at least two digits of exponent, ECMAScript as few as it needs.
	if n := len(b); b[n-2] == '0' && (b[n-3] == '-' || b[n-3] == '+') {
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b, nil
}

// appendExact writes a number as appendNumber does where that is the same number, else as it is.
func appendExact(b []byte, text string) ([]byte, error) {
	short, err := appendNumber(nil, text)
	if err == nil && digits(string(short)) == digits(text) {
		text = string(short)
	}
	return append(b, text...), nil
}

// digits returns a number of JSON as its digits and how far they are moved, alike for all ways
// to write it; one that is moved further than can be counted as it is.
func digits(text string) string {
	number, sign := strings.CutPrefix(text, "-")
	mantissa, exponent, moved := strings.Cut(strings.ToLower(number), "e")
	whole, part, _ := strings.Cut(mantissa, ".")
	by := -len(part)
	if moved {
		n, err := strconv.Atoi(exponent)
		if err != nil {
			return text
		}
		by += n
	}
	all := strings.TrimLeft(whole+part, "0")
	short := strings.TrimRight(all, "0")
	switch by += len(all) - len(short); {
	case short == "":
		return "0"
	case sign:
		short = "-" + short
	}
	return short + "e" + strconv.Itoa(by)
}

// compareUTF16 orders names by their UTF-16 code units, which differs from the
// order of bytes above U+FFFF.
func compareUTF16(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

// notText returns what of JSON is no text: a byte that is no UTF-8, or half of a character, as
// \udcc3. Programs differ in what they make of it, and Python in paths takes it for a byte.
// It is empty where all texts are such.
func notText(raw []byte) string {
	if !utf8.Valid(raw) {
		return "bytes that are no UTF-8"
	}
	unit := func(at int) rune { // of the escape there
		if at+6 > len(raw) || raw[at] != '\\' || raw[at+1] != 'u' {
			return -1
		}
		n, err := strconv.ParseUint(string(raw[at+2:at+6]), 16, 16)
		if err != nil {
			return -1
		}
		return rune(n)
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' { // which stands in texts alone
			continue
		}
		switch r := unit(i); {
		case !utf16.IsSurrogate(r):
			i++
		case utf16.DecodeRune(r, unit(i+6)) == utf8.RuneError:
			return string(raw[i:i+6]) + ", which is half of a character"
		default:
			i += 11
		}
	}
	return ""
}

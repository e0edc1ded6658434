package config

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth bounds objects in objects: a settings file has ten levels.
const maxDepth = 64

// maxNodes bounds the values of a text, which the aliases of YAML could multiply.
const maxNodes = 500_000

type kind int

const (
	null kind = iota
	boolean
	number
	text
	list
	object
)

// node is a value of a configuration, JSON or YAML, with the place where it begins.
type node struct {
	kind    kind
	text    string // of a text, a number and a boolean as it is written
	items   []node // of a list
	members []member
	line    int // from 1
	column  int // from 1, in characters
}

type member struct {
	name  string
	value node
}

// get returns the last member of one of these names; a node of kind null without.
func (n node) get(names ...string) node {
	for i := len(n.members) - 1; i >= 0; i-- {
		for _, name := range names {
			if n.members[i].name == name {
				return n.members[i].value
			}
		}
	}
	return node{}
}

// has reports whether there is a member of one of these names, whatever its value.
func (n node) has(names ...string) bool {
	for _, m := range n.members {
		for _, name := range names {
			if m.name == name {
				return true
			}
		}
	}
	return false
}

// scalar returns a text, a number or a boolean as text.
func (n node) scalar() (string, bool) {
	switch n.kind {
	case text, number, boolean:
		return n.text, true
	}
	return "", false
}

// words returns the text of a node, "" where it is none.
func (n node) words() string {
	if n.kind != text {
		return ""
	}
	return n.text
}

// isTrue and isFalse report whether the node is that boolean; texts of YAML and of careless JSON count.
func (n node) isTrue() bool {
	return (n.kind == boolean || n.kind == text) && strings.EqualFold(n.text, "true")
}

func (n node) isFalse() bool {
	return (n.kind == boolean || n.kind == text) && strings.EqualFold(n.text, "false")
}

// float returns a number, also one that is written as a text.
func (n node) float() (float64, bool) {
	if n.kind != number && n.kind != text {
		return 0, false
	}
	value, err := strconv.ParseFloat(strings.TrimSpace(n.text), 64)
	return value, err == nil
}

// texts returns the scalars of a list; of a scalar it returns that one.
func (n node) texts() []string {
	var all []string
	for _, item := range n.items {
		if s, ok := item.scalar(); ok {
			all = append(all, s)
		}
	}
	if s, ok := n.scalar(); ok {
		all = append(all, s)
	}
	return all
}

// value returns the node as encoding/json has it.
func (n node) value() any {
	switch n.kind {
	case boolean:
		return n.isTrue()
	case number:
		if value, ok := n.float(); ok {
			return value
		}
		return n.text
	case text:
		return n.text
	case list:
		all := []any{}
		for _, item := range n.items {
			all = append(all, item.value())
		}
		return all
	case object:
		all := map[string]any{}
		for _, m := range n.members {
			all[m.name] = m.value.value()
		}
		return all
	}
	return nil
}

// what names the kind of a node in a sentence.
func (n node) what() string {
	return [...]string{"null", "true or false", "a number", "a text", "a list", "an object"}[n.kind]
}

// problem returns a Problem at the place of the node.
func (n node) problem(server, message, hint string) Problem {
	return Problem{Server: server, Line: n.line, Column: n.column, Message: message, Hint: hint}
}

// decoded returns a text as UTF-8 without a byte order mark; Windows programs write UTF-16.
func decoded(data []byte) string {
	big := len(data) >= 2 && data[0] == 0xfe && data[1] == 0xff
	if little := len(data) >= 2 && data[0] == 0xff && data[1] == 0xfe; big || little {
		units := make([]uint16, 0, len(data)/2)
		for i := 2; i+1 < len(data); i += 2 {
			high, low := data[i], data[i+1]
			if little {
				high, low = low, high
			}
			units = append(units, uint16(high)<<8|uint16(low))
		}
		return string(utf16.Decode(units))
	}
	return strings.ToValidUTF8(strings.TrimPrefix(string(data), "\ufeff"), "\ufffd")
}

// place returns the line and the column of an offset, from 1.
func place(all string, at int) (line, column int) {
	before := all[:min(at, len(all))]
	last := strings.LastIndexByte(before, '\n')
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[last+1:]) + 1
}

// reader reads JSON with comments and with commas before closing brackets.
type reader struct {
	all   string
	at    int
	depth int
	nodes int

	counted      int // the offset up to which lines and columns are counted
	line, column int // there, from 0
}

// syntaxError is a place at which a text is no JSON.
type syntaxError struct {
	line, column int
	message      string
}

func (e *syntaxError) Error() string { return e.message }

func (r *reader) fail(message string) error {
	line, column := place(r.all, r.at)
	return &syntaxError{line, column, message}
}

// readJSON reads one value and nothing after it.
func readJSON(all string) (node, error) {
	n, rest, err := readPrefix(all)
	if err == nil && rest != "" {
		r := reader{all: all, at: len(all) - len(rest)}
		return n, r.fail("There is more text after the end of the JSON")
	}
	return n, err
}

// readPrefix reads one value, and returns the text after it and the comments that follow.
func readPrefix(all string) (n node, rest string, err error) {
	r := &reader{all: all}
	if n, err = r.value(); err != nil {
		return n, "", err
	}
	if err := r.space(); err != nil {
		return n, "", err
	}
	return n, all[r.at:], nil
}

// space passes spaces and comments.
func (r *reader) space() error {
	for r.at < len(r.all) {
		rest := r.all[r.at:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			r.at++
		case strings.HasPrefix(rest, "//"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			r.at += end
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return r.fail("A comment begins here that does not end")
			}
			r.at += end + 4
		default:
			return nil
		}
	}
	return nil
}

// here returns a node of this kind that begins at the reader's place.
func (r *reader) here(k kind) node {
	passed := r.all[r.counted:r.at]
	if last := strings.LastIndexByte(passed, '\n'); last >= 0 {
		r.line += strings.Count(passed, "\n")
		r.column = 0
		passed = passed[last+1:]
	}
	r.column += utf8.RuneCountInString(passed)
	r.counted = r.at
	return node{kind: k, line: r.line + 1, column: r.column + 1}
}

func (r *reader) value() (node, error) {
	if err := r.space(); err != nil {
		return node{}, err
	}
	if r.nodes++; r.nodes > maxNodes || r.depth > maxDepth {
		return node{}, r.fail("It is nested too deeply, or too large, for a configuration")
	}
	if r.at == len(r.all) {
		return node{}, r.fail("The text ends here, in the middle of a value")
	}
	switch r.all[r.at] {
	case '{':
		return r.object()
	case '[':
		return r.list()
	case '"':
		n := r.here(text)
		var err error
		n.text, err = r.quoted()
		return n, err
	}
	return r.literal()
}

// opened reads what stands between brackets: one calls its reader for each entry, until end.
func (r *reader) opened(end byte, one func() error) error {
	r.at++
	r.depth++
	defer func() { r.depth-- }()
	for {
		if err := r.space(); err != nil {
			return err
		}
		switch {
		case r.at == len(r.all):
			return r.fail("The text ends here, and a " + string(end) + " is missing")
		case r.all[r.at] == end:
			r.at++
			return nil
		}
		if err := one(); err != nil {
			return err
		}
		if err := r.space(); err != nil {
			return err
		}
		switch {
		case r.at < len(r.all) && r.all[r.at] == ',':
			r.at++
		case r.at < len(r.all) && r.all[r.at] != end:
			return r.fail("A comma or a " + string(end) + " is missing here")
		}
	}
}

func (r *reader) object() (node, error) {
	n := r.here(object)
	err := r.opened('}', func() error {
		if r.all[r.at] != '"' {
			return r.fail("A name in double quotes is expected here")
		}
		name, err := r.quoted()
		if err != nil {
			return err
		}
		if err := r.space(); err != nil {
			return err
		}
		if r.at == len(r.all) || r.all[r.at] != ':' {
			return r.fail("A colon is missing here")
		}
		r.at++
		value, err := r.value()
		n.members = append(n.members, member{name, value})
		return err
	})
	return n, err
}

func (r *reader) list() (node, error) {
	n := r.here(list)
	err := r.opened(']', func() error {
		value, err := r.value()
		n.items = append(n.items, value)
		return err
	})
	return n, err
}

func (r *reader) quoted() (string, error) {
	end := r.at + 1
	for ; end < len(r.all) && r.all[end] != '"'; end++ {
		switch r.all[end] {
		case '\\':
			end++
		case '\n':
			return "", r.fail("The text that begins here does not end on its line")
		}
	}
	if end >= len(r.all) {
		return "", r.fail("The text that begins here does not end")
	}
	var value string
	if err := json.Unmarshal([]byte(r.all[r.at:end+1]), &value); err != nil {
		return "", r.fail(`The text that begins here holds a wrong escape; a \ is written \\`)
	}
	r.at = end + 1
	return value, nil
}

func (r *reader) literal() (node, error) {
	end := r.at
	for end < len(r.all) && strings.IndexByte(" \t\r\n,]}:/[{\"", r.all[end]) < 0 {
		end++
	}
	word := r.all[r.at:end]
	n := node{}
	switch {
	case word == "null":
		n = r.here(null)
	case word == "true", word == "false":
		n = r.here(boolean)
	case word != "" && json.Valid([]byte(word)):
		n = r.here(number)
	default:
		return n, r.fail("A value is expected here: a text in double quotes, a number, true, false, a list, an object")
	}
	n.text = word
	r.at = end
	return n, nil
}

package client

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"conclave/app/base/jsonobject"
)

// headerTable holds the arguments of tools that are repeated in headers.
type headerTable struct {
	mu     sync.Mutex // guards all below
	listed bool
	tools  map[string][]paramHeader
}

// paramHeader is an argument that is repeated in a header.
type paramHeader struct {
	name string
	path []string
}

func (h *headerTable) set(tools map[string][]paramHeader) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.listed, h.tools = true, tools
}

func (h *headerTable) known() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.listed
}

// of returns the headers of a call.
func (h *headerTable) of(tool string, arguments json.RawMessage) map[string]string {
	h.mu.Lock()
	params := h.tools[tool]
	h.mu.Unlock()
	headers := map[string]string{}
	for _, p := range params {
		if text, ok := primitive(at(arguments, p.path)); ok {
			headers["Mcp-Param-"+p.name] = headerValue(text)
		}
	}
	return headers
}

// at returns what stands at the path of names in an object, and nil where nothing does.
func at(raw json.RawMessage, path []string) json.RawMessage {
	for _, name := range path {
		var object map[string]json.RawMessage
		if json.Unmarshal(raw, &object) != nil {
			return nil
		}
		raw = object[name]
	}
	return raw
}

// primitive returns the text of a string, boolean or integer.
func primitive(raw json.RawMessage) (string, bool) {
	var value any
	if len(raw) == 0 || json.Unmarshal(raw, &value) != nil {
		return "", false
	}
	switch v := value.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		if v != math.Trunc(v) || math.Abs(v) >= 1<<53 {
			return "", false
		}
		return strconv.FormatInt(int64(v), 10), true
	}
	return "", false
}

// headerValue writes text as the value of a header, in Base64 where it could not stand there
// (2026-07-28 streamable-http, “Value Encoding”).
func headerValue(text string) string {
	const before, after = "=?base64?", "?="
	plain := text == strings.Trim(text, " \t") && (!strings.HasPrefix(text, before) || !strings.HasSuffix(text, after))
	for i := 0; i < len(text) && plain; i++ {
		plain = text[i] >= ' ' && text[i] <= '~'
	}
	if plain {
		return text
	}
	return before + base64.StdEncoding.EncodeToString([]byte(text)) + after
}

// paramHeaders returns the arguments of a schema that are repeated in headers. The error says which are
// marked wrongly; such a tool must not be offered.
func paramHeaders(schema json.RawMessage) ([]paramHeader, error) {
	if !strings.Contains(string(schema), headerMark) {
		return nil, nil
	}
	h := headerReader{seen: map[string]bool{}}
	if err := h.schema(schema, nil, true); err != nil {
		return nil, err
	}
	return h.found, nil
}

const headerMark = "x-mcp-header"

type headerReader struct {
	found []paramHeader
	seen  map[string]bool
	depth int
}

// schema reads one schema. reachable reports that only properties lead to it.
func (h *headerReader) schema(raw json.RawMessage, path []string, reachable bool) error {
	if h.depth++; h.depth > maxDepth {
		return errors.New("its schema is nested too deep")
	}
	defer func() { h.depth-- }()
	for keyword, value := range jsonobject.Fields(raw) {
		switch keyword {
		case headerMark:
			if err := h.mark(raw, value, path, reachable); err != nil {
				return err
			}
		case "properties":
			for name, property := range jsonobject.Fields(value) {
				if err := h.schema(property, append(path[:len(path):len(path)], name), reachable); err != nil {
					return err
				}
			}
		case "const", "enum", "default", "examples":
		default:
			if err := h.below(value, path); err != nil {
				return err
			}
		}
	}
	return nil
}

// below looks for marks where none may be.
func (h *headerReader) below(raw json.RawMessage, path []string) error {
	if len(raw) == 0 || raw[0] != '{' && raw[0] != '[' || !strings.Contains(string(raw), headerMark) {
		return nil
	}
	if raw[0] == '{' {
		return h.schema(raw, path, false)
	}
	for _, one := range listOf(raw) {
		if err := h.below(one, path); err != nil {
			return err
		}
	}
	return nil
}

func (h *headerReader) mark(schema, value json.RawMessage, path []string, reachable bool) error {
	var name string
	var typed struct {
		Type any `json:"type"`
	}
	_ = json.Unmarshal(schema, &typed)
	at := strings.Join(path, ".")
	switch {
	case json.Unmarshal(value, &name) != nil || !isToken(name):
		return fmt.Errorf("the header of its argument %q is no name of a header: %s", at, value)
	case len(path) == 0 || !reachable:
		return fmt.Errorf("the header %s belongs to nothing that is always the same argument", name)
	case typed.Type != "string" && typed.Type != "integer" && typed.Type != "boolean":
		return fmt.Errorf("the argument %q with the header %s is no string, integer or boolean", at, name)
	case h.seen[strings.ToLower(name)]:
		return fmt.Errorf("two of its arguments have the header %s", name)
	}
	h.seen[strings.ToLower(name)] = true
	h.found = append(h.found, paramHeader{name: name, path: path})
	return nil
}

// isToken reports whether name is a token of RFC 9110.
func isToken(name string) bool {
	for _, r := range name {
		if r > '~' || r <= ' ' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r) {
			return false
		}
	}
	return name != ""
}

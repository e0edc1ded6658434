package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"conclave/app/base/jsonobject"
	"conclave/app/tool"
)

// Bounds of lists.
const (
	maxPages  = 100
	maxListed = 10_000
	maxDepth  = 64 // schemas within each other
)

// pages reads all pages of a list, and calls each with every entry under name. It stops at maxListed
// entries and reports how many it left out.
func (s *Session) pages(ctx context.Context, method, name string, each func(json.RawMessage)) (left int, err error) {
	var cursor string
	seen := map[string]bool{}
	listed := 0
	for range maxPages {
		params := map[string]any{}
		if cursor != "" {
			params["cursor"] = cursor
		}
		raw, err := s.bounded(ctx, method, params)
		if err != nil {
			return 0, err
		}
		var page map[string]json.RawMessage
		if err := json.Unmarshal(raw, &page); err != nil {
			return 0, fmt.Errorf("the answer to %s cannot be read: %w", method, err)
		}
		for _, entry := range listOf(page[name]) {
			if listed++; listed > maxListed {
				left++
				continue
			}
			each(entry)
		}
		next := ""
		_ = json.Unmarshal(page["nextCursor"], &next) // null and nothing are the end
		if next == "" || left > 0 {
			return left, nil
		}
		if seen[next] {
			return 0, fmt.Errorf("the answers to %s go in a circle", method)
		}
		seen[next] = true
		cursor = next
	}
	return 0, fmt.Errorf("the answer to %s has more than %d pages", method, maxPages)
}

// Tools returns the tools in the server's order, and those that cannot be offered.
func (s *Session) Tools(ctx context.Context) ([]Tool, []LeftOut, error) {
	speaks := s.speaks()
	if !speaks.Capabilities.Tools && speaks.Era == Modern { // some old servers announce nothing and have tools
		s.headers.set(nil)
		return nil, nil, nil
	}
	var tools []Tool
	var out []LeftOut
	headers := map[string][]paramHeader{}
	names := map[string]bool{}
	withHeaders := speaks.has(httpHeaders) && speaks.Transport == HTTP
	left, err := s.pages(ctx, "tools/list", "tools", func(raw json.RawMessage) {
		t, err := readTool(raw)
		if err == nil && names[t.Name] {
			err = errors.New("another tool of the server has its name")
		}
		if err == nil && t.Task == "required" && !speaks.has(legacyTasks) && !speaks.has(taskExtension) {
			err = fmt.Errorf("it runs only as a task, which servers of %s have not", speaks.Version)
		}
		if err == nil && withHeaders {
			headers[t.Name], err = paramHeaders(t.Schema)
		}
		if err != nil {
			out = append(out, LeftOut{Name: t.Name, Reason: sentence(err)})
			s.logf("warn", "the tool %q was left out: %v", t.Name, err)
			return
		}
		names[t.Name] = true
		tools = append(tools, t)
	})
	if e := rpcError(err); e != nil && !speaks.Capabilities.Tools {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if left > 0 {
		out = append(out, LeftOut{Reason: fmt.Sprintf("It has more than %d tools.", maxListed)})
	}
	s.headers.set(headers)
	return tools, out, nil
}

// knowsHeaders lists the tools where a call needs what only the list has.
func (s *Session) knowsHeaders(ctx context.Context) error {
	speaks := s.speaks()
	if speaks.Transport != HTTP || !speaks.has(httpHeaders) || s.headers.known() {
		return nil
	}
	_, _, err := s.Tools(ctx)
	return err
}

func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// readTool reads one tool. The error says why it cannot be offered; the name is set where there is one.
func readTool(raw json.RawMessage) (Tool, error) {
	var w struct {
		Tool
		Execution struct {
			Task string `json:"taskSupport"`
		} `json:"execution"`
	}
	err := json.Unmarshal(raw, &w)
	t := w.Tool
	switch {
	case t.Name == "":
		return t, errors.New("it has no name")
	case err != nil:
		return t, errors.New("its definition cannot be read")
	}
	var a struct {
		Title string `json:"title"`
	}
	_ = json.Unmarshal(t.Annotations, &a) // annotations that cannot be read say nothing
	t.Title = cmp.Or(t.Title, a.Title, t.Name)
	t.Task, t.Notes = "", nil // ours to set
	if w.Execution.Task != "forbidden" {
		t.Task = w.Execution.Task
	}
	var schema map[string]json.RawMessage
	if json.Unmarshal(t.Schema, &schema) != nil || schema == nil {
		return t, errors.New("its schema is no JSON object")
	}
	if kind := schema["type"]; kind != nil && string(kind) != `"object"` {
		return t, errors.New("its schema is not that of an object")
	}
	if t.Schema, err = withoutNetwork(t.Schema, &t.Notes); err != nil {
		return t, err
	}
	if warning, _ := tool.Check(t.Schema, json.RawMessage("{}")); warning != "" {
		return t, errors.New(strings.TrimSuffix(strings.ToLower(warning[:1])+warning[1:], "."))
	}
	return t, nil
}

// withoutNetwork returns schema without the parts that stand on the network. Nothing is fetched; each is
// noted, and allows everything. A schema without such parts is returned as it is.
func withoutNetwork(schema json.RawMessage, notes *[]string) (json.RawMessage, error) {
	if tool.Depth(schema) > 2*maxDepth { // a schema below another is two levels down
		return nil, fmt.Errorf("its schema is nested more than %d deep", maxDepth)
	}
	if !strings.Contains(string(schema), "://") {
		return schema, nil
	}
	ids := map[string]bool{}
	names(schema, "$id", func(id string) { ids[strings.TrimSuffix(id, "#")] = true })
	away := map[string]bool{}
	for _, keyword := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		names(schema, keyword, func(ref string) {
			base, _, _ := strings.Cut(ref, "#")
			if strings.Contains(base, "://") && !ids[base] && !strings.HasPrefix(base, "http://json-schema.org/") &&
				!strings.HasPrefix(base, "https://json-schema.org/") {
				away[ref] = true
			}
		})
	}
	if len(away) == 0 {
		return schema, nil
	}
	var value any
	if err := json.Unmarshal(schema, &value); err != nil {
		return nil, errors.New("its schema is no JSON")
	}
	for ref := range away {
		*notes = append(*notes, fmt.Sprintf("A part of its schema stands at %s, is not fetched, and is not checked.", ref))
	}
	return encode(cut(value, away))
}

// names calls each with every text that stands under keyword anywhere in raw.
func names(raw json.RawMessage, keyword string, each func(string)) {
	if len(raw) == 0 {
		return
	}
	switch raw[0] {
	case '[':
		for _, one := range listOf(raw) {
			names(one, keyword, each)
		}
	case '{':
		for name, value := range jsonobject.Fields(raw) {
			var text string
			if name == keyword && json.Unmarshal(value, &text) == nil {
				each(text)
			}
			names(value, keyword, each)
		}
	}
}

// cut removes references to away.
func cut(value any, away map[string]bool) any {
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = cut(v[i], away)
		}
	case map[string]any:
		for name := range v {
			ref, _ := v[name].(string)
			if away[ref] && strings.HasSuffix(strings.ToLower(name), "ref") {
				delete(v, name)
				continue
			}
			v[name] = cut(v[name], away)
		}
	}
	return value
}

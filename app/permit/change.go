package permit

import (
	"encoding/json"
	"slices"
	"strings"
)

// changes lists what differs between an approval and a candidate, and whether
// anything of it is wider: more permissions, more tools, or other words for a
// model to read. Before a plugin has run only its code and what reading showed
// can differ; the same code may run again whatever it was seen to list.
func (a Approval) changes(c Candidate) (changes []Change, wider bool) {
	add := func(tool, field, before, after string, widens bool) {
		changes = append(changes, Change{tool, field, before, after})
		wider = wider || widens
	}
	same := a.Code == c.Code
	if same && (!c.Listed || a.Tools == nil) {
		return nil, false
	}
	if !same {
		add("", "code", short(a.Code), short(c.Code), false)
		for _, p := range c.Permissions {
			if !slices.Contains(a.Permissions, p) {
				wider = true
			}
		}
		if before, after := listedSorted(a.Permissions), listedSorted(c.Permissions); before != after {
			add("", "permissions", before, after, false)
		}
	}
	if a.Tools == nil || !c.Listed && len(c.Tools) == 0 {
		return changes, wider
	}
	now := map[string]bool{}
	for _, t := range c.Tools {
		now[t.Name] = true
		digest, known := a.Tools[t.Name]
		switch {
		case !known:
			add(t.Name, "added", "", t.Description, c.Listed)
		case digest == t.Digest:
		case !c.Listed: // what reading shows of a tool is less than its definition
			if t.Description != "" && !strings.HasPrefix(t.Description, a.Texts[t.Name]) {
				add(t.Name, "description", a.Texts[t.Name], t.Description, false)
			}
		default:
			found := false
			if a.Texts[t.Name] != t.Description {
				add(t.Name, "description", a.Texts[t.Name], t.Description, true)
				found = true
			}
			if a.Titles[t.Name] != t.Title {
				add(t.Name, "title", a.Titles[t.Name], t.Title, true)
				found = true
			}
			if before := a.Schemas[t.Name]; !sameJSON(before, t.Parameters) {
				add(t.Name, "parameters", string(before), string(t.Parameters), moreTexts(before, t.Parameters))
				found = true
			}
			if !found {
				add(t.Name, "annotations", "", string(t.Annotations), false)
			}
		}
	}
	for name := range a.Tools {
		if !now[name] && !same {
			add(name, "removed", a.Texts[name], "", false)
		}
	}
	slices.SortStableFunc(changes, func(x, y Change) int { return strings.Compare(x.Tool, y.Tool) })
	return changes, wider
}

func short(hash string) string { return hash[:min(len(hash), 12)] }

func listedSorted(words []string) string {
	words = slices.Clone(words)
	slices.Sort(words)
	return strings.Join(words, ", ")
}

// moreTexts reports whether a schema says something to a model that the approved
// one did not.
func moreTexts(before, after json.RawMessage) bool {
	said := map[string]bool{}
	for _, text := range schemaTexts(before) {
		said[text] = true
	}
	return slices.ContainsFunc(schemaTexts(after), func(text string) bool { return !said[text] })
}

// schemaTexts returns the sentences in a schema: its descriptions and titles.
func schemaTexts(raw json.RawMessage) []string {
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return []string{string(raw)}
	}
	var texts []string
	var walk func(any)
	walk = func(value any) {
		switch v := value.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			for key, item := range v {
				if text, ok := item.(string); ok && (key == "description" || key == "title" || key == "$comment") {
					texts = append(texts, text)
				}
				walk(item)
			}
		}
	}
	walk(value)
	return texts
}

package tool

import (
	"bytes"
	"encoding/json"
	"slices"
)

// SameButWords reports whether two tools of one name take the same arguments and have the same hints, so that they
// differ at most in what they say to a model: title, description, the texts of their schemas, and their guide.
func SameButWords(a, b Tool) bool {
	return a.Name == b.Name && sameDecoded(a.Parameters, b.Parameters, wordless) &&
		sameDecoded(a.Annotations, b.Annotations, withoutNames)
}

// WithWordsOf returns t with what approved says to a model, in place of what it says itself. They are SameButWords.
func (t Tool) WithWordsOf(approved Tool) Tool {
	t.Title, t.Description = approved.Title, approved.Description
	t.Parameters, t.Annotations = approved.Parameters, approved.Annotations
	t.Hidden, t.Marked, t.Warnings = approved.Hidden, approved.Marked, approved.Warnings
	return Normal(t)
}

// sameDecoded reports whether two JSON values are the same once change took something from each.
func sameDecoded(a, b json.RawMessage, change func(any)) bool {
	if bytes.Equal(a, b) {
		return true
	}
	one, ok := decoded(a, change)
	other, ok2 := decoded(b, change)
	return ok && ok2 && bytes.Equal(one, other)
}

func decoded(raw json.RawMessage, change func(any)) ([]byte, bool) {
	if len(raw) == 0 {
		return nil, true
	}
	value, _, err := decode(raw)
	if err != nil {
		return nil, false
	}
	change(value)
	out, err := json.Marshal(value)
	if string(out) == "{}" { // as good as none
		out = nil
	}
	return out, err == nil
}

// wordless takes the texts from a schema that are for a model.
func wordless(schema any) {
	switch v := schema.(type) {
	case []any:
		for _, one := range v {
			wordless(one)
		}
	case map[string]any:
		for keyword, part := range v {
			_, text := part.(string)
			switch {
			case text && slices.Contains(saying, keyword):
				delete(v, keyword)
			case slices.Contains(ofSchemas, keyword):
				wordless(part)
			case slices.Contains(named, keyword):
				parts, _ := part.(map[string]any)
				for _, one := range parts {
					wordless(one)
				}
			}
		}
	}
}

// withoutNames takes title and guide from annotations.
func withoutNames(annotations any) {
	if v, ok := annotations.(map[string]any); ok {
		delete(v, "title")
		delete(v, guideKey)
	}
}

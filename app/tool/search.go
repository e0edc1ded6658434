package tool

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// maxFound limits how many tools a search returns: enough to choose from, few
// enough to be worth a model's context.
const maxFound = 20

// Search returns the tools whose name, title, description or parameter names
// match the words of query, best first: a word in the name weighs most, a whole
// word more than its beginning, and a tool that matches more of the words comes
// before one that matches fewer. Visibility does not matter. No words, or no
// match, return nothing.
func (s *Set) Search(query string) []Tool {
	words := split(query)
	if len(words) == 0 {
		return nil
	}
	type hit struct {
		index, words, score int
	}
	var hits []hit
	for i, t := range s.tools {
		fields := []struct {
			weight int
			words  []string
		}{
			{12, split(t.Name)},
			{8, split(t.Title)},
			{6, split(t.Plugin)},
			{3, split(t.Description)},
			{2, parameterNames(t.Parameters)},
		}
		h := hit{index: i}
		for _, word := range words {
			best := 0
			for _, f := range fields {
				best = max(best, f.weight*likeness(word, f.words))
			}
			if best > 0 {
				h.words++
				h.score += best
			}
		}
		if strings.EqualFold(strings.TrimSpace(query), t.Name) || strings.EqualFold(strings.TrimSpace(query), t.ID()) {
			h.score += 1000
		}
		if h.words > 0 {
			hits = append(hits, h)
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		if a.words != b.words {
			return b.words - a.words
		}
		return b.score - a.score
	})
	found := make([]Tool, 0, min(len(hits), maxFound))
	for _, h := range hits[:min(len(hits), maxFound)] {
		found = append(found, s.tools[h.index])
	}
	return found
}

// likeness is 4 for the word itself, 2 for its beginning or plural, 1 for a part
// of a longer word.
func likeness(word string, among []string) int {
	best := 0
	for _, w := range among {
		switch {
		case w == word:
			return 4
		case len(word) >= 3 && (strings.HasPrefix(w, word) || len(w) >= 3 && strings.HasPrefix(word, w)):
			best = max(best, 2)
		case len(word) >= 4 && strings.Contains(w, word):
			best = max(best, 1)
		}
	}
	return best
}

// split returns the words of text in lower case; a change from a small letter
// to a capital begins a word, so that wordCount is two.
func split(text string) []string {
	var words []string
	var word strings.Builder
	var before rune
	end := func() {
		if word.Len() > 0 {
			words = append(words, word.String())
			word.Reset()
		}
	}
	for _, r := range text {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
		case unicode.IsUpper(r) && unicode.IsLower(before):
			end()
			word.WriteRune(unicode.ToLower(r))
		default:
			word.WriteRune(unicode.ToLower(r))
		}
		before = r
	}
	end()
	return words
}

func parameterNames(schema json.RawMessage) []string {
	var object struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &object) != nil {
		return nil
	}
	var words []string
	for name := range object.Properties {
		words = append(words, split(name)...)
	}
	return words
}

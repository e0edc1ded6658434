package search

import (
	"fmt"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/keyword"
	unicodetokens "github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/registry"
	"golang.org/x/text/unicode/norm"
)

// A word is what Unicode's segmentation takes for one (UAX 29), in lower case and
// without accents, so that "Ofen" finds "Öfen". No word is left out and none is
// cut to a stem: people search for names, code and numbers in many languages.
const (
	wordsName = "conclave_words"
	foldName  = "conclave_fold"
)

// The fields of a document.
const (
	fieldText         = "text"
	fieldRole         = "role" // a chat.Role, or "title"
	fieldConversation = "conversation"
	fieldCreated      = "created" // Unix seconds
)

// roleTitle is the role of a title's document.
const roleTitle = "title"

// register gives bleve our filter, when an index is first opened and not when
// the program starts.
var register = sync.OnceValue(func() error {
	return registry.RegisterTokenFilter(foldName, func(map[string]any, *registry.Cache) (analysis.TokenFilter, error) {
		return foldFilter{}, nil
	})
})

// foldFilter folds each word and leaves its place in the text as it is.
type foldFilter struct{}

// Filter folds the words of a stream, in place.
func (foldFilter) Filter(tokens analysis.TokenStream) analysis.TokenStream {
	for _, t := range tokens {
		t.Term = fold(t.Term)
	}
	return tokens
}

// fold returns word in lower case and without the marks that Unicode can take
// apart from their letters.
func fold(word []byte) []byte {
	plain := true
	for _, c := range word {
		plain = plain && c < utf8.RuneSelf && (c < 'A' || c > 'Z')
	}
	if plain {
		return word
	}
	folded := make([]byte, 0, len(word))
	for _, r := range string(norm.NFKD.Bytes(word)) {
		if !unicode.Is(unicode.Mn, r) {
			folded = utf8.AppendRune(folded, unicode.ToLower(r))
		}
	}
	if len(folded) == 0 {
		return word
	}
	return folded
}

// newMapping describes the documents to bleve. Nothing is stored: the store has
// it.
func newMapping() (*mapping.IndexMappingImpl, error) {
	if err := register(); err != nil {
		return nil, err
	}
	m := bleve.NewIndexMapping()
	err := m.AddCustomAnalyzer(wordsName, map[string]any{
		"type": custom.Name, "tokenizer": unicodetokens.Name, "token_filters": []string{foldName},
	})
	if err != nil {
		return nil, fmt.Errorf("describe what a word is: %w", err)
	}
	text := mapping.NewTextFieldMapping()
	text.Analyzer, text.Store, text.IncludeInAll, text.DocValues = wordsName, false, false, false
	text.IncludeTermVectors = true // for phrases
	name := mapping.NewTextFieldMapping()
	name.Analyzer, name.Store, name.IncludeInAll, name.DocValues, name.IncludeTermVectors = keyword.Name, false, false,
		false, false
	number := mapping.NewNumericFieldMapping()
	number.Store, number.IncludeInAll = false, false

	document := mapping.NewDocumentStaticMapping()
	document.AddFieldMappingsAt(fieldText, text)
	document.AddFieldMappingsAt(fieldRole, name)
	document.AddFieldMappingsAt(fieldConversation, name)
	document.AddFieldMappingsAt(fieldCreated, number)
	m.DefaultMapping = document
	m.DefaultAnalyzer = wordsName
	return m, nil
}

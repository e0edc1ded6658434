package syntax

import (
	"strings"
	"sync"
)

// Language colours one language. It is immutable and safe for concurrent use.
// The zero value is not useful; get one from [Find].
type Language struct {
	name string
	spec spec

	once  sync.Once
	words map[string]class
	opens [256]bool // whether a comment or a string may begin with the byte
}

// spec describes a language to the scanner in scan.go. Word lists are
// separated by spaces.
type spec struct {
	aliases  string      // what may stand after the fence, in lower case
	keywords string      // for, return …
	types    string      // int, string …
	builtins string      // print, len …
	values   string      // true, nil …
	line     string      // starts of comments that end with the line
	block    [][2]string // comments that may span lines
	quotes   []quote     // longer openers first
	ident    string      // characters of a name in addition to letters, digits, "_" and what is above ASCII
	sigils   string      // characters that make the name after them a variable
	markers  string      // characters that make the name after them a decorator or directive
	fold     bool        // words are the same in capitals and small letters
	upper    bool        // a name with a capital first letter is a type
	regex    bool        // a slash may begin a regular expression
	nest     bool        // block comments nest
	keys     bool        // a string or a name before a colon is a key
	own      scanFunc    // replaces the general scanner
}

// quote is one kind of string.
type quote struct {
	open, close string
	multi       bool // goes on over the end of a line
	raw         bool // a backslash has no meaning in it
	char        bool // holds one character, else the opener is no quote: 'a', '\n'
	prefix      bool // letters of b, c, f, r and u may stand before it
}

// scanFunc colours one line of a language whose lines have their own shape.
type scanFunc func(p *painter, st State) State

// Name returns the name a person reads: "Go", "C++".
func (l *Language) Name() string { return l.name }

// State holds what has to be known of the lines above to colour the next one. The
// zero value is the start of a text. It is a plain value, to be copied at will.
type State struct {
	mode  mode
	index uint8 // which quote or comment of the language is open
	depth uint8 // how deep a nesting comment is
	inner uint8 // markup: which language the script or style element holds
	sub   sub   // and the state inside it
}

// sub is the State of a language inside another, which holds no third one.
type sub struct {
	mode  mode
	index uint8
	depth uint8
}

type mode uint8

const (
	atText mode = iota
	inQuote
	inComment
	inTag
	inTagQuote
	inScript
	inStyle
	inFence
	inFront
)

// Line appends line, which should hold no line break, to dst as HTML with
// spans, and returns it with the state for the next line. All of the line's
// text is in the result, escaped, whatever it holds.
func (l *Language) Line(dst []byte, st State, line string) ([]byte, State) {
	p := painter{dst: dst, src: line, lang: l}
	if l.spec.own != nil {
		st = l.spec.own(&p, st)
	} else {
		st = p.scan(st, len(line))
	}
	p.flush(len(line))
	return p.dst, st
}

// Find returns the language that goes by name, or nil when it is not known. name is
// the word after a code fence: "go", "C++", "TSX".
func Find(name string) *Language {
	if name == "" || len(name) > 24 {
		return nil
	}
	aliasesOnce.Do(func() {
		aliases = map[string]*Language{}
		for _, l := range languages() {
			for alias := range strings.FieldsSeq(l.spec.aliases) {
				aliases[alias] = l
			}
		}
	})
	if l := aliases[name]; l != nil {
		return l
	}
	return aliases[strings.ToLower(name)]
}

// aliases is made at the first Find, so that a program that colours nothing
// pays nothing when it starts.
var (
	aliasesOnce sync.Once
	aliases     map[string]*Language
)

// prepare makes the tables that the scanner reads, once.
func (l *Language) prepare() {
	l.words = map[string]class{}
	for _, list := range []struct {
		words string
		class class
	}{{l.spec.builtins, builtin}, {l.spec.types, typ}, {l.spec.values, value}, {l.spec.keywords, keyword}} {
		for w := range strings.FieldsSeq(list.words) {
			if l.spec.fold {
				w = strings.ToLower(w)
			}
			l.words[w] = list.class
		}
	}
	for start := range strings.FieldsSeq(l.spec.line) {
		l.opens[start[0]] = true
	}
	for _, pair := range l.spec.block {
		l.opens[pair[0][0]] = true
	}
	for _, q := range l.spec.quotes {
		l.opens[q.open[0]] = true
	}
}

// class returns the class of a word, or plain.
func (l *Language) class(word string) class {
	if l.spec.fold {
		word = strings.ToLower(word)
	}
	return l.words[word]
}

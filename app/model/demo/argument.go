package demo

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// spoken is a sentence taken apart into what may be arguments. Each thing is used
// once.
type spoken struct {
	text    string
	words   []string // as written, without the punctuation around them
	quoted  []string
	numbers []string
	dates   []string
	named   map[string]string // name=value
	called  bool              // what is "called" something is used
}

var parse = sync.OnceValue(func() (p struct{ quoted, number, date, named *regexp.Regexp }) {
	p.quoted = regexp.MustCompile("\"([^\"]*)\"|“([^”]*)”|„([^“”]*)[“”]|‘([^’]*)’|`([^`]*)`|(?:^|[\\s:(])'([^']*)'")
	p.number = regexp.MustCompile(`(?:^|[\s(=,:])([-−]?\d+(?:\.\d+)?)`)
	p.date = regexp.MustCompile(`\b\d{4}-\d{2}-\d{2}\b`)
	p.named = regexp.MustCompile(`\b([A-Za-z_][A-Za-z0-9_]*)\s*=\s*("[^"]*"|“[^”]*”|\S+)`)
	return p
})

func newSentence(text string) *spoken {
	s := &spoken{text: strings.TrimSpace(text), named: map[string]string{}}
	p := parse()
	for _, m := range p.named.FindAllStringSubmatch(s.text, -1) {
		s.named[strings.ToLower(m[1])] = strings.Trim(strings.TrimRight(m[2], ",.;"), `"“”`)
	}
	plain := p.named.ReplaceAllString(s.text, " ")
	for _, m := range p.quoted.FindAllStringSubmatch(plain, -1) {
		for _, inner := range m[1:] {
			if inner != "" {
				s.quoted = append(s.quoted, inner)
			}
		}
	}
	plain = p.quoted.ReplaceAllString(plain, " ")
	s.dates = p.date.FindAllString(plain, -1)
	plain = p.date.ReplaceAllString(plain, " ")
	for _, m := range p.number.FindAllStringSubmatch(plain, -1) {
		s.numbers = append(s.numbers, strings.Replace(m[1], "−", "-", 1))
	}
	for _, w := range strings.Fields(plain) {
		if w = strings.TrimFunc(w, func(r rune) bool {
			return unicode.IsPunct(r) && r != '-' && r != '+' || unicode.IsSymbol(r) && r != '+'
		}); w != "" {
			s.words = append(s.words, w)
		}
	}
	return s
}

// arguments finds values for the required parameters, and for the others where
// the sentence names them. direct says that the sentence is nothing but arguments.
// missing are the required ones it found nothing for.
func (t toolShape) arguments(s *spoken, direct bool) (arguments json.RawMessage, missing []param) {
	var values []pair
	for i, p := range t.params {
		value, ok := p.explicit(s)
		if !ok && p.required {
			value, ok = p.find(s)
		}
		if !ok && p.required && p.kind() == "string" && len(p.Enum) == 0 && p.Pattern == "" && p.Format == "" &&
			t.lastText(i) {
			value, ok = t.rest(s, direct)
		}
		switch {
		case ok:
			values = append(values, pair{p.name, value})
		case p.required:
			missing = append(missing, p)
		}
	}
	return object(values), missing
}

// lastText reports whether no other required text follows parameter i.
func (t toolShape) lastText(i int) bool {
	return !slices.ContainsFunc(t.params[i+1:], func(p param) bool {
		return p.required && p.kind() == "string" && len(p.Enum) == 0
	})
}

// explicit is a value that the sentence gives by name.
func (p param) explicit(s *spoken) (json.RawMessage, bool) {
	text, ok := s.named[strings.ToLower(p.name)]
	if !ok {
		return nil, false
	}
	switch p.kind() {
	case "integer":
		if _, err := strconv.ParseInt(text, 10, 64); err == nil {
			return json.RawMessage(text), true
		}
	case "number":
		if n, err := strconv.ParseFloat(text, 64); err == nil && json.Valid([]byte(text)) && n == n {
			return json.RawMessage(text), true
		}
	case "boolean":
		yes := slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(text))
		return json.RawMessage(strconv.FormatBool(yes)), true
	case "array", "object":
		if json.Valid([]byte(text)) {
			return json.RawMessage(text), true
		}
	}
	return quote(text), true // a text, or something for the tool to refuse
}

// find looks for a value that fits the parameter's type.
func (p param) find(s *spoken) (json.RawMessage, bool) {
	for _, e := range p.Enum {
		var word string
		if json.Unmarshal(e, &word) == nil && slices.ContainsFunc(s.words, func(w string) bool {
			return strings.EqualFold(w, word) || stem(strings.ToLower(w)) == stem(strings.ToLower(word))
		}) {
			return e, true
		}
	}
	if len(p.Const) > 0 {
		return p.Const, true
	}
	switch p.kind() {
	case "integer", "number":
		return p.number(s)
	case "boolean":
		if slices.ContainsFunc(s.words, func(w string) bool { return strings.EqualFold(w, p.name) }) {
			return json.RawMessage("true"), true
		}
	case "array":
		return p.list(s)
	case "string":
		if len(p.Enum) == 0 {
			return p.phrase(s)
		}
	}
	return nil, false
}

func (p param) number(s *spoken) (json.RawMessage, bool) {
	for i, n := range s.numbers {
		if p.kind() == "integer" && strings.Contains(n, ".") {
			continue
		}
		if f, err := strconv.ParseFloat(n, 64); err != nil || !json.Valid([]byte(n)) { // 007 is no JSON
			n = strconv.FormatFloat(f, 'f', -1, 64)
		}
		s.numbers = slices.Delete(s.numbers, i, i+1)
		return json.RawMessage(n), true
	}
	return nil, false
}

func (p param) list(s *spoken) (json.RawMessage, bool) {
	kind := "string"
	if p.Items != nil && p.Items.kind() != "" {
		kind = p.Items.kind()
	}
	var items []string
	switch kind {
	case "integer", "number":
		items, s.numbers = s.numbers, nil
	case "string":
		for _, q := range s.quoted {
			items = append(items, string(quote(q)))
		}
		s.quoted = nil
	}
	return json.RawMessage("[" + strings.Join(items, ",") + "]"), len(items) > 0
}

// phrase looks for a text: by its pattern, as a date, behind the word that the
// parameter is named for ("to miles" for to_unit), behind a number for a unit, in
// quotes, behind "called".
func (p param) phrase(s *spoken) (json.RawMessage, bool) {
	if p.Pattern != "" {
		pattern, err := regexp.Compile(p.Pattern)
		if err != nil {
			return nil, false
		}
		for _, w := range slices.Concat(s.quoted, s.words) {
			if pattern.MatchString(w) {
				return quote(w), true
			}
		}
		return nil, false
	}
	if p.Format == "date" || strings.Contains(p.Description, "YYYY-MM-DD") {
		if len(s.dates) == 0 {
			return nil, false
		}
		date := s.dates[0]
		s.dates = s.dates[1:]
		return quote(date), true
	}
	name := wordsOf(p.name)
	if len(name) > 0 && prepositions[name[0]] {
		same := []string{name[0]}
		if name[0] == "to" {
			same = []string{"to", "into", "in"}
		}
		if w, ok := s.after(same...); ok {
			return quote(w), true
		}
	}
	if slices.Contains(name, "unit") && name[0] != "to" {
		for i, w := range s.words[:max(len(s.words)-1, 0)] {
			if _, err := strconv.ParseFloat(w, 64); err == nil {
				return quote(s.words[i+1]), true
			}
		}
	}
	if len(s.quoted) > 0 {
		first := s.quoted[0]
		s.quoted = s.quoted[1:]
		return quote(first), true
	}
	if w, ok := s.after("called", "named", "titled"); ok && !s.called {
		s.called = true
		return quote(w), true
	}
	return nil, false
}

// greetings are idle words that a text may well begin with.
var greetings = set("hello hi hey there thank thanks dear")

var prepositions = set("from to into in by as with for at on")

// after returns the word behind the last of the given ones.
func (s *spoken) after(before ...string) (string, bool) {
	for i := len(s.words) - 2; i >= 0; i-- {
		if slices.Contains(before, strings.ToLower(s.words[i])) {
			return s.words[i+1], true
		}
	}
	return "", false
}

// rest returns what remains of a sentence as a text: what follows a colon, or what
// follows the words that chose the tool.
func (t toolShape) rest(s *spoken, direct bool) (json.RawMessage, bool) {
	if direct {
		return quote(s.text), s.text != ""
	}
	if _, after, ok := strings.Cut(s.text, ":"); ok && strings.TrimSpace(after) != "" {
		return quote(strings.TrimSpace(after)), true
	}
	required := 0
	for _, p := range t.params {
		if p.required {
			required++
		}
	}
	if required > 1 {
		return nil, false // which of the words are whose cannot be told
	}
	about := map[string]bool{}
	for _, w := range wordsOf(bareName(t.Name) + " " + t.Description) {
		about[stem(w)] = true
	}
	fields := strings.Fields(s.text)
	for len(fields) > 0 {
		words := wordsOf(fields[0])
		if slices.ContainsFunc(words, func(w string) bool { return greetings[w] || !idle[w] && !about[stem(w)] }) {
			break
		}
		fields = fields[1:]
	}
	text := strings.Join(fields, " ")
	return quote(text), text != ""
}

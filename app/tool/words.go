package tool

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"conclave/app/base/shorten"
)

// maxHuman is the longest name of a tool that a sentence has room for, in
// characters. It is for the look alone: the whole name is in the details.
const maxHuman = 60

// DisplayName returns the tool's name as a person reads it, on one line: the title
// that its plugin gave it, or else its name in words. "save_note" is "Save note".
func (t Tool) DisplayName() string {
	if t.Title != "" && t.Title != t.Name {
		if title := OneLine(t.Title); title != "" {
			return shorten.To(title, maxHuman)
		}
	}
	if words := wordsOf(t.Name); len(words) > 0 {
		return shorten.To(upperFirst(strings.Join(words, " ")), maxHuman)
	}
	return shorten.To(OneLine(t.Name), maxHuman)
}

// Doing returns what a call of the tool does, to stand after "wants to": "save a
// note", or "use “Word count”". What stands without quotation marks is made of a
// known verb and one word of the tool's name, so that no name of a plugin's reads
// as a sentence of Conclave's.
func (t Tool) Doing() string {
	if verb, rest, ok := t.phrase(); ok {
		return verb + rest
	}
	return "use “" + t.DisplayName() + "”"
}

// Did returns what a call of the tool did: "Saved a note", "Used “Word count”".
func (t Tool) Did() string {
	if verb, rest, ok := t.phrase(); ok {
		return upperFirst(past[verb]) + rest
	}
	return "Used “" + t.DisplayName() + "”"
}

// phrase takes a name such as save_note apart: "save" and " a note".
func (t Tool) phrase() (verb, rest string, ok bool) {
	words := wordsOf(t.Name)
	if t.Title != "" && t.Title != t.Name || len(words) != 2 || past[words[0]] == "" {
		return "", "", false
	}
	noun := words[1]
	for _, r := range noun {
		if r < 'a' || r > 'z' {
			return "", "", false
		}
	}
	if len(noun) < 3 || len(noun) > 20 {
		return "", "", false
	}
	article := " a "
	switch {
	case strings.Contains(single, " "+noun+" "):
		article = " the "
	case strings.Contains(uncounted, " "+noun+" "), strings.HasSuffix(noun, "s") && !strings.HasSuffix(noun, "ss"):
		article = " "
	case strings.IndexByte("aeio", noun[0]) >= 0, strings.HasPrefix(noun, "up"):
		article = " an "
	}
	return words[0], article + noun, true
}

// past are the verbs that names of tools begin with, and what was done.
var past = map[string]string{
	"add": "added", "append": "appended", "archive": "archived", "calculate": "calculated", "check": "checked",
	"convert": "converted",
	"copy":    "copied", "count": "counted", "create": "created", "delete": "deleted", "download": "downloaded",
	"draw": "drew",
	"edit": "edited", "fetch": "fetched", "find": "found", "forget": "forgot", "generate": "generated", "get": "got",
	"import": "imported",
	"insert": "inserted", "list": "listed", "load": "loaded", "look": "looked", "make": "made", "move": "moved",
	"open": "opened",
	"play": "played", "publish": "published", "read": "read", "remember": "remembered", "remove": "removed",
	"rename":  "renamed",
	"replace": "replaced", "roll": "rolled", "save": "saved", "schedule": "scheduled", "search": "searched",
	"send": "sent",
	"set":  "set", "show": "showed", "start": "started", "stop": "stopped", "summarize": "summarized",
	"translate": "translated",
	"update":    "updated", "upload": "uploaded", "write": "wrote",
}

// single are nouns of which there is one, uncounted those without an article.
const (
	single    = " web internet weather time date clock calendar clipboard screen browser archive history index status "
	uncounted = " text code data news information mail music dice html json sql python javascript content output " +
		"input memory "
)

// wordsOf cuts a name at underscores, hyphens, dots and capitals, in lower case.
func wordsOf(name string) []string {
	var b strings.Builder
	var before rune
	for _, r := range OneLine(name) {
		switch {
		case r == '_' || r == '-' || r == '.' || r == '/' || r == ':':
			r = ' '
		case unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsDigit(before)):
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	return strings.Fields(b.String())
}

// OneLine returns text without hidden characters, line breaks and runs of blanks.
func OneLine(text string) string {
	text, _ = Strip(text)
	return strings.Join(strings.Fields(text), " ")
}

// ShortLine returns OneLine of at most so many characters. Of a longer text it looks at the beginning alone.
func ShortLine(text string, most int) string {
	return shorten.To(OneLine(shorten.Bytes(text, 8*most)), most)
}

func upperFirst(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[size:]
}

package council

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"conclave/app/base/fault"
)

// Addressed returns the id of the member that a text asks alone, as in “@Ada, is it so?”, "" where it
// asks all. The longest matching name counts, and the first member of two with one name. The kind is
// invalid where the text begins with “@” and a name that no member has, or only one that is switched
// off: asking everybody instead would cost the person time and money.
func (c Council) Addressed(text string) (only string, err error) {
	text, named := strings.CutPrefix(strings.TrimSpace(text), "@")
	if !named {
		return "", nil
	}
	length, off := 0, ""
	var names []string
	for _, m := range c.Members {
		if m.Off {
			if begins(text, m.Name) || begins(text, m.ID) {
				off = m.Name
			}
			continue
		}
		names = append(names, m.Name)
		for _, name := range []string{m.Name, m.ID} {
			if len(name) > length && begins(text, name) {
				only, length = m.ID, len(name)
			}
		}
	}
	name := text
	if end := strings.IndexFunc(text, func(r rune) bool { return !inName(r) && r != '_' }); end >= 0 {
		name = text[:end]
	}
	switch {
	case only != "" || name == "":
		return only, nil
	case off != "":
		return "", fault.New(fault.Invalid, "council.named", off+" is switched off in the council.",
			"Switch the member on, or begin the message with another word to ask everybody.")
	}
	return "", fault.New(fault.Invalid, "council.named", "No member is called "+name+".",
		"There are "+strings.Join(names, ", ")+". To ask everybody, begin the message with another word.")
}

// inName reports whether a character can be part of a name.
func inName(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' }

// begins reports whether a text begins with a whole name.
func begins(text, name string) bool {
	if len(text) < len(name) || !strings.EqualFold(text[:len(name)], name) {
		return false
	}
	next, size := utf8.DecodeRuneInString(text[len(name):])
	return size == 0 || !inName(next)
}

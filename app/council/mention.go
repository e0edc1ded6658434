package council

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"conclave/app/base/fault"
)

// Addressed returns the id of the member that a text asks alone by “@name ”, "" where it asks all.
// The kind is invalid where it names nobody of the council.
func (c Council) Addressed(text string) (only string, err error) {
	return c.Named(text), c.Misnamed(text)
}

// Named returns the id of the member that a text begins with, as in “@Ada, is it so?”, or "". The
// longest matching name counts, and the first member of two with one name. Members that are switched
// off do not count.
func (c Council) Named(text string) string {
	text, named := strings.CutPrefix(strings.TrimSpace(text), "@")
	if !named {
		return ""
	}
	found, length := "", 0
	for _, m := range c.Members {
		if m.Off {
			continue
		}
		for _, name := range []string{m.Name, m.ID} {
			if len(name) > length && begins(text, name) {
				found, length = m.ID, len(name)
			}
		}
	}
	return found
}

// Misnamed returns a fault of kind invalid where a text begins with “@” and a name that no member has,
// or only one that is switched off. Asking everybody instead would cost the person time and money.
func (c Council) Misnamed(text string) error {
	text, named := strings.CutPrefix(strings.TrimSpace(text), "@")
	end := strings.IndexFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_'
	})
	if end < 0 {
		end = len(text)
	}
	name := text[:end]
	if !named || name == "" || c.Named("@"+text) != "" {
		return nil
	}
	var names []string
	for _, m := range c.Members {
		switch {
		case !m.Off:
			names = append(names, m.Name)
		case begins(text, m.Name) || begins(text, m.ID):
			return fault.New(fault.Invalid, "council.named", m.Name+" is switched off in the council.",
				"Switch the member on, or begin the message with another word to ask everybody.")
		}
	}
	return fault.New(fault.Invalid, "council.named", "No member is called "+name+".",
		"There are "+strings.Join(names, ", ")+". To ask everybody, begin the message with another word.")
}

// begins reports whether a text begins with a whole name.
func begins(text, name string) bool {
	if len(text) < len(name) || !strings.EqualFold(text[:len(name)], name) {
		return false
	}
	next, size := utf8.DecodeRuneInString(text[len(name):])
	return size == 0 || !unicode.IsLetter(next) && !unicode.IsDigit(next) && next != '-'
}

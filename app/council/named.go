package council

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Named returns the id of the member that a text begins with, as “@Ada, is it so?”; "" for
// none. Of several whose names fit the longest counts, and of two of one name the first.
// Who is switched off is none.
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

// begins reports whether a text begins with a name that ends there.
func begins(text, name string) bool {
	if len(text) < len(name) || !strings.EqualFold(text[:len(name)], name) {
		return false
	}
	next, size := utf8.DecodeRuneInString(text[len(name):])
	return size == 0 || !unicode.IsLetter(next) && !unicode.IsDigit(next) && next != '-'
}

// Package shorten cuts texts that are longer than there is room for. What a text may hold,
// and which bound it has, is its caller's to say.
package shorten

import (
	"strings"
	"unicode/utf8"
)

// To returns a text of at most so many characters: its beginning and “…” where it has more.
// most is 1 or more.
func To(text string, most int) string {
	if end := place(text, most); end == len(text) {
		return text
	}
	return string([]rune(text[:place(text, most-1)])) + "…"
}

// After returns a text of at most so many characters, and its beginning with “…” behind them
// where it has more.
func After(text string, most int) string {
	end := place(text, most)
	if end == len(text) {
		return text
	}
	return string([]rune(text[:end])) + "…"
}

// place returns where so many characters of a text end; its length if it has fewer.
func place(text string, characters int) int {
	if len(text) <= characters {
		return len(text)
	}
	end := 0
	for range characters {
		_, size := utf8.DecodeRuneInString(text[end:])
		end += size
	}
	return end
}

// Bytes returns the beginning of a text that has more bytes than most, without the piece of
// a character at its end and whatever else is no UTF-8.
func Bytes(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "")
}

package hidden

import (
	"strings"
	"unicode/utf8"
)

// The controls of ECMA-48 that begin more than themselves, in their form of one character;
// behind an escape each is written as the letter 0x40 below.
const (
	deviceControl   = 0x90
	startOfString   = 0x98
	controlSequence = 0x9b
	systemCommand   = 0x9d
	privacyMessage  = 0x9e
	programCommand  = 0x9f
)

const (
	escape           = 0x1b
	bell             = "\x07"
	stringTerminator = "\x1b\\"
	shortTerminator  = "\u009c"
)

// sequence returns the length of the terminal sequence that text begins with (ECMA-48,
// sections 5.4 and 5.6); 0 when it begins with none.
func sequence(text string) int {
	r, n := utf8.DecodeRuneInString(text)
	switch r {
	case escape:
		return n + afterEscape(text[n:])
	case controlSequence:
		return n + parameters(text[n:])
	case deviceControl, startOfString, systemCommand, privacyMessage, programCommand:
		return n + closedString(text[n:])
	}
	return 0
}

// afterEscape returns how much of text belongs to the escape before it.
func afterEscape(text string) int {
	if text == "" || text[0] < 0x20 || text[0] >= 0x7f {
		return 0
	}
	switch rune(text[0]) + 0x40 {
	case controlSequence:
		return 1 + parameters(text[1:])
	case deviceControl, startOfString, systemCommand, privacyMessage, programCommand:
		return 1 + controlString(text[1:])
	}
	i := strings.IndexFunc(text, func(r rune) bool { return r < 0x20 || r > 0x2f }) // after the intermediate bytes
	if i < 0 {
		return len(text)
	}
	if text[i] >= 0x20 && text[i] < 0x7f {
		i++
	}
	return i
}

// parameters returns the length of the parameters of a control sequence, with the letter
// that ends it.
func parameters(text string) int {
	i := strings.IndexFunc(text, func(r rune) bool { return r < 0x20 || r > 0x3f })
	if i < 0 {
		return len(text)
	}
	if text[i] >= 0x40 && text[i] < 0x7f {
		i++
	}
	return i
}

// controlString returns the length of a control string with its terminator. One that is
// never closed ends with its line, so that it does not take the lines that follow.
func controlString(text string) int {
	for i := range len(text) {
		if text[i] == '\n' {
			return i
		}
		if n := terminator(text[i:]); n > 0 {
			return i + n
		}
	}
	return len(text)
}

// closedString is controlString for the forms of one character, of which wrongly decoded
// text is full (“â€” and U+009D for a quotation mark): it is a string only when it is closed
// before the next control character, and else 0 long.
func closedString(text string) int {
	for i, r := range text {
		if n := terminator(text[i:]); n > 0 {
			return i + n
		}
		if r < 0x20 || r >= 0x7f && r < 0xa0 {
			return 0
		}
	}
	return 0
}

// terminator returns the length of the end of a control string with which text begins, or 0.
func terminator(text string) int {
	for _, end := range []string{bell, stringTerminator, shortTerminator} {
		if strings.HasPrefix(text, end) {
			return len(end)
		}
	}
	return 0
}

package config

import (
	"errors"
	"strings"
)

// splitWords divides a line as a shell would, without running anything: quotes and backslashes are understood, and
// nothing else is.
func splitWords(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord, quote := false, byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote == '\'':
			if c == '\'' {
				quote = 0
			} else {
				word.WriteByte(c)
			}
		case c == '\\' && i+1 < len(line) && escapes(line[i+1], quote):
			i++
			if line[i] != '\n' {
				word.WriteByte(line[i])
				inWord = true
			}
		case quote == '"':
			if c == '"' {
				quote = 0
			} else {
				word.WriteByte(c)
			}
		case c == '"' || c == '\'':
			quote, inWord = c, true
		case strings.IndexByte(" \t\r\n", c) >= 0:
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, errors.New("a quotation mark is missing")
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

// escapes reports whether a backslash before this character stands for the character alone. In front of a letter it is
// kept, as it is then one of a path of Windows.
func escapes(next, quote byte) bool {
	if quote == '"' {
		return next == '"' || next == '\\' || next == '$' || next == '`'
	}
	return strings.IndexByte(" \t\n\"'\\$`&|;<>()*?", next) >= 0
}

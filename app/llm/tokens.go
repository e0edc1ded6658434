package llm

import "unicode"

// Tokens estimates how many tokens a text has: one for four letters, and one for each
// sign of a script whose signs are words or syllables. Tokenizers differ by more than the
// estimate is off.
func Tokens(text string) int64 {
	letters, signs := int64(0), int64(0)
	for _, r := range text {
		if r > unicode.MaxLatin1 &&
			unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai) {
			signs++
		} else {
			letters++
		}
	}
	return signs + (letters+3)/4
}

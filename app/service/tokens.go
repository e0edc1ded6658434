package service

import (
	"context"
	"unicode"

	"conclave/app/plugin"
)

type countArgs struct {
	Text     string    `json:"text"`
	Messages []message `json:"messages"`
}

// perMessage estimates what a message costs beyond its text.
const perMessage = 4

func (s *Services) count(_ context.Context, _ plugin.Caller, a countArgs) (any, error) {
	total := Tokens(a.Text)
	for _, m := range a.Messages {
		parts, err := m.parts()
		if err != nil {
			return nil, err
		}
		total += perMessage
		for _, p := range parts {
			total += Tokens(p.Text)
		}
	}
	return map[string]any{"total_tokens": total, "approximate": true}, nil
}

// Tokens estimates how many tokens a text has: one for four letters, and one for
// each sign of a script whose signs are words or syllables. Tokenizers differ by
// more than the estimate is off.
func Tokens(text string) int {
	letters, signs := 0, 0
	for _, r := range text {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai) {
			signs++
		} else {
			letters++
		}
	}
	return signs + (letters+3)/4
}

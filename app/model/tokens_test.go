package model_test

import (
	"strings"
	"testing"

	"conclave/app/model"
)

func TestTokensAreFourLettersOrOneSyllable(t *testing.T) {
	for text, want := range map[string]int64{
		"":                              0,
		"abc":                           1,
		"eight by":                      2,
		strings.Repeat("nine byte", 4):  9,
		"über":                          1,
		"日本語":                           3,
		"カタ":                            2,
		"한국어 ok":                        4,
		"ไทย":                           3,
		"12345678日12345678":             5,
		"a\xffb\xff":                    1,
		"😀😀😀😀":                          1,
		strings.Repeat("1234567é", 100): 200,
		strings.Repeat("龥", 100):        100, // the last of the first block
	} {
		if got := model.Tokens(text); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

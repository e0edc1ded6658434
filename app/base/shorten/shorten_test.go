package shorten_test

import (
	"testing"
	"unicode/utf8"

	"conclave/app/base/shorten"
)

func TestATextThatIsTooLongIsCutBetweenCharacters(t *testing.T) {
	for text, want := range map[string]struct{ to, after, bytes string }{
		"":           {"", "", ""},
		"abcd":       {"abcd", "abcd", "abcd"},
		"äöüß":       {"äöüß", "äöüß", "äö"},
		"abcde":      {"abc…", "abcd…", "abcd"},
		"äöüßé":      {"äöü…", "äöüß…", "äö"},
		"日本語の本":      {"日本語…", "日本語の…", "日"},
		"a\xffb":     {"a\xffb", "a\xffb", "a\xffb"},
		"a\xffbcd":   {"a\uFFFDb…", "a\uFFFDbc…", "abc"},
		"\U0001F469": {"\U0001F469", "\U0001F469", "\U0001F469"},
	} {
		got := [3]string{shorten.To(text, 4), shorten.After(text, 4), shorten.Bytes(text, 4)}
		if got != [3]string{want.to, want.after, want.bytes} {
			t.Errorf("%q is %q", text, got)
		}
	}
	if got := shorten.To("ab", 1); got != "…" {
		t.Errorf("to one character: %q", got)
	}
}

func FuzzShorten(f *testing.F) {
	f.Add("日本語の本", 3)
	f.Add("a\xffb", 2)
	f.Fuzz(func(t *testing.T, text string, most int) {
		if most < 1 || most > 1<<20 {
			return
		}
		runes, to, after := []rune(text), text, text
		if len(runes) > most {
			to, after = string(runes[:most-1])+"…", string(runes[:most])+"…"
		}
		if got := shorten.To(text, most); got != to {
			t.Errorf("to %d: %q, want %q", most, got, to)
		}
		if got := shorten.After(text, most); got != after {
			t.Errorf("after %d: %q, want %q", most, got, after)
		}
		if got := shorten.Bytes(text, most); len(got) > most || len(text) > most && !utf8.ValidString(got) {
			t.Errorf("%d bytes: %q", most, got)
		}
	})
}

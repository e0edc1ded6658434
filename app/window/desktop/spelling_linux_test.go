//go:build cgo

package desktop

import (
	"slices"
	"testing"
)

func TestSpellingIsCheckedInTheLanguagesOfTheEnvironmentAndInEnglish(t *testing.T) {
	for _, c := range []struct {
		env  map[string]string
		want []string
	}{
		{nil, []string{"en_US"}},
		{map[string]string{"LANG": "C.UTF-8", "LANGUAGE": "de"}, []string{"de", "en_US"}},
		{map[string]string{"LANG": "de_DE.UTF-8@euro"}, []string{"de_DE", "en_US"}},
		{map[string]string{"LC_ALL": "en_GB.UTF-8", "LANG": "zh_CN.UTF-8"}, []string{"en_GB"}},
	} {
		if got := spellingLanguages(func(name string) string { return c.env[name] }); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.env, got, c.want)
		}
	}
}

package language

import "testing"

func TestTheSystemsLanguageIsThatOfTheEnvironment(t *testing.T) {
	for locale, want := range map[string]Language{
		"zh_CN.UTF-8": Chinese, "zh-Hans": Chinese, "zh": Chinese, "C": English, "de_DE.UTF-8": English,
	} {
		t.Setenv("LC_ALL", locale)
		if got := Of(System); got != want {
			t.Errorf("%s is %q, want %q", locale, got, want)
		}
		if got := Of(English); got != English {
			t.Errorf("a choice gives way to the system's %s", locale)
		}
	}
	t.Setenv("LC_ALL", "")
	t.Setenv("LC_MESSAGES", "zh_TW.UTF-8")
	t.Setenv("LANG", "en_US.UTF-8")
	if got := Of(System); got != Chinese {
		t.Errorf("LC_MESSAGES gives way to LANG: %q", got)
	}
}

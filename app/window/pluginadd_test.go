package window

import (
	"path/filepath"
	"testing"

	"conclave/app/base/fault"
)

func TestThePlaceOfAPluginIsAnAddressOrAWholePath(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	whole := filepath.Join(home, "weather one.zip")
	for from, want := range map[string]string{
		" https://example.org/weather.git \n":      "https://example.org/weather.git",
		"https://example.org/weather.git#v2":       "https://example.org/weather.git#v2",
		"http://example.org/weather.git":           "http://example.org/weather.git", // the host says why it is refused
		whole:                                      whole,
		`"` + whole + `"`:                          whole,
		filepath.FromSlash("~/plugins/../weather"): filepath.Join(home, "weather"),
		"~": home,
	} {
		if got, err := writtenPlace(from); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", from, got, err, want)
		}
	}
	for _, from := range []string{"", "weather", "./weather", "example.org/weather", "~ada/weather", `"`} {
		if got, err := writtenPlace(from); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: got %q, %v", from, got, err)
		}
	}
}

func TestOnePluginIsAddedAtATimeAndCanBeStopped(t *testing.T) {
	var a adding
	a.stop() // nothing is added
	ctx, end, err := a.begin(t.Context())
	must(t, err)
	if _, _, err := a.begin(t.Context()); fault.KindOf(err) != fault.Conflict {
		t.Errorf("a second one: %v", err)
	}
	a.stop()
	if ctx.Err() == nil {
		t.Error("it was not stopped")
	}
	end()
	ctx, end, err = a.begin(t.Context())
	if err != nil || ctx.Err() != nil {
		t.Errorf("the next one: %v, %v", err, ctx.Err())
	}
	end()
}

package host_test

import (
	"fmt"
	"slices"
	"testing"

	"conclave/app/base/limit"
	"conclave/app/plugin/plugintest"
)

func TestToolsThatAreLeftOutAreSaidOnTheCard(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		script := plugintest.Script{}
		for n := range limit.PluginTools {
			script.Tools = append(script.Tools, plugintest.Tool{Name: fmt.Sprintf("t%d", n), Text: "one"})
		}
		f.Serve("a.py", script)
		if got := f.Status("a").Notes; len(got) != 0 {
			t.Errorf("as many as may be: notes %q", got)
		}
		script.Tools = append(script.Tools, plugintest.Tool{Name: "last", Text: "one"})
		f.Serve("b.py", script)
		want := []string{"1 of its tools is not offered: a plugin may offer 256 tools of at most 64 KiB each, with a " +
			"name that can be shown. Its log has the names."}
		if got := f.Status("b").Notes; !slices.Equal(got, want) {
			t.Errorf("notes %q, want %q", got, want)
		}
		f.Restart()
		if got := f.Status("b").Notes; !slices.Equal(got, want) {
			t.Errorf("after a restart: notes %q, want %q", got, want)
		}
	})
}

package host_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"conclave/app/plugin/plugintest"
)

func TestAStartThatFindsAPluginAsItWasWritesNothing(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py", plugintest.SaysText("say", "one"))
		record := func() string {
			raw, err := f.Store.PluginCache(t.Context(), "a")
			must(t, err)
			return string(raw)
		}
		before := record()
		<-time.After(time.Hour) // of the bubble's clock: the times in it would differ
		f.Restart()
		f.Says("a:say", "one")
		if after := record(); after != before {
			t.Errorf("the record was written again:\n%s\n%s", before, after)
		}
		f.Serve("a.py", plugintest.SaysText("say", "two"))
		f.Says("a:say", "two")
		if after := record(); after == before {
			t.Error("a new version was not put on record")
		}
	})
}

func TestADamagedCopyIsMadeAgainBeforeAProcessStartsFromIt(t *testing.T) {
	plugintest.Bubble(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		f.Serve("a.py", plugintest.SaysText("say", "one"))
		f.Close()
		copies, err := filepath.Glob(filepath.Join(f.Data, "last-good", "a", "*", "a.py"))
		must(t, err)
		if len(copies) != 1 {
			t.Fatalf("the copies are %v", copies)
		}
		must(t, os.WriteFile(copies[0], nil, 0o600))
		f.Open()
		f.Scan()
		f.Says("a:say", "one")
	})
}

package host_test

import (
	"os"
	"testing"
	"time"

	"conclave/app/plugin"
	"conclave/app/plugin/host"
	"conclave/app/plugin/plugintest"
	"conclave/app/plugin/watch"
	"conclave/app/test/testkit"
)

func TestASavedFileIsReadOnceForItsDigest(t *testing.T) {
	plugintest.RealTime(t, "functions", func(t *testing.T, f *plugintest.Fixture) {
		save := func(text string) (read func() int64) {
			f.Write("a.py", answers(text))
			testkit.Until(t, "the times of the file tell whether it changed", func() bool {
				info, err := os.Stat(f.Path("a.py"))
				must(t, err)
				return time.Since(watch.Changed(info)) > 50*time.Millisecond
			})
			before := host.FilesRead(f.Host, "a")
			f.Scan()
			return func() int64 { return host.FilesRead(f.Host, "a") - before }
		}
		save("one")
		f.Trust("a", false)
		f.Says("a:say", "one")

		read := save("two")
		f.State("a", plugin.Quarantined) // its card shows what changed, and which digest that has
		if n := read(); n != 1 {
			t.Errorf("until a person was asked, %d files were read for digests, want the saved one", n)
		}
		f.Trust("a", false)
		f.Says("a:say", "two")
		if n := read(); n != 3 {
			t.Errorf("until its tool answered, %d files were read for digests, want the saved one, and its copy when it "+
				"was made and before a process ran from it", n)
		}
	})
}

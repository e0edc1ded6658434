package hosttest

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/app/plugin"
	"conclave/app/tool"

	"golang.org/x/sys/unix"
)

// exchange swaps two paths, over and over, until the function returned is called; it
// leaves them as they were. The goroutine ends then.
func exchange(t *testing.T, a, b string) (stop func() (swaps int)) {
	t.Helper()
	over, swaps := make(chan struct{}), 0
	var wg sync.WaitGroup
	swap := func() {
		if err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE); err == nil {
			swaps++
		}
	}
	wg.Go(func() {
		for {
			select {
			case <-over:
				return
			default:
				swap()
			}
		}
	})
	return func() int {
		close(over)
		wg.Wait()
		n := swaps
		if n%2 == 1 {
			swap()
		}
		return n
	}
}

// The attack: another process puts other files in the place of an approved plugin's,
// and takes them away again, as often as it can while the plugin is looked at, loaded
// and called: another folder, another script, a link to a person's file, a pipe.
func TestWhatTakesAnApprovedPluginsPlaceForAMomentNeverRunsAndLeadsNowhere(t *testing.T) {
	const secret = "the person's own words 4711"
	for name, lay := range map[string]func(t *testing.T, place, other, private string){
		"a folder": func(t *testing.T, _, other, _ string) {
			t.Helper()
			must(t, os.MkdirAll(filepath.Join(other, "dist"), 0o700),
				os.WriteFile(filepath.Join(other, "spindle.json"), []byte(manifest("swapped", "")), 0o600),
				os.WriteFile(filepath.Join(other, "dist", "backend.js"), []byte(says("say", `"stranger"`)), 0o600))
		},
		"a script": func(t *testing.T, _, other, _ string) {
			t.Helper()
			must(t, os.WriteFile(other, []byte(says("say", `"stranger"`)), 0o600))
		},
		"a link out": func(t *testing.T, _, other, private string) {
			t.Helper()
			must(t, os.Symlink(private, other))
		},
		"a pipe": func(t *testing.T, _, other, _ string) {
			t.Helper()
			must(t, unix.Mkfifo(other, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outside := t.TempDir()
			private := filepath.Join(outside, "private.js")
			must(t, os.WriteFile(private, []byte(says("say", `"`+secret+`"`)), 0o600))
			c := open(t, t.TempDir(), t.TempDir())
			c.runs("swapped", tree{"spindle.json": manifest("swapped", ""), "dist/backend.js": says("say", `"approved"`)},
				"approved")
			place, other := filepath.Join(c.dir, "swapped"), filepath.Join(outside, "other")
			if name != "a folder" {
				place = filepath.Join(place, "dist", "backend.js")
			}
			lay(t, place, other, private)

			stop := exchange(t, place, other)
			calls := 0
			// For two seconds, and on a busy machine until a call was made at all.
			for began := time.Now(); time.Since(began) < 2*time.Second || calls == 0 && time.Since(began) < patience; {
				must(t, c.host.Reload("swapped"))
				found, ok := c.tools.Set().ByID("swapped:say")
				invoker, there := c.tools.Set().Invoker("swapped:say")
				if !ok || !there {
					continue
				}
				r, err := invoker.Call(t.Context(), tool.Call{
					ID: "one", Tool: found, Arguments: json.RawMessage("{}"),
					Deadline: time.Now().Add(patience),
				})
				if err == nil && r.Status == chat.CallOK {
					calls++
					if got := chat.TextOf(r.Content); got != "approved" {
						t.Fatalf("what ran answered %q", got)
					}
				}
			}
			if swaps := stop(); calls == 0 || swaps < 100 {
				t.Errorf("the attack swapped %d times, and %d calls were made meanwhile", swaps, calls)
			}
			must(t, c.host.Scan(), c.host.Reload("swapped"), c.host.WaitIdle(t.Context()))
			if s, err := c.host.Status("swapped"); err != nil || s.State != plugin.Ready {
				t.Errorf("afterwards it is %s, %+v, %v", s.State, s.Problem, err)
			}
			c.answers("swapped:say", "{}", "approved")

			// Removed in the midst of it, what is kept is what lay there.
			stop = exchange(t, place, other)
			_, err := c.library.Remove(t.Context(), "swapped")
			stop()
			must(t, err)
			if text, err := os.ReadFile(private); err != nil || !strings.Contains(string(text), secret) {
				t.Errorf("the person's file is %q, %v", text, err)
			}
			err = filepath.WalkDir(c.data, func(path string, d fs.DirEntry, err error) error {
				if err != nil || !d.Type().IsRegular() {
					return err
				}
				if text, err := os.ReadFile(path); err == nil && bytes.Contains(text, []byte(secret)) {
					t.Errorf("the person's words are in %s", path)
				}
				return nil
			})
			must(t, err)
		})
	}
}

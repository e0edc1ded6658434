//go:build linux

package hosttest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/test/programtest"
	"conclave/app/test/testkit"
	"conclave/app/tool"
)

// keeper is a plugin whose call writes for as long as it may, and after it.
const keeper = `
import os, threading, time

done = os.path.join(os.environ["HOME"], "done")

def write(file):
    while not os.path.exists(done):
        file.write(f"{os.getpid()}\n")
        file.flush()
        time.sleep(0.005)  # what it writes stays small

def keep(path: str) -> str:
    "Write until it is told to end."
    file = open(path, "a")
    threading.Thread(target=write, args=(file,)).start()
    write(file)
    return "done"

def pid() -> str:
    "The number of its process."
    return str(os.getpid())
`

// keeping starts a call that writes to a file in the folder, and returns once it does.
func (c *core) keeping(folder string) (process int, result <-chan tool.Result) {
	c.t.Helper()
	path := filepath.Join(folder, "kept")
	ended := make(chan tool.Result, 1)
	go func() { ended <- c.call("keeper:keep", fmt.Sprintf(`{"path":%q}`, path)) }() // ends with its process
	testkit.Until(c.t, "the call to write", func() bool {
		text, _ := os.ReadFile(path)
		line, _, whole := strings.Cut(string(text), "\n")
		if whole {
			_, err := fmt.Sscan(line, &process)
			must(c.t, err)
		}
		return whole
	})
	return process, ended
}

func TestAttackACallGoesOnWithWhatIsTakenBackMeanwhile(t *testing.T) {
	t.Parallel()
	program, err := filepath.EvalSymlinks("/bin/true")
	must(t, err)
	type given struct {
		c      *core
		folder string
	}
	grant := func(t *testing.T, g given, write bool) {
		t.Helper()
		_, err := g.c.gate.Reach.GrantFolder(t.Context(), "keeper", gate.Folder{Path: g.folder, Write: write})
		must(t, err)
	}
	for name, one := range map[string]struct {
		give, change func(*testing.T, given)
		opened       bool   // by Conclave, since a person allowed it when the plugin reached for it
		why          string // the call ended; empty: it goes on
	}{
		"a folder": {
			change: func(t *testing.T, g given) {
				must(t, g.c.gate.Reach.RevokeFolder(t.Context(), "keeper", g.folder))
			}, why: takenBack,
		},
		"writing in a folder": {
			change: func(t *testing.T, g given) { grant(t, g, false) }, why: takenBack,
		},
		"a folder that was opened for it": {
			change: func(t *testing.T, g given) {
				must(t, g.c.gate.Reach.RevokeFolder(t.Context(), "keeper", g.folder))
			}, opened: true, why: takenBack,
		},
		"a folder that was opened for it, once another process serves": {
			change: func(t *testing.T, g given) {
				g.c.settled(t) // with more access, which takes another process
				if r := g.c.call("keeper:pid", "{}"); r.Status != chat.CallOK {
					t.Errorf("another call came to %s: %s", r.Status, r.Error)
				}
				must(t, g.c.gate.Reach.RevokeFolder(t.Context(), "keeper", g.folder))
			}, opened: true, why: takenBack,
		},
		"some of a folder, which a rule refuses": {
			change: func(t *testing.T, g given) {
				_, err := g.c.gate.Rules.Add(t.Context(), gate.Rule{
					Effect: gate.Deny, Plugin: "keeper", Permission: gate.Filesystem, Scope: gate.Always, MadeFrom: "ask_x",
					Match: []gate.Match{{Field: "path", Op: gate.PathUnder, Value: filepath.Join(g.folder, "Letters")}},
				})
				must(t, err)
			}, why: takenBack,
		},
		"a program": {
			give: func(t *testing.T, g given) {
				_, err := g.c.gate.Reach.AllowProgram(t.Context(), "keeper", program)
				must(t, err)
			},
			change: func(t *testing.T, g given) {
				must(t, g.c.gate.Reach.RevokeProgram(t.Context(), "keeper", program))
			}, why: takenBack,
		},
		"all programs but one": {
			give: func(t *testing.T, g given) {
				must(t, g.c.gate.Reach.SetPermission(t.Context(), "keeper", gate.Programs, gate.Allow))
			},
			change: func(t *testing.T, g given) {
				_, err := g.c.gate.Reach.AllowProgram(t.Context(), "keeper", program)
				must(t, err)
			}, why: takenBack,
		},
		"everything, with the plugin": {
			change: func(t *testing.T, g given) { must(t, g.c.host.Forget(t.Context(), "keeper")) },
			why:    "the person removed the plugin",
		},
		"nothing: the same once more": {change: func(t *testing.T, g given) { grant(t, g, true) }},
		"nothing: a program more": {change: func(t *testing.T, g given) {
			_, err := g.c.gate.Reach.AllowProgram(t.Context(), "keeper", program)
			must(t, err)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := open(t, t.TempDir(), t.TempDir())
			programtest.Held(t, c.launcher.Confinement())
			c.write("keeper.py", keeper)
			c.approved("keeper")
			g := given{c, real(t)}
			if one.opened {
				t.Cleanup(c.gate.Questions.Attach())
				go func() { // ends with its answer
					testkit.Until(t, "a request", func() bool { return len(c.gate.Questions.List()) == 1 })
					r := c.gate.Questions.List()[0]
					if err := c.gate.Questions.Answer(t.Context(), r.ID, r.Nonce,
						gate.Answer{Effect: gate.Allow, Scope: gate.Always}); err != nil {
						t.Error(err)
					}
				}()
			} else {
				grant(t, g, true)
			}
			if one.give != nil {
				one.give(t, g)
			}
			process, result := c.keeping(g.folder)
			one.change(t, g)
			if one.why == "" {
				c.settled(t)
				must(t, os.WriteFile(filepath.Join(c.data, "storage", "keeper", "done"), nil, 0o600))
				if r := <-result; r.Status != chat.CallOK {
					t.Errorf("it came to %s: %s", r.Status, r.Error)
				}
				return
			}
			if r := <-result; !strings.Contains(r.Error, one.why) {
				t.Errorf("the call came to %s: %q", r.Status, r.Error)
			}
			testkit.Until(t, "the process to end", func() bool { return syscall.Kill(process, 0) != nil })
			s, err := c.host.Status("keeper")
			must(t, err)
			if s.State != plugin.Ready || s.Problem != nil {
				t.Errorf("the plugin is %s: %v", s.State, s.Problem)
			}
		})
	}
}

// takenBack is in what a call comes to whose process ended with a right of its plugin.
const takenBack = "the person took back something that its plugin was allowed"

// settled returns once the host has acted on all that the gate announced: it does so in order.
func (c *core) settled(t *testing.T) {
	t.Helper()
	must(t, c.gate.Reach.SetPermission(t.Context(), "keeper", gate.Network, gate.Allow))
	testkit.Until(t, "the host to hear of it", func() bool {
		s, err := c.host.Status("keeper")
		must(t, err)
		return len(s.Granted) > 0 && strings.Contains(strings.Join(s.Granted, " "), gate.Network)
	})
}

//go:build linux

package hosttest

import (
	"os"
	"strings"
	"testing"

	"conclave/app/test/programtest"
)

// Programs such as bubblewrap read the two before they start a child behind walls of their own.
func TestAPluginReadsTheNumbersThatConfiningItsOwnChildTakes(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	programtest.Walls(t, c.launcher.Confinement())
	c.write("confines.py", `
def numbers() -> str:
    "Read the numbers of nobody."
    return " ".join(open("/proc/sys/kernel/overflow" + which).read().strip() for which in ("uid", "gid"))

def more() -> str:
    "Read what no plugin reads."
    try:
        return open("/proc/sys/kernel/core_pattern").read()
    except PermissionError:
        return "refused"
`)
	c.approved("confines")
	var want []string
	for _, which := range []string{"uid", "gid"} {
		number, err := os.ReadFile("/proc/sys/kernel/overflow" + which)
		must(t, err)
		want = append(want, strings.TrimSpace(string(number)))
	}
	c.answers("confines:numbers", "{}", strings.Join(want, " "))
	c.begins("confines:more", "{}", "refused")
}

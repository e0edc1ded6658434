package keys

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// reachable reports whether asking the keychain can be answered at all; tests
// replace it.
var reachable = sessionBus

// sessionBus reports whether there is a session's message bus, behind which the
// keychain of a desktop on Linux or BSD is. Where there is none, go-keyring's
// D-Bus library starts one with dbus-launch, which outlives us: one more process
// at each run. The places are those where that library looks.
func sessionBus() bool {
	if runtime.GOOS == "darwin" || runtime.GOOS == "windows" {
		return true
	}
	switch address := os.Getenv("DBUS_SESSION_BUS_ADDRESS"); address {
	case "", "autolaunch:":
	default:
		return true
	}
	for _, name := range []string{"bus", "dbus-session"} {
		if _, err := os.Stat(filepath.Join(fmt.Sprintf("/run/user/%d", os.Getuid()), name)); err == nil {
			return true
		}
	}
	return false
}

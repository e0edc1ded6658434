package functions_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"conclave/app/plugin"
	"conclave/app/plugin/python/pythontest"
	"conclave/app/plugin/worker/confine"
)

func TestSettingsAreNotWhereOtherProgramsCanReadThem(t *testing.T) {
	d := aPython(t)
	dir := files(t, map[string]string{"plug.py": `
import os

def region() -> str:
    """The region that is set."""
    return os.environ["WEATHER_REGION"]
`})
	where := plugin.StartOptions{Options: json.RawMessage(`{"environment":{"WEATHER_REGION":"north-by-northwest"}}`)}
	w := pythontest.LaunchWith(t, d, source(t, filepath.Join(dir, "plug.py")), where)
	w.List()
	for _, file := range []string{"cmdline", "environ"} {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", w.Cmd.Process.Pid, file))
		must(t, err)
		if bytes.Contains(text, []byte("north")) {
			t.Errorf("%s of the worker holds a setting: %q", file, text)
		}
	}
	if got := w.Call("region", `{}`).Text(); got != "north-by-northwest" {
		t.Errorf("the plugin has %q, want the setting", got)
	}
}

func TestWhatLibrariesReadOfTheMachineIsThereAndNothingOfThePerson(t *testing.T) {
	if confine.Detect().Level != "process+landlock" {
		t.Skip("this system has no walls")
	}
	d := aPython(t)
	dir := files(t, map[string]string{"plug.py": `
def kind(name: str) -> str:
    """The kind of a file."""
    import mimetypes
    return str(mimetypes.guess_type(name)[0])

def who() -> str:
    """The person's name."""
    import getpass
    return getpass.getuser()

def reads(path: str) -> str:
    """Whether a file can be read."""
    import os
    try:
        open(path).read(1)
    except PermissionError:
        return "refused"
    except FileNotFoundError:
        return "missing"
    return "yes"
`})
	w := pythontest.BehindWalls(t, d, filepath.Join(dir, "plug.py"))
	w.List()
	if _, err := os.Stat("/etc/mime.types"); err == nil { // a package brings it
		if got := w.Call("reads", `{"path":"/etc/mime.types"}`).Text(); got != "yes" {
			t.Errorf("the kinds of files can be read: %s", got)
		}
	}
	for _, c := range []struct{ tool, arguments, want string }{
		{"kind", `{"name":"a.png"}`, "image/png"},
		{"who", `{}`, "conclave"},
		{"reads", `{"path":"/proc/meminfo"}`, "yes"},
		{"reads", `{"path":"/proc/cpuinfo"}`, "yes"},
		{"reads", `{"path":"/proc/stat"}`, "refused"},
		{"reads", `{"path":"/proc/self/environ"}`, "refused"},
		{"reads", `{"path":"/etc/passwd"}`, "refused"},
	} {
		if got := w.Call(c.tool, c.arguments).Text(); got != c.want {
			t.Errorf("%s of %s says %q, want %q", c.tool, c.arguments, got, c.want)
		}
	}
}

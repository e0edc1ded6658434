package hosttest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/gate"
	"conclave/app/plugin/plugintest"
	"conclave/app/test/programtest"
)

const boxed = `import llm, os

TAG = os.environ.get("NOTES_TAG")

class Text(llm.Toolbox):
    def __init__(self, path: str, tag: str = ""):
        self.path, self.tag = path, tag

    def read(self) -> str:
        "Read it."
        return open(self.path).read()

    def read_tag(self) -> str:
        "Read what is no path."
        return open(os.path.join(self.tag, "x.txt")).read()

@llm.hookimpl
def register_tools(register):
    register(Text)
`

func TestOnlySettingsDeclaredAsPathsAreReadAndCanBeTakenBack(t *testing.T) {
	home := real(t)
	programtest.Worker(t) // the compiler's cache is found below the home folder
	t.Setenv("HOME", home)
	for _, name := range []string{"Notes/x.txt", "Other/x.txt", ".hidden/x.txt"} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o700),
			os.WriteFile(filepath.Join(home, name), []byte(name), 0o600))
	}
	c := open(t, t.TempDir(), t.TempDir())
	programtest.Walls(t, c.launcher.Confinement())
	c.write("text/text.py", boxed)
	c.approved("text")
	set := func(path, tag string) error {
		values, err := json.Marshal(map[string]any{"Text": map[string]string{"path": path, "tag": tag}})
		must(t, err)
		err = c.host.Settings.Set(t.Context(), "text", values)
		must(t, c.host.WaitIdle(t.Context()))
		if s, _ := c.host.Status("text"); s.State != "ready" { // what its settings made of its tools is looked at once more
			must(t, plugintest.Approve(t.Context(), c.host, "text", true), c.host.WaitIdle(t.Context()))
		}
		return err
	}
	refused := func(tool string) {
		t.Helper()
		if r := c.call("text:"+tool, "{}"); !strings.Contains(r.Error, "PermissionError") {
			t.Errorf("%s: %s %q", tool, r.Status, r.Error)
		}
	}
	for path, why := range map[string]string{
		"~/.hidden/x.txt": "is hidden, or lies in a hidden folder", "Notes/x.txt": "is no absolute path",
		"/etc/passwd": "is a folder of the system",
		"/proc/self":  "is a folder of the system", "~/nothing": "There is no ~/nothing",
	} {
		if err := set(path, ""); err == nil || !strings.HasPrefix(fault.Of(err).Message, "The setting Text.path: ") ||
			!strings.Contains(fault.Of(err).Message, why) {
			t.Errorf("%s: got %v", path, err)
		}
	}
	must(t, set("~/Notes/x.txt", filepath.Join(home, "Other")))
	c.answers("text:Text_read", "{}", "Notes/x.txt")
	refused("Text_read_tag")
	s, err := c.host.Status("text")
	must(t, err)
	want := gate.Folder{Path: filepath.Join(home, "Notes", "x.txt"), Setting: "Text.path"}
	if len(s.Folders) != 1 || s.Folders[0] != want {
		t.Errorf("listed are %+v", s.Folders)
	}
	// Another path takes the place of the first.
	must(t, set("~/Other/x.txt", ""))
	c.answers("text:Text_read", "{}", "Other/x.txt")
	if s, err := c.host.Status("text"); err != nil || len(s.Folders) != 1 ||
		s.Folders[0].Path != filepath.Join(home, "Other", "x.txt") {
		t.Errorf("listed are %+v, %v", s.Folders, err)
	}
	// Taken back, it stays so.
	must(t, c.gate.Reach.RevokeFolder(t.Context(), "text", "~/Other/x.txt"))
	refused("Text_read")
	must(t, c.host.Reload("text"), c.host.WaitIdle(t.Context()))
	refused("Text_read")

	// Named for one run, it is read for that run alone.
	id, err := c.host.ThisRun.LoadWith(t.Context(), "text", json.RawMessage(`{"Text":{"path":"~/Notes/x.txt"}}`))
	must(t, err)
	c.answers(id+":Text_read", "{}", "Notes/x.txt")
	if got := c.gate.Reach.Folders("text"); len(got) != 0 {
		t.Errorf("kept are %+v", got)
	}
}

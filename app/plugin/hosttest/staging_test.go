package hosttest

import (
	"archive/zip"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/plugin/watch"
)

// planted returns a plugin that works, with what git, editors and shells run for a person.
func planted(ran string) tree {
	return tree{
		"spindle.json": manifest("gift", ""), "dist/backend.js": says("say", `"a gift"`),
		".envrc": "touch " + ran, ".vscode/tasks.json": "{}", ".idea/x.xml": "<x/>", "lib/.git/config": "[core]",
		"node_modules/x/index.js": "1",
	}
}

func TestAttackAPluginBringsWhatGitAndEditorsRunByThemselves(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed")
	}
	ran := filepath.Join(t.TempDir(), "ran")
	repository := tree{
		".git/HEAD": "ref: refs/heads/main\n", ".git/refs/heads/.keep": "", ".git/objects/.keep": "",
		".git/config": "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = \"touch " + ran + ";false\"\n",
	}
	both := planted(ran)
	maps.Copy(both, repository)
	folder := lay(t, "gift", both)
	for name, from := range map[string]string{
		"folder": folder, "zip": pack(t, "gift.zip", planted(ran), func(w *zip.Writer) {
			for name, text := range repository {
				f, err := w.Create(name)
				must(t, err)
				_, err = f.Write([]byte(text))
				must(t, err)
			}
		}),
		"git": serveGit(t, planted(ran)) + "/same.git",
	} {
		t.Run(name, func(t *testing.T) {
			c := open(t, t.TempDir(), t.TempDir())
			if id := c.add(from); id != "gift" {
				t.Fatalf("it was added as %s", id)
			}
			at := filepath.Join(c.dir, "gift")
			must(t, filepath.WalkDir(at, func(path string, _ os.DirEntry, err error) error {
				if path != at && watch.Ignored(filepath.Base(path)) {
					t.Errorf("the plugins folder holds %s, which nobody is shown", path)
				}
				return err
			}))
			cmd := exec.Command(git, "-C", at, "status")
			cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+c.dir)
			out, err := cmd.CombinedOutput()
			if _, there := os.Lstat(ran); there == nil || err == nil {
				t.Errorf("git status there says %q, and what came with the plugin ran: %v", out, there == nil)
			}
			t.Logf("stopped by: git finds no repository there: %s", strings.TrimSpace(string(out)))
			c.accept("gift")
			c.answers("gift:say", "{}", "a gift")
		})
	}
	cmd := exec.Command(git, "-C", folder, "status")
	cmd.Env = append(os.Environ(), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
	_ = cmd.Run() // it need not succeed
	if _, err := os.Lstat(ran); err != nil {
		t.Errorf("git status runs nothing in the folder that the plugin came from either: %v", err)
	}
}

func TestAttackARepositoryNamesAFilterOfThePersons(t *testing.T) {
	ran := filepath.Join(t.TempDir(), "ran")
	address := serveGit(t, tree{
		"spindle.json": manifest("gift", ""), "dist/backend.js": says("say", `"a gift"`),
		".gitattributes": "*.js filter=mine\n",
	})
	home := t.TempDir()
	settings := "[filter \"mine\"]\n\tsmudge = touch " + ran + "; cat\n\tclean = cat\n" +
		"[core]\n\tattributesFile = " + home + "/attributes\n" +
		"[http]\n\tsslCAInfo = " + os.Getenv("GIT_SSL_CAINFO") + "\n"
	must(t, os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(settings), 0o600))
	must(t, os.WriteFile(filepath.Join(home, "attributes"), []byte("* filter=mine\n"), 0o600))
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	t.Setenv("GIT_SSL_CAINFO", "") // the person's settings name the certificate, and are heeded in that
	must(t, os.Unsetenv("GIT_SSL_CAINFO"))
	// Variables come before all files.
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "filter.mine.smudge")
	t.Setenv("GIT_CONFIG_VALUE_0", "touch "+ran+"; cat")
	c := open(t, t.TempDir(), t.TempDir())
	if id := c.add(address + "/same.git"); id != "gift" {
		t.Errorf("it was added as %s", id)
	}
	if _, err := os.Lstat(ran); err == nil {
		t.Error("a filter of the person's ran on files of a stranger")
	}
	t.Log("stopped by: git runs without the person's settings, but for the way out to the network")
	c.accept("gift")
	c.answers("gift:say", "{}", "a gift")
}

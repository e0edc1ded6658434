package gate_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/gate"
)

func TestApprovingOpensNoSandbox(t *testing.T) {
	g, c := trusted(t, gate.Options{}, func(c *gate.PluginVersion) {
		c.Dialect, c.Permissions = "neko", []string{"chat_mutation", "network", "programs", "filesystem"}
	})
	if granted, denied := g.Reach.Permissions(c.Plugin); !slices.Equal(granted, []string{"chat_mutation"}) ||
		len(denied) != 0 {
		t.Errorf("granted %v, denied %v", granted, denied)
	}
	must(t, g.Reach.SetPermission(t.Context(), c.Plugin, "network", gate.Allow))
	if granted, _ := g.Reach.Permissions(c.Plugin); !slices.Equal(granted, []string{"chat_mutation", "network"}) {
		t.Errorf("after a yes of its own, granted %v", granted)
	}
}

func TestOnlyPermissionsThatExistCanBeAskedForAndGranted(t *testing.T) {
	invented := []string{"local_network", "root", "tools\nand all", "\u202ekrowten", "", "Network", "network ", "chats"}
	for _, dialect := range []string{"spindle", "neko", "maibot", "functions"} {
		g, c := trusted(t, gate.Options{}, func(c *gate.PluginVersion) { c.Dialect, c.Permissions = dialect, invented })
		if granted, denied := g.Reach.Permissions(c.Plugin); !slices.Equal(granted, []string{"chats"}) || len(denied) != 0 {
			t.Errorf("%s: granted %q, denied %q", dialect, granted, denied)
		}
		for _, name := range invented {
			if name == "local_network" || name == "chats" {
				continue
			}
			if err := g.Reach.SetPermission(t.Context(), c.Plugin, name, gate.Allow); fault.KindOf(err) != fault.Invalid {
				t.Errorf("%s: %q was granted: %v", dialect, name, err)
			}
		}
		// Its own command is the one way to it.
		must(t, g.Reach.SetPermission(t.Context(), c.Plugin, "local_network", gate.Allow))
		if granted, _ := g.Reach.Permissions(c.Plugin); !slices.Equal(granted, []string{"chats", "local_network"}) {
			t.Errorf("%s: granted %q", dialect, granted)
		}
	}
}

func TestWhatWasInventedAndApprovedBeforeIsNoPermission(t *testing.T) {
	l := newMemory()
	ctx := t.Context()
	for _, err := range []error{
		l.PutApproval(ctx, gate.Approval{
			Plugin: "old", Effect: gate.Allow, Permissions: []string{"chats", "local_network", "invented"},
		}),
		l.PutRule(ctx, gate.Rule{
			ID: "g", Plugin: "old", Permission: "invented", Effect: gate.Allow, Scope: gate.Always,
		}),
		l.PutRule(ctx, gate.Rule{
			ID: "f", Plugin: "old", Permission: "filesystem", Effect: gate.Allow, Scope: gate.Always,
		}),
	} {
		must(t, err)
	}
	g := open(t, gate.Options{Store: l})
	if granted, _ := g.Reach.Permissions("old"); !slices.Equal(granted, []string{"chats"}) {
		t.Errorf("granted %q", granted)
	}
	if err := g.Reach.SetPermission(ctx, "old", "invented", gate.Deny); err != nil {
		t.Errorf("it cannot be taken back: %v", err)
	}
}

func TestFoldersAreGrantedOneByOneAndTakenBack(t *testing.T) {
	l := newMemory()
	g, c := trusted(t, gate.Options{Store: l}, func(*gate.PluginVersion) {})
	read, write := t.TempDir(), t.TempDir()
	for _, f := range []gate.Folder{{Path: read}, {Path: write, Write: true}, {Path: read}} {
		if _, err := g.Reach.GrantFolder(t.Context(), c.Plugin, f); err != nil {
			t.Fatal(err)
		}
	}
	err := g.Reach.SetPermission(t.Context(), c.Plugin, "filesystem", gate.Allow)
	if fault.KindOf(err) != fault.Invalid ||
		!strings.Contains(fault.Of(err).Hint, "--match path=") {
		t.Errorf("all files at once: %v", err)
	}
	again := open(t, gate.Options{Store: l})
	if got := again.Reach.Folders(c.Plugin); len(got) != 2 || !slices.Contains(got, gate.Folder{Path: read}) ||
		!slices.Contains(got, gate.Folder{Path: write, Write: true}) {
		t.Errorf("after a restart: %+v", got)
	}
	must(t, again.Reach.RevokeFolder(t.Context(), c.Plugin, read))
	if err := again.Reach.RevokeFolder(t.Context(), c.Plugin, read); fault.KindOf(err) != fault.NotFound {
		t.Errorf("twice: %v", err)
	}
	if err := again.Reach.SetPermission(t.Context(), c.Plugin, "filesystem", gate.Deny); err != nil ||
		len(again.Reach.Folders(c.Plugin)) != 0 {
		t.Errorf("taken back as a whole: %v, %+v", err, again.Reach.Folders(c.Plugin))
	}
	if _, err := again.Reach.GrantFolder(t.Context(), c.Plugin, gate.Folder{Path: read}); err != nil {
		t.Fatal(err)
	}
	if granted, denied := again.Reach.Permissions(c.Plugin); !slices.Contains(granted, "filesystem") || len(denied) != 0 {
		t.Errorf("granted %v, denied %v", granted, denied)
	}
}

func TestPlacesThatNoPluginIsGivenAreRefusedWithTheReason(t *testing.T) {
	home, data, plugins := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	for _, name := range []string{"Notes", ".ssh", ".config/app", "Notes/.git", ".cargo/bin"} {
		must(t, os.MkdirAll(filepath.Join(home, name), 0o700))
	}
	for _, name := range []string{".npmrc", ".cargo/credentials.toml"} {
		must(t, os.WriteFile(filepath.Join(home, name), nil, 0o600))
	}
	must(t, os.Symlink(filepath.Join(home, ".ssh"), filepath.Join(home, "innocent")))
	g := open(t, gate.Options{Protected: []string{data}, Plugins: plugins})
	for path, why := range map[string]string{
		"~/.ssh": "place of keys", filepath.Join(home, "innocent"): "place of keys", home: "whole home", "~": "whole home",
		filepath.Dir(home): "holds your home",
		"/":                "holds your home", "~/.config": "holds places of", "~/.config/app": "hidden",
		"~/Notes/.git": "hidden", "~/.npmrc": "place of keys", "~/.cargo": "holds places of", "~/.cargo/bin": "hidden",
		"~/.cargo/credentials.toml": "place of keys",
		data:                        "place of keys", plugins: "place of keys", "/proc": "folder of the system",
		"/proc/self": "folder of the system",
		"/etc":       "folder of the system", "/etc/passwd": "folder of the system", "/usr/share": "folder of the system",
		"/dev":      "folder of the system",
		"Documents": "no absolute path", "../x": "no absolute path", "": "no absolute path",
		"/no/such/thing": "There is no /no/such/thing", "~/Not\u202ees": "There is no ~/Not?es",
	} {
		if _, err := g.Reach.GrantablePath(path); err == nil || !strings.Contains(fault.Of(err).Message, why) {
			t.Errorf("%q: got %v, want %q", path, err, why)
		}
	}
	want, err := filepath.EvalSymlinks(filepath.Join(home, "Notes"))
	must(t, err)
	for _, path := range []string{"~/Notes", filepath.Join(home, "Notes"), filepath.Join(home, "Notes", "..", "Notes")} {
		if got, err := g.Reach.GrantablePath(path); err != nil || got != want {
			t.Errorf("%q: got %q, %v", path, got, err)
		}
	}
}

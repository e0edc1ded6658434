package mcp_test

import (
	"archive/zip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/plugin"
	"conclave/app/test/testkit"
)

// pack writes a bundle into the plugins folder, with the server of these tests below node_modules.
func (b *bench) pack(name, version string) {
	b.t.Helper()
	manifest := `{"manifest_version": "0.3", "name": "packed", "display_name": "Packed", "version": "` + version + `",
		"description": "Comes whole.", "author": {"name": "Ann"}, "tools": [{"name": "echo", "description": "Says it."}],
		"server": {"type": "python", "entry_point": "node_modules/server.py", "mcp_config": {"command": "` + python + `",
			"args": ["${__dirname}/node_modules/server.py", "${user_config.moods}"]}},
		"user_config": {"moods": {"type": "string", "title": "Moods", "multiple": true, "required": true}}}`
	f, err := os.Create(filepath.Join(b.dir, name))
	must(b.t, err)
	z := zip.NewWriter(f)
	for file, text := range map[string]string{"manifest.json": manifest, "node_modules/server.py": server} {
		w, err := z.Create(file)
		must(b.t, err)
		_, err = w.Write([]byte(text))
		must(b.t, err)
	}
	must(b.t, z.Close())
	must(b.t, f.Close())
	b.scan()
}

func TestMC98ABundleIsAPluginWithItsSettings(t *testing.T) {
	b := newBench(t)
	b.pack("packed.mcpb", "1.0.0")
	s := b.status("packed")
	if s.State != plugin.NeedsApproval || s.Manifest.Name != "Packed" || s.Manifest.Author != "Ann" {
		t.Fatalf("%s: %+v %+v", s.State, s.Manifest, s.Problem)
	}
	notices := strings.Join(s.Manifest.Notices, " ")
	if !strings.Contains(notices, "Its file is unsigned.") || !strings.Contains(notices, "It names these tools: echo.") {
		t.Errorf("MC-99, MC-102: %q", notices)
	}
	b.approve("packed")
	s = b.status("packed")
	if s.State == plugin.Ready || s.Problem == nil || !strings.Contains(s.Problem.Message, "Moods") {
		t.Fatalf("without its required setting it is %s: %+v", s.State, s.Problem)
	}
	must(t, b.host.Settings.Set(t.Context(), "packed", []byte(`{"moods": ["+pid", "+env"]}`)))
	b.scan()
	b.approve("packed")
	b.ready("packed")
	b.says("packed:echo", `{"text":"hi"}`, "hi")
	b.pack("packed.mcpb", "1.0.1")
	if s := b.status("packed"); s.State != plugin.Quarantined || !s.Serving {
		t.Errorf("another version is %s, serving %t", s.State, s.Serving)
	}
	b.startsWithFolders(1)
	must(t, os.Remove(filepath.Join(b.dir, "packed.mcpb")))
	b.startsWithFolders(0)
}

// startsWithFolders starts Conclave again, and waits until it has left so many folders of unpacked bundles.
func (b *bench) startsWithFolders(want int) {
	b.t.Helper()
	gone := filepath.Join(b.data, "runtime/bundles/0000")
	must(b.t, os.MkdirAll(gone, 0o700))
	b.again()
	ctx, stop := context.WithCancel(b.t.Context())
	defer stop()
	over := make(chan struct{})
	go func() { defer close(over); _ = b.host.Watch(ctx) }() // ends with ctx
	defer func() { stop(); <-over }()
	testkit.Until(b.t, "the folder of an unknown bundle is gone", func() bool {
		_, err := os.Stat(gone)
		return err != nil
	})
	testkit.Until(b.t, fmt.Sprint(want, " folders are left"), func() bool {
		found, err := filepath.Glob(filepath.Join(b.data, "runtime/bundles/*"))
		return err == nil && len(found) == want
	})
}

func TestAttackFilesOfAnUnpackedBundleAreSwapped(t *testing.T) {
	b := newBench(t)
	b.pack("packed.mcpb", "1.0.0")
	b.approve("packed")
	must(t, b.host.Settings.Set(t.Context(), "packed", []byte(`{"moods": ["+pid"]}`)))
	b.scan()
	b.approve("packed")
	found, err := filepath.Glob(filepath.Join(b.data, "runtime/bundles/*/node_modules"))
	if err != nil || len(found) != 1 {
		t.Fatal(found, err)
	}
	theirs := filepath.Join(found[0], "server.py")
	for _, swap := range []func(){
		func() { write(t, theirs, strings.Replace(server, `args.get("text", "")`, `"evil"`, 1)) },
		func() { write(t, filepath.Join(found[0], "json.py"), `raise SystemExit("evil")`) },
		func() { must(t, os.Remove(theirs)) },
	} {
		swap()
		b.again()
		b.says("packed:echo", `{"text":"hi"}`, "hi")
	}
	t.Log("stopped by: the files of a bundle are compared with it before each start")
}

func TestMC98ABrokenBundleSaysWhy(t *testing.T) {
	b := newBench(t)
	write(t, filepath.Join(b.dir, "broken.mcpb"), "no archive")
	b.scan()
	if s := b.status("broken"); s.State != plugin.Failed || !strings.Contains(s.Problem.Message, "no bundle") {
		t.Errorf("%s: %+v", s.State, s.Problem)
	}
}

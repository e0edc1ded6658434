package mcp_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/tool"
)

func TestMC114AFolderThatACommandNamesIsOfferedAndAnAnswerWithoutItSaysSo(t *testing.T) {
	b := newBench(t)
	folder := t.TempDir()
	file := filepath.Join(folder, "a.txt")
	write(t, file, "inside")
	b.save("s.mcp.json", map[string]any{"s": b.entry("+reads", folder)})
	b.approve("s")
	wants := []plugin.Refusal{{Permission: gate.Filesystem, Path: folder}}
	if got := b.status("s").Refused; len(got) != 1 || got[0] != wants[0] {
		t.Errorf("its card offers %+v", got)
	}
	r := b.call(t.Context(), "s:reads", `{"path":"`+file+`"}`)
	if r.Status != chat.CallRaised || !strings.Contains(r.Error, wants[0].Command("s")) {
		t.Errorf("a call that needs it answers %s %q", r.Status, r.Error)
	}
	if r := b.call(t.Context(), "s:reads", `{"path":"/proc/self/stat"}`); r.Status != chat.CallOK {
		t.Errorf("it cannot learn how much memory it uses: %s", r.Error)
	}
	if r := b.call(t.Context(), "s:reads", `{"path":"/etc/shadow"}`); strings.Contains(r.Error, "conclave plugins grant") {
		t.Errorf("a file that nobody named is offered: %q", r.Error)
	}
	if _, err := b.gate.Reach.GrantFolder(t.Context(), "s", gate.Folder{Path: folder}); err != nil {
		t.Fatal(err)
	}
	must(t, b.host.WaitIdle(t.Context()))
	if got := b.status("s").Refused; len(got) != 0 {
		t.Errorf("once it may read the folder its card offers %+v", got)
	}
	b.says("s:reads", `{"path":"`+file+`"}`, "inside")
}

func TestMC114AFileThatASettingNamesIsWrittenOnceItsFolderIsAllowed(t *testing.T) {
	b := newBench(t)
	folder := t.TempDir()
	file := filepath.Join(folder, "graph.json")
	entry := b.entry("+writes")
	entry["env"] = map[string]any{"GRAPH": "${GRAPH}"}
	b.save("s.mcp.json", map[string]any{"s": entry})
	_ = approveOnce(b, "s") // it lacks its setting
	must(t, b.host.Settings.Set(t.Context(), "s", []byte(`{"GRAPH": "`+file+`"}`)))
	must(t, b.host.WaitIdle(t.Context()))
	b.approve("s")
	wish := plugin.Refusal{Permission: gate.Filesystem, Path: folder, Write: true}
	save := func() tool.Result { return b.call(t.Context(), "s:writes", `{"path":"`+file+`"}`) }
	if r := save(); r.Status != chat.CallRaised || !strings.Contains(r.Error, wish.Command("s")) {
		t.Errorf("a call that needs the folder answers %s %q", r.Status, r.Error)
	}
	if got := b.status("s").Refused; !slices.Contains(got, wish) {
		t.Errorf("its card offers %+v", got)
	}
	// Reading alone does not do, and the answer says so again.
	for _, f := range []gate.Folder{{Path: folder}, {Path: folder, Write: true}} {
		if r := save(); !strings.Contains(r.Error, wish.Command("s")) {
			t.Errorf("the call answers %s %q", r.Status, r.Error)
		}
		_, err := b.gate.Reach.GrantFolder(t.Context(), "s", f)
		must(t, err)
		must(t, b.host.WaitIdle(t.Context()))
	}
	b.says("s:writes", `{"path":"`+file+`"}`, "written")
}

func TestMC107AServerThatMayNotStartWhatItNeedsSaysSo(t *testing.T) {
	b := newBench(t)
	b.save("s.mcp.json", map[string]any{"s": b.entry("starts")})
	must(t, approveOnce(b, "s"))
	if p := b.status("s").Problem; p == nil || !strings.Contains(p.Hint, "conclave plugins grant s programs") ||
		!strings.Contains(p.Stderr, "not permitted") {
		t.Errorf("its card says %+v", p)
	}
}

func TestAServerStartsTheProgramsOfItsPackageOnceItMayStartPrograms(t *testing.T) {
	b := newBench(t)
	helper := filepath.Join(b.scripts, "helper")
	write(t, helper, "#!/bin/sh\necho helped\n")
	must(t, os.Chmod(helper, 0o700))
	b.save("s.mcp.json", map[string]any{"s": b.entry("+runs")})
	b.approve("s")
	if r := b.call(t.Context(), "s:runs", "{}"); !strings.Contains(r.Error, "conclave plugins grant s programs") {
		t.Errorf("without the permission it answers %s %q", r.Status, r.Error)
	}
	must(t, b.gate.Reach.SetPermission(t.Context(), "s", gate.Programs, gate.Allow))
	must(t, b.host.WaitIdle(t.Context()))
	b.says("s:runs", "{}", "helped\n")
}

package mcp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/plugin"
)

func TestMC96EveryServerOfAFileIsAPluginAndSavingRestartsOnlyThoseThatChanged(t *testing.T) {
	b := newBench(t)
	b.save("work.mcp.json", map[string]any{"a": b.entry("+pid"), "b": b.entry("+pid"), "work": b.entry()})
	if got := b.ids(); got != "work work-a work-b" {
		t.Fatalf("the plugins are %s", got)
	}
	b.approve("work-a", "work-b")
	b.ready("work-a", "work-b")
	pid := func(id string) string { return textOf(b.call(t.Context(), id+":pid", "{}")) }
	a, other := pid("work-a"), pid("work-b")
	b.save("work.mcp.json", map[string]any{"a": b.entry("+pid"), "b": b.entry("+pid", "+more")})
	if got := b.ids(); got != "work-a work-b" {
		t.Errorf("after an entry is removed the plugins are %s", got)
	}
	if pid("work-a") != a {
		t.Error("a server whose entry did not change was started again")
	}
	if s := b.status("work-b"); s.State != plugin.Quarantined || !s.Serving {
		t.Errorf("a changed entry is %s, serving %t", s.State, s.Serving)
	}
	if pid("work-b") != other {
		t.Error("the approved server does not go on while the changed one waits")
	}
	must(t, os.Remove(filepath.Join(b.dir, "work.mcp.json")))
	b.scan()
	if got := b.ids(); got != "" {
		t.Errorf("after the file is removed there are %s", got)
	}
}

func TestMC96AFolderWithMCPJSONHoldsServersWithTheirFiles(t *testing.T) {
	b := newBench(t)
	write(t, filepath.Join(b.dir, "notes", "server.py"), server)
	b.save("notes/mcp.json", map[string]any{"notes": map[string]any{"command": python, "args": []string{"server.py"}}})
	b.approve("notes")
	b.ready("notes")
	b.says("notes:echo", `{"text":"hi"}`, "hi")
	write(t, filepath.Join(b.dir, "notes", "server.py"), server+"\n# changed\n")
	b.scan()
	if s := b.status("notes"); s.State != plugin.Quarantined {
		t.Errorf("with other code it is %s", s.State)
	}
}

func TestMC95ABrokenFileNamesItsPlaceAndKeepsItsServers(t *testing.T) {
	b := newBench(t)
	b.save("work.mcp.json", map[string]any{"a": b.entry()})
	b.approve("work-a")
	write(t, filepath.Join(b.dir, "work.mcp.json"), "{\n  \"mcpServers\": {\"a\" 1}\n}")
	b.scan()
	s := b.status("work")
	if s.State != plugin.Failed || s.Problem.Line != 2 || s.Problem.Column == 0 {
		t.Errorf("the file is %s: %+v", s.State, s.Problem)
	}
	b.ready("work-a")
	b.says("work-a:echo", `{"text":"still"}`, "still")
	write(t, filepath.Join(b.dir, "work.mcp.json"), `{"mcpServers": {"a": 1, "b": {"command": "`+python+`"}}}`)
	b.scan()
	if s := b.status("work-a"); s.State != plugin.Failed {
		t.Errorf("a bad entry is %s", s.State)
	}
	if s := b.status("work-b"); s.State != plugin.NeedsApproval {
		t.Errorf("the entry next to it is %s: %+v", s.State, s.Problem)
	}
}

func TestMC91AServerOfAFileThatHoldsOthersIsNotRemovedWithThem(t *testing.T) {
	b := newBench(t)
	b.save("work.mcp.json", map[string]any{"a": b.entry(), "b": b.entry()})
	if path, err := b.host.PathOf("work-a"); err == nil {
		t.Errorf("what would be removed is %s, with another server", path)
	}
	b.save("work.mcp.json", map[string]any{"a": b.entry()})
	if path, err := b.host.PathOf("work-a"); err != nil || filepath.Base(path) != "work.mcp.json" {
		t.Errorf("alone it lies at %s, %v", path, err)
	}
}

func TestMC46NamesOfServersStayReadableAndApart(t *testing.T) {
	b := newBench(t)
	long := "a-very-long-name-of-a-server-that-nobody-would-choose-but-somebody-has"
	b.save("w.mcp.json", map[string]any{
		long + "1": b.entry(), long + "2": b.entry(), "two words": b.entry(), "two/words": b.entry(),
	})
	ids := strings.Fields(b.ids())
	if len(ids) != 4 {
		t.Fatalf("four servers are %q", ids)
	}
	for _, id := range ids {
		if len(id) > 64 || plugin.LegalID(id) != id {
			t.Errorf("an id is %q", id)
		}
	}
}

func TestMC95AServerInTwoConfigurationsSaysThatItIsThere(t *testing.T) {
	b := newBench(t)
	b.save("home.mcp.json", map[string]any{"files": b.entry("+more")})
	b.save("work.mcp.json", map[string]any{"files": b.entry("+more"), "others": b.entry()})
	said := func(id string) string { return strings.Join(b.status(id).Notes, " ") }
	const there = "The same server is already there as “home-files”."
	if !strings.Contains(said("work-files"), there) ||
		strings.Contains(said("home-files")+said("work-others"), "already there") {
		t.Errorf("before the approval: %q, %q, %q", said("home-files"), said("work-files"), said("work-others"))
	}
	b.approve("work-files") // the one that serves is the one that is there
	if !strings.Contains(said("home-files"), "as “work-files”") || said("work-files") != "" {
		t.Errorf("after the approval: %q, %q", said("home-files"), said("work-files"))
	}
}

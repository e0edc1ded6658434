package picoclaw_test

import (
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/base/limit"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/picoclaw"
)

func TestPC01TheFirstLineIsHello(t *testing.T) {
	b := newBench(t)
	s := b.hook("order", entry{
		"intercept": []string{"approve_tool", "before_tool", "after_llm"}, "observe": []string{"turn_end"},
	}, told+"serve()")
	if s.State != plugin.Ready {
		t.Fatalf("it is %s: %+v", s.State, s.Problem)
	}
	want := `{"jsonrpc":"2.0","id":1,"method":"hook.hello",` +
		`"params":{"name":"order","version":1,"modes":["observe","llm","tool","approve"]}}`
	if got := b.heard("order"); len(got) != 1 || got[0] != want {
		t.Errorf("it heard %q", got)
	}
	b.hook("some", entry{"intercept": []string{"approve_tool"}, "name": "other name"}, told+"serve()")
	want = `{"jsonrpc":"2.0","id":1,"method":"hook.hello","params":{"name":"other name","version":1,"modes":["approve"]}}`
	if got := b.heard("some"); len(got) != 1 || got[0] != want {
		t.Errorf("it heard %q", got)
	}
}

func TestPC07AFileThatIsTooLongIsNotRead(t *testing.T) {
	b := newBench(t)
	write(t, filepath.Join(b.dir, "long", picoclaw.FileName), "{"+strings.Repeat(" ", limit.HookFile)+"}")
	must(t, b.host.Scan())
	must(t, b.host.WaitIdle(t.Context()))
	if s := b.status("long"); s.Problem == nil ||
		s.Problem.Message != "The file with its hooks has more than 1 MiB, so it was not read." {
		t.Errorf("it is %s: %+v", s.State, s.Problem)
	}
}

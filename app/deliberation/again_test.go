package deliberation_test

import (
	"slices"
	"testing"

	"conclave/app/council"
	"conclave/app/deliberation"
	"conclave/app/llm/llmtest"
)

// repeated makes the newest run again with a change, and returns it as it then is.
func (b *bench) repeated(main *llmtest.Model, change deliberation.Change) council.Run {
	b.t.Helper()
	before, _ := b.stored()
	if _, err := b.runner.Run(b.t.Context(), again(b, main, before.Question),
		deliberation.How{Again: before.Begin.Run, Change: change}, nil); err != nil {
		b.t.Fatal(err)
	}
	run, _ := b.stored()
	return run
}

func TestARunIsMadeAgainWithTheHelpersModelOrWithoutARole(t *testing.T) {
	b := newBench(t)
	b.council(`{"enabled": true, "mode": "opinions", "helper": {"model": "test/help"}, "members": [
		{"name": "Ada", "model": "test/ada"},
		{"name": "Bo", "role": "Sceptic", "model": "test/bo", "tools": ["look:look"], "context": {"policy": "question"}}]}`)
	b.says("test/ada", "Ada.")
	b.says("test/bo", "Bo.", "Bo without a role.")
	help := b.says("test/help", "Bo through the helper.")
	main := b.says("test/main", "So.", "So again.", "So once more.")
	b.ask(t.Context(), main, "Go.", deliberation.How{}).end()
	first, _ := b.stored()
	view, err := b.runner.View(t.Context(), first.Begin.Run, 0)
	if bo := view.Lanes[1]; err != nil || bo.Context.Span != council.Question || !slices.Equal(bo.Tools, []string{"look:look"}) {
		t.Errorf("the lane says that Bo was given %+v and the tools %v, %v", bo.Context, bo.Tools, err)
	}
	run := b.repeated(main, deliberation.Change{Member: "bo", Role: new("")})
	if run.Change != "Bo had no role." || run.Council.Members[1].Role != "" || len(help.Requests()) != 0 {
		t.Errorf("without a role it is %q, as %q", run.Change, run.Council.Members[1].Role)
	}
	run = b.repeated(main, deliberation.Change{Member: "bo", Model: new("")})
	if run.Change != "Bo spoke through the helper's model." || run.Models["bo"] != "test/help" || len(help.Requests()) != 1 {
		t.Errorf("with the helper's model it is %q, through %q", run.Change, run.Models["bo"])
	}
}

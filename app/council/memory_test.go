package council_test

import (
	"fmt"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/council"
)

// A chat that is not kept does not hold all its councils for as long as the program runs.
func TestRunsThatAreHeldInMemoryAreBounded(t *testing.T) {
	m := council.NewMemory()
	add := func(run council.RunID, state council.RunState) {
		t.Helper()
		h := council.Header{Run: run, Conversation: "c", State: state}
		if err := m.AppendSteps(t.Context(), h, []council.Step{{Number: 1}}, nil); err != nil {
			t.Fatal(err)
		}
	}
	add("running", council.Running)
	for i := range 20 {
		add(council.RunID(fmt.Sprint("over ", i)), council.Over)
	}
	all, err := m.Runs(t.Context(), "c")
	if err != nil || len(all) != 17 || all[0].Run != "running" || all[1].Run != "over 4" || all[16].Run != "over 19" {
		t.Errorf("held are %+v, %v", all, err)
	}
	m.Forget("over 19")
	if _, err := m.Steps(t.Context(), "over 19"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("what was forgotten is held: %v", err)
	}
}

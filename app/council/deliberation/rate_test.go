package deliberation

import (
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/council"
)

func TestAThumbOnAPointOfARunThatEndsMeanwhileIsKept(t *testing.T) {
	log := council.NewMemory()
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	run := keepRun(t, log, council.Begin{
		Run: "one", Conversation: "chat", Question: 1, Council: sittingCouncil(),
	}, at, map[string]string{})
	r := New(Options{Log: log})
	defer r.Close()
	ending := &loop{acts: make(chan asked), over: make(chan struct{})}
	close(ending.over) // it is kept whole, and still listed as live for a moment
	r.live[run.Begin.Run] = ending

	if err := r.Rate(t.Context(), run.Begin.Run, "ada", 1, true); err != nil {
		t.Fatal(err)
	}
	steps, err := log.Steps(t.Context(), run.Begin.Run)
	if last := steps[len(steps)-1]; err != nil || last.Kind != council.Rates || last.Member != "ada" || !last.Good {
		t.Errorf("the last step is %+v, %v", last, err)
	}
	err = r.Act(t.Context(), run.Begin.Run, council.Finish, "", nil, "")
	if fault.KindOf(err) != fault.Conflict {
		t.Errorf("an act comes too late: %v", err)
	}
}

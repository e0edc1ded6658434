package deliberation

import (
	"testing"
	"time"

	"conclave/app/council"
)

// Whoever reads in a list that a run is over, and opens it, sees that it is.
func TestAListKnowsOfNoStepBeforeWhoeverWatchesTheRunDoes(t *testing.T) {
	l := &loop{}
	l.watch.w = council.NewWatch(council.WatchOptions{Text: func(council.Hash) string { return "" }})
	shown, goes := make(chan struct{}), make(chan struct{})
	l.rec = newRecorder(council.NewMemory(), func(e record) {
		close(shown)
		<-goes
		l.watch.take(e)
	}, nil)
	first := council.Step{Kind: council.Begins, Begin: &council.Begin{
		Run: "one", Conversation: "chat", Question: 1, Council: sittingCouncil(),
	}}
	first.At = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	var run council.Run
	first.Number = run.Last.Number + 1
	if err := run.Apply(first); err != nil {
		t.Fatal(err)
	}
	l.rec.add(record{Event: Event{Run: run, Step: &first}, header: council.HeaderOf(run, nil)})
	<-shown
	if h := l.watch.header(); h.Run != "" {
		t.Errorf("before it is watched, it is listed as %+v", h)
	}
	close(goes)
	l.rec.close()
	if h := l.watch.header(); h.Run != "one" {
		t.Errorf("once it is watched, it is listed as %+v", h)
	}
}

package window

import (
	"slices"
	"testing"
)

func TestMC50WatchesAreBoundedAndKeepWhatHappenedFirst(t *testing.T) {
	var w watches
	ids := []string{}
	for range maxWatches {
		id, ok := w.begin()
		if !ok {
			t.Fatalf("there is no room after %d", len(ids))
		}
		ids = append(ids, id)
	}
	if _, ok := w.begin(); ok {
		t.Error("there is room for more than the most")
	}
	stopped := 0
	if !w.began(ids[0], func() { stopped++ }) || !w.heard(ids[0], WatchChanged) {
		t.Error("the first did not begin, or its change is no news")
	}
	if w.heard(ids[0], WatchChanged) || w.heard(ids[0], WatchEnded) {
		t.Error("what follows a change is news")
	}
	if !w.heard(ids[11], WatchEnded) {
		t.Error("an end is no news")
	}
	if stop := w.end(ids[1]); stop != nil {
		t.Error("one is stopped that has not begun")
	}
	if w.began(ids[1], func() {}) || w.heard(ids[1], WatchChanged) {
		t.Error("one that was ended while it began goes on")
	}
	list, ended := w.list(), Watch{ids[11], WatchEnded}
	if len(list) != maxWatches-1 || list[0] != (Watch{ids[0], WatchChanged}) || !slices.Contains(list, ended) {
		t.Errorf("they are %v", list)
	}
	w.end(ids[0])()
	if w.end(ids[0]) != nil || stopped != 1 {
		t.Errorf("it was stopped %d times", stopped)
	}
}

package window_test

import (
	"testing"
	"time"

	"conclave/app/window"
)

func TestASearchHasFilters(t *testing.T) {
	w := open(t, say("It is sunny."), say("Rain."), say("Snow in the mountains.")).quiet()
	sun, rain := w.ask("", "Sun in Oslo?"), w.ask("", "Rain in Rome?")
	w.ask("", "And the mountains?")
	folder := t.TempDir()
	must(t, w.Chats.SetProject(rain, folder))
	must(t, w.Chats.SetPinned(sun, true))
	w.until("the index", func() bool {
		l, err := w.Chats.List(window.ChatQuery{Text: "mountains"}, 0, 10)
		return err == nil && l.Searched == 100 && l.Total == 1
	})
	today, year := time.Now().Format("2006-01-02"), time.Now().Format("2006")
	for typed, want := range map[string]int{
		"pinned:":                     1,
		"pinned:no":                   2,
		"in pinned:":                  1,
		"in":                          3,
		"in role:me":                  2,
		"in ROLE:model":               1,
		"project:" + folder[1:]:       1,
		`rain project:"` + folder[1:]: 1,
		"sun project:" + folder[1:]:   0,
		"model:nobody":                0,
		"in model:nobody":             0,
		"before:" + today:             0,
		"in before:" + year:           0,
		"after:1999":                  3,
		"in after:1999-12":            3,
		"after:soon":                  0, // a word
		"in:":                         3, // a word
	} {
		l, err := w.Chats.List(window.ChatQuery{Text: typed}, 0, 10)
		if err != nil || l.Total != want || len(l.Rows) != want {
			t.Errorf("%q finds %d, %v, want %d", typed, l.Total, err, want)
		}
	}
}

package core

import (
	"strings"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/app/cost"
	"conclave/app/permit"
	"conclave/app/settings"
)

// A plugin that asks models comes to the person once it has spent what it may in a day; a no
// ends it with a sentence, also after a restart.
func TestWhatAPluginSpendsOnModelsHasACap(t *testing.T) {
	w := extension(t, runs("", `
try { return (await spindle.generate.raw({ messages: [{ role: "user", content: "Say hello." }] })).content.slice(0, 5) && "answered" }
catch (e) { return e.message }`), "tools", "generation")
	began := time.Now()
	noon := time.Date(began.Year(), began.Month(), began.Day(), 12, 0, 0, 0, time.Local)
	w.now = func() time.Time { return noon.Add(time.Since(began)) } // no day begins meanwhile, with nothing spent
	w.restart()
	must(t, w.Models.SetDefault(t.Context(), "demo/guide"))
	must(t, w.Models.SetPrices(t.Context(), []cost.Price{{Model: "demo/*", Input: 1000, Output: 1000}}))
	_, err := w.Settings.ChangeSettings(t.Context(), func(s *settings.Settings) { s.PluginSpend = 0.1 })
	must(t, err)
	must(t, w.Store.PutSpent(t.Context(), "ext", cost.Day{Date: "2001-01-01", Dollars: 99}))
	ask := func() (string, []permit.Request) {
		t.Helper()
		person := &refuser{}
		_, err := w.Gate.AddRule(t.Context(), permit.Rule{
			Effect: permit.Allow, Plugin: "ext", Tool: "*", Scope: permit.UntilQuit, Callers: []permit.Caller{permit.Main},
		})
		must(t, err)
		path, err := w.Store.Path(t.Context(), w.called("ext:run", `{}`, person))
		must(t, err)
		for _, m := range path {
			for _, p := range m.Parts {
				if p.Result != nil {
					return chat.TextOf(p.Result.Content), person.asked
				}
			}
		}
		t.Fatal("nothing was called")
		return "", nil
	}
	var said string
	var asked []permit.Request
	for range 20 {
		if said, asked = ask(); len(asked) > 0 {
			break
		}
		if said != "answered" {
			t.Fatal(said)
		}
	}
	if len(asked) != 1 || asked[0].Title != "Ext wants to spend more on your models today" ||
		!strings.Contains(asked[0].Reason, "on your models today, and you let a plugin spend $0.10 a day") {
		t.Fatalf("asked %+v", asked)
	}
	if !strings.Contains(said, "PERMISSION_DENIED: generation") || !strings.Contains(said, "the person did not allow it") {
		t.Errorf("it was told %q", said)
	}
	w.restart()
	if said, asked := ask(); len(asked) != 1 {
		t.Errorf("after a restart it was told %q, asked %+v", said, asked)
	}
}

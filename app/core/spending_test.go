package core

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"conclave/app/base/settings"
	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/gate"
	"conclave/app/model/cost"
)

// A plugin that asks models comes to the person once it has spent what it may in a day; a no
// ends it with a sentence, also after a restart.
func TestWhatAPluginSpendsOnModelsHasACap(t *testing.T) {
	w := extension(t, runs("", `
try { return (await spindle.generate.raw({ messages: [{ role: "user", content: "Say hello." }] })).content.slice(0, 5) && "answered" }
catch (e) { return e.message }`), "tools", "generation")
	w.atNoon()
	must(t, w.Models.SetDefault(t.Context(), "demo/guide"))
	must(t, w.Models.SetPrices(t.Context(), []cost.Price{{Model: "demo/*", Input: 1000, Output: 1000}}))
	_, err := w.Settings.ChangeSettings(t.Context(), func(s *settings.Settings) { s.PluginSpend = 0.1 })
	must(t, err)
	must(t, w.Store.Plugins.PutSpent(t.Context(), "ext", cost.Day{Date: "2001-01-01", Dollars: 99}))
	ask := func() (string, []gate.Request) {
		t.Helper()
		person := &refuser{}
		_, err := w.Gate.Rules.Add(t.Context(), gate.Rule{
			Effect: gate.Allow, Plugin: "ext", Tool: "*", Scope: gate.UntilQuit, Callers: []gate.Caller{gate.Main},
		})
		must(t, err)
		path, err := w.Store.Chats.Path(t.Context(), w.called("ext:run", `{}`, person))
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
	var asked []gate.Request
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

// atNoon restarts the core on a clock by which it is noon: no day begins meanwhile, with nothing
// spent.
func (w *whole) atNoon() {
	w.t.Helper()
	began := time.Now()
	noon := time.Date(began.Year(), began.Month(), began.Day(), 12, 0, 0, 0, time.Local)
	w.now = func() time.Time { return noon.Add(time.Since(began)) }
	w.restart()
}

// Three members at once, each with a tool that asks models as often and as fast as it can, spend
// no more through their plugin than it may in a day.
func TestAttackMembersSpendMoreThanTheirPluginMay(t *testing.T) {
	w := extension(t, `
for (const name of ["one", "two", "three"])
  spindle.registerTool({ name, description: "d", council_eligible: true, parameters: { type: "object", properties: {} } });
spindle.on("TOOL_INVOCATION", async () => {
  const ask = () => spindle.generate.raw({ messages: [{ role: "user", content: "Say hello." }], parameters: { max_tokens: 400 } })
    .then(() => "answered", (e) => e.message);
  const said = (await Promise.all(Array.from({ length: 12 }, ask)));
  return { answered: said.filter((s) => s === "answered").length, refused: said.find((s) => s !== "answered") ?? "" };
});`, "tools", "generation")
	w.atNoon()
	must(t, w.Models.SetDefault(t.Context(), "demo/guide"))
	must(t, w.Models.SetPrices(t.Context(), []cost.Price{{Model: "demo/*", Input: 1000, Output: 1000}}))
	const may = 2.0
	_, err := w.Settings.ChangeSettings(t.Context(), func(s *settings.Settings) { s.PluginSpend = may })
	must(t, err)
	spend := func(person gate.Asker) (answered int, refused string) {
		t.Helper()
		_, run := w.deliberate(w.chat(), "Is it so?", toolsOf(
			council.Member{ID: "ada", Name: "Ada", Tools: []string{"ext:one"}},
			council.Member{ID: "bo", Name: "Bo", Tools: []string{"ext:two"}},
			council.Member{ID: "cy", Name: "Cy", Tools: []string{"ext:three"}},
		), func(r *turn.Request, _ *deliberation.How) { r.Asker = person })
		for _, task := range []string{"0/ada/ext:one", "0/bo/ext:two", "0/cy/ext:three"} {
			var got struct {
				Answered int
				Refused  string
			}
			if answer := w.answerOf(run, task); json.Unmarshal([]byte(answer), &got) != nil {
				t.Errorf("%s came to %s", task, answer)
			}
			answered += got.Answered
			refused = max(refused, got.Refused)
		}
		return answered, refused
	}
	answered, refused := spend(&refuser{})
	day, err := w.Store.Plugins.Spent(t.Context(), "ext")
	must(t, err)
	t.Logf("stopped by: %s; %d of 36 were answered, for $%.3f", refused, answered, day.Dollars)
	// Four at a time are asked, and each that began with something left may cost as much as an answer
	// does, since this model heeds no bound.
	const last = 4 * 0.18
	if day.Dollars > may+last || day.Dollars == 0 || answered == 0 || answered == 36 ||
		!strings.Contains(refused, "PERMISSION_DENIED: generation") {
		t.Errorf("%d of 36 were answered, for $%.3f of $%.2f; the others: %s", answered, day.Dollars, may, refused)
	}
	more, _ := spend(agrees{gate.Once})
	after, err := w.Store.Plugins.Spent(t.Context(), "ext")
	must(t, err)
	if more == 0 || after.Dollars <= day.Dollars || after.More == 0 {
		t.Errorf("with the person's yes %d more were answered, for $%.3f: %+v", more, after.Dollars, after)
	}
}

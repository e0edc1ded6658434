package engine

import (
	"strings"
	"testing"

	"conclave/app/plugin/wire"
)

// The walls must leave a worker everything it needs, though they go up before
// anything of the plugin is read.
func TestAConfinedWorkerHasAllItNeeds(t *testing.T) {
	body := `return [new Date(Date.UTC(2026, 6, 1)).getHours(), new Date(0).toLocaleString("en-US", { timeZone: "Asia/Tokyo" }), crypto.randomUUID().length,
  await (await fetch(new URL("./note.txt", import.meta.url))).text(), (await import("./later.ts")).x].join("|")`
	files := map[string]string{
		"src/main.ts": `import { word } from "./word"; declare const spindle: any; ` + handler(body+`+ word`),
		"src/word.ts": "export const word: string = '|w'", "src/later.ts": "export const x: number = 5", "src/note.txt": "n",
	}
	p := load(t, "src/main.ts", files, walled())
	if got, want := p.call("t", meta{}, nil).text, "20|1/1/1970, 9:00:00 AM|36|n|5|w"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestAConfinedScriptCannotReadItsNeighbours(t *testing.T) {
	p := script(t,
		handler(`try { return await (await fetch(new URL("../config.json", import.meta.url))).text() } catch (e) { return e.message }`),
		walled())
	if got := p.call("t", meta{}, nil).text; !strings.Contains(got, "own folder") &&
		!strings.Contains(got, "does not exist") {
		t.Errorf("got %s", got)
	}
}

func TestAConfinedWorkerStopsInTime(t *testing.T) {
	for _, name := range []string{"endless loop", "allocate for ever", "endless built-in", "deep value"} {
		t.Run(name, func(t *testing.T) {
			p := script(t, handler(hostile[name]), walled())
			if got := p.call("t", meta{}, meta{wire.MetaDeadline: deadlineIn(2000)}); !got.isError {
				t.Errorf("got %+v", got)
			}
		})
	}
}

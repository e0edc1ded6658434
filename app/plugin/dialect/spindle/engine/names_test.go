package engine

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite what is made from testdata/global.txt")

// member is one line of testdata/global.txt.
type member struct{ does, path, names string }

func members(t *testing.T) []member {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "global.txt"))
	must(t, err)
	var all []member
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 3 || fields[0] == "#" {
			continue
		}
		all = append(all, member{fields[0], strings.TrimPrefix(fields[1], "-"), strings.Join(fields[2:], " ")})
	}
	return all
}

// made compares a file with what it should be, or rewrites it.
func made(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if string(got) == want {
		return
	}
	if !*update {
		t.Errorf("%s is stale (%v); run go test ./app/plugin/dialect/spindle/engine -run TheListsOfNames -update", path, err)
		return
	}
	must(t, os.WriteFile(path, []byte(want), 0o644))
}

// onPage returns the names of a line as docs/SPINDLE.md has them: “presets.*” for all members of presets and below
// if all of them do the same, else “ui.{show,close}”.
func onPage(m member, all []member) []string {
	for at := range len(m.path) + 1 {
		if at < len(m.path) && m.path[at] != '.' || at == 0 {
			continue
		}
		space := m.path[:at]
		inside := func(other member) bool { return other.path == space || strings.HasPrefix(other.path, space+".") }
		if !slices.ContainsFunc(all, func(other member) bool { return inside(other) && other.does != m.does }) {
			return []string{space + ".*"}
		}
	}
	names := strings.Fields(m.names)
	switch {
	case m.path == "":
		return names
	case len(names) == 1:
		return []string{m.path + "." + names[0]}
	}
	return []string{m.path + ".{" + strings.Join(names, ",") + "}"}
}

func TestTheListsOfNamesAreMadeFromTheFacts(t *testing.T) {
	var js, page strings.Builder
	js.WriteString("// Names of the spindle object that do nothing here. Made from testdata/global.txt by\n// " +
		"names_test.go; do not edit.\n")
	sentences := map[string]string{
		"empty": "`x.*` is every member of `x` and below. These answer that there is nothing (an empty list or `null`) " +
			"without a permission, but `world_books` asks for its own: ",
		"rejects": "These reject with “… is not available in Conclave”: ",
		"ignored": "These do nothing, and say so once in the log: ",
	}
	for _, does := range []string{"empty", "rejects", "ignored"} {
		var names []string
		all := members(t)
		if does != "empty" {
			fmt.Fprintf(&js, "\nexport const %s = {\n", does)
		}
		for _, m := range all {
			if m.does != does {
				continue
			}
			if does != "empty" {
				fmt.Fprintf(&js, "  %q: %q,\n", m.path, m.names)
			}
			for _, name := range onPage(m, all) {
				if name = "`" + name + "`"; !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
		if does != "empty" {
			js.WriteString("};\n")
		}
		page.WriteString("\n" + sentences[does] + strings.Join(names, ", ") + ".\n")
	}
	made(t, filepath.Join("prelude", "spindle", "names.js"), js.String())

	docs := filepath.Join("..", "..", "..", "..", "..", "docs", "SPINDLE.md")
	text, err := os.ReadFile(docs)
	must(t, err)
	part := regexp.MustCompile(`(?s)(<!-- made from app/plugin/dialect/spindle/engine/testdata/global.txt -->\n).*?(\n## Write one)`)
	if !part.Match(text) {
		t.Fatal("docs/SPINDLE.md has no place for the names")
	}
	made(t, docs, part.ReplaceAllString(string(text), "${1}"+page.String()+"${2}"))
}

// Each name does what the list says, with every permission that a person can grant.
func TestEveryNameDoesWhatTheListSays(t *testing.T) {
	all := members(t)
	table, err := json.Marshal(func() (rows [][3]string) {
		for _, m := range all {
			rows = append(rows, [3]string{m.does, m.path, m.names})
		}
		return rows
	}())
	must(t, err)
	body := handler(`const wrong = [];
for (const [does, path, names] of ` + string(table) + `) {
  let at = spindle;
  for (const part of path ? path.split(".") : []) at = at?.[part];
  for (const name of names.split(" ")) {
    const full = (path ? path + "." : "") + name;
    const member = at?.[name];
    if (does === "values") { if (member === undefined || typeof member === "function") wrong.push(full + " is no value"); continue }
    if (typeof member !== "function") { wrong.push(full + " is missing"); continue }
    if (does === "works") continue;
    let back;
    try { back = member("a", "b") } catch (e) { wrong.push(full + " throws " + e.message); continue }
    let value, failed;
    try { value = await back } catch (e) { failed = e.message }
    if (does === "rejects" && !/is not available in Conclave/.test(failed ?? "")) wrong.push(full + " does not reject: " + failed);
    if (does === "rejects" && typeof back?.then !== "function") wrong.push(full + " is no promise");
    if (does === "empty" && (failed !== undefined || !(value === null || (value === undefined && /\.invalidate/.test(full)) || value?.length === 0 || (value?.data ?? value?.chunks ?? value?.vaults)?.length === 0))) wrong.push(full + " is not empty: " + failed + JSON.stringify(value));
    if (does === "ignored" && (failed !== undefined || typeof back?.then === "function")) wrong.push(full + " is not ignored: " + failed);
  }
}
return wrong.join("; ");`)
	p := script(t, body,
		withGranted("tools", "world_books", "characters", "chats", "generation"))
	if got := p.call("t", meta{}, nil); got.text != "" || got.isError {
		t.Errorf("%s", got.text)
	}
}

// SP-47: what an extension does at its top level with what Conclave does not offer fails
// no load; what upstream lacks stays undefined.
func TestSP47AnExtensionLoadsThoughConclaveLacksWhatItUses(t *testing.T) {
	p := script(t, `const said = [];
const off = [spindle.frontendProcesses.onMessage(() => {}), spindle.backendProcesses.onLifecycle(() => {}),
  spindle.registerTtsEngine({ id: "x" })];
off.forEach((f) => f());
spindle.promptRegex.setOwnedChats([]);
spindle.frontendProcesses.send("p", {});
`+handler(`const tried = [];
for (const run of [() => spindle.images.uploadFromDataUrl("data:,"), () => spindle.world_books.setGlobal([]),
  async () => { for await (const e of spindle.imageGen.generateStream({})) tried.push(e) }, () => spindle.theme.getCurrent()])
  try { await run(); tried.push("ok") } catch (e) { tried.push(e.message) }
const entities = await spindle.memories.entities.list("c");
tried.push(Array.isArray(entities), (await spindle.memories.chatMemory.get("c")).enabled, await spindle.frontendProcesses.get("p"));
tried.push(typeof spindle.nowhere, typeof spindle.images.nothing);
return tried.join("|")`), withGranted("tools"))
	want := "spindle.images.uploadFromDataUrl is not available in Conclave.|spindle.world_books.setGlobal is not " +
		"available in Conclave.|spindle.imageGen.generateStream is not available in Conclave.|spindle.theme.getCurrent " +
		"is not available in Conclave.|true|false||undefined|undefined"
	if got := p.call("t", meta{}, nil); got.text != want || got.isError {
		t.Errorf("got  %s\nwant %s", got.text, want)
	}
}

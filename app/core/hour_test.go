package core

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/gate"
	"conclave/app/model/modeltest"
	"conclave/app/plugin/plugintest"
	"conclave/app/plugin/python/pythontest"
	"conclave/app/test/programtest"
	"conclave/app/test/testkit"
)

// ordinary is a person who answers each request with the narrowest offer that lasts, where
// there is one, and else allows it once. Calls that run at the same time may ask at once.
//
// Requests for one tool in one message are one card.
type ordinary struct {
	mu    sync.Mutex
	asked []gate.Request
	line  map[string]int // where the model asks for a call, by its id
	cards int
}

// Ask implements gate.Asker.
func (o *ordinary) Ask(_ context.Context, p gate.Request) (gate.Answer, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	card := func(q gate.Request) string { return fmt.Sprint(q.Turn, q.Tool, o.line[q.Call]) }
	if !slices.ContainsFunc(o.asked, func(q gate.Request) bool { return card(q) == card(p) }) {
		o.cards++
	}
	o.asked = append(o.asked, p)
	a, _, _ := p.Lasting()
	return a, nil
}

// calls is one message of a person, and what the model calls for it: the calls of one
// line at once, one line after the other.
type calls struct {
	said  string
	lines [][]string // "plugin:tool {arguments}"
}

// hour is a person's plugins, shipped and of shapes that others write, with what they
// read and where they send.
type hour struct {
	*whole
	clock  atomic.Int64     // minutes and seconds of the hour that are over
	site   *httptest.Server // pages
	other  *httptest.Server // more pages
	api    *httptest.Server // weather and searches
	hook   *httptest.Server // takes what is sent
	papers string           // a folder to read
	desk   string           // a folder to write
	person ordinary
	made   int // calls
	lines  int // of them, made at once
}

const filesPlugin = `"""Papers: reads files."""
from pathlib import Path

def list_papers(folder: str) -> list:
    """List the files of a folder.

    Args:
        folder: Which.
    """
    return sorted(str(p) for p in Path(folder).iterdir())

def read_paper(path: str) -> str:
    """Read a file.

    Args:
        path: Which.
    """
    return Path(path).read_text(encoding="utf-8")
`

const writerPlugin = `"""Journal: writes notes into a folder."""
from pathlib import Path

def write_entry(path: str, text: str) -> str:
    """Write a note into a file.

    Args:
        path: Where.
        text: What it says.
    """
    Path(path).write_text(text, encoding="utf-8")
    return "Written."
`

const weatherPlugin = `"""Weather: asks a service."""
import json, urllib.parse, urllib.request

def forecast(city: str) -> dict:
    """Say how the weather is.

    Args:
        city: Where.
    """
    address = "%s/weather?" + urllib.parse.urlencode({"city": city})
    return json.load(urllib.request.urlopen(address, timeout=60))
`

const calculatorPlugin = `"""Calculator."""

def add(a: float, b: float) -> float:
    """Add two numbers."""
    return a + b

def multiply(a: float, b: float) -> float:
    """Multiply two numbers."""
    return a * b
`

// webPlugin reads pages, searches and sends, as extensions do that have one permission
// for all of these.
const webPlugin = `
const tools = {
  fetch_page: { description: "Read a page.", parameters: { type: "object", properties: { url: { type: "string" } }, required: ["url"] },
    run: async ({ url }) => (await spindle.cors(url)).body },
  search: { description: "Search the web.", parameters: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
    run: async ({ query }) => (await spindle.cors("API/search?q=" + encodeURIComponent(query))).body },
  post_message: { description: "Send a message to an address.", parameters: { type: "object", properties: { url: { type: "string" }, text: { type: "string" } }, required: ["url", "text"] },
    run: async ({ url, text }) => (await spindle.cors(url, { method: "POST", body: { text } })).body },
};
for (const [name, { run, ...tool }] of Object.entries(tools)) spindle.registerTool({ name, ...tool, inline_available: true });
spindle.on("TOOL_INVOCATION", ({ toolName, args }) => tools[toolName].run(args));`

func anHour(t *testing.T) *hour {
	pythontest.Any(t)
	h := &hour{whole: &whole{t: t, data: t.TempDir()}, person: ordinary{line: map[string]int{}}}
	page := func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, "<h1>%s</h1>What others wrote, with a <a href='%s/next'>link</a>.", r.URL.Path, h.site.URL)
	}
	h.site = h.serve(page)
	h.other = h.serve(page)
	h.api = h.serve(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/search" {
			_, _ = fmt.Fprintf(w, `[{"title":"One","url":"%s/one"},{"title":"Two","url":"%s/two"}]`, h.site.URL, h.other.URL)
			return
		}
		_, _ = fmt.Fprintf(w, `{"city":%q,"degrees":4,"sky":"cloudy"}`, r.URL.Query().Get("city"))
	})
	h.hook = h.serve(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	h.papers, h.desk = filepath.Join(h.data, "papers"), filepath.Join(h.data, "desk")
	for i := range 12 {
		testkit.Write(t, filepath.Join(h.papers, fmt.Sprintf("%02d.md", i)),
			fmt.Sprintf("Paper %d, which somebody wrote.", i))
	}
	must(t, os.MkdirAll(h.desk, 0o700))
	plugins := filepath.Join(h.data, "home", "plugins")
	c, err := Open(t.Context(), Options{
		Data: filepath.Join(h.data, "home"), Plugins: plugins, OwnPlugins: true, Worker: programtest.Worker(t),
		Now: h.now, LoadTimeout: patience,
	})
	must(t, err)
	h.Core = c
	t.Cleanup(func() { must(t, c.Close()) })
	for name, text := range map[string]string{
		"papers.py": filesPlugin, "journal.py": writerPlugin, "calculator.py": calculatorPlugin,
		"weather.py":          fmt.Sprintf(weatherPlugin, h.api.URL),
		"web/spindle.json":    `{"version":"1","name":"Web","identifier":"web","author":"a","permissions":["tools","cors_proxy"]}`,
		"web/dist/backend.js": strings.ReplaceAll(webPlugin, "API", h.api.URL),
	} {
		testkit.Write(t, filepath.Join(plugins, name), text)
	}
	must(t, h.Scan(t.Context()))
	for _, id := range []string{"papers", "journal", "calculator", "weather", "web"} {
		must(t, plugintest.Approve(t.Context(), h.Host, id, false))
	}
	h.settle()
	grant := func(plugin string, f gate.Folder) error {
		_, err := h.Gate.Reach.GrantFolder(t.Context(), plugin, f)
		return err
	}
	must(t, grant("papers", gate.Folder{Path: h.papers}))
	must(t, grant("journal", gate.Folder{Path: h.desk, Write: true}))
	must(t,
		h.Gate.Reach.AllowHost(t.Context(), "weather", gate.Network, gate.Allow, gate.HostIs,
			strings.TrimPrefix(h.api.URL, "http://")))
	must(t, h.Gate.Reach.SetPermission(t.Context(), "web", "local_network", gate.Allow))
	h.settle()
	return h
}

// now is the hour's clock, which goes on by 36 seconds a call.
func (h *hour) now() time.Time {
	return time.Date(2026, 11, 2, 9, 0, 0, 0, time.Local).Add(time.Duration(h.clock.Load()))
}

func (h *hour) serve(handle http.HandlerFunc) *httptest.Server {
	s := httptest.NewServer(handle)
	h.t.Cleanup(s.Close)
	return s
}

// talks has a chat, and returns what the person was asked in it.
func (h *hour) talks(turns ...calls) []gate.Request {
	h.t.Helper()
	before := len(h.person.asked)
	in := h.chat()
	for _, said := range turns {
		var steps [][]modeltest.Step
		for _, line := range said.lines {
			h.lines++
			var step []modeltest.Step
			for _, one := range line {
				id, arguments, _ := strings.Cut(one, " ")
				found, ok := h.Tools.Set().ByID(id)
				if !ok {
					s, err := h.Host.Status(strings.Split(id, ":")[0])
					h.t.Fatalf("there is no tool %s: %+v, %v", id, s.Problem, err)
				}
				h.made++
				h.person.line[fmt.Sprintf("%s/call-%d", in, h.made)] = h.lines
				h.clock.Add(int64(36 * time.Second))
				step = append(step, modeltest.Call(fmt.Sprint("call-", h.made), found.WireName, arguments))
			}
			steps = append(steps, step)
		}
		model := modeltest.New(append(steps, []modeltest.Step{modeltest.Say("Done.")})...)
		_, err := h.Conversations.Run(h.t.Context(), turn.Request{
			Conversation: in, Text: said.said, Model: model, Tools: h.Tools.Set().ForModel(), Asker: &h.person,
		}, nil)
		must(h.t, err)
	}
	records, err := h.Store.Calls.Calls(h.t.Context(), chat.CallFilter{Conversation: in})
	must(h.t, err)
	for _, r := range records {
		if r.Status != chat.CallOK {
			h.t.Errorf("%s with %s ended %s: %s", r.ToolID, r.Arguments, r.Status, r.DecidedBy)
		}
	}
	return h.person.asked[before:]
}

// met has each tool run once, in a chat of its own, as on the first day.
func (h *hour) met() []gate.Request {
	for _, one := range []string{
		`desk:text_statistics {"text":"One two."}`, `desk:convert_units {"value":1,"from_unit":"km","to_unit":"mi"}`,
		`desk:save_note {"title":"first","text":"A note."}`, `desk:read_note {"title":"first"}`, `desk:list_notes {}`,
		`dice:roll_dice {"notation":"2d6"}`, `dice:days_between {"from":"2026-11-02","to":"2026-12-24"}`,
		`calculator:add {"a":1,"b":2}`, `calculator:multiply {"a":3,"b":2}`,
		h.list(), h.paper(0), h.entry("first.md"), `weather:forecast {"city":"Rome"}`,
		h.fetch(h.site, "/first"), `web:search {"query":"bread"}`, h.send("A first message."),
	} {
		h.talks(calls{"Try it.", [][]string{{one}}})
	}
	met := h.person.asked
	h.person.asked, h.person.cards, h.made = nil, 0, 0
	return met
}

func (h *hour) list() string { return fmt.Sprintf(`papers:list_papers {"folder":%q}`, h.papers) }

func (h *hour) paper(i int) string {
	return fmt.Sprintf(`papers:read_paper {"path":%q}`, filepath.Join(h.papers, fmt.Sprintf("%02d.md", i)))
}

func (h *hour) entry(name string) string {
	return fmt.Sprintf(`journal:write_entry {"path":%q,"text":"What the papers say."}`, filepath.Join(h.desk, name))
}

func (h *hour) fetch(from *httptest.Server, path string) string {
	return fmt.Sprintf(`web:fetch_page {"url":%q}`, from.URL+path)
}

func (h *hour) send(text string) string {
	return fmt.Sprintf(`web:post_message {"url":%q,"text":%q}`, h.hook.URL+"/team", text)
}

func TestAnHourOfOrdinaryUseAsksAtMostFiveTimes(t *testing.T) {
	h := anHour(t)
	met := h.met()
	var papers []string
	for i := range 12 {
		papers = append(papers, h.paper(i))
	}
	note := func(i int) string {
		return fmt.Sprintf(`desk:save_note {"title":"note %d","text":"What was said, in short."}`, i)
	}
	roll, count := `dice:roll_dice {"notation":"1d20+3"}`,
		`desk:text_statistics {"text":"A draft of three sentences. It is short. It ends."}`
	chats := []struct {
		name  string
		turns []calls
	}{
		{"a game", []calls{
			{"Roll for all of us.", [][]string{{roll, roll, roll, roll}}},
			{"Again.", [][]string{{roll, roll}, {roll, roll}}},
			{"And what is the sum?", [][]string{{`calculator:add {"a":12,"b":19}`}, {`calculator:add {"a":31,"b":7}`}}},
			{"Keep the score.", [][]string{{note(1)}}},
			{"And the days since the last game?", [][]string{{`dice:days_between {"from":"2026-10-02","to":"2026-11-02"}`}}},
			{"One more round.", [][]string{{roll, roll, roll, roll}}},
		}},
		{"a draft", []calls{
			{"How long is it?", [][]string{{count}}},
			{"And now?", [][]string{{count}}},
			{"In miles?", [][]string{{`desk:convert_units {"value":42,"from_unit":"km","to_unit":"mi"}`}}},
			{"How many weeks are left?", [][]string{{`dice:days_between {"from":"2026-11-02","to":"2027-01-15"}`}}},
			{"Keep that.", [][]string{{note(2)}, {`desk:read_note {"title":"note 2"}`}, {`desk:list_notes {}`}}},
		}},
		{"papers", []calls{
			{"What do my papers say?", [][]string{{h.list()}, papers[:6], papers[6:]}},
			{"How long is the third?", [][]string{{papers[2]}, {count}}},
			{"Put that into my notes.", [][]string{{h.entry("papers.md")}}},
			{"And keep it in short.", [][]string{{note(3)}}},
			{"What was in the last two?", [][]string{{papers[10], papers[11]}}},
		}},
		{"articles", []calls{
			{
				"Read " + h.site.URL + "/a and " + h.site.URL + "/b, please.",
				[][]string{{h.fetch(h.site, "/a"), h.fetch(h.site, "/b")}},
			},
			{"How long is it?", [][]string{{count}}},
			{"Compare with " + h.site.URL + "/c.", [][]string{{h.fetch(h.site, "/c")}, {count}}},
			{"Is " + h.site.URL + "/f longer?", [][]string{{h.fetch(h.site, "/f")}, {count}}},
			{
				"And with <" + h.site.URL + "/d>, " + h.site.URL + "/e.",
				[][]string{{h.fetch(h.site, "/d")}, {h.fetch(h.site, "/e")}},
			},
			{"Keep it.", [][]string{{note(4)}}},
		}},
		{"a trip", []calls{
			{"What is the weather in Oslo, Rome and Bergen?", [][]string{{
				`weather:forecast {"city":"Oslo"}`, `weather:forecast {"city":"Rome"}`, `weather:forecast {"city":"Bergen"}`,
			}}},
			{"And in Fahrenheit?", [][]string{{`desk:convert_units {"value":4,"from_unit":"C","to_unit":"F"}`}}},
			{"In Lima?", [][]string{{`weather:forecast {"city":"Lima"}`}}},
			{"How long is it until then?", [][]string{{`dice:days_between {"from":"2026-11-02","to":"2026-12-01"}`}}},
			{
				"What do three nights cost?",
				[][]string{{`calculator:multiply {"a":3,"b":84}`}, {`calculator:add {"a":252,"b":30}`}},
			},
			{"In Quito?", [][]string{{`weather:forecast {"city":"Quito"}`}}},
			{"Keep it.", [][]string{{note(5)}}},
		}},
		{"a question", []calls{
			{"What is good bread?", [][]string{
				{`web:search {"query":"good bread"}`},
				{h.fetch(h.site, "/one"), h.fetch(h.other, "/two")},
				{`web:search {"query":"good bread flour"}`},
				{h.fetch(h.site, "/three")},
			}},
			{"How much flour is that for 7?", [][]string{{`calculator:multiply {"a":7,"b":500}`}}},
			{"And rye?", [][]string{{`web:search {"query":"rye bread"}`}, {h.fetch(h.other, "/rye")}}},
			{"Keep it.", [][]string{{note(6)}}},
		}},
		{"messages", []calls{
			{"Tell the team that I am late.", [][]string{{h.send("I am late.")}}},
			{"And that I bring bread.", [][]string{{h.send("I bring bread.")}}},
			{"Who was it for?", [][]string{{`desk:read_note {"title":"note 1"}`}}},
			{"Say that I am there.", [][]string{{h.send("I am there.")}}},
			{"And that the bread is good.", [][]string{{h.send("The bread is good.")}}},
		}},
		{"the evening", []calls{
			{"Roll.", [][]string{{roll, roll, roll, roll, roll, roll, roll, roll}}},
			{"Weather?", [][]string{{`weather:forecast {"city":"Bergen"}`}}},
			{"What did I keep?", [][]string{
				{`desk:list_notes {}`}, {`desk:read_note {"title":"note 3"}`, `desk:read_note {"title":"note 5"}`},
			}},
			{
				"Sums.",
				[][]string{{`calculator:add {"a":1,"b":2}`, `calculator:add {"a":3,"b":2}`, `calculator:multiply {"a":4,"b":2}`}},
			},
			{"And the first paper again.", [][]string{{papers[0]}, {papers[1]}, {count}}},
			{"More rolls.", [][]string{{roll, roll, roll, roll, roll, roll}}},
		}},
	}
	t.Logf("On the first day a person was asked %d times:", len(met))
	for _, p := range met {
		t.Logf("  %s %s", p.Title, p.Reason)
	}
	for _, c := range chats {
		for _, p := range h.talks(c.turns...) {
			t.Logf("%s: %s %s %s", c.name, p.Title, p.Arguments, p.Reason)
		}
	}
	// Beside walls and rules, 25 requests on 13 cards before it was looked at what a call can say.
	t.Logf("%d calls needed %d prompts with %d requests.", h.made, h.person.cards, len(h.person.asked))
	if h.made != 100 || h.person.cards > 5 {
		t.Errorf("%d calls needed %d prompts", h.made, h.person.cards)
	}
}

package neko_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"conclave/app/base/bus"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/neko"
	"conclave/app/plugin/host"
	"conclave/app/plugin/packages"
	"conclave/app/plugin/plugintest"
	"conclave/app/plugin/python/pythontest"

	toolset "conclave/app/tool"
)

// house is a host of N.E.K.O plugins behind the system's walls.
type house struct {
	t     *testing.T
	gate  *gate.Gate
	tools *toolset.Registry
	host  *host.Host
	close func()
}

// open opens a host on a plugins folder; the ledger is in memory, so every
// plugin is trusted again.
func open(t *testing.T, d *neko.Dialect, dir, data string, cache host.Store) *house {
	t.Helper()
	launcher := pythontest.Launcher(t)
	var err error
	h := &house{t: t, tools: toolset.NewRegistry()}
	news := bus.New()
	if h.gate, err = gate.Open(t.Context(), gate.Options{Bus: news, Log: slog.New(slog.DiscardHandler)}); err != nil {
		t.Fatal(err)
	}
	python := pythontest.Any(t)
	neko.New(python) // tells it what N.E.K.O brings itself
	h.host = host.New(host.Options{
		Dir: dir, Data: data, Dialects: []plugin.Dialect{d}, Launcher: launcher, Registry: h.tools, Gate: h.gate,
		Store: cache, Bus: news,
		Log: slog.New(slog.DiscardHandler), LoadTimeout: pythontest.Patience,
		Environments: packages.New(packages.Options{Dir: t.TempDir(), Python: python, Launcher: launcher}),
	})
	closed := false
	h.close = func() {
		if closed {
			return
		}
		closed = true
		h.host.Close()
		launcher.Close()
		if err := h.gate.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(h.close)
	return h
}

// settle scans the folder, approves what waits, and returns every card.
func (h *house) settle() map[string]plugin.Status {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 2*pythontest.Patience)
	defer cancel()
	must(h.t, h.host.Scan())
	must(h.t, h.host.WaitIdle(ctx))
	for _, s := range h.host.List() {
		if s.State == plugin.NeedsApproval {
			_ = plugintest.Approve(ctx, h.host, s.ID, false) // one that does not load says so on its card
		}
	}
	must(h.t, h.host.WaitIdle(ctx))
	cards := map[string]plugin.Status{}
	for _, s := range h.host.List() {
		cards[s.ID] = s
	}
	return cards
}

// offered returns the tools that a model may be given.
func (h *house) offered() []string {
	names := []string{}
	for _, one := range h.tools.Set().Tools() {
		names = append(names, one.Name)
	}
	slices.Sort(names)
	return names
}

// call calls a tool as a turn does, past the gate.
func (h *house) call(id string) toolset.Result {
	h.t.Helper()
	one, ok := h.tools.Set().ByID(id)
	if !ok {
		h.t.Fatalf("no tool %s among %v", id, h.offered())
	}
	invoker, _ := h.tools.Set().Invoker(id)
	r, err := invoker.Call(h.t.Context(), toolset.Call{
		Tool: one, ID: "call", Arguments: json.RawMessage("{}"), Deadline: time.Now().Add(pythontest.Patience),
	})
	must(h.t, err)
	return r
}

func TestNK05NK25NK26PluginsComeAndGoWithoutEachOther(t *testing.T) {
	d := aPython(t)
	dir, data, cache := t.TempDir(), t.TempDir(), &plugintest.Memory{}
	for _, id := range []string{"one", "two", "lacking"} {
		write(t, filepath.Join(dir, id, "plugin.toml"), "[plugin]\nid = \""+id+"\"\nentry = \"plugins."+id+":Probe\"\n")
		write(t, filepath.Join(dir, id, "__init__.py"), head+"@neko_plugin\nclass Probe(NekoPluginBase):\n"+indented(`
@llm_tool(name="hello_`+id+`")
async def hello(self):
    return "hello from " + self.plugin_id

@llm_tool(name="die_`+id+`")
async def die(self):
    os._exit(9)
`))
	}
	for name, text := range map[string]string{
		"pyproject.toml": "[project]\ndependencies = [\"n-e-k-o\", \"No_Such.Package[extra]>=2\", \"bundled>=1.2\", " +
			"\"old-one>=2,<3\", \"without-papers\", \"only-there; sys_platform == 'nowhere'\"]\n",
		"requirements.txt": "# what it needs\nno-such-too==1.0 # " +
			"exactly\nNO_SUCH.package[extra]>=2\n-r other.txt\n",
		"vendor/bundled-1.4.0.dist-info/METADATA": "", "vendor/old_one-1.9.dist-info/METADATA": "",
		"vendor/without_papers.py": "",
	} {
		write(t, filepath.Join(dir, "lacking", name), text)
	}
	h := open(t, d, dir, data, cache)
	cards := h.settle()
	lacks := []string{"no-such-too", "no-such-package", "old-one"}
	if card := cards["lacking"]; card.State != plugin.NeedsPackages || !slices.Equal(card.Problem.Missing, lacks) {
		t.Errorf("lacking is %s: %+v", card.State, card.Problem)
	}
	both := []string{"die_one", "die_two", "hello_one", "hello_two"}
	if got := h.offered(); !slices.Equal(got, both) {
		t.Fatalf("offered %v; %+v", got, cards)
	}
	if r := h.call("one:hello_one"); chat.TextOf(r.Content) != "hello from one" {
		t.Errorf("got %+v", r)
	}
	// A process that is killed is noticed at once, and started again by a call.
	if r := h.call("one:die_one"); r.Status != chat.CallDied {
		t.Errorf("got %+v", r)
	}
	for _, id := range []string{"one", "two"} {
		if r := h.call(id + ":hello_" + id); chat.TextOf(r.Content) != "hello from "+id {
			t.Errorf("after a death: %+v", r)
		}
	}
	must(t, h.host.SetEnabled(t.Context(), "one", false))
	h.settle()
	if got := h.offered(); !slices.Equal(got, []string{"die_two", "hello_two"}) {
		t.Errorf("with one turned off: %v", got)
	}
	must(t, h.host.SetEnabled(t.Context(), "one", true))
	h.close()
	again := open(t, d, dir, data, cache)
	again.settle()
	if got := again.offered(); !slices.Equal(got, both) {
		t.Errorf("after a restart: %v", got)
	}
}

package hosttest

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/app/base/bus"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/net/egress"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/functions"
	"conclave/app/plugin/dialect/maibot"
	"conclave/app/plugin/dialect/neko"
	"conclave/app/plugin/dialect/picoclaw"
	"conclave/app/plugin/dialect/spindle"
	"conclave/app/plugin/host"
	"conclave/app/plugin/library"
	"conclave/app/plugin/plugintest"
	"conclave/app/plugin/python"
	"conclave/app/plugin/sandbox"
	"conclave/app/plugin/worker"
	"conclave/app/test/programtest"
	"conclave/app/test/testkit"
	"conclave/app/tool"
	"conclave/store"
	"conclave/store/storetest"
)

var must = testkit.Must

// patience bounds every wait: far above what anything takes.
var patience = testkit.Patience

func TestMain(m *testing.M) { programtest.Main(m) }

// launcher starts processes.
func launcher(t testing.TB) *worker.Launcher {
	t.Helper()
	l := worker.New(worker.Options{Program: programtest.Worker(t)})
	t.Cleanup(l.Close)
	return l
}

// interpreters returns this machine's Python, where there is one.
func interpreters(t testing.TB) *python.Interpreters {
	t.Helper()
	i := python.New(python.Options{Runtime: filepath.Join(programtest.Dir, "runtime")})
	if _, err := i.Python(t.Context()); err != nil {
		t.Skip(err)
	}
	return i
}

func script(t testing.TB, l sandbox.Launcher, data string) *spindle.Dialect {
	t.Helper()
	return spindle.New(spindle.Options{
		SourceInside: l.Confinement().Level != "process+landlock",
		Runtime:      plugin.Runtime(data),
	})
}

// core is a host as app/core makes it.
type core struct {
	t        testing.TB
	dir      string
	data     string
	store    *store.Store
	gate     *gate.Gate
	tools    *tool.Registry
	launcher *plugintest.Counted
	host     *host.Host
	library  *library.Library
	egress   *egress.Proxy
	traffic  chan egress.Traffic // that is over
	updates  <-chan plugin.Update
	seen     []plugin.Update // that nobody asked for yet
	end      func()
	// notKept is why files cannot be kept before they are changed, nil where they can.
	notKept error
}

// open opens a host that follows the plugins folder, with more dialects besides
// Conclave's own.
func open(t testing.TB, dir, data string, more ...plugin.Dialect) *core {
	t.Helper()
	c := &core{
		t: t, dir: dir, data: data, tools: tool.NewRegistry(), traffic: make(chan egress.Traffic, 1000),
	}
	l := launcher(t)
	c.launcher = &plugintest.Counted{Launcher: l}
	c.store = storetest.OpenWith(t, store.Options{Dir: data})
	news := bus.New()
	g, err := gate.Open(t.Context(), gate.Options{Store: c.store.Permissions, Bus: news, Protected: []string{data}})
	must(t, err)
	c.gate = g
	py := interpreters(t)
	dialects := append([]plugin.Dialect{
		script(t, l, data), neko.New(py), maibot.New(py), picoclaw.New(py),
		functions.New(py),
	}, more...)
	c.egress = egress.New(egress.Options{
		Ask: func(ctx context.Context, id string, to egress.Target) egress.Verdict {
			on := gate.Connection{Plugin: id, URL: to.URL, Behalf: c.host.Calls.Behalf(id, "")}
			d, private := g.Connect(ctx, on)
			return egress.Verdict{
				Allow: d.Effect == gate.Allow, Private: private, Reason: d.Reason,
				Stands: func() bool { return g.Stands(on, d) },
			}
		},
		Report: func(t egress.Traffic) { c.traffic <- t },
	})
	c.host = host.New(host.Options{
		Network: c,
		Dir:     dir, Data: data, Dialects: dialects, Launcher: c.launcher, Registry: c.tools, Gate: g,
		Store: c.store.Plugins, Bus: news, LoadTimeout: patience,
		Log:     slog.New(slog.DiscardHandler),
		Opening: func(context.Context, string, string) error { return c.notKept },
	})
	c.library = library.New(library.Options{
		Dir: dir, Data: data, Host: c.host, Gate: g,
		Log: slog.New(slog.DiscardHandler), Templates: plugin.Templates(dialects),
	})
	updates, unsubscribe := c.host.Updates()
	c.updates = updates
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var watching sync.WaitGroup
	watching.Go(func() { _ = c.host.Watch(ctx) }) // ended by cancel
	once := sync.OnceFunc(func() {
		cancel()
		watching.Wait()
		unsubscribe()
		c.host.Close()
		c.egress.Close()
		if n := c.launcher.Running(); n != 0 {
			t.Errorf("%d processes outlived the host", n)
		}
		if err := g.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	c.end = func() {
		once()
		if err := c.store.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(once)
	return c
}

// Admit implements host.Network.
func (c *core) Admit(id string) (plugin.Proxy, func(), error) {
	pass, err := c.egress.Admit(id)
	if err != nil {
		return plugin.Proxy{}, nil, err
	}
	return plugin.Proxy{Address: pass.Address(), URL: pass.URL()}, pass.Close, nil
}

// Recheck implements host.Network.
func (c *core) Recheck() { c.egress.Recheck() }

func (c *core) write(name, text string) {
	c.t.Helper()
	testkit.Save(c.t, filepath.Join(c.dir, filepath.FromSlash(name)), text)
}

// lay writes the files of a plugin in a folder, which is there in one step.
func (c *core) lay(id string, files tree) {
	c.t.Helper()
	for name, text := range files {
		c.write("."+id+"/"+name, text)
	}
	c.appears(id)
}

// appears gives a folder that was written under a hidden name its own.
func (c *core) appears(id string) {
	c.t.Helper()
	must(c.t, os.Rename(filepath.Join(c.dir, "."+id), filepath.Join(c.dir, id)))
}

// replace saves a file as careful editors do.
func (c *core) replace(name, text string) {
	c.t.Helper()
	c.write("."+name+".swp", text)
	must(c.t, os.Rename(filepath.Join(c.dir, "."+name+".swp"), filepath.Join(c.dir, name)))
}

// until waits for an update that is as wanted, or takes one that came while
// something else was waited for. What came of that plugin before it is over then: a
// plugin that was seen half written must not pass for one that broke later.
func (c *core) until(what string, wanted func(plugin.Update) bool) plugin.Update {
	c.t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		if i := slices.IndexFunc(c.seen, wanted); i >= 0 {
			u := c.seen[i]
			before := slices.DeleteFunc(slices.Clone(c.seen[:i]), func(o plugin.Update) bool { return o.Plugin == u.Plugin })
			c.seen = append(before, c.seen[i+1:]...)
			return u
		}
		select {
		case u := <-c.updates:
			c.seen = append(c.seen, u)
		case <-limit.C:
			c.t.Fatalf("%s did not happen; there were %+v", what, c.seen)
		}
	}
}

// becomes waits until a plugin is in a state.
func (c *core) becomes(id string, state plugin.State) plugin.Update {
	c.t.Helper()
	return c.until(id+" becoming "+string(state), func(u plugin.Update) bool {
		return u.Plugin == id && u.State == state && !u.Removed
	})
}

// trust approves a plugin and all edits of it, and waits until it is loaded.
func (c *core) trust(id string) {
	c.t.Helper()
	must(c.t, plugintest.Approve(c.t.Context(), c.host, id, true))
	c.until(id+" being loaded", func(u plugin.Update) bool {
		return u.Plugin == id && (u.State == plugin.Ready || u.State == plugin.Failed)
	})
}

func (c *core) call(id, arguments string) tool.Result {
	c.t.Helper()
	set := c.tools.Set()
	found, ok := set.ByID(id)
	if !ok {
		name, _, _ := strings.Cut(id, ":")
		s, _ := c.host.Status(name)
		c.t.Errorf("there is no tool %s: %s, %+v", id, s.State, s.Problem)
		return tool.Result{}
	}
	invoker, _ := set.Invoker(id)
	r, err := invoker.Call(c.t.Context(), tool.Call{
		ID: "c", Tool: found, Arguments: json.RawMessage(arguments), Deadline: time.Now().Add(patience),
	})
	if err != nil {
		c.t.Error(err)
	}
	return r
}

func (c *core) answers(id, arguments, want string) {
	c.t.Helper()
	if got := c.begins(id, arguments, want); got != want {
		c.t.Errorf("%s answered %q, want %q and no more", id, got, want)
	}
}

// begins waits for answers that begin with want, and returns them whole.
func (c *core) begins(id, arguments, want string) string {
	c.t.Helper()
	r := c.call(id, arguments)
	got := chat.TextOf(r.Content)
	if r.Status != chat.CallOK || !strings.HasPrefix(got, want) {
		c.t.Errorf("%s answered %s %q %s, want %q", id, r.Status, got, r.Error, want)
	}
	return got
}

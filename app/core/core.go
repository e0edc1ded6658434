// Package core builds everything for the window and the terminal, and closes it. It is the only package
// that knows every concrete type: the store, the vendors' models, the dialects, the launcher. Other
// packages decide; the files here connect them: network.go plugins' connections to the gate,
// services.go hooks and services to the host, mask.go secrets to all texts that leave this computer.
// Read Open, Core.build and Core first; Main is the terminal program.
package core

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/base/keys"
	"conclave/app/base/settings"
	"conclave/app/chat"
	"conclave/app/chat/conversation"
	"conclave/app/chat/document"
	"conclave/app/chat/document/pdfprocess"
	"conclave/app/chat/turn"
	"conclave/app/core/restore"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/gate"
	"conclave/app/model"
	"conclave/app/model/connections"
	"conclave/app/net/egress"
	"conclave/app/net/loopback"
	"conclave/app/plugin"
	"conclave/app/plugin/host"
	"conclave/app/plugin/library"
	"conclave/app/plugin/packages"
	"conclave/app/plugin/python"
	"conclave/app/plugin/toolport"
	"conclave/app/plugin/worker"
	"conclave/app/plugin/worker/confine"
	"conclave/app/record/changes"
	"conclave/app/record/undo"
	"conclave/app/service"
	"conclave/app/service/events"
	"conclave/app/tool"
	"conclave/app/tool/call"
	"conclave/app/tool/elicit"
	"conclave/app/tool/mcpserver"
	"conclave/store"
)

// Options configure a Core.
type Options struct {
	Data       string // absolute; empty makes a throw-away folder
	Plugins    string // absolute; ignored when Data is empty
	OwnPlugins bool   // Plugins is the default folder: a new one gets the shipped plugins
	Work       string // the working folder of plugins; empty is the person's home
	Worker     string // path of conclave-worker, which plugins' processes are started from
	Name       string // of this program, for the error another one gets: "the window"

	// Watched has Demo guide write at a pace that reads well, as for a window; otherwise it
	// writes as fast as it can.
	Watched bool

	// Reads says that the data folder is only read, so that one which cannot be written will do.
	Reads bool

	Now   func() time.Time // the clock of decisions and of what plugins do; nil is time.Now
	Model model.Model      // opened in addition to those of connections, for tests; optional

	// LoadTimeout limits how long a plugin may take to load; 0 means host.LoadTimeout.
	LoadTimeout time.Duration
}

// Core holds all parts of Conclave, open. Close it.
type Core struct {
	o        Options
	Store    *store.Store
	Bus      *bus.Bus
	Gate     *gate.Gate
	Elicit   *elicit.Desk // what plugins ask the person
	Tools    *tool.Registry
	Host     *host.Host
	Library  *library.Library
	Packages *packages.Installer
	Turns    *turn.Runner
	Calls    *call.Runner
	// Conversations says who writes in which chat.
	Conversations *conversation.Owner
	Councils      *deliberation.Runner // has the councils of chats deliberate before they are answered
	Keys          *keys.Store
	Models        *connections.Models
	Settings      *settings.Current
	Python        *python.Interpreters
	Services      *service.Services // what plugins may ask for
	HTTP          *toolport.Port    // where programs register tools
	Programs      *mcpserver.Server // offers tools to other programs
	Undo          *undo.Keeper      // old versions of files that calls changed
	changes       *changes.Recorder
	uses          *uses
	besides       besides
	pdfs          *pdfprocess.Reader
	// Mask returns a function that removes secrets from a text that leaves this computer.
	Mask    func(ctx context.Context) (func(string) string, error)
	Log     *slog.Logger
	Trouble error // what was wrong and was coped with

	launcher  *worker.Launcher
	egress    *egress.Proxy // the way out of plugins' processes
	dialects  []plugin.Dialect
	observers []observer       // send hook processes the events of turns
	events    *events.Events   // sends plugins Conclave's events
	profiler  *loopback.Server // nil unless somebody asked for profiles
	logs      io.Closer
	throw     string // the throw-away folder, to remove
	scan      sync.Once
	watching  atomic.Bool
	closing   sync.Once
}

// Open opens the core. Errors are faults: Locked when another program has the store,
// Damaged, Unavailable. It runs no plugin; Scan reads the plugins folder.
func Open(ctx context.Context, o Options) (*Core, error) {
	c := &Core{o: o, Bus: bus.New(), Tools: tool.NewRegistry()}
	c.Mask, c.uses = mask{c}.all, &uses{c: c}
	if err := c.folders(); err != nil {
		return nil, err
	}
	c.Log, c.logs = openLog(c.o.Data)
	c.profiler = openProfiler(ctx, c.Log)
	c.Keys = keys.New(c.o.Data)
	c.Keys.Answered = func() { c.Bus.Changed(bus.Models, "") }
	var err error
	c.Store, err = store.Open(ctx, store.Options{
		Dir: c.o.Data, Log: c.Log, Program: o.Name, OnTrouble: c.trouble, Mask: mask{c}.known, Reads: c.o.Reads,
		OnRecord: func() { c.Bus.Changed(bus.Activity, "") },
	})
	if err != nil {
		c.discard()
		return nil, err
	}
	if err := c.build(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// folders makes the folders that must be there.
func (c *Core) folders() error {
	if c.o.Data == "" {
		dir, err := os.MkdirTemp("", "conclave-check-")
		if err != nil {
			return fault.Wrap(fault.Unavailable, "core.open", "There is no place for a throw-away folder.",
				"Check the disk's space.", err)
		}
		c.throw, c.o.Data, c.o.Plugins, c.o.OwnPlugins = dir, dir, filepath.Join(dir, "plugins"), false
	}
	if err := store.MakeFolder(c.o.Data); err != nil {
		return err
	}
	// What only reads needs no plugins, so a folder where none can be put is no reason to stop.
	if c.o.OwnPlugins {
		if _, err := installShipped(c.o.Plugins); err != nil && !c.o.Reads {
			return err
		}
	}
	if c.o.Work == "" {
		c.o.Work, _ = os.UserHomeDir()
	}
	if c.o.Work == "" {
		c.o.Work = c.o.Data
	}
	return nil
}

// pluginsFolder makes the plugins folder. One that held plugins and is not there is away, and an empty
// one in its place would hide that.
func (c *Core) pluginsFolder() error {
	if _, err := os.Stat(c.o.Plugins); errors.Is(err, fs.ErrNotExist) && c.expectsPlugins() {
		return nil
	}
	if c.o.OwnPlugins && c.o.Reads {
		return nil // installShipped made it, or an empty one would keep the plugins that come with Conclave away
	}
	if err := os.MkdirAll(c.o.Plugins, 0o700); err != nil && !c.o.Reads {
		return fault.Wrap(fault.Unavailable, "core.open", "The plugins folder "+c.o.Plugins+" cannot be made.",
			"Name another with --plugins.", err)
	}
	return nil
}

func (c *Core) build(ctx context.Context) error {
	var err error
	c.Settings = &settings.Current{Store: c.Store.Settings, Changed: func() {
		c.Bus.Changed(bus.Settings, "")
		c.Bus.Changed(bus.Models, "") // the connections and the default are settings
	}}
	set, err := c.Settings.Settings(ctx)
	if err != nil {
		return err
	}
	if err := c.Keys.BindOld(restore.Addresses(set)); err != nil && !c.Store.ReadOnly() {
		c.Log.Warn("The addresses of keys could not be noted; those given before are asked for again.", "err", err)
	}
	c.Models = c.models()
	c.Elicit = elicit.New(c.Bus)
	c.Gate, err = gate.Open(ctx, gate.Options{
		Store: c.Store.Permissions, Bus: c.Bus, Log: c.Log, Protected: []string{c.o.Data}, Plugins: c.o.Plugins,
		Now: c.o.Now,
		Mode: func() gate.Mode {
			if now, err := c.Settings.Settings(context.WithoutCancel(ctx)); err == nil && now.Mode == "careful" {
				return gate.Careful
			}
			return gate.Standard
		},
		Project: c.projectOf, Used: c.uses.record,
	})
	if err != nil {
		return err
	}
	if err := c.pluginsFolder(); err != nil {
		return err
	}
	c.launcher = worker.New(worker.Options{Program: c.o.Worker, Log: c.Log})
	c.Python = python.New(python.Options{
		Python: set.Python, Runtime: plugin.Runtime(c.o.Data), Log: c.Log, Launcher: c.launcher,
	})
	c.dialects = openDialects(c)
	c.pdfs = pdfprocess.New(c.launcher, c.Log)
	c.Undo = undo.Open(undo.Options{
		Dir: filepath.Join(c.o.Data, "undo"), Log: c.Log,
		Record: func(ctx context.Context, o undo.Outcome) error {
			return c.Store.Activity.RecordReversal(ctx, changes.Reversal(o))
		},
	})
	c.changes = changes.New(changes.Options{Undo: c.Undo, Gate: c.Gate, Sync: c.Store.Sync, Log: c.Log})
	services := map[string]plugin.Service{} // filled below: the host looks one up when a plugin asks, after Scan
	c.buildHost(services)
	c.buildChats()
	maps.Copy(services, c.services())
	c.HTTP = c.toolPort()
	if c.Programs, err = mcpServer(ctx, c); err != nil {
		return err
	}
	if !c.o.OwnPlugins || c.Store.ReadOnly() {
		return nil
	}
	return shippedPlugins{c.o.Plugins, c.Host, c.Gate, c.dialects, c.launcher.Confinement().Level}.approve(ctx)
}

// buildHost makes the host of plugins, which has these services, and what works on its plugins.
func (c *Core) buildHost(services map[string]plugin.Service) {
	environments := c.environments()
	c.egress = newNetwork(c)
	c.Host = host.New(host.Options{
		Dir: c.o.Plugins, Data: c.o.Data, Work: c.o.Work, Launcher: c.launcher, Registry: c.Tools, Gate: c.Gate,
		Store: c.Store.Plugins, Secrets: c.Keys, Bus: c.Bus, Log: c.Log,
		Services: services, Environments: environments, Network: network{c}, Own: network{c}.own,
		Opening: c.changes.Opening, Elicit: c.Elicit.Ask,
		Expected: c.expectsPlugins, Hooking: []string{gate.Interceptor, gate.ToolCalls},
		Dialects: c.dialects, LoadTimeout: c.o.LoadTimeout,
	})
	c.Library = library.New(library.Options{
		Dir: c.o.Plugins, Data: c.o.Data, Host: c.Host, Gate: c.Gate, Log: c.Log,
		Templates: plugin.Templates(c.dialects),
	})
	c.Packages = packages.NewInstaller(c.Host, environments)
}

// buildChats makes what runs calls, turns and councils.
func (c *Core) buildChats() {
	c.events = events.New(events.Options{
		Host: c.Host, Chats: c.Store.Chats, Log: c.Log,
		Texts: func(ctx context.Context, run council.RunID) council.ReadText {
			return c.Councils.Texts(ctx, run) // built below, with these events
		},
	})
	points := c.points()
	c.Calls = call.New(call.Options{
		Gate: c.Gate, Log: c.Store.Turns, Points: points, Slog: c.Log, Sent: network{c}.sent, Keep: c.changes.Keep,
		AtOnce: c.Host.Settings.AtOnce, Sync: c.Store.Sync,
	})
	c.Turns = turn.New(turn.Options{
		Log: c.Store.Turns, Calls: c.Calls, Slog: c.Log, Points: points, OnEvent: c.onTurnEvent,
		Price: c.charge, Files: document.Reader{PDF: c.pdfs.Read}, ToolShare: toolShare(c.Settings),
	})
	c.Conversations = conversation.New(conversation.Options{
		Store: c.Store.Turns, Turns: c.Turns, Log: c.Log,
		Edited: func(id chat.ConversationID, seq chat.MessageSeq) {
			if !c.Store.Chats.IsTemporary(id) {
				c.events.Edited(id, seq)
			}
		},
		Rests: func(chat.ConversationID) { c.Bus.Changed(bus.Chats, "") }, // the list marks chats that run
	})
	c.Councils = c.councils()
}

// toolShare returns a function that reads which part of a model's context tools may take, in percent.
func toolShare(from *settings.Current) func(context.Context) int {
	return func(ctx context.Context) int {
		if set, err := from.Settings(context.WithoutCancel(ctx)); err == nil {
			return set.ToolShare
		}
		return turn.DefaultToolShare
	}
}

// Scan reads the plugins folder once and waits until the plugins of waitFor (none:
// all) have listed their tools or failed.
func (c *Core) Scan(ctx context.Context, waitFor ...string) error {
	c.scanOnce(ctx)
	return c.Host.WaitLoaded(ctx, waitFor...)
}

// scanOnce starts loading what lies in the plugins folder.
func (c *Core) scanOnce(ctx context.Context) {
	c.scan.Do(func() {
		if err := c.Host.Scan(); err != nil {
			c.Log.Warn("the plugins folder cannot be read", "err", err)
		}
		if err := c.HTTP.Restore(ctx); err != nil {
			c.Log.Warn("what programs registered could not be restored", "err", err)
		}
	})
}

// trouble is called by the store when writes fail, or work again.
func (c *Core) trouble(err error) {
	c.Trouble = err
	c.Bus.Changed(bus.Settings, "")
	if err != nil {
		c.Log.Error("the store cannot write", "err", err)
	}
}

// closeTime bounds what closing may take, after what plugins have for themselves
// (flushTime).
const closeTime = 10 * time.Second

// Close ends every process, denies the calls that wait for a person, and closes the
// store. It may be called more than once.
func (c *Core) Close() error {
	var err error
	c.closing.Do(func() {
		if c.Councils != nil {
			c.Councils.Close()
		}
		c.flushEvents()
		ctx, cancel := context.WithTimeout(context.Background(), closeTime) // nobody's: the program is ending
		defer cancel()
		if c.Packages != nil {
			c.Packages.Close()
		}
		if c.Programs != nil {
			err = c.Programs.Close(ctx)
		}
		if c.HTTP != nil {
			c.HTTP.Close()
		}
		if c.Elicit != nil {
			c.Elicit.Close() // calls that wait for an answer end
		}
		if c.Host != nil {
			c.Host.Close()
		}
		if c.egress != nil {
			c.egress.Close()
			c.besides.close(network{c})
		}
		c.endServices()
		if c.launcher != nil {
			c.launcher.Close()
		}
		if c.Undo != nil { // nothing writes any more
			c.Undo.Close()
		}
		if c.Gate != nil {
			err = errors.Join(err, c.Gate.Close(ctx))
		}
		err = errors.Join(c.Store.Close(), err) // the first is the one that a person reads
		c.discard()
	})
	return err
}

func (c *Core) discard() {
	if c.profiler != nil {
		c.profiler.Close()
	}
	_ = c.logs.Close()
	if c.throw != "" {
		_ = os.RemoveAll(c.throw)
	}
}

// Isolation returns a sentence about the sandbox of plugins on this system.
func (c *Core) Isolation() string {
	confinement := confine.Detect()
	if confinement.Sentence != "" {
		return confinement.Sentence
	}
	return "Each plugin runs in a process of its own, which can reach its own folder and nothing else."
}

// active is the conversation a plugin may ask for.
func (c *Core) active(ctx context.Context) (*chat.Conversation, error) {
	set, err := c.Settings.Settings(ctx)
	if err != nil || set.OpenChat == "" {
		return nil, err
	}
	v, err := c.Store.Chats.Conversation(ctx, chat.ConversationID(set.OpenChat))
	if fault.KindOf(err) == fault.NotFound {
		return nil, nil
	}
	return &v, err
}

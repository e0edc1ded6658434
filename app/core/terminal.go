package core

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/base/version"
	"conclave/app/chat"
	"conclave/app/core/doctor"
	"conclave/app/core/restore"
	"conclave/app/terminal"
	"conclave/app/terminal/remote"
	"conclave/store"

	"golang.org/x/term"
)

// reaching bounds how long a command looks for the store while its owner does not answer:
// one that closes lets its plugins finish (flushTime), ends them and writes, and one that opens
// may have an older store to bring up to date.
const reaching = 10 * time.Second

// Main runs the terminal program with its arguments and returns its exit status. The
// first interrupt stops the answer of a chat, or else the command, which keeps what it
// has done; the next stops the command, and the one after ends the program. The
// signals to terminate and the end of the terminal do the same, but do not stop an
// answer first.
func Main(args []string) int {
	collectSeldom()
	if code, ok := conforms(args); ok {
		return code
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	s := terminalSession(args)
	s.Interrupt = &terminal.Interrupt{}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() { // ends with the program
		for (<-signals) == os.Interrupt && s.Interrupt.Stop() {
			continue // an answer was stopped; the chat goes on
		}
		cancel(fault.New(fault.Canceled, "terminal", "It was interrupted.", ""))
		<-signals
		os.Exit(terminal.ExitStopped)
	}()
	run := context.WithValue(ctx, ownTerminal{}, true)
	input := newSharedInput(os.Stdin)
	for reached := time.Now(); time.Since(reached) < reaching; {
		t := &console{ctx: ctx, giving: newGivingWay()}
		in := input.open()
		s.In, s.Closing = in, t.giving.wanted
		code := terminal.Run(run, s, t.open)
		_ = in.Close()
		if code == terminal.ExitHandedOver {
			untilTaken(ctx, t.folders.Data)
			reached = time.Now()
			continue
		}
		if code != terminal.ExitOwnedElsewhere {
			return t.saved(s, code)
		}
		var interrupted atomic.Bool // the owner was sent it, and may close instead
		heed := func(stop func() bool) {
			s.Interrupt.Set(func() bool {
				if !stop() {
					return false
				}
				interrupted.Store(true)
				return true
			})
		}
		in = input.open()
		code, err := remote.Run(ctx, t.folders.Data, commandOf(s), remote.Streams{
			In: in, Out: s.Out, Err: s.Err, Interrupted: heed, Flush: s.Flush,
		})
		_ = in.Close()
		s.Interrupt.Set(nil)
		switch {
		case err == nil:
			return code
		case fault.KindOf(err) == fault.Conflict, fault.KindOf(err) == fault.Timeout:
			return terminal.Fail(s, err)
		case ctx.Err() != nil, fault.KindOf(err) == fault.Canceled:
			return terminal.ExitStopped
		case errors.Is(err, remote.ErrLost):
			return terminal.Fail(s, fault.Wrap(fault.Unavailable, "terminal",
				"The Conclave that had the store ended in the middle of the command.",
				"What it had done is kept: look at conclave chats list and conclave logs, then try again.", err))
		case interrupted.Load():
			return terminal.ExitStopped
		}
		if errors.Is(err, remote.ErrGone) {
			reached = time.Now()
		}
		// The owner closed, or is only just opening or closing: look again.
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return terminal.ExitStopped
		}
	}
	return terminal.Fail(s,
		fault.New(fault.Locked, "terminal", "Another Conclave has the store and does not answer.",
			"Close it, or wait until it has closed."))
}

// terminalSession is the session of this program's own terminal.
func terminalSession(args []string) *terminal.Session {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	in, errs := int(os.Stdin.Fd()), int(os.Stderr.Fd())
	s := &terminal.Session{
		Args: args, In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Dir: dir, Env: os.Getenv,
		Terminal: term.IsTerminal(in) && term.IsTerminal(errs),
		Kinds:    templateKinds(),
	}
	s.Restore = restore.Restore
	s.Compact = func(ctx context.Context, data string) (before, after int64, err error) {
		return store.Compact(ctx, data, time.Now())
	}
	if s.Terminal {
		s.Flush = func() { flushInput(in) }
	}
	if term.IsTerminal(int(os.Stdout.Fd())) {
		s.Out = terminal.Plain(os.Stdout)
	}
	if term.IsTerminal(errs) {
		s.Err = terminal.Plain(os.Stderr)
	}
	if w, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
		s.Width = w
	}
	return s
}

// passedOn are the variables of the environment that a command run elsewhere
// needs: where its folders are, the language it reads, and no secret.
var passedOn = []string{
	"HOME", "USERPROFILE", "LOCALAPPDATA", "XDG_DATA_HOME", "CONCLAVE_DATA", "CONCLAVE_PLUGINS", "TERM",
	"LC_ALL", "LC_MESSAGES", "LANG",
}

func commandOf(s *terminal.Session) remote.Command {
	c := remote.Command{
		Version: version.Version, Args: s.Args, Dir: s.Dir, Env: map[string]string{}, Terminal: s.Terminal,
		Width: s.Width,
	}
	for _, name := range passedOn {
		if value := s.Env(name); value != "" {
			c.Env[name] = value
		}
	}
	return c
}

// terminal opens the core for one command of this program.
type console struct {
	ctx     context.Context //nolint:containedctx // the program's own
	folders terminal.Folders
	giving  *givingWay // nil where nobody can be given way to
	unsaved error      // why what the command did could not be saved as it ended
}

// saved returns the status of a command that ended with code. If something of it could not be saved, it
// prints that, and the status is a failure.
func (t *console) saved(s *terminal.Session, code int) int {
	if t.unsaved == nil {
		return code
	}
	failed := terminal.Fail(s, t.unsaved)
	if code == terminal.ExitDone {
		return failed
	}
	return code
}

// open implements terminal.Opener: it opens the core, or says that another program
// has the store.
func (t *console) open(ctx context.Context, folders terminal.Folders) (*terminal.App, error) {
	t.folders = folders
	program, err := version.Beside(version.Worker)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, "terminal",
			"Conclave cannot find its own program file, which plugins' processes are started from.",
			"On Linux it is found through /proc, which must be mounted.", err)
	}
	work, err := os.Getwd() // where plugins work, too
	if err != nil {
		work = ""
	}
	c, err := Open(ctx, Options{
		Data: folders.Data, Plugins: folders.Plugins, OwnPlugins: folders.OwnPlugins, Work: work, Worker: program,
		Name: cmp.Or(folders.Command, "another conclave"), Reads: folders.Reads,
	})
	if fault.KindOf(err) == fault.Locked {
		return nil, terminal.ErrOwnedElsewhere
	}
	if err != nil {
		return nil, err
	}
	c.Keys.Ask = askPassphrase
	a := c.Terminal()
	quiet := c.printToasts(terminal.Plain(os.Stderr))
	var server *remote.Server
	if folders.Data != "" && !c.Store.ReadOnly() {
		server, err = c.Serve(t.giving.knows)
		if err != nil {
			c.Log.Warn("other commands cannot be served", "err", err)
		}
	}
	a.Close = func() {
		quiet()
		if server != nil {
			server.Close()
		}
		if err := c.Close(); err != nil {
			c.Log.Error("closing failed", "err", err)
			t.unsaved = err
		}
	}
	if folders.NeedsPlugins {
		if err := c.scanFor(ctx, folders); err != nil {
			a.Close()
			return nil, err
		}
	}
	return a, nil
}

// Serve runs other programs' commands in this core, until Close of the server. window,
// when not nil, handles the arguments of the window's own program and reports whether
// it knew them.
func (c *Core) Serve(window func(args []string) bool) (*remote.Server, error) {
	return remote.Serve(c.o.Data, version.Version, func(ctx context.Context, closing <-chan struct{},
		command remote.Command, streams remote.Streams,
	) int {
		if window != nil && window(command.Args) {
			return terminal.ExitDone
		}
		s := &terminal.Session{
			Args: command.Args, In: streams.In, Out: streams.Out, Err: streams.Err, Dir: command.Dir,
			Env:      func(name string) string { return command.Env[name] },
			Terminal: command.Terminal, Width: command.Width, Closing: closing, Lasting: streams.Lasting,
			Kinds:     templateKinds(),
			Interrupt: &terminal.Interrupt{},
		}
		if s.Terminal {
			s.Flush = streams.Flush
		}
		streams.Interrupted(s.Interrupt.Stop)
		throwAway := &console{ctx: ctx}
		return throwAway.saved(
			s,
			terminal.Run(ctx, s, func(ctx context.Context, folders terminal.Folders) (*terminal.App, error) {
				if folders.Data == "" {
					return throwAway.open(ctx, folders)
				}
				if folders.Plugins != c.o.Plugins {
					return nil, fault.New(
						fault.Conflict,
						"core.serve",
						"The Conclave that is running watches the plugins folder "+c.o.Plugins+".",
						"Close it, or leave --plugins out.",
					)
				}
				a := c.Terminal()
				a.Close = func() {}
				if folders.NeedsPlugins {
					if err := c.scanFor(ctx, folders); err != nil {
						return nil, err
					}
				}
				return a, nil
			}),
		)
	})
}

// Terminal returns the core as commands use it. The caller sets its Close.
func (c *Core) Terminal() *terminal.App {
	chats := terminalChats{c.Store.Turns, c.Bus}
	return &terminal.App{
		Data: c.o.Data, Plugins: c.o.Plugins,
		Host: c.Host, Library: c.Library, Packages: c.Packages, Gate: c.Gate, Tools: c.Tools,
		Calls: c.Calls, Councils: c.Councils, CouncilSettings: c.CouncilSettings(), Mask: c.Mask,
		Responder: c.Responder(chats), Chats: chats, Activity: c.Store.Activity, Undo: c.Undo,
		Models: c.Models, Settings: c.Settings,
		HTTP: c.HTTP, Programs: c.Programs, Secrets: c.Services.Secrets, Watch: c.watch, LogChanges: c.logChanges,
		Backup: c.backup, Doctor: c.doctor,
	}
}

// doctor checks this machine.
func (c *Core) doctor(ctx context.Context) []terminal.Finding {
	return doctor.Machine{
		Data: c.o.Data, Worker: c.o.Worker, Store: c.Store, Host: c.Host, Python: c.Python,
		Confinement: c.launcher.Confinement(), Keys: c.Keys.Sentence(), Models: c.Models,
	}.Check(ctx)
}

// backup writes a whole copy of the store.
func (c *Core) backup(ctx context.Context, path string) (terminal.MediaReport, error) {
	r, err := c.Store.Backup(ctx, path)
	return terminal.MediaReport(r), err
}

// watch follows the plugins folder until ctx ends. A second watcher in one
// program only waits.
func (c *Core) watch(ctx context.Context) <-chan error {
	done := make(chan error, 1)
	if !c.watching.CompareAndSwap(false, true) {
		go func() { // ends with ctx
			<-ctx.Done()
			done <- nil
		}()
		return done
	}
	go func() { // ends with ctx
		defer c.watching.Store(false)
		err := c.Host.Watch(ctx)
		if ctx.Err() != nil {
			err = nil
		}
		done <- err
	}()
	return done
}

// Watch follows the plugins folder until ctx ends.
func (c *Core) Watch(ctx context.Context) error { return <-c.watch(ctx) }

func (c *Core) logChanges(plugin string) (<-chan struct{}, func()) {
	ctx, cancel := context.WithCancel(context.Background()) // the reader's: stop ends it
	s := c.Bus.Subscribe(bus.Log)
	changed := make(chan struct{}, 1)
	var wg sync.WaitGroup
	wg.Go(func() { // ends with stop
		for {
			notices, err := s.Next(ctx)
			if err != nil {
				return
			}
			if slices.ContainsFunc(notices, func(n bus.Notice) bool { return n.ID == plugin }) {
				select {
				case changed <- struct{}{}:
				default: // a wake-up is due already
				}
			}
		}
	})
	return changed, func() { cancel(); s.Close(); wg.Wait() }
}

// terminalChats are the chats as commands use it. It notifies an open window of what
// they change.
type terminalChats struct {
	store.Turns
	bus *bus.Bus
}

// notify publishes a change of a conversation that was made.
func (s terminalChats) notify(id chat.ConversationID, err error) error {
	if err == nil {
		s.bus.Changed(bus.Chats, "")
		s.bus.Changed(bus.Edits, string(id))
	}
	return err
}

// CreateConversation implements terminal.Chats.
func (s terminalChats) CreateConversation(ctx context.Context, c *chat.Conversation) error {
	err := s.Turns.CreateConversation(ctx, c)
	return s.notify(c.ID, err)
}

// ImportConversation implements terminal.Chats.
func (s terminalChats) ImportConversation(ctx context.Context, c *chat.Conversation, messages []chat.Message) error {
	err := s.Turns.ImportConversation(ctx, c, messages)
	return s.notify(c.ID, err)
}

// UpdateConversation implements terminal.Chats.
func (s terminalChats) UpdateConversation(ctx context.Context, id chat.ConversationID,
	change func(*chat.Conversation),
) error {
	return s.notify(id, s.Turns.UpdateConversation(ctx, id, change))
}

// scanFor is Scan for a command.
func (c *Core) scanFor(ctx context.Context, folders terminal.Folders) error {
	c.scanOnce(ctx)
	if folders.Chat {
		return c.Host.WaitOffered(ctx)
	}
	return c.Host.WaitLoaded(ctx, folders.WaitFor...)
}

package window

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/wailsapp/wails/v2/pkg/runtime"

	"conclave/app/base/bus"
)

// NoticeEvent is the one event the page is sent: a list of bus.Notice, at most
// once a frame. What changed is then pulled (docs/ARCHITECTURE.md, “Rules that hold everywhere”).
const NoticeEvent = "conclave:notice"

// frame is the least time between two events: Wails evaluates each as script, so
// a window is told no more often than it can draw.
const frame = 16 * time.Millisecond

// App starts and ends with the page. It is the only holder of the Wails context.
type App struct {
	*lifecycle
	core Core
	log  *slog.Logger
	emit func(ctx context.Context, event string, data ...any) // runtime.EventsEmit, or a test's

	cancel context.CancelFunc
	done   sync.WaitGroup

	Chats       *Chats
	Context     *Context
	Plugins     *Plugins
	Tools       *Tools
	Permissions *Permissions
	Questions   *Questions
	Shared      *Shared
	Prompts     *Prompts
	Transfer    *Transfer
	Branches    *Branches
	Models      *Models
	Settings    *Settings
	Programs    *Programs
	Council     *Council
	Activity    *Activity
	Window      *Window
}

// New returns the window's side of a core that is open. Bind returns what Wails
// binds.
func New(core Core, log *slog.Logger) *App {
	l := &lifecycle{}
	a := &App{lifecycle: l, core: core, log: log, emit: runtime.EventsEmit}
	undo := newUndos()
	a.Chats = newChats(l, core, log, undo)
	a.Context = newContext(l, core, a.Chats, undo)
	a.Plugins = &Plugins{lifecycle: l, core: core, undo: undo}
	a.Tools = &Tools{lifecycle: l, core: core}
	a.Permissions = &Permissions{lifecycle: l, core: core, undo: undo, open: a.Chats.open}
	a.Questions = &Questions{lifecycle: l, core: core, open: a.Chats.open}
	a.Prompts = &Prompts{lifecycle: l, core: core, undo: undo}
	a.Shared = &Shared{lifecycle: l, core: core, chats: a.Chats}
	a.Transfer = &Transfer{lifecycle: l, core: core, chats: a.Chats}
	a.Branches = &Branches{lifecycle: l, core: core, undo: undo, chats: a.Chats}
	a.Models = &Models{lifecycle: l, core: core, log: log, undo: undo, unlocked: make(chan struct{}, 1)}
	a.Settings = &Settings{lifecycle: l, core: core}
	a.Programs = &Programs{lifecycle: l, core: core}
	a.Council = &Council{
		lifecycle: l, core: core, undo: undo, chats: a.Chats,
		named: &councilPresets{settings: core.CouncilSettings},
		runs:  &runReader{councils: core.Councils},
	}
	a.Activity = &Activity{lifecycle: l, core: core, open: a.Chats.open}
	a.Window = &Window{lifecycle: l, core: core, log: log, undo: undo, pictures: newPictures()}
	a.Window.attention = newAttention(core, log, a.Permissions.words)
	a.Chats.open.finishes = a.Window.attention.finished
	return a
}

// Bind returns the structs whose methods the page may call.
func (a *App) Bind() []any {
	return []any{
		a.Chats, a.Context, a.Plugins, a.Tools, a.Permissions, a.Questions, a.Shared, a.Prompts, a.Transfer, a.Branches,
		a.Models, a.Settings, a.Programs, a.Council, a.Activity, a.Window,
	}
}

// Startup begins telling the page of changes. Wails calls it once the window
// exists; ctx is for its runtime.
func (a *App) Startup(ctx context.Context) {
	run, cancel := context.WithCancel(ctx)
	a.cancel = cancel
	a.begin(ctx)
	a.done.Go(func() { a.notify(run) }) // ended by Shutdown
	a.done.Go(func() { a.Window.attention.follow(run) })
	a.done.Go(func() { a.Chats.open.followEdits(run) })
	a.Chats.turns.start(run)
	a.done.Go(func() { a.Models.refresh(run) })
}

// Shutdown stops what Startup began, and running turns, and waits for both. What the
// models said so far stays. Temporary chats are deleted.
func (a *App) Shutdown(ctx context.Context) {
	if a.cancel != nil {
		a.cancel()
	}
	a.Chats.turns.stop()
	if _, err := a.Chats.open.leaveTemporary(context.WithoutCancel(ctx), ""); err != nil {
		a.log.Warn("a temporary chat was not deleted; it will be at the next start", "err", err)
	}
	a.Window.pictures.client.CloseIdleConnections()
	a.done.Wait()
}

// Focus brings the window to the front, for a second launch.
func (a *App) Focus() {
	if ctx := a.window(); ctx != nil {
		show(ctx)
	}
}

// show brings the window to the front.
func show(ctx context.Context) {
	runtime.WindowUnminimise(ctx)
	runtime.WindowShow(ctx)
}

// notify passes the bus on to the page, at most once a frame.
func (a *App) notify(ctx context.Context) {
	s := a.core.Bus.Subscribe()
	defer s.Close()
	tick := time.NewTimer(0)
	defer tick.Stop()
	for {
		notices, err := s.Next(ctx)
		if err != nil {
			return
		}
		a.send(ctx, notices)
		tick.Reset(frame)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// send emits notices as Wails can carry them. Its transport breaks characters
// above U+FFFF that Go thinks unprintable (TestWailsBreaksAstralCharacters says
// when it is repaired), so ids are sent as ASCII JSON.
func (a *App) send(ctx context.Context, notices []bus.Notice) {
	for i := range notices {
		notices[i].ID = ascii(notices[i].ID)
	}
	a.emit(ctx, NoticeEvent, notices)
}

// ascii replaces what is not printable ASCII; ids of Conclave's own are made of
// nothing else, so this changes none of them.
func ascii(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r > 0x7e {
			return '_'
		}
		return r
	}, s)
}

// FormatError is Wails' ErrorFormatter: every bound method that fails rejects
// with a Failure. It returns one string, the Failure as JSON, since Wails' page
// makes new Error(…) of whatever comes, and of an object that is
// "[object Object]"; calls.ts reads it.
func (a *App) FormatError(err error) any {
	f := a.failure(err)
	raw, jsonErr := json.Marshal(f)
	if jsonErr != nil { // four strings cannot fail
		return f.Message
	}
	return string(raw)
}

// errNoContext answers a runtime call before Startup.
var errNoContext = errors.New("the window is not there yet")

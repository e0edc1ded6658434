package window

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"conclave/app/base/bus"
	"conclave/app/base/shorten"
	"conclave/app/chat"
	"conclave/app/gate"

	"github.com/wailsapp/wails/v2/pkg/runtime"
)

const (
	// awayFor is the time that a request waits for a person who looks elsewhere before the system
	// shows a notification.
	awayFor = 10 * time.Second
	// maxTitle is the longest title of the window, in characters: more than a bar shows.
	maxTitle = 200
)

// attention tells a person that requests for permission or questions of plugins wait: their number in the title bar,
// and to one who looks elsewhere a notification of the system, one for those that came since
// the last. One who looks elsewhere also learns that an answer is finished.
type attention struct {
	bus     *bus.Bus
	waiting func() []waiting // what waits for the person, oldest first
	retitle func(ctx context.Context, title string)
	notify  func(ctx context.Context, id, title, body string) error
	log     *slog.Logger

	changed chan struct{} // has room for one

	mu    sync.Mutex
	title string    // without the number
	away  time.Time // since when another window has the keyboard; zero when this one has it
	ended string    // the title of the chat with the last answer that nobody knows of; "" for none
}

// waiting holds a request for permission or a question of a plugin that waits for the person.
type waiting struct {
	id    string
	chat  chat.ConversationID // whose call it belongs to; empty for none
	asked time.Time
	words string // what is asked, as its card is headed
}

// allWaiting returns the requests for permission and the questions that wait.
func allWaiting(core Core, words func(gate.Request) string) []waiting {
	var all []waiting
	for _, r := range core.Gate.Questions.List() {
		w := waiting{id: r.ID, asked: r.Asked, words: words(r)}
		if r.Kind == gate.KindCall {
			w.chat = r.Conversation
		}
		all = append(all, w)
	}
	for _, q := range core.Elicit.List() {
		all = append(all, waiting{q.ID, q.Chat, q.Asked, q.PluginName + " asks: " + q.Message})
	}
	slices.SortStableFunc(all, func(a, b waiting) int { return a.asked.Compare(b.asked) })
	return all
}

func newAttention(core Core, log *slog.Logger, words func(gate.Request) string) *attention {
	return &attention{
		bus: core.Bus, waiting: func() []waiting { return allWaiting(core, words) },
		log: log, changed: make(chan struct{}, 1),
		retitle: runtime.WindowSetTitle, notify: notification(),
	}
}

// notification returns what shows a notification in place of the one before. The first one
// connects to the system's service, so that a start does not wait for it. For one goroutine.
func notification() func(ctx context.Context, id, title, body string) error {
	connected := false
	return func(ctx context.Context, id, title, body string) error {
		if !connected {
			if err := runtime.InitializeNotifications(ctx); err != nil {
				return err
			}
			if allowed, err := runtime.RequestNotificationAuthorization(ctx); err != nil || !allowed {
				return err
			}
			runtime.OnNotificationResponse(ctx, func(runtime.NotificationResult) { show(ctx) })
			connected = true
		}
		return runtime.SendNotification(ctx, runtime.NotificationOptions{ID: id, Title: title, Body: body})
	}
}

// set takes in what the title bar shows beside the number, and whether the window has the
// keyboard.
func (a *attention) set(title string, focused bool) {
	a.mu.Lock()
	a.title = title
	if focused {
		a.away, a.ended = time.Time{}, ""
	} else if a.away.IsZero() {
		a.away = time.Now()
	}
	a.mu.Unlock()
	a.wake()
}

// wake has follow look again.
func (a *attention) wake() {
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

// finished takes in that the answer in a chat is finished.
func (a *attention) finished(title string) {
	a.mu.Lock()
	if !a.away.IsZero() {
		a.ended = title
	}
	a.mu.Unlock()
	a.wake()
}

// follow keeps the title bar and the marks of chats true and notifies, until ctx ends.
func (a *attention) follow(ctx context.Context) {
	news := a.bus.Subscribe(bus.Permissions, bus.Questions)
	defer news.Close()
	asked := make(chan struct{})
	go func() { // ends with ctx
		defer close(asked)
		for {
			if _, err := news.Next(ctx); err != nil {
				return
			}
			select {
			case asked <- struct{}{}:
			case <-ctx.Done():
				return
			}
		}
	}()
	titled := windowTitle("", 0) // as the window begins
	told := map[string]bool{}    // requests of which a notification was shown
	var marked []chat.ConversationID
	for {
		waiting := a.waiting()
		if now := askedIn(waiting); !slices.Equal(now, marked) { // the list marks these
			marked = now
			a.bus.Changed(bus.Chats, "")
		}
		a.mu.Lock()
		title, away, ended := a.title, a.away, a.ended
		a.ended = ""
		a.mu.Unlock()
		if ended != "" {
			a.show(ctx, "answer", "Answer finished", ended)
		}
		if title = windowTitle(title, len(waiting)); title != titled {
			titled = title
			a.retitle(ctx, title)
		}
		var wait <-chan time.Time
		if due, any := nextDue(waiting, told, away); any {
			if left := time.Until(due); left > 0 {
				wait = time.After(left)
			} else {
				told = a.tell(ctx, waiting)
			}
		}
		select {
		case <-a.changed:
		case _, open := <-asked:
			if !open {
				return
			}
		case <-wait:
		case <-ctx.Done():
			return
		}
	}
}

// askedIn returns the chats in which a person is asked about something.
func askedIn(waiting []waiting) []chat.ConversationID {
	var all []chat.ConversationID
	for _, w := range waiting {
		if w.chat != "" {
			all = append(all, w.chat)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// nextDue returns when a notification is to be shown of the requests of which none was.
func nextDue(waiting []waiting, told map[string]bool, away time.Time) (due time.Time, any bool) {
	if away.IsZero() {
		return time.Time{}, false
	}
	for _, q := range waiting {
		since := away
		if q.asked.After(since) {
			since = q.asked
		}
		if at := since.Add(awayFor); !told[q.id] && (!any || at.Before(due)) {
			due, any = at, true
		}
	}
	return due, any
}

// tell shows one notification of all that wait, and returns which those are.
func (a *attention) tell(ctx context.Context, waiting []waiting) map[string]bool {
	told := map[string]bool{}
	for _, q := range waiting {
		told[q.id] = true
	}
	body := waiting[len(waiting)-1].words
	if n := len(waiting); n > 1 {
		body = fmt.Sprintf("%d requests wait. The newest: %s", n, body)
	}
	a.show(ctx, "permission", "Conclave asks for permission", body)
	return told
}

// show shows a notification in place of the one before with the same id.
func (a *attention) show(ctx context.Context, id, title, body string) {
	if err := a.notify(ctx, id, title, body); err != nil {
		a.log.Debug("the system shows no notification", "error", err)
	}
}

// windowTitle returns the title of the window: how many requests wait, what is open, and the
// program's name.
func windowTitle(open string, waiting int) string {
	title := "Conclave"
	if open = cutTitle(open); open != "" && open != title {
		title = open + " – " + title
	}
	if waiting > 0 {
		title = fmt.Sprintf("(%d) %s", waiting, title)
	}
	return title
}

func cutTitle(text string) string {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	return strings.TrimSpace(shorten.After(text, maxTitle))
}

// Attention tells the program what is open, which the title bar shows, and whether the window
// has the keyboard: a request that waits while it has not is shown as a notification.
func (w *Window) Attention(open string, focused bool) { w.attention.set(open, focused) }

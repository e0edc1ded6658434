package window

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/base/bus"
)

// screen is a title bar, the notifications of a system, and what waits for the person.
type screen struct {
	t   *testing.T
	bus *bus.Bus
	*attention

	mu    sync.Mutex
	asked []waiting
	title string
	shown []string
}

// look follows requests in a bubble of synctest, in which time is the test's.
func look(t *testing.T) *screen {
	s := &screen{t: t, bus: bus.New(), title: "Conclave"}
	s.attention = &attention{
		bus: s.bus, log: slog.New(slog.DiscardHandler), changed: make(chan struct{}, 1),
		waiting: func() []waiting {
			s.mu.Lock()
			defer s.mu.Unlock()
			return slices.Clone(s.asked)
		},
		retitle: func(_ context.Context, title string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.title = title
		},
		notify: func(_ context.Context, _, title, body string) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.shown = append(s.shown, title+": "+body)
			return errors.New("there is no such service here")
		},
	}
	ctx, cancel := context.WithCancel(t.Context())
	var following sync.WaitGroup
	following.Go(func() { s.follow(ctx) })
	t.Cleanup(func() { cancel(); following.Wait() })
	return s
}

func (s *screen) ask(titles ...string) {
	s.mu.Lock()
	s.asked = nil
	for _, title := range titles {
		s.asked = append(s.asked, waiting{id: title, words: title, asked: time.Now()})
	}
	s.mu.Unlock()
	s.bus.Publish(bus.Notice{Topic: bus.Permissions})
	synctest.Wait()
}

func (s *screen) finish(title string) {
	s.finished(title)
	synctest.Wait()
}

func (s *screen) after(d time.Duration, want ...string) {
	s.t.Helper()
	time.Sleep(d)
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.shown, want) {
		s.t.Errorf("after %v the system showed %q, want %q", d, s.shown, want)
	}
	s.shown = nil
}

func (s *screen) titled(want string) {
	s.t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.title != want {
		s.t.Errorf("the title is %q, want %q", s.title, want)
	}
}

func TestARequestThatWaitsIsCountedInTheTitle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := look(t)
		s.set("Trip to Lyon", true)
		s.titled("Trip to Lyon – Conclave")
		s.ask("Notes wants to write a note", "Web wants to read a page")
		s.titled("(2) Trip to Lyon – Conclave")
		s.ask()
		s.titled("Trip to Lyon – Conclave")
		s.set(strings.Repeat("x", 300)+"\n\u202e", true)
		s.titled(strings.Repeat("x", maxTitle) + "… – Conclave")
		s.set("", true)
		s.titled("Conclave")
	})
}

func TestWhoLooksElsewhereIsNotifiedOnceAfterTenSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := look(t)
		s.set("", true)
		s.ask("Notes wants to write a note")
		s.after(time.Hour) // the person looks at it
		s.set("", false)
		s.after(9 * time.Second)
		s.after(time.Second, "Conclave asks for permission: Notes wants to write a note")
		s.after(time.Hour)

		// Another one, of which the person was not told, and one that is answered in time.
		s.ask("Notes wants to write a note", "Web wants to read a page")
		s.after(9 * time.Second)
		s.ask("Notes wants to write a note")
		s.after(time.Hour)
		s.ask("Notes wants to write a note", "Web wants to read another page")
		s.after(10*time.Second, "Conclave asks for permission: 2 requests wait. The newest: Web wants to read another page")

		// Who came back and went away again has ten seconds anew.
		s.ask("Dice wants to roll")
		time.Sleep(8 * time.Second)
		s.set("", true)
		synctest.Wait()
		s.set("", false)
		s.after(9 * time.Second)
		s.after(time.Second, "Conclave asks for permission: Dice wants to roll")
	})
}

func TestAFinishedAnswerIsAnnouncedToOneWhoLooksElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := look(t)
		s.set("", true)
		s.finish("Trip to Lyon")
		s.after(time.Hour)
		s.set("", false)
		s.finish("Trip to Lyon")
		s.after(0, "Answer finished: Trip to Lyon")
		s.set("", true)
		s.after(time.Hour)
	})
}

// A plugin that asks while its call runs, and goes on asking once that is over, is marked too.
func TestTheListOfChatsIsMarkedWhenSomebodyIsAskedInOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := look(t)
		synctest.Wait()
		marks := func(want uint64, when string) {
			t.Helper()
			synctest.Wait()
			if got := s.bus.Revision(bus.Chats, ""); got != want {
				t.Errorf("%s, the list of chats has changed %d times, want %d", when, got, want)
			}
		}
		in := func(all ...waiting) {
			s.mu.Lock()
			s.asked = all
			s.mu.Unlock()
			s.bus.Publish(bus.Notice{Topic: bus.Permissions})
		}
		marks(0, "at first")
		file := waiting{id: "1", chat: "c_1"}
		in(file)
		marks(1, "with a request")
		again, plugin := file, waiting{id: "3"}
		again.id = "2"
		in(file, again, plugin)
		marks(1, "with two of one chat, and a plugin")
		in()
		marks(2, "with none")
	})
}

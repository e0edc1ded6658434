package window

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"conclave/app/base/settings"
	"conclave/app/chat"
)

// chosen are settings that never change.
type chosen struct {
	set  settings.Settings
	err  error
	list error // of the list of chats
}

func (c chosen) Settings(context.Context) (json.RawMessage, uint64, error) {
	raw, _ := json.Marshal(c.set)
	return raw, 0, c.err
}

func (c chosen) PutSettings(context.Context, json.RawMessage, uint64) (uint64, error) {
	return 0, c.err
}

// chats are a pinned chat and many others, of two days.
type chats struct {
	Store
	err error
}

func (s chats) List(_ context.Context, o chat.ListOptions) (chat.Page, error) {
	if o.Pinned == chat.Only {
		return chat.Page{Conversations: []chat.Conversation{{ID: "p", Title: "Pinned"}}, Total: 1}, s.err
	}
	found := chat.Page{Total: 5000}
	for i := range o.Limit {
		found.Conversations = append(found.Conversations, chat.Conversation{
			ID: chat.ConversationID(fmt.Sprint("c", i)), Title: fmt.Sprintf("<b>%d & more</b>", i),
		})
	}
	return found, s.err
}

func (s chats) Days(context.Context, chat.ListOptions) ([]chat.Day, error) {
	return []chat.Day{{Key: "2026-11-28", Count: 2}, {Key: "2026-11", Count: 4998}}, s.err
}

// page returns what is answered for a path, where files are served as Wails does.
func page(t *testing.T, c chosen, path string) string {
	t.Helper()
	core := Core{Settings: &settings.Current{Store: c}, Store: chats{err: c.list}}
	window := New(core, slog.New(slog.DiscardHandler))
	files := map[string]string{
		"/":            "<!doctype html>\n<html lang=\"en\">\n<body><div class=\"rows\"></div>here</body></html>",
		"/assets/a.js": "document.write('<html lang>')",
	}
	files["/index.html"] = files["/"]
	handler := window.FirstFrame(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, r.URL.Path, time.Time{}, strings.NewReader(files[r.URL.Path]))
	}))
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
	body, err := io.ReadAll(recorder.Result().Body)
	must(t, err)
	if length := recorder.Header().Get("Content-Length"); path == "/" && c.err == nil && length != "" {
		t.Errorf("the page claims to be %s bytes long, and was made longer", length)
	}
	return string(body)
}

func TestTheFirstFrameLooksLikeTheWindowThatFollows(t *testing.T) {
	t.Setenv("LC_ALL", "C")
	for name, test := range map[string]struct {
		change func(*settings.Settings)
		has    []string
		hasNot []string
	}{
		"as it comes": {
			func(*settings.Settings) {},
			[]string{`<html data-chat="none" style="--first-side:16.5rem;--first-dock:25rem" lang="en">`, "here</body>"},
			nil,
		},
		"Chinese": {func(s *settings.Settings) { s.Language = "zh" }, []string{`lang="zh">`}, []string{`lang="en"`}},
		"dark":    {func(s *settings.Settings) { s.Theme = "dark" }, []string{`data-theme="dark"`}, []string{"data-contrast"}},
		"contrast": {
			func(s *settings.Settings) { s.Theme = "contrast" }, []string{`data-contrast="more"`}, []string{"data-theme"},
		},
		"zoomed": {func(s *settings.Settings) { s.Zoom = 150 }, []string{`style="font-size:150%;--first-side`}, nil},
		"no columns": {
			func(s *settings.Settings) { s.SidebarOpen, s.DockOpen = false, false },
			[]string{`data-side="shut"`, `data-dock="shut"`},
			nil,
		},
		"wide": {
			func(s *settings.Settings) { s.SidebarWidth, s.DockWidth = 300, 500 },
			[]string{"--first-side:18.75rem;--first-dock:31.25rem"},
			[]string{"shut"},
		},
		"not a theme": {func(s *settings.Settings) { s.Theme = `"><script>` }, nil, []string{"script", "data-theme"}},
	} {
		t.Run(name, func(t *testing.T) {
			set := settings.Default()
			test.change(&set)
			for _, path := range []string{"/", "/index.html"} {
				got := page(t, chosen{set: set}, path)
				for _, want := range test.has {
					if !strings.Contains(got, want) {
						t.Errorf("%s has no %s:\n%s", path, want, got)
					}
				}
				for _, not := range test.hasNot {
					if strings.Contains(got, not) {
						t.Errorf("%s has %s:\n%s", path, not, got)
					}
				}
			}
		})
	}
}

func TestTheFirstFrameHasTheChatsThatFillItsColumn(t *testing.T) {
	set := settings.Default()
	set.OpenChat = "c1"
	got := page(t, chosen{set: set}, "/")
	const begins = `<div class="rows"><div class="day"></div><div class="chat" data-chat="p">Pinned</div>` +
		`<div class="day"></div><div class="chat" data-chat="c0">&lt;b&gt;0 &amp; more&lt;/b&gt;</div>` +
		`<div class="chat current" data-chat="c1">&lt;b&gt;1 &amp; more&lt;/b&gt;</div><div class="day"></div>`
	if n := strings.Count(got, "data-chat=\""); !strings.Contains(got, begins) || n != framedChats {
		t.Errorf("it has %d chats:\n%s", n, got)
	}
	if got := page(t, chosen{set: set, list: errors.New("no disk")}, "/"); !strings.Contains(got, `<div class="rows"></div>`) {
		t.Errorf("without the list of chats:\n%s", got)
	}
	set.SidebarOpen = false
	if got := page(t, chosen{set: set}, "/"); !strings.Contains(got, `<div class="rows"></div>`) {
		t.Errorf("the column is shut:\n%s", got)
	}
}

func TestThePageComesAsItIsWhenThereAreNoSettings(t *testing.T) {
	if got := page(t, chosen{err: errors.New("no disk")}, "/"); !strings.Contains(got, "<html lang=\"en\">") {
		t.Errorf("got %s", got)
	}
	if got := page(t, chosen{}, "/assets/a.js"); got != "document.write('<html lang>')" {
		t.Errorf("a script was changed: %s", got)
	}
}

func TestTheGroundIsDarkOnlyWhereThePersonChoseDark(t *testing.T) {
	for theme, want := range map[settings.Theme]bool{
		settings.Dark: true, settings.Light: false, settings.System: false, settings.Contrast: false,
	} {
		c := chosen{set: settings.Settings{Page: settings.Page{Theme: theme}}}
		window := New(Core{Settings: &settings.Current{Store: c}}, slog.New(slog.DiscardHandler))
		if got := window.Dark(t.Context()); got != want {
			t.Errorf("%s: got %v", theme, got)
		}
	}
}

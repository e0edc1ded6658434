package window_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/base/settings"
	"conclave/app/view"
	"conclave/app/window"
)

// connection returns the card of a connection.
func (w *testWindow) connection(name string) window.ConnectionView {
	w.t.Helper()
	list, err := w.Models.List()
	must(w.t, err)
	i := slices.IndexFunc(list.Connections, func(c window.ConnectionView) bool { return c.Name == name })
	if i < 0 {
		return window.ConnectionView{}
	}
	return list.Connections[i]
}

// add adds a connection without asking its server.
func (w *testWindow) add(edit window.ConnectionEdit) (string, error) {
	saved, err := w.Models.Save("", edit, true)
	return saved.Name, err
}

// update changes one likewise.
func (w *testWindow) update(name string, edit window.ConnectionEdit) error {
	_, err := w.Models.Save(name, edit, true)
	return err
}

func TestAConnectionIsStoredOnceItsServerAnswered(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") != "Bearer sk-right":
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":{"message":"Incorrect API key provided"}}`)
		case r.URL.Path == "/v1/models":
			fmt.Fprint(w, `{"object":"list","data":[{"id":"large"}]}`)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	t.Setenv("CONCLAVE_PASSPHRASE", "four plain words here")
	w := open(t)
	host := strings.TrimPrefix(server.URL, "http://")
	wrong := window.ConnectionEdit{Kind: "openai", Title: "Mine", URL: host + "/v1/chat/completions", Key: "sk-wrong"}
	saved, err := w.Models.Save("", wrong, false)
	if err != nil || saved.Name != "" || saved.Problem == nil || saved.Problem.Detail != "Incorrect API key provided" ||
		!strings.Contains(saved.Problem.Message, "did not accept the key (401)") {
		t.Fatalf("a wrong key came to %+v, %+v, %v", saved, saved.Problem, err)
	}
	if list, err := w.Models.List(); err != nil || len(list.Connections) != 1 {
		t.Errorf("it was stored all the same: %+v, %v", list.Connections, err)
	}
	right := wrong
	right.URL, right.Key = host, "sk-right" // without the scheme, and without /v1
	if saved, err = w.Models.Save("", right, false); err != nil || saved.Name != "mine" || saved.Problem != nil {
		t.Fatalf("the right one came to %+v, %v", saved, err)
	}
	if c := w.connection("mine"); c.URL != server.URL+"/v1" || c.State != "ok" || c.Checked == "" || !c.HasKey {
		t.Errorf("its card is %+v", c)
	}
	list, err := w.Models.List()
	if err != nil || !slices.ContainsFunc(list.Models, func(m view.Model) bool { return m.Name == "mine/large" }) {
		t.Errorf("its models are %+v, %v", list.Models, err)
	}
	right.Key, right.Title = "", "Renamed"
	if saved, err = w.Models.Save("mine", right, false); err != nil || saved.Problem != nil {
		t.Errorf("renamed with the key that is stored: %+v, %v", saved, err)
	}
	right.URL = "no address at all"
	_, err = w.Models.Save("", right, false)
	kind(t, "what is no address", err, fault.Invalid, "no address at all")
}

func TestAConnectionFromItsFormToItsRemoval(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" {
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, `{"object":"list","data":[{"id":"zeta","object":"model"},{"id":"Alpha","object":"model"}]}`)
	}))
	defer server.Close()
	w := open(t)
	if list, err := w.Models.List(); err != nil || list.Default != "test/scripted" || len(list.Providers) < 20 ||
		!list.Connections[0].BuiltIn || list.Connections[0].State != "ok" || list.KeyStore == "" {
		t.Fatalf("at first: %+v, %v", list, err)
	}
	edit := window.ConnectionEdit{Kind: "openai", Title: " My Server! ", URL: server.URL + "/v1 "}
	name, err := w.add(edit)
	if err != nil || name != "my-server" {
		t.Fatalf("added as %q, %v", name, err)
	}
	if c := w.connection(name); c.Title != "My Server!" || c.State != "unknown" ||
		c.Host != strings.TrimPrefix(server.URL, "http://") || c.HasKey {
		t.Errorf("its card is %+v", c)
	}
	if again, err := w.add(edit); err != nil || again != "my-server-2" {
		t.Errorf("added again as %q, %v", again, err)
	}
	if unnamed, err := w.add(window.ConnectionEdit{Kind: "ollama", Title: "本機", URL: server.URL}); err != nil ||
		unnamed != "ollama" {
		t.Errorf("a title without letters is named %q, %v", unnamed, err)
	}
	_, err = w.add(window.ConnectionEdit{Kind: "carrier pigeon", Title: "x", URL: server.URL})
	kind(t, "an unknown kind", err, fault.Invalid, "")
	must(t, w.Models.Test(name))
	if c := w.connection(name); c.State != "ok" || c.Checked == "" || c.Problem != nil {
		t.Errorf("after its test the card is %+v", c)
	}
	list, err := w.Models.List()
	must(t, err)
	var models []string
	for _, m := range list.Models {
		if m.Connection == name {
			models = append(models, m.ID)
		}
	}
	if got := strings.Join(models, " "); got != "Alpha zeta" {
		t.Errorf("its models are %s", got)
	}
	must(t, w.Models.SetFeatures(name+"/zeta", false, true, false))
	list, err = w.Models.List()
	if i := slices.IndexFunc(list.Models, func(m view.Model) bool { return m.Name == name+"/zeta" }); err != nil ||
		i < 0 || list.Models[i].Tools || !list.Models[i].Vision {
		t.Errorf("what the person said of it is %+v, %v", list.Models, err)
	}
	must(t, w.update(name, window.ConnectionEdit{
		Kind: "openai", Title: "Elsewhere", URL: server.URL + "/nowhere",
	}))
	if c := w.connection(name); c.Title != "Elsewhere" || c.State != "unknown" {
		t.Errorf("changed, the card is %+v", c)
	}
	if err := w.Models.Test(name); err != nil {
		t.Errorf("how a test went is on the card, not %v", err)
	}
	if c := w.connection(name); c.State != "failed" || c.Problem == nil || c.Problem.Message == "" {
		t.Errorf("where there is no server the card is %+v", c)
	}
	kind(t, "a test of no connection", w.Models.Test("nowhere"), fault.NotFound, "nowhere")
	kind(t, "changing no connection", w.update("nowhere", window.ConnectionEdit{Kind: "openai", URL: server.URL}),
		fault.NotFound, "nowhere")
	undo, err := w.Models.Remove(name)
	if err != nil || undo.Sentence != "The connection “Elsewhere” was removed." {
		t.Fatalf("removed: %+v, %v", undo, err)
	}
	if c := w.connection(name); c.Name != "" {
		t.Errorf("it is there still: %+v", c)
	}
	must(t, w.Window.Undo(undo.Token))
	if c := w.connection(name); c.Title != "Elsewhere" {
		t.Errorf("it is not back: %+v", c)
	}
	_, err = w.Models.Remove("nowhere")
	kind(t, "removing no connection", err, fault.NotFound, "nowhere")
	must(t, w.Models.SetDefault(name+"/zeta"))
	if set, err := w.core.Settings.Settings(t.Context()); err != nil || set.DefaultModel != name+"/zeta" {
		t.Errorf("the default is %q, %v", set.DefaultModel, err)
	}
}

func TestSettingsAreChangedOneByOneAndChecked(t *testing.T) {
	w := open(t)
	before, err := w.Settings.Get()
	must(t, err)
	after, err := w.Settings.Set(map[string]json.RawMessage{
		"theme": json.RawMessage(`"dark"`), "zoom": json.RawMessage(`125`), "keys": json.RawMessage(`{"send":"Ctrl+Enter"}`),
	})
	if err != nil || after.Theme != settings.Dark || after.Zoom != 125 || after.Keys["send"] != "Ctrl+Enter" ||
		after.SidebarWidth != before.SidebarWidth || after.Revision <= before.Revision {
		t.Errorf("changed: %+v, %v", after, err)
	}
	if got, err := w.Settings.Get(); err != nil || got.Theme != settings.Dark || len(got.Keys) != 1 {
		t.Errorf("read again: %+v, %v", got, err)
	}
	_, err = w.Settings.Set(map[string]json.RawMessage{"zoom": json.RawMessage(`"large"`)})
	kind(t, "a zoom that is no number", err, fault.Invalid, "not of its kind")
	_, err = w.Settings.Set(map[string]json.RawMessage{"theme": json.RawMessage(`"plaid"`)})
	kind(t, "a theme that is not there", err, fault.Invalid, "")
	if got, err := w.Settings.Get(); err != nil || got.Theme != settings.Dark || got.Zoom != 125 {
		t.Errorf("after what was refused: %+v, %v", got, err)
	}
}

// Whoever has settings of a revision asks for no older one: they must hold all that came with it.
func TestSettingsAreNeverOlderThanTheirRevision(t *testing.T) {
	w := open(t)
	done := make(chan struct{})
	read := make(chan []window.SettingsView)
	go func() {
		var all []window.SettingsView
		for {
			got, err := w.Settings.Get()
			if err != nil {
				t.Error(err)
			}
			all = append(all, got)
			select {
			case <-done:
				read <- all
				return
			default:
			}
		}
	}()
	var changes []window.SettingsView
	for width := 201; width <= 300; width++ {
		kept, err := w.Settings.Set(map[string]json.RawMessage{"sidebar_width": json.RawMessage(strconv.Itoa(width))})
		if err != nil || kept.SidebarWidth != width {
			t.Errorf("the answer to %d is %d, %v", width, kept.SidebarWidth, err)
		}
		changes = append(changes, kept)
	}
	close(done)
	for _, got := range <-read {
		for _, change := range changes {
			if change.Revision <= got.Revision && got.SidebarWidth < change.SidebarWidth {
				t.Fatalf("of revision %d is %d, and of %d %d", change.Revision, change.SidebarWidth, got.Revision, got.SidebarWidth)
			}
		}
	}
}

func TestTheWindowOpensNothingThatIsNoPlaceOfItsOwn(t *testing.T) {
	w := open(t)
	for _, address := range []string{"file:///etc/passwd", "javascript:alert(1)", "conclave:x", "http://%zz"} {
		kind(t, address, w.Window.OpenURL(address), fault.Invalid, "Only web and mail addresses")
	}
	kind(t, "an unknown folder", w.Window.OpenFolder("elsewhere"), fault.Invalid, "no folder “elsewhere”")
	if ref, err := w.Window.Report("the page broke\u202e", strings.Repeat("at x\n", 10_000)); err != nil || len(ref) != 8 {
		t.Errorf("reported as %q, %v", ref, err)
	}
	if toasts, err := w.Window.Toasts(0); err != nil || toasts == nil || len(toasts) != 0 {
		t.Errorf("toasts are %v, %v", toasts, err)
	}
	_, err := w.Plugins.Choose("moon")
	kind(t, "choosing what cannot be", err, fault.Invalid, "no “moon” to choose")
}

func TestWhatNeedsTheSystemsWindowIsRefusedBeforeItIsThere(t *testing.T) {
	w := window.New(window.Core{}, nil)
	for name, do := range map[string]func() error{
		"an address": func() error { return w.Window.OpenURL("https://example.org") },
		"a file":     func() error { _, err := w.Window.SaveFile("x", "y"); return err },
		"media":      func() error { _, err := w.Window.SaveMedia("x", "y"); return err },
		"a choice":   func() error { _, err := w.Plugins.Choose("file"); return err },
		"its end":    w.Window.Quit,
	} {
		if err := do(); err == nil || !strings.Contains(err.Error(), "the window is not there yet") {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.Focus() // nothing to bring to the front
}

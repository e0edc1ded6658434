package window

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/base/language"
	"conclave/app/base/pattern"
	"conclave/app/chat"
	"conclave/app/model"
	"conclave/app/model/connections"
	"conclave/app/model/cost"
	"conclave/app/view"
)

// Models is bound: connections to providers, and their models.
type Models struct {
	*lifecycle
	core Core
	log  *slog.Logger
	undo *undos

	unlocked chan struct{} // holds something when keys can be read that could not before

	mu    sync.Mutex // guards tests
	tests map[string]tested
}

// tested is the result of the last test of a connection.
type tested struct {
	asking  bool
	err     error
	latency time.Duration
	at      time.Time
}

// vendorHosts are the addresses asked when a connection names none.
var vendorHosts = map[string]string{
	"openai": "api.openai.com", "anthropic": "api.anthropic.com", "google": "generativelanguage.googleapis.com",
	"ollama": "localhost:11434",
}

// List returns the connections and the known models, without a request to a provider.
func (m *Models) List() (ModelList, error) {
	ctx := m.call()
	out := ModelList{
		Revision: m.core.Bus.Revision(bus.Models, ""), Providers: providers,
	}
	set, err := m.core.Models.Connections(ctx)
	if err != nil {
		return ModelList{}, err
	}
	known, err := m.core.Models.Known(ctx)
	if err != nil {
		return ModelList{}, err
	}
	if out.Default, err = m.core.Models.Default(ctx); err != nil {
		return ModelList{}, err
	}
	out.KeyStore, out.KeysLocked = m.core.Models.KeyStore()
	out.KeysFresh = m.core.Models.KeysFresh()
	out.Connections = view.Map(set, m.view)
	tellApart(out.Connections)
	price := func(of model.Info) *model.Price { return m.core.Models.PriceOf(ctx, of) }
	out.Models = view.NewModels(known, out.Default, price)
	return language.Shown(out), nil
}

// tellApart puts the names of connections that have one title behind it.
func tellApart(connections []ConnectionView) {
	times := map[string]int{}
	for _, c := range connections {
		times[c.Title]++
	}
	for i, c := range connections {
		if times[c.Title] > 1 {
			connections[i].Title += " (" + c.Name + ")"
		}
	}
}

func (m *Models) view(c model.Connection) ConnectionView {
	v := ConnectionView{
		Name: c.Name, Kind: c.Kind, Title: c.Title, URL: c.URL, Host: vendorHosts[c.Kind], HasKey: c.HasKey,
		BuiltIn: c.Kind == "demo", State: ConnectionUnknown, Models: view.List(c.Models),
	}
	if v.Title == "" {
		v.Title = c.Name
	}
	if u, err := url.Parse(c.URL); err == nil && u.Host != "" {
		v.Host = u.Host
	}
	if v.BuiltIn {
		v.State = ConnectionOK
	}
	m.mu.Lock()
	t, ok := m.tests[c.Name]
	m.mu.Unlock()
	if !ok { // not in this run of the program
		if asked, took := m.core.Models.Asked(c); !asked.IsZero() {
			v.State, v.LatencyMS, v.Checked = ConnectionListed, took.Milliseconds(), chat.Stamp(asked)
		}
		return v
	}
	v.LatencyMS, v.Checked = t.latency.Milliseconds(), chat.Stamp(t.at)
	switch {
	case t.asking:
		v.State = ConnectionAsking
	case t.err != nil:
		v.State, v.Problem = ConnectionFailed, optionalFailure(m.log, t.err)
	default:
		v.State = ConnectionOK
	}
	return v
}

func (m *Models) note(name string, t tested) {
	m.mu.Lock()
	if m.tests == nil {
		m.tests = map[string]tested{}
	}
	m.tests[name] = t
	m.mu.Unlock()
	m.core.Bus.Changed(bus.Models, "")
}

var notName = pattern.Lazy(`[^a-z0-9._-]+`)

// Save requests the models of a connection as it was written, and stores it when its server answered;
// existing is the name of the one that it changes, or "". anyway stores it without asking. The key goes to the
// key store, and an empty one leaves that as it is.
func (m *Models) Save(existing string, edit ConnectionEdit, anyway bool) (SavedConnection, error) {
	ctx, cancel := context.WithTimeout(m.call(), testTime)
	defer cancel()
	c := model.Connection{
		Name: cmp.Or(existing, edit.Name), Kind: edit.Kind, Title: strings.TrimSpace(edit.Title), URL: edit.URL,
		Models: edit.Models,
	}
	var answer connections.Answer
	if !anyway {
		var err error
		if c, answer, err = m.core.Models.Try(ctx, c, edit.Key); fault.KindOf(err) == fault.Invalid {
			return SavedConnection{}, err
		} else if err != nil {
			return SavedConnection{Problem: optionalFailure(m.log, err)}, nil
		}
	}
	var err error
	if existing == "" {
		c, err = m.add(ctx, c, edit.Key)
	} else {
		err = m.update(ctx, c, edit.Key)
	}
	if err != nil {
		return SavedConnection{}, err
	}
	if !anyway {
		m.core.Models.Keep(c, answer)
		m.note(c.Name, tested{latency: answer.Took(), at: time.Now()})
	}
	return SavedConnection{Name: c.Name}, nil
}

// add adds a connection, and returns it with its name.
func (m *Models) add(ctx context.Context, c model.Connection, key string) (model.Connection, error) {
	if c.Name == "" {
		base := strings.Trim(notName().ReplaceAllString(strings.ToLower(c.Title), "-"), "-._")
		if base == "" {
			base = c.Kind
		}
		set, err := m.core.Models.Connections(ctx)
		if err != nil {
			return c, err
		}
		c.Name = free(base[:min(len(base), 36)], set)
	}
	if err := m.core.Models.Add(ctx, c, key); err != nil {
		return c, err
	}
	m.core.Bus.Changed(bus.Models, "")
	return c, nil
}

// free returns base, or base with a number that no connection has.
func free(base string, taken []model.Connection) string {
	name := base
	for n := 2; slices.ContainsFunc(taken, func(c model.Connection) bool { return c.Name == name }); n++ {
		name = base + "-" + string(rune('0'+n%10))
		if n > 9 {
			name = base + "-" + reference()
		}
	}
	return name
}

// update changes a connection; an empty key leaves the key as it is.
func (m *Models) update(ctx context.Context, c model.Connection, key string) error {
	if err := m.core.Models.Update(ctx, c, key); err != nil {
		return err
	}
	m.mu.Lock()
	delete(m.tests, c.Name)
	m.mu.Unlock()
	m.core.Bus.Changed(bus.Models, "")
	return nil
}

// Remove removes a connection and its key; undo restores both.
func (m *Models) Remove(name string) (Undo, error) {
	ctx := m.call()
	title := name
	if known, err := m.core.Models.Connections(ctx); err == nil {
		for _, c := range known {
			if c.Name == name {
				title = cmp.Or(c.Title, name)
			}
		}
	}
	back, err := m.core.Models.Remove(ctx, name)
	if err != nil {
		return Undo{}, err
	}
	m.core.Bus.Changed(bus.Models, "")
	return m.undo.add("The connection “"+title+"” was removed.", func(ctx context.Context) error {
		defer m.core.Bus.Changed(bus.Models, "")
		return back(ctx)
	}), nil
}

// testTime bounds one test, of two addresses at most.
const testTime = 45 * time.Second

// Test asks the provider for its models; how it went is in List.
func (m *Models) Test(name string) error {
	ctx := m.call()
	m.note(name, tested{asking: true})
	ctx, cancel := context.WithTimeout(ctx, testTime)
	defer cancel()
	_, took, err := m.core.Models.Test(ctx, name)
	if e, ok := errors.AsType[*model.Error](err); ok {
		err = e.Fault()
	}
	m.note(name, tested{err: err, latency: took, at: time.Now()})
	if fault.KindOf(err) == fault.NotFound {
		return err
	}
	return nil
}

// SetDefault chooses the model of new chats.
func (m *Models) SetDefault(model string) error {
	if err := m.core.Models.SetDefault(m.call(), model); err != nil {
		return err
	}
	m.core.Bus.Changed(bus.Models, "")
	return nil
}

// SetFeatures stores what the person says that a model can do.
func (m *Models) SetFeatures(chosen string, tools, vision, reasoning bool) error {
	return m.core.Models.SetFeatures(m.call(), chosen, model.Features{Tools: tools, Vision: vision, Reasoning: reasoning})
}

// ScanLocal asks the loopback addresses of known model servers, 400 ms each, in
// parallel.
func (m *Models) ScanLocal() ([]view.LocalServer, error) {
	ctx := m.call()
	servers, err := model.Scanner{}.Scan(ctx)
	if err != nil {
		return []view.LocalServer{}, err
	}
	used, err := m.core.Models.Connections(ctx)
	return view.NewLocalServers(servers, used), err
}

// Unlock gives the passphrase of the encrypted file of keys; the first one sets it.
func (m *Models) Unlock(passphrase string) error {
	if err := m.core.Models.Unlock(passphrase); err != nil {
		return err
	}
	m.core.Bus.Changed(bus.Models, "")
	select {
	case m.unlocked <- struct{}{}:
	default: // it is requested anyway
	}
	return nil
}

// staleAfter is the age at which a list of models is requested again in the background.
const staleAfter = 12 * time.Hour

// Prices returns what models cost.
func (m *Models) Prices() (view.PriceTable, error) {
	prices, err := m.core.Models.Prices(m.call())
	return view.NewPriceTable(prices), err
}

// SetPrices replaces the person's own prices. What was paid before stays as it was.
func (m *Models) SetPrices(own []cost.Price) error {
	return m.core.Models.SetPrices(m.call(), own)
}

// settled is the time after which the window's start is over, so that nothing in the background delays it.
const settled = 10 * time.Second

// refresh requests old lists of models once the window has started, and when keys are unlocked; ctx ends it.
func (m *Models) refresh(ctx context.Context) {
	started := time.After(settled)
	for {
		select {
		case <-started:
		case <-m.unlocked:
		case <-ctx.Done():
			return
		}
		m.core.Models.Refresh(ctx, staleAfter)
	}
}

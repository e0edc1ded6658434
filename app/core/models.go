package core

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/keys"
	"conclave/app/base/settings"
	"conclave/app/model"
	"conclave/app/model/anthropic"
	"conclave/app/model/demo"
	"conclave/app/model/google"
	"conclave/app/model/ollama"
	"conclave/app/model/openai"
)

// Models opens models by name, over the connections of the settings. It is safe
// for concurrent use.
type Models struct {
	settings *settings.Current
	keys     *keys.Store
	log      *slog.Logger
	watched  bool   // Demo guide writes at a pace that reads well
	listed   func() // called when a connection listed its models; may be nil

	mu        sync.Mutex                   // guards known and providers
	known     map[string][]model.ModelInfo // by connection, of the last listing
	providers map[string]kept              // by connection
}

// kept is a provider, and the connection it was made for. Providers are kept
// because they learn what their models refuse, and hold connections open.
type kept struct {
	connection model.Connection
	provider   model.Provider
}

// demoConnection is always there.
var demoConnection = model.Connection{Name: "demo", Kind: "demo", Title: "Demo guide"}

// provider returns the provider of a connection as it is set now.
func (m *Models) provider(c model.Connection) (model.Provider, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k, ok := m.providers[c.Name]; ok && reflect.DeepEqual(k.connection, c) {
		return k.provider, nil
	}
	p, err := m.build(c)
	if err != nil {
		return nil, err
	}
	if m.providers == nil {
		m.providers = map[string]kept{}
	}
	m.providers[c.Name] = kept{c, p}
	return p, nil
}

// build makes the provider of a connection.
func (m *Models) build(c model.Connection) (model.Provider, error) {
	if c.Kind != "demo" {
		name, address := c.Name, c.Address()
		c.Key = func(ctx context.Context) (string, error) {
			if !c.HasKey { // nobody is asked for a passphrase to look for one
				ctx = context.WithValue(ctx, ownTerminal{}, nil)
			}
			key, err := m.keys.GetFor(ctx, name, address)
			if err != nil && !c.HasKey {
				// A local server needs none, and no passphrase to look for one;
				// another says that it is missing.
				return "", nil
			}
			return key, err
		}
	}
	switch c.Kind {
	case "demo":
		o := demo.Options{}
		if m.watched {
			o.Pace = demo.ReadingPace
		}
		return demo.New(o), nil
	case "openai":
		return openai.New(c, openai.Options{}), nil
	case "anthropic":
		return anthropic.New(c, anthropic.Options{}), nil
	case "google":
		return google.New(c, google.Options{}), nil
	case "ollama":
		return ollama.New(c, ollama.Options{}), nil
	}
	return nil, fault.New(fault.Invalid, "core.models", "There is no kind of connection “"+c.Kind+"”.",
		"Remove the connection "+c.Name+" and add it again.")
}

// Connections returns the person's connections, Demo guide first.
func (m *Models) Connections(ctx context.Context) ([]model.Connection, error) {
	set, err := m.settings.Settings(ctx)
	if err != nil {
		return nil, err
	}
	return append([]model.Connection{demoConnection}, set.Connections...), nil
}

func (m *Models) connection(ctx context.Context, name string) (model.Connection, error) {
	all, err := m.Connections(ctx)
	if err != nil {
		return model.Connection{}, err
	}
	var names []string
	for _, c := range all {
		if c.Name == name {
			return c, nil
		}
		names = append(names, c.Name)
	}
	return model.Connection{}, fault.New(fault.NotFound, "core.models", "There is no connection named "+name+".",
		"There are: "+strings.Join(names, ", ")+". Add one with conclave models add.")
}

// Open returns a model by "connection/model"; "" is the default.
func (m *Models) Open(ctx context.Context, name string) (model.Model, error) {
	if name == "" {
		var err error
		if name, err = m.Default(ctx); err != nil {
			return nil, err
		}
	}
	connection, id, ok := strings.Cut(name, "/")
	if !ok || id == "" {
		return nil, fault.New(fault.NotFound, "core.models", "There is no model named "+name+".",
			"Write it as CONNECTION/MODEL; conclave models list shows what there is.")
	}
	c, err := m.connection(ctx, connection)
	if err != nil {
		return nil, err
	}
	if c.Kind == "demo" && !demo.Knows(id) {
		return nil, fault.New(fault.NotFound, "core.models", "There is no model named "+name+".",
			"The built-in one is "+settings.DemoModel+".")
	}
	p, err := m.provider(c)
	if err != nil {
		return nil, err
	}
	if can, ok := c.Can[id]; ok {
		return knownModel{p.Open(id), can}, nil
	}
	return p.Open(id), nil
}

// knownModel is a model of which the person said what it can do.
type knownModel struct {
	model.Model
	can model.Features
}

// Info implements model.Model.
func (m knownModel) Info() model.ModelInfo {
	info := m.Model.Info()
	info.Can = m.can
	return info
}

// SetFeatures stores what the person says that a model can do.
func (m *Models) SetFeatures(ctx context.Context, name string, can model.Features) error {
	connection, id, _ := strings.Cut(name, "/")
	c, err := m.connection(ctx, connection)
	if err != nil {
		return err
	}
	if c.Kind == "demo" || id == "" {
		return fault.New(fault.Invalid, "core.models", "What "+name+" can do is not to be set.",
			"Choose a model of a connection of your own.")
	}
	_, err = m.settings.ChangeSettings(ctx, func(s *settings.Settings) {
		s.Connections = slices.Clone(s.Connections)
		for i, c := range s.Connections {
			if c.Name == connection {
				s.Connections[i].Can = maps.Clone(c.Can)
				if c.Can == nil {
					s.Connections[i].Can = map[string]model.Features{}
				}
				s.Connections[i].Can[id] = can
			}
		}
	})
	return err
}

// Info returns what is known of a model, without a request to its provider.
func (m *Models) Info(ctx context.Context, name string) model.ModelInfo {
	connection, id, _ := strings.Cut(name, "/")
	m.mu.Lock()
	for _, k := range m.known[connection] {
		if k.ID == id {
			m.mu.Unlock()
			if c, err := m.connection(ctx, connection); err == nil {
				if can, ok := c.Can[id]; ok {
					k.Can = can
				}
			}
			return k
		}
	}
	m.mu.Unlock()
	opened, err := m.Open(ctx, name)
	if err != nil { // the connection is gone
		return model.ModelInfo{Connection: connection, ID: id, Title: cmp.Or(id, name)}
	}
	info := opened.Info()
	info.Title = cmp.Or(info.Title, id)
	return info
}

// Known returns the models that are known without a request to a provider.
func (m *Models) Known(ctx context.Context) ([]model.ModelInfo, error) {
	all, err := m.Connections(ctx)
	if err != nil {
		return nil, err
	}
	chosen, err := m.Default(ctx)
	if err != nil {
		return nil, err
	}
	var out []model.ModelInfo
	add := func(info model.ModelInfo) {
		if !slices.ContainsFunc(out, func(o model.ModelInfo) bool { return o.Name() == info.Name() }) {
			out = append(out, info)
		}
	}
	for _, c := range all {
		m.mu.Lock()
		listed := slices.Clone(m.known[c.Name])
		m.mu.Unlock()
		if c.Kind == "demo" {
			listed = []model.ModelInfo{m.Info(ctx, settings.DemoModel)}
		}
		for _, info := range listed {
			if can, ok := c.Can[info.ID]; ok {
				info.Can = can
			}
			add(info)
		}
		for _, id := range c.Models {
			add(m.Info(ctx, c.Name+"/"+id))
		}
	}
	add(m.Info(ctx, chosen))
	return out, nil
}

// List requests the models of every connection, at once.
func (m *Models) List(ctx context.Context) ([]model.ModelInfo, map[string]error) {
	failed := map[string]error{}
	all, err := m.Connections(ctx)
	if err != nil {
		return nil, map[string]error{"": err}
	}
	var mu sync.Mutex // guards failed
	var wg sync.WaitGroup
	for _, c := range all {
		wg.Go(func() { // ends with the request, which ctx bounds
			if _, _, err := m.ask(ctx, c); err != nil {
				mu.Lock()
				failed[c.Name] = err
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	known, err := m.Known(ctx)
	if err != nil {
		failed[""] = err
	}
	return known, failed
}

// listTime bounds one listing.
const listTime = 20 * time.Second

func (m *Models) ask(ctx context.Context, c model.Connection) (int, time.Duration, error) {
	p, err := m.provider(c)
	if err != nil {
		return 0, 0, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, listTime,
		fault.New(fault.Timeout, "core.models", cmp.Or(c.Title, c.Name)+" did not answer within 20 s.",
			"Check that the server runs, and its address in Settings > Models."))
	defer cancel()
	began := time.Now()
	listed, err := p.Models(ctx)
	took := time.Since(began)
	if err != nil {
		if e, ok := errors.AsType[*model.Error](err); ok {
			listing := *e
			listing.Unanswered = true // a list that is cut is none
			return 0, took, listing.Fault()
		}
		return 0, took, err
	}
	m.mu.Lock()
	if m.known == nil {
		m.known = map[string][]model.ModelInfo{}
	}
	m.known[c.Name] = slices.DeleteFunc(
		model.Listed(listed),
		func(info model.ModelInfo) bool { return !model.Chats(info.ID) },
	)
	listed = m.known[c.Name]
	m.mu.Unlock()
	if m.listed != nil {
		m.listed()
	}
	return len(listed), took, nil
}

// Test requests the models of one connection.
func (m *Models) Test(ctx context.Context, name string) (int, time.Duration, error) {
	c, err := m.connection(ctx, name)
	if err != nil {
		return 0, 0, err
	}
	return m.ask(ctx, c)
}

// Default returns the model of new chats: the one the person chose, else Demo guide.
func (m *Models) Default(ctx context.Context) (string, error) {
	set, err := m.settings.Settings(ctx)
	if err != nil {
		return "", err
	}
	return cmp.Or(set.DefaultModel, settings.DemoModel), nil
}

// Chosen returns the model that the person chose for new chats; empty when they
// chose none.
func (m *Models) Chosen(ctx context.Context) (string, error) {
	set, err := m.settings.Settings(ctx)
	return set.DefaultModel, err
}

// SetDefault chooses the model of new chats.
func (m *Models) SetDefault(ctx context.Context, name string) error {
	if _, err := m.Open(ctx, name); err != nil {
		return err
	}
	_, err := m.settings.ChangeSettings(ctx, func(s *settings.Settings) { s.DefaultModel = name })
	return err
}

// Add adds a connection and stores its key.
func (m *Models) Add(ctx context.Context, c model.Connection, key string) error {
	c.HasKey = key != ""
	if err := meets(ctx, c); err != nil {
		return err
	}
	return m.write(ctx, c, key, func(s *settings.Settings) { s.Connections = append(slices.Clone(s.Connections), c) })
}

// Update changes a connection; an empty key leaves the key as it is. A key belongs to
// the scheme, host and port that it was given for: when those change it is removed, and
// has to be given again.
func (m *Models) Update(ctx context.Context, c model.Connection, key string) error {
	old, err := m.connection(ctx, c.Name)
	if err != nil {
		return err
	}
	moved := c.Address() != old.Address()
	c.HasKey = old.HasKey && !moved || key != ""
	if c.Can == nil {
		c.Can = old.Can
	}
	if c.Headers == nil {
		c.Headers = old.Headers
	}
	if c.ServedBy == "" && c.URL == old.URL {
		c.ServedBy = old.ServedBy
	}
	if err := meets(ctx, c); err != nil {
		return err
	}
	if err := m.put(ctx, c, key); err != nil || !moved || !old.HasKey {
		return err
	}
	if err := m.keys.DeleteFor(ctx, old.Name, old.Address()); err != nil {
		m.log.Warn("The key for a connection's old address could not be removed.", "provider", c.Name, "err", err)
	}
	return nil
}

// put writes a connection in place of the one of its name.
func (m *Models) put(ctx context.Context, c model.Connection, key string) error {
	return m.write(ctx, c, key, func(s *settings.Settings) {
		s.Connections = slices.Clone(s.Connections)
		for i := range s.Connections {
			if s.Connections[i].Name == c.Name {
				s.Connections[i] = c
			}
		}
	})
}

// meets returns the reason for which a server of this computer is not used, if one answers
// there now: a program of another user, whom the person did not name.
func meets(ctx context.Context, c model.Connection) error {
	if e, ok := errors.AsType[*model.Error](model.Meet(ctx, c)); ok {
		return fault.Wrap(fault.NotAllowed, "core.models", e.Sentence(), e.Hint(), e)
	}
	return nil
}

// SetServedBy implements terminal.Models.
func (m *Models) SetServedBy(ctx context.Context, name, user string) error {
	c, err := m.connection(ctx, name)
	if err != nil {
		return err
	}
	if c.Kind == "demo" {
		return fault.New(fault.Invalid, "core.models", "Demo guide has no server.", "")
	}
	c.ServedBy = user
	return m.put(ctx, c, "")
}

// write changes the settings first, since they are checked, and takes that back
// when the key cannot be kept.
func (m *Models) write(ctx context.Context, c model.Connection, key string, change func(*settings.Settings)) error {
	before, err := m.settings.Settings(ctx)
	if err != nil {
		return err
	}
	if _, err := m.settings.ChangeSettings(ctx, change); err != nil {
		return err
	}
	if key == "" {
		return nil
	}
	if err := m.keys.SetFor(ctx, c.Name, c.Address(), key); err != nil {
		_, back := m.settings.ChangeSettings(ctx, func(s *settings.Settings) { s.Connections = before.Connections })
		return errors.Join(err, back)
	}
	return nil
}

// Remove removes a connection and its key; the function returned restores both while
// the program runs.
func (m *Models) Remove(ctx context.Context, name string) (func(context.Context) error, error) {
	c, err := m.connection(ctx, name)
	if err != nil {
		return nil, err
	}
	if c.Kind == "demo" {
		return nil, fault.New(fault.Invalid, "core.models", "Demo guide is built in and cannot be removed.", "")
	}
	key := ""
	if c.HasKey {
		if key, err = m.keys.GetFor(ctx, name, c.Address()); err != nil && fault.KindOf(err) != fault.NotFound {
			return nil, err
		}
	}
	set, err := m.settings.Settings(ctx)
	if err != nil {
		return nil, err
	}
	chosen := set.DefaultModel
	if _, err := m.settings.ChangeSettings(ctx, func(s *settings.Settings) {
		s.Connections = slices.DeleteFunc(
			slices.Clone(s.Connections),
			func(o model.Connection) bool { return o.Name == name },
		)
		if strings.HasPrefix(s.DefaultModel, name+"/") {
			s.DefaultModel = ""
		}
	}); err != nil {
		return nil, err
	}
	if err := m.keys.DeleteFor(ctx, name, c.Address()); err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		if err := m.Add(ctx, c, key); err != nil {
			return err
		}
		if strings.HasPrefix(chosen, name+"/") {
			return m.SetDefault(ctx, chosen)
		}
		return nil
	}, nil
}

// KeyStore says where keys are kept, and whether a passphrase is needed first.
func (m *Models) KeyStore() (string, bool) { return m.keys.Sentence(), m.keys.NeedsPassphrase() }

// KeysFresh reports whether the encrypted file of keys is used and does not exist
// yet: the passphrase given next becomes its own.
func (m *Models) KeysFresh() bool { return m.keys.NeedsPassphrase() && m.keys.Fresh() }

// Unlock gives the passphrase of the encrypted file of keys.
func (m *Models) Unlock(passphrase string) error { return m.keys.Unlock(passphrase) }

// Pull has an Ollama server download a model: NAME, or CONNECTION/NAME where
// there are several servers.
func (m *Models) Pull(ctx context.Context, name string, progress func(status string, done, total int64)) error {
	all, err := m.Connections(ctx)
	if err != nil {
		return err
	}
	server := model.Connection{Name: "ollama", Kind: "ollama"}
	for _, c := range all {
		if c.Kind != "ollama" {
			continue
		}
		if rest, ok := strings.CutPrefix(name, c.Name+"/"); ok {
			server, name = c, rest
			break
		}
		if server.URL == "" {
			server = c
		}
	}
	err = ollama.New(server, ollama.Options{}).Pull(ctx, name,
		func(p ollama.Progress) { progress(p.Status, p.Done, p.Total) })
	if e, ok := errors.AsType[*model.Error](err); ok {
		return e.Fault()
	}
	return err
}

// Package connections opens models by name over the connections that the person set, and adds,
// changes and removes connections with their keys and prices. It knows no vendor: package core gives
// it what makes the provider of a connection.
//
// Read Options and Models.Open first.
package connections

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
	"conclave/app/base/settings"
	"conclave/app/model"
)

// Keys stores API keys, each for one address; keys.Store is the real one, an adapter. Errors are
// *fault.Error, of kind not_found where there is no key.
type Keys interface {
	GetFor(ctx context.Context, name, address string) (string, error)
	SetFor(ctx context.Context, name, address, key string) error
	DeleteFor(ctx context.Context, name, address string) error
	Sentence() string
	NeedsPassphrase() bool
	Fresh() bool
	Unlock(passphrase string) error
}

// Options configure Models. All fields are required but where they say otherwise.
type Options struct {
	Settings *settings.Current
	Keys     Keys
	Log      *slog.Logger
	// Provider makes the provider of a connection. The error is of kind invalid for a kind of
	// connection that does not exist.
	Provider func(model.Connection) (model.Provider, error)
	// Demo reports whether Demo guide has a model.
	Demo func(id string) bool
	// Pull has an Ollama server download a model.
	Pull func(ctx context.Context, server model.Connection, name string,
		progress func(status string, done, total int64)) error
	// Unasked returns a context in which nobody is asked for the passphrase of the keys.
	Unasked func(ctx context.Context) context.Context
	Listed  func() // called when a connection listed its models; optional
	// Lists is the file in which the lists of models are kept from one start to the next; "" keeps none.
	Lists string
	// Scripted is opened by its name in addition to the models of connections, and is the default
	// where the person chose none. Optional, for tests.
	Scripted model.Model
}

// Models opens, lists and changes models and connections. Use New. It is safe for concurrent use.
type Models struct {
	o Options

	lists     lists           // what each connection listed last
	mu        sync.Mutex      // guards providers
	providers map[string]made // by connection
}

// made is a provider, and the connection it was made for. Providers are reused because they learn
// what their models refuse, and hold connections open.
type made struct {
	connection model.Connection
	provider   model.Provider
}

// New returns the models of the person's connections.
func New(o Options) *Models {
	return &Models{o: o, lists: lists{path: o.Lists}, providers: map[string]made{}}
}

// demoConnection always exists.
var demoConnection = model.Connection{Name: "demo", Kind: "demo", Title: "Demo guide"}

// scripted returns the model that tests add, if name is its name.
func (m *Models) scripted(name string) (model.Model, bool) {
	return m.o.Scripted, m.o.Scripted != nil && m.o.Scripted.Info().Name() == name
}

// provider returns the provider of a connection as it is set now.
func (m *Models) provider(c model.Connection) (model.Provider, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k, ok := m.providers[c.Name]; ok && reflect.DeepEqual(k.connection, c) {
		return k.provider, nil
	}
	keyed := c
	if c.Kind != "demo" {
		keyed.Key = func(ctx context.Context) (string, error) { return m.key(ctx, c) }
		kept, _ := m.lists.of(c)
		keyed.Listed = kept.Models
	}
	p, err := m.o.Provider(keyed)
	if err != nil {
		return nil, err
	}
	m.providers[c.Name] = made{c, p}
	return p, nil
}

// key returns the key of a connection. Where the person gave none it is empty without an error: a
// local server needs none, and another says that it is missing.
func (m *Models) key(ctx context.Context, c model.Connection) (string, error) {
	if c.HasKey {
		return m.o.Keys.GetFor(ctx, c.Name, c.Address())
	}
	key, err := m.o.Keys.GetFor(m.o.Unasked(ctx), c.Name, c.Address())
	if err != nil {
		return "", nil //nolint:nilerr // nobody gave one
	}
	return key, nil
}

// Connections returns the person's connections, Demo guide first.
func (m *Models) Connections(ctx context.Context) ([]model.Connection, error) {
	set, err := m.o.Settings.Settings(ctx)
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
	return model.Connection{}, fault.New(fault.NotFound, "models", "There is no connection named "+name+".",
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
	if scripted, ok := m.scripted(name); ok {
		return scripted, nil
	}
	connection, id, ok := strings.Cut(name, "/")
	if !ok || id == "" {
		return nil, fault.New(fault.NotFound, "models", "There is no model named "+name+".",
			"Write it as CONNECTION/MODEL; conclave models list shows what there is.")
	}
	c, err := m.connection(ctx, connection)
	if err != nil {
		return nil, err
	}
	if c.Kind == "demo" && !m.o.Demo(id) {
		return nil, fault.New(fault.NotFound, "models", "There is no model named "+name+".",
			"The built-in one is "+settings.DemoModel+".")
	}
	p, err := m.provider(c)
	if err != nil {
		return nil, err
	}
	opened := p.Open(id)
	known := knownModel{Model: opened, info: opened.Info()}
	if can, ok := c.Can[id]; ok {
		known.info.Can = can
	}
	if known.info == opened.Info() {
		return opened, nil
	}
	return known, nil
}

// knownModel is a model about which the person, or the list of its connection, says more than its provider.
type knownModel struct {
	model.Model
	info model.Info
}

// Info implements model.Model.
func (m knownModel) Info() model.Info { return m.info }

// SetFeatures stores the features that a model has by the person's word.
func (m *Models) SetFeatures(ctx context.Context, name string, can model.Features) error {
	connection, id, _ := strings.Cut(name, "/")
	c, err := m.connection(ctx, connection)
	if err != nil {
		return err
	}
	if c.Kind == "demo" || id == "" {
		return fault.New(fault.Invalid, "models", "The features of "+name+" cannot be set.",
			"Choose a model of one of your connections.")
	}
	_, err = m.o.Settings.ChangeSettings(ctx, func(s *settings.Settings) {
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
func (m *Models) Info(ctx context.Context, name string) model.Info {
	if scripted, ok := m.scripted(name); ok {
		return scripted.Info()
	}
	connection, id, _ := strings.Cut(name, "/")
	if c, err := m.connection(ctx, connection); err == nil {
		kept, _ := m.lists.of(c)
		for _, k := range kept.Models {
			if k.ID == id {
				if can, ok := c.Can[id]; ok {
					k.Can = can
				}
				return k
			}
		}
	}
	opened, err := m.Open(ctx, name)
	if err != nil { // the connection is gone
		return model.Info{Connection: connection, ID: id, Title: cmp.Or(id, name)}
	}
	info := opened.Info()
	info.Title = cmp.Or(info.Title, id)
	return info
}

// Known returns the models that are known without a request to a provider: the built-in ones,
// those that connections listed last, in whatever run of the program, and those added by hand.
func (m *Models) Known(ctx context.Context) ([]model.Info, error) {
	all, err := m.Connections(ctx)
	if err != nil {
		return nil, err
	}
	chosen, err := m.Default(ctx)
	if err != nil {
		return nil, err
	}
	var out []model.Info
	there := map[string]bool{}
	add := func(info model.Info) {
		if name := info.Name(); !there[name] {
			there[name], out = true, append(out, info)
		}
	}
	for _, c := range all {
		kept, _ := m.lists.of(c)
		listed := kept.Models
		if c.Kind == "demo" {
			listed = []model.Info{m.Info(ctx, settings.DemoModel)}
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
func (m *Models) List(ctx context.Context) ([]model.Info, map[string]error) {
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

// ask requests the models of a connection and keeps them. It returns how many there are and how long it took.
func (m *Models) ask(ctx context.Context, c model.Connection) (int, time.Duration, error) {
	p, err := m.provider(c)
	if err != nil {
		return 0, 0, err
	}
	found, err := m.request(ctx, c, p)
	if err != nil {
		return 0, found.Took, err
	}
	if c.Kind != "demo" {
		m.keep(c.Name, &found)
	}
	if m.o.Listed != nil {
		m.o.Listed()
	}
	return len(found.Models), found.Took, nil
}

// request requests the models of a connection from its provider.
func (m *Models) request(ctx context.Context, c model.Connection, p model.Provider) (list, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, listTime,
		fault.New(fault.Timeout, "models", cmp.Or(c.Title, c.Name)+" did not answer within 20 s.",
			"Check that the server runs, and its address in Settings > Models."))
	defer cancel()
	began := time.Now()
	listed, err := p.Models(ctx)
	found := list{Kind: c.Kind, Address: c.URL, Asked: time.Now().UTC().Round(0), Took: time.Since(began)}
	if e, ok := errors.AsType[*model.Error](err); ok {
		listing := *e
		listing.Unanswered = true // a list that is cut is none
		return found, listing.Fault()
	}
	if err != nil {
		return found, err
	}
	found.Models = slices.DeleteFunc(model.Listed(listed), func(info model.Info) bool { return !model.Chats(info.ID) })
	return found, nil
}

// keep keeps what a connection listed; nil forgets it.
func (m *Models) keep(name string, listed *list) {
	if err := m.lists.put(name, listed); err != nil {
		m.o.Log.Warn("A list of models could not be kept.", "provider", name, "err", err)
	}
}

// Asked returns when a connection listed its models last, and how long that took; no time where it never
// did at its present address.
func (m *Models) Asked(c model.Connection) (time.Time, time.Duration) {
	kept, _ := m.lists.of(c)
	return kept.Asked, kept.Took
}

// Refresh requests the lists that are older than the given time, of the connections whose keys can be read
// without asking anybody. What fails keeps the list that it has.
func (m *Models) Refresh(ctx context.Context, older time.Duration) {
	all, err := m.Connections(ctx)
	if err != nil {
		return
	}
	locked := m.o.Keys.NeedsPassphrase()
	for _, c := range all {
		if kept, ok := m.lists.of(c); c.Kind == "demo" || ok && time.Since(kept.Asked) < older || c.HasKey && locked {
			continue
		}
		if _, _, err := m.ask(m.o.Unasked(ctx), c); err != nil {
			m.o.Log.Info("A list of models could not be refreshed.", "provider", c.Name, "err", err)
		}
	}
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
	set, err := m.o.Settings.Settings(ctx)
	if err != nil {
		return "", err
	}
	if set.DefaultModel == "" && m.o.Scripted != nil {
		return m.o.Scripted.Info().Name(), nil
	}
	return cmp.Or(set.DefaultModel, settings.DemoModel), nil
}

// Chosen returns the model that the person chose for new chats; empty when they
// chose none.
func (m *Models) Chosen(ctx context.Context) (string, error) {
	set, err := m.o.Settings.Settings(ctx)
	return set.DefaultModel, err
}

// SetDefault chooses the model of new chats.
func (m *Models) SetDefault(ctx context.Context, name string) error {
	if _, err := m.Open(ctx, name); err != nil {
		return err
	}
	_, err := m.o.Settings.ChangeSettings(ctx, func(s *settings.Settings) { s.DefaultModel = name })
	return err
}

// KeyStore returns a sentence about where keys are stored, and whether a passphrase is needed first.
func (m *Models) KeyStore() (string, bool) { return m.o.Keys.Sentence(), m.o.Keys.NeedsPassphrase() }

// KeysFresh reports whether the encrypted file of keys is used and does not exist yet, so that the
// person chooses its passphrase.
func (m *Models) KeysFresh() bool { return m.o.Keys.NeedsPassphrase() && m.o.Keys.Fresh() }

// Unlock takes the passphrase of the encrypted file of keys.
func (m *Models) Unlock(passphrase string) error { return m.o.Keys.Unlock(passphrase) }

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
	return m.o.Pull(ctx, server, name, progress)
}

package connections

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/settings"
	"conclave/app/model"
)

// How connections are tried, added, changed and removed.

// endings lists tails that people paste with the address of a server and a connection does not need.
var endings = map[string][]string{"anthropic": {"/v1"}, "ollama": {"/v1", "/api"}}

// typed returns a connection with its address as the person means it.
func typed(c model.Connection) model.Connection {
	c.URL = model.Typed(c.URL, endings[c.Kind]...)
	return c
}

// Try requests the models of a connection that is not stored, with the key given, else the one that is
// stored for its name and address. It returns the connection with its address put right: a server that
// speaks the OpenAI wire mostly does so below /v1.
func (m *Models) Try(ctx context.Context, c model.Connection, key string) (model.Connection, Answer, error) {
	c = typed(c)
	if old, err := m.connection(ctx, c.Name); err == nil {
		c.HasKey = old.HasKey && old.Address() == c.Address()
		if c.Headers == nil {
			c.Headers = old.Headers
		}
		if c.ServedBy == "" && c.URL == old.URL {
			c.ServedBy = old.ServedBy
		}
	}
	named := c
	named.Name = cmp.Or(c.Name, "new")
	if err := settings.CheckConnection(named); err != nil {
		return c, Answer{}, err
	}
	if err := checkKey(key); err != nil {
		return c, Answer{}, err
	}
	answer, err := m.try(ctx, c, key)
	if u, bad := url.Parse(c.URL); err != nil && c.Kind == "openai" && bad == nil && u.Host != "" &&
		strings.Trim(u.Path, "/") == "" && model.IsWrongAddress(err) {
		below := c
		below.URL = model.Below(c.URL, "/v1")
		if found, other := m.try(ctx, below, key); other == nil || !model.IsWrongAddress(other) {
			return below, found, other
		}
	}
	return c, answer, err
}

// Answer holds what a server listed, and how long that took. The zero value is no answer.
type Answer struct{ list list }

// Took returns how long the server took.
func (a Answer) Took() time.Duration { return a.list.Took }

func (m *Models) try(ctx context.Context, c model.Connection, key string) (Answer, error) {
	given := c
	given.Key = func(ctx context.Context) (string, error) {
		if key != "" {
			return key, nil
		}
		return m.key(ctx, c)
	}
	p, err := m.o.Provider(given)
	if err != nil {
		return Answer{}, err
	}
	found, err := m.request(ctx, c, p)
	return Answer{found}, err
}

// Keep keeps what a server listed when it was tried, for the connection that was stored then.
func (m *Models) Keep(c model.Connection, a Answer) {
	for i := range a.list.Models {
		a.list.Models[i].Connection = c.Name // it had none when it was tried
	}
	m.keep(c.Name, &a.list)
	if m.o.Listed != nil {
		m.o.Listed()
	}
}

// Add adds a connection and stores its key.
func (m *Models) Add(ctx context.Context, c model.Connection, key string) error {
	c = typed(c)
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
	c = typed(c)
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
	if err := m.o.Keys.DeleteFor(ctx, old.Name, old.Address()); err != nil {
		m.o.Log.Warn("The key for a connection's old address could not be removed.", "provider", c.Name, "err", err)
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

// meets returns why a server of this computer is not used, if one answers there now: it is a program
// of another user, whom the person did not name.
func meets(ctx context.Context, c model.Connection) error {
	if e, ok := errors.AsType[*model.Error](model.Meet(ctx, c)); ok {
		return fault.Wrap(fault.NotAllowed, "models", e.Sentence(), e.Hint(), e)
	}
	return nil
}

// checkKey returns why a text is no key: more was copied than the key.
func checkKey(key string) error {
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return fault.New(fault.Invalid, "models", "The key has a space, or a character that no key has.",
			"Copy the key alone, and paste it again.")
	}
	return nil
}

// SetServedBy names a user of this computer whose program may serve a connection, in addition to
// programs of the person and of the system.
func (m *Models) SetServedBy(ctx context.Context, name, user string) error {
	c, err := m.connection(ctx, name)
	if err != nil {
		return err
	}
	if c.Kind == "demo" {
		return fault.New(fault.Invalid, "models", "Demo guide has no server.", "")
	}
	c.ServedBy = user
	return m.put(ctx, c, "")
}

// write changes the settings first, since they are checked, and takes that back when the key cannot
// be stored.
func (m *Models) write(ctx context.Context, c model.Connection, key string, change func(*settings.Settings)) error {
	if err := checkKey(key); err != nil {
		return err
	}
	before, err := m.o.Settings.Settings(ctx)
	if err != nil {
		return err
	}
	if _, err := m.o.Settings.ChangeSettings(ctx, change); err != nil {
		return err
	}
	if key == "" {
		return nil
	}
	if err := m.o.Keys.SetFor(ctx, c.Name, c.Address(), key); err != nil {
		_, back := m.o.Settings.ChangeSettings(ctx, func(s *settings.Settings) { s.Connections = before.Connections })
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
		return nil, fault.New(fault.Invalid, "models", "Demo guide is built in and cannot be removed.", "")
	}
	key := ""
	if c.HasKey {
		if key, err = m.o.Keys.GetFor(ctx, name, c.Address()); err != nil && fault.KindOf(err) != fault.NotFound {
			return nil, err
		}
	}
	set, err := m.o.Settings.Settings(ctx)
	if err != nil {
		return nil, err
	}
	chosen := set.DefaultModel
	if _, err := m.o.Settings.ChangeSettings(ctx, func(s *settings.Settings) {
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
	if err := m.o.Keys.DeleteFor(ctx, name, c.Address()); err != nil {
		return nil, err
	}
	kept, listed := m.lists.of(c)
	m.keep(name, nil)
	return func(ctx context.Context) error {
		if err := m.Add(ctx, c, key); err != nil {
			return err
		}
		if listed {
			m.keep(name, &kept)
		}
		if strings.HasPrefix(chosen, name+"/") {
			return m.SetDefault(ctx, chosen)
		}
		return nil
	}, nil
}

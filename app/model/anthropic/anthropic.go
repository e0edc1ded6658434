// Package anthropic speaks Anthropic's Messages wire, to Anthropic and to servers
// that resemble it, without the official SDK: its client looks for keys, profiles and
// addresses in the environment and the home folder, package model reads the streams of
// every vendor, and the SDK's shapes of requests cost each start more than they spare.
//
// Read Provider first, then stream.go (what comes back) and request.go (what is
// sent, and where prompt caches begin).
package anthropic

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"

	"conclave/app/model"
)

// Kind is the connection kind of this package, and the key of its data in
// chat.Part.Vendor.
const Kind = "anthropic"

// Address is Anthropic's own; paths below it begin with v1.
const Address = "https://api.anthropic.com"

// Options are for tests. The zero value is right for a connection of a person.
type Options struct {
	Timeouts model.Timeouts
}

// Provider is one connection. Use New.
type Provider struct {
	link    *model.Link
	catalog model.Catalog
}

// New returns the provider of c. Nothing is asked before its methods are.
func New(c model.Connection, o Options) *Provider {
	c.URL = model.Base(c.URL, "/v1") // people write it either way
	p := &Provider{link: model.NewLink(c, Address, o.Timeouts)}
	p.catalog.Seed(c.Listed)
	return p
}

// Models implements model.Provider. A look-alike without a list has the models that
// the person added by hand.
func (p *Provider) Models(ctx context.Context) ([]model.Info, error) {
	authorize, err := p.authorize(ctx)
	if err != nil {
		return nil, err
	}
	models := map[string]model.Info{}
	for _, id := range p.link.Connection.Models {
		models[id] = p.info(id)
	}
	query := url.Values{"limit": {"1000"}}
	for more := true; more; {
		var page listed
		if err := p.link.Get(ctx, "v1/models", query.Encode(), authorize, &page); err != nil {
			e, ok := errors.AsType[*model.Error](err)
			if !ok || len(p.link.Connection.Models) == 0 ||
				(e.Status != http.StatusNotFound && e.Status != http.StatusMethodNotAllowed) {
				return nil, err
			}
			break
		}
		for _, m := range page.Data {
			models[m.ID] = p.describe(m)
		}
		more = page.HasMore && page.LastID != "" && page.LastID != query.Get("after_id")
		query.Set("after_id", page.LastID)
	}
	return p.catalog.Set(p.link, models), nil
}

// listed is a page of the list of models.
type listed struct {
	Data    []listedModel `json:"data"`
	HasMore bool          `json:"has_more"`
	LastID  string        `json:"last_id"`
}

type listedModel struct {
	ID           string `json:"id"`
	Name         string `json:"display_name"`
	MaxInput     int64  `json:"max_input_tokens"`
	Capabilities *struct {
		Vision   supported `json:"image_input"`
		Thinking supported `json:"thinking"`
	} `json:"capabilities"`
}

type supported struct {
	Supported bool `json:"supported"`
}

// describe returns what the list and the name say about a model.
func (p *Provider) describe(m listedModel) model.Info {
	info := p.info(m.ID)
	info.Title, info.Context = cmp.Or(m.Name, m.ID), m.MaxInput
	if m.Capabilities != nil {
		info.Can.Vision, info.Can.Reasoning = m.Capabilities.Vision.Supported, m.Capabilities.Thinking.Supported
	}
	return info
}

// version is that of the wire which this package speaks.
const version = "2023-06-01"

// authorize returns what puts the key, and the version of the wire, into the headers of a request.
func (p *Provider) authorize(ctx context.Context) (func(http.Header), error) {
	key, err := p.link.Key(ctx)
	if err != nil {
		return nil, err
	}
	return func(h http.Header) {
		h.Set("Anthropic-Version", version)
		if key != "" {
			h.Set("X-Api-Key", key)
		}
	}, nil
}

func (p *Provider) info(id string) model.Info {
	return model.Info{
		Connection: p.link.Connection.Name, ID: id, Title: id, Provider: Kind, Can: model.FeaturesOf(id),
	}
}

// Open implements model.Provider.
func (p *Provider) Open(id string) model.Model { return &client{p: p, id: id} }

type client struct {
	p       *Provider
	id      string
	encoded model.Encoded
}

// Info implements model.Model: from the last list, else from the model's name.
func (m *client) Info() model.Info {
	if info, ok := m.p.catalog.Find(m.id); ok {
		return info
	}
	return m.p.info(m.id)
}

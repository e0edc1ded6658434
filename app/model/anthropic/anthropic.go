// Package anthropic speaks Anthropic's Messages wire, to Anthropic and to servers
// that resemble it, with the shapes of the official SDK. The SDK's own client is not
// used: it looks for keys, profiles and addresses in the environment and the home
// folder; nor are its streams, since package model reads those of every vendor.
//
// Read Provider first, then stream.go (what comes back) and request.go (what is
// sent, and where prompt caches begin).
package anthropic

import (
	"context"
	"errors"
	"net/http"

	"conclave/app/model"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
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
	models  sdk.ModelService
	catalog model.Catalog
}

// New returns the provider of c. Nothing is asked before its methods are.
func New(c model.Connection, o Options) *Provider {
	c.URL = model.Base(c.URL, "/v1") // people write it either way
	link := model.NewLink(c, Address, o.Timeouts)
	options := []option.RequestOption{
		option.WithBaseURL(link.Base()), option.WithHTTPClient(link.HTTP()),
		option.WithMaxRetries(0), // ours are bounded and seen: model.WithRetry
	}
	return &Provider{link: link, models: sdk.NewModelService(options...)}
}

// Models implements model.Provider. A look-alike without a list has the models that
// the person added by hand.
func (p *Provider) Models(ctx context.Context) ([]model.Info, error) {
	auth, err := p.auth(ctx)
	if err != nil {
		return nil, err
	}
	models := map[string]model.Info{}
	for _, id := range p.link.Connection.Models {
		models[id] = p.info(id)
	}
	var answer model.Answer
	pages := p.models.ListAutoPaging(model.Watching(ctx, &answer), sdk.ModelListParams{Limit: param.NewOpt[int64](1000)},
		auth...)
	for pages.Next() {
		m := pages.Current()
		info := p.info(m.ID)
		if m.DisplayName != "" {
			info.Title = m.DisplayName
		}
		info.Context = m.MaxInputTokens
		if m.JSON.Capabilities.Valid() {
			info.Can.Vision = m.Capabilities.ImageInput.Supported
			info.Can.Reasoning = m.Capabilities.Thinking.Supported
		}
		models[m.ID] = info
	}
	if err := pages.Err(); err != nil {
		err = p.link.Fail(ctx, "", err)
		e, ok := errors.AsType[*model.Error](err)
		if !ok || len(p.link.Connection.Models) == 0 ||
			(e.Status != http.StatusNotFound && e.Status != http.StatusMethodNotAllowed) {
			return nil, err
		}
	}
	return p.catalog.Set(models), nil
}

func (p *Provider) auth(ctx context.Context) ([]option.RequestOption, error) {
	key, err := p.link.Key(ctx)
	if err != nil || key == "" {
		return nil, err
	}
	return []option.RequestOption{option.WithAPIKey(key)}, nil
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
	p  *Provider
	id string
}

// Info implements model.Model: from the last list, else from the model's name.
func (m *client) Info() model.Info {
	if info, ok := m.p.catalog.Find(m.id); ok {
		return info
	}
	return m.p.info(m.id)
}

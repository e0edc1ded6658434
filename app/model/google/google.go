// Package google speaks the Gemini API of Google AI Studio.
//
// It has its own small client for the two requests it needs. The official
// google.golang.org/genai costs every start of the program about 3 ms and 1.4 MB
// of package initialisation (gRPC, OpenCensus and protobuf come with it), more
// than all else that conclave version does; the wire is plain JSON and SSE:
// https://ai.google.dev/api/generate-content.
//
// Read Provider first, then stream.go (what comes back) and request.go (what is
// sent).
package google

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"conclave/app/model"
)

// Kind is the connection kind of this package, and the key of its data in
// chat.Part.Vendor.
const Kind = "google"

// Address is Google's own.
const Address = "https://generativelanguage.googleapis.com/v1beta"

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
	p := &Provider{link: model.NewLink(c, Address, o.Timeouts)}
	p.catalog.Seed(c.Listed)
	return p
}

// listed is an entry of GET models:
//
//	{"name":"models/gemini-2.5-flash","displayName":"Gemini 2.5 Flash","inputTokenLimit":1048576,
//	 "supportedGenerationMethods":["generateContent"],"thinking":true}
type listed struct {
	Name        string   `json:"name"`
	DisplayName string   `json:"displayName"`
	Input       int64    `json:"inputTokenLimit"`
	Methods     []string `json:"supportedGenerationMethods"`
	Thinking    bool     `json:"thinking"`
}

// maxPages bounds how often the list is asked for more; a page holds 1000 models.
const maxPages = 10

// Models implements model.Provider.
func (p *Provider) Models(ctx context.Context) ([]model.Info, error) {
	authorize, err := p.auth(ctx)
	if err != nil {
		return nil, err
	}
	models := map[string]model.Info{}
	for _, id := range p.link.Connection.Models {
		models[id] = p.info(id)
	}
	token := ""
	for range maxPages {
		var page struct {
			Models []listed `json:"models"`
			Next   string   `json:"nextPageToken"`
		}
		query := url.Values{"pageSize": {"1000"}}
		if token != "" {
			query.Set("pageToken", token)
		}
		if err := p.link.Get(ctx, "models", query.Encode(), authorize, &page); err != nil {
			e, ok := errors.AsType[*model.Error](err)
			if !ok || len(models) == 0 || e.Status != http.StatusNotFound {
				return nil, err
			}
		}
		for _, m := range page.Models {
			if len(m.Methods) > 0 && !slices.Contains(m.Methods, "generateContent") {
				continue
			}
			info := p.info(strings.TrimPrefix(m.Name, "models/"))
			if m.DisplayName != "" {
				info.Title = m.DisplayName
			}
			info.Context, info.Can.Reasoning = m.Input, m.Thinking
			models[info.ID] = info
		}
		if token = page.Next; token == "" {
			break
		}
	}
	return p.catalog.Set(p.link, models), nil
}

// auth returns what puts the key into a header; in the address it would reach
// logs.
func (p *Provider) auth(ctx context.Context) (func(http.Header), error) {
	key, err := p.link.Key(ctx)
	if err != nil {
		return nil, err
	}
	return func(h http.Header) {
		if key != "" {
			h.Set("X-Goog-Api-Key", key)
		}
	}, nil
}

func (p *Provider) info(id string) model.Info {
	return model.Info{
		Connection: p.link.Connection.Name, ID: id, Title: id, Provider: Kind, Can: model.FeaturesOf(id),
	}
}

// Open implements model.Provider.
func (p *Provider) Open(id string) model.Model {
	return &client{p: p, id: strings.TrimPrefix(id, "models/")}
}

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

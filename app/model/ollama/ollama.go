// Package ollama speaks with Ollama: chat over its OpenAI-compatible address, by
// the openai package whose dialect it is, and its own API for what that has no
// word for: which models are there, what each can do, and fetching new ones
// (https://docs.ollama.com/api).
package ollama

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"conclave/app/model"
	"conclave/app/model/openai"
)

// Kind is the connection kind of this package.
const Kind = "ollama"

// Address is where Ollama listens by default.
const Address = "http://localhost:11434"

// Options are for tests. The zero value is right for a connection of a person.
type Options struct {
	Timeouts model.Timeouts
}

// Provider is one Ollama server. Use New.
type Provider struct {
	link    *model.Link
	chat    *openai.Provider
	catalog model.Catalog
}

// New returns the provider of c, whose address may end in /v1 or not. Nothing is
// asked before its methods are.
func New(c model.Connection, o Options) *Provider {
	c.URL = model.Base(c.URL, "/v1", "/api") // people write it either way
	if c.URL == "" {
		c.URL = Address
	}
	p := &Provider{link: model.NewLink(c, Address, o.Timeouts)}
	p.catalog.Seed(c.Listed)
	compatible := c
	compatible.URL = model.Below(c.URL, "/v1")
	p.chat = openai.New(compatible, openai.Options{
		Timeouts: o.Timeouts, Provider: Kind, NoToolChoice: true, Can: p.catalog.Find, Window: p.window,
	})
	return p
}

// Open implements model.Provider.
func (p *Provider) Open(id string) model.Model { return p.chat.Open(id) }

// Asking each model costs a request; four at a time and the time of a glance,
// since what is not known by then is guessed from the name.
const (
	atOnce   = 4
	allShows = 3 * time.Second
)

// Models implements model.Provider: the models that are on the server's disk, with
// what each can do.
func (p *Provider) Models(ctx context.Context) ([]model.Info, error) {
	authorize, err := p.auth(ctx)
	if err != nil {
		return nil, err
	}
	var list struct {
		Models []struct {
			Name string `json:"name"`
		} `json:"models"`
	}
	if err := p.link.Get(ctx, "api/tags", "", authorize, &list); err != nil {
		return nil, err
	}
	models := make([]model.Info, len(list.Models))
	showing, cancel := context.WithTimeout(ctx, allShows)
	defer cancel()
	loaded := p.loaded(showing, authorize)
	slots := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for i, m := range list.Models {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			models[i] = p.show(showing, m.Name, authorize)
			if window := loaded[m.Name]; window > 0 && models[i].ID != "" {
				models[i].Context = window
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	known := map[string]model.Info{}
	for _, m := range models {
		if m.ID != "" {
			known[m.ID] = m
		}
	}
	return p.catalog.Set(p.chat.Link(), known), nil
}

// loaded returns how many tokens each model reads that is in memory. A server before 0.11 does not say.
//
//	GET /api/ps → {"models":[{"name":"qwen3:8b","context_length":4096}]}
func (p *Provider) loaded(ctx context.Context, authorize func(http.Header)) map[string]int64 {
	var list struct {
		Models []struct {
			Name    string `json:"name"`
			Context int64  `json:"context_length"`
		} `json:"models"`
	}
	windows := map[string]int64{}
	if p.link.Get(ctx, "api/ps", "", authorize, &list) != nil {
		return windows // nothing is known then
	}
	for _, m := range list.Models {
		windows[m.Name] = m.Context
	}
	return windows
}

// shortRequest is a number of tokens that every server reads whole, however the model was loaded.
const shortRequest = 1500

// window returns how many tokens a model that just answered was loaded to read, or 0.
func (p *Provider) window(ctx context.Context, id string, sent int64) int64 {
	if sent < shortRequest {
		return 0
	}
	authorize, err := p.auth(ctx)
	if err != nil {
		return 0
	}
	ctx, cancel := context.WithTimeout(model.Untapped(ctx), allShows)
	defer cancel()
	windows := p.loaded(ctx, authorize)
	if window, ok := windows[id]; ok || strings.Contains(id, ":") {
		return window
	}
	return windows[id+":latest"]
}

// show returns what a model can do: as the server says, or guessed where an old
// one does not. A model that cannot chat has no id.
//
//	POST /api/show {"model":"qwen3:8b"} →
//	{"capabilities":["completion","tools","thinking"],"parameters":"num_ctx    8192\nstop    \"<|im_end|>\"",
//	 "model_info":{"general.architecture":"qwen3","qwen3.context_length":40960}}
//
// What a model could read at most (context_length) is not what the server has it read: it cuts
// longer requests without a word. Only a num_ctx of the model's own is sure.
func (p *Provider) show(ctx context.Context, name string, authorize func(http.Header)) model.Info {
	info := model.Info{
		Connection: p.link.Connection.Name, ID: name, Title: strings.TrimSuffix(name, ":latest"), Provider: Kind,
		Can: model.FeaturesOf(name),
	}
	var shown struct {
		Capabilities []string `json:"capabilities"`
		Parameters   string   `json:"parameters"`
	}
	if err := p.link.Post(ctx, "api/show", map[string]string{"model": name}, authorize, &shown); err != nil {
		return info // the guess stands; a server that is down failed the list already
	}
	info.Context = contextOf(shown.Parameters)
	if len(shown.Capabilities) == 0 {
		return info
	}
	has := func(word string) bool { return slices.Contains(shown.Capabilities, word) }
	if !has("completion") {
		return model.Info{}
	}
	info.Can = model.Features{Tools: has("tools"), Vision: has("vision"), Reasoning: has("thinking")}
	return info
}

// contextOf returns the num_ctx in the parameters of a model, or 0.
func contextOf(parameters string) (tokens int64) {
	for line := range strings.Lines(parameters) {
		if fields := strings.Fields(line); len(fields) == 2 && fields[0] == "num_ctx" {
			tokens, _ = strconv.ParseInt(fields[1], 10, 64) // no number: not known
		}
	}
	return max(tokens, 0)
}

// auth is for servers behind a proxy that wants a key; Ollama itself has none.
func (p *Provider) auth(ctx context.Context) (func(http.Header), error) {
	key, err := p.link.Key(ctx)
	if err != nil {
		return nil, err
	}
	return func(h http.Header) {
		if key != "" {
			h.Set("Authorization", "Bearer "+key)
		}
	}, nil
}

// Version returns the server's version. Errors are *model.Error.
func (p *Provider) Version(ctx context.Context) (string, error) {
	authorize, err := p.auth(ctx)
	if err != nil {
		return "", err
	}
	var said struct {
		Version string `json:"version"`
	}
	if err := p.link.Get(ctx, "api/version", "", authorize, &said); err != nil {
		return "", err
	}
	if said.Version == "" {
		return "", p.link.Fail(ctx, "", &model.Error{
			Kind: model.WrongAddress, Found: "it does not say which version of Ollama it is",
		})
	}
	return said.Version, nil
}

// Progress is one report of Pull.
type Progress struct {
	Status string `json:"status"` // in Ollama's words: "pulling manifest", "verifying sha256 digest"
	Digest string `json:"digest"` // the layer that Done and Total count; empty for the other steps
	Done   int64  `json:"completed"`
	Total  int64  `json:"total"`
}

// Pull has the server download a model and returns once it is there. It calls progress
// with each report, on this goroutine. Errors are *model.Error or ctx's cause; the next
// Pull continues an interrupted download.
func (p *Provider) Pull(ctx context.Context, name string, progress func(Progress)) error {
	authorize, err := p.auth(ctx)
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{"model": name, "stream": true})
	if err != nil {
		return err
	}
	response, err := p.link.Ask(ctx, "api/pull", "", model.Body{body}, authorize)
	if err != nil {
		return p.link.Fail(ctx, name, err)
	}
	defer response.Body.Close()
	reports := json.NewDecoder(response.Body)
	for {
		var report struct {
			Progress
			Error string `json:"error"`
		}
		if err := reports.Decode(&report); err != nil {
			return p.link.Fail(ctx, name, err)
		}
		if report.Error != "" {
			return p.refused(ctx, name, report.Error)
		}
		progress(report.Progress)
		if report.Status == "success" {
			return nil
		}
	}
}

// refused reads the texts of Ollama's pull: "pull model manifest: file does not
// exist" is its registry's 404.
func (p *Provider) refused(ctx context.Context, name, text string) error {
	kind := model.BadRequest
	if strings.Contains(text, "file does not exist") || strings.Contains(text, "not found") {
		kind = model.ModelUnknown
	}
	return p.link.Fail(ctx, name, &model.Error{Kind: kind, Detail: text, Err: errors.New(text)})
}

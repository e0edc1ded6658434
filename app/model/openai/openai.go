// Package openai speaks the OpenAI Chat Completions wire, to OpenAI itself and to
// every server that resembles it: OpenRouter, GLM, Qwen, DeepSeek, Groq, LM
// Studio, llama.cpp, vLLM, Jan. Which one it is, is a setting (the connection's
// address), never another package; what one of them does differently is handled
// where it shows, by what it sends and not by its name.
//
// It does without the official SDK: its client would read keys and addresses from the
// environment and send them along, its streams turn what look-alikes send otherwise into
// empty or wrong text, and its shapes of requests cost each start more than they spare. Read Provider first, then
// stream.go (what comes back), request.go (what is sent) and concession.go (what is
// left out after a refusal).
package openai

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"

	"conclave/app/base/pattern"
	"conclave/app/chat"
	"conclave/app/model"
)

// Kind is the connection kind of this package, and the key of its data in
// chat.Part.Vendor.
const Kind = "openai"

// Address is OpenAI's own.
const Address = "https://api.openai.com/v1"

// Options are for the packages and tests that build on this one. The zero value
// is right for a connection of a person.
type Options struct {
	Timeouts model.Timeouts
	// Provider is the kind in Info; empty is Kind.
	Provider string
	// NoToolChoice says that the server ignores tool_choice, so that the only way
	// to have no calls is to send no tools.
	NoToolChoice bool
	// Can returns what a model can do, or false if it is not known; nil knows
	// none.
	Can func(id string) (model.Info, bool)
	// Window returns how many tokens a model was loaded to read, 0 where that is not known, for a
	// request of about so many; nil knows of none.
	Window func(ctx context.Context, id string, sent int64) int64
}

// Provider is one connection to a server. Use New.
type Provider struct {
	link    *model.Link
	options Options
	catalog model.Catalog

	mu    sync.Mutex                 // guards the fields below
	shuns map[string]map[string]bool // model → what it refused, as concession names it
	lone  map[string]string          // model → the tag that ends its thinking, whose beginning does not come
}

// New returns the provider of c. Nothing is asked before its methods are.
func New(c model.Connection, o Options) *Provider {
	o.Provider = cmp.Or(o.Provider, Kind)
	link := model.NewLink(c, Address, o.Timeouts)
	p := &Provider{
		link: link, options: o,
		shuns: map[string]map[string]bool{}, lone: map[string]string{},
	}
	p.catalog.Seed(c.Listed)
	return p
}

// Link returns the way to the server, for a dialect that asks more of it.
func (p *Provider) Link() *model.Link { return p.link }

// note returns a sentence where the server read far less than it was sent, or "".
func (m *client) note(ctx context.Context, r model.Request, used chat.Usage) string {
	window := int64(0)
	if m.p.options.Window != nil {
		window = m.p.options.Window(ctx, m.id, m.encoded.Tokens(r))
	}
	return model.CutNote(r, used.Input, window, &m.encoded)
}

// own reports whether the server is OpenAI's.
func (p *Provider) own() bool { return strings.HasSuffix(p.link.Host(), "api.openai.com") }

// listed is an entry of GET /models: the fields of OpenAI, and those that others
// add. OpenRouter: name, context_length, architecture, pricing, supported_parameters.
// Together: type, display_name, pricing. Fireworks: supports_chat and its like.
// vLLM: max_model_len. Mistral: capabilities, max_context_length. LM Studio and
// llama.cpp: none or meta. What means something else with each server is read leniently.
type listed struct {
	ID            string `json:"id"`
	Name          string `json:"name"`
	ContextLength int64  `json:"context_length"`
	MaxModelLen   int64  `json:"max_model_len"`
	MaxContext    int64  `json:"max_context_length"`
	ContextWindow int64  `json:"context_window"` // Groq
	Display       string `json:"display_name"`
	Type          string `json:"type"`
	OwnedBy       string `json:"owned_by"`

	Architecture json.RawMessage `json:"architecture"`
	Capabilities json.RawMessage `json:"capabilities"`
	Pricing      json.RawMessage `json:"pricing"`
	Parameters   []string        `json:"supported_parameters"`
	Chat         *bool           `json:"supports_chat"`
	Pictures     *bool           `json:"supports_image_input"`
	Tools        *bool           `json:"supports_tools"`
	Meta         struct {
		Trained int64 `json:"n_ctx_train"`
	} `json:"meta"`
}

// Models implements model.Provider. A server without a list has those that the
// person added by hand; without these its refusal is the answer.
func (p *Provider) Models(ctx context.Context) ([]model.Info, error) {
	key, err := p.link.Key(ctx)
	if err != nil {
		return nil, err
	}
	list, err := p.list(ctx, key)
	if err != nil {
		if e, ok := errors.AsType[*model.Error](err); !ok || len(p.link.Connection.Models) == 0 ||
			(e.Status != http.StatusNotFound && e.Status != http.StatusMethodNotAllowed &&
				e.Status != http.StatusNotImplemented) {
			return nil, err
		}
	}
	models := map[string]model.Info{}
	for _, id := range p.link.Connection.Models {
		models[id] = p.info(id)
	}
	for _, m := range list {
		if m.ID != "" && m.chats() && !(p.own() && notForChat().MatchString(m.ID)) {
			models[m.ID] = p.describe(m)
		}
	}
	if len(list) > 0 && list[0].OwnedBy == lmStudioOwner {
		p.asLMStudioSays(ctx, key, models)
	}
	return p.catalog.Set(p.link, models), nil
}

// list requests the models: an object with data, or of Together an array.
func (p *Provider) list(ctx context.Context, key string) ([]listed, error) {
	var raw json.RawMessage
	if err := p.link.Get(ctx, "models", "", bearer(key), &raw); err != nil {
		return nil, err
	}
	var list struct {
		Data []listed `json:"data"`
	}
	var err error
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte("[")) {
		err = json.Unmarshal(raw, &list.Data)
	} else {
		err = json.Unmarshal(raw, &list)
	}
	if err != nil {
		return nil, p.link.Fail(ctx, "", err)
	}
	return list.Data, nil
}

// lmStudioOwner is who owns the models of LM Studio, by its list.
const lmStudioOwner = "organization_owner"

// asLMStudioSays adds what LM Studio's own list knows of models: what each reads at most, and as it is
// loaded (https://lmstudio.ai/docs/developer/rest/endpoints). An older one has no such list.
//
//	GET /api/v0/models → {"data":[{"id":"qwen3-8b","type":"llm","capabilities":["tool_use"],
//	 "max_context_length":40960,"loaded_context_length":4096}]}
func (p *Provider) asLMStudioSays(ctx context.Context, key string, models map[string]model.Info) {
	own := p.link.Connection
	own.URL = model.Below(model.Base(own.URL, "/v1"), "/api/v0")
	var list struct {
		Data []struct {
			ID     string   `json:"id"`
			Type   string   `json:"type"`
			Can    []string `json:"capabilities"`
			Most   int64    `json:"max_context_length"`
			Loaded int64    `json:"loaded_context_length"`
		} `json:"data"`
	}
	if model.NewLink(own, own.URL, p.options.Timeouts).Get(ctx, "models", "", bearer(key), &list) != nil {
		return
	}
	for _, m := range list.Data {
		info, ok := models[m.ID]
		switch {
		case !ok:
		case m.Type == "embeddings":
			delete(models, m.ID)
		default:
			info.Context = cmp.Or(m.Loaded, m.Most)
			info.Can.Vision = m.Type == "vlm"
			if m.Can != nil {
				info.Can.Tools = slices.Contains(m.Can, "tool_use")
			}
			models[m.ID] = info
		}
	}
}

// chats reports whether an entry of a list may be a model for conversations.
func (m listed) chats() bool {
	others := []string{"image", "embedding", "embeddings", "rerank", "moderation", "audio", "video", "transcribe"}
	return (m.Chat == nil || *m.Chat) && !slices.Contains(others, m.Type)
}

// notForChat matches what OpenAI lists in addition to its chat models.
var notForChat = pattern.Lazy(`^(text-embedding|tts-|whisper|dall-e|omni-moderation|text-moderation|babbage|davinci|gpt-image|chatgpt-image|sora|computer-use)|-(realtime|audio|transcribe|tts|search-api|instruct)|^o[0-9]-(pro|deep-research)|^gpt-[0-9.]+-pro|-codex`)

func bearer(key string) func(http.Header) {
	return func(h http.Header) {
		if key != "" {
			h.Set("Authorization", "Bearer "+key)
		}
	}
}

// describe returns what the list and the name say about a model.
func (p *Provider) describe(m listed) model.Info {
	info := p.info(m.ID)
	info.Title = cmp.Or(m.Name, m.Display, m.ID)
	info.Price = model.ReadPrice(m.Pricing)
	info.Context = cmp.Or(m.ContextLength, m.MaxModelLen, m.MaxContext, m.ContextWindow, m.Meta.Trained)
	var architecture struct {
		Input []string `json:"input_modalities"`
	}
	if json.Unmarshal(m.Architecture, &architecture) == nil && len(architecture.Input) > 0 {
		info.Can.Vision = slices.Contains(architecture.Input, "image")
	}
	if len(m.Parameters) > 0 {
		info.Can.Tools = slices.Contains(m.Parameters, "tools")
		info.Can.Reasoning = slices.Contains(m.Parameters, "reasoning")
	}
	var can struct {
		Tools  *bool `json:"function_calling"`
		Vision *bool `json:"vision"`
	}
	_ = json.Unmarshal(m.Capabilities, &can) // of another shape: it says nothing
	if says := cmp.Or(can.Tools, m.Tools); says != nil {
		info.Can.Tools = *says
	}
	if says := cmp.Or(can.Vision, m.Pictures); says != nil {
		info.Can.Vision = *says
	}
	return info
}

func (p *Provider) info(id string) model.Info {
	return model.Info{
		Connection: p.link.Connection.Name, ID: id, Title: id, Provider: p.options.Provider, Can: model.FeaturesOf(id),
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
	if m.p.options.Can != nil {
		if info, ok := m.p.options.Can(m.id); ok {
			return info
		}
	}
	if info, ok := m.p.catalog.Find(m.id); ok {
		return info
	}
	return m.p.info(m.id)
}

package client

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Resource is something that a server can be asked to read.
type Resource struct {
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	MIME        string `json:"mimeType"`
	Size        int64  `json:"size"` // in bytes; 0 when unknown
	Icons       Icons  `json:"icons"`
}

// Template is a family of resources whose addresses have places to fill (RFC 6570).
type Template struct {
	URITemplate string `json:"uriTemplate"`
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	MIME        string `json:"mimeType"`
	Icons       Icons  `json:"icons"`
}

// Prompt is a message, or several, that a server writes for the person.
type Prompt struct {
	Name        string           `json:"name"`
	Title       string           `json:"title"`
	Description string           `json:"description"`
	Arguments   []PromptArgument `json:"arguments"`
	Icons       Icons            `json:"icons"`
}

// PromptArgument is a value that a Prompt is filled with.
type PromptArgument struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

// PromptResult is a Prompt filled with values.
type PromptResult struct {
	Description string
	Messages    []PromptMessage
	Meta        json.RawMessage
}

// PromptMessage is one message of a PromptResult.
type PromptMessage struct {
	Role  string // user or assistant
	Block Block
}

// Reference names what a value is completed for: a prompt by its name, or a template by its URITemplate.
// One of the two is set.
type Reference struct{ Prompt, Template string }

// Completion holds values that an argument could have.
type Completion struct {
	Values []string
	Total  int  // 0 when unknown
	More   bool // there are others
}

// list reads all entries of a list that can be read.
func list[T any](ctx context.Context, s *Session, offered bool, method, name string) ([]T, error) {
	if !offered {
		return nil, nil
	}
	var all []T
	left, err := s.pages(ctx, method, name, func(raw json.RawMessage) {
		var one T
		if err := json.Unmarshal(raw, &one); err != nil {
			s.logf("warn", "an entry of %s was left out: %v", method, err)
			return
		}
		all = append(all, one)
	})
	if left > 0 {
		s.logf("warn", "%d entries or more of %s were left out: a list has at most %d", left, method, maxListed)
	}
	return all, err
}

// Resources returns the resources that the server lists.
func (s *Session) Resources(ctx context.Context) ([]Resource, error) {
	return list[Resource](ctx, s, s.speaks().Capabilities.Resources, "resources/list", "resources")
}

// Templates returns the families of resources that the server lists.
func (s *Session) Templates(ctx context.Context) ([]Template, error) {
	all, err := list[Template](ctx, s, s.speaks().Capabilities.Resources, "resources/templates/list", "resourceTemplates")
	if e := rpcError(err); e != nil && e.Code == jsonrpc.CodeMethodNotFound {
		return nil, nil // a server may have resources and no templates
	}
	return all, err
}

// Read returns the contents of a resource; none is an empty one. The error is ErrNotThere where there is
// no such resource, and ErrNotOffered where the server has none at all.
func (s *Session) Read(ctx context.Context, uri string) ([]Block, error) {
	if !s.speaks().Capabilities.Resources {
		return nil, ErrNotOffered
	}
	raw, err := s.conversed(ctx, "resources/read", map[string]any{"uri": uri})
	if e := rpcError(err); e != nil && (e.Code == codeNotFound || e.Code == jsonrpc.CodeInvalidParams) {
		return nil, fmt.Errorf("%w: %s", ErrNotThere, e.Message)
	}
	if err != nil {
		return nil, err
	}
	var r struct {
		Contents []json.RawMessage `json:"contents"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, fmt.Errorf("the content of the resource cannot be read: %w", err)
	}
	blocks := []Block{}
	for _, one := range r.Contents {
		wrapped, err := encode(map[string]any{"type": ResourceBlock, "resource": one})
		if err != nil {
			return nil, err
		}
		b := readBlock(wrapped)
		b.Raw = one
		blocks = append(blocks, b)
	}
	return blocks, nil
}

// conversed sends a request to which the server may answer with questions.
func (s *Session) conversed(ctx context.Context, method string, params map[string]any) (json.RawMessage, error) {
	ctx, c := newClock(ctx, s.o.Limits.Request, s.o.Limits.Longest)
	defer c.stop()
	t := &toolCall{ctx: ctx, clock: c}
	return s.rounds(ctx, sending{method: method, params: params, tool: t}, true)
}

// Prompts returns the prompts that the server lists.
func (s *Session) Prompts(ctx context.Context) ([]Prompt, error) {
	return list[Prompt](ctx, s, s.speaks().Capabilities.Prompts, "prompts/list", "prompts")
}

// Prompt fills a prompt with values. The error is ErrNotOffered where the server has no prompts.
func (s *Session) Prompt(ctx context.Context, name string, arguments map[string]string) (PromptResult, error) {
	if !s.speaks().Capabilities.Prompts {
		return PromptResult{}, ErrNotOffered
	}
	params := map[string]any{"name": name}
	if len(arguments) > 0 {
		params["arguments"] = arguments
	}
	raw, err := s.conversed(ctx, "prompts/get", params)
	if err != nil {
		return PromptResult{}, err
	}
	var r struct {
		Description string `json:"description"`
		Messages    []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Meta json.RawMessage `json:"_meta"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return PromptResult{}, fmt.Errorf("the prompt cannot be read: %w", err)
	}
	p := PromptResult{Description: r.Description, Meta: r.Meta}
	for _, m := range r.Messages {
		for _, b := range readBlocks(m.Content) {
			p.Messages = append(p.Messages, PromptMessage{Role: m.Role, Block: b})
		}
	}
	return p, nil
}

// maxValues bounds the values of a completion.
const maxValues = 100

// Complete returns values that an argument could have which begins with value; filled are the values of
// other arguments. The error is ErrNotOffered where the server completes nothing.
func (s *Session) Complete(ctx context.Context, of Reference, argument, value string,
	filled map[string]string,
) (Completion, error) {
	if !s.speaks().Capabilities.Completions {
		return Completion{}, ErrNotOffered
	}
	ref := map[string]any{"type": "ref/prompt", "name": of.Prompt}
	if of.Template != "" {
		ref = map[string]any{"type": "ref/resource", "uri": of.Template}
	}
	params := map[string]any{"ref": ref, "argument": map[string]any{"name": argument, "value": value}}
	if len(filled) > 0 {
		params["context"] = map[string]any{"arguments": filled}
	}
	raw, err := s.bounded(ctx, "completion/complete", params)
	if err != nil {
		return Completion{}, err
	}
	var r struct {
		Completion struct {
			Values []string `json:"values"`
			Total  float64  `json:"total"`
			More   bool     `json:"hasMore"`
		} `json:"completion"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return Completion{}, fmt.Errorf("the values cannot be read: %w", err)
	}
	c := Completion{Values: r.Completion.Values, Total: int(r.Completion.Total), More: r.Completion.More}
	if len(c.Values) > maxValues {
		c.Values, c.More = c.Values[:maxValues], true
	}
	return c, nil
}

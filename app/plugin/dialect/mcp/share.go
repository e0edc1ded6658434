package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"conclave/app/chat"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/mcp/client"
)

var _ plugin.Sharer = (*backend)(nil)

// Resources implements plugin.Sharer.
func (b *backend) Resources(ctx context.Context) ([]plugin.Resource, []plugin.ResourceTemplate, error) {
	all, err := b.session.Resources(ctx)
	if err = offered(err); err != nil {
		return nil, nil, err
	}
	families, err := b.session.Templates(ctx)
	if err = offered(err); err != nil {
		return nil, nil, err
	}
	resources := make([]plugin.Resource, 0, len(all))
	for _, r := range all {
		resources = append(resources, plugin.Resource{
			URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIME: r.MIME, Size: r.Size,
		})
	}
	templates := make([]plugin.ResourceTemplate, 0, len(families))
	for _, t := range families {
		templates = append(templates, plugin.ResourceTemplate{
			Template: t.URITemplate, Places: places(t.URITemplate), Name: t.Name, Title: t.Title, Description: t.Description,
		})
	}
	return resources, templates, nil
}

// offered returns nil in place of the error of a server that has nothing of the kind.
func offered(err error) error {
	if errors.Is(err, client.ErrNotOffered) {
		return nil
	}
	return err
}

// places returns the names in an address with places to fill (RFC 6570).
func places(template string) (names []string) {
	for _, part := range strings.Split(template, "{")[1:] {
		inner, _, closed := strings.Cut(part, "}")
		if !closed {
			continue
		}
		for name := range strings.SplitSeq(strings.TrimLeft(inner, "+#./;?&"), ",") {
			name, _, _ = strings.Cut(strings.TrimRight(name, "*"), ":")
			if name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}

// Read implements plugin.Sharer.
func (b *backend) Read(ctx context.Context, uri string) ([]chat.Part, error) {
	blocks, err := b.session.Read(ctx, uri)
	if err != nil {
		return nil, err
	}
	parts := make([]chat.Part, 0, len(blocks))
	for _, block := range blocks {
		if block.Data != nil {
			parts = append(parts, media(block))
			continue
		}
		parts = append(parts, chat.TextPart(block.Text))
	}
	return parts, nil
}

// Prompts implements plugin.Sharer.
func (b *backend) Prompts(ctx context.Context) ([]plugin.Prompt, error) {
	all, err := b.session.Prompts(ctx)
	if err = offered(err); err != nil {
		return nil, err
	}
	prompts := make([]plugin.Prompt, 0, len(all))
	for _, p := range all {
		prompt := plugin.Prompt{Name: p.Name, Title: p.Title, Description: p.Description}
		for _, a := range p.Arguments {
			prompt.Arguments = append(prompt.Arguments, plugin.PromptArgument(a))
		}
		prompts = append(prompts, prompt)
	}
	return prompts, nil
}

// Fill implements plugin.Sharer.
func (b *backend) Fill(ctx context.Context, name string, values map[string]string) ([]plugin.PromptMessage, error) {
	filled, err := b.session.Prompt(ctx, name, values)
	if err != nil {
		return nil, err
	}
	messages := make([]plugin.PromptMessage, 0, len(filled.Messages))
	for _, m := range filled.Messages {
		role := chat.RoleUser
		if m.Role == "assistant" {
			role = chat.RoleAssistant
		}
		messages = append(messages, plugin.PromptMessage{Role: role, Parts: []chat.Part{part(m.Block)}})
	}
	return messages, nil
}

// Complete implements plugin.Sharer.
func (b *backend) Complete(ctx context.Context, c plugin.Completing) (values []string, more bool, err error) {
	of := client.Reference{Prompt: c.Prompt, Template: c.Template}
	found, err := b.session.Complete(ctx, of, c.Argument, c.Value, c.Filled)
	if err = offered(err); err != nil {
		return nil, false, err
	}
	return found.Values, found.More, nil
}

// readTool is the tool by which a model reads a resource that a result named (MC-37); the gate decides about it like
// about any other.
const readTool = "read_resource"

// resourceTool is readTool as it is offered of a server with resources, unless that has one of the name.
var resourceTool = client.Tool{
	Name: readTool, Title: "Read a resource",
	Description: "Reads a resource of this server by its address, such as one that a result of its tools names.",
	Schema: json.RawMessage(`{"type":"object","properties":{"uri":{"type":"string","description":"The address."}},` +
		`"required":["uri"]}`),
	Annotations: json.RawMessage(`{"readOnlyHint":true}`),
}

func isReadTool(t client.Tool) bool { return t.Name == readTool }

// addressOf returns the address in the arguments of readTool.
func addressOf(arguments json.RawMessage) string {
	var given struct {
		URI string `json:"uri"`
	}
	_ = json.Unmarshal(arguments, &given) // they were checked
	return given.URI
}

// read answers a call of readTool.
func (b *backend) read(ctx context.Context, uri string) (client.Result, error) {
	blocks, err := b.session.Read(ctx, uri)
	if errors.Is(err, client.ErrNotThere) {
		return client.Result{IsError: true, Blocks: []client.Block{{
			Type: client.TextBlock, Text: fmt.Sprintf("the server has no resource %s", uri),
		}}}, nil
	}
	if err == nil && len(blocks) == 0 {
		blocks = []client.Block{{Type: client.TextBlock, Text: "(the resource is empty)"}}
	}
	return client.Result{Blocks: blocks}, err
}

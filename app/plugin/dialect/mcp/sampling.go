package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/plugin/dialect/mcp/client"
	"conclave/app/tool"
	"conclave/app/tool/elicit"
)

const (
	// mostTokens is the most that a model may answer a server, whatever it asks for.
	mostTokens = 8192
	// unasked counts the requests of a chat that need no question, once the person allowed that.
	unasked = 20
	// again is the field by which they do, and look the one by which they see the answer first.
	again = "again"
	look  = "look"
)

// samples reports whether the server may ask models: the person granted it that before it began.
func (b *backend) samples() bool {
	return b.to.Serve != nil && slices.Contains(b.to.Granted, gate.Generation)
}

// roots returns the folders that the person granted the server, nil for none.
func (b *backend) roots() func() []client.Root {
	if len(b.to.Folders) == 0 {
		return nil
	}
	roots := make([]client.Root, len(b.to.Folders))
	for i, f := range b.to.Folders {
		address := url.URL{Scheme: "file", Path: filepath.ToSlash(f.Path)}
		roots[i] = client.Root{URI: address.String(), Name: filepath.Base(f.Path)}
	}
	return func() []client.Root { return roots }
}

// sample has a model answer the server, once the person saw what is asked.
func (b *backend) sample(ctx context.Context, q client.Question, call tool.Call) (client.Reply, error) {
	if q.Sampling == nil || !b.samples() {
		return client.Reply{}, errNoSampling
	}
	about := elicit.Question{
		Call: q.Call, Chat: call.Conversation, Tool: toolName(call), Number: q.Number, Of: q.Of,
	}
	looks := false
	if !b.spare(call.Conversation) {
		asked := about
		asked.Message = samplingWords(q.Sampling)
		asked.Fields = []elicit.Field{
			{Name: look, Type: elicit.Boolean, Title: "Show me the answer before the server gets it"},
			{
				Name: again, Type: elicit.Boolean,
				Title: fmt.Sprintf("Do not ask for the next %d of this chat", unasked),
			},
		}
		answer := b.to.Ask(ctx, asked)
		if answer.Action != elicit.Accept {
			return client.Reply{Action: string(answer.Action)}, nil
		}
		looks = answer.Values[look] == true
		if answer.Values[again] == true {
			b.mu.Lock()
			b.unasked[call.Conversation] = unasked
			b.mu.Unlock()
		}
	}
	request, err := json.Marshal(generateRequest(q.Sampling))
	if err != nil {
		return client.Reply{}, err
	}
	raw, err := b.to.Serve(ctx, "models.generate", request, q.Call)
	if err != nil {
		return client.Reply{}, err
	}
	generated, err := readGenerated(raw)
	if err == nil && looks {
		about.Message = generatedWords(generated)
		if answer := b.to.Ask(ctx, about); answer.Action != elicit.Accept {
			return client.Reply{Action: string(answer.Action)}, nil
		}
	}
	return client.Reply{Action: client.Accept, Generated: generated}, err
}

// generatedWords returns the answer of a model as a person reads it before the server gets it.
func generatedWords(g *client.Generated) string {
	var w strings.Builder
	fmt.Fprintf(&w, "%s wrote this. Shall the server get it?\n", cmp.Or(g.Model, "The model"))
	for _, block := range g.Blocks {
		text := block.Text
		if block.Type != client.TextBlock {
			text = string(block.Raw)
		}
		fmt.Fprintf(&w, "\n%s\n", text)
	}
	return w.String()
}

// spare takes one of the requests of a chat that need no question, and reports whether there was one.
func (b *backend) spare(conversation chat.ConversationID) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.unasked[conversation] == 0 {
		return false
	}
	b.unasked[conversation]--
	return true
}

// samplingWords returns a request to a model as a person reads it.
func samplingWords(s *client.SamplingRequest) string {
	var w strings.Builder
	fmt.Fprintf(&w, "It wants one of your models to write up to %d tokens. The model gets this:\n",
		min(cmp.Or(s.MaxTokens, mostTokens), mostTokens))
	if s.System != "" {
		fmt.Fprintf(&w, "\nsystem: %s\n", s.System)
	}
	for _, m := range s.Messages {
		for _, block := range m.Blocks {
			text := block.Text
			if block.Type != client.TextBlock {
				text = "[" + block.Type + "]"
			}
			fmt.Fprintf(&w, "\n%s: %s\n", m.Role, text)
		}
	}
	if n := len(s.Tools); n > 0 {
		fmt.Fprintf(&w, "\nIt offers the model %d of its tools.\n", n)
	}
	return w.String()
}

// generateRequest returns the arguments of the service models.generate for a request of a server. Hints
// name models as their vendors do; the person's usual one answers, so that nobody chooses for them.
func generateRequest(s *client.SamplingRequest) map[string]any {
	messages := []map[string]any{}
	if s.System != "" {
		messages = append(messages, map[string]any{"role": "system", "content": s.System})
	}
	for _, m := range s.Messages {
		messages = append(messages, generateMessages(m)...)
	}
	parameters := map[string]any{"max_tokens": min(cmp.Or(s.MaxTokens, mostTokens), mostTokens)}
	if s.Temperature != nil {
		parameters["temperature"] = *s.Temperature
	}
	tools := []map[string]any{}
	for _, raw := range s.Tools {
		var t struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"inputSchema"`
		}
		if json.Unmarshal(raw, &t) == nil && t.Name != "" {
			tools = append(tools, map[string]any{"name": t.Name, "description": t.Description, "parameters": t.Schema})
		}
	}
	return map[string]any{"messages": messages, "parameters": parameters, "tools": tools}
}

// generateMessages returns a message of a server in the service's words: results of tools stand alone.
func generateMessages(m client.SamplingMessage) []map[string]any {
	content, calls, results := []map[string]any{}, []map[string]any{}, []map[string]any{}
	for _, block := range m.Blocks {
		switch block.Type {
		case client.TextBlock:
			content = append(content, map[string]any{"type": "text", "text": block.Text})
		case "image", "audio":
			content = append(content, map[string]any{"type": block.Type, "data": block.Data, "mime_type": block.MIME})
		case "tool_use":
			var use struct {
				ID    string          `json:"id"`
				Name  string          `json:"name"`
				Input json.RawMessage `json:"input"`
			}
			if json.Unmarshal(block.Raw, &use) == nil {
				calls = append(calls, map[string]any{"id": use.ID, "name": use.Name, "args": use.Input})
			}
		case "tool_result":
			var result struct {
				ID      string `json:"toolUseId"`
				Content []struct {
					Text string `json:"text"`
				} `json:"content"`
			}
			if json.Unmarshal(block.Raw, &result) == nil {
				var texts []string
				for _, part := range result.Content {
					texts = append(texts, part.Text)
				}
				results = append(results, map[string]any{
					"role": "tool", "tool_call_id": result.ID, "content": strings.Join(texts, "\n"),
				})
			}
		}
	}
	if len(content)+len(calls) == 0 {
		return results
	}
	return append(results, map[string]any{"role": m.Role, "content": content, "tool_calls": calls})
}

// readGenerated reads the answer of models.generate.
func readGenerated(raw json.RawMessage) (*client.Generated, error) {
	var r struct {
		Content string `json:"content"`
		Finish  string `json:"finish_reason"`
		Model   string `json:"model"`
		Calls   []struct {
			ID        string          `json:"id"`
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"args"`
		} `json:"tool_calls"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, errors.New("the model's answer cannot be read")
	}
	g := &client.Generated{Model: r.Model, Reason: "endTurn"}
	switch r.Finish {
	case "length":
		g.Reason = "maxTokens"
	case "tool_calls":
		g.Reason = "toolUse"
	}
	if r.Content != "" || len(r.Calls) == 0 {
		g.Blocks = append(g.Blocks, client.Block{Type: client.TextBlock, Text: r.Content})
	}
	for _, c := range r.Calls {
		use, err := json.Marshal(map[string]any{"type": "tool_use", "id": c.ID, "name": c.Name, "input": c.Arguments})
		if err != nil {
			return nil, err
		}
		g.Blocks = append(g.Blocks, client.Block{Type: "tool_use", Raw: use})
	}
	return g, nil
}

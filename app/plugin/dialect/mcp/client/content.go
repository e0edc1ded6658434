package client

import (
	"encoding/json"
	"errors"
	"fmt"
)

// listOf returns the members of a JSON list; nil for what is no list.
func listOf(raw json.RawMessage) []json.RawMessage {
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	return all
}

// wireBlock is a block as servers write it, in all revisions.
type wireBlock struct {
	Type        string           `json:"type"`
	Text        string           `json:"text"`
	Data        []byte           `json:"data"`
	MIME        string           `json:"mimeType"`
	URI         string           `json:"uri"`
	Name        string           `json:"name"`
	Title       string           `json:"title"`
	Description string           `json:"description"`
	Size        float64          `json:"size"`
	Resource    *wireResource    `json:"resource"`
	Annotations *wireAnnotations `json:"annotations"`
}

type wireResource struct {
	URI  string  `json:"uri"`
	MIME string  `json:"mimeType"`
	Text *string `json:"text"`
	Blob []byte  `json:"blob"`
}

type wireAnnotations struct {
	Audience []string `json:"audience"`
	Priority *float64 `json:"priority"`
	Modified string   `json:"lastModified"`
}

// readBlock reads a block. What cannot be read keeps its Type and Raw alone.
func readBlock(raw json.RawMessage) Block {
	var w wireBlock
	if err := json.Unmarshal(raw, &w); err != nil {
		var typed struct {
			Type string `json:"type"`
		}
		_ = json.Unmarshal(raw, &typed)
		return Block{Type: "broken " + typed.Type, Raw: raw}
	}
	b := Block{
		Type: w.Type, Text: w.Text, Data: w.Data, MIME: w.MIME, URI: w.URI, Name: w.Name, Title: w.Title,
		Description: w.Description, Size: int64(w.Size), Raw: raw,
	}
	if r := w.Resource; r != nil && w.Type == ResourceBlock {
		b.URI, b.MIME, b.Data = r.URI, r.MIME, r.Blob
		if r.Text != nil {
			b.Text = *r.Text
		}
	}
	if a := w.Annotations; a != nil {
		b.Audience, b.Priority, b.Modified = a.Audience, a.Priority, a.Modified
	}
	return b
}

// maxBlocks bounds the blocks of a result or a message: each takes many times the bytes that it has on the wire.
const maxBlocks = 1000

// readBlocks reads a list of blocks, or one that stands alone. The last one says how many of too many are left out.
func readBlocks(raw json.RawMessage) []Block {
	blocks := []Block{}
	if len(raw) > 0 && raw[0] == '{' {
		return append(blocks, readBlock(raw))
	}
	all := listOf(raw)
	for _, one := range all[:min(len(all), maxBlocks)] {
		blocks = append(blocks, readBlock(one))
	}
	if left := len(all) - maxBlocks; left > 0 {
		blocks = append(blocks, Block{Type: TextBlock, Text: fmt.Sprintf("[%d more parts were left out.]", left)})
	}
	return blocks
}

// wire returns b as the protocol writes it.
func (b Block) wire() any {
	switch b.Type {
	case TextBlock:
		return map[string]any{"type": b.Type, "text": b.Text}
	case ImageBlock, AudioBlock:
		return map[string]any{"type": b.Type, "data": b.Data, "mimeType": b.MIME}
	default:
		return b.Raw
	}
}

// readSampling reads the parameters of sampling/createMessage.
func readSampling(params json.RawMessage) (*SamplingRequest, error) {
	var p struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		Preferences struct {
			Hints []struct {
				Name string `json:"name"`
			} `json:"hints"`
			Cost         float64 `json:"costPriority"`
			Speed        float64 `json:"speedPriority"`
			Intelligence float64 `json:"intelligencePriority"`
		} `json:"modelPreferences"`
		System      string            `json:"systemPrompt"`
		Temperature *float64          `json:"temperature"`
		MaxTokens   float64           `json:"maxTokens"`
		Stop        []string          `json:"stopSequences"`
		Metadata    json.RawMessage   `json:"metadata"`
		Tools       []json.RawMessage `json:"tools"`
		ToolChoice  json.RawMessage   `json:"toolChoice"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, errors.New("its parameters cannot be read")
	}
	if len(p.Messages) == 0 {
		return nil, errors.New("it has no messages")
	}
	r := &SamplingRequest{
		System: p.System, MaxTokens: int(p.MaxTokens), Temperature: p.Temperature, Stop: p.Stop,
		Cost: p.Preferences.Cost, Speed: p.Preferences.Speed, Intelligence: p.Preferences.Intelligence,
		Tools: p.Tools, ToolChoice: p.ToolChoice, Metadata: p.Metadata,
	}
	for _, h := range p.Preferences.Hints {
		r.Hints = append(r.Hints, h.Name)
	}
	for _, m := range p.Messages {
		if m.Role != "user" && m.Role != "assistant" {
			return nil, fmt.Errorf("it has a message of the unknown role %q", m.Role)
		}
		r.Messages = append(r.Messages, SamplingMessage{Role: m.Role, Blocks: readBlocks(m.Content)})
	}
	return r, nil
}

// wire returns g as a result of sampling/createMessage.
func (g *Generated) wire() map[string]any {
	var content any
	switch len(g.Blocks) {
	case 0:
		content = Block{Type: TextBlock}.wire()
	case 1: // a list is known since 2025-11-25 alone
		content = g.Blocks[0].wire()
	default:
		all := make([]any, 0, len(g.Blocks))
		for _, b := range g.Blocks {
			all = append(all, b.wire())
		}
		content = all
	}
	result := map[string]any{"role": "assistant", "model": g.Model, "content": content}
	if g.Reason != "" {
		result["stopReason"] = g.Reason
	}
	return result
}

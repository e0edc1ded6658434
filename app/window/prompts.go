package window

import (
	"context"
	"slices"
	"strings"

	"conclave/app/chat/prompt"
)

// PromptStore stores the prompts that the person saved. Errors are *fault.Error.
type PromptStore interface {
	Prompts(ctx context.Context) ([]prompt.Prompt, error)
	PutPrompts(ctx context.Context, prompts ...prompt.Prompt) error
	DeletePrompt(ctx context.Context, id string) (prompt.Prompt, error)
}

// Prompts is bound: the person's own prompts, texts with places to begin messages with.
type Prompts struct {
	*lifecycle
	core Core
	undo *undos
}

// OwnPrompt is a prompt that the person saved.
type OwnPrompt struct {
	ID     string         `json:"id"`
	Title  string         `json:"title"`
	Text   string         `json:"text"`
	Places []prompt.Place `json:"places"` // what is filled in, each name once
}

// List returns the prompts by their titles.
func (p *Prompts) List() ([]OwnPrompt, error) {
	all, err := p.core.Prompts.Prompts(p.call())
	out := []OwnPrompt{}
	for _, one := range all {
		out = append(out, OwnPrompt{one.ID, one.Title, one.Text, one.Places()})
	}
	slices.SortFunc(out, func(a, b OwnPrompt) int {
		return strings.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title))
	})
	return out, err
}

// Places returns what is filled in of a text that is being written.
func (p *Prompts) Places(text string) ([]prompt.Place, error) {
	return prompt.Prompt{Text: text}.Places(), nil
}

// Save saves a prompt; id "" is a new one. The kind is invalid for one without a title or a text.
func (p *Prompts) Save(id, title, text string) error {
	return p.core.Prompts.PutPrompts(p.call(), prompt.Prompt{ID: id, Title: strings.TrimSpace(title), Text: text})
}

// Delete removes a prompt.
func (p *Prompts) Delete(id string) (Undo, error) {
	gone, err := p.core.Prompts.DeletePrompt(p.call(), id)
	if err != nil {
		return Undo{}, err
	}
	return p.undo.add("Deleted the prompt “"+gone.Title+"”.", func(ctx context.Context) error {
		return p.core.Prompts.PutPrompts(ctx, gone)
	}), nil
}

// Fill returns a text with values in its places. The kind is invalid for a value that its place does not take.
func (p *Prompts) Fill(text string, values map[string]string) (string, error) {
	return prompt.Prompt{Text: text}.Fill(values)
}

// Export returns all prompts as a file.
func (p *Prompts) Export() (string, error) {
	all, err := p.core.Prompts.Prompts(p.call())
	if err != nil {
		return "", err
	}
	raw, err := prompt.Write(all)
	return string(raw) + "\n", err
}

// Import adds the prompts of a file that Export made, all or none, and returns how many there were.
func (p *Prompts) Import(text string) (int, error) {
	read, err := prompt.Read([]byte(text))
	if err != nil {
		return 0, err
	}
	return len(read), p.core.Prompts.PutPrompts(p.call(), read...)
}

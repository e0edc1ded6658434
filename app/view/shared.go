package view

import (
	"cmp"
	"strings"

	"conclave/app/chat"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// Sharer is a plugin that has resources or prompts for the person.
type Sharer struct {
	Plugin string `json:"plugin"` // id
	Name   string `json:"name"`
}

// Resources are those of one plugin.
type Resources struct {
	Resources []plugin.Resource         `json:"resources"`
	Templates []plugin.ResourceTemplate `json:"templates"`
}

// NewResources returns resources as a person sees them, without hidden characters.
func NewResources(resources []plugin.Resource, templates []plugin.ResourceTemplate) Resources {
	return Resources{
		Map(resources, func(r plugin.Resource) plugin.Resource {
			r.Title = shown(cmp.Or(r.Title, r.Name, r.URI))
			r.Name, r.Description = shown(r.Name), shown(r.Description)
			return r
		}),
		Map(templates, func(t plugin.ResourceTemplate) plugin.ResourceTemplate {
			t.Title = shown(cmp.Or(t.Title, t.Name, t.Template))
			t.Name, t.Description, t.Places = shown(t.Name), shown(t.Description), List(t.Places)
			return t
		}),
	}
}

// Prompt is a prompt of a plugin.
type Prompt struct {
	Plugin      string                  `json:"plugin"` // id
	PluginName  string                  `json:"plugin_name"`
	Name        string                  `json:"name"`
	Title       string                  `json:"title"`
	Description string                  `json:"description"`
	Arguments   []plugin.PromptArgument `json:"arguments"`
}

// NewPrompt returns a prompt as a person sees it.
func NewPrompt(id, name string, p plugin.Prompt) Prompt {
	return Prompt{
		id, name, p.Name, shown(cmp.Or(p.Title, p.Name)), shown(p.Description),
		Map(p.Arguments, func(a plugin.PromptArgument) plugin.PromptArgument {
			a.Title, a.Description = shown(cmp.Or(a.Title, a.Name)), shown(a.Description)
			return a
		}),
	}
}

// shown returns a foreign text without hidden characters.
func shown(text string) string {
	text, _ = tool.Clean(strings.ToValidUTF8(text, "\uFFFD"))
	return text
}

// PromptText returns the texts of a filled prompt as one message: where several roles speak, each behind
// its name.
func PromptText(messages []plugin.PromptMessage) string {
	roles := map[chat.Role]bool{}
	for _, m := range messages {
		roles[m.Role] = true
	}
	var texts []string
	for _, m := range messages {
		text := strings.TrimSpace(chat.TextOf(m.Parts))
		if text == "" {
			continue
		}
		if len(roles) > 1 {
			text = string(m.Role) + ": " + text
		}
		texts = append(texts, shown(text))
	}
	return strings.Join(texts, "\n\n")
}

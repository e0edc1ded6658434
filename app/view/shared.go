package view

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"conclave/app/base/shorten"
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

// Bounds of what a list has of a plugin's texts, in characters.
const (
	maxListedTitle = 200
	maxListedText  = 1000
	maxListedName  = 4000 // of an address, a name or a value, which go back to the plugin as they are; in bytes
)

// NewResources returns resources as a person sees them, without hidden characters and each address once: a plugin may
// list one twice. What has an address that cannot be shown is left out.
func NewResources(resources []plugin.Resource, templates []plugin.ResourceTemplate) Resources {
	return Resources{
		Map(distinct(resources, func(r plugin.Resource) string { return r.URI }), func(r plugin.Resource) plugin.Resource {
			r.Title, r.Name = listedTitle(r.Title, r.Name, r.URI), listedTitle(r.Name)
			r.Description, r.MIME = cmp.Or(listedText(r.Description), listedTitle(r.URI)), listedTitle(r.MIME)
			return r
		}),
		Map(distinct(templates, func(t plugin.ResourceTemplate) string { return t.Template }),
			func(t plugin.ResourceTemplate) plugin.ResourceTemplate {
				t.Title, t.Name = listedTitle(t.Title, t.Name, t.Template), listedTitle(t.Name)
				t.Description = cmp.Or(listedText(t.Description), listedTitle(t.Template))
				t.Places = List(Values(t.Places))
				return t
			}),
	}
}

// distinct returns the first of each key, without those whose key is none that a person can be shown.
func distinct[T any](all []T, key func(T) string) []T {
	seen := map[string]bool{}
	var kept []T
	for _, one := range all {
		name := key(one)
		if len(name) > maxListedName || seen[name] || !showable(name) {
			continue
		}
		seen[name] = true
		kept = append(kept, one)
	}
	return kept
}

// showable reports whether a person sees all of a text, on one line.
func showable(text string) bool {
	_, hidden := tool.Strip(text)
	return text != "" && hidden == 0 && utf8.ValidString(text) && !strings.Contains(text, "\n")
}

// Values returns what a field of a plugin's may be filled with: each value once, and none that a person would not see
// as it is.
func Values(values []string) []string {
	return distinct(values, func(value string) string { return value })
}

// listedTitle returns the first of texts that says something, on one line.
func listedTitle(texts ...string) string {
	for _, text := range texts {
		if line := tool.ShortLine(text, maxListedTitle); line != "" {
			return line
		}
	}
	return ""
}

// listedText returns a text of several lines.
func listedText(text string) string {
	return shorten.To(shown(shorten.Bytes(text, 8*maxListedText)), maxListedText)
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

// NewPrompts returns the prompts of the plugin id, as a person sees them: each name once, like its arguments.
func NewPrompts(id, name string, prompts []plugin.Prompt) []Prompt {
	named := distinct(prompts, func(p plugin.Prompt) string { return p.Name })
	return Map(named, func(p plugin.Prompt) Prompt {
		arguments := distinct(p.Arguments, func(a plugin.PromptArgument) string { return a.Name })
		return Prompt{
			id, name, p.Name, listedTitle(p.Title, p.Name), listedText(p.Description),
			Map(arguments, func(a plugin.PromptArgument) plugin.PromptArgument {
				a.Title, a.Description = listedTitle(a.Title, a.Name), listedText(a.Description)
				return a
			}),
		}
	})
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

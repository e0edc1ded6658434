package window

import (
	"cmp"
	"context"
	"mime"
	"path"
	"slices"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/plugin"
	"conclave/app/tool"
	"conclave/app/view"
)

// Shared is bound: the resources and prompts that plugins offer the person.
type Shared struct {
	*lifecycle
	core    Core
	chats   *Chats
	watches watches
}

// Sharers returns the plugins in service that may have resources and prompts, by name. It starts none.
func (s *Shared) Sharers() ([]view.Sharer, error) {
	all := []view.Sharer{}
	for _, p := range s.core.Host.List() {
		if p.Serving && s.core.Host.Dialects.Share(p.Manifest.Dialect) {
			all = append(all, view.Sharer{Plugin: p.ID, Name: cmp.Or(p.Manifest.Name, p.ID)})
		}
	}
	slices.SortFunc(all, func(a, b view.Sharer) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// maxSaid bounds what is shown of a plugin's own error, in characters.
const maxSaid = 500

// borrow calls f with the running plugin, which it starts first if need be.
func (s *Shared) borrow(id string, f func(ctx context.Context, from plugin.Sharer) error) error {
	ctx := s.call()
	backend, release, err := s.core.Host.Backends.Borrow(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	from, ok := backend.(plugin.Sharer)
	if !ok {
		return fault.New(fault.Unavailable, "app.shared", s.core.pluginName(id)+" has no resources or prompts.", "")
	}
	if err := f(ctx, from); err != nil {
		said := tool.ShortLine(err.Error(), maxSaid)
		message := s.core.pluginName(id) + ": " + strings.TrimSuffix(said, ".") + "."
		return fault.Wrap(fault.Unavailable, "app.shared", message, "Its log says more.", err)
	}
	return nil
}

// Resources returns what a plugin has to read.
func (s *Shared) Resources(id string) (view.Resources, error) {
	var out view.Resources
	err := s.borrow(id, func(ctx context.Context, from plugin.Sharer) error {
		resources, templates, err := from.Resources(ctx)
		out = view.NewResources(resources, templates)
		return err
	})
	return out, err
}

// Prompts returns the prompts of a plugin.
func (s *Shared) Prompts(id string) ([]view.Prompt, error) {
	out := []view.Prompt{}
	err := s.borrow(id, func(ctx context.Context, from plugin.Sharer) error {
		prompts, err := from.Prompts(ctx)
		out = view.NewPrompts(id, s.core.pluginName(id), prompts)
		return err
	})
	return out, err
}

// Completions holds values that a field could have.
type Completions struct {
	Values []string `json:"values"`
	More   bool     `json:"more"` // there are others
}

// Complete returns values that a place of a template, or an argument of a prompt, could have. One of
// prompt and template is empty.
func (s *Shared) Complete(id, prompt, template, argument, value string, filled map[string]string) (Completions, error) {
	out := Completions{Values: []string{}}
	err := s.borrow(id, func(ctx context.Context, from plugin.Sharer) error {
		values, more, err := from.Complete(ctx, plugin.Completing{
			Prompt: prompt, Template: template, Argument: argument, Value: value, Filled: filled,
		})
		out = Completions{view.List(view.Values(values)), more}
		return err
	})
	return out, err
}

// AttachResource reads a resource and keeps it as a file for the message that is being written. A
// resource may consist of several.
func (s *Shared) AttachResource(id, uri, title string) ([]Attached, error) {
	out := []Attached{}
	err := s.borrow(id, func(ctx context.Context, from plugin.Sharer) error {
		parts, err := from.Read(ctx, uri)
		if err != nil {
			return err
		}
		out, err = s.keep(ctx, id, cmp.Or(title, uri), parts)
		return err
	})
	if err == nil && len(out) == 0 {
		err = fault.New(fault.Invalid, "app.shared", "The resource "+title+" is empty.", "Choose another one.")
	}
	return out, err
}

// FilledPrompt is a prompt as the message that a person looks at and sends.
type FilledPrompt struct {
	Text        string     `json:"text"`
	Attachments []Attached `json:"attachments"`
}

// Fill returns a prompt with its values. Nothing is sent.
func (s *Shared) Fill(id, name string, values map[string]string) (FilledPrompt, error) {
	out := FilledPrompt{Attachments: []Attached{}}
	err := s.borrow(id, func(ctx context.Context, from plugin.Sharer) error {
		messages, err := from.Fill(ctx, name, values)
		if err != nil {
			return err
		}
		out.Text = view.PromptText(messages)
		var media []chat.Part
		for _, m := range messages {
			for _, p := range m.Parts {
				if p.Kind == chat.PartMedia {
					media = append(media, p)
				}
			}
		}
		out.Attachments, err = s.keep(ctx, id, name, media)
		return err
	})
	return out, err
}

// keep stores the pieces of a resource as attachments whose name says which plugin they are from.
func (s *Shared) keep(ctx context.Context, id, title string, parts []chat.Part) ([]Attached, error) {
	out := []Attached{}
	for _, p := range parts {
		data, name, kind := []byte(p.Text), "", "text/plain"
		if p.Media != nil {
			data, name, kind = p.Media.Data, p.Media.Name, p.Media.MIME
		}
		if len(data) == 0 {
			continue
		}
		m, err := turn.NewAttachment(s.core.pluginName(id)+": "+resourceName(cmp.Or(name, title), kind), data)
		if err != nil {
			return out, err
		}
		kept, err := s.chats.keepAttached(ctx, m)
		if err != nil {
			return out, err
		}
		out = append(out, kept)
	}
	return out, nil
}

// resourceName returns the name of a file with the content of a resource, with an ending for its type.
func resourceName(name, kind string) string {
	if _, rest, ok := strings.Cut(name, "://"); ok {
		name = cmp.Or(path.Base(rest), name)
	}
	name = strings.ReplaceAll(name, "/", "-")
	if path.Ext(name) != "" {
		return name
	}
	switch endings, err := mime.ExtensionsByType(kind); {
	case strings.HasPrefix(kind, "text/markdown"):
		return name + ".md"
	case strings.HasPrefix(kind, "text/plain"), err != nil, len(endings) == 0:
		return name + ".txt"
	default:
		return name + endings[0]
	}
}

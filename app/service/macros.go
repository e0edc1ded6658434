package service

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/model"
	"conclave/app/plugin"
)

// macrosLeftOut is the note about macros over limit.MacroValues.
const macrosLeftOut = "The values of macros are more than 3 MiB together, so the last of them were left out."

// Macros computes the values of the macros that plugins have, each once for one set of
// arguments. commit says that what a handler changes counts.
type Macros struct {
	p       *Prompt
	in      chat.ConversationID
	commit  bool
	hooks   map[string]plugin.Hook
	values  map[string]string
	used    map[string][]string // the names that were replaced, by the title of the plugin
	authors []chat.Author       // who wrote the values
	Failed  []string            // a sentence for each that had no value
	size    int64               // of all values put into texts
	builtIn func(name string, args []string) (string, bool)
}

// Macros returns the macros of the running plugins. asker is the plugin whose own text
// they are for, or empty.
func (p *Prompt) Macros(ctx context.Context, in chat.ConversationID, asker string, commit bool) *Macros {
	m := &Macros{
		p: p, in: in, commit: commit, hooks: map[string]plugin.Hook{}, values: map[string]string{},
		used: map[string][]string{},
	}
	for _, h := range p.Hooks.Kind(ctx, "macro", asker) {
		if _, taken := m.hooks[strings.ToLower(h.Name)]; !taken {
			m.hooks[strings.ToLower(h.Name)] = h
		}
	}
	return m
}

// fill gives macros their values in the system text and in what the person
// wrote: never in answers or results, which are text of strangers.
func (m *Macros) fill(ctx context.Context, r *model.Request) {
	if len(m.hooks) == 0 {
		return
	}
	r.System = m.Text(ctx, r.System)
	messages := make([]model.Message, len(r.Messages))
	for i, message := range r.Messages {
		if message.Role == chat.RoleUser {
			parts := make([]chat.Part, len(message.Parts))
			for j, part := range message.Parts {
				if part.Kind == chat.PartText {
					part.Text = m.Text(ctx, part.Text)
				}
				parts[j] = part
			}
			message.Parts = parts
		}
		messages[i] = message
	}
	r.Messages = messages
}

// maxMacros bounds how many macros of one text are computed.
const maxMacros = 200

// Text returns text with each {{name}} and {{name::argument}} of a known macro
// replaced by its value. Others stay: two braces mean something elsewhere too. Macros
// in a value are not replaced.
func (m *Macros) Text(ctx context.Context, text string) string {
	var out strings.Builder
	for n := 0; n < maxMacros; n++ {
		before, rest, found := strings.Cut(text, "{{")
		inner, after, closed := strings.Cut(rest, "}}")
		if !found || !closed {
			break
		}
		if i := strings.LastIndex(inner, "{{"); i >= 0 { // the innermost begins later
			before += "{{" + inner[:i]
			inner = inner[i+2:]
		}
		out.WriteString(before)
		if value, ok := m.value(ctx, inner); ok {
			out.WriteString(m.within(value))
		} else {
			out.WriteString("{{" + inner + "}}")
		}
		text = after
	}
	out.WriteString(text)
	return out.String()
}

// within returns a value, or nothing once the values together are too long: a macro
// can occur any number of times, and its plugin decides how long its value is.
func (m *Macros) within(value string) string {
	if m.size+int64(len(value)) <= limit.MacroValues {
		m.size += int64(len(value))
		return value
	}
	if !slices.Contains(m.Failed, macrosLeftOut) {
		m.Failed = append(m.Failed, macrosLeftOut)
	}
	return ""
}

// value computes one macro. ok is false for an unknown one.
func (m *Macros) value(ctx context.Context, inner string) (string, bool) {
	fields := strings.Split(inner, "::")
	name := strings.TrimSpace(fields[0])
	args := fields[1:]
	if m.builtIn != nil {
		if value, ok := m.builtIn(name, args); ok {
			return value, true
		}
	}
	h, known := m.hooks[strings.ToLower(name)]
	if !known {
		return "", false
	}
	key := strconv.Itoa(len(args)) + inner
	if value, ok := m.values[key]; ok {
		return value, true
	}
	value, err := m.ask(ctx, h, name, args)
	if err != nil {
		sentence := fmt.Sprintf("The macro {{%s}} of %s has no value: %v.", name, h.Title, err)
		m.Failed = append(m.Failed, sentence)
		m.p.Hooks.WriteLog(h.Plugin, "error", sentence)
		value = ""
	}
	m.values[key] = value
	m.authors = chat.AddAuthors(m.authors, chat.Author{Plugin: h.Plugin, Name: h.Title})
	m.authors = chat.AddAuthors(m.authors, m.p.Hooks.Authors(h)...)
	if !slices.Contains(m.used[h.Title], h.Name) {
		m.used[h.Title] = append(m.used[h.Title], h.Name)
	}
	return value, true
}

// maxNamed bounds how many macros a note names.
const maxNamed = 5

// notes are a sentence for each plugin whose macros put something into the text.
func (m *Macros) notes() []string {
	var notes []string
	for _, title := range slices.Sorted(maps.Keys(m.used)) {
		names := slices.Clone(m.used[title])
		for i, name := range names {
			names[i] = shown(name)
		}
		more := ""
		if n := len(names) - maxNamed; n > 0 {
			names, more = names[:maxNamed], fmt.Sprintf(" and %d more", n)
		}
		notes = append(notes,
			fmt.Sprintf("%s changed what the model is sent: {{%s}}%s.", title, strings.Join(names, "}}, {{"), more))
	}
	return notes
}

// beyond is the sentence of values that were left out, if any were.
func (m *Macros) beyond() []string {
	if slices.Contains(m.Failed, macrosLeftOut) {
		return []string{macrosLeftOut}
	}
	return nil
}

// ask gets the value of a plugin's macro: the one it pushed, or what its handler
// returns.
func (m *Macros) ask(ctx context.Context, h plugin.Hook, name string, args []string) (string, error) {
	var said struct {
		Value *string `json:"value"`
	}
	if json.Unmarshal(h.Data, &said) == nil && said.Value != nil {
		return *said.Value, nil
	}
	raw, err := m.p.Hooks.Run(ctx, h, m.in, map[string]any{
		"name": name, "args": args, "chatId": m.in, "commit": m.commit,
	})
	if err != nil {
		return "", err
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return "", fmt.Errorf("it returned no text")
	}
	return text, nil
}

// Resolve answers macros.resolve: it replaces the macros of a template, those of
// plugins and a few of Conclave's own, which only templates of plugins have. In a
// chat, two braces around user, date or time stay as the person wrote them.
//
//	{text, chat?, commit?} → {text, diagnostics:[{message}]}
func (s *Services) Resolve(p *Prompt) plugin.Service {
	type args struct {
		Text   string              `json:"text"`
		Chat   chat.ConversationID `json:"chat"`
		Commit bool                `json:"commit"`
	}
	return define("", func(ctx context.Context, by plugin.Caller, a args) (any, error) {
		if len(a.Text) > maxContent {
			return nil, invalid("The template is too long.")
		}
		in := a.Chat
		if s.o.Chats != nil {
			if c, err := s.chats.find(ctx, by, a.Chat); err == nil {
				in = c.ID
			} else if a.Chat != "" {
				return nil, err
			}
		}
		m := p.Macros(ctx, in, by.Plugin, a.Commit)
		m.builtIn = func(name string, given []string) (string, bool) {
			return s.variables.ownMacro(ctx, by, m, name, given)
		}
		diagnostics := []map[string]string{}
		text := m.Text(ctx, a.Text)
		gives(by, m.authors)
		for _, sentence := range m.Failed {
			diagnostics = append(diagnostics, map[string]string{"level": "error", "message": sentence})
		}
		return map[string]any{"text": text, "diagnostics": diagnostics}, nil
	})
}

// ownMacro returns the value of a macro of Conclave's own, among those of a plugin's template.
func (s *variableServices) ownMacro(ctx context.Context, by plugin.Caller, m *Macros, name string,
	args []string,
) (string, bool) {
	now := s.o.Now()
	kept := s.o.Values != nil && (scopeOf(name) == scopeGlobal || s.members.remembers(by))
	switch strings.ToLower(name) {
	case "user":
		return "User", true
	case "char":
		return "Assistant", true
	case "date":
		return now.Format("January 2, 2006"), true
	case "isodate":
		return now.Format(time.DateOnly), true
	case "time":
		return now.Format("3:04 PM"), true
	case "isotime":
		return now.Format("15:04"), true
	case "weekday":
		return now.Weekday().String(), true
	case "newline":
		return "\n", true
	case "getvar", "getglobalvar", "getchatvar":
		if len(args) == 0 || !kept {
			return "", true
		}
		v, _, err := s.o.Values.Variable(ctx, scopeOf(name), variableScope(name, m.in), strings.TrimSpace(args[0]))
		if err != nil {
			s.o.Log.Warn("a variable of a macro cannot be read", "err", err)
		}
		m.authors = chat.AddAuthors(m.authors, v.Authors...)
		return v.Value, true
	case "setvar", "setglobalvar", "setchatvar":
		key := ""
		if len(args) > 0 {
			key = strings.TrimSpace(args[0])
		}
		value := strings.Join(args[min(1, len(args)):], "::")
		place := variableScope(name, m.in)
		if m.commit && kept && (place != "" || scopeOf(name) == scopeGlobal) &&
			(variableArgs{Key: key}).check() == nil && len(value) <= maxVariable {
			set := chat.Variable{Value: value, Authors: authors(by)}
			if err := s.o.Values.PutVariable(ctx, scopeOf(name), place, key, set); err != nil {
				s.o.Log.Warn("a variable of a macro cannot be set", "err", err)
			}
		}
		return "", true
	}
	return "", false
}

func scopeOf(macro string) string {
	switch {
	case strings.Contains(macro, "global"):
		return scopeGlobal
	case strings.Contains(macro, "chat"):
		return scopeChat
	}
	return scopeLocal
}

func variableScope(macro string, in chat.ConversationID) chat.ConversationID {
	if scopeOf(macro) == scopeGlobal {
		return ""
	}
	return in
}

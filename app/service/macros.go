package service

import (
	"context"
	"strings"
	"time"

	"conclave/app/chat"
	"conclave/app/plugin"
)

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

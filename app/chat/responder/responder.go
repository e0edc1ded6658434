// Package responder chooses who answers a message: the model of its chat, and whether the council is
// asked before. It creates the chats that messages begin. The window and the terminal use it; it neither
// runs turns (package conversation) nor councils (package deliberation).
package responder

import (
	"context"
	"slices"

	"conclave/app/base/settings"
	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/model"
)

// Store creates chats and reads what was answered in them. Errors are *fault.Error.
type Store interface {
	CreateConversation(ctx context.Context, c *chat.Conversation) error
	Outline(ctx context.Context, id chat.ConversationID) (chat.Outline, error)
	Messages(ctx context.Context, id chat.ConversationID, seqs []chat.MessageSeq) ([]chat.Message, error)
}

// Chooser chooses who answers. It has no state and is safe for concurrent use.
type Chooser struct {
	Store    Store
	Models   deliberation.Models
	Councils *deliberation.Runner
	Settings council.Settings
}

// Message is the part of a message that decides who answers it.
type Message struct {
	Text  string
	Model string // “connection/model”; "" is the chat's, or the default of a new chat
	// Asking, System and Project are those of a chat that the message begins: the settings of its model, its system
	// text, and its folder ("" is none).
	Asking          chat.Asking
	System, Project string
	Skip            bool   // answer without the council
	Only            string // id of the one member of the council that is asked; "" is all, or whom the text addresses
}

// Begin creates the chat that a message begins, with the council that was set for the next chat. It
// refuses a message that nobody can answer before there is a chat for it.
func (c Chooser) Begin(ctx context.Context, m Message) (chat.ConversationID, error) {
	set, scope, err := c.Next(ctx)
	if err != nil {
		return "", err
	}
	if _, err := how(set, m); err != nil {
		return "", err
	}
	if m.Model == "" {
		if m.Model, err = c.Models.Default(ctx); err != nil {
			return "", err
		}
	}
	opened, err := c.Models.Open(ctx, m.Model)
	if err != nil {
		return "", err
	}
	made := chat.Conversation{Asking: m.Asking, System: m.System}
	if err := made.Asking.Check(); err != nil {
		return "", err
	}
	if m.Project != "" {
		if made.Project, err = chat.OpenProject(m.Project); err != nil {
			return "", err
		}
	}
	if err := c.Create(ctx, &made, opened.Info()); err != nil || scope != council.NextChat {
		return made.ID, err
	}
	if err := c.Settings.PutCouncil(ctx, council.OfChat(made.ID), &set); err != nil {
		return "", err
	}
	return made.ID, c.Settings.PutCouncil(ctx, council.NextChat, nil)
}

// Create creates a chat that a model answers.
func (c Chooser) Create(ctx context.Context, v *chat.Conversation, by model.Info) error {
	AnsweredBy(v, by)
	return c.Store.CreateConversation(ctx, v)
}

// AnsweredBy notes in a new chat that a model answers it.
func AnsweredBy(v *chat.Conversation, by model.Info) {
	v.Model, v.Demo = by.Name(), by.Name() == settings.DemoModel
}

// Next returns the council of the next chat, and its scope.
func (c Chooser) Next(ctx context.Context) (council.Council, council.Scope, error) {
	if set, there, err := c.Settings.Council(ctx, council.NextChat); there || err != nil {
		return set, council.NextChat, err
	}
	return c.Councils.Council(ctx, "", "")
}

// How returns how the council answers a message in a chat: not at all, as it is set, or one of its
// members. Kind invalid when the message addresses nobody of the council.
func (c Chooser) How(ctx context.Context, in chat.ConversationID, m Message) (deliberation.How, error) {
	if m.Skip || m.Only != "" {
		return how(council.Council{}, m)
	}
	set, _, err := c.Councils.Council(ctx, in, "")
	if err != nil {
		return deliberation.How{}, err
	}
	return how(set, m)
}

func how(set council.Council, m Message) (how deliberation.How, err error) {
	how = deliberation.How{Skip: m.Skip, Only: m.Only}
	if !m.Skip && m.Only == "" && set.Enabled && len(set.Members) > 0 {
		how.Only, err = set.Addressed(m.Text)
	}
	return how, err
}

// KeepSample stores the council of the sample with its chat, switched off: later messages there are
// answered without it.
func (c Chooser) KeepSample(ctx context.Context, in chat.ConversationID, set council.Council) error {
	set.Enabled = false
	return c.Settings.PutCouncil(ctx, council.OfChat(in), &set)
}

// ModelOf returns the model that answers next in a chat: its own, or the one that answered last, or the
// default.
func (c Chooser) ModelOf(ctx context.Context, v chat.Conversation) string {
	if v.Model != "" {
		return v.Model
	}
	if outline, err := c.Store.Outline(ctx, v.ID); err == nil {
		for _, seq := range slices.Backward(outline.Path) {
			if n, _ := outline.Item(seq); n.Role != chat.RoleAssistant {
				continue
			}
			if answer, err := c.Store.Messages(ctx, v.ID, []chat.MessageSeq{seq}); err == nil && answer[0].Model != "" {
				return answer[0].Model
			}
			break
		}
	}
	name, _ := c.Models.Default(ctx) // without it, opening the model says why
	return name
}

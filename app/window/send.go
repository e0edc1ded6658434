package window

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/base/settings"
	"conclave/app/chat"
	"conclave/app/chat/transcript"
	"conclave/app/chat/turn"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/gate"
)

// Send saves a message and starts a turn; conversation "" makes one. It returns
// at once.
func (c *Chats) Send(conversation string, message Outgoing) (Sent, error) {
	ctx := c.call()
	if strings.TrimSpace(message.Text) == "" && len(message.Attachments) == 0 {
		return Sent{}, fault.New(fault.Invalid, "app.send", "There is nothing to send.", "Write a message first.")
	}
	attachments, err := c.attachments(ctx, message.Attachments)
	if err != nil {
		return Sent{}, err
	}
	if conversation == "" {
		if err := c.misnamed(ctx, message); err != nil {
			return Sent{}, err // before there is a chat without an answer
		}
		name := message.Model
		if name == "" {
			if name, err = c.core.Models.Default(ctx); err != nil {
				return Sent{}, err
			}
		}
		if _, err := c.core.Models.Open(ctx, name); err != nil {
			return Sent{}, err // before there is a chat without an answer
		}
		made := chat.Conversation{Model: name, Demo: name == settings.DemoModel}
		if err := c.core.Store.CreateConversation(ctx, &made); err != nil {
			return Sent{}, err
		}
		conversation = string(made.ID)
		if err := c.beginsWith(ctx, made.ID); err != nil {
			return Sent{}, err
		}
	}
	c.core.Store.SaveDraft(id(conversation), "")
	asked := turn.Request{Text: message.Text, Attachments: attachments}
	how, err := c.asked(ctx, id(conversation), message)
	if err != nil {
		return Sent{}, err
	}
	return c.begin(ctx, id(conversation), asked, message.Model, message.NoTools, how)
}

// misnamed refuses a message that begins a chat, and names nobody of its council.
func (c *Chats) misnamed(ctx context.Context, message Outgoing) error {
	if message.CouncilSkip || message.CouncilOnly != "" {
		return nil
	}
	set, there, err := c.core.CouncilSettings.Council(ctx, council.NextChat)
	if err == nil && !there {
		set, _, err = c.core.Councils.Council(ctx, "", "")
	}
	if err != nil || !set.Enabled || len(set.Members) == 0 {
		return err
	}
	return set.Misnamed(message.Text)
}

// asked says how the council is asked by a message: not at all, as it is set, or one of
// its members by name.
func (c *Chats) asked(
	ctx context.Context, conversation chat.ConversationID, message Outgoing,
) (deliberation.How, error) {
	how := deliberation.How{Skip: message.CouncilSkip, Only: message.CouncilOnly}
	if how.Skip || how.Only != "" {
		return how, nil
	}
	set, _, err := c.core.Councils.Council(ctx, conversation, "")
	if err == nil && set.Enabled && len(set.Members) > 0 {
		how.Only, err = set.Named(message.Text), set.Misnamed(message.Text)
	}
	return how, err
}

// sample begins a new chat in which a council is asked a question, once. Demo guide answers.
func (c *Chats) sample(ctx context.Context, set council.Council, question string) (Sent, error) {
	made := chat.Conversation{Model: settings.DemoModel, Demo: true}
	if err := c.core.Store.CreateConversation(ctx, &made); err != nil {
		return Sent{}, err
	}
	kept := set.SwitchedOff()
	if err := c.core.CouncilSettings.PutCouncil(ctx, council.OfChat(made.ID), &kept); err != nil {
		return Sent{}, err
	}
	asker := gate.SampleAsker{Tools: set.ToolIDs()}
	return c.begin(ctx, made.ID, turn.Request{Text: question, Asker: asker}, settings.DemoModel, false,
		deliberation.How{Council: &set})
}

// begin starts a turn in a conversation that has none running.
func (c *Chats) begin(
	ctx context.Context, conversation chat.ConversationID, r turn.Request, model string, noTools bool,
	how deliberation.How,
) (Sent, error) {
	current, err := c.core.Store.Conversation(ctx, conversation)
	if err != nil {
		return Sent{}, err
	}
	if model == "" {
		model = c.modelOf(ctx, current)
	}
	opened, err := c.core.Models.Open(ctx, model)
	if err != nil {
		return Sent{}, err
	}
	if current.Model == "" { // a chat keeps the model that answers it
		choose := func(v *chat.Conversation) { v.Model = opened.Info().Name() }
		if err := c.core.Store.UpdateConversation(ctx, conversation, choose); err != nil {
			return Sent{}, err
		}
	}
	set, err := c.core.Settings.Settings(ctx)
	if err != nil {
		return Sent{}, err
	}
	r.ID, r.Conversation, r.Model, r.ChainLimit = uuid.Must(uuid.NewV7()).String(), conversation, opened, set.ChainLimit
	if !noTools {
		r.Tools = c.core.Tools.Set().ForModel()
	}
	run, err := c.running()
	if err != nil {
		return Sent{}, err
	}
	begun := make(chan chat.MessageSeq, 1)
	failed := make(chan error, 1)
	shown := shownTurn{c: c, r: r, model: opened.Info().Title, begun: begun}
	how.Asks, how.OnEvent = true, shown.deliberates
	c.turns.Go(func() { // ends with the turn; Shutdown cancels it
		out, err := c.core.Councils.Run(run, r, how, func(e chat.Event) { shown.onEvent(run, e) })
		if err != nil {
			failed <- err
		} else if set.ModelTitles && current.Head == 0 && out.Reason == chat.EndDone && out.Message != nil &&
			opened.Info().Connection != "demo" {
			c.name(turn.NameRequest{
				Conversation: conversation, Model: opened, Question: r.Text, Answer: chat.TextOf(out.Message.Parts),
			})
		}
	})
	select {
	case seq := <-begun:
		return Sent{Conversation: string(conversation), Turn: r.ID, Seq: uint64(seq)}, nil
	case err := <-failed:
		return Sent{}, err
	case <-ctx.Done():
		return Sent{}, context.Cause(ctx)
	}
}

// name has a chat named by its model after its first answer, while the person reads
// that. The title of its first words stays where that comes to nothing.
func (c *Chats) name(n turn.NameRequest) {
	c.mu.Lock()
	ctx, run := c.naming, c.run
	c.mu.Unlock()
	if run.Err() != nil {
		return
	}
	c.turns.Go(func() { // ends with the request, which has a deadline, or with Shutdown
		err := c.core.Turns.NameChat(ctx, n)
		if err != nil {
			c.log.Debug("A model made no title.", "conversation", n.Conversation, "model", n.Model.Info().Name(), "err", err)
		}
		if err := c.transcript(n.Conversation).Refresh(ctx); err != nil {
			return // the chat is gone
		}
		c.core.Bus.Changed(bus.Chats, "")
	})
}

// deliberated has the page see, once a run is over, what came of it in the line under its
// answer.
func (c *Chats) deliberated(e deliberation.Event) {
	if e.Step == nil || e.Run.State != council.Over {
		return
	}
	ctx := c.call()
	o, err := c.core.Store.Outline(ctx, e.Run.Conversation)
	if err != nil {
		return // the chat is gone
	}
	for _, f := range transcript.Fold(o) {
		if item, _ := o.Item(f.Seq); item.Turn == e.Run.Turn && f.Role == chat.RoleAssistant {
			if err := c.transcript(e.Run.Conversation).Refresh(ctx, f.Seq); err != nil {
				c.log.Debug("the line of a council is not shown", "conversation", e.Run.Conversation, "err", err)
			}
		}
	}
}

// finished marks a chat unread whose answer ended when it was not looked at.
func (c *Chats) finished(conversation chat.ConversationID) {
	c.mu.Lock()
	if c.seen != conversation {
		c.unread[conversation] = true
	}
	c.mu.Unlock()
	c.core.Bus.Changed(bus.Chats, "")
	c.core.Bus.Changed(bus.Tools, "") // "last used"
}

// stopTime bounds how long Stop waits for what was said to be saved.
const stopTime = 5 * time.Second

// Stop stops what runs in the chat and keeps what was said. No turn is no error.
func (c *Chats) Stop(conversation string) error {
	ctx, cancel := context.WithTimeout(c.call(), stopTime) // then it goes on stopping; the window sees when it has
	defer cancel()
	c.core.Conversations.Stop(ctx, id(conversation), errStopped)
	return nil
}

// Regenerate answers the question of the answer seq again, as another version of it;
// model "" is the chat's.
func (c *Chats) Regenerate(conversation string, seq uint64, model string) (Sent, error) {
	ctx := c.call()
	entry, err := c.entryOf(ctx, id(conversation), chat.MessageSeq(seq))
	if err != nil {
		return Sent{}, err
	}
	parent := entry.Parent
	if entry.Role == chat.RoleUser { // an unanswered question is answered
		parent = entry.Seq
	}
	if parent == 0 { // an import may begin with what a model says
		return Sent{}, fault.New(fault.Invalid, "app.regenerate", "There is no question that this answers.",
			"Write one below it.")
	}
	question, err := c.core.Store.Messages(ctx, id(conversation), []chat.MessageSeq{parent})
	if err != nil {
		return Sent{}, err
	}
	how, err := c.asked(ctx, id(conversation), Outgoing{Text: chat.TextOf(question[0].Parts)})
	if err != nil {
		return Sent{}, err
	}
	how.Chosen = model != ""
	return c.begin(ctx, id(conversation), turn.Request{Parent: &parent}, model, false, how)
}

// ask makes a sibling of a question, with its attachments and another text, and has it
// answered.
func (c *Chats) ask(
	ctx context.Context, conversation chat.ConversationID, seq chat.MessageSeq, text string,
) (Sent, error) {
	if _, err := c.entryOf(ctx, conversation, seq); err != nil {
		return Sent{}, err
	}
	messages, err := c.core.Store.Messages(ctx, conversation, []chat.MessageSeq{seq})
	if err != nil {
		return Sent{}, err
	}
	m := messages[0]
	if m.Role != chat.RoleUser {
		return Sent{}, fault.New(fault.Invalid, "app.edit", "Only your own messages can be answered again.", "")
	}
	media := slices.DeleteFunc(m.Parts, func(p chat.Part) bool { return p.Kind != chat.PartMedia })
	how, err := c.asked(ctx, conversation, Outgoing{Text: text})
	if err != nil {
		return Sent{}, err
	}
	return c.begin(ctx, conversation, turn.Request{Parent: &m.Parent, Text: text, Attachments: media}, "", false, how)
}

// modelOf returns the model that answers next in a conversation: its own, or the
// one that answered it last, or the default where none has.
func (c *Chats) modelOf(ctx context.Context, v chat.Conversation) string {
	if v.Model != "" {
		return v.Model
	}
	if outline, err := c.core.Store.Outline(ctx, v.ID); err == nil {
		if last := lastAnswer(outline); last != 0 {
			if all, err := c.core.Store.Messages(ctx, v.ID, []chat.MessageSeq{last}); err == nil && len(all) == 1 &&
				all[0].Model != "" {
				return all[0].Model
			}
		}
	}
	name, _ := c.core.Models.Default(ctx) // without it, opening the model says why
	return name
}

// lastAnswer returns the last answer of the visible path; 0 when there is none.
func lastAnswer(o chat.Outline) chat.MessageSeq {
	for _, seq := range slices.Backward(o.Path) {
		if n, _ := o.Item(seq); n.Role == chat.RoleAssistant {
			return seq
		}
	}
	return 0
}

package window

import (
	"context"
	"errors"
	"sync"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/council/deliberation"
)

// Context is bound: how the next request of a chat fills the context of its model.
type Context struct {
	*lifecycle
	core  Core
	chats *Chats
	undo  *undos

	mu    sync.Mutex // guards the fields below
	last  measured
	stops map[string]context.CancelCauseFunc // of the newest summary that a chat was to get
}

func newContext(l *lifecycle, core Core, chats *Chats, undo *undos) *Context {
	return &Context{
		lifecycle: l, core: core, chats: chats, undo: undo, stops: map[string]context.CancelCauseFunc{},
	}
}

// Fill has the parts of the next request to a model. Numbers of tokens are estimates.
type Fill struct {
	Window  int64 `json:"window"` // how many tokens the model reads; 0 = not known
	Answer  int64 `json:"answer"` // left free for the answer
	System  int64 `json:"system"`
	Tools   int64 `json:"tools"`
	Council int64 `json:"council"` // left free for the notes of the council
	Summary int64 `json:"summary"`
	Turns   int64 `json:"turns"`
	Draft   int64 `json:"draft"` // the message that is being written, with its files
	Used    int64 `json:"used"`  // all of it but the answer
	// The first message that is sent as it is, 0 = the first of the chat; those before it are in the summary or
	// left out.
	From uint64 `json:"from"`
	// How many questions and answers are left out: they are neither sent nor in the summary.
	Left   int      `json:"left"`
	Summed *Summary `json:"summed"` // stands for the beginning of the chat; null = none
}

// Summary is a model's summary of the beginning of a chat.
type Summary struct {
	Text     string `json:"text"`
	Messages int    `json:"messages"` // questions and answers that it stands for
	Upto     uint64 `json:"upto"`     // the last message of these
	Model    string `json:"model"`    // display name of the model that wrote it
	Created  string `json:"created"`
}

// Fill measures what the next request of a chat would hold with the message that is being written; conversation "" is
// a chat that is not begun.
func (c *Context) Fill(conversation string, message Outgoing) (Fill, error) {
	ctx := c.call()
	req, err := c.asked(ctx, conversation, message)
	if err != nil {
		return Fill{}, err
	}
	files, err := c.chats.attachments(ctx, message.Attachments)
	if err != nil {
		return Fill{}, err
	}
	ahead, err := c.ahead(ctx, req)
	if err != nil {
		return Fill{}, err
	}
	f := ahead.Fill(ctx, message.Text, files)
	out := Fill{
		Window: f.Window, Answer: f.Answer, System: f.System, Tools: f.Tools, Council: f.Council, Summary: f.Summary,
		Turns: f.Turns, Draft: f.Draft, Used: f.Used(), From: uint64(f.From), Left: f.Left,
	}
	if s := f.Summed; s != nil {
		out.Summed = &Summary{
			Text: s.Text, Messages: s.Messages, Upto: uint64(s.Upto), Model: c.core.Models.Info(ctx, s.Model).Title,
			Created: chat.Stamp(s.Created),
		}
	}
	return out, nil
}

// asked returns what the turn of a message would ask for.
func (c *Context) asked(ctx context.Context, conversation string, message Outgoing) (turn.FillRequest, error) {
	req := turn.FillRequest{Conversation: id(conversation)}
	if conversation == "" {
		req.Begins = chat.Conversation{System: message.System, Asking: message.Asking}
	}
	if message.Model == "" && conversation != "" {
		current, err := c.core.Store.Conversation(ctx, req.Conversation)
		if err != nil {
			return req, err
		}
		message.Model = c.core.Responder.ModelOf(ctx, current)
	}
	var err error
	if req.Model, err = c.core.Models.Open(ctx, message.Model); err != nil {
		return req, err
	}
	if !message.NoTools {
		req.Tools = c.core.Tools.Set().ForModel()
	}
	if !message.CouncilSkip {
		set, _, err := c.core.Councils.Council(ctx, req.Conversation, "")
		if err != nil {
			return req, err
		}
		req.Reserve = deliberation.NotesTokens(set)
	}
	return req, nil
}

// measured is a chat that was measured: the page asks again at each pause of somebody who writes.
type measured struct {
	chat              chat.ConversationID
	revision          uint64 // of the chat
	model             string
	tools             uint64 // generation; 0 is none
	reserve, contexts int64
	system            string // these two of a chat that is not begun
	longest           int64
	ahead             *turn.Ahead
}

// ahead measures a chat, unless that was done and nothing has changed since.
func (c *Context) ahead(ctx context.Context, req turn.FillRequest) (*turn.Ahead, error) {
	info := req.Model.Info()
	now := measured{
		chat: req.Conversation, model: info.Name(), reserve: req.Reserve, contexts: info.Context,
		system: req.Begins.System, longest: req.Begins.Asking.MaxTokens,
	}
	if req.Conversation != "" {
		current, err := c.core.Store.Conversation(ctx, req.Conversation)
		if err != nil {
			return nil, err
		}
		now.revision = current.Revision
	}
	if req.Tools != nil {
		now.tools = req.Tools.Generation()
	}
	c.mu.Lock()
	last := c.last
	c.mu.Unlock()
	now.ahead = last.ahead
	if now == last && last.ahead != nil {
		return last.ahead, nil
	}
	var err error
	if now.ahead, err = c.core.Turns.Ahead(ctx, req); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = now
	return now.ahead, nil
}

// Summarize has the chat's model sum up what the next request would leave out. It takes as long as the model writes.
// The summary is sent in place of the messages, which stay.
func (c *Context) Summarize(conversation string, message Outgoing) error {
	ctx, stop := context.WithCancelCause(c.call())
	c.mu.Lock()
	c.stops[conversation] = stop
	c.mu.Unlock()
	defer func() {
		stop(nil)
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.stops, conversation)
	}()
	req, err := c.asked(ctx, conversation, message)
	if err != nil {
		return err
	}
	if _, err = c.core.Turns.Summarize(ctx, req); errors.Is(context.Cause(ctx), errStopped) {
		return nil
	}
	return c.changed(ctx, conversation, err)
}

// Stop stops summing up a chat. Where nobody does that is no error.
func (c *Context) Stop(conversation string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if stop := c.stops[conversation]; stop != nil {
		stop(errStopped)
	}
	return nil
}

// Forget removes the summary that stands for messages up to one: these are sent again as far as they fit.
func (c *Context) Forget(conversation string, upto uint64) (Undo, error) {
	ctx := c.call()
	var gone []chat.Summary
	err := c.core.Store.UpdateConversation(ctx, id(conversation), func(v *chat.Conversation) {
		all := v.Summaries
		v.Summaries, gone = nil, nil
		for _, s := range all {
			if uint64(s.Upto) == upto {
				gone = append(gone, s)
				continue
			}
			v.Summaries = append(v.Summaries, s)
		}
	})
	if err == nil && len(gone) == 0 {
		err = fault.New(fault.NotFound, "app.context", "That summary is no longer there.", "")
	}
	if err = c.changed(ctx, conversation, err); err != nil {
		return Undo{}, err
	}
	return c.undo.add("Removed the summary.", func(ctx context.Context) error {
		return c.changed(ctx, conversation, c.core.Store.UpdateConversation(ctx, id(conversation),
			func(v *chat.Conversation) {
				for _, s := range gone {
					v.AddSummary(s)
				}
			}))
	}), nil
}

// changed tells the page that a chat has changed, unless err says why it has not.
func (c *Context) changed(ctx context.Context, conversation string, err error) error {
	if err != nil {
		return err
	}
	c.core.Bus.Changed(bus.Chats, "")
	return c.chats.open.transcript(id(conversation)).Refresh(ctx)
}

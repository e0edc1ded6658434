package window

import (
	"context"
	"log/slog"
	"sync"

	"github.com/google/uuid"

	"conclave/app/base/bus"
	"conclave/app/base/settings"
	"conclave/app/chat"
	"conclave/app/chat/transcript"
	"conclave/app/chat/turn"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/gate"
)

// turns runs the turns that the window begins. It is safe for concurrent use.
type turns struct {
	*lifecycle
	core Core
	log  *slog.Logger
	open *openChats

	mu     sync.Mutex      // guards the fields below
	run    context.Context //nolint:containedctx // a turn outlives the call that began it; nil before start
	cancel context.CancelCauseFunc
	naming context.Context //nolint:containedctx // of titles that models make: it ends with the window
	all    sync.WaitGroup
}

// start lets turns begin: they run until they end, or stop is called.
func (c *turns) start(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.run, c.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	c.naming = ctx
}

// stop stops all turns that the window began, and waits for them.
func (c *turns) stop() {
	c.mu.Lock()
	if c.cancel != nil {
		c.cancel(errClosing)
	}
	c.mu.Unlock()
	c.all.Wait()
}

// running returns the context of turns; the error says that none can begin.
func (c *turns) running() (context.Context, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run == nil || c.run.Err() != nil {
		return nil, errClosing
	}
	return c.run, nil
}

// sample begins a new chat in which a council is asked a question, once. Demo guide answers.
func (c *turns) sample(ctx context.Context, set council.Council, question string) (Sent, error) {
	demo, err := c.core.Models.Open(ctx, settings.DemoModel)
	if err != nil {
		return Sent{}, err
	}
	var made chat.Conversation
	if err := c.core.Responder.Create(ctx, &made, demo.Info()); err != nil {
		return Sent{}, err
	}
	if err := c.core.Responder.KeepSample(ctx, made.ID, set); err != nil {
		return Sent{}, err
	}
	asker := gate.SampleAsker{Tools: set.ToolIDs()}
	return c.begin(ctx, made.ID, turn.Request{Text: question, Asker: asker}, settings.DemoModel, false,
		deliberation.How{Council: &set})
}

// begin starts a turn in a conversation that has none running.
func (c *turns) begin(
	ctx context.Context, conversation chat.ConversationID, r turn.Request, model string, noTools bool,
	how deliberation.How,
) (Sent, error) {
	current, err := c.core.Store.Conversation(ctx, conversation)
	if err != nil {
		return Sent{}, err
	}
	if model == "" {
		model = c.core.Responder.ModelOf(ctx, current)
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
	if r.ID == "" {
		r.ID = uuid.Must(uuid.NewV7()).String()
	}
	r.Conversation, r.Model, r.ChainLimit = conversation, opened, set.ChainLimit
	if !noTools {
		r.Tools, r.Newest = c.core.Tools.Set().ForModel(), c.core.Tools.Newest
	}
	run, err := c.running()
	if err != nil {
		return Sent{}, err
	}
	begun := make(chan chat.MessageSeq, 1)
	failed := make(chan error, 1)
	shown := shownTurn{turns: c, r: r, model: opened.Info().Title, begun: begun}
	how.Asks, how.OnEvent = true, shown.deliberates
	c.all.Go(func() { // ends with the turn; Shutdown cancels it
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
func (c *turns) name(n turn.NameRequest) {
	c.mu.Lock()
	ctx, run := c.naming, c.run
	c.mu.Unlock()
	if run.Err() != nil {
		return
	}
	c.all.Go(func() { // ends with the request, which has a deadline, or with Shutdown
		err := c.core.Turns.NameChat(ctx, n)
		if err != nil {
			c.log.Debug("A model made no title.", "conversation", n.Conversation, "model", n.Model.Info().Name(), "err", err)
		}
		if err := c.open.transcript(n.Conversation).Refresh(ctx); err != nil {
			return // the chat is gone
		}
		c.core.Bus.Changed(bus.Chats, "")
	})
}

// deliberated draws the line under the answer again once its council run is over.
func (c *turns) deliberated(e deliberation.Event) {
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
			if err := c.open.transcript(e.Run.Conversation).Refresh(ctx, f.Seq); err != nil {
				c.log.Debug("the line of a council is not shown", "conversation", e.Run.Conversation, "err", err)
			}
		}
	}
}

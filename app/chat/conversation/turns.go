package conversation

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/gate"
	"conclave/app/tool/call"
)

// answer is a turn that runs in a chat.
type answer struct {
	cancel context.CancelCauseFunc
	over   chan struct{}          // closed when the turn is over, and what waited for it
	turn   atomic.Pointer[string] // its id; nil until it has started

	mu sync.Mutex       // serialises on
	on func(chat.Event) // nil once the turn is over
}

// emit passes on what happens in the turn, until it is over.
func (a *answer) emit(e chat.Event) {
	if e.Kind == chat.EventStarted {
		a.turn.Store(&e.Turn)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.on != nil {
		a.on(e)
	}
}

// stop ends the turn, and sends EventStopping.
func (a *answer) stop(cause error) {
	a.cancel(cause)
	a.emit(chat.Event{Kind: chat.EventStopping})
}

// end sends EventOver last, when the chat is free for the next turn.
func (a *answer) end() {
	if a.turn.Load() != nil {
		a.emit(chat.Event{Kind: chat.EventOver})
	}
	a.mu.Lock()
	a.on = nil
	a.mu.Unlock()
	a.cancel(nil)
	close(a.over)
}

// wrote reports whether the turn wrote a message: it is of its answer.
func (a *answer) wrote(m chat.Message) bool {
	id := a.turn.Load()
	return id != nil && m.Turn == *id && m.Role != chat.RoleUser
}

// begin puts a turn into the state of its chat, and returns its context.
func (o *Owner) begin(ctx context.Context, id chat.ConversationID, on func(chat.Event),
	into func(*state, *answer) error,
) (*answer, context.Context, error) {
	run, cancel := context.WithCancelCause(ctx)
	a := &answer{cancel: cancel, over: make(chan struct{}), on: on}
	err := o.take(ctx, id, func(s *state) error { return into(s, a) })
	if err != nil {
		cancel(nil)
	}
	return a, run, err
}

// Run runs the turn that writes in a chat, as [turn.Runner.Run] does, to its end. on
// also gets EventStopping, when the turn is being stopped, and last EventOver, when the changes
// that waited for its end are made. While another turn writes, the error is of kind
// conflict; Run waits for a change of the path that is being made.
func (o *Owner) Run(ctx context.Context, r turn.Request, on func(chat.Event)) (turn.Outcome, error) {
	a, run, err := o.begin(ctx, r.Conversation, on, func(s *state, a *answer) error {
		if s.main != nil {
			return errWriting
		}
		s.main = a
		return nil
	})
	if err != nil {
		return turn.Outcome{}, err
	}
	defer func() {
		o.mu.Lock()
		s := o.chats[r.Conversation]
		s.main, s.changing = nil, make(chan struct{})
		o.mu.Unlock()
		o.catchUp(ctx, r.Conversation)
		a.end()
		if o.o.Rests != nil {
			o.o.Rests(r.Conversation)
		}
	}()
	return o.o.Turns.Run(run, r, a.emit)
}

// Member describes for whom a turn of a council member runs, and what it gets of the chat.
type Member struct {
	Caller gate.Caller
	// Given holds all it gets of the chat; nil is the chat as it stands, up to its last
	// question where the turn says nothing itself.
	Given *Given
	Keep  bool // what it says is added to the chat once the turn is over
}

// Given holds what a turn gets in place of a chat: a system text, and messages in
// their order. The numbers of these messages do not matter.
type Given struct {
	System string
	Path   []chat.Message
}

// RunMember runs a turn for a member of the council, at the same time as others in the
// chat. It answers the last question of what it is given, or r.Text, and does not see
// what other turns are writing. Its calls go on record in the chat. Its messages are
// only in on's events and in the outcome, unless m.Keep is set: then they are added at
// the end of the chat when the turn is over. The error is that of [turn.Runner.Run],
// or why they could not be added.
func (o *Owner) RunMember(ctx context.Context, m Member, r turn.Request,
	on func(chat.Event),
) (turn.Outcome, error) {
	id := r.Conversation
	var writes *answer
	a, run, err := o.begin(ctx, id, on, func(s *state, a *answer) error {
		s.members, writes = append(s.members, a), s.main
		return nil
	})
	if err != nil {
		return turn.Outcome{}, err
	}
	defer func() {
		o.mu.Lock()
		s := o.chats[id]
		s.members = slices.DeleteFunc(s.members, func(other *answer) bool { return other == a })
		o.forget(id)
		o.mu.Unlock()
		a.end()
	}()
	log, err := o.memberLog(run, r, m.Given, writes)
	if err != nil {
		return turn.Outcome{}, err
	}
	r.Caller, r.Log = m.Caller, log
	out, err := o.o.Turns.Run(run, r, a.emit)
	if err != nil || !m.Keep {
		return out, err
	}
	save, cancel := call.SaveContext(ctx)
	defer cancel()
	said, err := log.answer(save, id, out.Turn)
	if err == nil && len(said) > 0 {
		_, err = o.Append(save, id, said, nil)
	}
	return out, err
}

// memberLog is the log of a turn that writes nothing into its chat: messages in memory,
// calls and media where those of the chat are.
type memberLog struct {
	*turn.MemoryLog
	store turn.Log
}

// memberLog returns a log of the chat for a turn that runs next to the one that writes: as given,
// else without the answer that is being written, and up to the last answered question.
func (o *Owner) memberLog(ctx context.Context, r turn.Request, given *Given, writes *answer) (*memberLog, error) {
	store := r.Log // of a chat that is not kept
	if store == nil {
		store = o.o.Store
	}
	c, err := store.Conversation(ctx, r.Conversation)
	if err != nil {
		return nil, err
	}
	if given != nil {
		return &memberLog{given.log(c), store}, nil
	}
	path, err := store.Path(ctx, r.Conversation)
	if err != nil {
		return nil, err
	}
	asks := r.Text == "" && len(r.Attachments) == 0
	for n := len(path); n > 0; n-- {
		last := path[n-1]
		written := writes != nil && writes.wrote(last)
		if last.Role == chat.RoleUser || !asks && !written {
			break
		}
		path = path[:n-1]
	}
	c.Head = 0
	if n := len(path); n > 0 {
		c.Head = path[n-1].Seq
	}
	return &memberLog{turn.NewMemoryLog(c, path...), store}, nil
}

// log is a log of what is given alone: nothing of the chat but its id and the names of its
// tools is in it.
func (g *Given) log(of chat.Conversation) *turn.MemoryLog {
	path := slices.Clone(g.Path)
	for i := range path {
		path[i].Conversation, path[i].Seq, path[i].Parent = of.ID, chat.MessageSeq(i+1), chat.MessageSeq(i)
	}
	last := chat.MessageSeq(len(path))
	return turn.NewMemoryLog(chat.Conversation{
		ID: of.ID, Title: "-", System: g.System, ToolNames: of.ToolNames, Head: last, Last: last,
	}, path...)
}

// UpdateConversation implements turn.Log. Of what such a turn changes, the chat keeps the names
// of tools.
func (l *memberLog) UpdateConversation(ctx context.Context, id chat.ConversationID,
	change func(*chat.Conversation),
) error {
	var names map[string]string
	err := l.store.UpdateConversation(ctx, id, func(c *chat.Conversation) {
		changed := *c
		change(&changed)
		c.ToolNames, names = changed.ToolNames, changed.ToolNames
	})
	if err != nil {
		return err
	}
	return l.MemoryLog.UpdateConversation(ctx, id, func(c *chat.Conversation) { c.ToolNames = names })
}

// ToolsCalled implements turn.Log.
func (l *memberLog) ToolsCalled(ctx context.Context, id chat.ConversationID) (map[string]string, error) {
	return l.store.ToolsCalled(ctx, id)
}

// PutCall implements turn.Log. The message that asked has no number in the chat.
func (l *memberLog) PutCall(ctx context.Context, r *chat.CallRecord) error {
	recorded := *r
	recorded.ResponseID = 0
	err := l.store.PutCall(ctx, &recorded)
	r.ID = recorded.ID
	return err
}

// PutMedia implements turn.Log.
func (l *memberLog) PutMedia(ctx context.Context, m *chat.Media) error {
	return l.store.PutMedia(ctx, m)
}

// Media implements turn.Log.
func (l *memberLog) Media(ctx context.Context, id string) ([]byte, error) {
	return l.store.Media(ctx, id)
}

// Sync implements turn.Log.
func (l *memberLog) Sync(ctx context.Context) error { return l.store.Sync(ctx) }

// answer returns what a turn said.
func (l *memberLog) answer(ctx context.Context, id chat.ConversationID, turn string) ([]chat.Message, error) {
	path, err := l.Path(ctx, id)
	return slices.DeleteFunc(path, func(m chat.Message) bool { return m.Turn != turn || m.Role == chat.RoleUser }), err
}

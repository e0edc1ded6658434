// Package conversation owns the messages of chats while the program runs: it decides
// who may write in a chat, and when. The window and the terminal run turns through it,
// and everybody changes existing messages and the visible path through it.
//
// One turn at a time writes in a chat, the main model's. Any number of other turns may
// run at the same time ([Owner.RunMember]); they read the chat and write nothing into
// it, unless what they said is to be added when they are over. Changes of the path
// wait for the end of the turn that writes, in the order in which they were requested,
// and are made before the next turn. Messages that a turn is writing cannot be edited;
// they can be hidden, and the rest of that answer with them.
//
// The package knows the store as a [Store], and neither window nor plugins. Read
// [Owner.Run] and [Owner.Change] first.
package conversation

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/chat/turn"
)

// Store stores chats. Errors are *fault.Error.
type Store interface {
	turn.Log
	DeleteConversation(ctx context.Context, id chat.ConversationID) (token string, err error)
}

// Options configure an Owner. Store and Turns are required.
type Options struct {
	Store Store
	Turns *turn.Runner
	// Edited, when not nil, is called with the first message of each entry that was
	// changed in place. It must not block.
	Edited func(id chat.ConversationID, seq chat.MessageSeq)
	// Rests, when not nil, is called once a turn that wrote in a chat is over, whoever ran it:
	// the chat is not Running then. It must not block.
	Rests func(id chat.ConversationID)
	Log   *slog.Logger     // nil discards
	Now   func() time.Time // nil is the system's clock
}

// Owner decides who may write in which chat. Use New. It is safe for concurrent use.
type Owner struct {
	o Options

	mu    sync.Mutex // guards chats and what they hold
	chats map[chat.ConversationID]*state
}

// state holds the turns and changes of one chat. A chat without any has no state.
type state struct {
	main     *answer       // the turn that writes; nil for none
	members  []*answer     // the members' turns, at the same time as main
	changing chan struct{} // closed when the changes under way are done; nil for none
	waiting  []change      // until main is over
}

// change changes the path of a chat.
type change func(ctx context.Context) error

// New returns the owner of all chats of a store.
func New(o Options) *Owner {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Edited == nil {
		o.Edited = func(chat.ConversationID, chat.MessageSeq) {}
	}
	return &Owner{o: o, chats: map[chat.ConversationID]*state{}}
}

// errWriting refuses a second sender.
var errWriting = fault.New(fault.Conflict, "conversation", "An answer is still being written in this chat.",
	"Stop it first, or wait for it.")

// take calls with to look at the state of a chat and change it, once no change of its path is under way.
func (o *Owner) take(ctx context.Context, id chat.ConversationID, with func(*state) error) error {
	for {
		o.mu.Lock()
		s := o.chats[id]
		if s == nil {
			s = &state{}
			o.chats[id] = s
		}
		if s.changing == nil {
			err := with(s)
			o.forget(id)
			o.mu.Unlock()
			return err
		}
		done := s.changing
		o.mu.Unlock()
		select {
		case <-done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// forget deletes the state of a chat without turns and changes. The caller holds mu.
func (o *Owner) forget(id chat.ConversationID) {
	if s := o.chats[id]; s.main == nil && s.changing == nil && len(s.members)+len(s.waiting) == 0 {
		delete(o.chats, id)
	}
}

// maxWaiting bounds the changes of one chat that wait for the end of an answer: plugins make them, and
// no honest one makes as many.
const maxWaiting = 50

// Change calls do to change the path of a chat: at once, or, while a turn writes, when
// that turn is over. waits reports which; if it waits, do gets its own context, and
// its error is logged. The error is do's, or the cause of ctx's end, or of kind
// not_allowed when too many changes wait.
func (o *Owner) Change(ctx context.Context, id chat.ConversationID,
	do func(ctx context.Context) error,
) (waits bool, err error) {
	err = o.take(ctx, id, func(s *state) error {
		if waits = s.main != nil; !waits {
			s.changing = make(chan struct{})
			return nil
		}
		if len(s.waiting) >= maxWaiting {
			return fault.New(fault.NotAllowed, "conversation",
				fmt.Sprintf("%d changes of this chat wait for its answer to end, which is the most there may be.", maxWaiting), "")
		}
		s.waiting = append(s.waiting, do)
		return nil
	})
	if waits || err != nil {
		return waits, err
	}
	defer o.changed(id)
	return false, do(ctx)
}

// WhileIdle calls do to change the path of a chat, if no turn writes there; the error
// is do's, or of kind conflict.
func (o *Owner) WhileIdle(ctx context.Context, id chat.ConversationID, do func() error) error {
	err := o.take(ctx, id, func(s *state) error {
		if s.main != nil {
			return errWriting
		}
		s.changing = make(chan struct{})
		return nil
	})
	if err != nil {
		return err
	}
	defer o.changed(id)
	return do()
}

// changed ends the changes under way in a chat.
func (o *Owner) changed(id chat.ConversationID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.chats[id]
	close(s.changing)
	s.changing = nil
	o.forget(id)
}

// changeTime bounds one change that waited for the end of a turn.
const changeTime = 30 * time.Second

// catchUp makes the changes that waited for a turn's end. It is called as one that is
// under way.
func (o *Owner) catchUp(ctx context.Context, id chat.ConversationID) {
	defer o.changed(id)
	for {
		o.mu.Lock()
		s := o.chats[id]
		if len(s.waiting) == 0 {
			o.mu.Unlock()
			return
		}
		do := s.waiting[0]
		s.waiting = s.waiting[1:]
		o.mu.Unlock()
		own, cancel := context.WithTimeout(context.WithoutCancel(ctx), changeTime)
		if err := do(own); err != nil {
			o.o.Log.Warn("a change of a chat that waited for its answer could not be made", "conversation", id, "err", err)
		}
		cancel()
	}
}

// Running reports whether any turn runs in a chat.
func (o *Owner) Running(id chat.ConversationID) bool { return len(o.running(id)) > 0 }

func (o *Owner) running(id chat.ConversationID) []*answer {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.chats[id]
	switch {
	case s == nil:
		return nil
	case s.main != nil:
		return append([]*answer{s.main}, s.members...)
	}
	return slices.Clone(s.members)
}

// Stop stops all turns in a chat. It returns when they and the changes that waited for
// them are over, or when ctx ends. What the models said so far stays.
func (o *Owner) Stop(ctx context.Context, id chat.ConversationID, cause error) {
	all := o.running(id)
	for _, a := range all {
		a.stop(cause)
	}
	for _, a := range all {
		select {
		case <-a.over:
		case <-ctx.Done():
			return
		}
	}
}

// Delete stops the turns of a chat and deletes it; the store restores it for the
// token. It does not wait for a turn longer than stopTime.
func (o *Owner) Delete(ctx context.Context, id chat.ConversationID, cause error) (token string, err error) {
	stopping, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	o.Stop(stopping, id, cause)
	return o.o.Store.DeleteConversation(ctx, id)
}

// stopTime bounds how long Delete waits for a turn.
const stopTime = 5 * time.Second

package turn

import (
	"context"
	"errors"
	"sync"

	"conclave/app/chat"
	"conclave/app/tool/call"
)

// scribe writes a turn's messages into its log, one after another and one behind the turn: a round does
// not wait for the disk unless the write before it is still under way. wait waits for its goroutine.
//
// The results of a round are held, and written in one step with the answer that follows them. While
// they are held they are in no log, so somebody calls flush soon, see outbox.
type scribe struct {
	log          Log
	conversation chat.ConversationID
	outbox       *outbox               // learns what is on the disk
	saved        func(chat.MessageSeq) // called when a message that was held is in the log

	last  chan struct{} // closed when the write under way is over; nil before the first
	order sync.Mutex    // held while the log is written

	mu    sync.Mutex      // guards the fields below
	head  chat.MessageSeq // the message that the next one follows
	given chat.MessageSeq // the highest number given out in the conversation
	wrote chat.Message    // the last message of the turn's answer, as it was appended
	held  *chat.Message   // results that are written with the next message
	err   error
}

// do starts write behind the turn, once everything before it is written.
func (s *scribe) do(ctx context.Context, write func(context.Context) error) {
	s.behind(ctx, func(save context.Context) error {
		if err := s.append(save); err != nil {
			return err
		}
		return write(save)
	})
}

// behind is do for a write that appends a message, which takes those with it that are held.
func (s *scribe) behind(ctx context.Context, write func(context.Context) error) {
	_ = s.wait() // the goroutine looks at the error
	over := make(chan struct{})
	s.last = over
	go func() { // ends with its write; wait waits for it
		s.write(ctx, write, func() { close(over) })
	}()
}

// write runs write, unless a write before it failed, and passes on the events that the outbox held for
// it: also after an error, with which the turn ends. Then it calls over. A person is asked about a call
// after over, when the chat shows the call.
func (s *scribe) write(ctx context.Context, write func(context.Context) error, over func()) {
	save, cancel := call.SaveContext(ctx)
	defer cancel()
	s.order.Lock()
	mark := s.outbox.mark()
	if s.failed() == nil { // else this message would follow one that is not stored
		if err := write(save); err != nil {
			s.mu.Lock()
			s.err = errors.Join(s.err, err)
			s.mu.Unlock()
		}
	}
	s.order.Unlock()
	s.outbox.release(mark)
	over()
}

// flush writes what is held, and what was given to the log and is not on the disk.
func (s *scribe) flush(ctx context.Context) {
	s.write(ctx, func(save context.Context) error {
		if err := s.append(save); err != nil {
			return err
		}
		return s.log.Sync(save)
	}, func() {})
}

// wait blocks until everything that was begun is written, and returns what went wrong.
func (s *scribe) wait() error {
	if s.last != nil {
		<-s.last
	}
	return s.failed()
}

func (s *scribe) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// hold has m written with the next message, or by the next flush.
func (s *scribe) hold(m chat.Message) {
	_ = s.wait()
	m.Open = m.Reason == ""
	s.mu.Lock()
	s.held = &m
	s.mu.Unlock()
	s.outbox.emit(chat.Event{Kind: noEvent}) // so that it is written soon
}

// append writes the message that is held, if there is one, and next behind it. The caller holds order,
// or is the only one who writes.
func (s *scribe) append(ctx context.Context, next ...*chat.Message) error {
	s.mu.Lock()
	head, held := s.head, s.held
	s.mu.Unlock()
	all := next
	if held != nil {
		all = append([]*chat.Message{held}, next...)
	}
	if len(all) == 0 {
		return nil
	}
	all[0].Parent = head
	for _, m := range next {
		m.Open = m.Reason == ""
	}
	if err := s.log.Append(ctx, all...); err != nil {
		return err
	}
	m := all[len(all)-1]
	s.mu.Lock()
	s.head, s.given, s.wrote, s.held = m.Seq, m.Seq, *m, nil
	s.mu.Unlock()
	if held != nil {
		s.saved(held.Seq)
	}
	return nil
}

// update changes a message that is in the log, in one step with reading it, so that it overwrites
// nothing that others changed.
func (s *scribe) update(ctx context.Context, seq chat.MessageSeq, change func(*chat.Message)) error {
	return s.log.UpdateMessages(ctx, s.conversation, []chat.MessageSeq{seq}, func(messages []chat.Message) error {
		change(&messages[0])
		return nil
	})
}

// next returns the number that the next message gets, and that of the message which it follows, since one
// turn at a time writes to a conversation.
func (s *scribe) next() (seq, parent chat.MessageSeq) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held != nil {
		return s.given + 2, s.given + 1
	}
	return s.given + 1, s.head
}

// answered returns the last message of the turn's answer as it was appended; its number is 0 before
// there is one.
func (s *scribe) answered() chat.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wrote
}

package turn

import (
	"context"
	"errors"
	"sync"

	"conclave/app/chat"
	"conclave/app/tool/call"
)

// scribe writes a turn's messages into its log, one after another and one behind the turn: a round does
// not wait for the disk unless the write before it is still under way. It has at most one goroutine,
// which wait waits for.
type scribe struct {
	log          Log
	conversation chat.ConversationID

	last chan struct{} // closed when the write under way is over; nil before the first

	mu    sync.Mutex      // guards the fields below
	head  chat.MessageSeq // the message that the next one follows
	given chat.MessageSeq // the highest number given out in the conversation
	wrote chat.Message    // the last message of the turn's answer, as it was appended
	err   error
}

// do starts write behind the turn, once the write before it is over.
func (s *scribe) do(ctx context.Context, write func(context.Context) error) {
	_ = s.wait() // the goroutine looks at the error
	over := make(chan struct{})
	s.last = over
	go func() { // ends with its write; wait waits for it
		defer close(over)
		save, cancel := call.SaveContext(ctx)
		defer cancel()
		if s.failed() != nil {
			return // this message would follow one that is not stored
		}
		if err := write(save); err != nil {
			s.mu.Lock()
			s.err = errors.Join(s.err, err)
			s.mu.Unlock()
		}
	}()
}

// wait blocks until everything is written, and returns what went wrong.
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

// append writes m after the message that was written last.
func (s *scribe) append(ctx context.Context, m *chat.Message) error {
	s.mu.Lock()
	m.Parent = s.head
	s.mu.Unlock()
	m.Open = m.Reason == ""
	if err := s.log.Append(ctx, m); err != nil {
		return err
	}
	s.mu.Lock()
	s.head, s.given, s.wrote = m.Seq, m.Seq, *m
	s.mu.Unlock()
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

// next returns the number that the next message gets, since one turn at a time writes to a
// conversation.
func (s *scribe) next() chat.MessageSeq {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.given + 1
}

// answered returns the last message of the turn's answer as it was appended; its number is 0 before
// there is one.
func (s *scribe) answered() chat.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wrote
}

package turn

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sync"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
)

// MemoryLog is a Log that keeps one conversation in memory: for a temporary chat, or
// for a turn that does not write to its chat. Use NewMemoryLog.
type MemoryLog struct {
	mu           sync.Mutex // guards the fields below
	conversation chat.Conversation
	messages     map[chat.MessageSeq]chat.Message
	calls        []chat.CallRecord
	media        map[string][]byte
}

// NewMemoryLog returns a log that holds the given conversation and messages of it,
// among them all from its first to its head.
func NewMemoryLog(c chat.Conversation, messages ...chat.Message) *MemoryLog {
	l := &MemoryLog{conversation: c, messages: map[chat.MessageSeq]chat.Message{}, media: map[string][]byte{}}
	for _, m := range messages {
		l.messages[m.Seq] = m
	}
	return l
}

func (l *MemoryLog) check(id chat.ConversationID) error {
	if id != l.conversation.ID {
		return fault.New(fault.NotFound, "turn.memory", "There is no chat "+string(id)+".", "")
	}
	return nil
}

// Conversation implements Log.
func (l *MemoryLog) Conversation(_ context.Context, id chat.ConversationID) (chat.Conversation, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.conversation, l.check(id)
}

// Path implements Log.
func (l *MemoryLog) Path(_ context.Context, id chat.ConversationID) ([]chat.Message, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var path []chat.Message
	for seq := l.conversation.Head; seq != 0; seq = l.messages[seq].Parent {
		path = append(path, l.messages[seq])
	}
	slices.Reverse(path)
	return path, l.check(id)
}

// Begin implements Log. The log holds c from now on.
func (l *MemoryLog) Begin(ctx context.Context, c *chat.Conversation, first *chat.Message) error {
	l.mu.Lock()
	l.conversation = *c
	l.mu.Unlock()
	if err := l.Append(ctx, first); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	*c = l.conversation
	return nil
}

// Append implements Log.
func (l *MemoryLog) Append(_ context.Context, messages ...*chat.Message) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, m := range messages {
		if err := l.check(m.Conversation); err != nil {
			return err
		}
		if i > 0 {
			m.Parent = l.conversation.Last
		}
		m.Seq = l.conversation.Last + 1
		l.messages[m.Seq] = clone(*m)
		l.conversation.Head, l.conversation.Last = m.Seq, m.Seq
		l.conversation.Updated = time.Now()
		l.conversation.Revision++
	}
	return nil
}

func clone(m chat.Message) chat.Message {
	m.Parts = slices.Clone(m.Parts)
	return m
}

// UpdateMessages implements Log.
func (l *MemoryLog) UpdateMessages(_ context.Context, id chat.ConversationID, seqs []chat.MessageSeq,
	change func([]chat.Message) error,
) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.check(id); err != nil {
		return err
	}
	messages := make([]chat.Message, len(seqs))
	for i, seq := range seqs {
		m, ok := l.messages[seq]
		if !ok {
			return fault.New(fault.NotFound, "turn.memory", "There is no such message.", "")
		}
		messages[i] = clone(m)
	}
	if err := change(messages); err != nil {
		return err
	}
	for i, m := range messages {
		l.messages[seqs[i]] = m
	}
	l.conversation.Revision++
	return nil
}

// Journal implements Log; there is nothing to lose.
func (l *MemoryLog) Journal(chat.Message) {}

// PutCall implements Log.
func (l *MemoryLog) PutCall(_ context.Context, r *chat.CallRecord) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.ID == 0 {
		l.calls = append(l.calls, chat.CallRecord{})
		r.ID = uint64(len(l.calls))
	}
	l.calls[r.ID-1] = *r
	return nil
}

// Calls returns the records, oldest first.
func (l *MemoryLog) Calls() []chat.CallRecord {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.calls)
}

// ToolsCalled implements Log.
func (l *MemoryLog) ToolsCalled(context.Context, chat.ConversationID) (map[string]string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return chat.ToolsCalled(slices.Backward(l.calls)), nil
}

// Sync implements Log.
func (l *MemoryLog) Sync(context.Context) error { return nil }

// UpdateConversation implements Log.
func (l *MemoryLog) UpdateConversation(_ context.Context, id chat.ConversationID,
	change func(*chat.Conversation),
) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.check(id); err != nil {
		return err
	}
	change(&l.conversation)
	l.conversation.Revision++
	return nil
}

// PutMedia implements Log.
func (l *MemoryLog) PutMedia(_ context.Context, m *chat.Media) error {
	sum := sha256.Sum256(m.Data)
	m.ID, m.Size = hex.EncodeToString(sum[:]), int64(len(m.Data))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.media[m.ID] = slices.Clone(m.Data)
	return nil
}

// Media implements Log.
func (l *MemoryLog) Media(_ context.Context, id string) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	data, ok := l.media[id]
	if !ok {
		return nil, fault.New(fault.NotFound, "turn.memory", "That attachment is gone.", "")
	}
	return data, nil
}

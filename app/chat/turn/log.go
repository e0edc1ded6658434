package turn

import (
	"context"

	"conclave/app/chat"
	"conclave/app/tool/call"
)

// Log stores what a turn writes; store is the real one. Its methods are safe for
// concurrent use. Errors are *fault.Error.
type Log interface {
	call.Log
	// Conversation reads one conversation. Kind not_found when there is none.
	Conversation(ctx context.Context, id chat.ConversationID) (chat.Conversation, error)
	// Path reads the visible messages of a conversation, first to head.
	Path(ctx context.Context, id chat.ConversationID) ([]chat.Message, error)
	// Begin writes a new conversation with its first message, durably and in one step, and fills
	// what of both is the log's.
	Begin(ctx context.Context, c *chat.Conversation, first *chat.Message) error
	// Append gives messages of one conversation the next numbers, writes them durably
	// and in one step, and makes the last one the conversation's head. Each but the
	// first answers the one before it. It sets Seq, and Parent of these.
	Append(ctx context.Context, messages ...*chat.Message) error
	// UpdateMessages reads, changes and writes messages of one conversation in one
	// step, durably. change must be quick and not use the log; its error leaves
	// everything as it was.
	UpdateMessages(ctx context.Context, id chat.ConversationID, seqs []chat.MessageSeq,
		change func(messages []chat.Message) error) error
	// Journal saves the newest text of a streaming message so that a kill loses
	// at most 250 ms of it. It does not block on the disk; the store batches
	// what comes within 250 ms. UpdateMessages ends the journal of a message that
	// streams no more.
	Journal(m chat.Message)
	// Sync returns when everything given to Journal and PutCall before is on the
	// disk.
	Sync(ctx context.Context) error
	Names
	// Media reads the bytes that PutMedia stored.
	Media(ctx context.Context, id string) ([]byte, error)
}

package window

import (
	"context"

	"conclave/app/chat"
	"conclave/app/chat/exchange"
	"conclave/app/chat/transcript"
	"conclave/app/record/activity"
)

// Store reads, changes and searches chats for the window; package windowstore has the
// real one. Errors are *fault.Error.
type Store interface {
	CreateConversation(ctx context.Context, c *chat.Conversation) error
	exchange.Store
	exchange.Chats
	UpdateConversation(ctx context.Context, id chat.ConversationID, change func(*chat.Conversation)) error
	// Temporary returns the temporary chats.
	Temporary(ctx context.Context) ([]chat.ConversationID, error)
	List(ctx context.Context, o chat.ListOptions) (chat.Page, error)
	// Days counts what List takes by the local day or month of their last change, in
	// its order.
	Days(ctx context.Context, o chat.ListOptions) ([]chat.Day, error)
	Undelete(ctx context.Context, token string) (chat.ConversationID, error)
	SaveDraft(id chat.ConversationID, text string)

	// Path reads the visible path of a conversation.
	Path(ctx context.Context, id chat.ConversationID) ([]chat.Message, error)

	transcript.Store
	// Holding reads the messages in which phrase could stand, on any branch.
	Holding(ctx context.Context, id chat.ConversationID, phrase string) ([]chat.Message, error)

	PutMedia(ctx context.Context, m *chat.Media) error
	Media(ctx context.Context, id string) ([]byte, error)
	// Sent returns the request that a message answers, as it was sent; kind not_found where
	// it was not kept.
	Sent(ctx context.Context, id chat.ConversationID, seq chat.MessageSeq) ([]byte, error)

	activity.Log

	// Search finds chats by the words of a query, best first, rows [offset, offset+limit) of them.
	Search(ctx context.Context, q SearchQuery, offset, limit int) (SearchResult, error)
}

// SearchResult holds what a search found.
type SearchResult struct {
	Hits  []SearchHit // the rows asked for
	Total int         // how many chats there are
	// Percent describes how much of what was said is searched so far: less than 100
	// while the index is being made, and then the list changes by itself.
	Percent int
}

// SearchHit is one chat that holds the words searched for.
type SearchHit struct {
	Conversation chat.Conversation
	Seq          chat.MessageSeq // of the message that has them; 0 when only the title matched
	Excerpt      *chat.Excerpt   // nil when only the title matched
}

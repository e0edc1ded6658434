package window

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"

	"conclave/app/base/bus"
	"conclave/app/chat"
	"conclave/app/chat/showing"
	"conclave/app/chat/transcript"
	"conclave/app/council"
	"conclave/app/gate"
	"conclave/app/record/activity"
	"conclave/app/tool"
	"conclave/app/view"
)

// openChats holds the chats that are drawn, and which of them the person has not looked at since
// they were answered. It is safe for concurrent use.
type openChats struct {
	*lifecycle
	core Core
	log  *slog.Logger

	mu          sync.Mutex // guards the fields below
	transcripts map[chat.ConversationID]*transcript.Transcript
	past        uint64 // the newest revision of a transcript that was closed
	unread      map[chat.ConversationID]bool
	seen        chat.ConversationID

	// finishes is called with the title of a chat whose answer is finished; nil before the window is made.
	finishes func(title string)
}

func newOpenChats(l *lifecycle, core Core, log *slog.Logger) *openChats {
	return &openChats{
		lifecycle: l, core: core, log: log, transcripts: map[chat.ConversationID]*transcript.Transcript{},
		unread: map[chat.ConversationID]bool{},
	}
}

// look marks a chat as the one that is looked at, and reports whether it was unread.
func (c *openChats) look(id chat.ConversationID) (wasUnread bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	wasUnread = c.unread[id]
	c.seen = id
	delete(c.unread, id)
	return wasUnread
}

// isUnread reports whether an answer ended while the chat was not looked at.
func (c *openChats) isUnread(id chat.ConversationID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unread[id]
}

// forget closes a chat that was deleted.
func (c *openChats) forget(id chat.ConversationID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closeTranscript(id)
	delete(c.unread, id)
}

// leaveTemporary stops and deletes for good all temporary chats but the one that is looked at. It reports whether
// that is one.
func (c *openChats) leaveTemporary(ctx context.Context, seen chat.ConversationID) (is bool, err error) {
	all, err := c.core.Store.Temporary(ctx)
	for _, v := range all {
		if v == seen {
			is = true
			continue
		}
		if _, err := c.core.Conversations.Delete(ctx, v, errStopped); err != nil {
			return is, err
		}
		c.forget(v)
	}
	return is, err
}

// maxTranscripts bounds how many conversations stay drawn.
const maxTranscripts = 20

// transcript returns the transcript of a conversation, a new one if need be.
func (c *openChats) transcript(id chat.ConversationID) *transcript.Transcript {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.transcripts[id]; t != nil {
		return t
	}
	if len(c.transcripts) >= maxTranscripts {
		for old := range c.transcripts {
			if old != c.seen && !c.core.Conversations.Running(old) {
				c.closeTranscript(old)
				break
			}
		}
	}
	t := transcript.New(transcript.Options{
		Conversation: id, Store: c.core.Store, After: c.past, Log: c.log, Chat: c.chatView, ModelTitle: c.modelTitle,
		Words:   c.callWords,
		Council: func(ctx context.Context, turn string) *transcript.CouncilLine { return c.lineOf(ctx, id, turn) },
		Changed: func(revision uint64) {
			c.core.Bus.Publish(bus.Notice{Topic: bus.Chat, ID: string(id), Revision: revision})
		},
	})
	c.transcripts[id] = t
	return t
}

// closeTranscript lets go of a transcript. Those made after it go on from its
// revision, so that a page that still holds it starts again. The caller holds mu.
func (c *openChats) closeTranscript(id chat.ConversationID) {
	if t := c.transcripts[id]; t != nil {
		c.past = max(c.past, t.Revision())
		delete(c.transcripts, id)
	}
}

// known returns the transcript of a conversation, nil when there is none.
func (c *openChats) known(id chat.ConversationID) *transcript.Transcript {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.transcripts[id]
}

// callWords returns what the tool and the plugin of a call are called.
func (c *openChats) callWords(r chat.CallRecord) showing.Words {
	return view.Words(r, c.core.Tools.Set(), c.core.pluginName)
}

func (c *openChats) chatView(ctx context.Context, v chat.Conversation) transcript.Chat {
	name := c.core.Responder.ModelOf(ctx, v)
	info := c.core.Models.Info(ctx, name)
	var spent *transcript.Usage
	if v.Spent != nil {
		spent = transcript.UsageOf(*v.Spent)
	}
	return transcript.Chat{
		ID: string(v.ID), Title: v.Title, Model: name, ModelTitle: info.Title, Vision: info.Can.Vision,
		Tools: info.Can.Tools, System: v.System, Asking: v.Asking, Project: v.Project, Pinned: v.Pinned,
		Archived: v.Archived, Demo: v.Demo, Temporary: v.Temporary, Spent: spent,
		Created: chat.Stamp(v.Created), Updated: chat.Stamp(v.Updated),
	}
}

func (c *openChats) modelTitle(ctx context.Context, name string) string {
	if name == "" {
		return ""
	}
	return c.core.Models.Info(ctx, name).Title
}

// lineOf is the run before an answer in one line, or nil where there was none.
func (c *openChats) lineOf(ctx context.Context, conversation chat.ConversationID, turn string) *transcript.CouncilLine {
	headers, err := c.core.Councils.Runs(ctx, conversation)
	if err != nil || turn == "" {
		return nil
	}
	for _, h := range slices.Backward(headers) {
		if h.Turn != turn {
			continue
		}
		s := view.SpentOf(h)
		seats := []transcript.CouncilSeat{}
		for _, seat := range h.Seats {
			seats = append(seats, transcript.CouncilSeat{
				Name: seat.Name, Letter: seat.Letter, Color: seat.Color, Agreed: seat.Agreed,
			})
		}
		return &transcript.CouncilLine{
			Run: string(h.Run), State: string(h.State), Live: h.State != council.Over && c.core.Councils.Live(h.Run),
			Members: h.Members, Silent: h.Silent, Seats: seats,
			Disagree: h.Disagree, MS: s.MS, Cost: s.Cost, Known: s.Known,
		}
	}
	return nil
}

// place says under which entry a request's card belongs, to which call, and which
// model makes it.
func (c *openChats) place(q gate.Request) (seq uint64, call, model string) {
	if t := c.known(q.Conversation); t != nil {
		return t.Asking(q.Turn, q.ID)
	}
	return 0, "", ""
}

// titleNow returns what a chat is called on the page, and "" where there is none of that id any
// more.
func (c *openChats) titleNow(id chat.ConversationID) string {
	v, err := c.core.Store.Conversation(c.call(), id)
	if err != nil {
		return ""
	}
	return cmp.Or(tool.OneLine(v.Title), unnamed)
}

// whyOf tells why a call was decided as it was, from the record; nil where it has no entry.
func (c *openChats) whyOf(r chat.CallRecord) []string {
	if !r.Status.Over() {
		return nil
	}
	row, err := c.core.Store.ActivityOf(c.call(), r.ID)
	if err != nil {
		return nil
	}
	e, d, err := row.Read()
	if err != nil {
		return nil
	}
	why := activity.Sentences(e, d)
	for i, line := range why {
		why[i] = tool.OneLine(line)
	}
	return why
}

// finished marks a chat unread whose answer ended when it was not looked at.
func (c *openChats) finished(conversation chat.ConversationID) {
	c.mu.Lock()
	if c.seen != conversation {
		c.unread[conversation] = true
	}
	c.mu.Unlock()
	c.core.Bus.Changed(bus.Chats, "")
	c.core.Bus.Changed(bus.Tools, "") // "last used"
	if set, err := c.core.Settings.Settings(c.call()); err == nil && set.NotifyAnswers && c.finishes != nil {
		c.finishes(c.titleNow(conversation))
	}
}

// followEdits draws conversations again that plugins changed, until ctx ends.
func (c *openChats) followEdits(ctx context.Context) {
	edits := c.core.Bus.Subscribe(bus.Edits)
	defer edits.Close()
	for {
		notices, err := edits.Next(ctx)
		if err != nil {
			return
		}
		for _, n := range notices {
			if err := c.redraw(ctx, id(n.ID)); err != nil {
				c.log.Warn("a chat that a plugin changed could not be drawn again", "conversation", n.ID, "err", err)
			}
		}
		c.core.Bus.Changed(bus.Chats, "")
	}
}

// redraw reads a conversation again, with what is drawn of it, when the page knows
// it.
func (c *openChats) redraw(ctx context.Context, conversation chat.ConversationID) error {
	if t := c.known(conversation); t != nil {
		return t.RefreshAll(ctx)
	}
	return nil
}

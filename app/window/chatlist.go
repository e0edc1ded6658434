package window

import (
	"context"
	"slices"
	"strings"

	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/view"
)

// The parts of the list.
var (
	pinnedChats   = chat.ListOptions{Pinned: chat.Only, Archived: chat.Without}
	otherChats    = chat.ListOptions{Pinned: chat.Without, Archived: chat.Without}
	archivedChats = chat.ListOptions{Archived: chat.Only}
)

// List returns rows [offset, offset+limit) of the chat list, at most 200: pinned
// ones first, then by the day of their last change, or by project; or what a text query found.
func (c *Chats) List(query ChatQuery, offset, limit int) (ChatList, error) {
	ctx := c.call()
	limit = min(max(limit, 0), maxAsked)
	offset = max(offset, 0)
	if strings.TrimSpace(query.Text) != "" {
		return c.found(ctx, query, offset, limit)
	}
	revision := c.core.Bus.Revision("chats", "")
	stretch := c.stretch
	if query.Projects {
		stretch = c.byProject
	}
	found, groups, total, err := stretch(ctx, query.Archived, offset, limit)
	if err != nil {
		return ChatList{}, err
	}
	out := ChatList{
		Offset: offset, Groups: groups, Rows: make([]ChatRow, len(found)), Searched: 100, Total: total, Revision: revision,
	}
	waiting := c.waiting()
	for i, v := range found {
		out.Rows[i] = c.row(v, waiting)
	}
	return out, nil
}

// stretch returns a part of the list of all chats, or of the archived ones, with all groups and how many
// chats there are.
func (c *Chats) stretch(ctx context.Context, archived bool, offset, limit int) (
	chats []chat.Conversation, groups []ChatGroup, total int, err error,
) {
	groups = []ChatGroup{}
	parts := []chat.ListOptions{pinnedChats, otherChats}
	if archived {
		parts = []chat.ListOptions{archivedChats}
	}
	for _, part := range parts {
		page := part
		page.Offset, page.Limit = max(0, offset-total), max(1, limit-len(chats))
		found, err := c.core.Store.List(ctx, page)
		if err != nil {
			return nil, nil, 0, err
		}
		chats = append(chats, found.Conversations[:min(len(found.Conversations), limit-len(chats))]...)
		total += found.Total
		if part == pinnedChats && found.Total > 0 {
			groups = append(groups, ChatGroup{"pinned", found.Total})
		}
	}
	days, err := c.core.Store.Days(ctx, parts[len(parts)-1])
	for _, d := range days {
		groups = append(groups, ChatGroup(d))
	}
	return chats, groups, total, err
}

// byProject is stretch with projects in place of days: the one whose chat was changed last
// first, and chats without one at the end.
func (c *Chats) byProject(ctx context.Context, archived bool, offset, limit int) (
	chats []chat.Conversation, groups []ChatGroup, total int, err error,
) {
	which := chat.ListOptions{Archived: chat.Without}
	if archived {
		which = archivedChats
	}
	all, err := c.core.Store.List(ctx, which)
	if err != nil {
		return nil, nil, 0, err
	}
	const none = "project:"
	under, keys := map[string][]chat.Conversation{}, []string{}
	for _, v := range all.Conversations {
		key := none + v.Project
		if v.Pinned && !archived {
			key = "pinned"
		}
		if under[key] == nil {
			keys = append(keys, key)
		}
		under[key] = append(under[key], v)
	}
	place := map[string]int{"pinned": -1, none: 1}
	slices.SortStableFunc(keys, func(a, b string) int { return place[a] - place[b] })
	sorted := make([]chat.Conversation, 0, len(all.Conversations))
	groups = make([]ChatGroup, len(keys))
	for i, key := range keys {
		groups[i] = ChatGroup{key, len(under[key])}
		sorted = append(sorted, under[key]...)
	}
	from := min(offset, len(sorted))
	return sorted[from:min(from+limit, len(sorted))], groups, len(sorted), nil
}

func (c *Chats) found(ctx context.Context, query ChatQuery, offset, limit int) (ChatList, error) {
	out := ChatList{Offset: offset, Rows: []ChatRow{}, Groups: []ChatGroup{}, Revision: c.core.Bus.Revision("chats", "")}
	q := parseSearch(query.Text)
	q.Archived = query.Archived
	var found SearchResult
	var err error
	if q.Words == "" {
		found, err = filtered(ctx, c.core.Store, q, offset, limit)
	} else {
		found, err = c.core.Store.Search(ctx, q, offset, limit)
	}
	if err != nil {
		return ChatList{}, err
	}
	waiting := c.waiting()
	for _, h := range found.Hits {
		row := c.row(h.Conversation, waiting)
		row.Excerpt, row.FoundIn = h.Excerpt, uint64(h.Seq)
		out.Rows = append(out.Rows, row)
	}
	out.Total, out.Searched = found.Total, found.Percent
	if out.Total > 0 {
		out.Groups = append(out.Groups, ChatGroup{"found", out.Total})
	}
	return out, nil
}

// waiting returns the chats in which a call waits for the person.
func (c *Chats) waiting() map[chat.ConversationID]bool {
	out := map[chat.ConversationID]bool{}
	for _, p := range c.core.Gate.Questions.List() {
		if p.Kind == gate.KindCall {
			out[p.Conversation] = true
		}
	}
	for _, q := range c.core.Elicit.List() {
		out[q.Chat] = true
	}
	return out
}

func (c *Chats) row(v chat.Conversation, waiting map[chat.ConversationID]bool) ChatRow {
	row := ChatRow{ChatHeader: view.NewChatHeader(v), State: ChatIdle, Unread: c.open.isUnread(v.ID)}
	if c.core.Conversations.Running(v.ID) {
		row.State = ChatRunning
	}
	if waiting[v.ID] {
		row.State = ChatWaiting
	}
	return row
}

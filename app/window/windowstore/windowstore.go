// Package windowstore makes of an open core what the window works with: an window.Store
// of the store and the full-text index, and the window.Core. It decides nothing. The
// terminal links neither it nor the index.
package windowstore

import (
	"context"

	"conclave/app/base/bus"
	"conclave/app/chat"
	"conclave/app/core"
	"conclave/app/window"
	"conclave/store"
	"conclave/store/search"
)

// Store is the store, with the full-text index of its messages, for the window. Use
// New, and Close it before the core.
type Store struct {
	store.Turns
	*store.ActivityLog
	index *search.Index
	core  *core.Core
}

// New returns the window's store of an open core.
func New(c *core.Core) *Store {
	return &Store{c.Store.Turns, c.Store.Activity, search.New(search.Options{
		Dir: c.Store.Dir(), Source: c.Store.Search, Log: c.Log,
		OnProgress: func() { c.Bus.Changed(bus.Chats, "") },
	}), c}
}

// Close closes the index; the store is the core's.
func (s *Store) Close() { _ = s.index.Close() }

// Core returns what the window works with.
func (s *Store) Core(facts window.Info) window.Core {
	c := s.core
	return window.Core{
		Bus: c.Bus, Store: s, Turns: c.Turns, Conversations: c.Conversations, Tools: c.Tools, Host: c.Host,
		Library: c.Library, Packages: c.Packages, Gate: c.Gate, Elicit: c.Elicit, Secrets: c.Services.Secrets,
		Undo:     c.Undo,
		Councils: c.Councils, CouncilSettings: c.CouncilSettings(), Responder: c.Responder(s), Mask: c.Mask,
		Prompts: c.Store.Prompts, HTTP: c.HTTP, Programs: c.Programs, Models: c.Models, Settings: c.Settings, Info: facts,
		Toasts: c.Services.Toasts.After, Backup: func(ctx context.Context, path string) (string, error) {
			r, err := c.Store.Backup(ctx, path)
			return r.Sentence(), err
		},
	}
}

// maxFound limits how many messages and titles one search looks at.
const maxFound = 500

// Search implements window.Store: the best hit of each chat, best first. Texts are
// read for the rows asked for and no others.
func (s *Store) Search(
	ctx context.Context,
	q window.SearchQuery,
	offset, limit int,
) (window.SearchResult, error) {
	words := q.Words
	result, err := s.index.Query(ctx, search.Query{
		Text: words, Limit: maxFound, Bare: true, Role: q.Role, Since: q.Since, Until: q.Until,
	})
	if err != nil {
		return window.SearchResult{}, err
	}
	found := window.SearchResult{Hits: []window.SearchHit{}, Percent: result.Progress.Percent()}
	best := map[chat.ConversationID]search.Hit{} // the best message of each chat
	var ids []chat.ConversationID                // of the chats, best first
	for _, h := range result.Hits {
		if b, seen := best[h.Conversation]; !seen {
			ids = append(ids, h.Conversation)
			best[h.Conversation] = h
		} else if b.Seq == 0 {
			best[h.Conversation] = h
		}
	}
	said := []search.Hit{} // of each row
	err = s.Found(ctx, ids, q.Archived, func(read func() (chat.Conversation, error)) {
		seen := found.Total >= offset && len(found.Hits) < limit
		if seen || q.Takes != nil {
			c, err := read()
			if err != nil || q.Takes != nil && !q.Takes(c) {
				return
			}
			if seen {
				found.Hits, said = append(found.Hits, window.SearchHit{Conversation: c}), append(said, best[c.ID])
			}
		}
		found.Total++
	})
	if err != nil {
		return window.SearchResult{}, err
	}
	for i := range said {
		if said[i].Seq == 0 {
			continue // only the title has the words
		}
		if err := s.index.Show(ctx, words, said[i:i+1]); err != nil {
			return window.SearchResult{}, err
		}
		if h := said[i]; len(h.Marks) > 0 {
			m := h.Marks[0]
			excerpt := chat.NewExcerpt(h.Snippet[:m[0]], h.Snippet[m[0]:m[1]], h.Snippet[m[1]:])
			found.Hits[i].Seq, found.Hits[i].Excerpt = h.Seq, &excerpt
		}
	}
	return found, nil
}

// UpdateConversation implements window.Store: what the window changes, the person did, and
// plugins get an event about it.
func (s *Store) UpdateConversation(ctx context.Context, id chat.ConversationID,
	change func(*chat.Conversation),
) error {
	err := s.Turns.UpdateConversation(ctx, id, change)
	if err == nil {
		s.core.ChatChanged(id)
	}
	return err
}

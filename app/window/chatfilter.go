package window

import (
	"context"
	"slices"
	"strings"
	"time"

	"conclave/app/chat"
)

// SearchQuery has the words and filters of a search in the chats.
type SearchQuery struct {
	Words    string // in titles and messages; "" takes every chat that Takes takes
	Archived bool
	Role     chat.Role // only in what this one said; "" is all
	// Since and Until bound when it was said, or when a chat last changed where there are no words; zero does not.
	Since, Until time.Time
	Takes        func(chat.Conversation) bool // whether a chat is looked at; nil takes all
}

// speakers are the roles by the words that people type for them.
var speakers = map[string]chat.Role{
	"me": chat.RoleUser, "you": chat.RoleUser, "user": chat.RoleUser, "我": chat.RoleUser,
	"model": chat.RoleAssistant, "assistant": chat.RoleAssistant, "ai": chat.RoleAssistant, "模型": chat.RoleAssistant,
}

// parseSearch takes the filters out of what a person typed: project:NAME, model:NAME, role:me or role:model, pinned:,
// before:DATE and after:DATE, where a date is 2026, 2026-11 or 2026-11-28. What is no filter, and a filter without a
// value that fits, are words.
func parseSearch(typed string) SearchQuery {
	var q SearchQuery
	var words []string
	var takes []func(chat.Conversation) bool
	for _, field := range fields(typed) {
		name, value, is := strings.Cut(field, ":")
		value = strings.ToLower(strings.Trim(value, `"`))
		switch name = strings.ToLower(name); {
		case !is:
			is = false
		case name == "project" && value != "":
			takes = append(takes, func(c chat.Conversation) bool { return strings.Contains(strings.ToLower(c.Project), value) })
		case name == "model" && value != "":
			takes = append(takes, func(c chat.Conversation) bool { return strings.Contains(strings.ToLower(c.Model), value) })
		case name == "pinned" && (value == "" || value == "yes" || value == "no"):
			takes = append(takes, func(c chat.Conversation) bool { return c.Pinned == (value != "no") })
		case name == "role" && speakers[value] != "":
			q.Role = speakers[value]
		case name == "before" || name == "after":
			from, to, ok := days(value)
			switch {
			case !ok:
				is = false
			case name == "before":
				q.Until = from
			default:
				q.Since = to
			}
		default:
			is = false
		}
		if !is {
			words = append(words, field)
		}
	}
	q.Words = strings.Join(words, " ")
	if len(takes) > 0 {
		q.Takes = func(c chat.Conversation) bool {
			return !slices.ContainsFunc(takes, func(t func(chat.Conversation) bool) bool { return !t(c) })
		}
	}
	return q
}

// fields splits at blanks that are not between quotation marks.
func fields(text string) []string {
	quoted := false
	return strings.FieldsFunc(text, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return !quoted && (r == ' ' || r == '\t' || r == '\n' || r == '　')
	})
}

// days returns when a date begins and ends, in local time.
func days(date string) (from, to time.Time, ok bool) {
	for layout, after := range map[string][3]int{"2006": {1, 0, 0}, "2006-01": {0, 1, 0}, "2006-01-02": {0, 0, 1}} {
		if from, err := time.ParseInLocation(layout, date, time.Local); err == nil {
			return from, from.AddDate(after[0], after[1], after[2]), true
		}
	}
	return from, to, false
}

// filtered returns the chats that a query without words takes, last changed first.
func filtered(ctx context.Context, store Store, q SearchQuery, offset, limit int) (SearchResult, error) {
	which := chat.ListOptions{Archived: chat.Without}
	if q.Archived {
		which.Archived = chat.Only
	}
	all, err := store.List(ctx, which)
	found := SearchResult{Hits: []SearchHit{}, Percent: 100}
	for _, v := range all.Conversations {
		if q.Takes != nil && !q.Takes(v) || v.Updated.Before(q.Since) || !q.Until.IsZero() && !v.Updated.Before(q.Until) {
			continue
		}
		if found.Total >= offset && len(found.Hits) < limit {
			found.Hits = append(found.Hits, SearchHit{Conversation: v})
		}
		found.Total++
	}
	return found, err
}

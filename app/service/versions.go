package service

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"conclave/app/base/bus"
	"conclave/app/chat"
	"conclave/app/chat/conversation"
	"conclave/app/plugin"

	"github.com/google/uuid"
)

// Bounds of what a plugin stores with one message.
const (
	maxMetadata = 64 << 10
	maxVersions = 50
)

// tree finds the versions of messages: those with the same parent and the same role.
type tree struct {
	chat.Outline
	answers map[chat.MessageSeq][]chat.OutlineItem // by what they answer, oldest first
}

func (s *chatServices) tree(ctx context.Context, id chat.ConversationID) (tree, error) {
	o, err := s.o.Chats.Outline(ctx, id)
	t := tree{o, make(map[chat.MessageSeq][]chat.OutlineItem, len(o.Items))}
	for _, item := range o.Items {
		t.answers[item.Parent] = append(t.answers[item.Parent], item)
	}
	return t, err
}

// versions returns the first messages of all versions of an entry, oldest first, that which
// begins with seq included.
func (t tree) versions(seq chat.MessageSeq) []chat.MessageSeq {
	own, _ := t.Item(seq)
	var out []chat.MessageSeq
	for _, item := range t.answers[own.Parent] {
		if item.Role == own.Role {
			out = append(out, item.Seq)
		}
	}
	return out
}

// newest returns the messages of the branch through seq that takes the newest answer at each
// fork, from seq on.
func (t tree) newest(seq chat.MessageSeq) []chat.MessageSeq {
	out := []chat.MessageSeq{seq}
	for next := t.answers[seq]; len(next) > 0; next = t.answers[out[len(out)-1]] {
		out = append(out, next[len(next)-1].Seq)
	}
	return out
}

// entry reads the messages of the version that begins with seq.
func (s *chatServices) entry(ctx context.Context, t tree, seq chat.MessageSeq) ([]chat.Message, error) {
	own, _ := t.Item(seq)
	var out []chat.Message
	for _, at := range t.newest(seq) {
		item, _ := t.Item(at)
		if at != seq && (own.Role == chat.RoleUser || item.Role == chat.RoleUser || item.Turn != own.Turn) {
			break
		}
		m, err := s.o.Chats.Message(ctx, t.Conversation.ID, at)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// addVersions fills in the versions of those messages that have more than one.
func (s *chatServices) addVersions(ctx context.Context, id chat.ConversationID, all []Message) error {
	t, err := s.tree(ctx, id)
	if err != nil {
		return err
	}
	for i := range all {
		m := &all[i]
		versions := t.versions(seqOf(id, m.ID))
		if len(versions) < 2 || len(versions) > maxVersions {
			continue
		}
		for at, seq := range versions {
			v := Version{Content: m.Content, Created: m.Created}
			if seq == seqOf(id, m.ID) {
				m.Version = at
			} else {
				entry, err := s.entry(ctx, t, seq)
				if err != nil {
					return err
				}
				other := viewOf(chat.Entries(entry)[0], 0)
				v = Version{Content: other.Content, Created: other.Created}
			}
			m.Versions = append(m.Versions, v)
		}
	}
	return nil
}

// versionEdit holds the changes to the versions of one entry, which are made all or not at all.
type versionEdit struct {
	entry   []chat.MessageSeq
	texts   map[chat.MessageSeq]string // new texts of those there are, by their first message
	added   []string
	show    int               // the version to show
	shows   bool              // another one than now
	all     []chat.MessageSeq // the first messages of those there are
	current int
}

// versionsFor checks what a plugin wants the versions of an entry to be.
func (s *chatServices) versionsFor(ctx context.Context, t tree, entry []chat.MessageSeq, a messageArgs,
) (versionEdit, error) {
	e := versionEdit{entry: entry, texts: map[chat.MessageSeq]string{}, all: t.versions(entry[0])}
	e.current = slices.Index(e.all, entry[0])
	e.show = e.current
	wanted := slices.Clone(a.Versions)
	if len(wanted) > 0 {
		switch {
		case len(wanted) < len(e.all):
			return e, invalid(fmt.Sprintf("That message has %d versions, and %d were given. Only the person takes one away.",
				len(e.all), len(wanted)))
		case len(wanted) > maxVersions:
			return e, invalid(fmt.Sprintf("A message has at most %d versions.", maxVersions))
		}
		for i, seq := range e.all {
			have, err := s.entry(ctx, t, seq)
			if err != nil {
				return e, err
			}
			if i == e.current && a.Content != nil {
				continue // the content is what counts
			}
			if wanted[i] != viewOf(chat.Entries(have)[0], 0).Content {
				e.texts[seq] = wanted[i]
			}
		}
		e.added = wanted[len(e.all):]
	}
	if a.Content != nil {
		e.texts[entry[0]] = *a.Content
	}
	for _, text := range append(slices.Collect(valuesOf(e.texts)), e.added...) {
		if text == "" || len(text) > maxContent {
			return e, invalid(fmt.Sprintf("A message has between 1 byte and %d KB.", maxContent>>10))
		}
	}
	if a.Version != nil {
		e.show = *a.Version
		if e.show < 0 || e.show >= len(e.all)+len(e.added) {
			return e, invalid(fmt.Sprintf("There is no version %d of that message; it has %d, counted from 0.",
				e.show, len(e.all)+len(e.added)))
		}
	}
	e.shows = e.show != e.current
	return e, nil
}

func valuesOf(texts map[chat.MessageSeq]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for _, text := range texts {
			if !yield(text) {
				return
			}
		}
	}
}

// branch adds versions to an entry and shows the one wanted, at once or when the turn that
// writes in the chat is over.
func (s *chatServices) branch(ctx context.Context, by plugin.Caller, id chat.ConversationID, e versionEdit) error {
	if len(e.added) == 0 && !e.shows {
		return nil
	}
	_, err := s.o.Conversations.Change(ctx, id, func(ctx context.Context) error {
		t, err := s.tree(ctx, id)
		if err != nil {
			return err
		}
		own, _ := t.Item(e.entry[0])
		all := e.all
		for _, text := range e.added {
			m := chat.Message{
				Conversation: id, Parent: own.Parent, Role: own.Role, Turn: uuid.Must(uuid.NewV7()).String(),
				State: chat.Complete, Created: s.o.Now(), Ended: s.o.Now(), Origins: writtenBy(by),
				Parts: []chat.Part{chat.TextPart(strings.ToValidUTF8(text, "\uFFFD"))},
			}
			if own.Role == chat.RoleAssistant {
				m.Model, m.Reason = "plugin/"+by.Plugin, chat.EndDone
			}
			if err := s.o.Chats.Append(ctx, &m); err != nil {
				return err
			}
			all = append(slices.Clip(all), m.Seq)
		}
		head := t.Conversation.Head
		if e.shows {
			leaf := t.newest(all[e.show])
			head = leaf[len(leaf)-1]
		}
		err = s.o.Chats.UpdateConversation(ctx, id, func(c *chat.Conversation) { c.Head = head })
		s.o.Bus.Changed(bus.Edits, string(id))
		return err
	})
	return err
}

// rewrite changes the texts of versions in place, and what is stored with the entry.
func (s *chatServices) rewrite(ctx context.Context, by plugin.Caller, id chat.ConversationID, t tree, e versionEdit,
	a messageArgs,
) error {
	for seq, text := range e.texts {
		entry := e.entry
		if seq != entry[0] {
			have, err := s.entry(ctx, t, seq)
			if err != nil {
				return err
			}
			entry = nil
			for _, m := range have {
				entry = append(entry, m.Seq)
			}
		}
		if err := s.o.Conversations.Edit(ctx, id, entry, conversation.Edit{
			Text: &text, Origins: writtenBy(by),
		}); err != nil {
			return err
		}
	}
	if a.Hidden == nil && a.Metadata == nil {
		return nil
	}
	return s.o.Conversations.Edit(ctx, id, e.entry, conversation.Edit{Hidden: a.Hidden, Metadata: a.Metadata})
}

// metadataOf checks what a plugin wants to be stored with a message: an object of JSON.
func metadataOf(raw json.RawMessage) error {
	if len(raw) > maxMetadata {
		return invalid(fmt.Sprintf("The metadata of a message may have at most %d KB.", maxMetadata>>10))
	}
	var object map[string]json.RawMessage
	if len(raw) > 0 && (json.Unmarshal(raw, &object) != nil || object == nil) {
		return invalid("The metadata of a message is an object.")
	}
	return nil
}

// Version is one version of a message as plugins get it.
type Version struct {
	Content string `json:"content"`
	Created int64  `json:"created_ms"`
}

package store_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/store"
	"conclave/store/storetest"
)

// newTemporary makes a temporary chat in which somebody says a text.
func newTemporary(t *testing.T, s *store.Store, text string) chat.Conversation {
	t.Helper()
	c := chat.Conversation{Title: text, Temporary: true}
	must(t, s.Chats.CreateConversation(t.Context(), &c))
	say(t, s, c.ID, 0, chat.RoleUser, text)
	return c
}

func TestATemporaryChatIsInNoListSearchOrCopyAndGoneWhenDeletedOrAtTheNextStart(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	s := storetest.OpenWith(t, store.Options{Dir: dir})
	stays := newChat(t, s, "stays")
	say(t, s, stays.ID, 0, chat.RoleUser, "an ordinary word")
	c := newTemporary(t, s, "unheard-of word")
	must(t, s.Chats.UpdateConversation(ctx, c.ID, func(v *chat.Conversation) { v.Pinned = true }))
	if problems, err := s.Check(ctx); err != nil || len(problems) > 0 {
		t.Errorf("the store has %q, %v", problems, err)
	}

	page, err := s.Chats.List(ctx, chat.ListOptions{})
	must(t, err)
	days, err := s.Chats.Days(ctx, chat.ListOptions{})
	must(t, err)
	found, err := s.Chats.Find(ctx, "word", 0)
	must(t, err)
	if len(page.Conversations) != 1 || page.Total != 1 || days[0].Count != 1 || len(found) != 1 {
		t.Errorf("with a temporary chat there are listed %d, by day %v, found %v", page.Total, days, found)
	}
	_, err = s.Search.Conversation(ctx, c.ID)
	kind(t, err, fault.NotFound)
	_, err = s.Search.Message(ctx, c.ID, 1)
	kind(t, err, fault.NotFound)
	_, err = s.Chats.Conversation(ctx, c.ID)
	if err != nil || !s.Chats.IsTemporary(c.ID) || s.Chats.IsTemporary(stays.ID) {
		t.Error("by its id it is not there, or not temporary", err)
	}

	path := filepath.Join(t.TempDir(), "a.backup")
	_, err = s.Backup(ctx, path)
	must(t, err)
	raw, err := os.ReadFile(path)
	must(t, err)
	if bytes.Contains(raw, []byte("unheard-of")) || !bytes.Contains(raw, []byte("ordinary")) {
		t.Error("the backup holds the temporary chat, or not the other one")
	}

	token, err := s.Chats.DeleteConversation(ctx, c.ID)
	trash, listErr := s.Chats.Trash(ctx)
	if err != nil || listErr != nil || token != "" || len(trash) > 0 {
		t.Errorf("deleted it can be brought back: %q, %v, %v, %v", token, trash, err, listErr)
	}
	_, err = s.Chats.Message(ctx, c.ID, 1)
	kind(t, err, fault.NotFound)

	left := newTemporary(t, s, "left behind")
	must(t, s.Close())
	s = storetest.OpenWith(t, store.Options{Dir: dir})
	_, err = s.Chats.Conversation(ctx, left.ID)
	kind(t, err, fault.NotFound)
	_, err = s.Chats.Conversation(ctx, stays.ID)
	must(t, err)
}

func TestATemporaryChatThatIsSavedAfterAllIsListedAndSearched(t *testing.T) {
	ctx, s := t.Context(), storetest.Open(t)
	c := newTemporary(t, s, "a thought")
	before, err := s.Search.LastChange(ctx)
	must(t, err)
	must(t, s.Chats.UpdateConversation(ctx, c.ID, func(v *chat.Conversation) { v.Temporary = false }))
	page, err := s.Chats.List(ctx, chat.ListOptions{})
	if err != nil || page.Total != 1 || s.Chats.IsTemporary(c.ID) {
		t.Errorf("listed: %d, %v", page.Total, err)
	}
	var changed []chat.MessageSeq
	_, err = s.Search.Changes(ctx, before, 10, func(_ uint64, _ chat.ConversationID, seq chat.MessageSeq) error {
		changed = append(changed, seq)
		return nil
	})
	if err != nil || !slices.Equal(changed, []chat.MessageSeq{1, 0}) {
		t.Errorf("the index learns of %v, %v", changed, err)
	}
	must(t, s.Chats.UpdateConversation(ctx, c.ID, func(v *chat.Conversation) { v.Temporary = true }))
	if problems, err := s.Check(ctx); err != nil || len(problems) > 0 || s.Chats.IsTemporary(c.ID) {
		t.Errorf("a saved chat became temporary; %q, %v", problems, err)
	}
}

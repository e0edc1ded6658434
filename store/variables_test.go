package store_test

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/store"
	"conclave/store/storetest"

	"go.etcd.io/bbolt"
)

func TestVariablesAreKeptPerScopeAndChatAndGoWithTheChat(t *testing.T) {
	dir := t.TempDir()
	s := storetest.OpenWith(t, store.Options{Dir: dir})
	ctx := t.Context()
	a, b := chat.Conversation{}, chat.Conversation{}
	for _, c := range []*chat.Conversation{&a, &b} {
		must(t, s.Chats.CreateConversation(ctx, c))
	}
	wrote := []chat.Author{{Plugin: "notes", Name: "Notes"}, {Plugin: "web"}}
	if all, err := s.PluginData.Variables(ctx, "global", ""); err != nil || len(all) != 0 {
		t.Fatalf("before the first: %v, %v", all, err)
	}
	for _, v := range []struct {
		scope string
		chat  chat.ConversationID
		value string
	}{{"global", "", "g"}, {"chat", a.ID, "ca"}, {"chat", b.ID, "cb"}, {"local", a.ID, "la"}} {
		must(t, s.PluginData.PutVariable(ctx, v.scope, v.chat, "k\x00ey", chat.Variable{Value: v.value, Authors: wrote}))
		got, there, err := s.PluginData.Variable(ctx, v.scope, v.chat, "k\x00ey")
		if got.Value != v.value || !slices.Equal(got.Authors, wrote) || !there || err != nil {
			t.Errorf("%s: %+v %v %v", v.scope, got, there, err)
		}
	}
	err := s.PluginData.PutVariable(ctx, "chat", "none", "k", chat.Variable{Value: "v"})
	if fault.KindOf(err) != fault.NotFound {
		t.Errorf("of no chat: %v", err)
	}
	must(t, s.Close())
	s = storetest.OpenWith(t, store.Options{Dir: dir})
	if got, err := s.PluginData.Variables(ctx, "chat", a.ID); err != nil || len(got) != 1 ||
		got["k\x00ey"].Value != "ca" ||
		!slices.Equal(got["k\x00ey"].Authors, wrote) {
		t.Errorf("after a restart: %+v, %v", got, err)
	}
	if there, err := s.PluginData.DeleteVariable(ctx, "local", a.ID, "k\x00ey"); !there || err != nil {
		t.Errorf("delete: %v, %v", there, err)
	}
	token, err := s.Chats.DeleteConversation(ctx, a.ID)
	must(t, err)
	must(t, s.Chats.Purge(ctx, token))
	if got, err := s.PluginData.Variables(ctx, "chat", a.ID); err != nil || len(got) != 0 {
		t.Errorf("of a chat that is gone: %+v, %v", got, err)
	}
	if got, there, _ := s.PluginData.Variable(ctx, "chat", b.ID, "k\x00ey"); got.Value != "cb" || !there {
		t.Errorf("of the other chat: %+v", got)
	}
}

func TestVariablesFromBeforeAuthorsWereKeptAreReadAndHaveNone(t *testing.T) {
	dir := t.TempDir()
	s := storetest.OpenWith(t, store.Options{Dir: dir})
	must(t, s.Close())
	db, err := bbolt.Open(filepath.Join(dir, "conclave.db"), 0o600, nil)
	must(t, err)
	err = db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucketIfNotExists([]byte("variables"))
		if err != nil {
			return err
		}
		return b.Put([]byte("global\x00\x00k"), []byte("old"))
	})
	must(t, errors.Join(err, db.Close()))
	s = storetest.OpenWith(t, store.Options{Dir: dir})
	got, there, err := s.PluginData.Variable(t.Context(), "global", "", "k")
	if got.Value != "old" || len(got.Authors) != 0 || !there || err != nil {
		t.Errorf("got %+v, %v, %v", got, there, err)
	}
	wrote := []chat.Author{{Plugin: "notes", Name: "Notes"}}
	must(t, s.PluginData.PutVariable(t.Context(), "global", "", "k", chat.Variable{Value: "new", Authors: wrote}))
	if there, err := s.PluginData.DeleteVariable(t.Context(), "global", "", "k"); !there || err != nil {
		t.Errorf("delete: %v, %v", there, err)
	}
	must(t, s.PluginData.PutVariable(t.Context(), "global", "", "k", chat.Variable{Value: "another"}))
	if got, _, err = s.PluginData.Variable(t.Context(), "global", "", "k"); len(got.Authors) != 0 || err != nil {
		t.Errorf("it has the authors of one that was deleted: %+v, %v", got, err)
	}
}

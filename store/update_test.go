package store_test

import (
	"errors"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/store"
	"conclave/store/storetest"
)

func TestSeveralMessagesAreUpdatedInOneStepOrNotAtAll(t *testing.T) {
	s := storetest.Open(t)
	c := newChat(t, s, "")
	one := say(t, s, c.ID, 0, chat.RoleUser, "one")
	two := say(t, s, c.ID, one.Seq, chat.RoleAssistant, "two")
	both := []chat.MessageSeq{one.Seq, two.Seq}
	refused := errors.New("no")
	err := s.Chats.UpdateMessages(t.Context(), c.ID, both, func(messages []chat.Message) error {
		messages[0].Parts = []chat.Part{chat.TextPart("changed")}
		return refused
	})
	if !errors.Is(err, refused) {
		t.Errorf("the error of a change came back as %v", err)
	}
	kind(t, s.Chats.UpdateMessages(t.Context(), c.ID, []chat.MessageSeq{one.Seq, 9}, func([]chat.Message) error {
		t.Error("a change was begun with a message that is not there")
		return nil
	}), fault.NotFound)
	before, err := s.Chats.Path(t.Context(), c.ID)
	must(t, err)
	equal(t, "after changes that failed", texts(before), []string{"one", "two"})
	err = s.Chats.UpdateMessages(t.Context(), c.ID, both, func(messages []chat.Message) error {
		for i := range messages {
			messages[i].Hidden = true
			messages[i].Parts = []chat.Part{chat.TextPart(chat.TextOf(messages[i].Parts) + "!")}
		}
		return nil
	})
	must(t, err)
	after, err := s.Chats.Path(t.Context(), c.ID)
	must(t, err)
	equal(t, "after", texts(after), []string{"one!", "two!"})
	equal(t, "hidden", after[0].Hidden && after[1].Hidden, true)
}

func TestAMessageHiddenWhileItStreamsStaysHiddenAndKeepsItsText(t *testing.T) {
	dir := t.TempDir()
	s := storetest.OpenWith(t, store.Options{Dir: dir})
	c := newChat(t, s, "")
	m := streaming(t, s, c.ID, 0)
	journal := func(text string) {
		t.Helper()
		m.Parts = []chat.Part{chat.TextPart(text)}
		s.Chats.Journal(m)
	}
	hidden := func(when, text string) {
		t.Helper()
		got, err := s.Chats.Message(t.Context(), c.ID, m.Seq)
		if err != nil || !got.Hidden || chat.TextOf(got.Parts) != text {
			t.Errorf("%s it is hidden %v and says %q, %v", when, got.Hidden, chat.TextOf(got.Parts), err)
		}
	}
	journal("so")
	err := s.Chats.UpdateMessages(t.Context(), c.ID, []chat.MessageSeq{m.Seq}, func(messages []chat.Message) error {
		if got := chat.TextOf(messages[0].Parts); got != "so" {
			t.Errorf("it was given as %q, not with its newest text", got)
		}
		messages[0].Hidden = true
		return nil
	})
	must(t, err)
	hidden("at once", "so")
	journal("so far")
	hidden("while more comes", "so far")
	if err := s.Close(); err != nil { // as a kill leaves it: nothing ended the message
		t.Fatal(err)
	}
	s = storetest.OpenWith(t, store.Options{Dir: dir})
	hidden("after a restart", "so far")
}

func TestATurnIsStillOpenAfterItsQuestionWasEdited(t *testing.T) {
	dir := t.TempDir()
	s := storetest.OpenWith(t, store.Options{Dir: dir})
	c := newChat(t, s, "")
	m := chat.Message{
		Conversation: c.ID, Role: chat.RoleUser, State: chat.Complete, Open: true, Parts: []chat.Part{chat.TextPart("why")},
	}
	must(t, s.Chats.Append(t.Context(), &m))
	err := s.Chats.UpdateMessages(t.Context(), c.ID, []chat.MessageSeq{m.Seq}, func(messages []chat.Message) error {
		messages[0].Parts = []chat.Part{chat.TextPart("why not")}
		return nil
	})
	must(t, err)
	must(t, s.Close())
	s = storetest.OpenWith(t, store.Options{Dir: dir})
	got, err := s.Chats.Message(t.Context(), c.ID, m.Seq)
	if err != nil || got.Reason != chat.EndInterrupted || chat.TextOf(got.Parts) != "why not" {
		t.Errorf("after a restart it is %+v, %v", got, err)
	}
}

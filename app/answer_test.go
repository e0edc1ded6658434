package app

import (
	"context"
	"testing"
	"testing/synctest"

	"conclave/app/chat"
	"conclave/app/fault"
	"conclave/app/llm/llmtest"
	"conclave/app/settings"
)

func TestF134OneAnswerAtATimeIsWrittenInAChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := settings.Default()
		set.ModelTitles = false
		never := make(chan struct{})
		m := llmtest.New([]llmtest.Step{llmtest.Say("Half of "), llmtest.Wait(never)}, []llmtest.Step{llmtest.Say("All of it.")})
		a, _ := conversing(t, m, set)
		a.Chats.start(t.Context())
		if err := a.Chats.Stop(string(talk)); err != nil {
			t.Errorf("stopping nothing: %v", err)
		}
		if _, err := a.Chats.Send(string(talk), Outgoing{Text: "Tell me."}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		opened, err := a.Chats.Pull(string(talk), 0)
		if err != nil || opened.Status == nil || opened.Status.Phase != "answering" || opened.Entries[1].State != "streaming" {
			t.Errorf("while it is written the chat is %+v, %v", opened, err)
		}
		if row := a.Chats.row(chat.Conversation{ID: talk}, nil); row.State != "running" {
			t.Errorf("its row is %+v", row)
		}
		if _, err := a.Chats.Send(string(talk), Outgoing{Text: "And this."}); fault.Of(err).Kind != fault.Conflict {
			t.Errorf("a second question while the first is answered: %v", err)
		}
		if err := a.Chats.SwitchVersion(string(talk), 1); fault.Of(err).Kind != fault.Conflict {
			t.Errorf("another version while the first is answered: %v", err)
		}
		if err := a.Chats.Stop(string(talk)); err != nil {
			t.Fatal(err)
		}
		stopped, err := a.Chats.Pull(string(talk), opened.Revision)
		if err != nil || stopped.Status != nil || stopped.Entries[len(stopped.Entries)-1].State != "stopped" {
			t.Errorf("after it was stopped the chat is %+v, %v", stopped, err)
		}
		if _, err := a.Chats.Send(string(talk), Outgoing{Text: "Again."}); err != nil {
			t.Errorf("the next question: %v", err)
		}
		synctest.Wait()
		ended, err := a.Chats.Pull(string(talk), stopped.Revision)
		if err != nil || ended.Status != nil || ended.Entries[len(ended.Entries)-1].State != "complete" {
			t.Errorf("after the second answer the chat is %+v, %v", ended, err)
		}
		close(never)
		a.Chats.stop()
		if _, err := a.Chats.Send(string(talk), Outgoing{Text: "Too late."}); fault.Of(err).Kind != fault.Canceled {
			t.Errorf("a question to a closed window: %v", err)
		}
	})
}

func TestF135APageStartsAnewWhoseTranscriptWasClosed(t *testing.T) {
	a, log := conversing(t, llmtest.New(), settings.Default())
	if err := log.Append(t.Context(), &chat.Message{Conversation: talk, Role: chat.RoleUser, Parts: []chat.Part{{Kind: chat.PartText, Text: "One."}}}); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		if err := a.Chats.SetPinned(string(talk), true); err != nil {
			t.Fatal(err)
		}
	}
	held, err := a.Chats.Pull(string(talk), 0)
	if err != nil || held.Revision < 5 {
		t.Fatalf("it opens as %+v, %v", held, err)
	}
	a.Chats.mu.Lock()
	a.Chats.closeTranscript(talk)
	a.Chats.mu.Unlock()
	if err := a.Chats.redraw(context.Background(), talk); err != nil {
		t.Errorf("an edit in a chat that nobody looks at: %v", err)
	}
	again, err := a.Chats.Pull(string(talk), held.Revision)
	if err != nil || !again.Reset || len(again.Entries) != 1 || again.Revision <= held.Revision {
		t.Errorf("a page of revision %d pulls %+v, %v", held.Revision, again, err)
	}
}

package conversation_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/chat/turn"
)

var errEnough = errors.New("enough")

func TestOneTurnWritesAndTheNextSenderGetsAnError(t *testing.T) {
	b := newBench(t)
	if b.owner.Running(b.id) {
		t.Error("a turn runs before there is one")
	}
	m, goes := halts("Half ", "whole")
	u := b.ask(m, "Tell me.")
	u.until("Half ")
	if !b.owner.Running(b.id) {
		t.Error("no turn runs while one does")
	}
	if _, err := b.owner.Run(t.Context(), turn.Request{Conversation: b.id, Text: "And this.", Model: says("no")},
		nil); fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "still being written") {
		t.Errorf("the second sender is told %v", err)
	}
	err := b.owner.WhileIdle(t.Context(), b.id, func() error { t.Error("it was not idle"); return nil })
	if fault.KindOf(err) != fault.Conflict {
		t.Errorf("a change for a chat at rest: %v", err)
	}
	close(goes)
	if out := u.end(); out.Reason != chat.EndDone {
		t.Errorf("the first ended %+v", out)
	}
	if len(b.rests) != 1 || b.rests[0] {
		t.Errorf("of its end one was told, running or not: %v", b.rests)
	}
	if kinds := u.kinds; kinds[len(kinds)-1] != chat.EventOver || kinds[len(kinds)-2] != chat.EventEnded {
		t.Errorf("the last events are %v", kinds[len(kinds)-3:])
	}
	if b.owner.Running(b.id) {
		t.Error("a turn runs after it ended")
	}
	b.wants("nothing of the second was written", "1 user Tell me.", "2 assistant Half whole")
	b.ask(says("Yes."), "Now?").end()
	b.wants("the next turn", "1 user Tell me.", "2 assistant Half whole", "3 user Now?", "4 assistant Yes.")
}

func TestATurnThatDoesNotBeginLeavesTheChatFree(t *testing.T) {
	b := newBench(t)
	heard := false
	for range 2 {
		_, err := b.owner.Run(t.Context(), turn.Request{Conversation: b.id, Model: says("x")},
			func(chat.Event) { heard = true })
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("with nothing to answer: %v", err)
		}
	}
	if heard || b.owner.Running(b.id) {
		t.Errorf("it was heard of: %v; it runs: %v", heard, b.owner.Running(b.id))
	}
}

func TestChangesWaitForTheEndOfAnAnswerInTheirOrder(t *testing.T) {
	b := newBench(t)
	m, goes := halts("An ", "answer")
	u := b.ask(m, "Q")
	u.until("An ")
	var written []chat.MessageSeq
	for i := range 50 {
		add := []chat.Message{
			{Role: chat.RoleUser, State: chat.Complete, Parts: []chat.Part{chat.TextPart(fmt.Sprint("note ", i))}},
		}
		waits, err := b.owner.Append(t.Context(), b.id, add,
			func(_ context.Context, w []chat.Message) { written = append(written, w[0].Seq) })
		if err != nil || !waits {
			t.Fatalf("note %d: waits %v, %v", i, waits, err)
		}
		if add[0].Seq != 0 {
			t.Error("the caller's own message was changed")
		}
	}
	_, err := b.owner.Change(t.Context(), b.id, func(context.Context) error { t.Error("it was one too many"); return nil })
	if fault.KindOf(err) != fault.NotAllowed || !strings.Contains(err.Error(), "50 changes") {
		t.Errorf("one too many: %v", err)
	}
	b.wants("while it is written", "1 user Q", "2 assistant An")
	close(goes)
	u.end()
	path := b.path()
	if len(path) != 52 || path[1] != "2 assistant An answer" || path[2] != "3 user note 0" ||
		path[51] != "52 user note 49" {
		t.Errorf("after it: %q", path)
	}
	if !slices.IsSorted(written) || len(written) != 50 {
		t.Errorf("those who wrote were told of %v", written)
	}
	if waits, err := b.owner.Change(t.Context(), b.id, func(context.Context) error { return errEnough }); waits ||
		!errors.Is(err, errEnough) {
		t.Errorf("in a chat at rest: waits %v, %v", waits, err)
	}
}

func TestAChangeThatFailsAfterTheAnswerDoesNotStopTheOthers(t *testing.T) {
	b := newBench(t)
	m, goes := halts("An ", "answer")
	u := b.ask(m, "Q")
	u.until("An ")
	if waits, err := b.owner.Change(t.Context(), b.id, func(context.Context) error { return errEnough }); !waits ||
		err != nil {
		t.Errorf("waits %v, %v", waits, err)
	}
	done := false
	if _, err := b.owner.Change(t.Context(), b.id, func(ctx context.Context) error {
		_, bounded := ctx.Deadline()
		done = bounded
		return nil
	}); err != nil {
		t.Error(err)
	}
	close(goes)
	u.end()
	if !done {
		t.Error("the second change was not made, or without an end")
	}
}

func TestATurnWaitsForAChangeThatIsUnderWay(t *testing.T) {
	b := newBench(t)
	began, goes, changed := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() { // ends with the change
		_, err := b.owner.Change(t.Context(), b.id, func(context.Context) error { close(began); <-goes; return nil })
		changed <- err
	}()
	<-began
	impatient, cancel := context.WithCancelCause(t.Context())
	cancel(errEnough)
	if _, err := b.owner.Run(impatient, turn.Request{Conversation: b.id, Text: "Q", Model: says("x")},
		nil); !errors.Is(err, errEnough) {
		t.Errorf("somebody who does not wait: %v", err)
	}
	if _, err := b.owner.Change(impatient, b.id,
		func(context.Context) error { t.Error("two at once"); return nil }); !errors.Is(err, errEnough) {
		t.Errorf("a change that does not wait: %v", err)
	}
	u := b.ask(says("Hi."), "Q")
	close(goes)
	if err := <-changed; err != nil {
		t.Error(err)
	}
	u.end()
	b.wants("after both", "1 user Q", "2 assistant Hi.")
}

func TestStoppingEndsEveryTurnAndWhatWaitedIsDone(t *testing.T) {
	b := newBench(t)
	b.owner.Stop(t.Context(), b.id, errEnough) // nothing runs: nothing to wait for
	m, _ := halts("Half", "never")
	main := b.ask(m, "Q")
	main.until("Half")
	s, _ := halts("But", "never")
	member := b.member(s, "", false)
	member.until("But")
	if _, err := b.owner.Append(t.Context(), b.id,
		[]chat.Message{{Role: chat.RoleUser, State: chat.Complete, Parts: []chat.Part{chat.TextPart("note")}}},
		nil); err != nil {
		t.Fatal(err)
	}
	b.owner.Stop(t.Context(), b.id, errEnough)
	b.wants("once it is stopped", "1 user Q", "2 assistant Half", "3 user note")
	for name, u := range map[string]*under{"main": main, "member": member} {
		if out := u.end(); out.Reason != chat.EndStopped || chat.TextOf(out.Message.Parts) == "" {
			t.Errorf("%s ended %+v", name, out)
		}
		if !u.heard(chat.EventStopping) {
			t.Errorf("%s was not told that it stops", name)
		}
	}
}

func TestStopDoesNotWaitForEver(t *testing.T) {
	b := newBench(t)
	began, goes := make(chan struct{}), make(chan struct{})
	u := newUnder(t)
	go func() { // ends with the turn, whose listener is slow
		out, err := b.owner.Run(t.Context(), turn.Request{Conversation: b.id, Text: "Q", Model: says("x")},
			func(e chat.Event) {
				if e.Kind == chat.EventEnded {
					close(began)
					<-goes
				}
			})
		u.result <- result{out, err}
	}()
	<-began
	stopped := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	go func() { // ends once the listener goes on
		defer close(stopped)
		b.owner.Stop(ctx, b.id, errEnough)
	}()
	close(goes)
	<-stopped
	u.end()
}

func TestAChatThatIsAnsweredIsDeletedWithWhatWasSaid(t *testing.T) {
	b := newBench(t)
	m, _ := halts("Half", "never")
	u := b.ask(m, "Q")
	u.until("Half")
	token, err := b.owner.Delete(t.Context(), b.id, errEnough)
	must(t, err)
	if out := u.end(); out.Reason != chat.EndStopped || out.Err != nil {
		t.Errorf("the turn ended %+v", out)
	}
	if _, err := b.owner.Run(t.Context(), turn.Request{Conversation: b.id, Text: "Q", Model: says("x")},
		nil); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a question to a chat that is gone: %v", err)
	}
	if _, err := b.store.Chats.Undelete(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	b.wants("when it is back", "1 user Q", "2 assistant Half")
}

package conversation_test

import (
	"slices"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/chat/conversation"
	"conclave/app/model/modeltest"
	"conclave/app/test/testkit"
	"conclave/store/storetest"
)

var must = testkit.Must

func text(s string) conversation.Edit { return conversation.Edit{Text: &s} }

func hidden(h bool) conversation.Edit { return conversation.Edit{Hidden: &h} }

func TestAnAnswerHiddenWhileItIsWrittenStaysHiddenAsAWhole(t *testing.T) {
	b := newBench(t)
	goes := make(chan struct{})
	m := modeltest.New(
		[]modeltest.Step{modeltest.Say("Let me "), modeltest.Wait(goes), modeltest.Say("see."), modeltest.Call("1", "echo", `{}`)},
		[]modeltest.Step{modeltest.Say("Done.")},
	)
	u := b.ask(m, "Q")
	b.writes(u, "Let me ")
	must(t, b.owner.Edit(t.Context(), b.id, []chat.MessageSeq{2}, hidden(true)))
	if seq := <-b.edited; seq != 2 {
		t.Errorf("message %d was said to be edited", seq)
	}
	if got := b.path(); !strings.HasSuffix(got[1], "*") {
		t.Errorf("at once it is %q", got)
	}
	close(goes)
	u.end()
	b.wants("in the end", "1 user Q", "2 assistant Let me see.*", "3 tool *", "4 assistant Done.*")
	next := says("x")
	b.ask(next, "So?").end()
	if sent := next.Requests()[0].Messages; len(sent) != 1 {
		t.Errorf("the next turn was sent %+v", sent)
	}
}

func TestWhatATurnIsWritingCannotBeEditedAndItsQuestionCan(t *testing.T) {
	b := newBench(t)
	b.ask(says("Old."), "First").end()
	goes := make(chan struct{})
	m := modeltest.New([]modeltest.Step{modeltest.Call("1", "echo", `{}`)}, []modeltest.Step{
		modeltest.Say("Half "), modeltest.Wait(goes), modeltest.Say("whole"),
	})
	u := b.ask(m, "Second")
	b.writes(u, "Half ")
	err := b.owner.Edit(t.Context(), b.id, []chat.MessageSeq{4}, text("mine")) // a round that is whole: the answer goes on
	if fault.KindOf(err) != fault.Conflict || !strings.Contains(err.Error(), "That message is still being written.") {
		t.Errorf("editing the answer: %v", err)
	}
	for _, seq := range []chat.MessageSeq{2, 3} {
		if err := b.owner.Edit(t.Context(), b.id, []chat.MessageSeq{seq}, text("changed")); err != nil {
			t.Errorf("editing message %d: %v", seq, err)
		}
	}
	close(goes)
	u.end()
	b.wants("in the end", "1 user First", "2 assistant changed", "3 user changed", "4 assistant", "5 tool",
		"6 assistant Half whole")
	must(t, b.owner.Edit(t.Context(), b.id, []chat.MessageSeq{4, 5, 6}, text("mine now")))
	b.wants("once it is over", "1 user First", "2 assistant changed", "3 user changed", "4 assistant", "5 tool",
		"6 assistant mine now")
}

func TestAQuestionEditedBeforeItsFirstWordKeepsItsTextWhenTheTurnIsStopped(t *testing.T) {
	b := newBench(t)
	began := make(chan struct{})
	m := modeltest.New([]modeltest.Step{modeltest.Wait(make(chan struct{}))})
	u := newUnder(t)
	go func() { // ends with the turn
		r := request(b, m, "Q")
		out, err := b.owner.Run(t.Context(), r, onWaiting(began))
		u.result <- result{out, err}
	}()
	<-began
	must(t, b.owner.Edit(t.Context(), b.id, []chat.MessageSeq{1}, text("Q, better")))
	b.owner.Stop(t.Context(), b.id, errEnough)
	u.end()
	b.wants("when it is stopped", "1 user Q, better")
}

func TestAnEntryIsEditedAsAWholeOrNotAtAll(t *testing.T) {
	call := chat.Part{Kind: chat.PartToolCall, Call: &chat.ToolCall{ID: "1", Tool: "echo", Arguments: []byte("{}")}}
	result := chat.Part{
		Kind: chat.PartToolResult, Result: &chat.ToolResult{CallID: "1", Content: []chat.Part{chat.TextPart("r")}},
	}
	said := func(role chat.Role, parts ...chat.Part) chat.Message {
		return chat.Message{Role: role, Turn: "t", State: chat.Complete, Parts: parts}
	}
	for name, c := range map[string]struct {
		entry []chat.Message
		want  []string
	}{
		"one text": {[]chat.Message{said(chat.RoleAssistant, chat.TextPart("a"))}, []string{"new"}},
		"texts of two": {
			[]chat.Message{
				said(chat.RoleAssistant, chat.TextPart("a"), call), said(chat.RoleTool, result),
				said(chat.RoleAssistant, chat.TextPart("b")),
			},
			[]string{"new tool_call", "tool_result", ""},
		},
		"text in the second": {
			[]chat.Message{
				said(chat.RoleAssistant, call), said(chat.RoleTool, result), said(chat.RoleAssistant, chat.TextPart("b")),
			},
			[]string{"tool_call", "tool_result", "new"},
		},
		"no text at all": {
			[]chat.Message{said(chat.RoleAssistant, call), said(chat.RoleTool, result)},
			[]string{"new tool_call", "tool_result"},
		},
		"a result alone": {[]chat.Message{said(chat.RoleTool, result)}, []string{"new tool_result"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			if _, err := b.owner.Append(t.Context(), b.id, c.entry, nil); err != nil {
				t.Fatal(err)
			}
			var seqs []chat.MessageSeq
			for i := range c.entry {
				seqs = append(seqs, chat.MessageSeq(i+1))
			}
			if err := b.owner.Edit(t.Context(), b.id, append(slices.Clone(seqs), 99),
				text("half")); fault.KindOf(err) != fault.NotFound {
				t.Errorf("with a message that is not there: %v", err)
			}
			must(t, b.owner.Edit(t.Context(), b.id, seqs, text("new")))
			path, err := b.store.Chats.Path(t.Context(), b.id)
			must(t, err)
			var got []string
			for _, m := range path {
				var words []string
				for _, p := range m.Parts {
					if p.Kind == chat.PartText {
						words = append(words, p.Text)
						continue
					}
					words = append(words, string(p.Kind))
				}
				got = append(got, strings.Join(words, " "))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestAnEditOfNothingIsRefused(t *testing.T) {
	b := newBench(t)
	if err := b.owner.Edit(t.Context(), b.id, nil, hidden(true)); fault.KindOf(err) != fault.NotFound {
		t.Errorf("got %v", err)
	}
	b.add(chat.RoleUser, "t", "Q")
	must(t, b.owner.Edit(t.Context(), b.id, []chat.MessageSeq{1}, hidden(true)))
	must(t, b.owner.Edit(t.Context(), b.id, []chat.MessageSeq{1}, hidden(false)))
	b.wants("hidden and given back", "1 user Q")
}

func TestAnEntryIsRemovedAfterTheAnswerAndItsBranchStays(t *testing.T) {
	b := newBench(t)
	b.ask(modeltest.New([]modeltest.Step{modeltest.Say("Let me see."), modeltest.Call("1", "echo", `{}`)},
		[]modeltest.Step{modeltest.Say("Done.")}), "First").end()
	m, goes := halts("Half ", "whole")
	u := b.ask(m, "Second")
	b.writes(u, "Half ")
	told := false
	waits, err := b.owner.Remove(t.Context(), b.id, 3, func() { told = true }) // the result in the middle of the answer
	if err != nil || !waits {
		t.Fatalf("waits %v, %v", waits, err)
	}
	b.wants("while it is written", "1 user First", "2 assistant Let me see.", "3 tool", "4 assistant Done.",
		"5 user Second", "6 assistant Half")
	close(goes)
	u.end()
	b.wants("after it", "1 user First", "7 user Second", "8 assistant Half whole")
	if !told {
		t.Error("nobody was told that it is removed")
	}
	if old, err := b.store.Chats.Message(t.Context(), b.id, 4); err != nil || chat.TextOf(old.Parts) != "Done." {
		t.Errorf("the old branch has %+v, %v", old, err)
	}
	if _, err := b.owner.Remove(t.Context(), b.id, 4, nil); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a message of another branch: %v", err)
	}
	if _, err := b.owner.Remove(t.Context(), b.id, 8, nil); err != nil {
		t.Error(err)
	}
	b.wants("without its last", "1 user First", "7 user Second")
}

func TestAMessageFarFromTheEndCannotBeRemoved(t *testing.T) {
	b := newBench(t)
	var many []chat.Message
	for range 202 {
		many = append(many, chat.Message{Role: chat.RoleUser, State: chat.Complete, Parts: []chat.Part{chat.TextPart("x")}})
	}
	if _, err := b.owner.Append(t.Context(), b.id, many, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := b.owner.Remove(t.Context(), b.id, 1, nil); fault.KindOf(err) != fault.Invalid {
		t.Errorf("got %v", err)
	}
	if _, err := b.owner.Remove(t.Context(), b.id, 2, nil); err != nil {
		t.Errorf("the one behind it: %v", err)
	}
}

func TestAFullDiskIsReportedToWhoeverChangesAChat(t *testing.T) {
	s := storetest.Open(t)
	through := &full{Turns: s.Turns}
	b := benchOver(t, s, through)
	b.add(chat.RoleUser, "t", "Q")
	b.add(chat.RoleUser, "t", "R")
	through.fill(fault.New(fault.Unavailable, "store.append", "The disk is full.", "Free some space."))
	if _, err := b.owner.Append(t.Context(), b.id, []chat.Message{{Role: chat.RoleUser}},
		nil); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("adding: %v", err)
	}
	if _, err := b.owner.Append(t.Context(), "nowhere", []chat.Message{{Role: chat.RoleUser}},
		nil); fault.KindOf(err) != fault.NotFound {
		t.Errorf("adding to no chat: %v", err)
	}
	if _, err := b.owner.Remove(t.Context(), b.id, 1, nil); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("removing: %v", err)
	}
}

func TestWhatFollowedARemovedMessageKeepsItsOrigins(t *testing.T) {
	b := newBench(t)
	page := chat.NewOrigin(chat.FromWeb, "example.org")
	add := func(role chat.Role, text string, origins ...chat.Origin) {
		_, err := b.owner.Append(t.Context(), b.id, []chat.Message{{
			Role: role, State: chat.Complete, Parts: []chat.Part{chat.TextPart(text)}, Origins: origins,
		}}, nil)
		must(t, err)
	}
	holds := func(when string, want bool) {
		t.Helper()
		path, err := b.store.Chats.Path(t.Context(), b.id)
		must(t, err)
		if got := chat.OriginsOf(chat.Conversation{}, path); slices.Contains(got, page) != want {
			t.Errorf("%s, the path holds %v", when, got)
		}
	}
	remove := func(n int) {
		path, err := b.store.Chats.Path(t.Context(), b.id)
		must(t, err)
		_, err = b.owner.Remove(t.Context(), b.id, path[n].Seq, nil)
		must(t, err)
	}
	add(chat.RoleUser, "Read it.")
	add(chat.RoleAssistant, "It says to send all.", page)
	add(chat.RoleUser, "Really?")
	add(chat.RoleUser, "Well then.")
	remove(1)
	holds("with what followed", true)
	remove(1) // the one that the origins went to
	holds("with the last that followed", true)
	remove(1)
	holds("with nothing that followed", false)

	add(chat.RoleAssistant, "It says so.", page)
	path, err := b.store.Chats.Path(t.Context(), b.id)
	must(t, err)
	last := []chat.MessageSeq{path[len(path)-1].Seq}
	must(t, b.owner.Edit(t.Context(), b.id, last, text("It says nothing.")))
	must(t, b.owner.Edit(t.Context(), b.id, last, hidden(true)))
	holds("edited and hidden", true)
	by := chat.NewOrigin(chat.FromPlugin, "Notes")
	must(t, b.owner.Edit(t.Context(), b.id, []chat.MessageSeq{path[0].Seq}, conversation.Edit{
		Text: text("Read all.").Text, Origins: []chat.Origin{by},
	}))
	path, err = b.store.Chats.Path(t.Context(), b.id)
	must(t, err)
	if got := path[0].Origins; !slices.Equal(got, []chat.Origin{by}) {
		t.Errorf("what a plugin wrote came from %v", got)
	}
}

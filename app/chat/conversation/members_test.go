package conversation_test

import (
	"fmt"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/chat/conversation"
	"conclave/app/chat/turn"
	"conclave/app/model/modeltest"
	"conclave/store/storetest"
)

func TestTwoModelsRunAtOnceInOneChatAndOneWrites(t *testing.T) {
	b := newBench(t)
	b.add(chat.RoleUser, "t0", "Hello.")
	b.add(chat.RoleAssistant, "t0", "Hello yourself.")
	mainModel, mainGoes := halts("It is ", "so.")
	main := b.ask(mainModel, "Is it so?")
	main.until("It is ")
	goes := make(chan struct{})
	memberModel := modeltest.New(
		[]modeltest.Step{modeltest.Call("1", "echo", `{"n":1}`)},
		[]modeltest.Step{modeltest.Say("I doubt "), modeltest.Wait(goes), modeltest.Say("it.")},
	)
	member := b.member(memberModel, "", false)
	member.until("I doubt ")
	b.wants("while both speak", "1 user Hello.", "2 assistant Hello yourself.", "3 user Is it so?", "4 assistant It is")
	first := memberModel.Requests()[0].Messages
	if n := len(first); n != 3 || chat.TextOf(first[n-1].Parts) != "Is it so?" {
		t.Errorf("the member was sent %+v", first)
	}
	close(goes)
	out := member.end()
	if out.Reason != chat.EndDone || chat.TextOf(out.Message.Parts) != "I doubt it." {
		t.Errorf("the member ended %+v", out)
	}
	close(mainGoes)
	main.end()
	b.wants("in the end", "1 user Hello.", "2 assistant Hello yourself.", "3 user Is it so?", "4 assistant It is so.")
	must(t, b.store.Sync(t.Context()))
	records, err := b.store.Calls.Calls(t.Context(), chat.CallFilter{Conversation: b.id})
	if err != nil || len(records) != 1 {
		t.Fatalf("on record are %+v, %v", records, err)
	}
	if r := records[0]; r.Caller != "member:sceptic" || r.Turn != out.Turn || r.ResponseID != 0 ||
		r.Status != chat.CallOK {
		t.Errorf("the member's call is on record as %+v", r)
	}
}

func TestWhatAMemberSaysIsAddedBehindTheAnswerWhenAsked(t *testing.T) {
	b := newBench(t)
	mainModel, mainGoes := halts("It is ", "so.")
	main := b.ask(mainModel, "Is it so?")
	main.until("It is ")
	memberModel := modeltest.New([]modeltest.Step{modeltest.Say("Let me see."), modeltest.Call("1", "echo", `{}`)},
		[]modeltest.Step{modeltest.Say("I doubt it.")})
	b.member(memberModel, "What do you think?", true).end()
	if last := memberModel.Requests()[0].Messages; !strings.Contains(chat.TextOf(last[len(last)-1].Parts),
		"What do you think?") {
		t.Errorf("the member was sent %+v", last)
	}
	b.wants("while the answer is written", "1 user Is it so?", "2 assistant It is")
	close(mainGoes)
	main.end()
	b.wants("behind it", "1 user Is it so?", "2 assistant It is so.", "3 assistant Let me see.", "4 tool",
		"5 assistant I doubt it.")
	path, err := b.store.Chats.Path(t.Context(), b.id)
	must(t, err)
	if entries := chat.Entries(path); len(entries) != 3 || len(entries[2].Messages) != 3 {
		t.Errorf("the entries are %+v", entries)
	}
	next := modeltest.New([]modeltest.Step{modeltest.Say("Fine.")})
	b.ask(next, "So?").end()
	if sent := next.Requests()[0].Messages; len(sent) != 5 {
		t.Errorf("the next turn was sent %+v", sent)
	}
}

func TestAMemberAnswersTheLastQuestionAlthoughItIsAnswered(t *testing.T) {
	b := newBench(t)
	b.ask(says("Yes."), "Really?").end()
	m := says("No.")
	if out := b.member(m, "", false).end(); out.Reason != chat.EndDone {
		t.Errorf("it ended %+v", out)
	}
	if sent := m.Requests()[0].Messages; len(sent) != 1 || chat.TextOf(sent[0].Parts) != "Really?" {
		t.Errorf("it was sent %+v", sent)
	}
	asked := says("No!")
	b.member(asked, "And now?", false).end()
	if sent := asked.Requests()[0].Messages; len(sent) != 3 {
		t.Errorf("with a question of its own it was sent %+v", sent)
	}
	b.wants("the chat is as it was", "1 user Really?", "2 assistant Yes.")
}

func TestAMemberOfAChatThatIsNotThereOrEmptyIsRefused(t *testing.T) {
	b := newBench(t)
	if r := <-b.member(says("x"), "", false).result; fault.KindOf(r.err) != fault.Invalid {
		t.Errorf("with nothing to answer: %v", r.err)
	}
	_, err := b.owner.RunMember(t.Context(), conversation.Member{Caller: "member:a"},
		turn.Request{Conversation: "nowhere", Model: says("x")}, nil)
	if fault.KindOf(err) != fault.NotFound {
		t.Errorf("in no chat: %v", err)
	}
	if b.owner.Running(b.id) {
		t.Error("it runs still")
	}
}

func TestAMembersWordsThatCannotBeAddedAreInTheOutcome(t *testing.T) {
	s := storetest.Open(t)
	through := &full{Turns: s.Turns}
	b := benchOver(t, s, through)
	b.add(chat.RoleUser, "t", "Q")
	goes := make(chan struct{})
	u := b.member(
		modeltest.New([]modeltest.Step{modeltest.Say("My "), modeltest.Wait(goes), modeltest.Say("view.")}),
		"",
		true,
	)
	u.until("My ")
	full := fault.New(fault.Unavailable, "store.append", "The disk is full.", "Free some space.")
	through.fill(full)
	close(goes)
	r := <-u.result
	if fault.KindOf(r.err) != fault.Unavailable || chat.TextOf(r.out.Message.Parts) != "My view." {
		t.Errorf("it ended %+v, %v", r.out, r.err)
	}
	if _, err := b.owner.RunMember(t.Context(), conversation.Member{Caller: "member:a"},
		turn.Request{Conversation: b.id, Model: says("x")}, nil); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("when the chat cannot be read: %v", err)
	}
}

func TestAMemberGetsNothingButWhatItIsGiven(t *testing.T) {
	b := newBench(t)
	b.add(chat.RoleUser, "t0", "A secret.")
	b.add(chat.RoleAssistant, "t0", "I keep it.")
	m := modeltest.New(
		[]modeltest.Step{modeltest.Call("1", "echo", `{"n":1}`)},
		[]modeltest.Step{modeltest.Say("I doubt it.")},
	)
	given := conversation.Given{System: "You are a sceptic.", Path: []chat.Message{
		{
			Role:   chat.RoleUser,
			State:  chat.Complete,
			Parts:  []chat.Part{chat.TextPart("Is it so?")},
			Seq:    40,
			Parent: 39,
		},
	}}
	out, err := b.owner.RunMember(t.Context(), conversation.Member{Caller: "member:sceptic", Given: &given},
		request(b, m, ""), nil)
	if err != nil || chat.TextOf(out.Message.Parts) != "I doubt it." {
		t.Fatalf("it ended %+v, %v", out, err)
	}
	sent := m.Requests()
	if len(sent) != 2 || sent[0].System != given.System || len(sent[0].Messages) != 1 ||
		strings.Contains(fmt.Sprint(sent), "secret") {
		t.Errorf("it was sent %+v", sent)
	}
	b.wants("the chat is as it was", "1 user A secret.", "2 assistant I keep it.")
}

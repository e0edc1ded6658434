package transcript_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"conclave/app/chat"
	"conclave/app/chat/showing"
	"conclave/app/chat/transcript"
	"conclave/app/test/testkit"
)

var must = testkit.Must

func TestAChatOpensWithItsPathAndItsLastEntriesWhole(t *testing.T) {
	m := newMemory()
	for i := range 50 {
		m.ask(fmt.Sprint("Question ", i))
		m.reply(fmt.Sprint("turn ", i), "Answer")
	}
	tr := m.open(t)
	p := newPage(t, tr)
	p.pull()
	if o := p.last.Outline; o.From != 0 || len(o.Seqs) != 100 || o.Seqs[0] != 1 || o.Seqs[99] != 100 {
		t.Errorf("the outline is %+v", o)
	}
	if p.chat == nil || p.chat.Title != "Trains" || p.last.Reset || p.status != nil || p.last.Conversation != "c" {
		t.Errorf("it opened with %+v", p.last)
	}
	if n := len(p.last.Entries); n != 30 || p.last.Entries[0].Seq != 71 || !p.last.Entries[0].Whole {
		t.Errorf("it opened with %d entries", n)
	}
	p.pull(transcript.Want{Seq: 5}, transcript.Want{Seq: 1}, transcript.Want{Seq: 4711}, transcript.Want{})
	entries := p.last.Entries
	if len(entries) != 2 || entries[0].Seq != 1 || entries[1].Seq != 5 || !entries[0].Whole {
		t.Errorf("asked for 5 and 1: %+v", entries)
	}
	p.pull()
	if p.last.Chat != nil || p.last.Outline != nil || len(p.last.Entries) != 0 {
		t.Errorf("nothing happened, and it pulls %s", encode(t, p.last))
	}
	if p.revision != tr.Revision() {
		t.Errorf("it pulled revision %d of %d", p.revision, tr.Revision())
	}
	var lists map[string]any
	if err := json.Unmarshal([]byte(encode(t, entries[1])), &lists); err != nil || lists["siblings"] == nil ||
		lists["parts"] == nil {
		t.Errorf("a list is null: %v", lists)
	}
}

func TestAPageStartsAgainWhenItsRevisionIsNotOfThisTranscript(t *testing.T) {
	m := newMemory()
	m.ask("one")
	old := m.open(t)
	behind := fresh(t, old)
	for i := range 300 {
		m.ask(fmt.Sprint("Question ", i))
		refresh(t, old)
	}
	lately := fresh(t, old)
	for i := range 300 {
		m.ask(fmt.Sprint("Question ", i))
		refresh(t, old)
	}
	behind.check("600 changes later")
	if !behind.last.Reset {
		t.Error("a page of 600 changes ago did not start anew")
	}
	lately.check("300 changes later")
	if lately.last.Reset {
		t.Error("a page of 300 changes ago started anew")
	}

	// The transcript was closed and is opened again: its revisions go on.
	again := m.openAfter(t, old.Revision())
	lately.tr = again
	lately.check("after the transcript was closed")
	if again.Revision() <= old.Revision() {
		t.Errorf("revision %d came after %d", again.Revision(), old.Revision())
	}
	ahead, err := again.Pull(t.Context(), again.Revision()+1)
	if err != nil || !ahead.Reset || ahead.Outline == nil || ahead.Chat == nil {
		t.Errorf("a pull from a revision to come: %v, %+v", err, ahead)
	}
	below, err := again.Pull(t.Context(), 1)
	if err != nil || !below.Reset {
		t.Errorf("a pull from a revision of before: %v, %+v", err, below)
	}
}

func refresh(t *testing.T, tr *transcript.Transcript, seqs ...chat.MessageSeq) {
	t.Helper()
	must(t, tr.Refresh(t.Context(), seqs...))
}

func TestAnEditDuringAStreamChangesItsMessageAndNotTheStream(t *testing.T) {
	m := newMemory()
	question := m.ask("old *words*")
	tr := m.open(t)
	p := fresh(t, tr)
	u := begin(t, tr, m, "turn")
	u.say("The first half")
	p.check("in the middle")
	answer := u.seq

	m.rewrite(question, "new words")
	refresh(t, tr, question)
	m.change(answer, func(v *chat.Message) { v.Hidden = true })
	refresh(t, tr, answer)
	must(t, tr.RefreshAll(t.Context()))
	p.check("after the edits")
	if got := words(p.entry(uint64(question))); got != "<p>new words</p>\n" {
		t.Errorf("the question is %q", got)
	}
	if e := p.entry(uint64(answer)); !strings.Contains(words(e), "The first half") || !e.Hidden || e.State != "streaming" {
		t.Errorf("the answer is %+v", e)
	}
	u.say(" and the second.")
	p.check("after more text")
	if got := words(p.entry(uint64(answer))); !strings.Contains(got, "The first half and the second.") {
		t.Errorf("the answer is %q", got)
	}
	u.end(chat.EndDone)
	p.check("at the end")
	if e := p.entry(uint64(answer)); e.State != "complete" || e.Reason != "done" || e.Words != 6 {
		t.Errorf("the answer ended as %+v", e)
	}
	reopened(t, tr, m)

	// A plugin's edit sends what it changed, and nothing else.
	m.rewrite(question, "newest words")
	must(t, tr.RefreshAll(t.Context()))
	p.check("after a plugin's edit")
	m.change(answer, func(v *chat.Message) { v.Hidden = false })
	refresh(t, tr)
	p.pull()
	if len(p.last.Entries) != 1 || p.last.Entries[0].Hidden || p.last.Entries[0].Whole ||
		len(p.last.Entries[0].Parts) != 0 {
		t.Errorf("giving a message back to the model sends %+v", p.last.Entries)
	}
}

func TestTwoTurnsWriteAtOnceEachInAnEntryOfItsOwn(t *testing.T) {
	m := newMemory()
	m.ask("What do you all think?")
	tr := m.open(t)
	p := fresh(t, tr)
	main, member := begin(t, tr, m, "main"), begin(t, tr, m, "member")
	main.say("I say")
	member.say("And I")
	p.check("with two turns")
	main.say(" yes.")
	p.pull()
	if len(p.last.Entries) != 1 || p.last.Entries[0].Turn != "main" {
		t.Errorf("a word of one turn sends %+v", p.last.Entries)
	}
	r := main.propose("1", "note")
	member.say(" say no.")
	p.check("with a call")
	r.Status = chat.CallRunning
	main.call(m.put(r), chat.Event{Kind: chat.EventAsked})
	p.check("with a call that runs")
	if p.status.Turn != "main" || p.status.Phase != "tool" {
		t.Errorf("the status is %+v, want that of the turn that began first", p.status)
	}
	r.Status = chat.CallOK
	result := chat.ToolResult{CallID: "1", Tool: "note", Status: chat.CallOK, Content: said("done")}
	main.call(m.put(r), chat.Event{Kind: chat.EventAnswered, Result: &chat.ToolResult{Content: result.Content}})
	main.results("", result)
	main.say("It is written.")
	p.check("after the call")
	if len(p.outline) != 3 {
		t.Fatalf("two answers to a question are %v", p.outline)
	}
	for i, want := range []string{"I say yes.It is written.", "And I say no."} {
		e := p.entry(p.outline[i+1])
		if got := strings.NewReplacer("<p>", "", "</p>\n", "").Replace(words(e)); got != want || e.State != "streaming" {
			t.Errorf("answer %d is %q and %s, want %q", i, got, e.State, want)
		}
	}
	main.end(chat.EndDone)
	p.check("after one ended")
	if p.status == nil || p.status.Turn != "member" || p.entry(p.outline[1]).State != "complete" ||
		p.entry(p.outline[2]).State != "streaming" {
		t.Errorf("after one ended the status is %+v", p.status)
	}
	member.say(" Still.")
	member.end(chat.EndStopped)
	p.check("after both ended")
	if p.status != nil || p.entry(p.outline[2]).State != "stopped" {
		t.Errorf("after both ended the status is %+v", p.status)
	}
	reopened(t, tr, m)
	main.take(chat.Event{Kind: chat.EventText, Text: "too late"})
	if before := tr.Revision(); before != p.revision {
		t.Errorf("a turn that ended made revision %d after %d", before, p.revision)
	}
}

func TestATurnGoesOnBehindAQuestionThatWasAskedMeanwhile(t *testing.T) {
	m := newMemory()
	m.ask("one")
	tr := m.open(t)
	p := fresh(t, tr)
	u := begin(t, tr, m, "turn")
	u.say("First.")
	u.use(chat.Usage{Output: 3})
	u.save("", chat.Complete)
	m.ask("two")
	u.take(chat.Event{Kind: chat.EventQuestioned})
	u.say("Second.")
	p.check("behind the question")
	if len(p.outline) != 4 || p.entry(2).State != "complete" || p.entry(4).State != "streaming" ||
		p.entry(4).Usage != nil {
		t.Errorf("the page shows %s", encode(t, p.sight()))
	}
	u.end(chat.EndDone)
	p.check("at the end")
	reopened(t, tr, m)
}

func TestAVersionThatIsShownAgainKnowsItsSiblings(t *testing.T) {
	m := newMemory()
	question := m.ask("one")
	tr := m.open(t)
	p := fresh(t, tr)
	u := begin(t, tr, m, "first")
	u.say("The first answer.")
	first := u.seq
	u.end(chat.EndDone)
	p.check("after the first answer")
	m.ask("two")
	m.reply("more", "To two.")
	refresh(t, tr)

	m.show(question)
	u = begin(t, tr, m, "second")
	u.say("The second answer.")
	second := u.seq
	p.check("while it is answered again")
	u.end(chat.EndDone)
	p.check("after the second answer")
	if e := p.entry(uint64(second)); !slices.Equal(e.Siblings, []uint64{uint64(first), uint64(second)}) ||
		e.OtherBranch != 2 {
		t.Errorf("the second answer's siblings are %v, with %d behind", e.Siblings, e.OtherBranch)
	}

	o, err := m.Outline(t.Context(), conversation)
	must(t, err)
	m.show(transcript.NewestLeaf(o, first))
	refresh(t, tr)
	p.check("after the person went back to the first")
	if e := p.entry(uint64(first)); !slices.Equal(e.Siblings, []uint64{uint64(first), uint64(second)}) ||
		e.OtherBranch != 0 {
		t.Errorf("the first answer's siblings are %v, with %d behind", e.Siblings, e.OtherBranch)
	}
	if len(p.outline) != 4 {
		t.Errorf("the path is %v", p.outline)
	}

	// What changes while it is not shown has changed when it is shown again.
	m.rewrite(second, "Changed meanwhile.")
	refresh(t, tr, second)
	p.pull()
	m.show(second)
	refresh(t, tr)
	p.check("after the second is shown again")
	if got := words(p.entry(uint64(second))); got != "<p>Changed meanwhile.</p>\n" {
		t.Errorf("the second answer is %q", got)
	}
	reopened(t, tr, m)
}

func TestATurnWritesOnABranchThatIsNotShown(t *testing.T) {
	m := newMemory()
	question := m.ask("one")
	shown := m.reply("shown", "The answer that is shown.")
	tr := m.open(t)
	p := fresh(t, tr)
	m.show(question)
	u := begin(t, tr, m, "hidden")
	u.message()
	m.show(shown)
	refresh(t, tr)
	u.say("Nobody sees ")
	p.check("while another is shown")
	if !slices.Equal(p.outline, []uint64{1, 2}) || p.status == nil {
		t.Errorf("the path is %v, the status %+v", p.outline, p.status)
	}
	hidden := u.seq
	m.show(hidden)
	refresh(t, tr)
	u.say("this.")
	p.check("once it is shown")
	if got := words(p.entry(uint64(hidden))); !strings.Contains(got, "Nobody sees this.") {
		t.Errorf("it is %q", got)
	}
	m.show(shown)
	refresh(t, tr)
	r := u.propose("1", "note")
	u.save("", chat.Complete)
	m.show(hidden)
	result := chat.ToolResult{CallID: "1", Tool: "note", Status: chat.CallOK}
	r.Status = chat.CallOK
	u.call(m.put(r), chat.Event{Kind: chat.EventAnswered, Result: &chat.ToolResult{}})
	m.show(hidden)
	u.results(chat.EndDone, result)
	m.show(shown)
	u.over(chat.EndDone, nil)
	p.check("after it ended unseen")
	o, err := m.Outline(t.Context(), conversation)
	must(t, err)
	m.show(transcript.NewestLeaf(o, hidden))
	refresh(t, tr)
	p.check("after it is shown again")
	reopened(t, tr, m)
}

func TestATurnThatPausedGoesOnInItsEntry(t *testing.T) {
	m := newMemory()
	m.ask("one")
	tr := m.open(t)
	p := fresh(t, tr)
	u := begin(t, tr, m, "turn")
	u.say("Wait.")
	u.use(chat.Usage{Input: 5, Output: 1})
	u.end(chat.EndHandled)
	p.check("while it is paused")
	for _, look := range []bool{true, false} {
		u = begin(t, tr, m, "turn")
		u.say("Now.")
		u.use(chat.Usage{Input: 7, Output: 2})
		if look {
			p.check("when it goes on")
			if e := p.entry(2); len(e.Parts) != 2 || e.Usage.Input != 12 || e.State != "streaming" || e.Reason != "" {
				t.Errorf("the entry is %s", encode(t, e))
			}
		}
		u.end(chat.EndDone)
		p.check("at the end")
	}
	reopened(t, tr, m)

	m.set(func() { m.broken = true })
	m.messages = append(m.messages, chat.Message{
		Seq: 5, Parent: 4, Turn: "turn", Role: chat.RoleAssistant, State: chat.Streaming,
	})
	if _, err := m.open(t).Begin(t.Context(), "turn", "model"); !errors.Is(err, errDisk) {
		t.Errorf("a turn begins in a chat that cannot be read: %v", err)
	}
}

func TestWhatIsTakenOffThePathIsGoneFromThePage(t *testing.T) {
	m := newMemory()
	m.ask("one")
	m.reply("a", "Answer one.")
	m.ask("two")
	m.reply("b", "Answer two.")
	tr := m.open(t)
	p := fresh(t, tr)
	// A plugin removes the second entry: what followed is written again without it.
	m.show(1)
	m.ask("two")
	m.reply("b", "Answer two.")
	must(t, tr.RefreshAll(t.Context()))
	p.pull()
	if p.last.Outline.From != 1 || !slices.Equal(p.outline, []uint64{1, 5, 6}) {
		t.Errorf("the path is %v", p.outline)
	}
	p.check("after the removal")

	m.set(func() { m.gone = true })
	if err := tr.Refresh(t.Context()); err == nil || !strings.Contains(err.Error(), "no longer exists") {
		t.Errorf("reading a chat that was deleted: %v", err)
	}
	if _, err := m.open(t).Pull(t.Context(), 0); err == nil {
		t.Error("a chat that was deleted opens")
	}
	if _, err := m.open(t).Places(t.Context(), 1, "one", 9); err == nil {
		t.Error("words are found in a chat that was deleted")
	}
}

func TestAnEntryThatGrewWithoutATurnIsDrawnAgain(t *testing.T) {
	m := newMemory()
	m.ask("one")
	m.reply("turn", "The beginning.")
	tr := m.open(t)
	p := fresh(t, tr)
	m.reply("turn", "The rest.")
	refresh(t, tr)
	p.check("after it grew")
	if e := p.entry(2); len(e.Parts) != 2 || p.last.Entries[0].Whole || len(p.last.Entries[0].Parts) != 1 {
		t.Errorf("the page was sent %s", encode(t, p.last.Entries))
	}
}

func TestALongChatIsForgottenInPartAndShownWhole(t *testing.T) {
	m := newMemory()
	for i := range 260 {
		m.ask(fmt.Sprint("Question ", i))
		m.reply(fmt.Sprint("turn ", i), "Answer")
	}
	tr := m.open(t)
	u := begin(t, tr, m, "live")
	u.say("I am drawn")
	p := fresh(t, tr) // asks for all 521
	u.say(" and not forgotten.")
	p.check("after all was drawn")
	if !strings.Contains(words(p.entry(521)), "I am drawn and not forgotten.") {
		t.Errorf("the live entry is %q", words(p.entry(521)))
	}
	// One that the transcript has forgotten, and the page has not, is changed.
	const forgotten = 519
	m.rewrite(forgotten, "changed")
	refresh(t, tr, forgotten)
	p.pull()
	if len(p.last.Entries) != 1 || !p.last.Entries[0].Whole || words(p.entry(forgotten)) != "<p>changed</p>\n" {
		t.Errorf("the change sends %+v", p.last.Entries)
	}
	// A change that the page pulls after it was forgotten.
	m.rewrite(forgotten, "changed again")
	refresh(t, tr, forgotten)
	fresh(t, tr)
	p.check("after it was changed, drawn and forgotten")
	m.change(forgotten, func(v *chat.Message) { v.Hidden = true })
	refresh(t, tr)
	p.check("after it was hidden")
	if p.last.Reset {
		t.Error("a page started anew for a change of one entry")
	}

	// Any may have changed: who holds what is forgotten starts again.
	m.rewrite(5, "by a plugin")
	must(t, tr.RefreshAll(t.Context()))
	p.pull()
	if !p.last.Reset {
		t.Error("the page holds entries that nobody knows to be right")
	}
	p.check("after it started anew")
	u.end(chat.EndDone)
	p.check("at the end")
	reopened(t, tr, m)
}

func TestTheStatusSaysWhatTheTurnDoes(t *testing.T) {
	m := newMemory()
	m.ask("one")
	tr := m.open(t)
	p := fresh(t, tr)
	u := begin(t, tr, m, "turn")
	is := func(phase transcript.Phase, tool, note string) {
		t.Helper()
		p.pull()
		if s := p.status; s.Turn != "turn" || s.Phase != phase || s.Tool != tool || s.Note != note ||
			s.Model != "The demo/guide" || s.Since == "" {
			t.Errorf("the status is %+v, want %s %s %s", s, phase, tool, note)
		}
	}
	is("waiting", "", "")
	u.take(chat.Event{Kind: chat.EventRetrying, Note: "The server is busy. Trying again in 2s."})
	is("retrying", "", "The server is busy. Trying again in 2s.")
	since := p.status.Since
	u.take(chat.Event{Kind: chat.EventRetrying, Note: "Still busy."})
	is("retrying", "", "Still busy.")
	if p.status.Since != since {
		t.Error("the same phase began twice")
	}
	u.live.Council("The council answers", false) // told late: the turn is further
	is("retrying", "", "Still busy.")
	u.take(chat.Event{Kind: chat.EventWaiting, Note: ""})
	u.live.Council("The council answers, 0 of 3 done", false)
	is("council", "", "The council answers, 0 of 3 done")
	since = p.status.Since
	u.live.Council("The council answers, 1 of 3 done", false)
	if is("council", "", "The council answers, 1 of 3 done"); p.status.Since != since {
		t.Error("the council began twice")
	}
	u.live.Council("The council is waiting for you", true)
	is("council", "", "The council is waiting for you")
	if !p.status.Asks {
		t.Error("the council does not ask")
	}
	u.live.Council("", false)
	is("waiting", "", "")
	u.take(chat.Event{Kind: chat.EventWaiting, Note: "The model cannot call tools, so it is offered none."})
	is("waiting", "", "The model cannot call tools, so it is offered none.")
	u.think("Hm.")
	is("thinking", "", "")
	u.say("Well")
	is("answering", "", "")
	r := u.propose("1", "note")
	is("answering", "", "")
	u.call(r, chat.Event{Kind: chat.EventHeld, Request: "request"})
	is("permission", "T note", "")
	if entry, call, model := tr.Asking("turn", "request"); entry != 2 || call != "1" || model != "The demo/guide" {
		t.Errorf("the card belongs to %d, %s, %s", entry, call, model)
	}
	if entry, call, _ := tr.Asking("turn", "another"); entry != 2 || call != "" {
		t.Errorf("another request's card belongs to %d, %q", entry, call)
	}
	if entry, _, _ := tr.Asking("no turn", "request"); entry != 0 {
		t.Errorf("the card of no turn belongs to %d", entry)
	}
	r.Status = chat.CallRunning
	u.call(m.put(r), chat.Event{Kind: chat.EventAsked})
	is("tool", "T note", "")
	u.take(chat.Event{Kind: chat.EventStopping})
	is("stopping", "", "")
	u.end(chat.EndStopped)
	p.check("at the end")
	if p.status != nil {
		t.Errorf("the status is %+v", p.status)
	}
}

func TestUsageAndWordsAreThoseOfTheWholeAnswer(t *testing.T) {
	m := newMemory()
	m.ask("one")
	tr := m.open(t)
	u := begin(t, tr, m, "turn")
	u.take(chat.Event{Kind: chat.EventUsed, Usage: chat.Usage{Input: 1}}) // of a request that said nothing
	for _, piece := range []string{"Un", "believ", "able, ", "it is", " tr", "ue", "\n", "", "."} {
		u.say(piece)
	}
	u.think("not counted")
	u.use(chat.Usage{Input: 10, Output: 5, Cached: 4, Reasoning: 2, Cost: 0.25})
	p := fresh(t, tr)
	if e := p.entry(2); e.Words != 5 ||
		*e.Usage != (transcript.Usage{Input: 11, Output: 5, Cached: 4, Reasoning: 2, Cost: 0.25}) {
		t.Errorf("%d words, %+v", e.Words, e.Usage)
	}
	r := u.propose("1", "note")
	u.save("", chat.Complete)
	u.results("", chat.ToolResult{CallID: r.RequestID, Status: chat.CallOK})
	u.say("More words.")
	u.use(chat.Usage{Input: 20, Output: 6})
	u.end(chat.EndDone)
	p.check("at the end")
	if e := p.entry(2); e.Words != 7 || e.Usage.Input != 30 || e.Usage.Output != 11 {
		t.Errorf("%d words, %+v", e.Words, e.Usage)
	}
	reopened(t, tr, m)
}

func TestNotesAreShownWhileAnAnswerIsWrittenAndAfterwards(t *testing.T) {
	m := newMemory()
	m.ask("one")
	m.change(1, func(v *chat.Message) { v.Notes = []chat.Note{{Text: "a.pdf has no text."}} })
	tr := m.open(t)
	p := fresh(t, tr)
	if e := p.entry(1); !slices.Equal(e.Notes, []string{"a.pdf has no text."}) {
		t.Errorf("the question has %q", e.Notes)
	}
	u := begin(t, tr, m, "turn")
	u.take(chat.Event{Kind: chat.EventNoted, Note: "The prompt was cut.", Kept: true})
	u.say("One.")
	p.check("with its first word")
	if e := p.entry(2); !slices.Equal(e.Notes, []string{"The prompt was cut."}) {
		t.Errorf("what came before the answer: %q", e.Notes)
	}
	u.take(chat.Event{Kind: chat.EventNoted, Note: "A part was dropped.", Kept: true})
	p.check("while it is written")
	want := []string{"The prompt was cut.", "A part was dropped."}
	if e := p.entry(2); !slices.Equal(e.Notes, want) {
		t.Errorf("while it is written: %q", e.Notes)
	}
	m.change(2, func(v *chat.Message) {
		v.Notes = []chat.Note{{Text: "The prompt was cut."}, {Text: "A part was dropped."}}
	})
	u.end(chat.EndDone)
	p.check("at the end")
	if e := p.entry(2); !slices.Equal(e.Notes, want) {
		t.Errorf("at the end: %q", e.Notes)
	}
	reopened(t, tr, m)
}

func TestNotesOfAllMessagesOfAnAnswerAreBounded(t *testing.T) {
	m := newMemory()
	m.ask("one")
	for i := range 100 {
		m.add(m.head(), chat.Message{
			Role: chat.RoleAssistant, Turn: "turn", Parts: said("x"),
			Notes: []chat.Note{{Text: "It was cut."}, {Text: fmt.Sprintf("Odd\x1b[2J\n%d", i)}},
		})
	}
	e := fresh(t, m.open(t)).entry(2)
	if len(e.Notes) != chat.MostNotes || e.Notes[0] != "It was cut. (100 times)" || e.Notes[1] != "Odd 0" {
		t.Errorf("%d notes: %q", len(e.Notes), e.Notes)
	}
}

func TestPicturesComeWhereTheyWereMadeAndThenInTheOrderOfTheCalls(t *testing.T) {
	m := newMemory()
	m.add(0, chat.Message{Role: chat.RoleUser, Parts: []chat.Part{
		{Kind: chat.PartText, Text: "Look:"},
		{Kind: chat.PartMedia, Media: &chat.Media{ID: "q", Name: "cat.png", MIME: "image/png", Size: 9}},
	}})
	tr := m.open(t)
	p := fresh(t, tr)
	if e := p.entry(1); len(e.Parts) != 2 ||
		*e.Parts[1].Media != (showing.Media{ID: "q", Name: "cat.png", MIME: "image/png", Size: 9}) {
		t.Errorf("the question is %s", encode(t, e))
	}
	u := begin(t, tr, m, "turn")
	first, second := u.propose("1", "draw"), u.propose("2", "draw")
	picture := func(id string) []chat.Part {
		return []chat.Part{
			{Kind: chat.PartText, Text: "Here."}, {Kind: chat.PartMedia, Media: &chat.Media{ID: id, MIME: "image/png"}},
		}
	}
	first.Status, second.Status = chat.CallOK, chat.CallOK
	u.call(m.put(second), chat.Event{Kind: chat.EventAnswered, Result: &chat.ToolResult{Content: picture("b")}})
	u.call(m.put(first), chat.Event{Kind: chat.EventAnswered, Result: &chat.ToolResult{Content: picture("a")}})
	p.check("after both answered")
	order := func() string {
		text := ""
		for _, part := range p.entry(2).Parts {
			if part.Media != nil {
				text += part.Media.ID
			}
		}
		return text
	}
	if order() != "ba" {
		t.Errorf("the pictures came as %s", order())
	}
	u.results(chat.EndDone, chat.ToolResult{CallID: "1", Content: picture("a")},
		chat.ToolResult{CallID: "2", Content: picture("b")})
	u.end(chat.EndDone)
	p.check("at the end")
	if order() != "ab" {
		t.Errorf("the pictures are in the order %s", order())
	}
	reopened(t, tr, m)
}

func TestAnAnswerThatCouldNotBeWrittenSaysHowItEnded(t *testing.T) {
	failure := &chat.Failure{Kind: "unavailable", Message: "The disk is full.", Hint: "Make room."}
	for reason, want := range map[chat.EndReason]chat.MessageState{
		chat.EndError: chat.Failed, chat.EndStopped: chat.Stopped, chat.EndDone: chat.Complete,
	} {
		m := newMemory()
		m.ask("one")
		tr := m.open(t)
		p := fresh(t, tr)
		u := begin(t, tr, m, "turn")
		u.say("Half of it")
		m.change(2, func(v *chat.Message) { v.Parts = said("Half") }) // as far as it got
		u.over(reason, failure)
		p.check("at the end")
		e := p.entry(2)
		if e.State != want || e.Reason != reason || e.Ended == "" || words(e) != "<p>Half</p>\n" {
			t.Errorf("%s: it ended as %s", reason, encode(t, e))
		}
		if (e.Error != nil) != (reason == chat.EndError) || e.Error != nil && e.Error.Message != failure.Message {
			t.Errorf("%s: its error is %+v", reason, e.Error)
		}
	}
}

func TestAStoreThatCannotBeReadIsReadLater(t *testing.T) {
	m := newMemory()
	m.ask("one")
	tr := m.open(t)
	p := fresh(t, tr)
	u := begin(t, tr, m, "turn")
	u.say("Drawn")
	p.check("before")
	m.set(func() { m.broken = true })
	u.say(" from memory")
	p.pull() // what streams needs no disk
	if got := words(p.entry(2)); !strings.Contains(got, "Drawn from memory") {
		t.Errorf("it is %q", got)
	}
	u.save(chat.EndDone, chat.Complete)
	u.over(chat.EndDone, nil)
	if _, err := tr.Pull(t.Context(), p.revision); !errors.Is(err, errDisk) {
		t.Errorf("the page pulls %v", err)
	}
	if _, err := tr.Places(t.Context(), 2, "memory", 9); !errors.Is(err, errDisk) {
		t.Errorf("the page looks for words in the answer: %v", err)
	}
	if err := tr.RefreshAll(t.Context()); !errors.Is(err, errDisk) {
		t.Errorf("a plugin's edit: %v", err)
	}
	m.set(func() { m.broken = false })
	p.check("once it can be read")
	reopened(t, tr, m)

	// A turn that begins a message which cannot be read shows it all the same, and
	// what is nowhere to be found when it ended is let go.
	u = begin(t, tr, m, "lost")
	u.take(chat.Event{Kind: chat.EventBegun, Seq: 4711, Parent: 4710})
	u.take(chat.Event{Kind: chat.EventText, Text: "Where am I?"})
	p.check("with a message that is not there")
	u.over(chat.EndDone, nil)
	p.check("after it")
	if len(p.outline) != 2 {
		t.Errorf("the path is %v", p.outline)
	}
	m.show(2)
	m.add(2, chat.Message{Role: chat.RoleTool, Turn: "turn"})
	refresh(t, tr)
	u = begin(t, tr, m, "turn")
	m.set(func() { m.broken = true })
	u.message()
	u.say("Beginning unknown.")
	m.set(func() { m.broken = false })
	u.end(chat.EndDone)
	p.check("after a beginning that could not be read")
	reopened(t, tr, m)
}

func TestPagesAndTurnsMeetAtOnce(t *testing.T) {
	m := newMemory()
	m.ask("one")
	m.reply("old", "An old answer.")
	tr := m.open(t)
	var writing, reading sync.WaitGroup
	over := make(chan struct{})
	for i := range 3 {
		u := begin(t, tr, m, fmt.Sprint("turn ", i))
		writing.Go(func() {
			for n := range 60 {
				u.say(fmt.Sprintf("Line %d of it.\n\n", n))
				if n%20 == 19 {
					u.save("", chat.Complete)
				}
			}
			u.end(chat.EndDone)
		})
	}
	writing.Go(func() {
		for n := range 40 {
			m.rewrite(1, fmt.Sprint("Question ", n))
			if err := tr.Refresh(context.Background(), 1); err != nil {
				t.Error(err)
			}
		}
	})
	pages := []*page{newPage(t, tr), newPage(t, tr)}
	for _, p := range pages {
		reading.Go(func() {
			for {
				pull, err := tr.Pull(context.Background(), p.revision, p.wants()...)
				if err != nil {
					t.Error(err)
					return
				}
				p.take(pull)
				_, _, _ = tr.Asking("turn 1", "request")
				select {
				case <-over:
					return
				default:
				}
			}
		})
	}
	writing.Wait()
	close(over)
	reading.Wait()
	for _, p := range pages {
		p.check("at the end")
	}
	reopened(t, tr, m)
}

func TestPageGetsTheLinesThatCameAndOneThatMissedSomeGetsTheBlock(t *testing.T) {
	m := newMemory()
	m.ask("Write code.")
	tr := m.open(t)
	u := begin(t, tr, m, "turn")
	u.say("before\n\n```go\n")
	often, seldom := fresh(t, tr), fresh(t, tr)
	for i := range 500 {
		u.say(fmt.Sprintf("x := \"ünd %d 😀\"\nunfini", i))
		u.say("shed\n")
		often.pull()
		if i%7 == 0 {
			seldom.pull()
			same(t, fmt.Sprintf("at line %d, who pulls seldom sees", i), seldom.sight(), often.sight())
		}
	}
	often.check("while it streams")
	if length := len(words(often.entry(2))); often.sent > 5*length {
		t.Errorf("it was sent %d bytes for a block of %d", often.sent, length)
	}
	u.end(chat.EndDone)
	often.check("at the end")
	seldom.check("at the end")
	reopened(t, tr, m)
}

func TestAnOutlineFindsItsWay(t *testing.T) {
	o := chat.Outline{Items: []chat.OutlineItem{
		{Seq: 2, Role: chat.RoleUser},
		{Seq: 4, Parent: 2, Role: chat.RoleAssistant, Turn: "a"},
		{Seq: 5, Parent: 2, Role: chat.RoleAssistant, Turn: "b"},
		{Seq: 7, Parent: 4, Role: chat.RoleUser},
		{Seq: 9, Parent: 3, Role: chat.RoleUser}, // the parent of the last is not there
	}, Path: []chat.MessageSeq{2, 4}}
	for seq, leaf := range map[chat.MessageSeq]chat.MessageSeq{0: 5, 2: 5, 4: 7, 5: 5, 9: 9, 11: 11} {
		if got := transcript.NewestLeaf(o, seq); got != leaf {
			t.Errorf("the newest leaf behind %d is %d, want %d", seq, got, leaf)
		}
	}
	if n, ok := o.Item(4); !ok || n.Turn != "a" {
		t.Errorf("message 4 is %+v", n)
	}
	if _, ok := o.Item(3); ok {
		t.Error("there is a message 3")
	}
	if f := transcript.Fold(o); len(f) != 2 || f[1].Seq != 4 || f[1].Role != chat.RoleAssistant {
		t.Errorf("it folds into %+v", f)
	}
	// Assistant messages of no turn are separate entries.
	plain := chat.Outline{
		Items: []chat.OutlineItem{{Seq: 1, Role: chat.RoleAssistant}, {Seq: 2, Parent: 1, Role: chat.RoleAssistant}},
		Path:  []chat.MessageSeq{1, 2},
	}
	if f := transcript.Fold(plain); len(f) != 2 {
		t.Errorf("it folds into %+v", f)
	}
}

func TestAnAnswerReadsTheOutlineWhenItsQuestionIsSavedAndWhenItEnds(t *testing.T) {
	m := newMemory()
	m.ask("one")
	tr := m.open(t)
	p := fresh(t, tr)
	before := m.outlines
	m.ask("two")
	u := begin(t, tr, m, "turn")
	u.take(chat.Event{Kind: chat.EventQuestioned})
	u.think("Well")
	u.say("Two it is.")
	p.check("while it is written")
	if len(p.outline) != 3 {
		t.Errorf("the path is %v", p.outline)
	}
	u.end(chat.EndDone)
	p.check("after it")
	reopened(t, tr, m)
	if n := m.outlines - before - 1; n != 2 { // reopening reads it once
		t.Errorf("the outline was read %d times", n)
	}
}

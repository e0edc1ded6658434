package window_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/chat/transcript"
	"conclave/app/gate"
	"conclave/app/model"
	"conclave/app/model/modeltest"
	"conclave/app/plugin"
	"conclave/app/tool"
	"conclave/app/view"
	"conclave/app/window"
)

func TestMessagesAreRemovedAndTheBranchBeforeStays(t *testing.T) {
	w := open(t, say("One."), say("Two."), say("Three.")).quiet()
	id := w.ask("", "First?")
	w.ask(id, "Second?")
	w.ask(id, "Third?")
	undo, err := w.Branches.Remove(id, []uint64{4, 1})
	must(t, err)
	w.wants(id, "without two", "assistant: One.", "user: Second?", "user: Third?", "assistant: Three.")
	branches, err := w.Branches.Map(id)
	if err != nil || len(branches.Branches) < 2 || branches.More {
		t.Fatalf("the branches are %+v, %v", branches, err)
	}
	if b := branches.Branches[0]; b.Words != "First?" || b.Depth != 1 || b.Shown {
		t.Errorf("the branch before is %+v", b)
	}
	must(t, w.Window.Undo(undo.Token))
	w.wants(id, "after undo", "user: First?", "assistant: One.", "user: Second?", "assistant: Two.", "user: Third?",
		"assistant: Three.")
	_, err = w.Branches.Remove(id, []uint64{99})
	kind(t, "a message that is not there", err, fault.NotFound, "")
}

func TestAnAnswerThatWasCutOffGoesOnInTheWindow(t *testing.T) {
	atLimit := modeltest.Event(model.Event{Kind: model.End, Stop: model.StopLength})
	w := open(t, []modeltest.Step{modeltest.Say("Half an ans"), atLimit}, say("wer.")).quiet()
	id := w.ask("", "Well?")
	if e := w.pull(id).Entries[1]; !e.CanGoOn {
		t.Fatalf("the answer is %+v", e)
	}
	_, err := w.Branches.GoOn(id, 2)
	must(t, err)
	w.over(id)
	w.wants(id, "after it went on", "user: Well?", "assistant: Half an answer. (2 of 2)")
	e := w.pull(id).Entries[1]
	if e.CanGoOn || len(e.Siblings) != 2 {
		t.Errorf("the answer is %+v", e)
	}
	_, err = w.Branches.GoOn(id, e.Seq)
	kind(t, "a whole answer", err, fault.Invalid, "was not cut off")
}

func TestAChatFromItsFirstQuestionToTheTrashAndBack(t *testing.T) {
	w := open(t, say("It is **sunny**."), say("Weather in Oslo"), say("Warm, too."))
	id := w.send("", "Is it sunny in Oslo?")
	w.until("the title", func() bool { return w.pull(id).Chat.Title == "Weather in Oslo" })
	w.ask(id, "And warm?")
	w.wants(id, "after two answers", "user: Is it sunny in Oslo?", "assistant: It is **sunny**.", "user: And warm?",
		"assistant: Warm, too.")
	p := w.pull(id)
	if html := p.Entries[1].Parts[0].Blocks[0].HTML; !strings.Contains(html, "<strong>sunny</strong>") {
		t.Errorf("it is drawn as %s", html)
	}
	wanted, err := w.Chats.Pull(id, p.Revision, []transcript.Want{{Seq: 4, To: 1}, {Seq: 1}, {Seq: 99}})
	if err != nil || len(wanted.Entries) != 2 || !wanted.Entries[0].Whole || wanted.Entries[1].Seq != 4 {
		t.Errorf("asked for more: %+v, %v", wanted.Entries, err)
	}
	info, err := w.Chats.Info(id, 4)
	if err != nil || len(info.Requests) != 1 || info.Usage.Output != 5 ||
		info.Requests[0].Rebuilt || !strings.Contains(info.Requests[0].Body, "Is it sunny in Oslo?") {
		t.Errorf("behind the answer stands %+v, %v", info, err)
	}
	found, err := w.Chats.Find(id, "SUNNY")
	if want := []window.Find{{Seq: 1}, {Seq: 2}}; err != nil || !slices.Equal(found, want) {
		t.Errorf("found %+v, %v", found, err)
	}
	if twice, err := w.Chats.Find(id, " O "); err != nil || !slices.Equal(twice, []window.Find{
		{Seq: 1}, {Seq: 1, Nth: 1}, {Seq: 4}, {Seq: 4, Nth: 1},
	}) {
		t.Errorf("of a letter are found %+v, %v", twice, err)
	}
	if none, err := w.Chats.Find(id, "  "); err != nil || len(none) != 0 {
		t.Errorf("blanks are found as %+v, %v", none, err)
	}
	undo, err := w.Chats.Delete(id)
	if err != nil || undo.Sentence != "“Weather in Oslo” was deleted." {
		t.Fatalf("deleted: %+v, %v", undo, err)
	}
	if _, err := w.Chats.Pull(id, 0, nil); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a deleted chat opens: %v", err)
	}
	must(t, w.Window.Undo(undo.Token))
	w.wants(id, "back from the trash", "user: Is it sunny in Oslo?", "assistant: It is **sunny**.", "user: And warm?",
		"assistant: Warm, too.")
	kind(t, "undoing twice", w.Window.Undo(undo.Token), fault.NotFound, "no longer be undone")
}

func TestTheListOfChatsShowsWhatAPersonDidToThem(t *testing.T) {
	w := open(t, say("a"), say("b"), say("c")).quiet()
	first, second, third := w.ask("", "First"), w.ask("", "Second"), w.ask("", "Third")
	titles := func(q window.ChatQuery) string {
		t.Helper()
		list, err := w.Chats.List(q, 0, 50)
		must(t, err)
		var out []string
		for _, r := range list.Rows {
			row := r.Title
			if r.Pinned {
				row += " pinned"
			}
			if r.Unread {
				row += " unread"
			}
			out = append(out, row)
		}
		if list.Total != len(out) {
			t.Errorf("a list of %d says it has %d", len(out), list.Total)
		}
		return strings.Join(out, ", ")
	}
	if got := titles(window.ChatQuery{}); got != "Third unread, Second unread, First unread" {
		t.Errorf("at first: %s", got)
	}
	for _, err := range []error{
		w.Chats.SetPinned(first, true), w.Chats.Rename(second, "  A\nbetter  name "),
		w.Chats.SetArchived(third, true), w.Chats.Seen(first),
	} {
		must(t, err)
	}
	if got := titles(window.ChatQuery{}); got != "First pinned, A better name unread" {
		t.Errorf("pinned, renamed and archived: %s", got)
	}
	if got := titles(window.ChatQuery{Archived: true}); got != "Third unread" {
		t.Errorf("the archive: %s", got)
	}
	list, err := w.Chats.List(window.ChatQuery{}, 1, 1)
	if err != nil || list.Total != 2 || len(list.Rows) != 1 || list.Rows[0].ID != second ||
		list.Groups[0].Key != "pinned" {
		t.Errorf("the second row: %+v, %v", list, err)
	}
	w.until(
		"the index",
		func() bool { return strings.HasPrefix(titles(window.ChatQuery{Text: "better"}), "A better name") },
	)
	hello, err := w.Window.Hello()
	if err != nil || hello.OpenChat != first || hello.Version != "1.2.3" || hello.Settings.ModelTitles {
		t.Errorf("the first paint gets %+v, %v", hello, err)
	}
	kind(t, "an empty title", w.Chats.Rename(first, " \u200b"), fault.Invalid, "empty title")
	must(t, w.Chats.SetSystem(first, "Be brief."))
	must(t, w.Chats.SetModel(first, "demo/guide", chat.Asking{Reasoning: "low"}))
	if c := w.pull(first).Chat; c.System != "Be brief." || c.Model != "demo/guide" ||
		c.Asking.Reasoning != "low" {
		t.Errorf("the chat is %+v", c)
	}
	kind(t, "an effort that is not there",
		w.Chats.SetModel(first, "demo/guide", chat.Asking{Reasoning: "more"}), fault.Invalid, "more")
	kind(t, "a model that is not there", w.Chats.SetModel(first, "nowhere/x", chat.Asking{}), fault.NotFound, "nowhere")
}

func TestVersionsOfAnAnswerAndOfAQuestion(t *testing.T) {
	w := open(t, say("One."), say("Two."), say("Three.")).quiet()
	id := w.ask("", "Count.")
	if _, err := w.Chats.Regenerate(id, 2, ""); err != nil {
		t.Fatal(err)
	}
	w.over(id)
	w.wants(id, "answered again", "user: Count.", "assistant: Two. (2 of 2)")
	must(t, w.Chats.SwitchVersion(id, 2))
	w.wants(id, "the older answer", "user: Count.", "assistant: One. (1 of 2)")
	sent, err := w.Chats.Edit(id, 1, "Count on.", true)
	if err != nil || sent.Seq != 4 {
		t.Fatalf("asked otherwise: %+v, %v", sent, err)
	}
	w.over(id)
	w.wants(id, "asked otherwise", "user: Count on. (2 of 2)", "assistant: Three.")
	_, err = w.Chats.Edit(id, 5, "No.", true)
	kind(t, "answering an answer", err, fault.Invalid, "Only your own messages")
	if _, err := w.Chats.Edit(id, 5, "Four.", false); err != nil {
		t.Fatal(err)
	}
	must(t, w.Chats.SetHidden(id, 4, true))
	w.wants(id, "edited and hidden", "user: Count on. (hidden) (2 of 2)", "assistant: Four.")
	_, err = w.Chats.Edit(id, 5, " \n", false)
	kind(t, "an empty message", err, fault.Invalid, "cannot be empty")
}

func TestAnAnswerOfManyRoundsIsEditedAndHiddenAsOne(t *testing.T) {
	w := open(t,
		[]modeltest.Step{modeltest.Say("Let me write."), modeltest.Call("1", "write_note", `{}`)}, say("Written."),
		say("Thanks."),
	).quiet()
	w.lend(answering("noted"), nil)
	rule := gate.Rule{
		Effect: gate.Allow, Plugin: "notes", Tool: "*", Callers: []gate.Caller{gate.Main},
		Scope: gate.Always,
	}
	if _, err := w.core.Gate.Rules.Add(t.Context(), rule); err != nil {
		t.Fatal(err)
	}
	id := w.ask("", "Note it.")
	w.wants(id, "as it came", "user: Note it.", "assistant: Let me write.\n\nWritten.")
	if _, err := w.Chats.Edit(id, 2, "I wrote it.", false); err != nil {
		t.Fatal(err)
	}
	w.wants(id, "edited", "user: Note it.", "assistant: I wrote it.")
	must(t, w.Chats.SetHidden(id, 2, true))
	w.ask(id, "Good.")
	if sent := w.model.Requests()[2].Messages; len(sent) != 1 || chat.TextOf(sent[0].Parts) != "Note it.\nGood." {
		t.Errorf("the model was sent %+v", sent)
	}
	_, err := w.Chats.Edit(id, 3, "x", false)
	kind(t, "a message in the middle of an answer", err, fault.NotFound, "not on the path")
	kind(t, "hiding no message", w.Chats.SetHidden(id, 77, true), fault.NotFound, "not on the path")
	_, err = w.Chats.Regenerate(id, 77, "")
	kind(t, "answering no message", err, fault.NotFound, "no longer there")
}

func TestAnAnswerWithoutAQuestionIsNotAnsweredAgain(t *testing.T) {
	w := open(t).quiet()
	c := chat.Conversation{Title: "Imported"}
	must(t, w.core.Store.Chats.ImportConversation(t.Context(), &c, []chat.Message{
		{Role: chat.RoleAssistant, State: chat.Complete, Parts: []chat.Part{chat.TextPart("Welcome.")}},
	}))
	_, err := w.Chats.Regenerate(string(c.ID), 1, "")
	kind(t, "answering nothing", err, fault.Invalid, "no question")
}

func TestAChatThatNamesNoModelGoesOnWithThatOfItsLastAnswer(t *testing.T) {
	w := open(t).quiet()
	c := chat.Conversation{Title: "Imported"}
	must(t, w.core.Store.Chats.ImportConversation(t.Context(), &c, []chat.Message{
		{Role: chat.RoleUser, State: chat.Complete, Parts: []chat.Part{chat.TextPart("Hello.")}},
		{Role: chat.RoleAssistant, State: chat.Complete, Model: "former/one", Parts: []chat.Part{chat.TextPart("Hi.")}},
		{Role: chat.RoleUser, State: chat.Complete, Parts: []chat.Part{chat.TextPart("And?")}},
		{Role: chat.RoleAssistant, State: chat.Complete, Model: "latter/one", Parts: []chat.Part{chat.TextPart("So.")}},
	}))
	_, err := w.Chats.Send(string(c.ID), window.Outgoing{Text: "Go on."})
	kind(t, "a model that is gone", err, fault.NotFound, "latter")
}

func TestWhileAnAnswerIsWritten(t *testing.T) {
	goes := make(chan struct{})
	w := open(
		t,
		[]modeltest.Step{modeltest.Say("Half "), modeltest.Wait(goes), modeltest.Say("whole.")},
		say("Next."),
	).quiet()
	id := w.send("", "Tell me.")
	w.until("its first word", func() bool { e := w.pull(id).Entries; return len(e) == 2 && len(e[1].Parts) > 0 })
	if p := w.pull(id); p.Status == nil || p.Status.Phase != "answering" || p.Entries[1].State != "streaming" {
		t.Errorf("while it is written the chat is %+v", p.Status)
	}
	if list, err := w.Chats.List(window.ChatQuery{}, 0, 5); err != nil || list.Rows[0].State != "running" {
		t.Errorf("its row is %+v, %v", list.Rows, err)
	}
	_, err := w.Chats.Send(id, window.Outgoing{Text: "And this."})
	kind(t, "a second question", err, fault.Conflict, "still being written in this chat")
	kind(t, "another version", w.Chats.SwitchVersion(id, 1), fault.Conflict, "still being written in this chat")
	_, err = w.Chats.Edit(id, 2, "Mine.", false)
	kind(t, "editing the answer", err, fault.Conflict, "That message is still being written.")
	must(t, w.Chats.SetHidden(id, 2, true))
	if _, err := w.Chats.Edit(id, 1, "Tell me more.", false); err != nil {
		t.Fatal(err)
	}
	close(goes)
	w.over(id)
	w.wants(id, "in the end", "user: Tell me more.", "assistant: Half whole. (hidden)")
	w.ask(id, "And now?")
}

func TestStoppingAndDeletingAChatThatIsAnswered(t *testing.T) {
	never := make(chan struct{})
	w := open(t, []modeltest.Step{modeltest.Say("Half"), modeltest.Wait(never)},
		[]modeltest.Step{modeltest.Say("More"), modeltest.Wait(never)}).quiet()
	if err := w.Chats.Stop("nowhere"); err != nil {
		t.Errorf("stopping nothing: %v", err)
	}
	id := w.send("", "Tell me.")
	w.until("its first word", func() bool { return len(w.pull(id).Entries) == 2 })
	must(t, w.Chats.Stop(id))
	if p := w.pull(id); p.Status != nil || p.Entries[1].State != "stopped" {
		t.Errorf("once stopped the chat is %+v", p)
	}
	w.send(id, "Go on.")
	w.until("its first word", func() bool { return len(w.pull(id).Entries) == 4 })
	undo, err := w.Chats.Delete(id)
	must(t, err)
	must(t, w.Window.Undo(undo.Token))
	w.wants(id, "back", "user: Tell me.", "assistant: Half (stopped)", "user: Go on.", "assistant: More (stopped)")
}

func TestWhatAPluginWritesMeanwhileIsShownBehindTheAnswer(t *testing.T) {
	goes := make(chan struct{})
	w := open(t, []modeltest.Step{modeltest.Say("Half "), modeltest.Wait(goes), modeltest.Say("whole.")}).quiet()
	id := w.send("", "Tell me.")
	w.until("its first word", func() bool { return len(w.pull(id).Entries) == 2 })
	note := chat.Message{Role: chat.RoleUser, State: chat.Complete, Parts: []chat.Part{chat.TextPart("A note.")}}
	waits, err := w.core.Conversations.Append(t.Context(), chat.ConversationID(id), []chat.Message{note}, nil)
	if err != nil || !waits {
		t.Fatalf("it waits %v, %v", waits, err)
	}
	close(goes)
	w.over(id)
	w.wants(id, "in the end", "user: Tell me.", "assistant: Half whole.", "user: A note.")
}

func TestAQuestionThatCannotBeSent(t *testing.T) {
	w := open(t)
	for name, c := range map[string]struct {
		id    string
		out   window.Outgoing
		kind  fault.Kind
		words string
	}{
		"nothing":          {"", window.Outgoing{Text: " \n"}, fault.Invalid, "nothing to send"},
		"an unknown model": {"", window.Outgoing{Text: "Hi", Model: "nowhere/x"}, fault.NotFound, "nowhere"},
		"an unknown chat":  {"nowhere", window.Outgoing{Text: "Hi"}, fault.NotFound, "nowhere"},
		"a file that is gone": {
			"",
			window.Outgoing{Text: "Hi", Attachments: []string{strings.Repeat("a", 64)}},
			fault.NotFound, "",
		},
		"a model that is broken": {"", window.Outgoing{Text: "Hi", Model: "test/scripted"}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			sent, err := w.Chats.Send(c.id, c.out)
			if c.kind != "" {
				kind(t, name, err, c.kind, c.words)
				return
			}
			must(t, err)
			p := w.over(sent.Conversation)
			if e := p.Entries[len(p.Entries)-1]; e.State != "failed" || e.Error == nil {
				t.Errorf("the answer is %+v", e)
			}
		})
	}
	list, err := w.Chats.List(window.ChatQuery{}, 0, 50)
	if err != nil || list.Total != 1 {
		t.Errorf("chats without a question were made: %+v, %v", list, err)
	}
}

func TestNoChatIsTouchedThatIsNotThere(t *testing.T) {
	w := open(t)
	for name, do := range map[string]func() error{
		"pull":    func() error { _, err := w.Chats.Pull("x", 0, nil); return err },
		"source":  func() error { _, err := w.Chats.Source("x", 1); return err },
		"info":    func() error { _, err := w.Chats.Info("x", 1); return err },
		"find":    func() error { _, err := w.Chats.Find("x", "word"); return err },
		"rename":  func() error { return w.Chats.Rename("x", "y") },
		"pin":     func() error { return w.Chats.SetPinned("x", true) },
		"archive": func() error { return w.Chats.SetArchived("x", true) },
		"system":  func() error { return w.Chats.SetSystem("x", "y") },
		"hide":    func() error { return w.Chats.SetHidden("x", 1, true) },
		"edit":    func() error { _, err := w.Chats.Edit("x", 1, "y", false); return err },
		"ask":     func() error { _, err := w.Chats.Edit("x", 1, "y", true); return err },
		"again":   func() error { _, err := w.Chats.Regenerate("x", 1, ""); return err },
		"version": func() error { return w.Chats.SwitchVersion("x", 1) },
		"delete":  func() error { _, err := w.Chats.Delete("x"); return err },
		"draft":   func() error { _, err := w.Chats.Draft("x"); return err },
		"call":    func() error { _, err := w.Chats.Call("x", "no number"); return err },
		"record":  func() error { _, err := w.Chats.Call("x", "77"); return err },
	} {
		t.Run(name, func(t *testing.T) { kind(t, name, do(), fault.NotFound, "") })
	}
}

func TestARequestThatWasNotKeptIsCalledRebuilt(t *testing.T) {
	w := open(t, say("It is sunny.")).quiet()
	id := w.send("", "Is it sunny?")
	w.over(id)
	behind := func(seq chat.MessageSeq, rebuilt bool) {
		t.Helper()
		info, err := w.Chats.Info(id, uint64(seq))
		if err != nil || len(info.Requests) != 1 || info.Requests[0].Rebuilt != rebuilt ||
			!strings.Contains(info.Requests[0].Body, "Is it sunny?") {
			t.Errorf("behind message %d stands %+v, %v", seq, info, err)
		}
	}
	behind(2, false)
	old := chat.Message{
		Conversation: chat.ConversationID(id),
		Parent:       1,
		Role:         chat.RoleAssistant,
		State:        chat.Complete,
	}
	must(t, w.core.Store.Chats.Append(t.Context(), &old)) // it is shown in place of the other version now
	behind(old.Seq, true)
}

func TestDraftsAndAttachmentsAreKept(t *testing.T) {
	w := open(t, say("A text.")).quiet()
	must(t, w.Chats.SaveDraft("", window.Draft{Text: "Half a tho", Cursor: 4}))
	if d, err := w.Chats.Draft(""); err != nil || d.Text != "Half a tho" || d.Cursor != 4 || d.Queued == nil ||
		d.Attachments == nil {
		t.Errorf("the welcome page's draft is %+v, %v", d, err)
	}
	media, err := w.Chats.Attach("notes.txt",
		base64.StdEncoding.EncodeToString([]byte("What I know.")))
	if err != nil || media.Name != "notes.txt" || media.MIME != "text/plain" || media.Size != 12 {
		t.Fatalf("attached: %+v, %v", media, err)
	}
	for name, c := range map[string]struct{ data, words string }{
		"not base64": {"!", "could not be read"},
		"empty":      {"", "is empty"},
		"a picture that no model is shown": {
			base64.StdEncoding.EncodeToString([]byte("\x00\x00\x00\x24ftypheic\x00\x00\x00\x00")),
			"is a HEIC picture, which no model can be shown.",
		},
	} {
		_, err := w.Chats.Attach("f", c.data)
		kind(t, name, err, fault.Invalid, c.words)
	}
	for name, c := range map[string]struct{ data, mime, lost string }{
		"f.pdf": {"%PDF-1.4", "application/pdf", "f.pdf is not read: the program that reads PDFs could not be run."},
		"f.png": {"words", "text/plain", ""},
		"f.txt": {
			"a\x00b", "application/octet-stream", "f.txt is not read: it is neither a text, a picture, a PDF nor an office " +
				"document. The model gets its name only.",
		},
		"f.jpg":  {"GIF89a", "image/gif", ""},
		"f.yaml": {"a: 1", "text/plain", ""},
		"f.log": {
			strings.Repeat("x", 300<<10), "text/plain",
			"Only the first 256 KiB of the text of f.log are sent; the rest is left out.",
		},
		"f\n\u202egnp.exe": {"words", "text/plain", ""},
	} {
		if m, err := w.Chats.Attach(name, base64.StdEncoding.EncodeToString([]byte(c.data))); err != nil ||
			m.MIME != c.mime || m.Lost != c.lost || strings.ContainsAny(m.Name, "\n\u202e") {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
	sent, err := w.Chats.Send("", window.Outgoing{Text: "What is it?", Attachments: []string{media.ID}})
	must(t, err)
	w.over(sent.Conversation)
	if parts := w.model.Requests()[0].Messages[0].Parts; len(parts) != 2 ||
		!strings.Contains(parts[1].Text, "File notes.txt:\n\nWhat I know.") {
		t.Errorf("the model was sent %+v", parts)
	}
	draft := window.Draft{Text: "next", Queued: []window.Queued{{Text: "later"}}}
	must(t, w.Chats.SaveDraft(sent.Conversation, draft))
	if d, err := w.Chats.Draft(sent.Conversation); err != nil || d.Text != "next" || d.Queued[0].Text != "later" ||
		d.Queued[0].Attachments == nil {
		t.Errorf("the chat's draft is %+v, %v", d, err)
	}
	w.core.Store.Chats.SaveDraft(chat.ConversationID(sent.Conversation), "words of an older version")
	if d, err := w.Chats.Draft(sent.Conversation); err != nil || d.Text != "words of an older version" {
		t.Errorf("an older draft is %+v, %v", d, err)
	}
	edited, err := w.Chats.Edit(sent.Conversation, 1, "And what is this?", true) // the script has no more answers
	must(t, err)
	w.over(sent.Conversation)
	if parts := w.model.Requests()[1].Messages[0].Parts; edited.Seq != 3 || len(parts) != 2 ||
		!strings.Contains(parts[1].Text, "What I know.") {
		t.Errorf("asked otherwise, the model was sent %+v", parts)
	}
}

func TestTheDemosChatsAreDeletedTogether(t *testing.T) {
	w := open(t, say("Kept."))
	kept := w.ask("", "A question to a model.")
	for _, text := range []string{"Hello", "What can you do?"} {
		sent, err := w.Chats.Send("", window.Outgoing{Text: text, Model: "demo/guide"})
		must(t, err)
		w.over(sent.Conversation)
	}
	undo, err := w.Chats.DeleteDemo()
	if err != nil || undo.Sentence != "2 demo chats were deleted." {
		t.Fatalf("deleted: %+v, %v", undo, err)
	}
	list, err := w.Chats.List(window.ChatQuery{}, 0, 50)
	if err != nil || list.Total != 1 || list.Rows[0].ID != kept {
		t.Errorf("left are %+v, %v", list, err)
	}
	must(t, w.Window.Undo(undo.Token))
	if list, err = w.Chats.List(window.ChatQuery{}, 0, 50); err != nil || list.Total != 3 || !list.Rows[0].Demo {
		t.Errorf("back are %+v, %v", list, err)
	}
}

// answering is a tool that answers with a word, or as it is told.
type answering string

func (a answering) Call(context.Context, tool.Call) (tool.Result, error) {
	return tool.Result{Status: chat.CallOK, Content: []chat.Part{chat.TextPart(string(a))}}, nil
}

func TestTheListChangesWhenAChatWaitsForAPerson(t *testing.T) {
	w := open(t, []modeltest.Step{modeltest.Call("1", "write_note", `{"text":"buy milk"}`)}, say("Written.")).quiet()
	w.lend(answering("noted"), nil)
	news := w.core.Bus.Subscribe(bus.Chats)
	defer news.Close()
	w.send("", "Note it.")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		if _, err := news.Next(ctx); err != nil {
			t.Fatalf("no notice came once the chat waited: %v", err)
		}
		list, err := w.Chats.List(window.ChatQuery{}, 0, 5)
		must(t, err)
		if list.Rows[0].State == window.ChatWaiting {
			return
		}
	}
}

// waiting returns the only request for permission, once there is one.
func (w *testWindow) waiting() view.PermissionRequest {
	w.t.Helper()
	var list window.PermissionRequestList
	w.until("the card", func() bool {
		var err error
		list, err = w.Permissions.Requests()
		must(w.t, err)
		return len(list.Requests) == 1
	})
	return list.Requests[0]
}

func TestACallIsAlwaysAllowedUnderAConditionOfItsCard(t *testing.T) {
	call := func(amount string) []modeltest.Step {
		return []modeltest.Step{modeltest.Call("of "+amount, "write_note", `{"text":"some words","amount":`+amount+`}`)}
	}
	w := open(t, call("20"), say("Done."), call("7"), say("Done again."), call("21"), say("Not done.")).quiet()
	w.lend(answering("noted"), nil)
	id := w.send("", "Note it.")
	q := w.waiting()
	if !slices.Equal(q.Only, []string{"while amount is at most 20"}) {
		t.Fatalf("the card offers %q", q.Only)
	}
	for _, none := range []int{-1, 2} {
		kind(t, "a condition that is none", w.Permissions.Answer(q.ID, q.Nonce,
			window.AnswerView{Effect: "allow", Scope: "always", Only: none}), fault.Invalid, "no such condition")
	}
	must(t, w.Permissions.Answer(q.ID, q.Nonce, window.AnswerView{Effect: "allow", Scope: "always", Only: 1}))
	w.over(id)
	w.ask(id, "Less.")
	w.send(id, "More.")
	q = w.waiting()
	must(t, w.Permissions.Answer(q.ID, q.Nonce, window.AnswerView{Effect: "deny", Scope: "once"}))
	w.over(id)
	rules, err := w.Permissions.Rules()
	if err != nil || len(rules.Rules) != 1 || rules.Rules[0].Uses != 2 ||
		!strings.Contains(rules.Rules[0].Sentence, "while amount is at most 20") {
		t.Errorf("the rules are %+v, %v", rules, err)
	}
}

func TestACardNamesWhereTextCameFromAndAYesCanTrustIt(t *testing.T) {
	call := func(id string) []modeltest.Step {
		return []modeltest.Step{modeltest.Call(id, "write_note", `{"text":"some words"}`)}
	}
	w := open(t, call("1"), say("Done."), call("2"), say("Done again."), call("3"), say("Not done.")).quiet()
	w.lend(answering("noted"), nil)
	must(t, w.core.Gate.Reach.SetPermission(t.Context(), "notes", "cors_proxy", gate.Allow))
	_, err := w.core.Gate.Rules.Add(t.Context(), gate.Rule{
		Effect: gate.Allow, Plugin: "notes", Tool: "*", Callers: []gate.Caller{gate.Main}, Scope: gate.Always,
	})
	must(t, err)
	id := w.ask("", "Note it.") // nothing came from outside yet
	w.send(id, "Again.")
	q := w.waiting()
	const source = "what the plugin Notes returned"
	if q.Trust != source || q.Reason != "Asked because: this chat contains "+source+"." || len(q.Scopes) != 1 {
		t.Errorf("the card is %+v", q)
	}
	must(t, w.Permissions.Answer(q.ID, q.Nonce, window.AnswerView{Effect: "allow", Scope: "once", Trust: true}))
	w.over(id)
	sources, err := w.Permissions.Sources(id)
	if err != nil || len(sources) != 1 || sources[0].Source != source || sources[0].Rule == "" || !sources[0].Named {
		t.Fatalf("the sources are %+v, %v", sources, err)
	}
	if _, err := w.Permissions.Revoke(sources[0].Rule); err != nil {
		t.Fatal(err)
	}
	kind(
		t,
		"what is no source",
		w.Permissions.Trust(id, "text from example.org"),
		fault.NotFound,
		"Nothing in this chat",
	)
	must(t, w.Permissions.Trust(id, source))
	w.ask(id, "And once more.")
	rules, err := w.Permissions.Rules()
	if err != nil || len(rules.Rules) != 3 ||
		!slices.ContainsFunc(rules.Rules, func(r view.Rule) bool {
			return r.Sentence == "What the plugin Notes returned is trusted in one chat."
		}) {
		t.Errorf("the rules are %+v, %v", rules.Rules, err)
	}
}

func TestACallIsAskedAboutAnsweredAndShown(t *testing.T) {
	w := open(t,
		[]modeltest.Step{modeltest.Call("1", "write_note", `{"text":"buy milk"}`)}, say("Written."),
		[]modeltest.Step{modeltest.Call("2", "write_note", `{"text":"buy bread"}`)}, say("Written, too."),
	).quiet()
	w.model.SetInfo(model.Info{
		Connection: "test", ID: "scripted", Title: "A <b>Model</b>\nwith a name",
		Can: model.Features{Tools: true},
	})
	w.lend(answering("noted\u200b"), nil)
	id := w.send("", "Note it.")
	var pending window.PermissionRequestList
	w.until("the card", func() bool {
		var err error
		if pending, err = w.Permissions.Requests(); err != nil {
			t.Fatal(err)
		}
		return len(pending.Requests) == 1 && pending.Requests[0].Call != ""
	})
	q := pending.Requests[0]
	if q.Conversation != id || q.ChatTitle != "Note it." || q.Seq != 2 || !strings.Contains(q.Arguments, "buy milk") ||
		!strings.HasPrefix(q.Title, "A <b>Model</b> with a name wants to ") {
		t.Errorf("the card is %+v", q)
	}
	if list, err := w.Chats.List(window.ChatQuery{}, 0, 5); err != nil || list.Rows[0].State != "waiting" {
		t.Errorf("its row is %+v, %v", list.Rows, err)
	}
	kind(t, "arguments that are none", w.Permissions.Answer(q.ID, q.Nonce,
		window.AnswerView{Effect: "allow", Scope: "once", Arguments: "{"}), fault.Invalid, "not JSON")
	allow := window.AnswerView{Effect: "allow", Scope: "always", Arguments: `{"text":"buy oat milk"}`}
	must(t, w.Permissions.Answer(q.ID, q.Nonce, allow))
	p := w.over(id)
	card := p.Entries[1].Parts[0].Call
	detail, err := w.Chats.Call(id, card.ID)
	if err != nil || !strings.Contains(detail.Arguments, "oat") || detail.Result != "noted" ||
		detail.HiddenRemoved != 1 || !strings.Contains(detail.ResultMarked, "‹U+200B›") {
		t.Errorf("the call was %+v, %v", detail, err)
	}
	record, err := w.Activity.List("", "", 0)
	if err != nil || len(record.Entries) != 1 || record.Entries[0].Chat != id ||
		record.Entries[0].ChatTitle != "Note it." {
		t.Errorf("on record is %+v, %v", record, err)
	}
	w.ask(id, "Another.")
	grants, err := w.Permissions.Rules()
	if err != nil || len(grants.Rules) != 1 || grants.Rules[0].Uses != 2 ||
		!strings.HasSuffix(grants.Rules[0].Sentence, ".") {
		t.Fatalf("remembered is %+v, %v", grants, err)
	}
	undo, err := w.Permissions.Revoke(grants.Rules[0].ID)
	must(t, err)
	if left, err := w.Permissions.Rules(); err != nil || len(left.Rules) != 0 {
		t.Errorf("after taking it back: %+v, %v", left, err)
	}
	must(t, w.Window.Undo(undo.Token))
	if back, err := w.Permissions.Rules(); err != nil || len(back.Rules) != 1 {
		t.Errorf("undone: %+v, %v", back, err)
	}
	must(t, w.Permissions.SetPaused(true))
	if now, err := w.Permissions.Requests(); err != nil || !now.Paused || len(now.Requests) != 0 {
		t.Errorf("paused: %+v, %v", now, err)
	}
	_, err = w.Permissions.Revoke("no such rule")
	kind(t, "no such rule", err, fault.NotFound, "")
}

func TestAPageStartsAgainWhoseChatWasGoneForAWhile(t *testing.T) {
	w := open(t, say("One.")).quiet()
	id := w.ask("", "Count.")
	for range 5 {
		must(t, w.Chats.SetPinned(id, true))
	}
	held := w.pull(id)
	undo, err := w.Chats.Delete(id)
	must(t, err)
	must(t, w.Window.Undo(undo.Token))
	again, err := w.Chats.Pull(id, held.Revision, nil)
	if err != nil || !again.Reset || len(again.Entries) != 2 || again.Revision <= held.Revision {
		t.Errorf("a page of revision %d pulls %+v, %v", held.Revision, again, err)
	}
}

func TestWhatAPluginChangesOfAChatIsShown(t *testing.T) {
	w := open(t, say("One.")).quiet()
	id := w.ask("", "Count.")
	w.pull(id)
	by := plugin.Caller{
		Plugin: "ext", Name: "Ext", Granted: func(string) bool { return true },
		Conversation: chat.ConversationID(id),
	}
	for _, c := range []struct {
		capability, args string
		want             []string
	}{
		{"chats.append", `{"role":"user","content":"And on."}`, []string{"user: Count.", "assistant: One.", "user: And on."}},
		{
			"chats.edit", `{"message":"2","content":"Two.","hidden":true}`,
			[]string{"user: Count.", "assistant: Two. (hidden)", "user: And on."},
		},
		{"chats.remove", `{"message":"2"}`, []string{"user: Count.", "user: And on."}},
	} {
		service := w.core.Services.All()[c.capability]
		if _, err := service.Do(t.Context(), by, json.RawMessage(c.args)); err != nil {
			t.Fatalf("%s: %v", c.capability, err)
		}
		w.until(c.capability, func() bool { return slices.Equal(w.shown(id), c.want) })
	}
}

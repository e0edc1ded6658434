package window_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/chat/exchange"
	"conclave/app/window"
)

func TestAChatIsCopiedBranchedAndReadFromAFile(t *testing.T) {
	w := open(t, say("One."), say("Two."), say("Three.")).quiet()
	id := w.ask("", "First?")
	w.ask(id, "Second?")
	must(t, w.Chats.Rename(id, "Numbers"))
	must(t, w.Chats.SetSystem(id, "Count."))

	whole, err := w.Transfer.Copy(id, 0)
	must(t, err)
	w.wants(whole, "of the copy", "user: First?", "assistant: One.", "user: Second?", "assistant: Two.")
	if c := w.pull(whole).Chat; c.Title != "Numbers (copy)" || c.System != "Count." {
		t.Errorf("the copy is %+v", c)
	}
	branch, err := w.Transfer.Copy(id, 2)
	must(t, err)
	w.wants(branch, "of the branch", "user: First?", "assistant: One.")
	w.ask(branch, "And then?")
	w.wants(branch, "after another question", "user: First?", "assistant: One.", "user: And then?", "assistant: Three.")
	w.wants(id, "of the first chat", "user: First?", "assistant: One.", "user: Second?", "assistant: Two.")
	_, err = w.Transfer.Copy(id, 99)
	kind(t, "up to a message that is not there", err, fault.NotFound, "")
	_, err = w.Transfer.Copy("x", 0)
	kind(t, "a chat that is not there", err, fault.NotFound, "")

	path := filepath.Join(t.TempDir(), "numbers.json")
	file, err := os.Create(path)
	must(t, err)
	_, err = window.ReadChat(w.Transfer, path)
	kind(t, "an empty file", err, fault.Invalid, "is not a chat that Conclave exported")
	writer := exchange.Writer{Chats: w.core.Store.Turns, Councils: w.core.Councils}
	_, err = writer.Write(t.Context(), chat.ConversationID(id), exchange.JSON, file)
	must(t, err)
	made, err := window.ReadChat(w.Transfer, path)
	must(t, err)
	w.wants(made.Conversation, "read back", "user: First?", "assistant: One.", "user: Second?", "assistant: Two.")
	if made.Messages != 4 || len(made.Notes) != 1 { // the system text
		t.Errorf("read: %+v", made)
	}
	text, err := w.Transfer.Text(id)
	if err != nil || text[:10] != "# Numbers\n" {
		t.Errorf("as text it is %q, %v", text, err)
	}
}

func TestABackupFromTheWindowReplacesTheFileThatWasChosen(t *testing.T) {
	w := open(t, say("One."))
	w.ask("", "First?")
	path := filepath.Join(t.TempDir(), "b.backup")
	must(t, os.WriteFile(path, []byte("before"), 0o600))
	saved, err := window.BackupTo(w.Transfer, path)
	must(t, err)
	if info, err := os.Stat(path); err != nil || info.Size() < 10_000 || saved.Path != path || saved.Note != "" {
		t.Errorf("%+v, %v, %v", saved, info, err)
	}
	_, err = window.BackupTo(w.Transfer, filepath.Join(path, "no", "folder"))
	kind(t, "a folder that is not there", err, fault.Unavailable, "cannot be written")
}

func TestATemporaryChatIsNotListedOrFoundAndIsDeletedWhenItIsLeft(t *testing.T) {
	w := open(t, say("Blue."), say("Green."), say("Red.")).quiet()
	stays := w.ask("", "An ordinary colour?")
	listed := func(words string) []string {
		found, err := w.Chats.List(window.ChatQuery{Text: words}, 0, 50)
		must(t, err)
		var ids []string
		for _, row := range found.Rows {
			ids = append(ids, row.ID)
		}
		return ids
	}
	begin := func(question string) string {
		id, err := w.Transfer.Temporary()
		must(t, err)
		must(t, w.Chats.Seen(id))
		w.ask(id, question)
		return id
	}
	id := begin("A secret colour?")
	w.wants(id, "of the temporary chat", "user: A secret colour?", "assistant: Green.")
	if !w.pull(id).Chat.Temporary || !slices.Equal(listed(""), []string{stays}) {
		t.Errorf("listed: %v", listed(""))
	}
	w.until("the other chat is found", func() bool { return len(listed("colour")) > 0 })
	if found := listed("colour"); !slices.Equal(found, []string{stays}) || len(listed("secret")) > 0 {
		t.Errorf("found: %v", found)
	}
	if hello, err := w.Window.Hello(); err != nil || hello.OpenChat != "" {
		t.Errorf("the next start opens %q, %v", hello.OpenChat, err)
	}
	must(t, w.Chats.Seen(stays))
	_, err := w.core.Store.Chats.Conversation(t.Context(), chat.ConversationID(id))
	kind(t, "a temporary chat that was left", err, fault.NotFound, "")

	id = begin("A colour to remember?")
	must(t, w.Transfer.Keep(id))
	must(t, w.Chats.Seen(stays))
	if got := listed(""); !slices.Equal(got, []string{id, stays}) || w.pull(id).Chat.Temporary {
		t.Errorf("after it was saved: %v", got)
	}
	id, err = w.Transfer.Temporary()
	must(t, err)
	must(t, w.Chats.Seen(id))
	w.Shutdown(t.Context())
	_, err = w.core.Store.Chats.Conversation(t.Context(), chat.ConversationID(id))
	kind(t, "after the window was closed", err, fault.NotFound, "")
}

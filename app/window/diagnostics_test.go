package window_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/base/settings"
	"conclave/app/chat"
)

func TestDiagnosticsHaveNoTextOfAPerson(t *testing.T) {
	w := open(t)
	home, err := os.UserHomeDir()
	must(t, err)
	must(t, w.core.Store.Turns.CreateConversation(t.Context(), &chat.Conversation{Title: "My secret title"}))
	_, err = w.core.Settings.ChangeSettings(t.Context(), func(set *settings.Settings) {
		set.Editor, set.Draft, set.Theme = home+"/bin/private-editor", "a private draft", settings.Dark
	})
	must(t, err)
	log := `{"time":"2026-11-28T10:00:00Z","level":"INFO","msg":"a quiet line"}
{"time":"2026-11-28T10:00:01Z","level":"ERROR","msg":"saving failed","err":"open ` + home + `/x: “My words” \"and these\" \u202e"}
no JSON
`
	write(t, filepath.Join(w.data, "logs", "conclave.log"), log)
	made, err := w.Window.Diagnostics()
	must(t, err)
	all := ""
	for _, part := range made.Parts {
		all += string(part.Kind) + "\n" + part.Text + "\n"
	}
	for _, private := range []string{
		"secret title", "private", "My words", "and these", home + "/", "quiet", "\u202e", w.data,
	} {
		if strings.Contains(all, private) {
			t.Errorf("the report has %q:\n%s", private, all)
		}
	}
	for _, want := range []string{
		"Conclave 1.2.3", "theme: \"dark\"", "chats: 1", "ERROR saving failed", "open ~/x: “…” “…”",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("the report lacks %q:\n%s", want, all)
		}
	}
}

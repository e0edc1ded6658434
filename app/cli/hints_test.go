package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"conclave/app/chat"
)

// Whatever a person is told to type goes to the folders that this command was given.
const elsewhere = "conclave --data /d2 "

func TestEachCommandToTypeNamesTheFolderThatWasGiven(t *testing.T) {
	s := &Session{Dir: "/", Env: func(string) string { return "" }}
	c := &command{Session: s, data: "d2"}
	for _, sub := range (&command{Session: s}).root().Commands() {
		got := c.toType("Go on with conclave " + sub.Name() + " x, as conclave does.")
		if want := "Go on with " + elsewhere + sub.Name() + " x, as conclave does."; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestDoctorAndEndedChatsNameTheFolderThatWasGiven(t *testing.T) {
	var out bytes.Buffer
	s := &Session{
		Args: []string{"doctor", "--data", "d2"}, Dir: "/", Out: &out, Err: &out, Env: func(string) string { return "" },
	}
	Run(t.Context(), s, func(context.Context, Folders) (*App, error) {
		return &App{Close: func() {}, Doctor: func(context.Context) []Finding {
			return []Finding{{Name: "store", OK: true, Fix: "Run conclave compact."}}
		}}, nil
	})
	if !strings.Contains(out.String(), "Run "+elsewhere+"compact.") {
		t.Error(out.String())
	}
	c := &command{Session: s, data: "d2"}
	cut := exported{
		Conversation: chat.Conversation{ID: "c1"},
		Messages:     []chat.Message{{Role: chat.RoleAssistant, State: chat.Interrupted, Created: time.Now()}},
	}
	if page := c.asMarkdown(cut); !strings.Contains(page, elsewhere+"prompt --conversation c1") {
		t.Error(page)
	}
}

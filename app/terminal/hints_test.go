package terminal

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/chat/exchange"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/test/testkit"
)

var must = testkit.Must

// Whatever a person is told to type goes to the folders that this command was given.
const elsewhere = "conclave --data /d2 "

func TestEachCommandToTypeNamesTheFolderThatWasGiven(t *testing.T) {
	s := &Session{Dir: "/", Env: func(string) string { return "" }}
	c := &terminal{Session: s, data: "d2"}
	for _, sub := range (&terminal{Session: s}).root().Commands() {
		got := c.toType("Go on with conclave " + sub.Name() + " x, as conclave does.")
		if want := "Go on with " + elsewhere + sub.Name() + " x, as conclave does."; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestDoctorAndEndedChatsNameTheFolderThatWasGiven(t *testing.T) {
	var out bytes.Buffer
	s := &Session{
		Args: []string{"doctor", "--data", "d2"}, Dir: "/", Out: &out, Err: &out,
		Env: func(string) string { return "" },
	}
	Run(t.Context(), s, func(context.Context, Folders) (*App, error) {
		return &App{Close: func() {}, Doctor: func(context.Context) []Finding {
			return []Finding{{Name: "store", OK: true, Fix: "Run conclave compact."}}
		}}, nil
	})
	if !strings.Contains(out.String(), "Run "+elsewhere+"compact.") {
		t.Error(out.String())
	}
	c := &terminal{Session: s, data: "d2"}
	runs := deliberation.New(deliberation.Options{Log: noRuns{}})
	defer runs.Close()
	var b strings.Builder
	_, err := chatCommands{c}.writeTo(t.Context(), &App{Chats: endedChat{}, Councils: runs}, "c1", exchange.Markdown, &b,
		c.toType)
	must(t, err)
	page := b.String()
	if !strings.Contains(page, elsewhere+"prompt --conversation c1") {
		t.Error(page)
	}
}

// endedChat is chats of which one was cut off.
type endedChat struct{ Chats }

func (endedChat) Conversation(context.Context, chat.ConversationID) (chat.Conversation, error) {
	return chat.Conversation{ID: "c1"}, nil
}

func (endedChat) EachOnPath(_ context.Context, _ chat.ConversationID, do func(chat.Message) error) error {
	return do(chat.Message{Role: chat.RoleAssistant, State: chat.Interrupted, Created: time.Now()})
}

// noRuns is runs of councils, of which there are none.
type noRuns struct{ council.Log }

func (noRuns) Runs(context.Context, chat.ConversationID) ([]council.Header, error) { return nil, nil }

func TestAnExportedChatDoesNotNameTheFolderItLayIn(t *testing.T) {
	var out, trouble bytes.Buffer
	s := &Session{
		Args: []string{"chats", "export", "c1", "--data", "d2"}, Dir: "/",
		Out: &out, Err: &trouble, Env: func(string) string { return "" },
	}
	runs := deliberation.New(deliberation.Options{Log: noRuns{}})
	Run(t.Context(), s, func(context.Context, Folders) (*App, error) {
		return &App{Close: func() {}, Chats: endedChat{}, Councils: runs}, nil
	})
	runs.Close()
	if !strings.Contains(out.String(), "conclave prompt --conversation c1") ||
		strings.Contains(out.String(), "d2") {
		t.Errorf("%s%s", out.String(), trouble.String())
	}
}

func TestAHintAfterALostCommandHasItsFolders(t *testing.T) {
	for _, args := range [][]string{
		{"prompt", "hi", "--td", "--data", "d2"}, {"--data=d2", "prompt", "--", "--data", "d3"},
	} {
		var trouble bytes.Buffer
		s := &Session{Args: args, Dir: "/", Err: &trouble, Env: func(string) string { return "" }}
		Fail(s, fault.New(fault.Unavailable, "test", "It ended.", "Look at conclave chats list."))
		if !strings.Contains(trouble.String(), "conclave --data /d2 chats list") {
			t.Errorf("%q: %s", args, trouble.String())
		}
	}
}

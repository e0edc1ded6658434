package chat

import (
	"fmt"
	"strings"
	"testing"
)

func TestAnAnswerIsOneEntryHoweverManyMessagesItTook(t *testing.T) {
	for name, c := range map[string]struct{ path, want string }{
		"nothing":                   {"", ""},
		"a question and its answer": {"user:t assistant:t", "user 1 | assistant 2"},
		"rounds with tools": {
			"user:t assistant:t tool:t assistant:t user:u", "user 1 | assistant 2 3 4 | user 5",
		},
		"another turn without a question": {"user:t assistant:t assistant:u", "user 1 | assistant 2 | assistant 3"},
		"two turns that write by turns": {
			"user:t assistant:t assistant:m tool:t tool:m assistant:t", "user 1 | assistant 2 4 6 | assistant 3 5",
		},
		"a turn after a question of it": {"assistant:t user:t assistant:t", "assistant 1 | user 2 | assistant 3"},
		"messages of no turn":           {"assistant: assistant:", "assistant 1 | assistant 2"},
		"results alone":                 {"user:t tool:t", "user 1 | assistant 2"},
		"system text":                   {"system: user:t assistant:t", "system 1 | user 2 | assistant 3"},
	} {
		t.Run(name, func(t *testing.T) {
			var path []Message
			for i, word := range strings.Fields(c.path) {
				role, turn, _ := strings.Cut(word, ":")
				path = append(path, Message{Seq: MessageSeq(i + 1), Role: Role(role), Turn: turn})
			}
			entries := Entries(path)
			var got []string
			for i, e := range entries {
				line := string(e.Role)
				for _, m := range e.Messages {
					line += fmt.Sprint(" ", m.Seq)
					if at := EntryOf(entries, m.Seq); at != i {
						t.Errorf("message %d is found in entry %d, not %d", m.Seq, at, i)
					}
				}
				got = append(got, line)
			}
			if got := strings.Join(got, " | "); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if at := EntryOf(entries, 99); at != -1 {
				t.Errorf("a message that is not there is found in entry %d", at)
			}
		})
	}
}

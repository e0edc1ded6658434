package council_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/model"
)

// request has messages of alternating sides, "m0" first: the last is the person's.
func request(n int) model.Request {
	var r model.Request
	for i := range n {
		role := chat.RoleUser
		if (n-1-i)%2 == 1 {
			role = chat.RoleAssistant
		}
		r.Messages = append(r.Messages, model.Message{Role: role, Parts: []chat.Part{chat.TextPart(fmt.Sprintf("m%d", i))}})
	}
	return r
}

// flat is all text of a request in its order, the notes as "NOTES".
func flat(r model.Request) []string {
	all := []string{r.System}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			switch {
			case strings.HasPrefix(p.Text, "[System note]"):
				all = append(all, "NOTES")
			case p.Kind == chat.PartText:
				all = append(all, p.Text)
			default:
				all = append(all, string(p.Kind))
			}
		}
	}
	return all
}

func TestSP52WithoutTheMacroNotesStandOnceFourMessagesBeforeTheEnd(t *testing.T) {
	for n := range 7 {
		r := request(n)
		before := flat(r)
		council.Insert(&r, "NOTES")
		got := flat(r)
		at := 1 + max(0, n-4)
		if want := slices.Insert(slices.Clone(before), at, "NOTES"); !slices.Equal(got, want) {
			t.Errorf("of %d messages it makes %q", n, got)
		}
		for i, m := range r.Messages[min(1, len(r.Messages)):] {
			if m.Role == r.Messages[i].Role {
				t.Errorf("of %d messages, two of one side follow one another", n)
			}
		}
	}
}

func TestSP52NotesNeverComeBetweenACallAndItsResult(t *testing.T) {
	for after := range 6 {
		r := request(3)
		r.Messages = append(r.Messages,
			model.Message{Role: chat.RoleAssistant, Parts: []chat.Part{
				{Kind: chat.PartToolCall, Call: &chat.ToolCall{ID: "1"}},
			}},
			model.Message{Role: chat.RoleTool, Parts: []chat.Part{
				{Kind: chat.PartToolResult, Result: &chat.ToolResult{CallID: "1"}},
			}})
		for i := range after {
			role := []chat.Role{chat.RoleAssistant, chat.RoleUser}[i%2]
			r.Messages = append(r.Messages, model.Message{Role: role, Parts: []chat.Part{chat.TextPart(fmt.Sprint("n", i))}})
		}
		council.Insert(&r, "NOTES")
		got := flat(r)
		call := slices.Index(got, string(chat.PartToolCall))
		notes := slices.Index(got, "NOTES")
		if notes < 0 || got[call+1] != string(chat.PartToolResult) || slices.Contains(got[notes+1:], "NOTES") {
			t.Errorf("with %d messages behind the call it makes %q", after, got)
		}
	}
}

func TestSP52WithTheMacroNotesStandThereAndNowhereElse(t *testing.T) {
	for name, put := range map[string]func(*model.Request){
		"in the system text": func(r *model.Request) { r.System = "Before " + council.Macro + " after " + council.Macro },
		"in a message": func(r *model.Request) {
			r.Messages[4].Parts[0].Text = "Before " + council.Macro + " after "
		},
	} {
		r := request(6 + 1)
		put(&r)
		first := r
		at := council.Insert(&r, "THE NOTES")
		all := strings.Join(flat(r), "|")
		if strings.Count(all, "NOTES") != 1 || !strings.Contains(all, "Before THE NOTES after ") ||
			strings.Contains(all, council.Macro) {
			t.Errorf("%s it makes %q", name, all)
		}
		council.Put(&first, "THE NOTES", at) // a later round of the same turn
		if again := strings.Join(flat(first), "|"); again != all {
			t.Errorf("%s, the next round has %q", name, again)
		}
	}
}

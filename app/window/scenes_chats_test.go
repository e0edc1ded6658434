package window_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/app/model"
)

// written is a chat of a scene; its last message came so long before the recording.
type written struct {
	id, title string
	ago       time.Duration
	change    func(*chat.Conversation)
	messages  []chat.Message
	calls     []chat.CallRecord // of its messages, in their order
}

// asks and answers are messages of one turn.
func asks(text string) chat.Message {
	return chat.Message{Role: chat.RoleUser, State: chat.Complete, Parts: []chat.Part{chat.TextPart(text)}}
}

func answers(text string, changes ...func(*chat.Message)) chat.Message {
	m := chat.Message{
		Role: chat.RoleAssistant, State: chat.Complete, Model: "lab/maple-large", Reason: chat.EndDone,
		Usage: &chat.Usage{Input: 412, Output: 87, Cost: 0.0021, Priced: "2026-10-16"},
	}
	if text != "" {
		m.Parts = []chat.Part{chat.TextPart(text)}
	}
	for _, change := range changes {
		change(&m)
	}
	return m
}

// calls makes an answer call Word count; results is the message with its result.
func calls(m *chat.Message) {
	m.Reason = ""
	m.Parts = append(m.Parts, chat.Part{Kind: chat.PartToolCall, Call: &chat.ToolCall{
		ID: "1", Tool: "word_count", Arguments: json.RawMessage(`{"text": "a b c"}`), Sequence: 1,
	}})
}

func results(status chat.CallStatus, text string) chat.Message {
	return chat.Message{Role: chat.RoleTool, State: chat.Complete, Parts: []chat.Part{{
		Kind: chat.PartToolResult, Result: &chat.ToolResult{
			CallID: "1", Tool: "word_count", Status: status, IsError: status != chat.CallOK,
			Content: []chat.Part{chat.TextPart(text)},
		},
	}}}
}

// counted is the record of a call of Word count.
func counted(change func(*chat.CallRecord)) []chat.CallRecord {
	r := chat.CallRecord{
		Caller: "main", ToolName: "word_count", ToolID: "text:word_count", Plugin: "text", Digest: "9f2c41aa03d7",
		Arguments: json.RawMessage(`{"text": "a b c"}`), Result: json.RawMessage("3"), ResultText: "3",
		Status:  chat.CallOK,
		Started: recordedAt.Add(-time.Second), Ended: recordedAt.Add(-998 * time.Millisecond), MS: 1.2,
		Decision: "allow", Decider: "default", DecidedBy: "it only computes",
		Path: []chat.DecisionStep{
			{Number: 2, Name: "your refusals", Why: "none of your rules refuses it"},
			{Number: 9, Name: "default", Effect: "allow", Why: "it only computes"},
		},
	}
	if change != nil {
		change(&r)
	}
	return []chat.CallRecord{r}
}

// chatting opens a window on chats that were written before, and returns the questions about them.
func chatting(t *testing.T, chats ...written) (*testWindow, []string) {
	t.Helper()
	inUTC(t)
	w := open(t)
	w.model.SetInfo(model.Info{
		Connection: "lab", ID: "maple-large", Title: "Maple Large", Provider: "openai",
		Can: model.Features{Tools: true, Vision: true, Reasoning: true},
	})
	var questions []string
	for _, c := range chats {
		at := recordedAt.Add(-c.ago)
		made := chat.Conversation{
			ID: chat.ConversationID(c.id), Title: c.title, Model: "lab/maple-large", Created: at, Updated: at,
			Named: true,
		}
		if c.change != nil {
			c.change(&made)
		}
		messages := slices.Clone(c.messages)
		turn := 0
		for i := range messages {
			if messages[i].Role == chat.RoleUser {
				turn++
			}
			messages[i].Turn = "turn-" + string(rune('0'+turn))
			messages[i].Created, messages[i].Ended = at, at
			if messages[i].Role == chat.RoleAssistant {
				messages[i].Created = at.Add(-3200 * time.Millisecond)
			}
		}
		must(t, w.core.Store.Chats.ImportConversation(t.Context(), &made, messages))
		for _, r := range c.calls {
			r.Conversation, r.Turn, r.ResponseID, r.Timestamp = made.ID, "turn-"+string(rune('0'+turn)), 2, at
			must(t, w.core.Store.Calls.PutCall(t.Context(), &r))
			questions = append(questions, "Chats.Call "+c.id+" 1")
		}
		questions = append(questions, "Chats.Pull "+c.id)
	}
	return w, questions
}

const hour = time.Hour

var chatScenes = map[string]struct {
	on    string
	chats []written
	more  []string
}{
	"chat": {on: "welcome", chats: []written{
		{
			id: "chat-1", title: "Reading list for the winter", ago: 30 * hour,
			change: func(c *chat.Conversation) { c.Pinned = true },
		},
		{id: "chat-2", title: "Trip to Lyon", ago: 26 * hour, messages: []chat.Message{
			asks("What should I see in Lyon in two days?"),
			answers("Walk the traboules of Vieux Lyon, then climb to Fourvière for the view."),
		}},
		{id: "chat-3", ago: 50 * hour},
		{id: "chat-4", title: "Why do my tomatoes split, and what to do about it before the autumn", ago: 80 * hour},
		{id: "chat-5", title: "Regular expression for dates", ago: 200 * hour},
		{id: "chat-6", title: "Letter to the landlord", ago: 1200 * hour},
		{
			id: "chat-7", title: "An old one", ago: 2000 * hour,
			change: func(c *chat.Conversation) { c.Archived = true },
		},
		{id: "chat-8", title: "Counting words", ago: time.Minute, messages: []chat.Message{
			asks("How would I write a tool that counts words? And how often are my tools used?"),
			answers(`A Python file in the plugins folder is enough. Every public function of it becomes a tool, and its docstring is what the model reads:

`+"```python"+`
# word_count.py: every function here is a tool
def word_count(text: str) -> int:
    """Count the words of a text."""
    return len(text.split())

print(word_count("a b c"))
`+"```"+`

Save it, and it is callable a moment later. This is how often your tools were used this week:

| Tool | Calls | Note |
|---|--:|---|
| word_count | 12 | counts words |
| convert | 4 | units of length, mass and heat |
| roll | 31 | dice such as `+"`3d6+2`"+` |

Ask me to count something, and you will see the call in a card under my words.`, func(m *chat.Message) {
				m.Usage = &chat.Usage{Input: 11_888, Output: 0, Cost: 0.035, Priced: "2026-10-16"}
			}),
			asks("Good. Keep it short next time."), answers("I will."),
		}},
	}},
	"showcase": {on: "welcome", chats: []written{{
		id: "chat-1", title: "What an answer can look like", ago: time.Minute,
		messages: []chat.Message{asks("Show me what an answer can look like"), answers(showcase)},
	}}},
	"states": {on: "welcome", chats: []written{{
		id: "chat-1", title: "Answers that went wrong", ago: time.Minute, messages: []chat.Message{
			asks("Tell me about long rivers."),
			answers("The longest rivers are", func(m *chat.Message) {
				m.State, m.Reason = chat.Failed, chat.EndError
				m.Error = &chat.Failure{
					Kind:    "provider",
					Message: "The connection to models.example.org was cut in the middle of the answer.",
					Hint:    "Try again, or try another model.",
				}
			}),
			asks("And mountains?"),
			answers("The highest mountains are in Asia:", func(m *chat.Message) {
				m.State, m.Reason = chat.Stopped, chat.EndStopped
			}),
			func() chat.Message { m := asks("Go on."); m.Hidden = true; return m }(),
			answers("Everest, K2, Kangchenjunga, and", func(m *chat.Message) {
				m.State, m.Reason = chat.Interrupted, ""
			}),
		},
	}}},
	"tool": {on: "chat", chats: []written{{
		id: "chat-8", title: "Counting words", ago: time.Minute,
		messages: []chat.Message{
			asks("Count with the tool"), answers("", calls), results(chat.CallOK, "3"),
			answers("Three words."),
		},
		calls: counted(func(r *chat.CallRecord) { r.ResultText = "3\u200b\u200b\u202e" }),
	}}},
	"toolerror": {on: "chat", chats: []written{{
		id: "chat-8", title: "Counting words", ago: time.Minute,
		messages: []chat.Message{
			asks("Count wrongly"), answers("", calls), results(chat.CallRaised, "no"),
			answers("It failed."),
		},
		calls: counted(func(r *chat.CallRecord) {
			r.Status, r.Result, r.ResultText = chat.CallRaised, nil, ""
			r.Arguments, r.Error = json.RawMessage(`{"txt": "a b c"}`),
				"word_count() got an unexpected keyword argument 'txt'"
			r.ErrorType = "TypeError"
		}),
	}}},
	"hooks": {on: "welcome", more: []string{"Chats.Hooks chat-1 2", "Chats.Hooks chat-1 4"}, chats: []written{{
		id: "chat-1", title: "The gates of Varn", ago: time.Minute, messages: []chat.Message{
			asks("How many gates has Varn?"),
			answers("Varn has three gates.", func(m *chat.Message) { m.Hooks = []chat.HookStep{lorebook} }),
			asks("And who knows the third?"),
			answers("I will look it up.", calls, func(m *chat.Message) { m.Hooks = hookedSteps }),
			results(chat.CallRefused, "refused"),
			answers("", func(m *chat.Message) {
				m.Hooks = []chat.HookStep{{
					Point: chat.HookBeforeModel, Plugin: "lorebook", Title: "Lorebook", Action: chat.HookStopped,
					MS:     1.4,
					Reason: "the guild of bakers keeps its secret",
				}}
				m.State, m.Reason = chat.Stopped, chat.EndStopped
			}),
		},
		calls: counted(func(r *chat.CallRecord) {
			r.Status, r.Decision, r.Decider, r.DecidedBy = chat.CallRefused, "deny", "hook", "Sunday guard denied it"
			r.Result, r.ResultText = nil, ""
			r.Hooks = []chat.HookStep{
				{
					Point: chat.HookBeforeTool, Plugin: "path keeper", Title: "Path keeper",
					Action: chat.HookChanged, MS: 1.4,
					Change: changed("[Arguments]", " {", `-  "path": "/home/ada/../bob/notes.md"`,
						`+  "path": "/home/ada/notes.md"`, " }"),
				},
				{
					Point: chat.HookApprove, Plugin: "sunday guard", Title: "Sunday guard", Action: chat.HookDenied,
					MS:     1.4,
					Reason: "nothing is counted on Sundays",
				},
			}
		}),
	}}},
}

// changed writes lines as chat.HookStep has them: "+", "-", a blank or "@", and then a heading in
// brackets or a line.
func changed(lines ...string) string {
	for i, line := range lines {
		if strings.HasPrefix(line, "[") {
			lines[i] = " " + line
		} else if !strings.HasPrefix(line[1:], "[") {
			lines[i] = line[:1] + "  " + line[1:]
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

var lorebook = chat.HookStep{
	Point: chat.HookBeforeModel, Plugin: "lorebook", Title: "Lorebook", Action: chat.HookChanged, MS: 12.6,
	Notes: []string{"Lorebook changed what the model is sent."},
	Change: changed("@[System prompt]", " Answer in the language you are asked in.", " Name your sources.",
		" Keep it short.",
		"-The city of Varn has two gates.",
		"+The city of Varn has three gates; the third is known to the guild of bakers alone.",
		"+Its river is called the Lower Ashwater.", " Winters there are long.", "+[Settings]", "+temperature 0.4"),
	Left: "12 more lines differ and are not kept.",
}

var hookedSteps = []chat.HookStep{
	{
		Point: chat.HookBeforeModel, Plugin: "conclave", Title: "Conclave", Action: chat.HookChanged, MS: 0.2,
		Notes:  []string{"Weather station changed what the model is sent: {{temperature}}."},
		Change: changed("[Person]", "-It is {{temperature}} here.", "+It is 21 °C here."),
	},
	lorebook,
	{Point: chat.HookBeforeModel, Plugin: "counter", Title: "Counter", MS: 0.7},
	{
		Point: chat.HookBeforeModel, Plugin: "slow index", Title: "Slow index", Action: chat.HookTimedOut, MS: 10_002,
		Reason: "it took too long",
	},
	{
		Point: chat.HookBeforeModel, Plugin: "old hook", Title: "Old hook", Action: chat.HookFailed, MS: 3.1,
		Reason: "TypeError: cannot read properties of undefined (reading “at”) in backend.js, line 14.",
	},
	{
		Point: chat.HookAfterModel, Plugin: "house style", Title: "House style", Action: chat.HookChanged, MS: 1.4,
		Change: changed("[Answer]", "-Gonna check!", "+I will check."),
	},
}

// showcase has everything that an answer can look like.
const showcase = `This is what an answer can look like. It is **scripted**, and it is drawn by the same code that draws a real one: *emphasis*, ~~struck text~~, ` + "`inline code`" + `, a [link to a page](https://example.org/docs) and a footnote[^1].

# A list with parts

1. Read the file
2. Check it against what you expect
   - a nested point
   - another one
3. Write it back

- [x] Ask before anything is written
- [ ] Keep a copy

# Code, with its language and a way to copy it

` + "```python" + `
# word_count.py: every function here is a tool
def word_count(text: str) -> int:
    """Count the words of a text."""
    return len(text.split())

print(word_count("a b c"))
` + "```" + `

# A table

| Tool | Calls | Note |
|---|--:|---|
| word_count | 12 | counts words |
| convert | 4 | units of length, mass and heat |
| roll | 31 | dice such as ` + "`3d6+2`" + ` |

> A quoted remark. Nothing is allowed until you say so.

$$\int_0^1 x^2\,dx = \frac{1}{3}$$

` + "```mermaid" + `
graph LR
  You --> Model
  Model --> Tool
  Tool --> Model
` + "```" + `

![a chart](https://example.org/chart.png)

That is all of it. Ask for a tool next.

[^1]: Its text stands where it was written.
`

// The chats of scenes are what the program answers about such chats.
func TestScenesOfChatsAreWhatTheProgramAnswers(t *testing.T) {
	for _, name := range []string{"chat", "showcase", "states", "tool", "toolerror", "hooks"} {
		t.Run(name, func(t *testing.T) {
			s := chatScenes[name]
			w, questions := chatting(t, s.chats...)
			w.record(name, s.on, append(questions, s.more...)...)
		})
	}
}

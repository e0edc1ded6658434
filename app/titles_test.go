package app

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"

	"conclave/app/bus"
	"conclave/app/call"
	"conclave/app/chat"
	"conclave/app/conversation"
	"conclave/app/llm"
	"conclave/app/llm/llmtest"
	"conclave/app/permit"
	"conclave/app/settings"
	"conclave/app/tool"
	"conclave/app/transcript"
	"conclave/app/turn"
)

// kept is one chat in memory.
type kept struct {
	Keeper
	log *turn.MemoryLog
}

const talk = chat.ConversationID("talk")

func (k kept) Conversation(ctx context.Context, id chat.ConversationID) (chat.Conversation, error) {
	return k.log.Conversation(ctx, id)
}

func (k kept) UpdateConversation(ctx context.Context, id chat.ConversationID, change func(*chat.Conversation)) error {
	return k.log.UpdateConversation(ctx, id, change)
}

func (k kept) SaveDraft(chat.ConversationID, string) {}

func (k kept) Outline(ctx context.Context, id chat.ConversationID) (transcript.Outline, error) {
	c, err := k.log.Conversation(ctx, id)
	if err != nil {
		return transcript.Outline{}, err
	}
	path, err := k.log.Path(ctx, id)
	o := transcript.Outline{Conversation: c}
	for _, m := range path {
		o.Path = append(o.Path, m.Seq)
		o.Nodes = append(o.Nodes, transcript.Node{Seq: m.Seq, Parent: m.Parent, Role: m.Role, Turn: m.Turn})
	}
	return o, err
}

func (k kept) Messages(ctx context.Context, id chat.ConversationID, seqs []chat.MessageSeq) ([]chat.Message, error) {
	path, err := k.log.Path(ctx, id)
	var out []chat.Message
	for _, seq := range seqs {
		for _, m := range path {
			if m.Seq == seq {
				out = append(out, m)
			}
		}
	}
	return out, err
}

func (k kept) CallsOfTurn(context.Context, chat.ConversationID, string) ([]chat.CallRecord, error) {
	return nil, nil
}

type others = Connections // has a method of its own name

// oneModel is a connection with one model.
type oneModel struct {
	others
	m llm.Model
}

func (o oneModel) Open(context.Context, string) (llm.Model, error) { return o.m, nil }
func (o oneModel) Info(context.Context, string) llm.ModelInfo      { return o.m.Info() }
func (o oneModel) Default(context.Context) (string, error)         { return o.m.Info().Name(), nil }

// remembered is the chat as its owner sees it.
type remembered struct{ *turn.MemoryLog }

func (remembered) DeleteConversation(context.Context, chat.ConversationID) (string, error) {
	return "", errors.New("nothing is deleted here")
}

// conversing opens a window over one chat, in which m answers.
func conversing(t *testing.T, m llm.Model, set settings.Settings) (*App, *turn.MemoryLog) {
	t.Helper()
	log := turn.NewMemoryLog(chat.Conversation{ID: talk})
	gate, err := permit.Open(t.Context(), permit.Options{Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	turns := turn.New(turn.Options{Log: log, Calls: call.New(call.Options{Log: log, Gate: gate})})
	a := New(Core{
		Bus: bus.New(), Keep: kept{log: log}, Turns: turns,
		Conversations: conversation.New(conversation.Options{Store: remembered{log}, Turns: turns}), Tools: tool.NewRegistry(), Gate: gate,
		Models: oneModel{m: m}, Settings: chosen{set: set},
	}, slog.New(slog.DiscardHandler))
	a.begin(t.Context())
	return a, log
}

// title sends a question, lets everything come to rest, and returns the title.
func title(t *testing.T, a *App, log *turn.MemoryLog, question string) string {
	t.Helper()
	if _, err := a.Chats.Send(string(talk), Outgoing{Text: question}); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	c, err := log.Conversation(t.Context(), talk)
	if err != nil {
		t.Fatal(err)
	}
	return c.Title
}

func TestAChatIsNamedByItsModelAfterTheFirstAnswerAlone(t *testing.T) {
	say := func(text string) []llmtest.Step { return []llmtest.Step{llmtest.Say(text)} }
	for name, c := range map[string]struct {
		change   func(*settings.Settings)
		want     string
		requests int
	}{
		"as it comes":  {func(*settings.Settings) {}, "Weather in Oslo", 3},
		"switched off": {func(s *settings.Settings) { s.ModelTitles = false }, "Is it sunny in Oslo?", 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set := settings.Default()
				c.change(&set)
				answers := [][]llmtest.Step{say("Yes."), say("Weather in Oslo"), say("Warm, too.")}
				if !set.ModelTitles {
					answers = [][]llmtest.Step{say("Yes."), say("Warm, too.")}
				}
				m := llmtest.New(answers...)
				a, log := conversing(t, m, set)
				a.Chats.start(t.Context())
				if got := title(t, a, log, "Is it sunny in Oslo?"); got != c.want {
					t.Errorf("after the first answer it is %q", got)
				}
				if got := title(t, a, log, "And warm?"); got != c.want || len(m.Requests()) != c.requests {
					t.Errorf("after the second it is %q, and %d requests were made", got, len(m.Requests()))
				}
				a.Chats.stop()
			})
		})
	}
}

func TestAClosingWindowDoesNotWaitForATitle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		never := make(chan struct{})
		m := llmtest.New([]llmtest.Step{llmtest.Say("Yes.")}, []llmtest.Step{llmtest.Wait(never)})
		a, log := conversing(t, m, settings.Default())
		ctx, closing := context.WithCancel(t.Context())
		a.Chats.start(ctx)
		if got := title(t, a, log, "Is it sunny?"); got != "Is it sunny?" || len(m.Requests()) != 2 {
			t.Errorf("while the model thinks it is %q, after %d requests", got, len(m.Requests()))
		}
		closing()
		synctest.Wait()
		done := make(chan struct{})
		go func() { // ends when everything has
			defer close(done)
			a.Chats.stop()
		}()
		synctest.Wait()
		select {
		case <-done:
		default:
			t.Error("closing waits for the title")
		}
		close(never)
		<-done
	})
}

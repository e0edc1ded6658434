package turn_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/model"
)

// long is a text of some tokens.
func long(about string, tokens int) string { return about + strings.Repeat(" abc", tokens) }

// talked returns a bench whose chat has questions and answers of 100 tokens each.
func talked(t *testing.T, rounds int) *bench {
	b := newBench(t, nil)
	for i := range rounds {
		b.say(scriptedModel(says(long(fmt.Sprintf("answer %d", i+1), 100))), func(r *turn.Request) {
			r.Text = long(fmt.Sprintf("question %d", i+1), 100)
		})
	}
	return b
}

// small is a model that reads 1,000 tokens.
func small(script ...round) *scripted {
	m := scriptedModel(script...)
	m.info.Context = 1_000
	return m
}

func (b *bench) fill(m model.Model, text string) turn.Fill {
	b.t.Helper()
	a, err := b.runner.Ahead(b.t.Context(), turn.FillRequest{Conversation: talk, Model: m, Tools: b.set})
	must(b.t, err)
	return a.Fill(b.t.Context(), text, nil)
}

func texts(r model.Request) string {
	var all []string
	for _, m := range r.Messages {
		all = append(all, chat.TextOf(m.Parts))
	}
	return strings.Join(all, "\n")
}

func TestAChatThatIsTooLongIsSentFromAQuestionOnAndSaidBefore(t *testing.T) {
	b := talked(t, 8)
	m := small(says("short"))
	f := b.fill(m, "go on")
	if f.Left == 0 || f.Left%2 != 0 || f.Used()+f.Answer > f.Window || f.Draft == 0 || f.From == 0 {
		t.Fatalf("before sending: %+v", f)
	}
	b.say(m, func(r *turn.Request) { r.Text = "go on" })
	sent := m.requests[0]
	first := fmt.Sprintf("question %d ", f.Left/2+1)
	got := chat.TextOf(sent.Messages[0].Parts)
	if sent.Messages[0].Role != chat.RoleUser || !strings.HasPrefix(got, first) {
		t.Errorf("the request begins with %.20q, want %q", got, first)
	}
	if got := texts(sent); !strings.HasSuffix(got, "go on") || model.TextTokens(sent) > f.Window {
		t.Errorf("the request ends with %.20q and has %d tokens", got[len(got)-20:], model.TextTokens(sent))
	}
	if said := notes(b); !strings.Contains(said, fmt.Sprintf("%d older messages of this chat were not sent", f.Left)) {
		t.Errorf("the notes are %q", said)
	}
	if f = b.fill(scriptedModel(), ""); f.Left != 0 || f.From != 0 || f.Window != 0 {
		t.Errorf("a model of unknown context is sent all: %+v", f)
	}
}

func TestTheNextTurnsOfALongChatBeginAlike(t *testing.T) {
	b := talked(t, 8)
	first := b.fill(small(), "").From
	b.say(small(says("yes")), func(r *turn.Request) { r.Text = "and?" })
	if next := b.fill(small(), "").From; next != first {
		t.Errorf("the context begins at %d, then at %d", first, next)
	}
}

func TestWhatAFileSaysCountsAsDraft(t *testing.T) {
	b := newBench(t, nil)
	media := chat.Media{MIME: "text/plain", Name: "a.txt", Data: []byte(long("", 500))}
	must(t, b.log.PutMedia(t.Context(), &media))
	a, err := b.runner.Ahead(t.Context(), turn.FillRequest{Conversation: talk, Model: small()})
	must(t, err)
	f := a.Fill(t.Context(), "", []chat.Part{{Kind: chat.PartMedia, Media: &media}})
	if f.Draft < 500 || f.Draft > 600 || f.Turns != 0 || f.System == 0 {
		t.Errorf("a file of 500 tokens: %+v", f)
	}
}

func TestTheRoomForTheAnswerIsAsLongAsTheChatBoundsIt(t *testing.T) {
	b := talked(t, 8)
	plain := b.fill(small(), "go on")
	for longest, want := range map[int64]int64{50: 50, 300: 300, 5_000: 500} { // at most half
		must(t, b.log.UpdateConversation(t.Context(), talk, func(v *chat.Conversation) {
			v.Asking.MaxTokens = longest
		}))
		f := b.fill(small(), "go on")
		if f.Answer != want || f.Used()+f.Answer > f.Window || (f.Left < plain.Left) != (want < plain.Answer) {
			t.Errorf("answers of at most %d tokens: %+v, without a bound %+v", longest, f, plain)
		}
	}
	begins := chat.Conversation{System: long("", 100), Asking: chat.Asking{MaxTokens: 70}}
	a, err := b.runner.Ahead(t.Context(), turn.FillRequest{Model: small(), Begins: begins})
	must(t, err)
	if f := a.Fill(t.Context(), "", nil); f.System < 100 || f.Answer != 70 {
		t.Errorf("a chat that is not begun: %+v", f)
	}
}

func TestAChatThatAModelRefusesAsTooLongIsSentShorter(t *testing.T) {
	b := talked(t, 8)
	refuses := func(context.Context, model.Request, func(model.Event) bool) error {
		return &model.Error{Kind: model.ContextTooLong, Provider: "test", Model: "m"}
	}
	m := scriptedModel(refuses, says("now it fits"))
	out := b.say(m, func(r *turn.Request) { r.Text = "go on" })
	if out.Reason != chat.EndDone || len(m.requests) != 2 || len(m.requests[1].Messages) >= len(m.requests[0].Messages) {
		t.Fatalf("%d requests, reason %s", len(m.requests), out.Reason)
	}
	if said := notes(b); !strings.Contains(said, "of this chat were not sent") {
		t.Errorf("the notes are %q", said)
	}
	if f := b.fill(scriptedModel(), ""); f.Window == 0 || f.Left == 0 {
		t.Errorf("what was learnt is known before the next message: %+v", f)
	}
}

func TestASummaryIsSentInPlaceOfWhatItStandsFor(t *testing.T) {
	b := talked(t, 8)
	asked := turn.FillRequest{
		Conversation: talk, Model: small(slices.Repeat([]round{says("They spoke of numbers.")}, 9)...),
	}
	made, err := b.runner.Summarize(t.Context(), asked)
	must(t, err)
	if made.Text != "They spoke of numbers." || made.Messages == 0 || made.Model != "test/m" {
		t.Fatalf("the summary is %+v", made)
	}
	m := small(says("yes"))
	f := b.fill(m, "go on")
	if f.Summed == nil || f.Left != 0 || f.Summary == 0 || f.From != made.Upto+1 {
		t.Errorf("with the summary: %+v", f)
	}
	b.say(m, func(r *turn.Request) { r.Text = "go on" })
	if got := texts(m.requests[0]); !strings.Contains(got[:300], made.Text) || strings.Contains(got, "question 1 ") {
		t.Errorf("the request begins with %.300q", got)
	}
	_, err = b.runner.Summarize(t.Context(), turn.FillRequest{Conversation: talk, Model: scriptedModel()})
	if fault.KindOf(err) != fault.Invalid {
		t.Errorf("where everything fits: %v", err)
	}

	must(t, b.log.UpdateMessages(t.Context(), talk, []chat.MessageSeq{1}, func(all []chat.Message) error {
		all[0].Hidden = true
		return nil
	}))
	if f = b.fill(small(), ""); f.Summed != nil {
		t.Error("a summary of a message that was hidden afterwards is still sent")
	}
}

func TestALongChatIsSummedUpInPiecesThatTheModelReads(t *testing.T) {
	b := talked(t, 12)
	m := small(slices.Repeat([]round{says("first")}, 9)...)
	made, err := b.runner.Summarize(t.Context(), turn.FillRequest{Conversation: talk, Model: m})
	must(t, err)
	if len(m.requests) < 2 || !strings.Contains(texts(m.requests[1]), "Summary of what was before:\n\nfirst") {
		t.Fatalf("%d requests; the second is %.200q", len(m.requests), texts(m.requests[min(1, len(m.requests)-1)]))
	}
	if i := slices.IndexFunc(m.requests, func(r model.Request) bool { return model.TextTokens(r) > 1_000 }); i >= 0 {
		t.Errorf("request %d has more than the model reads", i+1)
	}
	if path, _ := b.log.Path(t.Context(), talk); made.Upto >= path[len(path)-1].Seq {
		t.Error("the newest question is summed up too")
	}
}

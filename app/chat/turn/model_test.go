package turn_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image"
	pngs "image/png"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/model"
)

// tells is a round that yields events and then ends, or fails.
func tells(failed error, events ...model.Event) round {
	return func(_ context.Context, _ model.Request, say func(model.Event) bool) error {
		for _, e := range events {
			if !say(e) {
				return nil
			}
		}
		if failed == nil {
			say(model.Event{Kind: model.End, Stop: model.StopEnd})
		}
		return failed
	}
}

func notes(b *bench) string {
	var all []string
	for _, e := range b.heard(chat.EventNoted) {
		all = append(all, e.Note)
	}
	return strings.Join(all, "\n")
}

func TestWhatAnAnswerLostIsSaidToThePerson(t *testing.T) {
	b := newBench(t, nil)
	b.say(scriptedModel(tells(nil, model.Event{Kind: model.Text, Text: "Four."},
		model.Event{Kind: model.Notice, Text: "A sound was left out."})))
	if got := notes(b); got != "A sound was left out." {
		t.Errorf("notes: %s", got)
	}
	if text := chat.TextOf(b.path()[1].Parts); text != "Four." {
		t.Errorf("the answer is %q", text)
	}
}

func TestAPictureThatAModelDrewIsInTheChat(t *testing.T) {
	b := newBench(t, nil)
	var png bytes.Buffer
	must(t, pngs.Encode(&png, image.NewGray(image.Rect(0, 0, 1, 1))))
	drawn := &chat.Media{MIME: "image/png", Name: "drawn.png", Size: int64(png.Len()), Data: png.Bytes()}
	m := scriptedModel(tells(nil, model.Event{Kind: model.Drawn, Media: drawn}), says("Yes."))
	m.info.Can.Vision = true
	if out := b.say(m); out.Reason != chat.EndDone {
		t.Fatalf("%s, %v", out.Reason, out.Err)
	}
	parts := b.path()[1].Parts
	if len(parts) != 1 || parts[0].Kind != chat.PartMedia || parts[0].Media.ID == "" || parts[0].Media.Data != nil {
		t.Fatalf("kept %+v", parts)
	}
	if got := notes(b); !strings.Contains(got, "drew a picture") {
		t.Errorf("notes: %s", got)
	}
	b.say(m)
	sent := m.requests[1].Messages[1].Parts
	if len(sent) != 1 || sent[0].Media == nil || !bytes.Equal(sent[0].Media.Data, png.Bytes()) {
		t.Errorf("sent back %+v", sent)
	}
}

func TestTextThatTurnedOutToBeThinkingIsKeptAsThinking(t *testing.T) {
	b := newBench(t, nil)
	out := b.say(
		scriptedModel(
			tells(
				nil,
				model.Event{Kind: model.Text, Text: "Hm, "},
				model.Event{Kind: model.Text, Text: "so."},
				model.Event{
					Kind: model.Moved,
					Text: string(model.Reasoning),
				},
				model.Event{Kind: model.Text, Text: "Blue."},
			),
		),
	)
	parts := b.path()[1].Parts
	if len(parts) != 2 || parts[0].Kind != chat.PartReasoning || parts[0].Text != "Hm, so." ||
		parts[1].Text != "Blue." {
		t.Errorf("kept %+v", parts)
	}
	if text := chat.TextOf(out.Message.Parts); text != "Blue." {
		t.Errorf("the answer is %q", text)
	}
}

func TestOfAnAnswerInOneLargePieceIsKeptWhatFits(t *testing.T) {
	b := newBench(t, nil)
	out := b.say(scriptedModel(tells(nil, model.Event{Kind: model.Text, Text: strings.Repeat("é", 10<<20)})))
	if f := fault.Of(out.Err); f == nil || f.Message != "The answer was stopped after 4 MiB, the most that one "+
		"answer may have. What was said until then is kept." {
		t.Errorf("got %v", out.Err)
	}
	text := chat.TextOf(b.path()[1].Parts)
	if len(text) < limit.AnswerText-2<<10 || len(text) > limit.AnswerText || strings.Trim(text, "é") != "" {
		t.Errorf("%d bytes were kept", len(text))
	}
	shown := 0
	for _, e := range b.heard(chat.EventText) {
		shown += len(e.Text)
	}
	if shown != len(text) {
		t.Errorf("%d bytes were shown and %d kept", shown, len(text))
	}
}

func TestACutAnswerSaysThatItIsKeptWhereSomethingIs(t *testing.T) {
	cut := &model.Error{Kind: model.StreamCut, Provider: "mine", Err: errors.New("cut")}
	for name, c := range map[string]struct {
		events []model.Event
		kept   bool
	}{
		"text":                {[]model.Event{{Kind: model.Text, Text: "So"}}, true},
		"nothing":             {nil, false},
		"the name of a call":  {[]model.Event{{Kind: model.CallStart, Call: chat.ToolCall{ID: "a", Tool: "echo"}}}, false},
		"text without a sign": {[]model.Event{{Kind: model.Text, Text: ""}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			out := b.say(scriptedModel(tells(cut, c.events...), tells(cut, c.events...), tells(cut, c.events...)))
			if f := fault.Of(out.Err); f == nil || strings.Contains(f.Hint, "kept") != c.kept {
				t.Errorf("got %v, hint %q", out.Err, f.Hint)
			}
		})
	}
}

func TestTooManyToolsNameThePluginsThatBringThem(t *testing.T) {
	b := newBench(t, tools{"echo": answers("ok"), "count": answers("1")})
	refused := &model.Error{Kind: model.TooManyTools, Provider: "mine", Status: 400, Detail: "at most 128 tools"}
	out := b.say(scriptedModel(tells(refused)))
	f := fault.Of(out.Err)
	if f == nil || !strings.Contains(f.Hint, "2 tools of 1 plugin: p (2)") || f.Detail != "at most 128 tools" {
		t.Errorf("got %v, hint %q, detail %q", out.Err, f.Hint, f.Detail)
	}
}

func TestAModelThatSaysNothingForLongIsSaidToBeWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		b.say(scriptedModel(func(_ context.Context, _ model.Request, say func(model.Event) bool) error {
			time.Sleep(100 * time.Second)
			say(model.Event{Kind: model.Text, Text: "At last."})
			time.Sleep(100 * time.Second)
			say(model.Event{Kind: model.End, Stop: model.StopEnd})
			return nil
		}))
		if got := notes(b); strings.Count(got, "has not said a word for 30s") != 1 {
			t.Errorf("notes: %q", got)
		}
	})
}

func TestAMendedCallSaysSoOnItsRecordAndToThePerson(t *testing.T) {
	b := newBench(t, tools{"echo": answers("ok")})
	asked := chat.ToolCall{ID: "c1", Tool: "echo", Arguments: json.RawMessage(`{"text":"a"}`), Mended: &chat.Mended{
		What: []string{"its arguments were encoded twice"}, Arguments: `"{\"text\":\"a\"}"`,
	}}
	b.say(scriptedModel(calls(asked), says("Done.")))
	answered := b.heard(chat.EventAnswered)
	if len(answered) != 1 || answered[0].Call.Mended == nil ||
		answered[0].Call.Mended.Arguments != asked.Mended.Arguments {
		t.Fatalf("recorded %+v", answered)
	}
	if got := notes(b); got != "echo: Conclave mended this call: its arguments were encoded twice." {
		t.Errorf("notes: %q", got)
	}
}

func TestAModelThatDrawsWithoutEndDoesNotFillTheDisk(t *testing.T) {
	b := newBench(t, nil)
	data := make([]byte, 16<<20)
	drawn := model.Event{Kind: model.Drawn, Media: &chat.Media{MIME: "image/png", Name: "drawn.png", Data: data}}
	out := b.say(
		scriptedModel(
			tells(nil, drawn, drawn, drawn, drawn, drawn, drawn, model.Event{Kind: model.Text, Text: "Done."}),
		),
	)
	if n := len(b.path()[1].Parts); out.Reason != chat.EndDone || n != 5 {
		t.Errorf("%s, %d parts", out.Reason, n)
	}
	if got := notes(b); strings.Count(got, "The model drew more than 64 MiB of pictures in one answer. Further ones "+
		"are left out.") != 1 {
		t.Errorf("notes: %s", got)
	}
}

func TestAThoughtBeforeATitleIsNoPartOfIt(t *testing.T) {
	thinks := tells(
		nil,
		model.Event{Kind: model.Text, Text: "The user asks.\n"},
		model.Event{
			Kind: model.Moved,
			Text: string(model.Reasoning),
		},
		model.Event{Kind: model.Text, Text: "Weather in Oslo"},
	)
	if c, err := named(t, scriptedModel(thinks), nil); err != nil || c.Title != "Weather in Oslo" {
		t.Errorf("%q, %v", c.Title, err)
	}
}

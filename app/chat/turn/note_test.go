package turn_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/model"
)

// notices is a model that says a text between notices, and calls what it is given.
func notices(before []string, text string, after ...string) round {
	return func(_ context.Context, _ model.Request, say func(model.Event) bool) error {
		for _, n := range before {
			say(model.Event{Kind: model.Notice, Text: n})
		}
		say(model.Event{Kind: model.Text, Text: text})
		for _, n := range after {
			say(model.Event{Kind: model.Notice, Text: n})
		}
		say(model.Event{Kind: model.End, Stop: model.StopLength})
		return nil
	}
}

func sentences(notes []chat.Note) string {
	var all []string
	for _, n := range notes {
		all = append(all, n.Sentence())
	}
	return strings.Join(all, "|")
}

func TestWhatAnAnswerLostIsKeptWithItsMessage(t *testing.T) {
	b := newBench(t, nil)
	m := scriptedModel(
		notices([]string{"A part was\x1b[2J\u202e\ndropped."}, "one", "A part was dropped.", "A part was dropped."),
		says("two"),
	)
	b.say(m)
	b.say(m)
	path := b.path()
	const want = "A part was dropped. (3 times)|The answer was cut at the model's length limit."
	if got := sentences(path[1].Notes); got != want {
		t.Errorf("with the answer is kept %q", got)
	}
	if notes := sentences(path[0].Notes) + sentences(path[2].Notes) + sentences(path[3].Notes); notes != "" {
		t.Errorf("with the others is kept %q", notes)
	}
	var told []string
	for _, e := range b.heard(chat.EventNoted) {
		if !e.Kept {
			t.Errorf("%q is not said to be kept", e.Note)
		}
		told = append(told, e.Note)
	}
	if got := strings.Join(told, "|"); got != strings.Replace(want, " (3 times)", "", 1) {
		t.Errorf("the person is told %q", got)
	}
	if sent := fmt.Sprint(m.requests[1].Messages); strings.Contains(sent, "dropped") {
		t.Errorf("the model is sent the notes: %s", sent)
	}
}

func TestOddChunksWithoutEndAreCounted(t *testing.T) {
	b := newBench(t, nil)
	var odd []string
	for i := range 10_000 {
		odd = append(odd, fmt.Sprintf("Chunk %d was dropped. %s", i, strings.Repeat("x", 5000)))
	}
	b.say(scriptedModel(notices(odd, "one")))
	kept := b.path()[1].Notes
	if len(kept) != chat.MostNotes || len(sentences(kept)) > 100<<10 {
		t.Errorf("%d notes are kept, %d bytes", len(kept), len(sentences(kept)))
	}
	if n := len(b.heard(chat.EventNoted)); n != chat.MostNotes {
		t.Errorf("the person is told %d times", n)
	}
}

func TestANoteOfEachRoundIsKeptWithItsMessage(t *testing.T) {
	b := newBench(t, tools{"count": answers("1")})
	noted := func(_ context.Context, _ model.Request, say func(model.Event) bool) error {
		say(model.Event{Kind: model.Notice, Text: "The prompt was cut."})
		c := call("count", "{}")
		c.ID = "id-1"
		say(model.Event{Kind: model.Call, Call: c})
		say(model.Event{Kind: model.End, Stop: model.StopCalls})
		return nil
	}
	b.say(scriptedModel(noted, notices(nil, "Done.", "The prompt was cut.")))
	path := b.path()
	if first, last := sentences(path[1].Notes), sentences(path[3].Notes); first != "The prompt was cut." ||
		!strings.HasPrefix(last, "The prompt was cut.|") {
		t.Errorf("kept are %q and %q", first, last)
	}
}

func TestAnAnswerThatBreaksOffKeepsItsNotes(t *testing.T) {
	b := newBench(t, nil)
	broken := func(_ context.Context, _ model.Request, say func(model.Event) bool) error {
		say(model.Event{Kind: model.Text, Text: "half"})
		say(model.Event{Kind: model.Notice, Text: "A picture was left out."})
		return &model.Error{Kind: model.StreamCut}
	}
	b.say(scriptedModel(broken))
	if m := b.path()[1]; m.State != chat.Failed || sentences(m.Notes) != "A picture was left out." {
		t.Errorf("kept is %+v", m)
	}
}

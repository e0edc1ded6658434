package window_test

import (
	"context"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/model/modeltest"
	"conclave/app/window"
)

func TestAChatIsNamedByItsModelAfterTheFirstAnswerAlone(t *testing.T) {
	t.Run("as it comes", func(t *testing.T) {
		w := open(t, say("Yes."), say("Weather in Oslo"), say("Warm, too."))
		id := w.send("", "Is it sunny in Oslo?")
		w.until("the title", func() bool { return w.pull(id).Chat.Title == "Weather in Oslo" })
		w.ask(id, "And warm?")
		w.Shutdown(t.Context())
		if c := w.pull(id).Chat; c.Title != "Weather in Oslo" || len(w.model.Requests()) != 3 {
			t.Errorf("after the second it is %q, and %d requests were made", c.Title, len(w.model.Requests()))
		}
	})
	t.Run("switched off", func(t *testing.T) {
		w := open(t, say("Yes."), say("Warm, too.")).quiet()
		id := w.ask("", "Is it sunny in Oslo?")
		w.ask(id, "And warm?")
		w.Shutdown(t.Context())
		if c := w.pull(id).Chat; c.Title != "Is it sunny in Oslo?" || len(w.model.Requests()) != 2 {
			t.Errorf("it is %q, and %d requests were made", c.Title, len(w.model.Requests()))
		}
	})
}

func TestAClosingWindowWaitsForNoTitleAndTakesNoQuestion(t *testing.T) {
	never := make(chan struct{})
	w := open(t, say("Yes."), []modeltest.Step{modeltest.Wait(never)})
	id := w.ask("", "Is it sunny?")
	closed := make(chan struct{})
	go func() { // ends when everything has
		defer close(closed)
		w.Shutdown(context.Background())
	}()
	select {
	case <-closed:
	case <-time.After(patience):
		t.Fatal("closing waits for the title")
	}
	if c := w.pull(id).Chat; c.Title != "Is it sunny?" {
		t.Errorf("it is %q", c.Title)
	}
	_, err := w.Chats.Send(id, window.Outgoing{Text: "Too late."})
	kind(t, "a question to a closed window", err, fault.Canceled, "Conclave closed")
}

func TestAWindowThatClosesStopsItsAnswersAndKeepsWhatWasSaid(t *testing.T) {
	never := make(chan struct{})
	w := open(t, []modeltest.Step{modeltest.Say("Half"), modeltest.Wait(never)}).quiet()
	id := w.send("", "Tell me.")
	w.until("its first word", func() bool { return len(w.pull(id).Entries) == 2 })
	w.Shutdown(t.Context())
	w.wants(id, "closed", "user: Tell me.", "assistant: Half (stopped)")
}

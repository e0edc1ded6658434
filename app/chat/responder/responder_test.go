package responder_test

import (
	"context"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/chat/responder"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/model"
	"conclave/app/model/modeltest"
	"conclave/app/test/testkit"
	"conclave/store/storetest"
)

var must = testkit.Must

// models has one scripted model, and a default that cannot be opened.
type models struct{ only model.Model }

func (m models) Open(_ context.Context, name string) (model.Model, error) {
	if name != m.only.Info().Name() {
		return nil, fault.New(fault.NotFound, "test", "There is no model "+name+".", "")
	}
	return m.only, nil
}

func (models) Default(context.Context) (string, error) { return "gone/model", nil }

func TestAMessageBeginsAChatOnlyIfItCanBeAnswered(t *testing.T) {
	s := storetest.Open(t)
	c := responder.Chooser{
		Store: s.Chats, Models: models{modeltest.New()}, Settings: s.Councils,
		Councils: deliberation.New(deliberation.Options{Settings: s.Councils, Chats: s.Turns}),
	}
	set := council.Default()
	set.Enabled = true
	set.Put(council.Member{Name: "Ada", Chance: 100})
	must(t, s.Councils.PutCouncil(t.Context(), council.NextChat, &set))
	name := modeltest.New().Info().Name()
	for what, m := range map[string]responder.Message{
		"the default model is gone":               {Text: "Hello"},
		"the text addresses nobody that is there": {Text: "@bo hello", Model: name},
	} {
		if id, err := c.Begin(t.Context(), m); err == nil {
			t.Errorf("%s, and the chat %s begins", what, id)
		}
	}
	all, err := s.Chats.List(t.Context(), chat.ListOptions{})
	must(t, err)
	if all.Total != 0 {
		t.Errorf("there are %d chats", all.Total)
	}

	id, err := c.Begin(t.Context(), responder.Message{Text: "Hello", Model: name})
	must(t, err)
	made, err := s.Chats.Conversation(t.Context(), id)
	must(t, err)
	if c.ModelOf(t.Context(), made) != name {
		t.Errorf("it is answered by %s", c.ModelOf(t.Context(), made))
	}
	if _, scope, err := c.Councils.Council(t.Context(), id, ""); err != nil || scope != council.OfChat(id) {
		t.Errorf("its council is that of %q, %v", scope, err)
	}
	if _, scope, err := c.Next(t.Context()); err != nil || scope == council.NextChat {
		t.Errorf("the next chat has the council, too: %v", err)
	}
}

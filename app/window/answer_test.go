package window

import (
	"context"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/chat/turn"
	"conclave/app/model"
	"conclave/app/model/modeltest"
)

type connections = Connections // has a method of its own name

// known are models by their full names.
type known struct {
	connections
	models map[string]model.Model
}

func (k known) Open(_ context.Context, name string) (model.Model, error) {
	if m := k.models[name]; m != nil {
		return m, nil
	}
	return nil, fault.New(fault.NotFound, "test", "There is no such model.", "")
}

func TestWhileAnAnswerIsWrittenTheModelThatWritesItIsNamed(t *testing.T) {
	named := func(id, title string) model.Model {
		m := modeltest.New()
		m.SetInfo(model.ModelInfo{Connection: "work", ID: id, Title: title})
		return m
	}
	own, chair := named("small", "Small"), named("large", "Large")
	s := &shownTurn{
		c: &Chats{core: Core{Models: known{models: map[string]model.Model{"work/large": chair}}}},
		r: turn.Request{Model: own}, model: "Small, as it is called here",
	}
	for name, want := range map[string]string{
		"work/small": "Small, as it is called here", "work/large": "Large", "work/gone": "work/gone",
	} {
		if got := s.title(t.Context(), name); got != want {
			t.Errorf("%s is called %q, want %q", name, got, want)
		}
	}
}

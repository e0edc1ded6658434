package app

import (
	"context"
	"testing"

	"conclave/app/fault"
	"conclave/app/llm"
	"conclave/app/llm/llmtest"
	"conclave/app/turn"
)

type connections = Connections // has a method of its own name

// known are models by their full names.
type known struct {
	connections
	models map[string]llm.Model
}

func (k known) Open(_ context.Context, name string) (llm.Model, error) {
	if m := k.models[name]; m != nil {
		return m, nil
	}
	return nil, fault.New(fault.NotFound, "test", "There is no such model.", "")
}

func TestWhileAnAnswerIsWrittenTheModelThatWritesItIsNamed(t *testing.T) {
	named := func(id, title string) llm.Model {
		m := llmtest.New()
		m.SetInfo(llm.ModelInfo{Connection: "work", ID: id, Title: title})
		return m
	}
	own, chair := named("small", "Small"), named("large", "Large")
	s := &shownTurn{
		c: &Chats{core: Core{Models: known{models: map[string]llm.Model{"work/large": chair}}}},
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

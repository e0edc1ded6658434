package window

import (
	"context"
	"encoding/json"
	"testing"

	"conclave/app/base/settings"
	"conclave/app/chat/turn"
	"conclave/app/model"
	"conclave/app/model/connections"
	"conclave/app/model/modeltest"
)

// unset is settings of which none was ever set.
type unset struct{ settings.Store }

func (unset) Settings(context.Context) (json.RawMessage, uint64, error) { return nil, 0, nil }

func TestWhileAnAnswerIsWrittenTheModelThatWritesItIsNamed(t *testing.T) {
	named := func(id, title string) model.Model {
		m := modeltest.New()
		m.SetInfo(model.Info{Connection: "work", ID: id, Title: title})
		return m
	}
	own, chair := named("small", "Small"), named("large", "Large")
	s := &shownTurn{
		turns: &turns{core: Core{Models: connections.New(connections.Options{
			Scripted: chair, Settings: &settings.Current{Store: unset{}},
		})}},
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

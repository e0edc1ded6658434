package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"conclave/app/base/settings"
)

// refusing is a port that is open, and that refused somebody.
type refusing struct{ HTTPTools }

func (refusing) Address() (string, error) {
	return "http://127.0.0.1:1", errors.New("a tool was refused")
}

// unset is settings of which none was ever set.
type unset struct{ settings.Store }

func (unset) Settings(context.Context) (json.RawMessage, uint64, error) { return nil, 0, nil }

// torn is a file that takes all but the first that is written.
type torn struct{ writes int }

var errTorn = errors.New("no space left")

func (f *torn) Write(p []byte) (int, error) {
	if f.writes++; f.writes == 1 {
		return 0, errTorn
	}
	return len(p), nil
}

func TestASentenceThatCannotBeWrittenFails(t *testing.T) {
	c := httpCommands{newTerminal(&Session{Out: new(torn), Env: func(string) string { return "" }}, nil)}
	app := &App{HTTP: refusing{}, Settings: &settings.Current{Store: unset{}}}
	if err := c.print(t.Context(), app); !errors.Is(err, errTorn) {
		t.Errorf("got %v", err)
	}
}

package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"conclave/app/base/settings"
	"conclave/app/plugin/toolport"
)

// tokened is settings in which only the token of programs is set.
type tokened struct{ settings.Store }

func (tokened) Settings(context.Context) (json.RawMessage, uint64, error) {
	return json.RawMessage(`{"http_token":true}`), 1, nil
}

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
	app := &App{HTTP: new(toolport.Port), Settings: &settings.Current{Store: tokened{}}}
	if err := c.print(t.Context(), app, nil); !errors.Is(err, errTorn) {
		t.Errorf("got %v", err)
	}
}

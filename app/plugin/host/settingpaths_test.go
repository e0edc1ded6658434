package host

import (
	"testing"
)

func TestSettingsGivenByPositionGetTheirNames(t *testing.T) {
	schema := []byte(`{"properties":{"Box":{"type":"object","properties":{"z":{},"a":{}}},"Bare":{}}}`)
	for given, want := range map[string]string{
		`{"Box":["x",2]}`:   `{"Box":{"a":2,"z":"x"}}`,
		`{"Box":["x"]}`:     `{"Box":{"z":"x"}}`,
		`{"Box":["x",2,3]}`: `{"Box":["x",2,3]}`, // the plugin says how many it takes
		`{"Box":{"a":1}}`:   `{"Box":{"a":1}}`,
		`{"Bare":["x"]}`:    `{"Bare":["x"]}`,
		`{"Unknown":["x"]}`: `{"Unknown":["x"]}`,
	} {
		if got := string(byName(schema, []byte(given))); got != want {
			t.Errorf("%s became %s, want %s", given, got, want)
		}
	}
}

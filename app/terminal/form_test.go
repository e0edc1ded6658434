package terminal

import (
	"testing"

	"conclave/app/tool/elicit"
)

func TestAFieldShowsItsDefaultInBracketsOnce(t *testing.T) {
	for want, f := range map[string]elicit.Field{
		"":                   {Type: "string"},
		" (required) [here]": {Type: "string", Required: true, Default: "here"},
		" (any of these, with commas) [Guitar, Piano]": {
			Type: elicit.Several, Default: []any{"Guitar", "Piano"},
		},
		" (a whole number) [42]": {Type: elicit.Integer, Default: 42.0},
	} {
		if got := hint(f); got != want {
			t.Errorf("%+v is shown as %q, not %q", f, got, want)
		}
	}
}

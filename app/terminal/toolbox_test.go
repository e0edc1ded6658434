package terminal

import (
	"strings"
	"testing"

	"conclave/app/base/fault"
)

func TestLF42ToolboxesAreNamedInEveryForm(t *testing.T) {
	for spec, want := range map[string]string{
		`Name()`:                         `Name {}`,
		` Name ( ) `:                     `Name {}`,
		`Name({})`:                       `Name {}`,
		`Name({"a": 1, "b": [2]})`:       `Name {"a": 1, "b": [2]}`,
		`Name("x (y)")`:                  `Name ["x (y)"]`,
		`Name(["x", 1])`:                 `Name [["x", 1]]`,
		`Name(7)`:                        `Name [7]`,
		`Name(null)`:                     `Name [null]`,
		`Name(k="v",n=2)`:                `Name {"k":"v","n":2}`,
		`Name(k = "a, b=c" , o={"x":1})`: `Name {"k":"a, b=c","o":{"x":1}}`,
		`Name(k=true,)`:                  `Name {"k":true}`,
		"Name(\n k=1,\n)":                `Name {"k":1}`,
		`Größe(ä=1)`:                     `Größe {"ä":1}`,
	} {
		name, settings, err := parseBox(spec)
		if got := name + " " + string(settings); err != nil || got != want {
			t.Errorf("%s: got %s, %v; want %s", spec, got, err, want)
		}
	}
	for spec, why := range map[string]string{
		`Name('x')`:      "is not JSON",
		`Name(x)`:        "is not JSON",
		`Name("a", "b")`: "one value without a name",
		`Name(k='v')`:    "the value of k is not JSON",
		`Name(k=1 n=2)`:  "separated by commas",
		`Name(k=1, 2)`:   "a value without a name",
		`Name(k=1, k=2)`: "k is given twice",
		`Name(`:          "not a name with brackets",
		`9Name()`:        "not a name with brackets",
	} {
		_, _, err := parseBox(spec)
		f := fault.Of(err)
		if err == nil || f.Kind != fault.Invalid || !strings.Contains(f.Message, why) ||
			!strings.Contains(f.Hint, `Name(setting="value", other=2)`) {
			t.Errorf("%s: got %v, want %q", spec, err, why)
		}
	}
	for spec, want := range map[string]bool{`Name()`: true, `Name`: false, `a.py`: false, `*`: false, `p:tool`: false} {
		if isBox(spec) != want {
			t.Errorf("%s is a toolbox with settings: %v", spec, !want)
		}
	}
}

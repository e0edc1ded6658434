package jsonobject_test

import (
	"fmt"
	"slices"
	"testing"

	"conclave/app/base/jsonobject"
)

func TestTextsAreYieldedWithWhatTheyStandIn(t *testing.T) {
	for name, c := range map[string]struct {
		raw  string
		want []string
	}{
		"members":       {`{"a": "x", "b" : ["y", 1, "z\"\u0041"], "a": {"c": "w"}}`, []string{"name a", "a x", "name b", "b 1 y", "b 3 z\"A", "name a", "a name c", "a c w"}},
		"a text alone":  {` "x" `, []string{"x"}},
		"no text":       {`[1, true, null]`, nil},
		"cut":           {`{"a": "x"`, nil},
		"not JSON":      {`{"a": "x"} "y"`, nil},
		"lists in list": {`[["x"], ["y", "z"]]`, []string{"1 1 x", "2 1 y", "2 2 z"}},
	} {
		var got []string
		for text := range jsonobject.Texts([]byte(c.raw)) {
			where := ""
			for i, l := range text.Within {
				switch {
				case l.Item > 0:
					where += fmt.Sprint(l.Item, " ")
				case !text.IsName || i < len(text.Within)-1:
					where += l.Name + " "
				}
			}
			if text.IsName {
				where += "name "
			}
			got = append(got, where+text.Value)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

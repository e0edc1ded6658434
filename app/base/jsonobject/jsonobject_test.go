package jsonobject_test

import (
	"slices"
	"testing"

	"conclave/app/base/jsonobject"
)

func TestFieldsAreYieldedAsTheyAreWritten(t *testing.T) {
	for name, c := range map[string]struct {
		raw  string
		want []string
	}{
		"their order":       {` {"b": 1, "a": {"z": 0, "y": [ ]}} `, []string{"b=1", `a={"z": 0, "y": [ ]}`}},
		"escaped name":      {`{"\u0061\"": null}`, []string{`a"=null`}},
		"twice":             {`{"a": 1, "b": 2, "a": 3}`, []string{"a=1", "b=2", "a=3"}},
		"empty":             {`{}`, nil},
		"nothing":           {``, nil},
		"null":              {`null`, nil},
		"an array":          {`["a", 1]`, nil},
		"a text":            {`"{}"`, nil},
		"cut in a value":    {`{"a": 1, "b": "tw`, []string{"a=1"}},
		"cut in a name":     {`{"a": 1, "b`, []string{"a=1"}},
		"cut after a value": {`{"a": 1`, []string{"a=1"}},
		"a bad value":       {`{"a": 1, "b": nope, "c": 3}`, []string{"a=1"}},
		"brackets in texts": {`{"a}": "]\",{", "b": [{"c": "}"}]}`, []string{`a}="]\",{"`, `b=[{"c": "}"}]`}},
		"mixed brackets":    {`{"a": 1, "b": [1}, "c": 3}`, []string{"a=1"}},
		"no UTF-8":          {"{\"\xff\": 1}", []string{"\ufffd=1"}},
		"a name no text":    {`{"a": 1, 2: 3}`, []string{"a=1"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for name, value := range jsonobject.Fields([]byte(c.raw)) {
				got = append(got, name+"="+string(value))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestFieldsCanBeLeftEarly(t *testing.T) {
	for name := range jsonobject.Fields([]byte(`{"a": 1, "b": 2}`)) {
		if name != "a" {
			t.Fatalf("read on to %s", name)
		}
		break
	}
}

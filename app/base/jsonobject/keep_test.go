package jsonobject_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"conclave/app/base/jsonobject"
)

type inner struct {
	Name string `json:"name,omitempty"`
	N    int    `json:"n,omitempty"`
}

type named struct {
	ID   string `json:"id"`
	Text string `json:"text,omitempty"`
}

type embedded struct {
	Shown string          `json:"shown,omitempty"`
	Args  json.RawMessage `json:"args,omitempty"`
}

type outer struct {
	embedded
	Title string           `json:"title,omitempty"`
	One   *inner           `json:"one,omitempty"`
	Many  []inner          `json:"many,omitempty"`
	Named []*named         `json:"named,omitempty"`
	By    map[string]inner `json:"by,omitempty"`
	At    time.Time        `json:"at,omitzero"`
	Args  *json.RawMessage `json:"args,omitempty"`
	Not   string           `json:"-"`
	Plain string
}

func TestMembersThatATypeDoesNotKnowSurviveARewrite(t *testing.T) {
	for name, c := range map[string]struct{ old, now, want string }{
		"nothing unknown":      {`{"title":"a","one":{"n":1}}`, `{"title":"b"}`, `{"title":"b"}`},
		"nothing before":       {``, `{"title":"b"}`, `{"title":"b"}`},
		"beside the known":     {`{"title":"a","x":[1, 2],"y":null}`, `{"title":"b"}`, `{"title":"b","x":[1, 2],"y":null}`},
		"into an empty one":    {`{"x":1}`, `{}`, `{"x":1}`},
		"known and taken away": {`{"title":"a","shown":"s","x":1}`, `{}`, `{"x":1}`},
		"another case":         {`{"TITLE":"a","plain":"p","x":1}`, `{"title":"b"}`, `{"title":"b","x":1}`},
		"not encoded":          {`{"not":"n"}`, `{"title":"b"}`, `{"title":"b","not":"n"}`},
		"in an object below":   {`{"one":{"n":1,"x":1}}`, `{"one":{"n":2}}`, `{"one":{"n":2,"x":1}}`},
		"of one that is gone":  {`{"one":{"n":1,"x":1}}`, `{"title":"b"}`, `{"title":"b"}`},
		"in a map":             {`{"by":{"a":{"x":1},"b":{"x":2}}}`, `{"by":{"b":{"n":1},"c":{}}}`, `{"by":{"b":{"n":1,"x":2},"c":{}}}`},
		"in a list, by id": {
			`{"named":[{"id":"1","x":1},{"id":"2","x":2}]}`, `{"named":[{"id":"2","text":"t"},{"id":"3"}]}`,
			`{"named":[{"id":"2","text":"t","x":2},{"id":"3"}]}`,
		},
		"in a list, unchanged": {
			`{"many":[{"n":1,"x":1},{"n":2,"x":2},{"n":3}]}`, `{"many":[{"n":3},{"n":2},{"n":4}]}`,
			`{"many":[{"n":3},{"n":2,"x":2},{"n":4}]}`,
		},
		"twice the same in a list": {
			`{"many":[{"n":1,"x":1},{"n":1,"x":2}]}`, `{"many":[{"n":1},{"n":1}]}`, `{"many":[{"n":1,"x":1},{"n":1,"x":2}]}`,
		},
		"a value of any kind": {`{"args":{"x":1},"at":"2026-01-01T00:00:00Z"}`, `{"args":{}}`, `{"args":{}}`},
		"no object before":    {`[1]`, `{"title":"b"}`, `{"title":"b"}`},
		"no HTML":             {`{"many":[{"name":"<&>","x":1}]}`, `{"many":[{"name":"<&>"}]}`, `{"many":[{"name":"<&>","x":1}]}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := jsonobject.Keep(json.RawMessage(c.old), json.RawMessage(c.now), reflect.TypeFor[*outer]())
			if string(got) != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

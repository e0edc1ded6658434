package window_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"conclave/app/window"
)

// scenesFolder has the answers that the page is shown without a program (frontend/src/lib/bridge/fake.ts).
const scenesFolder = "../../frontend/src/lib/bridge/fake/scenes"

// scene is one file of it.
type scene struct {
	On       string                     `json:"on,omitempty"`
	Hello    json.RawMessage            `json:"hello,omitempty"` // fields of Window.Hello, in place of those of On
	Answers  map[string]json.RawMessage `json:"answers"`         // by "Group.Method arguments"
	Acts     map[string]json.RawMessage `json:"acts,omitempty"`
	Failures map[string]window.Failure  `json:"failures,omitempty"`
}

// Every answer of a scene is one that the program could give: it is of the type that the method
// returns, with each of its fields and no other.
func TestTheAnswersOfScenesAreOfTheProgramsTypes(t *testing.T) {
	returns := map[string]reflect.Type{}
	for _, bound := range window.New(window.Core{}, slog.New(slog.DiscardHandler)).Bind() {
		group := reflect.TypeOf(bound)
		for m := range group.Methods() {
			if m.Type.NumOut() == 2 {
				returns[group.Elem().Name()+"."+m.Name] = m.Type.Out(0)
			}
		}
	}
	files, err := filepath.Glob(filepath.Join(scenesFolder, "*.json"))
	must(t, err)
	if len(files) == 0 {
		t.Fatal("there are no scenes")
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		must(t, err)
		var s scene
		must(t, strict(raw, &s))
		if s.Hello != nil {
			must(t, strict(s.Hello, &window.Hello{}))
		}
		for _, answers := range []map[string]json.RawMessage{s.Answers, s.Acts} {
			for question, answer := range answers {
				method, _, _ := strings.Cut(question, " ")
				typ, ok := returns[method]
				if !ok {
					t.Errorf("%s: the program has no %s", file, method)
					continue
				}
				value := reflect.New(typ)
				if err := strict(answer, value.Interface()); err != nil {
					t.Errorf("%s: %s: %v", file, question, err)
					continue
				}
				again, err := json.Marshal(value.Elem().Interface())
				must(t, err)
				answers[question] = again
			}
		}
		checkScene(t, file, raw, s)
	}
}

// checkScene fails the test unless a file is the scene as it is written; -update writes it.
func checkScene(t *testing.T, file string, have []byte, s scene) {
	t.Helper()
	raw, err := json.Marshal(s)
	must(t, err)
	want := flowed(t, raw)
	if flag.Lookup("update").Value.String() == "true" { // a flag of modeltest, which is linked here
		must(t, os.WriteFile(file, want, 0o644))
	} else if !bytes.Equal(have, want) {
		t.Errorf("%s is stale; run go test -tags webkit2_41 ./app/window -run Scene -update", file)
	}
}

// flowed writes JSON for readers of differences: a value that fits stands on one line, and the
// short ones of an object or a list share lines.
func flowed(t *testing.T, raw []byte) []byte {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	next := func() json.Token {
		token, err := d.Token()
		must(t, err)
		return token
	}
	var value func(indent string) string
	value = func(indent string) string {
		token := next()
		open, ok := token.(json.Delim)
		if !ok {
			return marshal(t, token)
		}
		var items []string
		for d.More() {
			name := ""
			if open == '{' {
				name = marshal(t, next()) + ": "
			}
			items = append(items, name+value(indent+" "))
		}
		begin, end := open.String(), next().(json.Delim).String()
		line := strings.Join(items, ", ")
		if len(line) <= width && !strings.Contains(line, "\n") {
			return begin + line + end
		}
		column := width
		for i, item := range items {
			column += len(item) + 2
			if column > width || strings.Contains(item, "\n") {
				begin += "\n" + indent
				column = len(item)
			}
			begin += " " + item
			if strings.Contains(item, "\n") {
				column = width
			}
			if i < len(items)-1 {
				begin += ","
			}
		}
		return begin + "\n" + indent + end
	}
	return []byte(value("") + "\n")
}

// width is how long a line of a scene may be that holds several values.
const width = 100

// marshal encodes a value; “<” stays, as there is much HTML.
func marshal(t *testing.T, v any) string {
	t.Helper()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	must(t, e.Encode(v))
	return strings.TrimSpace(out.String())
}

// strict decodes JSON that has no fields but those of v.
func strict(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

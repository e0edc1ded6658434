package window_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat/transcript"
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

// recordedAt is the time of all scenes (frontend/src/lib/bridge/fake/scene.ts).
var recordedAt = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// record puts into a scene what the program answers now, in place of all other answers of the same
// methods. A question is “Group.Method” with its first arguments; “name = question” keeps the answer
// under another name.
func (w *testWindow) record(name, on string, questions ...string) {
	w.t.Helper()
	answers := map[string]json.RawMessage{}
	for _, question := range questions {
		key, question, named := strings.Cut(question, " = ")
		if !named {
			question = key
		}
		answers[key] = marshalRaw(w.t, w.answer(question))
	}
	w.keep(name, on, answers)
}

// keep puts answers into a scene.
func (w *testWindow) keep(name, on string, answers map[string]json.RawMessage) {
	w.t.Helper()
	file := filepath.Join(scenesFolder, name+".json")
	have, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	s := scene{Answers: map[string]json.RawMessage{}}
	if len(have) > 0 {
		must(w.t, strict(have, &s))
	}
	methods := map[string]bool{}
	for key := range answers {
		method, _, _ := strings.Cut(key, " ")
		methods[method] = true
	}
	maps.DeleteFunc(s.Answers, func(key string, _ json.RawMessage) bool {
		method, _, _ := strings.Cut(key, " ")
		return methods[method]
	})
	s.On = on
	for key, answer := range answers {
		s.Answers[key] = w.plain(answer)
	}
	checkScene(w.t, file, have, s)
}

// answer asks the program as the page does: a question is “Group.Method” with its first arguments,
// the others are empty.
func (w *testWindow) answer(question string) any {
	w.t.Helper()
	words := strings.Fields(question)
	group, method, _ := strings.Cut(words[0], ".")
	call := reflect.ValueOf(w.App).Elem().FieldByName(group).MethodByName(method)
	arguments := make([]reflect.Value, call.Type().NumIn())
	for i := range arguments {
		arguments[i] = reflect.New(call.Type().In(i)).Elem()
		if i+1 >= len(words) {
			continue
		}
		switch arguments[i].Kind() {
		case reflect.String:
			arguments[i].SetString(words[i+1])
		case reflect.Uint64:
			n, err := strconv.ParseUint(words[i+1], 10, 64)
			must(w.t, err)
			arguments[i].SetUint(n)
		default:
			w.t.Fatalf("%s: an argument is a %s", question, arguments[i].Kind())
		}
	}
	out := call.Call(arguments)
	if err, failed := out[1].Interface().(error); failed {
		w.t.Fatalf("%s: %v %s", question, err, fault.KindOf(err))
	}
	return out[0].Interface()
}

// plain writes times in UTC and takes the test's folder out, so that an answer is the same on every
// computer.
func (w *testWindow) plain(answer json.RawMessage) json.RawMessage {
	text := strings.ReplaceAll(string(answer), w.data, "/home/ada/.local/share/conclave")
	return json.RawMessage(stamp.ReplaceAllStringFunc(text, func(quoted string) string {
		at, err := time.Parse(time.RFC3339, strings.Trim(quoted, `"`))
		must(w.t, err)
		return at.UTC().Format(`"2006-01-02T15:04:05.000Z"`)
	}))
}

// inUTC has the program show times as in UTC until the test ends, wherever it runs.
func inUTC(t *testing.T) {
	t.Helper()
	local := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = local })
}

// stamp is a time as chat.Stamp writes it.
var stamp = regexp.MustCompile(`"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"`)

func marshalRaw(t *testing.T, v any) json.RawMessage {
	t.Helper()
	raw, err := json.Marshal(v)
	must(t, err)
	return raw
}

// checkScene fails the test unless a file is the scene as it is written; -update writes it.
func checkScene(t *testing.T, file string, have []byte, s scene) {
	t.Helper()
	s.trim(t)
	raw, err := json.Marshal(s)
	must(t, err)
	want := flowed(t, raw)
	if flag.Lookup("update").Value.String() == "true" { // a flag of modeltest, which is linked here
		must(t, os.WriteFile(file, want, 0o644))
	} else if !bytes.Equal(have, want) {
		t.Errorf("%s is stale; run go test -tags webkit2_41 ./app/window -run Scene -update", file)
	}
}

// trim leaves out what the scene that s continues answers too: whole answers, and messages of a chat.
// Scene in frontend/src/lib/bridge/fake/scene.ts puts them back.
func (s *scene) trim(t *testing.T) {
	t.Helper()
	if s.On == "" {
		return
	}
	base := inherited(t, s.On)
	for question, answer := range s.Answers {
		before, ok := base[question]
		switch {
		case !ok:
		case sameJSON(t, answer, before):
			delete(s.Answers, question)
		case strings.HasPrefix(question, "Chats.Pull "):
			pull, have := messagesOf(t, answer), messagesOf(t, before)
			pull.keep(func(seq uint64, entry json.RawMessage) bool {
				return have.entries[seq] == nil || !sameJSON(t, entry, have.entries[seq])
			})
			s.Answers[question] = pull.encode(t)
		}
	}
}

// inherited returns all that a scene answers, with what it leaves to others.
func inherited(t *testing.T, name string) map[string]json.RawMessage {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(scenesFolder, name+".json"))
	must(t, err)
	var s scene
	must(t, strict(raw, &s))
	if s.On == "" {
		return s.Answers
	}
	all := inherited(t, s.On)
	for question, answer := range s.Answers {
		if before, ok := all[question]; ok && strings.HasPrefix(question, "Chats.Pull ") {
			pull, have := messagesOf(t, answer), messagesOf(t, before)
			for _, seq := range pull.outline {
				if pull.entries[seq] == nil {
					pull.entries[seq] = have.entries[seq]
				}
			}
			answer = pull.encode(t)
		}
		all[question] = answer
	}
	return all
}

// messages is the answer of Chats.Pull, with its entries by number.
type messages struct {
	fields  map[string]json.RawMessage
	outline []uint64
	entries map[uint64]json.RawMessage
}

func messagesOf(t *testing.T, pull json.RawMessage) messages {
	t.Helper()
	m := messages{entries: map[uint64]json.RawMessage{}}
	must(t, json.Unmarshal(pull, &m.fields))
	var outline struct {
		Seqs []uint64 `json:"seqs"`
	}
	must(t, json.Unmarshal(m.fields["outline"], &outline))
	m.outline = outline.Seqs
	var entries []json.RawMessage
	must(t, json.Unmarshal(m.fields["entries"], &entries))
	for _, entry := range entries {
		var e struct {
			Seq uint64 `json:"seq"`
		}
		must(t, json.Unmarshal(entry, &e))
		m.entries[e.Seq] = entry
	}
	return m
}

func (m messages) keep(wanted func(seq uint64, entry json.RawMessage) bool) {
	maps.DeleteFunc(m.entries, func(seq uint64, entry json.RawMessage) bool { return !wanted(seq, entry) })
}

func (m messages) encode(t *testing.T) json.RawMessage {
	t.Helper()
	entries := []json.RawMessage{}
	for _, seq := range m.outline {
		if entry := m.entries[seq]; entry != nil {
			entries = append(entries, entry)
		}
	}
	m.fields["entries"] = marshalRaw(t, entries)
	var pull transcript.Pull // in the order of its fields
	must(t, json.Unmarshal(marshalRaw(t, m.fields), &pull))
	return marshalRaw(t, pull)
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

// width is the longest line of a scene that holds several values.
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

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	must(t, json.Unmarshal(a, &x))
	must(t, json.Unmarshal(b, &y))
	return reflect.DeepEqual(x, y)
}

// strict decodes JSON that has no fields but those of v.
func strict(raw []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

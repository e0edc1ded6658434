package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/base/fault"
	"conclave/app/gate"
	"conclave/app/plugin"
)

// What was typed before a question could be read answers nothing.
func TestTypeAheadAnswersNoQuestion(t *testing.T) {
	synctest.Test(t, typesBeforeAQuestion)
}

func typesBeforeAQuestion(t *testing.T) {
	in, typed := io.Pipe()
	defer typed.Close()
	shown, screen := io.Pipe()
	flushed := 0
	s := &Session{In: in, Err: screen, Out: io.Discard, Terminal: true, Flush: func() { flushed++ }}
	c := newTerminal(s, nil)
	c.person.lines = readLines(c.In)
	answers := make(chan gate.Answer, 1)
	go func() { // ends with the answer
		a, err := c.person.Ask(t.Context(), gate.Request{
			Kind: gate.KindPlugin, Plugin: "p",
			Title: "P is\nnew", Folder: "/plugins/p", Permissions: []string{"tools"},
			Tools: []gate.ShownTool{{Name: "say", Description: "Says it."}},
		})
		if err != nil {
			t.Error(err)
		}
		answers <- a
		_ = screen.Close()
	}()
	go func() { _, _ = typed.Write([]byte("y\ny\n")) }() // ends when both lines are read
	var all bytes.Buffer
	buffer := make([]byte, 256)
	for !strings.Contains(all.String(), "[y] approve") {
		n, err := shown.Read(buffer)
		must(t, err)
		all.Write(buffer[:n])
	}
	copied := make(chan struct{})
	go func() { // ends with the screen
		_, _ = io.Copy(&all, shown)
		close(copied)
	}()
	if _, err := typed.Write([]byte("n\n")); err != nil {
		t.Fatal(err)
	}
	if a := <-answers; a.Effect != gate.Deny {
		t.Errorf("got %+v", a)
	}
	<-copied
	for _, want := range []string{
		"! P is new\n", "folder   /plugins/p\n", "asks for tools\n", "say: Says it.\n", "is not taken for its answer",
	} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("the question lacks %q:\n%s", want, all.String())
		}
	}
	if flushed != 2 {
		t.Errorf("the terminal was flushed %d times, want before and after", flushed)
	}
}

// Lines that go on coming when a question has stood for long, as of a large text that is pasted,
// answer it as little as those that came before.
func TestAttackWhatGoesOnComingAnswersNoQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, typed := io.Pipe()
		var shown bytes.Buffer
		c := newTerminal(&Session{In: in, Err: &shown, Out: io.Discard, Terminal: true}, nil)
		answered := make(chan bool)
		go func() { // ends with the answer
			yes, err := c.person.confirm(t.Context(), "Delete all?")
			if err != nil {
				t.Error(err)
			}
			answered <- yes
		}()
		for range 20 { // twice as long as a question stands
			_, err := typed.Write([]byte("y\n"))
			must(t, err)
			time.Sleep(answerDelay / 10)
		}
		time.Sleep(answerDelay)
		synctest.Wait()
		if !strings.HasSuffix(shown.String(), "[n] no: ") || strings.Count(shown.String(), "Delete") != 1 {
			t.Errorf("it is shown as %q", shown.String())
		}
		_, err := typed.Write([]byte("n\n"))
		must(t, err)
		if <-answered {
			t.Error("it was answered by what came before it")
		}
		must(t, typed.Close())
	})
}

// Two hundred characters, every one of them a key of the question or the end of a line, are
// typed while ten questions arrive; none of them is an answer.
func TestTypingThroughTenArrivingQuestionsAnswersNone(t *testing.T) {
	synctest.Test(t, typesThroughTenQuestions)
}

func typesThroughTenQuestions(t *testing.T) {
	in, typed := io.Pipe()
	defer typed.Close()
	shown, screen := io.Pipe()
	c := newTerminal(&Session{In: in, Err: screen, Out: io.Discard, Terminal: true}, nil)
	c.person.lines = readLines(c.In)
	var answers []gate.Answer
	go func() { // ends with the last answer
		for range 10 {
			a, err := c.person.Ask(t.Context(), gate.Request{
				Kind: gate.KindCall, Title: "Main assistant wants to write a note",
				Scopes: []gate.Scope{gate.Once, gate.Always},
			})
			if err != nil {
				t.Error(err)
			}
			answers = append(answers, a)
		}
		_ = screen.Close()
	}()
	// reads until the screen shows a text, and returns what it showed.
	until := func(want string) string {
		var all strings.Builder
		buffer := make([]byte, 1)
		for !strings.HasSuffix(all.String(), want) {
			if _, err := shown.Read(buffer); err != nil {
				t.Fatalf("no %q in %q: %v", want, all.String(), err)
			}
			all.Write(buffer)
		}
		return all.String()
	}
	for i := range 10 {
		until("! Main assistant wants to write a note\n")
		if _, err := io.WriteString(typed, strings.Repeat("y\na\n", 5)); err != nil { // twenty characters of 200
			t.Fatal(err)
		}
		if said := until("[v] never for this tool: "); !strings.Contains(said, "is not taken for its answer") {
			t.Errorf("question %d: %q", i, said)
		}
		if _, err := io.WriteString(typed, "n\n"); err != nil {
			t.Fatal(err)
		}
		until("(or Enter): ")
		if _, err := io.WriteString(typed, "\n"); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = io.Copy(io.Discard, shown) // to the end of the last
	if len(answers) != 10 ||
		slices.ContainsFunc(answers, func(a gate.Answer) bool { return a.Effect != gate.Deny }) {
		t.Errorf("answered: %+v", answers)
	}
}

// Whether a lasting answer to a member is one for the whole council is a question of its own, of
// which no key that was typed ahead is the answer.
func TestAnAnswerForTheWholeCouncilIsAskedApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			key, then string // "" is not asked
			council   bool
		}{{"a\n", "y\n", true}, {"a\n", "\n", false}, {"a\ny\n", "n\n", false}, {"y\n", "", false}} {
			person := newTypist(t)
			answered := person.asked(gate.Request{
				Kind: gate.KindCall, Title: "Ada (council) wants to look", Caller: "member:ada",
				Scopes: []gate.Scope{gate.Once, gate.Always},
			})
			person.reads("never for this tool: ")
			person.types(c.key)
			if c.then != "" {
				person.reads("also when other members of the council ask?\n")
				person.reads("or Enter for no: ")
				person.types(c.then)
			}
			if a := <-answered; a.Effect != gate.Allow || a.Council != c.council {
				t.Errorf("after %q and %q: %+v", c.key, c.then, a)
			}
			must(t, person.keys.Close())
		}
	})
}

func TestAQuestionShowsWhatWasAskedForBeforeAHookChangedIt(t *testing.T) {
	long := strings.Repeat("word ", 100)
	for name, c := range map[string]struct {
		was       *gate.Original
		now, want string
	}{
		"nothing changed": {nil, `{"a":1}`, ""},
		"a value": {
			&gate.Original{Arguments: []byte(`{"path":"notes.txt","n":1}`)}, `{"n": 1, "path": "/etc/passwd"}`,
			`  changed  - is what was asked for, + is what hooks made of it
             {
               "n": 1,
           -   "path": "notes.txt"
           +   "path": "/etc/passwd"
             }
`,
		},
		"another tool": {
			&gate.Original{Tool: "Get weather", Arguments: []byte(`{}`)}, `{}`, "  asked    Get weather\n",
		},
		"a word of a long text, and a hidden character": {
			&gate.Original{Arguments: []byte(`{"text":"` + long + "a\u202eb" + long + `"}`)},
			`{"text":"` + long + "ab" + long + `"}`,
			`  changed  - is what was asked for, + is what hooks made of it
             {
           - …` + long[len(long)-60+1:] + `a\u{202e}b` + long[:60-1] + `…
           + …` + long[len(long)-60+1:] + `ab` + long[:60-1] + `…
             }
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var screen strings.Builder
			asks := newTerminal(&Session{In: strings.NewReader(""), Err: &screen, Out: io.Discard, Terminal: true}, nil)
			_, err := asks.person.Ask(t.Context(), gate.Request{
				Kind: gate.KindCall, Title: "Somebody asks", Reach: "Nothing.", Original: c.was,
				Arguments: []byte(c.now),
			})
			_, got, _ := strings.Cut(screen.String(), "! Somebody asks\n")
			got, _, shown := strings.Cut(got, "  with     {")
			if err == nil || !shown || got != c.want {
				t.Errorf("%v, got\n%s\nwant\n%s", err, got, c.want)
			}
		})
	}
}

func TestAPluginThatRestsIsReportedAsPaused(t *testing.T) {
	problem := &plugin.Problem{
		Message: "It ended 3 times within a minute and rests now; last: exit 7", Hint: "Read its log, then reload it.",
	}
	f := fault.Of(notServing(plugin.Status{ID: "p", State: plugin.Quarantined, Problem: problem}))
	if !strings.Contains(f.Message, "rests now") || strings.Contains(f.Message, "changed") ||
		f.Hint != "Read its log, then reload it." {
		t.Errorf("got %q, %q", f.Message, f.Hint)
	}
}

func TestACountOfOneIsInTheSingular(t *testing.T) {
	for n, want := range map[int]string{0: "no tools", 1: "1 tool", 2: "2 tools"} {
		if got := countOf(n, "tool"); got != want {
			t.Errorf("%d: got %q, want %q", n, got, want)
		}
	}
}

func TestArgumentsCanBeEditedBeforeTheyAreAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		person := newTypist(t)
		request := gate.Request{
			Kind: gate.KindCall, Title: "Notes", Arguments: json.RawMessage(`{"path": "a.md"}`),
			Scopes: []gate.Scope{gate.Once}, Preview: &gate.Preview{Words: "What would change:"},
		}
		answered := person.asked(request)
		if shown := person.reads("never for this tool: "); !strings.Contains(shown,
			"[e] edit before allowing  [n] not now") {
			t.Errorf("no way to edit: %s", shown)
		}
		person.types("e\n")
		if shown := person.reads("to leave them): "); !strings.Contains(shown, `now      {"path":"a.md"}`) {
			t.Errorf("not shown what to edit: %s", shown)
		}
		for _, bad := range []string{"{", "[1]", "null"} {
			person.types(bad + "\n")
			if shown := person.reads("to leave them): "); !strings.Contains(shown, "not a JSON object") {
				t.Errorf("%s: %s", bad, shown)
			}
		}
		person.types(`{"path":"b.md"}` + "\n")
		if shown := person.reads("never for this tool: "); !strings.Contains(shown, "b.md") ||
			strings.Contains(shown, "a.md") || strings.Contains(shown, "What would change") {
			t.Errorf("the question was not shown anew: %s", shown)
		}
		person.types("y\n")
		if a := <-answered; a.Effect != gate.Allow || string(a.Arguments) != `{"path":"b.md"}` {
			t.Errorf("answered %+v", a)
		}

		answered = person.asked(request)
		person.reads("never for this tool: ")
		person.types("e\n")
		person.reads("to leave them): ")
		person.types("\n")
		if shown := person.reads("never for this tool: "); !strings.Contains(shown, "What would change") {
			t.Errorf("what was left as it is has lost its preview: %s", shown)
		}
		person.types("y\n")
		if a := <-answered; a.Arguments != nil {
			t.Errorf("what was left as it is was answered %+v", a)
		}

		request.Fixed = true // nothing of it could be changed
		answered = person.asked(request)
		if shown := person.reads("never allow this: "); strings.Contains(shown, "[e]") {
			t.Errorf("what is fixed can be edited: %s", shown)
		}
		person.types("n\n\n")
		<-answered
		must(t, person.keys.Close())
	})
}

func TestAQuestionThatEndsWhileItAsksOfTheCouncilAllowsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		person := newTypist(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		type answer struct {
			gate.Answer
			err error
		}
		answered := make(chan answer, 1)
		go func() { // ends with ctx
			a, err := person.c.person.Ask(ctx, gate.Request{
				Kind: gate.KindCall, Caller: gate.Member("ada"), Scopes: []gate.Scope{gate.Once, gate.Always},
			})
			answered <- answer{a, err}
		}()
		person.reads("never for this tool: ")
		person.types("a\n")
		person.reads("Enter for no: ")
		cancel(errors.New("the answer was stopped"))
		a := <-answered
		if a.Effect != "" || fault.KindOf(a.err) != fault.NotAllowed {
			t.Errorf("answered %+v, %v", a.Answer, a.err)
		}
		must(t, person.keys.Close())
	})
}

// A patch or a page among the arguments is shown as it is written, not as JSON for pages
// writes it.
func TestAQuestionShowsAnglesAndAmpersandsAsTheyAre(t *testing.T) {
	for name, raw := range map[string]string{
		"written so": `{"diff":"<<<<<<< SEARCH & more >","n":1.50}`,
		"escaped":    `{"diff":"\u003c<<<<<< SEARCH \u0026 more \u003e","n":1.50}`,
	} {
		t.Run(name, func(t *testing.T) {
			want := "{\n    \"diff\": \"<<<<<<< SEARCH & more >\",\n    \"n\": 1.50\n  }"
			if got := indentJSON(json.RawMessage(raw), 2); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

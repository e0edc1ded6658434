package terminal

import (
	"io"
	"strings"
	"sync"
	"testing"

	"conclave/app/gate"
)

// written passes on each thing that is written, and never blocks the test's few.
type written chan string

func (w written) Write(p []byte) (int, error) {
	w <- string(p)
	return len(p), nil
}

// typist is a person at a terminal, whom a command asks.
type typist struct {
	t      *testing.T
	c      *terminal
	screen written
	keys   *io.PipeWriter
}

func newTypist(t *testing.T) *typist {
	in, keys := io.Pipe()
	screen := make(written, 1000)
	return &typist{t, newTerminal(&Session{In: in, Err: screen, Out: io.Discard, Terminal: true}, nil), screen, keys}
}

// asked asks the person, and returns where the answer comes.
func (p *typist) asked(q gate.Request) <-chan gate.Answer {
	answered := make(chan gate.Answer, 1)
	go func() { // ends with the answer
		a, err := p.c.person.Ask(p.t.Context(), q)
		if err != nil {
			p.t.Error(err)
		}
		answered <- a
	}()
	return answered
}

// reads waits until the screen shows a text last, and returns what came with it.
func (p *typist) reads(want string) (shown string) {
	for !strings.HasSuffix(shown, want) {
		shown += <-p.screen
	}
	return shown
}

func (p *typist) types(text string) {
	p.t.Helper()
	_, err := io.WriteString(p.keys, text)
	must(p.t, err)
}

// Three members' calls are asked about at once: each answer goes to the question that
// stood alone, and what is said meanwhile follows it.
func TestQuestionsOfSeveralMembersStandOneAfterAnother(t *testing.T) {
	person := newTypist(t)
	p := &printer{c: person.c}
	var all sync.WaitGroup
	answered := make(chan string, 3)
	for _, name := range []string{"ada", "ben", "cleo"} {
		all.Go(func() { // ends with its answer
			a, err := person.c.person.Ask(t.Context(), gate.Request{
				Kind: gate.KindCall, Title: name + " wants to look", Scopes: []gate.Scope{gate.Once},
			})
			if err != nil {
				t.Error(err)
			}
			answered <- name + " " + string(a.Effect)
		})
	}
	before := ""
	for range 3 {
		shown := ""
		for !strings.Contains(shown, "[v] never for this tool: ") {
			shown += <-person.screen
		}
		said, question, _ := strings.Cut(shown, "\n! ")
		if strings.Contains(question, "! ") || strings.TrimSpace(said) != before {
			t.Fatalf("before the question stands %q, then %q", said, question)
		}
		name, _, _ := strings.Cut(question, " ")
		before = "said while " + name + " was asked"
		p.aside(before)
		person.types("y\n")
		if got := <-answered; got != name+" allow" {
			t.Fatalf("%s was asked, and %s was answered", name, got)
		}
	}
	all.Wait()
	if last := <-person.screen; last != before+"\n" {
		t.Errorf("at the end stands %q", last)
	}
}

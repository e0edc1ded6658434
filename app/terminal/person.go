package terminal

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/language"
	"conclave/app/base/limit"
	"conclave/app/gate"
)

// person reads lines from whoever is at the session's input and asks them questions, one at
// a time. It implements gate.Asker and gate.Line for a terminal.
type person struct {
	*Session
	reads func() language.Language
	lines *lines // of In, once one was asked for
	desk  desk
	turns desk // of requests: one waits until the one before is answered and its rule is saved
}

// prompt writes words of a question, in the language of the person.
func (p *person) prompt(words string) {
	end := words[len(strings.TrimRight(words, "\n ")):]
	fmt.Fprint(p.Err, "  "+language.Text(p.reads(), strings.TrimSuffix(words, end))+end)
}

// line returns the next line. The error is io.EOF at the end, that of a line over the limit,
// or ctx's cause.
func (p *person) line(ctx context.Context) (string, error) {
	line, err := p.read(ctx)
	return line.text, err
}

// read is line, and tells whether the line arrived together with the one before.
func (p *person) read(ctx context.Context) (lineRead, error) {
	if p.lines == nil {
		p.lines = readLines(p.In)
	}
	select {
	case next, ok := <-p.lines.next:
		switch {
		case !ok && p.lines.err != nil:
			return lineRead{}, p.lines.err
		case !ok:
			return lineRead{}, io.EOF
		}
		return next, nil
	case <-ctx.Done():
		return lineRead{}, context.Cause(ctx)
	}
}

// message reads one message: a line, or all lines between two of """. behind reports that it
// arrived together with the one before.
func (p *person) message(ctx context.Context) (message string, behind bool, err error) {
	first, err := p.read(ctx)
	if err != nil || strings.TrimSpace(first.text) != `"""` {
		return first.text, first.behind, err
	}
	var text []string
	size := 0
	for {
		line, err := p.line(ctx)
		if size += len(line) + 1; size > limit.MessageText {
			return "", first.behind, tooLong()
		}
		if err != nil || strings.TrimSpace(line) == `"""` {
			return strings.Join(text, "\n"), first.behind, err
		}
		text = append(text, line)
	}
}

// answerDelay is the time that a question must be on the screen, with nothing typed, before an
// answer counts: whoever types ahead has not read it.
const answerDelay = 600 * time.Millisecond

// arm waits until nothing was typed for answerDelay and discards what was typed before. The
// error is io.EOF at the end of the input, or ctx's cause.
func (p *person) arm(ctx context.Context) error {
	if p.lines == nil {
		p.lines = readLines(p.In)
	}
	p.flush()
	quiet := time.NewTimer(answerDelay)
	defer quiet.Stop()
	dropped := false
	for {
		select {
		case _, ok := <-p.lines.next:
			if !ok {
				return io.EOF
			}
			dropped = true
			quiet.Reset(answerDelay)
		case <-quiet.C:
			p.flush()
			if dropped {
				p.prompt("(what was typed before this question is not taken for its answer)\n")
			}
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (p *person) flush() {
	if p.Flush != nil {
		p.Flush()
	}
}

// confirm asks a yes-or-no question. The end of input means no.
func (p *person) confirm(ctx context.Context, question string) (bool, error) {
	if err := p.desk.take(ctx); err != nil {
		return false, unanswered(err)
	}
	defer p.desk.give(p.Err)
	if err := p.arm(ctx); err != nil {
		return false, unanswered(err)
	}
	for {
		fmt.Fprint(p.Err, language.Text(p.reads(), question)+" "+language.Text(p.reads(), "[y] yes  [n] no:")+" ")
		line, err := p.line(ctx)
		if err != nil {
			fmt.Fprintln(p.Err)
			return false, unanswered(err)
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		}
	}
}

func unanswered(err error) error {
	return fault.Wrap(fault.NotAllowed, "cli.ask", "Nobody answered, so it was not allowed.", "", err)
}

// asker returns who answers where the window would ask: mode is the value of
// --approve, or "" for ask on a terminal and never elsewhere.
func (p *person) asker(mode string) (gate.Asker, error) {
	if mode == "" {
		mode = "never"
		if p.Terminal {
			mode = "ask"
		}
	}
	switch mode {
	case "always":
		return gate.AlwaysAsker{}, nil
	case "never":
		return gate.NeverAsker{}, nil
	case "ask":
		if !p.Terminal {
			return gate.NeverAsker{}, nil // nobody can be asked
		}
		return p, nil
	}
	return nil, usageError("--approve is ask, always or never, not %q", mode)
}

// Turn implements gate.Line.
func (p *person) Turn(ctx context.Context) (end func(), err error) {
	if err := p.turns.take(ctx); err != nil {
		return nil, err
	}
	return func() { p.turns.give(p.Err) }, nil
}

package model

import (
	"fmt"
	"slices"
	"strings"
)

// mostLost bounds the kinds of things left out of an answer that one sentence names.
const mostLost = 5

// Lost counts what is left out of one answer, by kind: a server may send thousands of odd pieces. The
// zero value is ready. It is not safe for concurrent use.
type Lost struct {
	kinds  []string
	counts []int // of kinds
	others int   // of further kinds
}

// Add counts a piece that is left out; what is the end of a sentence, and may hold words of the
// server.
func (l *Lost) Add(what string) {
	what = clean(what)
	switch i := slices.Index(l.kinds, what); {
	case i >= 0:
		l.counts[i]++
	case len(l.kinds) < mostLost:
		l.kinds, l.counts = append(l.kinds, what), append(l.counts, 1)
	default:
		l.others++
	}
}

// Tell yields a sentence for the person about what was left out, once, if anything was. Its error is
// that of yield.
func (l *Lost) Tell(yield func(Event) error) error {
	if len(l.kinds) == 0 {
		return nil
	}
	var all []string
	for i, what := range l.kinds {
		if n := l.counts[i]; n > 1 {
			what += fmt.Sprintf(" (in %d pieces)", n)
		}
		all = append(all, what)
	}
	switch l.others {
	case 0:
	case 1:
		all = append(all, "and one piece of another kind")
	default:
		all = append(all, fmt.Sprintf("and %d pieces of other kinds", l.others))
	}
	*l = Lost{}
	return yield(Event{Kind: Notice, Text: "The answer held more than is shown: " + strings.Join(all, "; ") + "."})
}

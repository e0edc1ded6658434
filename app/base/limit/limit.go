// Package limit is the list of bounds on what comes from outside: from plugins,
// models, servers, files and people. Each bound stands here once, with its value,
// its reason, and the sentences that a person and a model are told when it is
// met; the code that enforces a bound takes its value and its sentences from
// here. docs/LIMITS.md is generated from this list.
//
// Deadlines that only one package knows stay in that package. So do sizes of
// buffers, which nobody outside ever meets.
package limit

import (
	"fmt"
	"strconv"
	"strings"
)

// Unit says what a limit's value counts.
type Unit string

// The units of limits.
const (
	Bytes  Unit = "bytes"
	Count  Unit = "" // the limit's name says of what
	Levels Unit = "levels"
	Millis Unit = "ms"
)

// Limit is one bound.
type Limit struct {
	Name   string // what is bounded, as a row of a table: "text and reasoning of one answer"
	Value  int64  // the largest value that is still accepted
	Unit   Unit
	Why    string // the reason for this value
	Person string // what a person is told; empty if only a model meets the limit
	Model  string // what a model is told; empty if only a person meets the limit
	Test   string // the test that goes one over: path of its package and name
}

// Int returns the value as an int.
func (l *Limit) Int() int { return int(l.Value) }

// String returns the value as a person reads it, such as "4 MiB" or "100 levels".
func (l *Limit) String() string {
	switch l.Unit {
	case Bytes:
		return Size(l.Value)
	case Levels:
		return number(l.Value) + " levels"
	case Millis:
		if l.Value%1000 == 0 {
			return number(l.Value/1000) + " s"
		}
		return number(l.Value) + " ms"
	}
	return number(l.Value)
}

// Counted returns how many there are of a thing as a person reads it: "1 file", "3 files".
func Counted(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Listed joins names as a person reads them: "Ada, Bo and Cy".
func Listed(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// Size returns a number of bytes as a person reads it: "512 bytes", "64 KiB",
// "1.5 MiB".
func Size(n int64) string {
	for _, unit := range []struct {
		name string
		size int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n < unit.size {
			continue
		}
		if n%unit.size == 0 {
			return fmt.Sprintf("%d %s", n/unit.size, unit.name)
		}
		return fmt.Sprintf("%.1f %s", float64(n)/float64(unit.size), unit.name)
	}
	return number(n) + " bytes"
}

// number returns n with a comma between groups of three digits.
func number(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

var all []*Limit

// add puts a limit into the list and returns it.
func add(l Limit) *Limit {
	all = append(all, &l)
	return &l
}

// All returns every limit, in the order of the source.
func All() []*Limit { return all }

package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"conclave/app/base/limit"
	"conclave/app/tool"
)

// Bounds of the notes on the texts of one request.
const (
	maxMarks    = tool.MaxMarked
	maxRepeated = 8 // names
	maxSteps    = 4 // of where a text stands
)

// HiddenWords returns a sentence with the number of hidden characters that were removed from what a
// request shows, or "".
func (p Request) HiddenWords() string {
	if p.Hidden == 0 {
		return ""
	}
	return limit.Counted(p.Hidden, "hidden character") + " removed."
}

// bounded returns the first marks of a request, and behind them how many more there are.
func bounded(marks []Mark) []Mark {
	if left := len(marks) - maxMarks; left > 0 {
		return append(marks[:maxMarks:maxMarks], Mark{"", "and " + limit.Counted(left, "more line")})
	}
	return marks
}

// marksOf returns marked lines as those of one place.
func marksOf(where string, lines []string) []Mark {
	marks := make([]Mark, len(lines))
	for i, line := range lines {
		marks[i] = Mark{where, line}
	}
	return marks
}

// shownArguments holds arguments as a person is shown them, and what is to be said of their
// texts.
type shownArguments struct {
	// raw is without hidden characters. In names these are written out, since without them
	// one name could be another. Members stay in their order, and as often as they are written.
	raw      json.RawMessage
	hidden   int // characters
	marks    []Mark
	alike    int      // words with letters that are taken for others
	repeated []string // names that stand more than once in one object, the first ones
}

// showArguments prepares arguments for a person.
func showArguments(raw json.RawMessage) (s shownArguments) {
	if !json.Valid(raw) {
		s.raw = json.RawMessage(`{}`)
		return s
	}
	var out []byte
	done := 0
	eachLiteral(raw, func(at []*level, l literal) {
		shown, removed := tool.Strip(l.text)
		s.hidden += removed
		if l.name {
			var again bool
			shown, again = at[len(at)-1].shownName(l.text)
			if again && !slices.Contains(s.repeated, shown) && len(s.repeated) < maxRepeated {
				s.repeated = append(s.repeated, shown)
			}
		}
		if marked := tool.Marked(l.text, func(line string) map[int]string {
			found, words := lookAlikes(line)
			s.alike += words
			return found
		}); len(marked) > 0 {
			s.marks = append(s.marks, marksOf(l.where(at), marked)...)
		}
		if written := quote(shown); written != string(raw[l.from:l.to]) {
			out = append(append(out, raw[done:l.from]...), written...)
			done = l.to
		}
	})
	s.raw = raw
	if s.hidden > 0 || len(s.repeated) > 0 {
		s.raw = append(out, raw[done:]...)
	}
	return s
}

// warnings returns sentences about what a list of the arguments alone would not show.
func (s *shownArguments) warnings() []string {
	var all []string
	for _, name := range s.repeated {
		all = append(all, "The name “"+name+"” stands more than once in what it is given, and programs differ in which "+
			"they take. All are shown.")
	}
	switch s.alike {
	case 0:
	case 1:
		all = append(all, "1 word in what it is given holds letters that look like others.")
	default:
		all = append(all, fmt.Sprintf("%d words in what it is given hold letters that look like others.", s.alike))
	}
	return all
}

// level is an object or a list that a text of JSON stands in.
type level struct {
	item int    // of a list: the number of the item, from 1; of an object 0
	name string // of the member

	shown map[string]string // the names of the object so far, and how they are shown
	taken map[string]int    // how names of the object are shown, and how many would be so
}

// shownName returns a name of the object as no other name of it is shown, hidden characters
// written out. again says that the object has the name already.
func (l *level) shownName(name string) (shown string, again bool) {
	if shown, again = l.shown[name]; again {
		return shown, true
	}
	like := name
	if clean, _ := tool.Strip(name); clean != name {
		like = tool.ShowLine(name)
	}
	if l.shown == nil {
		l.shown, l.taken = map[string]string{}, map[string]int{}
	}
	for shown = like; l.taken[shown] > 0; l.taken[like]++ {
		if shown = like + "’"; l.taken[like] > 1 {
			shown += strconv.Itoa(l.taken[like])
		}
	}
	l.shown[name], l.taken[shown] = shown, 1
	return shown, false
}

// literal is a text of JSON: from and to are where it is written, with its quotes.
type literal struct {
	text     string
	from, to int
	name     bool // of a member of the innermost object
}

// where names the argument that the literal stands in, of what it stands in.
func (l literal) where(at []*level) string {
	if l.name {
		return strings.TrimSuffix("a name in "+whereOf(at[:len(at)-1]), " in ")
	}
	return whereOf(at)
}

// eachText visits the texts of JSON, but for names. Of what is no JSON it visits none.
func eachText(raw json.RawMessage, visit func(string)) {
	if !json.Valid(raw) {
		return
	}
	eachLiteral(raw, func(_ []*level, l literal) {
		if !l.name {
			visit(l.text)
		}
	})
}

// eachLiteral visits the texts of valid JSON in the order in which they are written, also
// those of members of one name, with what they stand in, the outermost first.
func eachLiteral(raw json.RawMessage, visit func(at []*level, l literal)) {
	var at []*level
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '{':
			at = append(at, &level{})
		case '[':
			at = append(at, &level{item: 1})
		case '}', ']':
			at = at[:len(at)-1]
		case ',':
			if last := at[len(at)-1]; last.item > 0 {
				last.item++
			}
		case '"':
			end := i + 1
			for raw[end] != '"' {
				if raw[end] == '\\' {
					end++
				}
				end++
			}
			l := literal{from: i, to: end + 1}
			if json.Unmarshal(raw[l.from:l.to], &l.text) != nil {
				return // no valid JSON has such a text
			}
			rest := bytes.TrimLeft(raw[l.to:], " \t\r\n")
			l.name = len(rest) > 0 && rest[0] == ':'
			visit(at, l)
			if l.name {
				at[len(at)-1].name = l.text
			}
			i = end
		}
	}
}

// Repeats reports whether an object of JSON has a name more than once.
func Repeats(raw json.RawMessage) (again bool) {
	if !json.Valid(raw) {
		return false
	}
	names := map[*level]map[string]bool{}
	eachLiteral(raw, func(at []*level, l literal) {
		if !l.name {
			return
		}
		object := at[len(at)-1]
		if names[object] == nil {
			names[object] = map[string]bool{}
		}
		again = again || names[object][l.text]
		names[object][l.text] = true
	})
	return again
}

// whereOf names the argument that a text stands in: “options › name”, “to › 2”.
func whereOf(at []*level) string {
	var steps []string
	for _, l := range at[max(0, len(at)-maxSteps):] {
		if l.item > 0 {
			steps = append(steps, strconv.Itoa(l.item))
			continue
		}
		steps = append(steps, shownName(tool.ShowLine(l.name)))
	}
	return strings.Join(steps, " › ")
}

// quote writes a text as JSON does.
func quote(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a text can be written
	return strings.TrimSuffix(b.String(), "\n")
}

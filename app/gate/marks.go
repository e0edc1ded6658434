package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"conclave/app/base/jsonobject"
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
	if s.raw = raw; !json.Valid(raw) {
		s.raw = noArguments
		return s
	}
	var out []byte
	done := 0
	objects := map[*jsonobject.Level]*shownNames{}
	for t := range jsonobject.Texts(raw) {
		shown, removed := tool.Strip(t.Value)
		s.hidden += removed
		if t.IsName {
			object := t.Within[len(t.Within)-1]
			if objects[object] == nil {
				objects[object] = &shownNames{map[string]string{}, map[string]int{}}
			}
			var again bool
			shown, again = objects[object].show(t.Value)
			if again && !slices.Contains(s.repeated, shown) && len(s.repeated) < maxRepeated {
				s.repeated = append(s.repeated, shown)
			}
		}
		if marked := tool.Marked(t.Value, func(line string) map[int]string {
			found, words := lookAlikes(line)
			s.alike += words
			return found
		}); len(marked) > 0 {
			s.marks = append(s.marks, marksOf(whereOf(t), marked)...)
		}
		if written := quote(shown); written != string(raw[t.From:t.To]) {
			out = append(append(out, raw[done:t.From]...), written...)
			done = t.To
		}
	}
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

// shownNames are the names of one object so far.
type shownNames struct {
	shown map[string]string // how each is shown
	taken map[string]int    // how names are shown, and how many would be so
}

// show returns a name of the object as no other name of it is shown, hidden characters
// written out. again says that the object has the name already.
func (n *shownNames) show(name string) (shown string, again bool) {
	if shown, again = n.shown[name]; again {
		return shown, true
	}
	like := name
	if clean, _ := tool.Strip(name); clean != name {
		like = tool.ShowLine(name)
	}
	for shown = like; n.taken[shown] > 0; n.taken[like]++ {
		if shown = like + "’"; n.taken[like] > 1 {
			shown += strconv.Itoa(n.taken[like])
		}
	}
	n.shown[name], n.taken[shown] = shown, 1
	return shown, false
}

// eachText visits the texts of JSON, but for names. Of what is no JSON it visits none.
func eachText(raw json.RawMessage, visit func(string)) {
	for t := range jsonobject.Texts(raw) {
		if !t.IsName {
			visit(t.Value)
		}
	}
}

// Repeats reports whether an object of JSON has a name more than once.
func Repeats(raw json.RawMessage) bool {
	type member struct {
		of   *jsonobject.Level
		name string
	}
	seen := map[member]bool{}
	for t := range jsonobject.Texts(raw) {
		if !t.IsName {
			continue
		}
		m := member{t.Within[len(t.Within)-1], t.Value}
		if seen[m] {
			return true
		}
		seen[m] = true
	}
	return false
}

// whereOf names the argument that a text stands in: “options › name”, “to › 2”.
func whereOf(t jsonobject.Text) string {
	within := t.Within
	if t.IsName {
		within = within[:len(within)-1]
	}
	var steps []string
	for _, l := range within[max(0, len(within)-maxSteps):] {
		if l.Item > 0 {
			steps = append(steps, strconv.Itoa(l.Item))
			continue
		}
		steps = append(steps, shownName(tool.ShowLine(l.Name)))
	}
	where := strings.Join(steps, " › ")
	if t.IsName {
		return strings.TrimSuffix("a name in "+where, " in ")
	}
	return where
}

// quote writes a text as JSON does.
func quote(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a text can be written
	return strings.TrimSuffix(b.String(), "\n")
}

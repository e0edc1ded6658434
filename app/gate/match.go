package gate

import (
	"cmp"
	"net/netip"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/base/pattern"
	"conclave/app/tool"

	"golang.org/x/net/idna"
)

// Op names a comparison of an argument with the value of a condition.
type Op string

// The comparisons. None of them guesses: what cannot be compared meets no condition of
// a rule that allows, and every condition of one that asks or denies.
const (
	Equals    Op = "equals"     // the same text, number, true or false; a text “true” is neither that nor known
	OneOf     Op = "enum"       // equals one of Values
	PathUnder Op = "path-under" // an absolute path in this folder or the folder itself, links resolved
	// An address on this host, its port the usual one or the one named. A rule that asks or denies
	// and names no port is about every port.
	HostIs     Op = "host-is"
	HostSuffix Op = "host-suffix" // an address on this domain or below it, with ports as host-is has them
	AtMost     Op = "number-max"  // a number not above this one
	Pattern    Op = "regex"       // the whole text matches; RE2, so it takes linear time
)

// Match is one condition of a rule: Op says how Field of what is asked compares with
// Value.
//
// Of a rule about calls, Field names an argument, or, where it begins with “/”, a place
// within the arguments (RFC 6901). Where there is a list, a rule that allows needs every
// item of it to match, and one that asks or denies needs one.
type Match struct {
	Field  string   `json:"field"`
	Op     Op       `json:"op"`
	Value  string   `json:"value"`
	Values []string `json:"values,omitempty"` // of enum, in place of Value
	// Sole says that Field is the only argument of the rule's tool that can hold a text, so that
	// the condition's sentence need not name it. A rule keeps it for one definition alone.
	Sole bool `json:"sole,omitempty"`
	// Free are arguments that say where a call reaches too, and that its tool does not name: the
	// person who was offered the condition read that they are left free.
	Free []string `json:"free,omitempty"`
}

// Equal reports whether two conditions hold for the same.
func (m Match) Equal(o Match) bool {
	return m.Field == o.Field && m.Op == o.Op && m.Value == o.Value && slices.Equal(m.Values, o.Values)
}

// Sentence returns the condition as a rule's sentence has it: “while amount is at most
// 20”. It names the argument, unless that is the only one that could be meant.
func (m Match) Sentence() string {
	field, value := plain(strings.TrimPrefix(m.Field, "/")), plain(m.Value)
	in, to := "while "+field+" is in ", "while "+field+" leads to "
	if m.Sole {
		in, to = "only in ", "only to "
	}
	switch m.Op {
	case Equals:
		return "while " + field + " is “" + value + "”"
	case OneOf:
		quoted := make([]string, len(m.Values))
		for i, v := range m.Values {
			quoted[i] = "“" + plain(v) + "”"
		}
		return "while " + field + " is one of " + limit.Listed(quoted)
	case PathUnder:
		return in + value
	case HostIs, HostSuffix:
		return to + m.shownHost()
	case AtMost:
		return "while " + field + " is at most " + value
	case Pattern:
		return "while " + field + " matches " + value
	}
	return "while " + field + " is something this version does not know"
}

// shownHost is the host of a condition as a person reads it, with what is below it if that
// counts.
func (m Match) shownHost() string {
	host := shownHost(plain(m.Value))
	if m.Op == HostSuffix {
		host += " and what is below it"
	}
	return host
}

// shownHost returns a host as a person reads it: with the letters that “xn--” stands for,
// followed by the ASCII form, which cannot be mistaken for another.
func shownHost(host string) string {
	if word, err := idna.ToUnicode(host); err == nil && word != host {
		return plain(word) + " (" + host + ")"
	}
	return host
}

// condition is a Match that was read once, to be compared many times.
type condition struct {
	key   argumentKey
	holds test
}

// test reports whether a condition holds for an argument, and whether that is known.
type test func(item) (holds, known bool)

// compile reads the conditions of a rule about calls, of that effect. The error is a fault of kind
// invalid that says which cannot be used.
func compile(matches []Match, effect Effect) ([]condition, error) {
	if len(matches) > limit.RuleConditions {
		return nil, fault.New(fault.Invalid, "gate.match", "A rule has at most 16 conditions.", "Make two rules of it.")
	}
	var all []condition
	for _, m := range matches {
		holds, err := m.compile(effect)
		if err != nil {
			return nil, err
		}
		all = append(all, condition{argumentKey{m.Field, cmp.Or(readsAs[m.Op], Equals)}, holds})
	}
	return all, nil
}

func (m Match) compile(effect Effect) (test, error) {
	size := len(m.Value)
	for _, v := range m.Values {
		size += len(v)
	}
	if size+len(m.Field) > limit.RuleCondition {
		return nil, fault.New(fault.Invalid, "gate.match", "A condition of a rule has at most 4 KiB.",
			"Compare with less.")
	}
	switch {
	case m.Field == "" || m.Field == "/":
		return nil, m.refused("it names no argument", "Write the argument's name, as in amount.")
	case m.Op == OneOf && len(m.Values) == 0:
		return nil, m.refused("it has nothing to choose from", "Name one value or more.")
	case m.Op != OneOf && m.Op != Equals && m.Value == "":
		return nil, m.refused("it has nothing to compare with", "Write a value.")
	}
	switch m.Op {
	case Equals:
		return func(i item) (bool, bool) { return i.equals(m.Value) }, nil
	case OneOf:
		return m.oneOf, nil
	case PathUnder:
		return m.pathUnder()
	case HostIs, HostSuffix:
		return m.host(effect)
	case AtMost:
		return m.atMost()
	case Pattern:
		return m.pattern()
	}
	return nil, m.refused("it compares in a way this version does not know: "+shown(string(m.Op)), "Use "+ops+".")
}

// refused is the error of a condition that cannot be used.
func (m Match) refused(why, hint string) error {
	return fault.New(fault.Invalid, "gate.match", "The condition on "+shown(m.Field)+" cannot be used: "+why+".", hint)
}

func (m Match) oneOf(i item) (holds, known bool) {
	known = true
	for _, v := range m.Values {
		is, sure := i.equals(v)
		holds, known = holds || is && sure, known && sure
	}
	return holds, known || holds
}

func (m Match) pathUnder() (test, error) {
	if !filepath.IsAbs(m.Value) {
		return nil, m.refused(plain(m.Value)+" is no absolute path", "Write it from the top, as in /home/me/Notes.")
	}
	within := strings.TrimSuffix(m.Value, string(filepath.Separator)) + string(filepath.Separator)
	return func(i item) (bool, bool) {
		return i.text == m.Value || strings.HasPrefix(i.text, within), i.text != ""
	}, nil
}

// host is the test of HostIs and HostSuffix. What does not allow is about every port of a host that
// is named without one.
func (m Match) host(effect Effect) (test, error) {
	host, ok := hostOf(m.Value)
	if !ok || strings.Contains(m.Value, "/") {
		return nil, m.refused(shown(m.Value)+" is no host", "Write it as in api.example.org, or api.example.org:8443.")
	}
	everyPort := effect != Allow && withoutPort(host) == host
	asked := func(i item) string {
		if everyPort {
			return withoutPort(i.text)
		}
		return i.text
	}
	if m.Op == HostIs {
		return func(i item) (bool, bool) { return asked(i) == host, i.text != "" }, nil
	}
	if _, err := netip.ParseAddr(host); err == nil || strings.Contains(host, ":") {
		return nil, m.refused("nothing is below "+host, "Use host-is for an address or a port.")
	}
	return func(i item) (bool, bool) {
		v := asked(i)
		return v == host || strings.HasSuffix(v, "."+host) && !strings.Contains(v, ":"), v != ""
	}, nil
}

func (m Match) atMost() (test, error) {
	most, err := strconv.ParseFloat(m.Value, 64)
	if err != nil || most != most || most > maxNumber || most < -maxNumber {
		return nil, m.refused(shown(m.Value)+" is no number", "Write it as in 20 or 2.5.")
	}
	bound := strconv.AppendFloat(nil, most, 'f', -1, 64)
	return func(i item) (bool, bool) {
		n, err := strconv.ParseFloat(i.text, 64)
		if err == nil && n == most && !tool.SameJSON([]byte(i.text), bound) {
			return false, false // the bound itself for programs that round it, and above or below it for others
		}
		return n <= most, err == nil
	}, nil
}

func (m Match) pattern() (test, error) {
	whole, err := regexp.Compile(`\A(?:` + m.Value + `)\z`)
	if err == nil {
		_, err = regexp.Compile(m.Value) // “a)|(b” is none by itself
	}
	if err != nil {
		return nil, m.refused(shown(m.Value)+" is no pattern", "See https://pkg.go.dev/regexp/syntax for what one may hold.")
	}
	return func(i item) (holds, known bool) {
		holds = whole.MatchString(i.text)
		n, isNumber := i.number()
		switch {
		case holds && i.isText, !isNumber, plainNumber().MatchString(i.text):
			return holds, true
		case !i.isText && n != 0 && n != 1:
			return holds, false
		}
		return holds, holds == whole.MatchString(strconv.FormatFloat(n+0, 'f', -1, 64)) // -0 is 0
	}, nil
}

// plainNumber is a number as people write it. Programs make 666 of 666.0 and of 6.66e2, and 0 of -0,
// so that a pattern does not know what those are.
var plainNumber = pattern.Lazy(`\A(0|-?([1-9][0-9]*(\.[0-9]*[1-9])?|0\.[0-9]*[1-9]))\z`)

// maxNumber is the largest number that number-max compares exactly.
const maxNumber = 1 << 53

const ops = "equals, enum, path-under, host-is, host-suffix, number-max or regex"

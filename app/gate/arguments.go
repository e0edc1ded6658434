package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"

	"conclave/app/base/jsonobject"
	"conclave/app/base/pattern"
	"conclave/app/net/address"
	"conclave/app/tool"

	"golang.org/x/net/idna"
)

// arguments are those of one call. Each is read once for all rules.
type arguments struct {
	places *places
	raw    json.RawMessage
	read   map[argumentKey][]item
	key    argumentKey // the one that was read last: many rules may look at the same
	items  []item
}

// argumentKey names an argument, as a kind of condition reads it.
type argumentKey struct {
	field string
	as    Op
}

// item is one value of an argument, as the condition compares it; known is false for
// one that it cannot be compared with.
type item struct {
	text   string
	isText bool // it is no number, true or false
	known  bool
	asked  *asNumber // what number made of it, for all rules that ask; nil in an item of one condition
}

// asNumber keeps what a program that wants a number may make of an item, once that was read.
type asNumber struct {
	read, is bool
	n        float64
}

// equals reports whether the item is what a rule names. The rule does not have its type. A
// text “true” where the rule may mean the truth value is not known: programs differ in what they
// make of it. Nor is a number that many of them round to the one that is meant, nor
// another text that a program may read as a number where the rule names one.
func (i item) equals(value string) (holds, known bool) {
	if value == i.text {
		return true, !i.isText || value != "true" && value != "false"
	}
	wants, wantsNumber := number(value)
	if !wantsNumber {
		return false, true
	}
	switch is, isNumber := i.number(); {
	case !isNumber || is != wants:
		return false, true
	case i.isText, i.text == "true", i.text == "false":
		return false, false
	}
	same := tool.SameJSON([]byte(i.text), []byte(value))
	return same, same
}

// number returns what a program that wants a number may make of the item: of a text as Python and
// JavaScript read it, with spaces around it, underscores, digits of other scripts or a base; 1 of
// true, and 0 of nothing but spaces.
func (i item) number() (float64, bool) {
	if i.asked == nil {
		return i.readNumber()
	}
	if !i.asked.read {
		i.asked.n, i.asked.is = i.readNumber()
		i.asked.read = true
	}
	return i.asked.n, i.asked.is
}

func (i item) readNumber() (float64, bool) {
	if !i.isText {
		switch i.text {
		case "true":
			return 1, true
		case "false":
			return 0, true
		}
		return number(i.text)
	}
	if strings.TrimFunc(i.text, isSpace) == "" {
		return 0, true
	}
	text := strings.Map(func(r rune) rune {
		switch {
		case r == '_' || isSpace(r):
			return -1
		case unicode.IsDigit(r):
			return '0' + digit(r)
		}
		return r
	}, i.text)
	if !strings.ContainsAny(text, "0123456789") {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	if err == nil || errors.Is(err, strconv.ErrRange) {
		return n, true
	}
	digits, negative := strings.CutPrefix(text, "-")
	whole, err := strconv.ParseUint(strings.TrimPrefix(digits, "+"), 0, 64)
	n = float64(whole)
	if negative {
		n = -n
	}
	return n, err == nil
}

// isSpace reports whether a program leaves a character out at the ends of a number: JavaScript does
// a byte order mark, and Python what separates files, groups, records and units.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r == '\uFEFF' || '\x1c' <= r && r <= '\x1f' }

// digit returns what a decimal digit of any script stands for. Each script's are in a row, from
// its zero on, and so are those of scripts that follow each other.
func digit(r rune) rune {
	for _, s := range unicode.Nd.R16 {
		if rune(s.Lo) <= r && r <= rune(s.Hi) {
			return (r - rune(s.Lo)) % 10
		}
	}
	for _, s := range unicode.Nd.R32 {
		if rune(s.Lo) <= r && r <= rune(s.Hi) {
			return (r - rune(s.Lo)) % 10
		}
	}
	return 0
}

// number reads a number of JSON as most programs do.
func number(text string) (float64, bool) {
	if text == "" || !strings.Contains("-0123456789", text[:1]) || !json.Valid([]byte(text)) {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil || errors.Is(err, strconv.ErrRange)
}

// meets reports whether the call meets every condition of a rule: surely, for one that
// allows; possibly, for one that asks or denies.
func (a *arguments) meets(all []condition, effect Effect) bool {
	for i := range all {
		if !a.meetsOne(&all[i], effect) {
			return false
		}
	}
	return true
}

func (a *arguments) meetsOne(c *condition, effect Effect) bool {
	if c.key != a.key {
		a.key, a.items = c.key, a.values(c.key)
	}
	items := a.items
	sure, possible := len(items) > 0, len(items) == 0
	for _, i := range items {
		holds, known := false, false
		if i.known {
			holds, known = c.holds(i)
		}
		sure = sure && known && holds
		possible = possible || !known || holds
	}
	if effect == Allow {
		return sure
	}
	return possible
}

// maxItems bounds the items of a list that conditions look at; more are as one that they
// cannot compare.
const maxItems = 256

// values returns the values of an argument as a condition compares them; none where it
// is missing, null, empty or written twice.
func (a *arguments) values(key argumentKey) []item {
	if items, ok := a.read[key]; ok {
		return items
	}
	var items []item
	if raw, ok := at(a.raw, key.field); ok {
		list := []json.RawMessage{raw}
		if raw[0] == '[' {
			list = nil
			_ = json.Unmarshal(raw, &list) // it is valid
		}
		if len(list) > maxItems {
			items, list = append(items, item{}), list[:maxItems]
		}
		for _, one := range list {
			items = append(items, a.item(one, key.as))
		}
	}
	if a.read == nil {
		a.read = map[argumentKey][]item{}
	}
	a.read[key] = items
	return items
}

// readsAs groups the comparisons that read an argument in the same way; others take
// its text as it is.
var readsAs = map[Op]Op{PathUnder: PathUnder, HostIs: HostIs, HostSuffix: HostIs, AtMost: AtMost}

func (a *arguments) item(raw json.RawMessage, as Op) item {
	text, isText, ok := scalar(raw)
	if !ok {
		return item{}
	}
	switch as {
	case PathUnder:
		path, ok := a.places.realPath(text)
		return item{text: path, isText: isText, known: ok && isText}
	case HostIs:
		host, ok := hostOf(text)
		return item{text: host, isText: isText, known: ok && isText && !hasTwoNames(text)}
	case AtMost:
		return item{text: text, isText: isText, known: !isText && text != "true" && text != "false"}
	}
	return item{text: text, isText: isText, known: true, asked: new(asNumber)}
}

// scalar returns a text, or a number, true or false as JSON writes it.
func scalar(raw json.RawMessage) (text string, isText, ok bool) {
	raw = bytes.TrimSpace(raw)
	if !json.Valid(raw) {
		return "", false, false
	}
	switch raw[0] {
	case '"':
		err := json.Unmarshal(raw, &text)
		return text, true, err == nil
	case '{', '[', 'n':
		return "", false, false
	}
	return string(raw), false, true
}

// at returns what stands at a field; none where it is null or a name on the way is
// written twice, since programs differ in which of the two they take.
func at(raw json.RawMessage, field string) (json.RawMessage, bool) {
	path := []string{field}
	if rest, ok := strings.CutPrefix(field, "/"); ok {
		path = strings.Split(rest, "/")
		for i, part := range path {
			path[i] = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		}
	}
	for _, name := range path {
		var found json.RawMessage
		times := 0
		for key, value := range jsonobject.Fields(raw) {
			if key == name {
				found, times = value, times+1
			}
		}
		if times != 1 {
			return nil, false
		}
		raw = found
	}
	return raw, string(raw) != "null"
}

// hostOf returns the host of an address of the web, or of a host that stands alone, in
// lower case and in the letters of the name service, with its port unless that is the
// usual one of its scheme.
func hostOf(text string) (string, bool) {
	scheme, rest, isURL := strings.Cut(text, "://")
	if !isURL {
		scheme, rest = "https", text
	}
	if strings.ContainsAny(rest, "\\ ") {
		return "", false // programs differ in what these mean
	}
	u, err := url.Parse(scheme + "://" + rest)
	if err != nil || u.Hostname() == "" || !isURL && (u.Path != "" || u.RawQuery != "" || u.Fragment != "" ||
		u.User != nil) {
		return "", false
	}
	usual := map[string]string{"http": "80", "ws": "80", "https": "443", "wss": "443"}[strings.ToLower(u.Scheme)]
	if usual == "" {
		return "", false
	}
	host, ok := hostName(u.Hostname())
	if !ok {
		return "", false
	}
	port := u.Port()
	for len(port) > 1 && port[0] == '0' { // programs read it as a number
		port = port[1:]
	}
	if port != "" && port != usual {
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		host += ":" + port
	}
	return strings.ToLower(host), true
}

// hostName returns the one name by which a host is known, of those that programs take for it. An
// address of IPv4 that is written in another way than with four numbers has none: programs differ
// in what they make of 010.1.2.3, of 10.1, and of one number for all.
func hostName(text string) (string, bool) {
	host := strings.TrimSuffix(text, ".")
	if _, err := netip.ParseAddr(host); err != nil {
		if host, err = idna.Lookup.ToASCII(host); err != nil {
			return "", false
		}
		host = strings.TrimSuffix(host, ".")
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return a.Unmap().String(), true
	}
	return host, host != "" && !numberLabel().MatchString(host[strings.LastIndexByte(host, '.')+1:])
}

// hasTwoNames reports whether programs differ in what they make of the letters of a host: Python's
// own library asks for fass.de where others ask for faß.de (https://www.unicode.org/reports/tr46/#Deviations).
func hasTwoNames(text string) bool {
	_, rest, isURL := strings.Cut(text, "://")
	if !isURL {
		rest = text
	}
	u, err := url.Parse("https://" + rest)
	return err == nil && strings.ContainsAny(u.Hostname(), "ßẞς")
}

// numberLabel matches the last label of a host that stands for an address of IPv4
// (https://url.spec.whatwg.org/#ends-in-a-number-checker).
var numberLabel = pattern.Lazy(`\A([0-9]+|0x[0-9a-f]*)\z`)

// Sentences returns conditions that hold together as a rule's sentence has them.
func Sentences(matches []Match) string {
	all := make([]string, len(matches))
	for i, m := range matches {
		all[i] = m.Sentence()
	}
	return strings.Join(all, ", ")
}

// withoutPort is a host as hostOf returns it, without its port.
func withoutPort(host string) string {
	if at, err := netip.ParseAddrPort(host); err == nil {
		return at.Addr().String()
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return host
	}
	name, _, _ := strings.Cut(host, ":")
	return name
}

// isNear reports whether a host is an address of this computer or its own network, or
// a name that stands for this computer.
func isNear(host string) bool {
	name := withoutPort(host)
	if a, err := netip.ParseAddr(name); err == nil {
		return address.Private(a)
	}
	return name == "localhost"
}

// reaches reports whether a condition that is offered says where a call reaches.
func (m Match) reaches() bool { return m.Op == PathUnder || m.Op == HostIs }

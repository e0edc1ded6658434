package language

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	lazy "conclave/app/base/pattern"
)

// What a person reads of the core is written in English, where the meaning is known:
// it is stored, logged and read by models in English. [Text] puts it into a language
// where it is shown. zh.json has each sentence as the code has it, with %s, %d, %q or
// %v where a value stands, and the Chinese with {1} for the first of these values, or
// <1> for one that is itself translated: a sentence, or a list of phrases.
//
//go:embed zh.json
var chinese []byte

// pattern is a sentence with places for values: its words around them.
type pattern struct {
	words []string // one more than values
	says  string
}

// catalogue holds the sentences of one language.
type catalogue struct {
	exact    map[string]string
	patterns []pattern // those with the most words first
}

// verb matches the place of a value in an English sentence; %% is a percent sign.
var verb = lazy.Lazy(`%(?:%|(?:\.\d+)?[sdqvgwf])`)

// around returns the words of a sentence around its values.
func around(english string) []string {
	if !strings.Contains(english, "%") {
		return []string{english}
	}
	return strings.Split(verb().ReplaceAllStringFunc(english, func(of string) string {
		if of == "%%" {
			return "%"
		}
		return "\x00"
	}), "\x00")
}

var chineseSentences = sync.OnceValue(func() *catalogue {
	var sentences map[string]string
	if err := json.Unmarshal(chinese, &sentences); err != nil {
		panic(err) // a test reads it
	}
	c := &catalogue{exact: map[string]string{}}
	for english, says := range sentences {
		words := around(english)
		if len(words) == 1 {
			c.exact[words[0]] = says
			continue
		}
		c.patterns = append(c.patterns, pattern{words, says})
	}
	length := func(p pattern) int { return len(strings.Join(p.words, "")) }
	slices.SortFunc(c.patterns, func(a, b pattern) int {
		return cmp.Or(length(b)-length(a), strings.Compare(a.says, b.says))
	})
	return c
})

var reads atomic.Value // the Language of the window

// Use sets the language of [Say], which is that of the page that is loaded.
func Use(l Language) { reads.Store(l) }

// Say is [Text] in the language of the window.
func Say(english string) string {
	l, _ := reads.Load().(Language)
	return Text(l, english)
}

// Text returns a text of the core in a language: as one sentence, or sentence by
// sentence. What the language lacks stays English.
func Text(l Language, english string) string {
	if l != Chinese || english == "" {
		return english
	}
	c := chineseSentences()
	if says, found := c.one(english); found {
		return says
	}
	var out strings.Builder
	said := false
	for rest := english; rest != ""; {
		sentence, after := rest, ""
		if at := strings.Index(rest, ". "); at >= 0 {
			sentence, after = rest[:at+1], rest[at+2:]
		}
		says, found := c.said(sentence)
		if out.Len() > 0 && (!found || !said) {
			out.WriteByte(' ')
		}
		out.WriteString(says)
		rest, said = after, found
	}
	return out.String()
}

// said returns a sentence in the language, and whether it has it; else the sentence. It may be a
// phrase as it begins a sentence ("You allowed it once"), or stand behind a name ("notes: It has no
// tools.").
func (c *catalogue) said(english string) (string, bool) {
	if says, found := c.one(english); found {
		return says, true
	}
	if says, found := c.phrases(strings.ToLower(english[:1]) + english[1:]); found {
		return says, true
	}
	name, rest, _ := strings.Cut(english, ": ")
	if says, found := c.one(rest); found {
		return name + "：" + says, true
	}
	return english, false
}

// one returns a sentence in the language, and whether it has it.
func (c *catalogue) one(english string) (string, bool) {
	if says, found := c.exact[english]; found {
		return says, true
	}
	for _, p := range c.patterns {
		if values, fits := p.match(english); fits {
			return c.fill(p.says, values)
		}
	}
	return "", false
}

// match returns the values of one sentence that has the words of the pattern. Where a
// value could end at two places it does not match: a person must not read values in
// each other's place. A value that begins the sentence is a name, so it has no comma and no colon.
func (p pattern) match(sentence string) ([]string, bool) {
	last := len(p.words) - 1
	rest, found := strings.CutPrefix(sentence, p.words[0])
	if !found {
		return nil, false
	}
	values := make([]string, 0, last)
	for _, words := range p.words[1:last] {
		value, after, found := strings.Cut(rest, words)
		again := words != "" && strings.Contains(after, words) && !p.listed(value, len(values)+2)
		if !found || again || strings.Contains(value, ". ") {
			return nil, false
		}
		values, rest = append(values, value), after
	}
	value, found := strings.CutSuffix(rest, p.words[last])
	values = append(values, value)
	if p.words[last] == "" && strings.HasSuffix(value, ".") && !strings.HasSuffix(p.words[last-1], ": ") {
		return nil, false // half a sentence is no name
	}
	if p.words[0] == "" && (strings.Contains(values[0], ", ") || strings.Contains(values[0], ": ")) {
		return nil, false
	}
	return values, found && !strings.Contains(value, ". ")
}

// listed reports whether a value ends at the first place where it could: it is one word, and the next
// value, by its number, is a list of phrases that the language must have.
func (p pattern) listed(value string, next int) bool {
	return !strings.Contains(value, " ") && strings.Contains(p.says, "<"+strconv.Itoa(next)+">")
}

// fill puts values into a sentence of the language. It returns false where the
// language lacks one that is to be translated.
func (c *catalogue) fill(says string, values []string) (string, bool) {
	var pairs []string
	for i, value := range values {
		number := strconv.Itoa(i + 1)
		pairs = append(pairs, "{"+number+"}", c.value(value))
		if place := "<" + number + ">"; strings.Contains(says, place) {
			phrase, found := c.phrases(value)
			if !found {
				return "", false
			}
			pairs = append(pairs, place, phrase)
		}
	}
	return joints.Replace(strings.NewReplacer(pairs...).Replace(says)), true
}

var (
	status    = lazy.Lazy(` \((\d{3})\)$`)
	span      = lazy.Lazy(`^(\d+(?:\.\d+)?) ?(ms|s|min|h)$`)
	nameList  = lazy.Lazy(`^[^\s,]+(, [^\s,]+)+$`)
	spanWords = map[string]string{"ms": "毫秒", "s": "秒", "min": "分钟", "h": "小时"}
)

// joints mends where a value meets the words around it.
var joints = strings.NewReplacer("） ", "）", ".。", "。")

// value returns a value as it stands in a Chinese sentence: an own sentence of Conclave, the status of
// a server's answer, a span of time and a list of names are put into Chinese, all else stays.
func (c *catalogue) value(english string) string {
	if strings.HasSuffix(english, ".") && strings.Contains(english, " ") {
		if says, found := c.said(english); found {
			return strings.TrimSuffix(says, "。")
		}
	}
	if at := span().FindStringSubmatch(english); at != nil {
		return at[1] + " " + spanWords[at[2]]
	}
	if nameList().MatchString(english) {
		return strings.ReplaceAll(english, ", ", "、")
	}
	return status().ReplaceAllString(english, "（$1）")
}

// phrases returns a phrase, or a list of phrases ("a, b and c"), in the language, and
// whether it has them all. A phrase with a value is read as a list first: the value must not swallow
// the phrases behind it.
func (c *catalogue) phrases(english string) (string, bool) {
	if says, found := c.exact[english]; found {
		return says, true
	}
	for _, between := range []struct{ english, says string }{{"; and ", "；并且"}, {" and ", "、"}, {", ", "、"}} {
		parts := strings.Split(english, between.english)
		if len(parts) == 1 {
			continue
		}
		if all := c.all(parts, between.english); all != nil {
			return strings.Join(all, between.says), true
		}
	}
	if says, found := c.one(english); found {
		return says, true
	}
	says, found := c.one(english + ".") // a sentence within another
	return strings.TrimSuffix(says, "。"), found
}

// all returns phrases in the language, nil where it lacks one. Two parts that are none by themselves
// may be one with what stood between them: a date has a comma.
func (c *catalogue) all(parts []string, between string) []string {
	var out []string
	for i := 0; i < len(parts); i++ {
		says, found := c.phrases(parts[i])
		if !found && i+1 < len(parts) {
			says, found = c.one(parts[i] + between + parts[i+1])
			i++
		}
		if !found {
			return nil
		}
		out = append(out, says)
	}
	return out
}

package demo

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"conclave/app/chat"
	"conclave/app/model"
)

// sentence holds a plain sentence against the tools: it calls the one it is
// about, or asks in words for what the call still needs. before is the question
// that the guide answered by asking, or "".
func sentence(text, before string, tools []toolShape) (performance, bool) {
	whole := text
	if before != "" {
		whole = before + "\n" + text
	}
	best, rivals := choose(whole, tools)
	switch {
	case len(best.Name) == 0:
		return nil, false
	case len(rivals) > 0:
		names := "`" + best.Name + "`"
		for _, r := range rivals {
			names += " or `" + r.Name + "`"
		}
		return performance{
			say(fmt.Sprintf("That could be %s. Name the one you mean: `/tool %s …`.\n", names, best.Name)),
		}, true
	}
	arguments, missing := best.arguments(newSentence(whole), false)
	if before != "" && len(missing) == 1 && missing[0].kind() == "string" && len(missing[0].Enum) == 0 {
		arguments, missing = best.given(newSentence(before), missing[0].name, strings.TrimSpace(text))
	}
	if len(missing) > 0 {
		return performance{
			say(fmt.Sprintf("%s`%s`%s%s. Tell me, or write it out: `/tool %s {…}`.\n", askOpening, best.Name, askMiddle,
				best.needs(missing), best.Name)),
		}, true
	}
	return performance{say(fmt.Sprintf("I will use `%s` for that.\n", best.Name)), ask(best.Name, arguments, "")}, true
}

// The words by which the guide knows its own question in the history.
const (
	askOpening = "For "
	askMiddle  = " I still need "
)

// pendingText is the question before the last one, when the guide answered it by
// asking for more.
func pendingText(messages []model.Message, last string) string {
	asked := false
	for i, m := range slices.Backward(messages) {
		switch {
		case m.Role == chat.RoleAssistant:
			text := chat.TextOf(m.Parts)
			asked = strings.HasPrefix(text, askOpening+"`") && strings.Contains(text, "`"+askMiddle)
			if !asked {
				return ""
			}
		case m.Role == chat.RoleUser && asked:
			return chat.TextOf(m.Parts)
		case m.Role == chat.RoleUser && i < len(messages)-1:
			return ""
		}
	}
	return ""
}

// choose returns the tool that a sentence is about, and others that it may be
// about just as well. A word of the tool's name counts three, one of its
// description one; one word of the name, or two of the description, are enough.
func choose(text string, tools []toolShape) (best toolShape, rivals []toolShape) {
	said := map[string]bool{}
	for _, w := range wordsOf(text) {
		said[stem(w)] = true
	}
	if said["many"] || said["much"] {
		said["count"] = true
	}
	bestScore := 1
	for _, t := range tools {
		score := 0
		seen := map[string]bool{}
		for _, w := range wordsOf(bareName(t.Name)) {
			if s := stem(w); said[s] && !seen[s] && !idle[w] {
				seen[s] = true
				score += 3
			}
		}
		for _, w := range wordsOf(t.Description) {
			if s := stem(w); said[s] && !seen[s] && !idle[w] {
				seen[s] = true
				score++
			}
		}
		switch {
		case score > bestScore:
			best, rivals, bestScore = t, nil, score
		case score == bestScore && score > 1:
			rivals = append(rivals, t)
		}
	}
	return best, rivals
}

func bareName(name string) string {
	if _, after, ok := strings.Cut(name, "__"); ok {
		return after
	}
	return name
}

// wordsOf returns the words of a text or a name in small letters: "from_unit" and
// "fromUnit" are two.
func wordsOf(text string) []string {
	var words []string
	var word strings.Builder
	end := func() {
		if word.Len() > 0 {
			words = append(words, strings.ToLower(word.String()))
			word.Reset()
		}
	}
	lower := false
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			end()
			lower = false
			continue
		}
		if unicode.IsUpper(r) && lower {
			end()
		}
		lower = unicode.IsLower(r)
		word.WriteRune(r)
	}
	end()
	return words
}

// stem cuts the common endings of English, so that "converts", "converting" and
// "conversion" meet "convert" most of the time.
func stem(word string) string {
	for _, ending := range []string{"ations", "ation", "ings", "ing", "ies", "ed", "es", "s", "e"} {
		if rest, ok := strings.CutSuffix(word, ending); ok && len(rest) >= 3 {
			return rest
		}
	}
	return word
}

// idle words say nothing about which tool is meant.
var idle = set(`a about add all also an and any are as at be been but by can could did do does each for from get give go had has have
	he hello help her hi how i if in into is it its just let like make many may me more my need no not of on one or other our out please say
	she should show so some tell text than that the their them then there these they this to two up us use was we were what when where which
	who why will with would you your thing tool value name return returns given`)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// given is arguments with one value set from outside.
func (t toolShape) given(s *spoken, name, value string) (json.RawMessage, []param) {
	s.named[name] = value
	return t.arguments(s, false)
}

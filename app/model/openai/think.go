package openai

import (
	"slices"
	"strings"

	"conclave/app/model"
)

// splitter takes the thinking out of content, where servers without a reasoning parser
// leave it, with the tags of the model. A tag counts at the beginning of an answer,
// and again later once one was there; anywhere else it is text. An end without a
// beginning makes thinking of all before it: the templates of DeepSeek-R1 and QwQ
// write the beginning into the prompt. The zero value is ready.
type splitter struct {
	state int    // of the constants below
	held  string // not yet decided
	fresh bool   // right behind a tag, where empty lines are no part of either

	tags      tags   // of the thinking that was found; zero before that
	lone      string // the end that came without a beginning, now or in an earlier answer
	guessed   bool   // the thinking began because of an earlier answer
	mentioned bool   // the text speaks of tags: an end without a beginning is text too

	line   string // how the line of text begins that is being said
	last   byte   // of the text that was said
	fenced bool   // the text is in a block of code
}

const (
	atStart = iota
	inThought
	inText
)

// tags stand before thinking and behind it.
type tags struct{ open, end string }

// known are the tags of models. The last two are the channels of gpt-oss.
var known = []tags{
	{"<think>", "</think>"},
	{"<thinking>", "</thinking>"},
	{"<thought>", "</thought>"},
	{"[THINK]", "[/THINK]"},
	{"◁think▷", "◁/think▷"},
	{"<seed:think>", "</seed:think>"},
	{"<|START_THINKING|>", "<|END_THINKING|>"},
	{"<|channel|>analysis<|message|>", "<|end|>"},
	{"<|channel|>commentary<|message|>", "<|end|>"},
}

// controls are the words of gpt-oss that are neither thinking nor text.
var controls = []string{"<|start|>assistant", "<|channel|>final<|message|>", "<|end|>", "<|return|>"}

func (t tags) isChannel() bool { return strings.HasPrefix(t.open, "<|channel|>") }

// take takes the next piece of content apart, and passes on what of it, and of what was held
// back, is thinking and what is text; or that all so far was thinking.
func (s *splitter) take(piece string, emit func(model.EventKind, string) error) error {
	if piece == "" {
		return nil
	}
	s.held += piece
	for s.held != "" {
		if s.fresh {
			s.held = strings.TrimLeft(s.held, "\r\n")
			s.fresh = s.held == ""
			continue
		}
		again, err := s.step(emit)
		if err != nil || !again {
			return err
		}
	}
	return nil
}

// step takes one decision about what is held, and reports whether it was one.
func (s *splitter) step(emit func(model.EventKind, string) error) (again bool, err error) {
	switch s.state {
	case atStart:
		return s.begin(), nil
	case inThought:
		before, after, found := strings.Cut(s.held, s.tags.end)
		if found {
			s.state, s.held, s.fresh, s.guessed = inText, after, true, false
			return true, pass(emit, model.Reasoning, before)
		}
		return false, s.pass(emit, model.Reasoning, len(s.held)-tail(s.held, s.tags.end))
	}
	words := s.words()
	at, word := len(s.held), ""
	for _, w := range words {
		if i := strings.Index(s.held, w); i >= 0 && (i < at || i == at && len(w) > len(word)) {
			at, word = i, w
		}
	}
	if word == "" {
		keep := 0
		for _, w := range words {
			keep = max(keep, tail(s.held, w))
		}
		return false, s.pass(emit, model.Text, len(s.held)-keep)
	}
	if err := s.pass(emit, model.Text, at); err != nil {
		return false, err
	}
	return s.found(word, emit)
}

// begin decides what an answer begins with, and reports whether it could.
func (s *splitter) begin() bool {
	start := strings.TrimLeft(s.held, " \r\n\t")
	if start == "" {
		return false
	}
	for _, t := range known {
		if strings.HasPrefix(start, t.open) {
			s.state, s.tags, s.held, s.fresh = inThought, t, start[len(t.open):], true
			return true
		}
	}
	for _, t := range known {
		if strings.HasPrefix(t.open, start) {
			return false // it may become the tag
		}
	}
	for _, word := range controls {
		if strings.HasPrefix(start, word) {
			s.tags = known[len(known)-1]
			s.state = inText
			return true
		}
		if strings.HasPrefix(word, start) {
			return false
		}
	}
	s.state = inText
	if s.lone != "" {
		s.state, s.tags, s.guessed = inThought, tagsOf(s.lone), true
	}
	return true
}

func tagsOf(end string) tags {
	i := slices.IndexFunc(known, func(t tags) bool { return t.end == end })
	return known[max(i, 0)]
}

// words returns what counts in text.
func (s *splitter) words() []string {
	var words []string
	switch {
	case s.tags.isChannel():
		words = append(words, controls...)
		fallthrough
	case s.tags.open != "":
		for _, t := range known {
			if t == s.tags || t.isChannel() && s.tags.isChannel() {
				words = append(words, t.open)
			}
		}
	case !s.mentioned:
		for _, t := range known {
			if !t.isChannel() {
				words = append(words, t.open, t.end)
			}
		}
	}
	return words
}

// found decides about a word that what is held begins with.
func (s *splitter) found(word string, emit func(model.EventKind, string) error) (again bool, err error) {
	rest := s.held[len(word):]
	code := s.fenced || s.last == '`' || strings.HasPrefix(strings.TrimLeft(s.line, " "), "```")
	isOpen := slices.ContainsFunc(known, func(t tags) bool { return t.open == word })
	switch {
	case isOpen && s.tags.open != "" && !code:
		for _, t := range known {
			if t.open == word {
				s.tags = t
			}
		}
		s.state, s.held, s.fresh = inThought, rest, true
	case s.tags.isChannel() && slices.Contains(controls, word):
		s.held = rest
	case s.tags.open == "" && !isOpen && !code && rest == "":
		return false, nil // what follows decides
	case s.tags.open == "" && !isOpen && !code && (s.line == "" || rest[0] == '\n' || rest[0] == '\r'):
		return true, s.ended(word, rest, emit)
	default:
		s.mentioned = true
		return true, s.pass(emit, model.Text, len(word))
	}
	return true, nil
}

// ended makes thinking of all that was said before an end without a beginning.
func (s *splitter) ended(word, rest string, emit func(model.EventKind, string) error) error {
	s.lone, s.tags, s.held, s.fresh = word, tagsOf(word), rest, true
	return emit(model.Moved, string(model.Reasoning))
}

// rest passes on what is still held back when the stream ends.
func (s *splitter) rest(emit func(model.EventKind, string) error) error {
	if s.state == inThought {
		err := s.pass(emit, model.Reasoning, len(s.held))
		if err == nil && s.guessed { // the guess was wrong: its answer was text
			s.lone = ""
			err = emit(model.Moved, string(model.Text))
		}
		return err
	}
	if s.tags.open == "" && slices.ContainsFunc(known, func(t tags) bool { return t.end == s.held }) && !s.fenced &&
		s.line == "" {
		return s.ended(s.held, "", emit)
	}
	return s.pass(emit, model.Text, len(s.held))
}

// pass passes on the first n bytes of what is held.
func (s *splitter) pass(emit func(model.EventKind, string) error, kind model.EventKind, n int) error {
	said := s.held[:n]
	s.held = s.held[n:]
	if kind == model.Text {
		s.saw(said)
	}
	return pass(emit, kind, said)
}

func pass(emit func(model.EventKind, string) error, kind model.EventKind, text string) error {
	if text == "" {
		return nil
	}
	return emit(kind, text)
}

// saw follows the lines of the text, for blocks of code.
func (s *splitter) saw(text string) {
	if text == "" {
		return
	}
	s.last = text[len(text)-1]
	for {
		line, rest, found := strings.Cut(text, "\n")
		s.line += line[:min(len(line), 12)]
		if !found {
			return
		}
		if strings.HasPrefix(strings.TrimLeft(s.line, " "), "```") {
			s.fenced = !s.fenced
		}
		s.line, text = "", rest
	}
}

// tail returns the number of bytes at the end of s that may begin tag.
func tail(s, tag string) int {
	for n := min(len(s), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(s, tag[:n]) {
			return n
		}
	}
	return 0
}

// splitter returns a splitter that knows how the model's earlier answers began.
func (m *client) splitter() splitter {
	m.p.mu.Lock()
	defer m.p.mu.Unlock()
	return splitter{lone: m.p.lone[m.id]}
}

// remember keeps what an answer showed of how the model's answers begin.
func (m *client) remember(s *splitter) {
	m.p.mu.Lock()
	defer m.p.mu.Unlock()
	m.p.lone[m.id] = s.lone
}

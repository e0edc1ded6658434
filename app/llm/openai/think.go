package openai

import "strings"

// splitter takes the thinking out of content that begins with <think>, which is
// how servers without a reasoning parser pass on what DeepSeek-R1, QwQ and their
// kin write. Anywhere but at the very beginning the tag is text. The zero value
// is ready.
type splitter struct {
	state int    // of the constants below
	held  string // not yet decided
	fresh bool   // right behind a tag, where empty lines are no part of either
}

const (
	atStart = iota
	inThought
	inText
)

const (
	openTag  = "<think>"
	closeTag = "</think>"
)

// split takes the next piece of content and returns what of it, and of what was
// held back, is thought and what is text.
func (s *splitter) split(piece string) (thought, text string) {
	if s.fresh {
		piece = strings.TrimLeft(piece, "\r\n")
		s.fresh = piece == ""
	}
	if s.state == inText {
		return "", piece
	}
	s.held += piece
	if s.state == atStart {
		begin := strings.TrimLeft(s.held, " \r\n\t")
		switch {
		case strings.HasPrefix(begin, openTag):
			s.state, s.held = inThought, ""
			return s.behind(begin[len(openTag):])
		case strings.HasPrefix(openTag, begin):
			return "", "" // may become the tag
		default:
			s.state, text, s.held = inText, s.held, ""
			return "", text
		}
	}
	if before, after, found := strings.Cut(s.held, closeTag); found {
		s.state, s.held = inText, ""
		_, text = s.behind(after)
		return before, text
	}
	keep := tail(s.held, closeTag)
	thought = s.held[:len(s.held)-keep]
	s.held = s.held[len(s.held)-keep:]
	return thought, ""
}

// behind goes on with what follows a tag in the same piece.
func (s *splitter) behind(piece string) (thought, text string) {
	s.fresh = true
	return s.split(piece)
}

// rest returns what is still held back when the stream ends.
func (s *splitter) rest() (thought, text string) {
	held := s.held
	s.held = ""
	if s.state == inThought {
		return held, ""
	}
	return "", held
}

// tail is how many bytes at the end of s may be the beginning of tag.
func tail(s, tag string) int {
	for n := min(len(s), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(s, tag[:n]) {
			return n
		}
	}
	return 0
}

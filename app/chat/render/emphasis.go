package render

import (
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Emphasis and strikethrough as CommonMark has them, but for writing without spaces
// between words: there, marks next to punctuation open and close as they do next to a space.
// CommonMark alone reads "这是**重点：**内容" as text with stars in it.

// emphasisParser finds *text*, **text** and _text_.
type emphasisParser struct{}

// Trigger implements parser.InlineParser.
func (emphasisParser) Trigger() []byte { return []byte{'*', '_'} }

// Parse implements parser.InlineParser.
func (emphasisParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	node := delimiterAt(line, before, 1, emphasisDelimiter{})
	if node == nil {
		return nil
	}
	node.Segment = segment.WithStop(segment.Start + node.OriginalLength)
	block.Advance(node.OriginalLength)
	pc.PushDelimiter(node)
	return node
}

type emphasisDelimiter struct{}

// IsDelimiter implements parser.DelimiterProcessor.
func (emphasisDelimiter) IsDelimiter(b byte) bool { return b == '*' || b == '_' }

// CanOpenCloser implements parser.DelimiterProcessor.
func (emphasisDelimiter) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}

// OnMatch implements parser.DelimiterProcessor.
func (emphasisDelimiter) OnMatch(n int) ast.Node { return ast.NewEmphasis(n) }

// struckParser finds ~~text~~. Unlike goldmark's own it leaves single tildes
// alone: "~5 ms to ~10 ms" is not struck out.
type struckParser struct{}

// Trigger implements parser.InlineParser.
func (struckParser) Trigger() []byte { return []byte{'~'} }

// Parse implements parser.InlineParser.
func (struckParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	node := delimiterAt(line, before, 2, struckDelimiter{})
	if node == nil || node.OriginalLength != 2 || before == '~' {
		return nil
	}
	node.Segment = segment.WithStop(segment.Start + 2)
	block.Advance(2)
	pc.PushDelimiter(node)
	return node
}

type struckDelimiter struct{}

// IsDelimiter implements parser.DelimiterProcessor.
func (struckDelimiter) IsDelimiter(b byte) bool { return b == '~' }

// CanOpenCloser implements parser.DelimiterProcessor.
func (struckDelimiter) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}

// OnMatch implements parser.DelimiterProcessor.
func (struckDelimiter) OnMatch(int) ast.Node { return extast.NewStrikethrough() }

// delimiterAt is parser.ScanDelimiter with the rule for writing without spaces. Underscores
// stay as they are: they stand in names.
func delimiterAt(line []byte, before rune, least int, p parser.DelimiterProcessor) *parser.Delimiter {
	node := parser.ScanDelimiter(line, before, least, p)
	if node == nil || node.Char == '_' {
		return node
	}
	after := ' '
	if node.OriginalLength < len(line) {
		after, _ = utf8.DecodeRune(line[node.OriginalLength:])
	}
	if unspaced(before) || unspaced(after) {
		node.CanOpen = !unicode.IsSpace(after) &&
			(!pointed(after) || unicode.IsSpace(before) || pointed(before) || unspaced(before))
		node.CanClose = !unicode.IsSpace(before) &&
			(!pointed(before) || unicode.IsSpace(after) || pointed(after) || unspaced(after))
	}
	return node
}

// pointed reports whether r is punctuation or a symbol of writing with spaces.
func pointed(r rune) bool { return (unicode.IsPunct(r) || unicode.IsSymbol(r)) && !unspaced(r) }

// unspaced reports whether r is of Chinese, Japanese or Korean writing, punctuation of
// their width included. Korean has spaces, but puts its particles right behind a word.
func unspaced(r rune) bool {
	return r >= 0x1100 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo,
		unicode.Yi) ||
		r >= 0x3001 && r <= 0x303f || // punctuation
		r >= 0x30fb && r <= 0x30fc || r >= 0xfe30 && r <= 0xfe4f || r >= 0xff01 && r <= 0xffee)
}

package render

// Kind describes what a block is.
type Kind string

// The kinds of a block. A block of KindText may hold several paragraphs and
// what goldmark finds between them, such as a formula.
const (
	KindText        Kind = "text"
	KindHeading     Kind = "heading"
	KindList        Kind = "list" // a long list is several blocks, see Block
	KindTable       Kind = "table"
	KindCode        Kind = "code" // fenced or indented; also diagrams
	KindQuote       Kind = "quote"
	KindRule        Kind = "rule"
	KindFootnote    Kind = "footnote"
	KindDefinitions Kind = "definitions"
	KindFold        Kind = "fold" // details with a summary
)

// Block is one finished piece of a rendered text. Blocks are put one below the
// other, in order.
//
// A list, table or paragraph that is long is several blocks. From the second
// on, its outermost element has the class "continued", so that a style sheet
// can close the gap.
type Block struct {
	HTML string `json:"html"` // may be empty: a block of link definitions shows nothing
	Kind Kind   `json:"kind"`
}

// Patch replaces one block of what the window shows.
type Patch struct {
	Block int    `json:"block"` // from 0, in reading order; new ones come in order
	HTML  string `json:"html"`  // all of the block
	// Same is the length of the beginning of HTML that the previous patch of this block has
	// too, in bytes, and SameUTF16 in UTF-16 units, which is how a page counts.
	// 0 means that nothing is known. So a page gets what is open and long, code
	// above all, for the cost of what was added.
	Same      int  `json:"same,omitempty"`
	SameUTF16 int  `json:"same_utf16,omitempty"`
	Done      bool `json:"done"` // the block's text is complete; formulas and diagrams can be drawn
}

// Render returns the blocks of a whole text. It takes time in proportion to the
// length, never fails, and is safe for concurrent use; its result depends on md
// alone, so that it can be kept under a digest of it.
func Render(md string) []Block {
	var s Stream
	s.Append(md)
	s.Finish()
	return s.Blocks()
}

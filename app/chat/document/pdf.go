package document

import "errors"

// What stands between a PDF and its text. [ErrTooLarge] is of a file beyond the
// bound on its size.
var (
	ErrDamaged   = errors.New("the document is damaged")
	ErrEncrypted = errors.New("the document is encrypted")
	ErrNoText    = errors.New("the document has pictures of text, or none")
	ErrTooMuch   = errors.New("reading the document takes more time or memory than it may")
)

// PDF holds what the process that reads a PDF says of it, as one line of JSON.
type PDF struct {
	Text    string `json:"text"`
	Cut     Cut    `json:"cut,omitempty"`
	Trouble string `json:"trouble,omitempty"` // a key of Troubles
}

// Cut describes where a text ends before its document does.
type Cut string

// Where a text may end.
const (
	CutText  Cut = "text"  // at limit.DocumentText
	CutPages Cut = "pages" // at limit.PDFPages
)

// Troubles are the errors as PDF.Trouble names them.
var Troubles = map[string]error{"damaged": ErrDamaged, "encrypted": ErrEncrypted, "no text": ErrNoText}

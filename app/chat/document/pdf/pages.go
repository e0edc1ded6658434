package pdf

import (
	"bytes"
	"errors"
	"strings"

	"conclave/app/base/limit"
	"conclave/app/chat/document"

	parser "github.com/ledongthuc/pdf"
)

// open reads the tables of a PDF.
func open(data []byte) (*parser.Reader, error) {
	if !bytes.HasPrefix(data, []byte("%PDF-")) || len(data) < 100 {
		return nil, document.ErrDamaged
	}
	// The parser wants a version that it knows, and nothing behind the end.
	copy(data, "%PDF-1.7\n")
	if end := bytes.LastIndex(data, []byte("%%EOF")); end >= 0 {
		data = data[:end+len("%%EOF")]
	}
	r, err := parser.NewReader(bytes.NewReader(data), int64(len(data)))
	switch {
	case err == nil:
		return r, nil
	case errors.Is(err, parser.ErrInvalidPassword), strings.Contains(err.Error(), "encryption"):
		return nil, document.ErrEncrypted
	}
	return nil, document.ErrDamaged
}

// page is one page, with the resources it may have inherited.
type page struct{ dict, resources parser.Value }

// maxNesting bounds how deep nodes of the page tree and forms lie in each other.
const maxNesting = 32

// allPages returns the pages, one more than the bound at most.
func allPages(r *parser.Reader) []page {
	var all []page
	seen := 0
	var walk func(node, resources parser.Value, depth int)
	walk = func(node, resources parser.Value, depth int) {
		if seen++; depth > maxNesting || seen > 4*limit.PDFPages || len(all) > limit.PDFPages {
			return
		}
		if own := node.Key("Resources"); !own.IsNull() {
			resources = own
		}
		kids := node.Key("Kids")
		if kids.Kind() != parser.Array {
			if node.Kind() == parser.Dict {
				all = append(all, page{node, resources})
			}
			return
		}
		for i := range kids.Len() {
			attempt(func() { walk(kids.Index(i), resources, depth+1) }) // the others may be whole
		}
	}
	walk(r.Trailer().Key("Root").Key("Pages"), parser.Value{}, 0)
	return all
}

// Package pdf reads the text of PDF files. It is the one place with a parser of PDF,
// and belongs into its own sandboxed process: files come from anywhere, and a
// parser that is given a hostile one may loop, take all memory or die. Whoever starts
// that process (app/core) bounds time and memory; this package bounds how much text
// and how many pages it returns.
package pdf

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"

	"conclave/app/base/limit"
	"conclave/app/chat/document"
)

// maxStack ends a parser that nests too deep before it has used up the memory of
// its process.
const maxStack = 32 << 20

// Serve reads one PDF from in, after a line with its length, and writes one
// document.PDF to out. It is all that its process does.
func Serve(in io.Reader, out io.Writer) error {
	debug.SetMaxStack(maxStack)
	debug.SetMemoryLimit(limit.PDFMemory / 2)
	r := bufio.NewReader(in)
	var size int64
	if _, err := fmt.Fscanf(r, "%d\n", &size); err != nil || size < 0 || size > limit.PDF {
		return fmt.Errorf("read the length of the PDF: %d, %w", size, err)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(r, data); err != nil {
		return fmt.Errorf("read the PDF: %w", err)
	}
	said, err := Text(data)
	for name, known := range document.Troubles {
		if errors.Is(err, known) {
			said.Trouble = name
		}
	}
	return json.NewEncoder(out).Encode(said)
}

// Text returns the text of a PDF, page by page, as far as the bounds go. The
// error is one of document.Troubles.
func Text(data []byte) (said document.PDF, err error) {
	r, err := open(data)
	if err != nil {
		return said, err
	}
	w := &writer{}
	var pages []page
	if _, failed := attempt(func() { pages = allPages(r) }); failed && len(pages) == 0 {
		return said, document.ErrDamaged
	}
	broken, letters := 0, false
	for i, p := range pages {
		if i == limit.PDFPages {
			said.Cut = document.CutPages
			break
		}
		fmt.Fprintf(&w.out, "\n[page %d]\n", i+1)
		enough, failed := attempt(func() { newReader(w, p).run(p.dict.Key("Contents")) })
		letters = letters || w.letters
		if enough {
			said.Cut = document.CutText
			break
		}
		switch {
		case failed:
			broken++
			w.out.WriteString("[the rest of this page is damaged]\n")
		case !w.letters:
			w.out.WriteString("[no text on this page]\n")
		}
		w.endPage()
	}
	switch {
	case letters:
		said.Text = cutTo(w.out.String(), &said.Cut)
		return said, nil
	case broken > 0 || len(pages) == 0:
		return document.PDF{}, document.ErrDamaged
	}
	return document.PDF{}, document.ErrNoText
}

// cutTo returns text as far as the bound goes.
func cutTo(text string, cut *document.Cut) string {
	b := bytes.TrimSpace([]byte(text))
	if len(b) > limit.DocumentText {
		b, *cut = b[:limit.DocumentText], document.CutText
	}
	return string(bytes.ToValidUTF8(b, nil))
}

// full ends the parser, as the value of a panic, once there is enough text: it cannot be stopped in another way.
type full struct{}

// attempt calls do. The parser panics at what it cannot read.
func attempt(do func()) (enough, failed bool) {
	defer func() {
		switch recover().(type) {
		case nil:
		case full:
			enough = true
		default:
			failed = true
		}
	}()
	do()
	return false, false
}

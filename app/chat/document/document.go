// Package document decides by a file's bytes what it is, and what a model is shown of it:
// pictures, texts in any encoding, PDFs, and office documents, which are Word, Excel and
// PowerPoint (ECMA-376), and OpenDocument. Read [Look] and [Reader] first.
//
// Office documents are zip archives of XML. Only text is read: no fields are computed, no
// links followed, no pictures shown.
//
// Files come from anywhere, so what is unpacked of one, and what is read, is bounded.
package document

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"conclave/app/base/limit"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	utf "golang.org/x/text/encoding/unicode"
)

// ErrTooLarge says that a document unpacks to more than is read.
var ErrTooLarge = errors.New("the document unpacks to more than is read")

// kinds are the endings of documents, and which parts of one hold its text, in
// the order of their numbers.
var kinds = sync.OnceValue(func() map[string]*regexp.Regexp {
	return map[string]*regexp.Regexp{
		".docx": regexp.MustCompile(`^word/(document|footnotes|endnotes)\.xml$`),
		".pptx": regexp.MustCompile(`^ppt/slides/slide\d+\.xml$`),
		".xlsx": regexp.MustCompile(`^xl/worksheets/sheet\d+\.xml$`),
		".odt":  regexp.MustCompile(`^content\.xml$`),
		".ods":  regexp.MustCompile(`^content\.xml$`),
		".odp":  regexp.MustCompile(`^content\.xml$`),
	}
})

// officeText returns the text of a document with this ending. It returns ErrTooLarge, or
// ErrDamaged; and cuts a long text where the limit is, which cut says.
func officeText(ending string, data []byte) (text string, cut bool, err error) {
	parts := kinds()[ending]
	if parts == nil {
		return "", false, errOldOffice
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return "", false, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	r := &reader{left: limit.DocumentUnpacked, free: strings.HasPrefix(ending, ".o")}
	if ending == ".xlsx" {
		if f, err := r.shared(archive); err != nil {
			return "", false, damaged(f, err)
		}
	}
	var files []*zip.File
	for _, f := range archive.File {
		if parts.MatchString(f.Name) {
			files = append(files, f)
		}
	}
	if len(files) == 0 {
		return "", false, fmt.Errorf("%w: there is no text part", ErrDamaged)
	}
	slices.SortStableFunc(files, func(a, b *zip.File) int { return numberOf(a.Name) - numberOf(b.Name) })
	for i, f := range files {
		if len(files) > 1 && ending != ".docx" {
			fmt.Fprintf(&r.out, "\n[%s %d]\n", map[string]string{".pptx": "slide", ".xlsx": "sheet"}[ending], i+1)
		}
		if err := r.part(f); err != nil {
			return "", false, damaged(f, err)
		}
	}
	text = strings.TrimSpace(r.out.String())
	if len(text) > limit.DocumentText {
		return strings.ToValidUTF8(text[:limit.DocumentText], ""), true, nil
	}
	return text, false, nil
}

// damaged is the error of a part that cannot be read.
func damaged(f *zip.File, err error) error {
	if errors.Is(err, ErrTooLarge) {
		return err
	}
	return fmt.Errorf("%w: %s: %w", ErrDamaged, f.Name, err)
}

func numberOf(name string) int {
	base := strings.TrimLeftFunc(path.Base(name), notDigit)
	if end := strings.IndexFunc(base, notDigit); end >= 0 {
		base = base[:end]
	}
	n, _ := strconv.Atoi(base) // the first part has none
	return n
}

func notDigit(r rune) bool { return r < '0' || r > '9' }

// reader reads the parts of one document.
type reader struct {
	left    int64 // bytes that may still be unpacked
	free    bool  // OpenDocument: characters stand in paragraphs, not in their own elements
	strings []string
	out     strings.Builder
}

// open unpacks a part as far as the bound goes.
func (r *reader) open(f *zip.File) (*xml.Decoder, func(), error) {
	in, err := f.Open()
	if err != nil {
		return nil, nil, err
	}
	raw := bufio.NewReader(&bounded{in, &r.left})
	text := io.Reader(raw)
	begin, _ := raw.Peek(4) // an error is met again
	if e := utf16Of(begin); e != nil {
		text = e.NewDecoder().Reader(raw)
	}
	d := xml.NewDecoder(text)
	d.Strict = false
	d.CharsetReader = func(label string, in io.Reader) (io.Reader, error) {
		if strings.HasPrefix(strings.ToLower(label), "utf-16") {
			return in, nil // decoded above
		}
		e, err := htmlindex.Get(label)
		if err != nil {
			return nil, err
		}
		return e.NewDecoder().Reader(in), nil
	}
	return d, func() { _ = in.Close() }, nil
}

// utf16Of returns the encoding of XML that begins so, where it is UTF-16.
func utf16Of(begin []byte) encoding.Encoding {
	switch {
	case bytes.HasPrefix(begin, []byte("\xff\xfe")), bytes.HasPrefix(begin, []byte("<\x00")):
		return utf.UTF16(utf.LittleEndian, utf.UseBOM)
	case bytes.HasPrefix(begin, []byte("\xfe\xff")), bytes.HasPrefix(begin, []byte("\x00<")):
		return utf.UTF16(utf.BigEndian, utf.UseBOM)
	}
	return nil
}

// bounded reads until the bytes left are used up.
type bounded struct {
	io.Reader
	left *int64
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if *b.left <= 0 {
		return 0, ErrTooLarge
	}
	n, err := b.Reader.Read(p[:min(int64(len(p)), *b.left)])
	*b.left -= int64(n)
	return n, err
}

// shared reads the table of texts that the cells of a workbook refer to.
func (r *reader) shared(archive *zip.Reader) (*zip.File, error) {
	for _, f := range archive.File {
		if f.Name != "xl/sharedStrings.xml" {
			continue
		}
		d, end, err := r.open(f)
		if err != nil {
			return f, err
		}
		defer end()
		var one strings.Builder
		return f, walk(d, func() bool { return false }, func(token xml.Token, inside []string) {
			switch t := token.(type) {
			case xml.CharData:
				if slices.Contains(inside, "t") && !slices.Contains(inside, "rPh") {
					one.Write(t)
				}
			case xml.EndElement:
				if t.Name.Local == "si" {
					r.strings = append(r.strings, one.String())
					one.Reset()
				}
			}
		})
	}
	return nil, nil
}

// ends are the elements that end a line or a cell.
var ends = map[string]string{
	"p": "\n", "h": "\n", "br": "\n", "line-break": "\n", "tab": "\t", "tc": "\t", "table-cell": "\t", "tr": "\n",
	"table-row": "\n", "row": "\n", "c": "\t",
}

// part writes the text of one part.
func (r *reader) part(f *zip.File) error {
	d, end, err := r.open(f)
	if err != nil {
		return err
	}
	defer end()
	kind := "" // of the cell
	enough := func() bool { return r.out.Len() > limit.DocumentText }
	return walk(d, enough, func(token xml.Token, inside []string) {
		switch t := token.(type) {
		case xml.StartElement:
			if t.Name.Local == "c" {
				kind = ""
				for _, a := range t.Attr {
					if a.Name.Local == "t" {
						kind = a.Value
					}
				}
			}
		case xml.CharData:
			r.text(string(t), kind, inside)
		case xml.EndElement:
			r.out.WriteString(ends[t.Name.Local])
		}
	})
}

// text writes what a person sees of some characters.
func (r *reader) text(t, kind string, inside []string) {
	last := ""
	if len(inside) > 0 {
		last = inside[len(inside)-1]
	}
	switch {
	case last == "v" && kind == "s":
		if n, err := strconv.Atoi(strings.TrimSpace(t)); err == nil && n >= 0 && n < len(r.strings) {
			r.out.WriteString(r.strings[n])
		}
	case r.free && (slices.Contains(inside, "p") || slices.Contains(inside, "h")), !r.free && (last == "t" || last == "v"):
		r.out.WriteString(t)
	}
}

// maxDepth bounds how deep elements lie in each other.
const maxDepth = 256

// walk calls on with each token and the local names of the elements around it.
// It ends early when enough says so.
func walk(d *xml.Decoder, enough func() bool, on func(token xml.Token, inside []string)) error {
	var inside []string
	for !enough() {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			inside = append(inside, t.Name.Local)
			if len(inside) > maxDepth {
				return ErrTooLarge
			}
			on(t, inside)
		case xml.EndElement:
			if len(inside) > 0 {
				inside = inside[:len(inside)-1]
			}
			on(t, inside)
		case xml.CharData:
			on(t, inside)
		}
	}
	return nil
}

// Package pdftest writes PDF files for tests: no more than a reader of text looks
// at, good ones and hostile ones.
package pdftest

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"strings"
)

// File returns a PDF of objects. The first is the catalog; trailer is added to the last dictionary.
func File(trailer string, objects ...string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var at []int
	for i, o := range objects {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	begin := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer\n<</Size %d /Root 1 0 R %s>>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, trailer, begin)
	return b.Bytes()
}

// Stream returns a stream object with entries in its dictionary.
func Stream(entries string, data []byte) string {
	return fmt.Sprintf("<<%s /Length %d>>\nstream\n%s\nendstream", entries, len(data), data)
}

// Flate returns a compressed stream object.
func Flate(entries string, data []byte) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(data) // a buffer takes all
	_ = w.Close()
	return Stream(entries+" /Filter /FlateDecode", b.Bytes())
}

// Helvetica is a font with names for its codes.
const Helvetica = "<</Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding>>"

// Pages returns a PDF with a page for each stream of operators; resources are
// those of every page.
func Pages(resources string, streams ...string) []byte {
	var kids strings.Builder
	objects := []string{"<</Type /Catalog /Pages 2 0 R>>", ""}
	for _, s := range streams {
		fmt.Fprintf(&kids, "%d 0 R ", len(objects)+1)
		objects = append(objects, fmt.Sprintf("<</Type /Page /Parent 2 0 R /Contents %d 0 R>>", len(objects)+2), s)
	}
	objects[1] = fmt.Sprintf("<</Type /Pages /Kids [%s] /Count %d /Resources <<%s>>>>", kids.String(), len(streams),
		resources)
	return File("", objects...)
}

// Saying returns a PDF with a page for each text.
func Saying(texts ...string) []byte {
	var streams []string
	for _, text := range texts {
		streams = append(streams, Flate("", []byte("BT /F 12 Tf 72 700 Td ("+text+") Tj ET")))
	}
	return Pages("/Font <</F "+Helvetica+">>", streams...)
}

// Scanned is a page that shows a picture.
func Scanned() []byte { return Pages("", Stream("", []byte("q 100 0 0 100 0 0 cm /Im Do Q"))) }

// Encrypted wants a password, with a cipher of 2008 and later.
func Encrypted() []byte {
	return File("/Encrypt <</Filter /Standard /V 5 /R 6 /Length 256>> /ID [(a) (a)]", "<</Type /Catalog>>")
}

// Locked wants a password, with an older cipher.
func Locked() []byte {
	word := strings.Repeat("x", 32)
	return File("/Encrypt <</Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O ("+word+") /U ("+word+")>> /ID [(a) (a)]",
		"<</Type /Catalog>>")
}

// Circle has tables that name each other as the one before.
func Circle() []byte {
	plain := File("", "<</Type /Catalog>>")
	begin := bytes.Index(plain, []byte("xref\n"))
	return File(fmt.Sprintf("/Prev %d", begin), "<</Type /Catalog>>")
}

// Bomb unpacks to one string of some bytes.
func Bomb(size int) []byte { return Pages("", many("BT (", 'A', size, ") Tj")) }

// Nested has lists in each other.
func Nested(levels int) []byte { return Pages("", many("", '[', levels, "")) }

// many returns a compressed stream object of one byte many times, with something before and
// after it. A piece of equal bytes is compressed once and written again and again: to
// compress them all takes longer than what is tested.
func many(before string, one byte, times int, after string) string {
	const size = 1 << 20
	piece := bytes.Repeat([]byte{one}, size)
	b := bytes.NewBuffer([]byte{0x78, 0xda}) // what zlib begins with
	w, _ := flate.NewWriter(b, flate.BestCompression)
	write := func(data []byte) []byte {
		from := b.Len()
		_, _ = w.Write(data) // a buffer takes all
		_ = w.Flush()
		return b.Bytes()[from:]
	}
	write([]byte(before))
	var again []byte // goes back into the piece before, which is the same
	for range min(2, times/size) {
		again = bytes.Clone(write(piece))
	}
	b.Write(bytes.Repeat(again, max(0, times/size-2)))
	write(piece[:times%size])
	write([]byte(after))
	_ = w.Close()

	sum := checksum{a: 1}
	for _, c := range []byte(before) {
		sum.add(c, 1)
	}
	sum.add(one, uint64(times))
	for _, c := range []byte(after) {
		sum.add(c, 1)
	}
	return Stream("/Filter /FlateDecode", binary.BigEndian.AppendUint32(b.Bytes(), uint32(sum.b<<16|sum.a)))
}

// checksum is Adler-32, which zlib ends with.
type checksum struct{ a, b uint64 }

// add adds a byte n times.
func (s *checksum) add(c byte, n uint64) {
	const prime = 65521
	s.b = (s.b + n*s.a + n*(n+1)/2*uint64(c)) % prime
	s.a = (s.a + n*uint64(c)) % prime
}

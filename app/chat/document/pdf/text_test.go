package pdf_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"conclave/app/base/limit"
	"conclave/app/chat/document"
	"conclave/app/chat/document/pdf"

	. "conclave/app/chat/document/pdftest"
)

const helvetica = "/Font <</F " + Helvetica + ">>"

func TestTextOfAPDFIsReadInPagesLinesAndWords(t *testing.T) {
	composite := `/Font <</C <</Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode 9 0 R
		/DescendantFonts [<</Subtype /CIDFontType2 /DW 500 /W [1 [600 600] 3 4 700]>>]>>>>`
	toUnicode := Flate("", []byte(`/CIDInit /ProcSet findresource begin 12 dict begin begincmap
		/CIDSystemInfo <</Registry (Adobe) /Ordering (UCS) /Supplement 0>> def /CMapName /X def
		1 begincodespacerange <0000> <FFFF> endcodespacerange
		2 beginbfchar <0001> <4E2D> <0002> <00660066> endbfchar
		2 beginbfrange <0003> <0005> <0061> <0006> <0007> [<D83DDE00> <00DF>] endbfrange
		endcmap CMapName currentdict /CMap defineresource pop end end`))
	many := File("", "<</Type /Catalog /Pages 2 0 R>>", "<</Type /Pages /Kids [3 0 R] /Count 1>>",
		"<</Type /Page /Contents [4 0 R 5 0 R] /Resources <<"+composite+" /XObject <</X 6 0 R>>>>>>",
		Stream("", []byte("BT /C 10 Tf 1 0 0 1 50 500 Tm [<0001> 10 <0002>] TJ")),
		Flate("", []byte("<000300040005> Tj <00060007> Tj ET /X Do")),
		Flate("/Type /XObject /Subtype /Form /Resources <<"+helvetica+">>",
			[]byte("BT /F 10 Tf 50 400 Td (in a form) Tj ET")),
		"null", "null", toUnicode)
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"two pages": {Saying("One \\(and\\) two", "Gr\\374n"), "[page 1]\nOne (and) two\n[page 2]\nGrün"},
		"lines and words": {Pages(helvetica, Stream("", []byte(`BT /F 10 Tf 14 TL 50 700 Td [(Wo) 20 (rd) -300 (next)] TJ T* (second line) Tj (third) '
			0 -30 TD (fourth) Tj 200 0 Td (cell) Tj ET q 2 0 0 2 0 0 cm BT /F 10 Tf 25 250 Td (large) Tj ET Q`))), "[page 1]\nWord next\nsecond line\nthird\nfourth\tcell\nlarge"},
		"composite fonts and forms": {many, "[page 1]\n中ffabc😀ß\nin a form"},
		"a page without text": {
			Pages(helvetica, Stream("", []byte("0 0 m")), Stream("", []byte("BT /F 9 Tf (x) Tj ET"))),
			"[page 1]\n[no text on this page]\n\n[page 2]\nx",
		},
		"a page that is damaged": {
			Pages(helvetica, Stream("/Filter /Nothing", []byte("x")), Stream("", []byte("BT /F 9 Tf (x) Tj ET"))),
			"[page 1]\n[the rest of this page is damaged]\n\n[page 2]\nx",
		},
		"a newer version":      {bytes.Replace(Saying("new"), []byte("%PDF-1.4"), []byte("%PDF-2.0"), 1), "[page 1]\nnew"},
		"control characters":   {Saying("a\\001\\033b"), "[page 1]\nab"},
		"zeros behind the end": {append(Saying("padded"), make([]byte, 500)...), "[page 1]\npadded"},
	} {
		said, err := pdf.Text(c.data)
		if err != nil || said.Cut != "" || said.Text != c.want {
			t.Errorf("%s: got %q, %v, %v\nwant %q", name, said.Text, said.Cut, err, c.want)
		}
	}
}

func TestAPDFIsReadAsFarAsItsBounds(t *testing.T) {
	first := len("[page 1]\n")
	for extra, want := range map[int]document.Cut{0: "", 1: document.CutText} {
		said, err := pdf.Text(Saying(strings.Repeat("x", limit.DocumentText-first+extra)))
		if err != nil || said.Cut != want || len(said.Text) != limit.DocumentText {
			t.Errorf("%d more characters: %d, %q, %v", extra, len(said.Text), said.Cut, err)
		}
	}
	for extra, want := range map[int]document.Cut{0: "", 1: document.CutPages} {
		said, err := pdf.Text(Saying(slices.Repeat([]string{"x"}, limit.PDFPages+extra)...))
		if err != nil || said.Cut != want || strings.Count(said.Text, "[page ") != limit.PDFPages {
			t.Errorf("%d more pages: %d, %q, %v", extra, strings.Count(said.Text, "[page "), said.Cut, err)
		}
	}
}

func TestWhatIsNoTextSaysWhy(t *testing.T) {
	good := Saying("text")
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"scanned":      {Scanned(), document.ErrNoText},
		"encrypted":    {Encrypted(), document.ErrEncrypted},
		"locked":       {Locked(), document.ErrEncrypted},
		"empty":        {nil, document.ErrDamaged},
		"another file": {bytes.Repeat([]byte("GIF89a"), 100), document.ErrDamaged},
		"cut in half":  {good[:len(good)/2], document.ErrDamaged},
		"no pages":     {File("", "<</Type /Catalog>>"), document.ErrDamaged},
		"pages in a circle": {
			File("", "<</Pages 2 0 R>>", "<</Type /Pages /Kids [2 0 R 2 0 R 2 0 R]>>"), document.ErrDamaged,
		},
		"a form in itself":   {Pages("/XObject <</X 4 0 R>>", Stream("/Subtype /Form", []byte("/X Do"))), document.ErrNoText},
		"a length in itself": {Pages("", "<</Length 4 0 R>>\nstream\nx\nendstream"), document.ErrNoText},
		"a table of huge number": {
			bytes.Replace(good, []byte("xref\n0 "), []byte("xref\n9223372036854775807 "), 1), document.ErrDamaged,
		},
		"a negative table": {bytes.Replace(good, []byte("xref\n0 "), []byte("xref\n-9 "), 1), document.ErrDamaged},
		"huge operands": {
			Pages("", Stream("", []byte("BT 9e999 0 0 9e999 1e308 1e308 Tm 99999999999999999999 Td ET"))), document.ErrDamaged,
		},
	} {
		if said, err := pdf.Text(c.data); !errors.Is(err, c.want) || said.Text != "" {
			t.Errorf("%s: %q, %v; want %v", name, said.Text, err, c.want)
		}
	}
}

func TestAReaderTakesAtMostItsBound(t *testing.T) {
	for _, size := range []int64{-1, limit.PDF + 1} {
		var out bytes.Buffer
		if err := pdf.Serve(strings.NewReader(fmt.Sprintf("%d\n", size)), &out); err == nil || out.Len() > 0 {
			t.Errorf("%d bytes: %v, %q", size, err, out.String())
		}
	}
}

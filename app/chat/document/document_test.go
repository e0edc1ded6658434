package document_test

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"

	"conclave/app/base/limit"
	"conclave/app/chat/document"
)

// zipped returns an archive of files, each a name and its text.
func zipped(t *testing.T, files ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		f, err := w.Create(files[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(files[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// read returns what a model is shown of a file.
func read(t *testing.T, name string, data []byte) document.Content {
	return document.Reader{}.Read(t.Context(), name, data)
}

func TestAModelGetsTheTextOfADocument(t *testing.T) {
	for name, c := range map[string]struct {
		files []string
		want  string
	}{
		"a.docx": {
			[]string{"[Content_Types].xml", "<x/>", "word/document.xml", `<w:document xmlns:w="w"><w:body><w:p><w:r><w:t>One &amp; </w:t></w:r><w:r><w:t xml:space="preserve">two</w:t></w:r></w:p>
				<w:p><w:r><w:instrText>HYPERLINK "https://x"</w:instrText></w:r><w:tab/><w:r><w:t>three</w:t></w:r></w:p></w:body></w:document>`},
			"One & two\n\tthree",
		},
		"b.PPTX": {
			[]string{
				"ppt/slides/slide10.xml", `<p:sld><a:p><a:r><a:t>ten</a:t></a:r></a:p></p:sld>`, "ppt/slides/slide2.xml",
				`<p:sld><a:p><a:r><a:t>two</a:t></a:r></a:p></p:sld>`,
			},
			"[slide 1]\ntwo\n\n[slide 2]\nten",
		},
		"c.xlsx": {
			[]string{
				"xl/worksheets/sheet1.xml",
				`<worksheet><row><c t="s"><v>1</v></c><c><v>3.5</v></c><c t="s"><v>99</v></c></row><row><c t="inlineStr"><is><t>in</t></is></c></row></worksheet>`,
				"xl/sharedStrings.xml", `<sst><si><t>a</t></si><si><r><t>b</t></r><r><t>c</t></r></si></sst>`,
			},
			"bc\t3.5\t\t\nin",
		},
		"d.odt": {
			[]string{
				"mimetype", "application/vnd.oasis.opendocument.text", "content.xml",
				`<office:document-content><office:styles>no</office:styles><office:body><office:text><text:h>Head</text:h><text:p>One <text:span>two</text:span></text:p></office:text></office:body></office:document-content>`,
			},
			"Head\nOne two",
		},
	} {
		want := document.Content{Text: "File " + name + ", its text:\n\n" + c.want}
		want.File = document.Look(name, zipped(t, c.files...))
		if got := read(t, name, zipped(t, c.files...)); got.Text != want.Text ||
			got.Kind != document.Office || got.Lost != "" {
			t.Errorf("%s: got %+v; want %+v", name, got, want)
		}
		// The bytes decide, whatever it is called.
		if got := document.Look("x.bin", zipped(t, c.files...)); got != want.File {
			t.Errorf("%s, called x.bin, is %+v", name, got)
		}
	}
}

func TestADocumentIsReadAsFarAsItsBounds(t *testing.T) {
	long := func(n int) []byte {
		return zipped(t, "word/document.xml", "<d><t>"+strings.Repeat("x", n)+"</t></d>")
	}
	head := len("File a.docx, its text:\n\n")
	if got := read(t, "a.docx", long(limit.DocumentText)); got.Lost != "" ||
		len(got.Text) != head+limit.DocumentText {
		t.Errorf("the longest: %d bytes, %q", len(got.Text), got.Lost)
	}
	if got := read(t, "a.docx", long(limit.DocumentText+1)); got.Lost !=
		"Only the first 256 KiB of the text of a.docx are sent; the rest is left out." ||
		!strings.HasSuffix(got.Text, "xx\n[the rest of a.docx is left out: a model gets at most 256 KiB of a document]") {
		t.Errorf("one longer: %d bytes, %q", len(got.Text), got.Lost)
	}
	bomb := zipped(t, "word/document.xml", "<d>"+strings.Repeat(" ", limit.DocumentUnpacked)+"</d>")
	if len(bomb) > 1<<20 {
		t.Fatalf("the bomb has %d bytes", len(bomb))
	}
	for name, data := range map[string][]byte{
		"one that unpacks to too much": bomb,
		"one nested deep":              zipped(t, "word/document.xml", strings.Repeat("<p>", 1000)),
	} {
		if got := read(t, "a.docx", data); got.Lost != "a.docx is not read: it unpacks to more than 32 MiB." {
			t.Errorf("%s: %q", name, got.Lost)
		}
	}
	for name, data := range map[string][]byte{
		"no archive": []byte("PK\x03\x04\x00 no"), "no text": zipped(t, "x.xml", "<a/>"),
		"broken": zipped(t, "word/document.xml", "<a"),
	} {
		if got := read(t, "a.docx", data); got.Lost != "a.docx is not read: it is damaged." {
			t.Errorf("%s: %q", name, got.Lost)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, name := range []string{"a.docx", "a.xlsx", "a.pptx", "a.odt"} {
		f.Add(name, []byte("<a><p><t>x</t></p>"))
	}
	f.Fuzz(func(t *testing.T, name string, content []byte) {
		data := zipped(t, "word/document.xml", string(content), "xl/worksheets/sheet1.xml", string(content),
			"xl/sharedStrings.xml", string(content), "content.xml", string(content))
		if got := read(t, name, data); len(got.Text) > limit.DocumentText+1000 {
			t.Errorf("%d bytes", len(got.Text))
		}
		read(t, name, content)
	})
}

package document_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"conclave/app/chat/document"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

func TestThePictureFormatIsThatOfTheBytes(t *testing.T) {
	canvas := image.NewGray(image.Rect(0, 0, 3, 2))
	var p, j, g bytes.Buffer
	for _, err := range []error{png.Encode(&p, canvas), jpeg.Encode(&j, canvas, nil), gif.Encode(&g, canvas, nil)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"png.jpg": {p.Bytes(), "image/png"}, "jpeg.png": {j.Bytes(), "image/jpeg"}, "gif.txt": {g.Bytes(), "image/gif"},
		"webp": {[]byte("RIFF\x24\x00\x00\x00WEBPVP8 \x18\x00\x00\x00"), "image/webp"},
	} {
		got := read(t, name, c.data)
		if got.Kind != document.Picture || got.MIME != c.want || !bytes.Equal(got.Picture, c.data) ||
			got.Text+got.Lost != "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestPicturesThatNoModelIsShownAreNamed(t *testing.T) {
	for want, data := range map[string]string{
		"HEIC": "\x00\x00\x00\x24ftypheic\x00\x00\x00\x00mif1heic",
		"AVIF": "\x00\x00\x00\x20ftypavif\x00\x00\x00\x00avifmif1",
		"TIFF": "II*\x00\x08\x00\x00\x00",
		"BMP": "BM\x9a\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00\x02\x00\x00\x00" +
			"\x02\x00\x00\x00",
	} {
		got := read(t, "IMG_1.jpg", []byte(data))
		if got.Kind != document.Unseen || got.Format != want ||
			got.Lost != "IMG_1.jpg is not shown: models are shown PNG, JPEG, GIF and WebP, not "+want+
				". Save it as JPEG or PNG." {
			t.Errorf("%s: %+v", want, got)
		}
	}
	var wide bytes.Buffer
	if err := png.Encode(&wide, image.NewGray(image.Rect(0, 0, 9000, 1))); err != nil {
		t.Fatal(err)
	}
	if got := read(t, "w.png", wide.Bytes()); got.Lost !=
		"w.png is not shown: a picture may have at most 8000 pixels a side. Save it smaller." {
		t.Errorf("%+v", got)
	}
	large := append(bytes.Clone(wide.Bytes()), make([]byte, document.MaxPicture)...)
	if got := read(t, "l.png", large); got.Picture != nil ||
		got.Lost != "l.png is not shown: a picture may have at most 3.75 MB. Save it smaller." {
		t.Errorf("%s, %s", got.Lost, got.Text)
	}
}

func TestScriptsAndSettingsAreText(t *testing.T) {
	for _, name := range []string{
		"a.yaml", "a.sql", "a.sh", "a.rb", "a.php", "a.ipynb", "a.svg", "a.eml", "a.pem", "a.mts", "a.mdx", "a.rtf", "a.toml",
		"Makefile", ".env", "a.pdf", "a.docx", "a.png", "a.zip", "a", "",
	} {
		if got := read(t, name, []byte("key: value\n")); got.Kind != document.Text || got.Lost != "" ||
			!strings.HasSuffix(got.Text, ":\n\nkey: value\n") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestWhatIsNotReadIsSaid(t *testing.T) {
	for _, c := range []struct{ name, data, lost, text string }{
		{
			"a.zip", "PK\x03\x04\x00\x00",
			"a.zip is not read: it is neither a text, a picture, a PDF nor an office " +
				"document. The model gets its name only.",
			"[file a.zip, application/zip, 6 bytes: this model cannot be shown it]",
		},
		{
			"a.wav", "RIFF\x00\x00\x00\x00WAVEfmt ",
			"a.wav is not read: it is neither a text, a picture, a PDF nor an " +
				"office document. The model gets its name only.",
			"[file a.wav, audio/wave, 16 bytes: this model cannot be shown it]",
		},
		{
			"a.xls", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\x00\x00",
			"a.xls is not read: it is encrypted, or in a format of Office before 2007.",
			"[file a.xls, application/x-ole-storage, 10 bytes: it cannot be read, since it is encrypted, or in a format of " +
				"Office before 2007]",
		},
		{
			"a.txt", strings.Repeat("größer ", 9) + "\xff\n",
			"a.txt is damaged: 1 of its characters cannot be read, and are left out.",
			"File a.txt:\n\n" + strings.Repeat("größer ", 9) + "\uFFFD\n",
		},
		{"blank.txt", " \n\n", "There is no text in blank.txt.", "File blank.txt:\n\n \n\n"},
		{"s.csv", "\x95\x69\x96\xbc,1\n", "", "File s.csv, read as Shift_JIS:\n\n品名,1\n"},
	} {
		if got := read(t, c.name, []byte(c.data)); got.Lost != c.lost || got.Text != c.text {
			t.Errorf("%s: %q, %q", c.name, got.Lost, got.Text)
		}
	}
	long := strings.Repeat("é", 200<<10)
	got := read(t, "long.txt", []byte(long))
	if got.Lost != "Only the first 256 KiB of the text of long.txt are sent; the rest is left out." ||
		!strings.HasPrefix(got.Text, "File long.txt:\n\né") || !strings.HasSuffix(got.Text,
		"é\n[the rest of long.txt is left out: a model gets at most 256 KiB of a document]") {
		t.Errorf("a long text: %q, ends %q", got.Lost, got.Text[len(got.Text)-90:])
	}
}

func TestADocumentMayHaveXMLInAnyEncoding(t *testing.T) {
	xml := func(label string) string {
		return `<?xml version="1.0" encoding="` + label + `"?><d><t>Größe – €</t></d>`
	}
	for label, encoder := range map[string]interface{ String(string) (string, error) }{
		"UTF-16":       unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder(),
		"utf-16":       unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM).NewEncoder(),
		"windows-1252": charmap.Windows1252.NewEncoder(),
	} {
		raw, err := encoder.String(xml(label))
		if err != nil {
			t.Fatal(err)
		}
		if got := read(t, "a.docx", zipped(t, "word/document.xml", raw)); got.Lost != "" ||
			!strings.HasSuffix(got.Text, "\n\nGröße – €") {
			t.Errorf("%s: %+v", label, got)
		}
	}
}

func TestAPictureIsTurnedAsItWasHeld(t *testing.T) {
	// Red at the left of a picture of 16 by 8, blue at its right.
	canvas := image.NewRGBA(image.Rect(0, 0, 16, 8))
	for i := range 16 * 8 {
		c := color.RGBA{R: 255, A: 255}
		if i%16 >= 8 {
			c = color.RGBA{B: 255, A: 255}
		}
		canvas.Set(i%16, i/16, c)
	}
	var plain bytes.Buffer
	if err := jpeg.Encode(&plain, canvas, nil); err != nil {
		t.Fatal(err)
	}
	for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for how, red := range map[uint16]string{
			1: "left", 2: "right", 3: "right", 4: "left", 5: "top", 6: "top", 7: "bottom", 8: "bottom", 9: "left", 0: "left",
		} {
			data := held(plain.Bytes(), order, how)
			got := read(t, "a.jpg", data)
			if same := bytes.Equal(got.Picture, data); same != (how < 2 || how > 8) || got.Lost != "" {
				t.Errorf("held as %d: unchanged %v, %q", how, same, got.Lost)
			}
			picture, err := jpeg.Decode(bytes.NewReader(got.Picture))
			if err != nil {
				t.Fatal(err)
			}
			size := picture.Bounds().Size()
			if upright := size == image.Pt(8, 16); upright != (how >= 5 && how <= 8) {
				t.Errorf("held as %d: %v", how, size)
			}
			for side, at := range map[string]image.Point{
				"left": {1, size.Y / 2}, "right": {size.X - 2, size.Y / 2},
				"top": {size.X / 2, 1}, "bottom": {size.X / 2, size.Y - 2},
			} {
				if r, _, b, _ := picture.At(at.X, at.Y).RGBA(); side == red && r < 3*b {
					t.Errorf("held as %d, it is not red at the %s", how, side)
				}
			}
		}
	}
}

func TestAPictureTooLargeToTurnIsSentAsItIs(t *testing.T) {
	var plain bytes.Buffer
	if err := jpeg.Encode(&plain, image.NewGray(image.Rect(0, 0, 5100, 5000)), &jpeg.Options{Quality: 1}); err != nil {
		t.Fatal(err)
	}
	data := held(plain.Bytes(), binary.BigEndian, 6)
	if got := read(t, "a.jpg", data); !bytes.Equal(got.Picture, data) ||
		got.Lost != "Some models see a.jpg lying on its side: only pictures of at most 25 megapixels are turned." {
		t.Errorf("%d bytes, %q", len(got.Picture), got.Lost)
	}
}

// held returns a JPEG with a note of how it was held.
func held(data []byte, order binary.AppendByteOrder, how uint16) []byte {
	mark := map[binary.AppendByteOrder]string{binary.LittleEndian: "II", binary.BigEndian: "MM"}[order]
	exif := append([]byte("Exif\x00\x00"), mark...)
	exif = order.AppendUint16(exif, 42)
	exif = order.AppendUint32(exif, 8)
	exif = order.AppendUint16(exif, 1)
	exif = order.AppendUint16(exif, 0x0112)
	exif = order.AppendUint16(exif, 3)
	exif = order.AppendUint32(exif, 1)
	exif = order.AppendUint16(exif, how)
	exif = append(exif, 0, 0, 0, 0, 0, 0)
	out := binary.BigEndian.AppendUint16([]byte("\xff\xd8\xff\xe1"), uint16(len(exif)+2))
	return append(append(out, exif...), data[2:]...)
}

func FuzzReadersOfPictures(f *testing.F) {
	f.Add([]byte("\xff\xd8\xff\xe1\x00\x22Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03" +
		"\x00\x00\x00\x01\x00\x06"))
	f.Fuzz(func(t *testing.T, data []byte) { document.Reader{}.Read(context.Background(), "a.jpg", data) })
}

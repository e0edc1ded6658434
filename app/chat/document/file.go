package document

import (
	"archive/zip"
	"bytes"
	"net/http"
	"path"
	"strings"
)

// Kind is in which way a model is shown a file.
type Kind string

// The kinds of files.
const (
	Picture Kind = "picture" // PNG, JPEG, GIF, WebP: a model that sees is shown it
	Unseen  Kind = "unseen"  // a picture in a format that no model is shown
	PDFFile Kind = "pdf"     // read for its text, as are the next two
	Office  Kind = "office"
	Text    Kind = "text"
	Other   Kind = "other" // a model is told that it is there
)

// File describes what a file is.
type File struct {
	Kind   Kind
	MIME   string // of the content, "image/png"
	Format string // the name of a picture's format, "HEIC"; the ending of an office document, ".docx"
}

// pictures are the formats of pictures, by how their files begin.
var pictures = []struct {
	at     int
	begins string
	file   File
}{
	{0, "\x89PNG\r\n\x1a\n", File{Picture, "image/png", "PNG"}},
	{0, "\xff\xd8\xff", File{Picture, "image/jpeg", "JPEG"}},
	{0, "GIF87a", File{Picture, "image/gif", "GIF"}},
	{0, "GIF89a", File{Picture, "image/gif", "GIF"}},
	{8, "WEBPVP8", File{Picture, "image/webp", "WebP"}},
	{4, "ftypheic", File{Unseen, "image/heic", "HEIC"}},
	{4, "ftypheix", File{Unseen, "image/heic", "HEIC"}},
	{4, "ftypheim", File{Unseen, "image/heic", "HEIC"}},
	{4, "ftypheis", File{Unseen, "image/heic", "HEIC"}},
	{4, "ftyphevc", File{Unseen, "image/heic", "HEIC"}},
	{4, "ftyphevx", File{Unseen, "image/heic", "HEIC"}},
	{4, "ftypmif1", File{Unseen, "image/heif", "HEIF"}},
	{4, "ftypmsf1", File{Unseen, "image/heif", "HEIF"}},
	{4, "ftypavif", File{Unseen, "image/avif", "AVIF"}},
	{4, "ftypavis", File{Unseen, "image/avif", "AVIF"}},
	{0, "II*\x00", File{Unseen, "image/tiff", "TIFF"}},
	{0, "MM\x00*", File{Unseen, "image/tiff", "TIFF"}},
	{0, "\x00\x00\x00\x0cJXL ", File{Unseen, "image/jxl", "JPEG XL"}},
	{0, "\x00\x00\x00\x0cjP  ", File{Unseen, "image/jp2", "JPEG 2000"}},
	{0, "8BPS\x00\x01", File{Unseen, "image/vnd.adobe.photoshop", "Photoshop"}},
	{0, "\x00\x00\x01\x00", File{Unseen, "image/x-icon", "icon"}},
}

// packed is how an office document begins that is encrypted, or of a format before 2007.
const packed = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

// Look returns what a file is by its bytes. Its name decides only what a damaged document
// was to be, and the type of a text.
func Look(name string, data []byte) File {
	for _, p := range pictures {
		if len(data) > p.at && bytes.HasPrefix(data[p.at:], []byte(p.begins)) {
			return p.file
		}
	}
	if bytes.HasPrefix(data, []byte("BM")) && len(data) >= 26 && data[15] == 0 && data[16] == 0 && data[17] == 0 {
		return File{Unseen, "image/bmp", "BMP"}
	}
	if bytes.Contains(data[:min(len(data), 1024)], []byte("%PDF-")) {
		return File{PDFFile, "application/pdf", ""}
	}
	ending := strings.ToLower(path.Ext(name))
	switch {
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		if found := endingOf(data); found != "" {
			return File{Office, officeTypes[found], found}
		}
		if kinds()[ending] != nil {
			return File{Office, officeTypes[ending], ending}
		}
		return File{Other, "application/zip", ""}
	case bytes.HasPrefix(data, []byte(packed)) &&
		(kinds()[ending] != nil || ending == ".doc" || ending == ".xls" || ending == ".ppt"):
		return File{Office, "application/x-ole-storage", ""}
	}
	if e, _, _ := encodingOf(data); e != nil {
		return File{Text, textType(ending), ""}
	}
	switch {
	case kinds()[ending] != nil:
		return File{Office, officeTypes[ending], ending}
	case ending == ".pdf":
		return File{PDFFile, "application/pdf", ""}
	}
	sniffed, _, _ := strings.Cut(http.DetectContentType(data), ";")
	if strings.HasPrefix(sniffed, "text/") || strings.HasPrefix(sniffed, "image/") || sniffed == "application/pdf" {
		sniffed = "application/octet-stream"
	}
	return File{Other, sniffed, ""}
}

// endingOf returns the ending of the office document that a zip archive is, or "".
func endingOf(data []byte) string {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return ""
	}
	open := ""
	for _, f := range archive.File {
		switch {
		case f.Name == "mimetype":
			open = openEnding(f)
		case strings.HasPrefix(f.Name, "word/document") && kinds()[".docx"].MatchString(f.Name):
			return ".docx"
		case kinds()[".pptx"].MatchString(f.Name):
			return ".pptx"
		case kinds()[".xlsx"].MatchString(f.Name):
			return ".xlsx"
		}
	}
	return open
}

// openEnding returns the ending of an OpenDocument file, which names its type first.
func openEnding(f *zip.File) string {
	in, err := f.Open()
	if err != nil {
		return ""
	}
	defer in.Close()
	said := make([]byte, 80)
	n, _ := in.Read(said)
	for ending, mime := range officeTypes {
		if strings.HasPrefix(ending, ".o") && strings.TrimSpace(string(said[:n])) == mime {
			return ending
		}
	}
	return ""
}

var officeTypes = map[string]string{
	".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	".odt":  "application/vnd.oasis.opendocument.text",
	".ods":  "application/vnd.oasis.opendocument.spreadsheet",
	".odp":  "application/vnd.oasis.opendocument.presentation",
}

// textType returns the type of a text by the ending of its name.
func textType(ending string) string {
	switch ending {
	case ".html", ".htm":
		return "text/html"
	case ".xml", ".svg":
		return "text/xml"
	case ".json":
		return "application/json"
	case ".csv", ".css":
		return "text/" + ending[1:]
	case ".md", ".markdown":
		return "text/markdown"
	}
	return "text/plain"
}

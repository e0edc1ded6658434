package document

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // the formats that can be measured
	_ "image/jpeg"
	_ "image/png"
	"strings"

	"conclave/app/base/limit"
)

// Reader reads files for models. It alone decides how much of a file a model gets, and words the notes
// for the person about the rest. It is safe for concurrent use.
type Reader struct {
	// PDF returns the text of a PDF, or an error of this package; nil reads none. It is
	// asked for the same file again and again.
	PDF func(ctx context.Context, data []byte) (PDF, error)
}

// Content holds what a model is shown of one file.
type Content struct {
	File
	// Text stands for the file in words: its text, or a line that says why there is none.
	// It is empty for a picture that is shown.
	Text string
	// Picture holds the bytes of a picture that is shown.
	Picture []byte
	// Lost says to the person what of the file a model is not shown, in a sentence or two;
	// "" is nothing.
	Lost string
	// Passing says that Lost may not be so the next time.
	Passing bool
}

// Read returns what a model is shown of a file. The name must be clean: it stands in what
// the model and the person read.
func (r Reader) Read(ctx context.Context, name string, data []byte) Content {
	c := Content{File: Look(name, data)}
	if name == "" {
		name = "without a name"
	}
	switch c.Kind {
	case Picture:
		c.picture(name, data)
	case Unseen:
		c.lose(name, len(data), errUnseen(c.Format))
	case Text:
		text, encoding, cut, _ := decode(data, limit.DocumentText)
		head := "File " + name
		if encoding != utf8Name {
			head += ", read as " + encoding
		}
		c.said(name, head, text, cut, textCut)
	case Office:
		text, cut, err := officeText(c.Format, data)
		if err != nil {
			c.lose(name, len(data), err)
			break
		}
		c.said(name, "File "+name+", its text", text, cut, textCut)
	case PDFFile:
		c.pdf(ctx, r, name, data)
	default:
		c.lose(name, len(data), errOther)
	}
	return c
}

// What is lost of a text over limit.DocumentText, and of a PDF over limit.PDFPages.
var (
	textCut = loss{
		person: "Only the first 256 KiB of the text of NAME are sent; the rest is left out.",
		model:  "[the rest of NAME is left out: a model gets at most 256 KiB of a document]",
	}
	pagesCut = loss{
		person: "Only the first 1,000 pages of NAME are sent; the rest is left out.",
		model:  "[the rest of NAME is left out: a model gets at most 1,000 pages of a PDF]",
	}
)

// said puts a text, and what of it is left out.
func (c *Content) said(name, head, text string, cut bool, most loss) {
	if strings.TrimSpace(text) == "" {
		c.Lost = "There is no text in " + name + "."
	}
	c.Text = head + ":\n\n" + text
	if n := strings.Count(text, "\uFFFD"); n > 0 {
		c.Lost = fmt.Sprintf("%s is damaged: %d of its characters cannot be read, and are left out.", name, n)
	}
	if cut {
		c.Text += "\n" + strings.ReplaceAll(most.model, "NAME", name)
		c.Lost = strings.ReplaceAll(most.person, "NAME", name)
	}
}

// pdf has a PDF read.
func (c *Content) pdf(ctx context.Context, r Reader, name string, data []byte) {
	switch {
	case r.PDF == nil:
		c.lose(name, len(data), errOther)
		return
	case int64(len(data)) > limit.PDF:
		c.lose(name, len(data), errLargePDF)
		return
	}
	said, err := r.PDF(ctx, data)
	switch {
	case ctx.Err() != nil: // nobody waits for it any longer
		c.Text, c.Passing = "[file "+name+": not read]", true
	case err != nil:
		c.lose(name, len(data), err)
	default:
		most := textCut
		if said.Cut == CutPages {
			most = pagesCut
		}
		c.said(name, "File "+name+", its text", said.Text, said.Cut != "", most)
	}
}

// MaxPicture is the most bytes of a picture that a model is shown: what the strictest
// provider takes in one, 5 MB in base64.
const MaxPicture = 3_750_000

// maxPixels is the most pixels of a side that providers take.
const maxPixels = 8000

// picture looks at a picture of a format that models are shown.
func (c *Content) picture(name string, data []byte) {
	if len(data) > MaxPicture {
		c.lose(name, len(data), errLargePicture)
		return
	}
	if size, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil &&
		(size.Width > maxPixels || size.Height > maxPixels) { // one that cannot be measured is sent as it is
		c.lose(name, len(data), errWidePicture)
		return
	}
	upright, ok := upright(data)
	c.Picture = upright
	if !ok {
		c.Lost = "Some models see " + name + " lying on its side: " + errTurn.Error() + "."
	}
}

// lose says that nothing of a file is shown, and why.
func (c *Content) lose(name string, size int, err error) {
	why := lossOf(err)
	c.Passing = why.passing
	c.Lost = strings.ReplaceAll(why.person, "NAME", name)
	c.Text = strings.NewReplacer("NAME", name, "…", fmt.Sprintf("%s, %d bytes", c.MIME, size)).Replace(why.model)
}

// loss is why a file is not shown, in the words for a person and for a model.
type loss struct {
	person, model string
	passing       bool
}

// Why a file is not shown, beyond what reading a document can meet.
var (
	errLargePDF     = errors.New("the PDF is larger than is read")
	errLargePicture = errors.New("the picture is larger than a model is shown")
	errWidePicture  = errors.New("the picture is wider or higher than a model is shown")
	errTurn         = fmt.Errorf("only pictures of at most %d megapixels are turned", maxTurned/1_000_000)
	errOldOffice    = errors.New("it is encrypted, or in a format of Office before 2007")
	errOther        = errors.New("it is neither a text, a picture, a PDF nor an office document")
)

// errUnseen is of a picture in a format, by its name, that no model is shown.
type errUnseen string

// Error implements error.
func (e errUnseen) Error() string {
	return "models are shown PNG, JPEG, GIF and WebP, not " + string(e)
}

func lossOf(err error) loss {
	unread := func(why string) loss {
		return loss{person: "NAME is not read: " + why + ".", model: "[file NAME, …: it cannot be read, since " + why + "]"}
	}
	switch unseen, ok := errors.AsType[errUnseen](err); {
	case ok:
		return loss{
			person: "NAME is not shown: " + unseen.Error() + ". Save it as JPEG or PNG.",
			model:  "[picture NAME, …: models are shown PNG, JPEG, GIF and WebP]",
		}
	case errors.Is(err, errLargePicture):
		return loss{
			person: fmt.Sprintf("NAME is not shown: a picture may have at most %.2f MB. Save it smaller.", MaxPicture/1e6),
			model:  fmt.Sprintf("[picture NAME, …: a model can be shown at most %d]", MaxPicture),
		}
	case errors.Is(err, errWidePicture):
		return loss{
			person: fmt.Sprintf("NAME is not shown: a picture may have at most %d pixels a side. Save it smaller.", maxPixels),
			model: fmt.Sprintf("[picture NAME, …: it has more than %d pixels a side, more than a model can be shown]",
				maxPixels),
		}
	case errors.Is(err, errOther):
		return loss{
			person: "NAME is not read: " + err.Error() + ". The model gets its name only.",
			model:  "[file NAME, …: this model cannot be shown it]",
		}
	case errors.Is(err, errLargePDF):
		return loss{
			person: "NAME is not read: a PDF may have at most 32 MiB.",
			model:  "[file NAME, …: it is larger than 32 MiB, more than is read]",
		}
	case errors.Is(err, ErrTooLarge):
		return loss{
			person: "NAME is not read: it unpacks to more than 32 MiB.",
			model:  "[file NAME, …: it unpacks to more than 32 MiB, more than is read]",
		}
	case errors.Is(err, ErrTooMuch):
		return loss{
			person: "NAME is not read: reading it takes more than 10 s or 256 MiB of memory.",
			model:  "[file NAME, …: reading it takes more than 10 s or 256 MiB of memory]",
		}
	case errors.Is(err, errOldOffice):
		return unread(err.Error())
	case errors.Is(err, ErrEncrypted):
		return unread("it is encrypted")
	case errors.Is(err, ErrNoText):
		return unread("it has no text, only pictures such as scanned pages")
	case errors.Is(err, ErrDamaged):
		return unread("it is damaged")
	}
	why := unread("the program that reads PDFs could not be run")
	why.passing = true
	return why
}

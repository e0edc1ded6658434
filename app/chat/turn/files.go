package turn

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/chat/document"
	"conclave/app/model"
	"conclave/app/tool"
)

// Bounds of the pictures in one request: what all providers take together. Newer ones are
// sent before older ones.
const (
	maxPictures     = 20
	maxPictureBytes = 15 << 20
)

// NewAttachment returns a file that a person attaches, as what its bytes make it. A picture
// in a format that no model is shown is refused: kind invalid.
func NewAttachment(name string, data []byte) (chat.Media, error) {
	name = cleanName(name)
	file := document.Look(name, data)
	if file.Kind == document.Unseen {
		return chat.Media{}, fault.New(fault.Invalid, "turn.attach",
			fmt.Sprintf("%s is a %s picture, which no model can be shown.", name, file.Format),
			"Save it as JPEG or PNG, and attach that.")
	}
	return chat.Media{MIME: file.MIME, Name: name, Size: int64(len(data)), Data: data}, nil
}

// Lost returns a sentence for the person about what a model is not shown of an attached file, whose
// bytes are in m.Data, or "". It may take as long as reading a PDF.
func (r *Runner) Lost(ctx context.Context, m chat.Media) string {
	return r.o.Files.Read(ctx, m.Name, m.Data).Lost
}

// cleanName returns the name of a file as one line without hidden characters, since a model and a
// person read it.
func cleanName(name string) string { return tool.ShowLine(lineEnds.Replace(name)) }

// files shows a model the files of a chat in the requests of one turn. Use newFiles.
type files struct {
	reader document.Reader
	media  func(ctx context.Context, id string) ([]byte, error) // reads the log
	model  string
	vision bool              // the model sees pictures
	note   func(text string) // shows the person a sentence
	shown  map[fileKey]document.Content
	noted  map[string]bool // the notes of this turn

	// Of the request that is being built.
	turn  string               // that makes it
	sent  map[*chat.Media]bool // the pictures that it may hold
	saved map[string]bool      // the notes of the chat's messages
	moved bool                 // another model gave the answer before
}

// newFiles returns the files of a chat for a model.
func newFiles(reader document.Reader, log Log, name string, can model.Features, note func(text string)) files {
	return files{
		reader: reader, media: log.Media, model: name, vision: can.Vision, note: note,
		shown: map[fileKey]document.Content{}, noted: map[string]bool{},
	}
}

type fileKey struct{ id, name string }

// begin prepares for a request from a path, in a turn.
func (f *files) begin(ctx context.Context, turn string, path []chat.Message) {
	f.turn, f.sent, f.saved, f.moved = turn, f.newest(ctx, path), map[string]bool{}, false
	for i := range path {
		for _, n := range path[i].Notes {
			f.saved[n.Text] = true
		}
	}
	for _, m := range slices.Backward(path) {
		if m.Role == chat.RoleAssistant {
			f.moved = m.Model != f.model
			break
		}
	}
}

// read returns what a model is shown of a file whose bytes m has.
func (f *files) read(ctx context.Context, m chat.Media) document.Content {
	c := f.reader.Read(ctx, cleanName(m.Name), m.Data)
	if !c.Passing {
		f.shown[fileKey{m.ID, m.Name}] = c
	}
	return c
}

// content returns what a model is shown of a file, which it reads from the log; not ok: the file is no
// longer there.
func (f *files) content(ctx context.Context, m chat.Media) (c document.Content, ok bool) {
	if c, ok = f.shown[fileKey{m.ID, m.Name}]; ok {
		return c, true
	}
	if m.Data == nil {
		var err error
		if m.Data, err = f.media(ctx, m.ID); err != nil {
			return c, false
		}
	}
	return f.read(ctx, m), true
}

// part returns a media part of a turn with its bytes, a text file as its text, or a line about what the
// model is not shown. What is lost becomes a note, unless a message of the chat has it.
func (f *files) part(ctx context.Context, turn string, p chat.Part) chat.Part {
	m := *p.Media
	name, fresh := cleanName(m.Name), turn == f.turn
	if name == "" {
		name = "without a name"
	}
	line := func(kind, why string) chat.Part {
		return chat.TextPart(fmt.Sprintf("[%s %s, %s, %d bytes: %s]", kind, name, m.MIME, m.Size, why))
	}
	blind := func() chat.Part {
		if fresh || f.moved {
			shown := name
			if cleanName(m.Name) == "" {
				shown = "A picture without a name"
			}
			f.tell(shown + " is not shown: the model " + f.model + " is not known to see pictures.")
		}
		return line("file", "this model cannot be shown it")
	}
	labelled := isPicture(m.MIME)
	switch {
	case labelled && !f.vision:
		return blind()
	case labelled && m.Size <= document.MaxPicture && !f.sent[p.Media]:
		if fresh {
			f.tell(fmt.Sprintf("Older pictures are not shown: a request holds %d, and %d MiB of them at most.",
				maxPictures, maxPictureBytes>>20))
		}
		return line("picture", fmt.Sprintf("left out, since %d newer ones are shown", len(f.sent)))
	}
	c, ok := f.content(ctx, m)
	if !ok {
		f.tell(name + " is not sent: its file is no longer there.")
		return chat.TextPart(fmt.Sprintf("[file %s, %s: it is no longer there]", name, m.MIME))
	}
	if !f.saved[noteOf(c.Lost).Text] {
		f.tell(c.Lost)
	}
	switch {
	case c.Picture == nil:
		return chat.TextPart(c.Text)
	case !f.vision:
		return blind()
	}
	m.Data, m.MIME, m.Size, m.Name = c.Picture, c.MIME, int64(len(c.Picture)), cleanName(m.Name)
	p.Media = &m
	return p
}

// tell notes something of a file once in a turn.
func (f *files) tell(note string) {
	if !f.noted[note] {
		f.noted[note] = true
		f.note(note)
	}
}

// isPicture reports whether a type is of a picture that may be shown as one. SVG is text.
func isPicture(mime string) bool {
	return strings.HasPrefix(mime, "image/") && !strings.HasPrefix(mime, "image/svg")
}

// newest returns those pictures of a path that are sent: the newest, as far as they fit into
// one request.
func (f *files) newest(ctx context.Context, path []chat.Message) map[*chat.Media]bool {
	sent := map[*chat.Media]bool{}
	var size int64
	take := func(m *chat.Media) {
		if m == nil || m.Size > document.MaxPicture || len(sent) >= maxPictures || size+m.Size > maxPictureBytes {
			return
		}
		if !isPicture(m.MIME) { // nobody looked into files when older messages were written
			if m.MIME != "application/octet-stream" && m.MIME != "" {
				return
			}
			if c, ok := f.content(ctx, *m); !ok || c.Picture == nil {
				return
			}
		}
		sent[m] = true
		size += m.Size
	}
	for _, message := range slices.Backward(path) {
		if message.Hidden {
			continue
		}
		for _, p := range slices.Backward(message.Parts) {
			take(p.Media)
			if p.Result == nil {
				continue
			}
			for _, c := range slices.Backward(p.Result.Content) {
				take(c.Media)
			}
		}
	}
	return sent
}

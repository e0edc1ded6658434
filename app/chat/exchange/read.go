package exchange

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/tool"
)

// importOp is the operation in the errors of an import.
const importOp = "exchange.import"

// Store stores chats that are imported.
type Store interface {
	// ImportConversation writes a new conversation with these messages, each of which answers the one
	// before it: all of it, or nothing.
	ImportConversation(ctx context.Context, c *chat.Conversation, messages []chat.Message) error
	HasMedia(m chat.Media) bool
}

// Imported has what an import made.
type Imported struct {
	Conversation chat.Conversation
	Messages     int
	Missing      int      // attached files that cannot be found here
	Mended       []string // a sentence for each kind of thing that was changed
}

// Notes are sentences about what a person should know of an import.
func (i Imported) Notes() []string {
	notes := i.Mended
	if i.Conversation.System != "" {
		notes = append(notes, "The chat has a system text, which every model that continues it gets.")
	}
	if i.Missing > 0 {
		notes = append(notes, fmt.Sprintf("The chat refers to %s that cannot be found here: an export does not "+
			"contain them.", limit.Counted(i.Missing, "attached file")))
	}
	return notes
}

// Import stores the chat of a file, which the person called name, that [Writer] wrote as JSON. The kind is invalid for
// any other file, and unavailable where it cannot be read.
func Import(ctx context.Context, to Store, file *os.File, name string) (Imported, error) {
	v, err := read(file, name)
	if err != nil {
		return Imported{}, err
	}
	mended := mend(&v)
	made := chat.Conversation{
		Title: importedLine(v.Conversation.Title), Model: importedLine(v.Conversation.Model),
		System: v.Conversation.System,
		Origins: chat.AddOrigins([]chat.Origin{chat.NewOrigin(chat.FromImport, filepath.Base(name))},
			chat.ReadOrigins(v.Conversation.Origins)...),
	}
	for i := range v.Messages {
		v.Messages[i].Origins = chat.ReadOrigins(v.Messages[i].Origins)
	}
	if err := to.ImportConversation(ctx, &made, v.Messages); err != nil {
		return Imported{}, err
	}
	return Imported{made, len(v.Messages), missingFiles(v.Messages, to.HasMedia), mended}, nil
}

// missingFiles counts the files that messages name and has does not find.
func missingFiles(messages []chat.Message, has func(chat.Media) bool) int {
	missing := map[string]bool{}
	for _, m := range messages {
		for _, file := range attachedTo(m) {
			if _, known := missing[file.ID]; !known {
				missing[file.ID] = !has(file)
			}
		}
	}
	maps.DeleteFunc(missing, func(_ string, is bool) bool { return !is })
	return len(missing)
}

// read reads an exported chat message by message.
func read(file *os.File, name string) (v Exported, err error) {
	if err = affordable(file); err == nil {
		v, err = decodeExported(&weighed{r: file})
	}
	_, broken := errors.AsType[*fs.PathError](err)
	switch {
	case err == nil && v.Format == exportFormat:
		return v, nil
	case errors.Is(err, errTooMuch):
		return v, fault.New(fault.Invalid, importOp,
			fmt.Sprintf("The file %s has more than %s, the most that is taken, "+
				"or lists of so many items that they take as much.", name, limit.Size(limit.ImportFile)),
			"Nothing was imported.")
	case broken:
		return v, fault.Wrap(fault.Unavailable, importOp, "The file "+name+" could not be read to its end.",
			"Try again.", err)
	case v.Format != exportFormat && strings.HasPrefix(v.Format, exportFormats):
		return v, fault.New(fault.Invalid, importOp,
			"The file "+name+" is a chat of a newer Conclave: its format is "+tool.OneLine(v.Format)+
				", and this one knows "+exportFormat+".",
			"Update Conclave, then import it.")
	}
	return v, fault.Wrap(fault.Invalid, importOp, "The file "+name+" is not a chat that Conclave exported as JSON.",
		"Export one as JSON: in the menu of a chat, or with conclave chats export ID --format json.", err)
}

// affordable refuses a file that holds too much before any of it is taken apart. It leaves the file at
// its beginning.
func affordable(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() > limit.ImportFile {
		return errTooMuch
	}
	if _, err := io.Copy(io.Discard, &weighed{r: file}); err != nil {
		return err
	}
	_, err = file.Seek(0, io.SeekStart)
	return err
}

// errOtherFormat ends reading at a format that this version does not know.
var errOtherFormat = errors.New("it has another format")

// decodeExported reads a chat from JSON.
func decodeExported(r io.Reader) (v Exported, err error) {
	d := json.NewDecoder(r)
	if err := opening(d, '{'); err != nil {
		return v, err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return v, err
		}
		switch key {
		case "format":
			if err = d.Decode(&v.Format); err == nil && v.Format != exportFormat {
				err = errOtherFormat
			}
		case "conversation":
			err = d.Decode(&v.Conversation)
		case "messages":
			v.Messages, err = decodeMessages(d)
		default:
			var skipped json.RawMessage
			err = d.Decode(&skipped)
		}
		if err != nil {
			return v, err
		}
	}
	if _, err := d.Token(); err != nil { // its end
		return v, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return v, errors.Join(errors.New("more follows the chat"), err)
	}
	return v, nil
}

func decodeMessages(d *json.Decoder) (messages []chat.Message, err error) {
	if err := opening(d, '['); err != nil {
		return nil, err
	}
	for d.More() {
		var m chat.Message
		if err := d.Decode(&m); err != nil {
			return nil, err
		}
		messages = append(messages, m)
	}
	_, err = d.Token()
	return messages, err
}

// opening reads the bracket that begins an object or a list.
func opening(d *json.Decoder, bracket json.Delim) error {
	got, err := d.Token()
	if err == nil && got != bracket {
		err = fmt.Errorf("%v stands in place of %v", got, bracket)
	}
	return err
}

// errTooMuch says that a file is larger than is taken, or becomes so in the memory.
var errTooMuch = errors.New("the file holds more than is taken")

// itemWeight counts for an item of a list, however little it has in the file: the largest, a message,
// takes some 400 bytes in the memory, in a list that grows by a quarter.
const itemWeight = 512

// weighed passes on JSON until it weighs more than limit.ImportFile: its bytes, and itemWeight for each
// item of its lists.
type weighed struct {
	r      io.Reader
	weight int64
	inList []bool // of each object and list that is open
	quoted bool
	escape bool // the next byte is quoted by a backslash
}

// Read implements io.Reader.
func (w *weighed) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	w.weight += int64(n)
	for _, c := range p[:n] {
		switch {
		case w.escape:
			w.escape = false
		case w.quoted && c == '\\':
			w.escape = true
		case c == '"':
			w.quoted = !w.quoted
		case w.quoted:
		case c == '[' || c == '{':
			w.inList = append(w.inList, c == '[')
		case (c == ']' || c == '}') && len(w.inList) > 0:
			w.inList = w.inList[:len(w.inList)-1]
		case c == ',' && len(w.inList) > 0 && w.inList[len(w.inList)-1]:
			w.weight += itemWeight
		}
	}
	if w.weight > limit.ImportFile || len(w.inList) > deepest {
		return 0, errTooMuch
	}
	return n, err
}

// deepest limits how many lists and objects may be open at once; encoding/json takes as many.
const deepest = 10_000

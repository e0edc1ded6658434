package window

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/base/language"
	"conclave/app/base/limit"
	"conclave/app/base/place"
	"conclave/app/chat"
	"conclave/app/chat/exchange"
	"conclave/app/chat/render"
	"conclave/app/chat/transcript"
	"conclave/app/view"

	"github.com/wailsapp/wails/v2/pkg/runtime"
)

// Transfer is bound: chats as files, copies of chats, temporary chats, and the backup.
type Transfer struct {
	*lifecycle
	core  Core
	chats *Chats
}

// Saved is a file that was written.
type Saved struct {
	Path string `json:"path"`            // "" when the person changed their mind
	Note string `json:"note" say:"true"` // what the file does not hold, as a sentence; "" for nothing
}

// Export asks where, and writes a chat there.
func (t *Transfer) Export(conversation string, format exchange.Format) (Saved, error) {
	v, err := t.core.Store.Conversation(t.call(), id(conversation))
	if err != nil {
		return Saved{}, err
	}
	files := 0
	path, err := t.saveAs(fileName(v.Title, nil)+"."+string(format), func(ctx context.Context) ([]byte, error) {
		var out bytes.Buffer
		w := exchange.Writer{Chats: t.core.Store, Councils: t.core.Councils, Drawer: render.Drawer{}}
		files, err = w.Write(ctx, v.ID, format, &out)
		return out.Bytes(), err
	})
	saved := Saved{Path: path}
	if files > 0 && path != "" {
		saved.Note = fmt.Sprintf("The file names %s and does not hold them. A backup does.",
			limit.Counted(files, "attached file"))
	}
	return language.Shown(saved), err
}

// Text returns a chat as Markdown.
func (t *Transfer) Text(conversation string) (string, error) {
	var out bytes.Buffer
	w := exchange.Writer{Chats: t.core.Store, Councils: t.core.Councils}
	_, err := w.Write(t.call(), id(conversation), exchange.Markdown, &out)
	return out.String(), err
}

// ImportedChat is a chat that came from a file.
type ImportedChat struct {
	Conversation string   `json:"conversation"` // "" when the person changed their mind
	Messages     int      `json:"messages"`
	Notes        []string `json:"notes" say:"true"` // sentences about what the person should know of it
}

// Import asks for a file that Export wrote as JSON, and makes a chat of it.
func (t *Transfer) Import() (ImportedChat, error) {
	ctx := t.window()
	if ctx == nil {
		return ImportedChat{}, errNoContext
	}
	path, err := runtime.OpenFileDialog(ctx, runtime.OpenDialogOptions{
		Title:   language.Say("Choose a chat"),
		Filters: []runtime.FileFilter{{DisplayName: language.Say("Chats (.json)"), Pattern: "*.json"}},
	})
	if err != nil || path == "" {
		return ImportedChat{Notes: []string{}}, err
	}
	return t.read(ctx, path)
}

func (t *Transfer) read(ctx context.Context, path string) (ImportedChat, error) {
	name := filepath.Base(path)
	file, err := os.Open(path)
	if err != nil {
		return ImportedChat{}, fault.Wrap(fault.NotFound, "app.import", "The file "+name+" cannot be read.",
			"Check its path and its permissions.", err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	v, err := exchange.Import(ctx, t.core.Store, file, name)
	if err != nil {
		return ImportedChat{}, err
	}
	t.core.Bus.Changed(bus.Chats, "")
	return language.Shown(ImportedChat{string(v.Conversation.ID), v.Messages, view.List(v.Notes())}), nil
}

// Copy makes a new chat of what is shown of one, up to the entry seq, or of all for 0, and returns its id. Runs of the
// council stay with the first chat. The kind is conflict while all of it is asked for and an answer is being written.
func (t *Transfer) Copy(conversation string, seq uint64) (string, error) {
	ctx := t.call()
	from := id(conversation)
	v, err := t.core.Store.Conversation(ctx, from)
	if err != nil {
		return "", err
	}
	path, err := t.core.Store.Path(ctx, from)
	if err != nil {
		return "", err
	}
	title := " (copy)"
	if seq != 0 {
		entry, err := t.chats.entry(ctx, from, chat.MessageSeq(seq))
		if err != nil {
			return "", err
		}
		path, title = upTo(path, entry), " (branch)"
	}
	for _, m := range path {
		if m.State == chat.Streaming {
			return "", fault.New(fault.Conflict, "app.copy", "An answer in it is still being written.",
				"Stop it, or wait for it.")
		}
	}
	if v.Title != "" {
		v.Title += title
	}
	v.ID, v.Pinned, v.Archived, v.Temporary, v.Draft, v.TitleUsage = "", false, false, false, "", nil
	v.Created, v.Updated = time.Time{}, time.Time{}
	if err := t.core.Store.ImportConversation(ctx, &v, path); err != nil {
		return "", err
	}
	t.core.Bus.Changed(bus.Chats, "")
	return string(v.ID), nil
}

// upTo returns the messages of a path up to the end of an entry.
func upTo(path []chat.Message, entry transcript.Folded) []chat.Message {
	last := entry.Messages[len(entry.Messages)-1]
	for i, m := range path {
		if m.Seq == last {
			return path[:i+1]
		}
	}
	return path
}

// Temporary makes an empty temporary chat, which the default model answers, and returns its id. It is deleted for good
// once Seen is called with another chat, when the window closes, and when the store is opened.
func (t *Transfer) Temporary() (string, error) {
	ctx := t.call()
	name, err := t.core.Models.Default(ctx)
	if err != nil {
		return "", err
	}
	opened, err := t.core.Models.Open(ctx, name)
	if err != nil {
		return "", err
	}
	v := chat.Conversation{Temporary: true}
	err = t.core.Responder.Create(ctx, &v, opened.Info())
	return string(v.ID), err
}

// Keep makes a temporary chat one of the list.
func (t *Transfer) Keep(conversation string) error {
	err := t.chats.update(conversation, func(v *chat.Conversation) { v.Temporary, v.Updated = false, time.Now().UTC() })
	if err != nil {
		return err
	}
	return t.chats.Seen(conversation)
}

// Backup asks where, and writes a copy of the store there: chats with their files, records, settings and permissions,
// no keys.
func (t *Transfer) Backup() (Saved, error) {
	ctx := t.window()
	if ctx == nil {
		return Saved{}, errNoContext
	}
	path, err := runtime.SaveFileDialog(ctx, runtime.SaveDialogOptions{
		Title:           language.Say("Save as"),
		DefaultFilename: "conclave " + time.Now().Format("2006-01-02") + ".backup", CanCreateDirectories: true,
	})
	if err != nil || path == "" {
		return Saved{}, err
	}
	return t.backup(ctx, path)
}

func (t *Transfer) backup(ctx context.Context, path string) (saved Saved, err error) {
	saved.Path = path
	_, err = place.Write("app.backup", path, path, func(file *os.File) error {
		missing, err := t.core.Backup(ctx, file.Name())
		if missing != "" {
			saved.Note = missing + ". The backup has the others."
		}
		return err
	})
	return language.Shown(saved), err
}

// Package exchange writes chats as documents, and reads those that were written as JSON. The window and the
// terminal use it.
package exchange

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/base/jsonobject"
	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/tool"
)

// Exported is a chat as its JSON has it.
type Exported struct {
	Format       string            `json:"format"` // conclave-chat/1
	Conversation chat.Conversation `json:"conversation"`
	Messages     []chat.Message    `json:"messages"` // the visible path
	// Missing are the ids of attached files that cannot be found.
	Missing []string `json:"missing_media,omitempty"`
}

const (
	exportFormats = "conclave-chat/" // of every version
	exportFormat  = exportFormats + "1"
)

// Format names a way in which a chat is written.
type Format string

// The formats: as Markdown, as JSON, which [Read] reads, and as one HTML page without scripts or remote parts.
const (
	Markdown Format = "md"
	JSON     Format = "json"
	HTML     Format = "html"
)

// Formats are all formats.
var Formats = []Format{Markdown, JSON, HTML}

// Chats reads chats.
type Chats interface {
	Conversation(ctx context.Context, id chat.ConversationID) (chat.Conversation, error)
	// EachOnPath calls do with each visible message, first to head.
	EachOnPath(ctx context.Context, id chat.ConversationID, do func(chat.Message) error) error
	// HasMedia reports whether an attached file can be found.
	HasMedia(m chat.Media) bool
}

// Councils reads the runs of councils.
type Councils interface {
	Runs(ctx context.Context, id chat.ConversationID) ([]council.Header, error)
	// Live reports whether a run goes on in this program.
	Live(id council.RunID) bool
}

// Writer writes chats as documents. It is safe for concurrent use.
type Writer struct {
	Chats    Chats
	Councils Councils
	// Command words a command that a document names; nil leaves it as it is.
	Command func(string) string
	// Drawer draws HTML. The other formats do without.
	Drawer Drawer
}

// Write writes a chat, and returns how many attached files it names; it holds none of them. The kind is not_found
// where there is no such chat.
func (w Writer) Write(ctx context.Context, id chat.ConversationID, format Format, to io.Writer) (files int, err error) {
	out := bufio.NewWriterSize(to, 64<<10)
	var d document
	switch format {
	case Markdown:
		d = &asMarkdown{w: out}
	case JSON:
		d = &asJSON{w: out}
	case HTML:
		d = &asPage{w: out, drawer: w.Drawer}
	default:
		return 0, fault.New(fault.Invalid, "exchange.write", fmt.Sprintf("There is no format %q.", format),
			"There are md, json and html.")
	}
	if files, err = w.write(ctx, id, d); err != nil {
		return 0, err
	}
	return files, out.Flush()
}

// document writes a chat message by message, so that a long one never lies in the memory as a whole.
type document interface {
	// begin comes first, message with each message of the visible path in order, end last.
	begin(shownChat) error
	message(m chat.Message) error
	end(missing []string) error
}

// shownChat is a chat that is written as a document.
type shownChat struct {
	chat.Conversation
	cut     map[string]council.RunID // the runs of councils that can go on, by their turn
	has     func(chat.Media) bool    // whether a file can be found
	command func(string) string      // words the commands of the document
}

// title is the title of the chat, as the window shows it.
func (v shownChat) title() string {
	if v.Title == "" {
		return "New chat"
	}
	return v.Title
}

// goOn is the command that goes on with an answer that was cut off.
func (v shownChat) goOn(m chat.Message) string {
	if run := v.cut[m.Turn]; run != "" {
		return "conclave council resume " + string(run)
	}
	return "conclave prompt --conversation " + string(v.ID)
}

// write writes a chat, and returns how many attached files it names.
func (w Writer) write(ctx context.Context, id chat.ConversationID, to document) (int, error) {
	conversation, err := w.Chats.Conversation(ctx, id)
	if err != nil {
		return 0, err
	}
	files, missing := map[string]bool{}, []string{} // files by id: whether it is there
	has := func(m chat.Media) bool {
		there, known := files[m.ID]
		if !known {
			if there = w.Chats.HasMedia(m); !there {
				missing = append(missing, m.ID)
			}
			files[m.ID] = there
		}
		return there
	}
	v := shownChat{conversation, map[string]council.RunID{}, has, w.Command}
	if v.command == nil {
		v.command = func(command string) string { return command }
	}
	runs, err := w.Councils.Runs(ctx, conversation.ID)
	if err != nil {
		return 0, err
	}
	for _, h := range runs {
		if h.State != council.Over && !w.Councils.Live(h.Run) {
			v.cut[h.Turn] = h.Run
		}
	}
	if err := to.begin(v); err != nil {
		return 0, err
	}
	err = w.Chats.EachOnPath(ctx, conversation.ID, func(m chat.Message) error {
		for _, file := range attachedTo(m) {
			has(file)
		}
		return to.message(m)
	})
	if err != nil {
		return 0, err
	}
	return len(files), to.end(missing)
}

// attachedTo returns the files that a message names.
func attachedTo(m chat.Message) (all []chat.Media) {
	add := func(parts []chat.Part) {
		for _, p := range parts {
			if p.Media != nil {
				all = append(all, *p.Media)
			}
		}
	}
	add(m.Parts)
	for _, p := range m.Parts {
		if p.Result != nil {
			add(p.Result.Content)
		}
	}
	return all
}

// asJSON writes a chat as exported is read.
type asJSON struct {
	w io.Writer
	n int // messages so far
}

func (d *asJSON) begin(v shownChat) error {
	if err := d.write("{\n  \"format\": ", exportFormat, "", ",\n"); err != nil {
		return err
	}
	return d.write("  \"conversation\": ", v.Conversation, "  ", ",\n  \"messages\": [")
}

func (d *asJSON) message(m chat.Message) error {
	before := ",\n    "
	if d.n++; d.n == 1 {
		before = "\n    "
	}
	return d.write(before, m, "    ", "")
}

func (d *asJSON) end(missing []string) error {
	end := "]"
	if d.n > 0 {
		end = "\n  ]"
	}
	if len(missing) > 0 {
		return d.write(end+",\n  \"missing_media\": ", missing, "  ", "\n}\n")
	}
	_, err := io.WriteString(d.w, end+"\n}\n")
	return err
}

// write writes a value, its lines but the first behind indent, between two texts.
func (d *asJSON) write(before string, value any, indent, after string) error {
	text, err := jsonText(value)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(d.w, "%s%s%s", before, bytes.ReplaceAll(text, []byte("\n"), []byte("\n"+indent)), after)
	return err
}

// jsonText returns a value as JSON that people read and a terminal can show.
func jsonText(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSuffix(jsonobject.Inert([]byte(tool.Indented(b.Bytes()))), []byte("\n")), err
}

// asMarkdown writes a chat as a document: a heading for each speaker, tool calls with their results
// folded in as code.
type asMarkdown struct {
	w       io.Writer
	v       shownChat
	speaker chat.Role
	held    *chat.Message // which is written once it is known what follows it
}

func (d *asMarkdown) begin(v shownChat) error {
	d.v = v
	_, err := fmt.Fprintf(d.w, "# %s\n", v.title())
	return err
}

func (d *asMarkdown) message(m chat.Message) error {
	err := d.write(&m)
	d.held = &m
	return err
}

func (d *asMarkdown) end([]string) error { return d.write(nil) }

// write writes the message that is held; next follows it, nil where nothing does.
func (d *asMarkdown) write(next *chat.Message) error {
	if d.held == nil {
		return nil
	}
	var b strings.Builder
	m := *d.held
	role := m.Role
	if role == chat.RoleTool {
		role = chat.RoleAssistant
	}
	if role != d.speaker {
		name := "You"
		if role == chat.RoleAssistant {
			name = m.Model
		}
		fmt.Fprintf(&b, "\n## %s, %s\n", name, m.Created.Local().Format("2006-01-02 15:04"))
	}
	d.speaker = role
	for _, p := range m.Parts {
		switch p.Kind {
		case chat.PartText:
			fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(p.Text))
		case chat.PartToolCall:
			fmt.Fprintf(&b, "\n> called `%s` with `%s`\n", p.Call.Tool, oneLine(string(p.Call.Arguments)))
			if p.Call.Mended != nil {
				fmt.Fprintf(&b, ">\n> _%s_\n", asText(p.Call.Mended.Sentence()))
			}
		case chat.PartToolResult:
			fmt.Fprintf(&b, ">\n> %s\n", strings.ReplaceAll(strings.TrimSpace(p.Result.Text()), "\n", "\n> "))
		case chat.PartMedia:
			lost := ""
			if !d.v.has(*p.Media) {
				lost = "; the file cannot be found"
			}
			fmt.Fprintf(&b, "\n[%s, %d bytes%s]\n", p.Media.Name, p.Media.Size, lost)
		}
	}
	for _, n := range m.Notes {
		fmt.Fprintf(&b, "\n_%s_\n", asText(n.Sentence()))
	}
	if m.Error != nil {
		fmt.Fprintf(&b, "\n_%s_\n", asText(m.Error.Message))
	}
	switch {
	case m.State == chat.Interrupted || m.State == chat.Stopped:
		fmt.Fprintf(&b, "\n_(%s)_\n", m.State)
		if m.State == chat.Interrupted {
			fmt.Fprintf(&b, "\n_Conclave ended meanwhile. Go on with %s._\n", d.v.command(d.v.goOn(m)))
		}
	case m.Reason == chat.EndInterrupted && (next == nil || next.Role == chat.RoleUser): // it never went on
		fmt.Fprintf(&b, "\n_(interrupted: Conclave ended before the answer was finished. Go on with %s.)_\n",
			d.v.command(d.v.goOn(m)))
	}
	_, err := io.WriteString(d.w, b.String())
	return err
}

// markdownMarks writes out what Markdown would not take for text, in a sentence.
var markdownMarks = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`, "<", `\<`,
	"&", `\&`, "|", `\|`, "$", `\$`, "~", `\~`, "!", `\!`)

// asText returns a sentence, which may hold words of servers and of files, as one line of Markdown that
// shows it as it is.
func asText(sentence string) string { return markdownMarks.Replace(tool.OneLine(sentence)) }

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

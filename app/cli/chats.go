package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"conclave/app/chat"
	"conclave/app/council"

	"github.com/spf13/cobra"
)

// chatCommands list, show, export and import chats.
type chatCommands struct{ *terminal }

func (c chatCommands) group() *cobra.Command {
	return group("chats", "List, show, search, export and import chats, and choose their projects",
		c.readingStore("list", "List the chats, last changed first", noArguments, c.list),
		c.readingStore("show ID", "Show a chat", exactly("the id of a chat"), c.show),
		c.readingStore("search QUERY", "Search titles and messages", some("words to look for"), c.search),
		c.exportCommand(),
		c.projectCommand(),
		c.withStore("import FILE", "Import a chat that was exported as JSON", exactly("a file"), c.importFile),
	)
}

type chatRow struct {
	ID       chat.ConversationID `json:"id"`
	Title    string              `json:"title"`
	Model    string              `json:"model"`
	Messages chat.MessageSeq     `json:"messages"`
	Pinned   bool                `json:"pinned"`
	Archived bool                `json:"archived"`
	Created  time.Time           `json:"created"`
	Updated  time.Time           `json:"updated"`
}

func (c chatCommands) list(ctx context.Context, app *App, _ []string) error {
	all, err := app.Chats.List(ctx, chat.ListOptions{})
	if err != nil {
		return err
	}
	rows := []chatRow{}
	table := newTable("ID", "CHANGED", "TITLE")
	for _, v := range all.Conversations {
		rows = append(rows, chatRow{v.ID, v.Title, v.Model, v.Last, v.Pinned, v.Archived, v.Created, v.Updated})
		table.add(string(v.ID), v.Updated.Local().Format("2006-01-02 15:04"), v.Title)
	}
	return c.printTable(rows, table, "There are no chats. Start one: conclave prompt \"Hello\"")
}

// exported is a chat as `chats show --json` and `chats export --format json`
// print it, and as `chats import` reads it.
type exported struct {
	Format       string            `json:"format"` // conclave-chat/1
	Conversation chat.Conversation `json:"conversation"`
	Messages     []chat.Message    `json:"messages"` // the visible path
	// Missing are the ids of attached files that cannot be found.
	Missing []string `json:"missing_media,omitempty"`

	cut map[string]council.RunID // the runs of councils that can go on, by their turn
}

// goOn is the command that goes on with an answer that was cut off.
func (v exported) goOn(m chat.Message) string {
	if run := v.cut[m.Turn]; run != "" {
		return "conclave council resume " + string(run)
	}
	return "conclave prompt --conversation " + string(v.Conversation.ID)
}

const (
	exportFormats = "conclave-chat/" // of every version
	exportFormat  = exportFormats + "1"
)

func readChat(ctx context.Context, app *App, id string) (exported, error) {
	conversation, err := app.Chats.Conversation(ctx, chat.ConversationID(id))
	if err != nil {
		return exported{}, err
	}
	v := exported{Format: exportFormat, Conversation: conversation, cut: map[string]council.RunID{}}
	if v.Messages, err = app.Chats.Path(ctx, conversation.ID); err != nil {
		return v, err
	}
	for _, m := range attachedTo(v.Messages) {
		if !app.Chats.HasMedia(m) {
			v.Missing = append(v.Missing, m.ID)
		}
	}
	runs, err := app.Councils.Runs(ctx, conversation.ID)
	for _, h := range runs {
		if h.State != council.Over && !app.Councils.Live(h.Run) {
			v.cut[h.Turn] = h.Run
		}
	}
	return v, err
}

// attachedTo returns the files that messages name, each once.
func attachedTo(messages []chat.Message) (all []chat.Media) {
	add := func(parts []chat.Part) {
		for _, p := range parts {
			if p.Media != nil && !slices.ContainsFunc(all, func(m chat.Media) bool { return m.ID == p.Media.ID }) {
				all = append(all, *p.Media)
			}
		}
	}
	for _, m := range messages {
		add(m.Parts)
		for _, p := range m.Parts {
			if p.Result != nil {
				add(p.Result.Content)
			}
		}
	}
	return all
}

func (c chatCommands) show(ctx context.Context, app *App, args []string) error {
	v, err := readChat(ctx, app, args[0])
	if err != nil {
		return err
	}
	if c.json {
		return c.printJSON(v)
	}
	_, err = fmt.Fprint(c.Out, asMarkdown(v, c.toType))
	return err
}

// titleOf is the title of a chat, as the window shows it.
func titleOf(v exported) string {
	if v.Conversation.Title == "" {
		return "New chat"
	}
	return v.Conversation.Title
}

// asFile is the word for a command in a document that leaves this computer: where its chats lie is
// nobody else's to know.
func asFile(command string) string { return command }

// asMarkdown writes a chat as a document: a heading for each speaker, tool calls
// with their results folded in as code. toType words the commands in it.
func asMarkdown(v exported, toType func(string) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", titleOf(v))
	speaker := chat.Role("")
	for i, m := range v.Messages {
		role := m.Role
		if role == chat.RoleTool {
			role = chat.RoleAssistant
		}
		if role != speaker {
			name := "You"
			if role == chat.RoleAssistant {
				name = m.Model
			}
			fmt.Fprintf(&b, "\n## %s, %s\n", name, m.Created.Local().Format("2006-01-02 15:04"))
		}
		speaker = role
		for _, p := range m.Parts {
			v.writePart(&b, p)
		}
		if m.Error != nil {
			fmt.Fprintf(&b, "\n_%s_\n", m.Error.Message)
		}
		switch {
		case m.State == chat.Interrupted:
			fmt.Fprintf(&b, "\n_(%s)_\n\n_Conclave ended meanwhile. Go on with %s._\n", m.State, toType(v.goOn(m)))
		case m.State == chat.Stopped:
			fmt.Fprintf(&b, "\n_(%s)_\n", m.State)
		case m.Reason == chat.EndInterrupted && endedThere(v.Messages[i+1:]):
			fmt.Fprintf(&b, "\n_(interrupted: Conclave ended before the answer was finished. Go on with %s.)_\n",
				toType(v.goOn(m)))
		}
	}
	return b.String()
}

// writePart writes one part of a message as Markdown.
func (v exported) writePart(b *strings.Builder, p chat.Part) {
	switch p.Kind {
	case chat.PartText:
		fmt.Fprintf(b, "\n%s\n", strings.TrimSpace(p.Text))
	case chat.PartToolCall:
		fmt.Fprintf(b, "\n> called `%s` with `%s`\n", p.Call.Tool, oneLine(string(p.Call.Arguments)))
	case chat.PartToolResult:
		fmt.Fprintf(b, ">\n> %s\n", strings.ReplaceAll(strings.TrimSpace(p.Result.Text()), "\n", "\n> "))
	case chat.PartMedia:
		lost := ""
		if slices.Contains(v.Missing, p.Media.ID) {
			lost = "; the file cannot be found"
		}
		fmt.Fprintf(b, "\n[%s, %d bytes%s]\n", p.Media.Name, p.Media.Size, lost)
	}
}

// endedThere reports whether an answer cut off before rest never went on: what was
// answered again is no longer the end of anything.
func endedThere(rest []chat.Message) bool {
	return len(rest) == 0 || rest[0].Role == chat.RoleUser
}

// foundRow is one place of `chats search --json` where words were found.
type foundRow struct {
	Conversation chat.ConversationID `json:"conversation"`
	Title        string              `json:"title"`
	Seq          chat.MessageSeq     `json:"seq,omitempty"`
	Excerpt      string              `json:"excerpt"`
	Updated      time.Time           `json:"updated"`
}

func (c chatCommands) search(ctx context.Context, app *App, args []string) error {
	words := strings.Join(args, " ")
	found, err := app.Chats.Find(ctx, words, 100)
	if err != nil {
		return err
	}
	rows := []foundRow{}
	table := newTable("CHAT", "TITLE", "")
	for _, f := range found {
		rows = append(rows, foundRow{f.Conversation, f.Title, f.Seq, around(f.Text, words), f.Updated})
		table.add(string(f.Conversation), f.Title, rows[len(rows)-1].Excerpt)
	}
	return c.printTable(rows, table, "Nothing was found.")
}

// around returns the part of a text around the first of the words.
func around(text, words string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(words), " ")
	if e, ok := chat.ExcerptOf(text, first); ok {
		text = e.Before + e.Match + e.After
	}
	return cut(oneLine(text), 180)
}

// projectCommand says which folder a chat is about, or changes it.
func (c chatCommands) projectCommand() *cobra.Command {
	var none bool
	cmd := c.withStore("project ID [FOLDER]", "Show or choose the folder that a chat is about",
		func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 || none && len(args) == 2 {
				return usageOf(cmd, "it takes the id of a chat, and a folder or --none to change its project")
			}
			return nil
		},
		func(ctx context.Context, app *App, args []string) error {
			v, err := app.Chats.Conversation(ctx, chat.ConversationID(args[0]))
			if err != nil {
				return err
			}
			if none || len(args) == 2 {
				v.Project = ""
				if !none {
					if v.Project, err = chat.OpenProject(c.Path(args[1])); err != nil {
						return err
					}
				}
				if err := app.Chats.UpdateConversation(ctx, v.ID, func(kept *chat.Conversation) {
					kept.Project = v.Project
				}); err != nil {
					return err
				}
			}
			return c.result(map[string]string{"id": string(v.ID), "project": v.Project}, "%s",
				cmp.Or(v.Project, "This chat is of no project."))
		})
	cmd.Long = `Show or choose the folder that a chat is about. A chat that is begun in a terminal is of the
folder that it is begun in, unless that holds your home. Permissions and a council may hold for
all chats of one project; no tool may reach a folder because of it.`
	cmd.Flags().BoolVar(&none, "none", false, "the chat is of no project any more")
	return cmd
}

func (c chatCommands) exportCommand() *cobra.Command {
	var format string
	cmd := c.readingStore("export ID", "Write a chat to standard output", exactly("the id of a chat"),
		func(ctx context.Context, app *App, args []string) error {
			v, err := readChat(ctx, app, args[0])
			if err != nil {
				return err
			}
			if n := len(attachedTo(v.Messages)); n > 0 {
				if err := c.say(c.Err, "The export names %s and does not hold them; conclave backup copies them, too.",
					countOf(n, "attached file")); err != nil {
					return err
				}
			}
			switch format {
			case "json":
				return c.printJSON(v)
			case "md":
				_, err = fmt.Fprint(c.Out, asMarkdown(v, asFile))
			case "html":
				_, err = fmt.Fprint(c.Out, asPage(v))
			}
			return err
		})
	cmd.Flags().StringVar(&format, "format", "md", "md, json or html")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if !slices.Contains([]string{"md", "json", "html"}, format) {
			return usageOf(cmd, "there is no format %q; there are md, json and html", format)
		}
		return nil
	}
	return cmd
}

package terminal

import (
	"cmp"
	"context"
	"strings"

	"conclave/app/chat"
	"conclave/app/view"

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

func (c chatCommands) list(ctx context.Context, app *App, _ []string) error {
	all, err := app.Chats.List(ctx, chat.ListOptions{})
	if err != nil {
		return err
	}
	rows := []view.ChatHeader{}
	table := newTable("ID", "CHANGED", "TITLE")
	for _, v := range all.Conversations {
		row := view.NewChatHeader(v)
		rows = append(rows, row)
		table.add(row.ID, row.Updated.Minute(), row.Title)
	}
	return c.printTable(rows, table, "There are no chats. Start one: conclave prompt \"Hello\"")
}

// foundRow is one result of `chats search --json`.
type foundRow struct {
	Conversation chat.ConversationID `json:"conversation"`
	Title        string              `json:"title"`
	Seq          chat.MessageSeq     `json:"seq,omitempty"`
	Excerpt      string              `json:"excerpt"`
	Updated      view.Time           `json:"updated"`
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
		rows = append(rows, foundRow{f.Conversation, f.Title, f.Seq, around(f.Text, words), view.Time{Time: f.Updated}})
		table.add(string(f.Conversation), f.Title, rows[len(rows)-1].Excerpt)
	}
	return c.printTable(rows, table, "Nothing was found.")
}

// around returns the part of a text near the first of the words.
func around(text, words string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(words), " ")
	if e, ok := chat.ExcerptOf(text, first); ok {
		text = e.Before + e.Match + e.After
	}
	return cut(oneLine(text), 180)
}

// projectCommand shows which folder a chat is about, or changes it.
func (c chatCommands) projectCommand() *cobra.Command {
	var none bool
	cmd := c.withStore("project ID [FOLDER]", "Show or choose the project folder of a chat",
		func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 || none && len(args) == 2 {
				return usageOf(cmd, "give the id of a chat, and a folder or --none to change its project")
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
				cmp.Or(v.Project, "This chat has no project."))
		})
	cmd.Long = `Show or choose the project folder of a chat. A chat that is started in a terminal belongs to the
folder in which it is started, unless that contains your home. Permissions and a council may apply to
all chats of one project. A tool gets no access to a folder because of it.`
	cmd.Flags().BoolVar(&none, "none", false, "remove the chat from its project")
	return cmd
}

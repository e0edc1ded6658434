package terminal

import (
	"context"
	"strings"

	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/view"

	"github.com/spf13/cobra"
)

func (c permissionCommands) trustCommand() *cobra.Command {
	var source string
	cmd := c.withPlugins("trust CHAT", "List the sources of text in a chat, or trust one of them there",
		exactly("the id of a chat"), func(ctx context.Context, app *App, args []string) error {
			return c.trust(ctx, app, args[0], source)
		})
	cmd.Long = `List the sources of text in a chat that neither you nor its model wrote, or trust text from
one of these sources, in this chat only.

Such text may contain instructions for the model. So in a chat that contains it, a call that
can send, run, delete or write outside its plugin's folder asks you, whatever you have
allowed, until you trust the source. Revoke that with conclave permissions revoke.`
	cmd.Example = `  conclave permissions trust CHAT
  conclave permissions trust CHAT --source 'text from example.org'`
	cmd.Flags().StringVar(&source, "source", "", "trust text from this source, named as in the list")
	return cmd
}

func (c permissionCommands) trust(ctx context.Context, app *App, of, source string) error {
	id := chat.ConversationID(of)
	origins, err := originsOf(ctx, app, id)
	if err != nil {
		return err
	}
	if source != "" {
		for _, o := range origins {
			if strings.EqualFold(o.String(), source) || o.Name != "" && strings.EqualFold(o.Name, source) {
				return c.trustSource(ctx, app, id, o)
			}
		}
		return usageError("this chat has no source %q; conclave permissions trust %s lists those it has", source, of)
	}
	rows := view.NewOrigins(origins, app.Gate.Rules.Trusted(id))
	table := newTable("SOURCE", "TRUSTED BY")
	for _, o := range rows {
		table.add(o.Source, o.Rule)
	}
	return c.printTable(rows, table, "Nothing in this chat came from outside.")
}

func (c permissionCommands) trustSource(ctx context.Context, app *App, in chat.ConversationID, o chat.Origin) error {
	rule, err := app.Gate.Rules.Trust(ctx, in, o)
	if err != nil {
		return err
	}
	return c.result(rule, "%s: %s.", rule.ID, gate.Sentence(rule, ""))
}

// originsOf returns the sources of text in a chat, as they are shown.
func originsOf(ctx context.Context, app *App, id chat.ConversationID) ([]chat.Origin, error) {
	conversation, path, err := chatOf(ctx, app, id)
	return chat.OriginsOf(conversation, path), err
}

// withChat adds to a call the sources of text in its chat.
func withChat(ctx context.Context, app *App, call *gate.Call) error {
	conversation, path, err := chatOf(ctx, app, call.Conversation)
	call.Taint = chat.OriginsOf(conversation, path)
	call.Wrote = chat.Wrote(conversation, path, call.Arguments)
	return err
}

func chatOf(ctx context.Context, app *App, id chat.ConversationID) (chat.Conversation, []chat.Message, error) {
	conversation, err := app.Chats.Conversation(ctx, id)
	if err != nil {
		return chat.Conversation{}, nil, err
	}
	path, err := app.Chats.Path(ctx, id)
	return conversation, path, err
}

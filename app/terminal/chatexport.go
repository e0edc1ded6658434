package terminal

import (
	"context"
	"io"
	"slices"

	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/chat/exchange"

	"github.com/spf13/cobra"
)

// writeTo writes a chat, and returns how many attached files it names. word words the commands in it; nil leaves
// them.
func (c chatCommands) writeTo(ctx context.Context, app *App, id string, format exchange.Format, to io.Writer,
	word func(string) string,
) (int, error) {
	w := exchange.Writer{Chats: app.Chats, Councils: app.Councils, Command: word}
	if format == exchange.HTML {
		d, end, err := startDrawer(ctx)
		if err != nil {
			return 0, err
		}
		defer end()
		w.Drawer = d
	}
	return w.Write(ctx, chat.ConversationID(id), format, to)
}

func (c chatCommands) show(ctx context.Context, app *App, args []string) error {
	format := exchange.Markdown
	if c.json {
		format = exchange.JSON
	}
	_, err := c.writeTo(ctx, app, args[0], format, c.Out, c.toType)
	return err
}

func (c chatCommands) exportCommand() *cobra.Command {
	var format string
	cmd := c.readingStore("export ID", "Write a chat to standard output", exactly("the id of a chat"),
		func(ctx context.Context, app *App, args []string) error {
			counted := &counter{w: c.Out}
			// The document leaves this computer: where its chats lie is nobody else's to know.
			files, err := c.writeTo(ctx, app, args[0], exchange.Format(format), counted, nil)
			if err != nil {
				return err
			}
			if files > 0 {
				if err := c.say(c.Err, "The export names %s and does not hold them; conclave backup copies them, too.",
					countOf(files, "attached file")); err != nil {
					return err
				}
			}
			if format == "json" && counted.n > limit.ImportFile {
				return c.say(c.Err,
					"The export has more than %s, the most that conclave chats import takes; conclave backup "+
						"copies the chat, too.", limit.Size(limit.ImportFile))
			}
			return nil
		})
	cmd.Flags().StringVar(&format, "format", "md", "md, json or html")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if !slices.Contains(exchange.Formats, exchange.Format(format)) {
			return usageOf(cmd, "there is no format %q; there are md, json and html", format)
		}
		return nil
	}
	return cmd
}

// counter counts the bytes that are written.
type counter struct {
	w io.Writer
	n int64
}

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

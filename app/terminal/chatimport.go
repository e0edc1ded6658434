package terminal

import (
	"context"
	"fmt"
	"os"

	"conclave/app/chat/exchange"
)

func (c chatCommands) importFile(ctx context.Context, app *App, args []string) error {
	const op = "cli.import"
	path, name := c.Path(args[0]), args[0]
	if err := ordinary(op, path, name); err != nil {
		return err
	}
	file, err := os.Open(path)
	if err != nil {
		return unreadable(op, name, err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	v, err := exchange.Import(ctx, app.Chats, file, name)
	if err != nil {
		return err
	}
	facts := map[string]any{"conversation": v.Conversation.ID, "messages": v.Messages}
	if v.Missing > 0 {
		facts["missing_media"] = v.Missing
	}
	if len(v.Mended) > 0 {
		facts["mended"] = v.Mended
	}
	if !c.json {
		for _, note := range v.Notes() {
			fmt.Fprintln(c.Err, note)
		}
	}
	return c.result(facts, "Imported %s as %s.", countOf(v.Messages, "message"), v.Conversation.ID)
}

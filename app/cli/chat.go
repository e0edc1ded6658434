package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

func (c promptCommands) chatCommand() *cobra.Command {
	f := &promptFlags{}
	cmd := &cobra.Command{Use: "chat [flags]", Short: "Talk in the terminal", Args: noArguments}
	f.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return c.converse(cmd.Context(), f, func(ctx context.Context, run *promptRun) error {
			if !c.json {
				fmt.Fprintf(c.Err,
					"Talking to %s. An empty line ends a message of several lines begun with \"\"\"; Ctrl-D ends the chat.\n",
					run.model.Info().Title)
			}
			for stopped := false; ; {
				if !c.json {
					fmt.Fprint(c.Err, "> ")
				}
				text, behind, err := c.person.message(ctx)
				if errors.Is(err, io.EOF) {
					return nil
				}
				if err != nil {
					return err
				}
				if strings.TrimSpace(text) == "" {
					continue
				}
				answer, done := ctx, func() {}
				if stopped = stopped && behind; !stopped { // else nobody typed it since: Ctrl-C ends the chat
					answer, done = c.Interrupt.during(ctx)
				}
				err = run.say(answer, text)
				now := answer.Err() != nil
				done()
				stopped = stopped || now
				if err != nil {
					if ctx.Err() != nil {
						return err
					}
					if now && !c.json {
						fmt.Fprintln(c.Err, "The answer was stopped. Ctrl-C once more ends the chat.")
						continue
					}
					if _, quiet := errors.AsType[*exitError](err); !quiet {
						c.printError(err) // the chat goes on
					}
				}
			}
		})
	}
	return cmd
}

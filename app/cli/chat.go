package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"conclave/app/limit"

	"github.com/spf13/cobra"
)

func (c *command) chatCommand() *cobra.Command {
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
				text, behind, err := c.message(ctx)
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

// message reads one message: a line, or all lines between two of """. behind reports that it came
// at once with the one before.
func (c *command) message(ctx context.Context) (message string, behind bool, err error) {
	line, behind, err := c.lineOf(ctx)
	if err != nil || strings.TrimSpace(line) != `"""` {
		return line, behind, err
	}
	var text []string
	size := 0
	for {
		line, err := c.line(ctx)
		if size += len(line) + 1; size > limit.MessageText.Int() {
			return "", behind, tooLong()
		}
		if err != nil || strings.TrimSpace(line) == `"""` {
			return strings.Join(text, "\n"), behind, err
		}
		text = append(text, line)
	}
}

package terminal

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
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return c.converse(cmd.Context(), f, c.talk) }
	return cmd
}

// talk reads messages and has them answered until the input ends.
func (c promptCommands) talk(ctx context.Context, run *promptRun) error {
	if !c.json {
		_ = c.say(c.Err, "Talking to %s. A message of several lines stands between two lines of \"\"\"; "+
			"Ctrl-D ends the chat.", run.model.Info().Title)
	}
	for stopped := false; ; { // stopped: the person stopped an answer and has typed nothing since
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
		if stopped, err = c.answer(ctx, run, text, stopped && behind); err != nil {
			return err
		}
	}
}

// answer has one message of a chat answered. An error is printed, and ends the chat only when ctx
// ended. stopped reports that the person stopped the answer; alone means that they stopped one
// before and typed nothing since, so that Ctrl-C ends the chat.
func (c promptCommands) answer(ctx context.Context, run *promptRun, text string, alone bool) (stopped bool, err error) {
	during, done := ctx, func() {}
	if !alone {
		during, done = c.Interrupt.during(ctx)
	}
	err = run.say(during, text)
	now := during.Err() != nil
	done()
	_, quiet := errors.AsType[*exitError](err)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return false, err
	case now && !c.json:
		_ = c.say(c.Err, "The answer was stopped. Ctrl-C once more ends the chat.")
	case !quiet:
		c.printError(err)
	}
	return alone || now, nil
}

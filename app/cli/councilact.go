package cli

import (
	"context"

	"github.com/spf13/cobra"

	"conclave/app/council"
)

// actRow tells as JSON that somebody acted on a run.
type actRow struct {
	Run    council.RunID `json:"run"`
	Act    council.Act   `json:"act"`
	Member string        `json:"member,omitempty"`
}

// actCommands have a person act on a run while it is worked on, from another terminal: the
// Conclave that works on it runs them.
func (c runCommands) actCommands() []*cobra.Command {
	act := func(use, short, done string, what council.Act, args cobra.PositionalArgs) *cobra.Command {
		return c.withStore(use, short, args, func(ctx context.Context, app *App, args []string) error {
			member, text := "", what.Why()
			if len(args) > 1 {
				run, err := storedRun(ctx, app, args[0])
				if err != nil {
					return err
				}
				m, err := seated(run, args[1])
				if err != nil {
					return err
				}
				member = m.ID
			}
			if len(args) > 2 {
				text = args[2]
			}
			if err := app.Councils.Act(ctx, council.RunID(args[0]), what, member, nil, text); err != nil {
				return err
			}
			if c.json {
				return c.printJSON(actRow{council.RunID(args[0]), what, member})
			}
			return c.say(c.Out, "%s", done)
		})
	}
	run := exactly("a run")
	return []*cobra.Command{
		act("nudge RUN MEMBER TEXT", "Have a member begin again what it does, with a sentence of yours",
			"The member begins again.", council.Nudge, exactly("a run", "a member", "a text")),
		act("skip RUN MEMBER", "Leave a member out of a run from now on", "The member is left out.", council.Skip,
			exactly("a run", "a member")),
		act("retry RUN", "Have what failed in a run done again, while you are asked about it",
			"What failed is done again.", council.Retry, run),
		act("finish RUN", "Begin nothing new in a run: the answer is made with what there is",
			"The answer is made with what there is.", council.Finish, run),
		act("stop RUN", "Stop a run, and the answer that waits for it", "The run is stopped.", council.Stop, run),
	}
}

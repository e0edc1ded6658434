package terminal

import (
	"context"

	"github.com/spf13/cobra"

	"conclave/app/council"
)

// actRow is an act on a run as JSON.
type actRow struct {
	Run    council.RunID `json:"run"`
	Act    council.Act   `json:"act"`
	Member string        `json:"member,omitempty"`
}

// actCommands act on a run in progress from another terminal: the Conclave that runs it runs these
// commands, too.
func (c runCommands) actCommands() []*cobra.Command {
	act := func(use, short, done string, what council.Act, args cobra.PositionalArgs) *cobra.Command {
		return c.withStore(use, short, args, func(ctx context.Context, app *App, args []string) error {
			member, text := "", what.Why()
			if len(args) > 1 {
				run, err := app.Councils.Stored(ctx, council.RunID(args[0]))
				if err != nil {
					return err
				}
				m, err := memberOf(run.Council, args[1])
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
			return c.advise(actRow{council.RunID(args[0]), what, member}, "%s", done)
		})
	}
	run := exactly("a run")
	return []*cobra.Command{
		act("nudge RUN MEMBER TEXT", "Have a member start its task again, with a sentence from you",
			"The member starts again.", council.Nudge, exactly("a run", "a member", "a text")),
		act("skip RUN MEMBER", "Leave a member out of the rest of a run", "The member is left out.", council.Skip,
			exactly("a run", "a member")),
		act("retry RUN", "Repeat the failed tasks of a run, while it waits for you",
			"The failed tasks are repeated.", council.Retry, run),
		act("finish RUN", "Start no new tasks in a run: answer with the results so far",
			"The answer uses the results so far.", council.Finish, run),
		act("stop RUN", "Stop a run, and the answer that waits for it", "The run is stopped.", council.Stop, run),
	}
}

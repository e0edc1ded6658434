package terminal

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/council"
	"conclave/app/view"
)

func (c runCommands) seenCommand() *cobra.Command {
	var member string
	var exact bool
	cmd := c.withStore("seen RUN", "Show all that the members of a run were sent, by its source",
		exactly("a run"), func(ctx context.Context, app *App, args []string) error {
			run, err := app.Councils.Stored(ctx, council.RunID(args[0]))
			if err != nil {
				return err
			}
			rows, err := seenIn(run, member, app.Councils.Texts(ctx, run.Run))
			if err != nil {
				return err
			}
			return c.printSeen(rows, exact)
		})
	cmd.Flags().StringVar(&member, "member", "", "the name or id of the member; without it all members")
	cmd.Flags().BoolVar(&exact, "exact", false, "each request as it was sent, byte for byte")
	return cmd
}

// seenIn returns the requests of a run's tasks, in their order: of the member with this name or id, or
// of all if it is empty.
func seenIn(run council.Run, member string, text council.ReadText) ([]view.SentRequest, error) {
	rows := []view.SentRequest{}
	if member != "" {
		m, err := memberOf(run.Council, member)
		if err != nil {
			return nil, err
		}
		member = m.ID
	}
	for _, t := range run.Tasks {
		if member != "" && t.Member != member {
			continue
		}
		sent, err := view.NewSentRequests(run, t, text)
		if err != nil {
			return nil, err
		}
		rows = append(rows, sent...)
	}
	return rows, nil
}

// printSeen prints the requests to models.
func (c runCommands) printSeen(rows []view.SentRequest, exact bool) error {
	if c.json {
		return c.printJSON(rows)
	}
	if len(rows) == 0 {
		return c.say(c.Out, "Nothing was sent to a model.")
	}
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "%s · %s · to %s · about %s, %s\n", oneLine(r.Name), r.Task,
			oneLine(cmp.Or(r.Tool, r.Model)),
			limit.Counted(int(r.Tokens), "token"), limit.Size(int64(r.Bytes)))
		switch {
		case exact && r.Body == "":
			b.WriteString("  " + r.Without + "\n")
		case exact:
			b.WriteString(r.Body + "\n")
		default:
			b.WriteString(blocksOf(r.Blocks))
		}
	}
	_, err := fmt.Fprint(c.Out, b.String())
	return err
}

// blocksOf returns the parts of a request, each below its title.
func blocksOf(blocks []view.BlockText) string {
	var b strings.Builder
	for _, block := range blocks {
		fmt.Fprintf(&b, "  — %s · %s · %s\n", oneLine(block.Title), block.Source,
			limit.Counted(int(block.Tokens), "token"))
		b.WriteString(indented(indented(strings.TrimSpace(block.Text))))
		if block.Why != "" {
			fmt.Fprintf(&b, "    (%s)\n", oneLine(block.Why))
		}
	}
	return b.String()
}

// rateRow is the rating of a point as JSON.
type rateRow struct {
	Run   council.RunID `json:"run"`
	Point string        `json:"point"`
	Good  bool          `json:"good"`
}

func (c runCommands) rateCommand() *cobra.Command {
	var bad bool
	cmd := c.withStore("rate RUN POINT", "Rate a member's point: it helped, or with --bad it did not",
		exactly("a run", "a point, like a2"), func(ctx context.Context, app *App, args []string) error {
			run, err := app.Councils.Stored(ctx, council.RunID(args[0]))
			if err != nil {
				return err
			}
			member, point, err := pointOf(run, args[1], app.Councils.Texts(ctx, run.Run).Words)
			if err != nil {
				return err
			}
			if err := app.Councils.Rate(ctx, run.Run, member.ID, point, !bad); err != nil {
				return err
			}
			how := "helped"
			if bad {
				how = "did not help"
			}
			return c.advise(rateRow{run.Run, args[1], !bad}, "Point %s of %s %s.", args[1], oneLine(member.Name), how)
		})
	cmd.Long = `Rate a member's point: it helped, or with --bad it did not. The thumbs in the window do the same.
A point is named as below the answer, by the letter of its member and a number.`
	cmd.Flags().BoolVar(&bad, "bad", false, "it did not help")
	return cmd
}

// pointOf finds a point of a run by a name such as “a2”.
func pointOf(run council.Run, name string, text func(council.Hash) string) (council.Member, int, error) {
	none := fault.New(fault.NotFound, "cli.council", "The run has no point "+cutLine(name)+".",
		"conclave council replay RUN --speed 0 lists them.")
	if name == "" {
		return council.Member{}, 0, none
	}
	point, err := strconv.Atoi(name[1:])
	member, missing := memberOf(run.Council, run.OfLetter("", name[:1]))
	points := council.Record{Run: &run, Text: text}.Points(member.ID)
	if err != nil || missing != nil || point < 1 || point > len(points) {
		return member, 0, none
	}
	return member, point, nil
}

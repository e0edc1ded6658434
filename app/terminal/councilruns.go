package terminal

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/base/place"
	"conclave/app/base/settings"
	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/gate"
	"conclave/app/model/cost"
	"conclave/app/plugin"
	"conclave/app/tool"
	"conclave/app/view"
)

// runCommands start runs of councils and show them.
type runCommands struct{ promptCommands }

func (c runCommands) all() []*cobra.Command {
	return append([]*cobra.Command{
		c.runCommand(), c.sampleCommand(),
		c.withStore("runs ID", "List the runs of a chat", exactly("the id of a chat"), c.list),
		c.replayCommand(), c.resumeCommand(), c.againCommand(),
		c.withStore("export RUN FILE", "Write a run to a file that others can open", exactly("a run", "a file"),
			c.export),
		c.checkCommand(), c.seenCommand(), c.rateCommand(),
	}, c.actCommands()...)
}

func (c runCommands) list(ctx context.Context, app *App, args []string) error {
	v, err := app.Chats.Conversation(ctx, chat.ConversationID(args[0]))
	if err != nil {
		return err
	}
	all, err := app.Councils.Runs(ctx, v.ID)
	if err != nil {
		return err
	}
	rows := []view.RunHeader{}
	table := newTable("RUN", "BEGAN", "MODE", "MEMBERS", "COST", "STATE")
	for _, h := range all {
		row := view.NewRunHeader(h, app.Councils.Live(h.Run))
		rows = append(rows, row)
		state := string(row.State)
		if row.CutOff {
			state = "cut off; resume it with " + c.toType("conclave council resume "+row.Run)
		}
		table.add(row.Run, row.Began.Minute(), string(row.Mode), fmt.Sprint(row.Members),
			cost.Words(row.Spent.Cost, row.Spent.Known), state)
	}
	return c.printTable(rows, table, "No council has deliberated in this chat.")
}

func (c runCommands) replayCommand() *cobra.Command {
	var speed float64
	cmd := c.withStore("replay RUN", "Show a run again from its record, at its pace", exactly("a run"),
		func(ctx context.Context, app *App, args []string) error {
			steps, err := app.Councils.Steps(ctx, council.RunID(args[0]))
			if err != nil {
				return err
			}
			return c.replay(ctx, steps, app.Councils.Texts(ctx, council.RunID(args[0])).Words, speed)
		})
	cmd.Flags().Float64Var(&speed, "speed", 1, "how many times as fast as the run was; 0 shows all at once")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if !(speed >= 0) {
			return usageOf(cmd, "--speed is 0 or more")
		}
		return nil
	}
	return cmd
}

// replay prints the steps of a run with the pauses there were while it was worked on.
func (c runCommands) replay(ctx context.Context, steps []council.Step, text func(council.Hash) string,
	speed float64,
) error {
	t := newTimeline(c.terminal, text)
	var run council.Run
	for i, s := range steps {
		over := run.State == council.Over
		if err := run.Apply(s); err != nil {
			return fault.Wrap(fault.Damaged, "cli.replay", fmt.Sprintf("The record of the run breaks off at step %d.",
				s.Number),
				"conclave doctor checks the store.", err)
		}
		if i > 0 && speed > 0 && !over {
			wait := time.NewTimer(time.Duration(float64(run.After(s.At)-run.After(steps[i-1].At)) / speed))
			select {
			case <-wait.C:
			case <-ctx.Done():
				wait.Stop()
				return context.Cause(ctx)
			}
		}
		t.event(deliberation.Event{Run: run, Step: &s, MS: run.After(s.At).Milliseconds()})
	}
	t.box()
	return t.err
}

func (c runCommands) export(ctx context.Context, app *App, args []string) error {
	mask, err := app.Mask(ctx)
	if err != nil {
		return err
	}
	var file bytes.Buffer
	left, err := app.Councils.Export(ctx, &file, council.RunID(args[0]), mask)
	if err != nil {
		return err
	}
	_, err = place.WriteNew("cli.export", c.Path(args[1]), args[1], func(out *os.File) error {
		_, err := out.Write(file.Bytes())
		return err
	})
	if err != nil {
		return err
	}
	for _, line := range left {
		fmt.Fprintln(c.Err, oneLine(line))
	}
	return c.say(c.Out, "The run is in %s. conclave council check %s checks it.", args[1], plugin.Quoted(args[1]))
}

func (c runCommands) checkCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check FILE", Short: "Check that the file of a run can be read and is complete",
		Args: exactly("a file"),
		RunE: func(_ *cobra.Command, args []string) error {
			raw, err := readCouncilFile(c.Session, args[0], limit.RunFile)
			if err != nil {
				return err
			}
			report, err := council.ReadRun(raw)
			if err != nil {
				return err
			}
			return c.printReport(filepath.Base(args[0]), report)
		},
	}
}

func (c runCommands) printReport(name string, r council.FileRun) error {
	if c.json {
		out := struct {
			OK bool `json:"ok"`
			council.FileRun
		}{len(r.Problems) == 0, r}
		if err := c.printJSON(out); err != nil {
			return err
		}
	} else {
		for _, part := range []struct {
			mark  string
			lines []string
		}{{"read      ", r.Checked}, {"missing   ", r.Problems}, {"left out  ", r.LeftOut}} {
			for _, line := range part.lines {
				fmt.Fprintln(c.Out, part.mark+tool.OneLine(line))
			}
		}
	}
	switch {
	case len(r.Problems) > 0:
		if !c.json {
			fmt.Fprintf(c.Err, "conclave: %s is incomplete.\n", name)
		}
		return &exitError{ExitFailed}
	case !c.json:
		return c.say(c.Out, "The file is complete.")
	}
	return nil
}

func (c runCommands) runCommand() *cobra.Command {
	cmd := c.promptCommand()
	cmd.Use = "run [flags] TEXT|-"
	cmd.Short = "Have the council deliberate and the model answer, as prompt --council does"
	_ = cmd.Flags().Set("council", councilAsSet) // the flag is there
	return cmd
}

func (c runCommands) sampleCommand() *cobra.Command {
	f := &promptFlags{model: settings.DemoModel, council: councilAsSet}
	cmd := &cobra.Command{
		Use: "sample", Short: "Run a sample council: scripted members with real tools, without a network",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.converse(cmd.Context(), f, func(ctx context.Context, t *promptRun) error {
				set, question := council.Sample()
				t.how.Council, t.asker = &set, gate.SampleAsker{Tools: set.ToolIDs()}
				err := t.say(ctx, question)
				if t.chat.ID == "" || t.log != nil {
					return err
				}
				return errors.Join(err, t.app.Responder.KeepSample(ctx, t.chat.ID, set))
			})
		},
	}
	cmd.Flags().BoolVar(&f.noSave, "no-save", false, "a temporary chat: nothing is stored")
	return cmd
}

func (c runCommands) resumeCommand() *cobra.Command {
	f := &promptFlags{}
	var finish bool
	cmd := &cobra.Command{
		Use: "resume [flags] RUN", Short: "Resume a run that was cut off, and answer its question",
		Args: exactly("a run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.again(cmd.Context(), f, council.RunID(args[0]), func(t *promptRun, _ council.Run) error {
				t.how.Resume, t.how.Finish = council.RunID(args[0]), finish
				return nil
			})
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&finish, "finish", false, "start no new tasks: answer with the results so far")
	return cmd
}

func (c runCommands) againCommand() *cobra.Command {
	f := &promptFlags{}
	var change deliberation.Change
	var tools []string
	var model, role, span string
	cmd := &cobra.Command{
		Use: "again [flags] RUN", Short: "Answer the question of a run again, with one change to its council",
		Args: exactly("a run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("member-tools") {
				change.Tools = &tools
			}
			if cmd.Flags().Changed("member-model") {
				change.Model = &model
			}
			if cmd.Flags().Changed("member-role") {
				change.Role = &role
			}
			if change.Member == "" && (span != "" || change != (deliberation.Change{})) {
				return usageError("name the member to change with --member ID")
			}
			return c.again(cmd.Context(), f, council.RunID(args[0]), func(t *promptRun, before council.Run) error {
				t.how.Again, t.how.Change = council.RunID(args[0]), change
				if span == "" {
					return nil
				}
				policy, err := policyOf(before.Council, change.Member, span)
				t.how.Change.Context = &policy
				return err
			})
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&change.Member, "member", "",
		"the id of the member to change, or to work again; without it all work again")
	cmd.Flags().StringVar(&model, "member-model", "", "its CONNECTION/MODEL this time; empty is the helper's")
	cmd.Flags().StringVar(&role, "member-role", "", "its role this time; empty is none")
	cmd.Flags().StringVar(&span, "member-context", "",
		"the part of the chat that it gets this time: question, turns:N, messages:N, summary or all")
	cmd.Flags().StringSliceVar(&tools, "member-tools", nil, "its tools this time, with commas")
	return cmd
}

// policyOf returns the context policy of a member with another span, written as turns:3. The other
// settings of the policy stay.
func policyOf(set council.Council, member, written string) (council.ContextPolicy, error) {
	m, err := memberOf(set, member)
	if err != nil {
		return council.ContextPolicy{}, err
	}
	span, last, counted := strings.Cut(written, ":")
	policy := m.Context.In(set)
	policy.Span, policy.Last = council.Span(span), 0
	switch policy.Span {
	case council.Turns, council.Messages:
		policy.Last, err = strconv.Atoi(last)
		if err == nil && policy.Last > 0 {
			return policy, nil
		}
	case council.Question, council.Summary, council.Whole:
		if !counted {
			return policy, nil
		}
	}
	return policy, usageError("--member-context is question, turns:N, messages:N, summary or all, not %q", written)
}

// again answers the question of a run again. prepare sets how.
func (c runCommands) again(ctx context.Context, f *promptFlags, run council.RunID,
	prepare func(t *promptRun, before council.Run) error,
) error {
	if f.goOn || f.conversation != "" || f.noSave {
		return usageError("the chat is that of the run: leave out -c, --conversation and --no-save")
	}
	app, err := c.app(ctx, Folders{})
	if err != nil {
		return err
	}
	state, err := app.Councils.Stored(ctx, run)
	app.Close()
	if err != nil {
		return err
	}
	f.conversation, f.council = string(state.Conversation), cmp.Or(f.council, councilAsSet)
	return c.converse(ctx, f, func(ctx context.Context, t *promptRun) error {
		if err := prepare(t, state); err != nil {
			return err
		}
		t.how.Chosen = f.model != ""
		return t.turn(ctx, "", &state.Question)
	})
}

// timeline prints a run as it goes: as JSON lines on standard output, or as text.
type timeline struct {
	c        *terminal
	reporter deliberation.Reporter
	print    func(string) // prints a line of text
	names    int          // the width of the members' names
	run      council.Run
	result   *council.Result
	err      error
}

// newTimeline returns a timeline that prints to standard output.
func newTimeline(c *terminal, text func(council.Hash) string) *timeline {
	return &timeline{c: c, reporter: deliberation.Reporter{Text: text}, print: func(line string) {
		if _, err := fmt.Fprintln(c.Out, line); err != nil {
			return // the shell reports it
		}
	}}
}

func (t *timeline) event(e deliberation.Event) {
	for _, line := range t.reporter.Report(e) {
		if line.Result != nil {
			t.run, t.result = e.Run, line.Result
		}
		if t.c.json {
			if t.err == nil {
				t.err = writeJSON(t.c.Out, line)
			}
			continue
		}
		if words := line.Words(); words != "" {
			t.print(fmt.Sprintf("%6.1f s  %s  %s", float64(line.AtMS)/1000, t.padded(e.Run, line.Member), words))
		}
	}
}

// maxName bounds the column of names, in characters.
const maxName = 20

// padded returns a member's name as wide as its column.
func (t *timeline) padded(r council.Run, name string) string {
	if t.names == 0 {
		t.names = len("Council")
		for _, s := range r.Seats {
			t.names = min(maxName, max(t.names, len([]rune(oneLine(s.Member.Name)))))
		}
	}
	runes := []rune(oneLine(cmp.Or(tool.OneLine(name), "Council")))
	if len(runes) > t.names {
		runes = append(runes[:t.names-1], '…')
	}
	return string(runes) + strings.Repeat(" ", t.names-len(runes))
}

// box prints the result of the run, below the answer.
func (t *timeline) box() {
	if t.c.json || t.result == nil {
		return
	}
	for _, line := range deliberation.Box(t.run, *t.result) {
		t.print(line)
	}
}

package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"conclave/app/chat"
	"conclave/app/cost"
	"conclave/app/council"
	"conclave/app/deliberation"
	"conclave/app/fault"
	"conclave/app/limit"
	"conclave/app/permit"
	"conclave/app/plugin"
	"conclave/app/settings"
)

// runCommands start runs of councils and show them.
type runCommands struct{ promptCommands }

func (c runCommands) all() []*cobra.Command {
	return append([]*cobra.Command{
		c.runCommand(), c.sampleCommand(),
		c.withStore("runs ID", "List the runs of a chat", exactly("the id of a chat"), c.list),
		c.replayCommand(), c.resumeCommand(), c.againCommand(),
		c.withStore("export RUN FILE", "Write a run to a file that others can check", exactly("a run", "a file"), c.export),
		c.checkCommand(), c.seenCommand(), c.rateCommand(),
	}, c.actCommands()...)
}

type runRow struct {
	Run          council.RunID       `json:"run"`
	Conversation chat.ConversationID `json:"conversation"`
	Turn         string              `json:"turn"`
	Question     chat.MessageSeq     `json:"question"`
	Mode         council.Mode        `json:"mode"`
	State        council.RunState    `json:"state"`
	CutOff       bool                `json:"cut_off,omitempty"` // its program ended; it can go on
	Members      int                 `json:"members"`
	Disagree     int                 `json:"disagree"`
	Began        time.Time           `json:"began"`
	MS           int64               `json:"ms,omitempty"`
	Cost         *float64            `json:"cost,omitempty"` // left out where it is not known
	Seats        []council.SeatLine  `json:"seats"`          // of those that took part
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
	rows := []runRow{}
	table := newTable("RUN", "BEGAN", "MODE", "MEMBERS", "COST", "STATE")
	for _, h := range all {
		row := runRow{
			Run: h.Run, Conversation: h.Conversation, Turn: h.Turn, Question: h.Question, Mode: h.Mode, State: h.State,
			Members: h.Members, Disagree: h.Disagree, Began: h.Began, Seats: append([]council.SeatLine{}, h.Seats...),
			MS: h.Took(),
		}
		used := h.Spent()
		if used.Known() {
			row.Cost = &used.Cost
		}
		state := string(h.State)
		if h.State != council.Over && !app.Councils.Live(h.Run) {
			row.CutOff, state = true, "cut off; go on with "+c.toType("conclave council resume "+string(h.Run))
		}
		rows = append(rows, row)
		table.add(string(h.Run), h.Began.Local().Format("2006-01-02 15:04"), string(h.Mode), fmt.Sprint(h.Members),
			cost.Words(used.Cost, used.Known()), state)
	}
	return c.printTable(rows, table, "No council has deliberated in this chat.")
}

func (c runCommands) replayCommand() *cobra.Command {
	var speed float64
	cmd := c.withStore("replay RUN", "Show a run again as it went, from its record", exactly("a run"),
		func(ctx context.Context, app *App, args []string) error {
			steps, err := app.Councils.Steps(ctx, council.RunID(args[0]))
			if err != nil {
				return err
			}
			return c.replay(ctx, steps, runTexts(ctx, app, council.RunID(args[0])), speed)
		})
	cmd.Flags().Float64Var(&speed, "speed", 1, "how many times as fast as it went; 0 shows all at once")
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if !(speed >= 0) {
			return usageOf(cmd, "--speed is 0 or more")
		}
		return nil
	}
	return cmd
}

// runTexts reads the texts of a run. One that is not there is left empty: the record of
// steps is shown anyway.
func runTexts(ctx context.Context, app *App, run council.RunID) func(council.Hash) string {
	return func(h council.Hash) string {
		text, err := app.Councils.Text(ctx, run, h)
		if err != nil {
			return ""
		}
		return string(text)
	}
}

// replay tells the steps of a run, as far apart as they were while it was worked on.
func (c runCommands) replay(ctx context.Context, steps []council.Step, text func(council.Hash) string,
	speed float64,
) error {
	t := newTimeline(c.terminal, text)
	var run council.Run
	for i, s := range steps {
		over := run.State == council.Over
		if err := run.Apply(s); err != nil {
			return fault.Wrap(fault.Damaged, "cli.replay", fmt.Sprintf("The record of the run breaks off at step %d.", s.Number),
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
	run := council.RunID(args[0])
	steps, err := app.Councils.Steps(ctx, run)
	if err != nil {
		return err
	}
	mask, err := app.Mask(ctx)
	if err != nil {
		return err
	}
	var file bytes.Buffer
	left, err := council.Write(&file, steps,
		func(h council.Hash) ([]byte, error) { return app.Councils.Text(ctx, run, h) }, mask)
	if err != nil {
		return err
	}
	path := c.Path(args[1])
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return fault.New(fault.Conflict, "cli.export", "There is a file "+args[1]+" already.", "Name another.")
	}
	if err == nil {
		_, err = out.Write(file.Bytes())
		err = errors.Join(err, out.Close())
	}
	if err != nil {
		return fault.Wrap(fault.Unavailable, "cli.export", "The file "+args[1]+" cannot be written.",
			"Check its folder and the disk's space.", err)
	}
	for _, line := range left {
		fmt.Fprintln(c.Err, oneLine(line))
	}
	return c.say(c.Out, "The run is in %s. conclave council check %s checks it.", args[1], plugin.Quoted(args[1]))
}

func (c runCommands) checkCommand() *cobra.Command {
	return &cobra.Command{
		Use: "check FILE", Short: "Look for damage in the file of a run: texts, rolls, ballots and the order of events",
		Args: exactly("a file"),
		RunE: func(_ *cobra.Command, args []string) error {
			raw, err := readCouncilFile(c.Session, args[0], limit.RunFile)
			if err != nil {
				return err
			}
			report, err := council.Verify(raw)
			if err != nil {
				return err
			}
			return c.printReport(filepath.Base(args[0]), report)
		},
	}
}

func (c runCommands) printReport(name string, r council.Report) error {
	if c.json {
		out := struct {
			OK bool `json:"ok"`
			council.Report
		}{len(r.Problems) == 0, r}
		if err := c.printJSON(out); err != nil {
			return err
		}
	} else {
		for _, part := range []struct {
			mark  string
			lines []string
		}{{"agrees    ", r.Checked}, {"does not  ", r.Problems}, {"left out  ", r.LeftOut}} {
			for _, line := range part.lines {
				fmt.Fprintln(c.Out, part.mark+shownName(line))
			}
		}
	}
	if len(r.Problems) == 0 {
		if !c.json {
			fmt.Fprintln(c.Out, "Nothing in it was damaged. Who wrote it, and whether all of it happened so, "+
				"the file cannot show: whoever changes it can compute its hashes again.")
		}
		return nil
	}
	if !c.json {
		fmt.Fprintf(c.Err, "conclave: %s is not as it was when it was written, in %s.\n", name,
			countOf(len(r.Problems), "place"))
	}
	return &exitError{ExitFailed}
}

func (c runCommands) runCommand() *cobra.Command {
	cmd := c.promptCommand()
	cmd.Use, cmd.Short = "run [flags] TEXT|-", "Have the council deliberate, and the model answer: prompt --council"
	_ = cmd.Flags().Set("council", councilAsSet) // the flag is there
	return cmd
}

func (c runCommands) sampleCommand() *cobra.Command {
	f := &promptFlags{model: settings.DemoModel, council: councilAsSet}
	cmd := &cobra.Command{
		Use: "sample", Short: "Run a sample council: scripted members with real tools, without a network", Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.converse(cmd.Context(), f, func(ctx context.Context, t *promptRun) error {
				set, question := council.Sample()
				t.how.Council, t.asker = &set, permit.SampleAsker{Tools: set.ToolIDs()}
				err := t.say(ctx, question)
				if t.chat.ID == "" || t.log != nil {
					return err
				}
				kept := set.SwitchedOff()
				return errors.Join(err, t.app.CouncilSettings.PutCouncil(ctx, council.OfChat(t.chat.ID), &kept))
			})
		},
	}
	cmd.Flags().BoolVar(&f.noSave, "no-save", false, "a temporary chat: nothing is kept")
	return cmd
}

func (c runCommands) resumeCommand() *cobra.Command {
	f := &promptFlags{}
	var finish bool
	cmd := &cobra.Command{
		Use: "resume [flags] RUN", Short: "Go on with a run that was cut off, and have its question answered",
		Args: exactly("a run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.again(cmd.Context(), f, council.RunID(args[0]), func(t *promptRun, _ council.Run) error {
				t.how.Resume, t.how.Finish = council.RunID(args[0]), finish
				return nil
			})
		},
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&finish, "finish", false, "begin nothing new: answer with what there is")
	return cmd
}

func (c runCommands) againCommand() *cobra.Command {
	f := &promptFlags{}
	var change deliberation.Change
	var tools []string
	var model, role, told string
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
			if change.Member == "" && (told != "" || change != (deliberation.Change{})) {
				return usageError("what changes is of a member: say which with --member ID")
			}
			return c.again(cmd.Context(), f, council.RunID(args[0]), func(t *promptRun, before council.Run) error {
				t.how.Again, t.how.Change = council.RunID(args[0]), change
				if told == "" {
					return nil
				}
				policy, err := toldOf(before.Council, change.Member, told)
				t.how.Change.Context = &policy
				return err
			})
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&change.Member, "member", "",
		"the id of the member that is changed, or does its work again; without it everybody does")
	cmd.Flags().StringVar(&model, "member-model", "", "its CONNECTION/MODEL this time; empty is the helper's")
	cmd.Flags().StringVar(&role, "member-role", "", "its role this time; empty is none")
	cmd.Flags().StringVar(&told, "member-context", "",
		"what it is told of the chat this time: question, turns:N, messages:N, summary or all")
	cmd.Flags().StringSliceVar(&tools, "member-tools", nil, "its tools this time, with commas")
	return cmd
}

// toldOf returns what a member of a council is told of the chat where its span is the one
// that is written as turns:3. Its switches stay.
func toldOf(set council.Council, member, written string) (council.ContextPolicy, error) {
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

// again answers the question of a run again.
func (c runCommands) again(ctx context.Context, f *promptFlags, run council.RunID,
	prepare func(t *promptRun, before council.Run) error,
) error {
	if f.goOn || f.conversation != "" || f.noSave {
		return usageError("the chat is that of the run: -c, --conversation and --no-save do not fit")
	}
	app, err := c.app(ctx, Folders{})
	if err != nil {
		return err
	}
	state, err := storedRun(ctx, app, string(run))
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

// timeline tells of a run as it goes: in JSON lines on standard output, or in lines for
// people on standard error.
type timeline struct {
	c      *terminal
	teller deliberation.Teller
	said   func(string) // writes a line for people
	names  int          // how wide the members' names are
	run    council.Run
	result *council.Result
	err    error
}

// newTimeline returns the timeline of a run that is only looked at.
func newTimeline(c *terminal, text func(council.Hash) string) *timeline {
	return &timeline{c: c, teller: deliberation.Teller{Text: text}, said: func(line string) {
		if _, err := fmt.Fprintln(c.Out, line); err != nil {
			return // the next JSON line, or the shell, says so
		}
	}}
}

func (t *timeline) event(e deliberation.Event) {
	for _, line := range t.teller.Tell(e) {
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
			t.said(fmt.Sprintf("%6.1f s  %s  %s", float64(line.AtMS)/1000, t.padded(e.Run, line.Member), words))
		}
	}
}

// maxName bounds the column of names, in characters.
const maxName = 20

// padded is a member's name in its column.
func (t *timeline) padded(r council.Run, name string) string {
	if t.names == 0 {
		t.names = len("Council")
		for _, s := range r.Seats {
			t.names = min(maxName, max(t.names, len([]rune(oneLine(s.Member.Name)))))
		}
	}
	runes := []rune(oneLine(cmp.Or(shownName(name), "Council")))
	if len(runes) > t.names {
		runes = append(runes[:t.names-1], '…')
	}
	return string(runes) + strings.Repeat(" ", t.names-len(runes))
}

// box writes what came of the run, below the answer.
func (t *timeline) box() {
	if t.c.json || t.result == nil {
		return
	}
	for _, line := range deliberation.Box(t.run, *t.result) {
		t.said(line)
	}
}

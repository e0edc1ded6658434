package terminal

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/library"
	"conclave/app/tool"
	"conclave/app/tool/call"
	"conclave/app/view"

	"github.com/spf13/cobra"
)

// pluginTestCommands load plugins apart from the others and replay recorded calls.
type pluginTestCommands struct{ *terminal }

func (c pluginTestCommands) checkCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check PATH|ID",
		Short: "Load a plugin in a throw-away store, with no permission, and list its tools and problems",
		Args:  exactly("the path or the id of a plugin"), RunE: func(cmd *cobra.Command, args []string) error {
			path, elsewhere, err := c.locate(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if elsewhere != "" {
				return c.checkElsewhere(cmd.Context(), elsewhere)
			}
			return c.preview(cmd.Context(), path, func(_ context.Context, app *App, s plugin.Status) error {
				if len(s.Tools) == 0 && s.State == plugin.Ready && !c.json {
					fmt.Fprintln(c.Err, "It loads, and offers no tools.")
				}
				return c.printCheck(app, s, s.State == plugin.Ready, s.Problem)
			})
		},
	}
}

// checkElsewhere checks whether a plugin that runs elsewhere, such as a program that registered its
// tools, answers where it would be called. None of its tools is called.
func (c pluginTestCommands) checkElsewhere(ctx context.Context, id string) error {
	app, err := c.app(ctx, Folders{NeedsPlugins: true, WaitFor: []string{id}})
	if err != nil {
		return err
	}
	defer app.Close()
	s, err := findPlugin(app, id)
	if err != nil {
		return err
	}
	problem, _ := app.Host.Probe(ctx, s.ID)
	if problem == nil && !c.json {
		fmt.Fprintf(c.Err, "It answers at %s. None of its tools was called.\n", s.Path)
	}
	return c.printCheck(app, s, problem == nil, problem)
}

// printCheck prints the outcome of a check, and ends with ExitFailed unless it is OK.
func (c pluginTestCommands) printCheck(app *App, s plugin.Status, ok bool, problem *plugin.Problem) error {
	out := struct {
		OK       bool            `json:"ok"`
		Plugin   view.Plugin     `json:"plugin"`
		Tools    []view.Tool     `json:"tools"`
		Problems []*view.Problem `json:"problems"`
	}{ok, app.plugin(s), view.NewTools(s, app.Tools.Set(), app.Gate.AboutTool, true), []*view.Problem{}}
	for _, t := range s.Tools {
		for _, w := range t.Warnings {
			out.Problems = append(out.Problems, view.NewProblem(&plugin.Problem{
				Kind: "warning", Message: t.Name + ": " + w, File: t.File, Line: t.Line,
			}))
		}
	}
	for _, notice := range out.Plugin.Notices {
		out.Problems = append(out.Problems, view.NewProblem(&plugin.Problem{Kind: "notice", Message: notice}))
	}
	if problem != nil {
		out.Problems = append(out.Problems, view.NewProblem(problem))
	}
	if c.json {
		if err := c.printJSON(out); err != nil {
			return err
		}
	} else {
		for _, row := range out.Tools {
			fmt.Fprintf(c.Out, "%-28s %s\n", row.Name, firstLine(row.Description))
		}
		for _, p := range out.Problems {
			fmt.Fprintf(c.Err, "%s%s\n", p.Place(), p.Message)
			if p.Frame != "" {
				fmt.Fprintln(c.Err, p.Frame)
			}
			if p.Hint != "" {
				fmt.Fprintln(c.Err, c.toType(p.Hint))
			}
		}
	}
	if !out.OK {
		return &exitError{ExitFailed}
	}
	return nil
}

func (c pluginTestCommands) testCommand() *cobra.Command {
	var (
		update         bool
		calls, approve string
	)
	cmd := &cobra.Command{
		Use: "test PATH|ID", Short: "Run the calls recorded in a plugin's tests folder, with no permission",
		Args: exactly("the path or the id of a plugin"),
	}
	cmd.Flags().BoolVar(&update, "update", false, "write the current answers of the calls as the expected ones")
	cmd.Flags().StringVar(&calls, "calls", "",
		"a JSON file of recorded calls, for a program that registered its tools: they are made as by tools call")
	cmd.Flags().StringVar(&approve, "approve", "", "with --calls: ask, always or never, where the window would ask")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path, elsewhere, err := c.locate(cmd.Context(), args[0])
		switch {
		case err != nil:
			return err
		case elsewhere != "" && calls == "":
			return usageOf(cmd, "%s has no folder with recorded calls: name a file of calls with --calls", elsewhere)
		case elsewhere != "":
			return c.testElsewhere(cmd.Context(), elsewhere, calls, approve)
		case calls != "":
			return usageOf(cmd,
				"--calls is for programs that registered their tools; the calls of %s are in its tests folder", args[0])
		}
		return c.preview(cmd.Context(), path, func(ctx context.Context, app *App, s plugin.Status) error {
			if s.State != plugin.Ready {
				return fault.New(fault.Invalid, "cli.plugins", "The plugin did not load: "+sentence(s.Problem.Error()),
					s.Problem.Hint)
			}
			outcome, err := app.Library.Replay(ctx, s.ID, path, update)
			if err != nil {
				return err
			}
			return c.printTest(outcome)
		})
	}
	return cmd
}

// testElsewhere makes the recorded calls of a file, through the gate.
func (c pluginTestCommands) testElsewhere(ctx context.Context, id, file, approve string) error {
	asker, err := c.person.asker(approve)
	if err != nil {
		return err
	}
	raw, err := readFile("cli.plugins", c.Path(file), file, limit.CallArguments)
	if err != nil {
		return err
	}
	app, err := c.app(ctx, Folders{NeedsPlugins: true, WaitFor: []string{id}})
	if err != nil {
		return err
	}
	defer app.Close()
	approval := newApproval(c.Err, app, asker, []string{id})
	approval.only = []string{id}
	defer approval.end()
	if err := approval.plugins(ctx); err != nil {
		return err
	}
	if p, err := app.Host.Status(id); err != nil || !p.Serving {
		return notServing(p)
	}
	turn := call.Turn{Asker: asker, Tools: app.Tools.Set()}
	turn.Caller = gate.Person
	outcome, err := library.ReplayCalls(file, raw, func(name string, arguments json.RawMessage) (tool.Result, error) {
		return app.Calls.Do(ctx, turn, id+":"+name, cmp.Or(string(arguments), "{}"), call.Extra{})
	})
	if err != nil {
		return err
	}
	return c.printTest(outcome)
}

// printTest prints the outcome of recorded calls, and ends with ExitFailed unless all of them
// answered as expected.
func (c pluginTestCommands) printTest(outcome []library.TestResult) error {
	failed := 0
	for _, r := range outcome {
		if !r.OK {
			failed++
		}
		if c.json {
			if err := writeJSON(c.Out, r); err != nil {
				return err
			}
			continue
		}
		mark := "ok  "
		if !r.OK {
			mark = "FAIL"
		}
		fmt.Fprintf(c.Out, "%s %s: %s\n", mark, r.File, r.Name)
		if !r.OK {
			fmt.Fprintf(c.Out, "     got  %s\n     want %s\n", r.Got, r.Want)
		}
	}
	if !c.json {
		fmt.Fprintf(c.Out, "%d passed, %d failed\n", len(outcome)-failed, failed)
	}
	if failed > 0 {
		return &exitError{ExitFailed}
	}
	return nil
}

// locate returns the path of the plugin that a person named by its path or, where there is no such
// path, by its id; or the id of a plugin that runs elsewhere.
func (c pluginTestCommands) locate(ctx context.Context, name string) (path, elsewhere string, err error) {
	path = c.Path(name)
	if _, err := os.Stat(path); err == nil {
		return path, "", nil
	}
	if name != filepath.Base(name) || filepath.Ext(name) != "" { // no id looks like that
		return "", "", fault.New(fault.NotFound, "cli.plugins", "There is no file "+path+".", "")
	}
	app, err := c.app(ctx, Folders{NeedsPlugins: true, WaitFor: []string{name}})
	if err != nil {
		return "", "", err
	}
	defer app.Close()
	s, err := findPlugin(app, name)
	if err != nil {
		return "", "", err
	}
	id := s.ID
	if _, elsewhere := app.Host.Probe(ctx, id); elsewhere {
		return "", id, nil
	}
	if _, err := os.Stat(s.Path); err != nil {
		return "", "", fault.Wrap(fault.Usage, "cli.plugins",
			"The plugin "+id+" has no files in the plugins folder that could be loaded on their own.",
			"See its tools with conclave plugins show "+id+", and try it with conclave tools call "+id+":TOOL.", err)
	}
	return s.Path, "", nil
}

// preview loads the plugin at path in a throw-away store, with no permission, and runs do with its
// status, whether it loaded or not.
func (c pluginTestCommands) preview(ctx context.Context, path string,
	do func(context.Context, *App, plugin.Status) error,
) error {
	app, err := c.open(ctx, Folders{Data: "", Plugins: "", NeedsPlugins: false})
	if err != nil {
		return err
	}
	defer app.Close()
	fmt.Fprintln(c.Err,
		"This runs the plugin's code in a sandbox, with no permission and with storage that is removed afterwards.")
	id, err := app.Host.ThisRun.Preview(ctx, path)
	if err != nil {
		return err
	}
	s, err := app.Host.Status(id)
	if err != nil {
		return err
	}
	return do(ctx, app, s)
}

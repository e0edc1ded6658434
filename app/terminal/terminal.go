package terminal

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/base/language"

	"github.com/spf13/cobra"
)

// terminal holds the session, the flags that every command has, and the way to the core. Each
// group of commands embeds it.
type terminal struct {
	*Session
	person *person

	open    Opener
	json    bool              // print JSON
	data    string            // the value of --data
	plugins string            // the value of --plugins
	path    string            // the command without its arguments
	chosen  language.Language // of the settings, once they were asked for it
}

func newTerminal(s *Session, open Opener) *terminal {
	t := &terminal{Session: s, person: &person{Session: s}, open: open}
	t.person.reads = t.reads
	return t
}

// reads returns the language of the person: that of the environment, else that of the settings.
func (t *terminal) reads() language.Language {
	if t.Env != nil { // tests of questions have none
		if l := language.Of(language.System, t.Env); l != "" {
			return l
		}
	}
	return t.chosen
}

// said returns a text of Conclave in the language of the person.
func (t *terminal) said(text string) string { return language.Text(t.reads(), text) }

// label returns what stands before a fact, in the language of the person.
func (t *terminal) label(english string) string {
	return strings.TrimRight(t.said(english+":"), ":：")
}

// fact prints a line about a thing: what it is about, and the fact.
func (t *terminal) fact(w io.Writer, label, format string, args ...any) {
	fmt.Fprintln(w, padded(t.label(label), 12)+" "+fmt.Sprintf(format, args...))
}

// action does the work of a command with the open core and the command's arguments.
type action func(ctx context.Context, app *App, args []string) error

// command returns a command that opens the core as needs says for its arguments, and runs do.
func (t *terminal) command(use, short string, args cobra.PositionalArgs, needs func(args []string) Folders,
	do action,
) *cobra.Command {
	return &cobra.Command{Use: use, Short: short, Args: args, RunE: func(cmd *cobra.Command, args []string) error {
		app, err := t.app(cmd.Context(), needs(args))
		if err != nil {
			return err
		}
		defer app.Close()
		return do(cmd.Context(), app, args)
	}}
}

// withStore returns a command that needs no plugins.
func (t *terminal) withStore(use, short string, args cobra.PositionalArgs, do action) *cobra.Command {
	return t.command(use, short, args, func([]string) Folders { return Folders{} }, do)
}

// readingStore is withStore for a command that writes nothing into the data folder.
func (t *terminal) readingStore(use, short string, args cobra.PositionalArgs, do action) *cobra.Command {
	return t.command(use, short, args, func([]string) Folders { return Folders{Reads: true} }, do)
}

// withPlugins returns a command that needs the plugin that its first argument names, where its
// usage calls that ID or TOOL, and else all plugins.
func (t *terminal) withPlugins(use, short string, args cobra.PositionalArgs, do action) *cobra.Command {
	return t.command(use, short, args, func(args []string) Folders {
		return Folders{NeedsPlugins: true, WaitFor: needed(use, args)}
	}, do)
}

// withAllPlugins returns a command that needs all plugins.
func (t *terminal) withAllPlugins(use, short string, args cobra.PositionalArgs, do action) *cobra.Command {
	return t.command(use, short, args, func([]string) Folders { return Folders{NeedsPlugins: true} }, do)
}

// app opens the core for what wanted asks for, in the folders that were given.
func (t *terminal) app(ctx context.Context, wanted Folders) (*App, error) {
	folders, err := t.folders()
	if err != nil {
		return nil, err
	}
	wanted.Data, wanted.Plugins, wanted.OwnPlugins = folders.Data, folders.Plugins, folders.OwnPlugins
	wanted.Command = t.path
	app, err := t.open(ctx, wanted)
	if err == nil && t.reads() == "" && app.Settings != nil {
		if set, err := app.Settings.Settings(ctx); err == nil { // else it is English
			t.chosen = set.Language
		}
	}
	return app, err
}

// folders resolves the folders from flags, environment and defaults.
func (t *terminal) folders() (Folders, error) {
	return ResolveFolders(t.data, t.plugins, t.Env, func(path string) (string, error) {
		return filepath.Clean(t.Path(path)), nil
	})
}

// printJSON writes a value as indented JSON, for --json results that are one value.
func (t *terminal) printJSON(value any) error { return encodeJSON(t.Out, value, true) }

// result prints the outcome of a command: value with --json, else the sentence.
func (t *terminal) result(value any, sentence string, args ...any) error {
	if t.json {
		return t.printJSON(value)
	}
	_, err := fmt.Fprintln(t.Out, t.said(fmt.Sprintf(sentence, args...)))
	return err
}

// advise is result for a sentence with commands that the person can type, see toType.
func (t *terminal) advise(value any, sentence string, args ...any) error {
	if t.json {
		return t.printJSON(value)
	}
	return t.say(t.Out, sentence, args...)
}

// printTable prints a list: rows with --json, else the table, or the sentence where it is empty.
func (t *terminal) printTable(rows any, table *table, empty string) error {
	if t.json {
		return t.printJSON(rows)
	}
	return table.print(t, empty)
}

// say prints a sentence whose commands can be typed as they are, see toType.
func (t *terminal) say(w io.Writer, format string, args ...any) error {
	_, err := fmt.Fprintln(w, t.toType(t.said(fmt.Sprintf(format, args...))))
	return err
}

// next adds a sentence to a line: with a space, but none behind a full-width mark.
func next(line, sentence string) string {
	if strings.HasSuffix(line, "。") || strings.HasSuffix(line, "：") {
		return line + sentence
	}
	return line + " " + sentence
}

// printError prints an error on one line: what happened, then what to do.
func (t *terminal) printError(err error) {
	f := fault.Of(err)
	if t.json {
		var e struct {
			Error struct {
				Kind    fault.Kind `json:"kind"`
				Message string     `json:"message"`
				Hint    string     `json:"hint"`
				Detail  string     `json:"detail,omitempty"`
			} `json:"error"`
		}
		e.Error.Kind, e.Error.Message, e.Error.Hint = f.Kind, f.Message, t.toType(f.Hint)
		e.Error.Detail = f.Detail
		_ = writeJSON(t.Err, e)
		return
	}
	line := t.said(f.Message)
	if f.Kind == fault.Internal && f.Err != nil {
		line += " " + sentence(oneLine(f.Err.Error()))
	}
	if f.Hint != "" {
		line = next(line, t.toType(t.said(f.Hint)))
	}
	if f.Detail != "" {
		line = next(next(line, t.said("Details:")), sentence(f.Detail))
	}
	fmt.Fprintln(t.Err, "conclave: "+oneLine(line))
}

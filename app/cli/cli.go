// Package cli is Conclave in a terminal: the commands, their output and their
// exit statuses, on the same core as the window. The forms, the JSON and the
// statuses are a public interface; additions are welcome, changes break.
//
// It opens nothing itself: an [Opener] hands it an [App], or says that another
// Conclave has the store, in which case the whole command runs there (package
// remote). So nothing here may touch os.Stdin, os.Stdout or the working folder;
// a [Session] carries them. Read Session, App and Run first.
package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/fault"
	"conclave/app/tool"
	"conclave/app/version"

	"github.com/spf13/cobra"
)

// Session holds what a command was started with: its arguments, folder, streams and
// environment.
type Session struct {
	Args     []string // without the program's name
	In       io.Reader
	Out, Err io.Writer
	Dir      string // the working folder: relative paths are under it
	Env      func(string) string
	Terminal bool // a person is at In and Err and can be asked
	Color    bool
	Width    int      // columns; 0 = not known
	Kinds    []string // of plugins that can be begun from a template
	// Interrupt runs on Ctrl-C before that ends the command; nil does nothing.
	Interrupt *Interrupt
	// Flush, when not nil, throws away what was typed at In and not read yet.
	Flush func()
	// Closing is closed when the program this runs in wants to close: a command
	// that lasts gives way then. nil in a program of one's own.
	Closing <-chan struct{}
	// Lasting, when not nil, is called by a command that only follows something from
	// then on: should the program it runs in die, it can begin again elsewhere.
	Lasting func()
	// Restore makes the copy at path the store of the data folder, which nobody
	// may have open. bring is asked whether what a copy from elsewhere lets others do
	// shall come with it; its error ends the restore. nil where the store is open, in a
	// command that runs in it.
	Restore func(ctx context.Context, data, path string,
		bring func(ctx context.Context, differs []string) (bool, error)) (Restored, error)
	// Compact gives back what the store of the data folder does not use, and
	// returns the size of its file before and after. nil as with Restore.
	Compact func(ctx context.Context, data string) (before, after int64, err error)
}

// Path returns path relative to the session's folder.
func (s *Session) Path(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.Dir, path)
}

// Folders are the folders a command works in.
type Folders struct {
	Data         string   // absolute
	Plugins      string   // absolute
	OwnPlugins   bool     // Plugins is the default folder, inside Data
	Reads        bool     // the command writes nothing, so a folder that cannot be written will do
	NeedsPlugins bool     // the command wants the plugins folder to be read
	WaitFor      []string // the plugins that must have loaded before the command begins; none: all
	// Chat, without WaitFor: the command waits for what a chat may be offered, and not for a folder
	// full of new plugins.
	Chat    bool
	Command string // the command without its arguments: "conclave chat"
}

// Exit statuses, which scripts rely on. ExitHandedOver is remote.Gone: the command gives way.
const (
	ExitDone       = 0
	ExitFailed     = 1
	ExitUsage      = 2
	ExitNotAllowed = 3
	ExitProvider   = 4
	ExitNotFound   = 5
	ExitStopped    = 130
	ExitHandedOver = -1
	// ExitOwnedElsewhere: another program has the store; nothing was read or said yet, so
	// the whole command can run there.
	ExitOwnedElsewhere = -2
)

// ErrOwnedElsewhere is returned by an Opener when another program has the store; Run
// then returns ExitOwnedElsewhere.
var ErrOwnedElsewhere = errors.New("another program has the store")

// errGone makes Run return ExitHandedOver.
var errGone = errors.New("the command gives way")

// Opener opens the core for a command, or reuses the one that is open. The
// command calls the App's Close when it is done.
type Opener func(ctx context.Context, folders Folders) (*App, error)

// command holds the session of one run and the flags that all commands have.
type command struct {
	*Session
	open  Opener
	json  bool
	data  string
	plug  string
	path  string // the command without its arguments
	lines *lines // of In, once somebody asked for one
	desk  desk
	turns desk // of requests: whose answer is waited for, and made a rule
}

// Run runs one command and returns its exit status. Errors are printed, never
// returned.
func Run(ctx context.Context, s *Session, open Opener) int {
	c := &command{Session: s, open: open}
	root := c.root()
	root.SetArgs(s.Args)
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return ExitDone
	}
	if errors.Is(err, errGone) {
		return ExitHandedOver
	}
	if errors.Is(err, ErrOwnedElsewhere) {
		return ExitOwnedElsewhere
	}
	if quiet, ok := errors.AsType[*exitError](err); ok {
		return quiet.code
	}
	c.json = c.json || wantsJSON(s.Args) // a wrong flag before it kept it from being read
	c.printError(err)
	return exitOf(err)
}

// Fail prints an error as a command of s does, and returns its exit status.
func Fail(s *Session, err error) int {
	c := &command{Session: s, json: wantsJSON(s.Args), data: valueIn(s.Args, "--data"), plug: valueIn(s.Args, "--plugins")}
	c.printError(err)
	return exitOf(err)
}

// valueIn finds the value of a flag where the flags were not read.
func valueIn(args []string, flag string) string {
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if value, ok := strings.CutPrefix(arg, flag+"="); ok {
			return value
		}
		if arg == flag && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

// wantsJSON finds --json where the flags were not read.
func wantsJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json")
}

// exitError ends the program with a status after everything was said.
type exitError struct{ code int }

func (e *exitError) Error() string { return fmt.Sprintf("exit %d", e.code) }

func exitOf(err error) int {
	switch fault.KindOf(err) {
	case fault.Usage:
		return ExitUsage
	case fault.NotAllowed:
		return ExitNotAllowed
	case fault.Provider:
		return ExitProvider
	case fault.NotFound:
		return ExitNotFound
	case fault.Canceled:
		return ExitStopped
	}
	return ExitFailed
}

// printError writes the one line of an error: what happened, then what to do.
func (c *command) printError(err error) {
	f := fault.Of(err)
	if c.json {
		var e struct {
			Error struct {
				Kind    fault.Kind `json:"kind"`
				Message string     `json:"message"`
				Hint    string     `json:"hint"`
				Detail  string     `json:"detail,omitempty"`
			} `json:"error"`
		}
		e.Error.Kind, e.Error.Message, e.Error.Hint = f.Kind, f.Message, c.toType(f.Hint)
		e.Error.Detail = f.Detail
		_ = writeJSON(c.Err, e)
		return
	}
	line := f.Message
	if f.Kind == fault.Internal && f.Err != nil {
		line += " " + sentence(oneLine(f.Err.Error()))
	}
	if f.Hint != "" {
		line += " " + c.toType(f.Hint)
	}
	if f.Detail != "" {
		line += " Details: " + sentence(f.Detail)
	}
	fmt.Fprintln(c.Err, "conclave: "+oneLine(line))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// writeJSON writes one value and a line end, without escaping < and >.
func writeJSON(w io.Writer, value any) error { return encodeJSON(w, value, false) }

// printJSON writes a value as indented JSON, for --json results that are one value.
func (c *command) printJSON(value any) error { return encodeJSON(c.Out, value, true) }

func encodeJSON(w io.Writer, value any, indented bool) error {
	var raw bytes.Buffer
	e := json.NewEncoder(&raw)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return err
	}
	text := raw.Bytes()
	if indented {
		text = []byte(tool.Indented(text))
	}
	_, err := w.Write(inert(text))
	return err
}

// inert escapes the control characters that JSON lets stand in its texts and a
// terminal obeys: U+007F to U+009F.
func inert(raw []byte) []byte {
	var out []byte
	from := 0
	for i := 0; i < len(raw); i++ {
		c, size := raw[i], 1
		if c == 0xc2 && i+1 < len(raw) && raw[i+1] < 0xa0 {
			c, size = raw[i+1], 2
		} else if c != 0x7f {
			continue
		}
		out = fmt.Appendf(append(out, raw[from:i]...), "\\u%04x", c)
		i += size - 1
		from = i + 1
	}
	if from == 0 {
		return raw
	}
	return append(out, raw[from:]...)
}

func (c *command) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "conclave",
		Short: "Talk to models. Keep control.",
		Long: "Conclave is a chat program for any model, with plugins it watches and tools it asks about.\nWithout a " +
			"command it opens the window.",
		Version:       version.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArguments,

		PersistentPreRun: func(cmd *cobra.Command, _ []string) { c.path = cmd.CommandPath() },
		RunE:             func(cmd *cobra.Command, _ []string) error { return c.openWindow(cmd.Context()) },
	}
	root.SetVersionTemplate("conclave {{.Version}}\n")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageOf(cmd, "%s", flagError(cmd, err)) })
	flags := root.PersistentFlags()
	flags.StringVar(&c.data, "data", c.Env("CONCLAVE_DATA"), "folder of the store, logs and media (CONCLAVE_DATA)")
	flags.StringVar(&c.plug, "plugins", c.Env("CONCLAVE_PLUGINS"), "the watched plugins folder (CONCLAVE_PLUGINS)")
	flags.BoolVar(&c.json, "json", false, "print JSON")
	root.AddCommand(
		c.promptCommand(), c.chatCommand(), c.toolsCommand(), c.pluginsCommand(), c.modelsCommand(),
		c.councilCommand(), c.permissionsCommand(), c.activityCommand(),
		c.logsCommand(), c.httpCommand(), c.chatsCommand(), c.backupCommand(),
		c.restoreCommand(),
		c.compactCommand(),
		c.doctorCommand(), c.versionCommand(),
	)
	return root
}

// group returns a command that only holds others.
func group(use, short string, subs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Args: noArguments, RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(subs...)
	return cmd
}

// app opens the core for this command. It waits until the plugins of waitFor have
// loaded, or all when there are none.
func (c *command) app(ctx context.Context, needsPlugins bool, waitFor ...string) (*App, error) {
	return c.appFor(ctx, Folders{NeedsPlugins: needsPlugins, WaitFor: waitFor})
}

// chatApp opens the app for a turn that names tools, or none.
func (c *command) chatApp(ctx context.Context, tools []string) (*App, error) {
	return c.appFor(ctx, Folders{NeedsPlugins: true, Chat: len(tools) == 0})
}

// appFor opens the core for what wanted asks for, in the folders that were given.
func (c *command) appFor(ctx context.Context, wanted Folders) (*App, error) {
	folders, err := c.folders()
	if err != nil {
		return nil, err
	}
	folders.NeedsPlugins, folders.WaitFor, folders.Chat = wanted.NeedsPlugins, wanted.WaitFor, wanted.Chat
	folders.Reads = wanted.Reads
	folders.Command = c.path
	return c.open(ctx, folders)
}

// folders resolves the folders from flags, environment and defaults.
func (c *command) folders() (Folders, error) {
	return ResolveFolders(c.data, c.plug, c.Env, func(path string) (string, error) {
		return filepath.Clean(c.Path(path)), nil
	})
}

func (c *command) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			if c.json {
				return c.printJSON(versionFacts())
			}
			_, err := fmt.Fprintln(c.Out, "conclave "+version.Version)
			return err
		},
	}
}

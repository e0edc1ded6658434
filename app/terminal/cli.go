// Package terminal is Conclave in a terminal: the commands, their output and their
// exit statuses, on the same core as the window. The forms, the JSON and the
// statuses are a public interface; additions are welcome, changes break.
//
// It opens nothing itself: an [Opener] returns an [App], or reports that another
// Conclave has the store, and then the whole command runs there (package remote).
// So nothing here may use os.Stdin, os.Stdout or the working folder; a [Session]
// has them. Read Session, App and Run first; then terminal, which each group of
// commands embeds.
package terminal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/base/language"
	"conclave/app/base/version"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Exit statuses, which scripts rely on. ExitHandedOver is remote.Gone: the owner of the store closes,
// and the command can begin again elsewhere.
const (
	ExitDone       = 0
	ExitFailed     = 1
	ExitUsage      = 2
	ExitNotAllowed = 3
	ExitProvider   = 4
	ExitNotFound   = 5
	ExitStopped    = 130
	ExitHandedOver = -1
	// ExitOwnedElsewhere: another program has the store. Nothing was read or printed yet, so the
	// whole command can run there.
	ExitOwnedElsewhere = -2
)

// ErrOwnedElsewhere is returned by an Opener when another program has the store; Run
// then returns ExitOwnedElsewhere.
var ErrOwnedElsewhere = errors.New("another program has the store")

// errGone makes Run return ExitHandedOver.
var errGone = errors.New("the command can begin again elsewhere")

// Opener opens the core for a command, or reuses the one that is open. The
// command calls the App's Close when it is done.
type Opener func(ctx context.Context, folders Folders) (*App, error)

// Run runs one command and returns its exit status. Errors are printed, never
// returned.
func Run(ctx context.Context, s *Session, open Opener) int {
	t := newTerminal(s, open)
	root := t.root()
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
	t.json = t.json || wantsJSON(s.Args) // a wrong flag before --json stops the parser
	t.printError(err)
	return exitOf(err)
}

// Fail prints an error as a command of s does, and returns its exit status.
func Fail(s *Session, err error) int {
	t := &terminal{
		Session: s, json: wantsJSON(s.Args), data: valueIn(s.Args, "--data"), plugins: valueIn(s.Args, "--plugins"),
	}
	t.printError(err)
	return exitOf(err)
}

// valueIn finds the value of a flag in arguments that were not parsed.
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

// wantsJSON finds --json in arguments that were not parsed.
func wantsJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json")
}

// exitError ends the program with a status, when everything was printed already.
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

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// root returns the program's command, whose flags set the fields of t.
func (t *terminal) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "conclave",
		Short: "Talk to models. Keep control.",
		Long: "Conclave is a chat program for any model, with plugins it watches and tools it asks about.\nWithout a " +
			"command it opens the window.",
		Version:       version.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArguments,

		PersistentPreRun: func(cmd *cobra.Command, _ []string) { t.path = cmd.CommandPath() },
		RunE:             func(cmd *cobra.Command, _ []string) error { return t.openWindow(cmd.Context()) },
	}
	root.SetVersionTemplate("conclave {{.Version}}\n")
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		t.inLanguage(cmd)
		help(cmd, args)
	})
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usageOf(cmd, "%s", flagError(cmd, err)) })
	flags := root.PersistentFlags()
	flags.StringVar(&t.data, "data", t.Env("CONCLAVE_DATA"), "folder of the store, logs and media (CONCLAVE_DATA)")
	flags.StringVar(&t.plugins, "plugins", t.Env("CONCLAVE_PLUGINS"), "the watched plugins folder (CONCLAVE_PLUGINS)")
	flags.BoolVar(&t.json, "json", false, "print JSON")
	prompts, activity, store := promptCommands{t}, activityCommands{t}, storeCommands{t}
	root.AddCommand(
		prompts.promptCommand(), prompts.chatCommand(), toolCommands{t}.group(), pluginCommands{t}.group(),
		modelCommands{t}.group(), councilCommands{t}.group(), permissionCommands{t}.group(), activity.activityCommand(),
		activity.logsCommand(), httpCommands{t}.group(), mcpCommands{t}.group(), chatCommands{t}.group(),
		store.backupCommand(), store.restoreCommand(), store.compactCommand(), t.doctorCommand(), t.versionCommand(),
	)
	return root
}

// inLanguage puts the help of a command into the language of the person.
func (t *terminal) inLanguage(cmd *cobra.Command) {
	if t.reads() != language.Chinese {
		return
	}
	usage := cmd.Root().UsageTemplate()
	for _, heading := range []string{
		"Usage:", "Aliases:", "Examples:", "Available Commands:", "Additional Commands:", "Global Flags:", "Flags:",
		"Additional help topics:", "for more information about a command.",
	} {
		usage = strings.ReplaceAll(usage, heading, t.said(heading))
	}
	cmd.SetUsageTemplate(strings.Replace(usage, `Use "`, t.said("Run:")+` "`, 1))
	cmd.Long, cmd.Short = t.said(cmd.Long), t.said(cmd.Short)
	for _, sub := range cmd.Commands() {
		sub.Short = t.said(sub.Short)
	}
	say := func(f *pflag.Flag) { f.Usage = t.said(f.Usage) }
	cmd.Flags().VisitAll(say)
	cmd.InheritedFlags().VisitAll(say)
}

// group returns a command with these subcommands.
func group(use, short string, subs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Args: noArguments, RunE: func(cmd *cobra.Command,
			_ []string,
		) error {
			return cmd.Help()
		},
	}
	cmd.AddCommand(subs...)
	return cmd
}

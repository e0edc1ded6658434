package terminal

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"conclave/app/base/fault"
	"conclave/app/base/pattern"

	"github.com/spf13/cobra"
)

// usageError is the error for arguments that do not fit.
func usageError(format string, args ...any) error {
	return fault.New(fault.Usage, "cli", sentence(fmt.Sprintf(format, args...)), "See conclave help.")
}

// usageOf is usageError for a command that has its own help.
func usageOf(cmd *cobra.Command, format string, args ...any) error {
	return fault.New(fault.Usage, "cli", sentence(fmt.Sprintf(format, args...)), "See "+cmd.CommandPath()+" --help.")
}

// asUsage returns the error of a check as one about the arguments.
func asUsage(err error) error {
	f := fault.Of(err)
	return fault.Wrap(fault.Usage, f.Op, f.Message, f.Hint, err)
}

// unreadable is the error for a file that the person named and that cannot be read.
func unreadable(op, name string, err error) error {
	why, hint := "", "Check its path."
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.Wrap(fault.NotFound, op, "There is no file "+name+".", hint, err)
	case errors.Is(err, fs.ErrPermission):
		why, hint = ": you may not", "Check its permissions."
	case errors.Is(err, syscall.EISDIR):
		why, hint = ": it is a folder", "Name a file."
	}
	return fault.Wrap(fault.NotFound, op, "The file "+name+" cannot be read"+why+".", hint, err)
}

// sentence makes a sentence of an error text: a capital letter and a full stop.
func sentence(s string) string {
	if s == "" {
		return s
	}
	if first, _, _ := strings.Cut(s, " "); !strings.ContainsFunc(first,
		func(r rune) bool { return !unicode.IsLetter(r) }) {
		letter, size := utf8.DecodeRuneInString(s) // of a word, not of a file name or flag
		s = string(unicode.ToUpper(letter)) + s[size:]
	}
	if !strings.ContainsAny(s[len(s)-1:], ".!?") {
		s += "."
	}
	return s
}

// noArguments refuses arguments of a command that takes none; of the root or a group they are an
// unknown command.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.HasSubCommands() {
		message := fmt.Sprintf("there is no command %q",
			strings.TrimSpace(strings.TrimPrefix(cmd.CommandPath(), "conclave")+" "+args[0]))
		cmd.SuggestionsMinimumDistance = 2 // letters; SuggestionsFor has no default
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			message += "; did you mean " + strings.Join(near, " or ") + "?"
		}
		return usageOf(cmd, "%s", message)
	}
	return usageOf(cmd, "the command %s takes no arguments, but got %q", words(cmd), args[0])
}

// exactly takes as many arguments as it has names, which the error lists.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == len(names) {
			return nil
		}
		return usageOf(cmd, "the command %s needs %s", words(cmd), strings.Join(names, " and "))
	}
}

// some takes at least one argument.
func some(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return nil
		}
		return usageOf(cmd, "the command %s needs %s", words(cmd), name)
	}
}

// oneOrTwo takes one or two arguments.
func oneOrTwo(names string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 || len(args) == 2 {
			return nil
		}
		return usageOf(cmd, "the command %s needs %s", words(cmd), names)
	}
}

// words returns a command without the name of the program.
func words(cmd *cobra.Command) string { return strings.TrimPrefix(cmd.CommandPath(), "conclave ") }

// wrongValue matches the error of pflag (1.0) about the value of a flag, up to the text of strconv,
// which helps nobody. It is compiled when needed, or every start of the program would pay for it.
var wrongValue = pattern.Lazy(`^invalid argument (".*") for ".*--([a-z-]+)" flag: `)

// flagError words an error of pflag.
func flagError(cmd *cobra.Command, err error) string {
	if m := wrongValue().FindStringSubmatch(err.Error()); m != nil {
		if flag := cmd.Flag(m[2]); flag != nil {
			return "--" + m[2] + " cannot be " + m[1] + "; it takes " + kindOfValue(flag.Value.Type())
		}
	}
	return err.Error()
}

func kindOfValue(kind string) string {
	switch kind {
	case "int":
		return "a whole number"
	case "duration":
		return "a time as 500ms, 10s or 2m"
	case "bool":
		return "true or false"
	}
	return "a " + kind
}

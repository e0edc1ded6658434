package gate

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"conclave/app/base/pattern"
	"conclave/app/base/place"
	"conclave/app/tool"
)

// Starting is a command that a plugin wants started. Conclave starts it exactly so.
type Starting struct {
	Plugin    string
	Program   string // its file, absolute
	Arguments []string
	// Variables are those that the plugin passes to it and that differ from those that the plugin has
	// from Conclave, as NAME=value, sorted.
	Variables []string
	Folder    string   // in which it runs: absolute, links resolved
	Own       []string // the plugin's own folders, which it may name
	Behalf    Call     // the call that the plugin is working on, as far as that is known
	Within    []Call   // all that it works on: the program may be for any of them
}

// variable is a variable as it is written in front of a command.
var variable = pattern.Lazy(`(?s)^[A-Za-z_][A-Za-z0-9_]*=`)

// maxCommand is the longest command that a person can judge, in bytes.
const maxCommand = 8 << 10

// Start decides about a command, and may ask. A person may allow it for longer than once,
// for exactly this command in this folder.
func (g *Gate) Start(ctx context.Context, s Starting) Decision {
	asked := startingArguments{s.Program, command(s.Variables, s.Program, s.Arguments), s.Folder}
	switch {
	case g.Reach.Usable(s.Plugin, Programs) != nil:
		return refused("such a plugin starts no programs")
	case slices.ContainsFunc(append(s.Within, s.Behalf), func(c Call) bool { return c.Caller.IsMember() }):
		return refused("council members may not run programs")
	case len(asked.Command) > maxCommand:
		return refused("its command is too long for a person to judge it")
	case slices.ContainsFunc(s.Variables, func(one string) bool { return !variable().MatchString(one) }):
		return refused("a variable of its command has a name that a person cannot judge")
	case strings.ContainsFunc(asked.Program+asked.Command+asked.Folder, unseen):
		return refused("its command contains invisible characters")
	}
	names := append([]string{s.Program, s.Folder}, s.Arguments...)
	for _, variable := range s.Variables {
		_, value, _ := strings.Cut(variable, "=")
		names = append(names, value)
	}
	for _, named := range names {
		kept := g.Reach.places.protectedPath(named)
		if kept != "" && !slices.ContainsFunc(s.Own, func(own string) bool { return place.Inside(own, place.Real(named)) }) {
			return refused("it names " + kept + ", which no tool may touch")
		}
	}
	call := use(s.Plugin, Start, asked, s.Behalf, RunPrograms)
	call.Taint = s.Behalf.Taint
	return g.Decide(ctx, call).asAsked()
}

// command writes a command as one would in a terminal of Unix, its variables first. What it stands
// for is certain: no two commands with the same program are written alike.
func command(variables []string, program string, arguments []string) string {
	var words []string
	for _, variable := range variables {
		name, value, _ := strings.Cut(variable, "=")
		words = append(words, name+"="+quoted(value))
	}
	// A name with a “=” would be read as a variable.
	words = append(words, strings.ReplaceAll(quoted(filepath.Base(program)), "=", `'='`))
	for _, argument := range arguments {
		words = append(words, quoted(argument))
	}
	return strings.Join(words, " ")
}

// unseen reports whether a letter is one that a person does not see where a command is shown.
func unseen(r rune) bool {
	return tool.Unseen(r) && r != '\n' && r != '\t' || r == unicode.ReplacementChar
}

// quoted writes a word of a command.
func quoted(word string) string {
	bare := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("_-./:=@%+,", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !bare(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

package config

import (
	"path"
	"slices"
	"strings"
)

// Marks returns sentences about the command line of a server that a person should read before they approve it. No
// shell ever reads a command line; a mark says what it would do if its program gave it to one, or what its program does
// by itself.
func Marks(s Server) []string {
	if s.Command == "" {
		return nil
	}
	words := append([]string{s.Command}, s.Args...)
	whole := strings.Join(words, " ")
	program := programName(s.Command)
	var marks []string
	mark := func(when bool, sentence string) {
		if when && !slices.Contains(marks, sentence) {
			marks = append(marks, sentence)
		}
	}
	for _, word := range words {
		for _, sign := range []string{"&&", "||", "|", ";", "`", "$(", ">"} {
			if strings.Contains(word, sign) && !strings.Contains(word, "://") {
				mark(true, "It contains “"+sign+"”, which a shell would read as an order.")
				break
			}
		}
	}
	mark(isElevator(program) || slices.ContainsFunc(s.Args, isElevator), "It asks for the rights of the administrator.")
	fetches := strings.Contains(whole, "curl ") || strings.Contains(whole, "wget ")
	mark(fetches && strings.Contains(whole, "|"), "It downloads a program and runs it unseen.")
	mark(runsText(program, s.Args), "It is a shell or an interpreter that runs the text among its arguments.")
	mark(slices.ContainsFunc(s.Args, func(arg string) bool { return strings.HasSuffix(arg, "@latest") }),
		"It starts whatever version is the newest (@latest), so it can change without your approval.")
	if program == "docker" || program == "podman" {
		mark(slices.Contains(s.Args, "--privileged"), "Its container has the rights of the administrator (--privileged).")
		mark(strings.Contains(whole, "docker.sock"), "Its container can control Docker, and so this computer.")
		mark(mountsAll(s.Args), "Its container sees all files of this computer or of your home folder.")
	}
	if program == "npx" || program == "bunx" || program == "uvx" {
		mark(strings.Contains(whole, "git+") || strings.Contains(whole, "https://") && strings.Contains(whole, ".tgz") ||
			strings.Contains(whole, "github:"), "It starts a program from an address instead of a package registry.")
	}
	return marks
}

// programName returns the name of a program without its folder and its ending, in small letters.
func programName(command string) string {
	name := strings.ToLower(path.Base(strings.ReplaceAll(command, `\`, "/")))
	for _, ending := range []string{".exe", ".cmd", ".bat"} {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}

func isElevator(word string) bool {
	return slices.Contains([]string{"sudo", "doas", "pkexec", "su", "runas", "gsudo"}, word)
}

// runsText reports whether a program takes a text of a language as an argument.
func runsText(program string, args []string) bool {
	var flags []string
	switch program {
	case "sh", "bash", "zsh", "dash", "fish", "ksh":
		return slices.ContainsFunc(args, func(arg string) bool {
			return strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.HasSuffix(arg, "c")
		})
	case "cmd":
		// "cmd /c npx …" is how programs on Windows start npx
		return len(args) < 2 || !isRunner(args[1])
	case "powershell", "pwsh":
		return true
	case "python", "python3":
		flags = []string{"-c"}
	case "node", "bun", "deno":
		flags = []string{"-e", "--eval", "-p", "--print", "eval"}
	}
	return slices.ContainsFunc(args, func(arg string) bool { return slices.Contains(flags, arg) })
}

// mountsAll reports whether arguments of docker give a container a whole disk or a home folder.
func mountsAll(args []string) bool {
	for i, arg := range args {
		volume := ""
		switch {
		case i > 0 && (args[i-1] == "-v" || args[i-1] == "--volume" || args[i-1] == "--mount"):
			volume = arg
		case strings.HasPrefix(arg, "--volume="), strings.HasPrefix(arg, "--mount="):
			_, volume, _ = strings.Cut(arg, "=")
		default:
			continue
		}
		for _, all := range []string{"/:", "~:", userHome + ":", `C:\:`} {
			if strings.HasPrefix(volume, all) {
				return true
			}
		}
		if strings.Contains(volume, "src=/,") || strings.Contains(volume, "source=/,") {
			return true
		}
	}
	return false
}

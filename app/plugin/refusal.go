package plugin

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// Refusal reports an access that the sandbox denied to a plugin, and which permission
// would allow it. A process reports its own refusals and may lie: a person decides
// about the path that they see.
type Refusal struct {
	Permission string `json:"permission"`
	Path       string `json:"path,omitempty"` // of the permission filesystem: the folder, or the file
	Write      bool   `json:"write,omitempty"`
	// Home says that the plugin looked for it in its own home folder, where it is not. On the wire its path
	// begins with “~/”.
	Home bool `json:"-"`
	// Listing says that a folder was to be listed, which many do that take a refusal for an empty folder.
	Listing bool `json:"listing,omitempty"`
	Loading bool `json:"loading,omitempty"` // while the plugin loaded, and in no call since; on the wire alone
}

// Command returns the command that grants it to the plugin.
func (r Refusal) Command(plugin string) string {
	command := "conclave plugins grant " + plugin + " " + r.Permission
	if r.Path != "" {
		command += " --match path=" + Quoted(r.Path)
	}
	if r.Write {
		command += " --match access=write"
	}
	return command
}

// Quoted returns a path as a shell takes it.
func Quoted(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != filepath.Separator && !strings.ContainsRune("/:._-+=,@", r)
	}) {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}

// denied are the system's words for what a sandbox refuses.
var denied = []string{"ermission denied", "peration not permitted", "EACCES", "EPERM"}

// SaysDenied reports whether a text repeats the system's words for what a sandbox refuses.
func SaysDenied(text string) bool {
	return slices.ContainsFunc(denied, func(words string) bool { return strings.Contains(text, words) })
}

// The words by which programs report that they could not start another program or reach the network.
var (
	starting   = []string{"fork", "spawn", "exec"}
	networking = []string{
		"EAI_AGAIN", "getaddrinfo", "name resolution", "fetch failed", "network is unreachable", "socket: ", "connect E",
	}
)

// GuessRefusals returns which of the permissions programs and network an error, or what a program printed as it ended,
// seems to have wanted. A process that no code of Conclave's runs in reports its refusals in no other way.
func GuessRefusals(text string) (found []Refusal) {
	for line := range strings.Lines(text) {
		has := func(words string) bool { return strings.Contains(line, words) }
		one := Refusal{}
		switch {
		case SaysDenied(line) && slices.ContainsFunc(starting, has), SaysDenied(text) && has("fork_exec"):
			one.Permission = "programs"
		case slices.ContainsFunc(networking, has):
			one.Permission = "network"
		}
		if one.Permission != "" && !slices.Contains(found, one) {
			found = append(found, one)
		}
	}
	return found
}

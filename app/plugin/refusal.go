package plugin

import (
	"strings"
	"unicode"
)

// Refusal is something that a plugin reached for and was not let have: which grant
// would allow it. What a process says of its refusals is its own word: whoever
// grants it decides about the path that is shown.
type Refusal struct {
	Permission string `json:"permission"`
	Path       string `json:"path,omitempty"` // of the permission filesystem: the folder
	Write      bool   `json:"write,omitempty"`
	Loading    bool   `json:"loading,omitempty"` // while the plugin loaded, and in no call since; on the wire alone
}

// Command is the command that allows it to the plugin.
func (r Refusal) Command(plugin string) string {
	command := "conclave plugins grant " + plugin + " " + r.Permission
	if r.Path != "" {
		command += " --match path=" + quoted(r.Path)
	}
	if r.Write {
		command += " --match access=write"
	}
	return command
}

// quoted is a path as a shell takes it.
func quoted(path string) string {
	if strings.IndexFunc(path, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-", r)
	}) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

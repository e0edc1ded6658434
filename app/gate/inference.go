package gate

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"conclave/app/tool"
)

// Inferred maps capabilities that a tool is assumed to have to the reason: its own words, or what it
// did before. Nothing separates the tools of one process, so no permission shows them.
type Inferred map[Capability]string

// Label returns a capability as a person reads it, with why it is thought.
func (i Inferred) Label(c Capability) string {
	if why := i[c]; why != "" {
		return c.Label() + " (" + why + ")"
	}
	return c.Label()
}

// Labels returns capabilities as a person reads them.
func (i Inferred) Labels(all []Capability) []string {
	labels := make([]string, len(all))
	for n, c := range all {
		labels[n] = i.Label(c)
	}
	return labels
}

// deleting are words of names of tools that delete.
var deleting = []string{
	"delete", "deletes", "remove", "removes", "erase", "trash", "purge", "unlink", "wipe", "destroy", "rm", "rmdir",
	"prune", "discard", "clear", "cleanup", "empty", "löschen", "entfernen", "supprimer", "borrar", "eliminar", "удалить",
}

// deletingPart are those of scripts that put no spaces between words.
var deletingPart = []string{"删", "移除", "清空", "清除", "刪", "清理", "削除", "삭제"}

// deletes returns why a tool is assumed to delete files, or "".
func deletes(t tool.Tool, u Use) string {
	var hints struct {
		Destructive bool `json:"destructiveHint"`
	}
	_ = json.Unmarshal(t.Annotations, &hints) // others say nothing
	name := t.Name + " " + t.Title
	switch {
	case u.Deleted:
		return "it did before"
	case slices.ContainsFunc(nameWords(name), func(w string) bool { return slices.Contains(deleting, w) }),
		slices.ContainsFunc(deletingPart, func(part string) bool { return strings.Contains(name, part) }):
		return "by its name"
	case hints.Destructive:
		return "it says so"
	}
	return ""
}

// nameWords splits names as programs write them, in lower case: delete_file, deleteFile.
func nameWords(name string) []string {
	var b strings.Builder
	var before rune
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	return strings.FieldsFunc(b.String(), func(r rune) bool { return !unicode.IsLetter(r) })
}

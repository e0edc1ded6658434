package permit

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"conclave/app/tool"
)

// Inferred says why a tool is thought to have capabilities that nothing but its own words or
// what it did before tells of: no wall is between one tool of a process and another.
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

// ofToolLocked returns what calls of one tool can do, of what those of its plugin can: a tool
// of a plugin that may write in a folder deletes files there if it says so or did it before.
// Of others Conclave keeps what they delete, as it keeps what they write over.
func (g *Gate) ofToolLocked(t tool.Tool, all []Capability) ([]Capability, Inferred) {
	if !slices.Contains(all, Delete) {
		return all, nil
	}
	if why := deletes(t, g.uses[t.ID()]); why != "" {
		return all, Inferred{Delete: why}
	}
	return slices.DeleteFunc(slices.Clone(all), func(c Capability) bool { return c == Delete }), nil
}

// deleting are words of names of tools that delete.
var deleting = []string{
	"delete", "deletes", "remove", "removes", "erase", "trash", "purge", "unlink", "wipe", "destroy", "rm", "rmdir",
	"prune", "discard", "clear", "cleanup", "empty", "löschen", "entfernen", "supprimer", "borrar", "eliminar", "удалить",
}

// deletingPart are those of scripts that put no spaces between words.
var deletingPart = []string{"删", "移除", "清空", "清除", "刪", "清理", "削除", "삭제"}

// deletes says why a tool is thought to delete files; empty if nothing says so.
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

// Deleted notes that a call of a tool deleted files: from now on its calls are asked about
// as those of a tool that deletes.
func (g *Gate) Deleted(toolID string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if u := g.uses[toolID]; !u.Deleted {
		u.Deleted = true
		g.uses[toolID] = u
		g.writeSoonLocked(toolID)
	}
}

// Can returns what calls of a tool can do, as a person reads it; none where that is not
// known.
func (g *Gate) Can(t tool.Tool) []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t.Plugin == BuiltIn || g.known[t.Plugin].Plugin == "" {
		return nil
	}
	all, why := g.ofToolLocked(t, g.ableLocked(t.Plugin))
	return why.Labels(all)
}

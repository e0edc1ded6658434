package app

import (
	"slices"

	"conclave/app/chat"
)

// folded is one entry of the transcript: a message of the person's, or all
// assistant and tool messages of one turn that follow one another.
type folded struct {
	seq      chat.MessageSeq   // of its first message
	messages []chat.MessageSeq // in order
	role     chat.Role
}

// fold lays the visible path out as entries.
func fold(o Outline) []folded {
	byseq := index(o.Entries)
	out := make([]folded, 0, len(o.Path))
	var turn string
	for _, seq := range o.Path {
		e := byseq[seq]
		answer := e.Role == chat.RoleAssistant || e.Role == chat.RoleTool
		if n := len(out); answer && n > 0 && out[n-1].role == chat.RoleAssistant && e.Turn == turn && turn != "" {
			out[n-1].messages = append(out[n-1].messages, seq)
			continue
		}
		role := e.Role
		if answer {
			role = chat.RoleAssistant
		}
		turn = e.Turn
		out = append(out, folded{seq: seq, messages: []chat.MessageSeq{seq}, role: role})
	}
	return out
}

func index(entries []OutlineEntry) map[chat.MessageSeq]OutlineEntry {
	m := make(map[chat.MessageSeq]OutlineEntry, len(entries))
	for _, e := range entries {
		m[e.Seq] = e
	}
	return m
}

// siblings returns the versions that stand where seq stands, oldest first; none
// when there is only one. A version is a message of the same parent that is not
// the continuation of the same turn.
func siblings(o Outline, seq chat.MessageSeq) []chat.MessageSeq {
	byseq := index(o.Entries)
	own, ok := byseq[seq]
	if !ok {
		return nil
	}
	var out []chat.MessageSeq
	for _, e := range o.Entries {
		if e.Parent == own.Parent && e.Role == own.Role {
			out = append(out, e.Seq)
		}
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

// newestLeaf returns the end of the branch through seq that takes the newest
// message at each fork.
func newestLeaf(o Outline, seq chat.MessageSeq) chat.MessageSeq {
	last := map[chat.MessageSeq]chat.MessageSeq{}
	for _, e := range o.Entries {
		last[e.Parent] = max(last[e.Parent], e.Seq)
	}
	for last[seq] != 0 {
		seq = last[seq]
	}
	return seq
}

// entriesBehind counts the entries that follow seq on the branch to its newest
// leaf.
func entriesBehind(o Outline, seq chat.MessageSeq) int {
	byseq := index(o.Entries)
	path := []chat.MessageSeq{}
	for at := newestLeaf(o, seq); at != 0 && at != seq; at = byseq[at].Parent {
		path = append(path, at)
	}
	slices.Reverse(path)
	return len(fold(Outline{Entries: o.Entries, Path: path}))
}

// splice returns the index from which next differs from old.
func splice(old, next []folded) int {
	n := 0
	for n < len(old) && n < len(next) && old[n].seq == next[n].seq {
		n++
	}
	return n
}

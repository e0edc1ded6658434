package transcript

import (
	"slices"

	"conclave/app/chat"
)

// Folded is the place of one entry of the page: a message of a person's, or all
// assistant and tool messages of one turn.
type Folded struct {
	Seq      chat.MessageSeq   // of its first message
	Messages []chat.MessageSeq // in order
	Role     chat.Role
}

// Fold lays the visible path of an outline out as entries.
func Fold(o chat.Outline) []Folded { return fold(o, o.Path) }

func fold(o chat.Outline, path []chat.MessageSeq) []Folded {
	entries := chat.Fold(path, func(seq chat.MessageSeq) (chat.Role, string) {
		n, _ := o.Item(seq)
		return n.Role, n.Turn
	})
	out := make([]Folded, len(entries))
	for i, e := range entries {
		out[i] = Folded{Seq: e.Messages[0], Messages: e.Messages, Role: e.Role}
	}
	return out
}

// NewestLeaf returns the end of the branch through seq that takes the newest
// message at each fork.
func NewestLeaf(o chat.Outline, seq chat.MessageSeq) chat.MessageSeq {
	return newTree(o).newestLeaf(seq)
}

// tree is an outline with the ways down its branches.
type tree struct {
	chat.Outline
	first, last []int // the answers to the node at i-1, and to none at 0; -1 is none
	next        []int // of the answers to the same message, the one written next
}

func newTree(o chat.Outline) *tree {
	n := len(o.Items)
	t := &tree{o, slices.Repeat([]int{-1}, n+1), slices.Repeat([]int{-1}, n+1), slices.Repeat([]int{-1}, n)}
	for i, item := range o.Items {
		parent, ok := t.slot(item.Parent)
		switch {
		case !ok: // nobody's answer
		case t.first[parent] < 0:
			t.first[parent], t.last[parent] = i, i
		default:
			t.next[t.last[parent]], t.last[parent] = i, i
		}
	}
	return t
}

// slot returns the place of a message in first and last.
func (t *tree) slot(seq chat.MessageSeq) (int, bool) {
	if seq == 0 {
		return 0, true
	}
	i, ok := t.At(seq)
	return i + 1, ok
}

// siblings returns the versions that stand where seq stands, oldest first; none
// when there is only one. A version has the same parent and the same role.
func (t *tree) siblings(seq chat.MessageSeq) []uint64 {
	own, _ := t.Item(seq)
	out := []uint64{}
	if parent, ok := t.slot(own.Parent); ok {
		for i := t.first[parent]; i >= 0; i = t.next[i] {
			if t.Items[i].Role == own.Role {
				out = append(out, uint64(t.Items[i].Seq))
			}
		}
	}
	if len(out) < 2 {
		return []uint64{}
	}
	return out
}

func (t *tree) newestLeaf(seq chat.MessageSeq) chat.MessageSeq {
	for {
		slot, ok := t.slot(seq)
		if !ok || t.last[slot] < 0 {
			return seq
		}
		seq = t.Items[t.last[slot]].Seq
	}
}

// above returns the messages from the one behind root (0: from the first) to
// leaf.
func (t *tree) above(leaf, root chat.MessageSeq) []chat.MessageSeq {
	var path []chat.MessageSeq
	for at := leaf; at != 0 && at != root; {
		n, ok := t.Item(at)
		if !ok {
			break
		}
		path = append(path, at)
		at = n.Parent
	}
	slices.Reverse(path)
	return path
}

// behind counts the entries that follow seq on the branch to its newest leaf.
func (t *tree) behind(seq chat.MessageSeq) int {
	return len(fold(t.Outline, t.above(t.newestLeaf(seq), seq)))
}

// entryOf returns the entry that a message belongs to, on whichever branch, and
// whether the message is there.
func (t *tree) entryOf(seq chat.MessageSeq) (Folded, bool) {
	for _, path := range [][]chat.MessageSeq{t.Path, t.above(t.newestLeaf(seq), 0)} {
		if !slices.Contains(path, seq) {
			continue
		}
		for _, f := range fold(t.Outline, path) {
			if slices.Contains(f.Messages, seq) {
				return f, true
			}
		}
	}
	return Folded{}, false
}

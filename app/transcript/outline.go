package transcript

import (
	"cmp"
	"slices"

	"conclave/app/chat"
)

// Outline is the shape of a conversation without its texts.
type Outline struct {
	Conversation chat.Conversation
	Nodes        []Node            // every message, in the order they were written
	Path         []chat.MessageSeq // the visible ones, first to head
}

// Node holds what an outline knows of one message.
type Node struct {
	Seq, Parent chat.MessageSeq
	Role        chat.Role
	Turn        string
	Hidden      bool
}

// Folded is the place of one entry of the page: a message of a person's, or all
// assistant and tool messages of one turn.
type Folded struct {
	Seq      chat.MessageSeq   // of its first message
	Messages []chat.MessageSeq // in order
	Role     chat.Role
}

// Node returns what is known of a message, and whether it is there.
func (o *Outline) Node(seq chat.MessageSeq) (Node, bool) {
	i, ok := o.at(seq)
	if !ok {
		return Node{}, false
	}
	return o.Nodes[i], true
}

// at returns the place of a message among the nodes. Numbers have no gaps in a
// sound store, so the first guess is nearly always right.
func (o *Outline) at(seq chat.MessageSeq) (int, bool) {
	if i := int(seq) - 1; i >= 0 && i < len(o.Nodes) && o.Nodes[i].Seq == seq {
		return i, true
	}
	return slices.BinarySearchFunc(o.Nodes, seq, func(n Node, seq chat.MessageSeq) int {
		return cmp.Compare(n.Seq, seq)
	})
}

// Fold lays the visible path out as entries.
func (o *Outline) Fold() []Folded { return o.fold(o.Path) }

func (o *Outline) fold(path []chat.MessageSeq) []Folded {
	entries := chat.Fold(path, func(seq chat.MessageSeq) (chat.Role, string) {
		n, _ := o.Node(seq)
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
func (o *Outline) NewestLeaf(seq chat.MessageSeq) chat.MessageSeq { return newTree(*o).newestLeaf(seq) }

// tree is an outline with the ways down its branches.
type tree struct {
	Outline
	first, last []int // the answers to the node at i-1, and to none at 0; -1 is none
	next        []int // of the answers to the same message, the one written next
}

func newTree(o Outline) *tree {
	n := len(o.Nodes)
	t := &tree{o, slices.Repeat([]int{-1}, n+1), slices.Repeat([]int{-1}, n+1), slices.Repeat([]int{-1}, n)}
	for i, node := range o.Nodes {
		parent, ok := t.slot(node.Parent)
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
	i, ok := t.at(seq)
	return i + 1, ok
}

// siblings returns the versions that stand where seq stands, oldest first; none
// when there is only one. A version has the same parent and the same role.
func (t *tree) siblings(seq chat.MessageSeq) []uint64 {
	own, _ := t.Node(seq)
	out := []uint64{}
	if parent, ok := t.slot(own.Parent); ok {
		for i := t.first[parent]; i >= 0; i = t.next[i] {
			if t.Nodes[i].Role == own.Role {
				out = append(out, uint64(t.Nodes[i].Seq))
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
		seq = t.Nodes[t.last[slot]].Seq
	}
}

// above returns the messages from the one behind root (0: from the first) to
// leaf.
func (t *tree) above(leaf, root chat.MessageSeq) []chat.MessageSeq {
	var path []chat.MessageSeq
	for at := leaf; at != 0 && at != root; {
		n, ok := t.Node(at)
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
	return len(t.fold(t.above(t.newestLeaf(seq), seq)))
}

// entryOf returns the entry that a message belongs to, on whichever branch, and
// whether the message is there.
func (t *tree) entryOf(seq chat.MessageSeq) (Folded, bool) {
	for _, path := range [][]chat.MessageSeq{t.Path, t.above(t.newestLeaf(seq), 0)} {
		if !slices.Contains(path, seq) {
			continue
		}
		for _, f := range t.fold(path) {
			if slices.Contains(f.Messages, seq) {
				return f, true
			}
		}
	}
	return Folded{}, false
}

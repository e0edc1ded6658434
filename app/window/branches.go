package window

import (
	"context"
	"slices"

	"conclave/app/base/bus"
	"conclave/app/base/limit"
	"conclave/app/base/shorten"
	"conclave/app/chat"
	"conclave/app/chat/transcript"
	"conclave/app/chat/turn"
	"conclave/app/council/deliberation"
	"conclave/app/tool"
)

// Branches is bound: the branches of a chat, and what makes new ones of what is there.
type Branches struct {
	*lifecycle
	core  Core
	undo  *undos
	chats *Chats
}

// Branch is a run of messages between two forks of a chat.
type Branch struct {
	Seq     uint64    `json:"seq"` // of its first message
	Role    chat.Role `json:"role"`
	Words   string    `json:"words"`   // the first of its first message
	Entries int       `json:"entries"` // how many messages it has, as a person counts them
	Depth   int       `json:"depth"`   // how many branches lead to it from the path that is shown
	Shown   bool      `json:"shown"`   // it is on that path
}

// BranchMap has the branches of a chat: at each fork those that leave the path that is shown, then how it goes on.
type BranchMap struct {
	Branches []Branch `json:"branches"`
	More     bool     `json:"more"` // there are more than are here
}

// branchWords bounds the characters of a branch's first message that are shown.
const branchWords = 90

// Map returns the branches of a chat.
func (b *Branches) Map(conversation string) (BranchMap, error) {
	ctx := b.call()
	o, err := b.core.Store.Outline(ctx, id(conversation))
	if err != nil {
		return BranchMap{}, err
	}
	runs, more := transcript.Runs(o)
	out := BranchMap{Branches: make([]Branch, len(runs)), More: more}
	seqs := make([]chat.MessageSeq, len(runs))
	for i, r := range runs {
		seqs[i] = r.First
	}
	messages, err := b.core.Store.Messages(ctx, id(conversation), seqs)
	if err != nil {
		return BranchMap{}, err
	}
	for i, r := range runs {
		out.Branches[i] = Branch{
			Seq: uint64(r.First), Role: r.Role, Entries: r.Entries, Depth: r.Depth, Shown: r.Shown,
			Words: shorten.To(tool.OneLine(chat.TextOf(messages[i].Parts)), branchWords),
		}
	}
	return out, nil
}

// GoOn has the model go on with the answer seq, which was cut off: as a new version of it that begins with what it
// has. The kind is invalid for any other.
func (b *Branches) GoOn(conversation string, seq uint64) (Sent, error) {
	ctx := b.call()
	messages, err := b.chats.entryMessages(ctx, conversation, seq)
	if err != nil {
		return Sent{}, err
	}
	last := messages[len(messages)-1]
	r := turn.Request{ID: last.Turn, GoOn: last.Seq}
	return b.chats.turns.begin(ctx, id(conversation), r, "", false, deliberation.How{Skip: true})
}

// Remove takes entries off the path that is shown, with undo until the program quits. What followed them stays, as a
// branch without them; the branch before stays too.
func (b *Branches) Remove(conversation string, entries []uint64) (Undo, error) {
	ctx := b.call()
	of := id(conversation)
	before, err := b.core.Store.Conversation(ctx, of)
	if err != nil {
		return Undo{}, err
	}
	entries = slices.Sorted(slices.Values(entries))
	for _, seq := range slices.Backward(entries) { // what is removed renumbers what follows it
		if _, err := b.core.Conversations.Remove(ctx, of, chat.MessageSeq(seq), nil); err != nil {
			return Undo{}, err
		}
	}
	if err := b.show(ctx, of); err != nil {
		return Undo{}, err
	}
	return b.undo.add(limit.Counted(len(entries), "message")+" removed from this chat.", func(ctx context.Context) error {
		err := b.core.Conversations.WhileIdle(ctx, of, func() error {
			return b.core.Store.UpdateConversation(ctx, of, func(v *chat.Conversation) { v.Head = before.Head })
		})
		if err != nil {
			return err
		}
		return b.show(ctx, of)
	}), nil
}

// show draws a chat whose path changed.
func (b *Branches) show(ctx context.Context, of chat.ConversationID) error {
	b.core.Bus.Changed(bus.Chats, "")
	return b.chats.open.transcript(of).Refresh(ctx)
}

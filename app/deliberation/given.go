package deliberation

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/llm"
	"conclave/app/tool"
)

// messageID names a message among those of all chats.
type messageID struct {
	chat chat.ConversationID
	seq  chat.MessageSeq
}

// givenTo holds what a turn of a member was given that its tools may ask for.
type givenTo struct {
	messages map[messageID]bool
	memory   bool
}

// gives notes what a turn of a member is given of a chat, until the function returned is
// called.
func (r *Runner) gives(turnID string, in chat.ConversationID, given council.Given) (done func()) {
	to := givenTo{messages: make(map[messageID]bool, len(given.Seqs)), memory: given.Memory}
	for _, seq := range given.Seqs {
		to.messages[messageID{in, seq}] = true
	}
	r.mu.Lock()
	r.given[turnID] = to
	r.mu.Unlock()
	return func() {
		r.mu.Lock()
		delete(r.given, turnID)
		r.mu.Unlock()
	}
}

// Given returns which messages of its chat a member was given in a turn of its own, and
// whether it was given memory; member is false of a turn that is no member's.
func (r *Runner) Given(turnID string) (message func(chat.Message) bool, memory, member bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	given, ok := r.given[turnID]
	return func(m chat.Message) bool { return given.messages[messageID{m.Conversation, m.Seq}] }, given.memory, ok
}

// give makes what a member is told for a task. It is all that the member is told.
func (w *worker) give(ctx context.Context, job council.Job) (council.Given, error) {
	seat := council.Seat{}
	for _, s := range job.Run.Seats {
		if s.Member.ID == job.Task.Member {
			seat = s
		}
	}
	in := w.s.giveInput(seat, job.Task)
	in.Council = job.Run.Council
	for _, t := range w.toolsOf(job).Tools() {
		in.Tools = append(in.Tools, t.DisplayName())
	}
	for _, t := range job.Run.Tasks {
		if t.Kind == council.Summarize && t.State == council.Done {
			text, err := job.Text(ctx, t.End.Text)
			if err != nil {
				return council.Given{}, err
			}
			in.Summary = text
		}
	}
	var failed error
	in.Others = job.Run.Others(job.Task, func(h council.Hash) string {
		text, err := job.Text(ctx, h)
		failed = errors.Join(failed, err)
		return text
	})
	in.Choices, in.Seed = job.Run.Choices(job.Task.Member), job.Run.Seed
	return council.Give(in), failed
}

// toolsOf returns the tools that a member can call in a task: those that are assigned to it
// and that members may be given, as they were when the run began.
func (w *worker) toolsOf(job council.Job) *tool.Set {
	none := func(tool.Tool) bool { return false }
	switch job.Task.Kind {
	case council.Cast, council.Summarize, council.UseTool:
		return w.s.tools.Filter(none)
	}
	for _, s := range job.Run.Seats {
		if s.Member.ID == job.Task.Member {
			return w.s.tools.Filter(func(t tool.Tool) bool {
				ok, _ := council.Eligible(t)
				return ok && slices.Contains(s.Member.Tools, t.ID())
			}).Promote(func(tool.Tool) bool { return true }) // a person gave it these: it need not look for them
		}
	}
	return w.s.tools.Filter(none)
}

// blockText is a piece of what a request is made of.
func blockText(source council.Source, title, words string) council.BlockText {
	return council.BlockText{Block: council.Block{Source: source, Title: title, Tokens: llm.Tokens(words)}, Words: words}
}

// blocksOf writes what a request is made of as it is kept, with the texts it names.
func blocksOf(all []council.BlockText) (hash council.Hash, texts map[council.Hash][]byte) {
	texts = map[council.Hash][]byte{}
	blocks := make([]council.Block, len(all))
	for i, b := range all {
		blocks[i] = b.Block
		if b.Words != "" {
			blocks[i].Text = council.HashOf([]byte(b.Words))
			texts[blocks[i].Text] = []byte(b.Words)
		}
	}
	raw, err := json.Marshal(blocks)
	if err != nil { // texts and numbers can be written
		return "", texts
	}
	hash = council.HashOf(raw)
	texts[hash] = raw
	return hash, texts
}

// keepBlocks adds the texts of the blocks that a request of an earlier run was made of.
func (s *session) keepBlocks(ctx context.Context, given council.Hash, texts map[council.Hash][]byte) {
	var blocks []council.Block
	if json.Unmarshal(texts[given], &blocks) != nil {
		return
	}
	for _, b := range blocks {
		if text, err := s.r.Text(ctx, s.keptFrom, b.Text); err == nil {
			texts[b.Text] = text
		}
	}
}

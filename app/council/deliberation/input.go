package deliberation

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/model"
	"conclave/app/tool"
)

// messageID identifies a message among those of all chats.
type messageID struct {
	chat chat.ConversationID
	seq  chat.MessageSeq
}

// allowedReads is the part of the chat that a member's turn sees, and that its tools may read.
type allowedReads struct {
	messages map[messageID]bool
	memory   bool
}

// registerGiven records what a member's turn sees of a chat, until the returned function is called.
func (r *Runner) registerGiven(turnID string, in chat.ConversationID, given council.Given) (done func()) {
	to := allowedReads{messages: make(map[messageID]bool, len(given.Seqs)), memory: given.Memory}
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

// Given returns which messages a member saw in its turn, and whether it saw memory; member is false
// for a turn of no member.
func (r *Runner) Given(turnID string) (message func(chat.Message) bool, memory, member bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	given, ok := r.given[turnID]
	return func(m chat.Message) bool { return given.messages[messageID{m.Conversation, m.Seq}] }, given.memory, ok
}

// give returns everything that a member sees for a task.
func (w *worker) give(ctx context.Context, job council.Job) (council.Given, error) {
	in := w.s.giveInput(job.Member(), job.Task)
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
	in.Others = council.Record{Run: &job.Run, Text: func(h council.Hash) string {
		text, err := job.Text(ctx, h)
		failed = errors.Join(failed, err)
		return text
	}}.Others(job.Task)
	in.Choices, in.Seed = job.Run.Choices(job.Task.Member), job.Run.Seed
	return council.Give(in), failed
}

// toolsOf returns the tools that a member can call in a task: its eligible ones, as they were when the
// run began.
func (w *worker) toolsOf(job council.Job) *tool.Set {
	own := job.Member().Tools
	switch job.Task.Kind {
	case council.Cast, council.Summarize, council.UseTool:
		own = nil
	}
	return w.s.tools.Filter(func(t tool.Tool) bool {
		ok, _ := council.Eligible(t)
		return ok && slices.Contains(own, t.ID())
	}).Promote(func(tool.Tool) bool { return true }) // assigned by a person, so always offered
}

// blockText is one piece of a request.
func blockText(source council.Source, title, words string) council.BlockText {
	return council.BlockText{Block: council.Block{Source: source, Title: title, Tokens: model.Tokens(words)}, Words: words}
}

// blocksOf encodes the pieces of a request, with the texts that they name.
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

// keepBlocks adds the texts of a reused request's blocks.
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

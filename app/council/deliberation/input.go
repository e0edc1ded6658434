package deliberation

import (
	"errors"
	"slices"

	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/tool"
)

// allowedReads is the part of a chat that a member's turn sees, and that its tools may read.
type allowedReads struct {
	council.Given
	in chat.ConversationID
}

// registerGiven records what a member's turn sees of a chat, until the returned function is called.
func (r *Runner) registerGiven(turnID string, in chat.ConversationID, given council.Given) (done func()) {
	r.mu.Lock()
	r.given[turnID] = allowedReads{given, in}
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
	return func(m chat.Message) bool {
		return m.Conversation == given.in && slices.Contains(given.Seqs, m.Seq)
	}, given.Memory, ok
}

// give returns everything that a member sees for a task.
func (w *worker) give(job council.Job) (council.Given, error) {
	in := w.s.giveInput(job.Member(), job.Task)
	in.Council = job.Run.Council
	for _, t := range w.toolsOf(job).Tools() {
		in.Tools = append(in.Tools, t.DisplayName())
	}
	for _, t := range job.Run.Tasks {
		if t.Kind == council.Summarize && t.State == council.Done {
			text, err := job.Text(t.End.Text)
			if err != nil {
				return council.Given{}, err
			}
			in.Summary = text
		}
	}
	var failed error
	in.Others = council.Record{Run: &job.Run, Text: func(h council.Hash) string {
		text, err := job.Text(h)
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

// contextMessages encodes what a member sees of the chat as text, for tools that read it
// (contracts/spindle, sections 7.6 and SP-28), without pictures and calls.
func contextMessages(g council.Given) []tool.ContextMessage {
	out := []tool.ContextMessage{}
	if g.System != "" {
		out = append(out, tool.ContextMessage{Role: "system", Content: g.System})
	}
	for _, m := range g.Path {
		if m.Role == chat.RoleTool {
			continue
		}
		if text := chat.TextOf(m.Parts); text != "" {
			out = append(out, tool.ContextMessage{Role: string(m.Role), Content: text})
		}
	}
	return out
}

// originsOfNotes returns the origins of a run's notes: the council, and what its members read.
func originsOfNotes(r council.Run) []chat.Origin {
	all := []chat.Origin{chat.NewOrigin(chat.FromMember, "the council")}
	for _, t := range r.Tasks {
		if t.State == council.Done || t.State == council.Failed { // the notes hold nothing of others
			all = chat.AddOrigins(all, t.End.Origins...)
		}
	}
	return all
}

// taintOf returns, for the gate, the origins of what a task sees: of the chat, of the background, of
// what its tools and earlier members read, and those members.
func (s *session) taintOf(job council.Job, given council.Given) func() []chat.Origin {
	all := chat.AddOrigins(chat.OriginsOf(s.chat, s.path), given.Origins...)
	for _, t := range job.Run.Tasks {
		if t.State != council.Done || t.ID == job.Task.ID {
			continue
		}
		all = chat.AddOrigins(all, t.End.Origins...)
		for _, seat := range job.Run.Seats {
			if t.Member != "" && t.Member != job.Task.Member && seat.Member.ID == t.Member && t.Stage < job.Task.Stage {
				all = chat.AddOrigins(all, chat.NewOrigin(chat.FromMember, seat.Member.Name))
			}
		}
	}
	return func() []chat.Origin { return all }
}

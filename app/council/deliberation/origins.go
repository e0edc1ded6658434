package deliberation

import (
	"conclave/app/chat"
	"conclave/app/council"
)

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

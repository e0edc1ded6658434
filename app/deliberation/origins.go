package deliberation

import (
	"conclave/app/chat"
	"conclave/app/council"
)

// saidIn returns where text came from that a run put before its main model: the council
// said it, and its members read what they read.
func saidIn(r council.Run) []chat.Origin {
	all := []chat.Origin{chat.NewOrigin(chat.FromMember, "the council")}
	for _, t := range r.Tasks {
		if t.State == council.Done || t.State == council.Failed { // of others nothing is told
			all = chat.AddOrigins(all, t.End.Origins...)
		}
	}
	return all
}

// taintOf returns where text came from that a task is given, for the gate: that of the
// chat, what it is told beside the chat, what its own tools and the members before it read,
// and what those said.
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

package chat

// Entry groups what a person sees as one message: what somebody wrote, or all messages of
// one turn's answer, in order.
type Entry[M any] struct {
	Role     Role // RoleAssistant for an answer
	Messages []M
}

// Fold lays a path out as entries. role and turn of each message come from of. Turns
// that answer the same question at once may write by turns; each has one entry, at its
// first message.
func Fold[M any](path []M, of func(M) (role Role, turn string)) []Entry[M] {
	out := make([]Entry[M], 0, len(path))
	answers := map[string]int{} // by turn, since the last question
	for _, m := range path {
		role, turn := of(m)
		if role != RoleAssistant && role != RoleTool {
			clear(answers)
			out = append(out, Entry[M]{role, []M{m}})
			continue
		}
		if i, ok := answers[turn]; ok && turn != "" {
			out[i].Messages = append(out[i].Messages, m)
			continue
		}
		answers[turn] = len(out)
		out = append(out, Entry[M]{RoleAssistant, []M{m}})
	}
	return out
}

// Entries lays out the messages of a path as entries.
func Entries(path []Message) []Entry[Message] {
	return Fold(path, func(m Message) (Role, string) { return m.Role, m.Turn })
}

// EntryOf returns the place of the entry of a path that a message belongs to, or -1.
func EntryOf(entries []Entry[Message], seq MessageSeq) int {
	for i, e := range entries {
		for _, m := range e.Messages {
			if m.Seq == seq {
				return i
			}
		}
	}
	return -1
}

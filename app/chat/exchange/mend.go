package exchange

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/tool"

	"github.com/google/uuid"
)

// mending counts what had to be changed in an export.
type mending struct {
	parents, streaming, states, parts, open, times int
	roles                                          map[chat.Role]int // that Conclave does not know
	turns                                          map[string]string // new ids of turns, by what stood there
	latest                                         time.Time         // that a message can be from
}

// mend changes an export into one that this version could have written, and returns a sentence for
// each kind of change. Anybody may have written the file: references into the store, data that
// providers get back unread, and calls that would run when the chat goes on are left out.
func mend(v *Exported) []string {
	d := mending{roles: map[chat.Role]int{}, turns: map[string]string{}, latest: time.Now().AddDate(0, 0, 1)}
	known := v.Messages[:0] // in place: there may be hundreds of thousands
	before := chat.MessageSeq(0)
	for _, m := range v.Messages {
		if m.Parent != before {
			d.parents++
		}
		before = m.Seq
		d.message(&m)
		switch m.Role {
		case chat.RoleSystem, chat.RoleUser, chat.RoleAssistant, chat.RoleTool:
			known = append(known, m)
		default:
			d.roles[m.Role]++
		}
	}
	for i := range known {
		if m := &known[i]; m.State == chat.Complete && unresolved(m.Parts, known[i+1:]) {
			m.State = chat.Interrupted // or its calls would be made when the chat goes on
			d.open++
		}
	}
	v.Messages = known
	return d.sentences()
}

// message mends one message, apart from its role and its place.
func (d *mending) message(m *chat.Message) {
	switch m.State {
	case chat.Complete, chat.Stopped, chat.Interrupted, chat.Failed:
	case chat.Streaming:
		m.State = chat.Interrupted
		d.streaming++
	default:
		m.State = chat.Complete
		d.states++
	}
	for _, at := range []*time.Time{&m.Created, &m.Ended} {
		if !at.IsZero() && (at.Year() < 1970 || at.After(d.latest)) {
			*at = time.Time{}
			d.times++
		}
	}
	if m.Error != nil {
		m.Error = &chat.Failure{
			Kind: importedLine(m.Error.Kind), Message: importedLine(m.Error.Message), Hint: importedLine(m.Error.Hint),
		}
	}
	if u := m.Usage; u != nil && (min(u.Input, u.Output, u.Cached, u.Reasoning) < 0 || u.Cost < 0 || u.Cost > 1e6) {
		m.Usage = nil
	}
	m.Hooks = nil // of plugins that ran elsewhere
	m.Notes = importedNotes(m.Notes)
	before := len(m.Parts)
	m.Parts = importedParts(m.Parts)
	d.parts += before - len(m.Parts)
	m.Turn, m.Model, m.Reason = importedTurn(d.turns, m.Turn), importedLine(m.Model), importedReason(m.Reason)
}

// sentences returns a sentence for each kind of change.
func (d *mending) sentences() []string {
	var all []string
	add := func(n int, one, many string) {
		switch {
		case n == 1:
			all = append(all, one)
		case n > 1:
			all = append(all, fmt.Sprintf(many, n))
		}
	}
	add(d.parents, "1 message did not refer to the one before it; it is in the file's order now.",
		"%d messages did not refer to the one before them; they are in the file's order now.")
	add(d.streaming, "1 message was still being written when the chat was exported; it is marked as interrupted.",
		"%d messages were still being written when the chat was exported; they are marked as interrupted.")
	add(d.states, "1 message had an unknown state; it is marked as complete.",
		"%d messages had an unknown state; they are marked as complete.")
	add(d.parts, "1 part of a message was empty or of an unknown kind; it was left out.",
		"%d parts of messages were empty or of an unknown kind; they were left out.")
	add(d.open, "1 message called tools and has no results; it is marked as interrupted.",
		"%d messages called tools and have no results; they are marked as interrupted.")
	add(d.times, "1 time of a message is impossible; it was replaced by the time of the import.",
		"%d times of messages are impossible; they were replaced by the time of the import.")
	for _, role := range slices.Sorted(maps.Keys(d.roles)) {
		all = append(all,
			fmt.Sprintf("Left out: %s of the unknown role “%.40s”.", limit.Counted(d.roles[role], "message"),
				tool.OneLine(string(role))))
	}
	return all
}

// importedLine returns a title or a name as it is stored: one line of at most 200 characters,
// without hidden ones.
func importedLine(text string) string {
	if len(text) > 4<<10 {
		text = strings.ToValidUTF8(text[:4<<10], "")
	}
	line := []rune(tool.OneLine(text))
	return string(line[:min(len(line), 200)])
}

// importedNotes are the notes of a message as those of whoever wrote the file.
func importedNotes(notes []chat.Note) (kept []chat.Note) {
	for _, n := range notes {
		kept, _ = chat.AddNote(kept, chat.Note{
			Text: tool.OneLine(n.Text), Count: min(max(n.Count, 0), 1e6),
			Imported: true,
		})
	}
	return kept
}

// importedTurn returns the id of a turn: the one in the file, or a new one if that is not a UUID.
func importedTurn(known map[string]string, turn string) string {
	if _, err := uuid.Parse(turn); err == nil && len(turn) == 36 || turn == "" {
		return turn
	}
	if known[turn] == "" {
		known[turn] = uuid.Must(uuid.NewV7()).String()
	}
	return known[turn]
}

func importedReason(r chat.EndReason) chat.EndReason {
	switch r {
	case chat.EndDone, chat.EndStopped, chat.EndLimit, chat.EndError, chat.EndHandled, chat.EndInterrupted:
		return r
	}
	return ""
}

// importedParts returns the parts whose fields match their kind, without other fields.
func importedParts(parts []chat.Part) []chat.Part {
	kept := make([]chat.Part, 0, len(parts))
	for _, p := range parts {
		switch {
		case p.Kind == chat.PartText || p.Kind == chat.PartReasoning:
			kept = append(kept, chat.Part{Kind: p.Kind, Text: p.Text})
		case p.Kind == chat.PartToolCall && p.Call != nil:
			kept = append(kept, chat.Part{Kind: p.Kind, Call: importedCall(*p.Call)})
		case p.Kind == chat.PartToolResult && p.Result != nil:
			r := *p.Result
			r.CallID, r.Tool = importedLine(r.CallID), importedLine(r.Tool)
			r.Content = slices.DeleteFunc(importedParts(textAndMedia(r.Content)),
				func(p chat.Part) bool { return p.Kind == chat.PartReasoning })
			kept = append(kept, chat.Part{Kind: p.Kind, Result: &r})
		case p.Kind == chat.PartMedia && p.Media != nil:
			if raw, err := hex.DecodeString(p.Media.ID); err != nil || len(raw) != 32 {
				continue
			}
			media := *p.Media
			media.Name, media.MIME, media.Size = importedLine(media.Name), importedLine(media.MIME), max(media.Size, 0)
			kept = append(kept, chat.Part{Kind: p.Kind, Text: importedLine(p.Text), Media: &media})
		}
	}
	return kept
}

// textAndMedia returns the parts that a result may contain.
func textAndMedia(parts []chat.Part) []chat.Part {
	return slices.DeleteFunc(slices.Clone(parts), func(p chat.Part) bool {
		return p.Kind != chat.PartText && p.Kind != chat.PartMedia
	})
}

// importedCall returns a call without its number, which is that of a record in another store.
func importedCall(c chat.ToolCall) *chat.ToolCall {
	c.Sequence = 0
	c.ID, c.Tool = importedLine(c.ID), importedLine(c.Tool)
	c.Hook, c.Mended = nil, importedMended(c.Mended)
	if arguments := bytes.TrimSpace(c.Arguments); !bytes.HasPrefix(arguments, []byte("{")) {
		c.Arguments = json.RawMessage("{}")
	}
	return &c
}

// mostMended bounds how many things of one call a file may say were mended; Conclave itself says a few.
const mostMended = 8

// importedMended takes over what a file says was mended in a call, as the words of whoever wrote the file.
func importedMended(m *chat.Mended) *chat.Mended {
	if m == nil || len(m.What) == 0 {
		return nil
	}
	kept := chat.Mended{Imported: true, Tool: importedLine(m.Tool), Arguments: m.Arguments}
	for _, what := range m.What[:min(len(m.What), mostMended)] {
		kept.What = append(kept.What, importedLine(what))
	}
	return &kept
}

// unresolved reports whether a message contains a call whose result does not follow it.
func unresolved(parts []chat.Part, rest []chat.Message) bool {
	given := map[string]bool{}
	for _, m := range rest {
		if m.Role != chat.RoleTool {
			break
		}
		for _, p := range m.Parts {
			if p.Result != nil {
				given[p.Result.CallID] = true
			}
		}
	}
	return slices.ContainsFunc(parts, func(p chat.Part) bool { return p.Call != nil && !given[p.Call.ID] })
}

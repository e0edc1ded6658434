package window

import (
	"strings"

	"conclave/app/base/textdiff"
	"conclave/app/chat"
	"conclave/app/chat/transcript"
	"conclave/app/view"
)

// HookStepView holds what one hook did, in the order in which hooks ran.
type HookStepView struct {
	Point  chat.HookPoint  `json:"point"`
	Plugin string          `json:"plugin"` // its id, or conclave
	Title  string          `json:"title"`
	Action chat.HookAction `json:"action"` // "": it looked, and changed nothing
	Reason string          `json:"reason"` // why it denied or stopped, or how it failed
	Notes  []string        `json:"notes"`
	MS     float64         `json:"ms"`
	Lines  []view.DiffLine `json:"lines"` // by which what it gave back differs from what it was given
	Left   string          `json:"left"`  // why lines is not all of it: a sentence, or ""
}

// HookedThing holds what hooks did to one request to a model and its answer, or to one
// call.
type HookedThing struct {
	Request int            `json:"request"` // which request of the answer it is, or that of the call, from 1
	Call    string         `json:"call"`    // name of the called tool as a person reads it; "" for the request
	Steps   []HookStepView `json:"steps"`
}

// Hooks returns what hooks did to an answer and its calls, oldest first: only what a hook
// looked at.
func (c *Chats) Hooks(conversation string, seq uint64) ([]HookedThing, error) {
	ctx := c.call()
	messages, err := c.entryMessages(ctx, conversation, seq)
	if err != nil {
		return nil, err
	}
	out := []HookedThing{}
	request := 0
	add := func(call string, steps []chat.HookStep) {
		if len(steps) > 0 {
			out = append(out, HookedThing{request, call, hookSteps(steps)})
		}
	}
	for _, m := range messages {
		if m.Role != chat.RoleAssistant {
			continue
		}
		request++
		add("", m.Hooks)
		for _, p := range m.Parts {
			if p.Call == nil || p.Call.Sequence == 0 {
				continue
			}
			record, err := c.core.Store.Call(ctx, p.Call.Sequence)
			if err != nil {
				continue // its card says that it is not on record
			}
			add(c.open.callWords(record).Title, record.Hooks)
		}
	}
	return out, nil
}

func hookSteps(steps []chat.HookStep) []HookStepView {
	views := make([]HookStepView, len(steps))
	for i, s := range steps {
		views[i] = HookStepView{
			Point: s.Point, Plugin: s.Plugin, Title: s.Title, Action: s.Action, Reason: transcript.Sentence(s.Reason),
			Notes: append([]string{}, s.Notes...), MS: s.MS, Lines: changedLines(s.Change), Left: s.Left,
		}
	}
	return views
}

// changedLines reads the lines that a hook changed, as chat.HookStep.Change has them.
func changedLines(change string) []view.DiffLine {
	kinds := map[byte]textdiff.Kind{'+': textdiff.Added, '-': textdiff.Removed, ' ': textdiff.Same, '@': textdiff.Gap}
	lines := []view.DiffLine{}
	for line := range strings.Lines(change) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			continue
		}
		l := view.DiffLine{Kind: kinds[line[0]], Text: strings.TrimPrefix(line[1:], "  ")}
		if heading, ok := strings.CutPrefix(line[1:], "["); ok {
			l.Text, l.Heading = strings.TrimSuffix(heading, "]"), true
		}
		lines = append(lines, l)
	}
	return lines
}

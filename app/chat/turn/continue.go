package turn

import (
	"context"
	"slices"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/model"
)

// goOn tells a model to go on with its answer, which is the last message before it.
const goOn = "Your answer was cut off there. Go on exactly where it ends, in the middle of a word if need be. " +
	"Repeat nothing of it, and say nothing about this."

// takeUp reads the answer that the turn goes on with, and returns the message that it answers.
func (t *run) takeUp(ctx context.Context) (chat.MessageSeq, error) {
	path, err := t.log.Path(ctx, t.req.Conversation)
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(path, func(m chat.Message) bool { return m.Seq == t.req.GoOn })
	if i < 0 || !path[i].CanGoOn() || path[i].Parent == 0 {
		return 0, fault.New(fault.Invalid, "turn.run", "That answer was not cut off, so it cannot go on.",
			"Ask for more in a message.")
	}
	for _, p := range path[i].Parts {
		if p.Kind == chat.PartText || p.Kind == chat.PartReasoning || p.Kind == chat.PartMedia {
			t.taken = append(t.taken, p)
		}
	}
	last := &t.taken[len(t.taken)-1]
	if last.Kind == chat.PartText {
		last.Vendor = nil // or what follows would be another part
	}
	return path[i].Parent, nil
}

// resume adds to a request the answer that was cut off, and that the model is to go on with it.
func (h *history) resume(ctx context.Context, turn string, answer []chat.Part, request *model.Request) {
	so := h.answer(ctx, chat.Message{Role: chat.RoleAssistant, Turn: turn, Parts: answer})
	request.Messages = append(slices.Clip(request.Messages),
		model.Message{Role: chat.RoleAssistant, Parts: so},
		model.Message{Role: chat.RoleUser, Parts: []chat.Part{chat.TextPart(goOn)}})
}

// draftOf returns parts of an answer as those of a draft, to which more can be added.
func draftOf(parts []chat.Part) []*draftPart {
	var all []*draftPart
	for _, p := range parts {
		one := &draftPart{part: p}
		one.text.WriteString(p.Text)
		all = append(all, one)
	}
	return all
}

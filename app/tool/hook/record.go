package hook

import (
	"context"
	"fmt"
	"math"
	"strings"

	"conclave/app/base/limit"
	"conclave/app/base/shorten"
	"conclave/app/chat"
	"conclave/app/model"
	"conclave/app/tool"
)

// Steps returns a trace as it is kept with a message or the record of a call: bounded,
// secrets masked, and of what each hook changed the lines that differ. It reads the
// secrets, and compares texts: it is for what is written behind a turn.
func (p *Points) Steps(ctx context.Context, trace []Trace) []chat.HookStep {
	if len(trace) == 0 {
		return nil
	}
	trace, more := listed(trace)
	mask, unknown := p.mask(ctx, trace)
	room := limit.HookChange
	steps := make([]chat.HookStep, 0, len(trace)+1)
	for _, t := range trace {
		s := chat.HookStep{
			Point: t.Point, Plugin: t.Owner.ID, Title: shortened(t.Owner.Title, mask), Action: t.Action,
			Reason: shortened(t.Reason, mask), MS: math.Round(float64(t.Took.Microseconds())/10) / 100,
		}
		for _, note := range t.Notes[:min(len(t.Notes), maxNotes)] {
			s.Notes = append(s.Notes, shortened(note, mask))
		}
		switch {
		case t.change == nil:
		case unknown:
			s.Left = unmasked
		default:
			before, after := t.change()
			s.Change, s.Left = change(before, after, mask, room)
			room -= len(s.Change)
		}
		steps = append(steps, s)
	}
	if more > 0 {
		steps = append(steps, chat.HookStep{
			Plugin: Conclave.ID, Title: Conclave.Title, Point: trace[len(trace)-1].Point, Reason: stepsLeft(more),
		})
	}
	return steps
}

// unmasked stands where a change would.
const unmasked = "What it changed is not kept: Conclave cannot read its keys just now, so a secret in it " +
	"could not be masked."

// What each step may say beside its change.
const (
	maxNotes = 8
	maxWords = 500
)

// shortened returns words of a plugin's on one line.
func shortened(words string, mask func(string) string) string {
	if len(words) > 8*maxWords {
		words = words[:8*maxWords]
	}
	words, _ = tool.Strip(strings.ToValidUTF8(mask(words), ""))
	return shorten.To(strings.Join(strings.Fields(words), " "), maxWords)
}

// listed returns the steps that are kept, and how many are not: before those that did
// something, those go that changed nothing.
func listed(trace []Trace) ([]Trace, int) {
	most := limit.HookSteps
	if len(trace) <= most {
		return trace, 0
	}
	var kept []Trace
	for _, t := range trace {
		if t.Action != Unchanged && len(kept) < most {
			kept = append(kept, t)
		}
	}
	if len(kept) == 0 {
		kept = trace[:most]
	}
	return kept, len(trace) - len(kept)
}

// mask returns what takes the secrets out of the texts of a trace. unknown says that not
// all of them are known.
func (p *Points) mask(ctx context.Context, trace []Trace) (mask func(string) string, unknown bool) {
	shapes := func(text string) string { return model.Mask(text) }
	says := false
	for _, t := range trace {
		says = says || t.change != nil || t.Reason != "" || len(t.Notes) > 0
	}
	if !says || p.Mask == nil {
		return shapes, false
	}
	mask, err := p.Mask(ctx)
	if err != nil {
		return shapes, true
	}
	return mask, false
}

// stepsLeft returns a sentence about steps over limit.HookSteps.
func stepsLeft(n int) string {
	if n == 1 {
		return "1 more step of a hook is not listed."
	}
	return fmt.Sprintf("%d more steps of hooks are not listed.", n)
}

package transcript

import (
	"encoding/json"
	"strconv"
	"strings"

	"conclave/app/base/jsonobject"
	"conclave/app/base/shorten"
	"conclave/app/chat"
	"conclave/app/chat/showing"
	"conclave/app/tool"
)

// card is the line of a call on its card.
func (t *Transcript) card(r chat.CallRecord) *Call {
	words := t.o.Words(r)
	c := &Call{
		Tool: r.ToolID, Title: words.Title, Doing: words.Doing, Did: words.Did, Plugin: words.Plugin,
		For:   tool.OneLine(r.CallerName),
		State: callState(r), Summary: summary(r), Started: chat.Stamp(r.Started), MS: int64(r.MS),
		Decision: showing.Sentence(r.DecidedBy), ByPerson: byPerson(r),
		Undo: undoOf(r),
	}
	if len(r.Links) > 0 {
		c.Links, c.From = r.Links, r.Plugin
	}
	if r.Mended != nil {
		c.Mended = tool.OneLine(r.Mended.Sentence())
	}
	if r.Stopped != "" {
		c.Problem = "Stopped while it ran: " + r.Stopped + "."
	}
	if r.ID != 0 {
		c.ID = strconv.FormatUint(r.ID, 10)
	}
	if c.Tool == "" {
		c.Tool = r.ToolName
	}
	if c.State == CallFailed {
		c.Problem = problem(r)
	}
	return c
}

// maxProblem bounds an error on a card, in characters. The details show all of it.
const maxProblem = 400

// problem is the first line of a call's error, without hidden characters.
func problem(r chat.CallRecord) string {
	text, _ := tool.Strip(shorten.Bytes(r.Status.Problem(r.Error), 8*maxProblem))
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return shorten.To(line, maxProblem)
}

// undoOf names the old versions of files that a call changed, once it is over.
func undoOf(r chat.CallRecord) string {
	if !r.Status.Over() {
		return ""
	}
	return r.Undo
}

// callState is the state word of a tool card.
func callState(r chat.CallRecord) CallState {
	switch r.Status {
	case chat.CallOK:
		return CallDone
	case "":
		return CallProposed // its arguments still come
	case chat.CallAsked:
		if r.Decision == "allow" {
			return CallRunning // or about to
		}
		return CallProposed
	case chat.CallRunning, chat.CallPaused:
		return CallRunning
	case chat.CallRefused:
		if r.Expired {
			return CallExpired
		}
		return CallRefused
	case chat.CallCancelled, chat.CallLimit:
		return CallStopped
	}
	return CallFailed
}

// byPerson reports whether the person decided. Records of before that was kept tell
// it by their words.
func byPerson(r chat.CallRecord) bool {
	return r.Decider == "person" || r.Decider == "" && strings.HasPrefix(r.DecidedBy, "you ")
}

// maxSummary is the length of a card's line of arguments, in characters.
const maxSummary = 120

// summary shows the arguments for a person: “text: a b c, times: 2”, in the order
// the model wrote them.
func summary(r chat.CallRecord) string {
	if r.RawArguments != "" {
		return shorten.To(tool.OneLine(r.RawArguments), maxSummary)
	}
	var parts []string
	for name, value := range jsonobject.Fields(r.Arguments) {
		shown := string(value)
		var text string
		if json.Unmarshal(value, &text) == nil {
			shown = text
		}
		parts = append(parts, name+": "+shown)
	}
	return shorten.To(tool.OneLine(strings.Join(parts, ", ")), maxSummary)
}

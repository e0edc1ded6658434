package council

import (
	"fmt"
	"slices"
)

// Doing describes what the council is doing while the main model waits, without a full stop: “The
// council answers, 1 of 3 done”. It is "" when the main model does not wait.
func (r *Run) Doing() string {
	switch r.State {
	case Asking:
		return "The council is waiting for you"
	case Counting:
		return "The council counts its ballots"
	case Running:
	default:
		return ""
	}
	at := slices.IndexFunc(r.Tasks, func(t Task) bool { return !t.State.Final() })
	if at < 0 {
		return "The council is working"
	}
	kind, done, all := r.Tasks[at].Kind, 0, 0
	for _, t := range r.Tasks {
		if t.Stage != r.Tasks[at].Stage || t.Kind != kind {
			continue
		}
		if all++; t.State.Final() {
			done++
		}
	}
	what := map[TaskKind]string{
		Summarize: "The council reads the chat", UseTool: "The council uses its tools", Opine: "The council answers",
		Look: "The council reviews the answers", Cast: "The council votes", Draft: "The council writes a draft",
		Oppose: "The council objects to the draft",
	}[kind]
	if all < 2 {
		return what
	}
	return fmt.Sprintf("%s, %d of %d done", what, done, all)
}

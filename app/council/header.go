package council

import (
	"cmp"
	"slices"
	"time"

	"conclave/app/chat"
)

// Header is the summary of a run in a list.
type Header struct {
	Run          RunID               `json:"run"`
	Conversation chat.ConversationID `json:"conversation"`
	Turn         string              `json:"turn"` // the newest turn
	Question     chat.MessageSeq     `json:"question"`
	Mode         Mode                `json:"mode"`
	State        RunState            `json:"state"`
	Members      int                 `json:"members"`          // that took part
	Silent       int                 `json:"silent,omitempty"` // of those, with no task done
	Disagree     int                 `json:"disagree"`
	Usage        chat.Usage          `json:"usage,omitzero"`  // of the members; added to the chat's total
	Answer       chat.Usage          `json:"answer,omitzero"` // of the answer, added with its message; older runs lack it
	Began        time.Time           `json:"began"`
	Ended        time.Time           `json:"ended,omitzero"`
	MS           int64               `json:"ms,omitempty"`    // working time, once it is over
	Seats        []SeatLine          `json:"seats,omitempty"` // of those that took part
}

// Spent returns the usage of the run with the answer, where that is known.
func (h Header) Spent() chat.Usage { return h.Usage.Add(h.Answer) }

// Took returns the working time of a finished run in milliseconds, without pauses; 0 for one that is
// not over.
func (h Header) Took() int64 {
	if h.Ended.IsZero() {
		return 0
	}
	return cmp.Or(h.MS, h.Ended.Sub(h.Began).Milliseconds())
}

// SeatLine is a member that took part in a run.
type SeatLine struct {
	Name   string `json:"name"`
	Letter string `json:"letter"`
	Color  string `json:"color,omitempty"`
	Agreed bool   `json:"agreed,omitempty"` // as Result.Agreed
	Same   bool   `json:"same,omitempty"`   // as Result.Same
	Rated  int    `json:"rated,omitempty"`  // points that the person rated
	Helped int    `json:"helped,omitempty"` // those of them that helped
}

// HeaderOf returns the header of a run; result is nil before there is one.
func HeaderOf(r Run, result *Result) Header {
	if result == nil {
		result = &Result{}
	}
	h := Header{
		Run: r.Begin.Run, Conversation: r.Conversation, Turn: r.Turn, Question: r.Question, Mode: r.Council.Mode,
		State: r.State, Disagree: len(result.Disagreement), Usage: r.Spent(""), Began: r.Began, Ended: r.Ended,
		MS: r.After(r.Ended).Milliseconds(),
	}
	if r.Answer != nil {
		h.Answer = r.Answer.Usage
	}
	for _, s := range r.Seats {
		if !s.In {
			continue
		}
		done := func(t Task) bool { return t.Member == s.Member.ID && t.State == Done && t.Kind != Summarize }
		if !slices.ContainsFunc(r.Tasks, done) {
			h.Silent++
		}
		line := SeatLine{Name: s.Member.Name, Letter: r.Letter("", s.Member.ID), Color: s.Member.Color}
		line.Agreed, line.Same = slices.Contains(result.Agreed, line.Letter), slices.Contains(result.Same, line.Letter)
		for _, rating := range r.Ratings.of(s.Member.ID) {
			line.Rated++
			if rating.Good {
				line.Helped++
			}
		}
		h.Seats = append(h.Seats, line)
	}
	h.Members = len(h.Seats)
	return h
}

package gate

import "time"

// A person who is asked too often stops reading. After rapidApprovals in a row, the next request
// offers a lasting rule first.
const (
	rapidApprovals = 5
	// An approval is rapid within a second from when a button can be pressed, which is 600 ms
	// after the question.
	rapidTime = 1600 * time.Millisecond
	// Answers that follow each other closer than this are one press, on a card for several.
	onePress = 200 * time.Millisecond
)

// pace counts the rapid approvals of a person in a row.
type pace struct {
	yeses int
	last  time.Time // when the last answer came
}

// answered counts an answer to a request.
func (p *pace) answered(r Request, a Answer, now time.Time) {
	again := now.Sub(p.last) < onePress
	p.last = now
	switch {
	case a.Effect != Allow || a.Scope != Once && a.Scope != "" || len(a.Trust) > 0 || now.Sub(r.Asked) >= rapidTime:
		p.yeses = 0
	case !again:
		p.yeses++
	}
}

// rapid reports whether a request offers its rule first.
func (p *pace) rapid(r Request) bool {
	_, _, lasts := r.Lasting()
	return lasts && p.yeses >= rapidApprovals
}

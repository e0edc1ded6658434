package chat

import (
	"slices"
	"time"
)

// Summary stands for the beginning of a chat in requests to models. The messages that it stands for stay as they
// are.
type Summary struct {
	Upto     MessageSeq `json:"upto"`     // the last message that it stands for
	Messages int        `json:"messages"` // how many questions and answers it stands for
	Text     string     `json:"text"`
	Model    string     `json:"model"` // "connection/model" that wrote it
	Created  time.Time  `json:"created"`
	// Without holds the messages that were hidden from models when it was made, so that it has nothing of them.
	Without []MessageSeq `json:"without,omitempty"`
}

// MostSummaries bounds the summaries that a chat holds: those of its branches, and those that a later one includes.
const MostSummaries = 8

// AddSummary adds a summary, and forgets the oldest beyond MostSummaries.
func (c *Conversation) AddSummary(s Summary) {
	c.Summaries = append(slices.Clone(c.Summaries), s)
	c.Summaries = c.Summaries[max(0, len(c.Summaries)-MostSummaries):]
}

// SummaryOf returns the newest summary that holds for a path, and how many messages of the path it stands for. It
// returns nil and 0 where none does: a summary that has text of a message that is hidden since is none.
func (c *Conversation) SummaryOf(path []Message) (*Summary, int) {
	for i := range slices.Backward(c.Summaries) {
		s := &c.Summaries[i]
		end := slices.IndexFunc(path, func(m Message) bool { return m.Seq == s.Upto }) + 1
		hidden := slices.ContainsFunc(path[:end], func(m Message) bool {
			return m.Hidden && !slices.Contains(s.Without, m.Seq)
		})
		if end > 0 && !hidden {
			return s, end
		}
	}
	return nil, 0
}

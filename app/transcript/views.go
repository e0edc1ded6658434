package transcript

import (
	"time"

	"conclave/app/chat"
	"conclave/app/fault"
)

// Failure is a fault as the page shows it.
type Failure struct {
	Kind    fault.Kind `json:"kind"`
	Message string     `json:"message"`
	Hint    string     `json:"hint"`
	Detail  string     `json:"detail"` // the other side's own words, cleaned; often empty
	Ref     string     `json:"ref"`    // also in the log; only for internal ones
}

// Pull is what changed in a conversation.
type Pull struct {
	Conversation string         `json:"conversation"`
	Revision     uint64         `json:"revision"`
	Chat         *Chat          `json:"chat"`
	Outline      *OutlineSplice `json:"outline"`
	Entries      []Entry        `json:"entries"`
	Status       *TurnStatus    `json:"status"`
	Reset        bool           `json:"reset"`
}

// Chat is one conversation without its messages.
type Chat struct {
	ID         string `json:"id"`
	Title      string `json:"title"`
	Model      string `json:"model"`
	ModelTitle string `json:"model_title"`
	Vision     bool   `json:"vision"`
	Tools      bool   `json:"tools"`
	System     string `json:"system"`
	Pinned     bool   `json:"pinned"`
	Archived   bool   `json:"archived"`
	Demo       bool   `json:"demo"`
	Created    string `json:"created"`
	Updated    string `json:"updated"`
}

// OutlineSplice says what the visible path is from an index on.
type OutlineSplice struct {
	From int      `json:"from"`
	Seqs []uint64 `json:"seqs"`
}

// Entry is what is drawn as one message.
type Entry struct {
	Seq         uint64   `json:"seq"`
	Whole       bool     `json:"whole"`
	Role        string   `json:"role"`
	Turn        string   `json:"turn"`
	Model       string   `json:"model"`
	State       string   `json:"state"`
	Reason      string   `json:"reason"`
	Error       *Failure `json:"error"`
	Created     string   `json:"created"`
	Ended       string   `json:"ended"`
	Hidden      bool     `json:"hidden"`
	Siblings    []uint64 `json:"siblings"`
	OtherBranch int      `json:"other_branch"`
	Words       int      `json:"words"`
	Usage       *Usage   `json:"usage"`
	PartCount   int      `json:"part_count"`
	Parts       []Part   `json:"parts"`
}

// Usage counts tokens and money.
type Usage struct {
	Input     int64   `json:"input_tokens"`
	Output    int64   `json:"output_tokens"`
	Cached    int64   `json:"cached_tokens"`
	Reasoning int64   `json:"reasoning_tokens"`
	Cost      float64 `json:"cost"`
}

// Part is a piece of an entry.
type Part struct {
	Index      int     `json:"index"`
	Kind       string  `json:"kind"` // text, reasoning, tool_call, media
	Blocks     []Block `json:"blocks"`
	BlockCount int     `json:"block_count"`
	MS         int64   `json:"ms"`
	Done       bool    `json:"done"`
	Call       *Call   `json:"call"`
	Media      *Media  `json:"media"`
}

// Block is one top-level block of rendered, sanitized HTML.
type Block struct {
	Index int    `json:"index"`
	HTML  string `json:"html"`
	Keep  int    `json:"keep"` // HTML replaces what comes after this many UTF-16 units
	Done  bool   `json:"done"`
}

// TurnStatus says what a running turn is doing.
type TurnStatus struct {
	Turn  string `json:"turn"`
	Phase string `json:"phase"`
	Since string `json:"since"`
	Model string `json:"model"`
	Tool  string `json:"tool"`
	Note  string `json:"note"`
}

// Call is one line of a tool card.
type Call struct {
	ID       string `json:"id"`
	Tool     string `json:"tool"`
	Title    string `json:"title"`
	Doing    string `json:"doing"` // "save a note"
	Did      string `json:"did"`   // "Saved a note"
	Plugin   string `json:"plugin"`
	Summary  string `json:"summary"`
	State    string `json:"state"`
	Problem  string `json:"problem"`
	Started  string `json:"started"`
	MS       int64  `json:"ms"`
	Progress string `json:"progress"`
	Request  string `json:"request"`
	Decision string `json:"decision"`
	Grant    string `json:"grant"`
	ByPerson bool   `json:"by_person"` // a person answered a card for this call
}

// Media is a content-addressed file; its bytes are at /media/<id>.
type Media struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	MIME string `json:"mime_type"`
	Size int64  `json:"size"`
}

// UsageOf returns u as the page reads it.
func UsageOf(u chat.Usage) *Usage {
	return &Usage{Input: u.Input, Output: u.Output, Cached: u.Cached, Reasoning: u.Reasoning, Cost: u.Cost}
}

// MediaOf returns m as the page reads it.
func MediaOf(m chat.Media) *Media {
	return &Media{ID: m.ID, Name: m.Name, MIME: m.MIME, Size: m.Size}
}

// Stamp returns a time as the page reads it: RFC 3339 with milliseconds, or "".
func Stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02T15:04:05.000Z07:00")
}

// failureOf returns a failure that was kept with a message as the page reads it.
func failureOf(f *chat.Failure) *Failure {
	if f == nil {
		return nil
	}
	return &Failure{Kind: fault.Kind(f.Kind), Message: f.Message, Hint: f.Hint, Detail: f.Detail}
}

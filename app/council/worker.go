package council

import (
	"encoding/json"
	"slices"

	"conclave/app/base/limit"
	"conclave/app/chat"
)

// Job is one attempt at a task. Run is the state when the task was started; later steps
// do not change it.
type Job struct {
	Run     Run
	Task    Task
	Attempt int
	Text    ReadText
}

// Member returns the member whose task it is, with an empty id for a task of the council's.
func (j *Job) Member() Member { return j.Run.Member(j.Task.Member) }

// Work is the outcome of a job: how it ended, and the texts that End names.
type Work struct {
	End   End
	Texts Texts
}

// Sent adds a request with its body, unless that is too long to be stored, and the pieces that it
// consists of.
func (w *Work) Sent(r Request, body []byte, blocks []BlockText) {
	if r.Body, r.Bytes = HashOf(body), len(body); int64(len(body)) <= limit.CouncilRequest {
		w.Texts.Add(body)
	}
	if blocks != nil {
		all := make([]Block, len(blocks))
		for i, b := range blocks {
			if all[i] = b.Block; b.Words != "" {
				all[i].Text = w.Texts.Add([]byte(b.Words))
			}
		}
		raw, _ := json.Marshal(all) // texts and numbers can be encoded
		r.Given = w.Texts.Add(raw)
	}
	w.End.Requests = append(w.End.Requests, r)
}

// Follow adds the usage, the requests and the texts of work that was done before on the same task.
func (w *Work) Follow(before Work) {
	w.End.Usage = before.End.Usage.Add(w.End.Usage)
	w.End.Requests = append(slices.Clip(before.End.Requests), w.End.Requests...)
	w.Texts.Copy(before.Texts)
}

// Live is the visible progress of a task. It is not stored: a task that is cut off begins again.
type Live struct {
	Phase   Phase
	Text    string           // the next piece of the member's words
	Note    string           // a sentence: waiting for the provider, or a tool's progress
	Call    *chat.CallRecord // Using: the call
	Request string           // id of the permission request, while a person is asked
}

// Phase names a member's present activity, for its lane.
type Phase string

// The phases of a lane.
const (
	Reading  Phase = "reading"  // its request was sent
	Thinking Phase = "thinking" // the model thinks
	Using    Phase = "using"    // a tool runs, or waits for a person
	Writing  Phase = "writing"
)

// Block is one piece of a request.
type Block struct {
	Source Source `json:"source"`
	Title  string `json:"title"` // “Role”, “Your question”, the name of a file
	Text   Hash   `json:"text,omitempty"`
	Tokens int64  `json:"tokens"` // an estimate
	Cut    int64  `json:"cut,omitempty"`
	Why    string `json:"why,omitempty"` // what was left out, and why: a sentence
}

// Source names the origin of a block.
type Source string

// The sources of blocks.
const (
	FromSystem Source = "system" // the chat's system text
	FromRole   Source = "role"   // name, role, persona and rules of a member
	FromMemory Source = "memory" // personas, characters, world information
	FromFile   Source = "file"
	FromTurn   Source = "turn" // a message of the chat
	FromMember Source = "member"
	FromTools  Source = "tools" // definitions of its tools
	FromCall   Source = "call"  // a tool call or its result
	FromNudge  Source = "nudge"
)

package council

import (
	"context"

	"conclave/app/chat"
)

// Job is one attempt at a task, for a Worker. Run is the state when the task was started; later steps
// do not change it.
type Job struct {
	Run     Run
	Task    Task
	Attempt int
	// Text returns a text of the run by its hash.
	Text func(ctx context.Context, h Hash) (string, error)
}

// Member returns the member whose task it is, with an empty id for a task of the council's.
func (j *Job) Member() Member { return j.Run.Member(j.Task.Member) }

// Work is the outcome of a job: how it ended, and the texts that End names.
type Work struct {
	End   End
	Texts map[Hash][]byte
}

// Worker does tasks. Do runs one to its end and reports every error in End. When ctx ends, it returns
// soon with Stopped. It calls live from any goroutine to show progress, and never after it returned.
// Do is called for many tasks at once.
type Worker interface {
	Do(ctx context.Context, job Job, live func(Live)) Work
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

package council

import (
	"crypto/sha256"
	"encoding/base64"
	"time"

	"conclave/app/chat"
)

// RunID identifies a run (UUID version 7, so ids sort by age).
type RunID string

// Hash names a text by its SHA-256, in base64url without padding; "" is no text.
type Hash string

// HashOf returns the name of a text.
func HashOf(text []byte) Hash {
	sum := sha256.Sum256(text)
	return Hash(base64.RawURLEncoding.EncodeToString(sum[:]))
}

// StepKind is the kind of a Step.
type StepKind string

// The kinds of steps.
const (
	Begins    StepKind = "begins"    // Begin: always the first step
	Resumes   StepKind = "resumes"   // Turn, Model, Text: the run continues in another turn
	Starts    StepKind = "starts"    // Task, Attempt
	Ends      StepKind = "ends"      // Task, Attempt, End
	Acts      StepKind = "acts"      // Act, By; and Member or Tasks, Text
	Opens     StepKind = "opens"     // all ballots are cast, and are opened
	Hands     StepKind = "hands"     // Notes: the main model gets the notes, if any, and answers
	Concludes StepKind = "concludes" // Answer: the main model's turn ended
	Rates     StepKind = "rates"     // Member, Point, Good: a person's thumb, also on a run that is over
)

// Step is one thing that happened to a run. Each is stored as one record. Kind decides which fields
// count; texts are named by their hashes.
type Step struct {
	Number int       `json:"n"` // from 1
	Kind   StepKind  `json:"kind"`
	At     time.Time `json:"at"`

	Begin   *Begin   `json:"begin,omitempty"`
	Turn    string   `json:"turn,omitempty"`
	Task    string   `json:"task,omitempty"`
	Attempt int      `json:"attempt,omitempty"` // from 1
	End     *End     `json:"end,omitempty"`
	Act     Act      `json:"act,omitempty"`
	By      By       `json:"by,omitempty"`
	Member  string   `json:"member,omitempty"`
	Tasks   []string `json:"tasks,omitempty"` // retry: these alone
	// Text holds the person's words of a nudge, the reason of finish and stop, and in Resumes why another
	// model than intended writes the answer.
	Text   string  `json:"text,omitempty"`
	Model  string  `json:"model,omitempty"` // Resumes: the model that writes the answer, "connection/model"
	Notes  Hash    `json:"notes,omitempty"`
	Answer *Answer `json:"answer,omitempty"`
	Point  int     `json:"point,omitempty"`
	Good   bool    `json:"good,omitempty"`
}

// Begin holds everything that a run begins with. It never changes: members that are removed or edited
// later stay in the run as they were.
type Begin struct {
	Run          RunID               `json:"run"`
	Conversation chat.ConversationID `json:"conversation"`
	Turn         string              `json:"turn"`
	Question     chat.MessageSeq     `json:"question"`
	Council      Council             `json:"council"`
	Path         Hash                `json:"path,omitempty"` // of the chat up to the question
	Seed         uint64              `json:"seed"`           // of its dice, letters and fences
	// Places derives a member's letter from its place in the council. In older runs only the members
	// that take part are counted.
	Places bool `json:"places,omitempty"`
	// Only is the id of the one member that is asked ("@name"); empty is all.
	Only string `json:"only,omitempty"`
	// Out holds, by member id, a sentence on why a member cannot take part, such as a missing model.
	// Under "" it explains why another model than intended writes the answer.
	Out map[string]string `json:"out,omitempty"`
	// Lacks holds, by member id, a sentence on the tools that a member lacks. In mode tools the tasks
	// say it.
	Lacks map[string]string `json:"lacks,omitempty"`
	// Titles holds the titles of the members' tools, by how they are assigned.
	Titles map[string]string `json:"titles,omitempty"`
	// Window is the hash of what the members' tools see of the chat. While it is the same, their results
	// are reused when the answer is made again.
	Window Hash `json:"window,omitempty"`
	// Models holds the members' models, "connection/model", by member id; the chair's is under "".
	Models map[string]string `json:"models,omitempty"`
	// Reserve holds the maximum cost of a task in US dollars, by member id; the chair's is under "". In
	// mode tools the keys are those of ReserveOf, for tools that need a model; older runs use member ids.
	// A task whose reserve does not fit under the caps does not begin.
	Reserve map[string]float64 `json:"reserve,omitempty"`
	// Estimate is the estimate before the run.
	Estimate *Estimate `json:"estimate,omitempty"`
	Asks     bool      `json:"asks,omitempty"` // a person can be asked when tools, or all members, fail
	// Again is the run that this one repeats, and Change a sentence about the difference.
	Again  RunID  `json:"again,omitempty"`
	Change string `json:"change,omitempty"`
	// Kept holds, by task, the ends that are reused from an earlier run instead of being done.
	Kept map[string]End `json:"kept,omitempty"`
}

// End is the end of one attempt at a task.
type End struct {
	State    TaskState     `json:"state"`            // Done, Failed, Stopped, or Capped
	Cap      bool          `json:"cap,omitempty"`    // Capped: by the cap of the run, not by its member's limits
	Text     Hash          `json:"text,omitempty"`   // the member's words with their block, or the tool's answer
	Bytes    int           `json:"bytes,omitempty"`  // of the text
	Ballot   Hash          `json:"commit,omitempty"` // a vote, see EncodeBallot; hidden until Opens
	Failure  *chat.Failure `json:"failure,omitempty"`
	Usage    chat.Usage    `json:"usage,omitzero"` // of all requests; with the cost where it is known
	Requests []Request     `json:"requests,omitempty"`
	Calls    []uint64      `json:"calls,omitempty"` // ids of call records in the store
	Used     []string      `json:"used,omitempty"`  // "plugin:name" of the tools that answered it
	Turn     string        `json:"turn,omitempty"`  // the member's turn, which those records name
	// Refused counts calls that were refused, or that expired while a person was asked. Older runs do
	// not have it.
	Refused int `json:"refused,omitempty"`
	// AskedMS is the time that the attempt waited for a person's answers. Older runs do not have it.
	AskedMS int64 `json:"asked_ms,omitempty"`
	// Origins lists the sources of untrusted text that the member read.
	Origins []chat.Origin `json:"origins,omitempty"`
}

// Request is one request to a model as it was sent, or the part of the chat that a tool got.
type Request struct {
	Model string `json:"model"` // "connection/model", or "plugin:name" of the tool
	Body  Hash   `json:"body"`  // all its bytes; for a tool the messages as JSON
	Bytes int    `json:"bytes"`
	// Given names a text: the []Block that the request consists of, as JSON.
	Given  Hash  `json:"given,omitempty"`
	Tokens int64 `json:"tokens"` // of the input, an estimate
	AtMS   int64 `json:"at_ms"`  // after the task started
}

// Act is something that a person, or a limit, does to a run under way.
type Act string

// The acts.
const (
	Skip   Act = "skip"   // Member does nothing more
	Nudge  Act = "nudge"  // Member restarts its task, with Text
	Retry  Act = "retry"  // restarts failed tasks: Tasks, or all of Member, or all
	GoOn   Act = "go_on"  // leaves failed tasks as they are
	Finish Act = "finish" // ends the members' work; the main model answers with what there is
	Stop   Act = "stop"   // as Finish, and the main model does not answer
)

// Why returns the sentence for a person's act that ends a run early, else "".
func (a Act) Why() string {
	switch a {
	case Finish:
		return "You wanted an answer with what there was."
	case Stop:
		return "You stopped it."
	}
	return ""
}

// By names who acts.
type By string

// Who acts.
const (
	Person    By = "person"
	Cap       By = "cap"       // the limit of cost
	Deadline  By = "deadline"  // the limit of time
	Agreement By = "agreement" // the answers agree, and the council stops early
)

// Answer is the end of the main model's answer.
type Answer struct {
	Reason chat.EndReason  `json:"reason"`
	Seq    chat.MessageSeq `json:"seq,omitempty"`
	Usage  chat.Usage      `json:"usage,omitzero"`
	// TookMS is the time that the model with notes worked, without its tool calls. Older runs do not
	// have it.
	TookMS int64 `json:"took_ms,omitempty"`
	// Groups names the chair's list of points that make the same claim, see Compare.
	Groups Hash `json:"groups,omitempty"`
}

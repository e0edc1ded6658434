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

// StepKind says what a Step is.
type StepKind string

// The kinds of steps.
const (
	Begins    StepKind = "begins"    // Begin: a run begins; always the first
	Resumes   StepKind = "resumes"   // Turn, Model, Text: it goes on in another turn; what was under way begins again
	Starts    StepKind = "starts"    // Task, Attempt: a worker has it
	Ends      StepKind = "ends"      // Task, Attempt, End
	Acts      StepKind = "acts"      // Act, By; and Member or Tasks, Text
	Opens     StepKind = "opens"     // all ballots that were sealed are opened
	Hands     StepKind = "hands"     // Notes: the main model is given the notes, of which there may be none, and answers
	Concludes StepKind = "concludes" // Answer: the main model answered, or did not
	Rates     StepKind = "rates"     // Member, Point, Good: a person's thumb; the run may be over
)

// Step is one thing that happened to a run. Each is stored as a record of its own. Kind
// says which fields count; texts are named by their hashes.
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
	// Text are the person's words of a nudge; of finish and stop a sentence that says why, of resumes
	// one that says why another model writes the answer than was to.
	Text   string  `json:"text,omitempty"`
	Model  string  `json:"model,omitempty"` // resumes: who writes the answer, "connection/model"
	Notes  Hash    `json:"notes,omitempty"`
	Answer *Answer `json:"answer,omitempty"`
	Point  int     `json:"point,omitempty"`
	Good   bool    `json:"good,omitempty"`
}

// Begin holds what a run begins with. Nothing of it changes later: whoever is removed or
// changed meanwhile is in the run as they were.
type Begin struct {
	Run          RunID               `json:"run"`
	Conversation chat.ConversationID `json:"conversation"`
	Turn         string              `json:"turn"`
	Question     chat.MessageSeq     `json:"question"`
	Council      Council             `json:"council"`
	Path         Hash                `json:"path,omitempty"` // names what was said up to the question
	Seed         uint64              `json:"seed"`           // of the rolls, and of who is who in an unsigned review
	// Places says that a member's letter is that of its place in the council, whoever sits
	// out. In older runs those that take part have the letters from a on.
	Places bool `json:"places,omitempty"`
	// Only is the one member that is asked ("@name"); empty is all.
	Only string `json:"only,omitempty"`
	// Out says why members cannot take part that otherwise would, in a sentence, by id:
	// no model, a model that is not there. Under "" it says why another model writes the answer
	// than was to.
	Out map[string]string `json:"out,omitempty"`
	// Lacks says which of their tools members do without, in a sentence, by id. In mode tools
	// their tasks say it.
	Lacks map[string]string `json:"lacks,omitempty"`
	// Titles name the tools of the members as people read them, by how they are assigned.
	Titles map[string]string `json:"titles,omitempty"`
	// Window names what the members' tools are given of the chat: their results are kept for
	// an answer that is made again while it is the same.
	Window Hash `json:"window,omitempty"`
	// Models are those that members speak through, "connection/model", by id.
	Models map[string]string `json:"models,omitempty"`
	// Reserve tells what a task may cost at most, in US dollars, by member id; the chair's is
	// under "". In mode tools it is by ReserveOf, of the tools that a model has to write for; in
	// older runs by member id there too. A task that does not fit under the caps with it is not
	// begun.
	Reserve map[string]float64 `json:"reserve,omitempty"`
	// Estimate holds what the run was expected to come to.
	Estimate *Estimate `json:"estimate,omitempty"`
	Asks     bool      `json:"asks,omitempty"` // a person can be asked what to do where tools, or all members, fail
	// Again is the run that this one repeats with a change, and Change says which.
	Again  RunID  `json:"again,omitempty"`
	Change string `json:"change,omitempty"`
	// Kept are the ends of tasks that are taken over from that run instead of being done,
	// by task; also those of a run whose results are kept for an answer made again.
	Kept map[string]End `json:"kept,omitempty"`
}

// End says how one attempt at a task ended.
type End struct {
	State    TaskState     `json:"state"`            // Done, Failed, Stopped; Capped where nothing was left for it
	Cap      bool          `json:"cap,omitempty"`    // Capped: under the cap of the run, not under its member's limits
	Text     Hash          `json:"text,omitempty"`   // what the member said, with its block, or the tool answered
	Bytes    int           `json:"bytes,omitempty"`  // of the text
	Ballot   Hash          `json:"commit,omitempty"` // a vote, see EncodeBallot; hidden until Opens
	Failure  *chat.Failure `json:"failure,omitempty"`
	Usage    chat.Usage    `json:"usage,omitzero"` // of all its requests; Cost is filled where it is known
	Requests []Request     `json:"requests,omitempty"`
	Calls    []uint64      `json:"calls,omitempty"` // records of tool calls in the store
	Used     []string      `json:"used,omitempty"`  // "plugin:name" of the tools that answered it
	Turn     string        `json:"turn,omitempty"`  // the member's own, which those records name
	// Refused tells how many of its calls were refused, or ran out of time while a person was asked.
	// Older runs do not say it.
	Refused int `json:"refused,omitempty"`
	// AskedMS is for how long, of the attempt's time, a person was asked about its calls. Older runs
	// do not say it.
	AskedMS int64 `json:"asked_ms,omitempty"`
	// Origins say where text came from that the member read and others wrote.
	Origins []chat.Origin `json:"origins,omitempty"`
}

// Request is one request to a model as it was sent, or what a tool was handed of the chat.
type Request struct {
	Model string `json:"model"` // "connection/model", or "plugin:name" of the tool
	Body  Hash   `json:"body"`  // every byte of it; of a tool: its messages as JSON
	Bytes int    `json:"bytes"`
	// Given names the list of what it is made of, as []Block in JSON: where each piece
	// stands in the body's texts, its tokens, what was cut and why.
	Given  Hash  `json:"given,omitempty"`
	Tokens int64 `json:"tokens"` // an estimate, where the provider did not say
	AtMS   int64 `json:"at_ms"`  // after the task started
}

// Act is something that a person, or a limit, does to a run under way.
type Act string

// The acts.
const (
	Skip   Act = "skip"   // Member is left out from now on
	Nudge  Act = "nudge"  // Member begins what it does again, with Text
	Retry  Act = "retry"  // failed tasks are done again: Tasks, or all of Member, or all
	GoOn   Act = "go_on"  // what failed is left as it is
	Finish Act = "finish" // nothing new begins, what is under way ends, the main model answers with what there is
	Stop   Act = "stop"   // as Finish, and the main model does not answer
)

// Why is the sentence of an act of a person's, where it ends a run before its time.
func (a Act) Why() string {
	switch a {
	case Finish:
		return "You wanted an answer with what there was."
	case Stop:
		return "You stopped it."
	}
	return ""
}

// By says who acts.
type By string

// Who acts.
const (
	Person    By = "person"
	Cap       By = "cap"       // the most that it may cost
	Deadline  By = "deadline"  // the most that it may take
	Agreement By = "agreement" // the answers agree, and the council stops early then
)

// Answer says what became of the main model's answer.
type Answer struct {
	Reason chat.EndReason  `json:"reason"`
	Seq    chat.MessageSeq `json:"seq,omitempty"`
	Usage  chat.Usage      `json:"usage,omitzero"`
	// TookMS is how long the model that answered with notes was asked, without the calls between. Older
	// runs do not say it.
	TookMS int64 `json:"took_ms,omitempty"`
	// Groups is the chair's list of which points are about the same, checked by Compare.
	Groups Hash `json:"groups,omitempty"`
}

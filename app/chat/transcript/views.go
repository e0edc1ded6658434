package transcript

import (
	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/chat/showing"
)

// Failure is a fault as the page gets it. Every bound method that fails rejects with
// one.
type Failure struct {
	Kind    fault.Kind `json:"kind"`
	Message string     `json:"message" say:"true"` // what happened, to what: one sentence
	Hint    string     `json:"hint" say:"true"`    // what to do next: a sentence, or ""
	Detail  string     `json:"detail"`             // the other side's own words, cleaned and bounded; often ""
	Ref     string     `json:"ref"`                // short, and also in the log; "" unless kind is internal
}

// Pull holds what changed in a conversation since a revision, and the blocks that the
// page wanted. At revision 0 that is the chat, the whole outline, and the last
// entries.
type Pull struct {
	Conversation string         `json:"conversation"`
	Revision     uint64         `json:"revision"`
	Chat         *Chat          `json:"chat"`    // set when it changed
	Outline      *OutlineSplice `json:"outline"` // set when the visible path changed
	Entries      []Entry        `json:"entries"` // changed ones and those asked for, oldest first
	// The running turn; null when none runs. Always the present state.
	Status *TurnStatus `json:"status"`
	// The difference is not known (the revision is too old): this is as if asked at 0,
	// and everything that the page held is void.
	Reset bool `json:"reset"`
}

// Want requests the blocks of an entry from From up to To; with To 0, the whole entry,
// which the page does not hold.
type Want struct {
	Seq  uint64 `json:"seq"`
	Part int    `json:"part"`
	From int    `json:"from"`
	To   int    `json:"to"`
}

// Spot is the place of a block in an entry.
type Spot struct {
	Part  int `json:"part"`
	Block int `json:"block"`
}

// Chat is one conversation without its messages.
type Chat struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	// "connection/model" in effect: its own choice or the default.
	Model      string `json:"model"`
	ModelTitle string `json:"model_title"` // display name of that model
	Vision     bool   `json:"vision"`      // whether that model sees pictures
	Tools      bool   `json:"tools"`       // whether it calls tools
	System     string `json:"system"`
	// How the model is asked, as the chat keeps it.
	Asking   chat.Asking `json:"asking"`
	Project  string      `json:"project"` // the folder that it is about; "" for none
	Pinned   bool        `json:"pinned"`
	Archived bool        `json:"archived"`
	Demo     bool        `json:"demo"`
	// It is in no list, and is deleted for good when it is left.
	Temporary bool   `json:"temporary,omitempty"`
	Spent     *Usage `json:"spent"` // on all of it so far; null where nobody counted
	Created   string `json:"created"`
	Updated   string `json:"updated"`
}

// OutlineSplice says that the visible path is seqs from index from on, and nothing
// after them.
type OutlineSplice struct {
	From int      `json:"from"`
	Seqs []uint64 `json:"seqs"`
}

// Entry holds what the page shows as one message: a message of the person, or all
// messages of one turn that answer it. Its seq is that of its first message and never
// changes.
type Entry struct {
	Seq uint64 `json:"seq"`
	// true: parts is everything there is, and of their blocks what there is room for; the
	// page asks for the others as it needs them, also for those that it held. false: parts
	// and their blocks are those that changed or were asked for; merge by index. A page
	// that does not hold the entry drops it.
	Whole   bool              `json:"whole"`
	Role    chat.Role         `json:"role"`
	Turn    string            `json:"turn"`
	Model   string            `json:"model"` // display name of the model that wrote it; "" for a user's
	State   chat.MessageState `json:"state"` // of its last message
	Reason  chat.EndReason    `json:"reason"`
	Error   *Failure          `json:"error"` // set when state is failed
	Created string            `json:"created"`
	Ended   string            `json:"ended"`
	Hidden  bool              `json:"hidden"`    // kept from the model
	CanGoOn bool              `json:"can_go_on"` // it was cut off, and the model can be asked for the rest
	// Sequence numbers of all versions at this place, oldest first, its own included;
	// [] when there is only one.
	Siblings []uint64 `json:"siblings"`
	// How many entries follow on the sibling last looked at; for the notice after an edit.
	OtherBranch int    `json:"other_branch"`
	Words       int    `json:"words"` // words of the answer's text
	Usage       *Usage `json:"usage"`
	// MS counts the milliseconds that models took for it, from each request to its last word.
	MS int64 `json:"ms"`
	// What hooks of plugins did to it and to its calls, each plugin's once for each thing it
	// did; missing where they did nothing. Chats.Hooks has all of it.
	Hooks []HookMark `json:"hooks,omitempty"`
	// What of it was lost, as sentences for the person; missing where nothing was.
	Notes []string `json:"notes,omitempty" say:"true"`
	// The deliberation of the council before this answer; missing where there was none.
	Council   *CouncilLine `json:"council,omitempty"`
	PartCount int          `json:"part_count"` // how many parts there are now
	Parts     []Part       `json:"parts"`
}

// HookMark describes what the hooks of a plugin did to an entry.
type HookMark struct {
	Plugin string          `json:"plugin"` // its id, or conclave
	Title  string          `json:"title"`
	Did    chat.HookAction `json:"did"`
}

// Usage counts tokens and money.
type Usage struct {
	Input     int64   `json:"input_tokens"`
	Output    int64   `json:"output_tokens"`
	Cached    int64   `json:"cached_tokens"`
	Reasoning int64   `json:"reasoning_tokens"`
	Cost      float64 `json:"cost"`   // US dollars
	Known     bool    `json:"known"`  // Cost is all that it cost
	Priced    string  `json:"priced"` // the date of the prices, “own”, “local”, or "": the provider said, or nobody
}

// CouncilLine tells of a run of a council in one line.
type CouncilLine struct {
	Run      string  `json:"run"`   // for Council.Run
	State    string  `json:"state"` // as RunState
	Live     bool    `json:"live"`  // neither live nor over: it was cut off, and can go on
	Members  int     `json:"members"`
	Silent   int     `json:"silent"`   // of those, who came to nothing
	Disagree int     `json:"disagree"` // how many disagreements
	MS       int64   `json:"ms"`
	Cost     float64 `json:"cost"`  // US dollars
	Known    bool    `json:"known"` // cost is all of it
	// Seats are those that took part, in order.
	Seats []CouncilSeat `json:"seats"`
}

// CouncilSeat is a member that took part in a run, as one letter shows it.
type CouncilSeat struct {
	Name   string `json:"name"`
	Letter string `json:"letter"`
	Color  string `json:"color"`
	Agreed bool   `json:"agreed"` // it shares a point with another, and speaks against none
}

// Part is a piece of an entry, in reading order. Its kind says which fields count.
type Part struct {
	Index int           `json:"index"`
	Kind  chat.PartKind `json:"kind"` // text, reasoning, tool_call or media
	// text, reasoning: rendered Markdown; the window shows block_count of them.
	Blocks     []Block        `json:"blocks"`
	BlockCount int            `json:"block_count"`
	MS         int64          `json:"ms"`    // reasoning: how long it took so far, in ms
	Done       bool           `json:"done"`  // text, reasoning: complete
	Call       *Call          `json:"call"`  // tool_call
	Media      *showing.Media `json:"media"` // media
}

// Block is one top-level block of rendered, sanitized HTML.
type Block struct {
	Index int    `json:"index"`
	HTML  string `json:"html"`
	Keep  int    `json:"keep"` // html replaces what comes after this many UTF-16 units; 0 = all of it
	Done  bool   `json:"done"` // will not change again
}

// Phase is a stage of a running turn.
type Phase string

// The phases of a turn.
const (
	PhaseWaiting    Phase = "waiting" // for the model's first word
	PhaseCouncil    Phase = "council" // for the chat's council; the note says what it does
	PhaseThinking   Phase = "thinking"
	PhaseAnswering  Phase = "answering"
	PhaseTool       Phase = "tool"       // a tool runs
	PhasePermission Phase = "permission" // a person is asked
	PhaseRetrying   Phase = "retrying"   // the provider failed for a moment; the note says why
	PhaseStopping   Phase = "stopping"
)

// TurnStatus describes what a running turn is doing.
type TurnStatus struct {
	Turn  string `json:"turn"`
	Phase Phase  `json:"phase"`
	Since string `json:"since"`           // when this phase began
	Model string `json:"model"`           // display name of the model asked
	Tool  string `json:"tool"`            // tool: display name of the tool
	Note  string `json:"note" say:"true"` // a sentence that says more, or ""
	Asks  bool   `json:"asks,omitempty"`  // council: it waits for a person
}

// CallState is the state word of a tool card.
type CallState string

// The states of a call.
const (
	CallProposed CallState = "proposed" // the model is still writing the arguments
	CallWaiting  CallState = "waiting"  // for a person
	CallRunning  CallState = "running"
	CallDone     CallState = "done"
	CallRefused  CallState = "refused" // by a person, a rule or a built-in refusal
	CallFailed   CallState = "failed"  // raised, bad arguments, timeout, died, unknown tool
	CallExpired  CallState = "expired" // nobody answered in time
	CallStopped  CallState = "stopped" // the person stopped the answer
)

// Call is one line of a tool card; opening it asks Chats.Call.
type Call struct {
	ID string `json:"id"` // CallRecord.ID in decimal; "" while proposed
	// "plugin:name", or the name the model used when there is no such tool.
	Tool   string `json:"tool"`
	Title  string `json:"title"`  // name of the tool as a person reads it: “Save note”
	Doing  string `json:"doing"`  // what it does, after “wants to”: “save a note”, “use “Word count””
	Did    string `json:"did"`    // what it did: “Saved a note”
	Plugin string `json:"plugin"` // display name of the plugin; "" when unknown
	For    string `json:"for"`    // name of the council member for whom the model called; or ""
	// The arguments for a person, at most 120 characters: “text: a b c”.
	Summary string    `json:"summary"`
	State   CallState `json:"state"`
	// In state failed the first line of the error; in stopped why, where the person did not stop the answer.
	Problem string `json:"problem" say:"true"`
	// What of the call was mended, as a sentence; missing where nothing was.
	Mended   string `json:"mended,omitempty" say:"true"`
	Started  string `json:"started"`
	MS       int64  `json:"ms"`       // how long it ran; 0 while it runs
	Progress string `json:"progress"` // the tool's own last progress note
	Request  string `json:"request"`  // the waiting request (PermissionRequest.id) when state is waiting
	// Who decided, in one line: “Allowed once by you at 14:07”. "" while open.
	Decision string `json:"decision" say:"true"`
	// The rule that decision made or used, which Permissions.Revoke deletes; or "".
	Grant    string `json:"grant"`
	Undo     string `json:"undo"`      // names the old versions of files that it may have changed; or ""
	ByPerson bool   `json:"by_person"` // a person made that decision for this call; the card shows it unopened
	// What the result names and does not hold, and the id of the plugin that can be asked for it; missing where
	// it names nothing.
	Links []chat.ResourceLink `json:"links,omitempty"`
	From  string              `json:"from,omitempty"`
}

// UsageOf returns u as the page gets it.
func UsageOf(u chat.Usage) *Usage {
	return &Usage{
		Input: u.Input, Output: u.Output, Cached: u.Cached, Reasoning: u.Reasoning, Cost: u.Cost, Known: u.Known(),
		Priced: u.Priced,
	}
}

// failureOf returns a failure that was kept with a message as the page reads it.
func failureOf(f *chat.Failure) *Failure {
	if f == nil {
		return nil
	}
	return &Failure{Kind: fault.Kind(f.Kind), Message: f.Message, Hint: f.Hint, Detail: f.Detail}
}

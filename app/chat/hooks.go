package chat

// HookPoint is a moment at which hooks run.
type HookPoint string

// The points, in the order in which a turn comes to them.
const (
	HookBeforeModel HookPoint = "before model"
	HookBeforeRound HookPoint = "before round" // by hooks that look at each request of a turn
	HookAfterModel  HookPoint = "after model"
	HookBeforeTool  HookPoint = "before tool"
	HookApprove     HookPoint = "approve"
	HookAfterTool   HookPoint = "after tool"
)

// HookAction describes what a hook did.
type HookAction string

// The actions.
const (
	HookLooked   HookAction = "" // and changed nothing
	HookChanged  HookAction = "changed"
	HookAnswered HookAction = "answered" // before tool: in place of the tool
	HookOwn      HookAction = "own"      // before tool: the tool is its own, and answers once it is called
	HookInstead  HookAction = "instead"  // before tool: it answers for another's tool, if the person accepts that
	HookAsked    HookAction = "asked"    // before tool: it has the person asked
	HookDenied   HookAction = "denied"   // before tool, approve: the call is not made
	HookStopped  HookAction = "stopped"  // the turn is called off
	HookFailed   HookAction = "failed"
	HookTimedOut HookAction = "timed out" // it took longer than it may
)

// HookStep holds what one hook did to a request, an answer or a call, as it is kept with
// the message or the record. Its texts hold no secrets.
type HookStep struct {
	Point  HookPoint  `json:"point"`
	Plugin string     `json:"plugin"` // its id, or conclave
	Title  string     `json:"title"`  // its name, for a person
	Action HookAction `json:"action,omitempty"`
	Reason string     `json:"reason,omitempty"` // why it denied or stopped, or how it failed
	Notes  []string   `json:"notes,omitempty"`  // sentences for the person
	MS     float64    `json:"ms"`
	// The lines that it changed, with some around them: each begins with "+", "-", a blank, or
	// "@" for lines that are left out. What follows that is a heading in brackets, or two
	// blanks and the line.
	Change string `json:"change,omitempty"`
	// Why Change is not all of it: a sentence.
	Left string `json:"left,omitempty"`
}

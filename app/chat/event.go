package chat

import "time"

// EventKind is the kind of an Event, which decides which of its fields are set.
type EventKind string

// The kinds of events, in about the order in which they come. Those that `prompt --json` prints
// have public names. Every event of a call has Call.
const (
	EventStarted    EventKind = "turn_started"  // Model, Answers, Text, Attachments
	EventQuestioned EventKind = "question"      // the person's message is saved: Seq
	EventWaiting    EventKind = "waiting"       // a request is on its way to the model: Round, Asks
	EventRetrying   EventKind = "retrying"      // a request failed and is repeated: Note, Retry
	EventBegun      EventKind = "message_begun" // a message of the answer is stored: Seq, Parent
	EventText       EventKind = "text"          // Seq, Text
	EventReasoning  EventKind = "reasoning"     // Seq, Text
	EventProposed   EventKind = "call_proposed" // Seq, Call without arguments, which still come
	EventAsked      EventKind = "tool_call"     // the call is recorded, and not decided: Seq
	EventHeld       EventKind = "call_held"     // a person is asked about the call: Request
	EventDecided    EventKind = "permission"    // the gate decided: Call.Decision, Call.Rule
	EventRunning    EventKind = "call_running"  // the call is recorded as running
	EventProgress   EventKind = "call_progress" // the tool reports its progress: Note
	EventAnswered   EventKind = "tool_result"   // the call ended, well or not: Result
	EventSaved      EventKind = "message_saved" // a message of the answer, or of results, is complete: Seq
	EventUsed       EventKind = "usage"         // Usage of one request
	EventReplied    EventKind = "replied"       // the model answered one request: Calls
	EventNoted      EventKind = "note"          // a sentence for the person: Note, and Kept, Seq or Call
	EventStopping   EventKind = "stopping"      // the turn is being stopped
	EventEnded      EventKind = "turn_ended"    // Reason, Seq, Message, Failure
	EventOver       EventKind = "over"          // the chat is free for the next turn
)

// Event reports one thing that happens in a turn, or in a call outside turns. It does not change
// after it was sent.
type Event struct {
	Kind         EventKind
	Turn         string
	Conversation ConversationID
	Model        string // "connection/model"
	Answers      string // what is answered, as in hook.TurnInfo.Kind
	Seq          MessageSeq
	Parent       MessageSeq // the message that the new one follows
	Round        int
	Text         string // of the model; with EventStarted of the person
	Attachments  int    // how many the person's message has
	Note         string
	Kept         bool // the note is saved with the next message of the answer
	Asks         *RequestSize
	Retry        *Retry
	Calls        int // how many the model asks for
	Call         *CallRecord
	Result       *ToolResult
	Request      string // the id of the gate's request to the person
	Usage        Usage
	Reason       EndReason
	Message      *Message // the last message of the turn, or nil
	Failure      *Failure // why the turn failed
}

// RequestSize counts what one request sends to a model.
type RequestSize struct {
	Messages, Tools int
	MaxTokens       int64
	Temperature     *float64 // nil is the vendor's
}

// Retry is a request that failed and is repeated.
type Retry struct {
	Attempt int           // the one that failed, from 1
	Most    int           // requests in all
	Wait    time.Duration // until the next
	Error   string        // why it failed, as a sentence
}

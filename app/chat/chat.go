// Package chat defines conversations: what is said, by whom, and the record of each
// tool call. It holds no behaviour beyond what its types need, and imports only fault.
//
// A conversation is a tree of messages: every message names its parent, a conversation
// names its head, and the path from the first message to the head is what a person
// sees. Editing or regenerating adds a sibling and moves the head; nothing is
// overwritten.
package chat

import (
	"encoding/json"
	"strings"
	"time"
)

// ConversationID identifies a conversation (UUID version 7, so ids sort by age).
type ConversationID string

// MessageSeq numbers the messages of one conversation from 1 in the order they
// were written. 0 is "none": the parent of a first message.
type MessageSeq uint64

// Conversation is one chat without its messages.
type Conversation struct {
	ID     ConversationID `json:"id"`
	Title  string         `json:"title"`            // empty until the first message names it
	Model  string         `json:"model"`            // "connection/model" chosen for it; empty = the default
	System string         `json:"system,omitempty"` // the system text, empty for none
	Asking Asking         `json:"asking,omitzero"`  // how its model is asked
	// Project is the folder that the chat is about, as ProjectOf returns it; "" for none.
	// Rules and councils may hold for all chats of one.
	Project  string     `json:"project,omitempty"`
	Head     MessageSeq `json:"head"`            // the last message of the visible path
	Last     MessageSeq `json:"last"`            // the highest sequence number given out
	Named    bool       `json:"named,omitempty"` // a person gave it its title
	Pinned   bool       `json:"pinned,omitempty"`
	Archived bool       `json:"archived,omitempty"`
	Demo     bool       `json:"demo,omitempty"` // talked to Demo guide only
	// Temporary chats are in no list, search or copy of the store, and are deleted for good when they are left.
	Temporary bool     `json:"temporary,omitempty"`
	Tools     []string `json:"tools,omitempty"` // tool specs given on the command line, offered again on continue
	Draft     string   `json:"draft,omitempty"` // the half-written next message

	// TitleUsage counts what it took a model to make the title.
	TitleUsage *Usage `json:"title_usage,omitempty"`
	// Spent counts what everything took that was ever asked of models for the chat: its
	// answers, those not seen any more too, its title, its councils. Nil, in a chat of an
	// older version, nobody counted yet; the store does with the next answer.
	Spent *Usage `json:"spent,omitempty"`

	// Summaries stand for the beginning of the chat in requests to models, in the order in which they were made.
	Summaries []Summary `json:"summaries,omitempty"`

	// Digests are those of the files among Tools, as they were when the person let
	// them run.
	Digests map[string]string `json:"digests,omitempty"`

	// ToolNames holds the names under which models were offered tools in the chat, each with
	// whose it is (tool.Tool.Whose), "" for a tool that had another name later. A name never
	// becomes another tool's, also where its tool is gone.
	ToolNames map[string]string `json:"tool_names,omitempty"`

	// Origins are those of its system text and whatever else of it is no message's.
	Origins []Origin `json:"origins,omitempty"`

	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
	Revision uint64    `json:"revision"` // grows with each change of the conversation or its messages
}

// Spend adds to Spent what something used that is no message of the chat.
func (c *Conversation) Spend(u Usage) {
	if c.Spent != nil {
		sum := c.Spent.Add(u)
		c.Spent = &sum
	}
}

// Role says who speaks in a message.
type Role string

// The roles. Tool results are parts of a message with RoleTool that follows the
// assistant's message which asked for them.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// MessageState describes how far a message got.
type MessageState string

// The states. A message that was streaming when its program died is read back
// as Interrupted.
const (
	Complete    MessageState = "complete"
	Streaming   MessageState = "streaming"
	Stopped     MessageState = "stopped"     // the person stopped it; the text so far stands
	Interrupted MessageState = "interrupted" // the program ended while it streamed
	Failed      MessageState = "failed"      // the provider failed; Error says why
)

// Message is one entry of a conversation. An assistant's answer to one question
// is ONE message per model request: text, reasoning and the tool calls it asked
// for; a RoleTool message holds the results; the next assistant message goes on.
// The window folds such a run into one visual answer by Turn.
type Message struct {
	Conversation ConversationID `json:"conversation"`
	Seq          MessageSeq     `json:"seq"`
	Parent       MessageSeq     `json:"parent"`
	// the turn that wrote it: a user message and all that answers it share it
	Turn   string       `json:"turn,omitempty"`
	Role   Role         `json:"role"`
	Parts  []Part       `json:"parts"`
	Model  string       `json:"model,omitempty"` // "connection/model" that wrote it
	State  MessageState `json:"state"`
	Error  *Failure     `json:"error,omitempty"`
	Reason EndReason    `json:"reason,omitempty"` // on the last message of a turn
	Hidden bool         `json:"hidden,omitempty"` // kept from the model
	// What hooks did to the request that it answers, and to it, in order.
	Hooks []HookStep `json:"hooks,omitempty"`
	// Notes tell the person what of it was lost; see AddNote.
	Notes []Note `json:"notes,omitempty"`
	// Origins say where text came from that came into the chat with it. None is ever taken
	// away; see Brought, which has the attachments too.
	Origins []Origin `json:"origins,omitempty"`
	// Metadata is an object of JSON that plugins stored with it. No model is sent it.
	Metadata json.RawMessage `json:"metadata,omitempty"`
	Usage    *Usage          `json:"usage,omitempty"`
	Created  time.Time       `json:"created"`
	Ended    time.Time       `json:"ended,omitzero"`

	// Open says to a log that the turn goes on after this message, so that one cut
	// off here is marked with EndInterrupted. It is no part of the message.
	Open bool `json:"-"`
	// Sent hands a log the request that the message answers, as it was sent, in pieces; nil has none.
	// Requests of a turn may share the first piece, to which nobody writes. It is no part of the message either.
	Sent [][]byte `json:"-"`
}

// Failure is a fault as it is kept with a message.
type Failure struct {
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Detail  string `json:"detail,omitempty"` // the other side's own words, cleaned
}

// EndReason describes why a turn ended.
type EndReason string

// The reasons of the command line's turn_ended event.
const (
	EndNone    EndReason = "" // it goes on; the window's type of it comes from here
	EndDone    EndReason = "done"
	EndStopped EndReason = "stopped"
	EndLimit   EndReason = "limit"
	EndError   EndReason = "error"
	EndHandled EndReason = "handled"
	// EndInterrupted ends a turn whose program ended while no message streamed:
	// before the first word, while a tool ran, or after its result.
	EndInterrupted EndReason = "interrupted"
)

// PartKind describes what a Part is.
type PartKind string

// The kinds of parts.
const (
	PartText       PartKind = "text"
	PartReasoning  PartKind = "reasoning"
	PartToolCall   PartKind = "tool_call"
	PartToolResult PartKind = "tool_result"
	PartMedia      PartKind = "media"
)

// Part is one piece of a message, in order. Kind says which fields count.
type Part struct {
	Kind PartKind `json:"kind"`
	Text string   `json:"text,omitempty"` // text, reasoning; the name of a media part
	MS   int64    `json:"ms,omitempty"`   // reasoning: how long it took; 0 is less than one, and what nobody measured

	// Vendor holds what a provider wants back unchanged with this part (a thinking
	// signature). Keyed by provider kind, so another provider ignores it.
	Vendor map[string]json.RawMessage `json:"vendor,omitempty"`

	Call   *ToolCall   `json:"call,omitempty"`   // tool_call
	Result *ToolResult `json:"result,omitempty"` // tool_result
	Media  *Media      `json:"media,omitempty"`  // media
}

// ToolCall is a model's request to run a tool.
type ToolCall struct {
	ID        string          `json:"id"`                 // the vendor's id, or "tc_" and a made one
	Tool      string          `json:"tool"`               // wire name as the model wrote it
	Arguments json.RawMessage `json:"arguments"`          // a JSON object; {} when Raw could not be read
	Raw       string          `json:"raw,omitempty"`      // the argument text when it was not a JSON object
	Sequence  uint64          `json:"sequence,omitempty"` // its record in the store: CallRecord.ID
	Hook      *HookedCall     `json:"hook,omitempty"`     // the hook that made it what it is; nil is the model
	Mended    *Mended         `json:"mended,omitempty"`   // how the model wrote it; nil where it wrote it so
}

// Mended tells what Conclave mended in a call that a model, or its server, wrote in a way that can be
// read in one way only.
type Mended struct {
	What      []string `json:"what"`                // ends of sentences: “its arguments were encoded twice”
	Tool      string   `json:"tool,omitempty"`      // the name as it came; empty where that was right
	Arguments string   `json:"arguments,omitempty"` // the text as it came; empty where that was right
	Imported  bool     `json:"imported,omitempty"`  // it stood in a file that was imported, as in Note
}

// Sentence returns what was mended, for a person. It says whose words those of an imported file are.
func (m *Mended) Sentence() string {
	what := strings.Join(m.What, "; ")
	if m.Imported {
		return Note{Text: "this call was mended: " + what, Imported: true}.Sentence()
	}
	return "Conclave mended this call: " + what + "."
}

// HookedCall describes which hook added a call to what a model said, or changed it, and what
// the model had asked for.
type HookedCall struct {
	By        string          `json:"by"`                  // the plugin's name, for a person
	Tool      string          `json:"tool,omitempty"`      // wire name as the model wrote it; empty: the call was added
	Arguments json.RawMessage `json:"arguments,omitempty"` // as the model wrote them
}

// ToolResult goes back to the model for one call.
type ToolResult struct {
	CallID  string     `json:"call_id"`
	Tool    string     `json:"tool"` // wire name
	Status  CallStatus `json:"status"`
	IsError bool       `json:"is_error"`
	Content []Part     `json:"content"` // text and media parts only
}

// Text returns the text parts of the result, joined by newlines.
func (r *ToolResult) Text() string { return TextOf(r.Content) }

// Media is a picture, sound or file. It is content-addressed: ID is the SHA-256 of the
// bytes in hex, and the bytes are a file in the media folder of the store.
type Media struct {
	ID   string `json:"id"`
	MIME string `json:"mime_type"`
	Name string `json:"name,omitempty"`
	Size int64  `json:"size"`
	// Data holds the bytes while they travel; it is never stored or sent to the
	// window.
	Data []byte `json:"-"`
}

// Usage counts what one or several model requests used. Zero tokens means that the server did not report them.
type Usage struct {
	Input     int64   `json:"input_tokens"`
	Output    int64   `json:"output_tokens"`
	Cached    int64   `json:"cached_tokens,omitempty"` // part of Input that came from a prompt cache
	Reasoning int64   `json:"reasoning_tokens,omitempty"`
	Cost      float64 `json:"cost,omitempty"` // US dollars, where the provider says so or a price is known
	// Priced says by what Cost was worked out: the date of a table of prices, or a word of
	// package cost. Empty, the provider said what it cost, or nobody did.
	Priced string `json:"priced,omitempty"`
	// Unpriced counts the tokens in a sum whose cost is not known: Cost is without them.
	Unpriced int64 `json:"unpriced_tokens,omitempty"`
}

// Known reports whether Cost is all that it cost.
func (u Usage) Known() bool { return u.unpriced() == 0 }

// unpriced counts the tokens that Cost is without.
func (u Usage) unpriced() int64 {
	if u.Unpriced > 0 || u.Cost > 0 || u.Priced != "" {
		return u.Unpriced
	}
	return u.Input + u.Output
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, Output: u.Output + v.Output, Cached: u.Cached + v.Cached,
		Reasoning: u.Reasoning + v.Reasoning, Cost: u.Cost + v.Cost,
		Priced: max(u.Priced, v.Priced), Unpriced: u.unpriced() + v.unpriced(),
	}
}

// Less returns what u counts beyond v, a sum that u grew from.
func (u Usage) Less(v Usage) Usage {
	return Usage{
		Input: u.Input - v.Input, Output: u.Output - v.Output, Cached: u.Cached - v.Cached,
		Reasoning: u.Reasoning - v.Reasoning, Cost: u.Cost - v.Cost,
		Priced: u.Priced, Unpriced: u.unpriced() - v.unpriced(),
	}
}

package chat

import (
	"encoding/json"
	"iter"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// CallStatus describes what became of one tool call
// (contracts/llm-functions, section 9).
type CallStatus string

// The statuses of a call record.
const (
	CallAsked        CallStatus = "asked"
	CallRunning      CallStatus = "running"
	CallOK           CallStatus = "ok"
	CallRaised       CallStatus = "raised"
	CallRefused      CallStatus = "refused"
	CallCancelled    CallStatus = "cancelled"
	CallUnknown      CallStatus = "unknown"
	CallBadArguments CallStatus = "bad_arguments"
	CallTimeout      CallStatus = "timeout"
	CallDied         CallStatus = "died"
	CallPaused       CallStatus = "paused"
	CallLimit        CallStatus = "limit"
)

// Over reports whether the call has ended, so that its record will not change.
func (s CallStatus) Over() bool { return s != CallAsked && s != CallRunning && s != CallPaused }

// Problem returns why a call failed, for a person; text is what the model gets. Conclave's own words become
// a sentence; a tool's words, and a sentence that begins with the tool's name, stay as they are.
func (s CallStatus) Problem(text string) string {
	text = strings.TrimPrefix(text, "Error: ")
	if s == CallRaised || s == CallTimeout {
		return text
	}
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return ""
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// CallRecord is the record of one tool call: written when it is asked and again
// when it ends, so that a crash leaves a row. The JSON names are those that
// `conclave logs --json` prints (contracts/llm-functions, section 9).
type CallRecord struct {
	ID           uint64         `json:"id"`          // per store, increasing; given by the store
	ResponseID   MessageSeq     `json:"response_id"` // the assistant message that asked
	Turn         string         `json:"turn"`
	Conversation ConversationID `json:"conversation"`
	Round        int            `json:"round"` // which model request of the turn, from 1
	Index        int            `json:"index"` // place in the batch, from 0
	RequestID    string         `json:"request_id"`
	Caller       string         `json:"caller"` // main, member:<id>, plugin:<id>, person
	// What the caller was called then: a council member's name; empty before this was kept.
	CallerName string `json:"caller_name,omitempty"`
	ToolName   string `json:"tool_name"` // wire name
	ToolID     string `json:"tool_id"`   // plugin:name, empty when unknown
	Plugin     string `json:"plugin"`
	Digest     string `json:"digest"`
	Instance   string `json:"instance,omitempty"`

	Arguments    json.RawMessage `json:"arguments"`
	RawArguments string          `json:"raw_arguments,omitempty"`
	Mended       *Mended         `json:"mended,omitempty"` // how the model wrote it, where that was mended
	Result       json.RawMessage `json:"result"`           // typed JSON; null value differs from absent by Status
	ResultText   string          `json:"result_text,omitempty"`
	Meta         json.RawMessage `json:"meta,omitempty"` // _meta of an MCP server's result; no model gets it
	Attachments  []Media         `json:"attachments,omitempty"`
	Links        []ResourceLink  `json:"links,omitempty"` // what its result names and does not hold
	Error        string          `json:"error,omitempty"`
	ErrorType    string          `json:"error_type,omitempty"`
	Traceback    string          `json:"traceback,omitempty"`
	Printed      string          `json:"printed,omitempty"`

	Status    CallStatus `json:"status"`
	Timestamp time.Time  `json:"timestamp_utc"`
	Started   time.Time  `json:"started,omitzero"`
	Ended     time.Time  `json:"ended,omitzero"`
	MS        float64    `json:"ms"`
	Decision  string     `json:"decision,omitempty"`
	DecidedBy string     `json:"decided_by,omitempty"` // the rule or the person, in words
	// person, rule <id>, default, built-in or nobody to ask; empty before this was kept
	Decider string `json:"decider,omitempty"`
	Expired bool   `json:"expired,omitempty"` // a person was asked, and did not answer in time
	// Stopped describes why it was stopped while it ran, where the person paused the tools or took
	// back what allowed it.
	Stopped string `json:"stopped,omitempty"`
	// Origins are those that made the gate ask about the call: they were not trusted.
	Origins []Origin `json:"origins,omitempty"`
	// Brought describes where what it returned came from.
	Brought []Origin `json:"brought,omitempty"`
	// Because describes why a person was to be asked whatever they allowed: what hooks made of the call.
	Because []string `json:"because,omitempty"`
	// What hooks did to the call, in order.
	Hooks []HookStep `json:"hooks,omitempty"`

	Path   []DecisionStep `json:"path,omitempty"`      // the steps of the order of decisions, up to the one that decided
	Rule   string         `json:"rule,omitempty"`      // the id of the rule that decided or was made
	Waited float64        `json:"waited_ms,omitempty"` // how long the person who was asked took, in ms
	Code   string         `json:"code,omitempty"`      // digest of the files of the plugin's version
	Sent   []Sending      `json:"sent,omitempty"`      // what it sent, as far as that is known

	// Undo names the old versions that are kept of files it may have changed.
	Undo    string       `json:"undo,omitempty"`
	Changes []FileChange `json:"changes,omitempty"`  // of the person's files: the first of them
	Changed int          `json:"changed,omitempty"`  // how many there are
	Unkept  string       `json:"not_kept,omitempty"` // why it is not known what it changed: a sentence
}

// ResourceLink names a resource of an MCP server, which a person may have that server read. Its texts are the server's.
type ResourceLink struct {
	URI   string `json:"uri"`
	Title string `json:"title"`
	About string `json:"about,omitempty"`
	MIME  string `json:"mime_type,omitempty"`
	Size  int64  `json:"size,omitempty"` // in bytes; 0 when unknown
}

// FileChange tells what became of one of the person's files in a call.
type FileChange struct {
	Path    string `json:"path"`
	What    string `json:"what"`               // created, changed or deleted; seen first: that is not known
	NotKept string `json:"not_kept,omitempty"` // why it cannot be put back: “larger than 64 MiB”
}

// DecisionStep is one step of the order of decisions as it went for one call.
type DecisionStep struct {
	Number int    `json:"step"`
	Name   string `json:"name"`
	Effect string `json:"effect,omitempty"` // allow, ask or deny; empty when it passed on to the next
	Why    string `json:"why,omitempty"`
	Rule   string `json:"rule,omitempty"` // the rule that matched
}

// Sending counts what a call sent to one host.
type Sending struct {
	Host  string `json:"host"`
	Bytes int64  `json:"bytes"` // of bodies, or of connections that are not opened
	// Shared says that other calls of the plugin ran meanwhile, and it is counted for each of them.
	Shared bool `json:"shared,omitempty"`
}

// ToolsCalled returns the names by which the main model called tools, as Conversation.ToolNames
// holds them, from records of one chat, the newest first.
func ToolsCalled(records iter.Seq2[int, CallRecord]) map[string]string {
	names, named := map[string]string{}, map[string]bool{}
	for _, r := range records {
		if r.ToolID == "" || r.Caller != "main" {
			continue // nobody knows whose it was, or the chat's model did not call it
		}
		if _, there := names[r.ToolName]; there {
			continue
		}
		if names[r.ToolName] = ""; !named[r.ToolID] {
			names[r.ToolName], named[r.ToolID] = r.ToolID, true
		}
	}
	return names
}

package council

import (
	"cmp"
	"context"
	"slices"
	"time"

	"conclave/app/chat"
)

// Job is one attempt at a task, for a Worker. Run is the run as it stood when the task
// was started, and is not changed by what follows.
type Job struct {
	Run     Run
	Task    Task
	Attempt int
	// Text returns a text of the run by its hash.
	Text func(ctx context.Context, h Hash) (string, error)
}

// Work holds what came of a job: how it ended, and the texts that End names, by hash.
type Work struct {
	End   End
	Texts map[Hash][]byte
}

// Worker does tasks. Do does one to its end, and always returns how it ended: whatever
// goes wrong is an End. It returns soon when ctx ends, which is how a task is stopped,
// skipped or nudged, and says Stopped then. live hears what can be seen meanwhile, from
// any goroutine, and never after Do returned. Do is called for many tasks at once.
type Worker interface {
	Do(ctx context.Context, job Job, live func(Live)) Work
}

// Live tells what can be seen of a task that is worked on. It is kept nowhere: a task that
// is cut off begins again.
type Live struct {
	Phase   Phase
	Text    string           // a piece of what the member says, to be added
	Note    string           // a sentence: waiting for the provider, a tool's own progress
	Call    *chat.CallRecord // Using: the call, as it stands
	Request string           // the gate's, while a person is asked
}

// Phase says what a member is doing, in the words of a lane.
type Phase string

// The phases of a lane.
const (
	Reading  Phase = "reading"  // its request is on its way
	Thinking Phase = "thinking" // the model thinks
	Using    Phase = "using"    // a tool is called, or waits for a person
	Writing  Phase = "writing"
)

// Block is one piece of what a member was given, in order.
type Block struct {
	Source Source `json:"source"`
	Title  string `json:"title"` // “Role”, “Your question”, the name of a file
	Text   Hash   `json:"text,omitempty"`
	Tokens int64  `json:"tokens"` // an estimate
	Cut    int64  `json:"cut,omitempty"`
	Why    string `json:"why,omitempty"` // what was cut or left out, and why: a sentence
}

// Source says where a block comes from.
type Source string

// The sources of blocks.
const (
	FromSystem Source = "system" // the chat's system text
	FromRole   Source = "role"   // name, role, persona and the rules of a member
	FromMemory Source = "memory" // personas, characters, world information
	FromFile   Source = "file"
	FromTurn   Source = "turn" // a message of the chat
	FromMember Source = "member"
	FromTools  Source = "tools" // what it may call, as its model is told
	FromCall   Source = "call"  // a call of a tool, or its result
	FromNudge  Source = "nudge"
)

// Header holds what a list of runs shows of one.
type Header struct {
	Run          RunID               `json:"run"`
	Conversation chat.ConversationID `json:"conversation"`
	Turn         string              `json:"turn"` // the newest, when it went on in another
	Question     chat.MessageSeq     `json:"question"`
	Mode         Mode                `json:"mode"`
	State        RunState            `json:"state"`
	Members      int                 `json:"members"`          // that took part
	Silent       int                 `json:"silent,omitempty"` // of those, who came to nothing
	Disagree     int                 `json:"disagree"`
	Usage        chat.Usage          `json:"usage,omitzero"`  // of the members: it is added to the chat's sum
	Answer       chat.Usage          `json:"answer,omitzero"` // of the answer, whose message adds it; older runs do not say it
	Began        time.Time           `json:"began"`
	Ended        time.Time           `json:"ended,omitzero"`
	MS           int64               `json:"ms,omitempty"`    // how long it was worked on, once it is over
	Seats        []SeatLine          `json:"seats,omitempty"` // of those that took part
}

// Spent returns what the run used, with the answer where that is known.
func (h Header) Spent() chat.Usage { return h.Usage.Add(h.Answer) }

// Took returns how long the run worked, in milliseconds: without the pause of one that went on; 0 for
// one that is not over.
func (h Header) Took() int64 {
	if h.Ended.IsZero() {
		return 0
	}
	return cmp.Or(h.MS, h.Ended.Sub(h.Began).Milliseconds())
}

// SeatLine holds what a list shows of a member that took part in a run.
type SeatLine struct {
	Name   string `json:"name"`
	Letter string `json:"letter"`
	Color  string `json:"color,omitempty"`
	Agreed bool   `json:"agreed,omitempty"` // as Result.Agreed
	Same   bool   `json:"same,omitempty"`   // as Result.Same
	Rated  int    `json:"rated,omitempty"`  // points that the person gave a thumb
	Helped int    `json:"helped,omitempty"` // those of them that helped
}

// SeatLines returns the lines of those that took part in a run; agreed and same are the
// letters of its result.
func (r *Run) SeatLines(agreed, same []string) []SeatLine {
	var all []SeatLine
	for _, s := range r.Seats {
		if !s.In {
			continue
		}
		line := SeatLine{Name: s.Member.Name, Letter: r.Letter("", s.Member.ID), Color: s.Member.Color}
		line.Agreed, line.Same = slices.Contains(agreed, line.Letter), slices.Contains(same, line.Letter)
		for _, rating := range r.ratingsOf(s.Member.ID) {
			line.Rated++
			if rating.Good {
				line.Helped++
			}
		}
		all = append(all, line)
	}
	return all
}

// Silent counts the members that took part in a run and came to nothing: no task of theirs
// is done.
func (r *Run) Silent() (n int) {
	for _, s := range r.Seats {
		done := func(t Task) bool { return t.Member == s.Member.ID && t.State == Done && t.Kind != Summarize }
		if s.In && !slices.ContainsFunc(r.Tasks, done) {
			n++
		}
	}
	return n
}

// Log keeps runs; the store is the real one. Errors are *fault.Error. A run is deleted
// with its chat.
type Log interface {
	// AppendSteps writes steps that follow those which are kept, the texts that they
	// name, and the header as it is after them: all in one step, durably. What the header
	// says more was used than the one before it is added to what the chat used, by a Log
	// that keeps chats too.
	AppendSteps(ctx context.Context, h Header, steps []Step, texts map[Hash][]byte) error
	// Runs lists the runs of a chat, oldest first; of "" those of all chats, by chat.
	Runs(ctx context.Context, id chat.ConversationID) ([]Header, error)
	// Steps reads a run. The kind is not_found when there is none.
	Steps(ctx context.Context, id RunID) ([]Step, error)
	// Text reads a text that AppendSteps was given with the run.
	Text(ctx context.Context, id RunID, h Hash) ([]byte, error)
}

// Settings keeps councils; the store is the real one. Errors are *fault.Error.
type Settings interface {
	// Council reads the council of a scope; there is false when none was set there.
	Council(ctx context.Context, s Scope) (c Council, there bool, err error)
	// PutCouncil writes it; nil forgets it, so that the next wider scope holds again.
	PutCouncil(ctx context.Context, s Scope, c *Council) error
	// Presets reads the councils that the person keeps by name.
	Presets(ctx context.Context) (map[string]Council, error)
}

// Scope says where a council holds: "global", "project <folder>", "chat <id>", "next chat", or
// "preset <name>" for one that is kept. The narrowest one that is set holds.
type Scope string

// Global holds where nothing narrower is set.
const Global Scope = "global"

// NextChat is the scope of the chat that is not begun yet: what is set there becomes the council of
// the chat that the next message begins.
const NextChat Scope = "next chat"

// OfChat is the scope of one chat.
func OfChat(id chat.ConversationID) Scope { return Scope("chat " + string(id)) }

// OfProject is the scope of all chats of a project, see chat.Conversation.Project.
func OfProject(folder string) Scope { return Scope("project " + folder) }

// OfPreset is the scope of a council that is kept by name.
func OfPreset(name string) Scope { return Scope("preset " + name) }

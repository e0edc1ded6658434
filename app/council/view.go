package council

// RunView holds the view of a run for a page or a terminal: the changes since a revision, or
// everything for revision 0. Times are milliseconds after the run began, so that a replay needs no
// clock. Lists are never nil.
type RunView struct {
	Run          string `json:"run"`
	Conversation string `json:"conversation"`
	Revision     uint64 `json:"revision"`
	// Reset is set where the changes are unknown: the view is complete and replaces the earlier one.
	Reset    bool     `json:"reset"`
	Turn     string   `json:"turn"`
	Question uint64   `json:"question"` // sequence number of the message that is answered
	Mode     Mode     `json:"mode"`
	State    RunState `json:"state"`
	// Live is set while the run is worked on. A run that is neither live nor over was cut off and can be
	// resumed.
	Live     bool     `json:"live"`
	Began    string   `json:"began"`  // RFC 3339
	MS       int64    `json:"ms"`     // working time so far, with the answer
	DueMS    int64    `json:"due_ms"` // deadline of the run, or of a question to the person; 0: none, or unknown
	Estimate Estimate `json:"estimate"`
	Spent    Spending `json:"spent"`
	Early    string   `json:"early" say:"true"`  // why it ended early: a sentence, or ""
	Edited   bool     `json:"edited"`            // the chat was changed after the run
	Again    string   `json:"again"`             // id of the run that it repeats, or ""
	Change   string   `json:"change" say:"true"` // a sentence on what was changed, or ""
	// The lanes that changed, in the order of the council, the chair's last.
	Lanes   []LaneView `json:"lanes"`
	Members int        `json:"members"` // how many take part
	Result  *Result    `json:"result"`  // once there is one
	// Problem is a sentence where the run cannot be saved, or "".
	Problem string `json:"problem" say:"true"`
}

// LaneView is one member's lane.
type LaneView struct {
	Member string   `json:"member"` // id; "" is the chair
	Name   string   `json:"name"`
	Role   string   `json:"role"`
	Letter string   `json:"letter"` // in the answer; "" for the chair, and in older runs for members that sit out
	Color  string   `json:"color"`
	Avatar string   `json:"avatar"` // id of a picture, or ""
	Model  string   `json:"model"`  // "connection/model"
	In     bool     `json:"in"`
	Why    string   `json:"why" say:"true"` // why it is not In, or which tools it lacks: a sentence, or ""
	Roll   *float64 `json:"roll"`           // its dice, or null
	Chance float64  `json:"chance"`
	// Context and Tools are its context policy and its tools in this run.
	Context ContextPolicy `json:"context"`
	Tools   []string      `json:"tools"`
	Tasks   []TaskView    `json:"tasks"`
	Spent   Spending      `json:"spent"`
	// Drawn lists the letters that the others have in its reviews and its ballot. They differ from those
	// of the lanes. It is empty where the member has neither.
	Drawn []Drawn `json:"drawn"`
	// Ratings are the person's ratings of its points.
	Ratings []Rating `json:"ratings"`
}

// TaskView is one task in a lane.
type TaskView struct {
	ID      string    `json:"id"`
	Stage   int       `json:"stage"`
	Kind    TaskKind  `json:"kind"`
	Tool    string    `json:"tool"` // “plugin:name”, or ""
	Title   string    `json:"title" say:"true"`
	Attempt int       `json:"attempt"`
	State   TaskState `json:"state"`
	Phase   Phase     `json:"phase"`           // while it is worked on, else ""
	Note    string    `json:"note" say:"true"` // while it is worked on: a sentence, or ""
	Why     string    `json:"why" say:"true"`  // skipped, stopped, capped, failed: a sentence
	Hint    string    `json:"hint" say:"true"` // failed: what to do
	Detail  string    `json:"detail"`          // failed: the other side's own words, or ""
	StartMS int64     `json:"start_ms"`
	EndMS   int64     `json:"end_ms"`   // 0 while it is worked on
	AskedMS int64     `json:"asked_ms"` // of that time, once it ended: waiting for a person's answers
	// DueMS is the deadline of its member while it works; 0 where there is none, or while a person is
	// asked.
	DueMS int64 `json:"due_ms"`
	// Text holds the member's words while it works, from Offset on, in UTF-16 units. The words of a
	// finished task come from Council.Said.
	Text   string       `json:"text"`
	Offset int          `json:"offset"`
	Bytes  int          `json:"bytes"`  // of its words
	Sealed bool         `json:"sealed"` // its vote is hidden until all have voted
	Calls  []CalledView `json:"calls"`
	Sent   int          `json:"sent"` // requests to a model, for Council.Sent
	// Refused counts calls that were refused, or that expired while a person was asked.
	Refused int      `json:"refused"`
	Spent   Spending `json:"spent"`
	// Expected is its part of the run's estimate; zero without one.
	Expected Spending `json:"expected"`
}

// ChairTask is the id of the chair's TaskView.
const ChairTask = "chair"

// CalledView is a tool call of a member, in its lane.
type CalledView struct {
	ID      string `json:"id"` // CallRecord.ID in decimal, for Chats.Call
	Tool    string `json:"tool"`
	Title   string `json:"title"`
	State   string `json:"state"` // as transcript.CallState
	StartMS int64  `json:"start_ms"`
	EndMS   int64  `json:"end_ms"`
	Request string `json:"request"` // id of the pending permission request, or ""
}

// Spending is the tokens, time and money of a task, a member or a run.
type Spending struct {
	Input  int64   `json:"input_tokens"`
	Output int64   `json:"output_tokens"`
	MS     int64   `json:"ms"`
	Cost   float64 `json:"cost"`  // US dollars
	Known  bool    `json:"known"` // Cost is complete
}

// Estimate holds the expected usage, cost and time of a run.
type Estimate struct {
	Calls   int     `json:"calls"` // requests to models, the answer among them
	Tools   int     `json:"tools"` // calls of tools
	Input   int64   `json:"input_tokens"`
	Output  int64   `json:"output_tokens"`
	Cost    float64 `json:"cost"`
	Known   bool    `json:"known"` // the price of every model is known
	Cap     float64 `json:"cap"`   // 0: none
	Seconds float64 `json:"seconds"`
	// Helper is set where a helper model would solve one of Problems.
	Helper bool `json:"helper,omitempty"`
	// Problems are sentences: no members, a member without a model, over the cap.
	Problems []string `json:"problems"`
	// Tasks holds the estimate of each task, by its id; that of the answer is ChairTask.
	Tasks map[string]Spending `json:"tasks,omitempty"`
}

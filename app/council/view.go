package council

// RunView holds what a page or a terminal shows of a run: what changed since the revision
// asked, at 0 all of it. Times are milliseconds since the run began, so that a replay
// needs no clock. A list is never nil.
type RunView struct {
	Run          string `json:"run"`
	Conversation string `json:"conversation"`
	Revision     uint64 `json:"revision"`
	// The difference is not known: this is as if asked at 0, and what was held is void.
	Reset    bool     `json:"reset"`
	Turn     string   `json:"turn"`
	Question uint64   `json:"question"` // sequence number of the message that is answered
	Mode     Mode     `json:"mode"`
	State    RunState `json:"state"`
	// Live says that it is worked on now. One that is neither live nor over was cut off, and
	// can go on.
	Live     bool       `json:"live"`
	Began    string     `json:"began"`  // RFC 3339
	MS       int64      `json:"ms"`     // how long it took so far, with the answer
	DueMS    int64      `json:"due_ms"` // when its time is over, or that of a question to the person; 0: not known, or never
	Estimate Estimate   `json:"estimate"`
	Spent    Spending   `json:"spent"`
	Early    string     `json:"early"`   // why it ended before its time: a sentence, or ""
	Edited   bool       `json:"edited"`  // the chat was changed since
	Again    string     `json:"again"`   // the run that it repeats, or ""
	Change   string     `json:"change"`  // what was changed then, a sentence
	Lanes    []LaneView `json:"lanes"`   // those that changed, in the order of the council; the chair's is last
	Members  int        `json:"members"` // how many take part
	Result   *Result    `json:"result"`  // once there is one
	// Problem is a sentence where the record cannot be trusted, since a step or a text does not
	// fit its hash, or where it cannot be kept.
	Problem string `json:"problem"`
}

// LaneView is one member's lane.
type LaneView struct {
	Member string   `json:"member"` // id; "" is the chair
	Name   string   `json:"name"`
	Role   string   `json:"role"`
	Letter string   `json:"letter"` // by which the answer cites it; "" for the chair, and in older runs for who sits out
	Color  string   `json:"color"`
	Avatar string   `json:"avatar"` // id of a picture, or ""
	Model  string   `json:"model"`  // "connection/model"
	In     bool     `json:"in"`
	Why    string   `json:"why"`  // not in: why; else what it has to do without; a sentence, or ""
	Roll   *float64 `json:"roll"` // what was thrown, or null
	Chance float64  `json:"chance"`
	// Context and Tools tell what it was to be told of the chat, and which tools it had, in this run.
	Context ContextPolicy `json:"context"`
	Tools   []string      `json:"tools"`
	Tasks   []TaskView    `json:"tasks"`
	Spent   Spending      `json:"spent"`
	// Drawn tells whose the letters are in its reviews and its ballot: they were drawn for it, and
	// are not those of the lanes. It is empty where it has neither.
	Drawn []Drawn `json:"drawn"`
	// Ratings are the person's thumbs on its points.
	Ratings []Rating `json:"ratings"`
}

// TaskView is one task in a lane.
type TaskView struct {
	ID      string    `json:"id"`
	Stage   int       `json:"stage"`
	Kind    TaskKind  `json:"kind"`
	Tool    string    `json:"tool"` // “plugin:name”, or ""
	Title   string    `json:"title"`
	Attempt int       `json:"attempt"`
	State   TaskState `json:"state"`
	Phase   Phase     `json:"phase"`  // while it is worked on, else ""
	Note    string    `json:"note"`   // while it is worked on: a sentence, or ""
	Why     string    `json:"why"`    // skipped, stopped, capped, failed: a sentence
	Hint    string    `json:"hint"`   // failed: what to do
	Detail  string    `json:"detail"` // failed: the other side's own words, or ""
	StartMS int64     `json:"start_ms"`
	EndMS   int64     `json:"end_ms"`   // 0 while it is worked on
	AskedMS int64     `json:"asked_ms"` // of that time, once it ended: a person was asked about its calls
	// DueMS is when its member's time is over, while it is worked on; 0 where it has no bound,
	// or stands still since a person is asked.
	DueMS int64 `json:"due_ms"`
	// Text holds the member's words while it is worked on, from Offset on, in UTF-16 units. Of
	// a task that ended the page asks Council.Said.
	Text   string       `json:"text"`
	Offset int          `json:"offset"`
	Bytes  int          `json:"bytes"` // of what was said
	Sealed bool         `json:"sealed"`
	Calls  []CalledView `json:"calls"`
	Sent   int          `json:"sent"` // requests to a model, for Council.Sent
	// Refused tells how many of its calls were refused, or ran out of time while a person was asked.
	Refused int      `json:"refused"`
	Spent   Spending `json:"spent"`
	// Expected tells what the run's estimate said of it; zero where nobody estimated.
	Expected Spending `json:"expected"`
}

// ChairTask is the id of the chair's TaskView.
const ChairTask = "chair"

// CalledView is one call of a tool by a member, as a lane marks it.
type CalledView struct {
	ID      string `json:"id"` // CallRecord.ID in decimal, for Chats.Call
	Tool    string `json:"tool"`
	Title   string `json:"title"`
	State   string `json:"state"` // as transcript.CallState
	StartMS int64  `json:"start_ms"`
	EndMS   int64  `json:"end_ms"`
	Request string `json:"request"` // the waiting request's id, or ""
}

// Spending counts tokens, time and money of a task, a member or a run.
type Spending struct {
	Input  int64   `json:"input_tokens"`
	Output int64   `json:"output_tokens"`
	MS     int64   `json:"ms"`
	Cost   float64 `json:"cost"`  // US dollars
	Known  bool    `json:"known"` // Cost is all of it
}

// Estimate says before a run what it may come to.
type Estimate struct {
	Calls   int     `json:"calls"` // requests to models, the answer among them
	Tools   int     `json:"tools"` // calls of tools
	Input   int64   `json:"input_tokens"`
	Output  int64   `json:"output_tokens"`
	Cost    float64 `json:"cost"`
	Known   bool    `json:"known"` // the price of every model is
	Cap     float64 `json:"cap"`   // 0: none
	Seconds float64 `json:"seconds"`
	// Helper says that a helper model would mend one of Problems.
	Helper bool `json:"helper,omitempty"`
	// Problems are sentences: no members, a member without a model, over the cap.
	Problems []string `json:"problems"`
	// Tasks tell what each task may come to, by its id; that of the answer is ChairTask.
	Tasks map[string]Spending `json:"tasks,omitempty"`
}

// Package council holds a council and its runs: who the members are, what each of them sees and may
// spend, and how a run proceeds.
//
// A [Run] is a state machine without effects. Each thing that happens to it is a [Step]: [Run.Apply]
// takes one, and [Run.Next] returns what to do now. A run is stored as its steps and rebuilt from them
// by [Replay], so watching, resuming after a kill and replaying use the same data. Steps stay small,
// since they name texts by their hashes.
//
// A run begins with its list of [Task]s. Each is one piece of work of one member in one stage: an
// answer, a review, a ballot, or a call of one tool. A stage begins when the one before it is over.
// Package deliberation does the work, and a [Log] stores it.
//
// A run produces advisory notes for the main model, which writes the answer. It never grants
// permissions.
//
// Read [Council], [Step] and [Run] first.
package council

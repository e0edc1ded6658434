package council

// Opinion holds what a member says in a form that can be counted. It stands at the end of
// its answer, as a block of JSON that people are not shown.
type Opinion struct {
	Position string  `json:"position"` // in at most 12 words
	Points   []Point `json:"points"`
}

// Point is one claim of a member. Others refer to it by the member's letter and its
// number: "a2".
type Point struct {
	Claim string `json:"claim"`
	// Basis says what it rests on: Tool, Given or Own.
	Basis  Basis  `json:"basis"`
	Source string `json:"source,omitempty"` // the tool, or what was given
	// Checked says that it rests on a tool which its member really called.
	Checked bool `json:"-"`
}

// Basis says what a claim rests on.
type Basis string

// What claims rest on. Only a claim of FromTool whose tool the member has really called
// counts as checked.
const (
	FromTool  Basis = "tool"
	FromGiven Basis = "given" // the text, the files
	FromOwn   Basis = "own"   // what the model knows
)

// Stance tells what one member says of a point of another.
type Stance struct {
	Point string `json:"point"` // "a2"
	Says  string `json:"says"`  // agree, disagree, unsure
	Why   string `json:"why,omitempty"`
}

// Ballot is one member's vote.
type Ballot struct {
	Choice  string             `json:"choice,omitempty"` // a choice, or the letter of an unsigned answer
	Scores  map[string]float64 `json:"scores,omitempty"` // 0 to 10, by choice
	Abstain bool               `json:"abstain,omitempty"`
	Why     string             `json:"why,omitempty"`
}

// Finding is one line of a result.
type Finding struct {
	Text   string   `json:"text"`
	Points []string `json:"points"` // "a2": the members' own words
	// Agree holds the letters of members that stand for it without a point of their own.
	Agree []string `json:"agree"`
	// Against holds a sentence for each member that disagrees, with its reason.
	Against []string `json:"against"`
}

// Result tells what came of a run, made of the members' own points: a chair may say which
// of them are about the same, and can add none.
type Result struct {
	Agreement    []Finding `json:"agreement"`
	Disagreement []Finding `json:"disagreement"`
	NotChecked   []Finding `json:"not_checked"`
	// Agreed holds the letters of members that share a point and speak against none.
	Agreed []string `json:"agreed"`
	// Same holds the letters of those among them that say nothing which no other says: without
	// one of them the result had been the same.
	Same    []string `json:"-"`
	Points  int      `json:"points"`  // how many the members made
	Tally   []Tally  `json:"tally"`   // mode vote
	Missing []string `json:"missing"` // a sentence for each member whose answer is not in it
}

// Tally counts what one choice got.
type Tally struct {
	Choice string `json:"choice"`
	// Member is whose answer was chosen, by id; "" where the choice is one of the council's.
	Member string  `json:"member"`
	Votes  float64 `json:"votes"` // with the members' weights
	Score  float64 `json:"score"` // the mean of the scores, weighted; 0 where nobody scored
}

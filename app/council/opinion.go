package council

// Opinion holds a member's view in a form that can be compared. It is a JSON block at the end of an
// answer, hidden from people.
type Opinion struct {
	Position string  `json:"position"` // in at most 12 words
	Points   []Point `json:"points"`
}

// Point is one claim of a member. Its name is the member's letter and a number: "a2".
type Point struct {
	Claim  string `json:"claim"`
	Basis  Basis  `json:"basis"`
	Source string `json:"source,omitempty"` // the tool, or what was given
	// Checked is set where the member really called the tool that it cites.
	Checked bool `json:"-"`
}

// Basis names the support of a claim.
type Basis string

// The bases. Only a claim of FromTool counts as checked, if the member really called the tool.
const (
	FromTool  Basis = "tool"
	FromGiven Basis = "given" // the text, the files
	FromOwn   Basis = "own"   // what the model knows
)

// Stance is one member's opinion on a point of another.
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
	// Agree holds the letters of members that agree without making the point themselves.
	Agree []string `json:"agree"`
	// Against holds a sentence for each member that disagrees, with its reason.
	Against []string `json:"against"`
}

// Result is the outcome of a run, made from the members' points. A chair can group points, but add
// none.
type Result struct {
	Agreement    []Finding `json:"agreement"`
	Disagreement []Finding `json:"disagreement"`
	NotChecked   []Finding `json:"not_checked"`
	// Agreed holds the letters of members that share a point and disagree with none.
	Agreed []string `json:"agreed"`
	// Same holds those among them that made no point alone: without any one of them the result would
	// be the same.
	Same    []string `json:"-"`
	Points  int      `json:"points"`  // made by all members
	Tally   []Tally  `json:"tally"`   // mode vote
	Missing []string `json:"missing"` // a sentence for each member whose answer is missing
}

// Tally is the count of one choice.
type Tally struct {
	Choice string `json:"choice"`
	// Member is the id of the member whose answer this is; "" for a choice of the council.
	Member string  `json:"member"`
	Votes  float64 `json:"votes"` // with the members' weights
	Score  float64 `json:"score"` // the mean of the scores, weighted; 0 where nobody scored
}

package council

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"conclave/app/limit"
)

// Mode says what members do before the main model answers.
type Mode string

// The modes.
const (
	// Each runs the tools that are assigned to it (contracts/spindle, section 10).
	Tools    Mode = "tools"
	Opinions Mode = "opinions" // each answers by itself
	Review   Mode = "review"   // and looks at the answers of the others, unsigned
	Vote     Mode = "vote"     // and votes, once all have answered
	Advocate Mode = "advocate" // the first writes a draft, the others speak against it
	Relay    Mode = "relay"    // one after another, each with the answer before it
)

// Modes are all modes, in the order in which they are offered.
var Modes = []Mode{Opinions, Review, Vote, Advocate, Relay, Tools}

// Council is a council as a person sets it, for a chat, a project or everywhere. Its JSON
// is the file that is read and written; keys that this version does not know survive.
// Keys of contracts/spindle, section 9, are named as there.
type Council struct {
	Name    string   `json:"name,omitempty"`
	Enabled bool     `json:"enabled"`
	Mode    Mode     `json:"mode"`
	Members []Member `json:"members"` // in order
	// Chair is the "connection/model" that writes the answer; empty is the chat's.
	Chair   string   `json:"chair,omitempty"`
	Helper  Helper   `json:"helper"`
	Choices []string `json:"choices,omitempty"` // vote: between these; none: between the members' answers
	Limits  Limits   `json:"limits"`            // of the whole run
	// Parallel is how many members work at once; 0 is 4, and 1 where all models are of
	// this computer.
	Parallel  int          `json:"parallel,omitempty"`
	Rounds    int          `json:"rounds,omitempty"`     // of answers and reviews; 0 is 2
	EarlyStop bool         `json:"early_stop,omitempty"` // no review once the answers agree
	Tool      ToolSettings `json:"toolsSettings"`

	Extra map[string]json.RawMessage `json:"-"` // the keys that are not known
}

// Member is one seat of a council, and who sits there.
type Member struct {
	// ID is [a-z0-9-], 1 to 64 characters, and stays when the name changes: rules name
	// the caller "member:<id>".
	ID      string  `json:"id"`
	Name    string  `json:"name"`
	Role    string  `json:"role"`
	Persona Persona `json:"persona"`
	Off     bool    `json:"off,omitempty"` // it sits out every run

	Model       string   `json:"model,omitempty"` // "connection/model"; empty is the helper's
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	MaxTokens   int64    `json:"max_tokens,omitempty"`
	Reasoning   string   `json:"reasoning,omitempty"`

	Tools   []string      `json:"tools"`            // "plugin:name", or a built-in tool's name
	Plan    []string      `json:"plan,omitempty"`   // those for which the helper model writes arguments
	Chance  float64       `json:"chance"`           // of taking part in a run of mode tools, in percent
	Weight  float64       `json:"weight"`           // of its vote
	Limits  Limits        `json:"limits"`           // of one run
	Context ContextPolicy `json:"context"`          // of the chat
	Color   string        `json:"color,omitempty"`  // of its lane, a name of the page's palette
	PackID  string        `json:"packId,omitempty"` // where its persona is from; the names are copies
	Pack    string        `json:"packName,omitempty"`
	ItemID  string        `json:"itemId,omitempty"`
	Item    string        `json:"itemName,omitempty"`
	// Retention is how many older outputs of each of its tools the main model is shown.
	Retention map[string]int `json:"toolHistoryRetention,omitempty"`

	Extra map[string]json.RawMessage `json:"-"`
}

// Persona is how a member is to think and speak.
type Persona struct {
	Definition  string `json:"definition,omitempty"`
	Personality string `json:"personality,omitempty"`
	Behavior    string `json:"behavior,omitempty"`
	Avatar      string `json:"avatar,omitempty"`          // the id of a picture in the media folder
	Gender      *int   `json:"gender_identity,omitempty"` // contracts/spindle, section 7; nil is not known
}

// Helper is the model that writes for tools made of prompts, plans arguments, and speaks
// for members that have no model of their own.
type Helper struct {
	Model       string   `json:"model,omitempty"` // empty: there is none
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	MaxTokens   int64    `json:"max_tokens,omitempty"`
}

// Limits bound what one member, or a whole run, may take. 0 is no limit of its own.
type Limits struct {
	Tokens  int64   `json:"tokens,omitempty"`
	Seconds int     `json:"seconds,omitempty"`
	Money   float64 `json:"money,omitempty"` // US dollars
}

// Span says how much of a chat a member is given.
type Span string

// The spans. The empty one is as the mode has it: the newest messages in mode tools, as
// many as ToolSettings.Window, and else the whole chat, with every switch on.
const (
	AsMode   Span = ""
	Question Span = "question" // the last question alone
	Turns    Span = "turns"    // the last N turns
	Messages Span = "messages" // the last N messages
	Summary  Span = "summary"  // a summary, and the last turn
	Whole    Span = "all"
)

// ContextPolicy says what a member is told of a chat. The switches count where Span is not
// AsMode.
type ContextPolicy struct {
	Span   Span `json:"policy"`
	Last   int  `json:"last,omitempty"` // turns or messages
	System bool `json:"system"`         // the chat's system text
	Memory bool `json:"memory"`         // personas, characters and world information
	Others bool `json:"others"`         // what other members say, in later stages
	Files  bool `json:"files"`          // what is attached
	// Without are the ids of attached files that it is not given although Files says so.
	Without []string `json:"without,omitempty"`
}

// In returns the policy that holds in a council: AsMode made explicit.
func (p ContextPolicy) In(c Council) ContextPolicy {
	if p.Span != AsMode {
		return p
	}
	p = ContextPolicy{Span: Whole, System: true, Memory: true, Others: true, Files: true}
	if c.Mode == Tools && c.Tool.Window > 0 {
		p.Span, p.Last = Messages, c.Tool.Window
	}
	return p
}

// Sentence says what of the chat a tool is given that a member with this policy calls; empty
// where that is all of it.
func (p ContextPolicy) Sentence() string {
	of := ""
	switch p.Span {
	case Question:
		of = "the question only"
	case Turns:
		of = "the last " + limit.Counted(p.Last, "turn")
	case Messages:
		of = "the last " + limit.Counted(p.Last, "message")
	case Summary:
		of = "a summary and the last turn"
	default:
		return ""
	}
	return "This call is given of the chat what its member is told: " + of + "."
}

// ToolSettings are those of mode tools (contracts/spindle, section 9).
type ToolSettings struct {
	Mode          string `json:"mode"` // sidecar, or inline: the main model is offered the members' tools
	TimeoutMS     int    `json:"timeoutMs"`
	Window        int    `json:"sidecarContextWindow"` // messages; 0 is all
	ExcludeLatest bool   `json:"excludeLatestUserMessage"`
	UserPersona   bool   `json:"includeUserPersona"`
	Character     bool   `json:"includeCharacterInfo"`
	WorldInfo     bool   `json:"includeWorldInfo"`
	UserControl   bool   `json:"allowUserControl"`
	MaxWords      int    `json:"maxWordsPerTool"` // 0 is no limit
	Retain        bool   `json:"retainResultsForRegens"`

	Extra map[string]json.RawMessage `json:"-"`
}

// The values of ToolSettings.Mode.
const (
	Sidecar = "sidecar"
	Inline  = "inline"
)

// leastTimeout is the least that TimeoutMS counts for (contracts/spindle, section 9).
const leastTimeout = 15_000

// Default returns the council of somebody who never set one: nobody, and off.
func Default() Council {
	warm, wide := 0.7, 0.9
	return Council{
		Mode: Opinions, Members: []Member{},
		Helper: Helper{Temperature: &warm, TopP: &wide, MaxTokens: 1024},
		Tool: ToolSettings{
			Mode: Sidecar, TimeoutMS: 30_000, Window: 25, UserPersona: true, Character: true, WorldInfo: true, MaxWords: 250,
		},
	}
}

// newMember returns a member as a file that says nothing of it means it.
func newMember() Member { return Member{Tools: []string{}, Chance: 100, Weight: 1} }

// plain types have no methods, for the JSON of the known keys.
type (
	plainCouncil Council
	plainMember  Member
	plainTool    ToolSettings
)

// UnmarshalJSON reads over the defaults, and keeps keys that are not known. It reads the
// settings of other programs too (contracts/spindle, section 9).
func (c *Council) UnmarshalJSON(data []byte) error {
	*c = Default()
	var theirs struct {
		On *bool `json:"councilMode"`
	}
	if err := keeping(data, (*plainCouncil)(c), &c.Extra); err != nil {
		return err
	}
	if err := json.Unmarshal(data, &theirs); err != nil {
		return err
	}
	if theirs.On != nil {
		if !has(data, "enabled") { // a file of our own has both, and a person may have changed ours
			c.Enabled = *theirs.On
		}
		if !has(data, "mode") {
			c.Mode = Tools
		}
	}
	c.Tool.TimeoutMS = max(c.Tool.TimeoutMS, leastTimeout)
	c.name()
	return nil
}

// MarshalJSON writes the known keys and those that were kept, with whether it is on also
// where another program had it.
func (c Council) MarshalJSON() ([]byte, error) {
	if _, theirs := c.Extra[theirSwitch]; theirs {
		c.Extra = maps.Clone(c.Extra)
		c.Extra[theirSwitch] = json.RawMessage(strconv.FormatBool(c.Enabled))
	}
	return withExtra(plainCouncil(c), c.Extra)
}

// theirSwitch is the key that says in the settings of other programs whether a council is on
// (contracts/spindle, section 9).
const theirSwitch = "councilMode"

// UnmarshalJSON reads over the defaults, and keeps keys that are not known.
func (m *Member) UnmarshalJSON(data []byte) error {
	*m = newMember()
	return keeping(data, (*plainMember)(m), &m.Extra)
}

// MarshalJSON writes the known keys and those that were kept.
func (m Member) MarshalJSON() ([]byte, error) { return withExtra(plainMember(m), m.Extra) }

// UnmarshalJSON reads over what is there, and keeps keys that are not known.
func (t *ToolSettings) UnmarshalJSON(data []byte) error {
	return keeping(data, (*plainTool)(t), &t.Extra)
}

// MarshalJSON writes the known keys and those that were kept.
func (t ToolSettings) MarshalJSON() ([]byte, error) { return withExtra(plainTool(t), t.Extra) }

// Put changes the member that has m's id, or adds m; one without an id gets one.
func (c *Council) Put(m Member) {
	if i := slices.IndexFunc(c.Members, func(have Member) bool { return have.ID == m.ID }); i >= 0 && m.ID != "" {
		c.Members = slices.Clone(c.Members)
		c.Members[i] = m
		return
	}
	c.Members = append(slices.Clip(c.Members), m)
	c.name()
}

// name gives each member without an id one, made of its name, and each without a name
// that of its persona.
func (c *Council) name() {
	taken := map[string]bool{}
	for i := range c.Members {
		m := &c.Members[i]
		if m.Name == "" {
			m.Name = m.Item
		}
		if m.ID == "" {
			m.ID = slug(m.Name)
			for n := 2; taken[m.ID]; n++ {
				m.ID = slug(m.Name) + "-" + itoa(n)
			}
		}
		taken[m.ID] = true
	}
}

// slug makes an id of a name.
func slug(name string) string {
	id := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return '-'
	}, strings.ToLower(name))
	id = strings.Trim(id[:min(len(id), 40)], "-")
	if id == "" {
		return "member"
	}
	return id
}

// keeping unmarshals the known keys into known, and the others into extra.
func keeping(data []byte, known any, extra *map[string]json.RawMessage) error {
	if err := json.Unmarshal(data, known); err != nil {
		return err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	maps.DeleteFunc(all, func(name string, _ json.RawMessage) bool { return slices.Contains(keysOf(known), name) })
	*extra = nil
	if len(all) > 0 {
		*extra = all
	}
	return nil
}

// withExtra marshals known together with the keys that were kept.
func withExtra(known any, extra map[string]json.RawMessage) ([]byte, error) {
	data, err := json.Marshal(known)
	if err != nil || len(extra) == 0 {
		return data, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	for name, value := range extra {
		if _, known := all[name]; !known {
			all[name] = value
		}
	}
	return json.Marshal(all)
}

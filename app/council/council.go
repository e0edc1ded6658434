package council

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"conclave/app/base/limit"
)

// Mode selects the members' work before the main model answers.
type Mode string

// The modes.
const (
	// Each member runs the tools that are assigned to it (contracts/spindle, section 10).
	Tools    Mode = "tools"
	Opinions Mode = "opinions" // each member answers by itself
	Review   Mode = "review"   // and reviews the others' answers, without names
	Vote     Mode = "vote"     // and votes once all have answered
	Advocate Mode = "advocate" // the first writes a draft, the others object to it
	Relay    Mode = "relay"    // one after another, each given the answer before it
)

// Modes lists all modes, in the order in which they are offered.
var Modes = []Mode{Opinions, Review, Vote, Advocate, Relay, Tools}

// Council holds the settings of a council, for a chat, a project or everywhere. Its JSON is the file
// format; unknown keys survive. Keys of contracts/spindle, section 9, have the same names.
type Council struct {
	Name    string   `json:"name,omitempty"`
	Enabled bool     `json:"enabled"`
	Mode    Mode     `json:"mode"`
	Members []Member `json:"members"` // in order
	// Chair is the "connection/model" that writes the answer; empty is the chat's.
	Chair   string   `json:"chair,omitempty"`
	Helper  Helper   `json:"helper"`
	Choices []string `json:"choices,omitempty"` // vote: between these; empty: between the members' answers
	Limits  Limits   `json:"limits"`            // of the whole run
	// Parallel bounds how many members work at once; 0 is 4, and 1 where all models run on this
	// computer.
	Parallel  int          `json:"parallel,omitempty"`
	Rounds    int          `json:"rounds,omitempty"`     // of answers and reviews; 0 is 2
	EarlyStop bool         `json:"early_stop,omitempty"` // no review once the answers agree
	Tool      ToolSettings `json:"toolsSettings"`

	Extra map[string]json.RawMessage `json:"-"` // unknown keys
}

// Member is one member of a council.
type Member struct {
	// ID is [a-z0-9-], 1 to 64 characters. It stays when the name changes, since permission rules
	// name the caller "member:<id>".
	ID      string  `json:"id"`
	Name    string  `json:"name"`
	Role    string  `json:"role"`
	Persona Persona `json:"persona"`
	Off     bool    `json:"off,omitempty"` // it takes part in no run

	Model       string   `json:"model,omitempty"` // "connection/model"; empty is the helper's
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	MaxTokens   int64    `json:"max_tokens,omitempty"`
	Reasoning   string   `json:"reasoning,omitempty"`

	Tools   []string      `json:"tools"`            // "plugin:name", or a built-in tool's name
	Plan    []string      `json:"plan,omitempty"`   // tools for which the helper model writes arguments
	Chance  float64       `json:"chance"`           // of taking part in a run in mode tools, in percent
	Weight  float64       `json:"weight"`           // of its vote
	Limits  Limits        `json:"limits"`           // of one run
	Context ContextPolicy `json:"context"`          // of the chat
	Color   string        `json:"color,omitempty"`  // of its lane, from the palette of the page
	PackID  string        `json:"packId,omitempty"` // the source of its persona; the names are copies
	Pack    string        `json:"packName,omitempty"`
	ItemID  string        `json:"itemId,omitempty"`
	Item    string        `json:"itemName,omitempty"`
	// Retention is the number of older outputs of each tool that the main model sees.
	Retention map[string]int `json:"toolHistoryRetention,omitempty"`

	Extra map[string]json.RawMessage `json:"-"`
}

// Persona describes how a member thinks and speaks.
type Persona struct {
	Definition  string `json:"definition,omitempty"`
	Personality string `json:"personality,omitempty"`
	Behavior    string `json:"behavior,omitempty"`
	Avatar      string `json:"avatar,omitempty"`          // the id of a picture in the media folder
	Gender      *int   `json:"gender_identity,omitempty"` // contracts/spindle, section 7; nil is not known
}

// Helper is the model that answers prompt tools, plans arguments, and speaks for members without a
// model.
type Helper struct {
	Model       string   `json:"model,omitempty"` // empty: none
	Temperature *float64 `json:"temperature,omitempty"`
	TopP        *float64 `json:"top_p,omitempty"`
	MaxTokens   int64    `json:"max_tokens,omitempty"`
}

// Limits bound what one member, or a whole run, may use. 0 is unlimited.
type Limits struct {
	Tokens  int64   `json:"tokens,omitempty"`
	Seconds int     `json:"seconds,omitempty"`
	Money   float64 `json:"money,omitempty"` // US dollars
}

// Span selects the part of a chat that a member sees.
type Span string

// The spans. AsMode depends on the mode: in mode tools the newest ToolSettings.Window messages, else
// the whole chat, with every switch on.
const (
	AsMode   Span = ""
	Question Span = "question" // only the last question
	Turns    Span = "turns"    // the last N turns
	Messages Span = "messages" // the last N messages
	Summary  Span = "summary"  // a summary, and the last turn
	Whole    Span = "all"
)

// ContextPolicy decides what a member sees of a chat. The switches count unless Span is AsMode.
type ContextPolicy struct {
	Span   Span `json:"policy"`
	Last   int  `json:"last,omitempty"` // turns or messages
	System bool `json:"system"`         // the chat's system text
	Memory bool `json:"memory"`         // personas, characters and world information
	Others bool `json:"others"`         // other members' words, in later stages
	Files  bool `json:"files"`          // attachments
	// Without lists the ids of attachments that it does not see although Files is on.
	Without []string `json:"without,omitempty"`
}

// In returns the policy with AsMode replaced by what it means in the council.
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

// Sentence describes the part of the chat that a member's tools see, or is empty where they see all.
func (p ContextPolicy) Sentence() string {
	part := map[Span]string{
		Question: "the question only", Turns: "the last " + limit.Counted(p.Last, "turn"),
		Messages: "the last " + limit.Counted(p.Last, "message"), Summary: "a summary and the last turn",
	}[p.Span]
	if part == "" {
		return ""
	}
	return "This call sees the part of the chat that its member sees: " + part + "."
}

// ToolSettings hold the settings of mode tools (contracts/spindle, section 9).
type ToolSettings struct {
	Mode          string `json:"mode"` // sidecar, or inline: the main model calls the members' tools
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

// leastTimeout is the smallest effective TimeoutMS (contracts/spindle, section 9).
const leastTimeout = 15_000

// Default returns the council where none was set: without members, and off.
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

// newMember returns a member with the defaults for keys that a file leaves out.
func newMember() Member { return Member{Tools: []string{}, Chance: 100, Weight: 1} }

// The plain types have no methods; they encode the known keys.
type (
	plainCouncil Council
	plainMember  Member
	plainTool    ToolSettings
)

// UnmarshalJSON reads over the defaults and keeps unknown keys. It also reads the settings of
// Lumiverse (contracts/spindle, section 9).
func (c *Council) UnmarshalJSON(data []byte) error {
	*c = Default()
	var keys struct {
		Lumiverse     *bool `json:"councilMode"`
		Enabled, Mode json.RawMessage
	}
	if err := keeping(data, (*plainCouncil)(c), &c.Extra); err != nil {
		return err
	}
	if err := json.Unmarshal(data, &keys); err != nil {
		return err
	}
	if keys.Lumiverse != nil && keys.Enabled == nil { // a person may have changed the one of Conclave
		c.Enabled = *keys.Lumiverse
	}
	if keys.Lumiverse != nil && keys.Mode == nil {
		c.Mode = Tools
	}
	c.Tool.TimeoutMS = max(c.Tool.TimeoutMS, leastTimeout)
	c.name()
	return nil
}

// MarshalJSON writes the known and the unknown keys. Where the file came from Lumiverse, it also
// updates that program's switch.
func (c Council) MarshalJSON() ([]byte, error) {
	if _, there := c.Extra[lumiverseSwitch]; there {
		c.Extra = maps.Clone(c.Extra)
		c.Extra[lumiverseSwitch] = json.RawMessage(strconv.FormatBool(c.Enabled))
	}
	return withExtra(plainCouncil(c), c.Extra)
}

// lumiverseSwitch is the key that switches a council on in the settings of Lumiverse
// (contracts/spindle, section 9).
const lumiverseSwitch = "councilMode"

// UnmarshalJSON reads over the defaults and keeps unknown keys.
func (m *Member) UnmarshalJSON(data []byte) error {
	*m = newMember()
	return keeping(data, (*plainMember)(m), &m.Extra)
}

// MarshalJSON writes the known and the unknown keys.
func (m Member) MarshalJSON() ([]byte, error) { return withExtra(plainMember(m), m.Extra) }

// UnmarshalJSON reads over the present values and keeps unknown keys.
func (t *ToolSettings) UnmarshalJSON(data []byte) error {
	return keeping(data, (*plainTool)(t), &t.Extra)
}

// MarshalJSON writes the known and the unknown keys.
func (t ToolSettings) MarshalJSON() ([]byte, error) { return withExtra(plainTool(t), t.Extra) }

// Put replaces the member with m's id, or adds m. A member without an id gets one.
func (c *Council) Put(m Member) {
	if i := slices.IndexFunc(c.Members, func(have Member) bool { return have.ID == m.ID }); i >= 0 && m.ID != "" {
		c.Members = slices.Clone(c.Members)
		c.Members[i] = m
		return
	}
	c.Members = append(slices.Clip(c.Members), m)
	c.name()
}

// name gives an id to each member without one, made from its name, and the persona's name to each
// member without a name.
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
				m.ID = slug(m.Name) + "-" + strconv.Itoa(n)
			}
		}
		taken[m.ID] = true
	}
}

// slug makes an id from a name.
func slug(name string) string {
	id := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(name))
	return cmp.Or(strings.Trim(id[:min(len(id), 40)], "-"), "member")
}

// keeping unmarshals known keys into known, a pointer to a struct, and unknown ones into extra.
func keeping(data []byte, known any, extra *map[string]json.RawMessage) error {
	if err := json.Unmarshal(data, known); err != nil {
		return err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return err
	}
	of := reflect.TypeOf(known).Elem()
	for i := range of.NumField() {
		name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
		delete(all, name)
	}
	*extra = nil
	if len(all) > 0 {
		*extra = all
	}
	return nil
}

// withExtra marshals known together with unknown keys.
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

package view

import (
	"slices"
	"time"

	"conclave/app/base/shorten"
	"conclave/app/base/textdiff"
	"conclave/app/chat"
	"conclave/app/chat/showing"
	"conclave/app/gate"
	"conclave/app/tool"
)

// PermissionRequest is a request that waits for a person.
type PermissionRequest struct {
	ID           string    `json:"id"`
	Nonce        string    `json:"nonce"` // must come back with the answer
	Kind         gate.Kind `json:"kind"`
	Caller       string    `json:"caller"`
	Plugin       string    `json:"plugin"`
	PluginName   string    `json:"plugin_name"`
	Tool         string    `json:"tool"`
	Title        string    `json:"title" say:"true"` // “gpt-test wants to save a note”
	Name         string    `json:"name"`             // of the tool, as a person reads it; "" when kind is not call
	Capabilities []string  `json:"capabilities" say:"true"`
	Arguments    string    `json:"arguments"` // indented JSON; "" when the call has none
	// What hooks made the call of: what its caller asked for. null where they left it alone.
	Original *Original `json:"original"`
	// What it would change or send, as far as that is known before. null where nothing is.
	Preview *Preview `json:"preview"`
	Reach   string   `json:"reach" say:"true"`
	// What could be taken back, and what cannot be shown before; or "".
	Care         string       `json:"care" say:"true"`
	Reason       string       `json:"reason" say:"true"`
	History      string       `json:"history" say:"true"`
	Usual        bool         `json:"usual,omitempty"` // it computes alone; no rule allows its tool yet
	Folder       string       `json:"folder"`          // in which the file lies that it names; or ""
	Conversation string       `json:"conversation"`
	ChatTitle    string       `json:"chat_title"` // of the conversation; "" where there is none
	Project      string       `json:"project"`    // the folder that its chat is about; or ""
	Seq          uint64       `json:"seq"`        // Entry.seq the card belongs under; 0 when there is none
	Call         string       `json:"call"`       // Call.id
	Count        int          `json:"count"`      // identical calls merged into it, at least 1
	Scopes       []gate.Scope `json:"scopes"`     // what may be offered, narrowest first
	// The conditions to always allow it under: “only in /home/me/Notes”.
	Only []string `json:"only" say:"true"`
	// What an answer can trust here: “text from example.org”; or "".
	Trust string `json:"trust" say:"true"`
	// What can be allowed in this chat though it holds text: “in this chat, only to …”; or ""
	Here    string `json:"here" say:"true"`
	Lasting string `json:"lasting" say:"true"` // the narrowest answer that lasts, after “Allow”; or ""
	Fixed   bool   `json:"fixed"`              // its arguments cannot be edited
	Hurried bool   `json:"hurried"`            // offers lasting first: five in a row were allowed within a second each
	Reads   bool   `json:"reads"`              // it only reads, on this computer
	// One of its capabilities is to run programs.
	Programs bool `json:"programs"`
	Council  bool `json:"council"` // an answer that lasts may be for all members of the council
	Asked    Time `json:"asked"`
	Expires  Time `json:"expires"`
	Hidden   int  `json:"hidden"` // hidden characters removed from what is shown
	// Where those stood, and letters that are taken for others.
	Marks []gate.Mark `json:"marks"`
	// What a list of its arguments alone would not show: a name that stands twice.
	Warnings []string `json:"warnings" say:"true"`
}

// Original is a call as its caller asked for it, before hooks changed it.
type Original struct {
	Tool   string `json:"tool"`   // its name, where hooks chose another tool; else ""
	Before string `json:"before"` // its arguments as indented JSON, in a form to compare
	After  string `json:"after"`  // those that the call has now, in the same form
}

// Preview shows what a call would change or send.
type Preview struct {
	Words string     `json:"words" say:"true"` // what the lines are, or all that is known
	Lines []DiffLine `json:"lines"`
	Left  int        `json:"left"` // how many lines are not among them
}

// DiffLine is one line of a diff.
type DiffLine struct {
	Kind textdiff.Kind `json:"kind"`
	Text string        `json:"text"`
	// It is the heading of the lines below it; of a gap, of those above the next line.
	Heading bool `json:"heading,omitempty"`
}

// NewPermissionRequest returns the view of a request; model is the name of the model that asks.
func NewPermissionRequest(q gate.Request, model string) PermissionRequest {
	v := PermissionRequest{
		ID: q.ID, Nonce: q.Nonce, Kind: q.Kind, Caller: string(q.Caller), Plugin: q.Plugin, PluginName: q.PluginName,
		Tool: q.Tool, Title: q.Title, Name: q.Name, Capabilities: q.Inferred.Labels(q.Capabilities),
		Arguments: Indented(q.Arguments), Reach: q.Reach, Reason: q.Reason, History: q.History, Care: q.Care,
		Folder: q.Folder, Conversation: string(q.Conversation), Project: q.Project, Count: max(1, q.Count),
		Scopes: List(q.Scopes), Asked: Time{q.Asked}, Expires: Time{q.Expires}, Hidden: q.Hidden,
		Marks: List(q.Marks), Warnings: List(q.Warnings),
		Only: Map(q.Offers(), q.OfferWords), Here: q.HereWords(), Fixed: q.Fixed,
		Usual: q.Usual, Hurried: q.Rapid, Reads: q.OnlyReads(), Council: q.ForCouncil(),
		Programs: slices.Contains(q.Capabilities, gate.RunPrograms),
	}
	if was := q.Original; was != nil {
		v.Original = &Original{was.Tool, tool.Comparable(was.Arguments), tool.Comparable(q.Arguments)}
	}
	if p := q.Preview; p != nil {
		v.Preview = &Preview{Words: p.Words, Lines: DiffLines(p.Lines), Left: p.Left}
	}
	v.Trust, _ = q.Trustable()
	_, v.Lasting, _ = q.Lasting()
	if q.Doing != "" {
		v.Title = asker(q, model) + " wants to " + q.Doing
	}
	return v
}

// maxAsker bounds a model's name in the title of a request, in characters.
const maxAsker = 40

// asker returns who asks, as a title begins: the model by its name.
func asker(q gate.Request, model string) string {
	if q.Caller != gate.Main || model == "" {
		return gate.CallerName(q.Caller, q.CallerName)
	}
	return shorten.To(tool.OneLine(model), maxAsker)
}

// DiffLines returns the view of a comparison.
func DiffLines(lines []textdiff.Line) []DiffLine {
	return Map(lines, func(l textdiff.Line) DiffLine { return DiffLine{Kind: l.Kind, Text: l.Text} })
}

// Origin is a source of text in a chat that neither the person nor its model wrote.
type Origin struct {
	Kind   chat.OriginKind `json:"kind"`
	Name   string          `json:"name"`
	Source string          `json:"source" say:"true"` // “text from example.org”
	Rule   string          `json:"rule"`              // that trusts it in this chat; or ""
	Named  bool            `json:"named"`             // it can be trusted
}

// NewOrigins returns the sources of text in a chat; trusted are the rules that trust some.
func NewOrigins(origins []chat.Origin, trusted map[chat.Origin]string) []Origin {
	return Map(origins, func(o chat.Origin) Origin {
		return Origin{o.Kind, o.Name, o.String(), trusted[o], o.Kind != chat.FromMore}
	})
}

// Rule is a rule that a person made.
type Rule struct {
	gate.Rule
	PluginName string `json:"plugin_name"`
	// “Notes may run write_note, when I ask, until Conclave quits.”
	Sentence string `json:"sentence" say:"true"`
	Unused   bool   `json:"unused"` // for 90 days, so that it asks again
	// By this version: a rule that allows then allows nothing, others apply to every call.
	Unreadable bool `json:"unreadable"`
}

// NewRule returns the view of a rule about a plugin of this name.
func NewRule(r gate.Rule, plugin string, now time.Time) Rule {
	r.Callers = List(r.Callers)
	return Rule{r, plugin, gate.Sentence(r, plugin) + ".", r.Unused(now), r.Unreadable()}
}

// MatrixRow shows what one plugin may do, by capability and by who calls.
type MatrixRow struct {
	Plugin       string        `json:"plugin"`
	Name         string        `json:"name"`
	State        gate.Standing `json:"state"`                  // why none of its tools can be called; or ""
	StateWords   string        `json:"state_words" say:"true"` // the same as a person reads it: “Turned off”; or ""
	Capabilities []MatrixCell  `json:"capabilities"`
	// Nothing isolates it, so it can do what its person can: the one cell.
	All      bool `json:"all"`
	LastUsed Time `json:"last_used"`
	Unused   bool `json:"unused"` // it was allowed something, and not used for 90 days
	// A newer version waits for approval; the cells are of the one that is used.
	Waits bool `json:"waits"`
}

// MatrixCell shows what becomes of calls that can do one thing.
type MatrixCell struct {
	Capability string `json:"capability" say:"true"`
	// By it, something of a person's leaves this computer or is changed.
	Risky        bool        `json:"risky"`
	Tools        int         `json:"tools"` // how many tools can
	Main         gate.Access `json:"main"`
	MainWords    string      `json:"main_words" say:"true"` // as a person reads it: “Runs”
	Council      gate.Access `json:"council"`
	CouncilWords string      `json:"council_words" say:"true"`
}

// newMatrixCell returns the view of what becomes of the calls of one cell.
func newMatrixCell(capability string, c gate.Cell) MatrixCell {
	return MatrixCell{
		capability, slices.Contains(risky, c.Capability), c.Tools, c.Main, accessWords[c.Main], c.Council,
		accessWords[c.Council],
	}
}

// risky are the capabilities by which something of a person's leaves this computer or is changed.
var risky = []gate.Capability{gate.WriteFiles, gate.Delete, gate.SendWeb, gate.RunPrograms, gate.UseSecret}

var accessWords = map[gate.Access]string{
	gate.Allowed: "Runs", gate.Asked: "Asks", gate.Refuses: "Refused", gate.Sometimes: "Depends",
}

var standingWords = map[gate.Standing]string{
	gate.NewPlugin: "Needs your approval", gate.OffPlugin: "Turned off",
	gate.ChangedPlugin: "Changed, needs your approval", gate.GonePlugin: "No longer installed",
}

// ModeChoice is one of the modes that a person may set.
type ModeChoice struct {
	Mode     gate.Mode `json:"mode"`
	Title    string    `json:"title" say:"true"`
	Sentence string    `json:"sentence" say:"true"`
}

// Modes returns the modes that a person may set.
func Modes() []ModeChoice {
	return []ModeChoice{
		{
			gate.Standard, "Standard",
			"Asks before a tool reads or changes something of yours, or sends anything from this computer.",
		},
		{gate.Careful, "Careful", "Asks before a tool does anything beyond its own files."},
	}
}

// anything is the capability of a plugin without a sandbox.
const anything = "anything you can"

// NewMatrix returns the rows of all plugins, and the capabilities that any of them has.
func NewMatrix(rows []gate.Row) (views []MatrixRow, columns []string) {
	views, columns = []MatrixRow{}, []string{}
	used := map[gate.Capability]bool{}
	for _, r := range rows {
		row := MatrixRow{
			Plugin: r.Plugin, Name: tool.OneLine(r.Name), State: r.State,
			StateWords: standingWords[r.State], Capabilities: []MatrixCell{}, All: r.All != nil,
			LastUsed: Time{r.LastUsed}, Unused: r.Unused, Waits: r.Waits,
		}
		for _, c := range r.Cells {
			used[c.Capability] = true
			row.Capabilities = append(row.Capabilities, newMatrixCell(c.Capability.Label(), c))
		}
		if r.All != nil {
			row.Capabilities = []MatrixCell{newMatrixCell(anything, *r.All)}
		}
		views = append(views, row)
	}
	for _, c := range gate.Capabilities {
		if used[c] {
			columns = append(columns, c.Label())
		}
	}
	return views, columns
}

// ToolAccess shows what becomes of a call of one tool.
type ToolAccess struct {
	Tool         string      `json:"tool"` // own name
	Name         string      `json:"name"`
	Capabilities []string    `json:"capabilities" say:"true"`
	Main         gate.Effect `json:"main"`
	MainWhy      string      `json:"main_why" say:"true"`
	Council      gate.Effect `json:"council"`
	CouncilWhy   string      `json:"council_why" say:"true"`
}

// NewToolAccess returns the view of what becomes of a tool's calls.
func NewToolAccess(t gate.Covered) ToolAccess {
	return ToolAccess{
		Tool: t.Tool.Name, Name: t.Tool.DisplayName(), Capabilities: t.Inferred.Labels(t.Capabilities),
		Main: t.Main.Effect, MainWhy: tool.OneLine(t.Main.Why), Council: t.Council.Effect,
		CouncilWhy: tool.OneLine(t.Council.Why),
	}
}

// Trial shows how a rule or a mode would have decided the calls of the last 7 days.
type Trial struct {
	Sentence string       `json:"sentence" say:"true"`
	Rule     string       `json:"rule" say:"true"` // the rule as a sentence; "" of a mode
	Calls    int          `json:"calls"`           // that could be decided again
	Unknown  int          `json:"unknown"`         // that could not
	Before   gate.Outcome `json:"before"`
	After    gate.Outcome `json:"after"`
	Changed  []TrialCall  `json:"changed"` // that would have gone otherwise, the newest first
	More     int          `json:"more"`    // how many others would have, too
}

// TrialCall is one such call.
type TrialCall struct {
	Call       uint64      `json:"call"`
	Time       Time        `json:"time"`
	Tool       string      `json:"tool"`
	Title      string      `json:"title"` // what it did, in words
	PluginName string      `json:"plugin_name"`
	Caller     gate.Caller `json:"caller"`
	Who        string      `json:"who" say:"true"`
	Before     gate.Effect `json:"before"`
	After      gate.Effect `json:"after"`
	Why        string      `json:"why" say:"true"`
}

// NewTrial returns the view of a trial with at most so many of its calls; 0 is all. words names the
// tool and the plugin of a call.
func NewTrial(got gate.Trialed, most int, words func(chat.CallRecord) showing.Words) Trial {
	v := Trial{
		Sentence: got.Sentence(), Calls: got.Calls, Unknown: got.Unknown, Before: got.Before, After: got.After,
		Changed: []TrialCall{},
	}
	if changed := len(got.Changed); most > 0 && changed > most {
		got.Changed, v.More = got.Changed[:most], changed-most
	}
	for _, t := range got.Changed {
		named := words(chat.CallRecord{ToolID: t.Entry.Tool, ToolName: t.Entry.Tool, Plugin: t.Entry.Plugin})
		v.Changed = append(v.Changed, TrialCall{
			t.Entry.Call,
			Time{t.Entry.Time},
			t.Entry.Tool, tool.OneLine(named.Did),
			tool.OneLine(named.Plugin), t.Call.Caller, gate.CallerName(t.Call.Caller, ""), t.Before.Effect,
			t.After.Effect, tool.OneLine(t.After.Why),
		})
	}
	return v
}

package window

import (
	"conclave/app/council"
	"conclave/app/view"
)

// CouncilSettings is the council of a chat.
type CouncilSettings struct {
	Revision uint64          `json:"revision"`
	Council  council.Council `json:"council"` // the one that applies
	Scope    string          `json:"scope"`   // where it is set: one of CouncilChoices.Scopes
	Own      string          `json:"own"`     // the scope of this chat alone
	// Chats without their own council are answered with one.
	Everywhere bool `json:"everywhere"`
	// The council cannot be as it is set: a sentence; or "".
	Problem string `json:"problem"`
}

// CouncilChoices is everything that the panel offers to make a chat's council of.
type CouncilChoices struct {
	Scopes  []CouncilScopeView   `json:"scopes"`  // where it can be set, narrowest first
	Tools   []CouncilToolView    `json:"tools"`   // of all plugins, and the built-in ones
	Presets []view.CouncilPreset `json:"presets"` // those that come with Conclave first
	Models  []CouncilModelView   `json:"models"`
	// How many tokens an answer may have where nobody bounds it, and a cap does.
	UsualAnswer int64 `json:"usual_answer"`
}

// CouncilScopeView is a place where a council can be set.
type CouncilScopeView struct {
	Scope string `json:"scope"`            // for Council.Set
	Title string `json:"title" say:"true"` // “This chat”
	Set   bool   `json:"set"`              // a council is set there
}

// CouncilToolView is a tool as members can be given it.
type CouncilToolView struct {
	ID         string `json:"id"` // “plugin:name”, or a built-in tool's name
	Title      string `json:"title"`
	Plugin     string `json:"plugin"`                 // id; "" of a built-in tool
	PluginName string `json:"plugin_name" say:"true"` // as a person reads it
	Eligible   bool   `json:"eligible"`
	Why        string `json:"why" say:"true"` // not eligible: a sentence
	// The helper model must write for it: it is a prompt, or needs arguments.
	NeedsHelper bool `json:"needs_helper"`
	// In mode tools it is given the chat in place of the arguments it asks for, unless the
	// helper model writes them (Member.Plan).
	AsksArguments bool     `json:"asks_arguments"`
	Capabilities  []string `json:"capabilities" say:"true"` // what its plugin may do beyond its own folder, in words
}

// CouncilModelView is a model that members can speak through.
type CouncilModelView struct {
	Name  string `json:"name"` // “connection/model”
	Title string `json:"title"`
	Tools bool   `json:"tools"` // it calls tools
	Local bool   `json:"local"` // it runs on this computer
}

// ContextCount is the part of a chat that a member would see now.
type ContextCount struct {
	Tokens int64  `json:"tokens"`         // an estimate
	Why    string `json:"why" say:"true"` // what of it is cut or left out, and why: a sentence, or ""
}

// HelpedCount is how many points of a member helped, and how long it added nothing.
type HelpedCount struct {
	Rated  int `json:"rated"`  // points that the person gave a thumb
	Helped int `json:"helped"` // those of them that helped
	// Same counts its newest runs in a row in which it said nothing that no other member said,
	// and no point of it helped.
	Same int `json:"same"`
}

// SaidView is the outcome of a task.
type SaidView struct {
	HTML    string           `json:"html"` // sanitized
	Text    string           `json:"text"` // Markdown
	Opinion *council.Opinion `json:"opinion"`
	// First counts the points that the member made before this task: its first here has the
	// number after them.
	First int `json:"first"`
	// Of a review or a critique: what it says of the others' points, by the letters of the
	// members.
	Stances []council.Stance `json:"stances"`
	Ballot  *council.Ballot  `json:"ballot"` // once the ballots are opened
	Chosen  string           `json:"chosen"` // of a ballot: whose answer it chose, by name, or ""
}

// RunFile is a run as a file.
type RunFile struct {
	Name string   `json:"name"` // a file name to offer
	Text string   `json:"text"`
	Left []string `json:"left"` // what of the run is not in it: sentences
}

// OpenedRun is a run that was read from a file. Council.Run, Said, Sent and Compare take
// its id until the window closes.
type OpenedRun struct {
	View   council.RunView `json:"view"`
	Report council.FileRun `json:"report"`
}

package gate

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unicode"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/base/textdiff"
	"conclave/app/chat"
)

// Request is a question that waits for a person, as a window or a terminal shows it.
type Request struct {
	ID           string          `json:"id"`
	Nonce        string          `json:"nonce"` // must come back with the answer
	Kind         Kind            `json:"kind"`
	Caller       Caller          `json:"caller"`
	CallerName   string          `json:"caller_name"` // of a council member: "Ada"; else empty
	Plugin       string          `json:"plugin"`
	PluginName   string          `json:"plugin_name"`
	Tool         string          `json:"tool,omitempty"`  // tool id
	Title        string          `json:"title"`           // "Main assistant wants to write files with Notes"
	Name         string          `json:"name,omitempty"`  // of the tool, as a person reads it: "Save note"
	Doing        string          `json:"doing,omitempty"` // what a call of it does: "save a note"
	Capabilities []Capability    `json:"capabilities"`
	Inferred     Inferred        `json:"inferred,omitempty"`
	Arguments    json.RawMessage `json:"arguments,omitempty"`
	Original     *Original       `json:"original,omitempty"` // what the caller asked for, where hooks changed it
	Reach        string          `json:"reach"`              // "Can touch: its own storage folder."
	// Care is about the effects of a call that can be undone, and those that cannot be shown before.
	Care string `json:"care,omitempty"`
	// Preview shows what would change or be sent; nil if nothing is known. It is not stored, because
	// it holds what is in files.
	Preview *Preview `json:"-"`
	Reason  string   `json:"reason"`  // "Asked because: first time this tool runs in this chat."
	History string   `json:"history"` // "Allowed 4 times, last on Tuesday."
	// Usual says that the call needs no permission, and is asked about only since no rule allows its tool yet.
	Usual        bool                `json:"usual,omitempty"`
	Conversation chat.ConversationID `json:"conversation,omitempty"`
	Project      string              `json:"project,omitempty"` // the folder that the chat is about
	Turn         string              `json:"turn,omitempty"`
	Call         string              `json:"call,omitempty"`
	Count        int                 `json:"count"`  // identical calls merged into it
	Scopes       []Scope             `json:"scopes"` // what may be offered, narrowest first
	// Matches are conditions; an answer for longer than once may have any of them.
	Matches []Match `json:"matches,omitempty"`
	// Free names the arguments that say where the call reaches and that no condition of Matches covers.
	Free []string `json:"free,omitempty"`
	// Origins are those of text in the chat that made the gate ask. An answer may trust them.
	Origins []chat.Origin `json:"origins,omitempty"`
	// Here are conditions; an answer for this chat may have one of them, and it holds until the
	// chat gets text of other origins.
	Here  []Match   `json:"here,omitempty"`
	Asked time.Time `json:"asked"`
	// Rapid says that a person allowed the last five in a row without reading them, so that
	// this one offers what Lasting returns first.
	Rapid       bool        `json:"rapid,omitempty"`
	Fixed       bool        `json:"fixed,omitempty"` // its arguments cannot be edited: a permission is being used
	Expires     time.Time   `json:"expires"`
	Changes     []Change    `json:"changes,omitempty"` // changed: what differs from what was approved
	Hidden      int         `json:"hidden,omitempty"`  // hidden characters removed from what is shown
	Marks       []Mark      `json:"marks,omitempty"`   // where they stood, and what is taken for something else
	Folder      string      `json:"folder,omitempty"`  // plugin: where it lies; call: where the file lies that it names
	Tools       []ShownTool `json:"tools,omitempty"`   // plugin: what it will offer, as far as that is known
	Permissions []string    `json:"permissions,omitempty"`
	// plugin: by what its tools could be taken for those of another, in sentences; call: what a
	// list of its arguments alone would not show
	Warnings []string `json:"warnings,omitempty"`
}

// Answer is a person's answer to one request.
type Answer struct {
	Effect     Effect          `json:"effect"`              // Allow or Deny
	Scope      Scope           `json:"scope"`               // how long; Deny with Always is "never"
	Council    bool            `json:"council,omitempty"`   // also when council members ask
	Match      []Match         `json:"match,omitempty"`     // only under these of the request's Matches
	Arguments  json.RawMessage `json:"arguments,omitempty"` // edited; nil = as asked
	Reason     string          `json:"reason,omitempty"`
	Trust      []chat.Origin   `json:"trust,omitempty"`      // of the request's Origins: trusted in this chat
	Developing bool            `json:"developing,omitempty"` // plugin: keep approving my own edits
}

// Original is a call as its caller asked for it.
type Original struct {
	Tool      string          `json:"tool,omitempty"` // name of the tool, for a person, where hooks chose another
	Arguments json.RawMessage `json:"arguments"`
}

// ShownTool is a tool as a request shows it to a person who is to approve its plugin.
type ShownTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Change is one difference between an approved definition and a new one.
type Change struct {
	Tool   string `json:"tool"`
	Field  string `json:"field"` // added, listed, removed, description, parameters, title, code, permissions, settings
	Before string `json:"before"`
	After  string `json:"after"`
	Diff   string `json:"diff,omitempty"` // code: the lines that differ, as a unified diff, bounded and cleaned
}

// Mark shows characters in a text of a request that a person does not see, or takes for
// others.
type Mark struct {
	// the argument that it stands in: “to”, “options › name”; or what else; or ""
	Where string `json:"where"`
	// a line of it, with those characters written out: “pay‹U+202E, turns the direction›pal”
	Text string `json:"text"`
}

// Preview shows what a call would change or send, as far as that is known before.
type Preview struct {
	Words string          // what Lines are, a sentence or several
	Lines []textdiff.Line // each as ShowLine has it; empty where the words say all
	Left  int             // how many lines are not among them
}

// Lasting returns the narrowest answer after which such a call is not asked about again, in
// words that follow “Allow”, and whether there is one.
func (p Request) Lasting() (a Answer, words string, ok bool) {
	a = Answer{Effect: Allow, Scope: Once}
	if p.Kind != KindCall {
		return a, "", false
	}
	if len(p.Here) > 0 {
		a.Scope, a.Match = ThisChat, p.Here[:1]
		return a, p.HereWords(), true
	}
	if trusted, can := p.Trustable(); can {
		a.Trust = p.Origins
		return a, "once, and trust " + trusted + " in this chat", true
	}
	if !slices.Contains(p.Scopes, Always) {
		return a, "", false
	}
	a.Scope, words = Always, "always"
	if offers := p.Offers(); len(offers) > 0 && offers[0][0].reaches() {
		a.Match = offers[0]
		words += ", " + p.OfferWords(a.Match)
	}
	return a, words, true
}

// ForCouncil reports whether an answer for longer than once may be one for all members of the
// council: a person who is asked by one of them may say so, and nothing says it for them.
func (p Request) ForCouncil() bool {
	return p.Kind == KindCall && p.Caller.IsMember() && !p.Fixed && (len(p.Scopes) > 1 || len(p.Here) > 0)
}

// HereWords returns what Here offers, in words that follow “Allow”; "" where it offers
// nothing.
func (p Request) HereWords() string {
	if len(p.Here) == 0 {
		return ""
	}
	return "in this chat, " + p.Here[0].Sentence() + ", even though it contains " + OriginWords(p.Origins)
}

// OnlyReads reports whether the call can do nothing but compute and read on this computer.
func (p Request) OnlyReads() bool {
	return len(p.Capabilities) > 0 && !slices.ContainsFunc(p.Capabilities, func(c Capability) bool {
		return c != Compute && c != ReadFiles && c != ReadChat
	})
}

// accepts checks an answer against what was offered.
func (p *Request) accepts(a Answer) error {
	const op = "gate.answer"
	if i := slices.IndexFunc(a.Trust, func(o chat.Origin) bool {
		return o.Kind == chat.FromMore || !slices.Contains(p.Origins, o)
	}); i >= 0 || len(a.Trust) > 0 && a.Effect != Allow {
		return fault.New(fault.Invalid, op, "The request did not offer to trust that text.", "Look at it again.")
	}
	switch a.Effect {
	case Deny:
		return nil
	case Allow:
	default:
		return fault.New(fault.Invalid, op, "An answer is allow or deny.", "")
	}
	if p.Kind != KindCall {
		return nil
	}
	if a.Scope == ThisChat && len(a.Trust) == 0 && len(a.Match) == 1 && slices.ContainsFunc(p.Here, a.Match[0].Equal) {
		return acceptsArguments(a)
	}
	if a.Scope != "" && !slices.Contains(p.Scopes, a.Scope) {
		return fault.New(fault.Invalid, op, "This call cannot be allowed "+a.Scope.words()+".", "Allow it once.")
	}
	for _, m := range a.Match {
		if !slices.ContainsFunc(p.Matches, m.Equal) {
			return fault.New(fault.Invalid, op, "The request did not offer to be allowed "+m.Sentence()+".",
				"Allow it once, and make the rule yourself: conclave permissions allow --help.")
		}
	}
	return acceptsArguments(a)
}

// acceptsArguments checks what a person made of a call's arguments.
func acceptsArguments(a Answer) error {
	var object map[string]json.RawMessage
	if len(a.Arguments) > 0 && json.Unmarshal(a.Arguments, &object) != nil {
		return fault.New(fault.Invalid, "gate.answer", "The edited arguments are not a JSON object.",
			"Correct them, or allow the call as it was asked.")
	}
	return nil
}

// offered returns the conditions of an answer as the request has them.
func (p Request) offered(matches []Match) []Match {
	matches = slices.Clone(matches)
	for i, m := range matches {
		for _, offer := range slices.Concat(p.Matches, p.Here) {
			if offer.Equal(m) {
				matches[i] = offer
			}
		}
	}
	return matches
}

// Offers returns the conditions under which an answer may hold for longer, each to be taken
// whole: first all that say where the call reaches, then the first ones each by itself.
// See OfferWords for what one leaves free.
func (p Request) Offers() [][]Match {
	var offers [][]Match
	reach := slices.DeleteFunc(slices.Clone(p.Matches), func(m Match) bool { return !m.reaches() })
	if len(reach) > 1 {
		offers = append(offers, reach)
	}
	for i := range p.Matches[:min(len(p.Matches), maxSuggestions)] {
		offers = append(offers, p.Matches[i:i+1])
	}
	return offers
}

// OfferWords returns the conditions of an offer as a rule's sentence has them, and which
// arguments that say where the call reaches may be anything under it: “while path is in
// /home/me/Notes, whatever url is”.
func (p Request) OfferWords(offer []Match) string {
	var free []string
	for _, m := range p.Matches {
		if m.reaches() && !slices.ContainsFunc(offer, m.Equal) {
			free = append(free, plain(strings.TrimPrefix(m.Field, "/")))
		}
	}
	for _, name := range p.Free {
		if strings.ContainsFunc(name, notOfName) {
			name = shown(name) // which its caller may have made up to be read as more than a name
		}
		free = append(free, plain(name))
	}
	words := Sentences(offer)
	switch n := len(free); {
	case n == 0:
		return words
	case n == 1:
		return words + ", whatever " + free[0] + " is"
	case n > maxFree:
		free = append(free[:maxFree-1], limit.Counted(n-maxFree+1, "more argument"))
	}
	return words + ", whatever " + limit.Listed(free) + " are"
}

// Trustable returns the origins that an answer can trust, in words, and whether it can.
func (p Request) Trustable() (string, bool) {
	if len(p.Origins) == 0 || p.Conversation == "" ||
		slices.ContainsFunc(p.Origins, func(o chat.Origin) bool { return o.Kind == chat.FromMore }) {
		return "", false
	}
	return OriginWords(p.Origins), true
}

// notOfName reports whether a character is none that names of arguments have.
func notOfName(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' && r != '.'
}

// OriginWords returns origins as they follow “this chat contains”.
func OriginWords(origins []chat.Origin) string {
	words := make([]string, len(origins))
	for i, o := range origins {
		words[i] = o.String()
	}
	return limit.Listed(words)
}

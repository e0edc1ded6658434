package view

import (
	"cmp"
	"slices"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/council"
)

// RunHeader is one run of a council, as a list shows it.
type RunHeader struct {
	Run          string              `json:"run"`
	Conversation chat.ConversationID `json:"conversation"`
	Turn         string              `json:"turn"` // the newest, when it went on in another
	Question     chat.MessageSeq     `json:"question"`
	Mode         council.Mode        `json:"mode"`
	State        council.RunState    `json:"state"`
	Live         bool                `json:"live"`
	CutOff       bool                `json:"cut_off"` // its program ended; it can be resumed
	Members      int                 `json:"members"` // that took part
	Disagree     int                 `json:"disagree"`
	Began        Time                `json:"began"`
	MS           int64               `json:"ms"`   // 0 for one that is not over
	Cost         *float64            `json:"cost"` // null if unknown
	Spent        council.Spending    `json:"spent"`
	Seats        []council.SeatLine  `json:"seats"` // of the members that took part
}

// NewRunHeader returns the view of a run. live: it is worked on now.
func NewRunHeader(h council.Header, live bool) RunHeader {
	live = live && h.State != council.Over
	v := RunHeader{
		Run: string(h.Run), Conversation: h.Conversation, Turn: h.Turn, Question: h.Question, Mode: h.Mode,
		State: h.State, Live: live, CutOff: !live && h.State != council.Over, Members: h.Members, Disagree: h.Disagree,
		Began: Time{h.Began}, MS: h.Took(), Spent: SpentOf(h), Seats: List(h.Seats),
	}
	if v.Spent.Known {
		v.Cost = &v.Spent.Cost
	}
	return v
}

// SpentOf returns the usage, the cost and the time of a run, with its answer.
func SpentOf(h council.Header) council.Spending {
	u := h.Spent()
	return council.Spending{Input: u.Input, Output: u.Output, Cost: u.Cost, Known: u.Known(), MS: h.Took()}
}

// SentRequest is one request as it was sent to a model, or the part of the chat that a tool got.
type SentRequest struct {
	Task    string      `json:"task"`
	Member  string      `json:"member"` // its id; "" is the council
	Name    string      `json:"name"`   // of the member
	Attempt int         `json:"attempt"`
	Model   string      `json:"model"` // “connection/model”, or “plugin:name” of the tool
	Tool    string      `json:"tool"`  // title of the tool; "" of what was sent to a model
	Body    string      `json:"body"`  // every byte of it; no key is part of it
	Bytes   int         `json:"bytes"` // of the body, also where it was too long to be stored
	Blocks  []BlockText `json:"blocks"`
	Tokens  int64       `json:"tokens"` // an estimate
	AtMS    int64       `json:"at_ms"`  // after the task started
	// Why the body is missing: a sentence, or "".
	Without string `json:"without" say:"true"`
}

// BlockText is one piece of the input of a member, in order.
type BlockText struct {
	Source council.Source `json:"source"`
	Title  string         `json:"title" say:"true"`
	Text   string         `json:"text"`
	Tokens int64          `json:"tokens"`         // an estimate
	Cut    int64          `json:"cut"`            // tokens of it that were left out
	Why    string         `json:"why" say:"true"` // why it was cut or left out: a sentence, or ""
}

// NewSentRequests returns the requests of the newest attempt of a task as they were sent. text
// returns a text of the run by its hash.
func NewSentRequests(run council.Run, t council.Task, text council.ReadText) ([]SentRequest, error) {
	out, name := []SentRequest{}, cmp.Or(run.Member(t.Member).Name, "Council")
	for _, r := range t.End.Requests {
		v := SentRequest{
			Task: t.ID, Member: t.Member, Name: name, Attempt: t.Attempt, Model: r.Model, Bytes: r.Bytes,
			Tokens: r.Tokens, AtMS: r.AtMS, Blocks: []BlockText{},
		}
		if t.Handed(r) {
			v.Tool = run.ToolTitle(r.Model)
		}
		var err error
		switch v.Body, err = text(r.Body); {
		case fault.KindOf(err) == fault.NotFound:
			v.Without = "The request was too long to be saved, or the file leaves it out."
		case err != nil:
			return nil, err
		}
		for _, b := range r.Blocks(text) {
			v.Blocks = append(v.Blocks, BlockText{b.Source, b.Title, b.Words, b.Tokens, b.Cut, b.Why})
		}
		out = append(out, v)
	}
	return out, nil
}

// CouncilPreset is a council that can be chosen by name.
type CouncilPreset struct {
	Name     string          `json:"name"`
	Sentence string          `json:"sentence" say:"true"` // what it is good for; "" for a person's own
	Own      bool            `json:"own"`                 // saved by the person; others come with Conclave
	Mode     council.Mode    `json:"mode"`
	Members  []string        `json:"members"` // their names
	Council  council.Council `json:"council"`
}

// presetSentences say what the councils that come with Conclave are good for.
var presetSentences = map[string]string{
	"Three chairs":  "One finds out, one doubts, one makes something of it.",
	"Red team":      "Looks for what can go wrong with a plan before others do.",
	"Editor's desk": "Reads a text for its argument, its facts and its style.",
	"Cost steward":  "Weighs what an answer is worth against what it takes.",
}

// NewCouncilPresets lists the councils that come with Conclave, then the person's own, by name.
func NewCouncilPresets(own map[string]council.Council) []CouncilPreset {
	all := []CouncilPreset{}
	add := func(name string, mine bool, set council.Council) {
		p := CouncilPreset{Name: name, Own: mine, Mode: set.Mode, Members: []string{}, Council: set}
		if !mine {
			p.Sentence = presetSentences[name]
		}
		for _, m := range set.Members {
			p.Members = append(p.Members, m.Name)
		}
		all = append(all, p)
	}
	for _, set := range council.Presets() {
		add(set.Name, false, set)
	}
	for name, set := range own {
		add(name, true, set)
	}
	slices.SortStableFunc(all[len(all)-len(own):], func(a, b CouncilPreset) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	return all
}

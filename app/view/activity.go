package view

import (
	"encoding/json"
	"strconv"

	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/chat/showing"
	"conclave/app/gate"
	"conclave/app/record/activity"
	"conclave/app/tool"
)

// ActivityEntry holds one entry of the record of what tools did, as a person reads it.
type ActivityEntry struct {
	N     uint64        `json:"n"`
	Time  Time          `json:"time"`
	Kind  activity.Kind `json:"kind"`
	Title string        `json:"title" say:"true"` // “Saved a note”, or what happened to the record
	Chat  string        `json:"chat"`             // its id, or ""
	// “New chat” where it has none yet; "" where there is no such chat now
	ChatTitle  string          `json:"chat_title"`
	Call       string          `json:"call"` // its number, for Chats.Call
	Who        string          `json:"who" say:"true"`
	Tool       string          `json:"tool"` // plugin:name
	Plugin     string          `json:"plugin"`
	PluginName string          `json:"plugin_name"`
	Effect     string          `json:"effect"` // allow, deny, or "" where nothing was decided
	Outcome    chat.CallStatus `json:"outcome"`
	MS         int64           `json:"ms"`
	Size       string          `json:"size"`            // of what it answered
	Sent       []string        `json:"sent" say:"true"` // “1 KiB to example.org”
	Why        []string        `json:"why" say:"true"`  // how it was decided, one step a line
	Arguments  string          `json:"arguments"`       // without secrets; "" where they are not kept
	Left       string          `json:"left" say:"true"` // why they are not all there
	Digest     string          `json:"digest"`          // of the entry
	// The name of the old versions of files that it may have changed; or "".
	Undo string `json:"undo"`
}

// NewActivityEntry returns the view of an entry, without the title of its chat. words names the tool and
// the plugin of a call.
func NewActivityEntry(row activity.Row, words func(chat.CallRecord) showing.Words) ActivityEntry {
	e, d, err := row.Read()
	if err != nil {
		return ActivityEntry{Title: "An entry that cannot be read", Sent: []string{}, Why: []string{}}
	}
	v := ActivityEntry{
		N: e.N, Time: Time{e.Time}, Kind: e.Kind, Chat: string(e.Chat), Plugin: e.Plugin, Effect: e.Effect,
		Outcome: e.Outcome, MS: int64(e.MS), Digest: row.Hash, Sent: []string{},
		Why: Map(activity.Sentences(e, d), tool.OneLine), Undo: e.Undo,
	}
	named := words(chat.CallRecord{ToolID: e.Tool, ToolName: e.Tool, Plugin: e.Plugin})
	switch e.Kind {
	case activity.Called:
		v.Call, v.Size = strconv.FormatUint(e.Call, 10), limit.Size(e.Output)
		v.Who = gate.CallerName(gate.Caller(e.Caller), "")
		if v.Title = tool.OneLine(named.Did); e.Outcome != chat.CallOK {
			v.Title = showing.Sentence(tool.OneLine(named.Doing))
		}
		v.Sent = Map(e.Sent, func(s chat.Sending) string { return tool.OneLine(activity.SentTo(s)) })
	case activity.Used, activity.Sent:
		v.Title = tool.OneLine(named.Plugin + " " + activity.UsedWords(e, d))
		v.Why = v.Why[1:] // the title says the first
	default:
		v.Title, v.Why = tool.OneLine(activity.Event(e, d)), v.Why[1:]
		v.Undo = "" // the entry of the call has the way back
		return v
	}
	v.Tool, v.PluginName = tool.OneLine(e.Tool), tool.OneLine(named.Plugin)
	if d != nil {
		v.Arguments, v.Left = clean(Indented(json.RawMessage(d.Arguments))), d.Left
		if d.Beginning != "" {
			v.Arguments, v.Left = clean(d.Beginning), "The arguments have more than 8 KiB; their beginning is on record."
		}
	}
	return v
}

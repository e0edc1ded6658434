package activity

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"conclave/app/chat"
)

// Use tells that it was decided about a permission which a plugin was using: about a command
// that it wanted started, a folder opened, a host connected to, a port listened on, or more spent on models.
type Use struct {
	Time       time.Time
	Permission string // as package gate names it
	Plugin     string
	Tool       string // what the use was shown as: plugin:(programs)
	Place      string // the folder, host or port, by which uses are the same; empty where none is as another
	Chat       chat.ConversationID
	Turn       string
	Effect     string // allow or deny
	By, Rule   string
	Waited     float64         // how long a person who was asked took, in ms
	Arguments  json.RawMessage // which command, folder, host or port: those of the decision
	Path       []chat.DecisionStep
	Why        string
}

// Entry makes the entry of a use, without its place in the chain, and its detail as it is
// written. mask takes secrets out of a text.
func (u Use) Entry(mask func(string) string) (Entry, []byte, error) {
	e := Entry{
		Time: u.Time, Kind: Used, Chat: u.Chat, Turn: u.Turn, Caller: "plugin:" + u.Plugin, Tool: u.Tool, Plugin: u.Plugin,
		Permission: u.Permission, Effect: u.Effect, By: u.By, Rule: u.Rule, Waited: u.Waited,
	}
	d := Detail{Salt: rand.Text(), Size: len(u.Arguments), Path: steps(u.Path, mask), Why: words(u.Why, mask)}
	d.Arguments, d.Beginning = arguments(chat.CallRecord{Arguments: u.Arguments}, mask)
	return withDetail(e, d)
}

// Words say what was decided about the use, as they follow the name of its plugin: “was let
// start “git push” in /home/me/x”.
func (u Use) Words() string { return usedWords(u.Permission, u.Effect, u.Arguments) }

// UsedWords are the Words of an entry of a use, or of a [Sent] entry. Of a
// use without its detail they name no command, folder or host.
func UsedWords(e Entry, d *Detail) string {
	if e.Kind == Sent {
		return sentWords(e)
	}
	var arguments json.RawMessage
	if d != nil {
		arguments = d.Arguments
	}
	return usedWords(e.Permission, e.Effect, arguments)
}

func usedWords(permission, effect string, arguments json.RawMessage) string {
	var about struct { // as package gate writes them
		Command, Folder string
		Path, Access    string
		Host            string
		Spent           string
		Port, Free      string
	}
	_ = json.Unmarshal(arguments, &about) // of what was erased nothing is said
	did := "was let "
	if effect != "allow" {
		did = "was not let "
	}
	switch permission {
	case "start":
		if about.Command == "" {
			return did + "start a program"
		}
		return did + "start “" + about.Command + "” in " + about.Folder
	case "filesystem":
		verb := map[string]string{"write": "read and write", "": "open"}[about.Access]
		return did + cmp.Or(verb, "read") + " files in " + cmp.Or(about.Path, "a folder")
	case "generation":
		return did + strings.TrimSuffix("spend more on models: "+about.Spent, ": ")
	case "listen":
		at := "port " + about.Port
		switch {
		case about.Free != "":
			at = "port " + about.Free + ", which was free,"
		case about.Port == "":
			at = "a port"
		}
		return did + "listen on " + at + " of this computer"
	}
	return did + "connect to " + cmp.Or(shownHost(about.Host), "a host")
}

// shownHost is the host of an address, with its port unless that is the usual one.
func shownHost(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	if port := u.Port(); port == "443" || port == "80" {
		return u.Hostname()
	}
	return u.Host
}

// steps returns the steps of a decision without secrets.
func steps(path []chat.DecisionStep, mask func(string) string) []chat.DecisionStep {
	var out []chat.DecisionStep
	for _, s := range path {
		if s.Effect != "" { // else the words are Conclave's own
			s.Why = words(s.Why, mask)
		}
		out = append(out, s)
	}
	return out
}

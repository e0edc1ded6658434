package gate

import (
	"cmp"
	"fmt"
	"strings"

	"conclave/app/base/limit"
)

// Sentence returns a rule as a sentence without its full stop: “Notes may run
// write_note, when I ask, until Conclave quits”.
func Sentence(g Rule, pluginName string) string {
	if g.Origin != nil {
		words := g.Origin.String()
		return strings.ToUpper(words[:1]) + words[1:] + " is trusted in one chat"
	}
	name := cmp.Or(pluginName, g.Plugin)
	if g.Permission == "" {
		return name + g.callWords()
	}
	if l, ok := g.secret(); ok {
		return name + " may have your secret " + plain(l.Name) + " sent to " + limit.Listed(l.Hosts)
	}
	use := g.use()
	switch {
	case use != "":
		may := map[Effect]string{Allow: " may ", Ask: " has to ask each time to ", Deny: " may not "}
		return name + may[cmp.Or(g.Effect, Ask)] + use + strings.TrimSuffix(", "+g.holds(), ", always")
	case g.Effect == Allow:
		return name + " has the permission " + g.Permission
	}
	return name + " does not have the permission " + g.Permission
}

// RuleSentences returns rules about one plugin as sentences without their full stops.
func RuleSentences(rules []Rule, pluginName string) []string {
	all := make([]string, len(rules))
	for i, rule := range rules {
		all[i] = Sentence(rule, pluginName)
	}
	return all
}

// use returns what a rule about a permission lets a plugin do, if that is one thing: “connect to example.org”.
func (g Rule) use() string {
	if path, write, ok := g.place(); ok {
		return Folder{Path: path, Write: write}.Sentence()
	}
	if command := g.value(commandField); g.Permission == Start && command != "" {
		return "start “" + plain(command) + "” in " + g.value(folderField)
	}
	if path, ok := g.program(); ok {
		return "start " + path
	}
	if host, ok := g.host(); ok {
		return "connect to " + host
	}
	if port, ok := g.port(); ok {
		return "listen on " + portWords(port)
	}
	return ""
}

// callWords is the sentence of a rule about calls behind the name of its plugin.
func (g Rule) callWords() string {
	what := g.Tool
	if what == "*" {
		what = "any of its tools"
	}
	if len(g.Match) > 0 {
		what += ", " + Sentences(g.Match)
	}
	until := ", " + g.holds()
	if left := g.MaxUses - g.Uses; g.MaxUses > 0 {
		until += fmt.Sprintf(", %d more times", max(left, 0))
		if left == 1 {
			until = strings.TrimSuffix(until, "s")
		}
	}
	if !g.Expires.IsZero() {
		until += ", until " + g.Expires.Local().Format("January 2, 2006 15:04")
	}
	if who := g.when(); who != "" {
		what += ", " + who
	}
	switch g.Effect {
	case Deny:
		if g.Scope == Always {
			return " may never run " + what + strings.TrimPrefix(until, ", always")
		}
		return " may not run " + what + until
	case Ask:
		return " has to ask each time before it runs " + what + strings.TrimPrefix(until, ", always")
	}
	if len(g.Origins) > 0 {
		until += ", even though it contains " + OriginWords(g.Origins)
	}
	return " may run " + what + until
}

// when says whose calls a rule about calls is about: “when I ask”; empty is everybody's.
func (g Rule) when() string {
	var who []string
	for _, c := range g.Callers {
		_, id, _ := strings.Cut(string(c), ":")
		switch {
		case c == Main:
			who = append(who, "when I ask")
		case c == Person:
			who = append(who, "when I run it myself")
		case c == AnyMember:
			who = append(who, "when council members ask")
		case c.IsMember():
			who = append(who, "when "+cmp.Or(g.CallerName, id)+" asks in the council")
		default:
			name := CallerName(c, "")
			who = append(who, "when "+strings.ToLower(name[:min(1, len(name))])+name[min(1, len(name)):]+" asks")
		}
	}
	return limit.Listed(who)
}

// scopes are the scopes as an answer names them, and as the sentence of a rule does.
var scopes = map[Scope]struct{ answer, rule string }{
	ThisAnswer:  {"for this answer", "for one answer"},
	ThisChat:    {"for this chat", "in one chat"},
	ThisProject: {"in this project", "in chats of the project "},
	UntilQuit:   {"until Conclave quits", "until Conclave quits"},
	Always:      {"always", "always"},
}

func (s Scope) words() string { return cmp.Or(scopes[s].answer, "once") }

// holds returns where and for how long a rule holds.
func (g Rule) holds() string {
	words := cmp.Or(scopes[g.Scope].rule, "once")
	if g.Scope == ThisProject {
		words += g.Project
	}
	return words
}

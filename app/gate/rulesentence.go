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
		return g.trustSentence()
	}
	name := cmp.Or(pluginName, g.Plugin)
	if g.Permission != "" {
		if sentence, ok := g.openingSentence(name); ok {
			return sentence
		}
		if f, ok := g.folder(); ok {
			return name + " may " + f.Sentence()
		}
		if l, ok := g.secret(); ok {
			return name + " " + l.sentence()
		}
		if command, folder, ok := g.command(); ok {
			may := map[Effect]string{
				Allow: " may start “", Ask: " has to ask each time before it starts “", Deny: " may not start “",
			}[g.Effect]
			return name + may + plain(command) + "” in " + folder + strings.TrimSuffix(", "+g.holds(), ", always")
		}
		if path, ok := g.program(); ok && g.Effect == Allow {
			return name + " may start " + path
		}
		if host, ok := g.host(); ok {
			return name + map[Effect]string{
				Allow: " may connect to ", Ask: " has to ask each time before it connects to ",
				Deny: " may not connect to ",
			}[g.Effect] + host + strings.TrimSuffix(", "+g.holds(), ", always")
		}
		if port, ok := g.port(); ok {
			return name + map[Effect]string{
				Allow: " may listen on ", Ask: " has to ask each time before it listens on ", Deny: " may not listen on ",
			}[g.Effect] + portWords(port) + strings.TrimSuffix(", "+g.holds(), ", always")
		}
		if g.Effect == Allow {
			return name + " has the permission " + g.Permission
		}
		return name + " does not have the permission " + g.Permission
	}
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
			return name + " may never run " + what + strings.TrimPrefix(until, ", always")
		}
		return name + " may not run " + what + until
	case Ask:
		return name + " has to ask each time before it runs " + what + strings.TrimPrefix(until, ", always")
	}
	if len(g.Origins) > 0 {
		until += ", even though it contains " + OriginWords(g.Origins)
	}
	return name + " may run " + what + until
}

// when says whose calls a rule about calls is about: “when I ask”; empty is everybody's.
func (g Rule) when() string {
	var who []string
	for _, c := range g.Callers {
		switch kind, id, _ := strings.Cut(string(c), ":"); {
		case kind == "main":
			who = append(who, "when I ask")
		case kind == "person":
			who = append(who, "when I run it myself")
		case kind == "member" && id == "*":
			who = append(who, "when council members ask")
		case kind == "member":
			who = append(who, "when "+cmp.Or(g.CallerName, id)+" asks in the council")
		case kind == "plugin":
			who = append(who, "when the plugin "+id+" asks")
		case kind == "http" && id == "":
			who = append(who, "when a program asks")
		case kind == "http":
			who = append(who, "when the program "+shownName(id)+" asks")
		default:
			who = append(who, "when "+string(c)+" asks")
		}
	}
	return limit.Listed(who)
}

// holds returns where and for how long a rule holds.
func (g Rule) holds() string {
	switch g.Scope {
	case ThisAnswer:
		return "for one answer"
	case ThisChat:
		return "in one chat"
	case ThisProject:
		return "in chats of the project " + g.Project
	case UntilQuit:
		return "until Conclave quits"
	case Always:
		return "always"
	}
	return "once"
}

// openingSentence is the sentence of a rule about files that Conclave opens, without its
// full stop.
func (g Rule) openingSentence(name string) (string, bool) {
	path, write, ok := g.place()
	if !ok || !g.opened() {
		return "", false
	}
	verb := "read files in "
	if write {
		verb = "read and write files in "
	}
	may := map[Effect]string{Allow: " may ", Ask: " has to ask each time to ", Deny: " may not "}[cmp.Or(g.Effect, Ask)]
	return name + may + verb + path + strings.TrimSuffix(", "+g.holds(), ", always"), true
}

// trustSentence is the sentence of a rule about an origin, without its full stop.
func (g Rule) trustSentence() string {
	words := g.Origin.String()
	return strings.ToUpper(words[:1]) + words[1:] + " is trusted in one chat"
}

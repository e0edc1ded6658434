package activity

import (
	"fmt"
	"strings"
	"time"
)

// Sentences tells why a call was allowed or refused, as it was decided when it was made: each
// step that was looked at, and who answered. Of what was undone or redone they name the files,
// and of what a plugin was let do beside they say that first.
func Sentences(e Entry, d *Detail) []string {
	var out []string
	switch e.Kind {
	case Called:
	case Used:
		out = append(out, Event(e, d))
	default:
		return append([]string{Event(e, d)}, files(e, d)...)
	}
	if d == nil {
		out = append(out, "How it was decided was deleted with its chat.")
	} else {
		for _, s := range d.Path {
			line := fmt.Sprintf("Step %d, %s: ", s.Number, s.Name)
			switch s.Effect {
			case "":
				line += s.Why + "."
			case "allow":
				line += "allowed, " + s.Why + "."
			case "deny":
				line += "refused, " + s.Why + "."
			default:
				line += "you had to be asked, " + s.Why + "."
			}
			out = append(out, line)
		}
	}
	out = append(out, decided(e, d))
	if d != nil && d.Unkept != "" {
		out = append(out, d.Unkept)
	}
	return out
}

// decided is the sentence that says who decided.
func decided(e Entry, d *Detail) string {
	var line string
	switch e.Effect {
	case "allow":
		line = "It was allowed"
	case "deny":
		line = "It was refused"
	default:
		return "Nothing was decided about it: " + outcomes[string(e.Outcome)] + "."
	}
	switch {
	case e.By == "person":
		line += " by you"
	case strings.HasPrefix(e.By, "rule "):
		line += " by a rule of yours"
	case e.By == "hook":
		line += " by a hook"
	}
	if e.Waited > 0 {
		line += ", after " + took(e.Waited)
	}
	if d != nil && d.Why != "" {
		line += ": " + strings.TrimPrefix(d.Why, "rule: ")
	}
	return line + "."
}

// outcomes describes the outcomes of calls about which nothing was decided.
var outcomes = map[string]string{
	"unknown": "there is no such tool", "bad_arguments": "its arguments did not fit",
	"limit": "the limit of requests was reached", "cancelled": "the answer was stopped before",
	"died": "Conclave was ended before",
}

func took(ms float64) string {
	d := time.Duration(ms * float64(time.Millisecond))
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
}

// Event describes an entry that is not of a call. d may be nil.
func Event(e Entry, d *Detail) string {
	switch e.Kind {
	case Used, Sent:
		return e.Plugin + " " + UsedWords(e, d) + "."
	case Undone, Redone:
		return turned(e)
	case Erased:
		return fmt.Sprintf("A chat was deleted for good, and with it the arguments and decisions of %d calls.", e.Entries)
	case Cut:
		return fmt.Sprintf("The oldest %d entries were removed, up to entry %d.", e.Entries, e.To)
	case Broken:
		return e.Why
	}
	return "A newer Conclave wrote this."
}

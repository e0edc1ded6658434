package gate

import (
	"fmt"
	"os"
	"slices"
	"time"
)

// describe returns a call as a person is shown it.
func (f *facts) describe(c *check, r ruling) Request {
	call := c.call
	shown := showArguments(call.Arguments)
	p := Request{
		ID: newID("ask"), Nonce: newID("n"), Kind: KindCall, Caller: call.Caller, CallerName: shownName(call.CallerName),
		Plugin: call.Tool.Plugin, PluginName: f.pluginName(call.Tool.Plugin), Tool: call.Tool.ID(),
		Capabilities: append([]Capability{}, c.capabilities...), Inferred: c.inferred, Arguments: shown.raw,
		Reach: f.reach(call.Tool.Plugin, call.Given), Reason: "Asked because: " + r.why + ".",
		Conversation: call.Conversation, Project: call.project, Turn: call.Turn, Call: call.ID, Count: 1,
		Scopes: []Scope{Once}, Asked: c.now, Expires: expiry(c.now), Hidden: shown.hidden + call.Tool.Hidden,
		Warnings: shown.warnings(), Usual: r.usual,
	}
	p.Title = asks(CallerName(call.Caller, p.CallerName), p.PluginName, call.Tool, c.capabilities)
	if was := call.Original; was != nil {
		asked := showArguments(was.Arguments)
		p.Original = &Original{Tool: shownName(was.Tool), Arguments: asked.raw}
		p.Hidden += asked.hidden
		for _, m := range asked.marks {
			shown.marks = append(shown.marks, Mark{"as it was asked, " + m.Where, m.Text})
		}
	}
	p.Marks = bounded(append(shown.marks, marksOf("what the tool says of itself", call.Tool.Marked)...))
	if r.last().Number == taintStep {
		p.Origins, p.Here = c.origins, c.here()
	}
	if !r.once {
		p.Scopes = scopesOf(call)
	}
	if call.Permission != "" {
		f.describeUse(&p, call)
		return p
	}
	p.Name, p.Doing = call.Tool.DisplayName(), call.Tool.Doing()
	p.Care = care(c.capabilities, f.folders(call.Tool.Plugin))
	if !r.once {
		p.Matches, p.Free = f.places.suggest(call.Tool, call.Arguments)
	}
	var at string
	if p.Folder, at = f.places.folderNamed(call.Arguments); f.asksFor(p.Plugin, at) {
		p.Reach += " You are asked about " + p.Folder + " before it opens that."
	}
	u := f.uses[p.Tool]
	p.History = history(u.Yes, u.Allowed, c.now)
	return p
}

// openingWords returns what a plugin wants that opens a file, and what a yes lets it do.
func (f *facts) openingWords(asked map[string]string) (wants, reach string) {
	at, file := f.places.short(asked[pathField]), asked[fileField]
	wants, reach = "read "+at, "A yes lets it read that folder and what is below it."
	switch asked[accessField] {
	case access(true):
		wants, reach = "read and write "+at, "A yes lets it read, change and make files in that folder and below it."
	case accessDelete:
		if file != "" {
			at = file + " in " + at
		}
		return "delete " + at, "A yes lets it delete that, this once."
	}
	if file != "" {
		reach = "It is opening " + file + ". " + reach
	} else if info, err := os.Stat(asked[pathField]); err == nil && !info.IsDir() {
		reach = "A yes is for that file alone."
	}
	return wants, reach
}

// describeVersion returns the request that asks a person to approve the version, with the
// warnings of its likenesses.
func (f *facts) describeVersion(c PluginVersion, changes []Change, warnings []string) Request {
	permissions := approvable(c.Permissions)
	name := f.pluginName(c.Plugin)
	p := Request{
		ID: newID("ask"), Nonce: newID("n"), Kind: KindPlugin, Plugin: c.Plugin, PluginName: name,
		Title: name + " is new", Capabilities: append([]Capability{}, capabilitiesOf(c, permissions, nil)...),
		Reach:  reachOf(c, permissions, nil, ""),
		Reason: "Asked because: none of it runs before you have looked at it.", Scopes: []Scope{Always}, Count: 1,
		Asked: f.now, Changes: changes,
		Folder: c.Folder, Permissions: c.Permissions, Hidden: c.Hidden, Warnings: warnings,
	}
	marks := marksOf("what it says of itself", c.Marked)
	for _, t := range c.Tools {
		p.Hidden += t.Hidden
		marks = append(marks, marksOf("its tool “"+t.Name+"”", t.Marked)...)
		p.Tools = append(p.Tools, ShownTool{t.Name, ToolText(t)})
	}
	p.Marks = bounded(marks)
	a, known := f.approvals[c.Plugin]
	if !known || a.Code == "" {
		return p
	}
	p.Kind = KindChanged
	switch {
	case a.Code == c.Code && Expected(changes) && changes[0].Field == FirstListed:
		p.Title = name + " shows what it offers"
		p.Reason = "Asked because: it now runs, and its tool descriptions could not be read beforehand."
		return p
	case Expected(changes):
		p.Title = name + " offers other tools with your settings"
		p.Reason = "Asked because: you changed its settings, and models would see these tools."
		return p
	}
	if !a.RemovedAt.IsZero() && a.Code != c.Code {
		p.Title = name + " is not the plugin that was here"
		p.Reason = "Asked because: that one was removed, and this is other code under its name. " + leftBehind
		return p
	}
	p.Title = name + " changed since you approved it"
	p.Reason = "Asked because: its code is not what you approved."
	if slices.ContainsFunc(changes,
		func(c Change) bool { return c.Field == "description" || c.Field == "title" || c.Field == "parameters" }) {
		p.Title = name + " now describes itself differently"
		p.Reason = "Asked because: its descriptions for models are not those you approved."
	}
	return p
}

// expiry returns until when a request that is asked now can be answered. Round takes the monotonic
// reading away: a computer that sleeps does not stop the clock on the wall.
func expiry(now time.Time) time.Time { return now.Round(0).Add(AnswerTimeout) }

// overdue reports whether the time for an answer is over; a request about a plugin has all the time.
func (p *Request) overdue(now time.Time) bool { return !p.Expires.IsZero() && !now.Before(p.Expires) }

// scopesOf returns how long a call may be allowed that need not be asked about each time,
// narrowest first.
func scopesOf(call *Call) []Scope {
	scopes := []Scope{Once}
	if call.Turn != "" {
		scopes = append(scopes, ThisAnswer)
	}
	if call.Conversation != "" {
		scopes = append(scopes, ThisChat)
	}
	if call.project != "" {
		scopes = append(scopes, ThisProject)
	}
	return append(scopes, UntilQuit, Always)
}

// history is “Allowed 4 times, last on Tuesday.”, of the calls that a person allowed.
func history(times int, last, now time.Time) string {
	if times == 0 {
		return "Not allowed before."
	}
	count := "once"
	if times > 1 {
		count = fmt.Sprintf("%d times", times)
	}
	if last.IsZero() {
		return "Allowed " + count + "."
	}
	last = last.In(now.Location())
	when := "on " + last.Format("January 2, 2006")
	switch age := now.Sub(last); {
	case now.Format(time.DateOnly) == last.Format(time.DateOnly):
		when = "at " + last.Format("15:04")
	case age < 6*24*time.Hour:
		when = "on " + last.Weekday().String()
	}
	return "Allowed " + count + ", last " + when + "."
}

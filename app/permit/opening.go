package permit

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/place"
	"conclave/app/tool"
)

// opening is the name of the tool that the opening of a file is shown as; no tool has it.
const opening = "(files)"

// Opening is a file or folder outside of a plugin's own that its process wants to open.
type Opening struct {
	Plugin string
	Path   string // absolute, links resolved; the last part may not exist yet
	Write  bool
	Remove bool   // it is to be deleted, which is asked about each time; with Write
	Behalf Call   // the call that the plugin is working on, as far as that is known
	Within []Call // all that it works on: the file may be for any of them
}

// openingArguments name the file for a person who is asked, and for rules.
type openingArguments struct {
	Path   string `json:"path"`           // the folder, or the file where no plugin may have its folder
	File   string `json:"file,omitempty"` // in it
	Access string `json:"access"`         // read or write
}

// Open decides about a file that a plugin's process wants to open and that its sandbox
// does not let it open. It may ask. at is the folder or file that this is about; empty for
// a path that no plugin is given, about which nobody is asked.
func (g *Gate) Open(ctx context.Context, o Opening) (d Decision, at string) {
	if g.Reach.Usable(o.Plugin, Filesystem) != nil {
		return Decision{}, ""
	}
	at, file, ok := g.Reach.places.askedPlace(o.Path)
	if !ok {
		return Decision{}, ""
	}
	wants := access(o.Write)
	if o.Remove {
		wants = accessDelete
	}
	arguments, err := json.Marshal(openingArguments{at, file, wants})
	if err != nil {
		return Decision{}, ""
	}
	capabilities := []Capability{ReadFiles}
	if o.Write {
		capabilities = append(capabilities, WriteFiles)
	}
	if o.Remove {
		capabilities = append(capabilities, Delete)
	}
	d = g.Decide(ctx, Call{
		ID: newID("opening"), Caller: Caller("plugin:" + o.Plugin), Permission: Filesystem,
		within:    append(slices.Clone(o.Within), o.Behalf),
		Tool:      tool.Tool{Plugin: o.Plugin, Name: opening, Title: "open files", Digest: opening},
		Arguments: arguments, Capabilities: capabilities,
		Conversation: o.Behalf.Conversation, Turn: o.Behalf.Turn, Asker: o.Behalf.Asker, Taint: o.Behalf.Taint,
	})
	return d.asAsked(), at
}

// asAsked is a decision about something that is done as it was asked for or not at all.
func (d Decision) asAsked() Decision {
	if d.Edited {
		d.Effect, d.Reason = Deny, "the person changed what was asked for, which cannot be done"
	}
	return d
}

// accessDelete is the access of an opening that deletes. No rule is about it alone.
const accessDelete = "delete"

func access(write bool) string {
	if write {
		return "write"
	}
	return "read"
}

// place returns the folder or file that a rule is about, whatever it says of it.
func (g Rule) place() (path string, write, ok bool) {
	if g.Permission != Filesystem {
		return "", false, false
	}
	for _, m := range g.Match {
		switch m.Field {
		case "path":
			path = m.Value
		case "access":
			write = m.Value == access(true)
		}
	}
	return path, write, path != ""
}

// opened reports whether a rule is about files that Conclave opens for a plugin, one by
// one: it was made from such a question, and opens no sandbox.
func (g Rule) opened() bool { return g.Permission == Filesystem && g.MadeFrom != "" }

// aboutFiles reports whether a rule about files is about this opening. Who may write may
// read; who may not read may not write.
func (g Rule) aboutFiles(call *Call) bool {
	var asked openingArguments
	if json.Unmarshal(call.Arguments, &asked) != nil || asked.Path == "" {
		return g.Effect != Allow
	}
	at, write, ok := g.place()
	if !ok {
		return g.Effect != Allow
	}
	path, wants := filepath.Join(asked.Path, asked.File), asked.Access != access(false)
	if g.Effect == Allow {
		return (write || !wants) && place.Inside(at, path)
	}
	return (wants || !write) && place.Holds(at, path) // whichever of its names was asked for
}

// openingRule is the rule that an answer about a file asks for: about its folder.
func openingRule(call *Call, rule Rule) Rule {
	var asked openingArguments
	_ = json.Unmarshal(call.Arguments, &asked) // made by Open; an empty path allows nothing
	rule.Match = []Match{
		{Field: "path", Op: PathUnder, Value: asked.Path}, {Field: "access", Op: Equals, Value: asked.Access},
	}
	return rule
}

// folderNamed returns the folder of the file that a call's arguments name, as a person reads it;
// "" where they name none or several, and of one that a person could not judge. at is where it
// lies, empty where only the plugin knows.
func (p *places) folderNamed(arguments json.RawMessage) (folder, at string) {
	name := namedArguments(arguments).text(pathNames)
	if path, absolute := p.realPath(name); absolute {
		at, _, ok := p.askedPlace(path)
		if !ok {
			return "", ""
		}
		return p.short(at), at
	}
	if plain(name) != name || !filepath.IsLocal(name) {
		return "", ""
	}
	if in := filepath.Dir(name); in != "." {
		return in, ""
	}
	return "", ""
}

// Opened returns the folders and files that Conclave opens for the plugin when it asks
// for them, for as long as Conclave runs or always, sorted by path. They are none of
// Folders: its process cannot open them by itself. Among them are folders that were granted by
// hand and of which a rule refuses some, or asks about it.
func (r *Reach) Opened(plugin string) []Folder {
	f := r.decisions.lock()
	defer r.decisions.unlock()
	return f.foldersThat(plugin, func(rule *Rule) bool { return !f.byItself(rule) && rule.stays() })
}

// Writes reports whether a plugin may change what lies at a path, in a folder or as a file that
// the person lets it write, in any chat.
func (r *Reach) Writes(plugin, path string) bool {
	return slices.ContainsFunc(r.rules.permissionRules(plugin), func(rule Rule) bool {
		at, write, ok := rule.place()
		return ok && write && rule.Effect == Allow && place.Inside(at, path)
	})
}

// stays reports whether a rule holds in every chat, for as long as Conclave runs or always.
func (g Rule) stays() bool { return g.Scope == Always || g.Scope == UntilQuit }

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

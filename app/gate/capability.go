package gate

import (
	"cmp"
	"slices"
	"strings"

	"conclave/app/base/limit"
	"conclave/app/tool"
)

// ReadScreen has no service yet; a plugin that asks for it is at least decided by its row.
const ReadScreen Capability = "read clipboard or screen"

// Capabilities lists those that a plugin's tools can have, in the order of a table. Each but
// Compute is caused by permissions that something enforces, see [PermissionInfo].
var Capabilities = []Capability{
	Compute, ReadChat, ReadFiles, WriteFiles, Delete, Fetch, SendWeb, RunPrograms, CallModel,
}

// row holds what is so of one capability.
type row struct {
	main   Effect // who asks is the main model, or anybody but a council member
	member Effect
	always bool   // whether the answer may be kept for longer than once
	verb   string // "Main assistant wants to … with Notes"
	reads  bool   // what a call returns can hold text that others wrote
	leaves bool   // a call can send, run, delete, or write outside of the plugin's own folder
}

// table has the default of every capability. For a member it is never milder than for
// the main model. A compute-only tool may run, but the first time a person meets it
// they are asked, since approving a plugin from its source is not yet seeing its tool
// at work. “Always” on that card ends the asking for who asked; "once" means once. A
// person who runs such a tool themselves (the tools page, `conclave tools call`) is not
// asked whether they may.
//
// "read chat text: own context only" is held by whoever hands a member its context, so
// it is allowed here.
var table = map[Capability]row{
	Compute:     {Allow, Allow, true, "run", false, false},
	ReadChat:    {Allow, Allow, true, "read chat text", true, false},
	ReadFiles:   {Ask, Ask, true, "read files", true, false},
	Fetch:       {Ask, Ask, true, "fetch from the web", true, true}, // an address says something to its host
	WriteFiles:  {Ask, Deny, true, "write files", true, true},
	SendWeb:     {Ask, Deny, true, "send to the web", true, true},
	Delete:      {Ask, Deny, false, "delete files", true, true},
	RunPrograms: {Ask, Deny, false, "run programs", true, true},
	UseSecret:   {Ask, Deny, true, "use a secret", false, false},
	ReadScreen:  {Ask, Deny, false, "read the clipboard or the screen", true, false},
	CallModel:   {Ask, Ask, true, "call a model", true, false},
	ShowUI:      {Allow, Deny, true, "show something in the window", false, false},
}

// may reports whether a call with these capabilities may do what is so of one of them. What is not known may.
func may(capabilities []Capability, is func(row) bool) bool {
	return len(capabilities) == 0 || slices.ContainsFunc(capabilities, func(c Capability) bool {
		r, known := table[c]
		return !known || is(r)
	})
}

// hasOne reports whether one of some capabilities is among all.
func hasOne(all []Capability, of ...Capability) bool {
	return slices.ContainsFunc(of, func(c Capability) bool { return slices.Contains(all, c) })
}

// isolated is the isolation of a plugin whose sandbox the system enforces.
const isolated = "process+landlock"

// capabilitiesOf returns what the tools of a plugin can do; none means that it is not known.
// Of the files in folders, it can change and delete those alone that it was given for writing.
func capabilitiesOf(c PluginVersion, granted []string, folders []Folder) []Capability {
	if c.Isolation != isolated {
		return nil
	}
	capabilities := []Capability{Compute}
	writes := slices.ContainsFunc(folders, func(f Folder) bool { return f.Write })
	for _, p := range granted {
		for _, capability := range permissionInfos[p].Causes {
			if p == Filesystem && !writes && capability != ReadFiles {
				continue
			}
			if !slices.Contains(capabilities, capability) {
				capabilities = append(capabilities, capability)
			}
		}
	}
	return capabilities
}

// maxFoldersNamed is the number of folders that a prompt names.
const maxFoldersNamed = 4

// reachOf returns what the tools of a plugin can access, in a sentence: each folder, and what
// else it was granted. The folders' paths are as a person reads them; given is Call.Given.
func reachOf(c PluginVersion, granted []string, folders []Folder, given string) string {
	switch c.Isolation {
	case isolated:
	case "process":
		return "Runs as you, in a separate process, not isolated: it can touch what you can."
	default:
		return "Runs as you, not isolated: it can touch what you can."
	}
	var more []string
	for _, f := range folders[:min(len(folders), maxFoldersNamed)] {
		more = append(more, f.Sentence())
	}
	if left := len(folders) - maxFoldersNamed; left > 0 {
		more = append(more, "touch "+limit.Counted(left, "more folder"))
	}
	others := slices.DeleteFunc(slices.Clone(granted), func(p string) bool { return p == Filesystem })
	for _, capability := range capabilitiesOf(c, others, nil) {
		if capability != Compute {
			more = append(more, table[capability].verb)
		}
	}
	sentence := "Can touch: its own storage folder."
	if len(more) > 0 {
		sentence += " It may also " + limit.Listed(more) + "."
	}
	if c.Convention.Chat {
		sentence += " " + cmp.Or(given, tool.ChatNotice)
	}
	return sentence
}

// asks is "Main assistant wants to run word_count with Text tools".
func asks(caller, plugin string, t tool.Tool, capabilities []Capability) string {
	title := t.Title
	if title == "" {
		title = t.Name
	}
	action := "run “" + title + "”"
	var verbs []string
	for _, c := range capabilities {
		if c != Compute {
			verbs = append(verbs, table[c].verb)
		}
	}
	if len(verbs) > 0 {
		action += " and " + limit.Listed(verbs)
	}
	return wants(caller) + action + " with " + plugin
}

// wants returns the beginning of a title about what a caller wants.
func wants(caller string) string {
	if caller == CallerName(Person, "") {
		return caller + " want to "
	}
	return caller + " wants to "
}

// maxCaller is the number of characters of a caller's name that fit into a title.
const maxCaller = 40

// shownName is a caller's name as a title may hold it. It may be from a file.
func shownName(name string) string {
	clean, _ := tool.Strip(name)
	runes := []rune(strings.Join(strings.Fields(clean), " "))
	return string(runes[:min(len(runes), maxCaller)])
}

// CallerName returns a caller as a person reads it. name is a council member's own, where
// that is known.
func CallerName(c Caller, name string) string {
	kind, id, _ := strings.Cut(string(c), ":")
	switch kind {
	case "main":
		return "Main assistant"
	case "person":
		return "You"
	case "member":
		return cmp.Or(name, id) + " (council)"
	case "plugin":
		return "The plugin " + id
	case "outside":
		return "The program " + cmp.Or(name, shownName(id))
	case "http":
		if id == "" {
			return "A program"
		}
		return "The program " + shownName(id)
	}
	return string(c)
}

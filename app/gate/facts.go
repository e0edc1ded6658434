package gate

import (
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"conclave/app/base/place"
	"conclave/app/chat"
	"conclave/app/tool"
)

// facts is everything that a decision is made of. What decides reads facts and changes nothing;
// [Decisions] puts the ruling into effect.
//
// Its maps belong to [Approvals], [Rules] and [Modes], whose locks are held while it is read. Those
// of a trial are its own, see facts.trial.
type facts struct {
	*pluginBook
	modeState
	places *places
	book   *ruleBook
	uses   map[string]Use // by tool id
	mode   func() Mode    // the person's
	now    time.Time
}

// able returns what calls of a plugin's tools can do, nil where that is not known.
func (f *facts) able(plugin string) []Capability {
	if known, ok := f.known[plugin]; ok {
		granted, _ := f.permissions(plugin)
		return capabilitiesOf(known, granted, f.folders(plugin))
	}
	if plugin == BuiltIn {
		return []Capability{Compute}
	}
	return nil
}

// reach returns what calls of a plugin's tools can touch, in a sentence; given is
// Call.Given.
func (f *facts) reach(plugin, given string) string {
	known, ok := f.known[plugin]
	switch {
	case ok:
	case plugin == BuiltIn:
		return "Comes with Conclave."
	default:
		return "What it can touch is not known."
	}
	granted, _ := f.permissions(plugin)
	folders := f.foldersThat(plugin, func(rule *Rule) bool {
		return !rule.opened() || rule.stays() && !rule.Unused(f.now)
	})
	for i := range folders[:min(len(folders), maxFoldersNamed)] {
		folders[i].Path = f.places.short(folders[i].Path)
	}
	return reachOf(known, granted, folders, given)
}

// permissions returns the permissions that the person granted and denied a plugin, sorted.
func (f *facts) permissions(plugin string) (granted, denied []string) {
	granted, denied = []string{}, []string{}
	effects := map[string]Effect{}
	if a, ok := f.approvals[plugin]; ok && a.Effect == Allow {
		for _, p := range approvable(a.Permissions) {
			effects[p] = Allow
		}
	}
	for _, rule := range f.book.about(plugin) {
		p := rule.Permission
		_, folder := rule.folder()
		_, host := rule.host()
		_, program := rule.program()
		_, port := rule.port()
		switch {
		case !IsPermission(p):
		case host || program || port: // one that is allowed opens the way out, and others are asked about
			if rule.Effect == Allow && effects[p] == "" {
				effects[p] = Allow
			}
		case rule.opened(), folder && !f.byItself(rule): // opens no sandbox
		case p != Filesystem || rule.Effect == Deny || folder:
			effects[p] = rule.Effect
		}
	}
	for _, p := range slices.Sorted(maps.Keys(effects)) {
		switch effects[p] {
		case Allow:
			granted = append(granted, p)
		case Deny:
			denied = append(denied, p)
		}
	}
	return granted, denied
}

// folders returns the folders and files that a plugin's process opens by itself, sorted by path.
func (f *facts) folders(plugin string) []Folder {
	return f.foldersThat(plugin, f.byItself)
}

// foldersThat returns the folders of the rules that which reports.
func (f *facts) foldersThat(plugin string, which func(*Rule) bool) []Folder {
	found := map[string]Folder{}
	for _, rule := range f.book.about(plugin) {
		f, ok := rule.folder()
		if !ok || !which(rule) {
			continue
		}
		if before, twice := found[f.Path]; twice {
			f.Write = f.Write || before.Write
			if before.Setting == "" {
				f.Setting = ""
			}
		}
		found[f.Path] = f
	}
	return slices.SortedFunc(maps.Values(found), func(a, b Folder) int { return strings.Compare(a.Path, b.Path) })
}

// byItself reports whether a plugin's process opens by itself what a rule lets it access:
// the person granted it by hand, and no other rule refuses or asks about anything there. Else
// Conclave opens each file when the plugin asks for it, by all rules: a sandbox cannot refuse a
// part of what it opens.
func (f *facts) byItself(rule *Rule) bool {
	return !rule.opened() && !slices.ContainsFunc(f.book.about(rule.Plugin), func(other *Rule) bool {
		return other.Effect != Allow && other.cuts(rule)
	})
}

// hasSecret reports whether a plugin was given a secret.
func (f *facts) hasSecret(plugin string) bool {
	return slices.ContainsFunc(f.book.about(plugin), func(rule *Rule) bool {
		_, ok := rule.secret()
		return ok
	})
}

// untrusted returns the origins of a call's chat that nobody trusts.
func (f *facts) untrusted(call *Call) []chat.Origin {
	var left []chat.Origin
	for _, o := range call.Taint {
		if _, ok := f.book.trust(trustedText{call.Conversation, o}); !ok {
			left = chat.AddOrigins(left, o)
		}
	}
	return left
}

// approvedWeb reports whether the person approved a plugin that asks for the web, and has
// not said since to which hosts it may connect.
func (f *facts) approvedWeb(plugin string) bool {
	if a := f.approvals[plugin]; a.Effect != Allow || !slices.Contains(approvable(a.Permissions), Web) {
		return false
	}
	return !slices.ContainsFunc(f.book.about(plugin), func(rule *Rule) bool {
		_, host := rule.host()
		return host && rule.Permission == Web && rule.Effect == Allow && rule.MadeFrom == ""
	})
}

// asksFor reports whether a person is asked before a plugin opens a folder: its sandbox is shut,
// and no rule says anything of that folder.
func (f *facts) asksFor(plugin, at string) bool {
	c, known := f.known[plugin]
	if at == "" || !known || c.Isolation != isolated || c.Sealed.Why != "" {
		return false
	}
	return !slices.ContainsFunc(f.book.about(plugin), func(rule *Rule) bool {
		in, _, ok := rule.place()
		return rule.Permission == Filesystem && (!ok || place.Inside(in, at))
	})
}

// ofTool returns what calls of one tool can do, of what those of its plugin can: a tool
// of a plugin that may write in a folder deletes files there if it says so or did it before.
// Of others Conclave keeps what they delete, as it keeps what they write over.
func (f *facts) ofTool(t tool.Tool, all []Capability) ([]Capability, Inferred) {
	if !slices.Contains(all, Delete) {
		return all, nil
	}
	if why := deletes(t, f.uses[t.ID()]); why != "" {
		return all, Inferred{Delete: why}
	}
	return slices.DeleteFunc(slices.Clone(all), func(c Capability) bool { return c == Delete }), nil
}

// usesLeft returns how many calls a ruling may still release.
func (f *facts) usesLeft(r ruling) int {
	if r.effect != Allow {
		return math.MaxInt
	}
	if r.by == byUnattended {
		return f.unattended.Calls
	}
	if rule := f.book.rule(r.rule); rule != nil && rule.MaxUses > 0 {
		return rule.MaxUses - rule.Uses
	}
	return math.MaxInt
}

package gate

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"conclave/app/tool"
)

// FirstListed is the Field of a change that shows a definition for the first time:
// reading the plugin could not find it, so nobody changed it.
const FirstListed = "listed"

// BySettings is the Field of a change that says that the person's own settings caused
// the others: the plugin's files are the approved ones.
const BySettings = "settings"

// AfterRemoval is the Field of a change that says that the plugin of this name was
// removed, and this is another one, which gets its data.
const AfterRemoval = "stored"

const leftBehind = "A yes gives it what that one stored, its settings and its secrets. " +
	"To keep them from it, give its file another name."

// Expected reports whether all changes show definitions that nobody could know before
// the plugin ran, or that the person's settings caused. A person approves these too,
// before a model sees them.
func Expected(changes []Change) bool {
	return len(changes) > 0 && (changes[0].Field == BySettings ||
		!slices.ContainsFunc(changes, func(c Change) bool { return c.Field != FirstListed }))
}

// changes lists what differs between an approval and a version, and whether
// anything of it is wider: more permissions, more tools, or other words for a
// model to read. Before a plugin has run only its code and what reading showed
// can differ.
func (a Approval) changes(c PluginVersion) ([]Change, bool) {
	same := a.Code == c.Code
	if same && (!c.Listed || a.Bundled && a.Unlisted || a.Set != "" && a.Set == tool.SetDigest(c.Tools)) {
		return nil, false
	}
	var d difference
	if !same {
		d.files(a, c)
	}
	if c.Listed && a.Unlisted {
		first := a.firstListing(c)
		return append(d.changes, first...), d.wider || len(first) > 0
	}
	if a.Tools == nil || !c.Listed && len(c.Tools) == 0 {
		return d.changes, d.wider
	}
	now := map[string]bool{}
	for _, t := range c.Tools {
		now[t.Name] = true
		digest, known := a.Tools[t.Name]
		switch {
		case !known:
			d.add(c.Listed, t.Name, "added", "", ToolText(t))
		case digest == t.Digest:
		case c.Listed:
			d.definition(a, t)
		case t.Description != "" && !strings.HasPrefix(t.Description, a.Texts[t.Name]):
			// What reading shows of a tool is less than its definition.
			d.add(false, t.Name, "description", a.Texts[t.Name], t.Description)
		}
	}
	for name := range a.Tools {
		if !now[name] && !same {
			d.add(false, name, "removed", a.Texts[name], "")
		}
	}
	d.sorted()
	if same && len(d.changes) > 0 && a.Settings != c.Settings {
		d.changes = slices.Insert(d.changes, 0, Change{Field: BySettings, After: "your settings made what is different"})
	}
	return d.changes, d.wider
}

// difference collects what differs between an approval and a version.
type difference struct {
	changes []Change
	wider   bool // one of them lets the plugin do or say more
}

func (d *difference) add(widens bool, tool, field, before, after string) {
	d.changes = append(d.changes, Change{Tool: tool, Field: field, Before: before, After: after})
	d.wider = d.wider || widens
}

// files adds what differs of the code, and of the permissions that it asks for.
func (d *difference) files(a Approval, c PluginVersion) {
	if !a.RemovedAt.IsZero() {
		d.add(true, "", AfterRemoval, "a plugin that was removed", "other code under its name. "+leftBehind)
	}
	d.changes = append(d.changes, Change{Field: "code", Before: short(a.Code), After: short(c.Code), Diff: c.Diff})
	more := slices.ContainsFunc(c.Permissions, func(p string) bool { return !slices.Contains(a.Permissions, p) })
	d.wider = d.wider || more
	if before, after := listedSorted(a.Permissions), listedSorted(c.Permissions); before != after {
		d.add(false, "", "permissions", before, after)
	}
}

// definition adds what differs of a tool that was approved with another digest.
func (d *difference) definition(a Approval, t tool.Tool) {
	before := len(d.changes)
	if a.Texts[t.Name] != t.Description {
		d.add(true, t.Name, "description", a.Texts[t.Name], t.Description)
	}
	if a.Titles[t.Name] != t.Title {
		d.add(true, t.Name, "title", a.Titles[t.Name], t.Title)
	}
	if schema := a.Schemas[t.Name]; !tool.SameJSON(schema, t.Parameters) {
		d.add(moreTexts(schema, t.Parameters), t.Name, "parameters", string(schema), string(t.Parameters))
	}
	if len(d.changes) == before {
		d.add(false, t.Name, "annotations", "", string(t.Annotations))
	}
}

// firstListing compares the first listing of a plugin that was approved as it was
// read with what reading showed, and with the definitions approved before that. A
// definition whose every word was shown is no change.
func (a Approval) firstListing(c PluginVersion) []Change {
	var d difference
	for _, t := range c.Tools {
		shown, read := a.Read[t.Name]
		before, known := a.Texts[t.Name]
		all := ToolText(t)
		switch {
		case known && a.Tools[t.Name] == t.Digest:
		case known && !read: // a plugin that cannot be read, and had another definition before
			if before != t.Description {
				d.add(true, t.Name, "description", before, t.Description)
			}
			if schema := a.Schemas[t.Name]; before == t.Description || !tool.SameJSON(schema, t.Parameters) {
				d.add(true, t.Name, "parameters", string(schema), string(t.Parameters))
			}
		case !read && (a.ReadAll || a.Tools != nil):
			d.add(true, t.Name, "added", "", all)
		case !read, !shows(shown, t.Description) && shown == "":
			d.add(true, t.Name, FirstListed, "", all)
		case !shows(shown, t.Description):
			d.add(true, t.Name, "description", shown, all)
		case t.Title != t.Name && !shows(shown, t.Title):
			d.add(true, t.Name, "title", "", all)
		case slices.ContainsFunc(append(schemaTexts(t.Parameters), schemaTexts(t.Annotations)...),
			func(text string) bool { return !shows(shown, text) }):
			d.add(true, t.Name, FirstListed, "", all)
		}
	}
	return d.sorted()
}

// sorted returns the changes by tool.
func (d *difference) sorted() []Change {
	slices.SortStableFunc(d.changes, func(x, y Change) int { return strings.Compare(x.Tool, y.Tool) })
	return d.changes
}

// ToolText returns all the text of a tool that a model gets, as a request shows it to
// a person: its description, its title and what its parameters say.
func ToolText(t tool.Tool) string {
	texts := []string{t.Description}
	if t.Title != t.Name {
		texts = append(texts, t.Title)
	}
	texts = append(append(texts, schemaTexts(t.Parameters)...), schemaTexts(t.Annotations)...)
	return strings.TrimSpace(strings.Join(texts, "\n"))
}

// shows reports whether shown contains every line of text, however it is broken into
// lines.
func shows(shown, text string) bool {
	shown = oneSpaced(shown)
	for line := range strings.Lines(text) {
		if !strings.Contains(shown, oneSpaced(line)) {
			return false
		}
	}
	return true
}

func oneSpaced(text string) string { return strings.Join(strings.Fields(text), " ") }

func short(hash string) string { return hash[:min(len(hash), 12)] }

func listedSorted(words []string) string {
	words = slices.Clone(words)
	slices.Sort(words)
	return strings.Join(words, ", ")
}

// moreTexts reports whether a schema says something to a model that the approved
// one did not.
func moreTexts(before, after json.RawMessage) bool {
	said := map[string]bool{}
	for _, text := range schemaTexts(before) {
		said[text] = true
	}
	return slices.ContainsFunc(schemaTexts(after), func(text string) bool { return !said[text] })
}

// schemaTexts returns what a schema says to a model: its descriptions and titles,
// and of its other strings and names those that are more than one word.
func schemaTexts(raw json.RawMessage) []string {
	if len(raw) == 0 {
		return nil
	}
	var value any
	if json.Unmarshal(raw, &value) != nil {
		return []string{string(raw)}
	}
	var texts []string
	var walk func(key string, value any)
	walk = func(key string, value any) {
		switch v := value.(type) {
		case []any:
			for _, item := range v {
				walk("", item)
			}
		case map[string]any:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				if sentence(key) {
					texts = append(texts, key)
				}
				walk(key, v[key])
			}
		case string:
			if key == "description" || key == "title" || key == "$comment" || sentence(v) {
				texts = append(texts, v)
			}
		}
	}
	walk("", value)
	return texts
}

// longestWord is the length up to which a name or a choice in a schema counts as one
// word: the bound of a tool's name.
const longestWord = 64

// sentence reports whether a string is more than one word.
func sentence(text string) bool {
	return utf8.RuneCountInString(text) > longestWord || strings.ContainsAny(strings.TrimSpace(text), " \t\n")
}

package gate

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"conclave/app/base/jsonobject"
)

// Names of arguments, in lower case and without what joins words.
var (
	pathNames = []string{
		"path", "file", "filename", "filepath", "targetfile", "target", "destination", "dest", "notebookpath",
	}
	wholeNames = []string{
		"content", "contents", "text", "body", "data", "markdown", "filetext", "newcontent", "newcontents", "newtext",
		"code", "source",
	}
	oldNames   = []string{"oldstring", "oldstr", "oldtext", "old", "search", "find"}
	newNames   = []string{"newstring", "newstr", "newtext", "new", "replace", "replacement", "replacewith"}
	editsNames = []string{"edits", "changes", "replacements"}
	everyNames = []string{"replaceall", "all"}
)

// joiners leaves out what joins the words of a name.
var joiners = strings.NewReplacer("_", "", "-", "")

// named holds arguments by their names as the lists above write them.
type named map[string][]json.RawMessage

func namedArguments(raw json.RawMessage) named {
	all := named{}
	for name, value := range jsonobject.Fields(raw) {
		plain := joiners.Replace(strings.ToLower(name))
		if len(all[plain]) > 0 || len(all) < maxLooked {
			all[plain] = append(all[plain], value)
		}
	}
	return all
}

// one is the value of the one argument that has one of the names; null where there is none
// or there are several.
func (n named) one(names []string) json.RawMessage {
	var found []json.RawMessage
	for _, name := range names {
		found = append(found, n[name]...)
	}
	if len(found) != 1 || len(found[0]) == 0 {
		return json.RawMessage("null")
	}
	return found[0]
}

func (n named) has(names []string) bool { return string(n.one(names)) != "null" }

// text is one's text, "" where it is none.
func (n named) text(names []string) string {
	var text string
	if json.Unmarshal(n.one(names), &text) != nil {
		return ""
	}
	return text
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

// maxLooked bounds the arguments that are looked at for something to offer.
const maxLooked = 32

package picoclaw

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"conclave/app/base/jsonobject"
	"conclave/app/base/limit"
	"conclave/app/plugin"
	"conclave/app/tool"
)

var _ plugin.Importer = (*Dialect)(nil)

// Import implements plugin.Importer: of a config.json with hooks.processes, or a hooks
// block, each process becomes a folder with a hook.json. An entry stays as it is
// written, with what nobody here knows of; only paths that name the folder of the file
// become relative.
func (*Dialect) Import(ctx context.Context, path string) (made *plugin.Import, err error) {
	if !strings.EqualFold(filepath.Ext(path), ".json") {
		return nil, nil
	}
	defer func() { err = named(err, filepath.Base(path)) }()
	real, err := filepath.EvalSymlinks(path) // many keep such files elsewhere
	if err != nil {
		return nil, plugin.Unreadable(FileName, err)
	}
	text, err := readHooks(filepath.Dir(real), filepath.Base(real))
	if err != nil {
		return nil, err
	}
	block, found, err := hooksBlock(text)
	if !found || err != nil {
		return nil, err
	}
	i := importing{path: path, taken: map[string]string{}, left: plugin.MaxBytes}
	if i.folder, err = filepath.EvalSymlinks(filepath.Dir(path)); err != nil {
		return nil, plugin.Unreadable(FileName, err)
	}
	if err := i.block(ctx, block); err != nil {
		return nil, err
	}
	if len(i.Plugins)+len(i.Left) == 0 {
		return nil, &plugin.Problem{
			Kind: "refused", Message: "It names no hook process.", Hint: "They stand in it under “hooks”, “processes”.",
		}
	}
	return &i.Import, context.Cause(ctx)
}

// named adds the file to a problem.
func named(err error, file string) error {
	if p, ok := errors.AsType[*plugin.Problem](err); ok {
		p.File = file
		p.Message = strings.ReplaceAll(p.Message, FileName, file)
	}
	return err
}

// hooksBlock returns the members of the hooks block in text; false when text is an
// object without one, or no JSON object.
func hooksBlock(text []byte) (block members, found bool, err error) {
	if !json.Valid(text) && !bytes.Contains(text, []byte(`"hooks"`)) && !bytes.Contains(text, []byte(`"processes"`)) {
		return nil, false, nil // perhaps JSON with comments, of another program
	}
	if !json.Valid(text) {
		var any json.RawMessage
		return nil, false, broken(text, json.Unmarshal(text, &any))
	}
	if !isObject(bytes.TrimSpace(text)) {
		return nil, false, nil
	}
	block = membersOf(text)
	raw, err := block.only("hooks")
	switch {
	case err != nil:
		return nil, false, err
	case raw == nil:
		raw, err = block.only("processes")
		return block, raw != nil, err
	case !isObject(raw):
		return nil, false, wrong(text, "hooks", `"hooks" is no object.`, "")
	}
	return membersOf(raw), true, nil
}

// member is a member of a JSON object, as it is written.
type member struct {
	name string
	raw  json.RawMessage
}

type members []member

func membersOf(raw json.RawMessage) members {
	var all members
	for name, value := range jsonobject.Fields(raw) {
		all = append(all, member{name, value})
	}
	return all
}

// only returns the member of that name; nil without one. Which of two is meant, nobody
// knows: programs take the first or the last.
func (m members) only(name string) (json.RawMessage, error) {
	var found json.RawMessage
	for _, one := range m {
		switch {
		case one.name != name:
		case found != nil:
			return nil, &plugin.Problem{
				Kind: "script", Message: strconv.Quote(name) + " is written twice in it.", Hint: "Take one of them out.",
			}
		default:
			found = one.raw
		}
	}
	return found, nil
}

// twice returns a name that is written twice, if only in another case: readers of JSON
// differ in what they make of that. Empty without.
func (m members) twice() string {
	seen := map[string]bool{}
	for _, one := range m {
		if seen[strings.ToLower(one.name)] {
			return one.name
		}
		seen[strings.ToLower(one.name)] = true
	}
	return ""
}

// object writes the members as an object.
func (m members) object() json.RawMessage {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, one := range m {
		if i > 0 {
			out.WriteByte(',')
		}
		name, _ := json.Marshal(one.name) // a string
		out.Write(name)
		out.WriteByte(':')
		out.Write(one.raw)
	}
	out.WriteByte('}')
	return out.Bytes()
}

// with returns the members with another value in the place of one.
func (m members) with(name string, value any) members {
	raw, _ := json.Marshal(value) // texts
	all := make(members, len(m))
	for i, one := range m {
		if strings.EqualFold(one.name, name) {
			one.raw = raw
		}
		all[i] = one
	}
	return all
}

// importing makes plugins of one configuration file.
type importing struct {
	plugin.Import
	path   string
	folder string            // of the file: what is copied comes from there
	taken  map[string]string // names of folders, in small letters → of which process
	files  int               // copied in all
	left   int64             // bytes that may still be copied
}

// leave says that no plugin is made of something.
func (i *importing) leave(name, format string, with ...any) {
	name, _ = tool.Strip(name)
	i.Left = append(i.Left, plugin.LeftOut{Name: cmp.Or(excerpt(name), "“”"), Why: fmt.Sprintf(format, with...)})
}

// block takes what a hooks block holds. The error is a *plugin.Problem.
func (i *importing) block(ctx context.Context, block members) error {
	raw, err := block.only("processes")
	if err != nil {
		return err
	}
	if raw != nil && string(raw) != "null" && !isObject(raw) {
		return &plugin.Problem{Kind: "script", Message: `"processes" is no object.`}
	}
	builtins, err := block.only("builtins")
	if err != nil {
		return err
	}
	processes, compiled := membersOf(raw), membersOf(builtins)
	if n := int64(len(processes) + len(compiled)); n > limit.HookProcesses {
		return &plugin.Problem{Kind: "refused", Message: "It has more than 100 hooks, so no plugin was made of it."}
	}
	count := map[string]int{}
	for _, p := range processes {
		count[p.name]++
	}
	for _, p := range processes {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case count[p.name] > 1:
			i.leave(p.name, "It is written %d times, and it is not clear which is meant.", count[p.name])
			continue
		}
		if err := i.process(block, p); err != nil {
			why := []rune(plugin.ProblemOf(err).Error())
			i.leave(p.name, "%s.", strings.TrimSuffix(string(unicode.ToUpper(why[0]))+string(why[1:]), "."))
		}
	}
	for _, b := range compiled {
		i.leave(b.name, "It is built into PicoClaw, and is not a separate program.")
	}
	return nil
}

// process makes a plugin of one process.
func (i *importing) process(block members, entry member) error {
	if !isObject(entry.raw) {
		return errors.New("its entry is no object")
	}
	fields := membersOf(entry.raw)
	if name := fields.twice(); name != "" {
		return fmt.Errorf("%q is written twice in its entry", name)
	}
	var p Process
	if err := json.Unmarshal(entry.raw, &p); err != nil {
		return broken(entry.raw, err)
	}
	folder := folderName(entry.name)
	if other, taken := i.taken[strings.ToLower(folder)]; taken {
		return fmt.Errorf("it would get the folder %s, as %q does: give one of them another name", folder, other)
	}
	t := taking{importing: i, files: map[string]bool{}}
	fields, err := t.process(p, fields)
	if err != nil {
		return err
	}
	only := members{{entry.name, fields.object()}}
	var around members
	for _, one := range block {
		switch one.name {
		case "builtins":
		case "processes":
			around = append(around, member{one.name, only.object()})
		default:
			around = append(around, one)
		}
	}
	text := tool.Indented(members{{"hooks", around.object()}}.object()) + "\n"
	i.taken[strings.ToLower(folder)] = entry.name
	i.Plugins = append(i.Plugins, plugin.ImportedPlugin{
		Name: entry.name, Folder: folder, Files: t.sorted(), Texts: map[string][]byte{FileName: []byte(text)}, Notes: t.notes,
	})
	return nil
}

// folderName makes the name of a process into that of a folder that is a plugin's.
func folderName(name string) string {
	id := strings.Trim(plugin.LegalID(name), "_")
	if id == "" || plugin.Ignored(id) || !filepath.IsLocal(id) { // 审查, or .., or a name that Windows keeps
		sum := sha256.Sum256([]byte(name))
		return "hook_" + hex.EncodeToString(sum[:4])
	}
	return id
}

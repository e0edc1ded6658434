package mcp

import (
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/base/place"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/mcp/config"
	"conclave/app/tool"
)

// data returns the files and folders that an entry names in its arguments and variables and that are not its code: the
// server is there to work on them, and may not until the person allows it.
func data(s config.Server) (paths []string) {
	if s.Remote() {
		return nil
	}
	code := named(s.Dir, s.Args)
	texts := slices.Clone(s.Args)
	for _, value := range s.Env {
		texts = append(texts, value)
	}
	for _, text := range texts {
		if _, value, ok := strings.Cut(text, "="); ok && strings.HasPrefix(text, "-") {
			text = value
		}
		if !filepath.IsAbs(text) || filepath.Clean(text) == string(filepath.Separator) || slices.Contains(paths, text) ||
			slices.ContainsFunc(code, func(in string) bool { return place.Inside(in, text) }) {
			continue
		}
		paths = append(paths, text)
	}
	slices.Sort(paths)
	return paths
}

// wish returns the permission that a server lacks to work on a path that it was given: to write into its folder where
// there is no such file yet, or where it may read it already. It reports false where there is no such folder, or one
// that holds much more.
func (b *backend) wish(path string) (plugin.Refusal, bool) {
	one := plugin.Refusal{Permission: "filesystem", Path: path}
	if len(present(path)) == 0 {
		one.Path, one.Write = filepath.Dir(path), true
		if len(present(one.Path)) == 0 || filepath.Dir(filepath.Dir(one.Path)) == filepath.Dir(one.Path) {
			return one, false
		}
	}
	one.Path = place.Real(one.Path)
	one.Write = one.Write || slices.ContainsFunc(b.to.Folders, func(f gate.Folder) bool {
		return place.Inside(f.Path, one.Path)
	})
	return one, true
}

// maxGuessed bounds, in bytes, the answer of a call that succeeded and is taken for an error: many servers report
// theirs so.
const maxGuessed = 400

// refused returns which permissions seem to have been missing in a call, by what the server answered.
func (b *backend) refused(r tool.Result) []plugin.Refusal {
	text := r.Error
	if r.Status == chat.CallOK {
		text = chat.TextOf(r.Content)
	}
	if b.server.Remote() || r.Status == chat.CallOK && len(text) > maxGuessed {
		return nil
	}
	found := plugin.GuessRefusals(text)
	if !plugin.SaysDenied(text) {
		return found
	}
	for _, path := range b.work { // the rest of the disk is named by the person, not by the server
		if one, ok := b.wish(path); ok && strings.Contains(text, path) {
			found = append(found, one)
		}
	}
	return found
}

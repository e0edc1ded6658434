package undo

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"conclave/app/plugin/safefs"
)

// State is one name of a folder as a look saw it.
type State struct {
	Kind     string      `json:"kind"` // file, folder or link
	Size     int64       `json:"size,omitempty"`
	Mode     fs.FileMode `json:"mode"` // the permissions
	Modified int64       `json:"modified_ns,omitempty"`
	Changed  int64       `json:"changed_ns,omitempty"` // of its inode, which no program sets
	Inode    uint64      `json:"inode,omitempty"`
	// Text is the digest of a file's content, if there is a copy, and the target of a link.
	Text string `json:"text,omitempty"`
	// NotKept is the reason why there is no copy: “larger than 64 MiB”.
	NotKept string `json:"not_kept,omitempty"`
	// Fresh says that it changed so shortly before the look that a later change may not show.
	Fresh bool `json:"fresh,omitempty"`
}

// freshness is the time after a change in which another may leave the same time: 2 s on FAT.
const freshness = 2 * time.Second

// unread reports whether the system says of both that they are the same version.
func (s State) unread(o State) bool {
	return s.Kind == o.Kind && s.Size == o.Size && s.Modified == o.Modified && s.Changed == o.Changed && s.Inode == o.Inode
}

// equal reports whether both are the same version for a person.
func (s *State) equal(o *State) bool {
	switch {
	case s == nil || o == nil:
		return s == nil && o == nil
	case s.Kind != o.Kind || s.Mode != o.Mode:
		return false
	case s.Kind == "file" && (s.Text == "" || o.Text == ""):
		return s.Text == o.Text && s.unread(*o)
	}
	return s.Text == o.Text
}

// stateOf returns what the system says of a name, and whether it can be kept at all: a pipe
// or a socket cannot.
func stateOf(info fs.FileInfo) (State, bool) {
	s := State{Mode: info.Mode().Perm(), Modified: info.ModTime().UnixNano()}
	s.Inode, s.Changed = inode(info)
	switch info.Mode().Type() {
	case 0:
		s.Kind, s.Size = "file", info.Size()
	case fs.ModeDir: // its time and size are of what is in it
		return State{Kind: "folder", Mode: s.Mode}, true
	case fs.ModeSymlink:
		s.Kind = "link"
	default:
		return State{}, false
	}
	return s, true
}

// folder is a folder that a plugin may write, or a single file, and what is known of it.
type folder struct {
	path    string
	watches []*Watch // the calls of this program that run
	looked  bool     // in this program

	use
	entries map[string]State // as of the last look, by name below the path
}

// use says who uses a folder. It is written with every call, and is small.
type use struct {
	Path  string `json:"path"`
	Calls []Call `json:"calls"` // that run
	// Open says that a program had it watched since and has not ended well, so that what
	// changed since may be a plugin's.
	Open bool      `json:"open"`
	Used time.Time `json:"used"`
	// Cut says that the last look did not see all names, since there are too many.
	Cut bool `json:"cut,omitempty"`
}

// errNoFolder is of a folder that is gone.
var errNoFolder = errors.New("the folder is gone or cannot be opened")

// opened opens what a plugin was given. Of a single file it is the folder that holds it, and
// only is its name.
func opened(path string) (f *safefs.Folder, only string, err error) {
	f, err = safefs.OpenExact(path)
	if err == nil {
		return f, "", nil
	}
	dir, name := filepath.Split(path)
	if f, err = safefs.OpenExact(dir); err != nil {
		return nil, "", errors.Join(errNoFolder, err)
	}
	return f, name, nil
}

// look reads a folder. It copies what was not as it is now at the look before. cut says that it
// did not see all names.
func (o objects) look(path string, before map[string]State, at time.Time) (now map[string]State, cut bool, err error) {
	f, only, err := opened(path)
	if err != nil {
		return nil, false, err
	}
	defer f.Close() //nolint:errcheck // read only
	now = map[string]State{}
	see := func(name, key string, info fs.FileInfo) {
		if s, ok := seen(f, name, info, at); ok && utf8.ValidString(key) {
			now[key] = s
		}
	}
	if only != "" {
		_, file := before["."]
		if info, err := f.Lstat(only); err == nil {
			see(only, ".", info)
		} else if len(before) > 1 || len(before) == 1 && !file {
			return nil, false, errNoFolder // it was one, and not a single file
		}
		return now, false, o.copyAll(f, only, before, now)
	}
	if err := f.Walk(".", func(name string, entry fs.DirEntry) error {
		if f.IsPart(name) {
			return nil
		}
		if len(now) >= o.names {
			cut = true
			return fs.SkipAll
		}
		if info, err := entry.Info(); err == nil { // else it went away
			see(name, name, info)
		}
		return nil
	}); err != nil {
		return nil, false, err
	}
	for name := range before { // those of a folder with too many stay watched
		if _, seen := now[name]; !seen && len(now) < 2*o.names {
			if info, err := f.Lstat(name); err == nil {
				see(name, name, info)
			}
		}
	}
	return now, cut, o.copyAll(f, "", before, now)
}

// seen returns what a look at that time sees of a name, and whether it can be kept.
func seen(f *safefs.Folder, name string, info fs.FileInfo, at time.Time) (State, bool) {
	s, ok := stateOf(info)
	s.Fresh = at.UnixNano()-max(s.Modified, s.Changed) < int64(freshness)
	if s.Kind == "link" {
		s.Text, _ = f.Readlink(name)
	}
	return s, ok
}

// copyAll fills in the content of files: what the look before knows, and else a copy, the
// smallest first until there is too much.
func (o objects) copyAll(f *safefs.Folder, only string, before, now map[string]State) error {
	names := slices.SortedFunc(maps.Keys(now), func(a, b string) int {
		return cmp.Or(cmp.Compare(now[a].Size, now[b].Size), strings.Compare(a, b))
	})
	var total int64
	var made []string
	for _, name := range names {
		s := now[name]
		if s.Kind != "file" {
			continue
		}
		total += s.Size
		was, known := before[name]
		switch {
		case s.Size > o.most:
			s.NotKept = "larger than 64 MiB"
		case total > o.total:
			s.NotKept = "its folder has more than 256 MiB of smaller files"
		case known && !was.Fresh && was.Text != "" && was.unread(s):
			s.Text = was.Text
		case known && was.Text != "" && was.Size == s.Size && o.holds(f, cmp.Or(only, name), was.Text, s.Size):
			s.Text = was.Text // it may have changed within one tick of the clock, and did not
		default:
			hash, isNew, err := o.copy(f, cmp.Or(only, name))
			if errors.Is(err, errNotKept) {
				return err
			}
			if err != nil {
				s.NotKept = "it could not be read"
			}
			if isNew {
				made = append(made, hash)
			}
			s.Text = hash
		}
		now[name] = s
	}
	return o.sync(made)
}

// entry returns a name as the last look saw it, nil where there was none.
func (f *folder) entry(name string) *State {
	if s, ok := f.entries[name]; ok {
		return &s
	}
	return nil
}

// compare returns what differs between the last look at a folder and one that saw this, by name.
// full says that this one had no room for names that the last one saw.
func (f *folder) compare(now map[string]State, full bool) []Change {
	names := maps.Clone(now)
	maps.Copy(names, f.entries)
	var all []Change
	for _, name := range slices.Sorted(maps.Keys(names)) {
		c := Change{Folder: f.path, Name: name, Before: f.entry(name)}
		if s, ok := now[name]; ok {
			c.After = &s
		}
		if full && c.After == nil {
			continue // it may be there
		}
		c.Unseen = f.Cut && c.Before == nil
		if !c.Before.equal(c.After) {
			all = append(all, c)
		}
	}
	return all
}

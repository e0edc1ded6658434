package host

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
)

// Dialects are those that the host asks, in order. Their methods are safe for concurrent use.
type Dialects []plugin.Dialect

// Recognize asks the dialects in order, and returns the manifest that one reads of src, which may be anywhere.
// The error is a *Problem, or the cause of ctx's end.
func (all Dialects) Recognize(ctx context.Context, src plugin.Source) (*plugin.Manifest, plugin.Dialect, error) {
	for _, d := range all {
		if src.Dialect != "" && d.Facts().Name != src.Dialect {
			continue
		}
		m, err := d.Recognize(ctx, src)
		if err != nil {
			return nil, nil, err
		}
		if m != nil {
			m.Dialect = d.Facts().Name
			if err := m.Clean(); err != nil {
				return nil, nil, err
			}
			if m.Name == "" {
				m.Name = src.ID
			}
			if gate.Reserved(m.Name) || gate.Reserved(src.ID) {
				return nil, nil, &plugin.Problem{
					Kind: "refused", Message: "Its name reads as Conclave, which speaks to you under that name itself.",
					Hint: "Give it, and its file, another name.",
				}
			}
			return m, d, nil
		}
	}
	return nil, nil, &plugin.Problem{
		Kind: "unavailable", Message: "This is no plugin that Conclave knows: " +
			filepath.Base(src.Path) + ".",
		Hint: all.Layouts(),
	}
}

// Share reports whether plugins of a dialect may have resources and prompts for the person.
func (all Dialects) Share(dialect string) bool { return all.facts(dialect).Shares }

// Import asks the dialects what plugins a configuration file holds; nil when none of
// them has such files. The error is a *Problem, or the cause of ctx's end.
func (all Dialects) Import(ctx context.Context, path string) (*plugin.Import, error) {
	for _, d := range all {
		i, ok := d.(plugin.Importer)
		if !ok {
			continue
		}
		if found, err := i.Import(ctx, path); found != nil || err != nil {
			return found, err
		}
	}
	return nil, context.Cause(ctx)
}

// Text returns the dialect that makes plugins of texts; nil without one.
func (all Dialects) Text() plugin.TextImporter {
	for _, d := range all {
		if i, ok := d.(plugin.TextImporter); ok {
			return i
		}
	}
	return nil
}

// Layouts returns a sentence that lists the forms of plugins.
func (all Dialects) Layouts() string {
	var known []string
	for _, d := range all {
		for _, l := range d.Facts().Layouts {
			known = append(known, l.What+" ("+l.Entry+")")
		}
	}
	return "What it can be: " + strings.Join(known, ", ") + "."
}

// facts returns the facts of the dialect of that name.
func (all Dialects) facts(name string) plugin.Facts {
	return version{dialect: all.named(name)}.facts()
}

func (all Dialects) named(name string) plugin.Dialect {
	for _, d := range all {
		if d.Facts().Name == name {
			return d
		}
	}
	return nil
}

// CodeDigest returns the digest of the plugin at path, as Status.Digest is once it lies in the
// plugins folder. The error wraps fs.ErrNotExist when there is none; otherwise it is a fault, a
// *Problem, or the cause of ctx's end.
func (all Dialects) CodeDigest(ctx context.Context, path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	src := plugin.Source{Path: path, Display: path, Folder: info.IsDir()}
	if entries, ok := all.split(src); ok && len(entries) == 1 {
		src = entries[0]
	}
	seen, err := (&files{dialects: all}).digest(ctx, src)
	return seen.digest, err
}

// connector returns the dialect of a plugin that is not a process which Conclave starts; nil for others.
func connector(d plugin.Dialect, m plugin.Manifest) plugin.Connector {
	if c, ok := d.(plugin.Connector); ok && c.Connects(m) {
		return c
	}
	return nil
}

// confinementOf describes the sandbox of a plugin.
func confinementOf(d plugin.Dialect, m plugin.Manifest, launcher sandbox.Launcher) sandbox.Confinement {
	if c := connector(d, m); c != nil {
		return c.Confinement()
	}
	return launcher.Confinement()
}

// split returns the plugins that are entries of the file or folder at src; ok is false where it is one plugin,
// or none.
func (all Dialects) split(src plugin.Source) (entries []plugin.Source, ok bool) {
	for _, d := range all {
		if s, splits := d.(plugin.Splitter); splits {
			if entries, ok = s.Split(src); ok {
				return entries, true
			}
		}
	}
	return nil, false
}

// code returns the files of a folder that are its code; nil means all.
func (all Dialects) code(src plugin.Source) []string {
	for _, d := range all {
		if src.Dialect != "" && d.Facts().Name != src.Dialect {
			continue
		}
		if s, ok := d.(plugin.CodeLister); ok && src.Folder {
			if files, its := s.CodeFiles(src); its {
				return files
			}
		}
	}
	return nil
}

// Endings are those of the files that are plugins by themselves: ".py".
func (all Dialects) Endings() []string {
	var endings []string
	for _, d := range all {
		endings = append(endings, d.Facts().Endings...)
	}
	return endings
}

package plugin

import "context"

// Importer is a Dialect that makes plugins of a configuration file of its ecosystem.
type Importer interface {
	Dialect
	// Import reads the file at path and says which plugins it makes of it; nil when the
	// file is none of this dialect. Nothing is run, and nothing is written. A file that
	// is the dialect's but broken, or has nothing that plugins are made of, is a *Problem.
	Import(ctx context.Context, path string) (*Import, error)
}

// TextImporter is an Importer that also makes plugins of what a person types or pastes, and knows
// where other programs keep such configurations.
type TextImporter interface {
	Importer
	// ImportText reads a text: a configuration, a link, an address, a command. name is for the only
	// plugin of it; empty leaves it to the text. A text that is none of these is a *Problem.
	ImportText(ctx context.Context, text, name string) (*Import, error)
	// Places lists the configurations of other programs that are there; env reads the person's
	// environment, and dir is the folder of a project. Nothing but their names is read.
	Places(env func(name string) string, dir string) []Place
	// Export returns the configuration of a plugin in another program's form, with placeholders for
	// secrets. An unknown form is a *Problem that names those there are.
	Export(m Manifest, form string) (string, error)
}

// Place is a configuration file of another program.
type Place struct {
	Program string `json:"program"` // as a command names it: claude-code
	Title   string `json:"title"`
	Path    string `json:"path"`
}

// Import describes what is made of a configuration file.
type Import struct {
	Plugins []ImportedPlugin
	Left    []LeftOut
}

// ImportedPlugin is a plugin to be made of a configuration file: a folder.
type ImportedPlugin struct {
	Name   string            // as the file has it
	Folder string            // the name of its folder, one that is free in this Import
	Files  []string          // what is copied of the folder of the file, relative, with slashes
	Texts  map[string][]byte // what is written next to these
	Notes  []string          // sentences about what of it will not be as it was
	// Secrets are values of its settings, by name, that its configuration held itself. They are
	// kept as secrets are, and in none of its files.
	Secrets map[string]string
	Kept    string // says where Secrets are, once they are kept; empty where there are none
	Same    string // as in Source
}

// AlreadyThere says that a plugin is there under another name.
func AlreadyThere(name string) string {
	return "The same server is already there as “" + name + "”."
}

// LeftOut is something of a configuration file of which no plugin is made, and why.
type LeftOut struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

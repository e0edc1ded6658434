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
}

// LeftOut is something of a configuration file of which no plugin is made, and why.
type LeftOut struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

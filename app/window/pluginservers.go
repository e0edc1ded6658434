package window

import (
	"cmp"
	"os"
	"slices"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/plugin"
	"conclave/app/plugin/library"
	"conclave/app/view"
)

// AddedServers are the plugins that were made of a text or of another program's file.
type AddedServers struct {
	IDs []string `json:"ids"`
	// What a person should know of them: what is not as it was, and where secrets are now.
	Notes []string         `json:"notes" say:"true"`
	Left  []plugin.LeftOut `json:"left"` // entries without a plugin, and why
}

// ServerFiles lists the configurations of other programs from which MCP servers can be taken over.
func (p *Plugins) ServerFiles() ([]plugin.Place, error) {
	return view.List(p.core.Library.Places(os.Getenv, "")), nil
}

// AddServers makes plugins of MCP servers. They wait for approval. text is what a person pasted: an address, a
// command, a configuration, a link. Where it is empty, they are those in file, one of the files that ServerFiles
// lists, which is not changed.
func (p *Plugins) AddServers(text, file string) (AddedServers, error) {
	if text != "" {
		made, err := p.core.Library.ImportText(p.call(), text, "")
		return addedServers(made, err)
	}
	files := p.core.Library.Places(os.Getenv, "")
	if !slices.ContainsFunc(files, func(f plugin.Place) bool { return f.Path == file }) {
		return AddedServers{}, fault.New(fault.NotFound, "app.import", file+" is no longer there.", "Choose the file.")
	}
	made, found, err := p.core.Library.ImportServers(p.call(), file)
	if !found && err == nil {
		return AddedServers{}, fault.New(fault.Invalid, "app.import", "There is no MCP server in "+file+".", "")
	}
	return addedServers(made, err)
}

// Configuration returns the configuration of an MCP server in the form of another program, with placeholders for
// secrets.
func (p *Plugins) Configuration(id, form string) (string, error) {
	return p.core.Library.Export(id, form)
}

// addedServers returns what was made. Where that is nothing, the error names why.
func addedServers(made library.Imported, err error) (AddedServers, error) {
	if err != nil {
		f := fault.Of(err)
		why := make([]string, 0, namedLeft)
		for _, left := range made.Left[:min(len(made.Left), namedLeft)] {
			why = append(why, left.Name+": "+left.Why)
		}
		return AddedServers{}, fault.Wrap(f.Kind, f.Op, f.Message, cmp.Or(strings.Join(why, " "), f.Hint), err)
	}
	out := AddedServers{IDs: []string{}, Notes: []string{}, Left: view.List(made.Left)}
	for _, one := range made.Added {
		out.IDs = append(out.IDs, one.ID)
		for _, note := range one.Notes {
			out.Notes = append(out.Notes, one.Name+": "+note)
		}
	}
	return out, nil
}

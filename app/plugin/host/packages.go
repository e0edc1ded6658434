package host

import (
	"context"
	"slices"
	"strings"
	"sync"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/plugin"
)

// Environments finds the packages that plugins need; plugin/packages is the real one.
// It must be safe for concurrent use.
type Environments interface {
	// Packages returns what the plugin wants and what of it is there, by reading;
	// nil when it wants nothing. An error is the cause of ctx's end.
	Packages(ctx context.Context, src plugin.Source, m plugin.Manifest, l plugin.Listing) (*plugin.Packages, error)
	// Site returns the folders of the packages in the plugin's environment; none
	// when it has none that fits the Python of this machine.
	Site(ctx context.Context, id string) []string
}

// Requirements lists the packages that the newest version of a plugin needs, and what
// they were read from.
type Requirements struct {
	Source   plugin.Source
	Manifest plugin.Manifest
	Listing  plugin.Listing
	Packages *plugin.Packages // nil when nothing
}

// Packages are those that plugins need from outside. Its methods are safe for concurrent use.
type Packages struct{ h *Host }

// Required returns the packages that the plugin needs. Kind not_found when there
// is no plugin of that id, conflict for one that has no environment.
func (p *Packages) Required(id string) (Requirements, error) {
	e, err := p.h.known(id)
	if err != nil {
		return Requirements{}, err
	}
	if e.temporary {
		return Requirements{}, fault.New(fault.Conflict, "plugin.packages", "The plugin "+id+
			" was named for this run, so it has no environment.", "Put it into the plugins folder.")
	}
	return e.needs.wanted(), nil
}

// ShowWork shows an installation on the plugin's card; nil shows none. The
// caller does not change work any more.
func (p *Packages) ShowWork(id string, work *plugin.PackageWork) {
	if e := p.h.entry(id); e != nil {
		e.needs.setWork(work)
		p.h.o.Bus.Changed(bus.Plugins, "")
	}
}

// needs are the packages that the newest version of a plugin wants. It is safe for concurrent use.
type needs struct {
	mu    sync.Mutex // guards the fields below
	wants Requirements
	work  *plugin.PackageWork // installing them; not changed any more
}

func (n *needs) wanted() Requirements {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.wants
}

func (n *needs) setWork(work *plugin.PackageWork) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.work = work
}

// shown returns what a card shows: the packages, and the work of installing them.
func (n *needs) shown() (*plugin.Packages, *plugin.PackageWork) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.wants.Packages, n.work
}

// find finds out what packages v wants; in is nil where nobody can.
func (n *needs) find(ctx context.Context, in Environments, v version) error {
	if in == nil || !v.src.HasFiles() {
		return nil
	}
	var found *plugin.Packages
	if v.facts().Packages {
		var err error
		if found, err = in.Packages(ctx, v.src, v.manifest, v.listing); err != nil {
			return err
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.wants = Requirements{v.src, v.manifest, v.listing, found}
	return nil
}

// missing returns the problem of a plugin that lacks packages that it declares, or nil.
func (n *needs) missing(id string, temporary bool) *plugin.Problem {
	packages := n.wanted().Packages
	if packages == nil {
		return nil
	}
	var names, wants []string
	for _, one := range packages.MissingRequired() {
		names, wants = append(names, one.Name), append(wants, one.Requirement)
	}
	if len(names) == 0 {
		return nil
	}
	what := "the package " + wants[0] + ", which is"
	if len(wants) > 1 {
		what = "packages that are"
		if len(wants) <= 12 {
			what = "the packages " + strings.Join(wants, ", ") + ", which are"
		}
	}
	hint := packages.Hint(id)
	if temporary {
		hint = "Put it into the plugins folder: there it can have its own packages."
	}
	return &plugin.Problem{Kind: "packages", Message: "It needs " + what + " not installed.", Missing: names, Hint: hint}
}

// explain turns a load that failed for want of a package into one that waits for packages.
func (n *needs) explain(id string, p *plugin.Problem) *plugin.Problem {
	packages := n.wanted().Packages
	if packages == nil || len(p.Missing) == 0 || p.Kind == "packages" ||
		!slices.ContainsFunc(packages.ToInstall(), func(one plugin.Package) bool {
			return one.Status != plugin.PackageInstalled
		}) {
		return p
	}
	if lacking := n.missing(id, false); lacking != nil {
		lacking.Hint = strings.TrimSpace(lacking.Hint + "\n" + p.Hint)
		return lacking
	}
	waiting := *p
	waiting.Kind = "packages"
	waiting.Hint = strings.TrimSpace(packages.Hint(id) + "\n" + p.Hint)
	return &waiting
}

// site returns the folders of packages that the plugin's process is given.
func (r *runner) site(ctx context.Context) []string {
	if r.h.o.Environments == nil || r.e.temporary {
		return nil
	}
	return r.h.o.Environments.Site(ctx, r.e.id)
}

package host

import (
	"context"
	"errors"
	"slices"
	"strings"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/plugin"
)

// Environments finds the packages that plugins need; plugin/packages is the real one.
// It must be safe for concurrent use.
type Environments interface {
	// Packages tells what the plugin wants and what of it is there, by reading;
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

// Requirements returns the packages that the plugin needs. Kind not_found when there
// is no plugin of that id, conflict for one that has no environment.
func (h *Host) Requirements(id string) (Requirements, error) {
	e, err := h.known(id)
	if err != nil {
		return Requirements{}, err
	}
	if e.temporary {
		return Requirements{}, fault.New(fault.Conflict, "plugin.packages", "The plugin "+id+
			" was named for this run, so it has no environment.", "Put it into the plugins folder.")
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.wants, nil
}

// ShowPackageWork shows an installation on the plugin's card; nil shows none. The
// caller does not change work any more.
func (h *Host) ShowPackageWork(id string, work *plugin.PackageWork) {
	if e := h.entry(id); e != nil {
		e.mu.Lock()
		e.work = work
		e.mu.Unlock()
		h.o.Bus.Changed(bus.Plugins, "")
	}
}

// findPackages finds out what packages v wants.
func (e *entry) findPackages(ctx context.Context, v version) error {
	if e.h.o.Environments == nil || !v.src.HasFiles() {
		return nil
	}
	var found *plugin.Packages
	if v.facts().Packages {
		var err error
		if found, err = e.h.o.Environments.Packages(ctx, v.src, v.manifest, v.listing); err != nil {
			return err
		}
	}
	e.mu.Lock()
	e.wants = Requirements{v.src, v.manifest, v.listing, found}
	e.mu.Unlock()
	return nil
}

// packages are those that the newest version wants, or nil.
func (e *entry) packages() *plugin.Packages {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.wants.Packages
}

// missingPackages says why a plugin waits for the packages that it declares, or nil when it has
// those.
func (e *entry) missingPackages() error {
	packages := e.packages()
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
	hint := packages.Hint(e.id)
	if e.temporary {
		hint = "Put it into the plugins folder: there it can have packages of its own."
	}
	return &plugin.Problem{Kind: "packages", Message: "It needs " + what + " not installed.", Missing: names, Hint: hint}
}

// asMissingPackage turns a failed load for want of a package into one that waits for
// packages.
func (e *entry) asMissingPackage(p *plugin.Problem) *plugin.Problem {
	packages := e.packages()
	if packages == nil || e.temporary || len(p.Missing) == 0 || p.Kind == "packages" ||
		!slices.ContainsFunc(packages.ToInstall(), func(one plugin.Package) bool {
			return one.Status != plugin.PackageInstalled
		}) {
		return p
	}
	if lacking, ok := errors.AsType[*plugin.Problem](e.missingPackages()); ok {
		lacking.Hint = strings.TrimSpace(lacking.Hint + "\n" + p.Hint)
		return lacking
	}
	waiting := *p
	waiting.Kind = "packages"
	waiting.Hint = strings.TrimSpace(packages.Hint(e.id) + "\n" + p.Hint)
	return &waiting
}

// failedState is the state that a problem leaves a plugin in.
func failedState(p *plugin.Problem) plugin.State {
	if p.Kind == "packages" {
		return plugin.NeedsPackages
	}
	return plugin.Failed
}

// site returns the folders of packages that the plugin's process is given.
func (r *runner) site(ctx context.Context) []string {
	if r.h.o.Environments == nil || r.e.temporary {
		return nil
	}
	return r.h.o.Environments.Site(ctx, r.e.id)
}

package plugin

import (
	"slices"
	"time"
)

// InstallOptions say what a person allows in addition to installing the packages they
// saw, as wheels from the index they saw. The zero value allows nothing more.
type InstallOptions struct {
	Build     bool `json:"build"`     // packages that exist as source only: code of theirs runs during the installation
	Elsewhere bool `json:"elsewhere"` // the other indexes and addresses that the plugin names
	// Guessed are packages that nobody declared, by name: each was read and wanted.
	Guessed []string `json:"guessed"`
}

// Packages lists the Python packages that a plugin needs, and the state of its
// environment.
type Packages struct {
	Packages  []Package `json:"packages"`
	Notes     []string  `json:"notes"`     // what it declares that is not obeyed, one sentence each
	Elsewhere []string  `json:"elsewhere"` // other indexes and addresses that it names; they need consent
	Digest    string    `json:"digest"`    // of the list: what a person read and an installation names
	Python    string    `json:"python"`    // the interpreter: 3.11.7
	Index     string    `json:"index"`     // where packages come from
	// why nothing can be installed on this machine, and what would help; empty when it can
	Unable string    `json:"unable"`
	Made   time.Time `json:"made"`  // when its environment was made; zero when it has none
	Path   string    `json:"path"`  // of its environment; empty when it has none
	Bytes  int64     `json:"bytes"` // what that takes on the disk
	Stale  bool      `json:"stale"` // the environment was made for another list, or another Python
}

// Package is one package that a plugin needs.
type Package struct {
	Name        string        `json:"name"`        // as installers compare it: beautifulsoup4
	Requirement string        `json:"requirement"` // what is asked for: beautifulsoup4>=4.12
	From        string        `json:"from"`        // where that stands: requirements.txt:3, or the import of bs4
	Status      PackageStatus `json:"standing"`
	Version     string        `json:"version"`  // that is installed; empty when none is
	Optional    bool          `json:"optional"` // the plugin loads without it
	Guessed     bool          `json:"guessed"`  // nobody declared it: its name was taken from an import
	Note        string        `json:"note"`
}

// PackageStatus reports whether a package is installed.
type PackageStatus string

// The standings of a package.
const (
	PackageInstalled PackageStatus = "installed" // in the plugin's environment, or in the Python of this machine
	PackageMissing   PackageStatus = "missing"
	PackageOutdated  PackageStatus = "outdated" // installed, in a version that does not fit
	PackageProvided  PackageStatus = "provided" // Conclave has its own modules in its place
	PackageSkipped   PackageStatus = "skipped"  // not for this system or this Python
)

// ToInstall returns the packages that an installation puts into the environment.
func (p *Packages) ToInstall() []Package {
	return slices.DeleteFunc(slices.Clone(p.Packages), func(one Package) bool {
		return one.Status == PackageSkipped || one.Status == PackageProvided && !one.Optional
	})
}

// Missing returns the packages that are not there and could be installed.
func (p *Packages) Missing() []Package {
	return slices.DeleteFunc(slices.Clone(p.Packages), func(one Package) bool {
		return one.Status != PackageMissing && one.Status != PackageOutdated
	})
}

// MissingRequired returns the missing packages without which the plugin does not load.
// Those that were only guessed from an import are not among them: the plugin may load
// without.
func (p *Packages) MissingRequired() []Package {
	return slices.DeleteFunc(p.Missing(), func(one Package) bool { return one.Optional || one.Guessed })
}

// Hint returns how to install what is missing.
func (p *Packages) Hint(id string) string {
	if p.Unable != "" {
		return p.Unable
	}
	if len(p.MissingRequired()) == 0 {
		return "Nobody declared it. Read on its index what the package is, then install it by its name, from its card " +
			"or with: conclave plugins packages " +
			id + " NAME --install"
	}
	what := "it"
	if len(p.MissingRequired()) > 1 {
		what = "them"
	}
	return "Install " + what + " into this plugin's own environment, from its card or with: conclave plugins packages " +
		id + " --install"
}

// PackageWork is the installation that runs, or the last one.
type PackageWork struct {
	Running bool
	Started time.Time
	Ended   time.Time // zero while it runs
	Lines   []string  // the last of what it said
	Problem *Problem  // why it did not work; nil when it did, was stopped, or runs
	Stopped bool      // by the person
}

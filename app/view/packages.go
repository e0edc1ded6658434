package view

import "conclave/app/plugin"

// Packages are the Python packages that a plugin needs, and the environment that has them.
type Packages struct {
	Packages []plugin.Package `json:"packages"`
	Notes    []string         `json:"notes" say:"true"` // what it declares that is not obeyed, a sentence each
	// Other indexes and addresses that it names; they need consent.
	Elsewhere []string `json:"elsewhere"`
	Digest    string   `json:"digest"` // of the list: Plugins.InstallPackages must name it
	Python    string   `json:"python"` // the interpreter's version
	Index     string   `json:"index"`  // where packages come from
	// Why nothing can be installed on this machine; "" when it can.
	Unable string `json:"unable" say:"true"`
	// When its environment was made, and where, and its size; "" and 0 without one.
	Made  Time   `json:"made"`
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
	// The environment was made for another list, or another Python.
	Stale bool `json:"stale"`
	// Installing: under way, or the last time since the program started.
	Work *PackageWork `json:"work"`
}

// PackageWork is an installation: the one under way, or the last.
type PackageWork struct {
	Running bool     `json:"running"`
	Started Time     `json:"started"`
	Ended   Time     `json:"ended"`
	Lines   []string `json:"lines"`   // the last that the installer wrote
	Problem *Problem `json:"problem"` // why it did not work
	Stopped bool     `json:"stopped"` // by the person
}

// NewPackages returns the packages of a plugin, nil where it needs none. Its author wrote their
// names, so hidden characters are removed.
func NewPackages(s plugin.Status) *Packages {
	p := s.Packages
	if p == nil {
		return nil
	}
	v := &Packages{
		Notes: Map(p.Notes, clean), Elsewhere: Map(p.Elsewhere, clean),
		Digest: p.Digest, Python: p.Python, Index: p.Index, Unable: p.Unable, Made: Time{p.Made}, Path: p.Path,
		Bytes: p.Bytes, Stale: p.Stale,
	}
	v.Packages = Map(p.Packages, func(one plugin.Package) plugin.Package {
		one.Requirement, one.From = clean(one.Requirement), clean(one.From)
		return one
	})
	if w := s.PackageWork; w != nil {
		v.Work = &PackageWork{
			w.Running, Time{w.Started}, Time{w.Ended}, List(w.Lines), NewProblem(w.Problem), w.Stopped,
		}
	}
	return v
}

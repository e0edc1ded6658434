package window

import (
	"conclave/app/chat"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// PackagesView lists the Python packages that a plugin needs.
type PackagesView struct {
	Packages []plugin.Package `json:"packages"`
	Notes    []string         `json:"notes"` // what it declares that is not obeyed, a sentence each
	// Other indexes and addresses that it names; they need consent.
	Elsewhere []string `json:"elsewhere"`
	Digest    string   `json:"digest"` // of the list: Plugins.InstallPackages must name it
	Python    string   `json:"python"` // the interpreter's version
	Index     string   `json:"index"`  // where packages come from
	// Why nothing can be installed on this machine; "" when it can.
	Unable string `json:"unable"`
	// When its environment was made, and where, and what it takes; "" and 0 without one.
	Made  string `json:"made"`
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"`
	// The environment was made for another list, or another Python.
	Stale bool `json:"stale"`
	// Installing: under way, or the last time since the program started.
	Work *PackageWorkView `json:"work"`
}

// PackageWorkView is an installation: the one under way, or the last.
type PackageWorkView struct {
	Running bool         `json:"running"`
	Started string       `json:"started"`
	Ended   string       `json:"ended"`
	Lines   []string     `json:"lines"`   // the last of what the installer said
	Problem *ProblemView `json:"problem"` // why it did not work
	Stopped bool         `json:"stopped"` // by the person
}

// packagesView returns nil for a plugin that wants nothing. What stands in it was
// written by the plugin's author, so hidden characters are taken out.
func packagesView(s plugin.Status) *PackagesView {
	p := s.Packages
	if p == nil {
		return nil
	}
	v := &PackagesView{
		Packages: []plugin.Package{}, Notes: stripAll(p.Notes), Elsewhere: stripAll(p.Elsewhere), Digest: p.Digest,
		Python: p.Python, Index: p.Index,
		Unable: p.Unable, Made: chat.Stamp(p.Made), Path: p.Path, Bytes: p.Bytes, Stale: p.Stale,
	}
	for _, one := range p.Packages {
		one.Requirement, _ = tool.Strip(one.Requirement)
		one.From, _ = tool.Strip(one.From)
		v.Packages = append(v.Packages, one)
	}
	if w := s.PackageWork; w != nil {
		v.Work = &PackageWorkView{
			Running: w.Running, Started: chat.Stamp(w.Started), Ended: chat.Stamp(w.Ended), Lines: list(w.Lines),
			Stopped: w.Stopped,
		}
		if w.Problem != nil {
			v.Work.Problem = problemView(w.Problem)
		}
	}
	return v
}

func stripAll(texts []string) []string {
	out := []string{}
	for _, text := range texts {
		clean, _ := tool.Strip(text)
		out = append(out, clean)
	}
	return out
}

// InstallPackages installs what the plugin needs into an environment of its own, in
// the background; digest identifies the list that the person read, else kind conflict.
// build lets code of packages run during the installation, elsewhere lets packages
// come from where the plugin says. Of those that nobody declared, only the ones in
// guessed are installed.
func (p *Plugins) InstallPackages(id, digest string, build, elsewhere bool, guessed []string) error {
	return p.core.Packages.Start(id, digest, plugin.InstallOptions{Build: build, Elsewhere: elsewhere, Guessed: guessed})
}

// StopPackages ends the installation under way; what arrived is kept for another.
// None is no error.
func (p *Plugins) StopPackages(id string) error { return p.core.Packages.Stop(id) }

// RemovePackages deletes the plugin's environment.
func (p *Plugins) RemovePackages(id string) error { return p.core.Packages.Remove(id) }

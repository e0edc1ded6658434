package app

import (
	"conclave/app/plugin"
	"conclave/app/tool"
)

// PackagesView is what a plugin wants of the world's packages.
type PackagesView struct {
	Packages  []PackageView    `json:"packages"`
	Notes     []string         `json:"notes"`
	Elsewhere []string         `json:"elsewhere"`
	Digest    string           `json:"digest"`
	Python    string           `json:"python"`
	Index     string           `json:"index"`
	Unable    string           `json:"unable"`
	Made      string           `json:"made"`
	Path      string           `json:"path"`
	Bytes     int64            `json:"bytes"`
	Stale     bool             `json:"stale"`
	Work      *PackageWorkView `json:"work"`
}

// PackageView is one of them.
type PackageView struct {
	Name        string `json:"name"`
	Requirement string `json:"requirement"`
	From        string `json:"from"`
	Standing    string `json:"standing"`
	Version     string `json:"version"`
	Optional    bool   `json:"optional"`
	Guessed     bool   `json:"guessed"`
	Note        string `json:"note"`
}

// PackageWorkView is an installation: the one under way, or the last.
type PackageWorkView struct {
	Running bool         `json:"running"`
	Started string       `json:"started"`
	Ended   string       `json:"ended"`
	Lines   []string     `json:"lines"`
	Problem *ProblemView `json:"problem"`
	Stopped bool         `json:"stopped"`
}

// packagesView returns nil for a plugin that wants nothing. What stands in it was
// written by the plugin's author, so hidden characters are taken out.
func packagesView(s plugin.Status) *PackagesView {
	p := s.Packages
	if p == nil {
		return nil
	}
	v := &PackagesView{
		Packages: []PackageView{}, Notes: stripAll(p.Notes), Elsewhere: stripAll(p.Elsewhere), Digest: p.Digest, Python: p.Python, Index: p.Index,
		Unable: p.Unable, Made: stamp(p.Made), Path: p.Path, Bytes: p.Bytes, Stale: p.Stale,
	}
	for _, one := range p.Packages {
		view := PackageView(one)
		view.Requirement, _ = tool.Strip(one.Requirement)
		view.From, _ = tool.Strip(one.From)
		v.Packages = append(v.Packages, view)
	}
	if w := s.PackageWork; w != nil {
		v.Work = &PackageWorkView{Running: w.Running, Started: stamp(w.Started), Ended: stamp(w.Ended), Lines: list(w.Lines), Stopped: w.Stopped}
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

// InstallPackages puts what the plugin wants into an environment of its own, in
// the background; digest is that of the list the person read. build lets code of
// packages run during the installation, elsewhere lets them come from where the
// plugin says. Of those that nobody declared only the guessed are installed.
func (p *Plugins) InstallPackages(id, digest string, build, elsewhere bool, guessed []string) error {
	return p.core.Host.StartPackages(id, digest, plugin.Consent{Build: build, Elsewhere: elsewhere, Guessed: guessed})
}

// StopPackages ends the installation under way.
func (p *Plugins) StopPackages(id string) error { return p.core.Host.StopPackages(id) }

// RemovePackages deletes the plugin's environment.
func (p *Plugins) RemovePackages(id string) error { return p.core.Host.RemovePackages(id) }

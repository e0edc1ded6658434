package plugin

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/app/bus"
	"conclave/app/fault"
	"conclave/app/tool"
)

// Environments finds the packages that plugins want and puts them into
// environments of the plugins' own; plugin/environment is the real one. It must
// be safe for concurrent use.
type Environments interface {
	// Packages tells what the plugin wants and what of it is there, by reading;
	// nil when it wants nothing. An error is the cause of ctx's end.
	Packages(ctx context.Context, src Source, m Manifest, l Listing) (*Packages, error)
	// Install makes a new environment with what the plugin wants, and puts it in
	// the place of the one before once it is whole. tell hears of every step. The
	// error is a *Problem, or the cause of ctx's end.
	Install(ctx context.Context, src Source, m Manifest, l Listing, consent Consent, tell func(line string)) error
	// Remove deletes the plugin's environment and what was kept to go on with.
	Remove(id string) error
	// Site returns the folders of the packages in the plugin's environment; none
	// when it has none that fits the Python of this machine.
	Site(ctx context.Context, id string) []string
}

// Consent is what a person allows besides installing the packages they were
// shown, as wheels from the index they were shown. The zero value allows no more.
type Consent struct {
	Build     bool `json:"build"`     // packages that exist as source only: code of theirs runs during the installation
	Elsewhere bool `json:"elsewhere"` // the other indexes and addresses that the plugin names
	// Guessed are packages that nobody declared, by name: each was read and wanted.
	Guessed []string `json:"guessed"`
}

// Packages is what a plugin wants of the world's packages.
type Packages struct {
	Packages  []Package `json:"packages"`
	Notes     []string  `json:"notes"`     // what it declares that is not obeyed, one sentence each
	Elsewhere []string  `json:"elsewhere"` // other indexes and addresses that it names; they need consent
	Digest    string    `json:"digest"`    // of the list: what a person read and an installation names
	Python    string    `json:"python"`    // the interpreter: 3.11.7
	Index     string    `json:"index"`     // where packages come from
	Unable    string    `json:"unable"`    // why nothing can be installed on this machine, and what would help; empty when it can
	Made      time.Time `json:"made"`      // when its environment was made; zero when it has none
	Path      string    `json:"path"`      // of its environment; empty when it has none
	Bytes     int64     `json:"bytes"`     // what that takes on the disk
	Stale     bool      `json:"stale"`     // the environment was made for another list, or another Python
}

// Package is one package that a plugin wants.
type Package struct {
	Name        string          `json:"name"`        // as installers compare it: beautifulsoup4
	Requirement string          `json:"requirement"` // what is asked for: beautifulsoup4>=4.12
	From        string          `json:"from"`        // where that stands: requirements.txt:3, or the import of bs4
	Standing    PackageStanding `json:"standing"`
	Version     string          `json:"version"`  // that is installed; empty when none is
	Optional    bool            `json:"optional"` // the plugin loads without it
	Guessed     bool            `json:"guessed"`  // nobody declared it: its name was taken from an import
	Note        string          `json:"note"`
}

// PackageStanding says whether a package is there.
type PackageStanding string

// The standings of a package.
const (
	PackageInstalled PackageStanding = "installed" // in the plugin's environment, or in the Python of this machine
	PackageMissing   PackageStanding = "missing"
	PackageOutdated  PackageStanding = "outdated" // installed, in a version that does not fit
	PackageProvided  PackageStanding = "provided" // Conclave has modules of its own in its place
	PackageSkipped   PackageStanding = "skipped"  // not for this system or this Python
)

// Wanted returns what an installation would put into the environment.
func (p *Packages) Wanted() []Package {
	return slices.DeleteFunc(slices.Clone(p.Packages), func(one Package) bool {
		return one.Standing == PackageSkipped || one.Standing == PackageProvided && !one.Optional
	})
}

// Absent returns what is not there and could be installed.
func (p *Packages) Absent() []Package {
	return slices.DeleteFunc(slices.Clone(p.Packages), func(one Package) bool {
		return one.Standing != PackageMissing && one.Standing != PackageOutdated
	})
}

// Lacking returns what the plugin cannot be loaded without and is not there. What
// was only guessed is left to be tried.
func (p *Packages) Lacking() []Package {
	return slices.DeleteFunc(p.Absent(), func(one Package) bool { return one.Optional || one.Guessed })
}

// PackageWork is an installation: the one under way, or the last one.
type PackageWork struct {
	Running bool
	Started time.Time
	Ended   time.Time // zero while it runs
	Lines   []string  // the last of what it said
	Problem *Problem  // why it did not work; nil when it did, was stopped, or runs
	Stopped bool      // by the person
}

// maxWorkLines bounds what a card shows of an installation; the plugin's log has
// more of it.
const maxWorkLines = 200

// workPace is how often a card hears of an installation.
const workPace = 250 * time.Millisecond

// wants is what is known of the packages of one plugin.
type wants struct {
	mu       sync.Mutex // guards the fields below
	version  version    // that packages is about
	packages *Packages
	work     *PackageWork
	stop     context.CancelCauseFunc // ends the installation under way
	told     time.Time               // when the card last heard of it
}

// errPackagesStopped is the cause of an installation that the person stopped.
var errPackagesStopped = errors.New("the installation was stopped")

// describe adds what is known to a status.
func (w *wants) describe(s *Status) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s.Packages = w.packages
	if w.work != nil {
		work := *w.work
		work.Lines = slices.Clone(work.Lines)
		s.PackageWork = &work
	}
}

// survey finds out what packages v wants.
func (e *entry) survey(ctx context.Context, v version) error {
	if e.h.o.Environments == nil {
		return nil
	}
	found, err := e.h.o.Environments.Packages(ctx, v.src, v.manifest, v.listing)
	if err != nil {
		return err
	}
	e.wants.mu.Lock()
	e.wants.version, e.wants.packages = v, found
	e.wants.mu.Unlock()
	return nil
}

// lacking says why a plugin that could not import something waits for the packages
// that it declares, or nil when it has those.
func (e *entry) lacking() error {
	e.wants.mu.Lock()
	packages := e.wants.packages
	e.wants.mu.Unlock()
	if packages == nil || e.temporary {
		return nil
	}
	var names, wants []string
	for _, one := range packages.Lacking() {
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
	return &Problem{Kind: "packages", Message: "It needs " + what + " not installed.", Missing: names, Hint: packages.hint(e.id)}
}

// unknown returns one of names that no package of p has, or "".
func (p *Packages) unknown(names []string) string {
	for _, name := range names {
		if !slices.ContainsFunc(p.Packages, func(one Package) bool { return one.Name == name }) {
			return name
		}
	}
	return ""
}

// hint says how to get what is missing.
func (p *Packages) hint(id string) string {
	if p.Unable != "" {
		return p.Unable
	}
	if len(p.Lacking()) == 0 {
		return "Nobody declared it. Read on its index what the package is, then install it by its name, from its card or with: conclave plugins packages " +
			id + " NAME --install"
	}
	what := "it"
	if len(p.Lacking()) > 1 {
		what = "them"
	}
	return "Install " + what + " into this plugin's own environment, from its card or with: conclave plugins packages " + id + " --install"
}

// packaged turns a failed load for want of a package into one that waits for
// packages.
func (e *entry) packaged(p *Problem) *Problem {
	e.wants.mu.Lock()
	packages := e.wants.packages
	e.wants.mu.Unlock()
	if packages == nil || e.temporary || len(p.Missing) == 0 || p.Kind == "packages" || !slices.ContainsFunc(packages.Wanted(), func(one Package) bool { return one.Standing != PackageInstalled }) {
		return p
	}
	if lacking, ok := errors.AsType[*Problem](e.lacking()); ok {
		lacking.Hint = strings.TrimSpace(lacking.Hint + "\n" + p.Hint)
		return lacking
	}
	waiting := *p
	waiting.Kind = "packages"
	waiting.Hint = strings.TrimSpace(packages.hint(e.id) + "\n" + p.Hint)
	return &waiting
}

// failedState is the state that a problem leaves a plugin in.
func failedState(p *Problem) State {
	if p.Kind == "packages" {
		return NeedsPackages
	}
	return Failed
}

// InstallPackages puts what the plugin wants into an environment of its own, loads
// it anew, and returns when that is under way. digest is that of the list the
// person read; empty takes it as it is. tell hears of every step; it may be nil.
// Kind conflict when the list is another one, or when an installation runs.
func (h *Host) InstallPackages(ctx context.Context, id, digest string, consent Consent, tell func(line string)) error {
	e, do, err := h.installation(id, digest, consent)
	if err != nil {
		return err
	}
	return e.install(ctx, do, tell)
}

// StartPackages is InstallPackages in the background; how it goes is in the
// plugin's status. Close stops it.
func (h *Host) StartPackages(id, digest string, consent Consent) error {
	e, do, err := h.installation(id, digest, consent)
	if err != nil {
		return err
	}
	h.spawn(func() { // ends with the installation; the error is in the status
		_ = e.install(h.ctx, do, nil)
	})
	return nil
}

// installation is one that may begin; its place is taken.
type installation struct {
	v       version
	consent Consent
}

func (h *Host) installation(id, digest string, consent Consent) (*entry, installation, error) {
	const op = "plugin.packages"
	e := h.entry(id)
	if e == nil {
		_, err := h.Find(id)
		return nil, installation{}, err
	}
	e.wants.mu.Lock()
	defer e.wants.mu.Unlock()
	w := &e.wants
	switch {
	case e.temporary:
		return nil, installation{}, fault.New(fault.Conflict, op, "The plugin "+id+" was named for this run, so it has no environment.", "Put it into the plugins folder.")
	case w.packages == nil || len(w.packages.Wanted()) == 0:
		return nil, installation{}, fault.New(fault.NotFound, op, "The plugin "+id+" wants no packages.", "")
	case w.packages.unknown(consent.Guessed) != "":
		return nil, installation{}, fault.New(fault.NotFound, op, "The plugin "+id+" does not want the package "+w.packages.unknown(consent.Guessed)+".", "Name one of its list.")
	case w.packages.Unable != "":
		return nil, installation{}, fault.New(fault.Unavailable, op, "No packages can be installed for "+id+".", w.packages.Unable)
	case digest != "" && digest != w.packages.Digest:
		return nil, installation{}, fault.New(fault.Conflict, op, "The packages of "+id+" changed while you were reading.", "Look at them again.")
	case w.work != nil && w.work.Running:
		return nil, installation{}, fault.New(fault.Conflict, op, "The packages of "+id+" are being installed.", "Wait for it, or stop it.")
	}
	w.work = &PackageWork{Running: true, Started: time.Now(), Lines: []string{}}
	return e, installation{w.version, consent}, nil
}

// install runs an installation that has taken its place.
func (e *entry) install(ctx context.Context, do installation, tell func(string)) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	e.wants.mu.Lock()
	e.wants.stop = stop
	e.wants.mu.Unlock()
	e.h.o.Bus.Changed(bus.Plugins, "")
	err := e.h.o.Environments.Install(ctx, do.v.src, do.v.manifest, do.v.listing, do.consent, func(line string) {
		e.heard(line)
		if tell != nil {
			tell(line)
		}
	})
	e.wants.mu.Lock()
	w := e.wants.work
	w.Running, w.Ended, e.wants.stop = false, time.Now(), nil
	switch {
	case err == nil:
	case errors.Is(err, errPackagesStopped):
		w.Stopped = true
		err = fault.New(fault.Canceled, "plugin.packages", "The installation of packages for "+e.id+" was stopped.", "What has arrived is kept: install again to go on.")
	case ctx.Err() != nil:
		w.Stopped = true
	default:
		w.Problem = asProblem(err)
		err = fault.Wrap(fault.Unavailable, "plugin.packages", w.Problem.Message, w.Problem.Hint, err)
	}
	e.wants.mu.Unlock()
	e.h.o.Bus.Changed(bus.Plugins, "")
	if err == nil {
		e.force()
	}
	return err
}

// heard notes a line of the installation.
func (e *entry) heard(line string) {
	line, _ = tool.Strip(line)
	e.log.add("info", line, "")
	e.wants.mu.Lock()
	w := e.wants.work
	w.Lines = append(w.Lines, line)
	w.Lines = w.Lines[max(0, len(w.Lines)-maxWorkLines):]
	due := time.Since(e.wants.told) > workPace
	if due {
		e.wants.told = time.Now()
	}
	e.wants.mu.Unlock()
	if due {
		e.h.o.Bus.Changed(bus.Plugins, "")
	}
	e.h.o.Bus.Changed(bus.Log, e.id)
}

// StopPackages ends the installation under way; none is no error.
func (h *Host) StopPackages(id string) error {
	e := h.entry(id)
	if e == nil {
		_, err := h.Find(id)
		return err
	}
	e.wants.mu.Lock()
	defer e.wants.mu.Unlock()
	if e.wants.stop != nil {
		e.wants.stop(errPackagesStopped)
	}
	return nil
}

// RemovePackages deletes the plugin's environment and loads it anew. Kind
// conflict while packages are being installed.
func (h *Host) RemovePackages(id string) error {
	e := h.entry(id)
	if e == nil {
		_, err := h.Find(id)
		return err
	}
	if h.o.Environments == nil {
		return fault.New(fault.NotFound, "plugin.packages", "The plugin "+id+" has no environment.", "")
	}
	e.wants.mu.Lock()
	busy := e.wants.work != nil && e.wants.work.Running
	if !busy {
		e.wants.work = nil
	}
	e.wants.mu.Unlock()
	if busy {
		return fault.New(fault.Conflict, "plugin.packages", "The packages of "+id+" are being installed.", "Wait for it, or stop it.")
	}
	if err := h.o.Environments.Remove(id); err != nil {
		return fault.Wrap(fault.Unavailable, "plugin.packages", "The environment of "+id+" could not be deleted.", "Delete its folder by hand.", err)
	}
	e.force()
	return nil
}

// site returns the folders of packages that the plugin's process is given.
func (r *runner) site(ctx context.Context) []string {
	if r.h.o.Environments == nil || r.e.temporary {
		return nil
	}
	return r.h.o.Environments.Site(ctx, r.e.id)
}

package packages

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"conclave/app/base/fault"
	"conclave/app/plugin"
	"conclave/app/plugin/host"
	"conclave/app/tool"
)

// Environment is where an [Installer] installs packages; [Environments] is the real
// one. It must be safe for concurrent use.
type Environment interface {
	// Install makes a new environment with what the plugin needs, and replaces the
	// old one with it once it is complete. tell is called with every step. The
	// error is a *plugin.Problem, or the cause of ctx's end.
	Install(ctx context.Context, src plugin.Source, m plugin.Manifest, l plugin.Listing, consent plugin.InstallOptions,
		tell func(line string)) error
	// Remove deletes the plugin's environment and what was kept to go on with.
	Remove(id string) error
}

// Installer installs the packages of plugins when a person asks for it, one
// installation at a time for each plugin, and shows its progress on the plugin's card.
// Its methods are safe for concurrent use. Close stops what runs in the background.
type Installer struct {
	host         *host.Host
	environments Environment
	ctx          context.Context // ends with Close
	cancel       context.CancelCauseFunc
	background   sync.WaitGroup

	mu      sync.Mutex // guards the fields below
	running map[string]*installation
	closed  bool
}

// NewInstaller returns an installer for the plugins of a host.
func NewInstaller(h *host.Host, environments Environment) *Installer {
	in := &Installer{host: h, environments: environments, running: map[string]*installation{}}
	in.ctx, in.cancel = context.WithCancelCause(context.Background()) // its own: Close ends it
	return in
}

// Close stops the installations in the background, and waits for them.
func (in *Installer) Close() {
	in.mu.Lock()
	in.closed = true
	in.mu.Unlock()
	in.cancel(fault.New(fault.Canceled, op, "Conclave is closing.", ""))
	in.background.Wait()
}

// op is the operation of every fault here.
const op = "plugin.packages"

// maxWorkLines bounds what a card shows of an installation; the plugin's log has
// more of it.
const maxWorkLines = 200

// workPace is the interval at which an installation updates its card.
const workPace = 250 * time.Millisecond

// errStopped is the cause of an installation that the person stopped.
var errStopped = errors.New("the installation was stopped")

// installation is one under way. One goroutine at a time reports its progress.
type installation struct {
	in      *Installer
	id      string
	wants   host.Requirements
	consent plugin.InstallOptions
	stop    context.CancelCauseFunc // ends it; set before it is in Installer.running

	mu    sync.Mutex // guards the fields below
	work  plugin.PackageWork
	shown time.Time
}

// Install installs what the plugin needs into its environment, reloads it, and returns
// once the reload has begun. digest identifies the list that the person read. tell gets
// every step; it may be nil. Kind conflict when the list has changed, or while an
// installation runs.
func (in *Installer) Install(ctx context.Context, id, digest string, consent plugin.InstallOptions,
	tell func(line string),
) error {
	ctx, one, err := in.begin(ctx, id, digest, consent)
	if err != nil {
		return err
	}
	return one.run(ctx, tell)
}

// Start runs Install in the background; the plugin's status shows its progress. Close
// stops it.
func (in *Installer) Start(id, digest string, consent plugin.InstallOptions) error {
	ctx, one, err := in.begin(in.ctx, id, digest, consent)
	if err != nil {
		return err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.closed {
		in.background.Go(func() { // ends with the installation; the error is in the status
			_ = one.run(ctx, nil)
		})
	}
	return nil
}

// begin takes the place of the plugin's installation.
func (in *Installer) begin(ctx context.Context, id, digest string, consent plugin.InstallOptions) (context.Context,
	*installation, error,
) {
	in.mu.Lock()
	defer in.mu.Unlock()
	wants, err := in.host.Packages.Required(id)
	if err != nil {
		return nil, nil, err
	}
	p := wants.Packages
	switch {
	case p == nil || len(p.ToInstall()) == 0:
		return nil, nil, fault.New(fault.NotFound, op, "The plugin "+id+" wants no packages.", "")
	case unknown(p, consent.Guessed) != "":
		return nil, nil, fault.New(fault.NotFound, op, "The plugin "+id+" does not want the package "+
			unknown(p, consent.Guessed)+".", "Name one of its list.")
	case p.Unable != "":
		return nil, nil, fault.New(fault.Unavailable, op, "No packages can be installed for "+id+".", p.Unable)
	case digest != p.Digest:
		return nil, nil, fault.New(fault.Conflict, op, "The packages of "+id+" changed while you were reading.",
			"Look at them again.")
	case in.running[id] != nil:
		return nil, nil, busy(id)
	}
	ctx, stop := context.WithCancelCause(ctx)
	one := &installation{in: in, id: id, wants: wants, consent: consent, stop: stop}
	one.work = plugin.PackageWork{Running: true, Started: time.Now(), Lines: []string{}}
	in.running[id] = one
	one.show()
	return ctx, one, nil
}

func busy(id string) error {
	return fault.New(fault.Conflict, op, "The packages of "+id+" are being installed.", "Wait for it, or stop it.")
}

// unknown returns one of names that no package of p has, or "".
func unknown(p *plugin.Packages, names []string) string {
	for _, name := range names {
		if !slices.ContainsFunc(p.Packages, func(one plugin.Package) bool { return one.Name == name }) {
			return name
		}
	}
	return ""
}

// run installs, gives the place back, and loads the plugin again.
func (i *installation) run(ctx context.Context, tell func(string)) error {
	defer i.stop(nil)
	err := i.in.environments.Install(ctx, i.wants.Source, i.wants.Manifest, i.wants.Listing, i.consent, func(line string) {
		i.addLine(line)
		if tell != nil {
			tell(line)
		}
	})
	i.mu.Lock()
	w := &i.work
	w.Running, w.Ended = false, time.Now()
	switch {
	case err == nil:
	case errors.Is(err, errStopped):
		w.Stopped = true
		err = fault.New(fault.Canceled, op, "The installation of packages for "+i.id+" was stopped.",
			"What has arrived is kept: install again to go on.")
	case ctx.Err() != nil:
		w.Stopped = true
	default:
		w.Problem = plugin.ProblemOf(err)
		err = fault.Wrap(fault.Unavailable, op, w.Problem.Message, w.Problem.Hint, err)
	}
	i.mu.Unlock()
	i.in.mu.Lock()
	delete(i.in.running, i.id)
	i.show()
	i.in.mu.Unlock()
	if err == nil {
		return i.in.host.Reload(i.id)
	}
	return err
}

// addLine adds a line of output of the installation.
func (i *installation) addLine(line string) {
	line, _ = tool.Strip(line)
	i.in.host.WriteLog(i.id, "info", line)
	i.mu.Lock()
	i.work.Lines = append(i.work.Lines, line)
	i.work.Lines = i.work.Lines[max(0, len(i.work.Lines)-maxWorkLines):]
	due := time.Since(i.shown) > workPace
	if due {
		i.shown = time.Now()
	}
	i.mu.Unlock()
	if due {
		i.show()
	}
}

// show puts how it goes on the plugin's card.
func (i *installation) show() {
	i.mu.Lock()
	work := i.work
	work.Lines = slices.Clone(work.Lines)
	i.mu.Unlock()
	i.in.host.Packages.ShowWork(i.id, &work)
}

// Stop ends the plugin's installation, if one runs.
func (in *Installer) Stop(id string) error {
	if _, err := in.host.Find(id); err != nil {
		return err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if one := in.running[id]; one != nil {
		one.stop(errStopped)
	}
	return nil
}

// Remove deletes the plugin's environment and reloads the plugin. Kind conflict while
// an installation runs.
func (in *Installer) Remove(id string) error {
	if _, err := in.host.Find(id); err != nil {
		return err
	}
	in.mu.Lock()
	if in.running[id] != nil {
		in.mu.Unlock()
		return busy(id)
	}
	in.running[id] = &installation{stop: func(error) {}} // none may begin meanwhile
	in.host.Packages.ShowWork(id, nil)
	in.mu.Unlock()
	defer func() {
		in.mu.Lock()
		delete(in.running, id)
		in.mu.Unlock()
	}()
	if err := in.environments.Remove(id); err != nil {
		return fault.Wrap(fault.Unavailable, op, "The environment of "+id+" could not be deleted.",
			"Delete its folder by hand.", err)
	}
	return in.host.Reload(id)
}

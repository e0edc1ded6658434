package host

import (
	"context"
	"errors"
	"path/filepath"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/watch"
	"conclave/app/tool"
)

// ErrNotWaiting is returned by AskApproval when the plugin does not wait for approval.
var ErrNotWaiting = errors.New("the plugin does not wait for a decision any more")

// Approvals are decisions of a person about versions that wait. Its methods are safe
// for concurrent use.
type Approvals struct{ h *Host }

// Changed has the host load a plugin again, if that matters, after a person decided about it.
func (a *Approvals) Changed(id string) {
	// What the host approves itself it is loading, and a load under way may be what was decided about.
	if e := a.h.entry(id); e != nil && !e.approving.Load() {
		e.requestLoad(request{decided: true})
	}
}

// waitingVersion returns the version of the plugin that waits for approval.
func (a *Approvals) waitingVersion(id string) (gate.PluginVersion, error) {
	e, err := a.h.known(id)
	if err != nil {
		return gate.PluginVersion{}, err
	}
	now := e.now()
	if (now.status.State != plugin.NeedsApproval && now.status.State != plugin.Quarantined) || now.waiting.digest == "" {
		return gate.PluginVersion{}, ErrNotWaiting
	}
	return now.waiting.forApproval(), nil
}

// Ask asks asker to approve a plugin that waits for it, and returns what they
// decided; ErrNotWaiting when it does not wait.
func (a *Approvals) Ask(ctx context.Context, id string, asker gate.Asker) (gate.ApprovalStatus, error) {
	c, err := a.waitingVersion(id)
	if err != nil {
		return gate.Waiting, err
	}
	if status, _ := a.h.o.Gate.Approvals.Status(c); status != gate.Waiting {
		a.Changed(id) // it was stopped because its process kept dying, and starts again
		return status, nil
	}
	return a.h.o.Gate.Questions.AskApproval(ctx, c, asker)
}

// Approve records that the person approves the version of the plugin that they were shown:
// shown is its Status.Shown. It approves that version and no other: what comes after it, other
// files or tools that only running it shows, waits for another decision, unless o.Tools
// includes the tools that it lists first. Approve returns once that is known. A plugin that was
// stopped because its process kept dying starts again. The kind is conflict where another version
// waits by now, or none.
func (a *Approvals) Approve(ctx context.Context, id, shown string, o gate.ApproveOptions) error {
	c, err := a.shownVersion(ctx, id, shown)
	if err != nil {
		return err
	}
	if err := a.h.o.Gate.Approvals.Approve(ctx, c, o); err != nil {
		return err
	}
	return a.h.WaitLoaded(ctx, id)
}

// ApproveForRun is Approve for the run of a command: until end is called, and nothing of it is
// stored.
func (a *Approvals) ApproveForRun(ctx context.Context, id, shown string) (end func(), err error) {
	return func() { a.h.o.Gate.Approvals.RunEnded(id) },
		a.Approve(ctx, id, shown, gate.ApproveOptions{ThisRun: true, By: namedBy})
}

// KeepOld keeps the approved version of a plugin in service, and does not ask again about the
// version that the person was shown, which shown identifies as for Approve. Where that differs
// in words for models alone, models get those that were approved from now on (Settings.SetKeepWords).
// The kind is conflict where another version waits by now, or none.
func (a *Approvals) KeepOld(ctx context.Context, id, shown string) error {
	c, err := a.shownVersion(ctx, id, shown)
	if err != nil {
		return err
	}
	if e := a.h.entry(id); e != nil {
		if now := e.now(); now.onlyWords() {
			return a.h.Settings.SetKeepWords(ctx, id, true)
		}
	}
	return a.h.o.Gate.Approvals.KeepOld(ctx, c)
}

// shownVersion returns the version of the plugin that waits for approval, if it is the one that
// shown identifies. The kind is conflict where it is not.
func (a *Approvals) shownVersion(ctx context.Context, id, shown string) (gate.PluginVersion, error) {
	loading := a.loading(id) // before it is looked for: it may begin to wait in between
	c, err := a.waitingVersion(id)
	if errors.Is(err, ErrNotWaiting) && loading {
		// Its files are being read once more (a save in two steps), and it may wait then.
		if err := a.h.WaitLoaded(ctx, id); err != nil {
			return c, err
		}
		c, err = a.waitingVersion(id)
	}
	switch {
	case errors.Is(err, ErrNotWaiting):
		return c, fault.New(fault.Conflict, "plugin.approve", "The plugin "+id+" does not wait for a decision any more.",
			"Look at it again.")
	case err == nil && c.Digest() != shown:
		return c, fault.New(fault.Conflict, "plugin.approve", c.Name+" changed while you were reading.", "Look at it again.")
	}
	return c, err
}

// loading reports whether a plugin's files are being read or loaded.
func (a *Approvals) loading(id string) bool {
	e := a.h.entry(id)
	return e != nil && e.now().status.State == plugin.Loading
}

// SetDeveloping records whether the person edits the plugin themselves; then their edits
// need no approval while they widen nothing.
func (a *Approvals) SetDeveloping(ctx context.Context, id string, developing bool) error {
	e, err := a.h.known(id)
	if err != nil {
		return err
	}
	serving := e.now().serving
	if serving == nil {
		return fault.New(fault.Conflict, "plugin.developing", "The plugin "+id+" is not in service.", "Approve it first.")
	}
	return a.h.o.Gate.Approvals.Approve(ctx, serving.version().forApproval(), gate.ApproveOptions{Developing: developing})
}

// Files returns the plugin's source files, relative to its folder; a single file
// is its own name.
func (h *Host) Files(id string) []string {
	e := h.entry(id)
	if e == nil || !e.now().source.HasFiles() {
		return []string{}
	}
	_, files, err := watch.Digest(e.path())
	if err != nil || len(files) == 0 {
		return []string{filepath.Base(e.path())}
	}
	return files
}

// Serving returns the tools of the version in service and its invoker, or nothing.
func (h *Host) Serving(id string) ([]tool.Tool, tool.Invoker) {
	if e := h.entry(id); e != nil {
		if r := e.runner(); r != nil {
			return r.version().tools, r
		}
	}
	return nil, nil
}

// Log returns the lines of the plugin's log with a number over since, oldest
// first; none for a plugin that is gone.
func (h *Host) Log(id string, since uint64) []plugin.LogLine {
	if e := h.entry(id); e != nil {
		return e.log.since(since)
	}
	return []plugin.LogLine{}
}

// logs adds a line to the plugin's log, and notifies whoever shows that.
func (e *entry) logs(level, text string) {
	e.log.add(level, text, "")
	e.h.o.Bus.Changed(bus.Log, e.id)
}

// namedBy is who approves what a command names, for the record.
const namedBy = "named on the command line"

package host

import (
	"slices"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/plugin"
)

// errRevoked ends the calls of a plugin that may no longer offer tools.
var errRevoked = fault.New(fault.NotAllowed, "plugin.permission",
	"The plugin may no longer offer tools: you took that permission away.", "")

// followPermissions passes on what the person grants and denies plugins, until the host is
// closed. The gate announces it on the bus.
func (h *Host) followPermissions(news *bus.Subscription) {
	defer news.Close()
	for {
		notices, err := news.Next(h.ctx)
		if err != nil {
			return
		}
		for _, n := range notices {
			h.processes.endRevoked(n.ID)
			if e := h.entry(n.ID); e != nil { // others are about requests that wait
				e.permissionsChanged()
				h.o.Bus.Changed(bus.Plugins, "") // its card says what it may do
			}
		}
		if h.o.Network != nil {
			h.o.Network.Recheck()
		}
	}
}

// permissionChange is the payload of the event PERMISSION_CHANGED
// (contracts/spindle, SP-21).
type permissionChange struct {
	Permission string   `json:"permission"`
	Granted    bool     `json:"granted"`
	AllGranted []string `json:"allGranted"`
}

// grantedNow returns what a version's process may reach now, and whether the plugin may offer no tools.
func (e *entry) grantedNow(v version) (now access, toolsDenied bool) {
	reach := e.h.o.Gate.Reach
	granted, denied := reach.Permissions(e.id)
	needed := v.facts().ToolsPermission
	return access{granted, reach.Folders(e.id), reach.Programs(e.id)}, needed != "" && slices.Contains(denied, needed)
}

// permissionsChanged puts in force what changed of the serving version's permissions: its
// process is notified, and its tools come or go.
func (e *entry) permissionsChanged() {
	serving := e.runner()
	if serving == nil {
		if l := e.now(); l.status.State == plugin.Failed && e.h.Dialects.patient(l.source) {
			e.requestLoad(request{decided: true}) // it may have lacked that
		}
		return
	}
	v := serving.version()
	is, now := e.grantedNow(v)
	e.mu.Lock()
	was, before := e.access, e.toolsDenied
	e.access, e.toolsDenied = is, now
	e.mu.Unlock()
	for _, p := range was.granted {
		if !slices.Contains(is.granted, p) {
			serving.notify("PERMISSION_CHANGED", permissionChange{p, false, is.granted})
		}
	}
	for _, p := range is.granted {
		if !slices.Contains(was.granted, p) {
			serving.notify("PERMISSION_CHANGED", permissionChange{p, true, is.granted})
		}
	}
	if !was.equal(is, v.facts().Announced) {
		serving.renew()
	}
	switch {
	case now == before:
		return
	case now:
		serving.interrupt(errRevoked)
	case !v.listed: // it was never listed with its tools
		e.reloadForced()
		return
	}
	e.step(republished{serving})
}

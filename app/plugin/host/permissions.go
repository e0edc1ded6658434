package host

import (
	"slices"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
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
			h.endTakenBack(n.ID)
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

// applyPermissions reads what is granted now and reports whether the plugin may offer no
// tools.
func (e *entry) applyPermissions(v version) (toolsDenied bool) {
	granted, denied := e.h.o.Gate.Reach.Permissions(e.id)
	folders, programs := e.h.o.Gate.Reach.Folders(e.id), e.h.o.Gate.Reach.Programs(e.id)
	needed := v.facts().ToolsPermission
	toolsDenied = needed != "" && slices.Contains(denied, needed)
	e.mu.Lock()
	e.granted, e.folders, e.programs, e.toolsDenied = granted, folders, programs, toolsDenied
	e.mu.Unlock()
	return toolsDenied
}

// permissionsChanged puts in force what changed of the serving version's permissions: its
// process is told, and its tools come or go.
func (e *entry) permissionsChanged() {
	e.mu.Lock()
	serving, toolsDenied := e.serving, e.toolsDenied
	before, was := e.granted, access{e.granted, e.folders, e.programs}
	e.mu.Unlock()
	if serving == nil {
		return
	}
	v := serving.version()
	now := e.applyPermissions(v)
	e.mu.Lock()
	granted, is := e.granted, access{e.granted, e.folders, e.programs}
	e.mu.Unlock()
	for _, p := range before {
		if !slices.Contains(granted, p) {
			serving.notify("PERMISSION_CHANGED", permissionChange{p, false, granted})
		}
	}
	for _, p := range granted {
		if !slices.Contains(before, p) {
			serving.notify("PERMISSION_CHANGED", permissionChange{p, true, granted})
		}
	}
	if !was.equal(is) {
		serving.renew()
	}
	switch {
	case now == toolsDenied:
		return
	case now:
		serving.interrupt(errRevoked)
	case !v.listed: // it was never listed with its tools
		e.reloadForced()
		return
	}
	e.republish(serving)
}

// republish publishes the tools of the serving runner as the person's settings
// now have them, unless another serves meanwhile.
func (e *entry) republish(serving *runner) {
	if _, ok := e.swap(serving, func() bool { return e.serving == serving }); !ok {
		return
	}
	e.h.o.Bus.Changed(bus.Plugins, "")
	e.h.o.Bus.Changed(bus.Tools, "")
}

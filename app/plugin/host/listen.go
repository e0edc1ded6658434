package host

import (
	"cmp"
	"context"
	"strconv"

	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
)

// listenOn decides about a port on which a process wants to listen, and notes in files what rule
// allowed it. What is refused is on the plugin's card and in its log.
func (r *runner) listenOn(ctx context.Context, files *openedFiles, port sandbox.Port) bool {
	id := cmp.Or(r.e.settingsOf, r.e.id)
	asked, answered := r.h.Calls.During(ctx, id)
	defer answered()
	at := "port " + strconv.Itoa(int(port.At.Port()))
	if r.h.o.Own != nil && r.h.o.Own(port.At) {
		r.h.WriteLog(r.e.id, "warn", "It was not let listen on "+at+": that is for Conclave itself.")
		return false
	}
	d := r.h.o.Gate.Listen(asked, gate.Listening{
		Plugin: id, At: port.At, Free: port.Free, Behalf: r.h.Calls.Behalf(id, ""), Within: r.h.Calls.Working(id),
	})
	if d.Effect == gate.Allow && asked.Err() == nil {
		files.note(r.h.o.Gate, d.Rule)
		return true
	}
	if gate.Listenable(port.At.Addr()) {
		r.e.refused([]plugin.Refusal{{Permission: gate.Listen}})
	}
	r.h.WriteLog(r.e.id, "warn", "It was not let listen on "+at+" of "+port.At.Addr().String()+": "+d.Reason+".")
	return false
}

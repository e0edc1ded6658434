package host

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
)

// openFile decides about a file that a process may not open by itself, and notes in files what
// was opened. What is refused is on the plugin's card and in its log.
func (r *runner) openFile(ctx context.Context, files *openedFiles, path string, write bool) sandbox.Opening {
	id := cmp.Or(r.e.settingsOf, r.e.id)
	asked, answered := r.h.Calls.During(ctx, id)
	defer answered()
	d, at := r.h.o.Gate.Open(asked, gate.Opening{
		Plugin: id, Path: path, Write: write, Behalf: r.h.Calls.Behalf(id, ""), Within: r.h.Calls.Working(id),
	})
	switch {
	case at == "":
		return sandbox.NotAsked
	case d.Effect == gate.Allow && asked.Err() == nil:
		if write && !r.undoable(ctx, "write", at) {
			return sandbox.Refused
		}
		r.e.memory.exposed(true)
		files.note(r.h.o.Gate, d.Rule)
		return sandbox.Opened
	}
	r.e.refused([]plugin.Refusal{{Permission: gate.Filesystem, Path: at, Write: write}})
	what := "read files in "
	if write {
		what = "write files in "
	}
	r.h.WriteLog(r.e.id, "warn", "It was not let "+what+at+": "+d.Reason+".")
	return sandbox.Refused
}

// undoable keeps what a plugin is about to change at a path, and reports whether that could be kept.
func (r *runner) undoable(ctx context.Context, do, at string) bool {
	if r.h.o.Opening == nil {
		return true
	}
	err := r.h.o.Opening(ctx, r.e.id, at)
	if err != nil {
		f := fault.Of(err)
		r.h.WriteLog(r.e.id, "warn", "It was not let "+do+" files in "+at+", since nobody could undo it: "+
			strings.TrimSpace(f.Message+" "+f.Hint))
	}
	return err == nil
}

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

package host

import (
	"context"
	"strconv"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
)

// openFile decides about a file that a process may not open by itself, and notes in files what
// was opened.
func (r *runner) openFile(ctx context.Context, files *openedFiles, path string, write bool) sandbox.Opening {
	what := "read files in "
	if write {
		what = "write files in "
	}
	opened, rule := r.opens(ctx, gate.Opening{Path: path, Write: write}, "", what)
	if opened == sandbox.Opened {
		r.e.memory.mayRepeat(savedState{Outside: true})
		files.note(r.h.o.Gate, rule)
	}
	return opened
}

// opens decides about a file or folder that a process may not open or change by itself, and has kept what may
// change for undoing. What is refused is on the plugin's card and in its log, as something that it was not let
// do. call is the one that the process says it is for, or empty. rule is the one by which it was allowed.
func (r *runner) opens(ctx context.Context, o gate.Opening, call, what string) (_ sandbox.Opening, rule string) {
	o.Plugin = r.e.grantee()
	asked, answered := r.h.Calls.During(ctx, o.Plugin)
	defer answered()
	o.Behalf, o.Within = r.h.Calls.Behalf(o.Plugin, call), r.h.Calls.Working(o.Plugin)
	d, at := r.h.o.Gate.Open(asked, o)
	switch {
	case at == "":
		return sandbox.NotAsked, ""
	case d.Effect != gate.Allow || asked.Err() != nil:
		r.e.refused([]plugin.Refusal{{Permission: gate.Filesystem, Path: at, Write: o.Write}})
		r.e.logs("warn", "It was not let "+what+at+": "+d.Reason+".")
		return sandbox.Refused, ""
	}
	if o.Write && r.h.o.Opening != nil {
		if err := r.h.o.Opening(ctx, r.e.id, at); err != nil {
			f := fault.Of(err)
			r.e.logs("warn", "It was not let "+what+at+", since nobody could undo it: "+
				strings.TrimSpace(f.Message+" "+f.Hint))
			return sandbox.Refused, ""
		}
	}
	return sandbox.Opened, d.Rule
}

// listenOn decides about a port on which a process wants to listen, and notes in files what rule
// allowed it. What is refused is on the plugin's card and in its log.
func (r *runner) listenOn(ctx context.Context, files *openedFiles, port sandbox.Port) bool {
	id := r.e.grantee()
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

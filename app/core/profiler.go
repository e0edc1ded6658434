package core

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
	"time"

	"conclave/app/net/loopback"
)

// openProfiler serves the profiles of this program to the person's other programs, at the port that
// CONCLAVE_PPROF names; 0 is any that is free. Without the variable it returns nil. It is for those who
// work on Conclave: plugins do not reach the port.
func openProfiler(ctx context.Context, log *slog.Logger) *loopback.Server {
	named := os.Getenv("CONCLAVE_PPROF")
	if named == "" {
		return nil
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/{profile}", serveProfile)
	server := loopback.New(loopback.Options{Handler: mux, Log: log})
	port, err := strconv.Atoi(named)
	if err == nil {
		var address string
		if address, _, err = server.Open(ctx, port); err == nil {
			fmt.Fprintln(os.Stderr, "Profiles: "+address+"/debug/pprof")
			return server
		}
	}
	log.Warn("profiles cannot be served", "port", named, "err", err)
	return nil
}

// serveProfile answers as net/http/pprof does, whose initialisation would cost every start 0.4 ms: with a
// CPU profile or a trace of some seconds, or a profile that the runtime has, such as heap.
func serveProfile(w http.ResponseWriter, r *http.Request) {
	seconds, _ := strconv.Atoi(r.FormValue("seconds"))
	wait := func() {
		select {
		case <-time.After(time.Duration(cmp.Or(seconds, 30)) * time.Second):
		case <-r.Context().Done():
		}
	}
	var err error
	switch name := r.PathValue("profile"); name {
	case "profile":
		if err = pprof.StartCPUProfile(w); err == nil {
			wait()
			pprof.StopCPUProfile()
		}
	case "trace":
		if err = trace.Start(w); err == nil {
			wait()
			trace.Stop()
		}
	default:
		profile := pprof.Lookup(name)
		if profile == nil {
			http.NotFound(w, r)
			return
		}
		debug, _ := strconv.Atoi(r.FormValue("debug"))
		err = profile.WriteTo(w, debug)
	}
	if err != nil { // another one is under way, or the client is gone
		http.Error(w, err.Error(), http.StatusConflict)
	}
}

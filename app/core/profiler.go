package core

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"os"
	"strconv"

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
	mux.HandleFunc("/debug/pprof/", pprof.Index) // also heap, goroutine and the other profiles of runtime/pprof
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	server := loopback.New(loopback.Options{Handler: mux, Log: log})
	port, err := strconv.Atoi(named)
	if err == nil {
		var address string
		if address, _, err = server.Open(ctx, port); err == nil {
			fmt.Fprintln(os.Stderr, "Profiles: "+address+"/debug/pprof/")
			return server
		}
	}
	log.Warn("profiles cannot be served", "port", named, "err", err)
	return nil
}

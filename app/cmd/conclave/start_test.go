package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What the initialisation of packages may take of a start, for each of them and for all together.
// The times are those of a machine that starts a program which does nothing in a millisecond, and
// grow with that; the bytes are the same everywhere.
const (
	packageTime, packageBytes = 1.0, 100 << 10
	wholeTime, wholeBytes     = 12.0, 640 << 10
	startTries                = 9 // of which the fastest counts: other programs make starts slower, never faster
)

// Go runs the initialisation of every linked package at every start, also of “conclave version”.
func TestAStartInitialisesLittle(t *testing.T) {
	idle := startOfNothing(t)
	times, allocated := map[string]float64{}, map[string]int{}
	for range startTries {
		readInitTrace(t, times, allocated)
	}
	slow := math.Max(1, idle.Seconds()*1000)
	wholeMs, all := 0.0, 0
	for name, ms := range times {
		wholeMs += ms
		all += allocated[name]
		if ms > packageTime*slow || allocated[name] > packageBytes {
			t.Errorf("the initialisation of %s takes %.2f ms and %d bytes; a program that does nothing starts in %v",
				name, ms, allocated[name], idle)
		}
	}
	if wholeMs > wholeTime*slow || all > wholeBytes {
		t.Errorf("the initialisation of all packages takes %.2f ms and %d bytes; a program that does nothing starts in %v",
			wholeMs, all, idle)
	}
	t.Logf("%d packages: %.2f ms, %d bytes; nothing: %v", len(times), wholeMs, all, idle)
}

// startOfNothing returns how long a Go program takes that does nothing.
func startOfNothing(t *testing.T) time.Duration {
	t.Helper()
	dir := t.TempDir()
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "nothing.exe")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	least := time.Hour
	for range startTries {
		began := time.Now()
		if err := exec.CommandContext(t.Context(), program).Run(); err != nil {
			t.Fatal(err)
		}
		least = min(least, time.Since(began))
	}
	return least
}

// readInitTrace starts conclave once and notes the least time that each package took, in
// milliseconds, and the bytes that it allocated.
func readInitTrace(t *testing.T, times map[string]float64, allocated map[string]int) {
	t.Helper()
	start := exec.CommandContext(t.Context(), program, "version")
	start.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	var trace bytes.Buffer
	start.Stderr = &trace
	if err := start.Run(); err != nil {
		t.Fatalf("%v\n%s", err, trace.String())
	}
	found := 0
	for line := range strings.Lines(trace.String()) {
		// init internal/bytealg @0.008 ms, 0 ms clock, 0 bytes, 0 allocs
		var name, at, clock string
		var size, number int
		if _, err := fmt.Sscanf(line, "init %s @%s ms, %s ms clock, %d bytes, %d allocs", &name, &at, &clock, &size,
			&number); err != nil {
			continue
		}
		ms, err := strconv.ParseFloat(clock, 64)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if before, ok := times[name]; !ok || ms < before {
			times[name] = ms
		}
		allocated[name] = size
		found++
	}
	if found == 0 {
		t.Fatalf("no package is in the trace:\n%s", trace.String())
	}
}

package limit_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"conclave/app/base/limit"
	"conclave/app/test/testkit"
)

var must = testkit.Must

var update = flag.Bool("update", false, "rewrite docs/LIMITS.md")

// TestLimitsPage compares docs/LIMITS.md with the list; -update rewrites it.
func TestLimitsPage(t *testing.T) {
	page := filepath.Join("..", "..", "..", "docs", "LIMITS.md")
	var b strings.Builder
	b.WriteString("# Limits\n\nEvery bound on what comes from outside, with the reason for its value. " +
		"Generated from [`app/base/limit`](../app/base/limit/limits.go): `go test ./app/base/limit -update`.\n\n" +
		"| what | limit | why |\n|---|---|---|\n")
	for _, l := range limit.All() {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", l.Name, l, strings.ReplaceAll(l.Why, "|", "\\|"))
	}
	if *update {
		must(t, os.WriteFile(page, []byte(b.String()), 0o644))
		return
	}
	got, err := os.ReadFile(page)
	must(t, err)
	if string(got) != b.String() {
		t.Errorf("docs/LIMITS.md is stale; run go test ./app/base/limit -update")
	}
}

// TestEachLimitIsCompleteAndTested checks that a limit has a reason, says
// something to somebody, and names a test that exists.
func TestEachLimitIsCompleteAndTested(t *testing.T) {
	for _, l := range limit.All() {
		if l.Name == "" || l.Value <= 0 || l.Why == "" || l.Person == "" && l.Model == "" {
			t.Errorf("limit %q: name, value, reason or sentence is missing: %+v", l.Name, *l)
		}
		dir, name, ok := strings.Cut(l.Test, " ")
		if !ok {
			t.Errorf("limit %q: Test is %q, want a package's path and a test's name", l.Name, l.Test)
			continue
		}
		if !declares(t, filepath.Join("..", "..", "..", dir), name) {
			t.Errorf("limit %q: no test %s in %s", l.Name, name, dir)
		}
	}
}

// declares reports whether a test file in dir declares the test function name.
func declares(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	must(t, err)
	declaration := regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(name) + `\(`)
	for _, file := range files {
		source, err := os.ReadFile(file)
		must(t, err)
		if declaration.Match(source) {
			return true
		}
	}
	return false
}

func TestAsAPersonReadsIt(t *testing.T) {
	for want, l := range map[string]limit.Limit{
		"4 MiB":      {Value: 4 << 20, Unit: limit.Bytes},
		"1.5 KiB":    {Value: 1536, Unit: limit.Bytes},
		"512 bytes":  {Value: 512, Unit: limit.Bytes},
		"100 levels": {Value: 100, Unit: limit.Levels},
		"10 s":       {Value: 10_000, Unit: limit.Millis},
		"250 ms":     {Value: 250, Unit: limit.Millis},
		"1,234,567":  {Value: 1_234_567},
	} {
		if got := l.String(); got != want {
			t.Errorf("%d %q reads %q, want %q", l.Value, l.Unit, got, want)
		}
	}
}

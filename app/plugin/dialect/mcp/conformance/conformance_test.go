package conformance_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/plugin/dialect/mcp/conformance"
	"conclave/app/plugin/dialect/mcp/mcptest"
)

// The suite starts this test binary as the client, with the server's address as its last argument.
func TestMain(m *testing.M) {
	if os.Getenv("MCP_CONFORMANCE_SCENARIO") != "" {
		s := conformance.FromEnvironment(os.Getenv)
		if err := conformance.Run(context.Background(), os.Args[len(os.Args)-1], s, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestMC131TheClientConforms(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	baseline, err := filepath.Abs("testdata/baseline.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for name, choice := range map[string][]string{
		"2025-11-25": {"--requirements", "2025-11-25", "--expected-failures", baseline},
		"2026-07-28": {"--requirements", "2026-07-28", "--expected-failures", baseline},
		"backcompat": {"--suite", "backcompat"}, // how servers of 2025-03-26 want a sign-in
	} {
		t.Run(name, func(t *testing.T) {
			node, suite := mcptest.Node(t), mcptest.Script(t, "@modelcontextprotocol/conformance/dist/index.js")
			arguments := append([]string{suite, "client", "--command", program, "--output-dir", t.TempDir()}, choice...)
			out, err := exec.CommandContext(t.Context(), node, arguments...).CombinedOutput()
			text := string(out)
			if at := strings.Index(text, "=== "); err == nil && at >= 0 {
				text = text[at:]
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			t.Log(text)
		})
	}
}

package core

import (
	"context"
	"fmt"
	"os"

	"conclave/app/plugin/dialect/mcp/conformance"
)

// conform is the command “mcp conformance ADDRESS”, which the protocol's conformance suite starts and no
// help names. It reads no settings and opens no store.
func conform(address string) int {
	scenario := conformance.FromEnvironment(os.Getenv)
	if err := conformance.Run(context.Background(), address, scenario, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

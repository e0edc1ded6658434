package core

import (
	"context"
	"fmt"
	"os"

	"conclave/app/plugin/dialect/mcp/conformance"
)

// conforms runs “mcp conformance ADDRESS”, a command that the protocol's conformance suite starts and no
// help names. It reads no settings and opens no store. The second result is false for any other command.
func conforms(args []string) (code int, ok bool) {
	if len(args) != 3 || args[0] != "mcp" || args[1] != "conformance" {
		return 0, false
	}
	scenario := conformance.FromEnvironment(os.Getenv)
	if err := conformance.Run(context.Background(), args[2], scenario, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1, true
	}
	return 0, true
}

package client_test

import (
	"testing"

	"conclave/app/plugin/dialect/mcp/client"
	"conclave/app/plugin/dialect/mcp/mcptest"
)

// BenchmarkMC26ListingFiveHundredTools is the listing of 20 servers with 25 tools each, one after the other.
func BenchmarkMC26ListingFiveHundredTools(b *testing.B) {
	s, _, err := dialStream(b, mcptest.Flags{Tools: 3}, client.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for range 20 {
			tools, _, err := s.Tools(b.Context())
			if err != nil || len(tools) < 25 {
				b.Fatal(len(tools), err)
			}
		}
	}
}

// BenchmarkMC38TenThousandProgressNotifications is one call with them.
func BenchmarkMC38TenThousandProgressNotifications(b *testing.B) {
	s, _, err := dialStream(b, mcptest.Flags{Flood: "progress"}, client.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		c := client.Call{Tool: "flood", Progress: func(client.Progress) {}}
		if _, err := s.Call(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
}

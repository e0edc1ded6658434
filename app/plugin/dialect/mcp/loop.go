package mcp

import (
	"encoding/json"

	"conclave/app/base/version"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/mcp/client"
)

// notItself returns a problem if a session leads to this program, which is an MCP server too: its tools would be
// offered twice, and a call could come back to its beginning. It then closes the session.
func notItself(s *client.Session) error {
	var announced struct {
		Experimental map[string]struct {
			ID string `json:"id"`
		} `json:"experimental"`
	}
	_ = json.Unmarshal(s.Server().Capabilities.Raw, &announced) // what cannot be read is not ours
	if announced.Experimental["conclave/instance"].ID != version.Instance() {
		return nil
	}
	s.Close()
	return &plugin.Problem{
		Kind: "refused", Message: "This server is Conclave itself, so nothing of it is used.",
		Hint: "Remove the entry: it is meant for other programs.",
	}
}

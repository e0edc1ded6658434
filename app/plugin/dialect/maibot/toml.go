package maibot

import (
	"context"
	"encoding/json"

	"conclave/app/base/fault"
	"conclave/app/plugin"
	"conclave/app/plugin/python"
)

// maxTOML bounds the text of one toml.read, in bytes; real settings have some kilobytes.
const maxTOML = 64 << 10

// readTOML is the service toml.read {text} → {table}, for a Python that reads no TOML
// itself (before 3.11).
func readTOML(_ context.Context, _ plugin.Caller, raw json.RawMessage) (any, error) {
	var args struct {
		Text string `json:"text"`
	}
	if err := json.Unmarshal(raw, &args); err != nil {
		return nil, fault.New(fault.Invalid, "maibot.toml", "toml.read needs a text.", "")
	}
	if len(args.Text) > maxTOML {
		return nil, fault.New(fault.Invalid, "maibot.toml", "the file has more than 64 KiB", "")
	}
	table, err := python.TOML(args.Text)
	if err != nil {
		return nil, fault.New(fault.Invalid, "maibot.toml", err.Error(), "")
	}
	return map[string]any{"table": table}, nil
}

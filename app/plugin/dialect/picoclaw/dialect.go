package picoclaw

import (
	"context"
	"encoding/json"

	"conclave/app/plugin"
	"conclave/app/plugin/python"
	"conclave/app/tool"
)

// Dialect recognises hook processes. Use New. It is safe for concurrent use.
type Dialect struct {
	python *python.Interpreters
	turns  turns // of calls on their way to the hooks that own their tools
}

var _ plugin.Adapter = (*Dialect)(nil)

// New returns the dialect; py finds the Python of commands that say python3.
func New(py *python.Interpreters) *Dialect { return &Dialect{python: py} }

// Recognize implements plugin.Dialect.
func (*Dialect) Recognize(ctx context.Context, src plugin.Source) (*plugin.Manifest, error) {
	if !src.Folder || !src.HasFiles() {
		return nil, context.Cause(ctx)
	}
	if !src.Holds(FileName) {
		return nil, nil
	}
	p, err := readProcess(src)
	if err != nil {
		return nil, err
	}
	detail, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	if !p.On() { // what it names is not looked at: section 2
		return &plugin.Manifest{
			Dialect: Name, Name: p.Name, Entry: FileName, Permissions: []string{}, Detail: detail, Off: switchedOff,
		}, nil
	}
	return &plugin.Manifest{
		Dialect: Name, Name: p.Name, Description: p.describe(), Entry: FileName, Permissions: p.permissions(),
		Detail: detail, Notices: p.notices(src),
	}, nil
}

// switchedOff is said of a process whose entry has it off.
var switchedOff = &plugin.Problem{
	Kind: "refused", File: FileName, Message: "Its hook.json switches it off.",
	Hint: "To switch it on, write “enabled”: true there, in its entry and in the block around it.",
}

// ProcessOf returns the hook process that a manifest of this dialect is of.
func ProcessOf(m plugin.Manifest) Process {
	var p Process
	if json.Unmarshal(m.Detail, &p) != nil {
		return Process{}
	}
	return p
}

// Inspect implements plugin.Dialect. Which tools a hook injects is known once it does.
func (*Dialect) Inspect(ctx context.Context, _ plugin.Source, _ plugin.Manifest) (plugin.Listing, error) {
	return plugin.Listing{Tools: []tool.Tool{}, Imports: []string{}}, context.Cause(ctx)
}

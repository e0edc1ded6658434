package httptools

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"strings"
	"time"

	"conclave/app/net/loopback"
	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
	"conclave/app/tool"
)

// Name is the name of this dialect.
const Name = "http"

// Dialect is the kind of plugins that programs are which register tools. Use NewDialect,
// and give it the Pool. It is safe for concurrent use.
type Dialect struct{ client *caller }

var (
	_ plugin.Connector = (*Dialect)(nil)
	_ plugin.Prober    = (*Dialect)(nil)
)

// NewDialect returns the dialect. It reaches programs; Serve sets who learns how that went.
func NewDialect() *Dialect { return &Dialect{newCaller()} }

// Serve has the dialect report to the pool which addresses answer.
func (d *Dialect) Serve(p *Pool) { d.client.reached.Store(p) }

// Facts implements plugin.Dialect.
func (d *Dialect) Facts() plugin.Facts {
	return plugin.Facts{
		Name: Name,
		// Programs have their own answers for arguments that do not fit.
		Convention: tool.Convention{Loose: true, Raw: true},
	}
}

// errRow is the problem of a row that Conclave did not write.
var errRow = &plugin.Problem{Kind: "script", Message: "What is kept of this registration cannot be read."}

// read reads what the pool wrote.
func read(src plugin.Source) (w row, l listing, err error) {
	if err := json.Unmarshal([]byte(src.Row), &w); err != nil || w.Address == "" {
		return w, l, errRow
	}
	if src.Tools == "" { // the last good version after a restart has no list of its own
		return w, l, nil
	}
	if err := json.Unmarshal([]byte(src.Tools), &l); err != nil {
		return w, l, errRow
	}
	return w, l, nil
}

// Recognize implements plugin.Dialect.
func (d *Dialect) Recognize(_ context.Context, src plugin.Source) (*plugin.Manifest, error) {
	if src.HasFiles() {
		return nil, nil
	}
	w, l, err := read(src)
	if err != nil {
		return nil, err
	}
	name := strings.TrimPrefix(w.Source, "plugin:")
	if name == "" {
		name = "A program"
	}
	about := "Registered over HTTP"
	if l.Program != "" {
		about += " by " + l.Program
	}
	about += ". Its tools are called at " + w.Address + "."
	switch w.Role {
	case "":
	case defaultRole:
		about += " They are for the main model alone."
		name += " for the main model"
	default:
		about += " They are for the council member " + w.Role + " alone."
		name += " for " + w.Role
	}
	return &plugin.Manifest{Name: name, Description: about, Permissions: []string{}}, nil
}

// Inspect implements plugin.Dialect.
func (d *Dialect) Inspect(_ context.Context, src plugin.Source, _ plugin.Manifest) (plugin.Listing, error) {
	w, l, err := read(src)
	if err != nil {
		return plugin.Listing{}, err
	}
	listed := plugin.Listing{Known: true, Tools: []tool.Tool{}, Imports: []string{}}
	for _, t := range l.Tools {
		listed.Tools = append(listed.Tools, tool.Tool{
			Name: t.Name, Title: t.Name, Description: t.Description, Parameters: t.Parameters, Visibility: tool.Direct,
			Role: w.Role, NotFor: t.NotFor, Timeout: time.Duration(t.Timeout * float64(time.Second)),
		})
	}
	return listed, nil
}

// Probe implements plugin.Prober: it connects to the addresses of its tools, and sends
// nothing.
func (d *Dialect) Probe(ctx context.Context, src plugin.Source) *plugin.Problem {
	w, l, err := read(src)
	if err != nil {
		return errRow
	}
	looked := map[netip.AddrPort]bool{}
	for _, t := range l.Tools {
		if looked[t.Address] {
			continue
		}
		looked[t.Address] = true
		err := meet(ctx, t.Address)
		switch stranger, ok := errors.AsType[*loopback.Stranger](err); {
		case ok:
			return &plugin.Problem{
				Kind: "refused", Message: stranger.Sentence() + ", so it is not called.",
				Hint: "Find out which, or have yours register at another port.",
			}
		case err != nil:
			return &plugin.Problem{
				Kind: "unavailable", Message: "Nothing answers at " + w.Address + ".",
				Hint: "Start the program that registered it; it registers again when it starts.",
			}
		}
	}
	return nil
}

// Spec implements plugin.Dialect. There is no process to describe.
func (d *Dialect) Spec(context.Context, plugin.Source, plugin.Manifest, plugin.StartOptions) (sandbox.Spec, error) {
	return sandbox.Spec{}, errors.New("a program that registers tools is not started by Conclave")
}

// Connects implements plugin.Connector.
func (d *Dialect) Connects(plugin.Manifest) bool { return true }

// Confinement implements plugin.Connector.
func (d *Dialect) Confinement() sandbox.Confinement {
	return sandbox.Confinement{
		Level: "none", Sentence: "Runs outside of Conclave, not isolated: what its tools do can change unseen.",
	}
}

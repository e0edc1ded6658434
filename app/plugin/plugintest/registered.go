package plugintest

import (
	"context"
	"errors"
	"sync"

	"conclave/app/chat"
	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
	"conclave/app/tool"
)

// Registered is a dialect of plugins without files and without processes: the row
// of one is a [Script], which something in memory plays. It counts with its World. It is safe for concurrent use.
type Registered struct{ World *World }

var _ plugin.Connector = Registered{}

// RegisteredDialect is the name of the dialect.
const RegisteredDialect = "registered"

// RegisteredSource returns the source of a plugin that registers.
func RegisteredSource(id string, s Script) plugin.Source {
	return plugin.Source{ID: id, Display: "memory:" + id, Dialect: RegisteredDialect, Row: s.JSON()}
}

// Facts implements plugin.Dialect.
func (Registered) Facts() plugin.Facts { return plugin.Facts{Name: RegisteredDialect} }

// Recognize implements plugin.Dialect.
func (Registered) Recognize(_ context.Context, src plugin.Source) (*plugin.Manifest, error) {
	if src.HasFiles() {
		return nil, nil
	}
	s, err := parse("row", []byte(src.Row))
	if err != nil {
		return nil, err
	}
	return &plugin.Manifest{Name: s.Name, Permissions: append([]string{}, s.Permissions...)}, nil
}

// Inspect implements plugin.Dialect.
func (Registered) Inspect(_ context.Context, src plugin.Source, _ plugin.Manifest) (plugin.Listing, error) {
	s, err := parse("row", []byte(src.Row))
	if err != nil {
		return plugin.Listing{}, err
	}
	listing := plugin.Listing{Known: true, Tools: []tool.Tool{}, Imports: []string{}, Options: s.Options}
	for _, t := range s.Tools {
		listing.Tools = append(listing.Tools, tool.Tool{Name: t.Name, Title: t.Name, Description: t.Description})
	}
	return listing, nil
}

// Spec implements plugin.Dialect. There is no process to describe.
func (Registered) Spec(context.Context, plugin.Source, plugin.Manifest, plugin.StartOptions) (sandbox.Spec, error) {
	return sandbox.Spec{}, errors.New("no process is started for a registered plugin")
}

// Connects implements plugin.Connector.
func (Registered) Connects(plugin.Manifest) bool { return true }

// Connect implements plugin.Connector.
func (r Registered) Connect(_ context.Context, src plugin.Source, _ plugin.Manifest,
	start plugin.StartOptions, _ plugin.Listener,
) (plugin.Backend, error) {
	r.World.mu.Lock()
	r.World.starts[src.ID] = start
	r.World.started = append(r.World.started, src.ID)
	r.World.mu.Unlock()
	s, err := parse("row", []byte(src.Row))
	if err != nil {
		return nil, err
	}
	return &address{script: s, over: make(chan struct{})}, nil
}

// address is the backend of a registered plugin.
type address struct {
	script Script
	over   chan struct{}
	once   sync.Once
}

// List implements plugin.Backend.
func (a *address) List(context.Context) (plugin.Offer, error) {
	offer := plugin.Offer{Options: a.script.Options}
	for _, t := range a.script.Tools {
		offer.Tools = append(offer.Tools, tool.Tool{Name: t.Name, Description: t.Description})
	}
	return offer, nil
}

// Call implements plugin.Backend.
func (a *address) Call(_ context.Context, call tool.Call) (plugin.Answer, error) {
	for _, t := range a.script.Tools {
		if t.Name != call.Tool.Name {
			continue
		}
		if t.Do == Dies {
			a.Close()
			return plugin.Answer{}, plugin.ErrEnded
		}
		return plugin.Answer{Result: tool.Result{Status: chat.CallOK, Content: []chat.Part{chat.TextPart(t.Text)}}}, nil
	}
	return plugin.Answer{}, errors.New("unknown tool " + call.Tool.Name)
}

// Done implements plugin.Backend.
func (a *address) Done() <-chan struct{} { return a.over }

// Close implements plugin.Backend.
func (a *address) Close() { a.once.Do(func() { close(a.over) }) }

// Confinement implements plugin.Connector.
func (Registered) Confinement() sandbox.Confinement {
	return sandbox.Confinement{Level: "none", Sentence: "Runs outside of Conclave, which does not isolate it."}
}

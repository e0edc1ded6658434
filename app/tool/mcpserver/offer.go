package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"conclave/app/base/fault"
	"conclave/app/gate"
	"conclave/app/tool"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// offer is a tool as other programs see it.
type offer struct {
	id      string
	tool    *mcp.Tool
	written string // the tool as JSON, by which a change is noticed
}

// Offered returns the ids of the tools that the person chose, also of those that are not there now.
func (s *Server) Offered() []string { return s.programs.now().Offered }

// Offers returns the names under which programs see the tools that are offered now, by their ids.
func (s *Server) Offers() map[string]string {
	names := map[string]string{}
	for _, o := range s.offers() {
		names[o.id] = o.tool.Name
	}
	return names
}

// Offerable reports whether a tool can be offered: whatever a main model is offered directly.
func Offerable(t tool.Tool) bool { return t.Visibility == tool.Direct && t.For(tool.MainRole) }

// maxOffered limits how many tools can be chosen: as many as 200 plugins of usual size have.
const maxOffered = 5000

// Offer offers tools to other programs, by their ids.
func (s *Server) Offer(ctx context.Context, ids ...string) error {
	return s.choose(ctx, func(now []string) []string {
		for _, id := range ids {
			if !slices.Contains(now, id) {
				now = append(now, id)
			}
		}
		return now
	})
}

// Withdraw takes tools from other programs, by their ids. Calls that have begun go on.
func (s *Server) Withdraw(ctx context.Context, ids ...string) error {
	return s.choose(ctx, func(now []string) []string {
		return slices.DeleteFunc(now, func(id string) bool { return slices.Contains(ids, id) })
	})
}

func (s *Server) choose(ctx context.Context, change func([]string) []string) error {
	err := s.programs.change(ctx, func(r *Record) error {
		r.Offered = change(r.Offered)
		if len(r.Offered) > maxOffered {
			return fault.New(fault.Invalid, "mcpserver.offer", "More than 5,000 tools cannot be offered.",
				"Withdraw some first.")
		}
		return nil
	})
	if err == nil {
		s.publish()
	}
	return err
}

// offers returns the tools that are offered now, in the order of the set.
func (s *Server) offers() []offer {
	chosen := map[string]bool{}
	for _, id := range s.Offered() {
		chosen[id] = true
	}
	var all []offer
	for _, t := range s.o.Tools.Set().Tools() {
		if !chosen[t.ID()] || !Offerable(t) {
			continue
		}
		definition := s.define(t)
		raw, err := json.Marshal(definition)
		if err != nil {
			s.o.Log.Warn("a tool cannot be offered to other programs", "tool", t.ID(), "err", err)
			continue
		}
		all = append(all, offer{t.ID(), definition, string(raw)})
	}
	return all
}

// define returns a tool as programs see it: as it was approved, with annotations that follow from what its
// plugin may do.
func (s *Server) define(t tool.Tool) *mcp.Tool {
	defined := &mcp.Tool{
		Name: t.WireName, Title: t.Title, Description: t.Description, InputSchema: objectSchema(t.Parameters),
		Annotations: annotations(t.Title, s.o.Can(t)),
	}
	if len(t.Output) > 0 { // else it would be null
		defined.OutputSchema = t.Output
	}
	return defined
}

// objectSchema returns the schema of arguments with the type that programs insist on.
func objectSchema(parameters json.RawMessage) json.RawMessage {
	var schema map[string]json.RawMessage
	if json.Unmarshal(parameters, &schema) != nil || schema == nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	if string(schema["type"]) == `"object"` {
		return parameters
	}
	schema["type"] = json.RawMessage(`"object"`)
	raw, err := json.Marshal(schema)
	if err != nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	return raw
}

// reading are the capabilities of tools that change nothing but what their plugin keeps for itself.
var reading = []gate.Capability{gate.Compute, gate.ReadChat, gate.ReadFiles, gate.Fetch}

// outward are those of tools that reach beyond this computer, or may.
var outward = []gate.Capability{gate.Fetch, gate.SendWeb, gate.RunPrograms, gate.CallModel}

// annotations returns the hints about a tool. Where it is not known what it can do, it can do anything.
func annotations(title string, can []gate.Capability) *mcp.ToolAnnotations {
	reads := len(can) > 0
	reaches, destroys := len(can) == 0, len(can) == 0
	for _, c := range can {
		reads = reads && slices.Contains(reading, c)
		reaches = reaches || slices.Contains(outward, c)
		destroys = destroys || c == gate.Delete || c == gate.WriteFiles || c == gate.RunPrograms
	}
	a := &mcp.ToolAnnotations{Title: title, ReadOnlyHint: reads, OpenWorldHint: &reaches}
	if !reads {
		a.DestructiveHint = &destroys
	}
	return a
}

// toolServer is one server of the SDK and the tools that it has. It is safe for concurrent use by its endpoint.
type toolServer struct {
	*mcp.Server
	has map[string]string // what is offered, as JSON, by name
}

// update brings the tools of a toolServer in line with what is offered. It returns what could not be added.
func (f *toolServer) update(offers []offer, handle func(id string) mcp.ToolHandler) (problems []error) {
	wanted := map[string]bool{}
	for _, o := range offers {
		wanted[o.tool.Name] = true
	}
	var gone []string
	for name := range f.has {
		if !wanted[name] {
			gone = append(gone, name)
			delete(f.has, name)
		}
	}
	if len(gone) > 0 {
		f.RemoveTools(gone...)
	}
	for _, o := range offers {
		key := o.id + "\n" + o.written
		if f.has[o.tool.Name] == key {
			continue
		}
		if err := f.add(o.tool, handle(o.id)); err != nil {
			problems = append(problems, fmt.Errorf("offer %s: %w", o.id, err))
			f.RemoveTools(o.tool.Name)
		}
		f.has[o.tool.Name] = key // also where it could not be added: it is not tried again
	}
	return problems
}

// add adds a tool. The SDK panics where it does not like one, such as for a header that it cannot be called with.
func (f *toolServer) add(t *mcp.Tool, handle mcp.ToolHandler) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	f.AddTool(t, handle)
	return nil
}

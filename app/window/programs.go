package window

import (
	"slices"
	"strings"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/base/language"
	"conclave/app/net/loopback"
	"conclave/app/tool/mcpserver"
	"conclave/app/view"
)

// Programs is bound: other programs that use Conclave's tools.
type Programs struct {
	*lifecycle
	core Core
}

// OfferableTool is a tool that other programs may be offered.
type OfferableTool struct {
	ID      string `json:"id"`
	Plugin  string `json:"plugin"` // its plugin as a person reads it
	Title   string `json:"title"`
	Name    string `json:"name"`    // under which programs see it
	Offered bool   `json:"offered"` // the person offers it
}

// ProgramList holds the tools and programs that the page of other programs shows.
type ProgramList struct {
	Revision uint64          `json:"revision"` // of settings
	Programs []view.Program  `json:"programs"`
	Tools    []OfferableTool `json:"tools"` // sorted by plugin
	Open     bool            `json:"open"`  // the port is to be open while the window is
	Port     int             `json:"port"`
	Address  string          `json:"address"`            // where programs connect now
	Trouble  string          `json:"trouble" say:"true"` // why they cannot
	Snippets []view.Snippet  `json:"snippets"`
}

// List returns the programs, the tools that can be offered, and what programs need to connect.
func (p *Programs) List() (ProgramList, error) {
	p.call()
	out := ProgramList{Revision: p.core.Bus.Revision(bus.Settings, ""), Tools: []OfferableTool{}}
	offered, names := p.core.Programs.Offered(), map[string]string{}
	for _, t := range p.core.Tools.Set().Tools() {
		if !mcpserver.Offerable(t) {
			continue
		}
		if names[t.Plugin] == "" {
			names[t.Plugin] = p.core.pluginName(t.Plugin)
		}
		out.Tools = append(out.Tools, OfferableTool{
			ID: t.ID(), Plugin: names[t.Plugin], Title: t.Title, Name: t.WireName, Offered: slices.Contains(offered, t.ID()),
		})
	}
	slices.SortStableFunc(out.Tools, func(a, b OfferableTool) int { return strings.Compare(a.Plugin, b.Plugin) })
	out.Programs = view.Map(p.core.Programs.Programs(), view.NewProgram)
	var trouble error
	out.Open, out.Port = p.core.Programs.Port()
	out.Address, trouble = p.core.Programs.Address()
	if trouble != nil {
		f := fault.Of(trouble)
		out.Trouble = strings.TrimSpace(f.Message + " " + f.Hint)
	}
	out.Snippets = view.NewSnippets(p.core.Info.Serve, loopback.Address(out.Port)+mcpserver.Path)
	return language.Shown(out), nil
}

// Offer offers tools to other programs, by their ids, or takes them back.
func (p *Programs) Offer(ids []string, offered bool) error {
	if offered {
		return p.core.Programs.Offer(p.call(), ids...)
	}
	return p.core.Programs.Withdraw(p.call(), ids...)
}

// AddToken makes a token for a program of this name, and returns it.
func (p *Programs) AddToken(name string) (string, error) {
	return p.core.Programs.AddToken(p.call(), name)
}

// Remove forgets a program: its token is no longer valid, and its sessions end.
func (p *Programs) Remove(name string) error {
	return p.core.Programs.Remove(p.call(), name)
}

// SetPort has the port open while the window is, or closed.
func (p *Programs) SetPort(open bool, port int) error {
	return p.core.Programs.SetPort(p.call(), open, port)
}

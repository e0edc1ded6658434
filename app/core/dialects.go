package core

import (
	"context"
	"path/filepath"
	"slices"

	"conclave/app/base/bus"
	"conclave/app/base/version"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/functions"
	"conclave/app/plugin/dialect/httptools"
	"conclave/app/plugin/dialect/maibot"
	"conclave/app/plugin/dialect/mcp"
	"conclave/app/plugin/dialect/neko"
	"conclave/app/plugin/dialect/picoclaw"
	"conclave/app/plugin/dialect/spindle"
	"conclave/app/plugin/python"
	"conclave/app/plugin/sandbox"
	"conclave/app/plugin/toolport"
	"conclave/app/tool/hook"
	"conclave/app/tool/mcpserver"
)

// dialects returns all dialects, in the order in which they are asked about an entry of the plugins
// folder. This is the only list of them; plugin.Facts has everything else about one. runtime is
// Conclave's folder for unpacked shims and caches, confinement what confines the processes of plugins, o what MCP
// servers need.
func dialects(
	py *python.Interpreters, runtime string, confinement sandbox.Confinement, o mcp.Options,
) []plugin.Dialect {
	return []plugin.Dialect{
		spindle.New(spindle.Options{SourceInside: confinement.Level != "process+landlock", Runtime: runtime}),
		neko.New(py),
		maibot.New(py),
		picoclaw.New(py),
		mcp.New(o),
		functions.New(py),
		httptools.NewDialect(), // of programs that register; nothing in the folder is one
	}
}

// openDialects returns the dialects of the program.
func openDialects(c *Core) []plugin.Dialect {
	return dialects(c.Python, plugin.Runtime(c.o.Data), c.launcher.Confinement(), mcp.Options{
		Version: version.Version, Keys: c.Keys, Changed: func() { c.Bus.Changed(bus.Plugins, "") }, Log: c.Log,
		Eras:     filepath.Join(plugin.Runtime(c.o.Data), "mcp-eras.json"),
		Programs: filepath.Join(c.o.Data, "mcp-programs.json"),
	})
}

// hookProcesses returns the sources that ask the hook processes of lender, and the observers that send
// them the events of turns.
func hookProcesses(all []plugin.Dialect, lender picoclaw.Lender) (sources []hook.Source, observers []observer) {
	for _, d := range all {
		if hooks, ok := d.(*picoclaw.Dialect); ok {
			sources, observers = append(sources, hooks.Source(lender)), append(observers, hooks.Observer(lender))
		}
	}
	return sources, observers
}

// toolPort returns the port at which programs register tools, closed.
func (c *Core) toolPort() *toolport.Port {
	others := httptools.Others{Dialect: neko.Name, Tools: c.Tools, Host: c.Host, Calls: c.Calls}
	pool := httptools.New(httptools.Options{
		Store: c.Store.Plugins, Host: c.Host, Roles: c.Store.Councils.Members,
		Others: others.List, Call: others.Call, Log: c.Log,
	})
	for _, d := range c.dialects {
		if its, ok := d.(*httptools.Dialect); ok {
			its.Serve(pool) // it knows which addresses answer
		}
	}
	return toolport.New(toolport.Options{Pool: pool, Settings: c.Settings, Keys: c.Keys, Bus: c.Bus, Log: c.Log})
}

// mcpServer returns what offers tools to other programs, without a session.
func mcpServer(ctx context.Context, c *Core) (*mcpserver.Server, error) {
	return mcpserver.Open(ctx, mcpserver.Options{
		Tools: c.Tools, Calls: c.Calls, Can: c.Gate.Reach.Capabilities, Store: c.Store.Outside, Keys: c.Keys,
		Media: c.Store.Media.Media, Bus: c.Bus, Log: c.Log, Now: c.o.Now,
	})
}

// templateKinds are the words of the templates that plugins can be begun from.
func templateKinds() []string {
	var kinds []string
	for _, t := range plugin.Templates(dialects(python.New(python.Options{}), "", sandbox.Confinement{}, mcp.Options{})) {
		kinds = append(kinds, t.Kind)
	}
	return kinds
}

// expectsPlugins reports whether the person approved a plugin of the plugins folder.
func (c *Core) expectsPlugins() bool {
	return slices.ContainsFunc(c.Gate.Approvals.List(), func(a gate.Approval) bool {
		return a.Effect == gate.Allow && !a.Bundled && a.Dialect != httptools.Name
	})
}

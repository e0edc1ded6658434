package gate

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"conclave/app/tool"
)

// Row describes what the tools of one plugin may do, for a table of all plugins.
type Row struct {
	Plugin   string
	Name     string
	State    Standing
	Cells    []Cell    // of what its tools can do, in the order of Capabilities
	All      *Cell     // in place of Cells: nothing isolates it, so it can do what its person can
	LastUsed time.Time // of any of its tools; zero for never
	Unused   bool      // allowed something, and nothing of it was used for 90 days
	Waits    bool      // a newer version waits for approval; Cells are of the one that serves until then
}

// Standing is the reason why none of a plugin's tools can be called; empty if they can.
type Standing string

// The states.
const (
	Serves        Standing = ""        // they can
	NewPlugin     Standing = "new"     // nobody has approved it yet
	OffPlugin     Standing = "off"     // the person turned it off
	ChangedPlugin Standing = "changed" // it is not what was approved
	GonePlugin    Standing = "gone"    // only rules about it are left
)

// Cell is one capability of a plugin: what becomes of a call that can do it, by who calls.
type Cell struct {
	Capability Capability
	Tools      int // how many of its tools can do it
	Main       Access
	Council    Access
}

// Access is the decision about the calls of one cell.
type Access string

// The accesses.
const (
	Allowed   Access = "allowed"
	Asked     Access = "asked"
	Refuses   Access = "refused"
	Sometimes Access = "sometimes" // it depends on the tool, the chat, or what the call is asked with
)

// Callers whose calls the matrix has: the main model, and a council member for which no
// rule was made by its name.
var matrixCallers = [...]Caller{Main, AnyMember}

// Matrix returns a row for each plugin that the gate knows or has rules about, by name.
// Its answers are those of the order that decides about calls.
func (d *Decisions) Matrix() []Row {
	now := d.now()
	lastUsed, unused := d.matrixPlugins(now)
	rows := make([]Row, 0, len(lastUsed))
	for id, last := range lastUsed {
		row := d.lock().row(id, now) // a transaction for each row, so that no call waits for all of them
		d.unlock()
		row.LastUsed, row.Unused = last, unused[id] && now.Sub(last) > unusedTime
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), strings.Compare(a.Plugin, b.Plugin))
	})
	return rows
}

// matrixPlugins returns when something of each plugin was last used, and which of them have a
// rule that was not used for long.
func (d *Decisions) matrixPlugins(now time.Time) (lastUsed map[string]time.Time, unused map[string]bool) {
	f := d.lock()
	defer d.unlock()
	lastUsed, unused = map[string]time.Time{}, map[string]bool{}
	for id := range f.known {
		lastUsed[id] = time.Time{}
	}
	for _, rule := range f.book.rules {
		if rule.Plugin == "" || rule.Plugin == BuiltIn {
			continue
		}
		lastUsed[rule.Plugin] = time.Time{}
		if rule.Unused(now) {
			unused[rule.Plugin] = true
		}
	}
	for id, use := range f.uses {
		plugin, _, _ := strings.Cut(id, ":")
		if last, there := lastUsed[plugin]; there {
			lastUsed[plugin] = latest(last, use.Last)
		}
	}
	return lastUsed, unused
}

func (f *facts) row(id string, now time.Time) Row {
	known, ok := f.known[id]
	row := Row{Plugin: id, Name: f.pluginName(id)}
	if !ok {
		row.State = GonePlugin
		return row
	}
	switch a, approved := f.approvals[id]; {
	case !approved || a.Effect == "":
		row.State = NewPlugin
	case a.Effect != Allow:
		row.State = OffPlugin
	}
	cells := map[Capability]*Cell{}
	add := func(capability Capability, calls [len(matrixCallers)]Access) {
		cell, there := cells[capability]
		if !there {
			cell = &Cell{Capability: capability, Main: calls[0], Council: calls[1]}
			cells[capability] = cell
		}
		cell.Tools++
		if cell.Main != calls[0] {
			cell.Main = Sometimes
		}
		if cell.Council != calls[1] {
			cell.Council = Sometimes
		}
	}
	can := f.able(id)
	var tools []tool.Tool
	tools, row.Waits = f.tools(known)
	for _, t := range tools {
		can, _ := f.ofTool(t, can)
		calls := [len(matrixCallers)]Access{}
		for i, caller := range matrixCallers {
			var step int
			step, calls[i] = f.overview(caller, t, can, now)
			if step == quarantineStep && row.State == "" {
				row.State = ChangedPlugin
			}
		}
		for _, capability := range can {
			add(capability, calls)
		}
		if can == nil {
			add("", calls)
		}
	}
	row.All = cells[""]
	for _, capability := range Capabilities {
		if cell, there := cells[capability]; there {
			row.Cells = append(row.Cells, *cell)
		}
	}
	return row
}

// overview returns the access of calls of a tool, whatever they are asked with, and
// which step of the order says so.
func (f *facts) overview(caller Caller, t tool.Tool, can []Capability, now time.Time) (int, Access) {
	c := f.checkOf(&Call{Caller: caller, Tool: t, Arguments: noArguments}, can)
	c.now, c.overview = now, &overview{}
	r := c.walk()
	step := r.last().Number
	if slices.ContainsFunc(c.overview.partly, func(e Effect) bool { return e != r.effect }) {
		return step, Sometimes
	}
	return step, accessOf[r.effect]
}

var accessOf = map[Effect]Access{Allow: Allowed, Ask: Asked, Deny: Refuses}

var noArguments = []byte(`{}`)

// Covered is one tool of a plugin: what becomes of its calls, and why.
type Covered struct {
	Tool         tool.Tool
	Capabilities []Capability
	Inferred     Inferred
	Main         Step // the step that decides
	Council      Step
}

// Tools explains each tool of a plugin, for a call without arguments.
func (d *Decisions) Tools(plugin string) []Covered {
	f := d.lock()
	defer d.unlock()
	var all []Covered
	tools, _ := f.tools(f.known[plugin])
	for _, t := range tools {
		main := f.check(&Call{Caller: Main, Tool: t, Arguments: noArguments})
		member := f.check(&Call{Caller: AnyMember, Tool: t, Arguments: noArguments})
		all = append(all, Covered{t, main.capabilities, main.inferred, main.walk().last(), member.walk().last()})
	}
	return all
}

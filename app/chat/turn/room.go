package turn

import (
	"context"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"conclave/app/base/limit"
	"conclave/app/model"
	"conclave/app/tool"
)

// DefaultToolShare is the part of a model's context that the definitions of tools may take, in percent.
const DefaultToolShare = 5

const (
	// usualContext is taken for that of a model whose context nobody knows, in tokens.
	usualContext = 128_000
	// leastForTools may always be taken, in tokens: a local model with a small context and five tools does not
	// have to search for them.
	leastForTools = 2_000
	// usualTools is taken for the most tools of a server that does not say its limit.
	usualTools = 64
	// foundTools is the room that is left below a server's limit, for the search and what it finds.
	foundTools = 16
)

// makeRoom defers tools that would take too much of the model's context, or of the number that its server
// takes, unless the person named the tools. They are found with tool_search.
func (t *run) makeRoom(ctx context.Context, set *tool.Set) *tool.Set {
	if set == nil || t.req.Explicit {
		return set
	}
	return t.Fit(ctx, set, t.req.Model.Info())
}

// Fit returns the set as requests to a model define it: with the tools deferred that would take too much of
// its context, or of the number that its server takes.
func (r *Runner) Fit(ctx context.Context, set *tool.Set, info model.Info) *tool.Set {
	share := DefaultToolShare
	if r.o.ToolShare != nil {
		share = r.o.ToolShare(ctx)
	}
	size := info.Context
	if size <= 0 {
		size = usualContext
	}
	return set.Fit(max(int(size)*share/100, leastForTools), r.mostTools(info.Name()))
}

// mostTools returns the most tools that requests to a model may define, as its server said before.
func (r *Runner) mostTools(name string) int {
	if most, known := r.most.Load(name); known {
		if n, ok := most.(int); ok {
			return n
		}
	}
	return math.MaxInt
}

// fewerTools takes in that a server refused a request for its number of tools, and reports whether it can
// be repeated with fewer.
func (t *run) fewerTools(e *model.Error) bool {
	if t.req.Explicit || t.req.Tools == nil {
		return false
	}
	most := namedLimit(e.Detail)
	fitting := t.req.Tools.Fit(math.MaxInt, max(most-foundTools, 1))
	if fitting == t.req.Tools {
		return false
	}
	t.most.Store(t.model, max(most-foundTools, 1))
	before := t.toolSearch().deferred()
	t.req.Tools = fitting
	t.note(fmt.Sprintf("%s takes at most %d tools in a request. It finds %s with %s when it needs one.",
		t.model, most, limit.Counted(len(t.toolSearch().deferred())-len(before), "other"), tool.SearchName))
	return true
}

// namedLimit returns the number of tools that a server named as the most that it takes.
func namedLimit(detail string) int {
	most := usualTools
	for _, word := range regexp.MustCompile(`\d+`).FindAllString(detail, 20) {
		// Of “got 300, at most 128” it is the smaller one; a number like 400 of a status is larger than both.
		if n, err := strconv.Atoi(word); err == nil && n >= foundTools && n <= 512 && (most == usualTools || n < most) {
			most = n
		}
	}
	return most
}

// maxNamedTools bounds the list of tools that were deferred for room, in bytes.
const maxNamedTools = 4 << 10

// namesForRoom returns a line for each plugin whose tools were deferred for room, and are not known.
func namesForRoom(tools []tool.Tool, known func(name string) bool) []string {
	var lines []string
	size, left := 0, 0
	last := ""
	for _, x := range tools {
		if !x.ForRoom || known(x.WireName) {
			continue
		}
		if size += len(x.WireName) + 2; size > maxNamedTools {
			left++
			continue
		}
		if x.Plugin != last || len(lines) == 0 {
			last = x.Plugin
			lines = append(lines, "- "+x.Plugin+": "+x.WireName)
			continue
		}
		lines[len(lines)-1] += ", " + x.WireName
	}
	if left > 0 {
		lines = append(lines, fmt.Sprintf("- and %d more", left))
	}
	return lines
}

// reminder returns the note about deferred tools; empty for none. lines describe one each, and rooms name
// those of a plugin.
func reminder(lines, rooms []string) string {
	if len(lines)+len(rooms) == 0 {
		return ""
	}
	return "<system-reminder>\nThese tools exist too. Before you use one of them, find it with " + tool.SearchName +
		":\n" + strings.Join(append(lines, rooms...), "\n") + "\n</system-reminder>"
}

// renewTools takes the tools as they are now for the rounds that follow, where they have changed since the
// last one: a server may offer others once one was called.
func (t *run) renewTools(ctx context.Context) error {
	if t.round == 1 || t.req.Newest == nil || t.req.Tools == nil {
		return nil
	}
	set := t.req.Newest(t.req.Tools.Generation())
	if set == nil {
		return nil
	}
	named, err := NameTools(ctx, t.log, &t.names.chat, set)
	if err != nil {
		return err
	}
	named = t.makeRoom(ctx, named)
	t.req.Tools, t.callTurn.Tools = named, named
	return nil
}

package turn

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"conclave/app/chat"
	"conclave/app/model"
	"conclave/app/tool"
	"conclave/app/tool/call"
)

// The definition of a deferred tool is not sent to the model. The model gets its name and its purpose,
// and finds it with tool_search; from the next request on the definition is there, as long as the model
// sees that search (contracts/maibot, section 6).

// searchTool is the built-in tool that finds deferred ones. Its limit is not
// checked: a bad one counts as the default.
var searchTool = tool.Tool{
	Plugin: "conclave", Name: tool.SearchName, WireName: tool.SearchName, Title: "Find tools", Dialect: "conclave",
	Description: "Find tools that are named in the reminder but not among your tools yet. " +
		"Their definitions come with the next request, and then they can be called. " +
		"Ask with a tool's exact name, or with words for what you want to do.",
	Parameters: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","description":"A tool's name, or words for what it should do"},"limit":{"type":"integer","minimum":1,"default":5,"description":"How many tools to find at most"}},"required":["query"]}`),
}

// defaultFound bounds the tools that a search finds if it names no bound.
const defaultFound = 5

// toolSearch finds the deferred tools of a round by the searches in the path. Nil tools are none.
type toolSearch struct {
	tools *tool.Set
	path  []chat.Message
}

// toolSearch returns the search of this round.
func (t *run) toolSearch() toolSearch { return toolSearch{t.req.Tools, t.begins.of(t.path)} }

// deferred returns the deferred tools.
func (s toolSearch) deferred() []tool.Tool {
	if s.tools == nil {
		return nil
	}
	return slices.DeleteFunc(s.tools.Tools(), func(x tool.Tool) bool { return x.Visibility != tool.Deferred })
}

// definitions returns the tools that the model gets: the direct ones, the search when there is
// something to find, and what it found. That comes last, so that the beginning stays the same.
func (s toolSearch) definitions() []model.ToolDefinition {
	if s.tools == nil {
		return nil
	}
	var out []model.ToolDefinition
	add := func(x tool.Tool) {
		out = append(out, definition(x))
	}
	hidden := false
	for _, x := range s.tools.Tools() {
		if x.Visibility == tool.Deferred {
			hidden = true
			continue
		}
		add(x)
	}
	if !hidden {
		return out
	}
	add(searchTool)
	for _, name := range s.discovered() {
		if x, ok := s.tools.ByWire(name); ok && x.Visibility == tool.Deferred {
			add(x)
		}
	}
	return out
}

// definition returns a tool as the model gets it.
func definition(x tool.Tool) model.ToolDefinition {
	return model.ToolDefinition{Name: x.WireName, Description: x.Description, Parameters: x.Parameters}
}

// discovered returns the names that searches found, in the order they were found,
// read from the path: a search that is no longer seen found nothing.
func (s toolSearch) discovered() []string {
	var names []string
	for i, m := range s.path {
		if m.Hidden || m.Role != chat.RoleAssistant {
			continue
		}
		var given map[string]*chat.ToolResult
		for _, call := range madeCalls(&m) {
			if call.Tool != tool.SearchName {
				continue
			}
			if given == nil {
				given = resultsIn(s.path[i+1:])
			}
			if r := given[call.ID]; r != nil && !r.IsError {
				for _, name := range foundIn(r.Text()) {
					if !slices.Contains(names, name) {
						names = append(names, name)
					}
				}
			}
		}
	}
	return names
}

// foundIn reads the names in the text of a search's result.
func foundIn(text string) []string {
	var names []string
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok {
			name, _, _ := strings.Cut(rest, "（")
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}

// remind adds to the person's newest message which deferred tools the model did not find yet. It is
// made again for every request, and not saved.
func (s toolSearch) remind(r *model.Request) {
	deferred := s.deferred()
	if len(r.Tools) == 0 || len(deferred) == 0 {
		return
	}
	discovered := s.discovered()
	known := func(name string) bool { return slices.Contains(discovered, name) }
	var lines []string
	for _, x := range deferred {
		if !x.ForRoom && !known(x.WireName) {
			lines = append(lines,
				fmt.Sprintf("%d. %s: %s", len(lines)+1, x.WireName, strings.Join(strings.Fields(x.Description), " ")))
		}
	}
	text := reminder(lines, namesForRoom(deferred, known))
	if text == "" {
		return
	}
	note := chat.TextPart(text)
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == chat.RoleUser {
			r.Messages = slices.Clone(r.Messages)
			r.Messages[i].Parts = append([]chat.Part{note}, r.Messages[i].Parts...)
			return
		}
	}
	r.Messages = append(r.Messages, model.Message{Role: chat.RoleUser, Parts: []chat.Part{note}})
}

// searching reports whether a call is of the built-in search.
func (s toolSearch) searching(name string) bool {
	if name != tool.SearchName || s.tools == nil {
		return false
	}
	_, taken := s.tools.ByWire(name)
	return !taken && len(s.deferred()) > 0
}

// search answers a call of tool_search. Nobody has to allow it: it looks at what the model may call
// anyway.
func (s toolSearch) search(c *call.Call) tool.Result {
	c.Record.Decision, c.Record.DecidedBy, c.Record.Decider = "allow", "It only looks at the tools of this chat.",
		"built-in"
	var args struct {
		Query any `json:"query"`
		Limit any `json:"limit"`
	}
	_ = json.Unmarshal(c.Record.Arguments, &args) // it was read before; what is missing is zero
	query, _ := args.Query.(string)
	if strings.TrimSpace(query) == "" {
		return tool.Result{
			Status: chat.CallBadArguments,
			Error:  "the query is empty; give a tool's name, or words for what it should do",
		}
	}
	limit := defaultFound
	if n, ok := args.Limit.(float64); ok && n >= 1 && n == float64(int(n)) {
		limit = int(n)
	}
	known := s.discovered()
	names, fresh := []string{}, []string{}
	var b strings.Builder
	for _, x := range s.tools.Find(query, limit) {
		names = append(names, x.WireName)
		note := "known already"
		if !slices.Contains(known, x.WireName) {
			fresh = append(fresh, x.WireName)
			note = "new"
		}
		fmt.Fprintf(&b, "\n- %s（%s）", x.WireName, note)
	}
	said := fmt.Sprintf("%d found; call them from the next message on.%s", len(names), b.String())
	if len(names) == 0 {
		said = "No tool was found. Try a tool's exact name from the reminder, or other words."
	}
	value, err := json.Marshal(map[string]any{
		"query": query, "matched_tool_names": names, "newly_discovered_tool_names": fresh,
	})
	if err != nil {
		value = nil // never: names are text
	}
	return tool.Result{Status: chat.CallOK, Content: []chat.Part{chat.TextPart(said)}, Value: value}
}

// searchHint is added to the failure of a deferred tool that was called without
// having been found.
const searchHint = "\nIts definition was not among your tools: find it with " + tool.SearchName +
	" before you call it again."

// hinted adds searchHint to the failure of a deferred tool that was not found.
func (s toolSearch) hinted(c *call.Call, r tool.Result) tool.Result {
	if r.Error != "" && c.Tool.Visibility == tool.Deferred && r.Status != chat.CallCancelled &&
		r.Status != chat.CallRefused && !slices.Contains(s.discovered(), c.Tool.WireName) {
		r.Error += searchHint
	}
	return r
}

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

// A deferred tool is not sent to the model with its definition. The model is told
// its name and what it is good for, and finds it with tool_search; from the next
// request on the definition is there, for as long as that search is in what the
// model sees (contracts/maibot, section 6).

// searchTool is the built-in tool that finds deferred ones. Its limit is not
// checked: a bad one counts as the default.
var searchTool = tool.Tool{
	Plugin: "conclave", Name: tool.SearchName, WireName: tool.SearchName, Title: "Find tools", Dialect: "conclave",
	Description: "Find tools that are named in the reminder but not among your tools yet. " +
		"Their definitions come with the next request, and then they can be called. " +
		"Ask with a tool's exact name, or with words for what you want to do.",
	Parameters: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","description":"A tool's name, or words for what it should do"},"limit":{"type":"integer","minimum":1,"default":5,"description":"How many tools to find at most"}},"required":["query"]}`),
}

// defaultFound is how many tools a search finds when it is not said.
const defaultFound = 5

// deferred returns the deferred tools of the turn.
func (t *run) deferred() []tool.Tool {
	if t.req.Tools == nil {
		return nil
	}
	return slices.DeleteFunc(t.req.Tools.Tools(), func(x tool.Tool) bool { return x.Visibility != tool.Deferred })
}

// definitions are the tools as the model is told of them: the direct ones, the
// search when there is something to find, and what was found. What is found comes
// last, so that the beginning stays the same.
func (t *run) definitions() []model.ToolDefinition {
	if t.req.Tools == nil {
		return nil
	}
	var out []model.ToolDefinition
	add := func(x tool.Tool) {
		out = append(out, model.ToolDefinition{Name: x.WireName, Description: x.Description, Parameters: x.Parameters})
	}
	hidden := false
	for _, x := range t.req.Tools.Tools() {
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
	for _, name := range t.discovered() {
		if x, ok := t.req.Tools.ByWire(name); ok && x.Visibility == tool.Deferred {
			add(x)
		}
	}
	return out
}

// discovered returns the names that searches found, in the order they were found,
// read from the path: a search that is no longer seen found nothing.
func (t *run) discovered() []string {
	var names []string
	for i, m := range t.path {
		if m.Hidden || m.Role != chat.RoleAssistant {
			continue
		}
		var given map[string]*chat.ToolResult
		for _, call := range madeCalls(&m) {
			if call.Tool != tool.SearchName {
				continue
			}
			if given == nil {
				given = resultsIn(t.path[i+1:])
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

// remind tells the model, in the person's newest message, which deferred tools
// there are besides those it found. It is made again for every request and kept
// nowhere.
func (t *run) remind(r *model.Request) {
	if len(r.Tools) == 0 {
		return
	}
	known := t.discovered()
	var lines []string
	for _, x := range t.deferred() {
		if !slices.Contains(known, x.WireName) {
			lines = append(lines,
				fmt.Sprintf("%d. %s: %s", len(lines)+1, x.WireName, strings.Join(strings.Fields(x.Description), " ")))
		}
	}
	if len(lines) == 0 {
		return
	}
	note := chat.TextPart("<system-reminder>\nThese tools exist too. Before you use one of them, find it with " +
		tool.SearchName + ":\n" + strings.Join(lines, "\n") + "\n</system-reminder>")
	for i := len(r.Messages) - 1; i >= 0; i-- {
		if r.Messages[i].Role == chat.RoleUser {
			r.Messages = slices.Clone(r.Messages)
			r.Messages[i].Parts = append([]chat.Part{note}, r.Messages[i].Parts...)
			return
		}
	}
	r.Messages = append(r.Messages, model.Message{Role: chat.RoleUser, Parts: []chat.Part{note}})
}

// searching reports whether a call is one of the built-in search.
func (t *run) searching(name string) bool {
	if name != tool.SearchName || t.req.Tools == nil {
		return false
	}
	_, taken := t.req.Tools.ByWire(name)
	return !taken && len(t.deferred()) > 0
}

// search answers a call of tool_search. Nobody has to allow it: it looks at what
// the model may call anyway.
func (t *run) search(c *call.Call) tool.Result {
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
			Status: chat.CallBadArguments, Error: "the query is empty; give a tool's name, or words for what it should do",
		}
	}
	limit := defaultFound
	if n, ok := args.Limit.(float64); ok && n >= 1 && n == float64(int(n)) {
		limit = int(n)
	}
	known := t.discovered()
	names, fresh := []string{}, []string{}
	var b strings.Builder
	for _, x := range t.req.Tools.Find(query, limit) {
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

// hinted adds searchHint to a failure, where it may help.
func (t *run) hinted(c *call.Call, r tool.Result) tool.Result {
	if r.Error != "" && c.Tool.Visibility == tool.Deferred && r.Status != chat.CallCancelled &&
		r.Status != chat.CallRefused && !slices.Contains(t.discovered(), c.Tool.WireName) {
		r.Error += searchHint
	}
	return r
}

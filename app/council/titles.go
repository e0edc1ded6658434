package council

import "strings"

// ToolTitle returns the title of a member's tool, or else its name without its plugin.
func (r *Run) ToolTitle(id string) string {
	if title := shownLine(r.Titles[id]); title != "" {
		return title
	}
	if _, name, ok := strings.Cut(id, ":"); ok {
		return name
	}
	return id
}

// Handed reports whether a request is the part of the chat that the task's tool got, and not a request
// to a model.
func (t Task) Handed(r Request) bool { return t.Kind == UseTool && r.Model == t.Tool }

// SourceTitle returns the title of the tool that a point cites, or else the source as the member wrote
// it.
func (r Record) SourceTitle(t Task, p Point) string {
	if p.Basis == FromTool {
		for _, id := range t.End.Used {
			if calledTool([]string{id}, p.Source) && (p.Source != "" || len(t.End.Used) == 1) {
				return r.ToolTitle(id)
			}
		}
	}
	return p.Source
}

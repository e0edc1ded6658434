package council

import "strings"

// ToolTitle returns what a tool of the members is called, by its id: its title, else its name
// without its plugin's.
func (r *Run) ToolTitle(id string) string {
	if title := shownLine(r.Titles[id]); title != "" {
		return title
	}
	if _, name, ok := strings.Cut(id, ":"); ok {
		return name
	}
	return id
}

// Handed reports whether a request of the task is what its tool was handed of the chat, and not one
// to a model.
func (t Task) Handed(r Request) bool { return t.Kind == UseTool && r.Model == t.Tool }

// SourceTitle returns what the source of a point is called that was said in a task: the title of the
// tool that it rests on, else what the member wrote.
func (r *Run) SourceTitle(t Task, p Point) string {
	if p.Basis == FromTool {
		for _, id := range t.End.Used {
			if rests([]string{id}, p.Source) && (p.Source != "" || len(t.End.Used) == 1) {
				return r.ToolTitle(id)
			}
		}
	}
	return p.Source
}

package hook

import (
	"fmt"
	"slices"
	"strings"

	"conclave/app/base/limit"
	"conclave/app/base/textdiff"
	"conclave/app/chat"
	"conclave/app/model"
	"conclave/app/tool"
)

// section is a piece of what a hook is given, with the heading under which a person
// finds it.
type section struct{ heading, text string }

// requestText returns a request as a person compares two: in groups, of which what
// hooks add to one moves nothing in another.
func requestText(r model.Request) [][]section {
	var head, tools, messages []section
	if r.System != "" {
		head = append(head, section{"System prompt", r.System})
	}
	if set := settingsText(r); set != "" {
		head = append(head, section{"Settings", set})
	}
	for _, t := range r.Tools {
		tools = append(tools, section{"Tool " + t.Name, t.Description + "\n" + tool.Indented(t.Parameters)})
	}
	for _, m := range r.Messages {
		messages = append(messages, section{roles[m.Role], partsText(m.Parts)})
	}
	return [][]section{head, tools, messages}
}

var roles = map[chat.Role]string{
	chat.RoleUser: "Person", chat.RoleAssistant: "Model", chat.RoleTool: "Results of tools",
	chat.RoleSystem: "System prompt",
}

func settingsText(r model.Request) string {
	var lines []string
	if r.Temperature != nil {
		lines = append(lines, fmt.Sprintf("temperature %g", *r.Temperature))
	}
	if r.TopP != nil {
		lines = append(lines, fmt.Sprintf("top_p %g", *r.TopP))
	}
	if r.MaxTokens > 0 {
		lines = append(lines, fmt.Sprintf("at most %d tokens", r.MaxTokens))
	}
	if r.Reasoning != "" {
		lines = append(lines, "reasoning "+r.Reasoning)
	}
	return strings.Join(lines, "\n")
}

// partsText returns what of a message a hook can change; a model's reasoning it cannot.
func partsText(parts []chat.Part) string {
	var lines []string
	for _, p := range parts {
		switch {
		case p.Kind == chat.PartText:
			lines = append(lines, p.Text)
		case p.Kind == chat.PartToolCall && p.Call != nil:
			lines = append(lines, "calls "+p.Call.Tool+" with "+string(p.Call.Arguments))
		case p.Kind == chat.PartToolResult && p.Result != nil:
			lines = append(lines, p.Result.Tool+" answered: "+p.Result.Text())
		case p.Kind == chat.PartMedia && p.Media != nil:
			lines = append(lines, fmt.Sprintf("(%s, %s, %d bytes)", p.Media.Name, p.Media.MIME, p.Media.Size))
		}
	}
	return strings.Join(lines, "\n")
}

func answerText(m chat.Message) [][]section { return [][]section{{{"Answer", partsText(m.Parts)}}} }

func argumentsText(c Call) [][]section {
	return [][]section{{{"Arguments", tool.Comparable(c.Arguments)}}}
}

func resultText(c Call) [][]section {
	if c.Result == nil {
		return nil
	}
	all := []section{{"Status", string(c.Result.Status)}}
	if c.Result.Error != "" {
		all = append(all, section{"Error", c.Result.Error})
	}
	return [][]section{append(all, section{"Result", partsText(c.Result.Content)})}
}

// change returns the lines by which what a hook gave back differs from what it was
// given (see chat.HookStep.Change), and why they are not all.
func change(before, after [][]section, mask func(string) string, room int) (text, left string) {
	before, after = apart(before, after)
	if size(before)+size(after) > limit.HookCompared {
		return "", "It was given and gave back more than 2 MiB that differ, which are not compared line by line."
	}
	first := written(before, mask)
	lines := textdiff.Near(textdiff.Lines(first, written(after, mask)), tool.ShownLine)
	if len(lines) == 0 {
		return "", "What it gave back reads as what it was given."
	}
	given := strings.Split(first, "\n")
	marks := map[textdiff.Kind]string{textdiff.Same: " ", textdiff.Added: "+", textdiff.Removed: "-"}
	var b strings.Builder
	for i, l := range lines {
		line := marks[l.Kind] + tool.ShowLine(l.Text)
		if l.Kind == textdiff.Gap {
			line = "@" + headingAbove(given, l.At)
		}
		if b.Len()+len(line) >= room {
			return b.String(), linesLeft(len(lines) - i)
		}
		b.WriteString(line + "\n")
	}
	return b.String(), ""
}

// apart leaves out the sections at the start and the end of each group that are the
// same in both: a long chat is not compared for the sake of its last message.
func apart(before, after [][]section) (_, _ [][]section) {
	if len(before) != len(after) {
		return before, after
	}
	first, second := slices.Clone(before), slices.Clone(after)
	for i := range first {
		x, y := first[i], second[i]
		for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
			x, y = x[1:], y[1:]
		}
		for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
			x, y = x[:len(x)-1], y[:len(y)-1]
		}
		first[i], second[i] = x, y
	}
	return first, second
}

func size(groups [][]section) (n int) {
	for _, group := range groups {
		for _, s := range group {
			n += len(s.text)
		}
	}
	return n
}

// written returns sections as one text. Only a heading begins with a bracket, whatever
// the text below it says.
func written(groups [][]section, mask func(string) string) string {
	var b strings.Builder
	for _, group := range groups {
		for _, s := range group {
			heading := strings.Join(strings.Fields(s.heading), " ") // a tool's name may be foreign
			b.WriteString("[" + heading + "]\n")
			for line := range strings.Lines(mask(s.text)) {
				b.WriteString("  " + strings.TrimRight(line, "\r\n") + "\n")
			}
		}
	}
	return b.String()
}

// headingAbove returns the heading that the line after the first n stands under.
func headingAbove(lines []string, n int) string {
	for _, line := range slices.Backward(lines[:min(n, len(lines))]) {
		if strings.HasPrefix(line, "[") {
			return tool.ShowLine(line)
		}
	}
	return ""
}

// linesLeft returns a sentence about changed lines over limit.HookChange.
func linesLeft(n int) string {
	if n == 1 {
		return "1 more line differs and is not kept."
	}
	return fmt.Sprintf("%d more lines differ and are not kept.", n)
}

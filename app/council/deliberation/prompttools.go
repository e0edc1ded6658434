package deliberation

import (
	"context"
	"embed"
	"fmt"
	"slices"
	"strings"

	"conclave/app/chat"
	"conclave/app/council"
)

// texts holds a file for each prompt tool, and in parts the texts that they share.
//
//go:embed builtin/*.md builtin/parts/*.md
var texts embed.FS

// PromptTool is a tool of the council that a model answers by a prompt of Conclave (contracts/spindle,
// section 13). It is assigned by its name, without a plugin.
type PromptTool struct {
	Name        string
	Title       string
	Description string
	prompt      string
}

// PromptTools lists all prompt tools, by name.
var PromptTools = promptTools()

func promptTools() []PromptTool {
	entries, err := texts.ReadDir("builtin")
	if err != nil {
		panic(err) // they are part of the program
	}
	var all []PromptTool
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		// A title behind “# ”, a line that describes it, and the prompt.
		head, rest, _ := strings.Cut(builtIn(e.Name()), "\n\n")
		description, prompt, _ := strings.Cut(rest, "\n\n")
		all = append(all, PromptTool{
			Name: strings.TrimSuffix(e.Name(), ".md"), Title: strings.TrimPrefix(head, "# "),
			Description: description, prompt: strings.TrimSpace(prompt),
		})
	}
	return all
}

// part reads a shared part of the prompts.
func part(name string) string { return builtIn("parts/" + name) }

func builtIn(name string) string {
	raw, err := texts.ReadFile("builtin/" + name)
	if err != nil {
		panic(err) // it is part of the program
	}
	return strings.TrimSpace(string(raw))
}

// builtInOf finds a prompt tool by its assigned name.
func builtInOf(assigned string) (PromptTool, bool) {
	i := slices.IndexFunc(PromptTools, func(t PromptTool) bool { return t.Name == assigned })
	if i < 0 {
		return PromptTool{}, false
	}
	return PromptTools[i], true
}

// write lets a model answer a prompt tool.
func (w *toolWork) write(ctx context.Context, job council.Job, prompt PromptTool,
	live func(council.Live),
) council.Work {
	if job.Run.Models[job.Task.Member] == "" {
		return noHelperWork(prompt.Title)
	}
	given, err := w.given(job)
	if err != nil {
		return errorWork(ctx, job, err)
	}
	return w.answer(ctx, job, prompted(job, prompt, given), live)
}

// prompted returns the input of a prompt tool (contracts/spindle, section 10.5): the member and the
// rules, the task, the chat, and the request.
func prompted(job council.Job, prompt PromptTool, given council.Given) council.Given {
	m, set := job.Member(), job.Run.Council.Tool
	system := []string{lens(m), part("rules.md"), "# Your task: " + prompt.Title + "\n\n" + prompt.Description + "\n\n" +
		prompt.prompt}
	if set.MaxWords > 0 {
		system = append(system, fmt.Sprintf("Use at most %d words.", set.MaxWords))
	}
	control := "user-not.md"
	if set.UserControl {
		control = "user-may.md"
	}
	role := strings.Join(append(system, part(control)), "\n\n")
	asked := ""
	for _, nudge := range job.Task.Nudges {
		asked += "The person adds: " + nudge + "\n\n"
	}
	asked += "Write the result of “" + prompt.Title + "” for the conversation above, and nothing else."
	out := given
	out.Blocks = slices.Concat([]council.BlockText{council.NewBlock(council.FromRole, m.Name+": "+prompt.Title, role)},
		given.Blocks, []council.BlockText{council.NewBlock(council.FromRole, "Task", asked)})
	known, path := given.System, slices.Clone(given.Path)
	for len(path) > 0 && path[0].Role == chat.RoleSystem {
		known += "\n\n" + chat.TextOf(path[0].Parts)
		path = path[1:]
	}
	if known = strings.TrimSpace(known); known != "" {
		role += "\n\n# What is known in addition to the conversation\n\n" + known
	}
	out.System = role
	out.Path = append(path, council.Message(chat.RoleUser, asked))
	return out
}

// lens describes the member to the model. Its persona is a point of view; the model does not play it.
func lens(m council.Member) string {
	text, persona := "You look at a conversation for "+m.Name+", a member of a council.", ""
	if m.Role != "" {
		text += "\nIts role: " + m.Role + "."
	}
	for _, each := range []struct{ title, text string }{
		{"What it is", m.Persona.Definition}, {"How it thinks", m.Persona.Personality}, {"How it works", m.Persona.Behavior},
	} {
		if each.text != "" {
			persona += "\n" + each.title + ": " + each.text
		}
	}
	if persona != "" {
		persona += "\nUse this as the view from which you judge. Do not speak as that person."
	}
	return text + persona
}

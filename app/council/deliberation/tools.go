package deliberation

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/gate"
	"conclave/app/model"
	"conclave/app/tool"
	"conclave/app/tool/call"
	"conclave/app/tool/hook"

	"github.com/google/uuid"
)

// toolWork does the tasks of mode tools (contracts/spindle, section 10). A model answers prompt tools,
// tools that read the chat get it, and for other tools a model plans the arguments.
type toolWork struct {
	calls *call.Runner
	now   func() time.Time
	tools *tool.Set // as they were when the run began
	turn  call.Turn // what the calls share: Log and Asker of the turn that is answered
	// given returns the part of the chat that a member's tools see.
	given func(council.Job) (council.Given, error)
	// answer runs the member's model on an input, in a turn without tools.
	answer func(context.Context, council.Job, council.Given, func(council.Live)) council.Work
	// model opens the member's model to plan arguments; it returns nil where there is none.
	model func(context.Context, council.Job, council.Given) (*recorded, error)
	// gives records what a turn of the member sees, until done is called.
	gives func(turnID string, in chat.ConversationID, given council.Given) (done func())
	taint func(council.Job, council.Given) func() []chat.Origin // returns the origins of a task's input
}

// errSlow is the cause of a context that ended at the time limit of one tool.
var errSlow = errors.New("the council's tool took too long")

// Do does a task of kind UseTool to its end.
func (w *toolWork) Do(ctx context.Context, job council.Job, live func(council.Live)) council.Work {
	if prompt, ok := builtInOf(job.Task.Tool); ok {
		return w.limited(ctx, job, prompt.Title, func(ctx context.Context) council.Work {
			return w.write(ctx, job, prompt, live)
		})
	}
	if why := Unusable(w.tools, job.Run.Council, job.Task.Tool); why != "" {
		return skippedWork(why, "Take it from the member.")
	}
	found, _ := w.tools.ByID(job.Task.Tool)
	return w.call(ctx, job, found, live)
}

// limited bounds a model's work by the time limit of one tool.
func (w *toolWork) limited(ctx context.Context, job council.Job, title string,
	do func(context.Context) council.Work,
) council.Work {
	took := timeout(job)
	limited, cancel := context.WithTimeoutCause(ctx, took, errSlow)
	defer cancel()
	work := do(limited)
	if work.End.State == council.Done || ctx.Err() != nil || !errors.Is(context.Cause(limited), errSlow) {
		return work
	}
	late := failedWork(string(chat.CallTimeout), call.TookLonger(title, took)+".",
		"Give the council's tools more time, or choose a faster model.")
	late.Follow(work)
	return late
}

// timeout is the time limit of one tool of a member.
func timeout(job council.Job) time.Duration {
	return time.Duration(job.Run.Council.Tool.TimeoutMS) * time.Millisecond
}

// call calls a tool of a plugin.
func (w *toolWork) call(ctx context.Context, job council.Job, found tool.Tool,
	live func(council.Live),
) (work council.Work) {
	member := job.Member()
	live(council.Live{Phase: council.Reading})
	given, err := w.given(job)
	if err != nil {
		return errorWork(ctx, job, err)
	}
	arguments, planning := w.arguments(ctx, job, found, given)
	if planning.End.State != council.Done {
		return planning
	}
	defer func() { work.Follow(planning) }()
	extra := call.Extra{Member: council.MemberContext(member), Timeout: timeout(job)}
	seen := &lane{live: live}
	var handed []tool.ContextMessage // nil: the tool was not called, or without the chat
	var handedAt time.Time
	if found.Convention.Chat {
		extra.Context = contextMessages(given)
		extra.Handed = func(messages []tool.ContextMessage) { seen.do(func() { handed, handedAt = messages, w.now() }) }
	}
	turn := w.turn
	turn.Tools, turn.OnEvent, turn.Taint = w.tools, seen.hear, w.taint(job, given)
	turn.CallerName, turn.Given = member.Name, member.Context.In(job.Run.Council).Sentence()
	turn.TurnInfo = hook.TurnInfo{
		Turn: uuid.Must(uuid.NewV7()).String(), Conversation: job.Run.Conversation, Model: job.Run.Models[member.ID],
		Kind: "normal", Caller: gate.Member(member.ID),
	}
	defer w.gives(turn.Turn, job.Run.Conversation, given)()
	defer w.calls.TurnEnded(turn.Turn) // also after a panic
	defer seen.end()
	result, err := w.calls.Do(ctx, turn, found.ID(), arguments, extra)
	if err != nil {
		return errorWork(ctx, job, err)
	}
	seen.end()
	work = workOf(ctx, job, found, result)
	work.End.Calls, work.End.Turn, work.End.Origins = seen.calls, turn.Turn, seen.brought
	if handed != nil { // the inspector shows it like a request to a model
		sent := council.Request{Model: found.ID(), AtMS: handedAt.Sub(job.Task.Started).Milliseconds()}
		for _, m := range handed {
			sent.Tokens += model.Tokens(m.Content)
		}
		if len(handed) == 0 {
			given.Blocks = nil
		}
		body, _ := json.Marshal(handed) // texts can be encoded
		work.Sent(sent, body, given.Blocks)
	}
	if found.Convention.Chat || needsArguments(found) { // its input was what the member sees, or arguments made from that
		work.End.Origins = chat.AddOrigins(work.End.Origins, given.Origins...)
	}
	return work
}

// arguments returns the arguments of a call, and the work of planning them.
func (w *toolWork) arguments(ctx context.Context, job council.Job, found tool.Tool,
	given council.Given,
) (arguments string, work council.Work) {
	none := council.Work{End: council.End{State: council.Done}}
	if found.Convention.Chat && !slices.Contains(job.Member().Plan, found.ID()) {
		return "", none // it reads the chat instead (contracts/spindle, section 7.3)
	}
	if !found.Convention.Chat && !needsArguments(found) {
		return "{}", none
	}
	planned := plan{toolWork: w, job: job, tool: found, given: given}
	work = w.limited(ctx, job, "Planning the arguments of "+found.DisplayName(), planned.make)
	if planned.through != nil {
		planned.through.fill(&work)
	}
	return string(planned.arguments), work
}

// workOf returns the outcome of a task from its tool's result.
func workOf(ctx context.Context, job council.Job, called tool.Tool, r tool.Result) council.Work {
	if r.Status == chat.CallOK {
		return doneWork(textOf(r.Content))
	}
	if ctx.Err() != nil {
		return errorWork(ctx, job, context.Cause(ctx))
	}
	message := strings.TrimPrefix(r.Error, "Cancelled: ")
	for strings.HasPrefix(message, "Error: ") {
		message = message[len("Error: "):]
	}
	hint := ""
	switch r.Status {
	case chat.CallRefused:
		hint = "Members may do less than the main model. Let that call the tool; what you were asked about you can allow."
	case chat.CallTimeout:
		hint = "Give the council's tools more time."
	}
	return failedWork(string(r.Status), cmp.Or(message, called.DisplayName()+" failed."), hint)
}

// textOf returns a tool's answer as text, with the names of pictures and files.
func textOf(parts []chat.Part) string {
	text := chat.TextOf(parts)
	for _, p := range parts {
		if p.Media != nil {
			text = strings.TrimLeft(text+"\n["+cmp.Or(p.Media.Name, p.Media.MIME)+"]", "\n")
		}
	}
	return text
}

// doneWork is the outcome of a task with a text.
func doneWork(text string) council.Work {
	work := council.Work{End: council.End{State: council.Done, Bytes: len(text)}}
	work.End.Text = work.Texts.Add([]byte(text))
	return work
}

func failedWork(kind, message, hint string) council.Work {
	// The message may be another program's; the hint follows it.
	if last, _ := utf8.DecodeLastRuneInString(message); hint != "" && !strings.ContainsRune(".!?…。！？", last) {
		message += "."
	}
	return council.Work{End: council.End{
		State: council.Failed, Failure: &chat.Failure{Kind: kind, Message: message, Hint: hint},
	}}
}

func skippedWork(why, hint string) council.Work {
	work := failedWork(string(fault.NotFound), why, hint)
	work.End.State = council.Skipped
	return work
}

// noHelperWork is the outcome of a task that needs a model where there is none.
func noHelperWork(title string) council.Work {
	return failedWork(string(fault.Usage), title+" needs a helper model.",
		"Choose a helper model for the council, or a model for the member.")
}

// NeedsModel explains why a member's tool cannot run without a model, or returns "": it is a prompt,
// or a model has to plan its arguments.
func NeedsModel(set *tool.Set, assigned string, m council.Member) string {
	if prompt, ok := builtInOf(assigned); ok {
		return prompt.Title + " needs a helper model."
	}
	found, ok := set.ByID(assigned)
	planned := slices.Contains(m.Plan, assigned)
	if !ok || found.Convention.Chat && !planned || !needsArguments(found) && !planned {
		return ""
	}
	return found.DisplayName() + " needs a helper model."
}

// AsksArguments reports whether a tool has required arguments although members' calls pass it the chat
// instead, unless the helper model writes them (council.Member.Plan).
func AsksArguments(t tool.Tool) bool { return t.Convention.Chat && needsArguments(t) }

// needsArguments reports whether a tool has required arguments.
func needsArguments(t tool.Tool) bool { return len(required(t)) > 0 }

// required returns the names of the arguments that a tool requires.
func required(t tool.Tool) []string {
	var schema struct{ Required []string }
	if json.Unmarshal(t.Parameters, &schema) != nil {
		return nil
	}
	return schema.Required
}

// Unusable explains why a member of a council cannot use a tool that is assigned to it, or returns "".
func Unusable(set *tool.Set, c council.Council, assigned string) string {
	if prompt, ok := builtInOf(assigned); ok {
		switch {
		case c.Mode != council.Tools:
			return prompt.Title + " is for councils of mode tools."
		case c.Tool.Mode == council.Inline: // contracts/spindle, section 8.4
			return prompt.Title + " is a prompt, which the model that answers cannot call."
		}
		return ""
	}
	found, ok := set.ByID(assigned)
	if !ok {
		return council.NotThere(assigned)
	}
	_, why := council.Eligible(found)
	return why
}

// lacks returns sentences on the tools that members lack, by member id: one for all tools of a plugin
// that are not there, with the way back where it is known. In mode tools, tasks say the rest.
func (r *Runner) lacks(c council.Council, set *tool.Set) map[string]string {
	all := map[string]string{}
	for _, m := range c.Members {
		var reasons, plugins []string
		gone := map[string][]string{} // the tools that are not there, by plugin
		for _, assigned := range m.Tools {
			plugin, name, _ := strings.Cut(assigned, ":")
			switch why := Unusable(set, c, assigned); {
			case why == council.NotThere(assigned):
				if gone[plugin] == nil {
					plugins = append(plugins, plugin)
				}
				gone[plugin] = append(gone[plugin], name)
			case why != "" && c.Mode != council.Tools:
				reasons = append(reasons, why)
			}
		}
		for _, plugin := range plugins {
			reasons = append(reasons, r.missing(plugin, gone[plugin]))
		}
		if len(reasons) > 0 {
			all[m.ID] = strings.Join(reasons, " ")
		}
	}
	return all
}

// missing explains why tools of a plugin are not there.
func (r *Runner) missing(plugin string, tools []string) string {
	if why := r.o.Missing(plugin, tools); why != "" {
		return why
	}
	if len(tools) == 1 {
		return council.NotThere(plugin + ":" + tools[0])
	}
	return "The tools " + limit.Listed(tools) + " of " + plugin + " are not there."
}

// loadTime bounds how long a council waits for plugins to load.
const loadTime = 15 * time.Second

// load returns the tools, after waiting for plugins whose tools are assigned to members: a program
// that just started has not listed all of them yet. A plugin that takes too long is left out.
func (r *Runner) load(ctx context.Context, c council.Council) (*tool.Set, error) {
	set := r.o.Tools.Set()
	var plugins []string
	for _, assigned := range c.ToolIDs() {
		plugin, _, ofPlugin := strings.Cut(assigned, ":")
		if _, there := set.ByID(assigned); ofPlugin && !there && !slices.Contains(plugins, plugin) {
			plugins = append(plugins, plugin)
		}
	}
	if len(plugins) == 0 {
		return set, nil
	}
	limited, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	if err := r.o.Load(limited, plugins...); err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return r.o.Tools.Set(), nil
}

// titlesOf returns the titles of the members' tools, by how they are assigned.
func titlesOf(c council.Council, set *tool.Set) map[string]string {
	titles, same := map[string]string{}, map[string]int{} // how many tools have a title
	for _, assigned := range c.ToolIDs() {
		if prompt, ok := builtInOf(assigned); ok {
			titles[assigned] = prompt.Title
		} else if found, ok := set.ByID(assigned); ok {
			titles[assigned] = found.DisplayName()
		}
		same[titles[assigned]]++
	}
	for assigned, title := range titles {
		if plugin, _, ok := strings.Cut(assigned, ":"); ok && same[title] > 1 {
			titles[assigned] = title + " (" + plugin + ")"
		}
	}
	return titles
}

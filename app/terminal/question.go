package terminal

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"conclave/app/base/language"
	"conclave/app/base/textdiff"
	"conclave/app/gate"
	"conclave/app/tool"
	"conclave/app/view"
)

// maxShownTools bounds the tools of a plugin in a question; `conclave plugins show` shows all.
const maxShownTools = 20

// choice is an answer to a question, and its key.
type choice struct {
	key    string
	word   string
	answer gate.Answer
}

var scopeChoices = map[gate.Scope]choice{
	gate.Once:        {"y", "yes, once", gate.Answer{Effect: gate.Allow, Scope: gate.Once}},
	gate.ThisAnswer:  {"r", "for this answer", gate.Answer{Effect: gate.Allow, Scope: gate.ThisAnswer}},
	gate.ThisChat:    {"c", "for this chat", gate.Answer{Effect: gate.Allow, Scope: gate.ThisChat}},
	gate.ThisProject: {"p", "in this project", gate.Answer{Effect: gate.Allow, Scope: gate.ThisProject}},
	gate.UntilQuit:   {"q", "until Conclave quits", gate.Answer{Effect: gate.Allow, Scope: gate.UntilQuit}},
	gate.Always:      {"a", "always", gate.Answer{Effect: gate.Allow, Scope: gate.Always}},
}

// choices returns the keys for a request, narrowest first.
func choices(p gate.Request) []choice {
	if p.Kind != gate.KindCall {
		always := gate.Answer{Effect: gate.Allow, Scope: gate.Always}
		developing := always
		developing.Developing = true
		return []choice{
			{"y", "approve", always},
			{"d", "approve, I am developing it", developing},
			{"n", "not now", gate.Answer{Effect: gate.Deny, Scope: gate.Once}},
		}
	}
	var out []choice
	for _, s := range p.Scopes {
		if ch, ok := scopeChoices[s]; ok {
			out = append(out, ch)
		}
	}
	if len(p.Here) > 0 {
		out = append(out, choice{
			"h", p.HereWords(), gate.Answer{Effect: gate.Allow, Scope: gate.ThisChat, Match: p.Here[:1]},
		})
	}
	if words, ok := p.Trustable(); ok {
		out = append(out, choice{
			"t", "yes, once, and trust " + words + " in this chat",
			gate.Answer{Effect: gate.Allow, Scope: gate.Once, Trust: p.Origins},
		})
	}
	for i, offer := range p.Offers() {
		if p.Project != "" {
			out = append(out, choice{
				"p" + strconv.Itoa(i+1), "in this project, " + p.OfferWords(offer),
				gate.Answer{Effect: gate.Allow, Scope: gate.ThisProject, Match: offer},
			})
		}
		out = append(out, choice{
			strconv.Itoa(i + 1), "always, " + p.OfferWords(offer),
			gate.Answer{Effect: gate.Allow, Scope: gate.Always, Match: offer},
		})
	}
	never := "never for this tool"
	if p.Fixed { // the rule is about that host, folder or command alone
		never = "never allow this"
	}
	return append(out,
		choice{"n", "not now", gate.Answer{Effect: gate.Deny, Scope: gate.Once}},
		choice{"v", never, gate.Answer{Effect: gate.Deny, Scope: gate.Always}})
}

// Question returns what the terminal shows of a request: everything on the window's card,
// without characters that could draw something else.
func Question(q gate.Request) string { return questionIn(language.English, q) }

// questionIn is Question in a language.
func questionIn(l language.Language, q gate.Request) string {
	v := language.ShownIn(l, view.NewPermissionRequest(q, ""))
	f := &facts{reads: l}
	f.WriteString("! " + oneLine(v.Title) + "\n")
	f.plugin(q)
	if v.Name != "" {
		f.line("tool", oneLine(v.Name+" · "+v.PluginName+" ("+v.Tool+")"))
	}
	f.line("can", oneLine(strings.Join(v.Capabilities, ", ")))
	f.rewritten(v.Original)
	if v.Arguments != "" {
		f.line("with", indentJSON(q.Arguments, 11))
	}
	f.preview(v.Preview)
	f.changes(q.Changes)
	f.warnings(q)
	f.line("reach", oneLine(v.Reach))
	f.line("project", plainPath(v.Project))
	f.line("after", oneLine(v.Care))
	f.line("why", oneLine(v.Reason))
	f.line("before", oneLine(v.History))
	if v.Count > 1 {
		f.line("calls", f.said("%d such requests will be answered together.", v.Count))
	}
	if !v.Expires.IsZero() {
		f.line("expires", f.said("Expires at %s.", v.Expires.Local().Format("15:04")))
	}
	return f.String()
}

// facts are the labelled lines of a question.
type facts struct {
	strings.Builder
	reads language.Language
}

// line adds a line, unless text is empty.
func (f *facts) line(label, text string) {
	if text == "" {
		return
	}
	if label != "" {
		label = strings.TrimRight(language.Text(f.reads, label+":"), ":：")
	}
	f.WriteString("  " + padded(label, 8) + " " + text + "\n")
}

// said returns a sentence in the language of the person.
func (f *facts) said(format string, args ...any) string {
	return language.Text(f.reads, fmt.Sprintf(format, args...))
}

// plugin adds the folder, the permissions and the tools of a plugin that waits for approval.
func (f *facts) plugin(q gate.Request) {
	f.line("folder", plainPath(q.Folder))
	f.line("asks for", oneLine(strings.Join(q.Permissions, ", ")))
	for i, t := range q.Tools {
		if i == maxShownTools {
			f.line("", f.said("and %d more", len(q.Tools)-i))
			break
		}
		f.line("tool", oneLine(t.Name)+": "+firstLine(t.Description))
		f.WriteString(indented(indented(restOf(t.Description))))
	}
}

// changes adds the differences from what was approved.
func (f *facts) changes(changes []gate.Change) {
	for _, change := range changes {
		if change.Diff != "" {
			f.line("changed", change.Field+"\n"+strings.TrimSuffix(indented(change.Diff), "\n"))
			continue
		}
		f.line("changed", fmt.Sprintf("%s %s\n    before %s\n    now    %s", change.Tool, change.Field,
			oneLine(change.Before), oneLine(change.After)))
	}
}

// warnings adds the warnings about a request.
func (f *facts) warnings(p gate.Request) {
	for _, warning := range p.Warnings {
		f.line("beware", f.said("%s", oneLine(warning)))
	}
	f.line("hidden", f.said("%s", p.HiddenWords()))
	for _, m := range p.Marks {
		where := ""
		if m.Where != "" {
			where = oneLine(m.Where) + ": "
		}
		f.line("", where+oneLine(m.Text))
	}
	if slices.Contains(p.Capabilities, gate.RunPrograms) {
		f.line("beware", f.said("Runs a program on your computer."))
	}
}

// Answers returns the answers to a request that the terminal offers, each behind the key that
// chooses it.
func Answers(p gate.Request) []string { return answersIn(language.English, p) }

// answersIn is Answers in a language.
func answersIn(l language.Language, p gate.Request) []string {
	var words []string
	for _, o := range choices(p) {
		words = append(words, "["+o.key+"] "+language.Text(l, o.word))
	}
	if editable(p) {
		words = slices.Insert(words, len(words)-2, "[e] "+language.Text(l, "edit before allowing"))
	}
	return words
}

// editable reports whether the person may change the arguments before they allow a request.
func editable(p gate.Request) bool {
	return p.Kind == gate.KindCall && !p.Fixed && len(p.Arguments) > 0
}

// question is a request that the person is asked about.
type question struct {
	gate.Request
	edited json.RawMessage // the person's arguments in place of the request's; nil: none
}

// Ask implements gate.Asker. The end of input means no.
func (p *person) Ask(ctx context.Context, r gate.Request) (gate.Answer, error) {
	if err := p.desk.take(ctx); err != nil {
		return gate.Answer{}, unanswered(err)
	}
	defer p.desk.give(p.Err)
	answer, err := p.ask(ctx, question{Request: r})
	if err != nil {
		return gate.Answer{}, unanswered(err)
	}
	return answer, nil
}

// ask shows the question and reads keys until one of them answers it.
func (p *person) ask(ctx context.Context, q question) (gate.Answer, error) {
	fmt.Fprint(p.Err, "\n"+questionIn(p.reads(), q.Request))
	if _, lasting, ok := q.Lasting(); ok && q.Rapid {
		f := &facts{reads: p.reads()}
		f.line("instead", f.said("you allowed five in a row within a second each; this would end it: %s", oneLine(lasting)))
		fmt.Fprint(p.Err, f.String())
	}
	if err := p.arm(ctx); err != nil {
		return gate.Answer{}, err
	}
	options := choices(q.Request)
	keys := strings.Join(answersIn(p.reads(), q.Request), "  ")
	for {
		fmt.Fprintf(p.Err, "  %s: ", keys)
		line, err := p.line(ctx)
		if err != nil {
			fmt.Fprintln(p.Err)
			return gate.Answer{}, err
		}
		key := strings.ToLower(strings.TrimSpace(line))
		if key == "e" && editable(q.Request) {
			if err := p.editQuestion(ctx, &q); err != nil {
				return gate.Answer{}, err
			}
			continue
		}
		if i := slices.IndexFunc(options, func(o choice) bool { return o.key == key }); i >= 0 {
			return p.complete(ctx, q, options[i].answer)
		}
	}
}

// complete adds to a chosen answer what else the person says: the edited arguments, why they
// refuse, and whether it counts for the whole council.
func (p *person) complete(ctx context.Context, q question, answer gate.Answer) (gate.Answer, error) {
	switch {
	case answer.Effect == gate.Allow:
		answer.Arguments = q.edited
		if answer.Scope == gate.Once || !q.ForCouncil() {
			return answer, nil
		}
		var err error
		answer.Council, err = p.forCouncil(ctx)
		return answer, err
	case answer.Effect == gate.Deny && answer.Scope == gate.Once && q.Kind == gate.KindCall:
		p.prompt("a word to the model about why (or Enter): ")
		if reason, err := p.line(ctx); err == nil {
			answer.Reason = strings.TrimSpace(reason)
		}
	}
	return answer, nil
}

// forCouncil asks whether an answer counts for all members of the council. Anything but yes,
// the end of input too, is a no.
func (p *person) forCouncil(ctx context.Context) (bool, error) {
	p.prompt("also when other members of the council ask?\n")
	line, err := "", p.arm(ctx)
	if err == nil {
		p.prompt("[y] yes, or Enter for no: ")
		line, err = p.line(ctx)
	}
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case err != nil:
		fmt.Fprintln(p.Err)
	}
	return err == nil && strings.EqualFold(strings.TrimSpace(line), "y"), nil
}

// editQuestion has the person edit the arguments of the question, and shows it again.
func (p *person) editQuestion(ctx context.Context, q *question) error {
	changed, err := p.edit(ctx, q.Arguments)
	if err != nil {
		return err
	}
	if changed != nil { // the preview and the warnings were about the old arguments
		q.edited, q.Arguments, q.Preview = changed, changed, nil
		q.Hidden, q.Marks, q.Warnings = 0, nil, nil
	}
	fmt.Fprint(p.Err, "\n"+questionIn(p.reads(), q.Request))
	return p.arm(ctx)
}

// edit reads new arguments for a call, on one line of JSON, and returns them; nil if the
// person keeps the old ones.
func (p *person) edit(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error) {
	var now bytes.Buffer
	if json.Compact(&now, arguments) != nil {
		now.Write(arguments)
	}
	f := &facts{reads: p.reads()}
	f.line("now", oneLine(now.String()))
	fmt.Fprint(p.Err, f.String())
	for {
		p.prompt("the arguments as one line of JSON (or Enter to leave them): ")
		line, err := p.line(ctx)
		if err != nil {
			fmt.Fprintln(p.Err)
			return nil, err
		}
		line = strings.TrimSpace(line)
		var object map[string]json.RawMessage
		switch {
		case line == "":
			return nil, nil
		case json.Unmarshal([]byte(line), &object) == nil && object != nil:
			return json.RawMessage(line), nil
		}
		p.prompt("This is not a JSON object.\n")
	}
}

// shownWidth is the length from which a changed line is shortened to the part that differs.
const shownWidth = 120

// rewritten adds how hooks changed a call.
func (f *facts) rewritten(was *view.Original) {
	if was == nil {
		return
	}
	f.line("asked", oneLine(was.Tool))
	lines := textdiff.Lines(was.Before, was.After)
	if len(lines) > 0 {
		f.line("changed", f.said("- is what was asked for, + is what hooks made of it"))
	}
	f.diff(view.DiffLines(textdiff.Near(lines, shownWidth)))
}

// preview adds what a call would change or send.
func (f *facts) preview(p *view.Preview) {
	if p == nil {
		return
	}
	f.line("preview", oneLine(p.Words))
	f.diff(p.Lines)
	if p.Left > 0 {
		f.line("", f.said("and %d lines more", p.Left))
	}
}

// diff adds lines of a comparison.
func (f *facts) diff(lines []view.DiffLine) {
	marks := map[textdiff.Kind]string{textdiff.Removed: "- ", textdiff.Added: "+ ", textdiff.Same: "  "}
	for _, l := range lines {
		if l.Kind == textdiff.Gap {
			f.line("", "…")
			continue
		}
		f.line("", marks[l.Kind]+tool.ShowLine(l.Text))
	}
}

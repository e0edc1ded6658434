package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"conclave/app/fault"
	"conclave/app/limit"
	"conclave/app/permit"
	"conclave/app/textdiff"
	"conclave/app/tool"
)

// lines reads lines from a stream that cannot be interrupted, on a goroutine of
// its own that ends with the stream (a terminal's: with the program). A line
// that nobody waits for is kept for who asks next.
type lines struct {
	next chan lineRead // closed at the end of the stream
	err  error         // why it ended before; may be read once next is closed
}

// lineRead is one line; behind says that it came at once with the one before, as what is typed
// does not.
type lineRead struct {
	text   string
	behind bool
}

func readLines(in io.Reader) *lines {
	l := &lines{next: make(chan lineRead)}
	go func() {
		defer close(l.next)
		r := bufio.NewReader(in)
		var line []byte
		behind := false
		for {
			if len(line) == 0 {
				behind = r.Buffered() > 0
			}
			part, err := r.ReadSlice('\n')
			if line = append(line, part...); len(line) > limit.MessageText.Int() {
				l.err = tooLong()
				return
			}
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if len(line) > 0 {
				l.next <- lineRead{strings.TrimRight(string(line), "\r\n"), behind}
			}
			if line = line[:0]; err != nil {
				return
			}
		}
	}()
	return l
}

// tooLong is the error of a message that is longer than is taken.
func tooLong() error {
	message, hint := limit.MessageText.Person, sendPart
	return fault.New(fault.Invalid, "cli.message", strings.TrimSuffix(message, " "+hint), hint)
}

// line returns the next line; io.EOF at the end, the error of one that is too long, or ctx's cause.
func (c *command) line(ctx context.Context) (string, error) {
	line, _, err := c.lineOf(ctx)
	return line, err
}

// lineOf is line, and reports whether it came at once with the one before.
func (c *command) lineOf(ctx context.Context) (line string, behind bool, err error) {
	if c.lines == nil {
		c.lines = readLines(c.In)
	}
	select {
	case next, ok := <-c.lines.next:
		switch {
		case !ok && c.lines.err != nil:
			return "", false, c.lines.err
		case !ok:
			return "", false, io.EOF
		}
		return next.text, next.behind, nil
	case <-ctx.Done():
		return "", false, context.Cause(ctx)
	}
}

// answerDelay is how long a question stands before it takes an answer: what was typed
// before it could be read is none.
const answerDelay = 600 * time.Millisecond

// arm lets a question stand until nothing was typed for a moment, and throws away what was typed
// before and meanwhile. io.EOF at the end of the input, or ctx's cause.
func (c *command) arm(ctx context.Context) error {
	if c.lines == nil {
		c.lines = readLines(c.In)
	}
	if c.Flush != nil {
		c.Flush()
	}
	stands := time.NewTimer(answerDelay)
	defer stands.Stop()
	dropped := false
	for {
		select {
		case _, ok := <-c.lines.next:
			if !ok {
				return io.EOF
			}
			dropped = true
			stands.Reset(answerDelay)
		case <-stands.C:
			if c.Flush != nil {
				c.Flush()
			}
			if dropped {
				fmt.Fprintln(c.Err, "  (what was typed before this question is not taken for its answer)")
			}
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// confirm asks a question that is answered with yes or no. The end of input means
// no.
func (c *command) confirm(ctx context.Context, question string) (bool, error) {
	if err := c.desk.take(ctx); err != nil {
		return false, unanswered(err)
	}
	defer c.desk.give(c.Err)
	if err := c.arm(ctx); err != nil {
		return false, unanswered(err)
	}
	for {
		fmt.Fprintf(c.Err, "%s [y] yes  [n] no: ", question)
		line, err := c.line(ctx)
		if err != nil {
			fmt.Fprintln(c.Err)
			return false, unanswered(err)
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		}
	}
}

func unanswered(err error) error {
	return fault.Wrap(fault.NotAllowed, "cli.ask", "Nobody answered, so it was not allowed.", "", err)
}

// maxShownTools bounds the tools of a plugin that a question shows;
// `conclave plugins show` shows all.
const maxShownTools = 20

// asker returns who answers where the window would ask: mode is the value of
// --approve, or "" for ask on a terminal and never elsewhere.
func (c *command) asker(mode string) (permit.Asker, error) {
	if mode == "" {
		mode = "never"
		if c.Terminal {
			mode = "ask"
		}
	}
	switch mode {
	case "always":
		return permit.AlwaysAsker{}, nil
	case "never":
		return permit.NeverAsker{}, nil
	case "ask":
		if !c.Terminal {
			return permit.NeverAsker{}, nil // nobody can be asked
		}
		return &terminalAsker{c}, nil
	}
	return nil, usageError("--approve is ask, always or never, not %q", mode)
}

// terminalAsker asks the person at the terminal. Of several that are asked at once, each
// waits until the one before is answered, and is asked only where that answer does not count for
// it too.
type terminalAsker struct{ c *command }

// choice is one key of the question.
type choice struct {
	key    string
	word   string
	answer permit.Answer
}

var scopeChoices = map[permit.Scope]choice{
	permit.Once:        {"y", "yes, once", permit.Answer{Effect: permit.Allow, Scope: permit.Once}},
	permit.ThisAnswer:  {"r", "for this answer", permit.Answer{Effect: permit.Allow, Scope: permit.ThisAnswer}},
	permit.ThisChat:    {"c", "for this chat", permit.Answer{Effect: permit.Allow, Scope: permit.ThisChat}},
	permit.ThisProject: {"p", "in this project", permit.Answer{Effect: permit.Allow, Scope: permit.ThisProject}},
	permit.UntilQuit:   {"q", "until Conclave quits", permit.Answer{Effect: permit.Allow, Scope: permit.UntilQuit}},
	permit.Always:      {"a", "always", permit.Answer{Effect: permit.Allow, Scope: permit.Always}},
}

// choices returns the keys for a request, narrowest first.
func choices(p permit.Request) []choice {
	if p.Kind != "call" {
		return []choice{
			{"y", "approve", permit.Answer{Effect: permit.Allow, Scope: permit.Always}},
			{"d", "approve, I am developing it", permit.Answer{Effect: permit.Allow, Scope: permit.Always, Developing: true}},
			{"n", "not now", permit.Answer{Effect: permit.Deny, Scope: permit.Once}},
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
			"h", p.HereWords(), permit.Answer{Effect: permit.Allow, Scope: permit.ThisChat, Match: p.Here[:1]},
		})
	}
	if words, ok := p.Vouchable(); ok {
		out = append(out, choice{
			"t", "yes, once, and trust " + words + " in this chat",
			permit.Answer{Effect: permit.Allow, Scope: permit.Once, Vouch: p.Origins},
		})
	}
	for i, offer := range p.Offers() {
		if p.Project != "" {
			out = append(out, choice{
				"p" + strconv.Itoa(i+1), "in this project, " + p.OfferWords(offer),
				permit.Answer{Effect: permit.Allow, Scope: permit.ThisProject, Match: offer},
			})
		}
		out = append(out, choice{
			strconv.Itoa(i + 1), "always, " + p.OfferWords(offer),
			permit.Answer{Effect: permit.Allow, Scope: permit.Always, Match: offer},
		})
	}
	never := "never for this tool"
	if p.Fixed { // the rule is about that host, folder or command alone
		never = "never allow this"
	}
	return append(out,
		choice{"n", "not now", permit.Answer{Effect: permit.Deny, Scope: permit.Once}},
		choice{"v", never, permit.Answer{Effect: permit.Deny, Scope: permit.Always}})
}

// Question returns what the terminal shows of a request: all that the window's card says,
// cleaned of what could draw something else.
func Question(p permit.Request) string {
	var b strings.Builder
	line := func(label, text string) {
		if text != "" {
			fmt.Fprintf(&b, "  %-8s %s\n", label, text)
		}
	}
	title := p.Title
	if p.Doing != "" {
		title = permit.CallerName(p.Caller, p.CallerName) + " wants to " + p.Doing
	}
	b.WriteString("! " + oneLine(title) + "\n")
	if p.Folder != "" {
		line("folder", plainPath(p.Folder))
	}
	line("asks for", oneLine(strings.Join(p.Permissions, ", ")))
	for i, t := range p.Tools {
		if i == maxShownTools {
			line("", fmt.Sprintf("and %d more", len(p.Tools)-i))
			break
		}
		line("tool", oneLine(t.Name)+": "+firstLine(t.Description))
		b.WriteString(indented(indented(restOf(t.Description))))
	}
	if p.Name != "" {
		line("tool", oneLine(p.Name+" · "+p.PluginName+" ("+p.Tool+")"))
	}
	line("can", oneLine(strings.Join(p.Inferred.Labels(p.Capabilities), ", ")))
	b.WriteString(rewritten(p))
	if len(p.Arguments) > 0 && string(p.Arguments) != "null" {
		line("with", indentJSON(p.Arguments, 11))
	}
	b.WriteString(preview(p.Preview))
	for _, change := range p.Changes {
		if change.Diff != "" {
			line("changed", change.Field+"\n"+strings.TrimSuffix(indented(change.Diff), "\n"))
			continue
		}
		line("changed", fmt.Sprintf("%s %s\n    before %s\n    now    %s", change.Tool, change.Field,
			oneLine(change.Before), oneLine(change.After)))
	}
	for _, warning := range p.Warnings {
		line("beware", oneLine(warning))
	}
	line("hidden", p.HiddenWords())
	for _, m := range p.Marks {
		where := ""
		if m.Where != "" {
			where = oneLine(m.Where) + ": "
		}
		line("", where+oneLine(m.Text))
	}
	if slices.Contains(p.Capabilities, permit.RunPrograms) {
		line("beware", "Runs a program on your computer.")
	}
	line("reach", oneLine(p.Reach))
	line("project", plainPath(p.Project))
	line("after", oneLine(p.Care))
	line("why", oneLine(p.Reason))
	line("before", oneLine(p.History))
	if p.Count > 1 {
		line("calls", fmt.Sprintf("%d such requests will be answered together.", p.Count))
	}
	if !p.Expires.IsZero() {
		line("until", "Not run unless you answer by "+p.Expires.Local().Format("15:04")+".")
	}
	return b.String()
}

// Answers returns the answers that the terminal offers to a request, in words.
func Answers(p permit.Request) []string {
	var words []string
	for _, o := range choices(p) {
		words = append(words, o.word)
	}
	if p.ForCouncil() {
		words = append(words, alsoCouncil)
	}
	return words
}

// Turn implements permit.Line.
func (a *terminalAsker) Turn(ctx context.Context) (end func(), err error) {
	if err := a.c.turns.take(ctx); err != nil {
		return nil, err
	}
	return func() { a.c.turns.give(a.c.Err) }, nil
}

// Ask implements permit.Asker. The end of input means no.
func (a *terminalAsker) Ask(ctx context.Context, p permit.Request) (permit.Answer, error) {
	if err := a.c.desk.take(ctx); err != nil {
		return permit.Answer{}, unanswered(err)
	}
	defer a.c.desk.give(a.c.Err)
	w := a.c.Err
	fmt.Fprint(w, "\n"+Question(p))
	options := choices(p)
	if _, lasting, ok := p.Lasting(); ok && p.Hurried {
		fmt.Fprintf(w, "  instead  you allowed five in a row within a second each; this would end it: %s\n", oneLine(lasting))
	}
	var words []string
	for _, o := range options {
		words = append(words, "["+o.key+"] "+o.word)
	}
	editable := p.Kind == permit.KindCall && !p.Fixed && len(p.Arguments) > 0
	if editable {
		words = slices.Insert(words, len(words)-2, "[e] edit before allowing")
	}
	if err := a.c.arm(ctx); err != nil {
		return permit.Answer{}, unanswered(err)
	}
	var edited json.RawMessage
	for {
		fmt.Fprintf(w, "  %s: ", strings.Join(words, "  "))
		line, err := a.c.line(ctx)
		if err != nil {
			fmt.Fprintln(w)
			return permit.Answer{}, unanswered(err)
		}
		key := strings.ToLower(strings.TrimSpace(line))
		if key == "e" && editable {
			changed, err := a.edit(ctx, p.Arguments)
			if err != nil {
				return permit.Answer{}, unanswered(err)
			}
			if changed != nil { // of an edited call nothing is known
				edited, p.Arguments, p.Preview = changed, changed, nil
				p.Hidden, p.Marks, p.Warnings = 0, nil, nil
			}
			fmt.Fprint(w, "\n"+Question(p))
			if err := a.c.arm(ctx); err != nil {
				return permit.Answer{}, unanswered(err)
			}
			continue
		}
		if i := slices.IndexFunc(options, func(o choice) bool { return o.key == key }); i >= 0 {
			answer := options[i].answer
			if answer.Effect == permit.Allow {
				answer.Arguments = edited
			}
			if answer.Effect == permit.Deny && answer.Scope == permit.Once && p.Kind == "call" {
				fmt.Fprint(w, "  a word to the model about why (or Enter): ")
				if reason, err := a.c.line(ctx); err == nil {
					answer.Reason = strings.TrimSpace(reason)
				}
			}
			if answer.Effect == permit.Allow && answer.Scope != permit.Once && p.ForCouncil() {
				if answer.Council, err = a.forCouncil(ctx); err != nil {
					return permit.Answer{}, unanswered(err)
				}
			}
			return answer, nil
		}
	}
}

// forCouncil asks whether an answer is for all members of the council. What is no yes is a no,
// the end of input too.
func (a *terminalAsker) forCouncil(ctx context.Context) (bool, error) {
	fmt.Fprintln(a.c.Err, "  "+alsoCouncil+"?")
	line, err := "", a.c.arm(ctx)
	if err == nil {
		fmt.Fprint(a.c.Err, "  [y] yes, or Enter for no: ")
		line, err = a.c.line(ctx)
	}
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case err != nil:
		fmt.Fprintln(a.c.Err)
	}
	return err == nil && strings.EqualFold(strings.TrimSpace(line), "y"), nil
}

// alsoCouncil says what the answer to a member's request may be for, too.
const alsoCouncil = "also when other members of the council ask"

// edit has the person write a call's arguments anew, on one line, and returns them; nil if they
// leave them.
func (a *terminalAsker) edit(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error) {
	w := a.c.Err
	var now bytes.Buffer
	if json.Compact(&now, arguments) != nil {
		now.Write(arguments)
	}
	fmt.Fprintf(w, "  now      %s\n", oneLine(now.String()))
	for {
		fmt.Fprint(w, "  the arguments as one line of JSON (or Enter to leave them): ")
		line, err := a.c.line(ctx)
		if err != nil {
			fmt.Fprintln(w)
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
		fmt.Fprintln(w, "  This is not a JSON object.")
	}
}

// shownWidth is from where on a line that hooks changed is shortened to what differs.
const shownWidth = 120

// rewritten shows, for the question about a call, what hooks made of it.
func rewritten(p permit.Request) string {
	was := p.Original
	if was == nil {
		return ""
	}
	var b strings.Builder
	if was.Tool != "" {
		fmt.Fprintf(&b, "  asked    %s\n", oneLine(was.Tool))
	}
	lines := textdiff.Lines(tool.Comparable(was.Arguments), tool.Comparable(p.Arguments))
	if len(lines) > 0 {
		b.WriteString("  changed  - is what was asked for, + is what hooks made of it\n")
	}
	writeLines(&b, textdiff.Near(lines, shownWidth))
	return b.String()
}

// preview shows, for the question about a call, what it would change or send.
func preview(p *permit.Preview) string {
	if p == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "  %-8s %s\n", "preview", oneLine(p.Words))
	writeLines(&b, p.Lines)
	if p.Left > 0 {
		fmt.Fprintf(&b, "           and %d lines more\n", p.Left)
	}
	return b.String()
}

// writeLines writes lines of a comparison as a question has them.
func writeLines(b *strings.Builder, lines []textdiff.Line) {
	signs := map[textdiff.Kind]string{textdiff.Removed: "- ", textdiff.Added: "+ ", textdiff.Same: "  "}
	for _, l := range lines {
		if l.Kind == textdiff.Gap {
			b.WriteString("           …\n")
			continue
		}
		b.WriteString("           " + signs[l.Kind] + tool.ShowLine(l.Text) + "\n")
	}
}

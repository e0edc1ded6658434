package demo

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"conclave/app/base/language"
	"conclave/app/chat"
	"conclave/app/model"
)

var (
	//go:embed text/hello.md
	helloText string
	//go:embed text/connect.md
	connectText string
	//go:embed text/plugin.md
	pluginText string
	//go:embed text/markdown.md
	markdownText string

	//go:embed text/hello.zh.md
	helloChinese string
	//go:embed text/connect.zh.md
	connectChinese string
	//go:embed text/plugin.zh.md
	pluginChinese string
)

func itoa(n int) string { return strconv.Itoa(n) }

// script decides what to do by the newest message: results are shown, commands are obeyed,
// suggestions of the first screen have their answers, and anything else gets a greeting that
// lists what the guide understands.
func script(r model.Request, l language.Language) performance {
	if results := lastResults(r.Messages); len(results) > 0 {
		return performance{say(showResults(results, l))}
	}
	text := lastQuestion(r.Messages)
	if p, ok := command(text, r.Tools, r.NoCalls, l); ok {
		return numbered(p.in(l), r)
	}
	if p, ok := suggestion(text, r.Tools, r.NoCalls, l); ok {
		return numbered(p.in(l), r)
	}
	return performance{say(hello(r.Tools, l))}
}

// in puts what is said, but for what is there for its length, into a language. What the language
// lacks, as the longer texts that are there in both, stays.
func (p performance) in(l language.Language) performance {
	for i, a := range p {
		if a.pace != 0 || a.kind == model.Call {
			continue
		}
		lines := strings.Split(a.text, "\n")
		for j, line := range lines {
			lines[j] = language.Text(l, line)
		}
		p[i].text = strings.Join(lines, "\n")
	}
	return p
}

// either returns the text of a language.
func either(l language.Language, english, chinese string) string {
	if l == language.Chinese {
		return chinese
	}
	return english
}

// formatted writes values into a format of a language.
func formatted(l language.Language, format string, values ...any) string {
	return fmt.Sprintf(language.Text(l, format), values...)
}

// lastResults are the results at the end of the history.
func lastResults(messages []model.Message) []*chat.ToolResult {
	if len(messages) == 0 || messages[len(messages)-1].Role != chat.RoleTool {
		return nil
	}
	var results []*chat.ToolResult
	for _, p := range messages[len(messages)-1].Parts {
		if p.Result != nil {
			results = append(results, p.Result)
		}
	}
	return results
}

func lastQuestion(messages []model.Message) string {
	for _, m := range slices.Backward(messages) {
		if m.Role == chat.RoleUser {
			return chat.TextOf(slices.DeleteFunc(slices.Clone(m.Parts), isReminder))
		}
	}
	return ""
}

// isReminder reports whether a part is Conclave's own note to the model, or its council's.
func isReminder(p chat.Part) bool {
	return p.Kind == chat.PartText &&
		(strings.HasPrefix(p.Text, "<system-reminder>") || strings.HasPrefix(p.Text, "[System note]\n"))
}

// maxShown is the length up to which a result is repeated: all of it is on its card.
const maxShown = 4000

func showResults(results []*chat.ToolResult, l language.Language) string {
	var b strings.Builder
	if len(results) > 1 {
		b.WriteString(formatted(l, "%s tools answered.", itoa(len(results))) + "\n\n")
	}
	for _, r := range results {
		b.WriteString(showResult(r, l))
		b.WriteString("\n\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func showResult(r *chat.ToolResult, l language.Language) string {
	text := strings.TrimSpace(r.Text())
	pictures := 0
	for _, p := range r.Content {
		if p.Kind == chat.PartMedia {
			pictures++
		}
	}
	says := formatted(l, "`%s` says:", r.Tool)
	if r.IsError {
		says = formatted(l, "`%s` could not do it:", r.Tool)
	}
	after := ""
	if pictures > 0 {
		after = " " + language.Text(l, "It also gave "+plural(pictures, "file", "files")+", on its card.")
	}
	switch {
	case text == "" && pictures > 0:
		return language.Text(l, "`"+r.Tool+"` gave "+plural(pictures, "file", "files")+", on its card.")
	case text == "":
		return formatted(l, "`%s` is done. It had nothing to say.", r.Tool)
	case len(text) <= 200 && !strings.ContainsAny(text, "\n`") && !json.Valid([]byte(text)):
		return says + " " + escape(text) + after
	case len(text) <= 40 && !strings.ContainsAny(text, "\n`{["):
		return says + " **" + escape(text) + "**" + after
	}
	of := ""
	if json.Valid([]byte(text)) {
		of = "json"
	}
	if len(text) > maxShown {
		text = strings.ToValidUTF8(text[:maxShown], "") + "\n… " + formatted(l, "the rest is on the tool's card")
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fmt.Sprintf("%s%s\n\n%s%s\n%s\n%s", says, after, fence, of, text, fence)
}

// escape keeps a result's text from being read as Markdown.
func escape(text string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "[", `\[`, "<", `\<`, "#", `\#`, "|", `\|`).
		Replace(text)
}

// suggestion answers what the first screen and the greeting suggest.
func suggestion(text string, tools []model.ToolDefinition, noCalls bool, l language.Language) (performance, bool) {
	text = strings.ToLower(text)
	has := func(words ...string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
	}
	switch {
	case len(text) > 80: // a message, not a suggestion
		return nil, false
	case has("show", "permission"), has("演示", "权限"):
		return permission(tools, noCalls), true
	case has("make", "plugin"), has("制作", "插件"):
		return performance{say(either(l, pluginText, pluginChinese))}, true
	case has("connect", "model"), has("连接", "模型"):
		return performance{say(either(l, connectText, connectChinese))}, true
	case has("show", "markdown"), has("sample answer"), has("answer", "look like"), has("演示", "markdown"):
		return performance{say(markdownText)}, true
	case has("run", "council"), has("运行", "顾问团"):
		return performance{
			say(
				"A council has several models answer one question by themselves, look at each other's answers without " +
					"names, and perhaps vote, before yours answers.\n\nPress **Run a sample council** in the **Council** tab. " +
					"I play its three members and its chair, and say so; the tools they call are real.\n",
			),
		}, true
	}
	return nil, false
}

// permission calls a tool that does no harm, so that the card is met safely.
func permission(tools []model.ToolDefinition, noCalls bool) performance {
	t, arguments, ok := harmless(tools)
	if !ok || noCalls {
		return performance{
			say("To show you a permission request I need a tool to ask for, and there is none switched on in this " +
				"chat.\n\nSwitch one on in the **Tools** tab, or say “Make a plugin” to write one, then ask me again.\n"),
		}
	}
	return performance{
		say(fmt.Sprintf("I will ask for `%s`, which does no harm. Conclave shows you exactly what would run, "+
			"and nothing runs before you allow it. Refuse it if you like: I am told so, and nothing else happens.\n", t.Name)),
		ask(t.Name, arguments, ""),
	}
}

// hello greets, and lists what the guide understands and the tools that it can call.
func hello(tools []model.ToolDefinition, l language.Language) string {
	command := `/tool NAME {"argument": "value"}`
	list := language.Text(l,
		"No tool is switched on in this chat. Switch one on in the **Tools** tab, or say “Make a plugin”.")
	if len(tools) > 0 {
		var names []string
		for _, t := range tools[:min(12, len(tools))] {
			names = append(names, "`"+t.Name+"`")
		}
		if more := len(tools) - len(names); more > 0 {
			names = append(names, formatted(l, "and %d more", more))
		}
		list = formatted(l, "Tools in this chat: %s.", strings.Join(names, either(l, ", ", "、")))
		if t, arguments, ok := harmless(tools); ok {
			command = "/tool " + t.Name + " " + string(arguments)
		}
	}
	return strings.NewReplacer("{command}", command, "{tools}", list).Replace(either(l, helloText, helloChinese))
}

// paragraphs makes a long text that is the same each time.
func paragraphs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Paragraph %d of %d. ", i+1, n)
		for j := range 4 {
			b.WriteString(fillers[(i*3+j)%len(fillers)])
			b.WriteByte(' ')
		}
		switch i % 5 {
		case 2:
			fmt.Fprintf(&b, "\n\n- point %d\n- point %d", 2*i+1, 2*i+2)
		case 4:
			fmt.Fprintf(&b, "\n\n```python\nfor step in range(%d):\n    print(step)\n```", i+1)
		}
		b.WriteString("\n\n")
	}
	return b.String()
}

var fillers = []string{
	"A long answer should cost no more for each word than a short one.",
	"You can stop me at any time, and what I have said stays.",
	"Scroll up while I talk: the page holds still.",
	"The **last** word of a paragraph is followed by an empty line.",
	"Nothing of this is true or false; it is only long.",
	"Text arrives in small pieces, and finished blocks are never drawn again.",
	"An answer that breaks off is kept as far as it came.",
}

// failKinds are the words of /fail.
var failKinds = []model.ErrorKind{
	model.KeyRefused,
	model.KeyMissing,
	model.RateLimited,
	model.QuotaUsedUp,
	model.Overloaded,
	model.ContextTooLong,
	model.ModelUnknown,
	model.NoTools,
	model.BadRequest,
	model.Unreachable,
	model.TimedOut,
	model.StreamCut,
	model.Malformed,
	model.Filtered,
	model.WrongAddress,
}

// failure performs an error of a kind, so that each can be seen. A stream that is
// cut says something first.
func failure(kind, wait string) performance {
	known := model.ErrorKind(kind)
	if !slices.Contains(failKinds, known) {
		var names []string
		for _, k := range failKinds {
			names = append(names, "`"+string(k)+"`")
		}
		return performance{say("I can fail as: " + strings.Join(names, ", ") + ".\n")}
	}
	e := &model.Error{Kind: known, Provider: Name, Model: Guide, Detail: "asked for with /fail"}
	if d, err := time.ParseDuration(wait); err == nil {
		e.RetryAfter = d
	}
	if known == model.StreamCut {
		return performance{say("This answer ends in the middle of a "), {fail: e}}
	}
	return performance{{fail: e}}
}

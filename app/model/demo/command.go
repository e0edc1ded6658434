package demo

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"conclave/app/model"
)

// command obeys a message that begins with a slash:
//
//	/tool NAME {json}   call a tool; several lines call several at once
//	/stream N           say N paragraphs; /slow N the same at 20 pieces a second
//	/think TEXT         think aloud, then answer
//	/fail KIND [WAIT]   fail as model.ErrorKind KIND, telling to wait that long
//	/help
func command(text string, tools []toolShape, noCalls bool) (performance, bool) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "/") {
		return nil, false
	}
	word, rest, _ := strings.Cut(text, " ")
	first, _, _ := strings.Cut(rest, "\n")
	fields := append(strings.Fields(first), "", "")
	switch word {
	case "/tool":
		if noCalls {
			return performance{say("I was told not to call tools for this answer, so `/tool` has to wait.\n")}, true
		}
		return toolLines(text, tools), true
	case "/stream":
		return performance{{kind: model.Text, text: paragraphs(count(fields[0])), pace: unpaced}}, true
	case "/slow":
		return performance{{kind: model.Text, text: paragraphs(count(fields[0])), pace: slowPace}}, true
	case "/think":
		about := strings.TrimSpace(rest)
		if about == "" {
			about = "nothing in particular"
		}
		return performance{
			{
				kind: model.Reasoning,
				text: "The person wants me to think about " + about + ". I am a script, so this is all the thinking there is.\n",
			},
			say("I have thought about " + escape(about) + ", and found that I am a script.\n"),
		}, true
	case "/fail":
		return failure(fields[0], fields[1]), true
	case "/help":
		return performance{say(hello(tools))}, true
	}
	return nil, false
}

// count reads how many paragraphs are wanted; more than 10,000 (about 4 MB) is
// nobody's wish.
func count(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 5
	}
	return min(n, 10_000)
}

// toolLines reads the calls of a message. The JSON of a call may go over several
// lines; text that is no JSON goes to the arguments as a sentence would, and text
// that begins like JSON and is none is passed on as it is, so that this failure
// can be seen too.
func toolLines(text string, tools []toolShape) performance {
	var p performance
	for text != "" {
		rest, ok := strings.CutPrefix(text, "/tool")
		if !ok {
			_, text, _ = strings.Cut(text, "\n") // a line between two calls
			text = strings.TrimSpace(text)
			continue
		}
		rest = strings.TrimLeft(rest, " \t")
		end := strings.IndexAny(rest, " \t\n{")
		if end < 0 {
			end = len(rest)
		}
		name := rest[:end]
		rest = strings.TrimLeft(rest[end:], " \t")
		var step act
		step, text = toolLine(name, rest, tools)
		p = append(p, step)
		text = strings.TrimSpace(text)
	}
	if len(tools) == 0 {
		return performance{
			say("No tool is switched on in this chat, so there is nothing for `/tool` to call. " +
				"Switch one on in the **Tools** tab.\n"),
		}
	}
	return p
}

func toolLine(name, rest string, tools []toolShape) (step act, after string) {
	t, known := findTool(name, tools)
	if known {
		name = t.Name
	}
	if name == "" {
		_, after, _ = strings.Cut(rest, "\n")
		return say("`/tool` wants the name of a tool: `/tool NAME {\"argument\": \"value\"}`.\n"), after
	}
	if strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, "[") {
		decoder := json.NewDecoder(strings.NewReader(rest))
		var value json.RawMessage
		if err := decoder.Decode(&value); err == nil {
			arguments, raw := model.Arguments(string(value))
			return ask(name, arguments, raw), rest[decoder.InputOffset():]
		}
		next := strings.Index(rest, "\n/tool")
		if next < 0 {
			next = len(rest)
		}
		return ask(name, nil, strings.TrimSpace(rest[:next])), rest[next:]
	}
	line, after, _ := strings.Cut(rest, "\n")
	if line = strings.TrimSpace(line); line == "" || !known {
		return ask(name, nil, line), after
	}
	arguments, missing := t.arguments(newSentence(line), true)
	if len(missing) > 0 {
		return say(fmt.Sprintf("`%s` needs %s as well.\n", name, t.needs(missing))), after
	}
	return ask(name, arguments, ""), after
}

// findTool finds a tool by its wire name, its bare name, or plugin:name.
func findTool(name string, tools []toolShape) (toolShape, bool) {
	bare := name
	if _, after, ok := strings.Cut(name, ":"); ok {
		bare = after
	}
	for _, t := range tools {
		if t.Name == name {
			return t, true
		}
	}
	for _, t := range tools {
		if t.Name == bare || strings.HasSuffix(t.Name, "__"+bare) {
			return t, true
		}
	}
	return toolShape{}, false
}

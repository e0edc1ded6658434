package demo

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"conclave/app/base/language"
	"conclave/app/model"
)

// command obeys a message that begins with a slash:
//
//	/tool NAME {json}   call a tool; several lines call several at once
//	/stream N           say N paragraphs; /slow N the same at 20 pieces a second
//	/think TEXT         think aloud, then answer
//	/fail KIND [WAIT]   fail as model.ErrorKind KIND, telling to wait that long
//	/help
func command(text string, tools []model.ToolDefinition, noCalls bool, l language.Language) (performance, bool) {
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
		return performance{say(hello(tools, l))}, true
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

// toolLines reads the calls of a message. The JSON of a call may go over several lines. Text
// that is no JSON is passed on as it is, so that this failure can be seen too.
func toolLines(text string, tools []model.ToolDefinition) performance {
	if len(tools) == 0 {
		return performance{
			say("No tool is switched on in this chat, so there is nothing for `/tool` to call. " +
				"Switch one on in the **Tools** tab.\n"),
		}
	}
	var p performance
	for _, line := range strings.Split("\n"+text, "\n/tool")[1:] {
		line = strings.TrimSpace(line)
		end := strings.IndexAny(line+" ", " \t\n{[")
		name, rest := line[:end], strings.TrimSpace(line[end:])
		var value json.RawMessage
		if strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, "[") {
			decoder := json.NewDecoder(strings.NewReader(rest))
			if decoder.Decode(&value) == nil {
				rest = string(value) // and no line between two calls
			}
		}
		if name == "" {
			p = append(p, say("`/tool` wants the name of a tool: `/tool NAME {\"argument\": \"value\"}`.\n"))
			continue
		}
		if t, known := findTool(name, tools); known {
			name = t.Name
		}
		arguments, raw := model.Arguments(rest)
		p = append(p, ask(name, arguments, raw))
	}
	return p
}

// findTool finds a tool by its wire name, its bare name, or plugin:name.
func findTool(name string, tools []model.ToolDefinition) (model.ToolDefinition, bool) {
	_, bare, found := strings.Cut(name, ":")
	if !found {
		bare = name
	}
	for _, same := range []func(string) bool{
		func(wire string) bool { return wire == name },
		func(wire string) bool { return wire == bare || strings.HasSuffix(wire, "__"+bare) },
	} {
		if i := slices.IndexFunc(tools, func(t model.ToolDefinition) bool { return same(t.Name) }); i >= 0 {
			return tools[i], true
		}
	}
	return model.ToolDefinition{}, false
}

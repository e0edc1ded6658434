package demo_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/base/language"
	"conclave/app/chat"
	"conclave/app/model"
	"conclave/app/model/demo"
	"conclave/app/model/modeltest"
)

// desk are tools like those that ship with Conclave.
func desk() []model.ToolDefinition {
	tool := func(name, description, parameters string) model.ToolDefinition {
		return model.ToolDefinition{Name: name, Description: description, Parameters: json.RawMessage(parameters)}
	}
	return []model.ToolDefinition{
		tool("text_statistics", "Count the words, sentences, lines and characters of a text, and estimate its reading time.",
			`{"type":"object","properties":{"text":{"type":"string","description":"The text to count."}},"required":["text"]}`),
		tool("convert_units", "Convert a quantity from one unit to another.",
			`{"type":"object","properties":{"value":{"type":"number","description":"The number to convert."},"from_unit":{"type":"string"},"to_unit":{"type":"string","description":"The unit wanted, of the same kind."}},"required":["value","from_unit","to_unit"]}`),
		tool("desk__save_note", "Keep a note. Notes stay in this plugin's own storage and nowhere else.",
			`{"type":"object","properties":{"title":{"type":"string","description":"What the note is found under."},"text":{"type":"string","description":"What it says."},"mode":{"enum":["replace","append"],"type":"string","default":"replace"}},"required":["title","text"]}`),
		tool("list_notes", "List the titles of the notes that were kept.", `{"type":"object","properties":{}}`),
		tool("roll_dice", "Roll dice and return each die and the total.",
			`{"type":"object","properties":{"notation":{"type":"string","description":"What to roll, as in 2d6+1.","pattern":"^\\s*\\d*\\s*[dD]\\s*\\d+\\s*([+-]\\s*\\d+)?\\s*$"}},"required":["notation"]}`),
		tool("days_between", "Count the days, weeks and weekdays from one calendar date to another.",
			`{"type":"object","properties":{"from":{"type":"string","format":"date"},"to":{"type":"string","format":"date"}},"required":["from","to"]}`),
		tool("add_to_date", "Add days, weeks, months or years to a calendar date.",
			`{"type":"object","properties":{"date":{"type":"string","format":"date"},"amount":{"type":"integer"},"unit":{"type":"string","enum":["days","weeks","months","years"]}},"required":["date","amount","unit"]}`),
		tool("mean", "Average numbers.",
			`{"type":"object","properties":{"numbers":{"type":"array","items":{"type":"number"}},"exact":{"type":"boolean"}},"required":["numbers","exact"]}`),
	}
}

func text(role chat.Role, s string) model.Message {
	return model.Message{Role: role, Parts: []chat.Part{{Kind: chat.PartText, Text: s}}}
}

func ask(t *testing.T, tools []model.ToolDefinition, messages ...model.Message) modeltest.Heard {
	t.Helper()
	return modeltest.Hear(demo.New(demo.Options{}).Open(demo.Guide).Stream(t.Context(),
		model.Request{Messages: messages, Tools: tools}))
}

func calls(h modeltest.Heard) string {
	var list []string
	for _, c := range h.Calls {
		s := c.Tool + " " + string(c.Arguments)
		if c.Raw != "" {
			s += " raw " + c.Raw
		}
		list = append(list, s)
	}
	return strings.Join(list, "; ")
}

func TestSlashToolCallsTheNamedTool(t *testing.T) {
	for message, want := range map[string]string{
		`/tool text_statistics {"text":"a b c"}`:        `text_statistics {"text":"a b c"}`,
		`/tool save_note {"title":"x","text":"y"}`:      `desk__save_note {"title":"x","text":"y"}`,
		`/tool desk:save_note {"title":"x","text":"y"}`: `desk__save_note {"title":"x","text":"y"}`,
		`/tool list_notes`:                              `list_notes {}`,
		`/tool list_notes{}`:                            `list_notes {}`,
		"/tool roll_dice {\"notation\":\"d6\"}\n/tool list_notes\n/tool list_notes {}": `roll_dice {"notation":"d6"}; list_notes {}; list_notes {}`,
		"/tool convert_units {\n  \"value\": 1,\n  \"to_unit\": \"m\"\n}\n/tool list_notes": "convert_units {\n  " +
			"\"value\": 1,\n  \"to_unit\": \"m\"\n}; list_notes {}",
		`/tool text_statistics {"text": oops`:       `text_statistics {} raw {"text": oops`,
		`/tool text_statistics [1]`:                 `text_statistics {} raw [1]`,
		`/tool no_such_tool {"a":1}`:                `no_such_tool {"a":1}`,
		`/tool text_statistics the quick brown fox`: `text_statistics {} raw the quick brown fox`,
	} {
		h := ask(t, desk(), text(chat.RoleUser, message))
		if got := calls(h); got != want || h.Err != nil {
			t.Errorf("%s\n got %s\nwant %s (%v)", message, got, want, h.Err)
		}
		if want != "" && h.Stop != model.StopCalls {
			t.Errorf("%s: stopped because of %s", message, h.Stop)
		}
	}
}

func TestSmallTalkCallsNothing(t *testing.T) {
	for _, message := range []string{
		"Hello", "hi!", "What can you do?", "Who are you?", "", "Thank you very much", "Привет", "Why is the sky blue?",
		"/help", "Count the words in “the quick brown fox”", "List my notes",
	} {
		h := ask(t, desk(), text(chat.RoleUser, message))
		if got := calls(h); got != "" || !strings.Contains(h.Text, "no AI") || !strings.Contains(h.Text, "`roll_dice`") {
			t.Errorf("%q: called %s and said %q", message, got, h.Text)
		}
	}
}

func answered(results ...chat.ToolResult) []model.Message {
	call := model.Message{Role: chat.RoleAssistant}
	result := model.Message{Role: chat.RoleTool}
	for i := range results {
		results[i].CallID = "demo_1"
		call.Parts = append(call.Parts, chat.Part{
			Kind: chat.PartToolCall, Call: &chat.ToolCall{ID: "demo_1", Tool: results[i].Tool},
		})
		result.Parts = append(result.Parts, chat.Part{Kind: chat.PartToolResult, Result: &results[i]})
	}
	return []model.Message{text(chat.RoleUser, "/tool x"), call, result}
}

func says(tool, s string) chat.ToolResult {
	return chat.ToolResult{Tool: tool, Content: []chat.Part{{Kind: chat.PartText, Text: s}}}
}

func TestResultsAreShown(t *testing.T) {
	failed := says("count", "Error: ValueError: no *text*")
	failed.IsError = true
	for want, results := range map[string][]chat.ToolResult{
		"`count` says: **3**\n":                                       {says("count", "3")},
		"`count` says: three words\n":                                 {says("count", "three words")},
		"`count` could not do it: Error: ValueError: no \\*text\\*\n": {failed},
		"`count` says:\n\n```json\n{\"n\": 3}\n```\n":                 {says("count", `{"n": 3}`)},
		"`count` says:\n\n````\na\n```\nb\n````\n":                    {says("count", "a\n```\nb")},
		"`now` is done. It had nothing to say.\n":                     {says("now", " ")},
		"2 tools answered.\n\n`a` says: **1**\n\n`b` says: **2**\n":   {says("a", "1"), says("b", "2")},
		"`draw` gave one file, on its card.\n": {
			{Tool: "draw", Content: []chat.Part{{Kind: chat.PartMedia, Media: &chat.Media{}}}},
		},
	} {
		if h := ask(t, desk(), answered(results...)...); h.Text != want || len(h.Calls) != 0 {
			t.Errorf("got %q, want %q", h.Text, want)
		}
	}
	long := ask(t, nil, answered(says("big", strings.Repeat("ü", 100_000)))...)
	if len(long.Text) > 5000 || !strings.Contains(long.Text, "the rest is on the tool's card") {
		t.Errorf("%d bytes", len(long.Text))
	}
}

func TestSuggestionsOfTheFirstScreen(t *testing.T) {
	h := ask(t, desk(), text(chat.RoleUser, "Show me a permission request"))
	if got := calls(h); got != `text_statistics {"text": "Hello from Demo guide"}` {
		t.Errorf("called %s", got)
	}
	if h := ask(t, desk(), text(chat.RoleUser, "演示一次权限请求")); len(h.Calls) != 1 {
		t.Errorf("asked in Chinese, it calls %+v", h.Calls)
	}
	if h := ask(t, nil, text(chat.RoleUser, "Show me a permission request")); len(h.Calls) != 0 ||
		!strings.Contains(h.Text, "Tools") {
		t.Errorf("without tools it said %q", h.Text)
	}
	for message, want := range map[string][]string{
		"Make a plugin":   {"```python", "|---|", "def flip"},
		"Connect a model": {"Look for local models", "conclave models add"},
		// The chips of the first screen, word for word.
		"Show me a sample answer":              {"# Markdown", "|:--|"},
		"Show me what an answer can look like": {"# Markdown", "|:--|"},
		"Show me Markdown":                     {"# Markdown", "1. First", "|:--|", "```go", "$$"},
		"Run a sample council":                 {"council"},
	} {
		h := ask(t, desk(), text(chat.RoleUser, message))
		for _, part := range want {
			if !strings.Contains(h.Text, part) || len(h.Calls) > 0 {
				t.Errorf("%s: there is no %q in %q", message, part, h.Text)
			}
		}
	}
}

func TestClosingRequestCallsNothing(t *testing.T) {
	for _, message := range []string{"/tool list_notes", "List my notes", "Show me a permission request"} {
		r := model.Request{Messages: []model.Message{text(chat.RoleUser, message)}, Tools: desk(), NoCalls: true}
		h := modeltest.Hear(demo.New(demo.Options{}).Open(demo.Guide).Stream(t.Context(), r))
		if len(h.Calls) != 0 || h.Text == "" || h.Err != nil {
			t.Errorf("%s: called %s, said %q, error %v", message, calls(h), h.Text, h.Err)
		}
	}
}

func TestStreamsAreAsLongAsAskedAndTheSameEachTime(t *testing.T) {
	first := ask(t, nil, text(chat.RoleUser, "/stream 200"))
	second := ask(t, nil, text(chat.RoleUser, "/stream 200"))
	if first.Text != second.Text || strings.Count(first.Text, "Paragraph ") != 200 || first.Events < 500 {
		t.Errorf("%d events, same %v", first.Events, first.Text == second.Text)
	}
	if first.Usage.Output < 1000 || first.Usage.Input != 3 {
		t.Errorf("usage %+v", first.Usage)
	}
	if h := ask(t, nil, text(chat.RoleUser, "/think about cheese")); h.Reasoning == "" || h.Text == "" {
		t.Errorf("reasoning %q, text %q", h.Reasoning, h.Text)
	}
}

func TestPaceIsKeptAndEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := demo.New(demo.Options{Pace: demo.ReadingPace}).Open(demo.Guide)
		count := func(message string) (events int, took time.Duration) {
			start := time.Now()
			for _, err := range m.Stream(t.Context(), model.Request{Messages: []model.Message{text(chat.RoleUser, message)}}) {
				if err != nil {
					t.Fatal(err)
				}
				events++
			}
			return events, time.Since(start)
		}
		// The last text has no pause behind it, and neither has the end.
		if events, took := count("/help"); took != time.Duration(events-2)*demo.ReadingPace || events < 100 {
			t.Errorf("%d events took %v", events, took)
		}
		if events, took := count("/stream 300"); took != 0 {
			t.Errorf("%d events of a long answer took %v", events, took)
		}
		if events, took := count("/slow 3"); took != time.Duration(events-2)*50*time.Millisecond {
			t.Errorf("%d slow events took %v", events, took)
		}
		for _, err := range m.Stream(t.Context(), model.Request{Messages: []model.Message{text(chat.RoleUser, "/slow 3")}}) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
	})
}

func TestFailuresCanBeSeen(t *testing.T) {
	for _, kind := range []model.ErrorKind{
		model.KeyRefused, model.RateLimited, model.ContextTooLong, model.Unreachable, model.Malformed,
	} {
		h := ask(t, nil, text(chat.RoleUser, "/fail "+string(kind)+" 7s"))
		if e, ok := errors.AsType[*model.Error](h.Err); !ok || e.Kind != kind || e.RetryAfter != 7*time.Second ||
			h.Events != 0 {
			t.Errorf("%s: got %v after %d events", kind, h.Err, h.Events)
		}
	}
	if h := ask(t, nil, text(chat.RoleUser, "/fail stream_cut")); h.Text == "" || h.Err == nil || h.Ended {
		t.Errorf("said %q, error %v", h.Text, h.Err)
	}
	if h := ask(t, nil, text(chat.RoleUser, "/fail badly")); h.Err != nil || !strings.Contains(h.Text, "`key_refused`") {
		t.Errorf("said %q, error %v", h.Text, h.Err)
	}
}

func TestIDsDifferThroughoutAChat(t *testing.T) {
	history := append(answered(says("x", "1")), text(chat.RoleUser, "/tool list_notes\n/tool list_notes"))
	h := ask(t, desk(), history...)
	if len(h.Calls) != 2 || h.Calls[0].ID != "demo_2" || h.Calls[1].ID != "demo_3" {
		t.Errorf("got %+v", h.Calls)
	}
}

func TestThereIsOneModel(t *testing.T) {
	p := demo.New(demo.Options{})
	models, err := p.Models(t.Context())
	if err != nil || len(models) != 1 || models[0].Name() != "demo/guide" {
		t.Errorf("got %v, %v", models, err)
	}
	h := modeltest.Hear(p.Open("other").Stream(t.Context(), model.Request{}))
	if e, ok := errors.AsType[*model.Error](h.Err); !ok || e.Kind != model.ModelUnknown {
		t.Errorf("got %v", h.Err)
	}
}

func FuzzGuide(f *testing.F) {
	for _, seed := range []string{
		"hello", "/tool", "/tool x {", "/tool roll_dice 2d6\n/tool", "/tool\n/tool x{}", "/tool[",
		"/stream -1", "/slow x", "“”",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, message string) {
		if strings.HasPrefix(strings.TrimSpace(message), "/s") {
			return // long on purpose
		}
		h := ask(t, desk(), text(chat.RoleUser, message))
		for _, c := range h.Calls {
			if !json.Valid(c.Arguments) || c.ID == "" {
				t.Errorf("%q: call %+v", message, c)
			}
		}
		if h.Text == "" && len(h.Calls) == 0 && h.Err == nil {
			t.Errorf("%q is answered by nothing", message)
		}
	})
}

func TestTheGreetingNamesAToolThatAPersonWouldCall(t *testing.T) {
	tools := []model.ToolDefinition{
		{
			Name: "tool_search", Description: "Find tools that are named elsewhere. Ask with words.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"}},"required":["query"]}`),
		},
		{
			Name: "hail", Description: "Hail a taxi. It comes soon.",
			Parameters: json.RawMessage(`{"type":"object","properties":{}}`),
		},
	}
	if said := ask(t, tools, text(chat.RoleUser, "hello")).Text; !strings.Contains(said, "`/tool hail {}`") {
		t.Errorf("it says %s", said)
	}
}

func TestGuideSpeaksTheLanguageOfThePerson(t *testing.T) {
	chinese := demo.New(demo.Options{Language: func() language.Language { return language.Chinese }})
	for question, want := range map[string]string{
		"你好":                           "我是 **Demo guide**",
		"制作插件":                         "## 制作插件",
		"连接模型":                         "## 连接模型",
		"演示一次权限请求":                     "此对话中没有启用的工具",
		"运行示例顾问团":                      "请在**顾问团**标签页",
		"/tool word_count {}":          "没有可调用的内容",
		"/think about":                 "我只是脚本",
		"/fail nothing":                "我可以模拟这些错误",
		"Show me a permission request": "要演示权限请求",
	} {
		var said strings.Builder
		for e, err := range chinese.Open(demo.Guide).Stream(t.Context(), model.Request{Messages: []model.Message{
			{Role: chat.RoleUser, Parts: []chat.Part{{Kind: chat.PartText, Text: question}}},
		}}) {
			if err != nil {
				t.Fatal(err)
			}
			said.WriteString(e.Text)
		}
		if got := said.String(); !strings.Contains(got, want) {
			t.Errorf("to %s it says %q", question, got)
		}
	}
}

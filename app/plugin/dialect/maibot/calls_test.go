package maibot_test

import (
	"strings"
	"testing"

	"conclave/app/base/limit"
	"conclave/app/plugin"
)

func TestMB43To45WhatAHandlerIsGiven(t *testing.T) {
	w := serve(t, one(t), `
@Tool("all", parameters={"a": {"type": "string"}})
async def all(self, **kwargs): return str(sorted(kwargs.items()))
@Tool("none", parameters={"a": {"type": "string"}})
async def none(self, a="-"): return a
@Tool("one", parameters={"a": {"type": "string"}})
async def one(self, a, chat_id): return a + chat_id
@Tool("stream", parameters={"stream_id": {"type": "string"}})
async def stream(self, stream_id=""): return stream_id
@Tool("sync", parameters={"a": {"type": "string"}})
def sync(self, a, stream_id="", **kwargs):
    print("同步")
    return a + stream_id
`)
	for _, c := range []struct{ name, tool, arguments, want string }{
		{
			"MB43 everything", "all", `{"a":"甲"}`,
			"[('a', '甲'), ('chat_id', 'chat-1'), ('platform', 'conclave'), ('stream_id', 'chat-1'), ('user_id', 'local')]",
		},
		{"MB44 falsy is filled", "stream", `{"stream_id":""}`, "chat-1"},
		{"MB44 foreign is replaced", "stream", `{"stream_id":"someone else's"}`, "chat-1"},
		{"MB45 without kwargs", "none", `{"a":"乙"}`, "乙"},
		{"MB45 some names", "one", `{"a":"丙"}`, "丙chat-1"},
		{"MB45 sync", "sync", `{"a":"丁"}`, "丁chat-1"},
	} {
		t.Run(c.name, func(t *testing.T) { is(t, "answer", inChat(w, c.tool, c.arguments).Text(), c.want) })
	}
	if a := inChat(w, "none", `{"b":1}`); !a.IsError || !strings.Contains(a.Text(), "unexpected keyword") {
		t.Errorf("a name of the model's that the handler does not take: %+v", a)
	}
}

func TestMB46To48WhatAHandlerReturns(t *testing.T) {
	w := serve(t, one(t), `
@Tool("ret", parameters={"code": {"type": "string"}})
async def ret(self, code, **kwargs):
    return eval(code)
@Tool("boom")
async def boom(self, **kwargs):
    raise KeyError("没有")
`)
	for name, c := range map[string]struct {
		code, want string
		failed     bool
	}{
		"MB46 error":         {`{"success": False, "error": "不行", "message": "m"}`, "Error: 不行", true},
		"MB46 message":       {`{"success": False, "message": "m"}`, "Error: m", true},
		"MB46 nothing":       {`{"success": False}`, "Error: the tool failed", true},
		"MB47 true pair":     {`(True, "x")`, "x", false},
		"MB47 false pair":    {`(False, "why")`, "Error: why", true},
		"MB47 triple":        {`(True, "x", True)`, "x", false},
		"MB47 text":          {`" 字 "`, "字", false},
		"MB47 number":        {`42`, "42", false},
		"MB47 None":          {`None`, "ok", false},
		"MB47 results":       {`{"results": ["一", 2]}`, `{"results":["一",2]}`, false},
		"MB47 content wins":  {`{"content": "c", "x": 1}`, "c", false},
		"MB47 message":       {`{"success": True, "message": "m"}`, "m", false},
		"MB47 empty content": {`{"content": "", "message": "m", "x": 1}`, `{"content":"","message":"m","x":1}`, false},
		"MB47 list content":  {`{"content": [{"a": "字"}]}`, `[{"a":"字"}]`, false},
		"MB47 a plain list":  {`[1, "二"]`, `[1,"二"]`, false},
		"MB47 no JSON":       {`{"x": {1, 2}, "y": object}`, `{"x":[1,2],"y":"<class 'object'>"}`, false},
		"MB51 no truth": {
			`{"content": "c", "stop_after_execution": "yes"}`, "Error: stop_after_execution must be true or false, not str",
			true,
		},
		"MB57 base64 in a result": {
			`{"picture": "iVBORw0KGgo" + "A" * 9000}`, `{"picture":"[9011 characters of base64 left out]"}`, false,
		},
		"MB57 base64 as content": {`"data:image/png;base64," + "A" * 9000`, "[9022 characters of base64 left out]", false},
	} {
		t.Run(name, func(t *testing.T) {
			a := inChat(w, "ret", `{"code":`+quote(c.code)+`}`)
			if a.Text() != c.want || a.IsError != c.failed {
				t.Errorf("got %v %q", a.IsError, a.Text())
			}
		})
	}
	t.Run("MB48 exception", func(t *testing.T) {
		a := inChat(w, "boom", "{}")
		if !a.IsError || a.Text() != "Error: '没有'" || !strings.Contains(a.Meta.Traceback, "plugin.py") ||
			strings.Contains(a.Text(), "Traceback") {
			t.Errorf("got %+v", a)
		}
		is(t, "the next call", inChat(w, "ret", `{"code":"1"}`).Text(), "1")
	})
	t.Run("a result of 100 MB", func(t *testing.T) {
		a := inChat(w, "ret", `{"code":"'字 ' * 25_000_000"}`)
		if a.IsError || len(a.Text()) > 2<<20 || !strings.Contains(a.Text(), "bytes left out") {
			t.Errorf("got %d bytes, %v", len(a.Text()), a.IsError)
		}
		is(t, "the next call", inChat(w, "ret", `{"code":"1"}`).Text(), "1")
	})
}

func TestThereAreThreadsForAllCallsThatCanBeMadeAtOnce(t *testing.T) {
	w := serve(t, one(t), `
import threading
gate = threading.Barrier(32, timeout=100)
@Tool("meet")
def meet(self, **kwargs):
    self.gate.wait()
    return "好"
`)
	var ids []int
	for range limit.PluginCalls {
		ids = append(ids, w.Ask("meet", "{}", nil))
	}
	for _, id := range ids {
		is(t, "a call", w.Answered(id).Text(), "好")
	}
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func TestMB49ACallPastItsDeadlineIsATimeout(t *testing.T) {
	w := serve(t, one(t), `
@Tool("never")
async def never(self, **kwargs):
    import asyncio
    await asyncio.Event().wait()
@Tool("now")
async def now(self, **kwargs): return "好"
`)
	id := w.Ask("never", "{}", map[string]any{"conclave/deadline-ms": 1})
	if a := w.Answered(id); a.Meta.Status != "timeout" {
		t.Errorf("got %+v", a)
	}
	is(t, "the next call", inChat(w, "now", "{}").Text(), "好")
}

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg"

func TestMB52To55MediaOfAResult(t *testing.T) {
	w := serve(t, one(t), `
@Tool("media", parameters={"items": {"type": "array"}})
async def media(self, items, **kwargs):
    return {"content": "看", "content_items": items}
`)
	for name, c := range map[string]struct {
		items   string
		list    string   // the rows of the list
		kinds   []string // of the blocks after the text
		mime    string
		headers string
	}{
		"MB52 one picture": {
			`[{"type":"image","data":"` + png + `==","mime_type":"image/png","name":"图<1>"}]`,
			`<media msg_id="tool_result:call_9:1" type="image" mime="image/png" name="图&lt;1&gt;" />`,
			[]string{"image"},
			"image/png", "",
		},
		"MB53 after a text": {
			`[{"type":"text","text":"t"},{"type":"image","data":"` + png + `"},{"content_type":"image","type":"text","data":"` +
				png + `"}]`,
			`<media msg_id="tool_result:call_9:2" type="image" mime="image/png" />` + "\n" +
				`<media msg_id="tool_result:call_9:3" type="image" mime="image/png" />`,
			[]string{"image", "image"},
			"image/png", "",
		},
		"MB54 data URL in uri": {
			`[{"type":"image","uri":"data:image/png;base64,` + png + `"}]`,
			`<media msg_id="tool_result:call_9:1" type="image" mime="image/png" />`,
			[]string{"image"},
			"image/png", "",
		},
		"MB54 in data": {
			`[{"type":"image","data":"data:image/png;base64,` + png + `"}]`,
			`<media msg_id="tool_result:call_9:1" type="image" mime="image/png" />`,
			[]string{"image"},
			"image/png", "",
		},
		"MB54 base64 key": {
			`[{"type":"image","base64":"` + png + `="}]`,
			`<media msg_id="tool_result:call_9:1" type="image" mime="image/png" />`,
			[]string{"image"},
			"image/png", "",
		},
		"MB54 garbage": {
			`[{"type":"image","data":"这不是"}]`, `<media msg_id="tool_result:call_9:1" type="image" />`,
			[]string{"text"},
			"",
			`<tool_result_media msg_id="tool_result:call_9:1" type="image" />`,
		},
		"MB55 audio": {
			`[{"type":"audio","data":"` + png +
				`","mime_type":"audio/mpeg","metadata":{"context_key":"k","source_url":"http://x/?a&b"}}]`,
			`<media msg_id="tool_result:call_9:1" type="audio" mime="audio/mpeg" context_key="k" source_url="http://x/?a&amp;b" />`,
			[]string{"text"},
			"",
			`<tool_result_media msg_id="tool_result:call_9:1" type="audio" mime="audio/mpeg" context_key="k" source_url="http://x/?a&amp;b" />`,
		},
		"MB55 a far picture": {
			`[{"type":"image","uri":"https://example.com/x.png"}]`, `<media msg_id="tool_result:call_9:1" type="image" />`,
			[]string{"text"},
			"", `<tool_result_media msg_id="tool_result:call_9:1" type="image" />`,
		},
		"junk": {`["x",{"type":"odd","data":"x"},{"type":"image"}]`, "", nil, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := inChat(w, "media", `{"items":`+c.items+`}`)
			want := "看"
			if c.list != "" {
				want += "\n\n<tool_result_media_list>\n" + c.list + "\n</tool_result_media_list>"
			}
			is(t, "text", a.Text(), want)
			var kinds []string
			for _, block := range a.Content[1:] {
				kinds = append(kinds, block.Type)
				if block.Type == "image" && (block.MimeType != c.mime || len(block.Data) < 60) {
					t.Errorf("picture: %s, %d bytes", block.MimeType, len(block.Data))
				}
				if block.Type == "text" && block.Text != c.headers {
					t.Errorf("header: %s", block.Text)
				}
			}
			is(t, "blocks", kinds, c.kinds)
		})
	}
}

func TestMB59To66Capabilities(t *testing.T) {
	all := []string{
		"send.text", "send.image", "llm.generate", "llm.generate_with_tools", "config.get",
		"config.get_plugin", "message.get_recent", "message.get_by_id", "chat.get_all_streams",
		"api.call", "api.list", "render.html2png", "database.save", "database.get", "database.delete", "database.count",
		"person.get_id", "person.get_value", "knowledge.search", "emoji.get_all", "tool.get_definitions",
	}
	w := begin(t, one(t), folder(t, withConfig(`
@Tool("do", parameters={"code": {"type": "string"}})
async def do(self, code, **kwargs):
    env = {"self": self, "ctx": self.ctx, "here": kwargs["stream_id"]}
    exec("async def f():\n return " + code, env)
    value = await env["f"]()
    return {"content": repr(value)}
@API("twice", public=True)
async def twice(self, n): return n * 2
`), all, nil), plugin.StartOptions{})
	w.List()
	do := func(code string) string { return inChat(w, "do", `{"code":`+quote(code)+`}`).Text() }
	start := func(code string) int {
		return w.Ask("do", `{"code":`+quote(code)+`}`, map[string]any{
			"conclave/conversation": "chat-1", "conclave/call-id": "chat-1/call_9",
		})
	}
	message := map[string]any{"message": map[string]any{"id": "7"}}

	t.Run("MB59 undeclared raises", func(t *testing.T) {
		if got := do(`await ctx.frequency.get_adjust("x")`); !strings.Contains(got, "[E_CAPABILITY_DENIED]") ||
			!strings.Contains(got, "frequency.get_adjust") {
			t.Errorf("got %s", got)
		}
		if got := do(`await ctx.call_capability("api.replace_dynamic")`); strings.Contains(got, "DENIED") {
			t.Errorf("the free one: %s", got)
		}
	})
	t.Run("MB59 what the person denied is as if undeclared", func(t *testing.T) {
		id := start(`await ctx.send.text("嗨", here)`)
		refuse(t, w, "chats.append", -32010, "PERMISSION_DENIED: chat_mutation")
		if a := w.Answered(id); !a.IsError || !strings.Contains(a.Text(), "[E_CAPABILITY_DENIED]") {
			t.Errorf("got %+v", a)
		}
	})
	t.Run("MB60 sending", func(t *testing.T) {
		id := start(`await ctx.send.text("嗨", here)`)
		args := host(t, w, "chats.append", message)
		is(t, "asked", args, map[string]any{"chat": "chat-1", "content": "嗨", "role": "assistant"})
		is(t, "answer", w.Answered(id).Text(), "True")
		id = start(`await ctx.send.image("` + png + `", here)`)
		media := host(t, w, "chats.append", message)["media"].([]any)[0].(map[string]any)
		is(t, "media", media["mime_type"], "image/png")
		is(t, "answer", w.Answered(id).Text(), "True")
		id = start(`await ctx.send.text("x", "gone", return_details=True)`)
		refuse(t, w, "chats.append", -32013, "There is no such chat.")
		if got := w.Answered(id).Text(); !strings.Contains(got, "'sent': False") {
			t.Errorf("details: %s", got)
		}
		is(t, "nothing to send", do(`await ctx.send.text("", here)`), "False")
	})
	t.Run("MB61 models", func(t *testing.T) {
		id := start(`await ctx.llm.generate("你好", model="planner", temperature=0.5, max_tokens=9)`)
		args := host(t, w, "models.generate", map[string]any{
			"content": "好", "model": "m", "finish_reason": "stop",
			"usage": map[string]any{"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
		})
		is(t, "asked", args, map[string]any{
			"messages":   []any{map[string]any{"role": "user", "content": "你好"}},
			"parameters": map[string]any{"temperature": 0.5, "max_tokens": 9},
		})
		if got := w.Answered(id).Text(); !strings.Contains(got, "'success': True, 'response': '好'") ||
			!strings.Contains(got, "'model': 'm', 'model_name': 'm'") || !strings.Contains(got, "'total_tokens': 3") {
			t.Errorf("got %s", got)
		}
		id = start(`await ctx.llm.generate_with_tools([{"role": "user", "content": "x"}], tools=[{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}])`)
		args = host(t, w, "models.generate", map[string]any{
			"content": "", "tool_calls": []any{map[string]any{"id": "1", "name": "f", "args": map[string]any{"a": "乙"}}},
		})
		is(t, "tools", args["tools"], []any{
			map[string]any{"name": "f", "description": "", "parameters": map[string]any{"type": "object"}},
		})
		if got := w.Answered(id).Text(); !strings.Contains(got, "'function': {'name': 'f', 'arguments': {'a': '乙'}}") {
			t.Errorf("got %s", got)
		}
		id = start(`await ctx.llm.generate("x")`)
		refuse(t, w, "models.generate", -32014, "The provider is down.")
		if got := w.Answered(id).Text(); !strings.Contains(got, "'success': False, 'error': 'The provider is down.'") {
			t.Errorf("a provider's failure: %s", got)
		}
	})
	t.Run("MB62 settings", func(t *testing.T) {
		is(t, "persona", do(`await ctx.config.get("bot.nickname", "麦麦")`), "'Conclave'")
		is(t, "own", do(`await ctx.config.get("g.count")`), "3")
		is(t, "unknown", do(`await ctx.config.get("no.such", "缺")`), "'缺'")
		is(t, "self", do(`(await ctx.config.get_plugin())["g"]["mode"]`), "'a'")
		if got := do(`await ctx.config.get_plugin("another.plugin")`); !strings.Contains(got, "'success': False") {
			t.Errorf("another's: %s", got)
		}
	})
	t.Run("MB63 folders", func(t *testing.T) {
		is(t, "folders",
			do(`(ctx.paths.data_dir.is_dir(), ctx.paths.runtime_dir.is_dir(), (ctx.paths.data_dir / "x").write_text("1"))`),
			"(True, True, 1)")
	})
	t.Run("MB64 messages", func(t *testing.T) {
		list := map[string]any{
			"total":    1,
			"messages": []any{map[string]any{"id": "4", "role": "user", "content": "早", "created_ms": 4102444800000}},
		}
		id := start(`[(m["message_id"], m["processed_plain_text"], m["session_id"], m["message_info"]["user_info"]["user_id"], m["platform"]) for m in await ctx.message.get_recent(here, 5)]`)
		host(t, w, "chats.messages", list)
		is(t, "recent", w.Answered(id).Text(), "[('4', '早', 'chat-1', 'local', 'conclave')]")
		id = start(`(await ctx.message.get_by_id("4"))["timestamp"]`)
		host(t, w, "chats.messages", list)
		is(t, "by id", w.Answered(id).Text(), "'4102444800.000'")
		id = start(`[(s["stream_id"], s["group_name"]) for s in await ctx.chat.get_all_streams()]`)
		host(t, w, "chats.list", map[string]any{"chats": []any{map[string]any{"id": "chat-1", "title": "题"}}, "total": 1})
		is(t, "streams", w.Answered(id).Text(), "[('chat-1', '题')]")
	})
	t.Run("MB65 its own APIs", func(t *testing.T) {
		is(t, "short name", do(`await ctx.api.call("twice", n=4)`), "8")
		is(t, "full name", do(`await ctx.api.call("test.weather.twice", n=5)`), "10")
		if got := do(`await ctx.api.call("adapter.napcat.x")`); !strings.Contains(got, "'success': False") {
			t.Errorf("unknown: %s", got)
		}
	})
	t.Run("MB66 no renderer", func(t *testing.T) {
		if got := do(`await ctx.render.html2png("<p>x</p>")`); !strings.Contains(got, "'success': False") {
			t.Errorf("got %s", got)
		}
	})
	t.Run("tables", func(t *testing.T) {
		is(t, "save", do(`await ctx.db.save("Notes", {"name": "甲", "n": 1})`), "{'name': '甲', 'n': 1, 'id': 1}")
		is(t, "update", do(`await ctx.db.save("Notes", {"n": 2}, key_value=1)`), "{'name': '甲', 'n': 2, 'id': 1}")
		is(t, "get", do(`await ctx.db.get("Notes", filters={"name": "甲"}, single_result=True)`),
			"{'name': '甲', 'n': 2, 'id': 1}")
		is(t, "count", do(`await ctx.db.count("Notes")`), "1")
		is(t, "unknown", do(`await ctx.db.get("PersonInfo")`), "[]")
		if got := do(`await ctx.db.delete("Notes")`); !strings.Contains(got, "delete needs filters") {
			t.Errorf("delete: %s", got)
		}
	})
	t.Run("the rest", func(t *testing.T) {
		is(t, "person", do(`await ctx.person.get_value(await ctx.person.get_id("qq", "1"), "nickname")`), "'local'")
		is(t, "knowledge", do(`await ctx.knowledge.search("x")`), "''")
		is(t, "emoji", do(`await ctx.emoji.get_all()`), "[]")
		is(t, "tools", do(`[t["name"] for t in await ctx.tool.get_definitions()]`), "['do']")
		is(t, "gateway", do(`await ctx.gateway.route_message("g", {})`), "False")
		if got := do(`await ctx.call_capability("llm.generate", timeout_ms=-1)`); !strings.Contains(got, "whole number") {
			t.Errorf("a bad timeout: %s", got)
		}
	})
}

func TestACapabilityThatTheManifestForgotIsThePersonsToAllow(t *testing.T) {
	w := serve(t, one(t), `
@Tool("do", parameters={})
async def do(self, **kwargs):
    return {"content": repr(await self.ctx.send.text("嗨", kwargs["stream_id"]))}
`, "config.get")
	start := func() int {
		return w.Ask("do", `{}`, map[string]any{"conclave/conversation": "chat-1", "conclave/call-id": "chat-1/call_9"})
	}
	id := start()
	refuse(t, w, "chats.append", -32010, "PERMISSION_DENIED: chat_mutation")
	if a := w.Answered(id); !a.IsError || !strings.Contains(a.Text(), "[E_CAPABILITY_DENIED]") ||
		!strings.Contains(a.Text(), "its _manifest.json does not list it; the person can allow it with the permission "+
			"chat_mutation") {
		t.Errorf("without the permission: %+v", a)
	}
	id = start()
	host(t, w, "chats.append", map[string]any{"message": map[string]any{"id": "7"}})
	is(t, "with the permission", w.Answered(id).Text(), "True")
}

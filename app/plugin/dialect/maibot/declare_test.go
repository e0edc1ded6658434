package maibot_test

import (
	"encoding/json"
	"strings"
	"testing"

	"conclave/app/plugin"
)

func TestMB19To31DeclarationsBecomeDefinitions(t *testing.T) {
	w := serve(t, one(t), `
P = ToolParameterInfo
T = ToolParamType
@Tool("b1", "描述", brief_description="简介")
async def b1(self, **k): pass
@Tool("b2", "  描述  ")
async def b2(self, **k): pass
@Tool("b3")
async def b3(self, **k): pass
@Tool("detailed", "d", detailed_description="更多", parameters=[P(name="q"), P(name="o", description="说明", required=False, enum_values=["a", "b"], default=False), P(name="l", param_type="array", default=[1, "x"])])
async def detailed(self, **k): pass
@Tool("plain", "d", detailed_description=" 只有这个 ")
async def plain(self, **k): pass
@Tool("types", parameters=[P(name="f", param_type=T.FLOAT), P(name="n", param_type="number"), P(name="b", param_type=T.BOOLEAN), P(name="i", param_type=T.INTEGER), P(name="s"), P(name="a", param_type=T.ARRAY), P(name="o", param_type=T.OBJECT, properties={"x": {"type": "string"}}, required_properties=["x"], additional_properties=False)])
async def types(self, **k): pass
@Tool("defaults", parameters=[P(name="n", default=None), P(name="f", default=False), P(name="z", default=0, param_type="integer"), P(name="e", default="", enum_values=[])])
async def defaults(self, **k): pass
@Tool("map", parameters={"q": {"type": "string", "required": True}, "r": {"type": "integer"}, "skip": 3})
async def map(self, **k): pass
@Tool("whole", parameters={"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"], "additionalProperties": False})
async def whole(self, **k): pass
@Tool("required_is_a_name", parameters={"required": {"type": "string"}, "properties": {"type": "object"}})
async def required_is_a_name(self, **k): pass
@Tool("core", core_tool=True, timeout_ms=1234)
async def core(self, **k): pass
@Tool("both", core_tool=True, visibility="Deferred")
async def both(self, **k): pass
@Tool("hidden", visibility="hidden")
async def hidden(self, **k): pass
@Tool("off")
async def off(self, **k): pass
@Tool("records")
async def records(self, **k):
    return {"content": {c["name"]: c["metadata"] for c in self.get_components() if isinstance(c, dict)}}
def get_components(self):
    found = super().get_components()
    found.append({"name": "added", "type": "TOOL", "metadata": {"parameters": {"q": {"type": "string"}}, "metadata": {"visibility": "visible", "timeout_ms": 77}}})
    found.append({"name": "b1", "type": "TOOL", "metadata": {"brief_description": "后来的"}})
    next(c for c in found if c["name"] == "off")["metadata"]["enabled"] = False
    found.append("nonsense")
    return found
async def invoke_component(self, name, **kwargs):
    return "invoked " + name + " " + kwargs["q"]
`)
	listed := map[string]struct {
		description, visibility, schema string
		timeout                         int
		warnings                        []string
	}{}
	// The tools were listed by serve; ask again to look at them.
	var result struct {
		Tools []struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"inputSchema"`
			Meta        struct {
				Visibility string   `json:"conclave/visibility"`
				Timeout    int      `json:"conclave/timeout-ms"`
				Warnings   []string `json:"conclave/warnings"`
			} `json:"_meta"`
		} `json:"tools"`
	}
	must(t, json.Unmarshal(w.Wait(w.Request("tools/list", map[string]any{})).Result, &result))
	for _, x := range result.Tools {
		one := listed[x.Name]
		one.description, one.visibility, one.schema, one.timeout, one.warnings = x.Description, x.Meta.Visibility,
			string(x.Schema), x.Meta.Timeout, x.Meta.Warnings
		listed[x.Name] = one
	}
	var metadata map[string]map[string]any
	must(t, json.Unmarshal([]byte(inChat(w, "records", "{}").Text()), &metadata))
	t.Run("MB19 brief", func(t *testing.T) {
		is(t, "briefs",
			[]string{metadata["detailed"]["brief_description"].(string), listed["b2"].description, listed["b3"].description},
			[]string{"d", "描述", "工具 b3"})
	})
	t.Run("MB20 detailed", func(t *testing.T) {
		is(t, "with parameters", metadata["detailed"]["detailed_description"],
			"参数说明：\n- q：string，必填。无额外说明\n- o：string，可选。说明 可选值：a、b。 默认值：False。\n- l：array，必填。无额外说明 默认值：[1, 'x']。\n\n更多")
		is(t, "without", metadata["plain"]["detailed_description"], "只有这个")
	})
	schema := func(t *testing.T, name, want string) {
		t.Helper()
		if got := listed[name].schema; got != want {
			t.Errorf("%s:\n  got  %s\n  want %s", name, got, want)
		}
	}
	t.Run("MB21 MB26 MB27 types", func(t *testing.T) {
		schema(t, "types",
			`{"type":"object","properties":{"f":{"type":"number","description":""},"n":{"type":"number","description":""},"b":{"type":"boolean","description":""},"i":{"type":"integer","description":""},"s":{"type":"string","description":""},"a":{"type":"array","description":"","items":{}},"o":{"type":"object","description":"","properties":{"x":{"type":"string"}},"required":["x"],"additionalProperties":false}},"required":["f","n","b","i","s","a","o"]}`)
	})
	t.Run("MB22 defaults", func(t *testing.T) {
		schema(t, "defaults",
			`{"type":"object","properties":{"n":{"type":"string","description":""},"f":{"type":"string","description":"","default":false},"z":{"type":"integer","description":"","default":0},"e":{"type":"string","description":"","default":""}},"required":["n","f","z","e"]}`)
	})
	t.Run("MB23 MB24 required in both forms", func(t *testing.T) {
		schema(t, "map", `{"type":"object","properties":{"q":{"type":"string"},"r":{"type":"integer"}},"required":["q"]}`)
		schema(t, "required_is_a_name",
			`{"type":"object","properties":{"required":{"type":"string"},"properties":{"type":"object"}},"required":[]}`)
	})
	t.Run("MB25 whole schemas", func(t *testing.T) {
		schema(t, "whole",
			`{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"],"additionalProperties":false}`)
	})
	t.Run("MB28 no parameters", func(t *testing.T) { schema(t, "b2", `{"type":"object","properties":{},"required":[]}`) })
	t.Run("MB30 overridden collection and dispatch", func(t *testing.T) {
		schema(t, "added", `{"type":"object","properties":{"q":{"type":"string"}},"required":[]}`)
		is(t, "answer", inChat(w, "added", `{"q":"问"}`).Text(), "invoked added 问")
	})
	t.Run("MB31 MB35 MB36 facts, flat and nested", func(t *testing.T) {
		got := []any{}
		for _, name := range []string{"added", "core", "both", "hidden", "b2"} {
			got = append(got, listed[name].visibility, listed[name].timeout)
		}
		is(t, "facts", got, []any{"direct", 77, "direct", 1234, "deferred", 60000, "hidden", 60000, "deferred", 60000})
		if _, there := listed["off"]; there {
			t.Error("a tool that is off is listed")
		}
	})
	t.Run("two of one name", func(t *testing.T) {
		if x := listed["b1"]; x.description != "后来的" || !strings.Contains(strings.Join(x.warnings, ""), "more than one") {
			t.Errorf("got %+v", x)
		}
	})
}

func TestMB29ToolsOfMixinsAndBasesAreFoundByTheirMethodsNames(t *testing.T) {
	w := begin(t, one(t), folder(t, head+`
class Mixin:
    @Tool("zz")
    async def a_first(self, **k): return "1"
class Base(MaiBotPlugin):
    @Tool("aa")
    async def z_last(self, **k): return "2"
class Weather(Mixin, Base):
    @Tool("mm")
    async def m_middle(self, **k): return "3"
`, nil, nil), plugin.StartOptions{})
	var names []string
	for _, x := range w.List() {
		names = append(names, x.Name)
	}
	is(t, "names", names, []string{"zz", "mm", "aa"})
}

func TestMB67AnActionIsADeferredTool(t *testing.T) {
	w := begin(t, one(t), folder(t, class(`
@Action("cheer", "鼓励", action_parameters={"who": "谁", "how": ""}, action_require=["一", "二"], associated_types=["text", "emoji"], activation_type=ActivationType.KEYWORD, activation_keywords=["嗨"], action_prompt="P")
async def cheer(self, who="", reasoning="?", action_data=None, **kwargs):
    return True, "%s|%s|%s|%s" % (who, reasoning, action_data, kwargs["stream_id"])
@Tool("records")
async def records(self, **k):
    return {"content": self.get_components()[0]["metadata"]["detailed_description"]}
`), nil, nil), plugin.StartOptions{})
	x := w.List()[0]
	is(t, "tool", []string{x.Name, x.Description, x.Meta.Visibility, string(x.Schema)}, []string{
		"cheer", "鼓励", "deferred",
		`{"type":"object","properties":{"who":{"type":"string","description":"谁"},"how":{"type":"string","description":"兼容旧 Action 参数"}}}`,
	})
	is(t, "answer", inChat(w, "cheer", `{"who":"小明"}`).Text(), "小明||{'who': '小明'}|chat-1")
	is(t, "detailed", inChat(w, "records", "{}").Text(),
		"参数说明：\n- who：string，可选。谁\n- how：string，可选。兼容旧 Action 参数\n\n使用建议：\n- 一\n- 二\n\n适用消息类型：text、emoji。\n\n兼容旧 Action "+
			"激活方式：keyword。\n激活关键词：嗨。\n原始 Action 提示语：P。")
}

func TestMB68OtherComponentsNeverKeepToolsFromLoading(t *testing.T) {
	w := serve(t, one(t), `
@HookHandler("no.such.hook", mode=HookMode.OBSERVE, order=HookOrder.LATE)
async def hook(self, **k): pass
@Command("sg", pattern="^/sg", aliases=["x"])
async def command(self, **k): pass
@EventHandler("ev", event_type=EventType.ON_START)
async def event(self, **k): pass
@MessageGateway("duplex", platform="qq")
async def gateway(self, **k): pass
@LLMProvider("mine")
async def provider(self, **k): pass
@HomeCard("card", title="卡片")
async def card(self, **k): pass
@ReplyExtension("reply")
async def reply(self, **k): pass
@API("api")
async def api(self, **k): pass
`+look)
	is(t, "answer", inChat(w, "look", `{"city":"x"}`).Text(), "晴天 x")
}

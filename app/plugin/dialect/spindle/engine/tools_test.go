package engine

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/app/base/limit"
	"conclave/app/plugin/wire"
)

// waitChange waits for notifications/tools/list_changed.
func (p *plug) waitChange() {
	p.tb.Helper()
	select {
	case <-p.changes:
	case <-time.After(patience):
		p.tb.Fatal("no list_changed came")
	}
}

func TestSP14RegisterToolReturnsNothingAndNeverThrows(t *testing.T) {
	p := script(t, `const said = [];
const circular = { name: "c" }; circular.self = circular;
for (const bad of [undefined, null, 5, "x", [], {}, { name: 5 }, { name: "" }, { name: "a\u0007" }, { name: "n".repeat(129) }, { name: "big", description: "x".repeat(70000) }, circular, { toJSON() { throw 1 } }, { name: "ok", description: "fine" }])
  { try { said.push(spindle.registerTool(bad) === undefined) } catch (e) { said.push(String(e)) } }
spindle.on("TOOL_INVOCATION", () => said.join());`)
	if got := p.names(); !slices.Equal(got, []string{"ok"}) {
		t.Errorf("tools = %v", got)
	}
	if got := p.call("ok", meta{}, nil).text; strings.Contains(got, "false") || strings.Contains(got, "Error") {
		t.Errorf("returned %s", got)
	}
	for _, want := range []string{
		"it has no name", "holds control characters", "more than 128 characters", "64 KB are allowed",
		"cannot be written as JSON", "needs an object with a name",
	} {
		p.waitLog(want)
	}
}

func TestSP15TheListShowsWhatWasRegistered(t *testing.T) {
	schema := `{"type":"object","properties":{"b":{"type":"string","default":"ü"},"a":{"anyOf":[{"$ref":"#/$defs/x"},{"type":"null"}]}},"$defs":{"x":{"type":["integer","string"]}},"required":["a"],"x-odd":{"anything":[1.50]}}`
	p := script(t,
		"\n\nfunction register() {\n  spindle.registerTool({ name: 'full', display_name: 'Full name', description: "+
			"'What it is for', parameters: "+schema+
			", council_eligible: true, inline_available: true, extension_id: 'someone-else' "+
			"});\n}\nregister();\nspindle.registerTool({ name: 'bare' });\nspindle.registerTool({ name: "+
			"'other:council', description: 'd', council_eligible: true });")
	tools := p.tools()
	if len(tools) != 3 {
		t.Fatalf("tools = %v", p.names())
	}
	full := tools[0]
	var want, got any
	must(t, json.Unmarshal([]byte(schema), &want))
	if err := json.Unmarshal([]byte(toJSON(full.InputSchema)), &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("schema = %s", toJSON(full.InputSchema))
	}
	if full.Title != "Full name" || full.Description != "What it is for" || full.Meta[wire.MetaCouncil] != true ||
		full.Meta[wire.MetaInline] != true ||
		full.Meta[wire.MetaLine] != 4.0 || full.Meta[wire.MetaFile] != "plugin.js" ||
		full.Meta[wire.MetaVisibility] != "direct" ||
		strings.Contains(toJSON(full), "someone-else") {
		t.Errorf("full = %s", toJSON(full))
	}
	bare := tools[1]
	if bare.Title != "bare" || bare.Description != "" ||
		toJSON(bare.InputSchema) != `{"properties":{},"type":"object"}` || bare.Meta[wire.MetaLine] != 7.0 ||
		bare.Meta[wire.MetaVisibility] != "direct" {
		t.Errorf("bare = %s", toJSON(bare))
	}
	if got := toJSON(tools[2].Meta); !strings.Contains(got, "holds a colon") ||
		tools[2].Meta[wire.MetaVisibility] != "hidden" {
		t.Errorf("council = %s", got)
	}
}

func TestSP15TheLineOfATypeScriptToolIsTheAuthors(t *testing.T) {
	p := load(t, "a.ts", map[string]string{
		"a.ts": "interface X {\n  a: string\n}\ntype Y = X\n\nconst y: Y = { a: 't' }\nspindle.registerTool({ name: " +
			"y.a, description: 'd' })\n",
	})
	if got := p.tools()[0].Meta; got[wire.MetaLine] != 7.0 || got[wire.MetaFile] != "a.ts" {
		t.Errorf("meta = %v", got)
	}
}

func TestOddParametersBecomeAnObjectSchema(t *testing.T) {
	tests := map[string]struct {
		parameters, want string
		warned           bool
	}{
		"none":           {"", `{"type":"object","properties":{}}`, false},
		"null":           {"null", `{"type":"object","properties":{}}`, false},
		"empty":          {"{}", `{"type":"object","properties":{}}`, false},
		"list":           {"[1]", `{"type":"object","properties":{}}`, true},
		"text":           {`"x"`, `{"type":"object","properties":{}}`, true},
		"no type":        {`{"properties":{"a":{}}}`, `{"type":"object","properties":{"a":{}}}`, false},
		"other type":     {`{"type":"string"}`, `{"type":"object","properties":{}}`, true},
		"odd properties": {`{"type":"object","properties":[]}`, `{"type":"object","properties":{}}`, true},
		"kept as it is": {
			`{"type":"object","additionalProperties":false}`, `{"type":"object","additionalProperties":false}`, false,
		},
		"several types":    {`{"type":["object","null"]}`, `{"type":"object","properties":{}}`, true},
		"properties null":  {`{"type":"object","properties":null}`, `{"type":"object","properties":null}`, false},
		"references alone": {`{"$ref":"#/$defs/a"}`, `{"type":"object","$ref":"#/$defs/a"}`, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var tool tool
			if got := string(objectSchema(json.RawMessage(test.parameters), &tool)); got != test.want ||
				(len(tool.warnings) > 0) != test.warned {
				t.Errorf("got %s, warnings %v", got, tool.warnings)
			}
		})
	}
}

func TestSP16TheSameNameReplacesInPlace(t *testing.T) {
	p := script(t, `for (const n of ["a", "b", "c"]) spindle.registerTool({ name: n, description: "first " + n });
spindle.registerTool({ name: "a", description: "second" });`)
	if got := p.names(); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("tools = %v", got)
	}
	if got := p.tools()[0].Description; got != "second" {
		t.Errorf("description = %q", got)
	}
}

func TestSP17UnregisterToolRemovesAndIsSilentOtherwise(t *testing.T) {
	p := script(t,
		handler(`if (args.add) spindle.registerTool({ name: args.add, description: "late" }); if (args.remove) spindle.unregisterTool(args.remove); return spindle.unregisterTool("never") === undefined`))
	if got := p.call("t", meta{"add": "late"}, nil).text; got != "true" {
		t.Errorf("answered %q", got)
	}
	p.waitChange()
	if got := p.names(); !slices.Equal(got, []string{"t", "late"}) {
		t.Errorf("tools = %v", got)
	}
	p.call("t", meta{"remove": "late"}, nil)
	p.waitChange()
	if got := p.names(); !slices.Equal(got, []string{"t"}) {
		t.Errorf("tools = %v", got)
	}
}

func TestSP19WithoutThePermissionNothingIsListed(t *testing.T) {
	p := script(t, `const seen = []; spindle.permissions.onDenied((d) => { seen.push(d); console.log("denied " + JSON.stringify(d)) });
spindle.registerTool({ name: "a", description: "d" }); spindle.registerTool({ name: "b", description: "d" });
console.log("has " + spindle.permissions.has("tools"));`, withGranted())
	if got := p.names(); len(got) != 0 {
		t.Errorf("tools = %v", got)
	}
	p.waitLog("has ")
	if got := p.logged(); strings.Count(got, `denied {"permission":"tools","operation":"registerTool"}`) != 2 ||
		!strings.Contains(got, "has false") {
		t.Errorf("log = %s", got)
	}
}

func TestSP20SP21AGrantBringsTheToolsAndARevocationTakesThem(t *testing.T) {
	p := script(t, `const seen = []; spindle.permissions.onChanged((c) => seen.push(c.extensionId + ":" + c.permission + ":" + c.granted + ":" + c.allGranted + ":" + spindle.permissions.has("tools")));
spindle.on("PERMISSION_CHANGED", (c, user) => seen.push("event " + c.granted + " " + user));
`+handler(`return seen.join(";")`), withGranted(), watched())
	if got := p.names(); len(got) != 0 {
		t.Fatalf("tools = %v", got)
	}
	notify := func(granted bool, all ...string) {
		t.Helper()
		must(t, p.wire.Notify("PERMISSION_CHANGED", map[string]any{
			"permission": "tools", "granted": granted, "allGranted": append([]string{}, all...),
		}))
		p.waitChange()
	}
	notify(true, "tools")
	if got := p.names(); !slices.Equal(got, []string{"t"}) {
		t.Fatalf("tools after the grant = %v", got)
	}
	notify(false)
	if got := p.names(); len(got) != 0 {
		t.Fatalf("tools after the revocation = %v", got)
	}
	if got := p.call("t", meta{}, nil); got.status != "unknown" || !got.isError {
		t.Errorf("a revoked tool answered %+v", got)
	}
	notify(true, "tools", "chats")
	want := "sample:tools:true:tools:true;event true conclave-user;sample:tools:false::false;event false " +
		"conclave-user;sample:tools:true:chats,tools:true;event true conclave-user"
	if got := p.call("t", meta{}, nil).text; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSP39WhatIsGrantedIsKnownAtOnce(t *testing.T) {
	p := script(t, `const has = () => ["tools", "chats", "no such thing"].map((name) => spindle.permissions.has(name)).join();
const loaded = has(), heard = [];
spindle.permissions.onChanged(() => heard.push(has()));
`+handler(`return [loaded, ...heard, has()].join(";")`), withGranted("tools"))
	for _, granted := range []bool{true, false} {
		all := []string{"tools"}
		if granted {
			all = append(all, "chats")
		}
		must(t, p.wire.Notify("PERMISSION_CHANGED", map[string]any{
			"permission": "chats", "granted": granted, "allGranted": all,
		}))
	}
	if got, want := p.call("t", meta{},
		nil).text, "true,false,false;true,true,false;true,false,false;true,false,false"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSP23ManyToolsAndLargeOnesAreRefusedWithAReason(t *testing.T) {
	p := script(t, `for (let i = 0; i < 300; i++) spindle.registerTool({ name: "t" + i, description: "d" });
spindle.registerTool({ name: "huge", description: "d", parameters: { type: "object", properties: { x: { description: "y".repeat(1 << 20) } } } });`)
	if got := len(p.tools()); got != limit.PluginTools {
		t.Errorf("%d tools", got)
	}
	p.waitLog(`The tool "t256" was not registered: a plugin may have 256 tools.`)
	if want := limit.ToolsLeftOut(44); !slices.Equal(p.notes(), []string{want}) {
		t.Errorf("notes are %q, want %q", p.notes(), want)
	}
}

func TestSP37AnyNameComesBackAsItWas(t *testing.T) {
	names := []string{"a__b", "a.b-c", strings.Repeat("n", 64), "x:y", "größe", "with space", "__proto__", "constructor"}
	text := ""
	for _, n := range names {
		text += fmt.Sprintf("spindle.registerTool({ name: %q, description: 'd' });\n", n)
	}
	p := script(t, text+`spindle.on("TOOL_INVOCATION", (p) => p.toolName);`)
	if got := p.names(); !slices.Equal(got, names) {
		t.Errorf("tools = %q", got)
	}
	for _, n := range names {
		if got := p.call(n, meta{}, nil).text; got != n {
			t.Errorf("%q answered %q", n, got)
		}
	}
}

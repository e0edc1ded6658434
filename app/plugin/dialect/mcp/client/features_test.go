package client

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// versions are all that are spoken, the oldest first.
var versions = []string{v2024, v2025, v2025a, v2025b, v2026}

func TestMC08EachFeatureBelongsToItsVersions(t *testing.T) {
	for f, want := range map[feature][]string{
		elicitation: {v2025a, v2025b, v2026}, urlQuestions: {v2025b, v2026}, samplingTools: {v2025b, v2026},
		legacyTasks: {v2025b}, inputRequests: {v2026}, listenStream: {v2026}, httpHeaders: {v2026},
		taskExtension: {v2026},
	} {
		var got []string
		for _, version := range versions {
			if (&Info{Version: version}).has(f) {
				got = append(got, version)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", f, got, want)
		}
	}
}

// answering returns a session of a version whose questions are all accepted.
func answering(t *testing.T, version string) *Session {
	o := Options{Form: true, URL: true, Sampling: true, Ask: func(_ context.Context, q Question) (Reply, error) {
		if q.Sampling != nil && len(q.Sampling.Tools) > 0 {
			return Reply{Action: Accept, Generated: &Generated{Blocks: []Block{{
				Type: "tool_use", Raw: json.RawMessage(`{"type":"tool_use","id":"1","name":"x","input":{}}`),
			}}, Reason: "toolUse"}}, nil
		}
		blocks := []Block{{Type: TextBlock, Text: "a"}, {Type: TextBlock}}
		return Reply{Action: Accept, Generated: &Generated{Blocks: blocks}}, nil
	}}
	s := newSession(t.Context(), o, Stdio)
	s.server.Store(&Info{Era: Legacy, Version: version})
	t.Cleanup(func() {
		s.work.close()
		s.cancel(ErrClosed)
		s.work.wg.Wait()
	})
	return s
}

func TestMC08QuestionsOfALaterVersionAreRefused(t *testing.T) {
	const form = `{"message":"m","requestedSchema":{"type":"object","properties":{}}}`
	const page = `{"mode":"url","message":"m","url":"https://example.com/"}`
	for _, version := range versions[:4] {
		s := answering(t, version)
		for feature, params := range map[feature]string{elicitation: form, urlQuestions: page} {
			_, err := answerer{s}.answer(t.Context(), "elicitation/create", json.RawMessage(params), place{})
			e := rpcError(err)
			if (e == nil) != s.speaks().has(feature) || e != nil && e.Code != jsonrpc.CodeInvalidParams {
				t.Errorf("%s in %s: %v", feature, version, err)
			}
		}
	}
}

func TestMC62ASamplingRequestIsReadWhole(t *testing.T) {
	const params = `{"messages":[{"role":"user","content":{"type":"text","text":"1+1?"}},
		{"role":"assistant","content":[{"type":"image","data":"AAEC","mimeType":"image/png"},{"type":"text","text":"2"}]}],
		"modelPreferences":{"hints":[{"name":"a"},{"name":"b"}],"costPriority":0.1,"speedPriority":0.2,
		"intelligencePriority":0.3},"systemPrompt":"s","temperature":0.5,"maxTokens":10,"stopSequences":["x"],
		"includeContext":"allServers","tools":[{"name":"x"}],"toolChoice":{"mode":"auto"}}`
	r, err := readSampling(json.RawMessage(params))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Messages) != 2 || len(r.Messages[1].Blocks) != 2 || !slices.Equal(r.Hints, []string{"a", "b"}) ||
		r.Cost != 0.1 || r.Speed != 0.2 || r.Intelligence != 0.3 || r.System != "s" || *r.Temperature != 0.5 ||
		r.MaxTokens != 10 || r.Stop[0] != "x" || len(r.Tools) != 1 {
		t.Errorf("got %+v", r)
	}
	for version, want := range map[string]string{v2025a: `"type":"text"`, v2025b: `"type":"tool_use"`} {
		result, err := answerer{answering(t, version)}.answer(t.Context(), "sampling/createMessage",
			json.RawMessage(params), place{})
		text, encodeErr := encode(result)
		if err != nil || encodeErr != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %s, %v", version, text, err)
		}
	}
	if _, err := readSampling(json.RawMessage(`{"messages":[]}`)); err == nil {
		t.Error("no messages were read")
	}
}

func TestMC57AFormThatNobodyCanFillIsDeclined(t *testing.T) {
	for name, schema := range map[string]string{
		"nested":  `{"type":"object","properties":{"a":{"type":"object"}}}`,
		"objects": `{"type":"object","properties":{"a":{"type":"array","items":{"type":"object"}}}}`,
		"unknown": `{"type":"object","properties":{"a":{"type":"color"}}}`,
		"no form": `[]`,
	} {
		params := json.RawMessage(`{"message":"m","requestedSchema":` + schema + `}`)
		result, err := answerer{answering(t, v2025b)}.answer(t.Context(), "elicitation/create", params, place{})
		if text, _ := encode(result); err != nil || string(text) != `{"action":"decline"}` {
			t.Errorf("%s: %s, %v", name, text, err)
		}
	}
}

func TestMC57EachSpellingOfChoicesIsRead(t *testing.T) {
	fields, err := readForm(json.RawMessage(`{"type":"object","properties":{
		"a":{"type":"string","enum":["x","y"],"enumNames":["X"]},
		"b":{"type":"string","oneOf":[{"const":"x","title":"X"}]},
		"c":{"type":"array","items":{"type":"string","enum":["x"]},"minItems":1,"maxItems":2,"default":["x"]},
		"d":{"type":"array","items":{"anyOf":[{"const":"x","title":"X"}]}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for i, title := range []string{"X", "X", "x", "X"} {
		if want := (Choice{Value: "x", Title: title}); fields[i].Choices[0] != want {
			t.Errorf("%s: %+v", fields[i].Name, fields[i].Choices)
		}
	}
	if *fields[2].MinChoices != 1 || *fields[2].MaxChoices != 2 || fields[0].Choices[1].Title != "y" {
		t.Errorf("got %+v", fields)
	}
}

func TestMC58FieldsThatLookLikeSecretsAreMarked(t *testing.T) {
	for name, want := range map[string]bool{
		"password": true, "api_key": true, "GitHub token": true, "card_number": true, "name": false, "keyboard": false,
	} {
		if looksSecret(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

func TestMC59OnlyPagesOfTheWebAreAskedFor(t *testing.T) {
	for address, action := range map[string]string{
		"https://example.com/a": Accept, "http://example.com/": Accept, "file:///etc/passwd": Decline,
		"javascript:alert(1)": Decline, "https://": Decline, "": Decline,
	} {
		params, err := encode(map[string]any{"mode": "url", "message": "m", "url": address})
		if err != nil {
			t.Fatal(err)
		}
		result, err := answerer{answering(t, v2025b)}.answer(t.Context(), "elicitation/create", params, place{})
		if text, _ := encode(result); err != nil || string(text) != `{"action":"`+action+`"}` {
			t.Errorf("%s: %s, %v", address, text, err)
		}
	}
}

func TestMC29SchemasArePassedOnAsTheyAre(t *testing.T) {
	for _, schema := range []string{
		`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","definitions":{"a":{"type":"string"}},` +
			`"properties":{"z":{"$ref":"#/definitions/a"},"b":{"type":"integer"}}}`,
		`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"a":{"$anchor":"x",` +
			`"type":"string"}},"properties":{"a":{"$ref":"#x"}},"if":{"required":["a"]},"then":{"required":["b"]},` +
			`"allOf":[{"minProperties":0}],"additionalProperties":false}`,
		`{"$id":"https://example.com/s","type":"object","properties":{"a":{"$ref":"https://example.com/s#/$defs/b"}},` +
			`"$defs":{"b":{"type":"string"}}}`,
	} {
		tool, err := readTool(json.RawMessage(`{"name":"a","inputSchema":` + schema + `}`))
		if err != nil || string(tool.Schema) != schema || len(tool.Notes) != 0 {
			t.Errorf("%v, %v, %s", err, tool.Notes, tool.Schema)
		}
	}
	deep := strings.Repeat(`{"type":"object","properties":{"a":`, 70) + `{}` + strings.Repeat("}}", 70)
	if _, err := readTool(json.RawMessage(`{"name":"a","inputSchema":` + deep + `}`)); err == nil {
		t.Error("a schema 70 deep is offered")
	}
}

func TestMC31APictureThatCannotBeReadIsLeftOutAlone(t *testing.T) {
	tool, err := readTool(json.RawMessage(`{"name":"a","inputSchema":{"type":"object"},"notes":["forged"],"task":"required",
		"icons":[{"src":"data:image/png;base64,AA"},{"src":1},"x",{}],"execution":{"taskSupport":"forbidden"}}`))
	if err != nil || len(tool.Icons) != 1 || tool.Notes != nil || tool.Task != "" {
		t.Errorf("%+v, %v", tool, err)
	}
}

func TestMC21HeadersOfArguments(t *testing.T) {
	for name, c := range map[string]struct {
		schema string
		ok     bool
	}{
		"string": {`{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}`, true},
		"nested": {
			`{"properties":{"a":{"type":"object","properties":{"b":{"type":"boolean","x-mcp-header":"B"}}}}}`, true,
		},
		"number": {`{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}`, false},
		"empty":  {`{"properties":{"a":{"type":"string","x-mcp-header":""}}}`, false},
		"space":  {`{"properties":{"a":{"type":"string","x-mcp-header":"A b"}}}`, false},
		"line":   {`{"properties":{"a":{"type":"string","x-mcp-header":"A\nB"}}}`, false},
		"twice": {
			`{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}`, false,
		},
		"in items":  {`{"properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}}`, false},
		"in anyOf":  {`{"anyOf":[{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}]}`, false},
		"at root":   {`{"type":"string","x-mcp-header":"A"}`, false},
		"a default": {`{"properties":{"a":{"type":"object","default":{"x-mcp-header":"A b"}}}}`, true},
	} {
		if _, err := paramHeaders(json.RawMessage(c.schema)); (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	for text, want := range map[string]string{
		"us-west1": "us-west1", "us west 1": "us west 1", " padded ": "=?base64?IHBhZGRlZCA=?=",
		"=?base64?literal?=": "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", "line1\nline2": "=?base64?bGluZTEKbGluZTI=?=",
		"":          "",
		"Hello, 世界": "=?base64?SGVsbG8sIOS4lueVjA==?=",
	} {
		if got := headerValue(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

package mcpserver_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/tool"
	"conclave/app/tool/mcpserver"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// returns has the tool "one" return the argument "value", and declare the output schema.
func returns(t *testing.T, output string) *bench {
	t.Helper()
	b := newBench(t, tools{"one": func(_ context.Context, c tool.Call) tool.Result {
		var a struct{ Value json.RawMessage }
		_ = json.Unmarshal(c.Arguments, &a)
		return tool.Result{Status: chat.CallOK, Content: []chat.Part{chat.TextPart("seven")}, Value: a.Value}
	}}, func(t *tool.Tool) {
		t.Parameters, t.Output = json.RawMessage(`{"type":"object"}`), json.RawMessage(output)
	})
	b.allow(gate.Outside("editor"))
	return b
}

func TestMC121AToolsOutputSchemaIsHandedOnToProgramsThatCanReadIt(t *testing.T) {
	const ofObject, ofList = `{"properties":{"n":{"type":"integer"}},"type":"object"}`, `{"type":"array"}`
	for output, want := range map[string]map[string]string{
		"":       {"2025-11-25": "null", "2026-07-28": "null"},
		ofObject: {"2025-11-25": ofObject, "2026-07-28": ofObject},
		ofList:   {"2025-11-25": "null", "2026-07-28": ofList},
	} {
		b := returns(t, output)
		for version, want := range want {
			session, _ := b.streams("editor", version, mcpserver.Choices{}, nil)
			list, err := session.ListTools(t.Context(), nil)
			must(t, err)
			got, err := json.Marshal(list.Tools[0].OutputSchema)
			must(t, err)
			if string(got) != want {
				t.Errorf("%s: of %q came %s", version, output, got)
			}
		}
	}
}

func TestMC121AResultThatBreaksItsOutputSchemaIsAnErrorThatHoldsTheAnswer(t *testing.T) {
	for output, cases := range map[string]map[string]map[string]string{
		`{"properties":{"n":{"type":"integer"}},"required":["n"],"type":"object"}`: {
			"2025-11-25": {`{"n":7}`: `{"n":7}`, `{"n":"x"}`: "", `[7]`: "", "": ""},
			"2026-07-28": {`{"n":7}`: `{"n":7}`, `{"n":"x"}`: "", `[7]`: "", "": ""},
		},
		`{"items":{"type":"integer"},"type":"array"}`: {
			"2025-11-25": {`[7]`: "null", `["x"]`: "null", `{"n":7}`: `{"n":7}`}, // it does not list the schema
			"2026-07-28": {`[7]`: "[7]", `["x"]`: "", `{"n":7}`: ""},
		},
	} {
		b := returns(t, output)
		for version, values := range cases {
			session, _ := b.streams("editor", version, mcpserver.Choices{}, nil)
			for value, want := range values {
				arguments := `{}`
				if value != "" {
					arguments = `{"value":` + value + `}`
				}
				r, err := session.CallTool(t.Context(), &mcp.CallToolParams{
					Name: "one", Arguments: json.RawMessage(arguments),
				})
				must(t, err)
				got, err := json.Marshal(r.StructuredContent)
				must(t, err)
				if r.IsError != (want == "") || !strings.HasSuffix(textOf(r), "seven") {
					t.Errorf("%s: of %q came %v, %q", version, value, r.IsError, textOf(r))
				}
				if want != "" && string(got) != want || want == "" && string(got) != "null" {
					t.Errorf("%s: of %q came %s", version, value, got)
				}
			}
		}
	}
}

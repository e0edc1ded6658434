package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

func FuzzTheIDOfALongMessage(f *testing.F) {
	for _, text := range []string{
		`{"jsonrpc":"2.0","id":7,"result":{"id":8}}`, `{"id":"a\"b","jsonrpc":"2.0","result":{}}`,
		`{"result":{"x":["id",{"id":1}]},"id":3,"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":12`, `[]`, "\xff", `{"id":-1.5}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var s idScanner
		for i := range data { // in pieces of one byte
			s.scan(data[i : i+1])
		}
		got := s.result()
		m, err := jsonrpc.DecodeMessage(data)
		r, ok := m.(*jsonrpc.Response)
		if err != nil || !ok || strings.ContainsRune(string(data), '\\') || strings.Count(string(data), `"id"`) != 1 {
			return
		}
		if n, isNumber := r.ID.Raw().(int64); isNumber && n > -1<<52 && n < 1<<52 && got != r.ID {
			t.Errorf("got %v, want %v, of %s", got.Raw(), r.ID.Raw(), data)
		}
	})
}

func FuzzEventsAndMessages(f *testing.F) {
	for _, text := range []string{
		"event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n", ": comment\n\nid: 1\nretry: 5\ndata:\n\n",
		"data: a\r\ndata: b\r\n\r\n", "\uFEFFdata: [1,{}]\n\n", "data", "retry: 99999999999999999999\n\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := newEventReader(bytes.NewReader(data))
		for {
			e, err := r.next()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Fatal(err)
				}
				return
			}
			if all, err := messages(e.data); err == nil && len(all) == 0 {
				t.Error("no message and no error")
			}
		}
	})
}

func FuzzWhatAServerDefines(f *testing.F) {
	for _, text := range []string{
		`{"name":"a","inputSchema":{"type":"object","properties":{"x":{"type":"string","x-mcp-header":"X"}}}}`,
		`{"name":"a","inputSchema":{"type":"object","allOf":[{"$ref":"https://x/y"}]}}`,
		`{"type":"object","properties":{"a":{"type":"array","items":{"enum":["x"]}}},"required":["a"]}`,
		`{"content":[{"type":"text","text":1}],"structuredContent":[],"isError":"no"}`,
		`{"messages":[{"role":"user","content":[{"type":"tool_use"}]}]}`, `{"taskId":"t","ttlMs":1e300}`, `null`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) {
			return
		}
		if tool, err := readTool(data); err == nil {
			if tool.Name == "" || !json.Valid(tool.Schema) {
				t.Errorf("%+v", tool)
			}
			_, _ = paramHeaders(tool.Schema)
		}
		if fields, err := readForm(data); err == nil {
			filled(fields, nil)
		}
		_, _ = readSampling(data)
		_, _ = readResult(data, nil)
		_, _ = readTask(data, &Info{Era: Modern, Version: v2026})
		(&Info{Version: v2025b}).describe(data, data)
		readBlocks(data)
	})
}

package client

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
)

// callsAnswered is a server of 2025-11-25 whose answer to each call is what answer returns, as it is.
func callsAnswered(t *testing.T, answer func(id json.RawMessage) string) *Session {
	t.Helper()
	ours, theirs := net.Pipe()
	go func() { // ends with the session, which closes the pipe
		lines := bufio.NewScanner(theirs)
		for lines.Scan() {
			var m struct {
				ID     json.RawMessage `json:"id"`
				Method string          `json:"method"`
			}
			switch _ = json.Unmarshal(lines.Bytes(), &m); m.Method {
			case "initialize":
				fmt.Fprintf(theirs, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},`+
					`"serverInfo":{"name":"x","version":"1"}}}`+"\n", m.ID)
			case "tools/call":
				fmt.Fprintln(theirs, answer(m.ID))
			}
		}
	}()
	s, err := OverStream(t.Context(), ours, Options{Era: Legacy})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestAttackAnAnswerIsDeepOrOfPiecesWithoutEnd(t *testing.T) {
	s := callsAnswered(t, func(id json.RawMessage) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":%s}}`, id,
			strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000))
	})
	r, err := s.Call(t.Context(), Call{Tool: "x"})
	if err != nil || !r.IsError || r.Blocks[0].Text != "the answer cannot be read" {
		t.Errorf("a deep answer: %+v, %v", r, err)
	}
	s = callsAnswered(t, func(id json.RawMessage) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{}%s]}}`, id, strings.Repeat(",{}", 100_000))
	})
	r, err = s.Call(t.Context(), Call{Tool: "x"})
	if err != nil || len(r.Blocks) != maxBlocks+1 || r.Blocks[maxBlocks].Text != "[99001 more parts were left out.]" {
		t.Errorf("100,001 pieces: %d, %v", len(r.Blocks), err)
	}
	t.Log("stopped by: an answer that cannot be read fails its call at once, and 1,000 parts of one are read")
}

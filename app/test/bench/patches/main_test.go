package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf16"

	"conclave/app/chat/render"
)

// What was recorded, put together, must be the reply as app/chat/render makes it.
func TestTheRecordingIsTheReply(t *testing.T) {
	text := "# Title\n\nSome *words* in a row, ünd mehr.\n\n- one\n- two\n\n```go\nfunc main() {} // ünd 😀\n\nvar x " +
		"int\n```\n"
	var out bytes.Buffer
	if err := run(strings.NewReader(text), &out, 7); err != nil {
		t.Fatal(err)
	}
	var got recording
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Text != text || got.Chunk != 7 || len(got.Deltas) != (len([]rune(text))+6)/7 {
		t.Fatalf("got %d deltas of %d characters of %q", len(got.Deltas), got.Chunk, got.Text)
	}
	shown := map[int]patch{}
	for _, d := range got.Deltas {
		for _, p := range d.Patches {
			before := utf16.Encode([]rune(shown[p.Block].HTML))
			p.HTML = string(utf16.Decode(before[:p.Keep])) + p.HTML
			shown[p.Block] = p
		}
	}
	want := render.Render(text)
	if len(shown) != len(want) {
		t.Fatalf("%d blocks were recorded, the reply has %d", len(shown), len(want))
	}
	for i, b := range want {
		if shown[i].HTML != b.HTML || !shown[i].Done {
			t.Errorf("block %d ended as %+v, want %q", i, shown[i], b.HTML)
		}
	}
}

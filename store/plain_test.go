package store

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/app/test/testkit"
)

func TestARecordIsReadAsEncodingJSONReadsIt(t *testing.T) {
	at := time.Date(2026, 11, 28, 4, 47, 40, 648816631, time.UTC)
	zone := time.FixedZone("", 3600)
	quick := 0
	var r plainReader
	check := func(raw []byte) {
		t.Helper()
		var got, want, plain chat.Message
		failed := r.message(raw, &got)
		err := json.Unmarshal(raw, &want)
		if (failed == nil) != (err == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%s is read as %+v, %v; want %+v, %v", raw, got, failed, want, err)
		}
		if r.plain(raw, &plain) {
			quick++
		}
	}
	text := []chat.Part{chat.TextPart("Hello.")}
	messages := []chat.Message{
		{Conversation: "c", Seq: 1, Role: chat.RoleUser, Parts: text, State: chat.Complete, Created: at},
		{
			Conversation: "c", Seq: 2, Parent: 1, Turn: "t", Role: chat.RoleAssistant, Model: "a/b", State: chat.Complete,
			Parts: []chat.Part{chat.TextPart("“<b>&\"\\ \n\t\u2028 \x00 日本 😀 \ufffd")}, Reason: chat.EndDone, Hidden: true,
			Usage: &chat.Usage{Input: 1, Output: 2, Cost: 0.5, Priced: "2026-11-01"}, Created: at, Ended: at.In(zone),
		},
	}
	for _, m := range messages {
		raw, err := encode(m)
		testkit.Must(t, err)
		quick = 0
		if check(raw); quick != 1 {
			t.Errorf("%s is not read in the quick way", raw)
		}
		for i := range raw { // also one that is damaged, or from another program
			check(raw[:i])
			for _, c := range []byte("\"\\{}[],: 0\n\xffeu") {
				changed := append([]byte{}, raw...)
				changed[i] = c
				check(changed)
				check(append(append(append([]byte{}, raw[:i]...), c), raw[i:]...))
			}
		}
	}
	for _, m := range []chat.Message{
		{Parts: []chat.Part{}},
		{Parts: []chat.Part{text[0], text[0]}, Error: &chat.Failure{Kind: "x"}},
		{Parts: text, Notes: []chat.Note{{Text: "x"}}, Metadata: json.RawMessage(`{"a":1}`)},
		{Parts: []chat.Part{{Kind: chat.PartToolCall, Call: &chat.ToolCall{ID: "a", Arguments: json.RawMessage(`{}`)}}}},
	} {
		raw, err := encode(m)
		testkit.Must(t, err)
		check(raw)
	}
}

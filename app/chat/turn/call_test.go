package turn_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/tool"
)

func TestRequestBeforeShowsWhatAMessageAnswered(t *testing.T) {
	b := newBench(t, tools{"count": answers("1")})
	b.say(scriptedModel(calls(call("count", `{"a":1}`)), says("Done.")), func(r *turn.Request) {
		r.Attachments = []chat.Part{
			{Kind: chat.PartMedia, Media: &chat.Media{MIME: "image/png", Name: "a.png", Data: []byte(aPNG)}},
		}
	})
	sent, err := b.runner.RequestBefore(t.Context(), b.path()[3])
	must(t, err)
	raw, err := json.Marshal(sent)
	must(t, err)
	for _, want := range []string{
		`"model":"test/m"`, `"system":"Be brief."`, `"text":"Hello."`, `"arguments":{"a":1}`, `"text":"1"`,
	} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("%s has no %s", raw, want)
		}
	}
	if len(sent.Messages) != 3 || strings.Contains(string(raw), "PNG\\r") || strings.Contains(string(raw), "Done.") {
		t.Errorf("sent %s", raw)
	}
}

// BenchmarkChainOf50 is a turn of 51 requests and 50 calls, all in memory.
func BenchmarkChainOf50(b *testing.B) {
	for b.Loop() {
		bench := newBench(b, tools{"count": answers("1")})
		script := make([]round, 50)
		for i := range script {
			script[i] = calls(call("count", `{}`))
		}
		bench.say(scriptedModel(append(script, says("Done."))...), func(r *turn.Request) { r.ChainLimit = 0 })
	}
}

// BenchmarkStream is the cost of a delta of a long answer.
func BenchmarkStream(b *testing.B) {
	texts := make([]string, 5000)
	for i := range texts {
		texts[i] = "some more words "
	}
	b.ReportAllocs()
	for b.Loop() {
		bench := newBench(b, nil)
		bench.say(scriptedModel(says(texts...)))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(texts)), "ns/delta")
}

func TestSP27ADirectCallCarriesThePromptOfItsRound(t *testing.T) {
	var got []tool.Call
	note := func(_ context.Context, c tool.Call) tool.Result {
		got = append(got, c)
		return tool.Result{Status: chat.CallOK}
	}
	b := newBench(t, tools{"count": note, "plain": note}, func(made *tool.Tool) {
		made.Convention.Chat = made.Name != "plain"
	})
	b.say(scriptedModel(calls(call("count", `{"a":1}`)), calls(call("plain", `{"a":1}`)), says("Done.")))
	want := []tool.ContextMessage{{Role: "system", Content: "Be brief."}, {Role: "user", Content: "Hello."}}
	if len(got) != 2 || !slices.Equal(got[0].ContextMessages, want) || got[0].CouncilMember != nil {
		t.Errorf("got %+v", got)
	}
	if len(got) == 2 && got[1].ContextMessages != nil {
		t.Errorf("a tool of another ecosystem was told %+v", got[1].ContextMessages)
	}
}

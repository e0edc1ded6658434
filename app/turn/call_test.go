package turn_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/chat"
	"conclave/app/fault"
	"conclave/app/permit"
	"conclave/app/tool"
	"conclave/app/turn"
)

func TestASingleCallGoesThroughTheGateAndIntoTheRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got tool.Call
		b := newBench(t, tools{
			"echo": func(ctx context.Context, c tool.Call) tool.Result {
				got = c
				return answers(string(c.Arguments))(ctx, c)
			},
			"raise": func(context.Context, tool.Call) tool.Result { return tool.Result{Status: chat.CallRaised, Error: "no"} },
			"hang":  takes(time.Hour, ""),
		}, func(made *tool.Tool) {
			made.Parameters = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
		})
		run := func(name, arguments string, change ...func(*turn.SingleCall)) tool.Result {
			t.Helper()
			c := turn.SingleCall{Caller: permit.Person, Tools: b.set, Tool: "p:" + name, Arguments: arguments}
			for _, do := range change {
				do(&c)
			}
			r, err := b.runner.Call(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		if r := run("echo", `{"n":1}`); r.Status != chat.CallOK || chat.TextOf(r.Content) != `{"n":1}` || got.Tool.Name != "echo" {
			t.Errorf("got %+v", r)
		}
		if r := run("echo", ""); chat.TextOf(r.Content) != `{}` {
			t.Errorf("without arguments: %+v", r)
		}
		if r := run("echo", `{"n":"x"}`); r.Status != chat.CallBadArguments || !strings.Contains(r.Error, "n: expected integer") {
			t.Errorf("bad arguments: %+v", r)
		}
		if r := run("echo", `[`); r.Status != chat.CallBadArguments || !strings.Contains(r.Error, "not JSON") {
			t.Errorf("no JSON: %+v", r)
		}
		if r := run("raise", `{}`); r.Status != chat.CallRaised || r.Error != "Error: no" {
			t.Errorf("raised: %+v", r)
		}
		began := time.Now()
		if r := run("hang", `{}`, func(c *turn.SingleCall) { c.Timeout = 2 * time.Second }); r.Status != chat.CallTimeout || r.Error != "Error: hang took longer than 2 s and was stopped" || time.Since(began) > 4*time.Second {
			t.Errorf("timeout: %+v after %s", r, time.Since(began))
		}
		if r := run("echo", `{}`, func(c *turn.SingleCall) { c.Caller = permit.Main }); r.Status != chat.CallRefused || r.Error != "Cancelled: it needs a person's permission, and there is nobody to ask" {
			t.Errorf("refused: %+v", r)
		}
		member := json.RawMessage(`{"memberId":"maker"}`)
		if r := run("echo", `{}`, func(c *turn.SingleCall) {
			c.Caller, c.Member, c.Context = "member:maker", member, []tool.ContextMessage{{Role: "user", Content: "Hi."}}
		}); r.Status != chat.CallOK || string(got.CouncilMember) != string(member) || len(got.ContextMessages) != 1 {
			t.Errorf("a member's call: %+v, %+v", r, got)
		}
		if _, err := b.runner.Call(t.Context(), turn.SingleCall{Tools: b.set, Tool: "p:none"}); fault.KindOf(err) != fault.NotFound {
			t.Errorf("got %v", err)
		}
		records := b.log.Calls()
		if len(records) != 8 || records[0].Caller != "person" || records[0].Status != chat.CallOK || records[0].Conversation != "" || records[7].Caller != "member:maker" {
			t.Errorf("records %+v", records)
		}
	})
}

func TestRequestBeforeShowsWhatAMessageAnswered(t *testing.T) {
	b := newBench(t, tools{"count": answers("1")})
	b.say(model(calls(call("count", `{"a":1}`)), says("Done.")), func(r *turn.Request) {
		r.Attachments = []chat.Part{{Kind: chat.PartMedia, Media: &chat.Media{MIME: "image/png", Name: "a.png", Data: []byte("PNG!")}}}
	})
	sent, err := b.runner.RequestBefore(t.Context(), b.path()[3])
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(sent)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"model":"test/m"`, `"system":"Be brief."`, `"text":"Hello."`, `"arguments":{"a":1}`, `"text":"1"`} {
		if !strings.Contains(string(raw), want) {
			t.Errorf("%s has no %s", raw, want)
		}
	}
	if len(sent.Messages) != 3 || strings.Contains(string(raw), "PNG!") || strings.Contains(string(raw), "Done.") {
		t.Errorf("sent %s", raw)
	}
}

// BenchmarkCall is a call through arguments, gate, registry, record and an
// invoker in memory: what Conclave adds to a tool.
func BenchmarkCall(b *testing.B) {
	bench := newBench(b, tools{"count": answers("1")}, func(made *tool.Tool) {
		made.Parameters = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`)
	})
	c := turn.SingleCall{Caller: permit.Person, Tools: bench.set, Tool: "p:count", Arguments: `{"n":1}`}
	for b.Loop() {
		if r, err := bench.runner.Call(b.Context(), c); err != nil || r.Status != chat.CallOK {
			b.Fatal(r, err)
		}
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
		bench.say(model(append(script, says("Done."))...), func(r *turn.Request) { r.ChainLimit = 0 })
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
		bench.say(model(says(texts...)))
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
		if made.Name == "plain" {
			made.Contract = "functions"
		}
	})
	b.say(model(calls(call("count", `{"a":1}`)), calls(call("plain", `{"a":1}`)), says("Done.")))
	want := []tool.ContextMessage{{Role: "system", Content: "Be brief."}, {Role: "user", Content: "Hello."}}
	if len(got) != 2 || !slices.Equal(got[0].ContextMessages, want) || got[0].CouncilMember != nil {
		t.Errorf("got %+v", got)
	}
	if len(got) == 2 && got[1].ContextMessages != nil {
		t.Errorf("a tool of another ecosystem was told %+v", got[1].ContextMessages)
	}
}

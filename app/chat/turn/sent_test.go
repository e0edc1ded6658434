package turn_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/model"
)

// overHTTP is a model behind a link, as those of providers are.
type overHTTP struct {
	*scripted
	link *model.Link
}

func (m overHTTP) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		var picture string
		for _, p := range r.Messages[0].Parts {
			if p.Media != nil {
				picture = base64.StdEncoding.EncodeToString(p.Media.Data)
			}
		}
		body := fmt.Appendf(nil, `{"model":"m","asked":%d,"picture":"data:image/png;base64,%s"}`, len(m.requests), picture)
		var answer any
		if err := m.link.Post(ctx, "/chat", json.RawMessage(body), func(h http.Header) {
			h.Set("Authorization", "Bearer sk-secret")
		}, &answer); err != nil {
			yield(model.Event{}, err)
			return
		}
		m.scripted.Stream(ctx, r)(yield)
	}
}

func TestARequestIsKeptAsItWasSent(t *testing.T) {
	b := newBench(t, tools{"count": answers("1")})
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw := make([]byte, 1<<20)
		n, _ := r.Body.Read(raw)
		got = append(got, string(raw[:n]))
		_, _ = w.Write([]byte(`{}`))
	}))
	defer server.Close()
	link := model.NewLink(model.Connection{Name: "test", URL: server.URL}, "", model.Timeouts{})
	m := scriptedModel(calls(call("count", `{}`)), says("Done."))
	m.info.Can.Vision = true
	b.say(m, func(r *turn.Request) {
		r.Model = overHTTP{m, link}
		r.Attachments = []chat.Part{{Kind: chat.PartMedia, Media: &chat.Media{Name: "a.png", Data: []byte(aPNG)}}}
	})
	if len(got) != 2 {
		t.Fatalf("the server got %q", got)
	}
	picture := base64.StdEncoding.EncodeToString([]byte(aPNG))
	for i, m := range []chat.Message{b.path()[1], b.path()[3]} {
		want := strings.Replace(got[i], picture,
			"[8 bytes, SHA-256 4c4b6a3be1314ab86138bef4314dde022e600960d8689a2c8f8631802d20dab6]", 1)
		if string(model.Body(m.Sent).Bytes()) != want || !strings.Contains(want, "SHA-256") {
			t.Errorf("request %d is kept as\n%s\nnot\n%s", i+1, m.Sent, want)
		}
	}
}

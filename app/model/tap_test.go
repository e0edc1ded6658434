package model_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"conclave/app/model"
)

func TestWhatIsSentToAModelCanBeSeenByteForByteAndWithoutTheKey(t *testing.T) {
	var got []byte
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got, _ = io.ReadAll(r.Body)
	}))
	defer server.Close()
	link := model.NewLink(model.Connection{Name: "c", URL: server.URL}, "", model.Timeouts{})
	var seen []model.Sent
	ctx := model.Tap(t.Context(), func(s model.Sent) { seen = append(seen, s) })
	body := strings.Repeat(`{"text":"ä"}`, 1000)
	for range 2 {
		response, err := link.Ask(ctx, "v1/chat", "", model.Body{[]byte(body)}, func(h http.Header) {
			h.Set("Authorization", "Bearer secret")
		})
		must(t, err)
		response.Body.Close()
	}
	if len(seen) != 2 || string(seen[0].Body.Bytes()) != body || string(got) != body || seen[0].Path != "/v1/chat" ||
		seen[0].Host != link.Host() {
		t.Errorf("seen were %d requests, of which the server got %d bytes", len(seen), len(got))
	}
}

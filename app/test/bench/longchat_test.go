//go:build unix

package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/app/test/testkit"
)

// longChat is the number of messages of a long chat.
const longChat = 5000

// chain is the scenario whose requests grow.
const chain = "chain_of_50"

// BenchmarkChainInALongChat compares a chain of calls in a chat of 5,000 messages with the least that it can take.
// Each of its requests holds the whole chat, which the server of any model must read; so that is what a chain in a
// new chat takes, and what a client needs more that only sends the long requests to the same server.
func BenchmarkChainInALongChat(b *testing.B) {
	sent := &recorder{}
	server := httptest.NewServer(sent)
	defer server.Close()
	p := open(b)
	p.run("models", "add", "openai", "bench", "--url", server.URL+"/v1", "--model", chain)
	file := filepath.Join(p.data, "long.json")
	must(b, os.WriteFile(file, longChatFile(), 0o600))
	var whole, floor [2][]float64 // in a new chat, and in the long one
	for range max(b.N, 7) {
		for i := range 2 {
			args := []string{"prompt", "-m", "bench/" + chain, "--approve", "always", "--chain-limit", "0"}
			if i == 1 {
				out, _ := p.run("chats", "import", file, "--json")
				var made struct{ Conversation string }
				must(b, json.Unmarshal([]byte(out), &made))
				args = append(args, "--conversation", made.Conversation)
			}
			sent.begin()
			out, took := p.run(append(args, "Count.")...)
			if !strings.Contains(out, answered) {
				b.Fatalf("it said %q", out)
			}
			whole[i] = append(whole[i], testkit.Milliseconds(took))
			floor[i] = append(floor[i], testkit.Milliseconds(sendAll(b, server.URL, sent.end())))
		}
	}
	middle := func(values []float64) float64 { return testkit.Percentile(values, 50) }
	least := middle(whole[0]) + middle(floor[1]) - middle(floor[0])
	b.ReportMetric(middle(whole[1])/least, "of-the-least")
	b.ReportMetric(1.5, "of-the-least-budget")
	b.ReportMetric(0, "ns/op")
	for i, name := range []string{"a new chat", "a chat of 5,000 messages"} {
		b.Logf("%s: %.0f ms, of which a client that only sends needs %.0f ms", name, middle(whole[i]), middle(floor[i]))
	}
}

// longChatFile is an exported chat of longChat messages.
func longChatFile() []byte {
	var messages []map[string]any
	for i := range longChat {
		role := []string{"user", "assistant"}[i%2]
		messages = append(messages, map[string]any{
			"seq": i + 1, "parent": i, "turn": fmt.Sprint(i / 2), "role": role, "state": "complete",
			"created": "2026-01-01T00:00:00Z",
			"parts":   []any{map[string]any{"kind": "text", "text": strings.Repeat("What a person may write. ", 8)}},
		})
	}
	raw, _ := json.Marshal(map[string]any{ // of texts and numbers
		"format": "conclave-chat/1", "messages": messages,
		"conversation": map[string]any{"id": "long", "title": "Long", "head": longChat, "last": longChat},
	})
	return raw
}

// recorder plays the scenarios, and remembers the requests between begin and end.
type recorder struct {
	mu     sync.Mutex // guards what follows
	on     bool
	bodies [][]byte
}

func (r *recorder) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.on, r.bodies = true, nil
}

func (r *recorder) end() [][]byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.on = false
	return r.bodies
}

// ServeHTTP implements http.Handler.
func (r *recorder) ServeHTTP(w http.ResponseWriter, asked *http.Request) {
	body, err := io.ReadAll(asked.Body)
	if err != nil {
		return // the client is gone
	}
	r.mu.Lock()
	if r.on {
		r.bodies = append(r.bodies, body)
	}
	r.mu.Unlock()
	asked.Body = io.NopCloser(bytes.NewReader(body))
	playScenario(w, asked)
}

// sendAll sends requests one after the other, reads the answers, and returns how long that took.
func sendAll(b *testing.B, url string, bodies [][]byte) time.Duration {
	began := time.Now()
	for _, body := range bodies {
		request, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url+"/v1/chat/completions",
			bytes.NewReader(body))
		must(b, err)
		answer, err := http.DefaultClient.Do(request)
		must(b, err)
		_, err = io.Copy(io.Discard, answer.Body)
		must(b, err)
		must(b, answer.Body.Close())
	}
	return time.Since(began)
}

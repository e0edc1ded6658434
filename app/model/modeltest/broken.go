package modeltest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/model"
	"conclave/app/test/testkit"
)

// patience bounds what must happen soon, on a machine that does much else.
var patience = testkit.Patience

// broken tries what the way to the server can do to a request.
func (w Wire) broken(t *testing.T) {
	text := w.sse(t, "text")
	t.Run("cut", func(t *testing.T) { w.cut(t, text) })
	t.Run("garbage", func(t *testing.T) {
		for name, c := range map[string]struct {
			kind        model.ErrorKind
			contentType string
			body        string
		}{
			"noise":        {model.Malformed, "text/event-stream", "\x00\xff\x01 noise\nnoise: noise\n\n"},
			"data no JSON": {model.Malformed, "text/event-stream", "event: message_start\ndata: {\"choices\": [}\n\n"},
			"a web page":   {model.WrongAddress, "text/html", "<!DOCTYPE html>\n<html><body>It works</body></html>"},
			"nothing":      {model.StreamCut, "text/event-stream", ""},
			"unknown endpoint": {
				model.WrongAddress, "application/json", `{"error":"Unexpected endpoint or method. (POST /chat)"}`,
			},
			"no stream": {model.Malformed, "application/json", `{"id":"1","choices":[]}`},
		} {
			t.Run(name, func(t *testing.T) {
				model := w.open(t, func(out http.ResponseWriter, r *http.Request) {
					out.Header().Set("Content-Type", c.contentType)
					_, _ = io.WriteString(out, c.body)
				})
				h := Hear(model.Stream(t.Context(), question("go on")))
				wantKind(t, h.Err, c.kind)
				equal(t, "events", h.Events, 0)
			})
		}
	})
	t.Run("nobody there", func(t *testing.T) {
		server := httptest.NewServer(http.NotFoundHandler())
		server.Close()
		h := Hear(w.Open(w.connection(server.URL), model.Timeouts{}).Open(w.Model).Stream(t.Context(), question("go on")))
		if e := wantKind(t, h.Err, model.Unreachable); e != nil {
			equal(t, "asked again", e.Retryable(), false) // a local server that is off stays off
			equal(t, "hint", e.Hint(), "Start the model server, or check its address in Settings > Models.")
		}
	})
	t.Run("an address that cannot be", func(t *testing.T) {
		for _, address := range []string{"localhost:1", "http://", "://x", "ftp://example.org"} {
			c := w.connection("")
			c.URL = address
			h := Hear(w.Open(c, model.Timeouts{}).Open(w.Model).Stream(t.Context(), question("go on")))
			wantKind(t, h.Err, model.WrongAddress)
		}
	})
	t.Run("silence", func(t *testing.T) { w.silence(t, text) })
	t.Run("redirect", func(t *testing.T) {
		reached := make(chan string, 9)
		other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			reached <- r.Method + " " + r.URL.Path
		}))
		t.Cleanup(other.Close)
		for _, status := range []int{301, 302, 303, 307, 308} {
			m := w.open(t, func(out http.ResponseWriter, r *http.Request) {
				http.Redirect(out, r, other.URL+r.URL.Path, status)
			})
			h := Hear(m.Stream(t.Context(), question("go on")))
			wantKind(t, h.Err, model.WrongAddress)
		}
		equal(t, "requests at the other server", len(reached), 0)
	})
}

// cut ends the text recording after its first event, in the middle and before its
// last word, cleanly and with the connection torn in the middle of an event.
func (w Wire) cut(t *testing.T, text []byte) {
	separator := "\n\n"
	if strings.Contains(string(text), "\r\n\r\n") {
		separator = "\r\n\r\n"
	}
	events := strings.SplitAfter(string(text), separator)
	last := slices.IndexFunc(events, func(e string) bool { return strings.Contains(e, "done") })
	for _, keep := range []int{1, last / 2, last} {
		for _, torn := range []bool{false, true} {
			body := strings.Join(events[:keep], "")
			if torn {
				body += events[keep][:len(events[keep])/2]
			}
			m := w.open(t, func(out http.ResponseWriter, r *http.Request) {
				serve([]byte(body), 0)(out, r)
				if torn {
					out.(http.Flusher).Flush()
					panic(http.ErrAbortHandler)
				}
			})
			h := Hear(m.Stream(t.Context(), question("go on")))
			wantKind(t, h.Err, model.StreamCut)
			equal(t, "ended", h.Ended, false)
			if !strings.HasPrefix(Greeting, h.Text) {
				t.Errorf("after %d events, torn %v: got %q", keep, torn, h.Text)
			}
		}
	}
}

// silence is a server that accepts and says nothing, or stops in the middle.
func (w Wire) silence(t *testing.T, text []byte) {
	for name, first := range map[string][]byte{"from the start": nil, "in the middle": text[:len(text)/2]} {
		t.Run(name, func(t *testing.T) {
			release := make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if first != nil {
					serve(first, 0)(out, r)
					out.(http.Flusher).Flush()
				}
				select {
				case <-release:
				case <-r.Context().Done():
				}
			}))
			defer server.Close()
			defer close(release)
			// The wait for the first byte is long where that is not what is tested.
			timeouts := model.Timeouts{First: patience, Idle: 100 * time.Millisecond}
			if first == nil {
				timeouts.First = 100 * time.Millisecond
			}
			h := Hear(w.Open(w.connection(server.URL), timeouts).Open(w.Model).Stream(t.Context(), question("go on")))
			wantKind(t, h.Err, model.TimedOut)
		})
	}
}

// stopping ends streams from this side: the request must end at once, at the
// server too.
func (w Wire) stopping(t *testing.T) {
	text := w.sse(t, "text")
	// endless sends the first half of the text and waits for the other side to go.
	endless := func(gone chan<- struct{}) http.HandlerFunc {
		return func(out http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			serve(text[:len(text)*2/3], 0)(out, r)
			out.(http.Flusher).Flush()
			<-r.Context().Done()
			close(gone)
		}
	}
	wait := func(t *testing.T, gone <-chan struct{}) {
		t.Helper()
		select {
		case <-gone:
		case <-time.After(patience):
			t.Error("the server still waits")
		}
	}
	t.Run("by the context", func(t *testing.T) {
		gone := make(chan struct{})
		stopped := errors.New("you stopped it")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		model := w.open(t, endless(gone))
		var last error
		for _, err := range model.Stream(ctx, question("go on")) {
			last = err
			cancel(stopped)
		}
		equal(t, "cause", errors.Is(last, stopped), true)
		wait(t, gone)
	})
	t.Run("by leaving the loop", func(t *testing.T) {
		gone := make(chan struct{})
		for range w.open(t, endless(gone)).Stream(t.Context(), question("go on")) {
			break
		}
		wait(t, gone)
	})
	t.Run("before the start", func(t *testing.T) {
		stopped := errors.New("you stopped it")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(stopped)
		h := Hear(w.open(t, serve(text, 0)).Stream(ctx, question("go on")))
		equal(t, "cause", errors.Is(h.Err, stopped), true)
		equal(t, "events", h.Events, 0)
	})
}

// keys checks where the secret goes, and where not.
func (w Wire) keys(t *testing.T) {
	text := w.sse(t, "text")
	t.Run("sent, and hidden from errors", func(t *testing.T) {
		m := w.open(t, func(out http.ResponseWriter, r *http.Request) {
			sent := ""
			for _, name := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key"} {
				sent += r.Header.Get(name)
			}
			if !strings.Contains(sent, Key) {
				t.Errorf("the key is not in the headers: %q", sent)
			}
			if strings.Contains(r.URL.String(), "horse") {
				t.Errorf("the key is in the address: %s", r.URL)
			}
			out.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(out,
				`{"error":{"message":"Incorrect API key provided: `+Key+`. Or was it sk-proj-abcdefgh****wxyz?"}}`)
		})
		h := Hear(m.Stream(t.Context(), question("go on")))
		e := wantKind(t, h.Err, model.KeyRefused)
		if e == nil {
			return
		}
		for _, shown := range []string{e.Error(), e.Detail, e.Sentence(), e.Hint(), e.Fault().Error()} {
			if strings.Contains(shown, "horse") || strings.Contains(shown, "wxyz") {
				t.Errorf("a secret is shown: %s", shown)
			}
		}
		equal(t, "sentence", e.Sentence(), "mine did not accept the key (401).")
	})
	t.Run("none needed", func(t *testing.T) {
		t.Setenv("OPENAI_API_KEY", "from the environment")
		t.Setenv("ANTHROPIC_API_KEY", "from the environment")
		t.Setenv("GEMINI_API_KEY", "from the environment")
		server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			for _, name := range []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key"} {
				equal(t, name, r.Header.Get(name), "")
			}
			equal(t, "own header", r.Header.Get("X-Team"), "blue")
			serve(text, 0)(out, r)
		}))
		t.Cleanup(server.Close)
		c := model.Connection{
			Name: "mine", Kind: w.Kind, URL: server.URL + w.Base, Headers: map[string]string{"X-Team": "blue"},
		}
		h := Hear(w.Open(c, model.Timeouts{}).Open(w.Model).Stream(t.Context(), question("go on")))
		equal(t, "text", h.Text, Greeting)
	})
	t.Run("none given, one wanted", func(t *testing.T) {
		server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
			out.WriteHeader(http.StatusUnauthorized)
		}))
		t.Cleanup(server.Close)
		c := model.Connection{Name: "mine", Kind: w.Kind, URL: server.URL + w.Base}
		h := Hear(w.Open(c, model.Timeouts{}).Open(w.Model).Stream(t.Context(), question("go on")))
		wantKind(t, h.Err, model.KeyMissing)
	})
	t.Run("store locked", func(t *testing.T) {
		c := w.connection("http://127.0.0.1:1")
		c.Key = func(context.Context) (string, error) {
			return "", fault.New(fault.Locked, "keys.get", "The keychain is locked.", "Unlock it, then try again.")
		}
		h := Hear(w.Open(c, model.Timeouts{}).Open(w.Model).Stream(t.Context(), question("go on")))
		if e := wantKind(t, h.Err, model.KeyMissing); e != nil {
			equal(t, "sentence", e.Sentence(), "The keychain is locked.")
			equal(t, "hint", e.Hint(), "Unlock it, then try again.")
		}
	})
}

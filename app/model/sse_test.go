package model_test

import (
	"compress/gzip"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/model"
	"conclave/app/model/modeltest"
	"conclave/app/model/openai"
)

// asked asks a model at an address and returns what failed.
func asked(t *testing.T, address string) *model.Error {
	t.Helper()
	p := openai.New(model.Connection{Name: "mine", URL: address}, openai.Options{})
	h := modeltest.Hear(p.Open("m").Stream(t.Context(), model.Request{
		Messages: []model.Message{{Role: chat.RoleUser, Parts: []chat.Part{chat.TextPart("Go on.")}}},
	}))
	e, ok := errors.AsType[*model.Error](h.Err)
	if !ok {
		t.Fatalf("got %v", h.Err)
	}
	return e
}

func TestAnEventWithoutEndIsStoppedWithItsBound(t *testing.T) {
	for name, begin := range map[string]string{
		"an event": `data: {"choices":[{"delta":{"content":"`, "JSON in one piece": `{"choices":[{"message":{"content":"`,
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
				_, err := io.WriteString(out, begin)
				for piece := strings.Repeat("x", 1<<20); err == nil; {
					_, err = io.WriteString(out, piece)
				}
			}))
			defer server.Close()
			e := asked(t, server.URL)
			if e.Kind != model.Malformed || !strings.Contains(e.Sentence(), limit.Size(limit.StreamEvent)) ||
				strings.Contains(e.Hint(), "address") {
				t.Errorf("%s / %s", e.Sentence(), e.Hint())
			}
		})
	}
}

func TestAServerThatAnsweredIsNotCalledUnreachable(t *testing.T) {
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	raw := func(answer string) string {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		t.Cleanup(func() { listener.Close() })
		go func() { // ends with the listener
			for {
				c, err := listener.Accept()
				if err != nil {
					return
				}
				_, _ = c.Read(make([]byte, 64<<10))
				_, _ = io.WriteString(c, answer)
				c.Close()
			}
		}()
		return "http://" + listener.Addr().String()
	}
	var packed strings.Builder
	w := gzip.NewWriter(&packed)
	_, _ = io.WriteString(w, `data: {"choices":[{"delta":{"content":"hi"}}]}`+"\n\n")
	must(t, w.Close())
	broken := packed.String()[:20] + "\x00\x00\x00\x00" + packed.String()[24:]
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
	for name, c := range map[string]struct {
		address string
		kind    model.ErrorKind
		says    string
	}{
		"HTTPS to HTTP": {"https://" + plain.Listener.Addr().String(), model.WrongAddress, "begins with http://"},
		"HTTP to HTTPS": {"http://" + secure.Listener.Addr().String(), model.WrongAddress, ""},
		"a TLS alert":   {raw("\x15\x03\x01\x00\x02\x02\x46"), model.WrongAddress, "begins with https://"},
		"no gzip":       {raw(head + "Content-Encoding: gzip\r\n\r\nnot packed"), model.Malformed, "compressed"},
		"damaged gzip":  {raw(head + "Content-Encoding: gzip\r\n\r\n" + broken), model.Malformed, "compressed"},
		"damaged chunk sizes": {
			raw(head + "Transfer-Encoding: chunked\r\n\r\nzz\r\ndata: x\r\n"), model.Malformed, "lengths",
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := asked(t, c.address)
			if e.Kind != c.kind || !strings.Contains(e.Sentence(), c.says) ||
				strings.Contains(e.Hint(), "Start the model") {
				t.Errorf("%s: %s / %s / %v", e.Kind, e.Sentence(), e.Hint(), e.Err)
			}
		})
	}
}

func TestNothingIsSaidToBeKeptWhereNothingCame(t *testing.T) {
	for name, body := range map[string]string{
		"nothing": "", "half an event": `data: {"choices":[{"del`, "a comment": ": hello\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(out, body)
			}))
			defer server.Close()
			if e := asked(t, server.URL); e.Kind != model.StreamCut || strings.Contains(e.Hint(), "kept") {
				t.Errorf("%s: %s / %s", e.Kind, e.Sentence(), e.Hint())
			}
		})
	}
}

func TestAnAddressIsCutToItsBase(t *testing.T) {
	paths := make(chan string, 2)
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		paths <- r.URL.RequestURI()
		_, _ = io.WriteString(out, `{"data":[]}`)
	}))
	defer server.Close()
	for ending, want := range map[string][2]string{
		"/v1":                   {"/v1/chat/completions", "/v1/models"},
		"/v1/":                  {"/v1/chat/completions", "/v1/models"},
		"/v1/chat/completions":  {"/v1/chat/completions", "/v1/models"},
		"/v1/chat/completions/": {"/v1/chat/completions", "/v1/models"},
		"/v1/Chat/Completions":  {"/v1/chat/completions", "/v1/models"},
		"/v1/completions":       {"/v1/chat/completions", "/v1/models"},
		"/v1/models":            {"/v1/chat/completions", "/v1/models"},
		"/v1/responses":         {"/v1/chat/completions", "/v1/models"},
		"/v1?x=1":               {"/v1/chat/completions?x=1", "/v1/models?x=1"},
		"/v1/models?x=1#top":    {"/v1/chat/completions?x=1", "/v1/models?x=1"},
		"/openai/deployments/a?api-version=2024-6": {
			"/openai/deployments/a/chat/completions?api-version=2024-6", "/openai/deployments/a/models?api-version=2024-6",
		},
		"": {"/chat/completions", "/models"},
	} {
		p := openai.New(model.Connection{Name: "mine", URL: server.URL + ending}, openai.Options{})
		_ = modeltest.Hear(p.Open("m").Stream(t.Context(), model.Request{}))
		_, _ = p.Models(t.Context())
		if got := [2]string{<-paths, <-paths}; got != want {
			t.Errorf("%s: asked %v, want %v", ending, got, want)
		}
	}
}

func TestACutPromptIsNoticed(t *testing.T) {
	long := model.Request{Messages: []model.Message{
		{Role: chat.RoleUser, Parts: []chat.Part{chat.TextPart(strings.Repeat("word ", 12000))}},
	}}
	for name, c := range map[string]struct {
		request      model.Request
		read, window int64
		said         bool
	}{
		"far less was read":             {long, 4096, 0, true},
		"far less, as it was loaded":    {long, 4096, 4096, true},
		"nothing is known":              {long, 0, 0, false},
		"nothing said, loaded for less": {long, 0, 4096, true},
		"about all":                     {long, 12000, 0, false},
		"half of it, and it fits":       {long, 7000, 40960, false},
		"a short one":                   {model.Request{System: strings.Repeat("word ", 300)}, 20, 0, false},
		"large tools, which are not text": {
			model.Request{Tools: []model.ToolDefinition{{Description: strings.Repeat("word ", 9000)}}}, 900, 0, false,
		},
	} {
		if note := model.CutNote(c.request, c.read, c.window, nil); (note != "") != c.said {
			t.Errorf("%s: %q", name, note)
		}
	}
}

func FuzzEvents(f *testing.F) {
	for _, seed := range []string{
		"data: {}\n\n", "\xEF\xBB\xBFdata: 1\r\rdata: 2\r\n\r\n", "[{},{}]", "{}{}", "event: error\ndata: x", "[",
		": x\n\n", "data:",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		events := model.NewEventReader(strings.NewReader(body))
		for n := 0; ; n++ {
			if _, err := events.Next(); err != nil {
				break
			}
			if n > len(body) {
				t.Fatal("it has more events than bytes")
			}
		}
	})
}

func FuzzJoint(f *testing.F) {
	f.Add(`a😀b`, 3)
	f.Add(`\ud83d\ude00`, 6)
	f.Fuzz(func(t *testing.T, text string, cut int) {
		if cut < 0 || cut > len(text) || strings.ContainsAny(text, "\"\\") {
			return
		}
		var j model.Joint
		got := j.Next([]byte(`"`+text[:cut]+`"`)) + j.Next([]byte(`"`+text[cut:]+`"`)) + j.Rest()
		control := strings.ContainsFunc(text, func(r rune) bool { return r < ' ' })
		if utf8.ValidString(text) && !control && got != text {
			t.Errorf("%q cut at %d is %q", text, cut, got)
		}
	})
}

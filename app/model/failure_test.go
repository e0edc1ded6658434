package model

import (
	"crypto/x509"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"conclave/app/base/fault"
)

func TestEveryKindHasItsSentenceAndHint(t *testing.T) {
	kinds := []ErrorKind{
		KeyRefused, KeyMissing, RateLimited, QuotaUsedUp, Overloaded, ContextTooLong, ModelUnknown, NoTools, BadRequest,
		Unreachable, TimedOut, StreamCut, Malformed, Filtered, WrongAddress, TooMuch,
	}
	seen := map[string]ErrorKind{}
	for _, kind := range kinds {
		e := &Error{Kind: kind, Provider: "openai", Model: "gpt-9", Host: "api.openai.com", Status: 418}
		sentence := e.Sentence()
		if other, ok := seen[sentence]; ok {
			t.Errorf("%s and %s both say %q", kind, other, sentence)
		}
		seen[sentence] = kind
		if !strings.HasSuffix(sentence, ".") || !strings.HasSuffix(e.Hint(), ".") ||
			!strings.Contains(sentence, "openai") && !strings.Contains(sentence, "gpt-9") {
			t.Errorf("%s: %q %q", kind, sentence, e.Hint())
		}
		if f := e.Fault(); f.Kind != fault.Provider || f.Message != sentence || f.Hint != e.Hint() {
			t.Errorf("%s: the fault says %q %q", kind, f.Message, f.Hint)
		}
	}
}

func TestSentencesOfErrors(t *testing.T) {
	for want, e := range map[string]*Error{
		"openai did not accept the key (401).": {Kind: KeyRefused, Provider: "openai", Status: 401},
		"openai accepts no further requests for 12 s.": {
			Kind: RateLimited, Provider: "openai", Status: 429, RetryAfter: 11200 * time.Millisecond,
		},
		"openai accepts no further requests for 5 min.": {
			Kind: RateLimited, Provider: "openai", Status: 429, RetryAfter: 4*time.Minute + time.Second,
		},
		"openai accepts no further requests for 3 h.": {
			Kind: RateLimited, Provider: "openai", Status: 429, RetryAfter: 3 * time.Hour,
		},
		"openai accepts no further requests for the moment (429).": {Kind: RateLimited, Provider: "openai", Status: 429},
		"openai is overloaded (529).":                              {Kind: Overloaded, Provider: "openai", Status: 529},
		"openai failed to answer (500).":                           {Kind: Overloaded, Provider: "openai", Status: 500},
		"ollama could not be reached at localhost:11434.": {
			Kind: Unreachable, Provider: "ollama", Host: "localhost:11434",
		},
		"The provider declined to answer.":  {Kind: Filtered},
		"This chat is too long for gpt-4o.": {Kind: ContextTooLong, Provider: "openai", Model: "gpt-4o"},
		"There is no model server for mine at 127.0.0.1:80 (404).": {
			Kind: WrongAddress, Provider: "mine", Host: "127.0.0.1:80", Status: 404,
		},
		"There is no model server at a.example:80: it answered with a web page.": {
			Kind: WrongAddress, Provider: "a.example:80", Host: "a.example:80", Found: "it answered with a web page",
		},
		"mine closed the connection without an answer.": {Kind: StreamCut, Provider: "mine", Unanswered: true},
		"mine sent something that is not an answer of its kind at 127.0.0.1:1.": {
			Kind: Malformed, Provider: "mine", Host: "127.0.0.1:1",
		},
	} {
		if got := e.Sentence(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	far := &Error{Kind: Unreachable, Provider: "x", Host: "example.org:443", Err: x509.UnknownAuthorityError{}}
	if !strings.Contains(far.Hint(), "certificate") || !far.Retryable() {
		t.Errorf("hint %q, retryable %v", far.Hint(), far.Retryable())
	}
}

func FuzzNoTextThatHoldsAKeyIsPassedOver(f *testing.F) {
	for _, text := range []string{
		"sk-abcdefgh12", "a pplx_ABCDEFGH1", "Bearer abcdefgh", "?API_KEY=x", "ya29.abcdefgh",
		"0123456789abcdef0123456789ABCDEF.0123456789abcdef", "skyscraper", "ſk-abcdefgh12", "\u212a=",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !mayHoldKey(text) && keyShapes().MatchString(text) {
			t.Errorf("%q holds a key, and is not looked at", text)
		}
	})
}

func TestSecretsAreMaskedWhereverTheyStand(t *testing.T) {
	for text, want := range map[string]string{
		"Incorrect API key provided: sk-proj-aB3_****wxyz.":  "Incorrect API key provided: •••",
		"key sk-ant-api03-AbCdEf123456-x is bad":             "key ••• is bad",
		"consumer 'api_key:AIzaSyA1234567890abcdefgh' is":    "consumer 'api_key:•••' is",
		"Authorization: Bearer abcdef123456.x":               "Authorization: •••",
		"GET /v1/models?key=abc&alt=sse":                     "GET /v1/models?key=•••&alt=sse",
		"gsk_abcdefgh12345678, xai-abcdefgh12345678":         "•••, •••",
		"0123456789abcdef0123456789abcdef.ABCDEFGHijklmnop!": "•••!",
		"mistral keys look like nothing: hush-hush":          "mistral keys look like nothing: •••",
		"a risk-free disk-based task of hfs":                 "a risk-free disk-based task of hfs",
		"the model sk8r is not found":                        "the model sk8r is not found",
		"skyscraper, r8r4q2ZC7WJ2Y5KQ":                       "skyscraper, r8r4q2ZC7WJ2Y5KQ",
		"skepticism, a skyscraper, hfDetector-of-things":     "skepticism, a skyscraper, hfDetector-of-things",
		"AIzaSyA-abcdefgh12345678 and sk-proj_abcdefgh":      "••• and •••",
	} {
		if got := maskKeys(text, "hush-hush", "abc"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	header := http.Header{"Authorization": {"Bearer one two"}, "X-Api-Key": {"three"}}
	if got := strings.Join(secrets(header), "|"); got != "one two|three" {
		t.Errorf("secrets are %s", got)
	}
}

func TestDetailsAreCleanedForPeople(t *testing.T) {
	if got := clean("a\x00b\n\n c\x1b[31m \xff"); got != "ab c[31m \uFFFD" {
		t.Errorf("got %q", got)
	}
	if got := len([]rune(clean(strings.Repeat("ü ", 2000)))); got != 600 {
		t.Errorf("%d characters", got)
	}
}

func TestRetryAfterIsReadInEveryForm(t *testing.T) {
	google := refusal{}
	if err := json.Unmarshal([]byte(`{"details":[{},{"retryDelay":"31.5s"}]}`), &google); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		header http.Header
		said   refusal
		want   time.Duration
	}{
		"seconds":    {header: http.Header{"Retry-After": {"7"}}, want: 7 * time.Second},
		"a fraction": {header: http.Header{"Retry-After": {"0.25"}}, want: 250 * time.Millisecond},
		"milliseconds first": {
			header: http.Header{"Retry-After": {"7"}, "Retry-After-Ms": {"1500"}}, want: 1500 * time.Millisecond,
		},
		"a date long gone":  {header: http.Header{"Retry-After": {"Wed, 21 Oct 2015 07:28:00 GMT"}}},
		"nonsense":          {header: http.Header{"Retry-After": {"soon"}}},
		"less than nothing": {header: http.Header{"Retry-After": {"-3"}}},
		"for ever":          {header: http.Header{"Retry-After": {"1e300"}}, want: 31 * 24 * time.Hour},
		"not a number":      {header: http.Header{"Retry-After": {"NaN"}}},
		"Google's":          {said: google, want: 31500 * time.Millisecond},
		"a budget at zero": {
			header: http.Header{
				"X-Ratelimit-Remaining-Requests": {"0"}, "X-Ratelimit-Reset-Requests": {"1m3s"}, "X-Ratelimit-Reset-Tokens": {"9m"},
				"X-Ratelimit-Remaining-Tokens": {"8"},
			},
			want: 63 * time.Second,
		},
		"a budget that is not it": {
			header: http.Header{"X-Ratelimit-Remaining-Requests": {"9"}, "X-Ratelimit-Reset-Requests": {"1m3s"}},
		},
		"nothing at all, no panic": {},
	} {
		if got := retryAfter(c.header, c.said); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestLoopbackIsThisComputerAlone(t *testing.T) {
	for host, want := range map[string]bool{
		"localhost": true, "LOCALHOST:11434": true, "127.0.0.1:80": true, "127.9.9.9": true, "[::1]:8080": true, "::1": true,
		"app.localhost": true, "localhost.": true,
		"[::ffff:127.0.0.1]:80": true, "example.org": false, "localhost.example.org": false, "192.168.1.5:11434": false,
		"0.0.0.0": false, "": false, "127.0.0.1.nip.io": false,
	} {
		if got := IsLoopback(host); got != want {
			t.Errorf("%q: got %v", host, got)
		}
	}
}

func TestProxyIsNotAskedForThisComputer(t *testing.T) {
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost:11434/", nil)
	if err != nil {
		t.Fatal(err)
	}
	if via, err := proxy(r); via != nil || err != nil {
		t.Errorf("via %v, error %v", via, err)
	}
}

func TestBrokenConnectionsAreDistinguished(t *testing.T) {
	for want, err := range map[ErrorKind]error{
		Unreachable: syscall.ECONNREFUSED, StreamCut: syscall.ECONNRESET, TimedOut: errSilent, Malformed: &json.SyntaxError{},
	} {
		if got := onTheWay(errors.Join(errors.New("read"), err)).Kind; got != want {
			t.Errorf("%v: got %s, want %s", err, got, want)
		}
	}
}

func FuzzRefused(f *testing.F) {
	for _, seed := range []string{
		"", "{}", "[]", `{"error":"x"}`, `{"error":{"message":1,"code":"429"}}`, `[{"error":{}}]`, `{"detail":[{"msg":"x"}]}`,
		"<html>", "\xff",
	} {
		f.Add(400, seed)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		e := refused(status, nil, []byte(body))
		if e.Kind == "" || e.Sentence() == "" || e.Hint() == "" || strings.Contains(e.Detail, "\n") {
			t.Errorf("%d %q: %+v", status, body, e)
		}
	})
}

package httptools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"conclave/app/base/limit"
	"conclave/app/net/loopback"
)

// answerTooLong tells the model that a tool answered more than limit.CallbackAnswer.
const answerTooLong = "the tool answered more than 3 MiB with pictures, or a text of more than 1 MiB, the most that " +
	"is read"

// request holds the body that a callback is sent (contracts/neko, item 54).
type request struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	CallID    string          `json:"call_id"`
	Raw       string          `json:"raw_arguments"`
}

// caller calls callbacks. It connects to addresses of this computer alone, to the one that
// a tool was registered with and to no other, follows no redirects, uses no proxy, and
// keeps no cookies.
type caller struct {
	http    *http.Client
	reached atomic.Pointer[Pool] // it learns which addresses answer
}

// addressKey is the key of a context for the address that a request is for.
type addressKey struct{}

// maxConnections bounds the connections to one address (contracts/neko, item 55).
const maxConnections = 20

// errSwitched is said of a program that answers in another protocol.
var errSwitched = errors.New("it goes on in another protocol than HTTP")

func newCaller() *caller {
	c := &caller{}
	dialer := newDialer()
	c.http = &http.Client{
		Transport: &http.Transport{
			Proxy: nil,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				at, ok := ctx.Value(addressKey{}).(netip.AddrPort)
				if !ok || !mayCall(at.Addr()) {
					return nil, errCallback
				}
				conn, err := dialer.DialContext(ctx, "tcp", at.String())
				if ctx.Err() == nil {
					c.note(at, err == nil)
				}
				if err != nil {
					return nil, err
				}
				return conn, nil
			},
			// Each call connects again: who answers is looked at each time, and a service that was
			// restarted is not taken for one that failed.
			DisableKeepAlives: true, MaxConnsPerHost: maxConnections, MaxResponseHeaderBytes: 64 << 10,
			DisableCompression: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c
}

func (c *caller) note(at netip.AddrPort, ok bool) {
	if p := c.reached.Load(); p != nil {
		p.reached(at, ok)
	}
}

// call calls a tool's callback and returns its result. It ends at the deadline.
func (c *caller) call(ctx context.Context, t *Registration, asked request, deadline time.Time) Outcome {
	if len(asked.Arguments) == 0 {
		asked.Arguments = json.RawMessage("{}")
	}
	if asked.Raw == "" {
		asked.Raw = string(asked.Arguments)
	}
	body, err := encode(asked)
	if err != nil {
		return failure("", err)
	}
	ctx, cancel := context.WithDeadline(context.WithValue(ctx, addressKey{}, t.Address), deadline)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, t.CallbackURL, bytes.NewReader(body))
	if err != nil {
		return failure("InvalidURL", err)
	}
	if req.Host = req.URL.Host; req.URL.Scheme == "http" {
		req.URL.Host = t.Address.String() // connections are counted by this name
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Conclave")
	resp, err := c.http.Do(req)
	if err != nil {
		return networkFailure(ctx, t, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusSwitchingProtocols { // what follows is no answer, and ends at no deadline
		return networkFailure(ctx, t, errSwitched)
	}
	most := int64(limit.CallbackAnswer)
	answer, err := io.ReadAll(io.LimitReader(resp.Body, most+1))
	switch {
	case err != nil:
		return networkFailure(ctx, t, err)
	case int64(len(answer)) > most:
		return Outcome{Failed: true, Text: answerTooLong}
	case resp.StatusCode >= http.StatusBadRequest:
		return Outcome{Failed: true, Text: fmt.Sprintf("remote tool callback returned HTTP %d: %s", resp.StatusCode,
			firstCharacters(answer, 200))}
	}
	return interpret(answer)
}

// networkFailure returns why a callback was not answered, in upstream's words and in a sentence
// that says what to do; or that the time is up.
func networkFailure(ctx context.Context, t *Registration, err error) Outcome {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return Outcome{TimedOut: true}
	}
	class, says := "ReadError", "The program that answers at "+t.origin()+" did not send a whole answer: "+
		"see what it logged."
	operation, ok := errors.AsType[*net.OpError](err)
	_, stranger := errors.AsType[*loopback.Stranger](err)
	switch {
	case stranger:
		class, says = "ConnectError", "It was not called: have the program that registered this tool listen at a port "+
			"that nobody else has, and register again."
	case ok && operation.Op == "dial":
		class, says = "ConnectError", "Nothing answers at "+t.origin()+", where this tool is called: "+
			"start the program that registered it. It registers again when it starts."
	}
	for errors.Unwrap(err) != nil { // the innermost says it without the address
		err = errors.Unwrap(err)
	}
	failed := failure(class, err)
	failed.Text += ". " + says
	return failed
}

func failure(class string, err error) Outcome {
	return Outcome{Failed: true, Text: "remote tool callback HTTP failure: " + strings.TrimPrefix(class+": ", ": ") +
		err.Error()}
}

// firstCharacters returns the beginning of a text.
func firstCharacters(raw []byte, n int) string {
	text := strings.ToValidUTF8(string(raw), "�")
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n])
}

// encode writes JSON as other languages do: <, > and & stand for themselves.
func encode(value any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

package service

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"conclave/app/base/fault"
	"conclave/app/net/fetch"
	"conclave/app/plugin"

	"github.com/google/uuid"
)

// Bounds of http.request (contracts/spindle, section 5.4.11). A body beyond pieceBytes is
// read on with http.read, since a line of the wire holds 4 MiB.
const (
	maxBody    = 25 << 20
	pieceBytes = 2 << 20
	restTime   = time.Minute
	maxRests   = 4 // bodies of one plugin that are still to be read
)

// requestTime bounds a request and its answer.
var requestTime = fetch.Patience

// webServices make requests to servers.
type webServices struct {
	o       *Options
	secrets *Secrets
	held    held // of answers

	mu    sync.Mutex       // guards rests
	rests map[string]*rest // bodies that are still to be read
}

type httpArgs struct {
	URL     string            `json:"url"`
	Method  string            `json:"method"`
	Headers map[string]string `json:"headers"`
	Body    *string           `json:"body"`
	Base64  *string           `json:"base64"`
	Binary  bool              `json:"binary"`
}

type httpAnswer struct {
	Status     int               `json:"status"`
	StatusText string            `json:"status_text"`
	URL        string            `json:"url"` // after redirects
	Headers    map[string]string `json:"headers"`
	Body       *string           `json:"body,omitempty"`
	Base64     *string           `json:"base64,omitempty"`
	Rest       string            `json:"rest,omitempty"`
}

// ours are the headers that a request's sender sets itself.
var ours = []string{
	"host", "connection", "content-length", "transfer-encoding", "upgrade", "te", "trailer", "proxy-authorization",
	"proxy-connection", "accept-encoding",
}

func (s *webServices) request(ctx context.Context, by plugin.Caller, a httpArgs) (any, error) {
	address, err := url.Parse(a.URL)
	if err != nil || (address.Scheme != "http" && address.Scheme != "https") || address.Host == "" {
		return nil, invalid("Only http and https addresses can be asked.")
	}
	address.User = nil // it would be sent as a password nobody saw
	body, err := a.body()
	if err != nil {
		return nil, err
	}
	ctx, cancel := fetch.WithPatience(ctx, requestTime,
		fault.New(fault.Timeout, "service.http", address.Host+" did not answer within 30 s.", ""))
	defer cancel()
	method := strings.ToUpper(strings.TrimSpace(a.Method))
	if method == "" {
		method = http.MethodGet
	}
	if method == http.MethodConnect || method == http.MethodTrace {
		return nil, invalid("The method " + method + " cannot be used.")
	}
	r, err := http.NewRequestWithContext(ctx, method, address.String(), strings.NewReader(body))
	if err != nil {
		return nil, invalid("That request cannot be made: " + err.Error() + ".")
	}
	r.Header.Set("User-Agent", "Conclave")
	for name, value := range a.Headers {
		if slices.Contains(ours, strings.ToLower(name)) {
			continue
		}
		r.Header.Set(name, value)
	}
	client := s.o.Web.Client(by.Plugin, by.Call)
	secrets := &putting{s: s.secrets, by: by, over: client.Transport}
	if s.o.Keys != nil {
		client.Transport = secrets
	}
	response, err := client.Do(r)
	if err != nil {
		return nil, httpFault(ctx, address.Host, err)
	}
	defer response.Body.Close()
	s.forgetOldRests()
	pieces, size, err := s.held.read(by.Plugin, response.Body)
	defer func() { s.held.give(by.Plugin, size) }() // size is then what no rest holds
	switch {
	case errors.Is(err, errTooMuchHeld):
		return nil, refused("The answers of servers that this plugin waits for hold more than 64 MiB, or those of " +
			"all plugins more than 256 MiB. Ask for fewer at once, or read on what is left of earlier ones.")
	case err != nil:
		return nil, httpFault(ctx, address.Host, err)
	case size > maxBody:
		return nil, fault.New(fault.Invalid, "service.http",
			fmt.Sprintf("%s answered more than %d MB.", address.Host, maxBody>>20), "")
	}
	out := httpAnswer{
		Status: response.StatusCode, StatusText: http.StatusText(response.StatusCode), URL: response.Request.URL.String(),
		Headers: map[string]string{},
	}
	for name, values := range response.Header {
		out.Headers[strings.ToLower(name)] = secrets.mask(strings.Join(values, ", "))
	}
	out.URL = secrets.mask(out.URL)
	secrets.maskPieces(pieces)
	if !a.Binary && len(pieces) == 1 && utf8.Valid(pieces[0]) {
		text := string(pieces[0])
		out.Body = &text
		return out, nil
	}
	first, id, err := s.pieceOf(by.Plugin, pieces)
	out.Base64, out.Rest = &first, id
	if id != "" {
		size = int64(len(pieces[0]))
	}
	return out, err
}

func (a httpArgs) body() (string, error) {
	switch {
	case a.Base64 != nil:
		data, err := base64.StdEncoding.DecodeString(*a.Base64)
		if err != nil {
			return "", invalid("The bytes to send are not base64.")
		}
		return string(data), nil
	case a.Body != nil:
		return *a.Body, nil
	}
	return "", nil
}

func httpFault(ctx context.Context, host string, err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	no, isRefused := errors.AsType[*fetch.Refused](err)
	switch {
	case isRefused && !near(host):
		return refused("PERMISSION_DENIED: " + web + " – it may not connect to " + no.Host + ": " + no.Reason + ".")
	case isRefused, errors.Is(err, fetch.ErrPrivate):
		return refused("PERMISSION_DENIED: " + LocalNetwork + " – " + host +
			" is this computer or in its own network, which a plugin reaches only where you allow it that address: in its " +
			"menu, “What it may reach…”, or with conclave plugins grant.")
	case ctx.Err() != nil:
		return fault.Of(context.Cause(ctx))
	}
	cause := err
	if u, ok := errors.AsType[*url.Error](err); ok {
		cause = u.Err
	}
	return fault.Wrap(fault.Unavailable, "service.http", host+" could not be reached: "+cause.Error()+".", "", err)
}

// near reports whether a URL's host is an address of this computer or its own network.
func near(host string) bool {
	name := (&url.URL{Host: host}).Hostname()
	at, err := netip.ParseAddr(name)
	return strings.EqualFold(name, "localhost") || err == nil && !fetch.Public(netip.AddrPortFrom(at, 0))
}

// rest holds what is still to be read of a body, in pieces that the plugin's share of
// what is held counts.
type rest struct {
	plugin string
	pieces [][]byte
	at     time.Time
}

// forgetOldRests drops what nobody read on in time.
func (s *webServices) forgetOldRests() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, r := range s.rests {
		if s.o.Now().Sub(r.at) >= restTime {
			delete(s.rests, name)
			s.held.give(r.plugin, sizeOf(r.pieces))
		}
	}
}

// pieceOf returns the first piece of a body as base64, and a name for what is left.
func (s *webServices) pieceOf(id string, pieces [][]byte) (piece, left string, err error) {
	if len(pieces) > 1 {
		if left, err = s.keepRest(id, pieces[1:]); err != nil {
			return "", "", err
		}
	}
	return base64.StdEncoding.EncodeToString(pieces[0]), left, nil
}

func (s *webServices) keepRest(id string, pieces [][]byte) (name string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, r := range s.rests {
		if r.plugin == id {
			n++
		}
	}
	if n >= maxRests {
		return "", refused("Too many large answers wait to be read on.")
	}
	name = uuid.NewString()
	s.rests[name] = &rest{id, pieces, s.o.Now()}
	return name, nil
}

type restArgs struct {
	Rest string `json:"rest"`
}

func (s *webServices) readRest(_ context.Context, by plugin.Caller, a restArgs) (any, error) {
	s.forgetOldRests()
	s.mu.Lock()
	r := s.rests[a.Rest]
	if r == nil || r.plugin != by.Plugin {
		s.mu.Unlock()
		return nil, missing("There is nothing left to read under that name.")
	}
	delete(s.rests, a.Rest)
	s.mu.Unlock()
	piece, left, err := s.pieceOf(by.Plugin, r.pieces)
	if err != nil { // another body took the place meanwhile
		s.held.give(by.Plugin, sizeOf(r.pieces))
		return nil, err
	}
	s.held.give(by.Plugin, int64(len(r.pieces[0])))
	out := map[string]any{"base64": piece}
	if left != "" {
		out["rest"] = left
	}
	return out, nil
}

package llm

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"conclave/app/loopback"
	"conclave/app/shorten"
)

// Fail returns err as a Model's stream may yield it: ctx's cause when it ended,
// else an *Error with the model's name in it.
func (l *Link) Fail(ctx context.Context, model string, err error) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	e, ok := errors.AsType[*Error](err)
	if !ok {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err // the address in it says nothing new
		}
		e = onTheWay(err)
	}
	known := *e
	known.Provider, known.Host, known.Model = l.who(), l.Host(), model
	return &known
}

// Said returns the *Error of a failure that the provider sent in the middle of its
// stream: body is its JSON, with or without an outer {"error": …}.
func (l *Link) Said(model string, body []byte) *Error {
	e := refused(0, nil, body)
	e.Provider, e.Host, e.Model = l.who(), l.Host(), model
	return e
}

// Unfinished returns why an answer ended without saying that it was whole: it
// was cut, or it never was an answer.
func (l *Link) Unfinished(model string, answer *Answer, events int) *Error {
	e := &Error{Kind: StreamCut, Provider: l.who(), Host: l.Host(), Model: model, Err: io.ErrUnexpectedEOF}
	if events > 0 || answer.size == 0 {
		return e
	}
	head := bytes.TrimSpace(answer.head)
	switch {
	case bytes.HasPrefix(head, []byte("data:")), bytes.HasPrefix(head,
		[]byte("event:")), bytes.HasPrefix(head, []byte(":")):
		return e // it began rightly
	case bytes.HasPrefix(head, []byte("<")):
		e.Kind, e.Err, e.Found = WrongAddress, nil, "it answered with a web page"
	case bytes.HasPrefix(head, []byte("{")) && strings.Contains(answer.Type, "json"):
		// LM Studio answers an unknown path with 200 and {"error":"Unexpected endpoint …"}.
		said := l.Said(model, head)
		if said.Detail != "" {
			return said
		}
		e.Kind, e.Err, e.Found = Malformed, nil, "it did not stream"
	default:
		e.Kind, e.Err, e.Found = Malformed, nil, "it is no event stream"
	}
	return e
}

// onTheWay says what a failure between here and the server means.
func onTheWay(err error) *Error {
	e := &Error{Kind: Unreachable, Err: err, Detail: clean(err.Error())}
	var syntax *json.SyntaxError
	var wrongType *json.UnmarshalTypeError
	var timeout net.Error
	stranger, isStranger := errors.AsType[*loopback.Stranger](err)
	switch {
	case isStranger:
		e.Kind, e.Detail, e.User = StrangersServer, "", stranger.Peer.User()
	case errors.Is(err, errSilent):
		e.Kind, e.Detail = TimedOut, ""
	case errors.Is(err, errTooMuch):
		e.Kind, e.Detail = TooMuch, ""
	case errors.As(err, &syntax), errors.As(err, &wrongType), errors.Is(err, bufio.ErrTooLong),
		strings.Contains(err.Error(), "malformed HTTP"), strings.Contains(err.Error(), "parsing response json"),
		strings.Contains(err.Error(), "expected destination type"):
		e.Kind = Malformed
	case errors.Is(err,
		io.ErrUnexpectedEOF), errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		// HTTP/2 has only texts here
		strings.Contains(err.Error(), "stream error"), strings.Contains(err.Error(), "server sent GOAWAY"):
		e.Kind = StreamCut
	case errors.As(err, &timeout) && timeout.Timeout():
		if dial, ok := errors.AsType[*net.OpError](err); !ok || dial.Op != "dial" {
			e.Kind, e.Detail = TimedOut, ""
		}
	}
	if _, ok := errors.AsType[*json.InvalidUnmarshalError](err); ok {
		e.Kind = Malformed
	}
	return e
}

// refusal is the part of a refusal's JSON that vendors have in common:
//
//	{"error":{"message":"…","type":"insufficient_quota","code":"…"}}       OpenAI
//	{"type":"error","error":{"type":"overloaded_error","message":"…"}}     Anthropic
//	{"error":{"code":429,"message":"…","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"12s"}]}}  Google
//	{"error":"model \"x\" not found"}                                      Ollama
//	{"object":"error","message":"…","code":404}                            vLLM; {"detail":"…"} FastAPI
type refusal struct {
	Message string          `json:"message"`
	Type    string          `json:"type"`
	Code    json.RawMessage `json:"code"`
	Status  string          `json:"status"`
	Detail  json.RawMessage `json:"detail"`
	Error   json.RawMessage `json:"error"`
	Details []struct {
		RetryDelay string `json:"retryDelay"`
		Reason     string `json:"reason"`
	} `json:"details"`
	Metadata struct {
		Raw json.RawMessage `json:"raw"` // OpenRouter: what the provider behind it said
	} `json:"metadata"`
}

// refused reads a refusal. status is 0 for one in the middle of a stream.
func refused(status int, header http.Header, body []byte) *Error {
	said, isJSON := readRefusal(body)
	code := strings.Trim(string(said.Code), `"`)
	text := said.Message
	if text == "" {
		text = plain(said.Detail)
	}
	if raw := plain(said.Metadata.Raw); raw != "" {
		text += " " + raw
	}
	if number, err := strconv.Atoi(code); err == nil && status == 0 {
		status = number
	}
	e := &Error{Status: status, Detail: clean(text), RetryAfter: retryAfter(header, said)}
	if !isJSON && !looksLikePage(body) {
		e.Detail = clean(string(body))
	}
	words := strings.ToLower(strings.Join([]string{text, said.Type, code, said.Status, e.Detail}, " "))
	for _, d := range said.Details {
		words += " " + strings.ToLower(d.Reason)
	}
	e.Kind = kindOf(status, words, isJSON)
	if e.Status < 100 || e.Status > 999 {
		e.Status = 0
	}
	return e
}

func readRefusal(body []byte) (refusal, bool) {
	var said refusal
	body = bytes.TrimSpace(body)
	if bytes.HasPrefix(body, []byte("[")) { // Google, when asked for a plain stream
		var list []json.RawMessage
		if json.Unmarshal(body, &list) == nil && len(list) > 0 {
			body = list[0]
		}
	}
	if len(body) == 0 || body[0] != '{' || !json.Valid(body) {
		return said, false
	}
	_ = json.Unmarshal(body, &said) // fields of another type stay empty
	if len(said.Error) > 0 {
		inner := refusal{}
		if said.Error[0] == '{' {
			_ = json.Unmarshal(said.Error, &inner)
			if inner.Message == "" {
				inner.Message = plain(inner.Error)
			}
		} else {
			inner.Message = plain(said.Error)
			inner.Type, inner.Code = said.Type, said.Code
		}
		return inner, true
	}
	return said, true
}

// kindOf decides by words before numbers, since servers disagree more about
// numbers. words is lower case.
func kindOf(status int, words string, isJSON bool) ErrorKind {
	has := func(list ...string) bool {
		for _, w := range list {
			if strings.Contains(words, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("does not support tools", "does not support function", "support tool use", "tool use is not supported",
		"tool calling is not supported",
		"tools are not supported", "tools is not supported", "function calling is not enabled",
		"function calling is not supported",
		"enable-auto-tool-choice", "requires --jinja", "tools param requires"):
		return NoTools
	case has("context_length_exceeded", "maximum context length", "context window", "context length", "context size",
		"prompt is too long",
		"input is too long", "too many tokens", "token count exceeds", "exceeds the maximum number of tokens",
		"request_too_large", "exceed context limit",
		"exceeds the available context") || status == http.StatusRequestEntityTooLarge:
		return ContextTooLong
	case has("insufficient_quota", "billing_hard_limit", "credit balance is too low", "insufficient credits",
		"insufficient balance", "billing_error", "exceeded_current_quota") || status == http.StatusPaymentRequired:
		return QuotaUsedUp
	case has("content_filter", "content_policy_violation", "content management policy", "flagged for moderation",
		"requires moderation"):
		return Filtered
	case has("invalid_api_key", "api key not valid", "api_key_invalid", "authentication_error", "permission_error",
		"permission_denied", "unauthenticated", "incorrect api key") ||
		status == http.StatusUnauthorized || status == http.StatusForbidden:
		return KeyRefused
	case has("rate_limit", "rate limit", "resource_exhausted", "too many requests") ||
		status == http.StatusTooManyRequests:
		return RateLimited
	case has("unexpected endpoint"):
		return WrongAddress
	case has("model_not_found", "is not a valid model", "model not found", "model does not exist", "unknown model",
		"no such model", "not_found_error",
		"is not found for api version", "invalid model") || has("model") && has("not found", "does not exist", "not_found",
		"no endpoints found"):
		return ModelUnknown
	case has("overloaded", "server_error", "internal_error", "api_error", "unavailable") &&
		(status == 0 || status >= 500 || status == 200):
		return Overloaded
	case status == http.StatusRequestTimeout || has("timeout_error", "deadline_exceeded"):
		return TimedOut
	case status == http.StatusNotImplemented:
		return BadRequest
	case status >= 500:
		return Overloaded
	case status == http.StatusNotFound || status == http.StatusMethodNotAllowed || status >= 300 && status < 400:
		return WrongAddress
	case status == 0 && !isJSON:
		return Malformed
	}
	return BadRequest
}

// retryAfter reads how long to wait: Retry-After-Ms, Retry-After in seconds or
// as a date (RFC 9110, section 10.2.3), Google's RetryInfo, and the reset headers
// that OpenAI and its look-alikes send when a budget is at zero.
func retryAfter(header http.Header, said refusal) time.Duration {
	const most = 31 * 24 * time.Hour // also keeps the arithmetic from overflowing
	seconds := func(text string, unit time.Duration) (time.Duration, bool) {
		number, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil || number < 0 || number != number {
			return 0, false
		}
		if number > float64(most)/float64(unit) {
			return most, true
		}
		return time.Duration(number * float64(unit)), true
	}
	if d, ok := seconds(header.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d
	}
	if d, ok := seconds(header.Get("Retry-After"), time.Second); ok {
		return d
	}
	if date, err := http.ParseTime(header.Get("Retry-After")); err == nil {
		return min(max(time.Until(date), 0), most)
	}
	for _, d := range said.Details {
		if wait, err := time.ParseDuration(d.RetryDelay); err == nil && wait > 0 {
			return min(wait, most)
		}
	}
	longest := time.Duration(0)
	for _, what := range []string{"Requests", "Tokens"} {
		if header.Get("X-Ratelimit-Remaining-"+what) != "0" {
			continue
		}
		if wait, err := time.ParseDuration(header.Get("X-Ratelimit-Reset-" + what)); err == nil {
			longest = max(longest, min(wait, most))
		}
	}
	return longest
}

func plain(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	return string(raw)
}

func looksLikePage(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
}

// clean makes a provider's text fit for a Detail: one line, at most 600
// characters, without anything that looks like a key.
func clean(text string) string {
	text = maskKeys(strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		if !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text)
	return shorten.To(strings.Join(strings.Fields(text), " "), 600)
}

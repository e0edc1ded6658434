package model

import (
	"bytes"
	"cmp"
	"compress/flate"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"conclave/app/base/shorten"
	"conclave/app/net/loopback"
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
	if known.Kind == WrongAddress && known.Status == http.StatusNotFound && model != "" && l.listed.Load() {
		known.Kind = ModelUnknown // the address is right: it listed its models
	}
	return &known
}

// Said returns the *Error of a failure that the provider sent in the middle of its
// stream: body is its JSON, with or without an outer {"error": …}.
func (l *Link) Said(model string, body []byte) *Error {
	e := refused(0, nil, body)
	e.Provider, e.Host, e.Model = l.who(), l.Host(), model
	return e
}

// Ended returns the *Error of an answer that ended with a word which does not say that it is whole.
func (l *Link) Ended(model, word string) *Error {
	return &Error{
		Kind: Failed, Provider: l.who(), Host: l.Host(), Model: model,
		Found: fmt.Sprintf("it ended with “%s”, which is no end of a whole answer", printable(word)),
	}
}

// Unfinished returns why an answer ended without saying that it was whole: it
// was cut, or it never was an answer.
func (l *Link) Unfinished(model string, answer *Answer, events int) *Error {
	e := &Error{Kind: StreamCut, Provider: l.who(), Host: l.Host(), Model: model, Err: io.ErrUnexpectedEOF}
	e.Unanswered = events == 0
	if events > 0 || answer.size == 0 {
		return e
	}
	head := bytes.TrimSpace(bytes.TrimPrefix(answer.head, []byte("\xEF\xBB\xBF")))
	switch {
	case bytes.HasPrefix(head, []byte("data:")), bytes.HasPrefix(head,
		[]byte("event:")), bytes.HasPrefix(head, []byte(":")), bytes.HasPrefix(head, []byte("id:")),
		bytes.HasPrefix(head, []byte("retry:")):
		return e // it began rightly
	case bytes.HasPrefix(head, []byte("<")):
		e.Kind, e.Err, e.Found = WrongAddress, nil, "it answered with a web page"
	case bytes.HasPrefix(head, []byte("{")), bytes.HasPrefix(head, []byte("[")):
		e.Kind, e.Err, e.Found = Malformed, nil, "its JSON holds no answer"
	default:
		e.Kind, e.Err, e.Found = Malformed, nil, "it is no event stream"
	}
	return e
}

// onTheWay returns the error for a failure between here and the server.
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
	case errors.Is(err, errEventTooLong), errors.Is(err, errNoObject):
		e.Kind, e.Detail, e.Found = Malformed, "", err.Error()
	case speaks(err) != "":
		e.Kind, e.Detail, e.Found = WrongAddress, "", speaks(err)
	case damaged(err) != "":
		e.Kind, e.Detail, e.Found = Malformed, "", damaged(err)
	case errors.As(err, &syntax), errors.As(err, &wrongType),
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

// speaks returns that a server speaks HTTP where HTTPS was spoken to it, or the other way round, or "".
func speaks(err error) string {
	text := err.Error()
	switch {
	case strings.Contains(text, "server gave HTTP response to HTTPS client"),
		strings.Contains(text, "first record does not look like a TLS handshake"):
		return "the server there speaks HTTP and not HTTPS, so its address begins with http://"
	case strings.Contains(text, `malformed HTTP response "\x15\x03`):
		return "the server there speaks HTTPS and not HTTP, so its address begins with https://"
	}
	return ""
}

// damaged returns what of an answer cannot be unpacked, or "".
func damaged(err error) string {
	text := err.Error()
	_, flawed := errors.AsType[flate.CorruptInputError](err)
	switch {
	case flawed, errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum):
		return "its answer is compressed, and damaged"
	case strings.Contains(text, "invalid byte in chunk length"), strings.Contains(text, "malformed chunked encoding"),
		strings.Contains(text, "http chunk length too large"):
		return "its answer is cut into pieces (chunked), and their lengths are damaged"
	}
	return ""
}

// refusal holds what the JSON of a refusal says. Vendors agree about little of it:
//
//	{"error":{"message":"…","type":"insufficient_quota","code":"…"}}       OpenAI
//	{"type":"error","error":{"type":"overloaded_error","message":"…"}}     Anthropic
//	{"error":{"code":429,"message":"…","status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"12s"}]}}  Google
//	{"error":"model \"x\" not found"}                                      Ollama
//	{"object":"error","message":"…","code":404}                            vLLM; {"detail":"…"} FastAPI
//	{"code":1211,"msg":"…"}                                                GLM
//	{"base_resp":{"status_code":1004,"status_msg":"…"}}                    MiniMax
//	{"error_code":336003,"error_msg":"…"}                                  Qianfan
type refusal struct {
	Message string
	Type    string
	Code    string
	Status  string
	Details []struct {
		RetryDelay string `json:"retryDelay"`
		Reason     string `json:"reason"`
	}
	Raw string // OpenRouter: what the provider behind it said
}

// The names under which refusals hold another object, their text and their code.
var (
	refusalNests = []string{"error", "errors", "Error", "base_resp", "Response"}
	refusalTexts = []string{
		"message", "msg", "error_msg", "errmsg", "error_message", "errorMessage", "status_msg", "Message", "detail",
		"error_description", "reason",
	}
	refusalCodes = []string{"code", "error_code", "errcode", "status_code", "Code"}
)

// refused reads a refusal. status is 0 for one in the middle of a stream.
func refused(status int, header http.Header, body []byte) *Error {
	said, isJSON := readRefusal(body)
	text := said.Message
	if said.Raw != "" {
		text += " " + said.Raw
	}
	if number, err := strconv.Atoi(said.Code); err == nil && status == 0 && number >= 400 && number < 600 {
		status = number // other numbers are the vendor's own
	}
	e := &Error{Status: status, Detail: clean(text), RetryAfter: retryAfter(header, said)}
	if (!isJSON || text == "") && !looksLikePage(body) {
		e.Detail = clean(string(body))
	}
	words := strings.ToLower(strings.Join([]string{text, said.Type, said.Code, said.Status, e.Detail}, " "))
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
	body = bytes.TrimSpace(body)
	if bytes.HasPrefix(body, []byte("[")) { // Google, when asked for a plain stream
		var list []json.RawMessage
		if json.Unmarshal(body, &list) == nil && len(list) > 0 {
			body = list[0]
		}
	}
	members := Object(body)
	if members == nil {
		return refusal{}, false
	}
	return refusalOf(members, 0), true
}

// refusalOf reads a refusal, and the one inside it, which knows more: the outer one fills in what
// that leaves out.
func refusalOf(members map[string]json.RawMessage, depth int) refusal {
	said := refusal{
		Type: Member(members, "type"), Status: Member(members, "status"),
		Message: Member(members, refusalTexts...), Code: Member(members, refusalCodes...),
		Raw: Member(Object(members["metadata"]), "raw"),
	}
	_ = json.Unmarshal(members["details"], &said.Details) // only Google's are read
	for _, name := range refusalNests {
		raw := members[name]
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil && len(list) > 0 {
			raw = list[0]
		}
		inner := refusal{Message: plain(raw)}
		if nested := Object(raw); nested != nil && depth < 3 {
			inner = refusalOf(nested, depth+1)
		}
		if inner.Message+inner.Code+inner.Type == "" {
			continue
		}
		inner.Message, inner.Code = cmp.Or(inner.Message, said.Message), cmp.Or(inner.Code, said.Code)
		inner.Type = cmp.Or(inner.Type, said.Type)
		return inner
	}
	return said
}

// saidIn returns the *Error of a failure that an event of a stream holds instead of an answer, or
// in addition to one, or nil. members are those of the event's data; kind is its type.
func (l *Link) saidIn(model, kind string, data []byte, members map[string]json.RawMessage) *Error {
	if kind != "error" && !failed(members) {
		return nil
	}
	said := l.Said(model, data)
	if said.Kind == Malformed { // no JSON, but an error all the same
		said.Kind = Failed
	}
	return said
}

// SaidIn returns the *Error of a failure that a part of an answer holds, or nil.
func (l *Link) SaidIn(model string, part map[string]json.RawMessage) *Error {
	if raw := part["error"]; failed(map[string]json.RawMessage{"id": nil, "error": raw}) {
		data, _ := json.Marshal(map[string]json.RawMessage{"error": raw}) // it was JSON before
		return l.Said(model, data)
	}
	return nil
}

// answers are the names of members that make an event one of an answer, whatever else it holds.
var answers = []string{
	"choices", "candidates", "usage", "usageMetadata", "promptFeedback", "delta", "content_block", "index", "type",
	"object", "id",
}

// failed reports whether the members of an event are a failure.
func failed(members map[string]json.RawMessage) bool {
	for _, name := range refusalNests[:3] {
		switch string(members[name]) {
		case "", "null", "false", `""`, "{}", "[]", "0":
		default:
			return true
		}
	}
	if Member(members, "type") == "error" || Member(members, "object") == "error" {
		return true
	}
	if code := Member(Object(members["base_resp"]), "status_code"); code != "" && code != "0" {
		return true
	}
	for _, name := range answers {
		if _, ok := members[name]; ok {
			return false
		}
	}
	return Member(members, refusalTexts...) != "" && Object(members["message"]) == nil
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
	case has("http request to an https server", "http request was sent to https port"):
		return WrongAddress
	case has("context_length_exceeded", "maximum context length", "context window", "context length", "context size",
		"prompt is too long",
		"input is too long", "too many tokens", "token count exceeds", "exceeds the maximum number of tokens",
		"request_too_large", "exceed context limit",
		"exceeds the available context") || status == http.StatusRequestEntityTooLarge:
		return ContextTooLong
	case has("tool", "function") && has("array_above_max_length", "array too long", "too many tools", "too many functions",
		"number of tools", "number of functions", "128 tools", "64 tools", "maximum of 128", "more than 128", "at most 128",
		"up to 128"):
		return TooManyTools
	case has("insufficient_quota", "billing_hard_limit", "credit balance is too low", "insufficient credits",
		"insufficient balance", "billing_error", "exceeded_current_quota",
		"is used up") || status == http.StatusPaymentRequired:
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
	case status < 400:
		return Failed
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

package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
)

// Session is a conversation with one server. Make one with OverStream or OverHTTP, and close it. Its
// methods are safe for concurrent use.
//
// Goroutines: one reads the stream, or one per open HTTP answer; one per question that the server asks;
// one keeps the subscription. All end with the session, and Close waits for them.
type Session struct{}

var errNotYet = errors.New("not built yet")

// OverStream begins a session with a process over its standard output (read) and input (written). The
// caller owns the process; the session closes stream when it ends. The error is ErrStartAgain when the
// process is to be started once more, ErrVersion, ErrEnded, ErrTimeout, a JSON-RPC error of the server,
// or the cause of ctx's end.
func OverStream(ctx context.Context, stream io.ReadWriteCloser, o Options) (*Session, error) {
	return nil, errNotYet
}

// OverHTTP begins a session with the server at address: modern first, then legacy, then the older
// HTTP with server-sent events. hc sends all requests and may sign in: its transport answers a 401 or
// 403 by a request with a token where it has one. Nil is a plain client. The error is ErrAddress,
// ErrVersion, a *RefusedError, a JSON-RPC error of the server, or the cause of ctx's end.
func OverHTTP(ctx context.Context, address string, hc *http.Client, o Options) (*Session, error) {
	return nil, errNotYet
}

// Server describes the server.
func (s *Session) Server() Info { return Info{} }

// Tools returns the tools in the server's order, and those that cannot be offered.
func (s *Session) Tools(ctx context.Context) ([]Tool, []LeftOut, error) { return nil, nil, errNotYet }

// Call calls a tool. JSON-RPC errors are results (Result.IsError). The error is ErrNotSent, ErrUnknown,
// ErrTimeout, ErrEnded, ErrClosed, or the cause of ctx's end; when nobody waits any longer, the server
// gets a cancellation.
func (s *Session) Call(ctx context.Context, c Call) (Result, error) { return Result{}, errNotYet }

// Resume waits for a task that an earlier session began with c.
func (s *Session) Resume(ctx context.Context, c Call, task Task) (Result, error) {
	return Result{}, errNotYet
}

// Resources returns the resources that the server lists.
func (s *Session) Resources(ctx context.Context) ([]Resource, error) { return nil, errNotYet }

// Templates returns the families of resources that the server lists.
func (s *Session) Templates(ctx context.Context) ([]Template, error) { return nil, errNotYet }

// Read returns the contents of a resource; none is an empty one. The error is ErrNotThere where there is
// no such resource.
func (s *Session) Read(ctx context.Context, uri string) ([]Block, error) { return nil, errNotYet }

// Subscribe asks for Options.ResourceUpdated when a resource changes.
func (s *Session) Subscribe(ctx context.Context, uri string) error { return errNotYet }

// Unsubscribe ends what Subscribe began.
func (s *Session) Unsubscribe(ctx context.Context, uri string) error { return errNotYet }

// Prompts returns the prompts that the server lists.
func (s *Session) Prompts(ctx context.Context) ([]Prompt, error) { return nil, errNotYet }

// Prompt fills a prompt with values.
func (s *Session) Prompt(ctx context.Context, name string, arguments map[string]string) (PromptResult, error) {
	return PromptResult{}, errNotYet
}

// Complete returns values that an argument could have which begins with value; filled are the values of
// other arguments.
func (s *Session) Complete(ctx context.Context, of Reference, argument, value string,
	filled map[string]string,
) (Completion, error) {
	return Completion{}, errNotYet
}

// SetLogLevel sets the least important level that the server sends: debug, info, notice, warning, error,
// critical, alert or emergency.
func (s *Session) SetLogLevel(ctx context.Context, level string) error { return errNotYet }

// RootsChanged tells a legacy server that Options.Roots returns other folders now.
func (s *Session) RootsChanged() {}

// Request sends a request as it is, for tests and diagnosis, and returns the result as it came.
func (s *Session) Request(ctx context.Context, method string, params any) (json.RawMessage, error) {
	return nil, errNotYet
}

// Done is closed when the session has ended.
func (s *Session) Done() <-chan struct{} { return nil }

// Err returns why the session ended, and nil while it lasts.
func (s *Session) Err() error { return nil }

// Close ends the session, its calls and its goroutines, and waits for them. It may be called more than
// once, but not by a function of Options.
func (s *Session) Close() {}

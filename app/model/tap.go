package model

import (
	"context"
	"io"
	"net/http"
	"time"
)

// Sent is one request as it went out, without its headers: a key stands in those.
type Sent struct {
	Host string // with the port, where it is not the usual one
	Path string
	Body Body // every byte; not to be changed
	At   time.Time
}

// Tap returns a context in which what is sent to a model is shown to seen before it goes
// out: each attempt, on the goroutine that sends it. Whoever taps ctx already goes on
// seeing it. Models that are asked without HTTP show nothing.
func Tap(ctx context.Context, seen func(Sent)) context.Context {
	if before, ok := ctx.Value(tapKey{}).(func(Sent)); ok && before != nil {
		also := seen
		seen = func(s Sent) {
			before(s)
			also(s)
		}
	}
	return context.WithValue(ctx, tapKey{}, seen)
}

// Untapped returns a context in which nothing is shown: for what is no request to a model.
func Untapped(ctx context.Context) context.Context {
	return context.WithValue(ctx, tapKey{}, (func(Sent))(nil))
}

type tapKey struct{}

// tap shows a request to whoever taps its context, and leaves its body as it was.
func tap(r *http.Request) error {
	seen, ok := r.Context().Value(tapKey{}).(func(Sent))
	if !ok || seen == nil {
		return nil
	}
	var body Body
	if known, ok := r.Body.(*bodyReader); ok {
		body = known.whole
	} else if r.Body != nil && r.Body != http.NoBody {
		var read []byte
		var err error
		if r.ContentLength > 0 {
			read = make([]byte, r.ContentLength)
			_, err = io.ReadFull(r.Body, read)
		} else {
			read, err = io.ReadAll(r.Body)
		}
		_ = r.Body.Close() // all of it was read
		if err != nil {
			return err
		}
		body = Body{read}
		r.Body = body.reader()
	}
	seen(Sent{Host: r.URL.Host, Path: r.URL.Path, Body: body, At: time.Now()})
	return nil
}

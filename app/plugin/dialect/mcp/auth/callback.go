package auth

import (
	"context"
	"errors"
	"html"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// callback is the address on this computer to which the browser comes back. It takes one answer.
type callback struct {
	listener net.Listener
	port     int
	path     string
}

// listen opens a port, or any that is free for 0.
func listen(ctx context.Context, port int) (*callback, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", "127.0.0.1:"+strconv.Itoa(port))
	if err != nil {
		return nil, err
	}
	return &callback{listener: l, port: l.Addr().(*net.TCPAddr).Port}, nil
}

// wait answers the browser until the answer comes that carries state, and passes it to check. It
// returns the code, or the error of check. It closes the port.
func (c *callback) wait(ctx context.Context, state string, check func(url.Values) (string, error)) (string, error) {
	type result struct {
		code string
		err  error
	}
	results := make(chan result, 1)
	server := &http.Server{
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			query, err := url.ParseQuery(r.URL.RawQuery)
			switch {
			case r.URL.Path != c.path:
				page(w, http.StatusNotFound, "There is nothing here.")
			case r.Method != http.MethodGet || r.Host != "127.0.0.1:"+strconv.Itoa(c.port) || err != nil ||
				len(query["state"]) != 1 || query.Get("state") != state:
				// Whoever guesses the port learns nothing, and ends nothing.
				page(w, http.StatusBadRequest, "This is not the answer that Conclave waits for.")
			default:
				code, err := check(query)
				select {
				case results <- result{code, err}:
				default:
					page(w, http.StatusGone, "Conclave has its answer already. You can close this page.")
					return
				}
				if err != nil {
					page(w, http.StatusOK, "The sign-in did not succeed. Conclave says why. You can close this page.")
					return
				}
				page(w, http.StatusOK, "You can close this page, and go back to Conclave.")
			}
		}),
	}
	served := make(chan struct{})
	go func() { // ends with the server below
		defer close(served)
		_ = server.Serve(c.listener)
	}()
	defer func() {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = server.Shutdown(stop) // lets the page be sent
		_ = server.Close()
		<-served
	}()
	select {
	case r := <-results:
		return r.code, r.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

func (c *callback) close() { _ = c.listener.Close() }

// page writes what the browser shows.
func page(w http.ResponseWriter, status int, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Connection", "close")
	w.WriteHeader(status)
	_, _ = w.Write([]byte("<!doctype html><html lang=en><meta charset=utf-8><title>Conclave</title><p>" +
		html.EscapeString(text) + "</p></html>\n"))
}

// errMixedUp is the error of an answer that is not of the service where the person signs in.
var errMixedUp = errors.New("the answer came from another sign-in service")

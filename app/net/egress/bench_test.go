//go:build linux

package egress_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"testing"
	"time"

	"conclave/app/plugin/sandbox"
	"conclave/app/test/testkit"
)

// above reports the middle of what with takes more than without, one after the other.
func above(b *testing.B, with, without func()) {
	b.Helper()
	timed := func(do func()) time.Duration {
		began := time.Now()
		do()
		return time.Since(began)
	}
	with()
	without()
	var more []time.Duration
	for b.Loop() {
		more = append(more, timed(with)-timed(without))
	}
	b.ReportMetric(testkit.Milliseconds(testkit.Percentile(more, 50)), "ms-above-p50")
}

// get asks for a page with a client.
func get(b *testing.B, client *http.Client, address string) {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, address, nil)
	must(b, err)
	response, err := client.Do(r)
	must(b, err)
	if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
		b.Fatal(response.Status, err)
	}
	_ = response.Body.Close()
}

// BenchmarkRequest measures what the proxy adds to a request: to one on a connection
// that is kept, and to one that needs a connection, by way of a tunnel.
func BenchmarkRequest(b *testing.B) {
	w := newWorld(b)
	plain := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(rw, "a page")
	}))
	b.Cleanup(plain.Close)
	secure := httptest.NewTLSServer(plain.Config.Handler)
	b.Cleanup(secure.Close)
	w.allowed = []string{plain.URL, secure.URL}
	proxy, err := url.Parse(w.pass.URL())
	must(b, err)
	client := func(proxied, kept bool) *http.Client {
		transport, ok := secure.Client().Transport.(*http.Transport)
		if !ok {
			b.Fatal("the server has another transport")
		}
		transport = transport.Clone()
		if transport.DisableKeepAlives = !kept; proxied {
			transport.Proxy = http.ProxyURL(proxy)
		}
		b.Cleanup(transport.CloseIdleConnections)
		return &http.Client{Transport: transport}
	}
	b.Run("kept", func(b *testing.B) {
		through, direct := client(true, true), client(false, true)
		above(b, func() { get(b, through, plain.URL) }, func() { get(b, direct, plain.URL) })
	})
	b.Run("tunnel", func(b *testing.B) {
		through, direct := client(true, false), client(false, false)
		above(b, func() { get(b, through, secure.URL) }, func() { get(b, direct, secure.URL) })
	})
}

// BenchmarkStart measures what the walls add to the start of a program that may use
// the network.
func BenchmarkStart(b *testing.B) {
	w := newWorld(b)
	program := program(b, "true")
	above(b, func() { w.run(sandbox.Spec{}, program) },
		func() { must(b, exec.CommandContext(b.Context(), program).Run()) })
}

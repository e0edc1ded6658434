package model_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"conclave/app/base/limit"
	"conclave/app/model"
)

func TestArgumentsThatAreTooLongAreNotBlamedOnTheAddress(t *testing.T) {
	piece := strings.Repeat("x", 1<<20)
	g := model.NewCallAssembler(model.Request{})
	var err error
	for range limit.CallArguments >> 20 {
		if _, _, err = g.Add(model.Fragment{ID: "a", Arguments: piece}); err != nil {
			t.Fatalf("within the limit: %v", err)
		}
	}
	if _, _, err = g.Add(model.Fragment{ID: "a", Arguments: "x"}); err == nil {
		t.Fatal("one byte over the limit was taken")
	}
	link := model.NewLink(model.Connection{Name: "mine", URL: "http://127.0.0.1:1"}, "", model.Timeouts{})
	e, ok := errors.AsType[*model.Error](link.Fail(t.Context(), "gpt-test", err))
	if !ok || e.Kind != model.TooMuch || e.Retryable() {
		t.Fatalf("got %#v", e)
	}
	want := "gpt-test wrote more than 8 MiB as the arguments of its tool calls, and was stopped."
	if e.Sentence() != want {
		t.Errorf("sentence %q, want %q", e.Sentence(), want)
	}
	if strings.Contains(e.Hint(), "address") {
		t.Errorf("the hint blames the address: %q", e.Hint())
	}
}

// TestAServerThatClosesIdleConnectionsIsAskedAgain serves each connection one
// answer that promises to stay open, and closes it at once or as the next request
// arrives: what some model servers do with connections that are idle.
func TestAServerThatClosesIdleConnectionsIsAskedAgain(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	var served, dropped atomic.Int64
	go func() { // ends with the listener
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() { // ends with the connection
				defer c.Close()
				r := bufio.NewReader(c)
				if _, err := http.ReadRequest(r); err != nil {
					return
				}
				_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
				if served.Add(1)%2 == 0 {
					return // closed as soon as it is idle
				}
				if _, err := r.Peek(1); err == nil {
					dropped.Add(1)
				}
			}()
		}
	}()
	link := model.NewLink(model.Connection{Name: "mine", URL: "http://" + listener.Addr().String()}, "", model.Timeouts{})
	post := func() error {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		answer, err := link.Ask(ctx, "chat", "", model.Body{[]byte("{}")}, nil)
		if err != nil {
			return link.Fail(ctx, "m", err)
		}
		var b [8]byte
		n, _ := answer.Body.Read(b[:])
		if string(b[:n]) != "ok" {
			t.Errorf("got %q", b[:n])
		}
		return answer.Body.Close()
	}
	var failures atomic.Int64
	var askers sync.WaitGroup
	for range 8 {
		askers.Go(func() {
			for range 100 {
				err := post()
				if err == nil {
					continue
				}
				failures.Add(1)
				if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != model.StreamCut || !e.Retryable() {
					t.Errorf("a connection that the server closed: got %v", err)
				}
			}
		})
	}
	askers.Wait()
	if failures.Load() == 0 || dropped.Load() == 0 {
		t.Errorf("%d requests failed and %d were dropped: the server was not what it should be", failures.Load(),
			dropped.Load())
	}
}

func TestTheServersWordsGoAlongAndTheHintFitsTheWait(t *testing.T) {
	refused := &model.Error{Kind: model.BadRequest, Provider: "mine", Status: 422, Detail: "temperature must be 1"}
	if f := refused.Fault(); f.Detail != "temperature must be 1" || !strings.Contains(f.Hint, "details") {
		t.Errorf("with words: detail %q, hint %q", f.Detail, f.Hint)
	}
	silent := &model.Error{Kind: model.BadRequest, Provider: "mine", Status: 422}
	if f := silent.Fault(); f.Detail != "" || strings.Contains(f.Hint, "details") {
		t.Errorf("without words: detail %q, hint %q", f.Detail, f.Hint)
	}
	for wait, want := range map[time.Duration]string{
		0:                "Try again in a moment, or use another model.",
		20 * time.Second: "Try again in a moment, or use another model.",
		time.Hour:        "Try again after that, or use another model.",
	} {
		if got := (&model.Error{Kind: model.RateLimited, RetryAfter: wait}).Hint(); got != want {
			t.Errorf("after %s: %q, want %q", wait, got, want)
		}
	}
}

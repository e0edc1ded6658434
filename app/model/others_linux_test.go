package model_test

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"conclave/app/model"
	"conclave/app/test/testkit"
)

// servedBy serves what looks like Ollama as a user, and counts the requests that it reads.
func servedBy(t *testing.T, user int) (address string, read *atomic.Int32) {
	t.Helper()
	read = new(atomic.Int32)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		read.Add(1)
		if r.URL.Path == "/api/tags" {
			_, _ = io.WriteString(w, `{"models":[{"name":"llama"}]}`)
			return
		}
		_, _ = io.WriteString(w, "Ollama is running")
	}))
	must(t, server.Listener.Close())
	server.Listener = acceptingAs{testkit.ListenAs(t, user), t, user}
	server.Start()
	t.Cleanup(server.Close)
	return server.URL, read
}

// acceptingAs accepts connections as a user.
type acceptingAs struct {
	net.Listener
	t    *testing.T
	user int
}

func (l acceptingAs) Accept() (c net.Conn, err error) {
	testkit.AsUser(l.t, l.user, func() { c, err = l.Listener.Accept() })
	return c, err
}

func TestAttackAnotherUsersModelServerIsSentNothing(t *testing.T) {
	address, read := servedBy(t, testkit.Nobody)
	ask := func(servedBy string) error {
		c := model.Connection{Name: "mine", Kind: "ollama", URL: address, ServedBy: servedBy}
		link := model.NewLink(c, "", model.Timeouts{})
		var out any
		return link.Get(t.Context(), "api/tags", "", nil, &out)
	}
	for _, other := range []string{"", "ada", "1", "unknown"} {
		err := ask(other)
		e, ok := errors.AsType[*model.Error](err)
		if !ok || e.Kind != model.StrangersServer || e.Retryable() || read.Load() != 0 {
			t.Fatalf("served by %q, the error is %v, and it read %d requests", other, err, read.Load())
		}
		got := e.Sentence() + " " + e.Hint()
		if !strings.HasPrefix(got, "A program of the user nobody answers at 127.0.0.1:") ||
			!strings.HasSuffix(got, "If nobody may read what you ask: conclave models served-by mine nobody.") {
			t.Errorf("a person reads %q", got)
		}
	}
	for _, named := range []string{"nobody", strconv.Itoa(testkit.Nobody)} {
		if err := ask(named); err != nil {
			t.Errorf("served by %q, as the person says: %v", named, err)
		}
	}
	if err := ask(""); err == nil {
		t.Error("a connection without that permission uses one that was made with it")
	}
}

func TestServersOfThePersonAndOfServicesAnswerUnasked(t *testing.T) {
	const ollama = 998 // as its package makes the user
	for _, user := range []int{os.Getuid(), 0, ollama} {
		address, _ := servedBy(t, user)
		link := model.NewLink(model.Connection{Name: "mine", Kind: "ollama", URL: address}, "", model.Timeouts{})
		var out any
		if err := link.Get(t.Context(), "api/tags", "", nil, &out); err != nil {
			t.Errorf("of user %d: %v", user, err)
		}
		if err := model.Meet(t.Context(), link.Connection); err != nil {
			t.Errorf("of user %d: %v", user, err)
		}
	}
}

func TestAScanSaysWhoseServerItFound(t *testing.T) {
	address, _ := servedBy(t, testkit.Nobody)
	port, err := strconv.Atoi(address[strings.LastIndex(address, ":")+1:])
	must(t, err)
	found, err := model.Scanner{Ports: []int{port}, Limit: time.Minute}.Scan(t.Context())
	must(t, err)
	if len(found) != 1 || found[0].User != "nobody" || found[0].Name() != "Ollama of the user nobody" {
		t.Errorf("found %+v", found)
	}
	err = model.Meet(t.Context(), model.Connection{Name: "mine", URL: address})
	if e, ok := errors.AsType[*model.Error](err); !ok || e.User != "nobody" {
		t.Errorf("adding it says %v", err)
	}
}

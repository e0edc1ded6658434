package picoclaw

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/base/limit"
)

// hookSide plays a hook's process on the other end of a client: answer gets each
// request and writes what it wants.
func hookSide(t *testing.T, answer func(id uint64, method string, out io.Writer)) (*client, func() []string) {
	t.Helper()
	ours, theirs := net.Pipe()
	var mu sync.Mutex
	var logged []string
	c := newClient(ours, func(_, text string) {
		mu.Lock()
		defer mu.Unlock()
		logged = append(logged, text)
	})
	over := make(chan struct{})
	go func() {
		defer close(over)
		in := bufio.NewReader(theirs)
		for {
			line, err := in.ReadBytes('\n')
			if err != nil {
				return
			}
			var m struct {
				ID     uint64 `json:"id"`
				Method string `json:"method"`
			}
			if json.Unmarshal(line, &m) == nil {
				answer(m.ID, m.Method, theirs)
			}
		}
	}()
	t.Cleanup(func() {
		c.end(io.EOF)
		_ = theirs.Close()
		<-over
	})
	return c, func() []string {
		mu.Lock()
		defer mu.Unlock()
		return logged
	}
}

func says(t *testing.T, c *client, method, want string) {
	t.Helper()
	got, err := c.within(t.Context(), 5*time.Minute, method, nil)
	if err != nil || string(got) != want {
		t.Errorf("%s: %s, %v; want %s", method, got, err, want)
	}
}

func TestPC34LongLines(t *testing.T) {
	big := strings.Repeat("x", 2<<20)
	c, logged := hookSide(t, func(id uint64, method string, out io.Writer) {
		switch method {
		case "long":
			fmt.Fprintf(out, `{"id":%d,"result":"`, id)
			for range limit.HookLine / (2 << 20) {
				_, _ = io.WriteString(out, big)
			}
			_, _ = io.WriteString(out, "\"}\n")
		case "big":
			fmt.Fprintf(out, "{\"id\":\"%d\",\"result\":\"%s\"}\n", id, big)
		default:
			fmt.Fprintf(out, "{\"id\":\"%d\",\"result\":{}}\r\n", id)
		}
	})
	says(t, c, "small", "{}")
	says(t, c, "big", `"`+big+`"`)
	_, err := c.within(t.Context(), 5*time.Minute, "long", nil)
	if err == nil || err.Error() != "it answered with a line of more than 32 MiB" {
		t.Errorf("a line of more than 32 MiB: %v", err)
	}
	says(t, c, "small", "{}")
	if got := strings.Join(logged(), "\n"); !strings.Contains(got,
		"It answered with a line of more than 32 MiB, which was passed over.") ||
		!strings.Contains(got, "ids as text") {
		t.Errorf("its log says %q", got)
	}
}

func TestPC34ARequestThatIsTooLongIsNotSent(t *testing.T) {
	c, _ := hookSide(t, func(id uint64, _ string, out io.Writer) { fmt.Fprintf(out, "{\"id\":%d,\"result\":{}}\n", id) })
	_, err := c.within(t.Context(), 5*time.Minute, "m", strings.Repeat("x", limit.HookMessage+1))
	if err == nil || err.Error() != "what it would be asked has more than 16 MiB" {
		t.Errorf("it was asked: %v", err)
	}
	says(t, c, "m", "{}")
}

func TestPC33GarbageBetweenAnswersIsSkipped(t *testing.T) {
	c, logged := hookSide(t, func(id uint64, _ string, out io.Writer) {
		fmt.Fprintf(out, "\n\r\n   \nstarting up…\n[1,2]\n{\"id\":%d,\"result\":{\"a\":1}}\n", id)
	})
	says(t, c, "m", `{"a":1}`)
	says(t, c, "m", `{"a":1}`)
	if got := logged(); len(got) == 0 || !strings.Contains(got[0], "starting up…") {
		t.Errorf("its log says %q", got)
	}
}

func TestPC35WhatNobodyAskedForIsDropped(t *testing.T) {
	c, logged := hookSide(t, func(id uint64, _ string, out io.Writer) {
		fmt.Fprintf(out, `{"id":999,"result":"stray"}
{"result":"no id"}
{"id":0,"result":"zero"}
{"id":null,"method":"host.please","params":{}}
{"id":%d,"result":"first"}
{"id":%d,"result":"second"}
`, id, id)
	})
	says(t, c, "m", `"first"`) // "jsonrpc" is missing, too
	says(t, c, "m", `"first"`)
	says(t, c, "m", `"first"`)
	if n := c.dropped.Load(); n < 5 {
		t.Errorf("%d answers were dropped", n)
	}
	if got := strings.Join(logged(), "\n"); !strings.Contains(got, "host.please") {
		t.Errorf("its log says %q", got)
	}
}

func TestPC53AnswersInReverseOrderAreMatched(t *testing.T) {
	var waiting []uint64
	c, _ := hookSide(t, func(id uint64, _ string, out io.Writer) {
		if waiting = append(waiting, id); len(waiting) < 2 {
			return
		}
		for i := len(waiting) - 1; i >= 0; i-- {
			fmt.Fprintf(out, "{\"id\":%d,\"result\":%d}\n", waiting[i], waiting[i])
		}
	})
	var wg sync.WaitGroup
	var mu sync.Mutex
	got := map[string]bool{}
	for range 2 {
		wg.Go(func() {
			raw, err := c.within(t.Context(), 5*time.Minute, "m", nil)
			mu.Lock()
			defer mu.Unlock()
			if got[string(raw)] = true; err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if !got["1"] || !got["2"] {
		t.Errorf("answered %v", got)
	}
}

func TestPC31ALateAnswerIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		c, _ := hookSide(t, func(id uint64, method string, out io.Writer) {
			if method == "late" {
				<-release
			}
			fmt.Fprintf(out, "{\"id\":%d,\"result\":%q}\n", id, method)
		})
		_, err := c.within(t.Context(), 50*time.Millisecond, "late", nil)
		if !errors.Is(err, errSlow) {
			t.Errorf("a late answer: %v", err)
		}
		close(release)
		says(t, c, "next", `"next"`)
		if n := c.dropped.Load(); n != 1 {
			t.Errorf("%d answers were dropped", n)
		}
	})
}

// A hook that does not read costs its time once.
func TestPC39AHookThatDoesNotReadIsNotWaitedForTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe() // nobody reads theirs
		defer theirs.Close()
		c := newClient(ours, func(_, _ string) {})
		defer c.end(io.EOF)
		began := time.Now()
		_, err := c.within(t.Context(), 50*time.Millisecond, "m", nil)
		if !errors.Is(err, errSlow) {
			t.Errorf("the first: %v", err)
		}
		_, err = c.within(context.WithoutCancel(t.Context()), 5*time.Minute, "m", nil)
		if !errors.Is(err, errStalled) || time.Since(began) != 50*time.Millisecond {
			t.Errorf("the second: %v after %s", err, time.Since(began))
		}
		for range 2 * maxQueue {
			if err = c.notify("event", nil); err != nil {
				break
			}
		}
		if !errors.Is(err, errStalled) || time.Since(began) != 50*time.Millisecond {
			t.Errorf("notifications: %v after %s", err, time.Since(began))
		}
		in := bufio.NewReader(theirs)
		go func() { // reads on, and answers: it is asked again
			for {
				line, err := in.ReadBytes('\n')
				if err != nil {
					return
				}
				var m struct{ ID uint64 }
				if json.Unmarshal(line, &m) == nil && m.ID > 0 {
					fmt.Fprintf(theirs, "{\"id\":%d,\"result\":{}}\n", m.ID)
				}
			}
		}()
		for {
			if _, err = c.within(t.Context(), 5*time.Minute, "again", nil); !errors.Is(err, errStalled) {
				break
			}
		}
		if err != nil {
			t.Errorf("once it reads again: %v", err)
		}
	})
}

package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/test/testkit"
	"conclave/app/tool"
	"conclave/app/tool/mcpserver"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
	`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// post sends one message and returns the answer, whose body was read.
func post(t testing.TB, address, body string, header map[string]string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(body))
	must(t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range header {
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	must(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	must(t, err)
	return answer, string(text)
}

func TestMC123OnlyARequestWithATokenForThisAddressIsAnswered(t *testing.T) {
	b := newBench(t, tools{"one": says("1")})
	token, address := b.token("editor"), b.listen(mcpserver.Choices{})
	at, err := url.Parse(address)
	must(t, err)
	if len(token) < 43 { // 256 bits, in characters of six
		t.Errorf("the token %q is short", token)
	}
	good := "Bearer " + token
	cases := map[string]struct {
		address string
		header  map[string]string
		status  int
	}{
		"none":              {address, nil, 401},
		"another":           {address, map[string]string{"Authorization": "Bearer cnc_other"}, 401},
		"in the address":    {address + "?access_token=" + token + "&token=" + token, nil, 401},
		"another scheme":    {address, map[string]string{"Authorization": "Basic " + token}, 401},
		"another host":      {address, map[string]string{"Authorization": good, "Host": "evil.example:" + at.Port()}, 403},
		"another port":      {address, map[string]string{"Authorization": good, "Host": "127.0.0.1:1"}, 403},
		"no port":           {address, map[string]string{"Authorization": good, "Host": "localhost"}, 403},
		"a page":            {address, map[string]string{"Authorization": good, "Origin": "https://evil.example"}, 403},
		"a page of nowhere": {address, map[string]string{"Authorization": good, "Origin": "null"}, 403},
		"another path":      {strings.TrimSuffix(address, "/mcp") + "/", map[string]string{"Authorization": good}, 404},
		"good":              {address, map[string]string{"Authorization": good}, 200},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			answer, text := post(t, c.address, initialize, c.header)
			if answer.StatusCode != c.status {
				t.Errorf("got %d %s", answer.StatusCode, text)
			}
			if got := answer.Header.Get("WWW-Authenticate"); (got == "Bearer") != (c.status == 401) {
				t.Errorf("got WWW-Authenticate %q", got)
			}
			for name := range answer.Header {
				if strings.HasPrefix(name, "Access-Control") {
					t.Errorf("got the header %s", name)
				}
			}
			if strings.Contains(text, token) {
				t.Error("the answer holds the token")
			}
		})
	}
}

func TestMC123TheTokenIsInTheKeychainAlone(t *testing.T) {
	b := newBench(t, tools{"one": says("1")})
	token := b.token("editor")
	if b.store.keys["@mcp:editor"] != token {
		t.Errorf("the keychain has %v", b.store.keys)
	}
	if strings.Contains(string(b.store.record), token) {
		t.Errorf("the store has %s", b.store.record)
	}
	again, err := b.server.Token(t.Context(), "editor")
	must(t, err)
	if again != token {
		t.Errorf("got %q", again)
	}
}

func TestMC123TooLargeASlowAndABrokenRequestAreRefused(t *testing.T) {
	b := newBench(t, tools{"one": says("1")})
	token, address := b.token("editor"), b.listen(mcpserver.Choices{})
	header := map[string]string{"Authorization": "Bearer " + token}
	if answer, _ := post(t, address, strings.Repeat(" ", limit.ProgramRequest+1), header); answer.StatusCode != 413 {
		t.Errorf("of a large one, got %d", answer.StatusCode)
	}
	if answer, _ := post(t, address, "no JSON", header); answer.StatusCode != 400 {
		t.Errorf("of a broken one, got %d", answer.StatusCode)
	}
	at, err := url.Parse(address)
	must(t, err)
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", at.Host)
	must(t, err)
	defer c.Close()
	_, err = fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Length: 100\r\n\r\n{",
		at.Host, token)
	must(t, err, c.SetReadDeadline(time.Now().Add(testkit.Patience)))
	began := time.Now()
	answer, err := io.ReadAll(c)
	must(t, err)
	if took := time.Since(began); !bytes.Contains(answer, []byte("400")) || took > 20*time.Second {
		t.Errorf("after %s got %q", took, answer)
	}
}

func TestMC123TheSessionThatWasSilentLongestMakesRoom(t *testing.T) {
	b := newBench(t, tools{"one": says("1")})
	token, address := b.token("editor"), b.listen(mcpserver.Choices{})
	header := map[string]string{"Authorization": "Bearer " + token}
	var ids []string
	for range 100 {
		answer, text := post(t, address, initialize, header)
		if answer.StatusCode != 200 {
			t.Fatalf("got %d %s", answer.StatusCode, text)
		}
		ids = append(ids, answer.Header.Get("Mcp-Session-Id"))
	}
	if open := b.server.Programs()[0].Open; open != 64 {
		t.Errorf("%d sessions are open", open)
	}
	for id, status := range map[string]int{ids[0]: 404, ids[99]: 200} {
		answer, text := post(t, address, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
			map[string]string{"Authorization": "Bearer " + token, "Mcp-Session-Id": id})
		if answer.StatusCode != status {
			t.Errorf("got %d %s, want %d", answer.StatusCode, text, status)
		}
	}
}

func TestMC123ASessionBelongsToTheProgramThatBeganIt(t *testing.T) {
	b := newBench(t, tools{"one": says("1")})
	first, second, address := b.token("first"), b.token("second"), b.listen(mcpserver.Choices{})
	answer, _ := post(t, address, initialize, map[string]string{"Authorization": "Bearer " + first})
	id := answer.Header.Get("Mcp-Session-Id")
	answer, text := post(t, address, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
		map[string]string{"Authorization": "Bearer " + second, "Mcp-Session-Id": id})
	if answer.StatusCode != 404 {
		t.Errorf("got %d %s", answer.StatusCode, text)
	}
}

func TestMC124BothErasAreServedAtOneAddress(t *testing.T) {
	b := newBench(t, tools{"one": says("1")})
	b.allow(gate.Outside("editor"))
	token, address := b.token("editor"), b.listen(mcpserver.Choices{})
	for era, version := range eras {
		t.Run(era, func(t *testing.T) {
			session := b.connect(address, token, version, nil)
			if got := session.InitializeResult().ProtocolVersion; (got == "2026-07-28") != (version == "") {
				t.Errorf("got the version %s", got)
			}
			if got := namesOf(t, session); len(got) != 1 {
				t.Errorf("got %v", got)
			}
			r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "one"})
			must(t, err)
			if textOf(r) != "1" {
				t.Errorf("got %q", textOf(r))
			}
		})
	}
	if got := b.server.Programs()[0]; got.Calls != 2 || got.Used.IsZero() {
		t.Errorf("got %+v", got)
	}
}

func TestMC128RemovingAProgramEndsItsSessionsAndCalls(t *testing.T) {
	begun, stopped := make(chan struct{}), make(chan struct{})
	b := newBench(t, tools{"one": func(ctx context.Context, _ tool.Call) tool.Result {
		close(begun)
		<-ctx.Done()
		close(stopped)
		return tool.Result{Status: chat.CallCancelled}
	}})
	b.allow(gate.Outside("editor"))
	token, address := b.token("editor"), b.listen(mcpserver.Choices{})
	session := b.connect(address, token, "2025-11-25", nil)
	go func() { // ends with its session
		_, _ = session.CallTool(context.Background(), &mcp.CallToolParams{Name: "one"})
	}()
	<-begun
	must(t, b.server.Remove(t.Context(), "editor"))
	select {
	case <-stopped:
	case <-time.After(testkit.Patience):
		t.Fatal("the call goes on")
	}
	answer, _ := post(t, address, initialize, map[string]string{"Authorization": "Bearer " + token})
	if answer.StatusCode != 401 {
		t.Errorf("got %d", answer.StatusCode)
	}
	if len(b.server.Programs()) != 0 || len(b.store.keys) != 0 {
		t.Errorf("there are %v, %v", b.server.Programs(), b.store.keys)
	}
}

func TestMC128RemovingAProgramEndsItsSubscription(t *testing.T) {
	b := newBench(t, tools{"one": says("")})
	token, address := b.token("editor"), b.listen(mcpserver.Choices{})
	ctx, cancel := context.WithTimeout(t.Context(), testkit.Patience)
	defer cancel()
	body := `{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},` +
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}}}`
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(body))
	must(t, err)
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Authorization": "Bearer " + token, "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "subscriptions/listen",
	} {
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	must(t, err)
	defer answer.Body.Close()
	if answer.StatusCode != 200 {
		text, _ := io.ReadAll(answer.Body)
		t.Fatalf("got %d %s", answer.StatusCode, text)
	}
	must(t, b.server.Remove(t.Context(), "editor"))
	_, _ = io.ReadAll(answer.Body)
	if ctx.Err() != nil {
		t.Error("the stream goes on")
	}
}

func TestMC128CallsAreCountedAcrossRestarts(t *testing.T) {
	b := newBench(t, tools{"one": says("1")})
	b.allow(gate.Outside("editor"))
	session, _ := b.streams("editor", "2025-11-25", mcpserver.Choices{}, nil)
	_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "one"})
	must(t, err, b.server.Close(t.Context()))
	var kept mcpserver.Record
	must(t, json.Unmarshal(b.store.record, &kept))
	if len(kept.Programs) != 1 || kept.Programs[0].Calls != 1 || kept.Programs[0].Name != "editor" {
		t.Errorf("got %+v", kept)
	}
}

func TestMC120TheWindowsPortOpensAndClosesAsThePersonWants(t *testing.T) {
	b := newBench(t, tools{"one": says("1")})
	ctx, cancel := context.WithCancel(t.Context())
	followed := make(chan struct{})
	go func() { // ends with ctx
		defer close(followed)
		b.server.Follow(ctx)
	}()
	var port int
	_, err := fmt.Sscan(testkit.FreePort(t), &port)
	must(t, err, b.server.SetPort(t.Context(), true, port))
	testkit.Until(t, "the port is open", func() bool { at, _ := b.server.Address(); return at != "" })
	must(t, b.server.SetPort(t.Context(), false, port))
	testkit.Until(t, "the port is closed", func() bool { at, _ := b.server.Address(); return at == "" })
	cancel()
	<-followed
}

func TestNamesOfProgramsAreReadable(t *testing.T) {
	b := newBench(t, tools{})
	for _, name := range []string{"", " ", " x", "a\nb", "a\u202eb", strings.Repeat("x", 41)} {
		if _, err := b.server.AddToken(t.Context(), name); err == nil {
			t.Errorf("%q was taken", name)
		}
	}
	b.token("Claude Desktop")
	if _, err := b.server.AddToken(t.Context(), "Claude Desktop"); err == nil {
		t.Error("a second token was made for one program")
	}
}

func TestMC127AProgramThatSendsNothingCostsLessThanAMegabyte(t *testing.T) {
	b := newBench(t, tools{"one": says("1")})
	token, address := b.token("editor"), b.listen(mcpserver.Choices{})
	header := map[string]string{"Authorization": "Bearer " + token}
	post(t, address, initialize, header)
	before := heap()
	const idle = 50
	for range idle {
		post(t, address, initialize, header)
	}
	if each := (heap() - before) / idle; each > 1<<20 {
		t.Errorf("an idle session takes %d bytes", each)
	}
}

// heap returns the bytes that are in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc) //nolint:gosec // it fits
}

func TestAttackAProgramTakesConclavesName(t *testing.T) {
	b := newBench(t, tools{})
	for _, name := range []string{"Conclave", "Соnсlаvе", "Conclave Security", "Zed\u202e", "Z\x1b[31med"} {
		if _, err := b.server.AddToken(t.Context(), name); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%q: %v", name, err)
		}
	}
	t.Log("stopped by: a program has no name that Conclave could have, or that cannot be shown")
}

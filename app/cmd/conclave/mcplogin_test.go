package main

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/plugin/dialect/mcp/auth/authtest"
	"conclave/app/test/testkit"
)

// A terminal without a browser shows the address, which may be opened anywhere on this computer.
func TestMC83ATerminalSignsInAndOut(t *testing.T) {
	server := authtest.New(t)
	server.Handler = http.HandlerFunc(authtest.Echo)
	s := newServed(t, nil)
	testkit.Write(t, filepath.Join(s.dir, "plugins", "notes.mcp.json"),
		`{"mcpServers":{"notes":{"url":"`+server.URL+`"}}}`)
	s.run("plugins", "trust", "notes")

	cmd := exec.CommandContext(t.Context(), program, "mcp", "login", "notes")
	cmd.Env = append(s.env, "PATH="+t.TempDir())
	shown, err := cmd.StderrPipe()
	must(t, err)
	cmd.Stdout = os.Stderr
	must(t, cmd.Start())
	lines := bufio.NewScanner(shown)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), server.Issuer+"/authorize?") {
			must(t, server.Browser(t.Context(), lines.Text()))
		}
	}
	must(t, cmd.Wait())

	s.run("plugins", "trust", "notes")
	server.Expire()
	for range 2 {
		if got := s.run("tools", "call", "notes:echo", "--approve", "always"); !strings.Contains(got, "hello") {
			t.Errorf("the tool answered %q", got)
		}
	}
	if len(server.Pages) != 1 {
		t.Errorf("%d pages", len(server.Pages))
	}
	s.run("mcp", "logout", "notes")
	if len(server.Revoked) != 2 {
		t.Errorf("revoked %v", server.Revoked)
	}
}

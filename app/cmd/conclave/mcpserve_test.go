package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/core"
	"conclave/app/test/testkit"
	"conclave/store"
)

// served is a conclave with its own folders, for tests of `conclave mcp serve`.
type served struct {
	t   *testing.T
	dir string
	env []string
}

// newServed returns a conclave with these plugins, by file name, approved and offered to other programs.
func newServed(t *testing.T, plugins map[string]string) *served {
	t.Helper()
	s := &served{t: t, dir: t.TempDir()}
	s.env = append(os.Environ(), "HOME="+s.dir, "CONCLAVE_DATA="+filepath.Join(s.dir, "data"),
		"CONCLAVE_PLUGINS="+filepath.Join(s.dir, "plugins"), "CONCLAVE_PASSPHRASE=for tests",
		"DBUS_SESSION_BUS_ADDRESS=disabled:", "XDG_RUNTIME_DIR="+s.dir)
	for name, text := range plugins {
		testkit.Write(t, filepath.Join(s.dir, "plugins", name), text)
		s.run("plugins", "trust", strings.TrimSuffix(name, filepath.Ext(name)))
	}
	if len(plugins) > 0 {
		s.run("mcp", "offer", "--all")
	}
	return s
}

// run runs a command and returns what it prints.
func (s *served) run(args ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), program, args...)
	cmd.Env = s.env
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("conclave %v: %v\n%s%s", args, err, out, problems.String())
	}
	return string(out)
}

// serve starts `conclave mcp serve --http` and returns its address and a token.
func (s *served) serve(args ...string) (address, token string) {
	s.t.Helper()
	token = strings.TrimSpace(s.run("mcp", "tokens", "add", "test"))
	ctx, cancel := context.WithCancel(context.Background()) // ends with the test
	args = append([]string{"mcp", "serve", "--http", "--json", "127.0.0.1:0"}, args...)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = s.env
	out, err := cmd.StdoutPipe()
	must(s.t, err)
	must(s.t, cmd.Start())
	s.t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was killed
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	must(s.t, err)
	var said struct{ Address string }
	must(s.t, json.Unmarshal([]byte(line), &said))
	return said.Address, token
}

// withToken serves address to programs that cannot send a token.
func withToken(t *testing.T, address, token string) string {
	t.Helper()
	to, err := url.Parse(address)
	must(t, err)
	var own string
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: to.Scheme, Host: to.Host})
		if r.In.Host != own {
			r.Out.Host = r.In.Host // of an attack, which is to arrive as it is
		}
		if r.In.Header.Get("Origin") == "http://"+own {
			r.Out.Header.Set("Origin", "http://"+to.Host)
		}
		r.Out.Header.Set("Authorization", "Bearer "+token)
	}}
	server := &http.Server{Addr: "127.0.0.1:" + testkit.FreePort(t), Handler: proxy}
	own = server.Addr
	t.Cleanup(func() { _ = server.Close() })
	go func() { _ = server.ListenAndServe() }() // ends with the test
	return "http://" + own + to.Path
}

// npmFolder returns the folder with the programs of others, and their Node.
func npmFolder(t *testing.T) (modules, node string) {
	t.Helper()
	if testing.Short() {
		t.Skip("programs of others are not started with -short")
	}
	dir, err := filepath.Abs("../../plugin/dialect/mcp/mcptest/npm")
	must(t, err)
	modules = filepath.Join(dir, "node_modules")
	node = filepath.Join(modules, "node", "bin", "node")
	if _, err := os.Stat(node); err != nil {
		t.Fatalf("the conformance suite is not installed. Run make test, or: npm ci --prefix %s", dir)
	}
	return modules, node
}

func TestMC131TheServerScenariosOfTheConformanceSuitePass(t *testing.T) {
	modules, node := npmFolder(t)
	plugin, err := os.ReadFile("testdata/mcp/conformance.py")
	must(t, err)
	address, token := newServed(t, map[string]string{"conformance.py": string(plugin)}).serve("--approve", "always")
	at := withToken(t, address, token)
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(revision, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), node,
				filepath.Join(modules, "@modelcontextprotocol", "conformance", "dist", "index.js"), "server", "--url", at,
				"--requirements", revision, "--expected-failures", "testdata/mcp/server-"+revision+".yaml",
				"--output-dir", t.TempDir())
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// A program that started conclave keeps its session while the window opens and closes.
func TestMC120ASessionOutlivesTheWindowThatServesIt(t *testing.T) {
	s := newServed(t, map[string]string{"adds.py": "def add(a: int, b: int) -> int:\n    return a + b\n"})
	s.run("permissions", "allow", "adds:add", "--outside", "Editor")
	cmd := exec.CommandContext(t.Context(), program, "mcp", "serve", "--as", "Editor")
	cmd.Env = s.env
	in, err := cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	var problems strings.Builder
	cmd.Stderr = &problems
	must(t, cmd.Start())
	defer func() { _ = cmd.Wait() }()
	defer in.Close()
	answers := bufio.NewScanner(out)
	ask := func(method, params string) string {
		t.Helper()
		_, err := fmt.Fprintf(in, `{"jsonrpc":"2.0","id":1,"method":"%s","params":%s}`+"\n", method, params)
		must(t, err)
		if !answers.Scan() {
			t.Fatalf("%s was not answered: %s", method, problems.String())
		}
		return answers.Text()
	}
	adds := func(when string) {
		t.Helper()
		got := ask("tools/call", `{"name":"add","arguments":{"a":1,"b":2}}`)
		if !strings.Contains(got, `"text":"3"`) {
			t.Errorf("%s: got %s", when, got)
		}
	}
	ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	adds("at first")
	data := filepath.Join(s.dir, "data")
	window, err := core.OpenWhenFree(t.Context(), core.Options{
		Data: data, Plugins: filepath.Join(s.dir, "plugins"), Work: s.dir, Name: core.WindowName,
		Worker: filepath.Join(filepath.Dir(program), "conclave-worker"),
	}, testkit.Patience, func(context.Context, store.Owner) core.Choice {
		t.Error("the person was asked about it")
		return core.GiveUp
	})
	must(t, err)
	server, err := window.Serve(nil)
	must(t, err)
	must(t, window.Scan(t.Context()))
	adds("in the window")
	server.Close()
	must(t, window.Close())
	adds("after the window closed")
}

// The inspector is a program of others that lists and calls tools.
func TestMC132TheInspectorListsAndCallsToolsOfThreeDialects(t *testing.T) {
	modules, node := npmFolder(t)
	s := newServed(t, nil)
	kinds := map[string]string{"python": "name", "spindle": "name", "maibot": "who"} // of whom to greet
	for kind := range kinds {
		s.run("plugins", "new", kind, "of_"+kind)
		s.run("plugins", "trust", "of_"+kind)
	}
	s.run("mcp", "offer", "--all")
	address, token := s.serve("--approve", "always")
	inspect := func(t *testing.T, era string, args ...string) string {
		t.Helper()
		args = append([]string{
			filepath.Join(modules, "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js"),
			"--cli", address, "--transport", "http", "--header", "Authorization: Bearer " + token, "--protocol-era", era,
			"--format", "json", "-q",
		}, args...)
		cmd := exec.CommandContext(t.Context(), node, args...)
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v: %v\n%s", args[11:], err, out)
		}
		return string(out)
	}
	for _, era := range []string{"legacy", "modern"} {
		t.Run(era, func(t *testing.T) {
			list := inspect(t, era, "--method", "tools/list", "--strict")
			for kind, who := range kinds {
				name := "of_" + kind + "__greet"
				if !strings.Contains(list, `"`+name+`"`) {
					t.Errorf("the list lacks %s: %s", name, list)
				}
				got := inspect(t, era, "--method", "tools/call", "--tool-name", name, "--tool-arg", who+"=Ada")
				if !strings.Contains(got, "Ada!") {
					t.Errorf("%s: got %s", name, got)
				}
			}
		})
	}
}

// A server entry that leads to Conclave itself is refused.
func TestMC129ConclaveDoesNotUseItselfAsAServer(t *testing.T) {
	s := newServed(t, map[string]string{"adds.py": "def add(a: int, b: int) -> int:\n    return a + b\n"})
	address, token := s.serve("--approve", "always")
	testkit.Write(t, filepath.Join(s.dir, "plugins", "mcp.json"), fmt.Sprintf(
		`{"mcpServers":{"itself":{"type":"http","url":%q,"headers":{"Authorization":"Bearer %s"}}}}`, address, token))
	cmd := exec.CommandContext(t.Context(), program, "plugins", "trust", "mcp-itself", "--yes")
	cmd.Env = s.env
	said, _ := cmd.CombinedOutput()
	cmd = exec.CommandContext(t.Context(), program, "plugins", "show", "mcp-itself")
	cmd.Env = s.env
	shown, _ := cmd.CombinedOutput()
	if all := string(said) + string(shown); !strings.Contains(all, "This server is Conclave itself") {
		t.Errorf("got %s", all)
	}
}

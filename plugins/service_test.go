package plugins_test

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"conclave/app/test/testkit"
)

// lasting starts a program that stays until the test ends, and waits for the first line
// that it prints.
func (h house) lasting(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.Stderr = h.dir, append(h.env, env...), os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err, cmd.Start())
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was ended
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	return line
}

func TestTheServiceOfTheTemplateRegistersIsApprovedAndCalled(t *testing.T) {
	needPython(t)
	if runtime.GOOS == "windows" {
		t.Skip("its programs are ended as on Unix")
	}
	h := newHouse(t)
	if out, status := h.run(t, program, "plugins", "new", "http", "weather"); status != 0 ||
		!strings.Contains(out, "service.py") {
		t.Fatalf("made with status %d: %s", status, out)
	}
	if out, status := h.run(t, program, "plugins", "new", "http", "weather"); status != 1 ||
		!strings.Contains(out, "There is a weather in this folder already.") {
		t.Errorf("made again with status %d: %s", status, out)
	}
	at, own := testkit.FreePort(t), testkit.FreePort(t)
	file := filepath.Join(h.dir, "weather", "service.py")
	source, err := os.ReadFile(file)
	must(t, err, os.WriteFile(file, []byte(strings.ReplaceAll(string(source), "9117", own)), 0o600))

	h.lasting(t, nil, program, "http", "serve", "--port", at)
	said := h.lasting(t, []string{"CONCLAVE_HTTP=http://127.0.0.1:" + at}, "python3", file)
	if !strings.Contains(said, `"ok":true`) {
		t.Fatalf("registering was answered with %s", said)
	}
	id := "weather-" + own
	if out, status := h.run(t, program, "plugins", "trust", id, "--yes"); status != 0 ||
		!strings.Contains(out, id+" is ready, with 1 tool.") {
		t.Fatalf("approved with status %d: %s", status, out)
	}
	out, status := h.run(t, program, "tools", "call", id+":weather_hello", "--args", `{"who": "Ada"}`, "--approve", "always")
	if status != 0 || !strings.Contains(out, "Hello, Ada!") {
		t.Errorf("called with status %d: %s", status, out)
	}
	if out, status := h.run(t, program, "plugins", "check", id); status != 0 ||
		!strings.Contains(out, "It answers at http://127.0.0.1:"+own) || !strings.Contains(out, "weather_hello") {
		t.Errorf("checked with status %d: %s", status, out)
	}
}

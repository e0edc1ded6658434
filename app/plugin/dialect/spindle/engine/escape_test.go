package engine

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"conclave/app/test/testkit"
)

// escapes are ways out of the engine that must lead nowhere, tried behind the
// real walls: expressions that give what they reached, or throw.
var escapes = map[string]string{
	// Files.
	"absolute path":           `await (await fetch("file:///etc/passwd")).text()`,
	"climbing":                `await (await fetch(new URL("../../../../etc/passwd", import.meta.url))).text()`,
	"encoded climbing":        `await (await fetch("file:///plugin/%2e%2e/%2E%2E/etc/passwd")).text()`,
	"encoded slash":           `await (await fetch("file:///plugin/..%2f..%2fetc%2fpasswd")).text()`,
	"backslashes":             `await (await fetch("file:///plugin/..\\..\\etc\\passwd")).text()`,
	"zero byte":               `await (await fetch("file:///plugin/main.js%00.txt/../../etc/passwd")).text()`,
	"a link out":              `await (await fetch(new URL("./out.txt", import.meta.url))).text()`,
	"a linked folder":         `await (await fetch(new URL("./away/hostname", import.meta.url))).text()`,
	"a neighbour":             `await (await fetch(new URL("../neighbour.txt", import.meta.url))).text()`,
	"another host's file":     `await (await fetch("file://localhost/etc/passwd")).text()`,
	"the process":             `await (await fetch("file:///proc/self/environ")).text()`,
	"importing a path":        `(await import("/etc/passwd")).default`,
	"importing by climbing":   `(await import("../neighbour.json")).default`,
	"importing a link":        `(await import("./out.json")).default`,
	"importing an address":    `(await import("https://example.org/x.js")).default`,
	"importing text":          `(await import("data:text/javascript,export default 1")).default`,
	"importing the prelude":   `(await import("conclave:bridge.js")).host`,
	"importing what it knows": `(await import("conclave:boot.js"))`,
	"importing a host":        `(await import("node:fs")).readFileSync("/etc/passwd")`,
	"importing the engine's":  `(await import("std")).open("/etc/passwd")`,
	// Code from text.
	"eval":              `eval("1")`,
	"indirect eval":     `(0, eval)("1")`,
	"Function":          `new Function("return 1")()`,
	"by a prototype":    `Object.getPrototypeOf(async () => {}).constructor("return 1")`,
	"by Reflect":        `Reflect.construct(Function, ["return 1"])`,
	"by a lazy getter":  `Object.getOwnPropertyDescriptor(globalThis, "FormData").get.constructor("return 1")()`,
	"text in a timer":   `setTimeout("1")`,
	"by a bound method": `spindle.on.bind(null).constructor("return 1")()`,
	// Other hosts, and the machine.
	"require":          `require("fs")`,
	"import.meta":      `import.meta.require("fs")`,
	"a process":        `process.kill(process.ppid, 9)`,
	"ending":           `process.exit(0)`,
	"native code":      `process.binding("fs")`,
	"the host":         `__host("ask", "{}")`,
	"its receiver":     `__receive("granted", "{}")`,
	"another worker":   `new Worker("x.js")`,
	"compiled code":    `new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))`,
	"Bun":              `Bun.file("/etc/passwd")`,
	"Deno":             `Deno.readTextFileSync("/etc/passwd")`,
	"the engine's std": `std.loadFile("/etc/passwd")`,
	// The network.
	"fetch":               `await fetch("http://127.0.0.1:1/")`,
	"socket":              `new WebSocket("ws://127.0.0.1:1/")`,
	"asking unasked":      `await spindle.cors("http://127.0.0.1:1/")`,
	"another's storage":   `await spindle.storage.read("../other/secret.txt")`,
	"waiting on a thread": `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1e9)`,
}

func TestSP12NoWayLeadsOutOfTheEngine(t *testing.T) {
	var tries strings.Builder
	for name, expression := range escapes {
		fmt.Fprintf(&tries, "%q: async () => (%s),\n", name, expression)
	}
	dir := t.TempDir()
	outside := filepath.Join(dir, "neighbour.txt")
	must(t, os.WriteFile(outside, []byte("treasure"), 0o600))
	files := map[string]string{
		"main.js": "const tries = {\n" + tries.String() + "};\n" +
			handler(`let got; try { got = await tries[args.name]() } catch (e) { return "threw " + e } return "reached " + String(got).slice(0, 80)`),
		"other.js": "",
	}
	p := load(t, "main.js", files, walled(), withConfig(func(c *Config) {
		for link, target := range map[string]string{"out.txt": outside, "out.json": outside, "away": "/etc"} {
			if err := os.Symlink(target, filepath.Join(c.Folder, link)); err != nil && runtime.GOOS != "windows" {
				t.Fatal(err)
			}
		}
	}))
	for name := range escapes {
		if got := p.call("t", meta{"name": name}, nil); !strings.HasPrefix(got.text, "threw ") ||
			strings.Contains(got.text, "treasure") || strings.Contains(got.text, dir) {
			t.Errorf("%s: %s", name, got.text)
		}
	}
}

// A bundle may name any file as its source map; only what lies in the plugin's
// folder is read.
func TestASourceMapCannotShowWhatLiesOutside(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret.map")
	must(t, os.WriteFile(secret,
		[]byte(`{"version":3,"sources":["stolen.ts"],"sourcesContent":["the secret"],"mappings":"AAAA"}`),
		0o600))
	for _, address := range []string{
		secret, "../" + filepath.Base(filepath.Dir(secret)) + "/secret.map", "file://" + secret,
	} {
		_, err := open(t, "a.js", map[string]string{
			"a.js": "throw new Error('x')\n//# sourceMappingURL=" + address + "\n", "b": "",
		})
		if got := problemOf(t, err); got.File != "a.js" || got.Line != 1 || strings.Contains(got.Frame, "secret\n") {
			t.Errorf("%s: %+v", address, got)
		}
	}
}

// hostVariable makes the test binary a host that starts a worker and waits.
const hostVariable = "CONCLAVE_TEST_SPINDLE_HOST"

// runHost starts the worker whose configuration it is given, has it compute for
// ever, prints its process id, and never ends by itself.
func runHost(config string) int {
	exe, err := os.Executable()
	if err != nil {
		return 2
	}
	cmd := exec.Command(exe)
	cmd.Env = []string{workerVariable + "=" + config}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return 2
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 2
	}
	if err := cmd.Start(); err != nil {
		return 2
	}
	lines := bufio.NewScanner(out)
	_, _ = fmt.Fprintln(in,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`)
	for lines.Scan() {
		var line struct {
			ID     any
			Method string
		}
		_ = json.Unmarshal(lines.Bytes(), &line)
		if line.Method == "conclave/host" { // what is granted: what it asks for
			_, _ = fmt.Fprintf(in, `{"jsonrpc":"2.0","id":%q,"error":{"code":-32601,"message":"no"}}`+"\n", line.ID)
		} else if line.ID != nil {
			break
		}
	}
	_, _ = fmt.Fprintln(in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	_, _ = fmt.Fprintln(in, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","arguments":{}}}`)
	for lines.Scan() {
		if strings.Contains(lines.Text(), "busy now") {
			break
		}
	}
	fmt.Println(cmd.Process.Pid)
	_, _ = io.Copy(io.Discard, out) // until it ends, or this is killed
	runtime.KeepAlive(in)
	return 0
}

func TestAKilledHostLeavesNoWorker(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc to see a process that nobody waits for")
	}
	for name, body := range map[string]string{
		"in a loop": `for (;;);`, "in an endless built-in": `Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)`,
		"at rest": `await new Promise(() => {})`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			must(t, os.WriteFile(filepath.Join(dir, "p.js"), []byte(handler(`console.log("busy now"); await null; `+body)),
				0o600))
			config := filepath.Join(dir, "config.json")
			text := toJSON(Config{
				Plugin: "p", Folder: dir, Single: true, Entry: "p.js", CallMS: 600_000, Permissions: []string{"tools"},
			})
			must(t, os.WriteFile(config, []byte(text), 0o600))
			exe, err := os.Executable()
			must(t, err)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			host := exec.CommandContext(ctx, exe)
			host.Stderr = os.Stderr
			host.Env = []string{hostVariable + "=" + config}
			out, err := host.StdoutPipe()
			must(t, err)
			must(t, host.Start())
			line, err := bufio.NewReader(out).ReadString('\n')
			pid, convErr := strconv.Atoi(strings.TrimSpace(line))
			if err != nil || convErr != nil {
				t.Fatalf("the host said %q: %v", line, err)
			}
			if !alive(pid) {
				t.Fatal("the worker is not there")
			}
			must(t, host.Process.Kill())
			_ = host.Wait()
			testkit.Until(t, "the worker's end", func() bool { return !alive(pid) })
		})
	}
}

// alive reports whether a process runs; one that is dead and not reaped does not.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

func TestManyStartsInARowAllSucceed(t *testing.T) {
	starts := 40
	if testing.Short() {
		starts = 5
	}
	for i := range starts {
		p, err := open(t, "p.js", map[string]string{"p.js": handler(`return 1`)}, walled())
		if err != nil {
			t.Fatalf("start %d: %v\n%s", i, err, p.stderr)
		}
		if got := p.call("t", meta{}, nil); got.text != "1" {
			t.Fatalf("start %d: %+v", i, got)
		}
		_ = p.session.Close()
		if code := p.waitExit(); code != 0 {
			t.Fatalf("start %d ended with %d: %s", i, code, p.stderr)
		}
	}
}

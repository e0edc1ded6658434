package engine

import (
	"strings"
	"testing"
	"time"

	"conclave/app/plugin/wire"
)

// hostile are scripts that mean harm, or might as well: the body of a handler.
// Those that do not end by themselves are called with a deadline of a second.
var hostile = map[string]string{
	// Loops.
	"endless loop":            `for (;;);`,
	"catch in a loop":         `for (;;) { try { for (;;); } catch {} finally { continue } }`,
	"microtask bomb":          `const f = () => Promise.resolve().then(f); f(); f(); await new Promise(() => {})`,
	"async loop":              `for (;;) await null`,
	"timer flood":             `for (let i = 0; i < 1e6; i++) setTimeout(() => {}, 60000)`,
	"intervals of nothing":    `for (let i = 0; i < 5000; i++) setInterval(() => { for (let j = 0; j < 1e4; j++); }, 0); await new Promise(() => {})`,
	"generator":               `function* g() { for (;;) yield 1 } for (const x of g()); `,
	"proxy":                   `const p = new Proxy({}, { get: (t, k, r) => r[k] }); p.x`,
	"sort without order":      `for (;;) Array.from({ length: 1e4 }, () => 1).sort(() => Math.random() - 0.5)`,
	"slow built-in in a loop": `const rows = Array.from({ length: 20000 }, (_, i) => ({ i, s: "row " + i })); for (;;) JSON.stringify(rows)`,
	"endless built-in":        `return Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)`,
	"sparse join":             `const a = []; a.length = 2 ** 32 - 1; return a.join("").length`,
	// Memory.
	"allocate for ever":   `const all = []; for (;;) all.push(new Array(1e4).fill(all.length))`,
	"catch out of memory": `const all = []; for (;;) { try { for (;;) all.push(new Array(1e4).fill(0)) } catch {} }`,
	"doubling text":       `let s = "x"; for (;;) s += s`,
	"repeat":              `return "x".repeat(2 ** 29).length`,
	"typed arrays":        `const all = []; for (;;) all.push(new Uint8Array(2 ** 31))`,
	"buffers":             `const all = []; for (;;) all.push(new ArrayBuffer(1 << 20))`,
	"promise bomb":        `const all = []; for (;;) all.push(new Promise(() => {}).then(() => {}))`,
	"big numbers":         `let n = 2n; for (;;) n = n ** 2n`,
	"map":                 `const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })`,
	"spread":              `return Math.max(...new Array(1e8).fill(1))`,
	"padding":             `return "x".padEnd(2 ** 30).length`,
	"weak references":     `const all = []; for (;;) all.push(new WeakRef({ a: all.length }))`,
	"blobs":               `const all = []; for (;;) all.push(new Blob(["x".repeat(1e6)]))`,
	"inflating":           `const zeros = new Blob([new Uint8Array(1 << 20)]).stream().pipeThrough(new CompressionStream("gzip")); const one = await new Response(zeros).bytes(); return (await new Response(new Blob(Array.from({ length: 40 }, () => one)).stream().pipeThrough(new DecompressionStream("gzip"))).bytes()).length`,
	"endless stream":      `let n = 0; for await (const x of new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(65536)) } })) n += x.length; return n`,
	"hoarding stream":     `return (await new Response(new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(65536)) } })).text()).length`,
	"channel flood":       `const a = new BroadcastChannel("x"), b = new BroadcastChannel("x"); a.onmessage = b.onmessage = (e) => { e.target.postMessage(e.data) }; a.postMessage("x".repeat(1000)); await new Promise(() => {})`,
	// Regular expressions.
	"regular expression":    `return /(a+)+$/.test("a".repeat(40) + "b")`,
	"behind a lookahead":    `return /^(?=(a+)+$)/.test("a".repeat(40) + "b")`,
	"replacing":             `return "a".repeat(40).replaceAll(/(a|aa)+$|(a|aa)+b/g, "x").length + "a".repeat(60).split(/(a|a?)+b/).length`,
	"with a back-reference": `return /(a*)*\1$/.test("a".repeat(40) + "b")`,
	// Addresses, which the worker reads.
	"address of many folders": `return new URL("http://h/" + "a/".repeat(2e6)).href.length`,
	"address of a long user":  `return new URL("http://" + "a".repeat(4e6) + "@h/").href.length`,
	"long address":            `return new URL("http://h/" + "x".repeat(2e7)).href.length`,
	// Depth.
	"recursion":              `const f = () => f() + 1; return f()`,
	"recursion through text": `const o = { toString() { return "" + o } }; return "" + o`,
	"recursion in sort":      `const f = () => [2, 1].sort(f); return f()`,
	"deep JSON":              `let s = "["; return JSON.parse(s.repeat(1e6))`,
	"deep clone":             `let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; return structuredClone(o)`,
	"deep value":             `let o = {}; for (let i = 0; i < 1e5; i++) o = { o }; return o`,
	// Prototypes.
	"replaced JSON":          `JSON.parse = JSON.stringify = () => { throw 1 }; return { a: 1 }`,
	"replaced promise":       `Promise.prototype.then = () => { throw 1 }; Promise.prototype.constructor = null; return "x"`,
	"replaced map and array": `Map.prototype.get = Map.prototype.set = Array.prototype.push = Array.prototype[Symbol.iterator] = () => { throw 1 }; return "x"`,
	"setters on Object":      `for (const k of ["id", "text", "error", "resolve", "descriptor", "context", "args"]) Object.defineProperty(Object.prototype, k, { set() { throw 1 }, get() { throw 1 }, configurable: true }); return "x"`,
	"setter of index zero":   `Object.defineProperty(Object.prototype, "0", { set() { throw 1 }, get() { throw 1 } }); return "x"`,
	"replaced call":          `Function.prototype.call = Function.prototype.apply = Function.prototype.bind = () => { throw 1 }; Reflect.apply = null; return "x"`,
	"throwing toJSON":        `return { toJSON() { throw new Error("no") } }`,
	"thenable":               `return { then() {} }`,
	"endless thenable":       `const t = { then(f) { f(t) } }; return t`,
	"parts made late":        `Array.prototype.push = Array.prototype.map = Map.prototype.get = Object.keys = RegExp.prototype.exec = () => { throw 1 }; const said = []; for (const f of [() => new URL("http://h"), () => crypto.randomUUID(), () => new Blob(["x"]), () => "a".localeCompare("b"), () => console.log("x")]) try { f() } catch {} return "x"`,
	"no symbols":             `delete Symbol.prototype[Symbol.toPrimitive]; Object.freeze(Object.prototype); Object.freeze(Promise.prototype); return { a: 1 }`,
	"constructor escapes": `const said = []; for (const f of [() => {}, async () => {}, function* () {}, async function* () {}, class {}, Promise, JSON.parse, spindle.registerTool, fetch, console.log, setTimeout, Intl.NumberFormat])
  for (const c of [f.constructor, Object.getPrototypeOf(f).constructor, Reflect.get(f, "constructor")]) try { said.push(c("return globalThis")()) } catch {} return said.filter((x) => x === globalThis).length`,
	"global of accessors": `for (const k of Object.getOwnPropertyNames(globalThis)) try { Object.defineProperty(globalThis, k, { get() { throw 1 }, set() { throw 1 }, configurable: true }) } catch {} return "x"`,
	// Floods.
	"log flood":     `for (;;) console.log("x".repeat(10000))`,
	"tool flood":    `for (let i = 0; ; i++) { spindle.registerTool({ name: "n" + i % 200, description: "x".repeat(60000) }) }`,
	"rejections":    `for (;;) { Promise.reject(new Error("x".repeat(100))); await null }`,
	"big answer":    `return "x".repeat(5e6)`,
	"many answers":  `return Array.from({ length: 2e6 }, (_, i) => i)`,
	"error flood":   `throw new Error("x".repeat(2e7))`,
	"request flood": `for (;;) { spindle.storage.read("x").catch(() => {}); await null }`,
}

// harmless are those that must end in a usable worker and the given status.
var harmless = map[string]string{
	"repeat": "raised", "recursion": "raised", "recursion through text": "raised", "recursion in sort": "raised",
	"long address": "raised",
	"deep JSON":    "raised", "typed arrays": "raised", "big numbers": "raised", "doubling text": "raised",
	"buffers":       "raised",
	"replaced JSON": "ok", "replaced map and array": "ok", "replaced call": "ok", "throwing toJSON": "raised",
	"timer flood":       "raised",
	"setters on Object": "ok", "allocate for ever": "raised", "map": "raised", "padding": "raised",
	"weak references": "raised", "blobs": "raised",
	"inflating": "raised", "hoarding stream": "raised", "parts made late": "ok", "no symbols": "ok",
	"constructor escapes": "ok", "global of accessors": "ok",
	"big answer": "raised", "error flood": "raised", "spread": "raised",
}

// deadlineIn is conclave/deadline-ms so many milliseconds from now.
func deadlineIn(ms int64) int64 { return time.Now().UnixMilli() + ms }

func TestSP34AHostileScriptIsStoppedAndReported(t *testing.T) {
	// The worst measured was 137 MB. It may not be asked of a machine how soon it
	// answers: the benchmark says that.
	const memory = 200 << 20
	plainProgram(t) // not built by all at once
	for name, body := range hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := script(t, handler(`if (args.calm) return "calm"; `+body))
			deadline := time.Second
			if harmless[name] != "" {
				deadline = 2 * time.Minute // it ends by itself, and must be given the time
			}
			got, start := p.within(deadline, meta{})
			took := time.Since(start)
			if want, ok := harmless[name]; ok && got.status != want {
				t.Errorf("status = %q (%.200s), want %q", got.status, got.text, want)
			}
			if got.text == "" && got.isError {
				t.Error("it failed without a sentence")
			}
			if got.status == "timeout" {
				if code := p.waitExit(); code != 3 {
					t.Errorf("exit = %d", code)
				}
			} else {
				if name == "constructor escapes" && got.text != "0" {
					t.Errorf("%s constructors made code", got.text)
				}
				again, err := p.tryCall(t.Context(), "t", meta{"calm": true}, meta{
					wire.MetaDeadline: time.Now().Add(2 * time.Minute).UnixMilli(),
				})
				if err == nil && again.text != "calm" && harmless[name] != "" {
					t.Errorf("afterwards it answered %+v", again)
				}
				_ = p.session.Close()
				p.waitExit()
			}
			if used := peakMemory(p.cmd.ProcessState); used > memory && !raceDetector {
				t.Errorf("it used %d MB", used>>20)
			}
			t.Logf("%s after %v: %.120s", got.status, took.Round(time.Millisecond), strings.ReplaceAll(got.text, "\n", " "))
		})
	}
}

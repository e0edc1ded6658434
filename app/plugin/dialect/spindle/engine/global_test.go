package engine

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"conclave/app/plugin/wire"
)

// spindleNames are the members of contracts/spindle, section 5, that have to be there.
var spindleNames = map[string]string{
	"": "registerTool unregisterTool on onFrontendMessage sendToFrontend registerInterceptor registerContextHandler " +
		"registerMacro unregisterMacro updateMacroValue cors " +
		"assemble batch registerMessageContentProcessor registerMacroInterceptor registerWorldInfoInterceptor",
	"permissions": "has getGranted onChanged onDenied", "council": "getSettings getMembers getAvailableLumiaItems",
	"log": "info warn error", "connections": "list get resolveDispatch",
	"generate": "quiet raw batch rawStream quietStream dryRun observe assemble quietTracked",
	"chat": "getMessages appendMessage updateMessage deleteMessage setMessageHidden setMessagesHidden " +
		"isMessageHidden",
	"chats":       "getActive get list update delete getMemories",
	"characters":  "get list update create delete setAvatar",
	"personas":    "getActive get getDefault list create update delete switchActive getWorldBook",
	"world_books": "list get create update delete", "world_books.entries": "list get create update delete",
	"macros": "resolve", "storage": "read write readBinary writeBinary delete list exists mkdir move stat getJson setJson",
	"userStorage": "read write readBinary writeBinary delete list exists mkdir move stat getJson setJson",
	"tokens":      "countText countMessages countChat", "variables.local": "get set delete list has",
	"variables.global": "get set delete list has", "variables.chat": "get set delete list has",
	"regex_scripts": "list", "memories.entities": "list", "memories.cortex": "query",
	"toast": "success info warning error", "enclave": "put get delete has list",
	"events": "track query replay getLatestState",
	"oauth":  "onCallback getCallbackUrl createState", "modal": "open close confirm", "prompt": "input",
	"commands": "register",
	"version":  "getBackend getFrontend", "frontendCapabilities": "declare", "dlc": "getCatalog",
	"ephemeral": "", "uploads": "", "imageGen": "", "images": "", "media": "", "theme": "", "presets": "", "databanks": "",
	"global_addons": "",
	"rpcPool":       "", "push": "", "webSearch": "", "textEditor": "", "users": "", "frontendProcesses": "",
	"backendProcesses": "", "promptRegex": "",
	"ui": "", "host": "", "contracts": "", "manifest": "", "providers.embedding": "register",
}

func TestSP09EveryNameOfTheGlobalIsThere(t *testing.T) {
	table, err := json.Marshal(spindleNames)
	must(t, err)
	got := eval(t, `const wrong = [];
if (typeof spindle !== "object" || typeof globalThis.spindle !== "object") wrong.push("spindle");
for (const [path, methods] of Object.entries(`+string(table)+`)) {
  let at = spindle;
  for (const part of path ? path.split(".") : []) at = at?.[part];
  if (typeof at !== "object" || at === null || Object.getPrototypeOf(at) !== Object.prototype) wrong.push(path);
  for (const method of methods ? methods.split(" ") : []) if (typeof at?.[method] !== "function") wrong.push(path + "." + method);
}
return wrong.join(" ")`)
	if got != "" {
		t.Errorf("missing or odd: %s", got)
	}
}

func TestSP09TheGlobalCannotBeReplaced(t *testing.T) {
	got := eval(t,
		`let said = ""; try { globalThis.spindle = 1 } catch (e) { said = e.name } return said + " " + typeof spindle`)
	if got != "TypeError object" {
		t.Errorf("got %q", got)
	}
}

func TestSP10AFileNextToTheCodeCanBeFetchedAndNothingElse(t *testing.T) {
	body := `const said = [];
const at = new URL(import.meta.url);
said.push(at.protocol, at.pathname.endsWith("/src/main.js"));
said.push((await (await fetch(new URL("../data/words.json", import.meta.url))).json()).hello);
const text = await fetch(new URL("./note%20one.txt", import.meta.url));
said.push(text.ok, text.status, text.headers.get("content-type"), await text.text());
for (const where of ["../../outside.txt", "file:///etc/passwd", "file:///plugin/../../etc/passwd", "./link.txt", "gone.txt"]) {
  try { await fetch(new URL(where, import.meta.url)); said.push("read " + where) } catch (e) { said.push(e.name) }
}
const inner = await import("./deep/inner.js");
said.push(inner.where);
return said.join("|")`
	p := load(t, "src/main.js", map[string]string{
		"src/main.js": handler(body), "data/words.json": `{"hello":"wörld"}`, "src/note one.txt": "n",
		"src/deep/inner.js": "export const where = import.meta.url;",
	})
	want := "file:|true|wörld|true|200|text/plain|n|TypeError|TypeError|TypeError|TypeError|TypeError|" +
		"file:///plugin/src/deep/inner.js"
	if got := p.call("t", meta{}, nil); got.text != want {
		t.Errorf("got  %s\nwant %s", got.text, want)
	}
}

func TestSP12CodeFromTextAndOtherHostsAreOutOfReach(t *testing.T) {
	got := eval(t, `const said = [];
const tries = {
  eval: () => eval("1"), indirect: () => (0, eval)("1"), constructed: () => globalThis["ev" + "al"]("1"),
  Function: () => new Function("return 1"), call: () => Function("return 1"),
  viaPrototype: () => (() => {}).constructor("return 1"), generator: () => (function* () {}).constructor("yield 1"),
  async: () => (async () => {}).constructor("return 1"), asyncGenerator: () => (async function* () {}).constructor("return 1"),
  reflect: () => Reflect.construct(Function, ["return 1"]), timer: () => setTimeout("1", 0),
};
for (const [name, run] of Object.entries(tries)) { try { run(); said.push(name + " ran") } catch (e) { if (!(e instanceof TypeError)) said.push(name + " " + e) } }
if (Object.keys(process.env).length || process.argv.length || process.cwd() !== "/plugin" || process.versions.node) said.push("process");
for (const name of ["exit", "kill", "chdir", "dlopen", "binding"]) try { process[name]("1"); said.push("process." + name) } catch {}
for (const name of ["require", "module", "window", "document", "localStorage", "Deno", "Bun", "std", "os", "bjson", "scriptArgs", "print", "__host", "__receive", "WebAssembly"])
  if (name in globalThis) said.push(name);
if (!(tries.eval instanceof Function) || typeof Function !== "function") said.push("instanceof");
for (const where of ["node:fs", "std", "os", "conclave:bridge.js", "../../../etc/passwd", "/etc/passwd", "data:text/javascript,1", "https://example.org/x.js"])
  try { await import(where); said.push("imported " + where) } catch {}
return said.join(", ")`)
	if got != "" {
		t.Errorf("reachable: %s", got)
	}
}

func TestSP13ThePlatformIsThere(t *testing.T) {
	tests := map[string]struct{ body, want string }{
		"randomUUID": {
			`return /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()) && crypto.randomUUID() !== crypto.randomUUID()`,
			"true",
		},
		"getRandomValues": {
			`const a = crypto.getRandomValues(new Uint32Array(64)); return a.length === 64 && new Set(a).size > 32`, "true",
		},
		"timers in order": { // they are set anew after a pause that changes in which order they are due
			`let s, paused; do { s = []; await new Promise((d) => { const began = performance.now(); setTimeout(() => s.push(3), 450); setTimeout((x, y) => s.push(x + y), 150, 0, 1); setImmediate(() => s.push(0)); const c = setTimeout(() => s.push(9), 200); clearTimeout(c); setTimeout(() => s.push(2), 300); setTimeout(d, 600); paused = performance.now() - began >= 100 }) } while (paused); return s.join()`,
			"0,1,2,3",
		},
		"interval": {
			`let n = 0; await new Promise((d) => { const i = setInterval(() => { if (++n === 3) { clearInterval(i); d() } }, 1) }); return n`,
			"3",
		},
		"microtask first": {
			`const s = []; setTimeout(() => s.push("t"), 0); queueMicrotask(() => s.push("m")); await new Promise((d) => setTimeout(d, 5)); return s.join("")`,
			"mt",
		},
		"AbortController": {
			`const c = new AbortController(); let said = ""; c.signal.addEventListener("abort", () => said += "a"); c.signal.onabort = () => said += "o"; c.abort(); c.abort(); return said + c.signal.aborted + c.signal.reason.name`,
			"oatrueAbortError",
		},
		"AbortSignal": {
			`const s = AbortSignal.timeout(5); await new Promise((d) => s.addEventListener("abort", d)); return s.reason.name + AbortSignal.any([s]).aborted`,
			"TimeoutErrortrue",
		},
		"structuredClone": {
			`const a = { d: new Date(5), m: new Map([[1, { x: [1, , 3] }]]), s: new Set("ab"), r: /x/gi, e: new RangeError("m"), u: new Uint8Array([1, 2]), n: null }; a.self = a; const b = structuredClone(a); let no = ""; try { structuredClone(() => {}) } catch (e) { no = e.name } return [b !== a, b.self === b, +b.d, b.m.get(1).x.length, b.s.has("b"), b.r.flags, b.e instanceof RangeError, b.u[1], b.n, no].join()`,
			"true,true,5,3,true,gi,true,2,,DataCloneError",
		},
		"TextEncoder": {
			`return [...new TextEncoder().encode("aé€😀\ud800")].join()`, "97,195,169,226,130,172,240,159,152,128,239,191,189",
		},
		"TextDecoder": {
			`const d = new TextDecoder(); return d.decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0xf0, 0x9f, 0x98, 0x80, 0xff])) + d.decode(new Uint8Array([0xe2, 0x82]), { stream: true }) + d.decode(new Uint8Array([0xac]))`,
			"a😀\ufffd€",
		},
		"base64": {
			`let no = ""; try { atob("a") } catch (e) { no = e.name } return btoa("\x00\xffé") + atob(" aGk= ") + no`,
			"AP/phiInvalidCharacterError",
		},
		"performance": {
			`const a = performance.now(); await new Promise((d) => setTimeout(d, 3)); return performance.now() - a >= 2 && typeof performance.timeOrigin`,
			"number",
		},
		"localeCompare":   {`return ["b", "a", "c"].sort((x, y) => x.localeCompare(y)).join("")`, "abc"},
		"unicode classes": {`return "Größe 5".replace(/\P{L}/gu, "") + /(?<=a)b(?!c)/.test("abd")`, "Größetrue"},
		"named groups":    {`return "2026-11".match(/(?<y>\d+)-(?<m>\d+)/).groups.m`, "11"},
		"async generators": {
			`async function* g() { yield 1; yield 2 } let n = 0; for await (const x of g()) n += x; return n`, "3",
		},
		"newer methods": {
			`return [Object.groupBy([1, 2, 3], (x) => x % 2 ? "o" : "e").o.length, [3, 1].toSorted().join(""), [1, 2].at(-1), [1, 2, 3].findLast((x) => x < 3), "aXa".replaceAll("a", "b"), typeof Promise.withResolvers, 2n ** 70n].join()`,
			"2,13,2,2,bXb,function,1180591620717411303424",
		},
		"dates in a zone": {
			`return new Date(Date.UTC(2026, 6, 1)).getHours() + " " + new Date(0).toLocaleString("en-US", { timeZone: "Asia/Tokyo" })`,
			"20 1/1/1970, 9:00:00 AM",
		},
		"numbers": {
			`return (1234567.891).toLocaleString("en-US") + " " + new Intl.NumberFormat("en-US", { style: "percent" }).format(0.25)`,
			"1,234,567.891 25%",
		},
		"events": {
			`const t = new EventTarget(); let n = 0; const l = { handleEvent() { n++ } }; t.addEventListener("x", l, { once: true }); t.dispatchEvent(new Event("x")); t.dispatchEvent(new CustomEvent("x")); return n`,
			"1",
		},
		"DOMException": {
			`const e = new DOMException("m", "AbortError"); return [e instanceof Error, e.name, e.code, e.message, String(e)].join()`,
			"true,AbortError,20,m,AbortError: m",
		},
		"self and absence": {
			`return [self === globalThis, typeof Intl, typeof WeakRef, typeof Bun].join()`, "true,object,function,undefined",
		},
		"data address": {
			`return await (await fetch("data:text/plain;base64,aGk=")).text() + await (await fetch("data:,a%20b")).text()`,
			"hia b",
		},
		"Response": {
			`const r = Response.json({ a: 1 }, { status: 201 }); const c = r.clone(); return [r.ok, r.status, r.headers.get("Content-Type"), (await r.json()).a, r.bodyUsed, await c.text()].join("|")`,
			`true|201|application/json|1|true|{"a":1}`,
		},
		"Atomics do not wait": {
			`try { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 60000); return "waited" } catch (e) { return e.name }`,
			"TypeError",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := eval(t, test.body); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestSP40FetchOfTheNetworkIsRefused(t *testing.T) {
	p := script(t, `const seen = []; spindle.permissions.onDenied((d) => seen.push(d.permission + " " + d.operation));`+
		handler(`let said = ""; try { await fetch("https://example.org/x") } catch (e) { said = e.message } return said + "|" + seen.join()`))
	got := p.call("t", meta{}, nil).text
	if !strings.HasPrefix(got, "PERMISSION_DENIED: cors_proxy") || !strings.HasSuffix(got, "|cors_proxy fetch") {
		t.Errorf("got %q", got)
	}
}

func TestSP47WhatIsNotAvailableSaysSo(t *testing.T) {
	p := script(t, handler(`const said = [];
for (const run of [() => spindle.images.list(), () => spindle.generate.dryRun({}), () => spindle.presets.blocks.list("b"), () => spindle.chats.delete("c"), () => spindle.council.getMembers()])
  try { const back = run(); said.push(back instanceof Promise); await back } catch (e) { said.push(e instanceof Error && e.message) }
said.push(spindle.sendToFrontend({ a: 1 }));
said.push(typeof spindle.registerMacroInterceptor(() => {}));
said.push(typeof spindle.onFrontendMessage(() => {}));
return said.join("|")`), withGranted("tools", "chats"))
	want := "true|spindle.images.list is not available in Conclave.|true|spindle.generate.dryRun is not available in " +
		"Conclave.|true|spindle.presets.blocks.list is not available in Conclave.|" +
		"true|spindle.chats.delete is not available in Conclave: only the person deletes chats.|true||function|function"
	if got := p.call("t", meta{}, nil).text; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	p.waitLog("warning: spindle.registerMacroInterceptor is not available in Conclave")
}

func TestTheManifestAndTheVersionAreShown(t *testing.T) {
	got := eval(t,
		`return [spindle.manifest.name, spindle.manifest.identifier, await spindle.version.getBackend(), spindle.host.lumiverseVersion, spindle.host.extensionInstallationId].join()`)
	if got != "Sample,sample,1.1.0,1.1.0,sample" {
		t.Errorf("got %q", got)
	}
}

func TestSP42StorageIsThePluginsOwn(t *testing.T) {
	p := script(t, handler(`const said = []; const { storage, userStorage } = spindle;
await storage.write("notes/a.txt", "héllo"); await storage.setJson("notes/b.json", { x: [1] });
await storage.writeBinary("raw.bin", new Uint8Array([0, 255, 16])); await userStorage.write("mine.txt", "m", "some user");
said.push(await storage.read("notes/a.txt"), JSON.stringify(await storage.getJson("notes/b.json")), [...await storage.readBinary("raw.bin")].join());
said.push((await storage.list("notes")).join(), (await storage.list()).join(), (await userStorage.list()).join(), await userStorage.read("mine.txt"));
said.push(await storage.exists("raw.bin"), await storage.exists("no"), (await storage.stat("raw.bin")).isFile);
await storage.move("raw.bin", "moved.bin"); await storage.delete("moved.bin"); await storage.delete("moved.bin");
for (const run of [() => storage.read("gone.txt"), () => storage.read("../x"), () => storage.write("/etc/x", ""), () => storage.list("a/../../b"), () => storage.read(".user/mine.txt"), () => storage.read("a\\..\\b")])
  try { await run(); said.push("ok") } catch (e) { said.push(/Path traversal/.test(e.message) ? "traversal" : e.message) }
return said.join("|")`))
	want := `héllo|{"x":[1]}|0,255,16|a.txt,b.json|notes/a.txt,notes/b.json,raw.bin|mine.txt|m|true|false|true|File not found: gone.txt|traversal|traversal|traversal|traversal|traversal`
	if got := p.call("t", meta{}, nil); got.text != want {
		t.Errorf("got  %s\nwant %s", got.text, want)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.files["notes/b.json"] != "{\n  \"x\": [\n    1\n  ]\n}" || p.files[".user/mine.txt"] != "m" {
		t.Errorf("files = %v", p.files)
	}
}

func TestSP43GetJsonFallsBack(t *testing.T) {
	got := eval(t, `const { storage } = spindle; await storage.write("bad.json", "{");
const said = [JSON.stringify(await storage.getJson("gone", { fallback: [1] })), await storage.getJson("bad.json", { fallback: undefined })];
try { await storage.getJson("bad.json"); said.push("ok") } catch (e) { said.push(e.name) }
return said.join("|")`)
	if got != "[1]||SyntaxError" {
		t.Errorf("got %q", got)
	}
}

func TestSP44TheActiveChatIsAskedFor(t *testing.T) {
	body := handler(`try { return (await spindle.chats.getActive()).id } catch (e) { return e.message }`)
	if got := script(t, body,
		withGranted("tools", "chats")).call("t", meta{}, meta{wire.MetaCall: "k1"}); got.text != "c1" {
		t.Errorf("granted: %+v", got)
	}
	p := script(t, body)
	if got := p.call("t", meta{}, meta{wire.MetaCall: "k1"}); !strings.HasPrefix(got.text, "PERMISSION_DENIED: chats") {
		t.Errorf("not granted: %+v", got)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.asked, "chats.active k1") {
		t.Errorf("asked %v: a request made in a call carries its id", p.asked)
	}
}

func TestURLFollowsTheStandard(t *testing.T) {
	tests := map[string]struct{ input, base, want string }{
		"plain":            {"http://example.org", "", "http://example.org/"},
		"case and port":    {"HTTP://EXAMPLE.org:80/a", "", "http://example.org/a"},
		"backslashes":      {`http:\\a\b\..\c`, "", "http://a/c"},
		"dots":             {"../x/./y/..", "http://h/a/b/c", "http://h/a/x/"},
		"query only":       {"?q=a b", "http://h/a#f", "http://h/a?q=a%20b"},
		"fragment only":    {"#ü", "http://h/a?q", "http://h/a?q#%C3%BC"},
		"scheme relative":  {"//other/p", "https://h/a", "https://other/p"},
		"user":             {"http://u:p@w@h/", "", "http://u:p%40w@h/"},
		"punycode":         {"http://MÜNCHEN.de/", "", "http://xn--mnchen-3ya.de/"},
		"IPv4 in disguise": {"http://0x7f.1/", "", "http://127.0.0.1/"},
		"IPv6":             {"http://[::0:1]:8080/", "", "http://[::1]:8080/"},
		"opaque":           {"mailto:a@b.c", "", "mailto:a@b.c"},
		"file":             {"../x", "file:///a/b/c", "file:///a/x"},
		"spaces":           {"  http://h/a b\t ", "", "http://h/a%20b"},
		"encoded dots":     {"http://h/a/%2e%2E/b", "", "http://h/b"},
		"other scheme":     {"foo://Host/a/../b", "", "foo://Host/b"},
		"no base":          {"/a", "", ""},
		"bad host":         {"http://a b/", "", ""},
		"bad port":         {"http://h:99999/", "", ""},
		"empty host":       {"http:///", "", ""},
		"bad IPv4":         {"http://1.2.3.256/", "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			args := []string{test.input}
			if test.base != "" {
				args = append(args, test.base)
			}
			var got urlParts
			if text := urlOp("url.parse", toJSON(args)); text != "" {
				if err := json.Unmarshal([]byte(text), &got); err != nil {
					t.Fatal(err)
				}
			}
			if got.Href != test.want {
				t.Errorf("got %q, want %q", got.Href, test.want)
			}
		})
	}
}

func TestURLAndItsParametersChangeTogether(t *testing.T) {
	got := eval(t, `const u = new URL("https://h:8443/a?x=1&y=2#f"); const said = [u.host, u.port, u.origin, u.pathname, u.search, u.hash];
u.searchParams.append("z", "a b&c"); u.searchParams.delete("x"); said.push(u.href);
u.search = "?q=ü"; said.push(u.searchParams.get("q"), [...u.searchParams].length);
u.pathname = "/b c"; u.hash = ""; u.port = "443"; u.hostname = "other"; u.protocol = "ftp"; said.push(String(u));
const p = new URLSearchParams({ a: "1", b: "2" }); p.set("a", "3"); p.append("a", "4"); said.push(p.toString(), p.getAll("a").length, p.size, p.has("b", "2"));
p.sort(); said.push(new URLSearchParams([["x", "y"]]).toString(), URL.canParse("nope"), JSON.stringify({ u }));
try { new URL("nope") } catch (e) { said.push(e.name) }
return said.join("|")`)
	want := `h:8443|8443|https://h:8443|/a|?x=1&y=2|#f|https://h:8443/a?y=2&z=a+b%26c#f|ü|1|ftp://other/b%20c?q=%C3%BC|a=3&b=2&a=4|2|3|true|x=y|false|{"u":"ftp://other/b%20c?q=%C3%BC"}|TypeError`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestConsoleShowsValuesAndIsBounded(t *testing.T) {
	p := script(t, handler(`console.log("n %d %s %% %o", 5, "x", { a: [1] }, "rest"); console.error(new TypeError("bad").message);
console.warn(new Map([["k", { deep: { deeper: { deepest: { gone: 1 } } } }]])); const o = {}; o.o = o; console.debug(o, [1, "two", null, undefined], 10n, Symbol("s"));
console.group("G"); console.log("in"); console.groupEnd(); console.assert(1 === 2, "one"); console.log("x".repeat(20000).length);
for (let i = 0; i < 1000; i++) console.log("flood " + i); return "done"`))
	if got := p.call("t", meta{}, nil); got.text != "done" || len(got.meta[wire.MetaPrinted].(string)) > maxPrinted {
		t.Fatalf("answered %+v", got)
	}
	p.waitLog("flood 50")
	got := p.logged()
	for _, want := range []string{
		"info: n 5 x % { a: [1] } rest", "error: bad", `warning: Map { "k" => { deep: { deeper: { deepest: {…} } } } }`,
		"debug: { o: [circular] } [1, \"two\", null, undefined] 10n Symbol(s)", "info:   in", "error: Assertion failed: one",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the log lacks %q", want)
		}
	}
	if n := strings.Count(got, "flood"); n > linesInSecond {
		t.Errorf("%d lines passed", n)
	}
	if t.Failed() {
		t.Log(got[:min(len(got), 500)])
	}
}

package engine

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"conclave/app/plugin/wire"
)

// platform are the parts of the web platform as a plugin sees them: bodies of
// async functions, and the text each returns.
var platform = map[string]struct{ body, want string }{
	// Text and bytes.
	"decoding utf-16": {
		`return new TextDecoder("utf-16le").decode(new Uint8Array([0xff, 0xfe, 0x61, 0, 0x3d, 0xd8, 0, 0xde]))`, "a😀",
	},
	"decoding latin1": {
		`return new TextDecoder("latin1").decode(new Uint8Array([0xe9, 0x80])) + new TextDecoder("iso-8859-1").encoding`,
		"é€windows-1252",
	},
	"fatal decoding": {
		`try { new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([0xff])) } catch (e) { return e.name }`,
		"TypeError",
	},
	"unknown label": {`try { new TextDecoder("klingon") } catch (e) { return e.name }`, "RangeError"},
	"long text": {
		`const t = "aé€😀".repeat(5000); const b = new TextEncoder().encode(t); return [b.length, new TextDecoder().decode(b) === t, new TextEncoder().encode(t + "\ud800").length - b.length, new TextDecoder().decode(new Uint8Array([...b, 0xff])) === t + "\ufffd"].join()`,
		"50000,true,3,true",
	},
	"encodeInto": {
		`const b = new Uint8Array(5); return JSON.stringify(new TextEncoder().encodeInto("aé😀", b)) + b.join()`,
		`{"read":2,"written":3}97,195,169,0,0`,
	},
	"large base64": {
		`const t = String.fromCharCode(...Array.from({ length: 9000 }, (_, i) => i % 256)); return atob(btoa(t)) === t`,
		"true",
	},

	// Identity, hashes and signatures: values of FIPS 180 and RFC 4231.
	"digests": {
		`const hex = (b) => [...new Uint8Array(b)].map((x) => x.toString(16).padStart(2, "0")).join(""); const abc = new TextEncoder().encode("abc");
return (await Promise.all(["SHA-1", "sha-256", { name: "SHA-384" }, "SHA-512"].map(async (n) => hex(await crypto.subtle.digest(n, abc)).slice(0, 16)))).join()`,
		"a9993e364706816a,ba7816bf8f01cfea,cb00753f45a35e8b,ddaf35a193617aba",
	},
	"HMAC": {
		`const e = (t) => new TextEncoder().encode(t); const key = await crypto.subtle.importKey("raw", e("Jefe"), { name: "HMAC", hash: "SHA-256" }, false, ["sign", "verify"]);
const data = e("what do ya want for nothing?"); const mac = await crypto.subtle.sign("HMAC", key, data); let no = ""; try { await crypto.subtle.exportKey("raw", key) } catch (x) { no = x.name }
return [Buffer.from(mac).toString("hex").slice(0, 16), await crypto.subtle.verify("HMAC", key, mac, data), await crypto.subtle.verify("HMAC", key, mac, e("other")), no, key instanceof CryptoKey].join()`,
		"5bdcc146bf60754e,true,false,InvalidAccessError,true",
	},
	"unknown algorithms": {
		`const said = []; for (const run of [() => crypto.subtle.digest("MD5", new Uint8Array(1)), () => crypto.subtle.encrypt({ name: "AES-GCM" }, null, new Uint8Array(1))]) try { await run() } catch (e) { said.push(e.name) } return said.join()`,
		"NotSupportedError,NotSupportedError",
	},
	"random values": {
		`const a = crypto.getRandomValues(new Uint8Array(300)); let no = ""; try { crypto.getRandomValues(new Float32Array(1)) } catch (e) { no = e.name } return (new Set(a).size > 100) + no`,
		"trueTypeError",
	},

	// Copies and clocks.
	"transfer": {
		`const b = new ArrayBuffer(8); const c = structuredClone({ b }, { transfer: [b] }); return [c.b.byteLength, b.byteLength].join()`,
		"8,0",
	},
	"clone cause": {
		`const e = structuredClone(new RangeError("m", { cause: { a: 1 } })); return [e instanceof RangeError, e.message, e.cause.a].join()`,
		"true,m,1",
	},
	"performance": {
		`performance.mark("a"); await new Promise((d) => setTimeout(d, 2)); const m = performance.measure("m", "a"); return [m.duration >= 1, performance.getEntriesByType("measure").length, Math.abs(performance.timeOrigin + performance.now() - Date.now()) < 5000].join()`,
		"true,1,true",
	},

	// Events.
	"abort reason": {
		`const c = new AbortController(); c.abort("because"); let no = ""; try { c.signal.throwIfAborted() } catch (e) { no = e } return no + AbortSignal.abort().reason.name`,
		"becauseAbortError",
	},
	"abort any": {
		`const c = new AbortController(); const any = AbortSignal.any([c.signal, AbortSignal.timeout(60000)]); let n = 0; any.addEventListener("abort", () => n++); c.abort(new Error("x")); return n + any.reason.message`,
		"1x",
	},
	"message events": {
		`const e = new MessageEvent("m", { data: 5 }); return [e.data, e instanceof Event, new ErrorEvent("error", { message: "m" }).message, new CloseEvent("close", { code: 4 }).code, DOMException.ABORT_ERR].join()`,
		"5,true,m,4,20",
	},
	"event listeners": {
		`const t = new EventTarget(); const said = []; const c = new AbortController(); t.addEventListener("x", () => said.push(1), { signal: c.signal }); t.addEventListener("x", (e) => { said.push(2); e.stopImmediatePropagation() }); t.addEventListener("x", () => said.push(3)); t.dispatchEvent(new Event("x")); c.abort(); t.dispatchEvent(new Event("x")); const e = new Event("y", { cancelable: true }); t.addEventListener("y", (e) => e.preventDefault()); return said.join() + t.dispatchEvent(e) + e.defaultPrevented`,
		"1,2,2falsetrue",
	},
	"own event class": {
		`class Store extends EventTarget { set() { this.dispatchEvent(new CustomEvent("set", { detail: 7 })) } } const s = new Store(); let got; s.addEventListener("set", (e) => got = e.detail + (e.target === s)); s.set(); return got`,
		"8",
	},

	// Blobs and forms.
	"Blob": {
		`const b = new Blob(["aé", new Uint8Array([98]), new Blob(["c"])], { type: "Text/Plain" }); return [b.size, b.type, await b.text(), await b.slice(1, 3).text(), (await b.arrayBuffer()).byteLength, (await new Response(b.stream()).text())].join()`,
		"5,text/plain,aébc,é,5,aébc",
	},
	"File": {
		`const f = new File(["x"], "n.txt", { type: "text/plain", lastModified: 5 }); return [f.name, f.size, f.lastModified, f instanceof Blob, String(f)].join()`,
		"n.txt,1,5,true,[object File]",
	},
	"FormData": {
		`const f = new FormData(); f.append("a", 1); f.append("a", "2"); f.set("b", new Blob(["x"]), "n.bin"); f.append("c", "gone"); f.delete("c"); return [f.getAll("a").join("+"), f.get("b").name, f.has("c"), [...f.keys()].join("+")].join()`,
		"1+2,n.bin,false,a+a+b",
	},
	"form in a body": {
		`const f = new FormData(); f.append("naïve \"q\"", "l1\nl2"); f.append("file", new File([new Uint8Array([13, 10, 45, 45, 0])], "a b.bin", { type: "x/y" })); const r = new Response(f);
const type = r.headers.get("content-type"); const g = await r.formData(); const file = g.get("file"); return [type.startsWith("multipart/form-data; boundary="), JSON.stringify(g.get('naïve "q"')), file.name, file.type, new Uint8Array(await file.arrayBuffer()).join("+")].join()`,
		`true,"l1\r\nl2",a b.bin,x/y,13+10+45+45+0`,
	},
	"query in a body": {
		`const r = new Request("http://h/", { method: "post", body: new URLSearchParams({ a: "b c" }) }); return r.method + r.headers.get("content-type") + (await r.formData()).get("a")`,
		"POSTapplication/x-www-form-urlencoded;charset=UTF-8b c",
	},

	// Requests and responses.
	"Headers": {
		`const h = new Headers([["B", " x "], ["a", "1"]]); h.append("A", "2"); h.append("Set-Cookie", "p=1"); h.append("set-cookie", "q=2"); let no = ""; try { h.set("bad name", "x") } catch (e) { no += e.name } try { h.set("x", "a\nb") } catch (e) { no += e.name } return JSON.stringify([...h]) + h.getSetCookie().length + no`,
		`[["a","1, 2"],["b","x"],["set-cookie","p=1"],["set-cookie","q=2"]]2TypeErrorTypeError`,
	},
	"Request": {
		`const a = new Request("https://h/p?q#f", { method: "patch", headers: { x: "1" }, body: "b" }); const b = new Request(a.clone(), { headers: { y: "2" } }); const said = [b.url, b.method, b.headers.get("x"), b.headers.get("y"), await b.text(), a.bodyUsed, a.signal instanceof AbortSignal]; for (const init of [{ body: "x" }, { method: "TRACE" }]) try { new Request("http://h", init); said.push("made") } catch (e) { said.push(e.name) } return said.join()`,
		"https://h/p?q#f,PATCH,,2,b,false,true,TypeError,TypeError",
	},
	"Response": {
		`const r = new Response("{\"a\":[1]}", { status: 201, statusText: "Made", headers: { "x-y": "z" } }); const c = r.clone(); const said = [r.ok, r.status, r.statusText, r.headers.get("content-type"), (await r.json()).a[0], r.bodyUsed, (await c.blob()).size]; for (const make of [() => new Response(null, { status: 99 }), () => new Response("x", { status: 204 }), () => r.clone()]) try { make(); said.push("made") } catch (e) { said.push(e.name) } try { await r.text() } catch (e) { said.push(e.name) } return said.join()`,
		"true,201,Made,text/plain;charset=UTF-8,1,true,9,RangeError,TypeError,TypeError,TypeError",
	},
	"body stream": {
		`const r = new Response("aé".repeat(3)); const pieces = []; for await (const p of r.body) pieces.push(p.length); const s = new Response(new ReadableStream({ start(c) { c.enqueue(new Uint8Array([104])); c.enqueue(new Uint8Array([105])); c.close() } })); const twin = s.clone(); return [pieces.join("+"), r.bodyUsed, await s.text(), await twin.text(), new Response(null).body].join()`,
		"9,true,hi,hi,",
	},
	"static makers": {
		`return [Response.error().type, Response.redirect("http://h/x", 301).headers.get("location"), Response.json([1]).headers.get("content-type"), (await new Response(new Uint8Array([1, 2])).bytes()).length].join()`,
		"error,http://h/x,application/json,2",
	},
	"other schemes": {
		`const said = []; for (const a of ["ftp://h/", "blob:x", "nonsense"]) try { await fetch(a) } catch (e) { said.push(e.name) } try { await fetch("data:,x", { signal: AbortSignal.abort() }) } catch (e) { said.push(e.name) } return said.join()`,
		"TypeError,TypeError,TypeError,AbortError",
	},

	// Streams.
	"reading": {
		`let n = 0; const s = new ReadableStream({ pull(c) { n++; if (n > 3) c.close(); else c.enqueue(n) } }); const r = s.getReader(); const said = [s.locked]; for (;;) { const { value, done } = await r.read(); if (done) break; said.push(value) } await r.closed; r.releaseLock(); said.push(s.locked); return said.join()`,
		"true,1,2,3,false",
	},
	"locks": {
		`const s = new ReadableStream(); const r = s.getReader(); const said = []; try { s.getReader() } catch (e) { said.push(e.name) } const waiting = r.read(); r.releaseLock(); try { await waiting } catch (e) { said.push(e.name) } s.getReader(); return said.join()`,
		"TypeError,TypeError",
	},
	"iteration": {
		`let ended = ""; const s = new ReadableStream({ pull(c) { c.enqueue("x") }, cancel(r) { ended += "cancelled" } }); let n = 0; for await (const x of s) if (++n === 3) break; return n + ended + s.locked`,
		"3cancelledfalse",
	},
	"from": {
		`let text = ""; for await (const x of ReadableStream.from((async function* () { yield "a"; yield "b" })())) text += x; for await (const x of ReadableStream.from(["c"])) text += x; return text`,
		"abc",
	},
	"errors in streams": {
		`const s = new ReadableStream({ start(c) { c.enqueue(1); c.error(new Error("broken")) } }); const r = s.getReader(); try { await r.read(); return "read" } catch (e) { let also = ""; await r.closed.catch((x) => also = x.message); return e.message + also }`,
		"brokenbroken",
	},
	"backpressure": {
		`const asked = []; const s = new ReadableStream({ pull(c) { asked.push(c.desiredSize); c.enqueue(1) } }, { highWaterMark: 3 }); await new Promise((d) => setTimeout(d, 5)); return asked.join()`,
		"3,2,1",
	},
	"tee": {
		`const [a, b] = ReadableStream.from([1, 2, 3]).tee(); const sum = async (s) => { let n = 0; for await (const x of s) n += x; return n }; return (await Promise.all([sum(a), sum(b)])).join()`,
		"6,6",
	},
	"tee cancels": {
		`let why; const [a, b] = new ReadableStream({ cancel(r) { why = r } }).tee(); await Promise.all([a.cancel(1), b.cancel(2)]); return why.join()`,
		"1,2",
	},
	"writing": {
		`const got = []; const s = new WritableStream({ write(c) { got.push(c) }, close() { got.push("end") } }); const w = s.getWriter(); await w.ready; w.write(1); await w.write(2); await w.close(); await w.closed; return got.join() + w.desiredSize`,
		"1,2,end0",
	},
	"writing too much": {
		`let go; const s = new WritableStream({ write: () => new Promise((d) => go = d) }, { highWaterMark: 2 }); const w = s.getWriter(); const said = [w.desiredSize]; w.write(1); const two = w.write(2); said.push(w.desiredSize); let ready = false; w.ready.then(() => ready = true); await null; await null; said.push(ready); await new Promise((d) => setTimeout(d)); go(); await w.ready; said.push(w.desiredSize); return said.join()`,
		"2,0,false,1",
	},
	"failing sinks": {
		`const s = new WritableStream({ write() { throw new Error("full") } }); const w = s.getWriter(); const said = []; await w.write(1).catch((e) => said.push(e.message)); await w.write(2).catch((e) => said.push(e.message)); await w.closed.catch((e) => said.push(e.message)); return said.join()`,
		"full,full,full",
	},
	"aborted sinks": {
		`let why; let signalled; const s = new WritableStream({ start(c) { c.signal.addEventListener("abort", () => signalled = true) }, abort(r) { why = r } }); await s.abort("no"); let after = ""; await s.getWriter().write(1).catch((e) => after = e); return [why, signalled, after].join()`,
		"no,true,no",
	},
	"pipeTo": {
		`const got = []; await ReadableStream.from(["a", "b"]).pipeTo(new WritableStream({ write(c) { got.push(c) }, close() { got.push("end") } })); return got.join("")`,
		"abend",
	},
	"pipe aborted": {
		`const c = new AbortController(); let cancelled, aborted; const p = new ReadableStream({ cancel(r) { cancelled = r.name } }).pipeTo(new WritableStream({ abort(r) { aborted = r.name } }), { signal: c.signal }); setTimeout(() => c.abort(), 1); let said = ""; await p.catch((e) => said = e.name); return [said, cancelled, aborted].join()`,
		"AbortError,AbortError,AbortError",
	},
	"pipe breaks": {
		`let cancelled; const said = []; await new ReadableStream({ pull(c) { c.enqueue(1) }, cancel(r) { cancelled = r.message } }).pipeTo(new WritableStream({ write() { throw new Error("full") } })).catch((e) => said.push(e.message)); let aborted; await new ReadableStream({ start(c) { c.error(new Error("src")) } }).pipeTo(new WritableStream({ abort(r) { aborted = r.message } })).catch((e) => said.push(e.message)); return [...said, cancelled, aborted].join()`,
		"full,src,full,src",
	},
	"TransformStream": {
		`const up = new TransformStream({ transform(c, k) { k.enqueue(c.toUpperCase()) }, flush(k) { k.enqueue("!") } }); let text = ""; for await (const x of ReadableStream.from(["a", "b"]).pipeThrough(up).pipeThrough(new TransformStream())) text += x; return text`,
		"AB!",
	},
	"transform fails": {
		`const bad = new TransformStream({ transform() { throw new Error("odd") } }); try { for await (const x of ReadableStream.from([1]).pipeThrough(bad)); return "passed" } catch (e) { return e.message }`,
		"odd",
	},
	"byte streams": {
		`const s = new ReadableStream({ type: "bytes", start(c) { c.enqueue(new Uint8Array([1, 2, 3])); c.close() } }); const r = s.getReader({ mode: "byob" }); const a = await r.read(new Uint8Array(2)); const b = await r.read(new Uint8Array(2)); const c = await r.read(new Uint8Array(2)); return [a.value.join("+"), b.value.join("+"), b.done, c.done].join()`,
		"1+2,3,false,true",
	},
	"text streams": {
		`const bytes = new TextEncoder().encode("aé😀"); let text = ""; for await (const x of ReadableStream.from([...bytes].map((b) => new Uint8Array([b]))).pipeThrough(new TextDecoderStream())) text += x; let n = 0; for await (const x of ReadableStream.from(["\ud83d", "\ude00"]).pipeThrough(new TextEncoderStream())) n += x.length; return text + n`,
		"aé😀4",
	},
	"compression": {
		`const said = []; for (const f of ["gzip", "deflate", "deflate-raw"]) { const packed = await new Response(new Blob(["hello ".repeat(5000)]).stream().pipeThrough(new CompressionStream(f))).bytes(); const back = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream(f))).text(); said.push(packed.length < 300 && back === "hello ".repeat(5000)) } try { await new Response(new Blob(["no"]).stream().pipeThrough(new DecompressionStream("gzip"))).text() } catch (e) { said.push(e.name) } return said.join()`,
		"true,true,true,TypeError",
	},

	// Channels.
	"BroadcastChannel": {
		`const a = new BroadcastChannel("r"), b = new BroadcastChannel("r"), c = new BroadcastChannel("other"); let got; const heard = new Promise((d) => b.onmessage = (e) => { got = e.data; d() }); c.onmessage = () => got = "wrong"; a.postMessage({ x: [1] }); await heard; b.close(); return JSON.stringify(got)`,
		`{"x":[1]}`,
	},
	"MessageChannel": {
		`const { port1, port2 } = new MessageChannel(); const got = new Promise((d) => port2.onmessage = (e) => d(e.data)); port1.postMessage("hi"); return await got`,
		"hi",
	},
	"WebSocket": {
		`const said = []; for (const a of ["wss://h/x", "file:///x"]) try { new WebSocket(a) } catch (e) { said.push(e.message.startsWith("PERMISSION_DENIED: cors_proxy") || e.name) } return said.join() + WebSocket.OPEN`,
		"true,SyntaxError1",
	},

	// What bundles for other hosts look at.
	"Buffer": {
		`const b = Buffer.from("héllo"); return [b.length, b.toString("hex"), b.toString("base64"), Buffer.from("aGk", "base64").toString(), Buffer.concat([Buffer.from("a"), Buffer.alloc(2, "z")]).toString(), Buffer.isBuffer(b), b.slice(0, 1).toString(), b.equals(Buffer.from(b)), Buffer.byteLength("é"), b.indexOf("llo"), JSON.stringify(Buffer.from([1])), Buffer.from("ff00", "hex").readUInt16BE(0), b instanceof Uint8Array].join()`,
		`6,68c3a96c6c6f,aMOpbGxv,hi,azz,true,h,true,2,3,{"type":"Buffer","data":[1]},65280,true`,
	},
	"Buffer writes": {
		`const b = Buffer.alloc(12); b.writeUInt32LE(1, 0); b.writeDoubleBE(1.5, 4); const c = Buffer.alloc(3); const n = c.write("abcd", 1); return [b.readUInt32LE(0), b.readDoubleBE(4), n, c.toString("latin1", 1), Buffer.compare(Buffer.from("a"), Buffer.from("b"))].join()`,
		"1,1.5,2,ab,-1",
	},
	"process": {
		`await new Promise((d) => process.nextTick(d)); return [Object.keys(process.env).length, process.argv.length, typeof process.hrtime.bigint(), process.cwd(), navigator.userAgent, navigator.language].join()`,
		"0,0,bigint,/plugin,Conclave,en-US",
	},
	"ES2023": {
		`return [[3, 1, 2].toSorted().join(""), [1, 2, 3].with(1, 9).join(""), [1, 2, 3].toSpliced(0, 2).join(""), [1, 2, 3].findLastIndex((x) => x < 3), Object.hasOwn({ a: 1 }, "a"), "ab".at(-1), Array.from(new Set([1]).union(new Set([2]))).join(""), typeof structuredClone, class { static #x = 1; static has(o) { return #x in o } }.has({}), new Error("a", { cause: 1 }).cause, /(?<a>x)/d.exec("x").indices.groups.a.join("")].join()`,
		"123,193,3,1,true,b,12,function,false,1,01",
	},

	// Languages: English, as COMPATIBILITY.md says.
	"localeCompare": {
		`return ["résumé", "Zebra", "apple", "resume", "Apple", "éclair", "10", "9", "_x"].sort((a, b) => a.localeCompare(b)).join(" ")`,
		"_x 10 9 apple Apple éclair resume résumé Zebra",
	},
	"Collator": {
		`const c = new Intl.Collator("en", { numeric: true, sensitivity: "base" }); return ["item 10", "item 9", "Item 9a", "item 1"].sort(c.compare).join() + c.compare("é", "E") + "a".localeCompare("A", undefined, { sensitivity: "base" }) + "a2".localeCompare("a10", "en", { numeric: true })`,
		"item 1,item 9,Item 9a,item 1000-1",
	},
	"formats": {
		`return [new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" }).format(1234.5), new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeZone: "UTC" }).format(new Date(0)), (1234.5).toLocaleString(), new Date(0).toLocaleDateString("en-US", { timeZone: "UTC" }), 12345678901234567890n.toLocaleString("en-US")].join("|")`,
		"$1,234.50|Jan 1, 1970|1,234.5|1/1/1970|12,345,678,901,234,567,890",
	},
	"words": {
		`const r = new Intl.RelativeTimeFormat("en", { numeric: "auto" }); return [new Intl.PluralRules("en", { type: "ordinal" }).select(22), new Intl.ListFormat("en", { type: "conjunction" }).format(["a", "b", "c"]), new Intl.ListFormat().format(["a", "b"]), r.format(-1, "day"), r.format(3, "hours"), r.format(-2, "week")].join("|")`,
		"two|a, b, and c|a and b|yesterday|in 3 hours|2 weeks ago",
	},
	"Segmenter": {
		`const g = new Intl.Segmenter("en"); return [[...g.segment("e\u0301👨‍👩‍👧🇩🇪a👍🏽")].length, [...new Intl.Segmenter("en", { granularity: "word" }).segment("It's fine.")].filter((s) => s.isWordLike).map((s) => s.segment).join("+")].join()`,
		"5,It's+fine",
	},
	"time zone": {`return Intl.DateTimeFormat().resolvedOptions().timeZone`, "America/New_York"},
}

func TestSP13TheWebPlatformIsThere(t *testing.T) {
	var bodies strings.Builder
	for name, test := range platform {
		fmt.Fprintf(&bodies, "%q: async () => { %s },\n", name, test.body)
	}
	p := script(t, "const bodies = {\n"+bodies.String()+"};\n"+handler(`return await bodies[args.name]()`))
	for name, test := range platform {
		t.Run(name, func(t *testing.T) {
			got := p.call("t", meta{"name": name}, nil)
			if got.isError || got.text != test.want {
				t.Errorf("got  %q\nwant %q\n%v", got.text, test.want, got.meta)
			}
		})
	}
}

// Every name is there without anything having been made for it, and stays the
// same thing when it is read again, written or hidden by a local one.
func TestLazyNamesBehaveLikeOthers(t *testing.T) {
	got := eval(t, `const said = [];
for (const name of ["URL", "Blob", "ReadableStream", "Intl", "crypto", "fetch", "Buffer", "console"]) {
  if (!(name in globalThis)) said.push("no " + name);
  if (Object.keys(globalThis).includes(name)) said.push(name + " is enumerable");
  if (globalThis[name] !== globalThis[name]) said.push(name + " changes");
}
globalThis.FormData = 5; said.push(FormData);
const { Response: R } = globalThis; said.push(new R("x") instanceof Response, typeof Request, typeof WebSocket);
said.push(Object.prototype.toString.call(new Blob([])));
return said.join()`)
	if want := "5,true,function,function,[object Blob]"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// network answers http.request as Conclave does.
func network(_ *Config, p *plug) {
	p.granted = []string{"tools", "cors_proxy"}
	p.answer = func(service string, args map[string]any) (any, error) {
		if service != "http.request" {
			return nil, nil
		}
		switch args["url"] {
		case "https://example.org/refused":
			return nil, &wire.HostError{Kind: "denied", Message: "PERMISSION_DENIED: cors_proxy (10.0.0.1 is a private address)"}
		case "https://example.org/gone":
			return nil, &wire.HostError{Kind: "failed", Message: "the server did not answer"}
		}
		headers, _ := args["headers"].(map[string]any)
		said := fmt.Sprintf("%v %v %v %v %v", args["method"], args["url"], headers["x-a"], headers["content-type"],
			args["base64"])
		return map[string]any{
			"status": http.StatusTeapot, "status_text": "Teapot",
			"headers": map[string]any{"Content-Type": "text/plain", "x-many": []string{"1", "2"}}, "body": said,
		}, nil
	}
}

func TestSP40FetchOfTheNetworkGoesThroughConclave(t *testing.T) {
	p := script(t, handler(`const r = await fetch(new Request("https://example.org/a?b", { method: "POST", headers: { "X-A": "1" }, body: "héllo" }));
const said = [r.status, r.ok, r.statusText, r.headers.get("x-many"), r.url, await r.text()];
for (const path of ["refused", "gone"]) try { await fetch("https://example.org/" + path); said.push("read") } catch (e) { said.push(e.name + ": " + e.message) }
try { new WebSocket("wss://example.org/") } catch (e) { said.push(e.name) }
return said.join("|")`), network)
	want := "418|false|Teapot|1, 2|https://example.org/a?b|POST https://example.org/a?b 1 " +
		"text/plain;charset=UTF-8 aMOpbGxv" +
		"|Error: PERMISSION_DENIED: cors_proxy (10.0.0.1 is a private address)|TypeError: fetch of example.org failed: " +
		"the server did not answer|NotSupportedError"
	if got := p.call("t", meta{}, nil).text; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !slices.ContainsFunc(p.asked, func(a string) bool { return strings.HasPrefix(a, "http.request") }) {
		t.Errorf("asked %v", p.asked)
	}
}

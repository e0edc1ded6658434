// fetch, Headers, Request and Response. A file of the plugin's own folder and a
// data: address can be fetched by every plugin; the network is asked of Conclave,
// which lets those through that were granted cors_proxy (contracts/spindle, section 4.8).
(function ({
  $Error, $Map, $Number, $RangeError, $String, $TypeError, ask, bytesOf, decode, encode, fromBase64, granted, host, isView, mapDelete,
  mapForEach, mapGet, mapHas, mapSet, parse, part, readOn, refuse, stringify, toBase64, toLowerCase, unlessAborted,
}) {
  const { AbortController, DOMException } = part("event");
  const { URL, URLSearchParams } = part("url");

  const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
  function headerName(name) {
    const text = $String(name);
    if (!token.test(text)) {
      throw new $TypeError(`"${text}" is no name of a header.`);
    }
    return toLowerCase(text);
  }
  function headerValue(value) {
    const text = $String(value).replace(/^[\t\n\r ]+|[\t\n\r ]+$/g, "");
    if (/[\0\r\n]/.test(text)) {
      throw new $TypeError("The value of a header may not hold line breaks.");
    }
    return text;
  }

  class Headers {
    #all = new $Map();
    #cookies = [];
    constructor(init) {
      if (init === undefined || init === null) {
        return;
      }
      if (typeof init !== "object") {
        throw new $TypeError("Headers are made of an object or of pairs.");
      }
      if (typeof init[Symbol.iterator] === "function") {
        for (const pair of init) {
          const both = [...pair];
          if (both.length !== 2) {
            throw new $TypeError("Each pair of Headers needs a name and a value.");
          }
          this.append(both[0], both[1]);
        }
      } else {
        for (const name of Object.keys(init)) {
          this.append(name, init[name]);
        }
      }
    }
    append(name, value) {
      const key = headerName(name);
      const text = headerValue(value);
      if (key === "set-cookie") {
        this.#cookies.push(text);
      }
      mapSet(this.#all, key, mapHas(this.#all, key) ? `${mapGet(this.#all, key)}, ${text}` : text);
    }
    set(name, value) {
      const key = headerName(name);
      const text = headerValue(value);
      if (key === "set-cookie") {
        this.#cookies = [text];
      }
      mapSet(this.#all, key, text);
    }
    get(name) {
      return mapGet(this.#all, headerName(name)) ?? null;
    }
    getSetCookie() {
      return [...this.#cookies];
    }
    has(name) {
      return mapHas(this.#all, headerName(name));
    }
    delete(name) {
      const key = headerName(name);
      if (key === "set-cookie") {
        this.#cookies = [];
      }
      mapDelete(this.#all, key);
    }
    forEach(visit, self) {
      mapForEach(this.#all, (value, name) => visit.call(self, value, name, this));
    }
    *entries() {
      for (const name of [...this.#all.keys()].sort()) {
        if (name === "set-cookie") {
          for (const cookie of this.#cookies) {
            yield [name, cookie];
          }
        } else {
          yield [name, this.#all.get(name)];
        }
      }
    }
    *keys() {
      for (const [name] of this.entries()) {
        yield name;
      }
    }
    *values() {
      for (const [, value] of this.entries()) {
        yield value;
      }
    }
    [Symbol.iterator]() {
      return this.entries();
    }
    get [Symbol.toStringTag]() {
      return "Headers";
    }
  }

  const isStream = (value) => typeof value === "object" && value !== null && typeof value.getReader === "function";
  const tagOf = (value) => (typeof value === "object" && value !== null ? value[Symbol.toStringTag] : undefined);

  /** extract takes a body apart: bytes or a stream, and the type it names itself. */
  function extract(body) {
    if (body === null || body === undefined) {
      return { bytes: null, stream: null, type: "" };
    }
    if (isStream(body)) {
      if (body.locked || part("streams").disturbed(body)) {
        throw new $TypeError("This stream is in use already.");
      }
      return { bytes: null, stream: body, type: "" };
    }
    if (isView(body) || body instanceof ArrayBuffer) {
      return { bytes: bytesOf(body).slice(), stream: null, type: "" };
    }
    if (tagOf(body) === "Blob" || tagOf(body) === "File") {
      return { bytes: part("blob").bytesIn(body), stream: null, type: body.type };
    }
    if (tagOf(body) === "FormData") {
      const boundary = `----conclave${host("uuid").replace(/-/g, "")}`;
      return { bytes: part("blob").multipart(body, boundary), stream: null, type: `multipart/form-data; boundary=${boundary}` };
    }
    if (body instanceof URLSearchParams) {
      return { bytes: encode(body.toString()), stream: null, type: "application/x-www-form-urlencoded;charset=UTF-8" };
    }
    return { bytes: encode($String(body)), stream: null, type: "text/plain;charset=UTF-8" };
  }

  class Body {
    #bytes;
    #stream;
    #used = false;
    constructor(body) {
      const { bytes, stream, type } = extract(body);
      this.#bytes = bytes;
      this.#stream = stream;
      this.#type = type;
    }
    #type;
    static type(body) {
      return body.#type;
    }
    /** twin returns the body once more, for clone. */
    static twin(body) {
      if (body.bodyUsed || body.#stream?.locked) {
        throw new $TypeError("The body was already read.");
      }
      if (body.#stream === null) {
        return body.#bytes;
      }
      const [mine, other] = body.#stream.tee();
      body.#stream = mine;
      return other;
    }
    get body() {
      if (this.#stream === null && this.#bytes !== null) {
        const bytes = this.#bytes;
        const used = this.#used;
        this.#stream = new (part("streams").ReadableStream)({
          type: "bytes",
          start(controller) {
            if (!used && bytes.length > 0) {
              controller.enqueue(bytes.slice());
            }
            controller.close();
          },
        });
      }
      return this.#stream;
    }
    get bodyUsed() {
      return this.#used || (this.#stream !== null && part("streams").disturbed(this.#stream));
    }
    async bytes() {
      if (this.bodyUsed || this.#stream?.locked) {
        throw new $TypeError("The body was already read.");
      }
      if (this.#bytes === null && this.#stream === null) {
        return encode("");
      }
      this.#used = true;
      if (this.#stream === null) {
        return this.#bytes.slice();
      }
      const pieces = [];
      let length = 0;
      for await (const piece of this.#stream) {
        if (!(piece instanceof Uint8Array)) {
          throw new $TypeError("A stream that is a body has to give Uint8Arrays.");
        }
        pieces.push(piece);
        length += piece.length;
      }
      const all = new Uint8Array(length);
      let at = 0;
      for (const piece of pieces) {
        all.set(piece, at);
        at += piece.length;
      }
      return all;
    }
    async arrayBuffer() {
      return (await this.bytes()).buffer;
    }
    async text() {
      const all = decode(await this.bytes());
      return all[0] === "\uFEFF" ? all.slice(1) : all;
    }
    async json() {
      return parse(await this.text());
    }
    async blob() {
      return new (part("blob").Blob)([await this.bytes()], { type: this.headers.get("content-type") ?? "" });
    }
    async formData() {
      const type = this.headers.get("content-type") ?? "";
      const { FormData, readMultipart } = part("blob");
      if (/^application\/x-www-form-urlencoded/i.test(type)) {
        const form = new FormData();
        for (const [name, value] of new URLSearchParams(await this.text())) {
          form.append(name, value);
        }
        return form;
      }
      const boundary = /^multipart\/form-data\s*;.*boundary=(?:"([^"]+)"|([^;]+))/i.exec(type);
      const form = boundary === null ? null : readMultipart(await this.bytes(), boundary[1] ?? boundary[2]);
      if (form === null) {
        throw new $TypeError("The body is no form.");
      }
      return form;
    }
  }
  const typeOf = Body.type;
  const twin = Body.twin;
  delete Body.type;
  delete Body.twin;

  function nameType(message) {
    const type = typeOf(message);
    if (type !== "" && !message.headers.has("content-type")) {
      message.headers.set("content-type", type);
    }
  }

  const empty = [101, 103, 204, 205, 304];

  class Response extends Body {
    #kind = { url: "", type: "default", redirected: false };
    constructor(body = null, init = {}) {
      init ??= {};
      const status = init.status === undefined ? 200 : $Number(init.status);
      if (!(status >= 200 && status <= 599)) {
        throw new $RangeError("The status of a response is a number from 200 to 599.");
      }
      if (body !== null && body !== undefined && empty.includes(status)) {
        throw new $TypeError(`A response with the status ${status} has no body.`);
      }
      super(body);
      this.status = status;
      this.statusText = $String(init.statusText ?? "");
      this.headers = new Headers(init.headers);
      nameType(this);
    }
    static json(value, init = {}) {
      const text = stringify(value);
      if (text === undefined) {
        throw new $TypeError("The value cannot be written as JSON.");
      }
      const headers = new Headers(init?.headers);
      if (!headers.has("content-type")) {
        headers.set("content-type", "application/json");
      }
      return new Response(text, { ...init, headers });
    }
    static error() {
      const answer = new Response();
      answer.status = 0;
      answer.#kind = { url: "", type: "error", redirected: false };
      return answer;
    }
    static redirect(address, status = 302) {
      const url = new URL(address);
      if (![301, 302, 303, 307, 308].includes(status)) {
        throw new $RangeError(`${status} is no status of a redirection.`);
      }
      return new Response(null, { status, headers: { location: url.href } });
    }
    static came(answer, url, redirected) {
      answer.#kind = { url, type: "basic", redirected };
      return answer;
    }
    get url() {
      return this.#kind.url;
    }
    get type() {
      return this.#kind.type;
    }
    get redirected() {
      return this.#kind.redirected;
    }
    get ok() {
      return this.status >= 200 && this.status < 300;
    }
    clone() {
      const copy = refill(this, twin(this));
      copy.status = this.status;
      copy.#kind = this.#kind;
      return copy;
    }
    get [Symbol.toStringTag]() {
      return "Response";
    }
  }
  const came = Response.came;
  delete Response.came;

  /** refill makes a response like one, with a body. */
  function refill(like, body) {
    const copy = new Response(body, { headers: like.headers, statusText: like.statusText });
    if (!like.headers.has("content-type")) {
      copy.headers.delete("content-type");
    }
    return copy;
  }

  const known = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];

  class Request extends Body {
    #url;
    constructor(input, init = {}) {
      init ??= {};
      const from = input instanceof Request ? input : null;
      const url = from === null ? new URL($String(input)) : new URL(from.url);
      const method = $String(init.method ?? from?.method ?? "GET");
      const upper = known.includes(method.toUpperCase()) ? method.toUpperCase() : method;
      if (!token.test(method) || ["CONNECT", "TRACE", "TRACK"].includes(upper.toUpperCase())) {
        throw new $TypeError(`"${method}" is no method of a request.`);
      }
      const body = init.body !== undefined ? init.body : from !== null && from.method !== "GET" && from.method !== "HEAD" ? twin(from) : null;
      if (body !== null && (upper === "GET" || upper === "HEAD")) {
        throw new $TypeError(`A ${upper} request has no body.`);
      }
      super(body);
      if (url.username !== "" || url.password !== "") {
        throw new $TypeError("The address of a request may not hold a user name or a password.");
      }
      this.#url = url.href;
      this.method = upper;
      this.headers = new Headers(init.headers ?? from?.headers);
      this.signal = init.signal ?? from?.signal ?? new AbortController().signal;
      this.mode = init.mode ?? from?.mode ?? "cors";
      this.credentials = init.credentials ?? from?.credentials ?? "same-origin";
      this.cache = init.cache ?? from?.cache ?? "default";
      this.redirect = init.redirect ?? from?.redirect ?? "follow";
      this.referrer = "about:client";
      this.integrity = init.integrity ?? "";
      this.keepalive = Boolean(init.keepalive);
      this.duplex = "half";
      nameType(this);
    }
    get url() {
      return this.#url;
    }
    clone() {
      return new Request(this);
    }
    get [Symbol.toStringTag]() {
      return "Request";
    }
  }

  function answered(url, bytes, type) {
    return came(new Response(bytes, { headers: type === "" ? {} : { "content-type": type } }), url, false);
  }

  function getFile(request) {
    if (request.method !== "GET") {
      throw new $TypeError("A file can only be read with fetch.");
    }
    const file = parse(host("file.read", request.url.replace(/[?#].*$/s, "")));
    if (file.error !== undefined) {
      throw new $TypeError(file.error);
    }
    return answered(request.url, fromBase64(file.base64), file.type);
  }

  function getData(request) {
    const data = request.url.slice(5);
    const comma = data.indexOf(",");
    if (comma < 0) {
      throw new $TypeError("This data: address has no data.");
    }
    const head = data.slice(0, comma);
    const isBase64 = /;\s*base64\s*$/i.test(head);
    const body = decodeURIComponent(data.slice(comma + 1).replace(/#.*$/s, ""));
    const bytes = isBase64 ? fromBase64(body) : encode(body);
    if (bytes === null) {
      throw new $TypeError("This data: address is not base64.");
    }
    return answered(request.url, bytes, head.replace(/;\s*base64\s*$/i, "") || "text/plain;charset=US-ASCII");
  }

  /** pairsOf reads headers as Conclave gives them: an object of texts or lists, or pairs. */
  function pairsOf(headers) {
    if (Array.isArray(headers)) {
      return headers;
    }
    return Object.entries(headers ?? {}).flatMap(([name, value]) => (Array.isArray(value) ? value.map((v) => [name, v]) : [[name, value]]));
  }

  async function getNetwork(request, where) {
    if (!granted("cors_proxy")) {
      refuse("fetch");
      throw new $Error(`PERMISSION_DENIED: cors_proxy (fetch of ${where})`);
    }
    const headers = {};
    for (const [name, value] of request.headers) {
      headers[name] = value;
    }
    const args = { url: request.url, method: request.method, headers, binary: true };
    if (request.redirect !== "follow") {
      args.redirect = request.redirect;
    }
    if (request.method !== "GET" && request.method !== "HEAD") {
      const bytes = await request.bytes();
      if (bytes.length > 0) {
        args.base64 = toBase64(bytes);
      }
    }
    let got;
    try {
      got = await ask("http.request", args);
    } catch (err) {
      if (err.kind === "denied") {
        throw err;
      }
      const failed = new $TypeError(`fetch of ${where} failed: ${err.message}`);
      failed.cause = err;
      throw failed;
    }
    let bytes = typeof got.base64 === "string" ? fromBase64(got.base64) : encode($String(got.body ?? ""));
    if (got.rest !== undefined) {
      bytes = await readOn(bytes, got.rest);
    }
    const status = $Number(got.status);
    const init = { status: status >= 200 && status <= 599 ? status : 502, statusText: got.status_text ?? "" };
    const answer = new Response(empty.includes(init.status) || request.method === "HEAD" ? null : bytes, init);
    for (const [name, value] of pairsOf(got.headers)) {
      try {
        answer.headers.append(name, value);
      } catch {
        // A header that cannot be shown is left out.
      }
    }
    const url = typeof got.url === "string" && got.url !== "" ? got.url : request.url;
    return came(answer, url, url !== request.url);
  }

  async function run(request) {
    const { protocol, host: where } = new URL(request.url);
    switch (protocol) {
      case "file:":
        return getFile(request);
      case "data:":
        return getData(request);
      case "http:":
      case "https:":
        return getNetwork(request, where);
    }
    throw new $TypeError(`fetch does not know addresses that begin with "${protocol}".`);
  }

  async function fetch(input, init) {
    const request = new Request(input, init);
    if (request.signal.aborted) {
      throw request.signal.reason ?? new DOMException("The operation was aborted.", "AbortError");
    }
    return unlessAborted(run(request), request.signal);
  }

  return { Headers, Request, Response, fetch };
})

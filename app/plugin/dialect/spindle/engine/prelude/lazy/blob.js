// Blob, File and FormData, and FormData's own encoding.
(function ({ $String, $TypeError, $Uint8Array, bytesOf, decode, encode, isView, now, part }) {
  const blobs = new WeakMap(); // the bytes of each

  function joined(pieces) {
    let length = 0;
    for (const piece of pieces) {
      length += piece.length;
    }
    const all = new $Uint8Array(length);
    let at = 0;
    for (const piece of pieces) {
      all.set(piece, at);
      at += piece.length;
    }
    return all;
  }

  class Blob {
    #type;
    constructor(parts = [], options = {}) {
      if (typeof parts !== "object" || parts === null || typeof parts[Symbol.iterator] !== "function") {
        throw new $TypeError("A Blob is made of a list of parts.");
      }
      const pieces = [];
      for (const piece of parts) {
        if (piece instanceof Blob) {
          pieces.push(blobs.get(piece));
        } else if (isView(piece) || piece instanceof ArrayBuffer) {
          pieces.push(bytesOf(piece).slice());
        } else {
          const text = $String(piece);
          pieces.push(encode(options?.endings === "native" ? text.replace(/\r\n?/g, "\n") : text));
        }
      }
      blobs.set(this, pieces.length === 1 ? pieces[0] : joined(pieces));
      const type = $String(options?.type ?? "");
      this.#type = /[^\x20-\x7e]/.test(type) ? "" : type.toLowerCase();
    }
    get size() {
      return blobs.get(this).length;
    }
    get type() {
      return this.#type;
    }
    async arrayBuffer() {
      return blobs.get(this).slice().buffer;
    }
    async bytes() {
      return blobs.get(this).slice();
    }
    async text() {
      const text = decode(blobs.get(this));
      return text[0] === "\uFEFF" ? text.slice(1) : text;
    }
    slice(from, to, type = "") {
      const piece = new Blob([], { type });
      blobs.set(piece, blobs.get(this).slice(from, to));
      return piece;
    }
    stream() {
      const bytes = blobs.get(this);
      let at = 0;
      return new (part("streams").ReadableStream)({
        type: "bytes",
        pull(controller) {
          if (at < bytes.length) {
            controller.enqueue(bytes.slice(at, at + 65536));
            at += 65536;
          }
          if (at >= bytes.length) {
            controller.close();
          }
        },
      });
    }
    get [Symbol.toStringTag]() {
      return "Blob";
    }
  }

  class File extends Blob {
    #name;
    #modified;
    constructor(parts, name, options = {}) {
      if (arguments.length < 2) {
        throw new $TypeError("A File needs parts and a name.");
      }
      super(parts, options);
      this.#name = $String(name);
      this.#modified = options?.lastModified === undefined ? now() : +options.lastModified;
    }
    get name() {
      return this.#name;
    }
    get lastModified() {
      return this.#modified;
    }
    get webkitRelativePath() {
      return "";
    }
    get [Symbol.toStringTag]() {
      return "File";
    }
  }

  function entry(name, value, filename) {
    if (!(value instanceof Blob)) {
      if (filename !== undefined) {
        throw new $TypeError("Only a Blob has a file name.");
      }
      return [$String(name).toWellFormed(), $String(value).toWellFormed()];
    }
    if (value instanceof File && filename === undefined) {
      return [$String(name).toWellFormed(), value];
    }
    return [$String(name).toWellFormed(), new File([value], filename ?? "blob", { type: value.type })];
  }

  class FormData {
    #entries = [];
    append(...args) {
      this.#entries.push(entry(...args));
    }
    set(...args) {
      const fresh = entry(...args);
      const at = this.#entries.findIndex(([name]) => name === fresh[0]);
      if (at < 0) {
        this.#entries.push(fresh);
        return;
      }
      this.#entries[at] = fresh;
      this.#entries = this.#entries.filter(([name], i) => i <= at || name !== fresh[0]);
    }
    delete(name) {
      this.#entries = this.#entries.filter(([n]) => n !== $String(name));
    }
    get(name) {
      return this.#entries.find(([n]) => n === $String(name))?.[1] ?? null;
    }
    getAll(name) {
      return this.#entries.filter(([n]) => n === $String(name)).map(([, value]) => value);
    }
    has(name) {
      return this.#entries.some(([n]) => n === $String(name));
    }
    forEach(visit, self) {
      for (const [name, value] of this) {
        visit.call(self, value, name, this);
      }
    }
    *entries() {
      for (let i = 0; i < this.#entries.length; i++) {
        yield [...this.#entries[i]];
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
      return "FormData";
    }
  }

  const quoted = (text) => text.replace(/\r\n?|\n/g, "%0D%0A").replace(/"/g, "%22");

  /** multipart writes a form as multipart/form-data. */
  function multipart(form, boundary) {
    const pieces = [];
    for (const [name, value] of form) {
      const head = `--${boundary}\r\nContent-Disposition: form-data; name="${quoted(name)}"`;
      if (typeof value === "string") {
        pieces.push(encode(`${head}\r\n\r\n${value.replace(/\r\n?|\n/g, "\r\n")}\r\n`));
      } else {
        const type = value.type || "application/octet-stream";
        pieces.push(encode(`${head}; filename="${quoted(value.name)}"\r\nContent-Type: ${type}\r\n\r\n`), blobs.get(value), encode("\r\n"));
      }
    }
    pieces.push(encode(`--${boundary}--\r\n`));
    return joined(pieces);
  }

  function search(bytes, what, from) {
    outer: for (let i = from; i + what.length <= bytes.length; i++) {
      for (let j = 0; j < what.length; j++) {
        if (bytes[i + j] !== what[j]) {
          continue outer;
        }
      }
      return i;
    }
    return -1;
  }

  /** readMultipart reads multipart/form-data, or returns null. */
  function readMultipart(bytes, boundary) {
    const form = new FormData();
    const line = encode(`--${boundary}`);
    const gap = encode("\r\n\r\n");
    let at = search(bytes, line, 0);
    for (;;) {
      if (at < 0) {
        return null;
      }
      at += line.length;
      if (bytes[at] === 45 && bytes[at + 1] === 45) {
        return form;
      }
      const headEnd = search(bytes, gap, at);
      const next = headEnd < 0 ? -1 : search(bytes, line, headEnd);
      if (next < 0) {
        return null;
      }
      const head = decode(bytes.slice(at, headEnd));
      const body = bytes.slice(headEnd + gap.length, next - 2);
      const field = (key) => new RegExp(`[; ]${key}="([^"]*)"`, "i").exec(head)?.[1].replace(/%22/g, '"').replace(/%0D%0A/gi, "\r\n");
      const name = field("name");
      const filename = field("filename");
      if (name === undefined) {
        return null;
      }
      if (filename === undefined) {
        form.append(name, decode(body));
      } else {
        form.append(name, new File([body], filename, { type: /content-type:\s*([^\r\n]+)/i.exec(head)?.[1] ?? "text/plain" }));
      }
      at = next;
    }
  }

  return { Blob, File, FormData, multipart, readMultipart, bytesIn: (blob) => blobs.get(blob) };
})

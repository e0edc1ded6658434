// Buffer: the part of it that bundles written for other hosts reach for.
(function ({ $RangeError, $String, $TypeError, bytesOf, decode, encode, fromBase64, isView, part, toBase64, toLowerCase }) {
  const { latin1 } = part("encoding");

  const encodings = {
    utf8: "utf8", "utf-8": "utf8", hex: "hex", base64: "base64", base64url: "base64url", latin1: "latin1", binary: "latin1", ascii: "ascii",
    utf16le: "utf16le", "utf-16le": "utf16le", ucs2: "utf16le", "ucs-2": "utf16le",
  };
  function encodingOf(name = "utf8") {
    const known = encodings[toLowerCase($String(name))];
    if (known === undefined) {
      throw new $TypeError(`Unknown encoding: ${name}`);
    }
    return known;
  }

  function fromHex(text) {
    const whole = /^(?:[0-9a-f]{2})*/i.exec(text)[0];
    return Uint8Array.fromHex(whole);
  }

  function bytesFrom(text, encoding) {
    switch (encodingOf(encoding)) {
      case "hex":
        return fromHex(text);
      case "base64":
      case "base64url":
        return fromBase64(text.replace(/-/g, "+").replace(/_/g, "/").replace(/[^A-Za-z0-9+/]/g, "")) ?? new Uint8Array(0);
      case "latin1":
      case "ascii":
        return Uint8Array.from(text, (c) => c.charCodeAt(0) & 255);
      case "utf16le": {
        const bytes = new Uint8Array(text.length * 2);
        for (let i = 0; i < text.length; i++) {
          bytes[2 * i] = text.charCodeAt(i) & 255;
          bytes[2 * i + 1] = text.charCodeAt(i) >> 8;
        }
        return bytes;
      }
      default:
        return encode(text);
    }
  }

  function textOf(bytes, encoding) {
    switch (encodingOf(encoding)) {
      case "hex":
        return bytes.toHex();
      case "base64":
        return toBase64(bytes);
      case "base64url":
        return toBase64(bytes).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
      case "latin1":
        return latin1(bytes);
      case "ascii":
        return latin1(bytes.map((b) => b & 127));
      case "utf16le":
        return new (part("encoding").TextDecoder)("utf-16le", { ignoreBOM: true }).decode(bytes.subarray(0, bytes.length & ~1));
      default:
        return decode(bytes);
    }
  }

  const over = (bytes) => new Buffer(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const view = (bytes) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const plain = (bytes) => new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);

  class Buffer extends Uint8Array {
    static poolSize = 8192;
    static get [Symbol.species]() {
      return Buffer;
    }
    static from(value, second, third) {
      if (typeof value === "string") {
        return over(bytesFrom(value, second));
      }
      if (value instanceof ArrayBuffer || value instanceof SharedArrayBuffer) {
        return new Buffer(value, second, third);
      }
      if (isView(value)) {
        return over(Uint8Array.from(value instanceof DataView ? bytesOf(value) : value));
      }
      if (value?.type === "Buffer" && Array.isArray(value.data)) {
        return over(Uint8Array.from(value.data));
      }
      if (typeof value === "object" && value !== null) {
        const inner = value.valueOf?.();
        if (inner !== value && inner !== undefined && inner !== null) {
          return Buffer.from(inner, second, third);
        }
        return over(Uint8Array.from(value));
      }
      throw new $TypeError("Buffer.from needs a text, a buffer or a list of numbers.");
    }
    static of(...values) {
      return over(Uint8Array.of(...values));
    }
    static alloc(size, fill, encoding) {
      const bytes = new Buffer(checked(size));
      return fill === undefined ? bytes : bytes.fill(fill, encoding);
    }
    static allocUnsafe(size) {
      return new Buffer(checked(size));
    }
    static allocUnsafeSlow(size) {
      return new Buffer(checked(size));
    }
    static isBuffer(value) {
      return value instanceof Buffer;
    }
    static isEncoding(name) {
      return typeof name === "string" && encodings[name.toLowerCase()] !== undefined;
    }
    static byteLength(value, encoding) {
      return typeof value === "string" ? bytesFrom(value, encoding).length : value.byteLength;
    }
    static compare(a, b) {
      const n = Math.min(a.length, b.length);
      for (let i = 0; i < n; i++) {
        if (a[i] !== b[i]) {
          return a[i] < b[i] ? -1 : 1;
        }
      }
      return Math.sign(a.length - b.length);
    }
    static concat(list, total = list.reduce((n, bytes) => n + bytes.length, 0)) {
      const all = Buffer.alloc(total);
      let at = 0;
      for (const bytes of list) {
        const piece = bytes.subarray(0, Math.max(total - at, 0));
        all.set(piece, at);
        at += piece.length;
      }
      return all;
    }

    toString(encoding, from = 0, to = this.length) {
      return textOf(plain(this).subarray(Math.max(from, 0), to), encoding);
    }
    toLocaleString(encoding, from, to) {
      return this.toString(encoding, from, to);
    }
    toJSON() {
      return { type: "Buffer", data: Array.from(this) };
    }
    equals(other) {
      return Buffer.compare(this, other) === 0;
    }
    compare(other, from = 0, to = other.length, mine = 0, end = this.length) {
      return Buffer.compare(plain(this).subarray(mine, end), plain(other).subarray(from, to));
    }
    slice(from, to) {
      return over(plain(this).subarray(from, to));
    }
    subarray(from, to) {
      return over(plain(this).subarray(from, to));
    }
    copy(target, at = 0, from = 0, to = this.length) {
      const piece = plain(this).subarray(from, Math.min(to, from + target.length - at));
      target.set(piece, at);
      return piece.length;
    }
    write(text, at = 0, length = this.length - at, encoding = "utf8") {
      if (typeof at === "string") {
        return this.write(text, 0, this.length, at);
      }
      if (typeof length === "string") {
        return this.write(text, at, this.length - at, length);
      }
      const bytes = bytesFrom(text, encoding).subarray(0, Math.min(length, this.length - at));
      this.set(bytes, at);
      return bytes.length;
    }
    fill(value, from = 0, to = this.length, encoding = "utf8") {
      if (typeof from === "string") {
        return this.fill(value, 0, this.length, from);
      }
      if (typeof value === "number") {
        super.fill(value, from, to);
        return this;
      }
      const bytes = typeof value === "string" ? bytesFrom(value, encoding) : value;
      for (let i = from; i < to; i++) {
        this[i] = bytes.length === 0 ? 0 : bytes[(i - from) % bytes.length];
      }
      return this;
    }
    indexOf(value, from = 0, encoding = "utf8") {
      if (typeof value === "number") {
        return super.indexOf(value & 255, from);
      }
      const what = typeof value === "string" ? bytesFrom(value, encoding) : value;
      for (let i = from < 0 ? Math.max(this.length + from, 0) : from; i + what.length <= this.length; i++) {
        let j = 0;
        while (j < what.length && this[i + j] === what[j]) {
          j++;
        }
        if (j === what.length) {
          return i;
        }
      }
      return -1;
    }
    includes(value, from, encoding) {
      return this.indexOf(value, from, encoding) >= 0;
    }
    readUIntBE(at, size) {
      let value = 0;
      for (let i = 0; i < size; i++) {
        value = value * 256 + this[at + i];
      }
      return value;
    }
    readUIntLE(at, size) {
      let value = 0;
      for (let i = size - 1; i >= 0; i--) {
        value = value * 256 + this[at + i];
      }
      return value;
    }
    get parent() {
      return this.buffer;
    }
    get offset() {
      return this.byteOffset;
    }
  }

  function checked(size) {
    if (typeof size !== "number" || !(size >= 0) || size > 2 ** 30) {
      throw new $RangeError(`A Buffer cannot have the size ${size}.`);
    }
    return size;
  }

  const methods = {
    UInt8: ["Uint8", 1], Int8: ["Int8", 1], UInt16: ["Uint16", 2], Int16: ["Int16", 2], UInt32: ["Uint32", 4], Int32: ["Int32", 4],
    Float: ["Float32", 4], Double: ["Float64", 8], BigUInt64: ["BigUint64", 8], BigInt64: ["BigInt64", 8],
  };
  const put = (name, value) => Object.defineProperty(Buffer.prototype, name, { value, writable: true, configurable: true });
  for (const [name, [kind, size]] of Object.entries(methods)) {
    for (const end of size === 1 ? [""] : ["LE", "BE"]) {
      const read = function (at = 0) {
        return view(this)[`get${kind}`](at, end === "LE");
      };
      const write = function (value, at = 0) {
        view(this)[`set${kind}`](at, value, end === "LE");
        return at + size;
      };
      put(`read${name}${end}`, read);
      put(`write${name}${end}`, write);
      put(`read${name.replace("UInt", "Uint")}${end}`, read);
      put(`write${name.replace("UInt", "Uint")}${end}`, write);
    }
  }

  return { Buffer };
})

// TextEncoder, TextDecoder, atob and btoa.
(function ({
  $RangeError, $String, $TypeError, $Uint8Array, apply, bytesOf, charCodeAt, encode, fromBase64, fromCharCode, join, part, push,
  toBase64, toLowerCase, trim, wholeUTF8,
}) {
  const { DOMException } = part("event");
  const chunk = 4096; // characters made at once: String.fromCharCode takes them as arguments

  class Units {
    parts = [];
    units = [];
    add(unit) {
      push(this.units, unit);
      if (this.units.length >= chunk) {
        this.flush();
      }
    }
    flush() {
      push(this.parts, apply(fromCharCode, undefined, this.units));
      this.units = [];
    }
    text() {
      this.flush();
      return join(this.parts, "");
    }
  }

  /** latin1 makes one character of each byte. */
  function latin1(bytes) {
    const parts = [];
    for (let i = 0; i < bytes.length; i += chunk) {
      push(parts, apply(fromCharCode, undefined, bytes.subarray(i, i + chunk)));
    }
    return join(parts, "");
  }

  function decodeUTF8(bytes, fatal, stream) {
    const out = new Units();
    let i = 0;
    const bad = () => {
      if (fatal) {
        throw new $TypeError("The encoded data was not valid UTF-8.");
      }
      out.add(0xfffd);
    };
    while (i < bytes.length) {
      const b = bytes[i];
      if (b < 0x80) {
        out.add(b);
        i++;
        continue;
      }
      let need = 0;
      let lower = 0x80;
      let upper = 0xbf;
      let c = 0;
      if (b >= 0xc2 && b <= 0xdf) {
        need = 1;
        c = b & 31;
      } else if (b >= 0xe0 && b <= 0xef) {
        need = 2;
        c = b & 15;
        lower = b === 0xe0 ? 0xa0 : lower;
        upper = b === 0xed ? 0x9f : upper;
      } else if (b >= 0xf0 && b <= 0xf4) {
        need = 3;
        c = b & 7;
        lower = b === 0xf0 ? 0x90 : lower;
        upper = b === 0xf4 ? 0x8f : upper;
      } else {
        bad();
        i++;
        continue;
      }
      let n = 0;
      while (n < need && i + 1 + n < bytes.length && bytes[i + 1 + n] >= lower && bytes[i + 1 + n] <= upper) {
        c = (c << 6) | (bytes[i + 1 + n] & 63);
        lower = 0x80;
        upper = 0xbf;
        n++;
      }
      if (n < need) {
        if (stream && i + 1 + n >= bytes.length) {
          break; // the rest may come with the next piece
        }
        bad();
        i += 1 + n;
        continue;
      }
      i += 1 + need;
      if (c < 0x10000) {
        out.add(c);
      } else {
        out.add(0xd800 + ((c - 0x10000) >> 10));
        out.add(0xdc00 + ((c - 0x10000) & 0x3ff));
      }
    }
    return { text: out.text(), rest: bytes.slice(i) };
  }

  class TextEncoder {
    get encoding() {
      return "utf-8";
    }
    encode(text = "") {
      return encode($String(text));
    }
    encodeInto(text, into) {
      const all = $String(text);
      let read = 0;
      let written = 0;
      for (const character of all) {
        const bytes = encode(character);
        if (written + bytes.length > into.length) {
          break;
        }
        into.set(bytes, written);
        written += bytes.length;
        read += character.length;
      }
      return { read, written };
    }
  }

  const labels = {
    "utf-8": "utf-8", utf8: "utf-8", "unicode-1-1-utf-8": "utf-8", "utf-16le": "utf-16le", "utf-16": "utf-16le", "ucs-2": "utf-16le", unicode: "utf-16le",
    "iso-8859-1": "windows-1252", latin1: "windows-1252", ascii: "windows-1252", "us-ascii": "windows-1252",
    "windows-1252": "windows-1252", "iso8859-1": "windows-1252", iso88591: "windows-1252", l1: "windows-1252", cp1252: "windows-1252",
  };
  const high1252 = [
    0x20ac, 0x81, 0x201a, 0x192, 0x201e, 0x2026, 0x2020, 0x2021, 0x2c6, 0x2030, 0x160, 0x2039, 0x152, 0x8d, 0x17d, 0x8f, 0x90,
    0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x2dc, 0x2122, 0x161, 0x203a, 0x153, 0x9d, 0x17e, 0x178,
  ];

  class TextDecoder {
    #encoding;
    #fatal;
    #ignoreBOM;
    #rest = new $Uint8Array(0);
    #started = false;

    constructor(label = "utf-8", options = {}) {
      const known = labels[toLowerCase(trim($String(label)))];
      if (known === undefined) {
        throw new $RangeError(`The encoding "${label}" is not supported.`);
      }
      this.#encoding = known;
      this.#fatal = Boolean(options.fatal);
      this.#ignoreBOM = Boolean(options.ignoreBOM);
    }
    get encoding() {
      return this.#encoding;
    }
    get fatal() {
      return this.#fatal;
    }
    get ignoreBOM() {
      return this.#ignoreBOM;
    }
    decode(source, options = {}) {
      const stream = Boolean(options.stream);
      let bytes = bytesOf(source);
      if (this.#rest.length > 0) {
        const whole = new $Uint8Array(this.#rest.length + bytes.length);
        whole.set(this.#rest);
        whole.set(bytes, this.#rest.length);
        bytes = whole;
      }
      let text;
      let rest = new $Uint8Array(0);
      if (this.#encoding === "utf-8") {
        text = !stream && bytes.length > 256 ? wholeUTF8(bytes) : null;
        if (text === null) {
          ({ text, rest } = decodeUTF8(bytes, this.#fatal, stream));
        }
      } else {
        const out = new Units();
        if (this.#encoding === "utf-16le") {
          for (let i = 0; i + 1 < bytes.length; i += 2) {
            out.add(bytes[i] | (bytes[i + 1] << 8));
          }
          if (bytes.length % 2 === 1) {
            if (stream) {
              rest = bytes.slice(bytes.length - 1);
            } else {
              out.add(0xfffd);
            }
          }
        } else {
          for (let i = 0; i < bytes.length; i++) {
            out.add(bytes[i] >= 0x80 && bytes[i] < 0xa0 ? high1252[bytes[i] - 0x80] : bytes[i]);
          }
        }
        text = out.text();
      }
      this.#rest = stream ? rest : new $Uint8Array(0);
      if (!this.#started && !this.#ignoreBOM && text[0] === "\uFEFF") {
        text = text.slice(1);
      }
      this.#started = stream;
      return text;
    }
  }

  function atob(text) {
    const bytes = fromBase64($String(text));
    if (bytes === null) {
      throw new DOMException("The text to decode is not base64.", "InvalidCharacterError");
    }
    return latin1(bytes);
  }

  function btoa(text) {
    const all = $String(text);
    const bytes = new $Uint8Array(all.length);
    for (let i = 0; i < all.length; i++) {
      const c = charCodeAt(all, i);
      if (c > 255) {
        throw new DOMException("The text to encode has characters outside Latin-1.", "InvalidCharacterError");
      }
      bytes[i] = c;
    }
    return toBase64(bytes);
  }

  return { TextDecoder, TextEncoder, atob, btoa, decodeUTF8, latin1 };
})

// The transform streams of text and of compression.
(function ({ $Map, $String, $TypeError, $Uint8Array, bytesOf, encode, fromBase64, host, parse, part, stringify, toBase64 }) {
  const { TransformStream } = part("streams");
  const { TextDecoder } = part("encoding");

  class Pipe {
    #stream;
    constructor(transformer) {
      this.#stream = new TransformStream(transformer);
    }
    get readable() {
      return this.#stream.readable;
    }
    get writable() {
      return this.#stream.writable;
    }
  }

  class TextDecoderStream extends Pipe {
    #decoder;
    constructor(label, options) {
      const decoder = new TextDecoder(label, options);
      const pass = (text, controller) => text !== "" && controller.enqueue(text);
      super({
        transform(chunk, controller) {
          pass(decoder.decode(chunk, { stream: true }), controller);
        },
        flush(controller) {
          pass(decoder.decode(), controller);
        },
      });
      this.#decoder = decoder;
    }
    get encoding() {
      return this.#decoder.encoding;
    }
    get fatal() {
      return this.#decoder.fatal;
    }
    get ignoreBOM() {
      return this.#decoder.ignoreBOM;
    }
  }

  class TextEncoderStream extends Pipe {
    constructor() {
      let half = ""; // the first half of a pair, whose other half comes with the next chunk
      super({
        transform(chunk, controller) {
          const text = half + $String(chunk);
          const last = text.charCodeAt(text.length - 1);
          half = last >= 0xd800 && last <= 0xdbff ? text[text.length - 1] : "";
          const whole = half === "" ? text : text.slice(0, -1);
          if (whole !== "") {
            controller.enqueue(encode(whole));
          }
        },
        flush(controller) {
          if (half !== "") {
            controller.enqueue(encode(half));
          }
        },
      });
    }
    get encoding() {
      return "utf-8";
    }
  }

  const formats = new $Map([["gzip", "gzip"], ["deflate", "deflate"], ["deflate-raw", "raw"]]);

  /** whole works on all the bytes at once, when the stream ends. */
  function whole(op, format) {
    const kind = formats.get($String(format));
    if (kind === undefined) {
      throw new $TypeError(`The format "${format}" is not supported; gzip, deflate and deflate-raw are.`);
    }
    const chunks = [];
    let length = 0;
    return {
      transform(chunk) {
        const bytes = bytesOf(chunk).slice();
        chunks.push(bytes);
        length += bytes.length;
      },
      flush(controller) {
        const all = new $Uint8Array(length);
        let at = 0;
        for (const bytes of chunks) {
          all.set(bytes, at);
          at += bytes.length;
        }
        const answer = parse(host(op, stringify({ kind, data: toBase64(all) })));
        if (answer.error !== undefined) {
          throw new $TypeError(`The stream could not be ${op}d: ${answer.error}.`);
        }
        const out = fromBase64(answer.data);
        for (let i = 0; i < out.length; i += 65536) {
          controller.enqueue(out.slice(i, i + 65536));
        }
      },
    };
  }

  class CompressionStream extends Pipe {
    constructor(format) {
      super(whole("deflate", format));
    }
  }

  class DecompressionStream extends Pipe {
    constructor(format) {
      super(whole("inflate", format));
    }
  }

  return { TextDecoderStream, TextEncoderStream, CompressionStream, DecompressionStream };
})

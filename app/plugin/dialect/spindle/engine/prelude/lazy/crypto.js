// crypto: random values, hashes, and signing with HMAC. The bytes are the
// worker's work.
(function ({ $String, $TypeError, $Uint8Array, bytesOf, fromBase64, host, isView, parse, part, stringify, toBase64, toUpperCase }) {
  const { DOMException } = part("event");
  const integers = [Int8Array, $Uint8Array, Uint8ClampedArray, Int16Array, Uint16Array, Int32Array, Uint32Array, BigInt64Array, BigUint64Array];
  let making = false; // only the platform makes these

  function make(kind, ...args) {
    making = true;
    try {
      return new kind(...args);
    } finally {
      making = false;
    }
  }

  function refuseUnless() {
    if (!making) {
      throw new $TypeError("Illegal constructor");
    }
  }

  function work(op, args) {
    const answer = parse(host(op, stringify(args)));
    if (answer.error !== undefined) {
      throw new DOMException(answer.error, "OperationError");
    }
    return fromBase64(answer.data);
  }

  const hashes = ["SHA-1", "SHA-256", "SHA-384", "SHA-512"];
  const blocks = { "SHA-1": 64, "SHA-256": 64, "SHA-384": 128, "SHA-512": 128 };

  function hashOf(algorithm) {
    const name = toUpperCase($String(typeof algorithm === "object" && algorithm !== null ? algorithm.name : algorithm));
    if (!hashes.includes(name)) {
      throw new DOMException(`The algorithm ${name} is not supported; SHA-1, SHA-256, SHA-384 and SHA-512 are.`, "NotSupportedError");
    }
    return name;
  }

  function onlyHMAC(algorithm) {
    const name = toUpperCase($String(typeof algorithm === "object" && algorithm !== null ? algorithm.name : algorithm));
    if (name !== "HMAC") {
      throw new DOMException(`Keys of ${name} are not supported; HMAC is.`, "NotSupportedError");
    }
  }

  class CryptoKey {
    #bytes;
    constructor(bytes, algorithm, extractable, usages) {
      refuseUnless();
      this.#bytes = bytes;
      this.type = "secret";
      this.algorithm = algorithm;
      this.extractable = extractable;
      this.usages = usages;
    }
    static bytes(key, usage) {
      if (!(key instanceof CryptoKey)) {
        throw new $TypeError("A CryptoKey is needed.");
      }
      if (usage !== undefined && !key.usages.includes(usage)) {
        throw new DOMException(`This key is not for "${usage}".`, "InvalidAccessError");
      }
      return key.#bytes;
    }
  }
  const keyBytes = CryptoKey.bytes;
  delete CryptoKey.bytes;

  const copyOf = (data) => bytesOf(data).slice();
  const buffer = (bytes) => bytes.buffer;
  const url64 = (bytes) => toBase64(bytes).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  const unurl64 = (text) => fromBase64($String(text).replace(/-/g, "+").replace(/_/g, "/"));

  class SubtleCrypto {
    constructor() {
      refuseUnless();
    }
    async digest(algorithm, data) {
      return buffer(work("digest", { kind: hashOf(algorithm), data: toBase64(copyOf(data)) }));
    }
    async importKey(format, data, algorithm, extractable, usages) {
      onlyHMAC(algorithm);
      let bytes;
      if (format === "raw") {
        bytes = copyOf(data);
      } else if (format === "jwk" && data?.kty === "oct") {
        bytes = unurl64(data.k);
      } else {
        throw new DOMException(`Keys cannot be imported from "${format}" here; "raw" and "jwk" can.`, "NotSupportedError");
      }
      if (bytes === null || bytes.length === 0) {
        throw new DOMException("The key is empty.", "DataError");
      }
      const hash = { name: hashOf(algorithm.hash) };
      return make(CryptoKey, bytes, { name: "HMAC", hash, length: bytes.length * 8 }, Boolean(extractable), [...usages]);
    }
    async generateKey(algorithm, extractable, usages) {
      onlyHMAC(algorithm);
      const name = hashOf(algorithm.hash);
      const bytes = new $Uint8Array(algorithm.length === undefined ? blocks[name] : Math.ceil(algorithm.length / 8));
      fill(bytes);
      return make(CryptoKey, bytes, { name: "HMAC", hash: { name }, length: bytes.length * 8 }, Boolean(extractable), [...usages]);
    }
    async exportKey(format, key) {
      const bytes = keyBytes(key);
      if (!key.extractable) {
        throw new DOMException("This key may not leave the plugin's engine.", "InvalidAccessError");
      }
      if (format === "raw") {
        return buffer(bytes.slice());
      }
      if (format === "jwk") {
        return { kty: "oct", k: url64(bytes), alg: key.algorithm.hash.name.replace("SHA-", "HS"), ext: true, key_ops: key.usages };
      }
      throw new DOMException(`Keys cannot be exported to "${format}" here.`, "NotSupportedError");
    }
    async sign(algorithm, key, data) {
      onlyHMAC(algorithm);
      return buffer(work("hmac", { kind: key?.algorithm?.hash?.name, key: toBase64(keyBytes(key, "sign")), data: toBase64(copyOf(data)) }));
    }
    async verify(algorithm, key, signature, data) {
      onlyHMAC(algorithm);
      const right = work("hmac", { kind: key?.algorithm?.hash?.name, key: toBase64(keyBytes(key, "verify")), data: toBase64(copyOf(data)) });
      const given = bytesOf(signature);
      let odd = right.length ^ given.length;
      for (let i = 0; i < right.length; i++) {
        odd |= right[i] ^ (given[i] ?? 0);
      }
      return odd === 0;
    }
  }
  for (const name of ["encrypt", "decrypt", "deriveBits", "deriveKey", "wrapKey", "unwrapKey"]) {
    Object.defineProperty(SubtleCrypto.prototype, name, {
      async value() {
        throw new DOMException(`crypto.subtle.${name} is not supported in Conclave.`, "NotSupportedError");
      },
      writable: true,
      configurable: true,
    });
  }

  function fill(bytes) {
    bytes.set(fromBase64(host("random", `${bytes.length}`)));
  }

  class Crypto {
    constructor() {
      refuseUnless();
      Object.defineProperty(this, "subtle", { value: make(SubtleCrypto), enumerable: true });
    }
    randomUUID() {
      return host("uuid");
    }
    getRandomValues(array) {
      if (!isView(array) || !integers.some((kind) => array instanceof kind)) {
        throw new $TypeError("getRandomValues needs an array of integers.");
      }
      if (array.byteLength > 65536) {
        throw new DOMException("getRandomValues fills at most 65536 bytes at once.", "QuotaExceededError");
      }
      fill(bytesOf(array));
      return array;
    }
  }

  return { crypto: make(Crypto), Crypto, SubtleCrypto, CryptoKey };
})

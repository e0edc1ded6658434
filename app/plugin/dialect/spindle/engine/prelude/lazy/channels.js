// BroadcastChannel, MessageChannel, and the WebSocket that says why it does not
// open.
(function ({ $Error, $Map, $String, $TypeError, granted, part, queue, refuse }) {
  const { DOMException, EventTarget, MessageEvent } = part("event");
  const { structuredClone } = part("clone");
  const { URL } = part("url");
  const rooms = new $Map();

  class BroadcastChannel extends EventTarget {
    #closed = false;
    onmessage = null;
    onmessageerror = null;
    constructor(name) {
      super();
      this.name = $String(name);
      const room = rooms.get(this.name) ?? new Set();
      rooms.set(this.name, room.add(this));
    }
    postMessage(value) {
      if (this.#closed) {
        throw new DOMException("The channel is closed.", "InvalidStateError");
      }
      for (const other of rooms.get(this.name) ?? []) {
        if (other !== this) {
          const data = structuredClone(value);
          queue(() => other.#closed || other.dispatchEvent(new MessageEvent("message", { data })));
        }
      }
    }
    close() {
      this.#closed = true;
      rooms.get(this.name)?.delete(this);
    }
  }

  let making = false;

  class MessagePort extends EventTarget {
    #other = null;
    #held = [];
    #onmessage = null;
    constructor() {
      if (!making) {
        throw new $TypeError("Illegal constructor");
      }
      super();
    }
    static join(a, b) {
      a.#other = b;
      b.#other = a;
    }
    get onmessage() {
      return this.#onmessage;
    }
    set onmessage(hear) {
      this.#onmessage = hear;
      this.start();
    }
    postMessage(value, options) {
      const other = this.#other;
      if (other === null) {
        return;
      }
      const data = structuredClone(value, Array.isArray(options) ? { transfer: options } : options);
      const deliver = () => other.dispatchEvent(new MessageEvent("message", { data }));
      if (other.#held !== null) {
        other.#held.push(deliver);
      } else {
        queue(deliver);
      }
    }
    start() {
      const held = this.#held ?? [];
      this.#held = null;
      for (const deliver of held) {
        queue(deliver);
      }
    }
    close() {
      if (this.#other !== null) {
        this.#other.#other = null;
        this.#other = null;
      }
    }
  }
  const joinPorts = MessagePort.join;
  delete MessagePort.join;

  class MessageChannel {
    constructor() {
      making = true;
      try {
        this.port1 = new MessagePort();
        this.port2 = new MessagePort();
      } finally {
        making = false;
      }
      joinPorts(this.port1, this.port2);
    }
  }

  class WebSocket extends EventTarget {
    static CONNECTING = 0;
    static OPEN = 1;
    static CLOSING = 2;
    static CLOSED = 3;
    constructor(address) {
      super();
      const url = new URL(address);
      if (!["ws:", "wss:", "http:", "https:"].includes(url.protocol)) {
        throw new DOMException(`A WebSocket cannot be opened to "${url.protocol}".`, "SyntaxError");
      }
      if (!granted("cors_proxy")) {
        refuse("WebSocket");
        throw new $Error(`PERMISSION_DENIED: cors_proxy (WebSocket to ${url.host})`);
      }
      throw new DOMException("WebSockets are not available in Conclave: a plugin reaches the network with fetch.", "NotSupportedError");
    }
  }

  return { BroadcastChannel, MessageChannel, MessagePort, WebSocket };
})

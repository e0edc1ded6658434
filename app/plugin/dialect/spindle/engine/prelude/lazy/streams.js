// ReadableStream, WritableStream and TransformStream (WHATWG Streams Standard),
// as far as plugins use them: one queue with a measure, backpressure, locks,
// errors, tee, pipes and iteration. A byte stream hands out whole chunks; its
// BYOB reader copies them into the view it was given.
(function ({ $Promise, $RangeError, $TypeError, $Uint8Array, apply, part }) {
  const { AbortController } = part("event");
  const nothing = () => {};
  const quiet = (promise) => {
    promise.catch(nothing);
    return promise;
  };
  const begin = (run, self, ...args) => new $Promise((resolve) => resolve(run === undefined ? undefined : apply(run, self, args)));

  function later() {
    const d = $Promise.withResolvers();
    quiet(d.promise);
    return d;
  }

  function measure(strategy, otherwise) {
    const mark = strategy?.highWaterMark === undefined ? otherwise : +strategy.highWaterMark;
    if (!(mark >= 0)) {
      throw new $RangeError("highWaterMark has to be a number from 0.");
    }
    const size = strategy?.size;
    return { mark, size: size === undefined ? () => 1 : (chunk) => size(chunk) };
  }

  let making = false;
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

  class CountQueuingStrategy {
    constructor({ highWaterMark }) {
      this.highWaterMark = highWaterMark;
    }
    size() {
      return 1;
    }
  }

  class ByteLengthQueuingStrategy {
    constructor({ highWaterMark }) {
      this.highWaterMark = highWaterMark;
    }
    size(chunk) {
      return chunk.byteLength;
    }
  }

  // ---- Reading. What is known of a stream: status, queue, held (its measure),
  // waits (reads without a chunk), reader, and the source's functions.

  let readable; // the state of a ReadableStream
  const room = (s) => (s.status === "errored" ? null : s.status === "closed" ? 0 : s.mark - s.held);
  const wants = (s) => s.status === "readable" && !s.closing && s.started && (s.waits.length > 0 || s.mark - s.held > 0);

  function pull(s) {
    if (!wants(s)) {
      return;
    }
    if (s.pulling) {
      s.again = true;
      return;
    }
    s.pulling = true;
    begin(s.source.pull, s.source, s.controller).then(
      () => {
        s.pulling = false;
        if (s.again) {
          s.again = false;
          pull(s);
        }
      },
      (err) => fail(s, err),
    );
  }

  function enqueue(s, chunk) {
    if (s.closing || s.status !== "readable") {
      throw new $TypeError("The stream takes no more chunks: it is closed.");
    }
    if (s.waits.length > 0) {
      s.waits.shift().resolve({ value: chunk, done: false });
    } else {
      let size;
      try {
        size = +s.size(chunk);
        if (!(size >= 0) || size === Infinity) {
          throw new $RangeError("The size of a chunk has to be a number from 0.");
        }
      } catch (err) {
        fail(s, err);
        throw err;
      }
      s.queue.push({ chunk, size });
      s.held += size;
    }
    pull(s);
  }

  function finish(s) {
    s.status = "closed";
    s.source = {};
    for (const wait of s.waits.splice(0)) {
      wait.resolve({ value: undefined, done: true });
    }
    s.ended.resolve();
  }

  function close(s) {
    if (s.closing || s.status !== "readable") {
      throw new $TypeError("The stream is closed already.");
    }
    s.closing = true;
    if (s.queue.length === 0) {
      finish(s);
    }
  }

  function fail(s, err) {
    if (s.status !== "readable") {
      return;
    }
    s.status = "errored";
    s.error = err;
    s.queue = [];
    s.held = 0;
    s.source = {};
    for (const wait of s.waits.splice(0)) {
      wait.reject(err);
    }
    s.ended.reject(err);
  }

  function take(s) {
    const { chunk, size } = s.queue.shift();
    s.held = s.queue.length === 0 ? 0 : s.held - size;
    if (s.closing && s.queue.length === 0) {
      finish(s);
    } else {
      pull(s);
    }
    return chunk;
  }

  function read(s) {
    s.disturbed = true;
    if (s.queue.length > 0) {
      return $Promise.resolve({ value: take(s), done: false });
    }
    if (s.status === "closed") {
      return $Promise.resolve({ value: undefined, done: true });
    }
    if (s.status === "errored") {
      return $Promise.reject(s.error);
    }
    return new $Promise((resolve, reject) => {
      s.waits.push({ resolve, reject });
      pull(s);
    });
  }

  function cancel(s, reason) {
    s.disturbed = true;
    if (s.status === "closed") {
      return $Promise.resolve();
    }
    if (s.status === "errored") {
      return $Promise.reject(s.error);
    }
    const { source } = s;
    s.queue = [];
    s.held = 0;
    finish(s);
    return begin(source.cancel, source, reason).then(nothing);
  }

  class ReadableStreamDefaultController {
    #s;
    constructor(s) {
      refuseUnless();
      this.#s = s;
    }
    get desiredSize() {
      return room(this.#s);
    }
    enqueue(chunk) {
      enqueue(this.#s, chunk);
    }
    close() {
      close(this.#s);
    }
    error(err) {
      fail(this.#s, err);
    }
  }

  class ReadableByteStreamController extends ReadableStreamDefaultController {
    get byobRequest() {
      return null;
    }
    enqueue(chunk) {
      if (!ArrayBuffer.isView(chunk)) {
        throw new $TypeError("A byte stream takes views of buffers.");
      }
      if (chunk.byteLength === 0) {
        throw new $TypeError("A byte stream takes no empty chunks.");
      }
      super.enqueue(new $Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    }
  }

  class Reader {
    #s;
    #over = null; // set once the lock was released
    constructor(stream) {
      const s = readable(stream);
      if (s.reader !== null) {
        throw new $TypeError("The stream is locked to a reader already.");
      }
      this.#s = s;
      s.reader = this;
    }
    static state(reader) {
      if (reader.#over !== null) {
        throw new $TypeError("This reader was released.");
      }
      return reader.#s;
    }
    get closed() {
      return this.#over ?? this.#s.ended.promise;
    }
    async cancel(reason) {
      return cancel(stateOf(this), reason);
    }
    releaseLock() {
      if (this.#over !== null) {
        return;
      }
      const gone = new $TypeError("This reader was released.");
      for (const wait of this.#s.waits.splice(0)) {
        wait.reject(gone);
      }
      this.#over = quiet($Promise.reject(gone));
      this.#s.reader = null;
    }
  }
  const stateOf = Reader.state;
  delete Reader.state;

  class ReadableStreamDefaultReader extends Reader {
    read() {
      try {
        return read(stateOf(this));
      } catch (err) {
        return $Promise.reject(err);
      }
    }
  }

  class ReadableStreamBYOBReader extends Reader {
    constructor(stream) {
      if (!readable(stream).bytes) {
        throw new $TypeError("Only a byte stream has a BYOB reader.");
      }
      super(stream);
    }
    async read(view) {
      const s = stateOf(this);
      if (!ArrayBuffer.isView(view) || view.byteLength === 0) {
        throw new $TypeError("read needs a view that is not empty.");
      }
      const { value, done } = await read(s);
      const into = new $Uint8Array(view.buffer, view.byteOffset, view.byteLength);
      const n = done ? 0 : Math.min(value.length, into.length);
      if (!done) {
        into.set(value.subarray(0, n));
        if (n < value.length) {
          const rest = value.subarray(n);
          s.queue.unshift({ chunk: rest, size: 0 });
          if (s.status === "closed") { // it ended with the chunk that is back now
            s.status = "readable";
          }
        }
      }
      const unit = view.BYTES_PER_ELEMENT ?? 1;
      return { value: new view.constructor(view.buffer, view.byteOffset, Math.floor(n / unit)), done };
    }
  }

  const asyncIteratorPrototype = Object.getPrototypeOf(Object.getPrototypeOf(async function* () {}.prototype));

  class ReadableStream {
    #s;
    constructor(source = {}, strategy = {}) {
      source ??= {};
      const bytes = source.type === "bytes";
      if (source.type !== undefined && !bytes) {
        throw new $RangeError(`There are no streams of the type "${source.type}".`);
      }
      const { mark, size } = measure(strategy, bytes ? 0 : 1);
      const s = {
        bytes, mark, size: bytes ? (chunk) => chunk.byteLength : size, source, status: "readable", error: undefined, queue: [], held: 0,
        waits: [], reader: null, started: false, closing: false, pulling: false, again: false, disturbed: false, ended: later(),
      };
      this.#s = s;
      s.controller = make(bytes ? ReadableByteStreamController : ReadableStreamDefaultController, s);
      const first = source.start === undefined ? undefined : source.start(s.controller);
      $Promise.resolve(first).then(
        () => {
          s.started = true;
          pull(s);
        },
        (err) => fail(s, err),
      );
    }
    static {
      readable = (stream) => {
        if (typeof stream !== "object" || stream === null || !(#s in stream)) {
          throw new $TypeError("A ReadableStream is needed.");
        }
        return stream.#s;
      };
    }
    static from(list) {
      const method = list?.[Symbol.asyncIterator] ?? list?.[Symbol.iterator];
      if (typeof method !== "function") {
        throw new $TypeError("ReadableStream.from needs something that can be iterated.");
      }
      const iterator = apply(method, list, []);
      return new ReadableStream(
        {
          async pull(controller) {
            const { value, done } = await iterator.next();
            if (done) {
              controller.close();
            } else {
              controller.enqueue(await value);
            }
          },
          async cancel(reason) {
            await iterator.return?.(reason);
          },
        },
        { highWaterMark: 0 },
      );
    }
    get locked() {
      return this.#s.reader !== null;
    }
    async cancel(reason) {
      if (this.locked) {
        throw new $TypeError("A locked stream is cancelled through its reader.");
      }
      return cancel(this.#s, reason);
    }
    getReader(options = {}) {
      if (options?.mode === "byob") {
        return new ReadableStreamBYOBReader(this);
      }
      return new ReadableStreamDefaultReader(this);
    }
    tee() {
      const reader = this.getReader();
      const gone = later();
      const branches = [];
      const over = [false, false];
      const reasons = [];
      let reading = false;
      let again = false;
      const each = (act) => branches.forEach((branch, i) => over[i] || act(branch));
      const more = () => {
        if (reading) {
          again = true;
          return;
        }
        reading = true;
        reader.read().then(
          ({ value, done }) => {
            reading = false;
            if (done) {
              each((controller) => controller.close());
              gone.resolve();
              return;
            }
            each((controller) => controller.enqueue(value));
            if (again) {
              again = false;
              more();
            }
          },
          (err) => {
            each((controller) => controller.error(err));
            gone.resolve();
          },
        );
      };
      const branch = (i) =>
        new ReadableStream({
          start(controller) {
            branches[i] = controller;
          },
          pull: more,
          cancel(reason) {
            over[i] = true;
            reasons[i] = reason;
            if (over[1 - i]) {
              reader.cancel(reasons).then(gone.resolve, gone.reject);
            }
            return gone.promise;
          },
        });
      return [branch(0), branch(1)];
    }
    pipeTo(destination, options = {}) {
      return pipe(this, destination, options ?? {});
    }
    pipeThrough({ readable: out, writable: into }, options = {}) {
      quiet(this.pipeTo(into, options));
      return out;
    }
    values({ preventCancel = false } = {}) {
      const reader = this.getReader();
      let over = false;
      let last = $Promise.resolve();
      let reading = 0;
      const inTurn = (step) => {
        reading++;
        last = (reading === 1 ? step() : last.then(step, step)).finally(() => reading--);
        return last;
      };
      return {
        __proto__: asyncIteratorPrototype,
        next: () =>
          inTurn(async () => {
            if (over) {
              return { value: undefined, done: true };
            }
            let got;
            try {
              got = await reader.read();
            } catch (err) {
              over = true;
              reader.releaseLock();
              throw err;
            }
            if (got.done) {
              over = true;
              reader.releaseLock();
            }
            return got;
          }),
        return: (value) =>
          inTurn(async () => {
            if (!over) {
              over = true;
              const ended = preventCancel ? undefined : reader.cancel(value);
              reader.releaseLock();
              await ended;
            }
            return { value, done: true };
          }),
      };
    }
  }
  Object.defineProperty(ReadableStream.prototype, Symbol.asyncIterator, { value: ReadableStream.prototype.values, writable: true, configurable: true });

  // ---- Writing.

  let writable; // the state of a WritableStream

  function renew(s) {
    const full = s.status === "writable" && !s.closing && s.mark - s.held <= 0;
    if (full && !s.full) {
      s.ready = later();
    } else if (!full && s.full) {
      s.ready.resolve();
    }
    s.full = full;
  }

  function advance(s) {
    if (!s.started || s.busy !== null || s.status !== "writable") {
      return;
    }
    const item = s.queue[0];
    if (item === undefined) {
      if (s.closing) {
        s.busy = begin(s.sink.close, s.sink).then(
          () => {
            s.busy = null;
            s.status = "closed";
            s.closing.resolve();
            s.ended.resolve();
          },
          (err) => {
            s.busy = null;
            breakOff(s, err);
          },
        );
      }
      return;
    }
    s.busy = begin(s.sink.write, s.sink, item.chunk, s.controller).then(
      () => {
        s.busy = null;
        item.resolve();
        if (s.status !== "writable") {
          return;
        }
        s.queue.shift();
        s.held -= item.size;
        renew(s);
        advance(s);
      },
      (err) => {
        s.busy = null;
        item.reject(err);
        breakOff(s, err);
      },
    );
  }

  function breakOff(s, err) {
    if (s.status !== "writable") {
      return;
    }
    s.status = "errored";
    s.error = err;
    const queue = s.busy === null ? s.queue : s.queue.slice(1);
    s.queue = [];
    for (const item of queue) {
      item.reject(err);
    }
    s.closing?.reject(err);
    if (!s.full) {
      s.ready = later();
    }
    s.full = false;
    s.ready.reject(err);
    s.ended.reject(err);
  }

  function write(s, chunk) {
    if (s.status === "errored") {
      return $Promise.reject(s.error);
    }
    if (s.closing || s.status === "closed") {
      return $Promise.reject(new $TypeError("The stream is closed."));
    }
    let size;
    try {
      size = +s.size(chunk);
    } catch (err) {
      breakOff(s, err);
      return $Promise.reject(err);
    }
    const { promise, resolve, reject } = $Promise.withResolvers();
    s.queue.push({ chunk, size, resolve, reject });
    s.held += size;
    renew(s);
    advance(s);
    return promise;
  }

  function shut(s) {
    if (s.status === "errored") {
      return $Promise.reject(s.error);
    }
    if (s.closing || s.status === "closed") {
      return $Promise.reject(new $TypeError("The stream is closed already."));
    }
    s.closing = later();
    renew(s);
    advance(s);
    return s.closing.promise;
  }

  async function abort(s, reason) {
    if (s.status !== "writable") {
      return;
    }
    s.stop.abort(reason);
    const { busy } = s;
    breakOff(s, reason);
    await busy;
    await begin(s.sink.abort, s.sink, reason);
  }

  class WritableStreamDefaultController {
    #s;
    constructor(s) {
      refuseUnless();
      this.#s = s;
    }
    get signal() {
      return this.#s.stop.signal;
    }
    error(err) {
      breakOff(this.#s, err);
    }
  }

  class WritableStreamDefaultWriter {
    #s;
    #over = null;
    constructor(stream) {
      const s = writable(stream);
      if (s.writer !== null) {
        throw new $TypeError("The stream is locked to a writer already.");
      }
      this.#s = s;
      s.writer = this;
    }
    #held() {
      if (this.#over !== null) {
        throw new $TypeError("This writer was released.");
      }
      return this.#s;
    }
    get closed() {
      return this.#over ?? this.#s.ended.promise;
    }
    get ready() {
      return this.#over ?? this.#s.ready.promise;
    }
    get desiredSize() {
      const s = this.#held();
      return s.status === "errored" ? null : s.status === "closed" ? 0 : s.mark - s.held;
    }
    async write(chunk) {
      return write(this.#held(), chunk);
    }
    async close() {
      return shut(this.#held());
    }
    async abort(reason) {
      return abort(this.#held(), reason);
    }
    releaseLock() {
      if (this.#over === null) {
        this.#over = quiet($Promise.reject(new $TypeError("This writer was released.")));
        this.#s.writer = null;
      }
    }
  }

  class WritableStream {
    #s;
    constructor(sink = {}, strategy = {}) {
      sink ??= {};
      const { mark, size } = measure(strategy, 1);
      const s = {
        mark, size, sink, status: "writable", error: undefined, queue: [], held: 0, writer: null, started: false, closing: null,
        busy: null, full: false, ready: later(), ended: later(), stop: new AbortController(),
      };
      this.#s = s;
      s.ready.resolve();
      renew(s);
      s.controller = make(WritableStreamDefaultController, s);
      const first = sink.start === undefined ? undefined : sink.start(s.controller);
      $Promise.resolve(first).then(
        () => {
          s.started = true;
          advance(s);
        },
        (err) => {
          s.started = true;
          breakOff(s, err);
        },
      );
    }
    static {
      writable = (stream) => {
        if (typeof stream !== "object" || stream === null || !(#s in stream)) {
          throw new $TypeError("A WritableStream is needed.");
        }
        return stream.#s;
      };
    }
    get locked() {
      return this.#s.writer !== null;
    }
    getWriter() {
      return new WritableStreamDefaultWriter(this);
    }
    async close() {
      if (this.locked) {
        throw new $TypeError("A locked stream is closed through its writer.");
      }
      return shut(this.#s);
    }
    async abort(reason) {
      if (this.locked) {
        throw new $TypeError("A locked stream is aborted through its writer.");
      }
      return abort(this.#s, reason);
    }
  }

  // ---- Joining.

  async function pipe(source, destination, { preventClose, preventAbort, preventCancel, signal }) {
    const reader = source.getReader();
    let writer;
    try {
      writer = destination.getWriter();
    } catch (err) {
      reader.releaseLock();
      throw err;
    }
    const into = writable(destination);
    let stop = nothing; // ends the wait under way
    let why = null;
    const halt = (reason) => {
      why ??= reason;
      stop(why);
    };
    const until = (promise) =>
      new $Promise((resolve, reject) => {
        if (why !== null) {
          reject(why);
          return;
        }
        stop = reject;
        promise.then(resolve, reject);
      });
    const onAbort = () => halt({ aborted: true, err: signal.reason });
    if (signal?.aborted) {
      onAbort();
    }
    signal?.addEventListener("abort", onAbort, { once: true });
    writer.closed.then(
      () => halt({ full: true, err: new $TypeError("The stream that is written to is closed.") }),
      (err) => halt({ full: true, err }),
    );
    let last = $Promise.resolve();
    try {
      for (;;) {
        await until(writer.ready);
        const next = reader.read().catch((err) => {
          throw { source: true, err };
        });
        const { value, done } = await until(next);
        if (done) {
          break;
        }
        last = quiet(writer.write(value));
      }
      await until(last);
      if (!preventClose && into.status === "writable") {
        why = null;
        await writer.close();
      }
    } catch (caught) {
      const { source: ofSource, aborted, full, err } = caught?.err !== undefined || caught?.source || caught?.full || caught?.aborted ? caught : { full: true, err: caught };
      const ends = [];
      if (!preventAbort && (ofSource || aborted)) {
        ends.push(writer.abort(err));
      }
      if (!preventCancel && (full || aborted)) {
        ends.push(reader.cancel(err));
      }
      await $Promise.allSettled(ends);
      throw err;
    } finally {
      signal?.removeEventListener("abort", onAbort);
      reader.releaseLock();
      writer.releaseLock();
    }
  }

  class TransformStreamDefaultController {
    #t;
    constructor(t) {
      refuseUnless();
      this.#t = t;
    }
    get desiredSize() {
      return this.#t.out.desiredSize;
    }
    enqueue(chunk) {
      this.#t.out.enqueue(chunk);
      this.#t.full = !wants(this.#t.state);
    }
    error(err) {
      this.#t.fail(err);
    }
    terminate() {
      this.#t.out.close();
      this.#t.fail(new $TypeError("The transformation was ended."), true);
    }
  }

  class TransformStream {
    #readable;
    #writable;
    constructor(transformer = {}, writing = {}, reading = { highWaterMark: 0 }) {
      transformer ??= {};
      const t = { out: null, into: null, full: true, wake: nothing, state: null };
      const started = later();
      t.fail = (err, keepReading = false) => {
        if (!keepReading) {
          t.out.error(err);
        }
        t.into.error(err);
        t.wake();
      };
      this.#readable = new ReadableStream(
        {
          start(controller) {
            t.out = controller;
            return started.promise;
          },
          pull() {
            t.full = false;
            t.wake();
          },
          async cancel(reason) {
            await begin(transformer.cancel, transformer, reason);
            t.into.error(reason);
            t.wake();
          },
        },
        reading,
      );
      t.state = readable(this.#readable);
      this.#writable = new WritableStream(
        {
          start(controller) {
            t.into = controller;
            return started.promise;
          },
          async write(chunk) {
            if (t.full) {
              await new $Promise((resolve) => {
                t.wake = resolve;
              });
              t.wake = nothing;
            }
            if (t.state.status === "errored") {
              throw t.state.error;
            }
            try {
              if (transformer.transform === undefined) {
                control.enqueue(chunk);
              } else {
                await transformer.transform(chunk, control);
              }
            } catch (err) {
              t.out.error(err);
              throw err;
            }
          },
          async close() {
            try {
              await begin(transformer.flush, transformer, control);
            } catch (err) {
              t.out.error(err);
              throw err;
            }
            if (t.state.status === "errored") {
              throw t.state.error;
            }
            if (!t.state.closing && t.state.status === "readable") {
              t.out.close();
            }
          },
          async abort(reason) {
            t.out.error(reason);
            t.wake();
            await begin(transformer.cancel, transformer, reason);
          },
        },
        writing,
      );
      const control = make(TransformStreamDefaultController, t);
      begin(transformer.start, transformer, control).then(started.resolve, (err) => {
        t.out.error(err);
        started.reject(err);
      });
    }
    get readable() {
      return this.#readable;
    }
    get writable() {
      return this.#writable;
    }
  }

  return {
    ReadableStream, ReadableStreamDefaultReader, ReadableStreamBYOBReader, ReadableStreamDefaultController, ReadableByteStreamController,
    WritableStream, WritableStreamDefaultWriter, WritableStreamDefaultController, TransformStream, TransformStreamDefaultController,
    ByteLengthQueuingStrategy, CountQueuingStrategy, disturbed: (stream) => readable(stream).disturbed,
  };
})

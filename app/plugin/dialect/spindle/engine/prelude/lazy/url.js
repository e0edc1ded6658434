// URL and URLSearchParams (WHATWG URL Standard). Parsing and writing are the
// worker's; these classes hold the parts.
(function ({ $String, $TypeError, host, parse, push, sort, splice, stringify }) {
  class URLSearchParams {
    #pairs = [];
    #url;

    constructor(init = "") {
      if (typeof init === "object" && init !== null) {
        if (init instanceof URLSearchParams) {
          for (let i = 0; i < init.#pairs.length; i++) {
            push(this.#pairs, [init.#pairs[i][0], init.#pairs[i][1]]);
          }
        } else if (typeof init[Symbol.iterator] === "function") {
          for (const pair of init) {
            const both = [...pair];
            if (both.length !== 2) {
              throw new $TypeError("Each pair of URLSearchParams needs a name and a value.");
            }
            push(this.#pairs, [$String(both[0]), $String(both[1])]);
          }
        } else {
          for (const name of Object.keys(init)) {
            push(this.#pairs, [name, $String(init[name])]);
          }
        }
        return;
      }
      const text = $String(init);
      this.#pairs = parse(host("query.parse", text[0] === "?" ? text.slice(1) : text));
    }
    static of(url, query) {
      const params = new URLSearchParams();
      params.#url = url;
      params.#pairs = parse(host("query.parse", query));
      return params;
    }
    static reset(params, query) {
      params.#pairs = parse(host("query.parse", query));
    }
    #changed() {
      this.#url?.(this.toString());
    }
    get size() {
      return this.#pairs.length;
    }
    append(name, value) {
      push(this.#pairs, [$String(name), $String(value)]);
      this.#changed();
    }
    delete(name, value) {
      this.#pairs = this.#pairs.filter(([n, v]) => n !== $String(name) || (value !== undefined && v !== $String(value)));
      this.#changed();
    }
    get(name) {
      return this.#pairs.find(([n]) => n === $String(name))?.[1] ?? null;
    }
    getAll(name) {
      return this.#pairs.filter(([n]) => n === $String(name)).map(([, v]) => v);
    }
    has(name, value) {
      return this.#pairs.some(([n, v]) => n === $String(name) && (value === undefined || v === $String(value)));
    }
    set(name, value) {
      const at = this.#pairs.findIndex(([n]) => n === $String(name));
      if (at < 0) {
        push(this.#pairs, [$String(name), $String(value)]);
      } else {
        this.#pairs[at][1] = $String(value);
        for (let i = this.#pairs.length - 1; i > at; i--) {
          if (this.#pairs[i][0] === $String(name)) {
            splice(this.#pairs, i, 1);
          }
        }
      }
      this.#changed();
    }
    sort() {
      sort(this.#pairs, ([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
      this.#changed();
    }
    forEach(visit, self) {
      for (const [name, value] of this) {
        visit.call(self, value, name, this);
      }
    }
    *entries() {
      for (let i = 0; i < this.#pairs.length; i++) {
        yield [this.#pairs[i][0], this.#pairs[i][1]];
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
    toString() {
      return host("query.write", stringify(this.#pairs));
    }
  }
  const paramsOf = URLSearchParams.of;
  const resetParams = URLSearchParams.reset;
  delete URLSearchParams.of;
  delete URLSearchParams.reset;

  /** read returns the parts of an address, or null. */
  function read(input, base) {
    const parts = host("url.parse", stringify(base === undefined ? [$String(input)] : [$String(input), $String(base)]));
    return parts === "" ? null : parse(parts);
  }

  class URL {
    #parts;
    #params;

    constructor(input, base) {
      const parts = read(input, base);
      if (parts === null) {
        const err = new $TypeError(`Invalid URL: ${$String(input)}`);
        err.code = "ERR_INVALID_URL";
        throw err;
      }
      this.#parts = parts;
    }
    static canParse(input, base) {
      return read(input, base) !== null;
    }
    static parse(input, base) {
      return URL.canParse(input, base) ? new URL(input, base) : null;
    }
    static change(url, part, value) {
      const parts = host("url.set", stringify([url.#parts.href, part, $String(value)]));
      if (parts === "") {
        if (part === "href") {
          throw new $TypeError(`Invalid URL: ${$String(value)}`);
        }
        return;
      }
      url.#parts = parse(parts);
      if (url.#params !== undefined && part !== "params") {
        resetParams(url.#params, url.#parts.search.slice(1));
      }
    }
    static part(url, name) {
      return url.#parts[name];
    }
    get searchParams() {
      this.#params ??= paramsOf((query) => change(this, "params", query), this.#parts.search.slice(1));
      return this.#params;
    }
    get origin() {
      return this.#parts.origin;
    }
    toString() {
      return this.#parts.href;
    }
    toJSON() {
      return this.#parts.href;
    }
  }
  const change = URL.change;
  const part = URL.part;
  delete URL.change;
  delete URL.part;

  for (const name of ["href", "protocol", "username", "password", "host", "hostname", "port", "pathname", "search", "hash"]) {
    Object.defineProperty(URL.prototype, name, {
      get() {
        return part(this, name);
      },
      set(value) {
        change(this, name, value);
      },
      enumerable: true,
      configurable: true,
    });
  }

  return { URL, URLSearchParams };
})

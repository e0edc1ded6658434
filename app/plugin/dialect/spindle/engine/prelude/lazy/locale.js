// Intl, and String.prototype.localeCompare. Dates and numbers are formatted by
// the worker (English only); what is here in JavaScript knows English alone too.
(function ({ $Date, $Number, $RangeError, $String, $TypeError, $global, deleteProperty, host }) {
  deleteProperty($global, "Intl"); // the getter that led here
  host("intl");
  const { Intl } = $global;

  // ---- Comparing: letters first, then accents, then case, as a person sorts.

  const marks = /\p{M}+/gu;
  const digits = /\d+/g;
  const ascii = /^[\x20-\x7e]*$/;

  /** rank orders characters as the Unicode collation does: space, punctuation, signs, digits, letters. */
  const order = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789";
  const ranks = new Map([...` ${order}`].map((c, i) => [c, i]));
  function rank(c) {
    const known = ranks.get(c);
    return known === undefined ? 100 + c.codePointAt(0) : known;
  }

  const stretched = { ß: "ss", æ: "ae", œ: "oe", ø: "o", đ: "d", ł: "l", ħ: "h", ı: "i", þ: "th", ð: "d" };
  const base = (text) => {
    const low = text.toLowerCase();
    return ascii.test(low) ? low : low.normalize("NFD").replace(marks, "").replace(/[ßæœøđłħıþð]/g, (c) => stretched[c]);
  };

  function byRank(a, b) {
    const n = a.length < b.length ? a.length : b.length;
    for (let i = 0; i < n; i++) {
      if (a[i] !== b[i]) {
        return rank(a[i]) < rank(b[i]) ? -1 : 1;
      }
    }
    return a.length === b.length ? 0 : a.length < b.length ? -1 : 1;
  }

  /** numbered compares text in which runs of digits count as numbers. */
  function numbered(a, b) {
    const left = a.match(digits) ?? [];
    const right = b.match(digits) ?? [];
    const restA = a.split(digits);
    const restB = b.split(digits);
    for (let i = 0; i < restA.length || i < restB.length; i++) {
      const words = byRank(restA[i] ?? "", restB[i] ?? "");
      const both = i < left.length && i < right.length;
      if (words !== 0 && !(both && (restA[i] === "") !== (restB[i] === ""))) {
        return words;
      }
      if (words !== 0) {
        return restA[i] === "" ? -1 : 1;
      }
      if (!both) {
        return left.length === right.length ? 0 : i >= left.length ? -1 : 1;
      }
      const x = BigInt(left[i]);
      const y = BigInt(right[i]);
      if (x !== y) {
        return x < y ? -1 : 1;
      }
    }
    return 0;
  }

  function collate(a, b, o) {
    if (a === b) {
      return 0;
    }
    const first = o.numeric ? numbered(base(a), base(b)) : byRank(base(a), base(b));
    if (first !== 0 || o.sensitivity === "base") {
      return first;
    }
    if (o.sensitivity !== "case" && !(ascii.test(a) && ascii.test(b))) {
      const [x, y] = [a.toLowerCase().normalize("NFD"), b.toLowerCase().normalize("NFD")];
      if (x !== y) {
        return x < y ? -1 : 1;
      }
    }
    if (o.sensitivity === "accent") {
      return 0;
    }
    for (let i = 0; i < a.length && i < b.length; i++) {
      if (a[i] !== b[i]) {
        const lower = a[i] === a[i].toLowerCase();
        if (lower !== (b[i] === b[i].toLowerCase())) {
          return lower === (o.caseFirst !== "upper") ? -1 : 1;
        }
      }
    }
    return 0;
  }

  const supported = (locales) => (typeof locales === "string" ? [locales] : [...(locales ?? [])]).filter((l) => /^en\b/i.test(l));

  function pick(options, name, allowed, otherwise) {
    const value = options[name];
    if (value === undefined) {
      return otherwise;
    }
    const text = $String(value);
    if (!allowed.includes(text)) {
      throw new $RangeError(`Value ${text} is out of range for the option ${name}.`);
    }
    return text;
  }

  function collation(options = {}) {
    return {
      usage: pick(options, "usage", ["sort", "search"], "sort"),
      sensitivity: pick(options, "sensitivity", ["base", "accent", "case", "variant"], "variant"),
      numeric: Boolean(options.numeric ?? false),
      caseFirst: pick(options, "caseFirst", ["upper", "lower", "false"], "false"),
      ignorePunctuation: Boolean(options.ignorePunctuation ?? false),
    };
  }

  const named = (constructor, name) => Object.defineProperty(constructor.prototype, Symbol.toStringTag, { value: `Intl.${name}`, configurable: true });

  class Collator {
    #options;
    #compare;
    constructor(locales, options) {
      this.#options = collation(options);
    }
    get compare() {
      const strip = (text) => (this.#options.ignorePunctuation ? $String(text).replace(/[\p{P}\s]+/gu, "") : $String(text));
      this.#compare ??= (a, b) => collate(strip(a), strip(b), this.#options);
      return this.#compare;
    }
    resolvedOptions() {
      return { locale: "en-US", collation: "default", ...this.#options };
    }
    static supportedLocalesOf(locales) {
      return supported(locales);
    }
  }
  named(Collator, "Collator");

  const plain = collation();
  function compare(text, other, locales, options) {
    if (text === undefined || text === null) {
      throw new $TypeError("localeCompare needs a text.");
    }
    return collate($String(text), $String(other), options === undefined ? plain : collation(options));
  }

  // ---- English words.

  class PluralRules {
    #type;
    constructor(locales, options = {}) {
      this.#type = pick(options, "type", ["cardinal", "ordinal"], "cardinal");
    }
    select(value) {
      const n = $Number(value);
      if (this.#type === "cardinal") {
        return n === 1 ? "one" : "other";
      }
      const [tens, ones] = [n % 100, n % 10];
      return ones === 1 && tens !== 11 ? "one" : ones === 2 && tens !== 12 ? "two" : ones === 3 && tens !== 13 ? "few" : "other";
    }
    resolvedOptions() {
      return { locale: "en-US", type: this.#type, pluralCategories: this.#type === "cardinal" ? ["one", "other"] : ["few", "one", "two", "other"] };
    }
    static supportedLocalesOf(locales) {
      return supported(locales);
    }
  }
  named(PluralRules, "PluralRules");

  class ListFormat {
    #word;
    #style;
    #type;
    constructor(locales, options = {}) {
      this.#type = pick(options, "type", ["conjunction", "disjunction", "unit"], "conjunction");
      this.#style = pick(options, "style", ["long", "short", "narrow"], "long");
      this.#word = this.#type === "unit" ? "" : this.#type === "disjunction" ? "or" : this.#style === "long" ? "and" : this.#style === "short" ? "&" : "";
    }
    format(list) {
      return this.formatToParts(list).map((p) => p.value).join("");
    }
    formatToParts(list) {
      const items = [...list].map((value) => {
        if (typeof value !== "string") {
          throw new $TypeError("ListFormat lists texts.");
        }
        return value;
      });
      const gap = this.#type === "unit" && this.#style === "narrow" ? " " : ", ";
      const word = this.#word === "" ? "" : `${this.#word} `;
      return items.flatMap((value, i) => {
        const last = i === items.length - 1;
        const between = items.length === 2 && word !== "" ? ` ${word}` : last ? gap + word : gap;
        return i === 0 ? [{ type: "element", value }] : [{ type: "literal", value: between }, { type: "element", value }];
      });
    }
    resolvedOptions() {
      return { locale: "en-US", type: this.#type, style: this.#style };
    }
    static supportedLocalesOf(locales) {
      return supported(locales);
    }
  }
  named(ListFormat, "ListFormat");

  const units = ["second", "minute", "hour", "day", "week", "month", "quarter", "year"];
  const nearby = {
    second: { 0: "now" }, minute: { 0: "this minute" }, hour: { 0: "this hour" },
    day: { "-1": "yesterday", 0: "today", 1: "tomorrow" }, week: { "-1": "last week", 0: "this week", 1: "next week" },
    month: { "-1": "last month", 0: "this month", 1: "next month" }, quarter: { "-1": "last quarter", 0: "this quarter", 1: "next quarter" },
    year: { "-1": "last year", 0: "this year", 1: "next year" },
  };
  const short = { second: "sec.", minute: "min.", hour: "hr.", week: "wk.", month: "mo.", year: "yr." };

  class RelativeTimeFormat {
    #numeric;
    #style;
    #number;
    constructor(locales, options = {}) {
      this.#numeric = pick(options, "numeric", ["always", "auto"], "always");
      this.#style = pick(options, "style", ["long", "short", "narrow"], "long");
      this.#number = new Intl.NumberFormat("en-US");
    }
    format(value, unit) {
      const n = $Number(value);
      const name = $String(unit).replace(/s$/, "");
      if (!units.includes(name) || !$Number.isFinite(n)) {
        throw new $RangeError(`${value} ${unit} is no span of time.`);
      }
      if (this.#numeric === "auto" && nearby[name][n] !== undefined) {
        return nearby[name][n];
      }
      const size = Math.abs(n);
      const word = this.#style !== "long" && short[name] !== undefined ? short[name] : size === 1 ? name : `${name}s`;
      const text = `${this.#number.format(size)} ${word}`;
      return n < 0 || Object.is(n, -0) ? `${text} ago` : `in ${text}`;
    }
    formatToParts(value, unit) {
      return [{ type: "literal", value: this.format(value, unit) }];
    }
    resolvedOptions() {
      return { locale: "en-US", numeric: this.#numeric, style: this.#style, numberingSystem: "latn" };
    }
    static supportedLocalesOf(locales) {
      return supported(locales);
    }
  }
  named(RelativeTimeFormat, "RelativeTimeFormat");

  // A character as a person sees it: with its marks, joined or coloured, flags in pairs.
  const pictures = /\p{RI}\p{RI}|\p{Emoji}(?:\p{EMod}|\uFE0F\u20E3?|[\u{E0020}-\u{E007E}]+\u{E007F})?(?:\u200D\p{Emoji}(?:\p{EMod}|\uFE0F\u20E3?)?)*|\r\n|\P{M}\p{M}*|\p{M}+/gsu;
  const words = /[\p{L}\p{N}_][\p{L}\p{M}\p{N}_]*(?:['’.][\p{L}\p{N}_][\p{L}\p{M}\p{N}_]*)*|\s+|[^]/gu;
  const sentences = /[^.!?]*[.!?]+["')\]]*\s*|[^.!?]+$/g;

  class Segmenter {
    #granularity;
    constructor(locales, options = {}) {
      this.#granularity = pick(options, "granularity", ["grapheme", "word", "sentence"], "grapheme");
    }
    segment(input) {
      const text = $String(input);
      const granularity = this.#granularity;
      const rule = { grapheme: pictures, word: words, sentence: sentences }[granularity];
      const all = function* () {
        for (const found of text.matchAll(rule)) {
          const piece = { segment: found[0], index: found.index, input: text };
          if (granularity === "word") {
            piece.isWordLike = /[\p{L}\p{N}]/u.test(found[0]);
          }
          yield piece;
        }
      };
      return {
        [Symbol.iterator]: all,
        containing(at = 0) {
          for (const piece of all()) {
            if (at >= piece.index && at < piece.index + piece.segment.length) {
              return piece;
            }
          }
          return undefined;
        },
      };
    }
    resolvedOptions() {
      return { locale: "en-US", granularity: this.#granularity };
    }
    static supportedLocalesOf(locales) {
      return supported(locales);
    }
  }
  named(Segmenter, "Segmenter");

  for (const [name, value] of Object.entries({ Collator, PluralRules, ListFormat, RelativeTimeFormat, Segmenter })) {
    if (Intl[name] === undefined) {
      Object.defineProperty(Intl, name, { value, writable: true, enumerable: false, configurable: true });
    }
  }

  const methods = {
    number: { toLocaleString: $Number.prototype.toLocaleString },
    bigint: { toLocaleString: BigInt.prototype.toLocaleString },
    date: {
      toLocaleString: $Date.prototype.toLocaleString,
      toLocaleDateString: $Date.prototype.toLocaleDateString,
      toLocaleTimeString: $Date.prototype.toLocaleTimeString,
    },
    string: {
      localeCompare(other, locales, options) {
        return compare(this, other, locales, options);
      },
    },
  };
  return { Intl, methods };
})

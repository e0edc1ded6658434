// What tests look for, in English, found on a page of another language too: its words are looked up in the
// texts of the page (src/messages).
import { texts } from "../messages.js";

const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The texts of English with those of another language: their words, and an expression in which values are anything. */
function pairs(language) {
  const pattern = (tokens) =>
    tokens.map((t) => (t.type === "content" ? escaped(t.value) : t.type === "octothorpe" ? "\\d+" : ".*")).join("");
  const begin = (tokens) => (tokens[0]?.type === "content" ? tokens[0].value : "");
  const own = new Map(texts(language).map((t) => [t.path, t]));
  return texts("en").flatMap(({ path, value, tokens }) => {
    const to = own.get(path);
    if (typeof value !== "string" || typeof to?.value !== "string") return [];
    const plain = tokens.every((t) => t.type === "content");
    return [{ value, plain, begin: begin(tokens), from: pattern(tokens), to: pattern(to.tokens), words: to.value }];
  });
}

/** Returns the expression that finds words, or what an expression finds, in English and in a language. */
function translator(language) {
  const all = pairs(language);
  return (words, exact) => {
    const found = new Set();
    if (words instanceof RegExp) {
      const head = words.source.replace(/^\^/, "").match(/^[\w ’…]*/)[0];
      for (const { value, plain, begin, to } of all)
        if (words.test(value) || (!plain && begin.length > 4 && head.startsWith(begin))) found.add(to);
      return new RegExp([words.source, ...found].join("|"), words.flags);
    }
    const low = words.toLowerCase();
    for (const { value, plain, from, to, begin } of all)
      if (plain ? value.toLowerCase() === low : begin.length > 4 && new RegExp(`^${from}$`).test(words))
        found.add(`^${to}$`);
    if (!exact && found.size === 0 && low.length > 3)
      for (const { value, to } of all) if (value.toLowerCase().includes(low)) found.add(to);
    return new RegExp([exact ? `^${escaped(words)}$` : escaped(words), ...found].join("|"), exact ? "" : "i");
  };
}

let now = (words) => words;
let command = (words) => words;

/** Says in which language the pages are from here on. */
export function speak(language) {
  const english = language === "en";
  now = english ? (words) => words : translator(language);
  const commands = english ? [] : pairs(language);
  command = (words) =>
    /\w \w/.test(words)
      ? (commands.find((c) => c.plain && c.value.toLowerCase().includes(words.toLowerCase()))?.words ?? words)
      : words;
}

/** Makes a page, and whatever is found in it, look for words in the language that is spoken. */
export function understand(page) {
  for (const finder of [page.constructor.prototype, page.locator("x").constructor.prototype]) {
    if (finder.understands) continue;
    finder.understands = true;
    for (const name of ["getByText", "getByLabel", "getByPlaceholder"]) {
      const find = finder[name];
      finder[name] = function (words, options) {
        return find.call(this, now(words, options?.exact), options);
      };
    }
    const { getByRole, locator } = finder;
    finder.getByRole = function (role, options) {
      return getByRole.call(
        this,
        role,
        options?.name ? { ...options, name: now(options.name, options.exact) } : options,
      );
    };
    finder.locator = function (at, options) {
      return locator.call(this, at, options?.hasText ? { ...options, hasText: now(options.hasText) } : options);
    };
  }
  const { keyboard } = page;
  const type = keyboard.type.bind(keyboard);
  keyboard.type = (words, options) => type(command(words), options);
}

/**
 * The texts of the window: src/messages/LANGUAGE.json, in ICU MessageFormat. A vite plugin makes a module of
 * each; English also makes the type that the page and the other languages are checked by.
 *
 * “@name” in a file is not a text: it is a note for translators about the text or the group of that name. A
 * text with several parameters needs their order there, since a call gives them by position:
 * { "args": "at, all", "note": "…" }. An empty string selects the case “none”.
 */
import { parse } from "@messageformat/parser";
import * as categories from "make-plural/pluralCategories";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = new URL("src/messages/", import.meta.url);

/** The languages that have a file. */
export const languages = readdirSync(folder).flatMap((file) => (file.endsWith(".json") ? [file.slice(0, -5)] : []));

/** The file of a language, as it is. */
export function read(language) {
  return JSON.parse(readFileSync(new URL(`${language}.json`, folder), "utf8"));
}

const isGroup = (value) => typeof value === "object" && !Array.isArray(value);
const key = (name) => (/^[a-z_]\w*$/i.test(name) ? name : JSON.stringify(name));

/** Every text of a file, by its path, with its parameters in order and their types. */
export function texts(language, file = read(language), path = []) {
  return Object.entries(file).flatMap(([name, value]) => {
    if (name.startsWith("@")) return [];
    const at = [...path, name];
    if (isGroup(value)) return texts(language, value, at);
    const note = file[`@${name}`] ?? "";
    return [{ path: at.join("."), value, note: note.note ?? note, ...parameters(language, value, note.args, at) }];
  });
}

function parameters(language, value, order, path) {
  const types = new Map();
  const walk = (tokens) => {
    for (const token of tokens) {
      if (token.type === "function" && token.key !== "number") fail(language, path, `{…, ${token.key}}`);
      if (token.arg) {
        const type = token.type === "argument" ? "string | number" : token.type === "select" ? "string" : "number";
        if (types.get(token.arg) !== "number") types.set(token.arg, type);
      }
      for (const { tokens } of token.cases ?? []) walk(tokens);
    }
  };
  const tokens = Array.isArray(value) ? [] : tokensOf(language, value, path);
  walk(tokens);
  const args = order?.split(", ").filter(Boolean) ?? [...types.keys()];
  if (language === "en" && !order && args.length > 1)
    fail(language, path, `the order of ${args} is missing: "@${path.at(-1)}"`);
  if (args.length < types.size || args.some((arg) => !types.has(arg)))
    fail(language, path, `its parameters are not ${args}: ${value}`);
  return { tokens, args, types: args.map((arg) => types.get(arg)) };
}

function tokensOf(language, text, path) {
  try {
    return parse(text, categories[language]);
  } catch (cause) {
    return fail(language, path, cause.message);
  }
}

function fail(language, path, why) {
  throw new Error(`src/messages/${language}.json: ${path.join(".")}: ${why}`);
}

/** The module of a language. What it lacks, the page has in English. */
export function compile(language, english = read("en"), file = read(language)) {
  const group = (en, own, path) =>
    Object.keys(en).flatMap((name) => {
      if (name.startsWith("@")) return [];
      const at = [...path, name];
      if (isGroup(en[name])) return [`${key(name)}: {\n${group(en[name], own[name] ?? {}, at).join("")}},\n`];
      const value = own[name] ?? en[name];
      const { args } = parameters("en", en[name], en[`@${name}`]?.args, at);
      const { tokens } = parameters(name in own ? language : "en", value, args.join(", "), at);
      const text = Array.isArray(value) ? JSON.stringify(value) : joined(tokens);
      return [`${key(name)}: ${args.length ? `(${args.join(", ")}) => ` : ""}${text},\n`];
    });
  return `import { ${language} as kind } from "make-plural/cardinals";
import { whole } from ${JSON.stringify(fileURLToPath(new URL("src/lib/strings.ts", import.meta.url)))};
export default {\n${group(english, file, []).join("")}};\n`;
}

/** An expression for a text; what “#” stands for is the innermost plural's argument. */
function joined(tokens, counted = "") {
  const part = (token) => {
    if (token.type === "content") return JSON.stringify(token.value);
    if (token.type === "octothorpe") return `whole(${counted})`;
    if (token.type === "argument") return token.arg;
    if (token.type === "function") return `whole(${token.arg})`;
    const number = token.type !== "select";
    const other = token.cases.find((one) => one.key === "other");
    return `(${token.cases
      .filter((one) => one !== other)
      .map((one) => `${test(token, one.key)} ? ${joined(one.tokens, number ? token.arg : counted)} : `)
      .join("")}${joined(other.tokens, number ? token.arg : counted)})`;
  };
  return tokens.length === 1 && tokens[0].type === "content"
    ? part(tokens[0])
    : ['""', ...tokens.map(part)].join(" + ");
}

function test(token, value) {
  if (token.type === "select") return `${token.arg} === ${JSON.stringify(value === "none" ? "" : value)}`;
  return value.startsWith("=")
    ? `${token.arg} === ${value.slice(1)}`
    : `kind(${token.arg}) === ${JSON.stringify(value)}`;
}

/** Writes the type of English, which the page's code is checked against. */
export function writeTypes() {
  const types = new Map(texts("en").map((one) => [one.path, one]));
  const group = (file, path) =>
    Object.entries(file).flatMap(([name, value]) => {
      if (name.startsWith("@")) return [];
      const at = [...path, name];
      const note = file[`@${name}`];
      const doc = typeof note === "string" ? note : note?.note;
      const comment = doc ? `/** ${doc} */\n` : "";
      if (isGroup(value)) return [`${comment}${key(name)}: {\n${group(value, at).join("")}};\n`];
      const { args, types: of } = types.get(at.join("."));
      const type = Array.isArray(value) ? "string[]" : "string";
      const call = args.length ? `(${args.map((arg, i) => `${arg}: ${of[i]}`).join(", ")}) => ` : "";
      return [`${comment}${key(name)}: ${call}${type};\n`];
    });
  const file = new URL("messages.d.ts", folder);
  const text = `// Made by messages.js from en.json.
export interface Messages {\n${group(read("en"), []).join("")}}\n`;
  let old = "";
  try {
    old = readFileSync(file, "utf8");
  } catch {
    // There is none yet.
  }
  if (text !== old) writeFileSync(file, text);
}

/** The vite plugin: “messages:zh” is the module of src/messages/zh.json. */
export const messages = {
  name: "messages",
  resolveId: (id) => (id.startsWith("messages:") ? `\0${id}` : null),
  load(id) {
    if (!id.startsWith("\0messages:")) return null;
    const language = id.slice("\0messages:".length);
    for (const file of ["en", language]) this.addWatchFile(new URL(`${file}.json`, folder).pathname);
    return compile(language);
  },
};

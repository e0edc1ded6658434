// @vitest-environment node
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { compile, languages, read, texts } from "../../messages.js";

const english = texts("en");
const byPath = new Map(english.map((text) => [text.path, text]));

/** All code of the page that can use a text. */
const code = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((file) => /\.(ts|svelte)$/.test(file) && !file.startsWith("messages"))
  .map((file) => readFileSync(join("src", file), "utf8"))
  .join("\n");

/** What code names after “s.”: a text, or a group whose texts it chooses from. */
const named = new Set(
  [...code.matchAll(/\bs((?:\s*\??\.\w+)+)/g)].map((use) => use[1]?.replace(/[?\s]/g, "").slice(1)),
);

it("every text is used", () => {
  const unused = english.filter(({ path }) => {
    const parts = path.split(".");
    return !parts.some((_, i) => named.has(parts.slice(0, i + 1).join(".")));
  });
  expect(unused.map((text) => text.path)).toEqual([]);
});

it("each note for translators is about a text or a group that there is", () => {
  const lost = (file: object, path = ""): string[] =>
    Object.entries(file).flatMap(([name, value]) => {
      if (name.startsWith("@")) return name.slice(1) in file ? [] : [path + name];
      return typeof value === "object" && !Array.isArray(value) ? lost(value, `${path}${name}.`) : [];
    });
  expect(lost(read("en"))).toEqual([]);
});

describe.each(languages.filter((language) => language !== "en"))("%s", (language) => {
  const own = texts(language);

  it("has every text, and no other", () => {
    expect(own.map((text) => text.path).sort()).toEqual(english.map((text) => text.path).sort());
  });

  it("has the same parameters in each text, and lists of the same length", () => {
    const differ = own.filter(({ path, value, args }) => {
      const en = byPath.get(path);
      const length = Array.isArray(value) ? value.length : 0;
      return Array.isArray(en?.value) ? en.value.length !== length : `${en?.args.toSorted()}` !== `${args.toSorted()}`;
    });
    expect(differ.map((text) => text.path)).toEqual([]);
  });

  it("is a module that shows the texts it lacks in English", () => {
    expect(compile(language)).toContain(`import { ${language} as kind }`);
    const lacking = compile(language, read("en"), { app: {} });
    expect(lacking).toContain('failed: "The window could not start."');
  });
});

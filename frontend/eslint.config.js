import js from "@eslint/js";
import prettier from "eslint-config-prettier";
import svelte from "eslint-plugin-svelte";
import globals from "globals";
import ts from "typescript-eslint";

export default ts.config(
  {
    ignores: [
      "dist",
      "dist-fake",
      "wailsjs",
      "node_modules",
      "bench/node_modules",
      "bench/dist",
      "src/messages/messages.d.ts",
    ],
  },
  js.configs.recommended,
  ...ts.configs.strict,
  ...svelte.configs.recommended,
  prettier,
  ...svelte.configs.prettier,
  { languageOptions: { globals: { ...globals.browser, ...globals.node } } },
  {
    files: ["**/*.svelte", "**/*.svelte.ts"],
    // svelte.config.js names the files of the page by a function, which the cache of results cannot store.
    languageOptions: { parserOptions: { parser: ts.parser, svelteConfig: { compilerOptions: { runes: true } } } },
  },
  {
    rules: {
      // What a screen shows is reactive by hand; bookkeeping that no screen shows is a plain Set or Map.
      "svelte/prefer-svelte-reactivity": "off",
      // TypeScript knows what is defined.
      "no-undef": "off",
      // An argument that a signature demands is named with a leading underscore.
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
    },
  },
);

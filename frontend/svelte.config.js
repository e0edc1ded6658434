import { writeTypes } from "./messages.js";
import { vitePreprocess } from "@sveltejs/vite-plugin-svelte";

// The type of the texts is made here, since everything that checks the page reads this file.
writeTypes();

export default {
  preprocess: vitePreprocess(),
  // Runes only, so that there is one way to hold state. Libraries decide for themselves.
  compilerOptions: {
    runes: ({ filename }) => (filename.includes("node_modules") ? undefined : true),
  },
};

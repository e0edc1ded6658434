import { vitePreprocess } from "@sveltejs/vite-plugin-svelte";

export default {
  preprocess: vitePreprocess(),
  // Runes only, so that there is one way to hold state. Libraries decide for themselves.
  compilerOptions: {
    runes: ({ filename }) => (filename.includes("node_modules") ? undefined : true),
  },
};

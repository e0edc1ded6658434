/// <reference path="./spindle.d.ts" />
// NAME: what this plugin is for, in a sentence.
//
// Types are stripped when the file is loaded; nothing needs to be installed or
// built. Save the file: the tool is there at once.

interface Greet {
  name: string;
}

SHARED

spindle.on<Greet>("TOOL_INVOCATION", async ({ toolName, args }) => {
  if (toolName !== "greet") return undefined;
  return `Hello, ${args.name ?? "everybody"}!`;
});

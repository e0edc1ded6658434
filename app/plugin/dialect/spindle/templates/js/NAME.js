// @ts-check
/// <reference path="./spindle.d.ts" />
// NAME: what this plugin is for, in a sentence.
//
// registerTool tells models of a tool; the TOOL_INVOCATION handler answers its
// calls. Save the file: the tool is there at once.

SHARED

spindle.on("TOOL_INVOCATION", async ({ toolName, args }) => {
  if (toolName !== "greet") return undefined;
  return `Hello, ${args.name ?? "everybody"}!`;
});

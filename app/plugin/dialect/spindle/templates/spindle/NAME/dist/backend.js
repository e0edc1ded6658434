// @ts-check
/// <reference path="../spindle.d.ts" />
// NAME: what this plugin is for, in a sentence.
//
// registerTool tells models of a tool; the TOOL_INVOCATION handler answers its
// calls. Save the file: the tool is there at once.

spindle.registerTool({
  name: "greet",
  display_name: "Greet",
  description: "Greet somebody by name.",
  parameters: {
    type: "object",
    properties: {
      name: { type: "string", description: "Whom to greet." },
    },
    required: ["name"],
  },
  inline_available: true, // models are offered it
  council_eligible: true, // council members can be given it
});

spindle.on("TOOL_INVOCATION", async ({ toolName, args }) => {
  if (toolName !== "greet") return undefined;
  return `Hello, ${args.name ?? "everybody"}!`;
});

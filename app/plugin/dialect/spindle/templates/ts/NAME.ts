/// <reference path="./spindle.d.ts" />
// NAME: what this plugin is for, in a sentence.
//
// Types are stripped when the file is loaded; nothing needs to be installed or
// built. Save the file: the tool is there at once.

interface Greet {
  name: string;
}

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

spindle.on<Greet>("TOOL_INVOCATION", async ({ toolName, args }) => {
  if (toolName !== "greet") return undefined;
  return `Hello, ${args.name ?? "everybody"}!`;
});

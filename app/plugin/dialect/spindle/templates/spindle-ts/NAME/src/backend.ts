/// <reference path="../spindle.d.ts" />
// NAME: what this plugin is for, in a sentence.
//
// Without a dist/backend.js this file is what runs: types are stripped and its
// imports followed when it is loaded, and nothing needs to be installed or built.

import { greeting, type Greet } from "./greeting";

spindle.registerTool({
  name: "greet",
  display_name: "Greet",
  description: "Greet somebody by name.",
  parameters: {
    type: "object",
    properties: {
      name: { type: "string", description: "Whom to greet." },
      when: { type: "string", enum: ["morning", "evening"], description: "The time of the day." },
    },
    required: ["name"],
  },
  inline_available: true, // models are offered it
  council_eligible: true, // council members can be given it
});

spindle.on<Greet>("TOOL_INVOCATION", async ({ toolName, args }) => {
  if (toolName !== "greet") return undefined;
  return greeting(args);
});

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

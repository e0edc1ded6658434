// An MCP server without any library. Any program that speaks MCP can start it: node server.mjs
import { createInterface } from "node:readline";

// The tools: what a model reads about each, the JSON Schema of its arguments, and what it does.
const tools = {
  count_words: {
    description: "Count the words and characters of a text.",
    inputSchema: {
      type: "object",
      properties: { text: { type: "string", description: "The text to count in." } },
      required: ["text"],
    },
    annotations: { readOnlyHint: true },
    run: async ({ text }) => `${text.split(/\s+/).filter(Boolean).length} words, ${text.length} characters`,
  },
};

const versions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

class Refused extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}

async function call({ name, arguments: given = {} }) {
  if (!Object.hasOwn(tools, name)) throw new Refused(-32602, `Unknown tool: ${name}`);
  try {
    return { content: [{ type: "text", text: String(await tools[name].run(given)) }] };
  } catch (error) {
    // the model reads it, and may try again
    return { content: [{ type: "text", text: error.message }], isError: true };
  }
}

async function answer(method, params) {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: versions.includes(params.protocolVersion) ? params.protocolVersion : versions[0],
        capabilities: { tools: {} },
        serverInfo: { name: "NAME", version: "0.1.0" },
      };
    case "ping":
      return {};
    case "tools/list":
      return { tools: Object.entries(tools).map(([name, { run, ...tool }]) => ({ name, ...tool })) };
    case "tools/call":
      return call(params);
  }
  throw new Refused(-32601, `Method not found: ${method}`);
}

// One message is one line. Standard output is for messages alone: console.error what you want to see.
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined || method === undefined) continue; // a notification, or an answer that nobody waits for
  answer(method, params)
    .then((result) => ({ result }))
    .catch((error) => ({ error: { code: error.code ?? -32603, message: error.message } }))
    .then((reply) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...reply }) + "\n"));
}

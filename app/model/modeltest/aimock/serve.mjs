// Starts aimock with the answers that modeltest asks for, prints its address as the
// first line, and ends with its standard input.
import { LLMock } from "@copilotkit/aimock";

const usage = { prompt_tokens: 11, completion_tokens: 5, input_tokens: 11, output_tokens: 5, promptTokenCount: 11, candidatesTokenCount: 5 };
const mock = new LLMock({ port: 0, host: "127.0.0.1", logLevel: "silent", chunkSize: 7 });

mock.addFixtures([
  { match: { hasToolResult: true, userMessage: "one tool" }, response: { content: "The tool said it is sunny.", usage } },
  { match: { userMessage: "greet me" }, response: { content: "Hello from another server. Grüße 👋", usage } },
  { match: { userMessage: "think first" }, response: { content: "The answer is 42.", reasoning: "Six times seven.", usage } },
  { match: { userMessage: "one tool" }, response: { toolCalls: [{ name: "get_weather", arguments: '{"city":"Oslo","days":3}' }], usage } },
  {
    match: { userMessage: "two tools" },
    response: {
      toolCalls: [
        { name: "get_weather", arguments: '{"city":"Oslo"}' },
        { name: "word_count", arguments: '{"text":"a \\"b\\" c"}' },
      ],
      usage,
    },
  },
  { match: { userMessage: "be busy" }, response: { error: { message: "Slow down.", type: "rate_limit_error", code: "rate_limit_exceeded" }, status: 429, retryAfter: 7 } },
  { match: { userMessage: "refuse my key" }, response: { error: { message: "Incorrect API key provided.", type: "authentication_error", code: "invalid_api_key" }, status: 401 } },
  { match: { userMessage: "be overloaded" }, response: { error: { message: "Overloaded.", type: "overloaded_error" }, status: 503 } },
  { match: { userMessage: "break off" }, response: { content: "This answer never gets to its end because the line breaks." }, chunkSize: 4, truncateAfterChunks: 3 },
]);

console.log(await mock.start());
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));

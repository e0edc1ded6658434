// A model server that does what a test says: OpenAI's wire on loopback, with one key that fits.
import { createServer as createHTTP } from "node:http";
import { createServer as createTCP } from "node:net";

/** The key that the server takes. */
export const rightKey = "sk-right-0123456789abcdef";
/** A model's name as long as they come. */
export const longName = `org/${"a-very-long-model-name-".repeat(4)}`.slice(0, 90);

/** The beginning, a piece and the end of an answer that streams. */
export function begin(response) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  event(response, { delta: { role: "assistant", content: "" }, finish_reason: null });
}

export const say = (response, content) => event(response, { delta: { content }, finish_reason: null });

/** A piece of what a model thinks before it answers. */
export const think = (response, words) => event(response, { delta: { reasoning_content: words }, finish_reason: null });

export function end(response, finish_reason = "stop", usage = undefined) {
  event(response, { delta: {}, finish_reason }, usage);
  response.end("data: [DONE]\n\n");
}

function event(response, choice, usage) {
  const made = { id: "1", object: "chat.completion.chunk", created: 1, model: "scripted", usage };
  const choices = [{ index: 0, ...choice }];
  response.write(`data: ${JSON.stringify({ ...made, choices })}\n\n`);
}

/** An answer that waits after its first pieces until it is let go. */
export function held(first, rest) {
  const waiting = new Set();
  const go = () => waiting.forEach((resolve) => resolve());
  const answer = async (response) => {
    begin(response);
    for (const piece of [].concat(first)) say(response, piece);
    await new Promise((resolve) => waiting.add(resolve));
    for (const piece of [].concat(rest)) say(response, piece);
    end(response);
  };
  return Object.assign(answer, { go });
}

/**
 * Starts a server of models. Its answers map what a person wrote last to what is answered: text, text
 * with a call of a tool or some calls, or a function that is given the HTTP response, what answers
 * with JSON, and the model and messages. Its places map the first part of a path to such a function,
 * for addresses where something else answers. asked holds each request's path, model, last text and body.
 * A model is its name, or what the server's list says of it.
 */
export async function modelServer(models) {
  const [answers, places, asked] = [{}, {}, []];
  const server = createHTTP(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const json = (status, value) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(value));
    };
    const elsewhere = places[request.url.split("/")[1]];
    if (elsewhere) return elsewhere(response, json);
    if (!request.url.startsWith("/v1/")) return json(404, { error: { message: "Not Found" } });
    if (request.headers.authorization !== `Bearer ${rightKey}`) {
      asked.push({ path: request.url, refused: true });
      return json(401, {
        error: { message: "Incorrect API key provided.", code: "invalid_api_key" },
      });
    }
    if (request.url.endsWith("/models"))
      return json(200, {
        object: "list",
        data: models.map((of) => ({ object: "model", ...(typeof of === "string" ? { id: of } : of) })),
      });
    const { model, messages = [] } = JSON.parse(body || "{}");
    const content = messages.findLast((m) => m.role === "user")?.content ?? "";
    // Questions that were not answered come in front of the last one, in one message.
    const text = typeof content === "string" ? content : content.at(-1).text;
    // A request for a title is no question of a journey's: it is answered with the first
    // words, as if it had not been made.
    const titled = /^The chat begins:\n\nPerson: (.*)/.exec(text)?.[1].slice(0, 60);
    if (!titled) asked.push({ path: request.url, model, text, messages, body });
    const after = messages.at(-1)?.role === "tool" && "That was the tool.";
    const other = answers[text] ?? "A first answer from the scripted server.";
    const script = titled || after || other;
    if (typeof script === "function") return script(response, json, { model, messages });
    const { text: answer, call, calls = call ? [call] : [] } = typeof script === "string" ? { text: script } : script;
    begin(response);
    for (let i = 0; i < answer.length; i += 400) say(response, answer.slice(i, i + 400));
    calls.forEach(({ name, arguments: given }, index) => {
      const made = { index, id: `call_${asked.length}_${index}`, type: "function" };
      made.function = { name, arguments: JSON.stringify(given) };
      event(response, { delta: { tool_calls: [made] }, finish_reason: null });
    });
    end(response, calls.length > 0 ? "tool_calls" : "stop");
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${server.address().port}`;
  return {
    host,
    url: `http://${host}/v1`,
    at: (path) => `http://${host}/${path}`,
    answers,
    places,
    asked,
    close: () => {
      server.close();
      server.closeAllConnections(); // those that are never answered, too
    },
  };
}

/** A place that nothing may connect to: it counts who does, whatever they speak. */
export async function trap() {
  const met = [];
  const server = createTCP((socket) => {
    socket.on("error", () => {});
    socket.once("data", (data) => met.push(data.toString("latin1").slice(0, 200)));
    socket.setTimeout(2000, () => socket.destroy());
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: server.address().port, met, close: () => server.close() };
}

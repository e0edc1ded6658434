// The same for Node: registers the tool NAME_hello with Conclave, and answers when it is called.
import { createServer } from "node:http";

const tool = {
  name: "NAME_hello", description: "Says hello to a person.", source: "plugin:NAME",
  parameters: { type: "object", properties: { who: { type: "string" } }, required: ["who"] },
  callback_url: "http://127.0.0.1:9117/call",
};
const service = createServer(async (request, response) => {
  let text = "";
  for await (const piece of request) text += piece;
  const { who = "stranger" } = JSON.parse(text).arguments;
  response.setHeader("Content-Type", "application/json").end(JSON.stringify({ output: `Hello, ${who}!` }));
});
service.listen(9117, "127.0.0.1", async () => {
  const headers = { "Content-Type": "application/json" };
  if (process.env.CONCLAVE_HTTP_TOKEN) headers.Authorization = `Bearer ${process.env.CONCLAVE_HTTP_TOKEN}`;
  const conclave = process.env.CONCLAVE_HTTP ?? "http://127.0.0.1:48911";
  const answer = await fetch(`${conclave}/api/tools/register`, { method: "POST", headers, body: JSON.stringify(tool) });
  console.log(await answer.text());
});

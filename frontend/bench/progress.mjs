// A call of an MCP server that reports its progress 10,000 times, and one that takes as long and reports none, in
// turns, in the page on the built program: how much more work the first is for the page's main thread, by that
// thread's own processor time; and how much more than a call that ends at once (whole). Prints one line of JSON.
// Needs build/bin/conclave-dev and frontend/dist.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { launch } from "../e2e/browser.mjs";
import { approved } from "../e2e/ecosystems.mjs";
import { Place, devProgram } from "../e2e/processes.mjs";

const server = `import json, sys, time
tool = {"name": "report", "inputSchema": {"type": "object", "properties": {"times": {"type": "integer"},
                                                                                "seconds": {"type": "number"}}}}
results = {"initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
               "serverInfo": {"name": "reports", "version": "1"}},
           "tools/list": {"tools": [tool]}}
def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
for line in sys.stdin:
    message = json.loads(line)
    id, method, params = message.get("id"), message["method"], message.get("params") or {}
    if method == "tools/call":
        time.sleep(params["arguments"]["seconds"])
        for n in range(params["arguments"]["times"]):
            send({"method": "notifications/progress", "params": {
                "progressToken": params["_meta"]["progressToken"], "progress": n, "total": 10000, "message": "step %d" % n}})
        send({"id": id, "result": {"content": [{"type": "text", "text": "done"}]}})
    elif method in results:
        send({"id": id, "result": results[method]})
    elif id is not None:
        send({"id": id, "error": {"code": -32601, "message": "Method not found"}})
    sys.stdout.flush()
`;

const place = new Place();
const browser = await launch();
try {
  await place.screen();
  await place.bus();
  writeFileSync(join(place.home, "server.py"), server);
  const entry = { command: "/usr/bin/python3", args: [join(place.home, "server.py")] };
  writeFileSync(join(place.plugins, "reports.mcp.json"), JSON.stringify({ mcpServers: { reports: entry } }));
  const program = await devProgram(place);
  await approved(place, "reports");
  place.told("permissions", "allow", "reports:report");
  const page = await browser.newPage({ viewport: { width: 1280, height: 832 } });
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const busy = async () => {
    const { metrics } = await devtools.send("Performance.getMetrics");
    return metrics.find((m) => m.name === "TaskDuration").value * 1000;
  };
  await page.goto(program.url);
  const box = page.getByPlaceholder("Message Conclave");
  const work = async (times, seconds = 0) => {
    await page.keyboard.press("Control+n");
    await box.fill(`/tool report {"times":${times},"seconds":${seconds}}`);
    await page.waitForTimeout(500); // the draft is saved
    const [before, began] = [await busy(), Date.now()];
    await box.press("Enter");
    await page.locator(".tool[data-state=done]").waitFor();
    await page.waitForFunction(() => !document.querySelector("button.stop"));
    return { took: (Date.now() - began) / 1000, cost: (await busy()) - before };
  };
  await work(1);
  const [above, whole] = [[], []];
  for (let i = 0; i < 7; i++) {
    const notes = await work(10_000);
    const short = await work(0);
    const silent = await work(0, Math.max(0, notes.took - short.took));
    above.push(notes.cost - silent.cost);
    whole.push(notes.cost - short.cost);
  }
  const median = (values) => values.sort((a, b) => a - b)[3];
  console.log(JSON.stringify({ above: median(above), whole: median(whole) }));
} finally {
  await browser.close();
  await place.close();
}

// Programs that register tools over HTTP, and hooks: a real service and a real hook process, from
// the setting that lets them in to a restart of either side.
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { approve, armed, believe, card } from "./page.mjs";
import { expect, test } from "./person.mjs";
import { freePort } from "./processes.mjs";

/** A service like those of N.E.K.O: it registers two tools, one of them for a member of the council. */
const harbour = `import json
import sys
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

conclave, own = sys.argv[1], int(sys.argv[2])


def tool(name, description, properties, **more):
    return {"name": name, "description": description, "source": "plugin:harbour",
            "parameters": {"type": "object", "properties": properties, "required": list(properties)},
            "callback_url": f"http://127.0.0.1:{own}/call", **more}


TOOLS = [tool("high_tide", "Says when the tide is high.", {"place": {"type": "string"}}),
         tool("harbour_log", "Reads the log of the harbour.", {}, role="Researcher")]


class Service(BaseHTTPRequestHandler):
    def do_POST(self):
        call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        print("called", call["name"], json.dumps(call["arguments"]), flush=True)
        said = {"high_tide": "High tide at %s: 14:20." % call["arguments"].get("place"),
                "harbour_log": "Three ships came in."}[call["name"]]
        body = json.dumps({"output": said}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


service = ThreadingHTTPServer(("127.0.0.1", own), Service)
for one in TOOLS:
    request = urllib.request.Request(conclave + "/api/tools/register", json.dumps(one).encode(),
                                     {"Content-Type": "application/json"})
    try:
        print("told", urllib.request.urlopen(request).read().decode(), flush=True)
    except urllib.error.HTTPError as error:
        print("refused", error.code, error.read().decode(), flush=True)
service.serve_forever()
`;

/** A hook that offers a tool, and writes out in full where the tide is asked about. */
const almanac = `import json
import sys

MOON = {"type": "function", "function": {
    "name": "moon_phase", "description": "Says the phase of the moon.",
    "parameters": {"type": "object", "properties": {}}}}

for line in sys.stdin:
    message = json.loads(line)
    method, params, answer = message["method"], message.get("params") or {}, {}
    if method == "hook.before_llm":
        params["tools"] = (params.get("tools") or []) + [MOON]
        answer = {"action": "modify", "request": params}
    elif method == "hook.before_tool" and params["tool"] == "moon_phase":
        answer = {"action": "respond", "result": {"for_llm": "The moon is full."}}
    elif method == "hook.before_tool" and params["tool"] == "high_tide":
        answer = {"action": "modify", "call": {"arguments": {"place": "Varn, north quay"}}}
    if message.get("id"):
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answer}), flush=True)
`;

/** The ports of the program and of the service, which runs in its own process. */
const [port, its] = [await freePort(), await freePort()];
let service, member;

test.use({ plugins: {}, connected: false });

// Each goes on where the one before it ended.
test.describe.configure({ mode: "serial" });

const panel = (page) => page.getByRole("tab", { name: /^Plugins/ }).click();
const last = (page) => page.locator("article").last();

async function allow(page) {
  await believe(page.locator("main"), "Allow once");
}

/** Waits until the last answer says words, and has ended. */
async function answered(page, words) {
  await expect(last(page).filter({ hasText: words })).toBeVisible();
  await expect(page.locator("button.stop")).toHaveCount(0);
}

async function settings(page) {
  await page.keyboard.press("Control+,");
  await page.getByRole("button", { name: "Plugins", exact: true }).click();
  await expect(page.getByRole("heading", { name: "Plugins", exact: true })).toBeVisible();
}

/** Starts the service, and waits until it has told Conclave of both tools. */
async function serve(place) {
  const path = join(place.home, "harbour.py");
  writeFileSync(path, harbour);
  service = place.start("python3", [path, `http://127.0.0.1:${port}`, String(its)]);
  await expect.poll(() => service.output.match(/^told/gm)?.length).toBe(2);
}

/** Has the model call the service once more, and allows it. */
async function tide(page, person) {
  await person.newChat();
  await person.write('/tool high_tide {"place": "Varn"}');
  await allow(page);
  await answered(page, "High tide at Varn, north quay: 14:20.");
}

test("a port that is taken says by whom, one that cannot be says which can, and a free one opens", async ({ page }) => {
  const other = createServer();
  const taken = await freePort(); // which nobody is given once it is free again
  await new Promise((resolve) => other.listen(taken, "127.0.0.1", resolve));
  await page.evaluate((n) => globalThis.go.window.Settings.Set({ http_port: n }), taken);
  await settings(page);
  await page.getByRole("switch", { name: "Let programs register tools" }).click();
  await expect(page.getByText(`The port ${taken} of this computer is taken by node`)).toBeVisible();
  const field = page.getByLabel("Port", { exact: true });
  await field.fill("80");
  await field.press("Enter");
  await expect(page.getByText("A port is a whole number from 1024 to 65535.")).toBeVisible();
  expect(await field.inputValue()).toBe(String(taken));
  await field.fill(String(port));
  await field.press("Enter");
  await expect(page.getByText(`http://127.0.0.1:${port}/api/tools/register`)).toBeVisible();
  await field.fill(String(taken));
  await field.press("Enter");
  await expect(page.getByText("Conclave keeps trying to open it.")).toBeVisible();
  other.close();
  await expect(page.getByText(`http://127.0.0.1:${taken}/api/tools/register`)).toBeVisible();
  await field.fill(String(port));
  await field.press("Enter");
  await expect(page.getByText(`http://127.0.0.1:${port}/api/tools/register`)).toBeVisible();
  await page.keyboard.press("Escape");
});

test("what a service registers waits on a card that names it, and is approved", async ({ page, place }) => {
  // A tool is registered for a member that there is.
  await page.evaluate((council) => globalThis.go.window.Council.Set("", "global", council), {
    mode: "tools",
    members: [{ id: "researcher", name: "Researcher", tools: [] }],
  });
  await serve(place);
  await panel(page);
  const open = card(page, `harbour-${its}`);
  await expect(open.getByText(`Registered over HTTP by python3 harbour.py.`)).toBeVisible();
  await expect(open.getByText("Its program runs outside Conclave")).toBeVisible();
  expect(await open.getByText("I am developing this").count()).toBe(0);
  expect(await open.getByRole("button", { name: "Open in editor" }).count()).toBe(0);
  await approve(page, `harbour-${its}`);
  member = await page.locator("[data-plugin]", { hasText: "harbour for Researcher" }).getAttribute("data-plugin");
  await approve(page, member);
  await expect(page.getByRole("button", { name: "1 tool", exact: true })).toBeVisible(); // the other is a member's
});

test("the model calls it, and a person is asked", async ({ page, person }) => {
  await person.newChat();
  await person.write('/tool high_tide {"place": "Varn"}');
  await armed(page, "Allow once");
  await expect(page.getByText("Asked because: nothing isolates it.")).toBeVisible();
  await allow(page);
  await answered(page, "High tide at Varn: 14:20.");
  await expect.poll(() => service.output).toMatch(/^called high_tide {"place": "Varn"}$/m);
});

test("a hook is approved, and what it makes of a call is asked about, word by word", async ({
  page,
  person,
  place,
}) => {
  const folder = join(place.home, "almanac");
  mkdirSync(folder);
  writeFileSync(join(folder, "hook.py"), almanac);
  writeFileSync(
    join(folder, "hook.json"),
    JSON.stringify({
      name: "almanac",
      command: ["python3", "hook.py"],
      intercept: ["before_llm", "before_tool"],
    }),
  );
  renameSync(folder, join(place.plugins, "almanac"));
  await panel(page);
  await expect(card(page, "almanac").getByText("Needs your approval")).toBeVisible();
  await approve(page, "almanac");
  await person.newChat();
  await person.write('/tool high_tide {"place": "Varn"}');
  await armed(page, "Allow once");
  const asked = page.getByRole("group", {
    name: "Original request and changes by plugins",
  });
  expect(await asked.locator("del").innerText()).toMatch(/"Varn"$/);
  expect(await asked.locator("ins").innerText()).toMatch(/"Varn, north quay"$/);
  await allow(page);
  await answered(page, "High tide at Varn, north quay: 14:20.");
  const was = page.getByRole("dialog", { name: "Plugin changes" });
  await last(page).getByRole("button", { name: "almanac changed this" }).click();
  await expect(was.getByText("almanac changed the arguments")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(was).toHaveCount(0);
});

test("the tool that the hook offers is asked about, and answers", async ({ page, person }) => {
  await person.write("/tool moon_phase {}");
  await armed(page, "Allow once");
  await allow(page);
  await answered(page, "The moon is full.");
});

test("a member of the council has the tool that is for it, and it alone", async ({ page, person }) => {
  await person.newChat();
  await page.evaluate(() => globalThis.go.window.Council.Use("", true));
  await person.write("What does the log of the harbour say?");
  const lane = page.locator("[data-lane]").filter({ hasText: "Researcher" });
  await armed(page, "Allow once");
  await allow(page);
  await expect(page.locator("button.stop")).toHaveCount(0);
  await page.getByRole("tab", { name: /^Council/ }).click();
  await lane.locator(".who").click();
  await expect(lane.getByText("Three ships came in.").first()).toBeVisible();
  expect(await page.getByText("Researcher has no tools.").count()).toBe(0);
  await expect.poll(() => service.output).toMatch(/^called harbour_log \{\}$/m);
  await page.evaluate(() => globalThis.go.window.Council.Use("", false));
});

test("after a restart of Conclave it is there without the service's doing, and needs no new yes", async ({
  person,
}) => {
  await person.restart();
  const { page } = person;
  await panel(page);
  for (const id of [`harbour-${its}`, member, "almanac"])
    await expect(card(page, id).getByText("Ready", { exact: true })).toBeVisible();
  await tide(page, person);
  expect(service.output.match(/^told/gm).length).toBe(2);
});

test("a service that is gone says so, and one that is back is called again", async ({ page, person, place }) => {
  await place.end(service);
  await person.newChat();
  await person.write('/tool high_tide {"place": "Varn"}');
  await allow(page);
  await expect(page.locator(".tool[data-state=failed]")).toBeVisible();
  const why = last(page).locator("p.problem").filter({ hasText: "Nothing answers at" });
  await expect(why.filter({ hasText: `http://127.0.0.1:${its}, where this tool is called` })).toBeVisible();
  await expect(page.locator("button.stop")).toHaveCount(0);
  await serve(place);
  await tide(page, person);
});

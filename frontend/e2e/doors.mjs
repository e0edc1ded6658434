// Programs that register tools over HTTP, and hooks: a real service and a real hook process, from
// the setting that lets them in to a restart of either side, in Chromium on the program's real
// bindings.
//
//   node e2e/doors.mjs [folder for pictures]
//
// It needs what program.mjs needs.
import assert from "node:assert/strict";
import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { armed, launch } from "./harness.mjs";
import { Person } from "./person.mjs";
import { Place, devProgram, freePort, perform, pictures, until } from "./processes.mjs";

const shots = pictures();
const place = new Place();
let browser, person, page, app, service, port, its, member;

/** A service as N.E.K.O's are: it registers two tools, one of them for a member of the council. */
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

/** A hook that offers a tool of its own, and writes out where the other's place is. */
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

const card = (id) => page.locator(`[data-plugin="${id}"]`);
const panel = () => page.getByRole("tab", { name: /^Plugins/ }).click();
const last = () => page.locator("article").last();

async function approve(id, words = "Approve and turn on") {
  await card(id).getByText("Needs your approval").waitFor();
  await armed(card(id), words);
  await card(id).getByRole("button", { name: words }).click();
  await card(id).getByText("Ready", { exact: true }).waitFor();
}

async function allow() {
  await armed(page, "Allow once");
  await page.getByRole("button", { name: "Allow once" }).click();
}

/** Waits until the last answer says words, and has ended. */
async function answered(words) {
  await last().filter({ hasText: words }).waitFor();
  await page.locator("button.stop").waitFor({ state: "detached" });
}

async function settings() {
  await page.keyboard.press("Control+,");
  await page.getByRole("button", { name: "Plugins", exact: true }).click();
  await page.getByRole("heading", { name: "Plugins", exact: true }).waitFor();
}

function serve() {
  service = place.start("python3", [
    ...[join(place.home, "harbour.py"), `http://127.0.0.1:${port}`, String(its)],
  ]);
  return until("the service to be told of both tools", () => {
    if (service.ended) throw new Error(`the service ended: ${service.output}`);
    return service.output.match(/^told/gm)?.length === 2;
  });
}

/** Waits until the service has said that it was called so. */
const called = (how) => until(`the service to say ${how}`, () => how.test(service.output));

/** The picture of what is shown, in both themes. */
async function both(name) {
  for (const theme of ["dark", "light"]) {
    await page.evaluate((theme) => globalThis.go.window.Settings.Set({ theme }), theme);
    await page.waitForFunction((t) => document.documentElement.dataset.theme === t, theme);
    await page.waitForFunction(() =>
      document
        .getAnimations()
        .every(
          (a) => a.playState !== "running" || a.effect.getComputedTiming().endTime === Infinity,
        ),
    );
    await person.picture(`${name}-${theme}`);
  }
}

const steps = {
  "a port that is taken says by whom, one that cannot be says which can, and a free one opens":
    async () => {
      const other = createServer();
      const taken = await freePort(); // which nobody is given once it is free again
      await new Promise((resolve) => other.listen(taken, "127.0.0.1", resolve));
      await page.evaluate((n) => globalThis.go.window.Settings.Set({ http_port: n }), taken);
      await settings();
      await page.getByRole("switch", { name: "Let programs register tools" }).click();
      await page.getByText(`The port ${taken} of this computer is taken by node`).waitFor();
      await both("port-taken");
      const field = page.getByLabel("Port", { exact: true });
      await field.fill("80");
      await field.press("Enter");
      await page.getByText("A port is a whole number from 1024 to 65535.").waitFor();
      assert.equal(await field.inputValue(), String(taken));
      await both("port-low");
      await field.fill(String(port));
      await field.press("Enter");
      await page.getByText(`http://127.0.0.1:${port}/api/tools/register`).waitFor();
      await both("port-open");
      await field.fill(String(taken));
      await field.press("Enter");
      await page.getByText("Conclave keeps trying to open it.").waitFor();
      other.close();
      await page.getByText(`http://127.0.0.1:${taken}/api/tools/register`).waitFor();
      await field.fill(String(port));
      await field.press("Enter");
      await page.getByText(`http://127.0.0.1:${port}/api/tools/register`).waitFor();
      await page.keyboard.press("Escape");
    },

  "what a service registers waits on a card that names it, and is approved": async () => {
    // A tool is registered for a member that there is.
    await page.evaluate((council) => globalThis.go.window.Council.Set("", "global", council), {
      mode: "tools",
      members: [{ id: "researcher", name: "Researcher", tools: [] }],
    });
    await serve();
    await panel();
    const open = card(`harbour-${its}`);
    await open.getByText(`Registered over HTTP by python3 harbour.py.`).waitFor();
    await open.getByText("Its program runs outside Conclave").waitFor();
    assert.equal(await open.getByText("I am developing this").count(), 0);
    assert.equal(await open.getByRole("button", { name: "Open in editor" }).count(), 0);
    await both("http-card");
    await approve(`harbour-${its}`);
    member = await page
      .locator("[data-plugin]", { hasText: "harbour for Researcher" })
      .getAttribute("data-plugin");
    await approve(member);
    await page.getByRole("button", { name: "1 tool", exact: true }).waitFor(); // the other is a member's
    await both("http-ready");
  },

  "the model calls it, and a person is asked": async () => {
    await person.newChat();
    await person.write('/tool high_tide {"place": "Varn"}');
    await armed(page, "Allow once");
    await page.getByText("Asked because: nothing isolates it.").waitFor();
    await both("http-question");
    await allow();
    await answered("High tide at Varn: 14:20.");
    await called(/^called high_tide {"place": "Varn"}$/m);
  },

  "a hook is approved, and what it makes of a call is asked about, word by word": async () => {
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
    await panel();
    await card("almanac").getByText("Needs your approval").waitFor();
    await both("hook-card");
    await approve("almanac");
    await both("hook-ready");
    await person.newChat();
    await person.write('/tool high_tide {"place": "Varn"}');
    await armed(page, "Allow once");
    const asked = page.getByRole("group", {
      name: "Original request and changes by plugins",
    });
    assert.match(await asked.locator("del").innerText(), /"Varn"$/);
    assert.match(await asked.locator("ins").innerText(), /"Varn, north quay"$/);
    await both("hook-question");
    await allow();
    await answered("High tide at Varn, north quay: 14:20.");
    const was = page.getByRole("dialog", { name: "Plugin changes" });
    await last().getByRole("button", { name: "almanac changed this" }).click();
    await was.getByText("almanac changed the arguments").waitFor();
    await both("hook-changed");
    await page.keyboard.press("Escape");
    await was.waitFor({ state: "detached" });
  },

  "the tool that the hook offers is asked about, and answers": async () => {
    await person.write("/tool moon_phase {}");
    await armed(page, "Allow once");
    await both("hook-tool-question");
    await allow();
    await answered("The moon is full.");
    await both("hook-tool-answer");
  },

  "a member of the council has the tool that is for it, and it alone": async () => {
    await person.newChat();
    await page.evaluate(() => globalThis.go.window.Council.Use("", true));
    await person.write("What does the log of the harbour say?");
    const lane = page.locator("[data-lane]").filter({ hasText: "Researcher" });
    await armed(page, "Allow once");
    await both("member-question");
    await allow();
    await page.locator("button.stop").waitFor({ state: "detached" });
    await page.getByRole("tab", { name: /^Council/ }).click();
    await lane.locator(".who").click();
    await lane.getByText("Three ships came in.").first().waitFor();
    await both("member-answer");
    assert.equal(await page.getByText("Researcher has no tools.").count(), 0);
    await called(/^called harbour_log \{\}$/m);
    await page.evaluate(() => globalThis.go.window.Council.Use("", false));
  },

  "after a restart of Conclave it is there without the service's doing, and needs no new yes":
    async () => {
      await page.close();
      await place.end(app.child);
      await place.free();
      app = await devProgram(place);
      await begin();
      await panel();
      for (const id of [`harbour-${its}`, member, "almanac"])
        await card(id).getByText("Ready", { exact: true }).waitFor();
      await tide();
      assert.equal(service.output.match(/^told/gm).length, 2);
    },

  "a service that is gone says so, and one that is back is called again": async () => {
    await place.end(service);
    await person.newChat();
    await person.write('/tool high_tide {"place": "Varn"}');
    await allow();
    await page.locator(".tool[data-state=failed]").waitFor();
    const why = last().locator("p.problem").filter({ hasText: "Nothing answers at" });
    await why.filter({ hasText: `http://127.0.0.1:${its}, where this tool is called` }).waitFor();
    await page.locator("button.stop").waitFor({ state: "detached" });
    await both("service-gone");
    await serve();
    await tide();
  },

  "the page met no error of its own": async () => {
    if (page.errors.length > 0) throw new Error(page.errors.join("\n"));
  },
};

/** Has the model call the service once more, and allows it. */
async function tide() {
  await person.newChat();
  await person.write('/tool high_tide {"place": "Varn"}');
  await allow();
  await answered("High tide at Varn, north quay: 14:20.");
}

async function begin() {
  await person.open(app, { width: 1440 });
  page = person.page;
}

await perform(place, steps, {
  begin: async () => {
    writeFileSync(join(place.home, "harbour.py"), harbour);
    [port, its] = [await freePort(), await freePort()];
    await place.screen();
    await place.bus();
    browser = await launch();
    app = await devProgram(place);
    person = new Person(browser, { folder: shots, begin: "doors" });
    await begin();
  },
  onfail: (n) => person.picture(`failed-${n}`).catch(() => {}),
  ends: () => [browser],
});

// MCP servers, as a newcomer meets them: from an mcp.json in the plugins folder to answers, questions,
// resources and prompts, and what a card says of a server that fails. The servers are others' and unmodified.
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { accessible, approve, armed, believe, card, settled, tabTo } from "./page.mjs";
import { expect, test } from "./person.mjs";
import { freePort, root } from "./processes.mjs";

const npm = join(root, "app", "plugin", "dialect", "mcp", "mcptest", "npm", "node_modules");
/** The process of the polite server. */
let keeper = 0;
const node = join(npm, "node", "bin", "node");
const memory = join(npm, "@modelcontextprotocol", "server-memory", "dist", "index.js");
const everything = join(npm, "@modelcontextprotocol", "server-everything", "dist", "index.js");

/** A server that prints where only messages belong, and goes on printing. */
const chatty = `setInterval(() => console.log("Still here. Star us on the web!"), 1);\n`;
/** One that prints a greeting first, and is a server all the same. */
const polite = `import { createInterface } from "node:readline";
console.log("Welcome to the lighthouse!");
const inputSchema = { type: "object", properties: {} };
const tools = [{ name: "light_lamp", description: "Lights the lamp.", inputSchema }];
const serverInfo = { name: "lighthouse", version: "3" };
const results = {
  initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo },
  "tools/list": { tools },
  "tools/call": { content: [{ type: "text", text: "The lamp is lit by " + process.pid + "." }] },
};
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method } = JSON.parse(line);
  if (id === undefined) continue;
  const error = { code: -32601, message: "Method not found" };
  const answer = results[method] ? { result: results[method] } : { error };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
}
`;

test.use({ plugins: {}, connected: false });

// Each goes on where the one before it ended.
test.describe.configure({ mode: "serial" });

const panel = (page) => page.getByRole("tab", { name: /^Plugins/ }).click();
const last = (page) => page.locator("article").last();
const question = (page) => page.locator("[data-question]");

/** Takes a picture in both themes where they are asked for, to be looked at. */
async function picture(page, name, element) {
  if (!process.env.CONCLAVE_PICTURES) return;
  const { outputDir } = test.info().project;
  await settled(page, { arming: false });
  for (const theme of ["light", "dark"]) {
    await page.evaluate((to) => (document.documentElement.dataset.theme = to), theme);
    await (element ?? page).screenshot({ path: join(outputDir, "pictures", `${name}-${theme}.png`) });
  }
  await page.evaluate(() => (document.documentElement.dataset.theme = "light"));
}

/** Whether there is a process of this number. */
function running(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Writes servers into a folder of the plugins folder, whole, in one step; text may be broken. */
function write(place, name, text, files = {}) {
  const made = join(place.home, "made", name);
  rmSync(made, { recursive: true, force: true });
  mkdirSync(made, { recursive: true });
  for (const [file, code] of Object.entries(files)) writeFileSync(join(made, file), code);
  writeFileSync(join(made, "mcp.json"), typeof text === "string" ? text : JSON.stringify(text, null, 2));
  renameSync(made, join(place.plugins, name));
}

/** Has the guide call a tool, and allows it. */
async function call(page, person, tool, given = {}) {
  await person.write(`/tool ${tool} ${JSON.stringify(given)}`);
  await believe(page, "Allow once");
}

/** Waits until the last answer has ended and says words. */
async function answered(page, words) {
  await expect(last(page).filter({ hasText: words })).toBeVisible();
  await expect(page.locator("button.stop")).toHaveCount(0);
}

test("a server waits on a card that shows what would be started", async ({ page, place, person }) => {
  write(place, "everything", { mcpServers: { everything: { command: node, args: [everything] } } });
  await panel(page);
  const its = card(page, "everything");
  await person.reads(its, "Needs your approval", everything, "Approve and turn on");
  await picture(page, "1-new", its);
});

test("who wants to read its tools first approves its start, and then what it listed", async ({ page, person }) => {
  const its = card(page, "everything");
  const first = "Approve, but show me its tools first";
  await believe(its, first);
  await person.reads(its, "has listed its tools", "Approve these tools");
  await picture(page, "2-listed", its);
  await believe(its, "Approve these tools");
  await person.reads(its, "Ready", /\d+ tools/, /Also offers\s+resources, prompts/);
  await settled(page);
  await picture(page, "3-ready", its);
  await picture(page, "3-window");
});

test("a server that may ask models shows what it asks, and gets the answer", async ({ page, place, person }) => {
  place.told("plugins", "grant", "everything", "generation");
  place.told("plugins", "reload", "everything"); // a server learns at its start what it may ask
  await panel(page);
  const its = card(page, "everything");
  const approval = its.getByRole("button", { name: /^Approve/ }).first();
  await expect(approval).toBeVisible(); // it has one more tool now
  await picture(page, "8-changed", its);
  await believe(its, await approval.innerText());
  await expect(its.getByText("Ready", { exact: true })).toBeVisible();
  await person.newChat();
  await call(page, person, "trigger-sampling-request", { prompt: "Which tide is next?", maxTokens: 50 });
  await person.reads(question(page), "Which tide is next?", "50 tokens");
  await picture(page, "8-sampling");
  await believe(question(page), "Send");
  await answered(page, "LLM sampling result");
  await picture(page, "8-sampled");
});

test("its tools are called: text, a sum, a picture, a structured value, links", async ({ page, person }) => {
  await person.newChat();
  await call(page, person, "echo", { message: "ahoy" });
  await answered(page, "Echo: ahoy");
  await call(page, person, "get-sum", { a: 19, b: 23 });
  await answered(page, "The sum of 19 and 23 is 42");
  await call(page, person, "get-structured-content", { location: "Chicago" });
  await answered(page, "humidity");
  await call(page, person, "get-resource-links", { count: 2 });
  await answered(page, "demo://resource/dynamic");
  await call(page, person, "get-tiny-image");
  await answered(page, "MCP logo");
  await last(page).locator("img").first().waitFor();
  await person.still();
  await picture(page, "4-calls");
});

test("MC34: a link of a result is a chip: a press says what it is, and it is read and attached on request", async ({
  page,
  person,
}) => {
  await person.newChat();
  await call(page, person, "get-resource-links", { count: 2 });
  await answered(page, "demo://resource/dynamic");
  const links = page.getByRole("list", { name: "What the result names" });
  await expect(links.getByRole("button")).toHaveCount(2);
  const first = links.getByRole("button").first();
  await first.focus();
  await page.keyboard.press("Enter");
  await person.reads(page.locator(".tool"), "demo://resource/dynamic", "Nothing of it was read yet");
  const attached = page.getByRole("list", { name: "Attachments" });
  await expect(attached).toHaveCount(0); // nothing is fetched by itself
  await person.still();
  await picture(page, "4-link");
  await accessible(page);
  await page.locator(".tool").getByRole("button", { name: "Attach", exact: true }).click();
  await expect(attached.getByText(/everything: /)).toBeVisible();
  await expect(page.getByPlaceholder("Message Conclave")).toBeFocused();
  await person.still();
  await picture(page, "4-link-attached");
  await person.ask("What does it say?");
});

test("a long call shows its progress while it runs", async ({ page, person }) => {
  await person.newChat();
  await call(page, person, "trigger-long-running-operation", { duration: 4, steps: 8 });
  const its = page.locator(".tool[data-state=running]");
  await expect(its.locator(".summary")).toContainText(/[3-7] of 8/);
  await picture(page, "5-progress");
  await answered(page, "Long running operation completed");
});

test("a form is filled in by the keyboard alone, and what is wrong is said at its field", async ({ page, person }) => {
  await person.newChat();
  await call(page, person, "trigger-elicitation-request");
  await expect(question(page)).toBeVisible();
  await person.reads(question(page), "everything asks", "Closes by itself at");
  await picture(page, "6-form");
  await accessible(page);
  await page.getByPlaceholder("Message Conclave").focus();
  await page.keyboard.press("Shift+Tab"); // the question stands before the composer
  await page.locator("[data-question] h3").focus();
  await tabTo(page, /^String\s*\(required\)$/);
  await page.keyboard.type("Ada Lovelace");
  await tabTo(page, "String with email format");
  await page.keyboard.type("ada");
  await page.keyboard.press("Enter");
  await expect(question(page).locator("[role=alert]").first()).toBeVisible();
  await picture(page, "6-wrong");
  await page.waitForFunction(() => document.activeElement?.ariaInvalid === "true");
  await page.keyboard.type("@example.org");
  await tabTo(page, "Boolean");
  await page.keyboard.press("Space");
  await tabTo(page, "Send");
  await armed(question(page), "Send");
  await page.keyboard.press("Enter");
  await answered(page, "ada@example.org");
  await page.waitForFunction(() => document.activeElement?.tagName === "TEXTAREA");
});

test("the same form is filled in by pointer, and declined", async ({ page, person }) => {
  await call(page, person, "trigger-elicitation-request");
  const its = question(page);
  await its.getByLabel(/^String\s*\(required\)$/).fill("Grace");
  await its.getByRole("switch", { name: "Boolean" }).click();
  await its.getByText("Piano").click();
  await believe(its, "Send");
  await answered(page, "Grace");
  await call(page, person, "trigger-elicitation-request");
  await question(page).getByRole("button", { name: "Decline" }).click();
  await answered(page, "declined");
});

test("an address is shown whole before it is opened", async ({ page, person }) => {
  await person.newChat();
  await call(page, person, "trigger-url-elicitation", { url: "https://accounts.example.org/sign-in?for=conclave" });
  await person.reads(question(page), "https://accounts.example.org/sign-in", "Open in the browser");
  await expect(question(page).locator("strong")).toHaveText("accounts.example.org");
  await picture(page, "7-address");
  await question(page).getByRole("button", { name: "Decline" }).click();
  await answered(page, "declin");
});

test("an address that is named in place of an answer is asked about like any", async ({ page, person }) => {
  const url = "https://pay.example.org/confirm?order=7";
  await call(page, person, "trigger-url-elicitation", { url, elicitationId: "e-7", errorPath: true });
  await person.reads(question(page), "https://modelcontextprotocol.io", "Open in the browser");
  await picture(page, "7-first");
  await question(page).getByRole("button", { name: "Decline" }).click();
  await expect(question(page)).toHaveCount(0);
  await expect(page.locator("button.stop")).toHaveCount(0);
  await picture(page, "7-declined");
});

test("its other results are shown: variables, texts for one reader, resources, compressed files", async ({
  page,
  person,
}) => {
  await person.newChat();
  await call(page, person, "toggle-simulated-logging");
  await answered(page, "Started simulated");
  await call(page, person, "toggle-subscriber-updates");
  await answered(page, "Started simulated resource updated");
  await call(page, person, "get-env");
  await answered(page, "PYTHONUTF8");
  expect(await last(page).innerText()).not.toMatch(/GSETTINGS_BACKEND|NO_AT_BRIDGE|XDG_CONFIG_HOME/); // the program's
  await call(page, person, "get-annotated-message", { messageType: "error", includeImage: true });
  await answered(page, "Operation failed");
  await call(page, person, "get-annotated-message", { messageType: "success" });
  await expect(page.getByText("Operation completed successfully").last()).toBeVisible(); // for the person alone
  await expect(page.locator("button.stop")).toHaveCount(0);
  await person.still();
  await picture(page, "7-annotated");
  await call(page, person, "get-resource-reference", { resourceType: "Text", resourceId: 2 });
  await answered(page, "demo://resource/dynamic/text/2");
  await call(page, person, "get-resource-reference", { resourceType: "Blob", resourceId: 3 });
  await answered(page, "demo://resource/dynamic/blob/3");
  const data = "data:text/plain,ahoy";
  await call(page, person, "gzip-file-as-resource", { name: "ahoy.gz", data, outputType: "resource" });
  await answered(page, "ahoy.gz");
  await call(page, person, "gzip-file-as-resource", { name: "link.gz", data });
  await answered(page, "demo://resource/session/link.gz");
  await person.still();
  await picture(page, "7-resources");
  await call(page, person, "toggle-subscriber-updates");
  await answered(page, "Stopped simulated resource");
  await call(page, person, "toggle-simulated-logging");
  await answered(page, "Stopped simulated logging");
});

test("a task runs elsewhere, and its result is the call's", async ({ page, person }) => {
  await person.newChat();
  await call(page, person, "simulate-research-query", { topic: "tides" });
  await expect(page.locator(".tool[data-state=running] .summary")).toContainText(/\w/);
  await picture(page, "8-task");
  await answered(page, "tides");
});

test("prompts are found under /, completed, and go into the message unsent", async ({ page, person }) => {
  await person.newChat();
  const box = page.getByPlaceholder("Message Conclave");
  await box.fill("/");
  await expect(page.getByRole("listbox", { name: "Prompts and resources of plugins" })).toBeVisible();
  await expect(page.getByRole("option", { name: /Team Management/ })).toBeVisible();
  await picture(page, "9-prompts");
  await page.getByRole("option", { name: /Team Management/ }).click();
  const form = page.getByRole("dialog", { name: "Team Management" });
  await form.getByLabel("department").fill("Sal");
  await expect(form.locator("datalist option[value=Sales]")).toHaveCount(1);
  await form.getByLabel("department").fill("Sales");
  await form.getByLabel("name", { exact: false }).last().fill("E");
  await expect(form.locator("datalist option[value=Eve]")).toHaveCount(1);
  await form.getByLabel("name", { exact: false }).last().fill("Eve");
  await picture(page, "9-values");
  await form.getByRole("button", { name: "Put into the message" }).click();
  await expect(box).toHaveValue("Please promote Eve to the head of the Sales team.");
  await box.fill("");
});

test("MC49: resources are attached by the paper clip, a template's with its places, and by @server:", async ({
  page,
  person,
}) => {
  await person.newChat();
  const clip = async () => {
    await page.getByRole("button", { name: "Attach files" }).click();
    await page.getByRole("menuitem", { name: "From a plugin or server…" }).click();
  };
  await clip();
  const dialog = page.getByRole("dialog", { name: "Attach a resource" });
  await expect(dialog.getByText("architecture.md").first()).toBeVisible();
  await picture(page, "10-resources");
  await dialog.getByRole("button", { name: /architecture\.md/ }).click();
  await expect(dialog).toHaveCount(0);
  await clip();
  await dialog.getByRole("button", { name: /Text/ }).first().click();
  await dialog.getByLabel("resourceId").fill("7");
  await picture(page, "10-template");
  await dialog.getByRole("button", { name: "Attach" }).click();
  await expect(dialog).toHaveCount(0);
  const box = page.getByPlaceholder("Message Conclave");
  await box.fill("Compare these: @everything:feat");
  await expect(page.getByRole("option", { name: /features\.md/ })).toBeVisible();
  await picture(page, "10-at");
  await box.press("Enter");
  await expect(box).toHaveValue("Compare these: ");
  await picture(page, "10-attached");
  await person.ask("Compare these: ");
});

test("MC50: an attached resource is kept fresh, says that it changed, and is read again on a press", async ({
  page,
  person,
}) => {
  await person.newChat();
  await call(page, person, "toggle-subscriber-updates");
  await answered(page, "Started simulated resource updated");
  const box = page.getByPlaceholder("Message Conclave");
  await box.fill("Read this: @everything:feat");
  await expect(page.getByRole("option", { name: /features\.md/ })).toBeVisible();
  await box.press("Enter");
  const file = page.getByRole("list", { name: "Attachments" }).getByRole("listitem");
  const keep = file.getByRole("button", { name: /^Keep .*features\.md fresh$/ });
  await expect(keep).toHaveAttribute("aria-pressed", "false");
  await keep.click();
  await expect(keep).toHaveAttribute("aria-pressed", "true");
  await expect(file.getByText("changed since")).toBeVisible(); // the server says so every five seconds
  await picture(page, "10-fresh");
  await file.getByRole("button", { name: "Read again" }).click();
  await expect(file.getByText("changed since")).toHaveCount(0);
  await expect(file).toHaveCount(1);
  await expect(keep).toHaveAttribute("aria-pressed", "true");
  await person.ask("Read this: ");
  await call(page, person, "toggle-subscriber-updates");
  await answered(page, "Stopped simulated resource");
});

test("the same server answers over Streamable HTTP and over the older SSE", async ({ page, place, person }) => {
  for (const [name, mode, path] of [
    ["stream", "streamableHttp", "mcp"],
    ["events", "sse", "sse"],
  ]) {
    const port = await freePort();
    const server = place.start(node, [everything, mode], { PORT: String(port) });
    await expect.poll(() => server.output).toMatch(/listening|running/i);
    const type = name === "events" ? "sse" : "http";
    write(place, name, { mcpServers: { [name]: { type, url: `http://127.0.0.1:${port}/${path}` } } });
    await panel(page);
    await expect(card(page, name)).toBeVisible();
    if (name === "stream") await picture(page, "11-remote-new", card(page, name));
    await approve(page, name);
    await settled(page);
    await picture(page, `11-${name}`, card(page, name));
    await person.newChat();
    await call(page, person, `${name}__echo`, { message: `over ${name}` });
    await answered(page, `Echo: over ${name}`);
    rmSync(join(place.plugins, name), { recursive: true });
    await expect(card(page, name)).toHaveCount(0);
    await place.end(server);
  }
});

test("server-memory keeps its graph in the file that its setting names, and a council member reads it", async ({
  page,
  place,
  person,
}) => {
  const graph = join(place.home, "notes", "graph.jsonl");
  mkdirSync(join(place.home, "notes"));
  const env = { MEMORY_FILE_PATH: "${MEMORY_FILE_PATH}" };
  write(place, "memory", { mcpServers: { memory: { command: node, args: [memory], env } } });
  await panel(page);
  const its = card(page, "memory");
  await expect(its.getByText("Needs your approval")).toBeVisible();
  await believe(its, "Approve and turn on");
  await person.reads(its.locator(".problem"), /needs settings before it is started: MEMORY_FILE_PATH/);
  await its.getByLabel("MEMORY_FILE_PATH").fill(graph);
  await its.getByRole("button", { name: "Save" }).click();
  await expect(its.getByText("Ready", { exact: true })).toBeVisible();
  await person.newChat();
  const entities = [{ name: "Ada", entityType: "rower", observations: ["rows at dawn"] }];
  await call(page, person, "create_entities", { entities });
  await answered(page, "EACCES");
  await person.reads(its, "It may not write to", join(place.home, "notes"));
  await picture(page, "13-memory", its);
  const allow = its.getByRole("button", { name: /^Allow reading and writing/ });
  // A press just after the button moved does not count, and says so.
  await expect(async () => {
    await allow.click();
    await expect(allow).toHaveCount(0, { timeout: 2000 });
  }).toPass();
  await expect(its.getByText("Ready", { exact: true })).toBeVisible();
  await call(page, person, "create_entities", { entities });
  await answered(page, "rows at dawn");
  await expect.poll(() => existsSync(graph) && readFileSync(graph, "utf8")).toContain('"rows at dawn"');
  // It is a member's too, in a process begun again.
  place.told("plugins", "reload", "memory");
  place.told("permissions", "allow", "memory:read_graph", "--council");
  const council = join(place.home, "council.json");
  const ada = { name: "Ada", role: "Analyst", chance: 100, tools: ["memory:read_graph"] };
  writeFileSync(council, JSON.stringify({ enabled: false, mode: "tools", members: [ada] }));
  place.told("council", "set", council);
  const run = place.conclave("council", "run", "--approve", "always", "Who rows?");
  expect(run.stderr).toMatch(/Ada +used read_graph: .*rows at dawn/s);
  writeFileSync(council, '{"members": []}');
  place.told("council", "set", council);
  rmSync(join(place.plugins, "memory"), { recursive: true });
  await expect(its).toHaveCount(0);
});

test("what is wrong with a server is said in a sentence, with what to do", async ({ page, place, person }) => {
  const port = await freePort();
  write(
    place,
    "desk",
    {
      mcpServers: {
        lost: { command: "no-such-server", args: ["--now"] },
        refused: { url: `http://127.0.0.1:${port}/mcp` },
        open: { url: "http://mcp.example.org/mcp" },
        chatty: { command: "node", args: ["chatty.mjs"] },
        polite: { command: "node", args: ["polite.mjs"] },
      },
    },
    { "chatty.mjs": chatty, "polite.mjs": polite },
  );
  await panel(page);
  for (const [name, ...words] of [
    ["lost", /no-such-server/],
    ["refused", new RegExp(`Nothing answers at 127.0.0.1:${port}`)],
    ["open", /could be read on the way/],
    ["chatty", /standard output/],
  ]) {
    const its = card(page, `desk-${name}`);
    await expect(its.getByText("Needs your approval")).toBeVisible();
    await believe(its, "Approve and turn on");
    await person.reads(its.locator(".problem"), ...words);
    await settled(page);
    await picture(page, `12-${name}`, its);
  }
  await approve(page, "desk-polite");
  await person.newChat();
  await call(page, person, "light_lamp");
  await answered(page, "The lamp is lit by");
  keeper = Number(/lit by (\d+)/.exec(await last(page).innerText())[1]);
  expect(running(keeper)).toBe(true);
});

test("a configuration that cannot be read names the line, and one that is taken away ends its servers", async ({
  page,
  place,
  person,
}) => {
  await panel(page);
  rmSync(join(place.plugins, "desk"), { recursive: true });
  await expect(page.locator('[data-plugin^="desk"]')).toHaveCount(0);
  await expect.poll(() => running(keeper)).toBe(false);
  write(place, "broken", '{\n  "mcpServers": {\n    "one": { "command": "node", }}\n  }\n');
  write(place, "wrong", '{\n  "mcpServers": {\n    "one": { "command": ["node"] },\n  }\n');
  await settled(page);
  await expect(card(page, "wrong").or(card(page, "wrong-one"))).toBeVisible();
  await picture(page, "13-wrong");
  await person.reads(page.getByRole("tabpanel"), /line \d|:\d/);
  for (const name of ["broken", "wrong", "everything"]) rmSync(join(place.plugins, name), { recursive: true });
  await expect(card(page, "everything")).toHaveCount(0);
  await expect(page.getByRole("button", { name: /^\d+ tools?$/ })).toHaveCount(0);
});

test("a pasted entry comes to its first answer with four presses, and a wrong one to its sentence with three", async ({
  page,
  place,
  person,
}) => {
  const script = join(place.home, "polite.mjs");
  writeFileSync(script, polite);
  const began = performance.now();
  const paste = async (text) => {
    await page.getByRole("button", { name: "Add MCP server…" }).click();
    const dialog = page.getByRole("dialog", { name: "Add MCP server" });
    await dialog.getByRole("textbox").fill(text);
    await picture(page, "14-paste");
    await dialog.getByRole("button", { name: "Add", exact: true }).click();
  };
  await panel(page);
  await paste(JSON.stringify({ mcpServers: { lamp: { command: "node", args: [script] } } }));
  await approve(page, "lamp");
  await person.newChat();
  await call(page, person, "light_lamp");
  await answered(page, "The lamp is lit by");
  const seconds = [(performance.now() - began) / 1000];
  await paste("What is this?");
  await expect(page.getByText("It is neither a configuration, a link, an address nor a command")).toBeVisible();
  await page.keyboard.press("Escape");
  const again = performance.now();
  await paste(JSON.stringify({ mcpServers: { clock: { command: "uvy", args: ["mcp-server-time"] } } }));
  const its = card(page, "clock");
  await believe(its, "Approve and turn on");
  await person.reads(its.locator(".problem"), /uvy was not found/);
  seconds.push((performance.now() - again) / 1000);
  test.info().annotations.push({ type: "seconds", description: seconds.map((one) => one.toFixed(1)).join(", ") });
  if (process.env.CONCLAVE_PICTURES)
    console.log(`${seconds.map(Math.round)} s to the first answer, and to the sentence`);
  await picture(page, "14-wrong", its);
});

/** Six servers as people have them in Claude Desktop: two that work, and four that do not. */
const six = (home) => ({
  beacon: { command: "node", args: [join(home, "beacon.mjs")] },
  ferry: { command: "node", args: [join(home, "ferry.mjs")] },
  fetch: { command: "uvy", args: ["mcp-server-fetch"] },
  adverts: { command: "node", args: [join(home, "chatty.mjs")] },
  moved: { command: "node", args: [join(home, "gone", "index.js")] },
  weather: { command: "node", args: [join(home, "weather.mjs")], env: { WEATHER_KEY: "your-key-here" } },
});

test("six servers of another program come to the first answer of a tool with six presses, and each that fails says why", async ({
  page,
  place,
  person,
}) => {
  const scripts = {
    "beacon.mjs": polite.replace("light_lamp", "light_beacon"),
    "ferry.mjs": polite.replace("light_lamp", "call_ferry"),
    "chatty.mjs": chatty,
    "weather.mjs": `console.error("Error: 401 Unauthorized: check WEATHER_KEY");\nprocess.exit(1);\n`,
  };
  for (const [name, code] of Object.entries(scripts)) writeFileSync(join(place.home, name), code);
  const desktop = join(place.home, "config", "Claude");
  mkdirSync(desktop, { recursive: true });
  writeFileSync(join(desktop, "claude_desktop_config.json"), JSON.stringify({ mcpServers: six(place.home) }));
  const began = performance.now();
  await panel(page);
  await page.getByRole("button", { name: "Add MCP server…" }).click();
  const dialog = page.getByRole("dialog", { name: "Add MCP server" });
  await dialog.getByRole("button", { name: "Claude Desktop" }).click();
  // Nobody keeps secrets here, so one is asked for again.
  await person.reads(dialog, "Added 6 servers", "weather: Its secrets were not kept", "Settings > Models");
  await expect(dialog).not.toContainText("is in the keychain");
  await dialog.getByRole("button", { name: "Done" }).click();
  await approve(page, "beacon");
  await person.newChat();
  await call(page, person, "light_beacon");
  await answered(page, "The lamp is lit by");
  const seconds = [(performance.now() - began) / 1000];
  await approve(page, "ferry");
  for (const [name, ...words] of [
    ["fetch", /uvy was not found/, "Choose where uvy is…"],
    ["adverts", /standard output/, "Star us on the web", "Try again"],
    ["moved", /Cannot find module/, "Try again"],
    ["weather", /needs settings before it is started: WEATHER_KEY/],
  ]) {
    const at = performance.now();
    await believe(card(page, name), "Approve and turn on");
    await person.reads(card(page, name).locator(".problem"), ...words);
    seconds.push((performance.now() - at) / 1000);
    await picture(page, `15-${name}`, card(page, name));
  }
  await expect(card(page, "weather").getByLabel("WEATHER_KEY")).toBeVisible(); // the form that it needs is open
  if (process.env.CONCLAVE_PICTURES)
    console.log(`${seconds.map((one) => one.toFixed(1))} s to the first answer, and to each sentence`);
});

test("a server that says the time in its words is of use once the approved words are kept", async ({
  page,
  place,
  person,
}) => {
  const clock = polite.replace('"Lights the lamp."', '"Tells the time. It is " + Date.now() + "."');
  const files = { "clock.mjs": clock.replace("light_lamp", "tell_time").replace("The lamp is lit", "Told") };
  write(place, "clockwork", { mcpServers: { clockwork: { command: "node", args: ["clock.mjs"] } } }, files);
  const told = async () => {
    await person.newChat();
    await call(page, person, "tell_time");
    await answered(page, "Told by");
    return /Told by (\d+)/.exec(await last(page).innerText())[1];
  };
  await panel(page);
  const its = card(page, "clockwork");
  await approve(page, "clockwork");
  const approved = await told();
  place.told("plugins", "reload", "clockwork");
  // The process that was approved goes on, and the card says so.
  await person.reads(its, "New version to review", /is used until then/, "Only what models read about its tools");
  await picture(page, "16-asks", its);
  expect(await told()).toBe(approved);
  await its.getByRole("button", { name: "Keep the words I approved" }).click();
  await person.reads(its, "Ready", "in other words than you approved: tell_time");
  await picture(page, "16-kept", its);
  expect(await told()).not.toBe(approved);
  place.told("plugins", "reload", "clockwork");
  await expect(its.getByText("Ready", { exact: true })).toBeVisible();
  await told();
  await person.reads(its, "Ready", "in other words than you approved: tell_time");
  await its.getByRole("button", { name: "Show me its new words" }).click();
  await person.reads(its, "What changed", "Keep the words I approved");
  await picture(page, "16-shown", its);
  rmSync(join(place.plugins, "clockwork"), { recursive: true });
  await expect(its).toHaveCount(0);
});

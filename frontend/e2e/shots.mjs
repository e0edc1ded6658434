// Pictures of every state in both themes, to be looked at: node e2e/shots.mjs [folder] [name filter]
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { armed, launch, open, palette, serve } from "./harness.mjs";
import { pages, prompt } from "./states.mjs";

const folder = process.argv[2] ?? join(tmpdir(), "conclave-shots");
const only = process.argv[3] ?? "";
await mkdir(folder, { recursive: true });

// name → the scene, what is done in it, and the size of the window
const shots = {
  ...prompt,
  ...pages,
  welcome: { scene: "welcome" },
  "welcome-scanned": {
    scene: "welcome",
    act: async (p) => {
      await p.getByRole("button", { name: "Look for local models" }).click();
      await p.getByRole("button", { name: "Use" }).waitFor();
    },
  },
  chat: { scene: "chat" },
  showcase: {
    scene: "showcase",
    act: async (p) => {
      await p.locator(".katex").first().waitFor();
      await p.locator(".drawing").first().waitFor();
    },
    height: 1700,
  },
  states: { scene: "states" },
  streaming: { scene: "streaming" },
  waiting: {
    scene: "waiting",
    act: (p) => p.getByText(/Waiting for .* 1 s/).waitFor(),
  },
  reach: {
    scene: "chat",
    act: async (p) => {
      await p.getByRole("tab", { name: /^Plugins/ }).click();
      await p
        .locator("[data-plugin=dice]")
        .getByRole("button", { name: /^More for/ })
        .click();
      await p.getByRole("menuitem", { name: "What it may reach…" }).click();
      await p.getByRole("dialog").waitFor();
    },
  },
  "project-dialog": {
    scene: "project",
    act: async (p) => {
      await p.getByRole("button", { name: /^Project / }).click();
      await p.getByRole("dialog").waitFor();
    },
  },
  tool: {
    scene: "tool",
    act: async (p) => {
      await p.locator(".message .tool .line").last().click();
      await p.getByText("Why was this allowed?").waitFor();
      await p.waitForTimeout(300);
    },
  },
  "tool-error": { scene: "toolerror" },
  pluginerror: { scene: "pluginerror" },
  log: {
    scene: "pluginerror",
    act: async (p) => {
      await p.getByRole("button", { name: "Show log" }).click();
      await p.waitForTimeout(300);
    },
  },
  newplugin: {
    scene: "chat",
    act: async (p) => {
      await palette(p, "new plugin");
      await p.getByText("Kind").waitFor();
    },
  },
  addplugin: {
    scene: "refusesplugin",
    act: async (p) => {
      await p.getByRole("button", { name: "Add plugin…" }).click();
      await p.getByLabel("Address or path").fill("http://example.org/moon.git");
      await p.keyboard.press("Enter");
      await p.getByText("A plugin is fetched over https only").waitFor();
    },
  },
  packages: { scene: "packages", height: 1000 },
  pluginsettings: {
    scene: "settings",
    act: async (p) => {
      await p.locator("[data-plugin=weather]").getByText("Settings", { exact: true }).click();
      await p.getByLabel("Days").waitFor();
    },
    height: 1500,
  },
  palette: {
    scene: "chat",
    act: async (p) => {
      await p.keyboard.press("Control+k");
      await p.waitForTimeout(200);
    },
  },
  find: {
    scene: "chat",
    act: async (p) => {
      await p.keyboard.press("Control+f");
      await p.keyboard.type("tool");
      await p
        .getByText(/1 of|of \d/)
        .first()
        .waitFor();
    },
  },
  edit: {
    scene: "chat",
    act: async (p) => {
      await p.locator(".message.user").first().hover();
      await p.locator(".message.user").first().getByRole("button", { name: "Edit" }).click();
      await p.waitForTimeout(200);
    },
  },
  versions: { scene: "versions" },
  info: {
    scene: "chat",
    act: async (p) => {
      await p.getByRole("button", { name: "More for this message" }).last().click();
      await p.getByRole("menuitem", { name: "Info" }).click();
      await p.getByText("Exact request").or(p.getByText("Request ·")).first().waitFor();
    },
  },
  changes: {
    scene: "changes",
    act: async (p) => {
      await p.getByRole("button", { name: /^Undo/ }).waitFor();
    },
  },
  "changes-undone": {
    scene: "changes",
    act: async (p) => {
      await p.locator(".message .tool .line").last().click();
      await p.getByRole("button", { name: /^Undo/ }).click();
      await p.getByText("as before the call").waitFor();
    },
  },
  hooks: { scene: "hooks" },
  "hooks-one": {
    scene: "hooks",
    act: async (p) => {
      await p.getByRole("button", { name: "Lorebook changed this" }).click();
      await p.getByText("three gates; the third").waitFor();
    },
  },
  "hooks-all": {
    scene: "hooks",
    act: async (p) => {
      await p.getByRole("button", { name: /changed this ·/ }).click();
      await p.getByText("Nothing is counted").waitFor();
    },
    height: 1500,
  },
  "hooks-none": {
    scene: "chat",
    act: async (p) => {
      await p.getByRole("button", { name: "More for this message" }).last().click();
      await p.getByRole("menuitem", { name: "Plugin changes" }).click();
      await p.getByText("No plugin hook ran").waitFor();
    },
  },
  "hooks-small": {
    scene: "hooks",
    width: 640,
    height: 480,
    act: async (p) => {
      await p.getByRole("button", { name: /changed this ·/ }).click();
      await p.getByText("Nothing is counted").waitFor();
    },
  },
  settings: {
    scene: "models",
    act: async (p) => {
      await p.keyboard.press("Control+,");
    },
  },
  models: {
    scene: "models",
    act: async (p) => {
      await p.keyboard.press("Control+,");
      await p.getByRole("button", { name: "Models", exact: true }).click();
      await p.getByRole("button", { name: "Add a connection" }).click();
    },
    height: 1300,
  },
  ...Object.fromEntries(
    [
      "council",
      "councilreview",
      "councilrefused",
      "councilempty",
      "councilset",
      "councilproblems",
      "councillive",
      "councilasking",
      "councilfailed",
      "councilone",
      "councilcap",
      "councilinterrupted",
      "counciledited",
      "councilvote",
      "councilsealed",
      "councilagain",
      "counciltwelve",
    ].map((scene) => [scene, { scene, act: (p) => p.locator(".council .use").waitFor(), height: 1300 }]),
  ),
  ...Object.fromEntries(
    [
      ["council", 900],
      ["council", 720],
      ["councillive", 900],
      ["councilset", 720],
    ].map(([scene, width]) => [
      `${scene}-${width}`,
      {
        scene,
        width,
        height: 832,
        act: async (p) => {
          await p.getByRole("button", { name: "Show the panel" }).click();
          await p.locator(".council .use").waitFor();
        },
      },
    ]),
  ),
  ...Object.fromEntries(
    [
      ["council", "Sceptic"],
      ["councilhanded", "Researcher"],
    ].map(([scene, name]) => [
      `${scene}-seen`,
      {
        scene,
        act: async (p) => {
          await p.getByRole("button", { name: `More for the lane of ${name}` }).click();
          await p.getByRole("menuitem", { name: `What did ${name} see?` }).click();
          await p.getByRole("dialog").locator(".blocks li").first().waitFor();
        },
      },
    ]),
  ),
  "council-refused": {
    scene: "councilset",
    act: async (p) => {
      await p.evaluate(() => {
        globalThis.fake.council.Set = () => {
          const message = "The role of a member can have at most 500 characters.";
          return Promise.reject({
            kind: "invalid",
            message,
            hint: "Make the role of Maker shorter.",
          });
        };
      });
      await p.locator("[data-member=maker] .who").click();
      await p.getByLabel("Role", { exact: true }).fill("Proposes what to do, at length");
      await p.getByText("Make the role of Maker shorter.").waitFor();
    },
    height: 832,
  },
  "council-table": {
    scene: "councilrefused",
    act: (p) => p.getByRole("button", { name: "As a table" }).click(),
    height: 1000,
  },
  "council-wide": {
    scene: "councilreview",
    act: async (p) => {
      await p.getByRole("button", { name: "Use the full width" }).click();
      await p.getByRole("button", { name: "Show next to the conversation" }).waitFor();
    },
    height: 1100,
  },
  "council-member": {
    scene: "councilset",
    act: async (p) => {
      await p.locator("[data-member]").first().getByText("Researcher").first().click();
      await p.getByLabel("Name").first().waitFor();
    },
    height: 1600,
  },
  presets: {
    scene: "councilpresets",
    act: async (p) => {
      await p.keyboard.press("Control+,");
      await p.getByRole("button", { name: "Council presets", exact: true }).click();
      await p.getByText("My reviewers").waitFor();
    },
  },
  keys: {
    scene: "chat",
    act: async (p) => {
      await p.keyboard.press("Control+/");
    },
  },
  about: {
    scene: "chat",
    act: async (p) => {
      await p.keyboard.press("Control+,");
      await p.getByRole("button", { name: "About", exact: true }).click();
    },
  },
  toast: {
    scene: "chat",
    act: async (p) => {
      await p.locator(".chat-row, [data-chat-row]").nth(2).hover();
      await p.getByRole("button", { name: /^More for Trip/ }).click();
      await p.getByRole("menuitem", { name: "Delete" }).click();
      await p.waitForTimeout(200);
    },
  },
  paste: {
    scene: "chat",
    act: async (p) => {
      await p.getByLabel("Message", { exact: true }).focus();
      await p.evaluate(() => {
        const d = new DataTransfer();
        d.setData("text/plain", "word ".repeat(1000));
        const a = document.querySelector("textarea");
        a.dispatchEvent(new ClipboardEvent("paste", { clipboardData: d, bubbles: true }));
        document.execCommand("insertText", false, "word ".repeat(1000));
      });
      await p.waitForTimeout(200);
    },
  },
  paused: {
    scene: "chat",
    act: async (p) => {
      await p.keyboard.press("Control+Shift+Backspace");
      await p.waitForTimeout(200);
    },
  },
  trouble: { scene: "trouble" },
  bare: { scene: "bare" },
  empty: { scene: "empty" },
  manychats: { scene: "manychats" },
  narrow: { scene: "chat", width: 860, height: 700 },
  medium: { scene: "chat", width: 1000, height: 700 },
  smallest: { scene: "chat", width: 720, height: 480 },
  zoomed: {
    scene: "permission",
    width: 640,
    height: 416,
    act: (p) => armed(p, "Allow once"),
  },
};

const site = await serve();
const browser = await launch();
for (const [name, { act, ...options }] of Object.entries(shots)) {
  if (only && !name.match(only)) continue;
  for (const theme of name === "chat" || name === "permission" ? ["light", "dark", "contrast"] : ["light", "dark"]) {
    const page = await open(browser, site.url, { ...options, theme });
    try {
      await act?.(page);
      await page.waitForTimeout(150);
    } catch (error) {
      console.error(`${name} ${theme}: ${String(error).split("\n")[0]}`);
    }
    for (const error of page.errors) console.error(`${name} ${theme}: ${error}`);
    await page.screenshot({ path: join(folder, `${name}-${theme}.png`) });
    await page.close();
  }
}
await browser.close();
site.close();
console.log(`pictures are in ${folder}`);

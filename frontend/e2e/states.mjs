// States of the page: name → its scene, what is done in it, and the size of the window. Pictures are
// taken of each (pictures.mjs), and axe looks at most (scenes/access.mjs).
import { expect } from "@playwright/test";
import { armed, palette, settings } from "./page.mjs";

const permissions = (page) => settings(page, "Permissions");

const press = (page, name, at = 0) => page.getByRole("button", { name }).nth(at).click();

/** Opens the choices of the first card that last longer than once. */
async function more(page) {
  await armed(page, "Allow more…");
  await press(page, "Allow more…");
  await expect(page.getByRole("group", { name: "Allow more…" })).toBeVisible();
}

/** Opens the sheet that lets tools run without asking. */
async function unattended(page) {
  await palette(page, "run without asking");
  await expect(page.getByRole("dialog").getByText("will still ask")).toBeVisible();
}

/** Opens the record of all chats. */
async function everywhere(page) {
  await page.getByText("All chats").click();
  await expect(page.getByText("Timed out")).toBeVisible();
}

/** The prompt, and the pages of permissions and activity. */
export const states = {
  question: { scene: "question", act: (p) => armed(p, "Send") },
  slash: {
    scene: "shared",
    act: async (p) => {
      await p.getByLabel("Message", { exact: true }).fill("/");
      await p.getByRole("option").first().waitFor();
    },
  },
  resources: {
    scene: "shared",
    act: async (p) => {
      await p.getByRole("button", { name: "Attach files" }).click();
      await p.getByRole("menuitem", { name: "From a plugin" }).click();
      await p.getByRole("dialog").getByText("Jane Austen").waitFor();
    },
  },
  prompt: {
    scene: "shared",
    act: async (p) => {
      await p.getByLabel("Message", { exact: true }).fill("/summ");
      await p.getByRole("option").first().click();
      await p.getByRole("dialog").waitFor();
    },
  },
  "question-address": { scene: "questionaddress", act: (p) => armed(p, "Open in the browser") },
  permission: { scene: "permission", act: (p) => armed(p, "Allow once") },
  "permission-more": {
    scene: "permission",
    act: async (p) => {
      await more(p);
      await armed(p, /^(Always|始终).+/);
    },
  },
  "permission-details": {
    scene: "permission",
    act: async (p) => {
      await press(p, "Show details");
      await armed(p, "Allow once");
    },
  },
  "permission-edited": {
    scene: "permission",
    act: async (p) => {
      await press(p, "Edit before allowing");
      await p.getByLabel("Exact action").fill('{ "path": ');
      await expect(p.getByText("This is not a valid JSON object.")).toBeVisible();
    },
  },
  "permission-deny": {
    scene: "permission",
    act: async (p) => {
      await press(p, "More ways to deny");
      await expect(p.getByRole("menu")).toBeVisible();
    },
  },
  "permission-why": {
    scene: "permission",
    act: async (p) => {
      await press(p, "More ways to deny");
      await p.getByRole("menuitem", { name: "Deny with a reason…" }).click();
      await p.getByLabel("Reason for the model").fill("Write it to Letters instead.");
      await armed(p, "Allow once");
    },
  },
  "permission-same": {
    scene: "permission",
    act: async (p) => {
      await p.evaluate(() => globalThis.fake.permissions.join());
      await expect(p.getByText("2 such requests will be answered together.")).toBeVisible();
      await armed(p, "Allow once");
    },
  },
  "permission-alone": {
    scene: "welcome",
    act: async (p) => {
      await p.evaluate(() =>
        globalThis.fake.permissions.askAlone(
          {
            tool: "pages:(network)",
            title: "connect to api.example.org",
            doing: "connect to api.example.org",
            plugin: "Pages",
          },
          { host: "https://api.example.org:443" },
        ),
      );
      await armed(p, "Allow once");
    },
  },
  "permission-member": { scene: "councilpermission", act: more },
  "permission-next": {
    scene: "next",
    act: async (p) => {
      await armed(p, "Allow once");
      await press(p, "Allow once");
      await expect(p.getByRole("heading", { name: /post a comment/ })).toBeVisible();
      await armed(p, "Allow once");
    },
  },
  "permission-reaches": {
    scene: "reaches",
    act: (p) => armed(p, "Allow once"),
    height: 1300,
  },
  rewritten: {
    scene: "rewritten",
    act: async (p) => {
      await armed(p, "Allow once");
      await expect(p.getByText("What will run").last()).toBeVisible();
    },
    height: 1300,
  },
  unseen: {
    scene: "unseen",
    act: async (p) => {
      await p.getByRole("button", { name: "View", exact: true }).click();
      await armed(p, "Allow once");
    },
  },
  previews: { scene: "previews", act: (p) => armed(p, "Allow once"), height: 1300 },
  kinds: { scene: "kinds", act: (p) => armed(p, "Allow all 4 once") },
  hurried: { scene: "hurried", act: (p) => armed(p, "Allow from now on") },
  tainted: { scene: "tainted", act: more },
  project: {
    scene: "project",
    act: async (p) => {
      await more(p);
      await armed(p, /^(In this project|在此项目).+/);
    },
  },
  batch: { scene: "batch", act: (p) => armed(p, "Allow all 6 once") },
  "batch-each": {
    scene: "batch",
    act: async (p) => {
      await press(p, "Review each");
      await armed(p, "Allow once");
    },
    height: 1700,
  },
  approval: {
    scene: "approval",
    dock: true,
    act: async (p) => {
      await p.getByRole("button", { name: "View", exact: true }).click();
      await armed(p, /^Approve/);
    },
    height: 1300,
  },
  unattended: { scene: "permission", act: unattended },
  "unattended-on": {
    scene: "chat",
    act: async (p) => {
      await unattended(p);
      await press(p, "Let tools run");
      await expect(p.getByRole("timer")).toBeVisible();
    },
  },
  activity: {
    scene: "activity",
    dock: true,
    act: async (p) => {
      await everywhere(p);
      await press(p, /Saved a note.*Done/);
      await expect(p.getByText("you allowed it once")).toBeVisible();
    },
    height: 1100,
  },
  "activity-changes": {
    scene: "changes",
    dock: true,
    act: async (p) => {
      await p.getByRole("tab", { name: "Activity" }).click();
      const tab = p.getByRole("tabpanel", { name: "Activity" });
      await tab.getByRole("button", { name: /^Tidied notes Main/ }).click();
      await expect(tab.getByText("2025/may.md")).toBeVisible();
    },
  },
  "activity-broken": {
    scene: "activity-broken",
    dock: true,
    act: (p) => expect(p.getByText("changed outside Conclave")).toBeVisible(),
  },
  "activity-none": {
    scene: "chat",
    dock: true,
    act: async (p) => {
      await p.getByRole("tab", { name: "Activity" }).click();
      await expect(p.getByText("No tool has run in this chat")).toBeVisible();
    },
  },
  permissions: {
    scene: "grants",
    act: async (p) => {
      await permissions(p);
      await p.getByRole("button", { name: "Notes", exact: true }).click();
      await expect(p.getByText("Write note: ")).toBeVisible();
    },
    height: 1100,
  },
  "permissions-filtered": {
    scene: "grants",
    act: async (p) => {
      await permissions(p);
      await p.getByText("Unused for 90 days", { exact: true }).click();
    },
  },
  "permissions-many": {
    scene: "manypermissions",
    act: async (p) => {
      await permissions(p);
      await expect(p.getByRole("table")).toBeVisible();
    },
  },
  "permissions-none": {
    scene: "empty",
    act: permissions,
  },
  permissionmode: {
    scene: "grants",
    act: async (p) => {
      await permissions(p);
      await p.getByText("Careful", { exact: true }).click();
      await expect(p.getByRole("button", { name: "Use this mode" })).toBeVisible();
    },
    height: 1100,
  },
  permissionrule: {
    scene: "grants",
    act: async (p) => {
      await permissions(p);
      await press(p, "New rule…");
      await p.getByLabel("Tool", { exact: true }).click();
      await p.getByRole("option").first().click();
      await press(p, "Test on last week’s calls");
      await expect(p.getByText("Of 42 calls in the last 7 days")).toBeVisible();
    },
  },
  "old-versions": {
    scene: "changes",
    act: async (p) => {
      await permissions(p);
      await press(p, "Remove all");
    },
  },
};

/** The other pages. Axe looks at some of them. */
export const others = {
  welcome: { scene: "welcome" },
  "welcome-scanned": {
    scene: "welcome",
    act: async (p) => {
      await p.getByRole("button", { name: "Look for local models" }).click();
      await expect(p.getByRole("button", { name: "Use" })).toBeVisible();
    },
  },
  chat: { scene: "chat" },
  showcase: {
    scene: "showcase",
    act: async (p) => {
      await expect(p.locator(".katex").first()).toBeVisible();
      await expect(p.locator(".drawing").first()).toBeVisible();
    },
    height: 1700,
  },
  states: { scene: "states" },
  streaming: { scene: "streaming" },
  waiting: {
    scene: "waiting",
    act: (p) => expect(p.getByText(/Waiting for .* 1 s/)).toBeVisible(),
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
      await expect(p.getByRole("dialog")).toBeVisible();
    },
  },
  "project-dialog": {
    scene: "project",
    act: async (p) => {
      await p.getByRole("button", { name: /^Project / }).click();
      await expect(p.getByRole("dialog")).toBeVisible();
    },
  },
  tool: {
    scene: "tool",
    act: async (p) => {
      await p.locator(".message .tool .line").last().click();
      await expect(p.getByText("Why was this allowed?")).toBeVisible();
      await p.waitForTimeout(300);
    },
  },
  "tool-error": { scene: "toolerror" },
  pluginerror: { scene: "pluginerror", dock: true },
  log: {
    scene: "pluginerror",
    dock: true,
    act: async (p) => {
      await p.getByRole("button", { name: "Show log" }).click();
      await p.waitForTimeout(300);
    },
  },
  newplugin: {
    scene: "chat",
    act: async (p) => {
      await palette(p, "new plugin");
      await expect(p.getByText("Kind")).toBeVisible();
    },
  },
  addplugin: {
    scene: "refusesplugin",
    act: async (p) => {
      await p.getByRole("button", { name: "Add plugin…" }).click();
      await p.getByLabel("Address or path").fill("http://example.org/moon.git");
      await p.keyboard.press("Enter");
      await expect(p.getByText("A plugin is fetched over https only")).toBeVisible();
    },
  },
  packages: { scene: "packages", dock: true, height: 1000 },
  pluginsettings: {
    scene: "settings",
    dock: true,
    act: async (p) => {
      await p.locator("[data-plugin=weather]").getByText("Settings", { exact: true }).click();
      await expect(p.getByLabel("Days")).toBeVisible();
    },
    height: 1500,
  },
  palette: {
    scene: "chat",
    act: async (p) => {
      await p.keyboard.press("Control+k");
      await expect(p.locator(".palette input:focus")).toBeVisible();
      await expect(p.locator(".palette [role=option]").first()).toBeVisible();
    },
  },
  find: {
    scene: "chat",
    act: async (p) => {
      await p.keyboard.press("Control+f");
      await p.keyboard.type("tool");
      await expect(p.getByText(/1 of|of \d/).first()).toBeVisible();
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
      await expect(p.getByText("Exact request").or(p.getByText("Request ·")).first()).toBeVisible();
    },
  },
  changes: {
    scene: "changes",
    act: async (p) => {
      await expect(p.getByRole("button", { name: /^Undo/ })).toBeVisible();
    },
  },
  "changes-undone": {
    scene: "changes",
    act: async (p) => {
      await p.locator(".message .tool .line").last().click();
      await p.getByRole("button", { name: /^Undo/ }).click();
      await expect(p.getByText("as before the call")).toBeVisible();
    },
  },
  hooks: { scene: "hooks" },
  "hooks-one": {
    scene: "hooks",
    act: async (p) => {
      await p.getByRole("button", { name: "Lorebook changed this" }).click();
      await expect(p.getByText("three gates; the third")).toBeVisible();
    },
  },
  "hooks-all": {
    scene: "hooks",
    act: async (p) => {
      await p.getByRole("button", { name: /changed this ·/ }).click();
      await expect(p.getByText("Nothing is counted")).toBeVisible();
    },
    height: 1500,
  },
  "hooks-none": {
    scene: "chat",
    act: async (p) => {
      await p.getByRole("button", { name: "More for this message" }).last().click();
      await p.getByRole("menuitem", { name: "Plugin changes" }).click();
      await expect(p.getByText("No plugin hook ran")).toBeVisible();
    },
  },
  "hooks-small": {
    scene: "hooks",
    width: 640,
    height: 480,
    act: async (p) => {
      await p.getByRole("button", { name: /changed this ·/ }).click();
      await expect(p.getByText("Nothing is counted")).toBeVisible();
    },
  },
  general: { scene: "chat", act: (p) => settings(p, "General") },
  models: {
    scene: "models",
    act: async (p) => {
      await settings(p, "Models");
      await p.getByRole("button", { name: "Add a connection" }).click();
      await expect(p.locator("form.card :focus")).toBeVisible();
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
    ].map((scene) => [
      scene,
      { scene, act: (p) => expect(p.locator(".council .use")).toBeVisible(), dock: true, height: 1300 },
    ]),
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
          await expect(p.locator(".council .use")).toBeVisible();
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
          await expect(p.getByRole("dialog").locator(".blocks li").first()).toBeVisible();
        },
      },
    ]),
  ),
  "council-refused": {
    scene: "councilset",
    dock: true,
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
      await expect(p.getByText("Make the role of Maker shorter.")).toBeVisible();
    },
    height: 832,
  },
  "council-table": {
    scene: "councilrefused",
    dock: true,
    act: (p) => p.getByRole("button", { name: "As a table" }).click(),
    height: 1000,
  },
  "council-wide": {
    scene: "councilreview",
    act: async (p) => {
      await p.getByRole("button", { name: "Use the full width" }).click();
      await expect(p.getByRole("button", { name: "Show next to the conversation" })).toBeVisible();
    },
    height: 1100,
  },
  "council-member": {
    scene: "councilset",
    dock: true,
    act: async (p) => {
      await p.locator("[data-member]").first().getByText("Researcher").first().click();
      await expect(p.getByLabel("Name").first()).toBeVisible();
    },
    height: 1600,
  },
  presets: {
    scene: "councilpresets",
    act: async (p) => {
      await settings(p, "Council presets");
      await expect(p.getByText("My reviewers")).toBeVisible();
    },
  },
  keys: {
    scene: "chat",
    act: async (p) => {
      await p.keyboard.press("Control+/");
      const heading = p.getByRole("heading", { name: "Keys and shortcuts", exact: true });
      await expect(heading).toBeVisible();
    },
  },
  about: {
    scene: "chat",
    act: (p) => settings(p, "About"),
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

// Every state of the prompt and of the pages of permissions and activity: name → its scene, what
// is done in it, and the height of the window. Pictures are taken of each (shots.mjs), and axe
// looks at each (scenes/access.mjs).
import { armed, palette } from "./page.mjs";

/** Opens the page of permissions. */
async function permissions(page) {
  await page.keyboard.press("Control+,");
  await page.getByRole("button", { name: "Permissions", exact: true }).click();
  await page.getByRole("heading", { name: "Permissions", exact: true }).waitFor();
}

const press = (page, name, at = 0) => page.getByRole("button", { name }).nth(at).click();

/** Opens the choices of the first card that last longer than once. */
async function more(page) {
  await armed(page, "Allow more…");
  await press(page, "Allow more…");
  await page.getByRole("group", { name: "Allow more…" }).waitFor();
}

/** Opens the sheet that lets tools run without asking. */
async function unattended(page) {
  await palette(page, "run without asking");
  await page.getByRole("dialog").getByText("will still ask").waitFor();
}

/** Opens the record of all chats. */
async function everywhere(page) {
  await page.getByText("All chats").click();
  await page.getByText("Timed out").waitFor();
}

export const prompt = {
  permission: { scene: "permission", act: (p) => armed(p, "Allow once") },
  "permission-more": {
    scene: "permission",
    act: async (p) => {
      await more(p);
      await armed(p, /^Always, only in/);
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
      await p.getByText("This is not a valid JSON object.").waitFor();
    },
  },
  "permission-deny": {
    scene: "permission",
    act: async (p) => {
      await press(p, "More ways to deny");
      await p.getByRole("menu").waitFor();
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
      await p.getByText("2 such requests will be answered together.").waitFor();
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
      await p.getByRole("heading", { name: /post a comment/ }).waitFor();
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
      await p.getByText("What will run").last().waitFor();
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
      await armed(p, /^In this project, only/);
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
      await p.getByRole("timer").waitFor();
    },
  },
};

export const pages = {
  activity: {
    scene: "activity",
    act: async (p) => {
      await everywhere(p);
      await press(p, /Saved a note.*Done/);
      await p.getByText("you allowed it once").waitFor();
    },
    height: 1100,
  },
  "activity-changes": {
    scene: "changes",
    act: async (p) => {
      await p.getByRole("tab", { name: "Activity" }).click();
      const tab = p.getByRole("tabpanel", { name: "Activity" });
      await tab.getByRole("button", { name: /^Tidied notes Main/ }).click();
      await tab.getByText("2025/may.md").waitFor();
    },
  },
  "activity-broken": {
    scene: "activity-broken",
    act: (p) => p.getByText("changed outside Conclave").waitFor(),
  },
  "activity-none": {
    scene: "chat",
    act: async (p) => {
      await p.getByRole("tab", { name: "Activity" }).click();
      await p.getByText("No tool has run in this chat").waitFor();
    },
  },
  permissions: {
    scene: "grants",
    act: async (p) => {
      await permissions(p);
      await p.getByRole("button", { name: "Notes", exact: true }).click();
      await p.getByText("Write note: ").waitFor();
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
      await p.getByRole("table").waitFor();
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
      await p.getByRole("button", { name: "Use this mode" }).waitFor();
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
      await p.getByText("Of 42 calls in the last 7 days").waitFor();
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

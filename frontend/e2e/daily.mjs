// States of what is used every day (states.mjs): the list of chats, the composer, the pages around a chat.
import { palette, settings } from "./page.mjs";

const first = (page, at) => page.locator(at).first();

/** Opens the menu of an answer. */
const answerMenu = (page) => page.getByRole("button", { name: "More for this message" }).last().click();

/** Opens the menu of the chat, and chooses an item of it. */
async function chatMenu(page, item) {
  await page.locator(".header [aria-haspopup=menu]").click();
  if (item) await page.getByRole("menuitem", { name: item, exact: true }).click();
}

/** What a question is answered with from here on. */
const answers = (page, question, answer) =>
  page.evaluate(([question, answer]) => (globalThis.fake.scene.answers[question] = answer), [question, answer]);

/** The context of the model, counted again for what is written. */
async function filled(page, fill) {
  await page.evaluate((fill) => {
    const { context } = globalThis.fake;
    context.fill = { ...context.fill, ...fill };
  }, fill);
  await first(page, "textarea").fill("And how do I count the sentences?");
  await page.waitForTimeout(900);
}

const over = { turns: 118_400, system: 620, draft: 40, used: 120_300, from: 4, left: 12 };

const prompts = [
  ["Summarize a page", "Summarize {{text:lines}} in {{words:number}} words, {{tone:choice(kind, firm)}}."],
  ["Letter to the landlord", "Write to my landlord about {{matter}} before {{day:date}}."],
  ["Plain words", "Say that again in plain words."],
].map(([title, text], i) => ({
  ...{ id: `p${i}`, title, text },
  places: [...text.matchAll(/\{\{(\w+):?(\w*)(?:\(([^)]*)\))?\}\}/g)].map(([, name, kind, choices]) => ({
    ...{ name, kind: kind || "text", choices: choices?.split(", ") ?? [] },
  })),
}));
const own = (page) => page.evaluate((own) => (globalThis.fake.prompts.own = own), prompts);

const branches = [
  { seq: 1, role: "user", words: "How would I write a tool that counts words?", entries: 2, depth: 0, shown: true },
  { seq: 3, role: "user", words: "Good. Keep it short next time.", entries: 2, depth: 1, shown: true },
  { seq: 5, role: "user", words: "And in JavaScript?", entries: 14, depth: 1, shown: false },
  {
    seq: 19,
    role: "assistant",
    words: "A script that exports one function is enough.",
    entries: 2,
    depth: 2,
    shown: false,
  },
  { seq: 21, role: "user", words: "", entries: 1, depth: 2, shown: false },
];

/** Tools of other programs that are connected by the Model Context Protocol, in one state each. */
const servers = (page) =>
  page.evaluate(() => {
    const { plugins, bus } = globalThis.fake;
    const [one] = plugins.list;
    const server = (id, name, change) => ({
      ...one,
      ...{ id, name, remote: true, shipped: false, developing: false, origin: "", path: `/home/ada/plugins/${id}` },
      ...{ state: "ready", serving: true, problem: null, notices: [], warnings: [], refused: [], folders: [] },
      ...{ about: [{ name: "Address", text: `https://${id}.example.org/mcp` }], hosts: [`${id}.example.org`] },
      ...change,
    });
    const problem = { ...{ kind: "start", type: "", file: "", line: 0, column: 0, frame: "", missing: [] } };
    Object.assign(problem, { stderr: "", program: "", install: "", permissions: [] });
    plugins.list = [
      server("tracker", "Tracker", { signed_in: "ada@example.org" }),
      server("files", "Files", { state: "loading", serving: false }),
      server("calendar", "Calendar", {
        ...{ state: "failed", serving: false },
        problem: {
          ...problem,
          ...{ message: "`npx` was not found.", hint: "Install Node or choose its path.", program: "npx" },
          stderr: "sh: 1: npx: not found",
        },
      }),
      server("mail", "Mail", {
        ...{ state: "failed", serving: false },
        problem: {
          ...problem,
          kind: "sign-in",
          message: "mail.example.org asks for a sign-in.",
          hint: "Sign in to go on.",
        },
      }),
      server("drive", "Drive", {
        ...{ state: "failed", serving: false, sign_in_page: "https://accounts.example.org/authorize?state=4711" },
        problem: {
          ...problem,
          kind: "sign-in",
          message: "drive.example.org asks for a sign-in.",
          hint: "Sign in to go on.",
        },
      }),
      server("old", "Old notes", { state: "disabled", enabled: false, serving: false }),
    ];
    bus.changed("plugins");
    bus.changed("tools");
  });

const programs = {
  revision: 1,
  programs: [
    { name: "Claude Desktop", token: false, made: "", used: "2026-11-28T09:41:00Z", calls: 214, open: 1 },
    { name: "editor", token: true, made: "2026-11-20T09:41:00Z", used: "", calls: 0, open: 0 },
  ],
  tools: [
    { id: "dice:roll", plugin: "Dice", title: "Roll dice", name: "roll", offered: true },
    { id: "words:count", plugin: "Words", title: "Count words", name: "word_count", offered: false },
    { id: "words:sort", plugin: "Words", title: "Sort lines", name: "sort_lines", offered: true },
  ],
  ...{ open: true, port: 7431, address: "http://127.0.0.1:7431/mcp", trouble: "" },
  snippets: [
    {
      ...{ app: "Claude Desktop", file: "claude_desktop_config.json", http: "" },
      text: '{\n  "mcpServers": {\n    "conclave": { "command": "conclave", "args": ["mcp"] }\n  }\n}',
    },
  ],
};

/** Adds a question with files, and an answer that failed, at the end of the chat. */
const media = (page) =>
  page.evaluate(() => {
    const { chats, bus, hello } = globalThis.fake;
    const c = chats.of(hello.open_chat);
    const file = (name, mime_type) => ({
      ...{ index: 0, kind: "media", blocks: [], block_count: 0, ms: 0, done: true, call: null },
      media: { id: name, name, mime_type, size: 48_213 },
    });
    const [question] = c.entries;
    chats.say(c, "user", [file("garden.png", "image/png"), file("garden.pdf", "application/pdf"), question.parts[0]]);
    bus.changed("chat", hello.open_chat);
  });

export const daily = {
  tools: { scene: "chat", dock: true, act: (p) => p.getByRole("tab", { name: /^Tools/ }).click() },
  "tools-many": { scene: "manytools", dock: true, act: (p) => p.getByRole("tab", { name: /^Tools/ }).click() },
  "tools-none": { scene: "bare", dock: true, act: (p) => p.getByRole("tab", { name: /^Tools/ }).click() },
  plugins: { scene: "chat", dock: true, act: (p) => p.getByRole("tab", { name: /^Plugins/ }).click() },
  "plugins-none": { scene: "bare", dock: true, act: (p) => p.getByRole("tab", { name: /^Plugins/ }).click() },
  servers: {
    scene: "chat",
    dock: true,
    height: 1300,
    act: async (p) => {
      await p.getByRole("tab", { name: /^Plugins/ }).click();
      await servers(p);
      await p.getByText("`npx` was not found.").first().waitFor();
    },
  },
  addserver: {
    scene: "chat",
    act: async (p) => {
      await palette(p, "MCP server");
      await p.getByRole("dialog").waitFor();
    },
  },
  "model-picker": {
    scene: "models",
    act: async (p) => {
      await p.locator(".chip.model").click();
      await first(p, "[role=option]").waitFor();
    },
  },
  "model-search": {
    scene: "models",
    act: async (p) => {
      await p.locator(".chip.model").click();
      await first(p, "[role=option]").waitFor();
      await p.keyboard.type("map");
    },
  },
  regenerate: {
    scene: "models",
    act: async (p) => {
      await p.getByRole("button", { name: "Regenerate" }).last().click();
      await first(p, "[role=option]").waitFor();
    },
  },
  asking: {
    scene: "chat",
    act: async (p) => {
      await p.locator(".chip.asking").click();
      await first(p, ".popup").waitFor();
    },
  },
  "tools-chip": { scene: "chat", act: (p) => p.locator(".foot .chip.num[aria-haspopup=menu]").first().click() },
  context: {
    scene: "chat",
    act: async (p) => {
      await filled(p, { system: 620, council: 12_000, summary: 900, draft: 12, used: 17_082 });
      await p.locator(".meter").click();
      await p.locator(".popup.context").waitFor();
    },
  },
  "context-over": { scene: "chat", act: (p) => filled(p, over) },
  "context-line": {
    scene: "chat",
    act: async (p) => {
      await filled(p, {
        ...{ ...over, from: 3, left: 2 },
        summed: {
          ...{ text: "They want a tool that counts words, in Python.", messages: 8, upto: 2, model: "Maple Large" },
          created: "2026-11-28T09:41:00Z",
        },
      });
      await first(p, ".summary").click();
    },
  },
  "context-full": {
    scene: "chat",
    act: (p) => filled(p, { turns: 2_000, draft: 140_000, used: 143_240, left: 0, from: 0 }),
  },
  prompts: {
    scene: "chat",
    act: async (p) => {
      await own(p);
      await settings(p, "Prompts");
    },
  },
  "prompts-none": { scene: "chat", act: (p) => settings(p, "Prompts") },
  "prompt-edit": {
    scene: "chat",
    act: async (p) => {
      await own(p);
      await settings(p, "Prompts");
      await p.getByRole("button", { name: "New prompt" }).click();
      await p.getByLabel("Text", { exact: true }).fill(prompts[0].text);
    },
  },
  "prompt-fill": {
    scene: "chat",
    act: async (p) => {
      await own(p);
      await first(p, "textarea").fill("/Summ");
      await first(p, "[role=option]").click();
      await p.getByRole("dialog").waitFor();
    },
  },
  "branch-map": {
    scene: "versions",
    act: async (p) => {
      await answers(p, "Branches.Map", { branches, more: true });
      await p.keyboard.press("Control+Shift+B");
      await first(p, "[role=treeitem]").waitFor();
    },
  },
  "branch-map-one": {
    scene: "chat",
    act: async (p) => {
      await answers(p, "Branches.Map", { branches: branches.slice(0, 1), more: false });
      await p.keyboard.press("Control+Shift+B");
      await first(p, "[role=treeitem]").waitFor();
    },
  },
  tabs: {
    scene: "chat",
    act: async (p) => {
      for (const at of [0, 3, 4]) {
        await p.locator("[data-chat-row]").nth(at).click({ button: "right" });
        await p.getByRole("menuitem", { name: "Open in a tab" }).click();
      }
    },
  },
  "row-menu": { scene: "chat", act: (p) => p.locator("[data-chat-row]").nth(3).click({ button: "right" }) },
  "chat-menu": { scene: "chat", act: (p) => chatMenu(p) },
  "answer-menu": { scene: "chat", act: answerMenu },
  system: { scene: "chat", act: (p) => chatMenu(p, "System prompt…") },
  media: {
    scene: "chat",
    act: async (p) => {
      await media(p);
      await first(p, ".picture").waitFor();
    },
  },
  viewer: {
    scene: "chat",
    act: async (p) => {
      await media(p);
      await first(p, ".picture").click();
      await p.getByRole("dialog").waitFor();
    },
  },
  inbox: {
    scene: "permission",
    act: async (p) => {
      await p.evaluate(() => globalThis.fake.questions.ask("chat-2"));
      await palette(p, "waits for you");
      await p.waitForTimeout(300);
    },
  },
  data: { scene: "chat", act: (p) => settings(p, "Data and backup") },
  saved: {
    scene: "chat",
    act: async (p) => {
      await answers(p, "Transfer.Export", { path: "/home/ada/Documents/Counting words.md", note: "" });
      await chatMenu(p, "Export as Markdown…");
      await first(p, ".toast").waitFor();
    },
  },
  temporary: {
    scene: "chat",
    act: async (p) => {
      await p.evaluate(() => {
        const { chats, scene } = globalThis.fake;
        const { chat } = chats.add("", new Date(), { temporary: true });
        scene.answers["Transfer.Temporary"] = chat.id;
      });
      await p.keyboard.press("Control+Shift+N");
      await first(p, ".temporary").waitFor();
    },
  },
  "select-bar": {
    scene: "chat",
    act: async (p) => {
      await answerMenu(p);
      await p.getByRole("menuitem", { name: "Select several" }).click();
      await p.locator("[role=toolbar] [role=status]").waitFor();
    },
  },
  programs: {
    scene: "chat",
    height: 1300,
    act: async (p) => {
      await answers(p, "Programs.List", programs);
      await settings(p, "Other programs");
    },
  },
  "programs-none": {
    scene: "chat",
    height: 1000,
    act: async (p) => {
      await answers(p, "Programs.List", { ...programs, programs: [], tools: [], open: false, address: "" });
      await settings(p, "Other programs");
    },
  },
  search: {
    scene: "chat",
    act: async (p) => {
      await p.locator("[data-search-chats]").fill("words");
      await p.locator("[data-chat-row] mark").first().waitFor();
    },
  },
  "search-none": {
    scene: "chat",
    act: async (p) => {
      await p.evaluate(() => (globalThis.fake.chats.searched = 42));
      await p.locator("[data-search-chats]").fill("zucchini");
      await p.waitForTimeout(400);
    },
  },
  archive: { scene: "chat", act: (p) => p.getByRole("button", { name: "Archive", exact: true }).first().click() },
  rename: { scene: "chat", act: (p) => p.locator(".title").click() },
  long: { scene: "long" },
  "long-answers": { scene: "longanswers" },
  "long-names": { scene: "longnames", dock: true },
  attachments: {
    scene: "chat",
    act: async (p) => {
      await p.evaluate(() => {
        const { chats } = globalThis.fake;
        const attach = chats.Attach.bind(chats);
        chats.Attach = (name, data) => {
          if (name.startsWith("slow")) return new Promise(() => {});
          if (name.startsWith("secret"))
            return Promise.reject({ kind: "invalid", message: "secret.bin is empty.", hint: "" });
          return attach(name, data);
        };
      });
      await p
        .locator("input[type=file]")
        .first()
        .setInputFiles([
          { name: "garden.png", mimeType: "image/png", buffer: Buffer.from("x") },
          {
            name: "a report of the year with a rather long name.txt",
            mimeType: "text/plain",
            buffer: Buffer.from("x"),
          },
          { name: "slow.txt", mimeType: "text/plain", buffer: Buffer.from("x") },
          { name: "secret.bin", mimeType: "application/octet-stream", buffer: Buffer.from("x") },
        ]);
      await p.getByText("report of the year").first().waitFor();
    },
  },
  queued: {
    scene: "streaming",
    act: async (p) => {
      await first(p, "textarea").fill("And then count the sentences too.");
      await p.keyboard.press("Enter");
      await p.waitForTimeout(300);
    },
  },
  link: {
    scene: "showcase",
    act: async (p) => {
      await p.evaluate(() => document.querySelector(".prose a[href]")?.scrollIntoView());
      await p.waitForTimeout(200);
    },
  },
  "plugins-page": { scene: "chat", act: (p) => settings(p, "Plugins") },
  prices: {
    scene: "chat",
    act: async (p) => {
      await settings(p, "Prices");
      await p.getByRole("button", { name: "Add a price" }).click();
    },
  },
  diagnostics: {
    scene: "chat",
    act: async (p) => {
      const parts = [
        { kind: "program", text: "Conclave 1.4.0 on linux/amd64" },
        { kind: "plugins", text: "dice ready\nwords failed" },
        { kind: "log", text: "" },
      ];
      await answers(p, "Window.Diagnostics", { name: "conclave-diagnostics.txt", parts });
      await settings(p, "About");
      await p.getByRole("button", { name: "Save diagnostics…" }).click();
      await p.getByRole("dialog").waitFor();
    },
  },
  unlock: {
    scene: "models",
    act: async (p) => {
      await p.evaluate(() => (globalThis.fake.models.locked = true));
      await settings(p, "Models");
      await p.evaluate(() => globalThis.fake.bus.changed("models"));
      await p.getByLabel("Passphrase").first().waitFor();
    },
  },
};

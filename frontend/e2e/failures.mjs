// What goes wrong, on a computer without a keychain: every kind of error that a person can cause says
// what happened, to what, and what to do next.
import { mkdirSync, openSync, ftruncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { approved } from "./ecosystems.mjs";
import { noticed, palette } from "./page.mjs";
import { expect, test } from "./person.mjs";
import { begin, rightKey, say } from "./server.mjs";

const places = {
  page: (response) => {
    response.writeHead(200, { "content-type": "text/html" });
    response.end("<!doctype html><title>Sign in</title>");
  },
  program: (_, json) => json(200, { hello: "world" }),
  bare: (_, json) => json(200, { object: "list", data: [] }),
  broken: (_, json) => json(500, { error: { message: "out of memory on GPU 3" } }),
  busy: (response, json) => {
    response.setHeader("retry-after", "30");
    json(429, { error: { message: "Rate limit reached." } });
  },
  cut: (response) => {
    response.writeHead(200, { "content-type": "application/json", "content-length": 1000 });
    response.write('{"object":"list","data":[');
    setImmediate(() => response.socket.destroy());
  },
  silent: () => {},
};

test.use({
  keychain: false,
  plugins: {},
  connected: false,
  models: ["a-text-embedding", "talker", "whisper-1"],
});

test.beforeAll(async ({ person, server }) => {
  Object.assign(server.places, places);
  for (const [text, [answer]] of Object.entries(failing)) server.answers[text] = answer;
  server.answers["Never answer"] = () => {};
  server.answers["Roll the red die"] = {
    text: "I roll.",
    call: { name: "red__roll", arguments: {} },
  };
  await person.page.evaluate(() => globalThis.go.window.Settings.Set({ dock_open: true }));
});

/** What a sentence must be: it says something, and then what to do. */
function told(what, text, least = 2) {
  const sentences = text.split(/(?<=[.!?…]”?)\s+/).filter((one) => /.{8}[.!?…]”?$/s.test(one));
  expect(sentences.length, `${what}: ${text}`).toBeGreaterThanOrEqual(least);
}

/** What the page is told when a bound method fails, as its message. */
const rejection = (page, name, method, ...args) =>
  page.evaluate(
    ([n, m, a]) =>
      globalThis.go.window[n][m](...a).then(
        () => "",
        (error) => error.message,
      ),
    [name, method, args],
  );

test("a refused call brings one string with sentence and hint", async ({ page }) => {
  for (const [name, method, ...args] of [
    ["Models", "Unlock", "short"],
    ["Models", "Test", "nobody"],
    ["Models", "SetDefault", "nobody/x"],
    ["Chats", "Rename", "nothing", "x"],
    ["Chats", "Send", "", { text: " ", attachments: [], model: "", no_tools: false }],
    ["Chats", "Attach", "nothing.txt", ""],
    ["Plugins", "Add", "/nowhere/at/all"],
    ["Plugins", "Show", "nothing"],
    ["Permissions", "Revoke", "nothing"],
    ["Window", "OpenURL", "file:///etc/passwd"],
    ["Window", "LoadPicture", "file:///etc/passwd"],
    ["Settings", "Set", { theme: "pink" }],
  ]) {
    const failure = JSON.parse(await rejection(page, name, method, ...args));
    expect(failure.kind, JSON.stringify(failure)).toMatch(/^(?!internal$)./);
    told(`${name}.${method}`, `${failure.message} ${failure.hint}`);
  }
});

// Plugins.

/** Opens the dialog that adds a plugin, and returns its field. */
async function addPlugin(page) {
  await palette(page, "add plugin");
  return page.getByRole("dialog", { name: "Add plugin" }).getByRole("textbox");
}

for (const [name, make] of Object.entries({
  "a plugin's path that is not there": () => ["/nowhere/at/all", /\/nowhere\/at\/all/],
  "something to add that is no plugin": (place) => {
    const path = join(place.home, "holiday.txt");
    writeFileSync(path, "We went to the sea.");
    return [path, /holiday\.txt is no plugin/, /NAME\.py/];
  },
  "an archive that is none": (place) => {
    const path = join(place.home, "plugin.zip");
    writeFileSync(path, "This is no archive.");
    return [path, /plugin\.zip/];
  },
  "an address without https": () => ["http://example.org/x.git", /https only/, /https:\/\/example/],
  "a plugin whose name is taken": (place) => {
    writeFileSync(join(place.plugins, "taken.py"), "def one() -> int:\n    return 1\n");
    const path = join(place.home, "taken.py");
    writeFileSync(path, "def two() -> int:\n    return 2\n");
    return [path, /taken/, /already/];
  },
}))
  test(`${name} is said where it was named`, async ({ page, person, place }) => {
    const [from, ...wanted] = make(place);
    const field = await addPlugin(page);
    await field.fill(from);
    await field.press("Enter");
    told(name, await person.reads(page.getByRole("dialog").getByRole("alert"), ...wanted));
    await page.keyboard.press("Escape");
    await expect(field).toHaveCount(0);
  });

const manifest = JSON.stringify({
  version: "1.0.0",
  name: "Same",
  identifier: "same_name",
  author: "A",
  github: "https://example.org/a",
  homepage: "https://example.org",
  description: "One of two.",
  permissions: [],
});
const extension = (folder) => ({
  [`${folder}/spindle.json`]: manifest,
  [`${folder}/dist/backend.js`]: "",
});

for (const [name, [id, files, ...wanted]] of Object.entries({
  "a file with a mistake": [
    "broken",
    { "broken.py": "def roll(:\n    return 4\n" },
    /SyntaxError/,
    /broken\.py:1/,
    /def roll\(:/,
  ],
  "a file without functions": [
    "quiet",
    { "quiet.py": "def _hidden():\n    return 1\n" },
    /quiet\.py/,
    /no public function/,
    /def word_count/,
  ],
  "an empty file": ["blank", { "blank.py": "" }, /blank\.py is empty/, /Write a function/],
  "a file that is no text": ["binary", { "binary.py": Buffer.from([0xff, 0xfe, 0, 1, 2]) }, /binary\.py/],
  "a folder that is none": ["holiday", { "holiday/sea.png": "x" }, /holiday/, /NAME\.py/],
  "a manifest with a mistake": ["crooked", { "crooked/spindle.json": '{"name": "Crooked",' }, /spindle\.json/],
  "two plugins of one name": [
    "same_two",
    { ...extension("same_one"), ...extension("same_two") },
    /calls itself same_name already: same_one/,
    /Remove one of the two/,
  ],
}))
  test(`${name} is said on its card`, async ({ page, person, place }) => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(place.plugins, path, ".."), { recursive: true });
      writeFileSync(join(place.plugins, path), text);
    }
    await page.getByRole("tab", { name: "Plugins" }).click();
    const card = page.locator(`[data-plugin="${id}"]`);
    const problem = card.locator(".problem");
    told(name, await person.reads(problem, ...wanted));
    await problem.scrollIntoViewIfNeeded();
  });

test("a new plugin under a name that is taken is not made", async ({ page, person }) => {
  await palette(page, "new plugin");
  const dialog = page.getByRole("dialog", { name: "New plugin" });
  await dialog.getByRole("textbox").first().fill("Broken");
  await dialog.getByRole("button", { name: "Create and open" }).click();
  const wrong = dialog.getByRole("alert");
  told("a new plugin's name", await person.reads(wrong, /broken\.py/, /already/, /another name/));
  await page.keyboard.press("Escape");
  await expect(dialog).toHaveCount(0);
});

// Connections.

test("a connection's form says what a passphrase is, and keeps the focus", async ({ page, person, server }) => {
  await person.models();
  await page.getByRole("button", { name: "Add a connection" }).click();
  const key = page.getByLabel(/^Key/);
  await expect(key).toBeFocused();
  await person.choose("Provider", "OpenAI-compatible server");
  const address = page.getByLabel("Server address");
  await expect(address).toBeVisible();
  expect(await address.locator("xpath=ancestor::details").count()).toBe(0); // it is next to the key
  await address.fill(server.url);
  await key.focus();
  await page.keyboard.type("sk-wrong");
  await expect(key).toBeFocused();
  const form = page.locator("form.card");
  await person.reads(form, /At least 8 characters/, /no way to recover/);
  const save = page.getByRole("button", { name: "Save and test" });
  const first = page.getByLabel("Choose a passphrase for your keys");
  const again = page.getByLabel("Repeat passphrase");
  await first.fill("short");
  await again.fill("short");
  expect(await save.isEnabled(), "a passphrase of five characters is taken").toBe(false);
  await first.fill("four plain words here");
  await person.reads(form, /The passphrases do not match/);
  expect(await save.isEnabled(), "a passphrase repeated wrongly is taken").toBe(false);
  await page.getByRole("button", { name: "Cancel" }).click();
});

const remove = async (page) => {
  const card = page.locator("[data-connection]").last();
  const name = await card.getAttribute("data-connection");
  await page.evaluate(() => (globalThis.saidHere = []));
  await card.getByRole("button", { name: "Remove", exact: true }).click();
  await expect(page.locator(`[data-connection="${name}"]`)).toHaveCount(0);
  await noticed(page, "was removed");
  const said = await page.evaluate(() => globalThis.saidHere.join("\n"));
  expect(said, "it is called by its inner name").not.toContain(name);
};

for (const [name, [address, key, ...wanted]] of Object.entries({
  "an address that nobody answers at": [() => "http://127.0.0.1:1/v1", "", /127\.0\.0\.1:1/],
  "a path that is not there": [(server) => server.at("nothing/here"), "", /404/, /\/v1/],
  "a key that is refused": [(server) => server.url, "sk-wrong", /401/, /key/i],
  "a web page": [(server) => server.at("page/v1"), "", /it answered with a web page/, /address/],
  "another program": [(server) => server.at("program/v1"), "", /lists no models/],
  "a server with no models": [(server) => server.at("bare/v1"), "", /lists no models/],
  "a server that fails": [(server) => server.at("broken/v1"), "", /500/],
  "a server that is busy": [(server) => server.at("busy/v1"), "", /30 s|429/],
  "an answer that is cut": [(server) => server.at("cut/v1"), "", /without an answer/],
}))
  test(`${name} is said in its form, or on its card where its server answered`, async ({ page, person, server }) => {
    await person.beginConnection(address(server), key);
    await person.save("four plain words here", { anyway: true });
    const card = page.locator("[data-connection]").last();
    told(name, await person.reads(card.getByRole("status"), /\S/, ...wanted));
    await remove(page);
  });

for (const [name, address] of Object.entries({
  "an address that is none": "my server",
  "an address of another kind": "ftp://example.org/v1",
}))
  test(`${name} is said in the form`, async ({ page, person }) => {
    await person.beginConnection(address, rightKey);
    await page.getByRole("button", { name: "Save and test" }).click();
    const wrong = page.locator("form.card").getByRole("alert");
    told(name, await person.reads(wrong, new RegExp(address), /Write it like http/));
    await page.getByRole("button", { name: "Cancel" }).click();
  });

test("a server that never answers is asked meanwhile", async ({ page, person, server }) => {
  await person.beginConnection(server.at("silent/v1"), "");
  await page.getByRole("button", { name: "Save and test" }).click();
  await expect(page.getByText(`Connecting to ${server.host}…`).first()).toBeVisible();
  await page.getByRole("button", { name: "Cancel" }).click();
});

test("the right key gives new chats a model that talks, and it is said", async ({ page, person, server }) => {
  const card = await person.connect(server.url, rightKey);
  await person.says(/New chats now use talker/);
  expect(await card.innerText(), "a model that does not talk is listed").not.toMatch(/embedding/);
  await page.keyboard.press("Escape");
});

// Answers.

const stream = (response) => response.writeHead(200, { "content-type": "text/event-stream" });
const failing = {
  "Refuse the key": [
    (_, json) => json(401, { error: { message: "Key revoked.", code: "invalid_api_key" } }),
    /did not accept the key/,
    /401/,
    /Settings > Models/,
  ],
  "Be gone": [
    (_, json) => json(404, { error: { message: "The model talker does not exist", code: "model_not_found" } }),
    /has no model “talker”/,
    /Choose another model/,
  ],
  "Be busy": [
    (response, json) => {
      response.setHeader("retry-after", "90");
      json(429, { error: { message: "Rate limit reached for requests." } });
    },
    /no further requests for 90 s/,
    /another model/,
  ],
  "Be unpaid": [
    (_, json) => json(429, { error: { message: "You exceeded your quota.", code: "insufficient_quota" } }),
    /quota/,
    /Add credit/,
  ],
  "Go wrong": [
    (_, json) => json(500, { error: { message: "out of memory on GPU 3" } }),
    /500/,
    /out of memory on GPU 3/,
    /Try again/,
  ],
  "Be too long": [
    (_, json) => json(400, { error: { message: "too long", code: "context_length_exceeded" } }),
    /too long for/,
    /new chat/,
  ],
  "Show a page": [
    (response) => {
      response.writeHead(200, { "content-type": "text/html" });
      response.end("<!doctype html><title>Sign in</title><h1>Sign in to the network</h1>");
    },
    /no model server/,
    /it answered with a web page\.\s/,
    /address/,
  ],
  "Make noise": [(response) => stream(response).end("data: {not json\n\n"), /not an answer/, /Try again/],
  "Break off": [
    (response) => {
      begin(response);
      say(response, "Half of an");
      setImmediate(() => response.socket.destroy());
    },
    /Half of an/,
    /cut off/,
    /What came so far is kept/,
  ],
  "Say nothing": [(response) => response.socket.destroy(), /without an answer/, /Try again/],
};

test.describe("once there is a model", () => {
  // Where a test fails, those after it get another program, without a connection.
  test.beforeAll(async ({ person, place, server }) => {
    const models = place.told("models", "list", "--json");
    if (!models.some(({ name }) => name.endsWith("/talker"))) await person.connect(server.url, rightKey);
    await person.page.keyboard.press("Escape");
  });

  for (const [text, [, ...wanted]] of Object.entries(failing))
    test(`“${text}” says in the chat why it failed`, async ({ person }) => {
      await person.newChat();
      const answer = await person.ask(text);
      await person.reads(answer, /This answer could not be finished/, ...wanted);
      told(text, await answer.locator(".failed .grow").innerText());
      await expect(answer.getByRole("button", { name: "Try again" })).toBeVisible();
    });

  test("after a failure the next question is answered", async ({ person }) => {
    const answer = await person.ask("And now?");
    await person.reads(answer, /A first answer/);
  });

  test("an answer that never comes is waited for in words, and ended by Stop", async ({ page, person }) => {
    await person.newChat();
    await person.write("Never answer");
    await person.says(/Waiting for talker… [1-9]/);
    await page.locator("button.stop").click();
    const answer = page.locator("article").last();
    const note = answer.locator(".note");
    told("stopped", await person.reads(note, /was not answered/, /Ask for an answer/), 1);
  });

  test("after another default is chosen in a terminal, the chat keeps its model", async ({
    page,
    person,
    place,
    server,
  }) => {
    await person.newChat();
    await person.ask("Hello");
    const talker = place.told("models", "list", "--json").find((m) => m.default).name;
    place.told("models", "default", "demo/guide");
    await person.ask("Hello again");
    const asked = (text) => server.asked.some((a) => a.text === text);
    expect(asked("Hello again")).toBe(true);
    await person.newChat();
    await expect(page.getByRole("button", { name: /^Model: Demo guide/ })).toBeVisible();
    await person.ask("And who are you?");
    expect(asked("And who are you?"), "the model that was not shown was asked").toBe(false);
    place.told("models", "default", talker);
    await person.newChat();
    await person.says(/talker ready/); // the foot names the open chat's model
  });

  // Files.

  for (const [name, [file, bytes, ...wanted]] of Object.entries({
    "a file too large": ["film.mov", 20 * 2 ** 20 + 1, /film\.mov/, /20 MiB/],
    "an empty file": ["nothing.txt", 0, /nothing\.txt is empty/],
  }))
    test(`${name} is said where it would be attached`, async ({ page, person, place }) => {
      await person.newChat();
      const path = join(place.home, file);
      ftruncateSync(openSync(path, "w"), bytes);
      await page.locator("form.composer input[type=file]").setInputFiles(path);
      const row = page.getByRole("list", { name: "Attachments" }).getByRole("listitem");
      told(name, await person.reads(row, ...wanted));
      const cut = await row.evaluate((li) =>
        [li, ...li.querySelectorAll("*")].some((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth),
      );
      expect(cut, "the sentence is cut").toBe(false);
      await row.getByRole("button", { name: `Remove ${file}` }).click();
    });

  test("an import of what is no chat is refused, while the window is open", async ({ place }) => {
    const path = join(place.home, "recipe.json");
    writeFileSync(path, '{"soup": ["leek", "potato"]}');
    const done = place.conclave("chats", "import", path);
    expect(done.status).not.toBe(0);
    told("an import", done.stderr);
    expect(done.stderr).toContain("recipe.json");
  });

  // Tools of one name.

  test("two plugins with a tool of one name are told apart", async ({ page, person, place }) => {
    const roll = (n) => `def roll() -> int:\n    """Roll a die.\n    """\n    return ${n}\n`;
    writeFileSync(join(place.plugins, "red.py"), roll(3));
    writeFileSync(join(place.plugins, "blue.py"), roll(5));
    await approved(place, "red", "blue");
    await page.getByRole("tab", { name: "Tools" }).click();
    await person.says(/blue\s+Roll[\s\S]+red\s+Roll/);
    await person.newChat();
    await person.write("Roll the red die");
    const card = page.locator("section.ask");
    await person.reads(card, /red/);
    await card.getByRole("button", { name: "Not now" }).click();
    await expect(card).toHaveCount(0);
  });

  // What lasts.

  test("a server that never answers is said in the form", async ({ page, person, server }) => {
    await person.beginConnection(server.at("silent/v1"), "");
    await page.getByRole("button", { name: "Save and test" }).click();
    const said = page.locator("form.card").getByRole("alert");
    told("silent", await person.reads(said, /20 s/, /address/));
    await page.getByRole("button", { name: "Cancel" }).click();
  });

  /** Three members whose keys are locked: one card in the chat says so, with one way to unlock them. */
  async function lockedCouncil(person) {
    const { page, place } = person;
    const { name: model } = place.told("models", "list", "--json").find((m) => m.default);
    const member = (name) => ({ id: name.toLowerCase(), name, chance: 100, model });
    await page.evaluate((council) => globalThis.go.window.Council.Set("", "global", council), {
      enabled: true,
      mode: "opinions",
      members: ["Ada", "Bo", "Cy"].map(member),
    });
    await person.newChat();
    await page.getByLabel("Message", { exact: true }).fill("All locked?");
    await page.keyboard.press("Enter");
    const card = page.locator(".locked[role=alert]");
    told("a council whose keys are locked", await person.reads(card, /waiting for you/, /locked/));
    expect(await card.count()).toBe(1);
    const unlock = card.getByRole("button", { name: "Unlock keys" });
    expect(await unlock.count()).toBe(1);
    await page.keyboard.press("Control+.");
    await expect(card).toHaveCount(0);
    await page.evaluate(() => globalThis.go.window.Council.UseEverywhere("", false));
  }

  test("after a restart a wrong passphrase is said, and the right one opens", async ({ person }) => {
    await person.restart();
    const { page } = person;
    await person.says(/Key locked: talker/);
    await person.newChat();
    const answer = await person.ask("Locked?");
    await person.reads(answer, /locked/i, /passphrase/i);
    told("locked keys", await answer.locator(".failed .grow").innerText());
    const buttons = answer.locator(".failed .buttons button");
    expect(await buttons.first().innerText()).toBe("Unlock keys");
    await lockedCouncil(person);
    await person.models();
    const field = page.getByLabel("Passphrase", { exact: true });
    await field.fill("not the passphrase");
    const unlock = page.getByRole("button", { name: "Unlock keys" });
    await unlock.click();
    const wrong = page.locator("form.card").getByRole("alert");
    told("a wrong passphrase", await person.reads(wrong, /not the passphrase/));
    await field.fill("four plain words here");
    await unlock.click();
    await expect(unlock).toHaveCount(0);
  });
});

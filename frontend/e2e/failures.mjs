// What goes wrong, in Chromium against the program's real bindings, on a computer without a
// keychain: every kind of error that a person can cause says what happened, to what, and what to
// do next.
//
//   node e2e/failures.mjs [folder for pictures]
//
// It needs what program.mjs needs. What the window said is in said.txt beside the pictures.
import { mkdirSync, openSync, ftruncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { approved } from "./ecosystems.mjs";
import { launch, noticed, palette } from "./harness.mjs";
import { Person } from "./person.mjs";
import { Place, devProgram, perform, pictures } from "./processes.mjs";
import { begin, modelServer, rightKey, say } from "./server.mjs";

const shots = pictures();
const place = new Place();
const heard = [];
let browser, person, app, server;

/** What a sentence must be: it says something, and then what to do. */
function told(what, text, least = 2) {
  heard.push(`${what}\n    ${text.replaceAll("\n", "\n    ")}`);
  const sentences = text.split(/(?<=[.!?…]”?)\s+/).filter((one) => /.{8}[.!?…]”?$/s.test(one));
  if (sentences.length < least) throw new Error(`${what} is no ${least} sentences: ${text}`);
}

/** What the page is told when a bound method fails, as its message. */
const rejection = (name, method, ...args) =>
  person.page.evaluate(
    ([n, m, a]) =>
      globalThis.go.window[n][m](...a).then(
        () => "",
        (error) => error.message,
      ),
    [name, method, args],
  );

const steps = {};

steps["F100 a refused call brings one string with sentence and hint"] = async () => {
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
    const failure = JSON.parse(await rejection(name, method, ...args));
    if (!failure.kind || failure.kind === "internal") throw new Error(JSON.stringify(failure));
    told(`${name}.${method}`, `${failure.message} ${failure.hint}`);
  }
};

// Plugins.

/** Opens the dialog that adds a plugin, and returns its field. */
async function addPlugin() {
  await palette(person.page, "add plugin");
  return person.page.getByRole("dialog", { name: "Add plugin" }).getByRole("textbox");
}

for (const [name, [from, ...wanted]] of Object.entries({
  "a plugin's path that is not there": () => ["/nowhere/at/all", /\/nowhere\/at\/all/],
  "something to add that is no plugin": () => {
    const path = join(place.home, "holiday.txt");
    writeFileSync(path, "We went to the sea.");
    return [path, /holiday\.txt is no plugin/, /NAME\.py/];
  },
  "an archive that is none": () => {
    const path = join(place.home, "plugin.zip");
    writeFileSync(path, "This is no archive.");
    return [path, /plugin\.zip/];
  },
  "an address without https": () => ["http://example.org/x.git", /https only/, /https:\/\/example/],
  "a plugin whose name is taken": () => {
    writeFileSync(join(place.plugins, "taken.py"), "def one() -> int:\n    return 1\n");
    const path = join(place.home, "taken.py");
    writeFileSync(path, "def two() -> int:\n    return 2\n");
    return [path, /taken/, /already/];
  },
}).map(([name, make]) => [name, make()]))
  steps[`F100 ${name} is said where it was named`] = async () => {
    const field = await addPlugin();
    await field.fill(from);
    await field.press("Enter");
    told(name, await person.reads(person.page.getByRole("dialog").getByRole("alert"), ...wanted));
    await person.picture(`add ${name}`);
    await person.page.keyboard.press("Escape");
    await field.waitFor({ state: "detached" });
  };

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
  "a file that is no text": [
    "binary",
    { "binary.py": Buffer.from([0xff, 0xfe, 0, 1, 2]) },
    /binary\.py/,
  ],
  "a folder that is none": ["holiday", { "holiday/sea.png": "x" }, /holiday/, /NAME\.py/],
  "a manifest with a mistake": [
    "crooked",
    { "crooked/spindle.json": '{"name": "Crooked",' },
    /spindle\.json/,
  ],
  "two plugins of one name": [
    "same_two",
    { ...extension("same_one"), ...extension("same_two") },
    /calls itself same_name already: same_one/,
    /Remove one of the two/,
  ],
}))
  steps[`F100 ${name} is said on its card`] = async () => {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(place.plugins, path, ".."), { recursive: true });
      writeFileSync(join(place.plugins, path), text);
    }
    await person.page.getByRole("tab", { name: "Plugins" }).click();
    const card = person.page.locator(`[data-plugin="${id}"]`);
    const problem = card.locator(".problem");
    told(name, await person.reads(problem, ...wanted));
    await problem.scrollIntoViewIfNeeded();
    await person.picture(`card ${name}`);
  };

steps["F100 a plugin that is made anew under a name that is taken is not made"] = async () => {
  await palette(person.page, "new plugin");
  const dialog = person.page.getByRole("dialog", { name: "New plugin" });
  await dialog.getByRole("textbox").first().fill("Broken");
  await dialog.getByRole("button", { name: "Create and open" }).click();
  const wrong = dialog.getByRole("alert");
  told("a new plugin's name", await person.reads(wrong, /broken\.py/, /already/, /another name/));
  await person.picture("new name taken");
  await person.page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
};

// Connections.

steps["F119 a connection's form says what a passphrase is, and keeps the focus"] = async () => {
  const { page } = person;
  const at = () => page.evaluate(() => document.activeElement?.labels?.[0]?.innerText ?? "");
  await person.models();
  await page.getByRole("button", { name: "Add a connection" }).click();
  await page.waitForFunction(() =>
    document.activeElement?.labels?.[0]?.innerText.startsWith("Key"),
  );
  await person.choose("Provider", "OpenAI-compatible server");
  const address = page.getByLabel("Server address");
  await address.waitFor();
  if (!(await address.isVisible()) || (await address.locator("xpath=ancestor::details").count()))
    throw new Error("the address of the server is not beside the key");
  await address.fill(server.url);
  const key = page.getByLabel(/^Key/);
  await key.focus();
  await page.keyboard.type("sk-wrong");
  if (!(await at()).startsWith("Key")) throw new Error(`the focus went to ${await at()}`);
  const form = page.locator("form.card");
  const rule = await person.reads(form, /At least 8 characters/, /no way to recover/);
  heard.push(`a passphrase is chosen\n    ${rule.replaceAll("\n", "\n    ")}`);
  const save = page.getByRole("button", { name: "Save and test" });
  const first = page.getByLabel("Choose a passphrase for your keys");
  const again = page.getByLabel("Repeat passphrase");
  await first.fill("short");
  await again.fill("short");
  if (await save.isEnabled()) throw new Error("a passphrase of five characters is taken");
  await first.fill("four plain words here");
  await person.reads(form, /The passphrases do not match/);
  if (await save.isEnabled()) throw new Error("a passphrase repeated wrongly is taken");
  await person.picture("passphrase");
  await page.getByRole("button", { name: "Cancel" }).click();
};

const remove = async () => {
  const card = person.page.locator("[data-connection]").last();
  const name = await card.getAttribute("data-connection");
  await person.page.evaluate(() => (globalThis.saidHere = []));
  await card.getByRole("button", { name: "Remove", exact: true }).click();
  await person.page.locator(`[data-connection="${name}"]`).waitFor({ state: "detached" });
  await noticed(person.page, "was removed");
  const said = await person.page.evaluate(() => globalThis.saidHere.join("\n"));
  if (said.includes(name)) throw new Error(`it is called by its inner name: ${said}`);
};

for (const [name, [address, key, ...wanted]] of Object.entries({
  "an address that nobody answers at": [() => "http://127.0.0.1:1/v1", "", /127\.0\.0\.1:1/],
  "a path that is not there": [() => server.at("nothing/here"), "", /404/, /\/v1/],
  "a key that is refused": [() => server.url, "sk-wrong", /401/, /key/i],
  "a web page": [() => server.at("page/v1"), "", /it answered with a web page/, /address/],
  "another program": [() => server.at("program/v1"), "", /lists no models/],
  "a server with no models": [() => server.at("bare/v1"), "", /lists no models/],
  "a server that fails": [() => server.at("broken/v1"), "", /500/],
  "a server that is busy": [() => server.at("busy/v1"), "", /30 s|429/],
  "an answer that is cut": [() => server.at("cut/v1"), "", /without an answer/],
}))
  steps[`F100 ${name} is said on its card`] = async () => {
    const card = await person.connect(address(), key);
    told(name, await person.reads(card.getByRole("status"), /\S/, ...wanted));
    await person.picture(`connect ${name}`);
    await remove();
  };

for (const [name, address] of Object.entries({
  "an address that is none": "my server",
  "an address of another kind": "ftp://example.org/v1",
}))
  steps[`F100 ${name} is said in the form`] = async () => {
    await person.beginConnection(address, rightKey);
    await person.page.getByRole("button", { name: "Save and test" }).click();
    const wrong = person.page.locator("form.card").getByRole("alert");
    told(name, await person.reads(wrong, new RegExp(address), /Write it like http/));
    await person.picture(name);
    await person.page.getByRole("button", { name: "Cancel" }).click();
  };

steps["F100 a server that never answers is asked meanwhile"] = async () => {
  await person.beginConnection(server.at("silent/v1"), "");
  await person.page.getByRole("button", { name: "Save and test" }).click();
  await person.page.getByText(`Connecting to ${server.host}…`).first().waitFor();
  await person.picture("asking");
  await person.page.getByRole("button", { name: "Cancel" }).click();
};

steps["F109 the right key gives new chats a model that talks, and it is said"] = async () => {
  const card = await person.connect(server.url, rightKey);
  await person.says(/New chats now use talker/);
  if (/embedding/.test(await card.innerText()))
    throw new Error("a model that does not talk is listed");
  await person.picture("right key");
  await person.page.keyboard.press("Escape");
};

// Answers.

const stream = (response) => response.writeHead(200, { "content-type": "text/event-stream" });
const failing = {
  "Refuse the key": [
    (_, json) => json(401, { error: { message: "Key revoked.", code: "invalid_api_key" } }),
    /Key refused/,
    /401/,
    /Settings > Models/,
  ],
  "Be gone": [
    (_, json) =>
      json(404, { error: { message: "The model talker does not exist", code: "model_not_found" } }),
    /has no model “talker”/,
    /Choose another model/,
  ],
  "Be busy": [
    (response, json) => {
      response.setHeader("retry-after", "90");
      json(429, { error: { message: "Rate limit reached for requests." } });
    },
    /no more requests for 90 s/,
    /another model/,
  ],
  "Be unpaid": [
    (_, json) =>
      json(429, { error: { message: "You exceeded your quota.", code: "insufficient_quota" } }),
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
  "Make noise": [
    (response) => stream(response).end("data: {not json\n\n"),
    /not an answer/,
    /Try again/,
  ],
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

for (const [text, [, ...wanted]] of Object.entries(failing))
  steps[`F100 “${text}” says in the chat why it failed`] = async () => {
    await person.newChat();
    const answer = await person.ask(text);
    await person.reads(answer, /This answer could not be finished/, ...wanted);
    told(text, await answer.locator(".failed .grow").innerText());
    await answer.getByRole("button", { name: "Try again" }).waitFor();
    await person.picture(`answer ${text}`);
  };

steps["F100 after a failure the next question is answered"] = async () => {
  const answer = await person.ask("And now?");
  await person.reads(answer, /A first answer/);
};

steps["F100 an answer that never comes is waited for in words, and ended by Stop"] = async () => {
  await person.newChat();
  await person.write("Never answer");
  await person.says(/Waiting for talker… [1-9]/);
  await person.picture("waiting");
  await person.page.locator("button.stop").click();
  const answer = person.page.locator("article").last();
  const note = answer.locator(".note");
  told("stopped", await person.reads(note, /was not answered/, /Ask for an answer/), 1);
  await person.picture("stopped");
};

steps["F102 after another default is chosen in a terminal, the chat keeps its model"] =
  async () => {
    await person.newChat();
    await person.ask("Hello");
    const talker = place.told("models", "list", "--json").find((m) => m.default).name;
    place.told("models", "default", "demo/guide");
    await person.ask("Hello again");
    const asked = (text) => server.asked.some((a) => a.text === text);
    if (!asked("Hello again")) throw new Error("another model was asked");
    await person.newChat();
    await person.page.getByRole("button", { name: /^Model: Demo guide/ }).waitFor();
    await person.ask("And who are you?");
    if (asked("And who are you?")) throw new Error("the model that was not shown was asked");
    place.told("models", "default", talker);
    await person.newChat();
    await person.says(/talker ready/); // the foot tells of the open chat's model
  };

// Files.

for (const [name, [file, bytes, ...wanted]] of Object.entries({
  "a file too large": ["film.mov", 20 * 2 ** 20 + 1, /film\.mov/, /20 MiB/],
  "an empty file": ["nothing.txt", 0, /nothing\.txt is empty/],
}))
  steps[`F100 ${name} is said where it would be attached`] = async () => {
    await person.newChat();
    const path = join(place.home, file);
    ftruncateSync(openSync(path, "w"), bytes);
    await person.page.locator("form.composer input[type=file]").setInputFiles(path);
    const row = person.page.getByRole("list", { name: "Attachments" }).getByRole("listitem");
    told(name, await person.reads(row, ...wanted));
    const cut = await row.evaluate((li) =>
      [li, ...li.querySelectorAll("*")].some(
        (e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth,
      ),
    );
    await person.picture(`attach ${name}`);
    if (cut) throw new Error("the sentence is cut");
    await row.getByRole("button", { name: `Remove ${file}` }).click();
  };

steps["F100 an import of what is no chat is refused, while the window is open"] = async () => {
  const path = join(place.home, "recipe.json");
  writeFileSync(path, '{"soup": ["leek", "potato"]}');
  const done = place.conclave("chats", "import", path);
  if (done.status === 0) throw new Error("it was imported");
  told("an import", done.stderr);
  if (!done.stderr.includes("recipe.json")) throw new Error(done.stderr);
};

// Tools of one name.

steps["F100 two plugins with a tool of one name are told apart"] = async () => {
  const roll = (n) => `def roll() -> int:\n    """Roll a die.\n    """\n    return ${n}\n`;
  writeFileSync(join(place.plugins, "red.py"), roll(3));
  writeFileSync(join(place.plugins, "blue.py"), roll(5));
  await approved(place, "red", "blue");
  await person.page.getByRole("tab", { name: "Tools" }).click();
  await person.says(/blue\s+Roll[\s\S]+red\s+Roll/);
  await person.newChat();
  await person.write("Roll the red die");
  const card = person.page.locator("section.ask");
  heard.push(await person.reads(card, /red/));
  await person.picture("tools of one name");
  await card.getByRole("button", { name: "Not now" }).click();
  await card.waitFor({ state: "detached" });
};

// What lasts.

steps["F100 the server that never answered is said on its card"] = async () => {
  await person.models();
  const said = person.page.locator("[data-connection] p[role=status] > .bad").locator("..");
  told("silent", await person.reads(said, /20 s/, /address/));
  await person.picture("silent");
};

/** Three members whose keys are locked: one card in the chat says so, with one way to unlock them. */
async function lockedCouncil() {
  const { name: model } = place.told("models", "list", "--json").find((m) => m.default);
  const member = (name) => ({ id: name.toLowerCase(), name, chance: 100, model });
  await person.page.evaluate((council) => globalThis.go.window.Council.Set("", "global", council), {
    enabled: true,
    mode: "opinions",
    members: ["Ada", "Bo", "Cy"].map(member),
  });
  await person.newChat();
  await person.page.getByLabel("Message", { exact: true }).fill("All locked?");
  await person.page.keyboard.press("Enter");
  const card = person.page.locator(".locked[role=alert]");
  told("a council whose keys are locked", await person.reads(card, /waiting for you/, /locked/));
  if ((await card.count()) !== 1) throw new Error("the cause is said more than once in the chat");
  const unlock = card.getByRole("button", { name: "Unlock keys" });
  if ((await unlock.count()) !== 1) throw new Error("the card has no one way to unlock the keys");
  await person.picture("locked-council");
  await person.page.emulateMedia({ colorScheme: "dark" });
  await person.picture("locked-council-dark");
  await person.page.emulateMedia({ colorScheme: "light" });
  await person.page.keyboard.press("Control+.");
  await card.waitFor({ state: "detached" });
  await person.page.evaluate(() => globalThis.go.window.Council.UseEverywhere("", false));
}

steps["F100 after a restart a wrong passphrase is said, and the right one opens"] = async () => {
  await person.page.close();
  await place.end(app.child);
  await place.free();
  app = await devProgram(place);
  await person.open(app);
  await person.says(/Key locked: talker/);
  await person.newChat();
  const answer = await person.ask("Locked?");
  await person.reads(answer, /locked/i, /passphrase/i);
  told("locked keys", await answer.locator(".failed .grow").innerText());
  const buttons = answer.locator(".failed .buttons button");
  const first = await buttons.first().innerText();
  if (first !== "Unlock keys") throw new Error(`the first button of the card is ${first}`);
  await person.picture("locked");
  await person.page.emulateMedia({ colorScheme: "dark" });
  await person.picture("locked-dark");
  await person.page.emulateMedia({ colorScheme: "light" });
  await lockedCouncil();
  await person.models();
  const field = person.page.getByLabel("Passphrase", { exact: true });
  await field.fill("not the passphrase");
  const unlock = person.page.getByRole("button", { name: "Unlock keys" });
  await unlock.click();
  const wrong = person.page.locator("form.card").getByRole("alert");
  told("a wrong passphrase", await person.reads(wrong, /not the passphrase/));
  await person.picture("wrong passphrase");
  await field.fill("four plain words here");
  await unlock.click();
  await unlock.waitFor({ state: "detached" });
};

steps["the page met no error of its own"] = async () => {
  if (person.page.errors.length > 0) throw new Error(person.page.errors.join("\n"));
};

await perform(place, steps, {
  begin: async () => {
    server = await modelServer(
      {
        ...Object.fromEntries(Object.entries(failing).map(([text, [answer]]) => [text, answer])),
        "Never answer": () => {},
        "Roll the red die": { text: "I roll.", call: { name: "red__roll", arguments: {} } },
      },
      ["a-text-embedding", "talker", "whisper-1"],
      {
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
      },
    );
    await place.screen();
    await place.bus({ keychain: false });
    browser = await launch();
    app = await devProgram(place);
    person = new Person(browser, { folder: shots, begin: "failures" });
    await person.open(app);
    await person.page.evaluate(() => globalThis.go.window.Settings.Set({ dock_open: true }));
  },
  onfail: async (n) => {
    await person.picture(`failed ${n}`).catch(() => {});
    // Out of whatever is open, so that what follows fails for reasons of its own.
    for (let i = 0; i < 2; i++) await person.page.keyboard.press("Escape").catch(() => {});
  },
  ends: () => {
    writeFileSync(join(shots, "said.txt"), heard.join("\n\n"));
    return [browser, server];
  },
});

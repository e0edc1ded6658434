// The whole program, end to end: the window's real program under Xvfb, its real
// bindings served to Chromium by Wails' development build, real plugins in real
// processes, in light and dark.
//
//   node e2e/program.mjs [folder for pictures]
//
// It needs build/bin/conclave, build/bin/conclave-dev (tags dev,webkit2_41) and
// frontend/dist; .ci/test builds them.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { launch } from "./harness.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const bin = join(root, "build", "bin");
const shots = process.argv[2] ?? mkdtempSync(join(tmpdir(), "conclave-program-"));
mkdirSync(shots, { recursive: true });
const home = mkdtempSync(join(tmpdir(), "conclave-e2e-"));
const data = join(home, "data");
const plugins = join(home, "plugins");
mkdirSync(plugins, { recursive: true });

const children = new Set();
function start(command, args, env = {}) {
  const child = spawn(command, args, {
    env: { ...process.env, HOME: home, XDG_RUNTIME_DIR: home, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  child.output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => (child.output = (child.output + chunk).slice(-20000)));
  }
  children.add(child);
  child.gone = new Promise((resolve) =>
    child.on("exit", (code, signal) => {
      children.delete(child);
      child.output += `\n(exit ${code ?? signal})`;
      resolve();
    }),
  );
  return child;
}

function end(child, signal = "SIGTERM") {
  try {
    process.kill(-child.pid, signal);
  } catch {
    // it ended by itself
  }
  return child.gone;
}

/** Waits until check returns something, at most limit ms. */
async function until(what, check, limit = 15000) {
  const deadline = Date.now() + limit;
  for (;;) {
    const value = await check();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`waited ${limit} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

const display = `:${90 + (process.pid % 100)}`;
const screen = start("Xvfb", [display, "-screen", "0", "1320x880x24", "-nolisten", "tcp"]);
await until(
  "the screen",
  () =>
    spawnSync("xdpyinfo", ["-display", display]).status === 0 ||
    spawnSync("xdotool", ["getmouselocation"], { env: { ...process.env, DISPLAY: display } })
      .status === 0,
);

/** Ends a program that has the store, and waits until it has let go of it. */
async function close(child) {
  await end(child);
  await until("the store to be free", () => !existsSync(join(data, "conclave.sock")));
  // The socket goes first; a command that finds the store locked looks again.
  const look = spawnSync(join(bin, "conclave"), ["--data", data, "--plugins", plugins, "chats", "list"], { encoding: "utf8" });
  if (look.status !== 0) throw new Error(look.stderr);
}

/** Starts the program with its bindings served to a browser; returns its address. */
async function program() {
  const port = await freePort();
  const child = start(
    "dbus-run-session",
    [
      "--",
      join(bin, "conclave-dev"),
      "-devserver",
      `localhost:${port}`,
      "-assetdir",
      join(root, "frontend", "dist"),
      "--data",
      data,
      "--plugins",
      plugins,
    ],
    { DISPLAY: display },
  );
  const url = `http://localhost:${port}/`;
  await until("the program", async () => {
    if (!children.has(child)) throw new Error(`the program ended: ${child.output}`);
    try {
      return (await fetch(url)).ok;
    } catch {
      return false;
    }
  });
  return { child, url };
}

const tests = [];
const test = (name, run) => tests.push({ name, run });

let browser, page, app;

async function openPage(theme = "light") {
  page = await browser.newPage({ viewport: { width: 1280, height: 832 }, colorScheme: theme });
  page.errors = [];
  page.on("pageerror", (error) => {
    // Wails' own development overlay fails under module pages; it is not in a release.
    if (!String(error.stack).includes("/wails/ipc.js")) page.errors.push(String(error));
  });
  await page.goto(app.url);
  await page.getByPlaceholder("Message Conclave").waitFor({ timeout: 15000 });
}

async function say(text) {
  await page.getByRole("button", { name: "Send" }).waitFor(); // the answer before is over
  const box = page.getByPlaceholder("Message Conclave");
  await box.fill(text);
  await box.press("Enter");
}

async function picture(name) {
  await page.screenshot({ path: join(shots, `${name}.png`) });
}

const wordCount = `def word_count(text: str) -> int:
    """Count the words of a text.

    Args:
        text: The text to count.
    """
    return len(text.split())
`;

test("a script dropped into the plugins folder waits for the person", async () => {
  writeFileSync(join(plugins, "word_count.py"), wordCount);
  await page.getByRole("tab", { name: "Plugins" }).click();
  await page.getByText("word_count").first().waitFor();
  await page
    .getByRole("button", { name: /^Approve/ })
    .first()
    .waitFor();
  await picture("plugin-waits");
});

test("once approved its tool is there", async () => {
  await page
    .getByRole("button", { name: /^Approve/ })
    .first()
    .click();
  await page.getByRole("tab", { name: "Tools" }).click();
  await page.getByText("word_count").first().waitFor();
  await page.getByText("1 tool", { exact: true }).first().waitFor(); // the composer offers it
});

test("a call asks the person, and the answer holds the result", async () => {
  await say('/tool word_count {"text":"a b c"}');
  const allow = page.getByRole("button", { name: "Allow once" });
  await allow.waitFor();
  await picture("permission");
  await until("the button to arm", async () => allow.isEnabled(), 5000);
  await allow.click();
  await page.getByRole("article").filter({ hasText: /\b3\b/ }).first().waitFor();
  await picture("tool-card");
});

test("Markdown comes with a highlighted code block and a table", async () => {
  await say("Show me Markdown");
  await page.locator("article table").first().waitFor();
  await page.locator("article pre code span[class]").first().waitFor();
  await until(
    "the end of the answer",
    async () => (await page.getByRole("button", { name: /Stop/ }).count()) === 0,
    30000,
  );
  await picture("markdown-light");
});

test("stopping keeps what was said", async () => {
  await say("/slow 30");
  const stop = page.getByRole("button", { name: /Stop/ }).first();
  await stop.waitFor();
  await page.waitForFunction(
    () => [...document.querySelectorAll("article")].at(-1)?.innerText.length > 60,
  );
  await stop.click();
  await page
    .getByText(/stopped/i)
    .first()
    .waitFor();
  await picture("stopped");
});

test("a broken save keeps the old tool and shows the line", async () => {
  writeFileSync(join(plugins, "word_count.py"), `${wordCount}\ndef broken(:\n`);
  await page.getByRole("tab", { name: "Plugins" }).click();
  await page
    .getByText(/SyntaxError/)
    .first()
    .waitFor();
  await picture("plugin-broken");
  await page.getByRole("tab", { name: "Tools" }).click();
  await page.getByText("word_count").first().waitFor();
});

test("everything is there after a restart, in the dark too", async () => {
  await page.evaluate(() => window.go.app.Settings.Set({ theme: "dark" }));
  await page.close();
  await close(app.child);
  app = await program();
  await openPage("dark");
  await page.getByText("/slow 30").first().waitFor();
  await picture("restarted-dark");
  await page.getByRole("region", { name: "Conversation" }).press("Home");
  await page.getByText("/tool word_count").last().waitFor();
  await picture("restarted-dark-top");
  if (page.errors.length > 0) throw new Error(page.errors.join("\n"));
});

test("the page met no error of its own", async () => {
  if (page.errors.length > 0) throw new Error(page.errors.join("\n"));
});

let passed = 0;
let failed = 0;
try {
  browser = await launch();
  app = await program();
  await openPage();
  for (const { name, run } of tests) {
    try {
      await run();
      passed++;
      console.log(`ok   ${name}`);
    } catch (error) {
      failed++;
      console.log(
        `FAIL ${name}\n     ${String(error.message ?? error)
          .split("\n")
          .slice(0, 6)
          .join("\n     ")}`,
      );
      if (page && !page.isClosed()) await picture(`failed-${failed}`).catch(() => {});
    }
  }
} catch (error) {
  failed++;
  console.log(`FAIL ${error.stack}\n${app?.child.output ?? ""}`);
} finally {
  await browser?.close();
  for (const child of [...children]) await end(child, "SIGKILL");
  rmSync(home, { recursive: true, force: true });
}
console.log(`pictures in ${shots}`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);

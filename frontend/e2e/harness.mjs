// Serves the built page on a program with fixed answers and opens it in Debian's Chromium.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { patience } from "./processes.mjs";

const dist = fileURLToPath(new URL("../dist-fake", import.meta.url));
const types = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".css": "text/css",
  ".woff2": "font/woff2",
  ".svg": "image/svg+xml",
};

/** Starts a server of a folder; returns its address and how to stop it. */
export async function serve(root = dist) {
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://x").pathname));
    const file = join(root, path === "/" ? "index.html" : path);
    try {
      const body = await readFile(file);
      response.writeHead(200, {
        "content-type": types[extname(file)] ?? "application/octet-stream",
      });
      response.end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

// Debian's Chromium without its frame, which does the same in half the time; or with it, elsewhere.
const browsers = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

/** Opens the browser. CONCLAVE_CHROMIUM names another program. */
export function launch() {
  return chromium.launch({
    timeout: patience,
    executablePath: process.env.CONCLAVE_CHROMIUM ?? browsers.find(existsSync),
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}

/** Makes a page that waits with patience, and remembers what it says for a while only (noticed). */
export async function newPage(browser, options) {
  const page = await browser.newPage(options);
  page.setDefaultTimeout(patience);
  await page.addInitScript(() => {
    globalThis.saidHere = [];
    new MutationObserver((changes) => {
      for (const { target, addedNodes } of changes)
        for (const node of [target, ...addedNodes]) {
          const near = node.closest ? node : node.parentElement;
          const words = near?.closest(".toast, [role=status], [role=alert]")?.textContent.trim();
          if (words && globalThis.saidHere.at(-1) !== words) globalThis.saidHere.push(words);
        }
    }).observe(document, { subtree: true, childList: true, characterData: true });
  });
  return page;
}

/** Waits until a notice or a status said words since a page was loaded, though it may have gone by now. */
export const noticed = (page, words) =>
  page.waitForFunction((w) => globalThis.saidHere.some((said) => said.includes(w)), words);

/** Opens the window on a scene. Page errors end the test that caused them. */
export async function open(
  browser,
  base,
  { scene = "chat", theme = "light", width = 1440, height = 832, ...context } = {},
) {
  const page = await newPage(browser, { viewport: { width, height }, ...context });
  page.errors = [];
  page.on("pageerror", (error) => page.errors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") page.errors.push(message.text());
  });
  await page.goto(`${base}/?scene=${scene}&theme=${theme}`);
  await page.locator("main").first().waitFor();
  return page;
}

/** Waits until a still program was asked something so often; returns each time's arguments. */
export async function waits(page, name, often = 1) {
  await page.waitForFunction(([n, k]) => globalThis.fake.given(n).length >= k, [name, often]);
  return page.evaluate((n) => globalThis.fake.given(n), name);
}

/** Waits until so many texts were copied on a still program; returns them. */
export async function copies(page, often = 1) {
  await page.waitForFunction((n) => globalThis.fake.copied.length >= n, often);
  return page.evaluate(() => globalThis.fake.copied);
}

/** Waits until there are so many of an element. */
export async function counts(element, n) {
  if (n > 0) await element.nth(n - 1).waitFor({ state: "attached" });
  await element.nth(n).waitFor({ state: "detached" });
}

/**
 * Brings an Allow button into view, which moves it, and waits until a press on it may be believed:
 * it is armed, and has not moved for longer than the page takes to notice that.
 */
export async function armed(scope, name) {
  const button = scope.getByRole("button", { name, exact: true }).first();
  // Chromium's own: Playwright's fails where the card moves to its call meanwhile.
  await button.evaluate((b) => {
    b.scrollIntoViewIfNeeded();
    return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  });
  const still = scope.locator("button[aria-disabled=false]", { hasText: name }).first();
  for (let was; ;) {
    await still.waitFor();
    const place = JSON.stringify(await button.boundingBox());
    if (place === was) return;
    was = place;
    await button.evaluate(() => new Promise((resolve) => setTimeout(resolve, 250)));
  }
}

/** Waits until an element has the keyboard. */
export const focused = (element) =>
  element.and(element.page().locator(":focus")).waitFor({ state: "attached" });

/**
 * Holds the clock by which Allow buttons arm, also in pages that are loaded later, however long a
 * machine takes from one act to the next; the function returned lets it go on.
 */
export async function stopped(page) {
  const stop = () => {
    const now = performance.now();
    performance.now = () => now;
  };
  await page.addInitScript(stop);
  await page.evaluate(stop);
  return () => page.evaluate(() => delete performance.now);
}

/** Opens the palette by its keys, types words once it takes them, and chooses what they find first. */
export async function palette(page, words) {
  await page.keyboard.press("Control+k");
  await page.locator(".palette input:focus").waitFor();
  await page.keyboard.type(words);
  await page.keyboard.press("Enter");
}

/** Does what scrolls the messages, and waits until they have come to their place. */
export async function scrolled(page, act) {
  await page.locator(".scroller").evaluate((scroller) => {
    globalThis.scrolled = false;
    scroller.addEventListener("scrollend", () => (globalThis.scrolled = true), { once: true });
  });
  await act();
  await page.waitForFunction(() => globalThis.scrolled);
}

/**
 * Waits until for 300 ms, by the page's own clock, nothing on it changed, nothing moves, and the
 * buttons that allow something are armed, whose colour changes with that; with arming false, as where
 * their clock is held, they may not be. What a council's run draws four times a second, for as long as
 * it is live, never rests and does not count.
 */
export async function settled(page, { arming = true } = {}) {
  await page.waitForFunction(
    (waitsToArm) =>
      new Promise((resolve) => {
        let timer;
        const moves = (a) =>
          a.playState === "running" &&
          a.effect.getComputedTiming().endTime !== Infinity &&
          !a.effect.target?.matches(".run .bar");
        const arms = () =>
          waitsToArm &&
          document.querySelector("[data-answers] button[aria-disabled=true]:not(:disabled)");
        const look = () => {
          if (document.getAnimations().some(moves) || arms()) return again();
          changes.disconnect();
          resolve(true);
        };
        const again = () => {
          clearTimeout(timer);
          timer = setTimeout(look, 300);
        };
        const counts = ({ target }) =>
          !(target.closest ? target : target.parentElement)?.closest("section.run");
        const changes = new MutationObserver((all) => all.some(counts) && again());
        changes.observe(document, {
          ...{ subtree: true, childList: true, attributes: true, characterData: true },
        });
        again();
      }),
    arming,
  );
}

let axe = "";

/** Fails where axe-core finds something on the page as it is. */
export async function accessible(page, only = axeTags) {
  axe ||= await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  await settled(page); // axe would measure an opacity that changes
  await page.evaluate(axe);
  const found = await page.evaluate(async (runOnly) => {
    const result = await globalThis.axe.run(document, { runOnly, resultTypes: ["violations"] });
    return result.violations.map(
      (v) =>
        `${v.id}: ${v.nodes
          .map((n) => n.target.join(" "))
          .slice(0, 4)
          .join(" | ")}`,
    );
  }, only);
  assert.deepEqual(found, []);
}

const axeTags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** The same in both themes. The second differs in its colours alone, so only those are looked at anew. */
export async function accessibleInBoth(page) {
  await accessible(page);
  const theme = await page.evaluate(() => {
    const { dataset } = document.documentElement;
    return (dataset.theme = dataset.theme === "dark" ? "light" : "dark");
  });
  await accessible(page, { type: "rule", values: ["color-contrast", "link-in-text-block"] });
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), theme);
}

/** Presses Tab until what has the focus has a name, and returns how often. */
export async function tabTo(page, name) {
  for (let i = 0; i < 250; i++) {
    const now = await page.evaluate(() => {
      const e = document.activeElement;
      const label = e?.id && document.querySelector(`label[for="${e.id}"]`);
      return (e?.ariaLabel || label?.textContent || e?.textContent || "").trim();
    });
    if (name instanceof RegExp ? name.test(now) : now === name) return i;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not come to ${name}`);
}

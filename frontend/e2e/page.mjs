// What tests do on a page, and wait for: it shows what the program knows a moment later.
import { expect } from "@playwright/test";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";

/**
 * Makes calls of the program take up to most ms more, now and then, before they begin and before they are
 * answered: what goes wrong by chance on a slow machine goes wrong soon. CONCLAVE_TEST_SLOW=700 does so.
 */
function slow(most) {
  const wait = () => new Promise((done) => setTimeout(done, Math.random() < 0.3 ? Math.random() * most : 5));
  const slower =
    (call) =>
    async (...values) => {
      await wait();
      return call(...values).finally(wait);
    };
  const within = (held) => {
    if (typeof held === "function") return slower(held);
    return held && typeof held === "object" ? new Proxy(held, { get: (of, name) => within(of[name]) }) : held;
  };
  let program;
  Object.defineProperty(globalThis, "go", {
    get: () => within(program),
    set(bound) {
      program = bound;
    },
  });
}

/** Makes a page remember what it says for a while only (noticed), and returns the errors it reports. */
export async function watch(page) {
  if (process.env.CONCLAVE_TEST_SLOW) await page.addInitScript(slow, Number(process.env.CONCLAVE_TEST_SLOW));
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
  const errors = [];
  page.on("pageerror", (error) => {
    // Wails' own development overlay fails under module pages; it is not in a release.
    if (!String(error.stack).includes("/wails/ipc.js")) errors.push(String(error));
  });
  return errors;
}

/** Waits until a notice or a status said words since a page was loaded, though it may have gone by now. */
export const noticed = (page, words) =>
  page.waitForFunction((w) => globalThis.saidHere.some((said) => said.includes(w)), words);

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

/** Presses an Allow button until the press is believed: one that came just after the card moved is not, which it says. */
export async function believe(scope, name) {
  const button = scope.getByRole("button", { name, exact: true }).first();
  for (;;) {
    await armed(scope, name);
    const before = await button.evaluate(() => globalThis.saidHere.push(""));
    await button.click();
    const ignored = await button.page().evaluate(async (from) => {
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      return globalThis.saidHere.slice(from).some((words) => words.includes("just moved"));
    }, before);
    if (!ignored) return;
  }
}

/** The card of a plugin. */
export const card = (page, id) => page.locator(`[data-plugin="${id}"]`);

/** Approves a plugin that asks for it, and waits until it runs. */
export async function approve(page, id) {
  const its = card(page, id);
  await expect(its.getByText("Needs your approval")).toBeVisible();
  await believe(its, "Approve and turn on");
  await expect(its.getByText("Ready", { exact: true })).toBeVisible();
}

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

/** Opens a page of the settings, once they are there. */
export async function settings(page, name) {
  await page.keyboard.press("Control+,");
  await page.getByRole("button", { name, exact: true }).click();
  await expect(page.getByRole("heading", { name, exact: true })).toBeVisible();
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
          waitsToArm && document.querySelector("[data-answers] button[aria-disabled=true]:not(:disabled)");
        const look = () => {
          if (document.getAnimations().some(moves) || arms()) return again();
          changes.disconnect();
          resolve(true);
        };
        const again = () => {
          clearTimeout(timer);
          timer = setTimeout(look, 300);
        };
        const counts = ({ target }) => !(target.closest ? target : target.parentElement)?.closest("section.run");
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
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe);
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
  expect(found).toEqual([]);
}

const axeTags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** The same in both themes. The second differs in its colours alone, so only those are looked at again. */
export async function accessibleInBoth(page) {
  await accessible(page);
  const theme = await page.evaluate(() => {
    const { dataset } = document.documentElement;
    return (dataset.theme = dataset.theme === "dark" ? "light" : "dark");
  });
  await accessible(page, { type: "rule", values: ["color-contrast", "link-in-text-block"] });
  expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe(theme);
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

// The council's panel: set and assigned by hand and by keys, watched, read, replayed and looked into.
import { accessible, armed, noticed, palette, settled } from "../page.mjs";
import { copies, expect, given, test } from "../scene.mjs";

const tab = (page) => page.getByRole("tab", { name: "Council" });
const lane = (page, id) => page.locator(`[data-lane="${id}"]`);
const member = (page, id) => page.locator(`[data-member="${id}"]`);
const ids = (page) => page.locator("[data-member]").evaluateAll((cards) => cards.map((card) => card.dataset.member));
/** Waits until the members are in this order. */
const ordered = (page, ...wanted) =>
  page.waitForFunction(
    (wanted) =>
      wanted.join() === [...document.querySelectorAll("[data-member]")].map((card) => card.dataset.member).join(),
    wanted,
  );
/** Waits until the council was written so that something holds of it. */
async function written(page, holds) {
  for (let seen = 0; ; seen++) {
    await page.waitForFunction((n) => globalThis.fake.given("Council.Set").length > n, seen);
    const council = await page.evaluate((n) => globalThis.fake.given("Council.Set")[n][2], seen);
    if (holds(council)) return council;
  }
}

/** Presses Tab until what has the focus matches. */
async function tabTo(page, selector) {
  for (let i = 0; i < 200; i++) {
    if (await page.evaluate((s) => document.activeElement?.matches(s), selector)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not come to ${selector}`);
}

/** Waits until each member's tokens are counted, and what a run costs: then nothing moves. */
async function counted(page) {
  await expect(page.getByText(/^\d+ calls, /)).toBeVisible();
  for (const id of await ids(page)) await expect(member(page, id).getByText(/· [\d,]+ tokens/)).toBeVisible();
  await settled(page);
}

test("the council's tab comes with the dock, and its code with the tab", async ({ open }) => {
  const page = await open();
  const loaded = () =>
    page.evaluate(() => performance.getEntriesByType("resource").filter((r) => r.name.includes("CouncilTab")).length);
  await expect(tab(page)).toBeVisible();
  expect(await loaded()).toBe(0);
  await tab(page).click();
  await expect(page.getByText("Council in this chat").first()).toBeVisible();
  expect(await loaded()).toBeGreaterThan(0);
});

test("menus that show the council keep the keyboard", async ({ open }) => {
  const page = await open("councilset");
  for (const [button, item] of [
    ["More for this chat", "Council and its runs"],
    [/^Council: 3/, "Show the council"],
  ]) {
    await page.getByRole("button", { name: button }).press("Enter");
    await page.getByRole("menuitem", { name: item }).press("Enter");
    await expect(tab(page)).toBeVisible();
    await expect(page.getByRole("menuitem", { name: item })).toHaveCount(0);
    await expect(page.getByRole("button", { name: button })).toBeFocused();
    await page.keyboard.press("Control+j");
    await expect(tab(page)).toHaveCount(0);
  }
});

test("the composer names the council to who has none, and leads to it", async ({ open }) => {
  const page = await open("councilempty");
  await page.getByRole("tab", { name: "Activity" }).click();
  await page.getByRole("button", { name: "Ask a council", exact: true }).click();
  await expect(page.getByRole("button", { name: "Run a sample council" })).toBeVisible();
});

test("while nobody sits in the council, a sample can be run", async ({ open }) => {
  const page = await open("councilempty");
  await page.getByRole("tab", { name: "Council" }).click();
  await expect(page.getByText("Scripted, offline and free; the tools are real.")).toBeVisible();
  await page.getByRole("button", { name: "Run a sample council" }).press("Enter");
  await given(page, "Council.Sample");
});

test("while nobody sits in the council, a preset sets it and turns it on", async ({ open }) => {
  const page = await open("councilempty");
  const priced = /^Three chairs.*3 members, \d+ calls, about \$[\d.]+/;
  await expect(page.getByRole("button", { name: priced })).toBeVisible();
  expect(await page.getByRole("button", { name: /^Council:/ }).count()).toBe(0);
  await page.getByRole("button", { name: /^Three chairs/ }).click();
  const council = await written(page, (c) => c.enabled && c.members.length === 3);
  expect(council.mode).toBe("opinions");
});

test("a preset that takes the place of a council says so, and is taken back", async ({ open }) => {
  const page = await open("councilset");
  await page.getByRole("button", { name: "Presets" }).click();
  await page.getByRole("menuitem", { name: /^Red team/ }).click();
  await written(page, (c) => c.mode === "advocate");
  const toast = page.locator(".toast", { hasText: "This chat now uses Red team" });
  await toast.getByRole("button", { name: "Undo" }).click();
  await written(page, (c) => c.mode === "opinions" && c.name === undefined);
  await expect(page.getByLabel("How the members work together").getByText("Independent")).toBeVisible();
});

test("the name of a preset that is not taken stays, and Esc leaves its field and not the panel", async ({ open }) => {
  const page = await open("councilset", { width: 1000 }); // the panel lies over the chat
  await page.keyboard.press("Control+j");
  await page.getByRole("button", { name: "Presets" }).click();
  await page.getByRole("menuitem", { name: "Save as a preset…" }).click();
  const field = page.getByLabel("Name of the preset");
  await expect(field).toBeFocused();
  await page.evaluate(() => {
    globalThis.fake.council.SavePreset = () => Promise.reject(new Error("It is locked."));
  });
  await page.keyboard.type("Mine");
  await page.keyboard.press("Enter");
  await expect(page.locator(".toast", { hasText: "It is locked." })).toBeVisible();
  expect(await field.inputValue()).toBe("Mine");
  await page.getByRole("button", { name: "Cancel" }).press("Escape");
  await expect(field).toHaveCount(0);
  await expect(page.getByText("Council in this chat").first()).toBeVisible();
});

test("presets are renamed, copied and deleted in the settings, by keyboard", async ({ open }) => {
  const page = await open("councilpresets");
  const menu = (name) => page.getByRole("button", { name: `More for ${name}`, exact: true });
  const choose = async (name, item) => {
    await expect(page.getByRole("menu")).toHaveCount(0); // the one before it goes in its own time
    await menu(name).press("Enter");
    await page.getByRole("menuitem", { name: item }).press("Enter");
  };
  await page.keyboard.press("Control+,");
  await page.getByRole("button", { name: "Council presets", exact: true }).press("Enter");
  await choose("My reviewers", "Rename…");
  const field = page.getByLabel("New name for My reviewers");
  await expect(field).toBeFocused();
  await field.fill("Red team");
  await page.keyboard.press("Enter");
  await expect(page.getByText("There is a preset “Red team” already.")).toBeVisible();
  await field.fill("Reviewers");
  await page.keyboard.press("Enter");
  await expect(menu("Reviewers")).toBeFocused();
  await choose("Reviewers", "Rename…");
  await expect(page.getByLabel("New name for Reviewers")).toBeFocused();
  await page.keyboard.press("Escape"); // leaves the field, and nothing else
  await expect(menu("Reviewers")).toBeFocused();
  await choose("Red team", "Duplicate");
  await noticed(page, "Red team 2 was added to your presets.");
  await choose("Red team 2", "Delete");
  await noticed(page, "The preset “Red team 2” was deleted.");
  await expect(menu("Red team 2")).toHaveCount(0);
  await choose("Garden", "Export council…");
  const [[name, text]] = await given(page, "Window.SaveFile");
  expect([name, JSON.parse(text).members.length]).toEqual(["garden.json", 2]);
});

test("a tool is given by dragging it, by its menu, and by the member's form; one that is not eligible says why", async ({
  open,
}) => {
  const page = await open("councilset");
  const shelf = page.getByRole("list", { name: "Tools for members" });
  await counted(page); // nothing moves under the pointer
  await shelf.getByText("Roll dice").dragTo(member(page, "sceptic"));
  await written(page, (c) => c.members[1].tools.includes("dice:roll"));
  await shelf.getByRole("button", { name: "Give Word count to…" }).click();
  await page.getByRole("menuitem", { name: "Give to Maker" }).click();
  await written(page, (c) => c.members[2].tools.includes("text:word_count"));
  await member(page, "maker").locator(".who").click();
  await member(page, "maker")
    .getByRole("checkbox", { name: /Convert units/ })
    .check();
  await written(page, (c) => c.members[2].tools.includes("text:convert"));
  const mail = member(page, "maker").getByRole("checkbox", { name: /Send mail/ });
  await expect(mail).toBeDisabled();
  await expect(member(page, "maker").getByText("It is switched off.")).toBeVisible();
});

test("where the council is kept is chosen, with a way back", async ({ open }) => {
  const page = await open("councilset");
  await page.getByText("Limits, chair and helper").click();
  await page.getByLabel("Where this council applies").click();
  await page.getByRole("option", { name: "Everywhere" }).click();
  const [[chat, scope]] = await given(page, "Council.Move");
  expect([chat !== "", scope]).toEqual([true, "global"]);
  await page.getByRole("button", { name: "Undo", exact: true }).click();
  await given(page, "Window.Undo");
});

test("in the mode of tools: how they are run is set, and what the answer is told of earlier results", async ({
  open,
}) => {
  const page = await open("councilset");
  await page.getByLabel("How the members work together").click();
  await page.getByRole("option", { name: "Tools only, no answers" }).click();
  await page.getByText("Limits, chair and helper").click();
  await page.getByLabel("Timeout per tool, seconds").fill("5");
  await page.getByLabel("Messages each member sees").fill("0");
  await page.getByLabel("Reuse their results when the question is answered again").check();
  const { toolsSettings } = await written(page, (c) => c.toolsSettings.retainResultsForRegens);
  expect([toolsSettings.timeoutMs, toolsSettings.sidecarContextWindow]).toEqual([15_000, 0]);
  const maker = member(page, "maker");
  await maker.locator(".who").click();
  await maker.getByRole("checkbox", { name: "Word count" }).check();
  await maker.getByLabel("Earlier results included in the answer").first().fill("3");
  await maker.getByLabel("Earlier results included in the answer").first().blur();
  const council = await written(page, (c) => c.members[2].toolHistoryRetention);
  expect(Object.values(council.members[2].toolHistoryRetention)).toEqual([3]);
});

test("how models are asked is set: how much a member thinks, and how freely and long its helper writes", async ({
  open,
}) => {
  const page = await open("councilset");
  await page.getByText("Limits, chair and helper").click();
  const length = page.getByLabel("Maximum answer, tokens");
  await length.fill("2000");
  await page.getByLabel("Temperature").fill("0");
  await length.focus();
  const set = await written(page, (c) => c.helper.temperature === 0);
  expect(set.helper.max_tokens).toBe(2000);
  await page.getByLabel("Temperature").fill("");
  await length.focus();
  await written(page, (c) => c.helper.temperature === null);
  const maker = member(page, "maker");
  await maker.locator(".who").click();
  await maker.getByText("Persona and sampling").click();
  await maker.getByLabel("Reasoning").click();
  await page.getByRole("option", { name: "High" }).click();
  await written(page, (c) => c.members[2].reasoning === "high");
  await maker.getByLabel("Top-p").fill("0.5");
  await maker.getByLabel("Top-p").blur();
  await written(page, (c) => c.members[2].top_p === 0.5 && c.members[2].reasoning === "high");
});

test("a card says what its member’s work may come to", async ({ open }) => {
  const page = await open("councilset");
  const facts = (id) => member(page, id).locator(".facts");
  await expect(facts("sceptic").getByText("about $0.012 · about 7 s")).toBeVisible();
  await expect(facts("researcher").getByText("about 9 s", { exact: true })).toBeVisible(); // of no known price
});

test("what goes with the keyboard on it leaves the keyboard in its card, and a member in the list", async ({
  open,
}) => {
  const page = await open("councilset");
  const take = member(page, "researcher").getByRole("button", { name: /^Remove .* from / });
  await take.first().focus();
  await page.keyboard.press("Enter");
  await expect(member(page, "researcher")).toBeFocused();
  const menu = member(page, "sceptic").getByRole("button", { name: "More for Sceptic" });
  await menu.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("menuitem", { name: "Remove", exact: true }).press("Enter");
  await expect(member(page, "sceptic")).toHaveCount(0);
  await page.waitForFunction(() => document.activeElement.closest("[data-region]"));
});

test("members are ordered by dragging, by arrow keys and by the menu", async ({ open }) => {
  const page = await open("councilset");
  await expect(member(page, "maker")).toBeVisible();
  await ordered(page, "researcher", "sceptic", "maker");
  await member(page, "researcher").locator(".handle").focus();
  await page.keyboard.press("ArrowDown");
  await ordered(page, "sceptic", "researcher", "maker");
  await expect(member(page, "researcher").locator(".handle")).toBeFocused();
  await page.getByRole("button", { name: "More for Maker" }).click();
  await page.getByRole("menuitem", { name: "Move up" }).click();
  await ordered(page, "sceptic", "maker", "researcher");
  await counted(page);
  await member(page, "researcher")
    .locator(".handle")
    .dragTo(member(page, "sceptic"), {
      targetPosition: { x: 40, y: 4 },
    });
  await ordered(page, "researcher", "sceptic", "maker");
});

test("what a member is told is set in its form, and its tokens are counted", async ({ open }) => {
  const page = await open("councilset");
  const card = member(page, "maker");
  await expect(card.getByText("1,180 tokens")).toBeVisible();
  await card.locator(".who").click();
  await card.getByLabel("Context").click();
  await page.getByRole("option", { name: "Question only" }).click();
  const council = await written(page, (c) => c.members[2].context.policy === "question");
  expect(council.members[2].context.system).toBe(true);
  await expect(card.getByText("38 tokens").first()).toBeVisible();
});

test("by keyboard alone: on, a member opened and renamed, a lane opened, what it was told, and back", async ({
  open,
}) => {
  const page = await open("council", { width: 1280 });
  await palette(page, "show the council");
  await tabTo(page, ".switch");
  await page.keyboard.press("Space");
  await given(page, "Council.Use");
  await tabTo(page, "details.members > summary");
  await page.keyboard.press("Enter");
  await tabTo(page, "[data-member=sceptic] .who");
  await page.keyboard.press("Enter");
  await tabTo(page, "[data-member=sceptic] input.field");
  await page.keyboard.press("End");
  await page.keyboard.type(" II");
  await written(page, (c) => c.members[1].name === "Sceptic II");
  await tabTo(page, "[data-lane=sceptic] .who");
  await page.keyboard.press("Enter");
  await expect(lane(page, "sceptic").getByText("it never tastes of anything")).toBeVisible();
  await tabTo(page, "[data-lane=sceptic] .see");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog").getByText("Left out: this member is given no attachments.")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(lane(page, "sceptic").locator(".see")).toBeFocused();
});

test("a member's card does not grow when what it is told was counted", async ({ open }) => {
  const page = await open("councilset");
  await page.evaluate(() => {
    const { council } = globalThis.fake;
    const { Contexts } = council;
    const counted = new Promise((resolve) => (globalThis.count = resolve));
    council.Contexts = async (...of) => {
      globalThis.counting = true;
      await counted;
      return Contexts.apply(council, of);
    };
  });
  await page.getByRole("button", { name: "Add member" }).click();
  await page.waitForFunction(() => globalThis.counting);
  const facts = page.locator("[data-member]").last().locator(".facts");
  const heights = () =>
    facts.evaluate((element) => {
      const all = [];
      for (let width = 160; width < 360; width += 4) {
        element.style.width = `${width}px`;
        all.push(element.offsetHeight);
      }
      element.style.width = "";
      return all;
    });
  const before = await heights();
  await page.evaluate(() => globalThis.count());
  await expect(facts.getByText("tokens")).toBeVisible();
  expect(await heights()).toEqual(before);
});

test("one key gives the panel the whole width and takes it back; at 1280 the chat stays 560 wide", async ({ open }) => {
  const page = await open("council", { width: 1280 });
  await page.keyboard.press("Control+j");
  const width = (selector) =>
    page
      .locator(selector)
      .first()
      .evaluate((e) => e.offsetWidth);
  await expect(page.locator("section.dock")).toBeVisible();
  expect(await width(".centre")).toBeGreaterThanOrEqual(560);
  await page.keyboard.press("Control+Shift+J");
  await page.waitForFunction(() => document.querySelector("section.dock").offsetWidth > 900);
  expect(await page.getByRole("main", { name: "Panel" }).getByRole("heading", { level: 1 }).innerText()).toBe(
    "Council",
  );
  await page.keyboard.press("Control+Shift+J");
  await page.waitForFunction(() => document.querySelector("section.dock").offsetWidth < 600);
});

test("a point of the result, and a citation of the answer, lead to the member's words", async ({ open }) => {
  const page = await open("council");
  await page.getByRole("button", { name: "b2 in the text of Sceptic" }).first().click();
  const point = page.locator('[data-point="b2"]');
  await expect(point).toBeVisible();
  await page.waitForFunction(() => document.activeElement?.dataset.point === "b2");
  // Whatever brings it into view, the window as a whole stays where it is.
  await page.evaluate(() => {
    document.querySelector('[data-point="b2"]').scrollIntoView({ block: "start" });
    document.scrollingElement.scrollTop = 100;
    document.body.scrollTop = 100;
  });
  expect(await page.evaluate(() => [document.scrollingElement.scrollTop, document.body.scrollTop])).toEqual([0, 0]);
  const cited = page.locator(".message .cite", { hasText: "a1" });
  await cited.hover();
  await page.waitForFunction(
    () => document.querySelector("[data-cite=a1]").title === "Researcher: Uneven watering makes the skin split.",
  );
  await cited.click();
  await page.waitForFunction(() => document.activeElement?.dataset.point === "a1");
});

test("a point that a review adds has the number after those of the answer", async ({ open }) => {
  const page = await open("councilreview");
  await page.getByRole("button", { name: "a3 in the text of Researcher" }).click();
  await page.waitForFunction(() => document.activeElement?.dataset.point === "a3");
  await expect(lane(page, "researcher").getByText("anonymous: a is Maker, b is Sceptic.")).toBeVisible();
  expect(await page.locator('[data-point="a1"]').count()).toBe(1);
  await page.getByRole("button", { name: "a3 helped" }).click();
  expect((await given(page, "Council.Rate"))[0].slice(1)).toEqual(["researcher", 3, true]);
});

test("the line under the answer opens its run", async ({ open }) => {
  const page = await open("council", { width: 1280 });
  expect(await page.locator("section.dock").count()).toBe(0);
  await page.getByRole("button", { name: "3 members · 11.8 s · $0.037 · 1 disagreement" }).click();
  await expect(page.getByRole("heading", { name: "What the council found" })).toBeVisible();
});

test("words stream into a lane and draw nothing else; what a member did is said", async ({ open }) => {
  const page = await open("councillive");
  await expect(lane(page, "sceptic").getByText("the watering can is.")).toBeVisible();
  await expect(lane(page, "researcher").getByText(/ · [1-4] min \d+ s left$/)).toBeVisible();
  await expect(page.getByText(/ · 1\d min \d+ s left/)).toBeVisible();
  await page.evaluate(() => {
    const { council } = globalThis.fake;
    const [first, second, ...rest] = structuredClone(council.of("run-1").lanes);
    const held = second.tasks[0].text.length;
    second.tasks[0] = { ...second.tasks[0], text: " Or the hose.", offset: held };
    globalThis.seen = [];
    new MutationObserver((all) => globalThis.seen.push(...all.map((m) => m.type))).observe(
      document.querySelector("[data-lane]").parentElement, // the axis above gets other marks with time
      { subtree: true, childList: true, characterData: true },
    );
    council.change("run-1", [first, second, ...rest], { ms: council.of("run-1").ms });
  });
  await expect(lane(page, "sceptic").getByText("the watering can is. Or the hose.")).toBeVisible();
  expect([...new Set(await page.evaluate(() => globalThis.seen))]).toEqual(["characterData"]);
  await page.evaluate(() => {
    const { council } = globalThis.fake;
    const [first, ...rest] = structuredClone(council.of("run-1").lanes);
    first.tasks[0] = { ...first.tasks[0], state: "done", end_ms: 4000, calls: [], phase: "" };
    council.change("run-1", [first, ...rest]);
  });
  await expect(lane(page, "researcher").getByText("Done", { exact: true })).toBeVisible();
  await expect(page.locator("[role=status]", { hasText: "Researcher: Done" })).toBeAttached();
});

test("a member is nudged, skipped and the run finished or stopped", async ({ open }) => {
  const page = await open("councillive");
  const menu = async (name, item) => {
    await page.getByRole("button", { name: `More for the lane of ${name}` }).click();
    await page.getByRole("menuitem", { name: item }).click();
  };
  await menu("Sceptic", "Add a hint…");
  await expect(lane(page, "sceptic").locator("input:focus")).toBeVisible();
  await page.keyboard.type("They stand outside.");
  await page.keyboard.press("Enter");
  await menu("Maker", "Skip");
  await page.getByRole("button", { name: "Finish with what we have" }).click();
  expect((await given(page, "Council.Act", 3)).map(([, act, who, , text]) => [act, who, text])).toEqual([
    ["nudge", "sceptic", "They stand outside."],
    ["skip", "maker", ""],
    ["finish", "", ""],
  ]);
});

test("a member's permission card stands in its lane, and there alone; closed, it is in the chat", async ({ open }) => {
  const page = await open("councilpermission");
  await expect(lane(page, "researcher").locator(".ask")).toBeVisible();
  await page.waitForFunction(() => document.querySelectorAll(".ask").length === 1);
  await expect(lane(page, "researcher").getByText("Waiting for you")).toBeVisible();
  await page.keyboard.press("Control+j");
  await expect(page.locator(".centre .ask")).toBeVisible();
  await expect(page.locator(".ask")).toHaveCount(1);
  await page.keyboard.press("Control+j");
  await expect(page.locator(".centre .ask")).toHaveCount(0);
  // Behind another tab of the panel nobody would find it.
  await page.getByRole("tab", { name: /^Tools/ }).click();
  await expect(page.locator(".centre .ask")).toBeVisible();
});

test("the chair waits for the person while a call of its answer does, and costs nothing yet", async ({ open }) => {
  const page = await open("councilchair");
  await expect(lane(page, "").getByText("Waiting for you")).toBeVisible();
  await expect(page.locator(".centre .ask")).toBeVisible();
  await page.getByRole("button", { name: "As a table" }).click();
  const row = page.locator("tr", { hasText: "Chair" });
  await expect(row).toBeVisible();
  const words = await row.innerText();
  expect(words).toMatch(/Waiting for you[\s\S]*–/);
  expect(words).not.toMatch(/not known|0 tokens/);
  await expect(page.getByRole("button", { name: /^Allow once/ })).toBeVisible();
});

test("what a member asks comes into view in its lane, with its buttons", async ({ open }) => {
  const page = await open("councilpermission", { height: 640 });
  const allow = lane(page, "researcher").getByRole("button", { name: "Allow once" });
  await expect(allow).toBeVisible();
  await page.waitForFunction(
    (button) => button.getBoundingClientRect().bottom <= innerHeight,
    await allow.elementHandle(),
  );
});

test("an answer is for the whole council only if that is ticked, which nothing does for the person", async ({
  open,
}) => {
  const page = await open("councilpermission");
  const ask = lane(page, "researcher");
  await armed(page, "Allow more…");
  await ask.getByRole("button", { name: "Allow more…" }).click();
  const tick = ask.getByLabel("Also for other council members");
  await expect(tick).toBeVisible();
  expect(await tick.isChecked()).toBe(false);
  await accessible(page);
  await tick.focus();
  await page.keyboard.press("Space");
  await armed(page, /^Always/);
  await ask.getByRole("button", { name: /^Always/ }).click();
  await expect(ask.locator(".ask")).toHaveCount(0);
  const given = await page.evaluate(() => globalThis.fake.given("Permissions.Answer"));
  expect(given.map(([, , answer]) => [answer.scope, answer.council])).toEqual([["always", true]]);
});

test("a call in a lane opens to what it was given and answered", async ({ open }) => {
  const page = await open("council");
  await lane(page, "researcher").locator(".who").click();
  const call = lane(page, "researcher").locator("button.line").first();
  await call.press("Enter");
  await expect(lane(page, "researcher").getByText("Arguments", { exact: true })).toBeVisible();
  await expect(lane(page, "researcher").getByText("Three pages found.")).toBeVisible();
  await call.press("Enter");
  await expect(lane(page, "researcher").getByText("Arguments", { exact: true })).toHaveCount(0);
});

test("failed tools ask: retry, or go on", async ({ open }) => {
  const page = await open("councilasking");
  await expect(page.getByText("1 task failed.", { exact: true })).toBeVisible();
  await expect(page.getByRole("heading", { name: "The council is waiting for you" })).toBeVisible();
  await page.getByRole("button", { name: "Retry failed tasks" }).click();
  await page.getByRole("button", { name: "Continue without them" }).click();
  const acts = await given(page, "Council.Act", 2);
  expect(acts.map((a) => a[1])).toEqual(["retry", "go_on"]);
});

test("a run that was cut off can go on, be answered with what there is, or be left", async ({ open }) => {
  const page = await open("councilinterrupted");
  await expect(page.getByText("Conclave was closed before this was answered.")).toBeVisible();
  await expect(lane(page, "sceptic").getByText("Cut off", { exact: true })).toBeVisible();
  const table = page.getByRole("button", { name: "As a table" });
  await table.click();
  await expect(page.getByRole("table").getByText("Cut off", { exact: true }).first()).toBeVisible();
  await table.click();
  await page.getByRole("button", { name: "Continue with the council" }).click();
  await page.getByRole("button", { name: "Continue", exact: true }).click();
  await page.getByRole("button", { name: "Answer with what we have" }).click();
  await page.getByRole("button", { name: "End the run" }).click();
  expect((await given(page, "Council.Act")).length).toBe(1);
  expect((await given(page, "Council.Resume", 3)).map(([, finish]) => finish)).toEqual([false, false, true]);
});

test("a run is scrubbed, stepped and played at eight times its speed", async ({ open }) => {
  const page = await open("council");
  const bar = page.getByRole("slider", { name: "Position in the run" });
  await bar.focus();
  await page.keyboard.press("Home");
  await expect(lane(page, "maker").getByText("Waiting", { exact: true })).toBeVisible();
  await page.getByRole("button", { name: "One step on" }).click();
  await expect(lane(page, "maker").getByText("Working", { exact: true })).toBeVisible();
  for (const _ of [2, 4, 8]) await page.getByRole("button", { name: /^Speed/ }).click();
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await expect(page.getByRole("heading", { name: "What the council found" })).toBeVisible();
  await expect(page.locator("input[type=range][aria-valuetext='11.8 s of 11.8 s']")).toBeVisible();
});

test("a mark of the time has its words where they do not touch those of the next, and else none", async ({ open }) => {
  const page = await open("council");
  await expect(lane(page, "maker")).toBeVisible();
  const last = () =>
    page.locator(".axis").evaluate((axis) => {
      const [before, end] = [...axis.querySelectorAll("b")].slice(-2);
      const [a, b] = [before, end].map((words) => words.getBoundingClientRect());
      return { words: before.textContent, width: a.width, room: b.left - a.right };
    });
  await settled(page);
  const narrow = await last();
  expect(narrow.words).toBe("10 s"); // of 15 s
  expect(narrow.width > 10 && narrow.room > 4, JSON.stringify(narrow)).toBeTruthy();
  await page.locator(".axis").evaluate((axis) => (axis.style.width = "120px"));
  expect((await last()).width).toBe(0);
});

test("a run is done again with one change, and both are shown", async ({ open }) => {
  const page = await open("councilagain");
  await expect(page.getByText("Repeated with one change: Sceptic speaks through Small 2.")).toBeVisible();
  await page.getByRole("button", { name: "Show both" }).click();
  await page.waitForFunction(
    () =>
      [...document.querySelectorAll("h3")].filter((h) => h.textContent.startsWith("What the council found")).length ===
      2,
  );
  await page.getByRole("button", { name: "More for this run" }).click();
  await page.getByRole("menuitem", { name: "Run again with one change…" }).click();
  await page.getByRole("dialog").getByText("Role", { exact: true }).click();
  await page.getByRole("dialog").getByRole("textbox", { name: "Role" }).fill("Counts the cost");
  await page.getByRole("button", { name: "Run again", exact: true }).click();
  const [[run, change]] = await given(page, "Council.Again");
  expect([run, change.member, change.role, change.model]).toEqual(["run-2", "researcher", "Counts the cost", null]);
});

test("the line of a run shows it each time, and one may look at another meanwhile", async ({ open }) => {
  const page = await open("councilagain");
  const choice = page.getByRole("combobox", { name: "Run" });
  const line = page.locator("article .line-btn").last();
  await line.click();
  const shown = await choice.textContent();
  for (let i = 0; i < 2; i++) {
    await choice.click();
    await page.getByRole("option", { selected: false }).first().click();
    await page.waitForFunction(
      ([run, words]) => document.getElementById(run)?.textContent !== words,
      [await choice.getAttribute("id"), shown],
    );
    await line.click();
    await expect(choice.filter({ hasText: shown.trim() })).toBeVisible();
  }
});

test("what one member was told is compared with what another was", async ({ open }) => {
  const page = await open("council");
  await page.getByRole("button", { name: "More for the lane of Sceptic" }).click();
  await page.getByRole("menuitem", { name: "What did Sceptic see?" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByText("About 82 tokens, to acme/large-2")).toBeVisible();
  await dialog.getByText("Exact request").click();
  await expect(dialog.getByText('"model": "large-2"')).toBeVisible();
  await dialog.getByText("Comparison").click();
  await expect(dialog.getByText("You are Researcher. You find what is known.")).toBeVisible();
  await dialog.getByRole("button", { name: "Copy as JSON" }).click();
  const [copied] = await copies(page);
  expect(JSON.parse(copied).model).toBe("large-2");
});

test("a run that met its cap says so, and leads to the cap", async ({ open }) => {
  const page = await open("councilcap");
  await expect(page.getByText("The cap of $0.01 was reached, and the answer made")).toBeVisible();
  const ways = page.getByRole("button", { name: "Change the cap" });
  const cap = page.getByLabel("Cap per answer, US dollars");
  await expect(ways).toHaveCount(2); // what a message may cost, and what the run did
  await ways.first().click();
  await expect(cap).toBeFocused();
  await ways.last().click();
  await expect(cap).toBeFocused();
});

test("a member that came to nothing is asked again, and everybody can be", async ({ open }) => {
  const page = await open("councilcap");
  await page.getByRole("button", { name: "More for the lane of Researcher" }).click();
  await expect(page.getByRole("menuitem", { name: "What did Researcher see?" })).toBeVisible();
  await expect(page.getByRole("menuitem", { name: "Run this member again…" })).toHaveCount(0);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "More for the lane of Sceptic" }).click();
  await page.getByRole("menuitem", { name: "Run this member again…" }).click();
  await page.getByRole("button", { name: "Run again", exact: true }).click();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await page.getByRole("button", { name: "More for this run" }).click();
  await page.getByRole("menuitem", { name: "Run again with one change…" }).click();
  await page.getByRole("dialog").getByLabel("Member").click();
  await page.getByRole("option", { name: "All members, unchanged" }).click();
  await page.getByRole("button", { name: "Run again", exact: true }).click();
  const nothing = { model: null, role: null, context: null, tools: null };
  expect((await given(page, "Council.Again", 2)).map(([, change]) => change)).toEqual([
    { member: "sceptic", ...nothing },
    { member: "", ...nothing },
  ]);
});

test("of one member alone there is nothing to compare: the box has what is not checked", async ({ open }) => {
  const page = await open("councilone");
  const box = page.locator(".card", { hasText: "What the council found" });
  await expect(box.getByText("Uneven watering is the cause.")).toBeVisible();
  expect(await box.locator("h4").allInnerTexts()).toEqual(["Not checked\n1"]);
  await page.getByRole("button", { name: "Add another member" }).click();
  await expect(page.locator("[data-member] input.field:focus")).toBeVisible();
  await expect(page.getByRole("button", { name: "Add another member" })).toHaveCount(0);
});

test("who sits out has the letter of its card, outlined; in an older run, where it has none, a dash", async ({
  open,
}) => {
  const page = await open("councilasking");
  const out = lane(page, "sceptic");
  await expect(out.getByText("Sceptic threw 49.8; it takes part below 40.")).toBeVisible();
  expect(await out.locator(".avatar.hollow").innerText()).toBe("B");
  expect(await out.getByText("49.8").count()).toBe(1); // the reason has the number
  await expect(lane(page, "maker").getByText("Takes part by chance (drew 41.3, limit 80).")).toBeVisible();
  await page.evaluate(() => {
    const { council } = globalThis.fake;
    const sceptic = council.of("run-1").lanes[1];
    council.change("run-1", [{ ...sceptic, letter: "" }]);
  });
  await expect(out.locator(".avatar.hollow", { hasText: "–" })).toBeVisible();
});

test("a card says through which model its member speaks, how often it takes part, and that it has no model", async ({
  open,
}) => {
  const page = await open("councilset");
  const set = (change) =>
    page.evaluate((change) => {
      const { council } = globalThis.fake;
      const now = council.settings.council;
      const [first, second, third] = now.members;
      const members = [{ ...first, model: "acme/large-2" }, { ...second, model: "", chance: 40 }, third];
      return council.Set("", "global", { ...now, members, ...change });
    }, change);
  await set({ helper: { model: "acme/small-2" } });
  const facts = (id) => member(page, id).locator(".facts");
  await expect(facts("researcher").getByText("Large 2", { exact: true })).toBeVisible();
  const through = facts("sceptic").getByText("Small 2", { exact: true });
  await expect(through).toBeVisible();
  expect(await through.getAttribute("title")).toMatch(/uses the helper model/);
  expect(await facts("sceptic").getByText("takes part in").count()).toBe(0);
  await set({ helper: { model: "" } });
  await expect(facts("sceptic").locator(".lacks", { hasText: "No model" })).toBeVisible();
  await set({ helper: { model: "" }, mode: "tools" });
  await expect(facts("sceptic").getByText("takes part in 40 % of runs")).toBeVisible();
  await expect(facts("sceptic").locator(".lacks")).toHaveCount(0); // it needs none
});

test("what the run is and the axis of time stay above the lanes that go below them", async ({ open }) => {
  const page = await open("counciltwelvestored", { height: 700 });
  await page.getByLabel("Which run").click();
  await page.getByRole("option").last().click();
  await expect(lane(page, "lovelace")).toBeVisible();
  await settled(page);
  const seen = await lane(page, "lovelace").evaluate((last) => {
    last.scrollIntoView({ block: "end" });
    const axis = document.querySelector(".sticky");
    const head = document.querySelector(".run .head");
    const { top, bottom, left, width } = axis.getBoundingClientRect();
    const at = (y) => document.elementFromPoint(left + width / 2, y);
    const over = head.getBoundingClientRect();
    return {
      above: over.top < 60 && Math.abs(over.bottom - top) < 1,
      says: head.contains(at(over.bottom - 12)),
      covers: axis.contains(at(bottom - 3)),
      line: getComputedStyle(axis).borderBottomWidth,
      below: Boolean(at(bottom + 8).closest("[data-lane]")),
    };
  });
  expect(seen).toEqual({ above: true, says: true, covers: true, line: "1px", below: true });
});

test("a run whose chat was changed since offers to answer the question as it is now", async ({ open }) => {
  const page = await open("counciledited");
  await page.getByRole("button", { name: "Answer the changed question" }).click();
  const [[, seq]] = await given(page, "Chats.Regenerate");
  expect(seq).toBe(1);
});

test("a member that was refused a call is done without it, in its lane, in the table and read aloud", async ({
  open,
}) => {
  const page = await open("councilrefused");
  const word = "Done, 1 call refused";
  await expect(lane(page, "researcher").getByText(word)).toBeVisible();
  await expect(lane(page, "sceptic").getByText("Done", { exact: true })).toBeVisible();
  await page.getByRole("button", { name: "As a table" }).click();
  await expect(page.getByRole("row", { name: /^A?\s*Researcher/ }).getByText(word)).toBeVisible();
});

test("what of the chat a tool was handed is shown under the tool's title", async ({ open }) => {
  const page = await open("councilhanded");
  await page.getByRole("button", { name: "More for the lane of Researcher" }).click();
  await page.getByRole("menuitem", { name: "What did Researcher see?" }).click();
  const dialog = page.getByRole("dialog");
  await expect(dialog.getByText("About 21 tokens, to the tool Search the web")).toBeVisible();
  await expect(dialog.getByText("Tools are given text alone.")).toBeVisible();
  await dialog.getByText("Exact request").click();
  await expect(dialog.getByText('"role": "user"')).toBeVisible();
});

test("a member without a model leads to the helper's", async ({ open }) => {
  const page = await open("councilproblems");
  await page.getByRole("button", { name: "Choose a helper model" }).click();
  await expect(page.getByLabel("Helper model")).toBeFocused();
});

test("a ballot that is written is a vote, and shows nothing of itself", async ({ open }) => {
  const page = await open("councilsealed");
  const voting = lane(page, "maker");
  await expect(voting.getByText("Voting")).toBeVisible();
  expect(await voting.locator(".tail").count()).toBe(0);
  await voting.locator(".who").click();
  const ballot = voting.locator("section", {
    hasText: "The vote is hidden until all members have",
  });
  await expect(ballot).toBeVisible();
  expect(await ballot.locator(".whole").count()).toBe(0);
});

test("a vote names whom it was for in whole words", async ({ open }) => {
  const page = await open("councilvote");
  const name = page.locator(".tally tbody th").first();
  await expect(name).toBeVisible();
  const [one, long] = await name.evaluate((th) => {
    const lines = (text) => {
      th.textContent = text;
      const range = document.createRange();
      range.selectNodeContents(th);
      return range.getClientRects().length;
    };
    return [lines("A"), lines("Photographer")];
  });
  expect([one, long]).toEqual([1, 1]);
});

test("what ended a run early is said once, and the answer’s lane has a colour of no member", async ({ open }) => {
  const page = await open("council");
  const why = "The answers agree, so no review follows.";
  await expect(lane(page, "maker")).toBeVisible();
  await page.evaluate((why) => {
    const { council } = globalThis.fake;
    const [first, second] = council.of("run-1").lanes;
    const left = (id) => ({
      ...first.tasks[0],
      ...{ id, kind: "review", stage: 1, state: "stopped", attempt: 0, start_ms: 0, end_ms: 0 },
      ...{ why, calls: [], sent: 0 },
    });
    const lanes = [
      { ...first, tasks: [...first.tasks, left("1/researcher/review")] },
      { ...second, tasks: [left("1/sceptic/review")] },
    ];
    council.change("run-1", lanes, { early: why });
    council.add(council.of("run-1"));
  }, why);
  await expect(page.getByText(why)).toBeVisible(); // of several it would complain
  await expect(lane(page, "sceptic").getByText("Stopped", { exact: true })).toBeVisible();
  await expect(lane(page, "researcher").getByText("Done", { exact: true })).toBeVisible();
  const tones = await page
    .locator("[data-lane]")
    .evaluateAll((all) => all.map((l) => getComputedStyle(l).getPropertyValue("--member")));
  expect(new Set(tones).size).toBe(4);
});

test("what is compared first is what another was told for the same", async ({ open }) => {
  const page = await open("councilvote");
  await page.getByRole("button", { name: "More for the lane of Sceptic" }).click();
  await page.getByRole("menuitem", { name: "What did Sceptic see?" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("Comparison").click();
  await expect(dialog.getByText("Researcher: Ballot").first()).toBeVisible();
});

test("where there is little room the letters under an answer go below its words", async ({ open }) => {
  const page = await open("counciltwelvestored", { width: 900 });
  const line = page.getByRole("button", { name: /^12 members/ });
  await expect(line).toBeVisible();
  await settled(page);
  const [words, seats] = await line.evaluate((button) =>
    [".words", ".seats"].map((part) => {
      const { top, bottom, left, height } = button.querySelector(part).getBoundingClientRect();
      return { top, bottom, left, height };
    }),
  );
  expect(words.height).toBeLessThan(25);
  expect(seats.top >= words.bottom && seats.left === words.left).toBeTruthy();
});

test("a card that takes a tool says so for as long as the tool is over it", async ({ open }) => {
  const page = await open("councilset");
  await counted(page);
  const from = await page.getByRole("list", { name: "Tools for members" }).getByText("Roll dice").boundingBox();
  const card = member(page, "sceptic");
  const { x, y, width, height } = await card.boundingBox();
  await page.mouse.move(from.x + 8, from.y + 8);
  await page.mouse.down();
  await page.mouse.move(from.x + 8, from.y - 8, { steps: 3 });
  await card.evaluate((element) => {
    globalThis.left = 0;
    element.addEventListener("dragleave", () => globalThis.left++);
  });
  for (const part of [0.1, 0.2, 0.3, 0.5, 0.7, 0.9]) await page.mouse.move(x + width * part, y + height / 2);
  await expect(page.locator("[data-member=sceptic].over")).toBeVisible();
  expect(await page.evaluate(() => globalThis.left)).toBe(0);
  await page.mouse.move(x + width / 2, y - 200, { steps: 3 });
  await expect(page.locator("[data-member=sceptic].over")).toHaveCount(0);
  await page.mouse.up();
});

test("a member’s form is closed in another chat, whose members may have the same ids", async ({ open }) => {
  const page = await open("councilset");
  await member(page, "maker").locator(".who").click();
  await expect(member(page, "maker").locator("input.field").first()).toBeVisible();
  await page.keyboard.press("Control+n");
  await expect(page.locator("article")).toHaveCount(0);
  await expect(member(page, "maker")).toBeVisible();
  await expect(page.locator("[data-member] input.field")).toHaveCount(0);
});

test("where the model that answers calls the members’ tools, nothing promises a run", async ({ open }) => {
  const page = await open("councilset");
  await page.evaluate(() => {
    const { council } = globalThis.fake;
    const now = council.settings.council;
    const toolsSettings = { ...now.toolsSettings, mode: "inline" };
    return council.Set("", "global", { ...now, mode: "tools", toolsSettings });
  });
  await expect(page.getByText("gets the members’ tools and calls them")).toBeVisible();
  await expect(page.getByText("there is no run to show")).toBeVisible();
  expect(await page.getByText("Each member runs the tools").count()).toBe(0);
});

test("the lanes are a table too", async ({ open }) => {
  const page = await open("councilasking");
  await page.getByRole("button", { name: "As a table" }).click();
  const row = page.getByRole("row", { name: /Word count/ });
  await expect(row.getByText("Failed")).toBeVisible();
  await expect(row.getByText("Word count did not answer in 30 s. Try it again, or look at its log.")).toBeVisible();
  await expect(page.getByRole("row", { name: /Sceptic.*Skipped/ })).toBeVisible();
  // In the dock there is no room for all columns: three are lines in the cells of others.
  const scroll = page.locator(".scroll:has(> table)");
  const sideways = async () => {
    await settled(page);
    return scroll.evaluate((box) => box.scrollWidth > box.clientWidth + 1);
  };
  expect(await sideways()).toBe(false);
  expect(await page.getByRole("columnheader", { name: "Began" }).count()).toBe(0);
  expect(await page.getByRole("columnheader", { name: "Task" }).count()).toBe(0);
  await expect(row.getByText("Began at 0 s")).toBeVisible();
  const lines = await page
    .locator(".lasted .narrow")
    .evaluateAll((all) => all.map((e) => Math.round(e.offsetHeight / parseFloat(getComputedStyle(e).lineHeight))));
  expect([...new Set(lines)], "when a task began breaks over two lines").toEqual([1]);
  await page.getByRole("button", { name: "Use the full width" }).click();
  await expect(page.getByRole("columnheader", { name: "Began" })).toBeVisible();
  await expect(row.getByText("Began at 0 s")).toBeHidden();
  expect(await sideways()).toBe(false);
});

test("a notice lies over nothing that is read in a panel that covers the conversation", async ({ open }) => {
  const page = await open("councilset", { width: 900 });
  await page.getByRole("button", { name: "Show the panel" }).click();
  for (const preset of ["Red team", "Three chairs"]) {
    await page.getByRole("button", { name: "Presets" }).click();
    await page.getByRole("menuitem", { name: new RegExp(`^${preset}`) }).click();
    await page.waitForFunction((words) => {
      const toast = [...document.querySelectorAll(".toast")].at(-1);
      if (!toast?.textContent.includes(words)) return false;
      const { top, left, right } = toast.getBoundingClientRect();
      const read = document.querySelector(".pane:not([hidden])");
      const pane = read.getBoundingClientRect();
      return top >= pane.bottom && left >= pane.left && right <= pane.right;
    }, `now uses ${preset}`);
    await page.keyboard.press("Control+Shift+J");
  }
});

test("the chip of the composer skips the council once, and a message says so", async ({ open }) => {
  const page = await open("councilset");
  await page.getByRole("button", { name: "Council: 3 · about $0.04 · about 12 s" }).click();
  await page.getByRole("menuitem", { name: "Skip for this message" }).click();
  await expect(page.getByRole("button", { name: "Council skipped once" })).toBeVisible();
  await page.getByLabel("Message", { exact: true }).fill("And potatoes?");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: /^Council: 3/ })).toBeVisible();
});

test("“@Sceptic” asks that member alone", async ({ open }) => {
  const page = await open("councilset");
  await page.getByLabel("Message", { exact: true }).fill("@sceptic what is wrong with it?");
  await expect(page.getByRole("button", { name: "Asks only Sceptic" })).toBeVisible();
  await page.getByLabel("Message", { exact: true }).fill("@sceptics what is wrong with it?");
  await expect(page.getByRole("button", { name: /^Council: 3/ })).toBeVisible();
});

test("“@” lists the members, and keys or a press choose whom the message asks", async ({ open }) => {
  const page = await open("councilset");
  const message = page.getByLabel("Message", { exact: true });
  await message.fill("@");
  const names = page.getByRole("listbox", { name: "Ask only one member" });
  await expect(names.getByRole("option")).toHaveCount(3);
  await message.press("ArrowDown");
  await message.press("Enter");
  expect(await message.inputValue()).toBe("@Sceptic ");
  await expect(page.getByRole("button", { name: "Asks only Sceptic" })).toBeVisible();
  await expect(names).toHaveCount(0);
  await message.fill("@m");
  await names.getByText("Maker").click();
  expect(await message.inputValue()).toBe("@Maker ");
  await message.fill("@r");
  await message.press("Escape");
  await expect(names).toHaveCount(0);
  expect(await message.inputValue()).toBe("@r");
});

test("who agrees and who objects stands with each point, and as letters under the answer", async ({ open }) => {
  const page = await open("councilreview");
  const box = page.locator(".card", { hasText: "What the council found" });
  await expect(box.getByText("Researcher agrees")).toBeAttached();
  await expect(box.getByText("Maker disagrees: It ripens inside.")).toBeVisible();
  const line = page.getByRole("button", { name: /^3 members · .* Agreed: Researcher$/ });
  await expect(line.locator(".avatar")).toHaveCount(3);
  expect(await line.locator(".avatar.hollow").allInnerTexts()).toEqual(["B", "C"]);
});

test("where nobody answered there is nothing to compare, and the box says so", async ({ open }) => {
  const page = await open("councilfailed");
  await expect(page.getByText("There is nothing to compare: no member answered.")).toBeVisible();
  expect(await page.getByText("Every point is supported").count()).toBe(0);
  await lane(page, "researcher").locator(".who").click();
  await expect(lane(page, "researcher").getByText("Details: model overloaded")).toBeVisible();
  const without = page.getByText("The answer was made without the council.");
  await expect(without).toBeVisible();
  await page.getByRole("button", { name: "Ask the council again" }).click();
  const [[, seq]] = await given(page, "Chats.Regenerate");
  expect(seq).toBe(1);
  await page.evaluate(() => {
    const { council } = globalThis.fake;
    const [run] = council.runs;
    const chair = run.lanes.at(-1);
    const tasks = chair.tasks.map((task) => ({ ...task, state: "stopped" }));
    council.change(run.run, [{ ...chair, tasks }]);
  });
  await expect(without).toHaveCount(0); // there is no answer
  await expect(page.getByText("No member could answer.")).toBeVisible();
});

test("tools that are prompts are offered in the mode that runs them", async ({ open }) => {
  const page = await open("councilset");
  const shelf = page.getByRole("list", { name: "Tools for members" });
  await expect(shelf.getByText("Roll dice")).toBeVisible();
  expect(await shelf.getByText("Voice a concern").count()).toBe(0);
  await page.getByLabel("How the members work together").click();
  await page.getByRole("option", { name: "Tools only, no answers" }).click();
  await expect(shelf.getByText("Voice a concern")).toBeVisible();
});

test("a thumb is kept, and the member's card says how often it helped", async ({ open }) => {
  const page = await open("council");
  await page.getByRole("button", { name: "b2 in the text of Sceptic" }).first().click();
  await page.evaluate(() => {
    globalThis.fake.council.helped = {
      Sceptic: { rated: 40, helped: 12, same: 4 },
      Maker: { rated: 0, helped: 0, same: 7 },
    };
  });
  await page.getByRole("button", { name: "b2 helped" }).click();
  expect((await given(page, "Council.Rate"))[0].slice(1)).toEqual(["sceptic", 2, true]);
  await page.locator("details.members > summary").click();
  await expect(member(page, "sceptic").getByText("helped in 12 of 40")).toBeVisible();
  await expect(member(page, "maker").getByText("In its last 7 runs, Maker made no point")).toBeVisible();
  expect(await page.getByText("made no point that the others").count()).toBe(1);
  expect(await page.getByText("helped in 0 of 0").count()).toBe(0);
});

test("a member is given a picture, which is made small; one that is none is said", async ({ open }) => {
  const page = await open("councilset");
  const card = member(page, "maker");
  await card.locator(".who").click();
  await card.getByText("Persona and sampling").click();
  const picture = async (name, mimeType, buffer) => {
    const [chooser] = await Promise.all([
      page.waitForEvent("filechooser"),
      card.getByRole("button", { name: "Choose a picture…" }).click(),
    ]);
    await chooser.setFiles({ name, mimeType, buffer });
  };
  await picture("a.png", "image/png", Buffer.from("not a picture"));
  await expect(page.getByText("The picture a.png could not be read.").first()).toBeVisible();
  const wide = await page.evaluate(() => {
    const canvas = document.createElement("canvas");
    canvas.width = 640;
    canvas.height = 320;
    canvas.getContext("2d").fillRect(0, 0, 640, 320);
    return canvas.toDataURL("image/jpeg").split(",")[1];
  });
  await picture("b.jpg", "image/jpeg", Buffer.from(wide, "base64"));
  const [[sent]] = await given(page, "Council.Avatar");
  const header = Buffer.from(sent, "base64");
  expect([header.readUInt32BE(16), header.readUInt32BE(20)]).toEqual([128, 128]);
  await written(page, (c) => c.members[2].persona.avatar === "picture-1");
  await card.getByRole("button", { name: "Remove picture" }).click();
  await written(page, (c) => c.members[2].persona.avatar === "");
});

test("the file of a run is opened, what is missing is named, and it does not pass for a run of the chat", async ({
  open,
}) => {
  const page = await open("councilfile");
  const own = page.getByRole("heading", { name: /^Run from/ });
  await expect(own).toBeVisible();
  await page.getByRole("button", { name: "More for the council" }).click();
  const [chooser] = await Promise.all([
    page.waitForEvent("filechooser"),
    page.getByRole("menuitem", { name: "Open run file…" }).click(),
  ]);
  await chooser.setFiles({
    name: "run.json",
    mimeType: "application/json",
    buffer: Buffer.from("{}"),
  });
  await expect(page.getByText("Missing from the file: 1 text.")).toBeVisible();
  await expect(page.getByRole("heading", { name: /^A run from a file \S+day, .* · 3 members/ })).toBeVisible();
  await expect(page.getByText("Not part of this chat")).toBeVisible();
  await expect(own).toHaveCount(0);
  const sceptic = lane(page, "sceptic");
  await sceptic.locator(".who").click();
  await expect(sceptic.locator('[data-point="b2"]')).toBeVisible();
  expect(await sceptic.locator(".thumbs").count()).toBe(0);
  await page.getByRole("button", { name: "More for this run" }).click();
  await expect(page.getByRole("menuitem").first()).toBeVisible();
  expect(await page.getByRole("menuitem").allInnerTexts()).toEqual(["As a table"]);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Close the file" }).click();
  await expect(own).toBeVisible();
  expect(await page.getByText("The file is incomplete").count()).toBe(0);
});

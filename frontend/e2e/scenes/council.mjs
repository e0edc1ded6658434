// The council's panel: set and assigned by hand and by keys, watched, read, replayed and looked into.
import assert from "node:assert/strict";
import {
  accessible,
  armed,
  copies,
  counts,
  focused,
  noticed,
  palette,
  settled,
  waits,
} from "../harness.mjs";

const tab = (page) => page.getByRole("tab", { name: "Council" });
const lane = (page, id) => page.locator(`[data-lane="${id}"]`);
const member = (page, id) => page.locator(`[data-member="${id}"]`);
const ids = (page) =>
  page.locator("[data-member]").evaluateAll((cards) => cards.map((card) => card.dataset.member));
/** Waits until the members are in this order. */
const ordered = (page, ...wanted) =>
  page.waitForFunction(
    (wanted) =>
      wanted.join() ===
      [...document.querySelectorAll("[data-member]")].map((card) => card.dataset.member).join(),
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
  assert.fail(`Tab does not come to ${selector}`);
}

/** Waits until each member's tokens are counted, and what a run costs: then nothing moves. */
async function counted(page) {
  await page.getByText(/^\d+ calls, /).waitFor();
  for (const id of await ids(page))
    await member(page, id)
      .getByText(/· [\d,]+ tokens/)
      .waitFor();
  await settled(page);
}

export const tests = {
  "the council's tab comes with the dock, and its code with the tab": {
    scene: "chat",
    async run(page) {
      const loaded = () =>
        page.evaluate(
          () =>
            performance.getEntriesByType("resource").filter((r) => r.name.includes("CouncilTab"))
              .length,
        );
      await tab(page).waitFor();
      assert.equal(await loaded(), 0);
      await tab(page).click();
      await page.getByText("Council in this chat").first().waitFor();
      assert.ok((await loaded()) > 0);
    },
  },

  "menus that show the council keep the keyboard": {
    scene: "councilset",
    async run(page) {
      for (const [button, item] of [
        ["More for this chat", "Council and its runs"],
        [/^Council: 3/, "Show the council"],
      ]) {
        await page.getByRole("button", { name: button }).press("Enter");
        await page.getByRole("menuitem", { name: item }).press("Enter");
        await tab(page).waitFor();
        await page.getByRole("menuitem", { name: item }).waitFor({ state: "detached" });
        await focused(page.getByRole("button", { name: button }));
        await page.keyboard.press("Control+j");
        await tab(page).waitFor({ state: "detached" });
      }
    },
  },

  "the composer names the council to who has none, and leads to it": {
    scene: "councilempty",
    async run(page) {
      await page.getByRole("tab", { name: "Activity" }).click();
      await page.getByRole("button", { name: "Ask a council", exact: true }).click();
      await page.getByRole("button", { name: "Run a sample council" }).waitFor();
    },
  },
  "while nobody sits in the council, a sample can be run": {
    scene: "councilempty",
    async run(page) {
      await page.getByRole("tab", { name: "Council" }).click();
      await page.getByText("Scripted, offline and free; the tools are real.").waitFor();
      await page.getByRole("button", { name: "Run a sample council" }).press("Enter");
      await waits(page, "Council.Sample");
    },
  },
  "while nobody sits in the council, a preset sets it and turns it on": {
    scene: "councilempty",
    async run(page) {
      const priced = /^Three chairs.*3 members, \d+ calls, about \$[\d.]+/;
      await page.getByRole("button", { name: priced }).waitFor();
      assert.equal(await page.getByRole("button", { name: /^Council:/ }).count(), 0);
      await page.getByRole("button", { name: /^Three chairs/ }).click();
      const council = await written(page, (c) => c.enabled && c.members.length === 3);
      assert.equal(council.mode, "opinions");
    },
  },

  "a preset that takes the place of a council says so, and is taken back": {
    scene: "councilset",
    async run(page) {
      await page.getByRole("button", { name: "Presets" }).click();
      await page.getByRole("menuitem", { name: /^Red team/ }).click();
      await written(page, (c) => c.mode === "advocate");
      const toast = page.locator(".toast", { hasText: "This chat now uses Red team" });
      await toast.getByRole("button", { name: "Undo" }).click();
      await written(page, (c) => c.mode === "opinions" && c.name === undefined);
      await page.getByLabel("How the members work together").getByText("Independent").waitFor();
    },
  },

  "the name of a preset that is not taken stays, and Esc leaves its field and not the panel": {
    scene: "councilset",
    width: 1000, // the panel lies over the chat
    async run(page) {
      await page.keyboard.press("Control+j");
      await page.getByRole("button", { name: "Presets" }).click();
      await page.getByRole("menuitem", { name: "Save as a preset…" }).click();
      const field = page.getByLabel("Name of the preset");
      await focused(field);
      await page.evaluate(() => {
        globalThis.fake.council.SavePreset = () => Promise.reject(new Error("It is locked."));
      });
      await page.keyboard.type("Mine");
      await page.keyboard.press("Enter");
      await page.locator(".toast", { hasText: "It is locked." }).waitFor();
      assert.equal(await field.inputValue(), "Mine");
      await page.getByRole("button", { name: "Cancel" }).press("Escape");
      await field.waitFor({ state: "detached" });
      await page.getByText("Council in this chat").first().waitFor();
    },
  },

  "presets are renamed, copied and deleted in the settings, by keyboard": {
    scene: "councilpresets",
    async run(page) {
      const menu = (name) => page.getByRole("button", { name: `More for ${name}`, exact: true });
      const choose = async (name, item) => {
        await counts(page.getByRole("menu"), 0); // the one before it goes in its own time
        await menu(name).press("Enter");
        await page.getByRole("menuitem", { name: item }).press("Enter");
      };
      await page.keyboard.press("Control+,");
      await page.getByRole("button", { name: "Council presets", exact: true }).press("Enter");
      await choose("My reviewers", "Rename…");
      const field = page.getByLabel("New name for My reviewers");
      await focused(field);
      await field.fill("Red team");
      await page.keyboard.press("Enter");
      await page.getByText("There is a preset “Red team” already.").waitFor();
      await field.fill("Reviewers");
      await page.keyboard.press("Enter");
      await focused(menu("Reviewers"));
      await choose("Reviewers", "Rename…");
      await focused(page.getByLabel("New name for Reviewers"));
      await page.keyboard.press("Escape"); // leaves the field, and nothing else
      await focused(menu("Reviewers"));
      await choose("Red team", "Duplicate");
      await noticed(page, "Red team 2 was added to your presets.");
      await choose("Red team 2", "Delete");
      await noticed(page, "The preset “Red team 2” was deleted.");
      await menu("Red team 2").waitFor({ state: "detached" });
      await choose("Garden", "Export council…");
      const [[name, text]] = await waits(page, "Window.SaveFile");
      assert.deepEqual([name, JSON.parse(text).members.length], ["garden.json", 2]);
    },
  },

  "a tool is given by dragging it, by its menu, and by the member's form; one that is not eligible says why":
    {
      scene: "councilset",
      async run(page) {
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
        assert.ok(await mail.isDisabled());
        await member(page, "maker").getByText("It is switched off.").waitFor();
      },
    },

  "where the council is kept is chosen, with a way back": {
    scene: "councilset",
    async run(page) {
      await page.getByText("Limits, chair and helper").click();
      await page.getByLabel("Where this council applies").click();
      await page.getByRole("option", { name: "Everywhere" }).click();
      const [[chat, scope]] = await waits(page, "Council.Move");
      assert.deepEqual([chat !== "", scope], [true, "global"]);
      await page.getByRole("button", { name: "Undo", exact: true }).click();
      await waits(page, "Window.Undo");
    },
  },

  "in the mode of tools: how they are run is set, and what the answer is told of earlier results": {
    scene: "councilset",
    async run(page) {
      await page.getByLabel("How the members work together").click();
      await page.getByRole("option", { name: "Tools only, no answers" }).click();
      await page.getByText("Limits, chair and helper").click();
      await page.getByLabel("Timeout per tool, seconds").fill("5");
      await page.getByLabel("Messages each member sees").fill("0");
      await page.getByLabel("Reuse their results when the question is answered again").check();
      const { toolsSettings } = await written(page, (c) => c.toolsSettings.retainResultsForRegens);
      assert.deepEqual([toolsSettings.timeoutMs, toolsSettings.sidecarContextWindow], [15_000, 0]);
      const maker = member(page, "maker");
      await maker.locator(".who").click();
      await maker.getByRole("checkbox", { name: "Word count" }).check();
      await maker.getByLabel("Earlier results included in the answer").first().fill("3");
      await maker.getByLabel("Earlier results included in the answer").first().blur();
      const council = await written(page, (c) => c.members[2].toolHistoryRetention);
      assert.deepEqual(Object.values(council.members[2].toolHistoryRetention), [3]);
    },
  },

  "how models are asked is set: how much a member thinks, and how freely and long its helper writes":
    {
      scene: "councilset",
      async run(page) {
        await page.getByText("Limits, chair and helper").click();
        const length = page.getByLabel("Maximum answer, tokens");
        await length.fill("2000");
        await page.getByLabel("Temperature").fill("0");
        await length.focus();
        const set = await written(page, (c) => c.helper.temperature === 0);
        assert.equal(set.helper.max_tokens, 2000);
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
      },
    },

  "a card says what its member’s work may come to": {
    scene: "councilset",
    async run(page) {
      const facts = (id) => member(page, id).locator(".facts");
      await facts("sceptic").getByText("about $0.012 · about 7 s").waitFor();
      await facts("researcher").getByText("about 9 s", { exact: true }).waitFor(); // of no known price
    },
  },

  "what goes with the keyboard on it leaves the keyboard in its card, and a member in the list": {
    scene: "councilset",
    async run(page) {
      const take = member(page, "researcher").getByRole("button", { name: /^Remove .* from / });
      await take.first().focus();
      await page.keyboard.press("Enter");
      await focused(member(page, "researcher"));
      const menu = member(page, "sceptic").getByRole("button", { name: "More for Sceptic" });
      await menu.focus();
      await page.keyboard.press("Enter");
      await page.getByRole("menuitem", { name: "Remove", exact: true }).press("Enter");
      await member(page, "sceptic").waitFor({ state: "detached" });
      await page.waitForFunction(() => document.activeElement.closest("[data-region]"));
    },
  },

  "members are ordered by dragging, by arrow keys and by the menu": {
    scene: "councilset",
    async run(page) {
      await member(page, "maker").waitFor();
      await ordered(page, "researcher", "sceptic", "maker");
      await member(page, "researcher").locator(".handle").focus();
      await page.keyboard.press("ArrowDown");
      await ordered(page, "sceptic", "researcher", "maker");
      await focused(member(page, "researcher").locator(".handle"));
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
    },
  },

  "what a member is told is set in its form, and its tokens are counted": {
    scene: "councilset",
    async run(page) {
      const card = member(page, "maker");
      await card.getByText("1,180 tokens").waitFor();
      await card.locator(".who").click();
      await card.getByLabel("Context").click();
      await page.getByRole("option", { name: "Question only" }).click();
      const council = await written(page, (c) => c.members[2].context.policy === "question");
      assert.equal(council.members[2].context.system, true);
      await card.getByText("38 tokens").first().waitFor();
    },
  },

  "by keyboard alone: on, a member opened and renamed, a lane opened, what it was told, and back": {
    scene: "council",
    width: 1280,
    async run(page) {
      await palette(page, "show the council");
      await tabTo(page, ".switch");
      await page.keyboard.press("Space");
      await waits(page, "Council.Use");
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
      await lane(page, "sceptic").getByText("it never tastes of anything").waitFor();
      await tabTo(page, "[data-lane=sceptic] .see");
      await page.keyboard.press("Enter");
      await page
        .getByRole("dialog")
        .getByText("Left out: this member is given no attachments.")
        .waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await focused(lane(page, "sceptic").locator(".see"));
    },
  },

  "a member's card does not grow when what it is told was counted": {
    scene: "councilset",
    async run(page) {
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
      await facts.getByText("tokens").waitFor();
      assert.deepEqual(await heights(), before);
    },
  },

  "one key gives the panel the whole width and takes it back; at 1280 the chat stays 560 wide": {
    scene: "council",
    width: 1280,
    async run(page) {
      await page.keyboard.press("Control+j");
      const width = (selector) =>
        page
          .locator(selector)
          .first()
          .evaluate((e) => e.offsetWidth);
      await page.locator("section.dock").waitFor();
      assert.ok((await width(".centre")) >= 560);
      await page.keyboard.press("Control+Shift+J");
      await page.waitForFunction(() => document.querySelector("section.dock").offsetWidth > 900);
      assert.equal(
        await page
          .getByRole("main", { name: "Panel" })
          .getByRole("heading", { level: 1 })
          .innerText(),
        "Council",
      );
      await page.keyboard.press("Control+Shift+J");
      await page.waitForFunction(() => document.querySelector("section.dock").offsetWidth < 600);
    },
  },

  "a point of the result, and a citation of the answer, lead to the member's words": {
    scene: "council",
    async run(page) {
      await page.getByRole("button", { name: "b2 in the text of Sceptic" }).first().click();
      const point = page.locator('[data-point="b2"]');
      await point.waitFor();
      await page.waitForFunction(() => document.activeElement?.dataset.point === "b2");
      // Whatever brings it into view, the window as a whole stays where it is.
      await page.evaluate(() => {
        document.querySelector('[data-point="b2"]').scrollIntoView({ block: "start" });
        document.scrollingElement.scrollTop = 100;
        document.body.scrollTop = 100;
      });
      assert.deepEqual(
        await page.evaluate(() => [document.scrollingElement.scrollTop, document.body.scrollTop]),
        [0, 0],
      );
      const cited = page.locator(".message .cite", { hasText: "a1" });
      await cited.hover();
      await page.waitForFunction(
        () =>
          document.querySelector("[data-cite=a1]").title ===
          "Researcher: Uneven watering makes the skin split.",
      );
      await cited.click();
      await page.waitForFunction(() => document.activeElement?.dataset.point === "a1");
    },
  },

  "a point that a review adds has the number after those of the answer": {
    scene: "councilreview",
    async run(page) {
      await page.getByRole("button", { name: "a3 in the text of Researcher" }).click();
      await page.waitForFunction(() => document.activeElement?.dataset.point === "a3");
      await lane(page, "researcher").getByText("anonymous: a is Maker, b is Sceptic.").waitFor();
      assert.equal(await page.locator('[data-point="a1"]').count(), 1);
      await page.getByRole("button", { name: "a3 helped" }).click();
      assert.deepEqual((await waits(page, "Council.Rate"))[0].slice(1), ["researcher", 3, true]);
    },
  },

  "the line under the answer opens its run": {
    scene: "council",
    width: 1280,
    async run(page) {
      assert.equal(await page.locator("section.dock").count(), 0);
      await page
        .getByRole("button", { name: "3 members · 11.8 s · $0.037 · 1 disagreement" })
        .click();
      await page.getByRole("heading", { name: "What the council found" }).waitFor();
    },
  },

  "words stream into a lane and draw nothing else; what a member did is said": {
    scene: "councillive",
    async run(page) {
      await lane(page, "sceptic").getByText("the watering can is.").waitFor();
      await lane(page, "researcher")
        .getByText(/ · [1-4] min \d+ s left$/)
        .waitFor();
      await page.getByText(/ · 1\d min \d+ s left · /).waitFor();
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
      await lane(page, "sceptic").getByText("the watering can is. Or the hose.").waitFor();
      assert.deepEqual([...new Set(await page.evaluate(() => globalThis.seen))], ["characterData"]);
      await page.evaluate(() => {
        const { council } = globalThis.fake;
        const [first, ...rest] = structuredClone(council.of("run-1").lanes);
        first.tasks[0] = { ...first.tasks[0], state: "done", end_ms: 4000, calls: [], phase: "" };
        council.change("run-1", [first, ...rest]);
      });
      await lane(page, "researcher").getByText("Done", { exact: true }).waitFor();
      await page
        .locator("[role=status]", { hasText: "Researcher: Done" })
        .waitFor({ state: "attached" });
    },
  },

  "a member is nudged, skipped and the run finished or stopped": {
    scene: "councillive",
    async run(page) {
      const menu = async (name, item) => {
        await page.getByRole("button", { name: `More for the lane of ${name}` }).click();
        await page.getByRole("menuitem", { name: item }).click();
      };
      await menu("Sceptic", "Add a hint…");
      await lane(page, "sceptic").locator("input:focus").waitFor();
      await page.keyboard.type("They stand outside.");
      await page.keyboard.press("Enter");
      await menu("Maker", "Skip");
      await page.getByRole("button", { name: "Finish with what we have" }).click();
      assert.deepEqual(
        (await waits(page, "Council.Act", 3)).map(([, act, who, , text]) => [act, who, text]),
        [
          ["nudge", "sceptic", "They stand outside."],
          ["skip", "maker", ""],
          ["finish", "", ""],
        ],
      );
    },
  },

  "a member's permission card stands in its lane, and there alone; closed, it is in the chat": {
    scene: "councilpermission",
    async run(page) {
      await lane(page, "researcher").locator(".ask").waitFor();
      await page.waitForFunction(() => document.querySelectorAll(".ask").length === 1);
      await lane(page, "researcher").getByText("Waiting for you").waitFor();
      await page.keyboard.press("Control+j");
      await page.locator(".centre .ask").waitFor();
      await counts(page.locator(".ask"), 1);
      await page.keyboard.press("Control+j");
      await page.locator(".centre .ask").waitFor({ state: "detached" });
      // Behind another tab of the panel nobody would find it.
      await page.getByRole("tab", { name: /^Tools/ }).click();
      await page.locator(".centre .ask").waitFor();
    },
  },

  "the chair waits for the person while a call of its answer does, and costs nothing yet": {
    scene: "councilchair",
    async run(page) {
      await lane(page, "").getByText("Waiting for you").waitFor();
      await page.locator(".centre .ask").waitFor();
      await page.getByRole("button", { name: "As a table" }).click();
      const row = page.locator("tr", { hasText: "Chair" });
      await row.waitFor();
      const words = await row.innerText();
      assert.match(words, /Waiting for you[\s\S]*–/);
      assert.doesNotMatch(words, /not known|0 tokens/);
      await page.getByRole("button", { name: /^Allow once/ }).waitFor();
    },
  },

  "what a member asks comes into view in its lane, with its buttons": {
    scene: "councilpermission",
    height: 640,
    async run(page) {
      const allow = lane(page, "researcher").getByRole("button", { name: "Allow once" });
      await allow.waitFor();
      await page.waitForFunction(
        (button) => button.getBoundingClientRect().bottom <= innerHeight,
        await allow.elementHandle(),
      );
    },
  },

  "an answer is for the whole council only if that is ticked, which nothing does for the person": {
    scene: "councilpermission",
    async run(page) {
      const ask = lane(page, "researcher");
      await armed(page, "Allow more…");
      await ask.getByRole("button", { name: "Allow more…" }).click();
      const tick = ask.getByLabel("Also for other council members");
      await tick.waitFor();
      assert.equal(await tick.isChecked(), false);
      await accessible(page);
      await tick.focus();
      await page.keyboard.press("Space");
      await armed(page, /^Always/);
      await ask.getByRole("button", { name: /^Always/ }).click();
      await ask.locator(".ask").waitFor({ state: "detached" });
      const given = await page.evaluate(() => globalThis.fake.given("Permissions.Answer"));
      assert.deepEqual(
        given.map(([, , answer]) => [answer.scope, answer.council]),
        [["always", true]],
      );
    },
  },

  "a call in a lane opens to what it was given and answered": {
    scene: "council",
    async run(page) {
      await lane(page, "researcher").locator(".who").click();
      const call = lane(page, "researcher").locator(".calls button").first();
      await call.press("Enter");
      await lane(page, "researcher").getByText("Arguments", { exact: true }).waitFor();
      await lane(page, "researcher").getByText("Three pages found.").waitFor();
      await call.press("Enter");
      await lane(page, "researcher")
        .getByText("Arguments", { exact: true })
        .waitFor({ state: "detached" });
    },
  },

  "failed tools ask: retry, or go on": {
    scene: "councilasking",
    async run(page) {
      await page.getByText("1 task failed.", { exact: true }).waitFor();
      await page.getByRole("heading", { name: "The council is waiting for you" }).waitFor();
      await page.getByRole("button", { name: "Retry failed tasks" }).click();
      await page.getByRole("button", { name: "Continue without them" }).click();
      const acts = await waits(page, "Council.Act", 2);
      assert.deepEqual(
        acts.map((a) => a[1]),
        ["retry", "go_on"],
      );
    },
  },

  "a run that was cut off can go on, be answered with what there is, or be left": {
    scene: "councilinterrupted",
    async run(page) {
      await page.getByText("Conclave was closed before this was answered.").waitFor();
      await lane(page, "sceptic").getByText("Cut off", { exact: true }).waitFor();
      const table = page.getByRole("button", { name: "As a table" });
      await table.click();
      await page.getByRole("table").getByText("Cut off", { exact: true }).first().waitFor();
      await table.click();
      await page.getByRole("button", { name: "Continue with the council" }).click();
      await page.getByRole("button", { name: "Continue", exact: true }).click();
      await page.getByRole("button", { name: "Answer with what we have" }).click();
      await page.getByRole("button", { name: "End the run" }).click();
      assert.equal((await waits(page, "Council.Act")).length, 1);
      assert.deepEqual(
        (await waits(page, "Council.Resume", 3)).map(([, finish]) => finish),
        [false, false, true],
      );
    },
  },

  "a run is scrubbed, stepped and played at eight times its speed": {
    scene: "council",
    async run(page) {
      const bar = page.getByRole("slider", { name: "Position in the run" });
      await bar.focus();
      await page.keyboard.press("Home");
      await lane(page, "maker").getByText("Waiting", { exact: true }).waitFor();
      await page.getByRole("button", { name: "One step on" }).click();
      await lane(page, "maker").getByText("Working", { exact: true }).waitFor();
      for (const _ of [2, 4, 8]) await page.getByRole("button", { name: /^Speed/ }).click();
      await page.getByRole("button", { name: "Play", exact: true }).click();
      await page.getByRole("heading", { name: "What the council found" }).waitFor();
      await page.locator("input[type=range][aria-valuetext='11.8 s of 11.8 s']").waitFor();
    },
  },

  "a mark of the time has its words where they do not touch those of the next, and else none": {
    scene: "council",
    async run(page) {
      await lane(page, "maker").waitFor();
      const last = () =>
        page.locator(".axis").evaluate((axis) => {
          const [before, end] = [...axis.querySelectorAll("b")].slice(-2);
          const [a, b] = [before, end].map((words) => words.getBoundingClientRect());
          return { words: before.textContent, width: a.width, room: b.left - a.right };
        });
      await settled(page);
      const narrow = await last();
      assert.equal(narrow.words, "10 s"); // of 15 s
      assert.ok(narrow.width > 10 && narrow.room > 4, JSON.stringify(narrow));
      await page.locator(".axis").evaluate((axis) => (axis.style.width = "120px"));
      assert.equal((await last()).width, 0);
    },
  },

  "a run is done again with one change, and both are shown": {
    scene: "councilagain",
    async run(page) {
      await page.getByText("Repeated with one change: Sceptic speaks through Small 2.").waitFor();
      await page.getByRole("button", { name: "Show both" }).click();
      await page.waitForFunction(
        () =>
          [...document.querySelectorAll("h3")].filter((h) =>
            h.textContent.startsWith("What the council found"),
          ).length === 2,
      );
      await page.getByRole("button", { name: "More for this run" }).click();
      await page.getByRole("menuitem", { name: "Run again with one change…" }).click();
      await page.getByRole("dialog").getByText("Role", { exact: true }).click();
      await page.getByRole("dialog").getByRole("textbox", { name: "Role" }).fill("Counts the cost");
      await page.getByRole("button", { name: "Run again", exact: true }).click();
      const [[run, change]] = await waits(page, "Council.Again");
      assert.deepEqual(
        [run, change.member, change.role, change.model],
        ["run-2", "researcher", "Counts the cost", null],
      );
    },
  },

  "the line of a run shows it each time, and one may look at another meanwhile": {
    scene: "councilagain",
    async run(page) {
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
        await choice.filter({ hasText: shown.trim() }).waitFor();
      }
    },
  },

  "what one member was told is compared with what another was": {
    scene: "council",
    async run(page) {
      await page.getByRole("button", { name: "More for the lane of Sceptic" }).click();
      await page.getByRole("menuitem", { name: "What did Sceptic see?" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText("About 82 tokens, to acme/large-2").waitFor();
      await dialog.getByText("Exact request").click();
      await dialog.getByText('"model": "large-2"').waitFor();
      await dialog.getByText("Comparison").click();
      await dialog.getByText("You are Researcher. You find what is known.").waitFor();
      await dialog.getByRole("button", { name: "Copy as JSON" }).click();
      const [copied] = await copies(page);
      assert.equal(JSON.parse(copied).model, "large-2");
    },
  },

  "a run that met its cap says so, and leads to the cap": {
    scene: "councilcap",
    async run(page) {
      await page.getByText("The council stopped at its cap of $0.01.").waitFor();
      const ways = page.getByRole("button", { name: "Change the cap" });
      const cap = page.getByLabel("Cap per answer, US dollars");
      await counts(ways, 2); // what a message may cost, and what the run did
      await ways.first().click();
      await focused(cap);
      await ways.last().click();
      await focused(cap);
    },
  },

  "a member that came to nothing is asked again, and everybody can be": {
    scene: "councilcap",
    async run(page) {
      await page.getByRole("button", { name: "More for the lane of Researcher" }).click();
      await page.getByRole("menuitem", { name: "What did Researcher see?" }).waitFor();
      await counts(page.getByRole("menuitem", { name: "Run this member again…" }), 0);
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "More for the lane of Sceptic" }).click();
      await page.getByRole("menuitem", { name: "Run this member again…" }).click();
      await page.getByRole("button", { name: "Run again", exact: true }).click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.getByRole("button", { name: "More for this run" }).click();
      await page.getByRole("menuitem", { name: "Run again with one change…" }).click();
      await page.getByRole("dialog").getByLabel("Member").click();
      await page.getByRole("option", { name: "All members, unchanged" }).click();
      await page.getByRole("button", { name: "Run again", exact: true }).click();
      const nothing = { model: null, role: null, context: null, tools: null };
      assert.deepEqual(
        (await waits(page, "Council.Again", 2)).map(([, change]) => change),
        [
          { member: "sceptic", ...nothing },
          { member: "", ...nothing },
        ],
      );
    },
  },

  "of one member alone there is nothing to compare: the box has what is not checked": {
    scene: "councilone",
    async run(page) {
      const box = page.locator(".card", { hasText: "What the council found" });
      await box.getByText("Uneven watering is the cause.").waitFor();
      assert.deepEqual(await box.locator("h4").allInnerTexts(), ["Not checked\n1"]);
      await page.getByRole("button", { name: "Add another member" }).click();
      await page.locator("[data-member] input.field:focus").waitFor();
      await page.getByRole("button", { name: "Add another member" }).waitFor({ state: "detached" });
    },
  },

  "who sits out has the letter of its card, outlined; in an older run, where it has none, a dash": {
    scene: "councilasking",
    async run(page) {
      const out = lane(page, "sceptic");
      await out.getByText("Its chance did not come up.").waitFor();
      assert.equal(await out.locator(".avatar.hollow").innerText(), "B");
      assert.equal(await out.getByText("71.3").count(), 0); // the reason tells what was thrown
      await lane(page, "maker").getByText("Takes part by chance (drew 12.4, limit 80).").waitFor();
      await page.evaluate(() => {
        const { council } = globalThis.fake;
        const sceptic = council.of("run-1").lanes[1];
        council.change("run-1", [{ ...sceptic, letter: "" }]);
      });
      await out.locator(".avatar.hollow", { hasText: "–" }).waitFor();
    },
  },

  "a card says through which model its member speaks, how often it takes part, and that it has no model":
    {
      scene: "councilset",
      async run(page) {
        const set = (change) =>
          page.evaluate((change) => {
            const { council } = globalThis.fake;
            const now = council.settings.council;
            const [first, second, third] = now.members;
            const members = [
              { ...first, model: "acme/large-2" },
              { ...second, model: "", chance: 40 },
              third,
            ];
            return council.Set("", "global", { ...now, members, ...change });
          }, change);
        await set({ helper: { model: "acme/small-2" } });
        const facts = (id) => member(page, id).locator(".facts");
        await facts("researcher").getByText("Large 2", { exact: true }).waitFor();
        const through = facts("sceptic").getByText("Small 2", { exact: true });
        await through.waitFor();
        assert.match(await through.getAttribute("title"), /uses the helper model/);
        assert.equal(await facts("sceptic").getByText("takes part in").count(), 0);
        await set({ helper: { model: "" } });
        await facts("sceptic").locator(".lacks", { hasText: "No model" }).waitFor();
        await set({ helper: { model: "" }, mode: "tools" });
        await facts("sceptic").getByText("takes part in 40 % of runs").waitFor();
        await facts("sceptic").locator(".lacks").waitFor({ state: "detached" }); // it needs none
      },
    },

  "what the run is and the axis of time stay above the lanes that go below them": {
    scene: "counciltwelvestored",
    height: 700,
    async run(page) {
      await page.getByLabel("Which run").click();
      await page.getByRole("option").last().click();
      await lane(page, "lovelace").waitFor();
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
      assert.deepEqual(seen, { above: true, says: true, covers: true, line: "1px", below: true });
    },
  },

  "a run whose chat was changed since offers to answer the question as it is now": {
    scene: "counciledited",
    async run(page) {
      await page.getByRole("button", { name: "Answer the changed question" }).click();
      const [[, seq]] = await waits(page, "Chats.Regenerate");
      assert.equal(seq, 1);
    },
  },

  "a member that was refused a call is done without it, in its lane, in the table and read aloud": {
    scene: "councilrefused",
    async run(page) {
      const word = "Done, 1 call refused";
      await lane(page, "researcher").getByText(word).waitFor();
      await lane(page, "sceptic").getByText("Done", { exact: true }).waitFor();
      await page.getByRole("button", { name: "As a table" }).click();
      await page
        .getByRole("row", { name: /^A?\s*Researcher/ })
        .getByText(word)
        .waitFor();
    },
  },

  "what of the chat a tool was handed is shown under the tool's title": {
    scene: "councilhanded",
    async run(page) {
      await page.getByRole("button", { name: "More for the lane of Researcher" }).click();
      await page.getByRole("menuitem", { name: "What did Researcher see?" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText("About 21 tokens, to the tool Search the web").waitFor();
      await dialog.getByText("Tools are given text alone.").waitFor();
      await dialog.getByText("Exact request").click();
      await dialog.getByText('"role": "user"').waitFor();
    },
  },

  "a member without a model leads to the helper's": {
    scene: "councilproblems",
    async run(page) {
      await page.getByRole("button", { name: "Choose a helper model" }).click();
      await focused(page.getByLabel("Helper model"));
    },
  },

  "a ballot that is written is a vote, and shows nothing of itself": {
    scene: "councilsealed",
    async run(page) {
      const voting = lane(page, "maker");
      await voting.getByText("Voting").waitFor();
      assert.equal(await voting.locator(".tail").count(), 0);
      await voting.locator(".who").click();
      const ballot = voting.locator("section", {
        hasText: "The vote is hidden until all members have",
      });
      await ballot.waitFor();
      assert.equal(await ballot.locator(".whole").count(), 0);
    },
  },

  "a vote names whom it was for in whole words": {
    scene: "councilvote",
    async run(page) {
      const name = page.locator(".tally tbody th").first();
      await name.waitFor();
      const [one, long] = await name.evaluate((th) => {
        const lines = (text) => {
          th.textContent = text;
          const range = document.createRange();
          range.selectNodeContents(th);
          return range.getClientRects().length;
        };
        return [lines("A"), lines("Photographer")];
      });
      assert.deepEqual([one, long], [1, 1]);
    },
  },

  "what ended a run early is said once, and the answer’s lane has a colour of no member": {
    scene: "council",
    async run(page) {
      const why = "The answers agree, so no review follows.";
      await lane(page, "maker").waitFor();
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
      await page.getByText(why).waitFor(); // of several it would complain
      await lane(page, "sceptic").getByText("Stopped", { exact: true }).waitFor();
      await lane(page, "researcher").getByText("Done", { exact: true }).waitFor();
      const tones = await page
        .locator("[data-lane]")
        .evaluateAll((all) => all.map((l) => getComputedStyle(l).getPropertyValue("--member")));
      assert.equal(new Set(tones).size, 4);
    },
  },

  "what is compared first is what another was told for the same": {
    scene: "councilvote",
    async run(page) {
      await page.getByRole("button", { name: "More for the lane of Sceptic" }).click();
      await page.getByRole("menuitem", { name: "What did Sceptic see?" }).click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText("Comparison").click();
      await dialog.getByText("Researcher: Ballot").first().waitFor();
    },
  },

  "where there is little room the letters under an answer go below its words": {
    scene: "counciltwelvestored",
    width: 900,
    async run(page) {
      const line = page.getByRole("button", { name: /^12 members/ });
      await line.waitFor();
      await settled(page);
      const [words, seats] = await line.evaluate((button) =>
        [".words", ".seats"].map((part) => {
          const { top, bottom, left, height } = button.querySelector(part).getBoundingClientRect();
          return { top, bottom, left, height };
        }),
      );
      assert.ok(words.height < 25, `the words are ${words.height} high`);
      assert.ok(seats.top >= words.bottom && seats.left === words.left);
    },
  },

  "a card that takes a tool says so for as long as the tool is over it": {
    scene: "councilset",
    async run(page) {
      await counted(page);
      const from = await page
        .getByRole("list", { name: "Tools for members" })
        .getByText("Roll dice")
        .boundingBox();
      const card = member(page, "sceptic");
      const { x, y, width, height } = await card.boundingBox();
      await page.mouse.move(from.x + 8, from.y + 8);
      await page.mouse.down();
      await page.mouse.move(from.x + 8, from.y - 8, { steps: 3 });
      await card.evaluate((element) => {
        globalThis.left = 0;
        element.addEventListener("dragleave", () => globalThis.left++);
      });
      for (const part of [0.1, 0.2, 0.3, 0.5, 0.7, 0.9])
        await page.mouse.move(x + width * part, y + height / 2);
      await page.locator("[data-member=sceptic].over").waitFor();
      assert.equal(await page.evaluate(() => globalThis.left), 0);
      await page.mouse.move(x + width / 2, y - 200, { steps: 3 });
      await page.locator("[data-member=sceptic].over").waitFor({ state: "detached" });
      await page.mouse.up();
    },
  },

  "a member’s form is closed in another chat, whose members may have the same ids": {
    scene: "councilset",
    async run(page) {
      await member(page, "maker").locator(".who").click();
      await member(page, "maker").locator("input.field").first().waitFor();
      await page.keyboard.press("Control+n");
      await counts(page.locator("article"), 0);
      await member(page, "maker").waitFor();
      await counts(page.locator("[data-member] input.field"), 0);
    },
  },

  "where the model that answers calls the members’ tools, nothing promises a run": {
    scene: "councilset",
    async run(page) {
      await page.evaluate(() => {
        const { council } = globalThis.fake;
        const now = council.settings.council;
        const toolsSettings = { ...now.toolsSettings, mode: "inline" };
        return council.Set("", "global", { ...now, mode: "tools", toolsSettings });
      });
      await page.getByText("gets the members’ tools and calls them").waitFor();
      await page.getByText("there is no run to show").waitFor();
      assert.equal(await page.getByText("Each member runs the tools").count(), 0);
    },
  },

  "the lanes are a table too": {
    scene: "councilasking",
    async run(page) {
      await page.getByRole("button", { name: "As a table" }).click();
      const row = page.getByRole("row", { name: /Word count/ });
      await row.getByText("Failed").waitFor();
      await row
        .getByText("Word count did not answer in 30 s. Try it again, or look at its log.")
        .waitFor();
      await page.getByRole("row", { name: /Sceptic.*Skipped/ }).waitFor();
      // In the dock there is no room for all columns: three are lines in the cells of others.
      const scroll = page.locator(".scroll:has(> table)");
      const sideways = async () => {
        await settled(page);
        return scroll.evaluate((box) => box.scrollWidth > box.clientWidth + 1);
      };
      assert.equal(await sideways(), false);
      assert.equal(await page.getByRole("columnheader", { name: "Began" }).count(), 0);
      assert.equal(await page.getByRole("columnheader", { name: "Task" }).count(), 0);
      await row.getByText("Began at 0 s").waitFor();
      const lines = await page
        .locator(".lasted .narrow")
        .evaluateAll((all) =>
          all.map((e) => Math.round(e.offsetHeight / parseFloat(getComputedStyle(e).lineHeight))),
        );
      assert.deepEqual([...new Set(lines)], [1], "when a task began breaks over two lines");
      await page.getByRole("button", { name: "Use the full width" }).click();
      await page.getByRole("columnheader", { name: "Began" }).waitFor();
      await row.getByText("Began at 0 s").waitFor({ state: "hidden" });
      assert.equal(await sideways(), false);
    },
  },

  "a notice lies over nothing that is read in a panel that covers the conversation": {
    scene: "councilset",
    width: 900,
    async run(page) {
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
    },
  },

  "the chip of the composer skips the council once, and a message says so": {
    scene: "councilset",
    async run(page) {
      await page.getByRole("button", { name: "Council: 3 · about $0.04 · about 12 s" }).click();
      await page.getByRole("menuitem", { name: "Skip for this message" }).click();
      await page.getByRole("button", { name: "Council skipped once" }).waitFor();
      await page.getByLabel("Message", { exact: true }).fill("And potatoes?");
      await page.keyboard.press("Enter");
      await page.getByRole("button", { name: /^Council: 3/ }).waitFor();
    },
  },

  "“@Sceptic” asks that member alone": {
    scene: "councilset",
    async run(page) {
      await page.getByLabel("Message", { exact: true }).fill("@sceptic what is wrong with it?");
      await page.getByRole("button", { name: "Asks only Sceptic" }).waitFor();
      await page.getByLabel("Message", { exact: true }).fill("@sceptics what is wrong with it?");
      await page.getByRole("button", { name: /^Council: 3/ }).waitFor();
    },
  },

  "“@” lists the members, and keys or a press choose whom the message asks": {
    scene: "councilset",
    async run(page) {
      const message = page.getByLabel("Message", { exact: true });
      await message.fill("@");
      const names = page.getByRole("listbox", { name: "Ask only one member" });
      await counts(names.getByRole("option"), 3);
      await message.press("ArrowDown");
      await message.press("Enter");
      assert.equal(await message.inputValue(), "@Sceptic ");
      await page.getByRole("button", { name: "Asks only Sceptic" }).waitFor();
      await names.waitFor({ state: "detached" });
      await message.fill("@m");
      await names.getByText("Maker").click();
      assert.equal(await message.inputValue(), "@Maker ");
      await message.fill("@r");
      await message.press("Escape");
      await names.waitFor({ state: "detached" });
      assert.equal(await message.inputValue(), "@r");
    },
  },

  "who agrees and who objects stands with each point, and as letters under the answer": {
    scene: "council",
    async run(page) {
      const box = page.locator(".card", { hasText: "What the council found" });
      await box.getByText("Maker agrees").waitFor({ state: "attached" });
      await box.getByText("Maker disagrees: It ripens inside.").waitFor();
      const line = page.getByRole("button", {
        name: /^3 members · .* Agreed: Researcher, Sceptic/,
      });
      await counts(line.locator(".avatar"), 3);
      assert.equal(await line.locator(".avatar.hollow").innerText(), "C");
    },
  },

  "where nobody answered there is nothing to compare, and the box says so": {
    scene: "councilfailed",
    async run(page) {
      await page.getByText("There is nothing to compare: no member answered.").waitFor();
      assert.equal(await page.getByText("Every point is supported").count(), 0);
      await lane(page, "researcher").locator(".who").click();
      await lane(page, "researcher").getByText("Details: model overloaded").waitFor();
      const without = page.getByText("The answer was made without the council.");
      await without.waitFor();
      await page.getByRole("button", { name: "Ask the council again" }).click();
      const [[, seq]] = await waits(page, "Chats.Regenerate");
      assert.equal(seq, 1);
      await page.evaluate(() => {
        const { council } = globalThis.fake;
        const [run] = council.runs;
        const chair = run.lanes.at(-1);
        const tasks = chair.tasks.map((task) => ({ ...task, state: "stopped" }));
        council.change(run.run, [{ ...chair, tasks }]);
      });
      await without.waitFor({ state: "detached" }); // there is no answer
      await page.getByText("No member could answer.").waitFor();
    },
  },

  "tools that are prompts are offered in the mode that runs them": {
    scene: "councilset",
    async run(page) {
      const shelf = page.getByRole("list", { name: "Tools for members" });
      await shelf.getByText("Roll dice").waitFor();
      assert.equal(await shelf.getByText("Voice a concern").count(), 0);
      await page.getByLabel("How the members work together").click();
      await page.getByRole("option", { name: "Tools only, no answers" }).click();
      await shelf.getByText("Voice a concern").waitFor();
    },
  },

  "a thumb is kept, and the member's card says how often it helped": {
    scene: "council",
    async run(page) {
      await page.getByRole("button", { name: "b2 in the text of Sceptic" }).first().click();
      await page.evaluate(() => {
        globalThis.fake.council.helped = {
          Sceptic: { rated: 40, helped: 12, same: 4 },
          Maker: { rated: 0, helped: 0, same: 7 },
        };
      });
      await page.getByRole("button", { name: "b2 helped" }).click();
      assert.deepEqual((await waits(page, "Council.Rate"))[0].slice(1), ["sceptic", 2, true]);
      await page.locator("details.members > summary").click();
      await member(page, "sceptic").getByText("helped in 12 of 40").waitFor();
      await member(page, "maker").getByText("In its last 7 runs, Maker made no point").waitFor();
      assert.equal(await page.getByText("made no point that the others").count(), 1);
      assert.equal(await page.getByText("helped in 0 of 0").count(), 0);
    },
  },

  "a member is given a picture, which is made small; one that is none is said": {
    scene: "councilset",
    async run(page) {
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
      await page.getByText("The picture a.png could not be read.").first().waitFor();
      const wide = await page.evaluate(() => {
        const canvas = document.createElement("canvas");
        canvas.width = 640;
        canvas.height = 320;
        canvas.getContext("2d").fillRect(0, 0, 640, 320);
        return canvas.toDataURL("image/jpeg").split(",")[1];
      });
      await picture("b.jpg", "image/jpeg", Buffer.from(wide, "base64"));
      const [[sent]] = await waits(page, "Council.Avatar");
      const header = Buffer.from(sent, "base64");
      assert.deepEqual([header.readUInt32BE(16), header.readUInt32BE(20)], [128, 128]);
      await written(page, (c) => c.members[2].persona.avatar === "picture-1");
      await card.getByRole("button", { name: "Remove picture" }).click();
      await written(page, (c) => c.members[2].persona.avatar === "");
    },
  },

  "the file of a run is opened, what is missing is named, and it does not pass for a run of the chat":
    {
      scene: "councilfile",
      async run(page) {
        const own = page.getByRole("heading", { name: /^Run from/ });
        await own.waitFor();
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
        await page.getByText("Missing from the file: 1 text.").waitFor();
        await page
          .getByRole("heading", { name: /^A run from a file \S+day, .* · 3 members/ })
          .waitFor();
        await page.getByText("Not part of this chat").waitFor();
        await own.waitFor({ state: "detached" });
        const sceptic = lane(page, "sceptic");
        await sceptic.locator(".who").click();
        await sceptic.locator('[data-point="b2"]').waitFor();
        assert.equal(await sceptic.locator(".thumbs").count(), 0);
        await page.getByRole("button", { name: "More for this run" }).click();
        await page.getByRole("menuitem").first().waitFor();
        assert.deepEqual(await page.getByRole("menuitem").allInnerTexts(), ["As a table"]);
        await page.keyboard.press("Escape");
        await page.getByRole("button", { name: "Close the file" }).click();
        await own.waitFor();
        assert.equal(await page.getByText("The file is incomplete").count(), 0);
      },
    },
};

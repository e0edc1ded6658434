// A council on the real program: the sample run, watched, read, replayed and looked into, by
// keyboard where a keyboard does.
import assert from "node:assert/strict";
import { calledByEach, crew, install, letWeatherBeTold } from "../ecosystems.mjs";
import { accessible, counts, focused, palette, tabTo } from "../harness.mjs";

export const answers = {};

export const steps = (world) => {
  const page = () => world.person.page;
  const over = () =>
    page().waitForFunction(
      () => document.querySelector("[data-lane]") && !document.querySelector("button.stop"),
    );

  return {
    "a sample council deliberates: three scripted members, their tools, an answer that cites them":
      async () => {
        await world.person.newChat();
        await palette(page(), "show the council");
        await page().getByRole("button", { name: "Run a sample council" }).first().click();
        await page().locator("[data-lane]").nth(2).waitFor();
        await world.person.picture("council-live");
        await over();
        await page().getByRole("heading", { name: "What the council found" }).waitFor();
        await page()
          .getByRole("button", { name: /^3 members · [\d.]+ m?s · / })
          .waitFor();
        await world.person.picture("council-over");
      },

    "what a member saw is the request as it was sent": async () => {
      const lane = page().locator("[data-lane]").first();
      await lane.locator(".who").focus();
      await page().keyboard.press("Enter");
      await lane.locator(".see").first().focus();
      await page().keyboard.press("Enter");
      const dialog = page().getByRole("dialog");
      await dialog.locator(".blocks li").first().waitFor();
      await dialog.getByText("Exact request").click();
      const exact = JSON.parse(await dialog.locator(".exact").innerText());
      assert.ok(JSON.stringify(exact).length > 100);
      await world.person.picture("council-exact");
      await page().keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
    },

    "a point of the result leads to the words it stands in": async () => {
      await page().locator(".point").first().click();
      await page().waitForFunction(() => document.activeElement?.dataset.point !== undefined);
    },

    "the run is replayed from its beginning": async () => {
      await page().getByRole("slider", { name: "Position in the run" }).focus();
      await page().keyboard.press("Home");
      await page().locator("[data-lane]").getByText("Waiting", { exact: true }).first().waitFor();
      for (let i = 0; i < 3; i++)
        await page()
          .getByRole("button", { name: /^Speed/ })
          .click();
      await page().getByRole("button", { name: "Play", exact: true }).click();
      await page().getByRole("heading", { name: "What the council found" }).waitFor();
    },

    "by keys alone four members are added, and each is given a tool of another ecosystem":
      async () => {
        await install(world.place);
        const { keyboard } = page();
        await world.person.newChat();
        await palette(page(), "show the council");
        await page().getByText("No members yet.").waitFor();
        await accessible(page());
        for (const [i, { name }] of crew.entries()) {
          await tabTo(page(), "Add member");
          await keyboard.press("Enter");
          const field = page().locator("[data-member] input.field:focus").first();
          await field.waitFor();
          await keyboard.press("Control+a");
          await keyboard.type(name);
          await page().locator("[data-member]").nth(i).getByText(name).first().waitFor();
          await keyboard.press("Shift+Tab"); // its menu
          await keyboard.press("Shift+Tab"); // who it is
          await keyboard.press("Enter"); // which folds the form
        }
        for (const { name, tool } of crew) {
          await tabTo(page(), `Give ${tool} to…`);
          await keyboard.press("Enter");
          await page()
            .getByRole("menuitem", { name: `Give to ${name}` })
            .last() // the menu before it may be closing
            .waitFor();
          const at = crew.findIndex((one) => one.name === name);
          for (const [i, other] of crew.slice(0, at + 1).entries()) {
            if (i > 0) await keyboard.press("ArrowDown");
            await page()
              .locator("[data-highlighted]", { hasText: `Give to ${other.name}` })
              .last()
              .waitFor();
          }
          await keyboard.press("Enter");
          await page()
            .getByRole("button", { name: `Take ${tool} from ${name}` })
            .waitFor();
        }
        await tabTo(page(), "How the members work together");
        await keyboard.press("Enter");
        const marked = page().locator("[role=option][data-highlighted]");
        await marked.waitFor();
        await keyboard.press("End");
        await marked.filter({ hasText: "Tools only, no answers" }).waitFor();
        await keyboard.press("Enter");
        await page().getByText("Each member runs the tools you gave it").waitFor();
        await tabTo(page(), "Council in this chat");
        await keyboard.press("Space");
        await page()
          .getByRole("button", { name: /^Council: 4/ })
          .waitFor();
        await accessible(page());
        await world.person.picture("council-four-members");
      },

    "by keys alone they are asked, each calls its own tool, and the run is read": async () => {
      const { keyboard } = page();
      await tabTo(page(), "Limits, chair and helper");
      await keyboard.press("Enter");
      await page().getByLabel("Helper model").waitFor();
      await keyboard.press("Escape");
      await focused(page().getByLabel("Message", { exact: true }));
      await keyboard.type("Where do we land tomorrow?");
      await keyboard.press("Enter");
      await page().locator("[data-lane]").getByText("Using Weather").waitFor();
      await counts(page().locator(".council details[open]"), 0); // what is set made room for the run
      await keyboard.press("Control+j");
      const way = page().getByRole("main").getByRole("button", { name: "Show the council" });
      await way.press("Enter");
      await page().locator("[data-lane]").getByText("Using Weather").waitFor();
      await world.person.picture("council-four-works");
      letWeatherBeTold(world.place);
      await page().getByRole("heading", { name: "What the council found" }).waitFor();
      calledByEach(world.place);
      for (const { name, says } of crew) {
        await tabTo(page(), new RegExp(`^.?\\s*${name}\\s*Done\\b`));
        await keyboard.press("Enter");
        await page().locator("[data-lane]", { hasText: name }).getByText(says).first().waitFor();
      }
      await accessible(page());
      await world.person.picture("council-four-over");
      await tabTo(page(), "Position in the run");
      await keyboard.press("Home");
      await page().locator("[data-lane]").getByText("Waiting", { exact: true }).first().waitFor();
      await keyboard.press("End");
      await tabTo(page(), "As a table");
      await keyboard.press("Enter");
      await page().getByRole("table").waitFor();
      await accessible(page());
      await tabTo(page(), "As a table");
      await keyboard.press("Enter");
      await keyboard.press("Control+Shift+J");
      await page().getByRole("button", { name: "Show next to the conversation" }).waitFor();
      await accessible(page());
      await world.person.picture("council-four-wide");
      await keyboard.press("Control+Shift+J");
      await tabTo(page(), "More for the council");
      await keyboard.press("Enter");
      await page().locator("[role=menuitem][data-highlighted]").waitFor(); // the keyboard is in it
      await keyboard.press("End");
      await page()
        .locator("[data-highlighted]", { has: page().getByText("Reset to the shared council") })
        .waitFor();
      await keyboard.press("Enter");
      await page().getByText("No members yet.").waitFor({ state: "attached" }); // folded, below it a run
    },

    "a preset is set and kept, and the chip says what the next message asks": async () => {
      await world.person.newChat();
      // The chat before has a run, and offers presets for itself.
      await page().locator("[data-lane]").first().waitFor({ state: "detached" });
      await page()
        .getByRole("button", { name: /^Three chairs/ })
        .click();
      await page()
        .getByRole("button", { name: /^Council: 3/ })
        .waitFor();
      await page().getByRole("switch", { name: "Council in this chat" }).click();
      await page()
        .getByRole("button", { name: /^Council: 3/ })
        .waitFor({ state: "detached" });
      // What is set in a chat that has no message yet stays set in it, also over another look at it.
      await page().getByRole("button", { name: "More for the council" }).click();
      await page().getByRole("menuitem", { name: "Reset to the shared council" }).click();
      await page().getByText("No members yet.").waitFor();
    },
  };
};

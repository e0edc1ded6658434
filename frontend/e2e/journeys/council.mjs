// A council on the real program: the sample run, watched, read, replayed and looked into, by
// keyboard where a keyboard does.
import assert from "node:assert/strict";
import { palette } from "../harness.mjs";

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
        await page().getByRole("heading", { name: "What came of it" }).waitFor();
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
      await page().getByRole("slider", { name: "Time of the run" }).focus();
      await page().keyboard.press("Home");
      await page().locator("[data-lane]").getByText("Waiting", { exact: true }).first().waitFor();
      for (let i = 0; i < 3; i++)
        await page()
          .getByRole("button", { name: /^Speed/ })
          .click();
      await page().getByRole("button", { name: "Play", exact: true }).click();
      await page().getByRole("heading", { name: "What came of it" }).waitFor();
    },

    "a preset is set and kept, and the chip says what the next message asks": async () => {
      await world.person.newChat();
      await page()
        .getByRole("button", { name: /^Three chairs/ })
        .click();
      await page()
        .getByRole("button", { name: /^Council: 3/ })
        .waitFor();
      await page().getByRole("switch", { name: "Use council" }).click();
      await page()
        .getByRole("button", { name: /^Council: 3/ })
        .waitFor({ state: "detached" });
    },
  };
};

// What hooks of plugins did to an answer.
import { expect, test } from "../scene.mjs";

test("what hooks changed is opened by keys, read line by line, and closed back to where one was", async ({ open }) => {
  const page = await open("hooks");
  const line = page.getByRole("button", { name: /failed · Slow index timed out/ });
  await line.focus();
  await page.keyboard.press("Enter");
  const sheet = page.getByRole("dialog", { name: "Plugin changes" });
  await expect(sheet.getByText("In the order they ran")).toBeVisible();
  for (const words of [
    "Macros were filled in",
    "Lorebook changed the request",
    "Counter changed nothing",
    "Slow index timed out, so it changed nothing",
    "Old hook failed, so it changed nothing",
    "House style changed the answer",
    "Path keeper changed the arguments",
    "Sunday guard denied the call",
    "Lorebook stopped the answer",
  ]) {
    expect((await sheet.innerText()).includes(words), `it does not say: ${words}`).toBeTruthy();
  }
  const lines = sheet.getByRole("group", { name: "Lines that Lorebook changed" });
  await lines.focus();
  expect(await lines.innerText()).toMatch(/added:\s*Its river is called the Lower Ashwater\./);
  await page.keyboard.press("Escape");
  await expect(sheet).toHaveCount(0);
  await expect(line).toBeFocused();
});

test("an answer that no hook looked at says so", async ({ open }) => {
  const page = await open();
  await page.getByRole("button", { name: "More for this message" }).last().click();
  await page.getByRole("menuitem", { name: "Plugin changes" }).click();
  await expect(page.getByText("No plugin hook ran for this answer")).toBeVisible();
});

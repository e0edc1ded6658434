import { mount, unmount } from "svelte";
import { expect, test } from "vitest";
import { inApp } from "../app.svelte";
import { s } from "../strings";
import { startApp, until } from "../testing";
import ModelSelect from "./ModelSelect.svelte";

test("a member of the sample has a model that is there, and a removed one is said to be gone", async () => {
  const { app } = await startApp("councilset");
  await until("the models", () => app.models.ready);
  const shown = async (value: string) => {
    const field = mount(ModelSelect, {
      target: document.body,
      props: { id: "model", value, onchange: () => {} },
      context: inApp(app),
    });
    const said = document.querySelector("#model")?.textContent?.trim();
    await unmount(field);
    return said;
  };
  expect(await shown("demo/researcher")).toBe("demo/researcher");
  expect(await shown("nobody/knows")).toBe(s.council.modelGone("nobody/knows"));
  app.close();
});

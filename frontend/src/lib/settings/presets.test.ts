import { expect, test } from "vitest";
import type { CouncilPreset } from "../bridge/generated";
import { startApp, until } from "../testing";
import { PresetsState } from "./presets.svelte";

async function open() {
  const { app, fake } = await startApp("councilpresets");
  const presets = new PresetsState(fake, app.notices);
  await presets.open();
  return {
    fake,
    presets,
    names: () => presets.own.map((preset) => preset.name),
    of: (name: string) => presets.list.find((p) => p.name === name) as CouncilPreset,
    end: () => {
      presets.close();
      app.close();
    },
  };
}

test("those of the person stand apart from those that come with Conclave", async () => {
  const { presets, names, end } = await open();
  expect(names()).toEqual(["Garden", "My reviewers"]);
  expect(presets.builtIn.map((preset) => preset.name)).toContain("Red team");
  end();
});

test("a preset gets another name, and none that another has", async () => {
  const { presets, names, of, end } = await open();
  await expect(presets.rename(of("Garden"), "Red team")).rejects.toMatchObject({
    kind: "conflict",
  });
  expect(names()).toEqual(["Garden", "My reviewers"]);
  await presets.rename(of("Garden"), "Orchard");
  expect(names()).toEqual(["Orchard", "My reviewers"]);
  end();
});

test("a copy is one of the person's, whoever's it is a copy of", async () => {
  const { presets, names, of, end } = await open();
  expect(await presets.duplicate(of("Red team"))).toBe("Red team 2");
  expect(names()).toEqual(["Garden", "My reviewers", "Red team 2"]);
  expect(of("Red team 2").council.members).toEqual(of("Red team").council.members);
  const undo = await presets.remove(of("Red team 2"));
  expect(undo.sentence).toContain("Red team 2");
  expect(names()).toEqual(["Garden", "My reviewers"]);
  end();
});

test("a file that was written is read as a preset, by its council's name or its own", async () => {
  const { fake, presets, of, end } = await open();
  await presets.save(of("My reviewers"));
  const [name, text] = fake.given("Window.SaveFile")[0] as [string, string];
  expect(name).toBe("my_reviewers.json");
  expect(await presets.read(name, text)).toBe("My reviewers 2");
  const { name: _, ...unnamed } = of("My reviewers").council;
  expect(await presets.read("their-council.json", JSON.stringify(unnamed))).toBe("their-council");
  expect(of("their-council").council.members).toEqual(of("My reviewers").council.members);
  await expect(presets.read("notes.json", "no council")).rejects.toThrow();
  end();
});

test("what is kept elsewhere meanwhile is shown", async () => {
  const { fake, presets, names, of, end } = await open();
  await fake.council.AddPreset("From the panel", of("Garden").council);
  await until("the new preset", () => names().includes("From the panel"));
  expect(presets.error).toBeNull();
  end();
});

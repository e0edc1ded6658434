import { expect, test } from "vitest";
import type { OfferableTool, ProgramList } from "../bridge/generated";
import { startApp } from "../testing";
import { ProgramsState } from "./programs.svelte";

const tool = (id: string, plugin: string, offered: boolean): OfferableTool => ({
  id,
  plugin,
  title: id,
  name: id,
  offered,
});

const list: ProgramList = {
  revision: 1,
  programs: [],
  tools: [tool("a:one", "A", true), tool("a:two", "A", false), tool("b:one", "B", false)],
  open: false,
  port: 48912,
  address: "",
  trouble: "",
  snippets: [],
};

test("tools stand by plugin, and only those that change are sent", async () => {
  const { app, fake } = await startApp();
  fake.programs.List = async () => list;
  const programs = new ProgramsState(fake, app.notices);
  await programs.open();
  expect(programs.plugins.map(({ plugin, tools }) => [plugin, tools.length])).toEqual([
    ["A", 2],
    ["B", 1],
  ]);
  expect(programs.offered).toBe(1);
  await programs.offer(list.tools, true);
  expect(fake.given("Programs.Offer")).toEqual([[["a:two", "b:one"], true]]);
  programs.close();
  app.close();
});

test("a token is shown until it is put away or its program is removed", async () => {
  const { app, fake } = await startApp();
  fake.programs.List = async () => list;
  fake.scene.acts["Programs.AddToken"] = "cnc_secret";
  const programs = new ProgramsState(fake, app.notices);
  await programs.add("Zed");
  expect(programs.made).toEqual({ name: "Zed", token: "cnc_secret" });
  await programs.remove("Zed");
  expect(programs.made).toBeNull();
  programs.close();
  app.close();
});

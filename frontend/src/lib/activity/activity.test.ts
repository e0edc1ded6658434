import { flushSync, mount, unmount } from "svelte";
import { beforeEach, expect, it } from "vitest";
import { inApp } from "../app.svelte";
import { fakeBridge, type Fake } from "../bridge/fake";
import { startApp, until } from "../testing";
import { ActivityState } from "./activity.svelte";
import ActivityTab from "./ActivityTab.svelte";

let fake: Fake;
let record: ActivityState;
const numbers = () => record.entries.map(({ n }) => n);
const down = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, i) => from - i);

beforeEach(() => {
  fake = fakeBridge({ scene: "bare" });
  for (let i = 0; i < 120; i++) fake.activity.add({ chat: i % 2 ? "a" : "b" });
  record = new ActivityState(fake);
});

it("keeps the older entries that were shown when something new comes", async () => {
  await record.show("", "");
  await record.older();
  expect(numbers()).toEqual(down(120, 21));
  fake.activity.add({});
  await record.show("", "");
  expect(numbers()).toEqual(down(121, 21));
  expect(record.more).toBe(true);
  await record.older();
  expect(numbers()).toEqual(down(121, 1));
  expect(record.more).toBe(false);
  await record.show("", "");
  expect(numbers()).toEqual(down(121, 1));
  expect(record.more).toBe(false);
});

it("begins anew for another chat, and where more came than a page has", async () => {
  await record.show("", "");
  await record.older();
  await record.show("a", "");
  expect(numbers()).toHaveLength(50);
  expect(record.entries.every(({ chat }) => chat === "a")).toBe(true);
  await record.show("", "");
  await record.older();
  for (let i = 0; i < 51; i++) fake.activity.add({});
  await record.show("", "");
  expect(numbers()).toEqual(down(171, 122));
  expect(record.more).toBe(true);
});

it("shows older entries also when the newest are asked for meanwhile", async () => {
  await record.show("", "");
  await Promise.all([record.older(), record.show("", "")]);
  expect(numbers()).toEqual(down(120, 21));
  await Promise.all([record.show("a", ""), record.older()]);
  expect(record.entries.every(({ chat }) => chat === "a")).toBe(true);
});

it("shows what is put on record while one looks, and what was meanwhile when one looks again", async () => {
  const { app, fake } = await startApp("chat");
  const target = document.body.appendChild(document.createElement("div"));
  app.layout.setDock(true, "activity");
  const tab = mount(ActivityTab, { target, context: inApp(app) });
  flushSync();
  const shows = (title: string) => () => target.textContent?.includes(title) ?? false;
  const record = (title: string) => {
    fake.activity.add({ title, chat: app.chat?.id ?? "" });
    fake.bus.changed("activity");
  };
  record("Put two files back");
  await until("the entry", shows("Put two files back"));
  app.layout.setDock(true, "tools");
  flushSync();
  const list = fake.activity.List.bind(fake.activity);
  let asked = 0;
  fake.activity.List = (...what) => (asked++, list(...what));
  record("Put one file back");
  await new Promise((resolve) => setTimeout(resolve)); // the notice
  flushSync();
  expect(asked).toBe(0);
  app.layout.setDock(true, "activity");
  await until("the other", shows("Put one file back"));
  await unmount(tab);
  target.remove();
  app.close();
});

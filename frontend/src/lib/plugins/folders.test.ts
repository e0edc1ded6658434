import { flushSync, mount, unmount } from "svelte";
import { expect, test } from "vitest";
import { inApp } from "../app.svelte";
import { s } from "../strings";
import { startApp, until } from "../testing";
import Approval from "./Approval.svelte";
import { openRefusals } from "./folders";
import PluginCard from "./PluginCard.svelte";
import { whyAsked } from "./words";

globalThis.ResizeObserver ??= class {
  observe() {}
  unobserve() {}
  disconnect() {}
};

const wish = (path: string, write = false) => ({
  permission: "filesystem",
  path,
  write,
  command: "",
});

test("folders are listed with how they are taken back, and refused ones with how they are allowed", async () => {
  const { app, fake } = await startApp();
  const reports = { path: "/home/ada/Reports", write: false, setting: "" };
  const named = { path: "/home/ada/Vault", write: true, setting: "vault" };
  fake.plugins.change("notes", {
    folders: [reports, named],
    refused: [wish("/home/ada/In"), wish("/home/ada/Out", true), wish("/home/ada/Reports")],
    permission_details: [
      {
        name: "filesystem",
        sentence: "Read files in folders you name.",
        without: "It sees its own folder.",
        risk: "high",
        supported: true,
        state: "asked",
        by_hand: true,
      },
    ],
  });
  const notes = () => app.plugins.plugins.find((p) => p.id === "notes");
  await until("the folders", () => notes()?.folders.length === 2);
  const plugin = notes();
  if (!plugin) throw new Error("no plugin");
  const card = mount(PluginCard, {
    target: document.body,
    props: { plugin },
    context: inApp(app),
  });
  flushSync();
  const buttons = () =>
    [...document.querySelectorAll("button[aria-label]")]
      .map((b) => b.getAttribute("aria-label") ?? "")
      .filter((label) => /^(Allow|Revoke|Grant)/.test(label));
  expect(buttons()).toEqual([
    "Allow reading /home/ada/In",
    "Allow reading and writing /home/ada/In",
    "Allow reading and writing /home/ada/Out",
    "Revoke /home/ada/Reports",
  ]);
  expect(document.body.textContent).toContain("from its setting “vault”");
  expect(document.body.textContent).toContain("Allowed one folder at a time");
  document.querySelector<HTMLButtonElement>('button[aria-label="Revoke /home/ada/Reports"]')?.click();
  await until("the question", () => fake.asked.length > 0);
  expect(fake.given("Plugins.RevokeFolder")).toEqual([["notes", "/home/ada/Reports"]]);
  await unmount(card);
  app.close();
});

test("a folder that was allowed meanwhile is no longer offered, unless it is to be written to", () => {
  const folders = [{ path: "/a", write: false, setting: "" }];
  const left = (...refused: ReturnType<typeof wish>[]) =>
    openRefusals({ refused, folders } as never).map((r) => [r.path, r.write]);
  expect(left(wish("/a"), wish("/b"))).toEqual([["/b", false]]);
  expect(left(wish("/a", true), wish("/b"), wish("/b", true))).toEqual([
    ["/a", true],
    ["/b", true],
  ]);
});

test("a first listing and one's own settings are not told as an alteration", async () => {
  const { app, fake } = await startApp("approval");
  const mail = app.plugins.plugins.find((p) => p.id === "mail");
  if (!mail) throw new Error("no plugin");
  const says = async (change: { tool: string; field: string; before: string; after: string }) => {
    fake.plugins.changes.set("mail", [change]);
    const target = document.createElement("div");
    document.body.append(target);
    const card = mount(Approval, { target, props: { plugin: mail }, context: inApp(app) });
    await until("what changed", () => target.querySelector(".change") !== null);
    flushSync();
    const text = target.textContent ?? "";
    await unmount(card);
    target.remove();
    return text;
  };
  const listed = await says({ tool: "send", field: "listed", before: "", after: "Sends a mail." });
  expect(listed).toContain("Mail has listed its tools");
  expect(listed).toContain("Approve these tools");
  expect(listed).not.toMatch(/changed|Keep the old version/i);
  const settings = await says({ tool: "", field: "settings", before: "", after: "core's words" });
  expect(settings).toContain("Its files are those you approved.");
  expect(settings).toContain("Approve these tools");
  const code = await says({ tool: "", field: "code", before: "1", after: "2" });
  expect(code).toContain("Approve change");
  expect(whyAsked([])).toBe("changed");
  app.close();
});

test("a press that comes too early is not believed, which a notice says once", async () => {
  const { app } = await startApp("approval");
  const mail = app.plugins.plugins.find((p) => p.id === "mail");
  if (!mail) throw new Error("no plugin");
  const target = document.createElement("div");
  document.body.append(target);
  const card = mount(Approval, { target, props: { plugin: mail }, context: inApp(app) });
  flushSync();
  target.querySelector<HTMLButtonElement>(".btn.primary")?.click();
  flushSync();
  expect(app.toasts.list.map(({ text }) => text)).toEqual([s.permission.ignored]);
  await unmount(card);
  target.remove();
  app.close();
});

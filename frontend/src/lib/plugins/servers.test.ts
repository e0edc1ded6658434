import { flushSync, mount, unmount } from "svelte";
import { describe, expect, test } from "vitest";
import { inApp } from "../app.svelte";
import { startApp, until } from "../testing";
import AddServer from "./AddServer.svelte";
import { pluginMenu } from "./menu";

describe("MCP servers", () => {
  test("a pasted text is added, and the dialog closes", async () => {
    const { app, fake } = await startApp();
    fake.scene.acts["Plugins.AddServers"] = { ids: ["mail"], notes: [], left: [] };
    app.addServer = true;
    const dialog = mount(AddServer, { target: document.body, context: inApp(app) });
    await until("the files", () => document.body.textContent?.includes("/home/ada/.cursor/mcp.json") ?? false);
    const field = document.querySelector("textarea");
    if (!field) throw new Error("there is no field");
    field.value = "https://mcp.example.com/mcp";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    flushSync();
    field.form?.requestSubmit();
    await until("the dialog to close", () => !app.addServer);
    expect(fake.given("Plugins.AddServers")).toEqual([["https://mcp.example.com/mcp", ""]]);
    void unmount(dialog);
    app.close();
  });

  test("what was left out, and where secrets are, is read before the dialog closes", async () => {
    const { app, fake } = await startApp();
    app.addServer = true;
    const dialog = mount(AddServer, { target: document.body, context: inApp(app) });
    const button = () => [...document.querySelectorAll("button")].find((b) => b.textContent === "Claude Code");
    await until("the files", () => button() !== undefined);
    button()?.click();
    await until("the result", () => document.body.textContent?.includes("Added 2 servers.") ?? false);
    expect(fake.given("Plugins.AddServers")).toEqual([["", "/home/ada/.claude.json"]]);
    expect(document.body.textContent).toContain("still holds it too");
    expect(document.body.textContent).toContain("Left out: memory.");
    expect(app.addServer).toBe(true);
    void unmount(dialog);
    app.close();
  });

  test("MC-97 the menu of a server copies its configuration in three forms", async () => {
    const { app } = await startApp();
    const [first] = app.plugins.plugins;
    if (!first) throw new Error("there is no plugin");
    const plugin = { ...first, contract: "mcp" };
    const open = { onlog: () => undefined, onreach: () => undefined };
    const labels = pluginMenu(app, plugin, open).map((item) => item.label);
    expect(labels.filter((label) => label.startsWith("Copy configuration"))).toHaveLength(3);
    expect(pluginMenu(app, { ...plugin, contract: "functions" }, open).length).toBe(labels.length - 3);
    app.close();
  });
});

import { flushSync, mount, unmount } from "svelte";
import { expect, test } from "vitest";
import { Scene } from "../bridge/fake/scene";
import type { HookedThing, HookMark, HookStep } from "../bridge/generated";
import HookSteps from "./HookSteps.svelte";
import { hookDid, hooksLead, hooksLine } from "./hooks";

const hooked = [...new Scene("hooks").all<HookedThing[]>("Chats.Hooks").values()].at(-1) ?? [];

/** A step of a hook that changed nothing, but for what is named. */
const step = (title: string, change: Partial<HookStep> = {}): HookStep => ({
  point: "before model",
  plugin: title.toLowerCase(),
  title,
  action: "",
  reason: "",
  notes: [],
  ms: 1.4,
  lines: [],
  left: "",
  ...change,
});

const mark = (title: string, did: HookMark["did"]): HookMark => ({
  plugin: title.toLowerCase(),
  title,
  did,
});
const one = (...steps: HookedThing["steps"]): HookedThing[] => [{ request: 1, call: "", steps }];

test("the line under an answer names who did what, and counts where there are many", () => {
  expect(hooksLine([])).toBe("");
  expect(hooksLine([mark("A", "changed"), mark("B", "changed")])).toBe("A and B changed this");
  expect(hooksLine(["A", "B", "C"].map((title) => mark(title, "changed")))).toBe("3 plugins changed this");
  expect(hooksLine([mark("A", "denied"), mark("B", "failed"), mark("C", "timed out")])).toBe(
    "A denied a call · B failed · C timed out",
  );
  // A hook that answers for its own tool did what tools do.
  expect(hooksLine([mark("Weather", "answered")])).toBe("");
  expect(hooksLine([{ plugin: "conclave", title: "Conclave", did: "changed" }])).toBe("Macros changed this");
});

test("nothing looked, and nothing changed, are each said", () => {
  expect(hooksLead([])).toMatch(/^No plugin hook ran/);
  expect(hooksLead(one(step("A")))).toBe("One hook ran and changed nothing.");
  expect(hooksLead(one(step("A"), step("B")))).toBe("2 hooks ran and changed nothing.");
  expect(hooksLead(hooked)).toMatch(/^In the order/);
});

test("a hook that fails where it stands guard is said to deny", () => {
  const failed = step("A", { point: "approve", action: "failed" });
  expect(hookDid(failed)).toBe("failed, so the call was denied");
  expect(hookDid({ ...failed, point: "after tool" })).toBe("failed, so it changed nothing");
});

test("each step shows who, when, what, how long, and the lines, each with its word", async () => {
  const list = mount(HookSteps, {
    target: document.body,
    props: { steps: hooked[0]?.steps ?? [] },
  });
  flushSync();
  const rows = [...document.querySelectorAll("li")].map((row) => (row.textContent ?? "").replace(/\s+/g, " "));
  expect(rows[1]).toMatch(/Lorebook changed the request before the model 13 ms ⋯System prompt/);
  expect(rows[1]).toMatch(/removed: ?The city of Varn has two gates\./);
  expect(rows[1]).toMatch(/added: ?Its river/);
  expect(rows[1]).toMatch(/12 more lines differ and are not kept\./);
  expect(rows[2]).toMatch(/Counter changed nothing/);
  expect(rows[3]).toMatch(/Slow index timed out, so it changed nothing before the model 10\.0 s/);
  expect(document.querySelectorAll("[role=group]").length).toBe(3);
  expect([...document.querySelectorAll(".heading")].map((h) => h.textContent?.trim())).toContain("⋯System prompt");
  await unmount(list);
});

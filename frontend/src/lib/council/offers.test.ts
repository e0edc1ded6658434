/** What cards, lanes and dialogs of a council say and offer: what can be done, and what is so. */
import { flushSync, mount, unmount, type Component } from "svelte";
import { expect, test, vi } from "vitest";
import { inApp } from "../app.svelte";
import { called, council, ended, lane, member, run, task, three } from "./make";
import type { Council, Lane as LaneView, Member, Run, SentRequest } from "../bridge/generated";
import { s } from "../strings";
import { startApp, until } from "../testing";
import AgainDialog from "./AgainDialog.svelte";
import Chip from "./Chip.svelte";
import Inspector from "./Inspector.svelte";
import LaneRow from "./Lane.svelte";
import MemberCard from "./MemberCard.svelte";
import { Panel } from "./panel.svelte";
import RunSettings from "./RunSettings.svelte";
import RunTable from "./RunTable.svelte";
import { RunState } from "./run.svelte";

globalThis.ResizeObserver ??= class {
  observe() {}
  unobserve() {}
  disconnect() {}
};

const [researcher, sceptic] = three as [Member, Member];

/** The app on a chat with a council, and a way to draw a part of its panel. */
async function opened(change: Partial<Council> = {}, members = three) {
  const { app, fake } = await startApp("councilset");
  fake.council.settings.council = council(members, change);
  app.council.forPanel();
  await until("the council", () => app.council.choices !== null && app.council.settings !== null);
  await app.council.open();
  const panel = new Panel(app);
  /** A run of the chat as it is held. */
  const held = (lanes: LaneView[], head: Partial<Run> = {}) => {
    const state = new RunState(app.bridge, app.notices, "run-1");
    state.take(run(app.chat?.id ?? "", lanes, head));
    return state;
  };
  const parts: object[] = [];
  function draw<P extends Record<string, unknown>>(part: Component<P>, props: P): HTMLElement {
    const target = document.createElement("div");
    document.body.append(target);
    parts.push(mount(part, { target, props, context: inApp(app) }));
    flushSync();
    return target;
  }
  const end = async () => {
    for (const part of parts) await unmount(part);
    document.body.replaceChildren();
    panel.close();
    app.close();
  };
  return { app, fake, panel, held, draw, end };
}

const texts = (all: Iterable<Element>) => [...all].map((one) => one.textContent?.trim());

test("what a message may come to is reckoned with the model that is shown, and its files", async () => {
  const { app, fake, draw, end } = await opened();
  const asked = vi.spyOn(fake.council, "Estimate");
  draw(Chip, {});
  await app.newChat();
  app.composer.model = "acme/large-2";
  app.composer.changed("What grows there?", 17);
  await app.composer.attach([new File(["x"], "plan.txt", { type: "text/plain" })]);
  const id = app.composer.attachments[0]?.media?.id ?? "";
  expect(id).not.toBe("");
  await until("the message to be counted", () => {
    flushSync();
    const message = asked.mock.lastCall?.[2];
    return message?.model === "acme/large-2" && message.attachments.length === 1;
  });
  expect(asked.mock.lastCall?.[0]).toBe("");
  expect(asked.mock.lastCall?.[2]).toEqual({
    text: "What grows there?",
    attachments: [id],
    model: "acme/large-2",
    no_tools: false,
  });
  await app.council.prices(fake.council.choices.presets.slice(0, 1));
  expect(asked.mock.lastCall?.[2]).toMatchObject({
    text: "",
    attachments: [],
    model: "acme/large-2",
  });
  await end();
});

test("a prompt that does nothing in this mode says so on the card, and no card takes one", async () => {
  const prompted = member("ada", "Ada", { tools: ["voice_concern", "text:word_count"] });
  const chips = (target: HTMLElement) =>
    [...target.querySelectorAll(".chip")].map((chip) => [
      chip.getAttribute("aria-label"),
      chip.classList.contains("danger"),
    ]);
  const card = {
    member: prompted,
    place: 0,
    count: 1,
    open: false,
    ontoggle: () => {},
    onmove: () => {},
    onduplicate: () => {},
    onremove: () => {},
  };
  for (const [change, why] of [
    [{ mode: "opinions" }, s.council.toolsModeAlone],
    [{ mode: "tools", toolsSettings: { mode: "inline" } }, s.council.notInline],
    [{ mode: "tools" }, ""],
  ] as const) {
    const { toolsSettings } = council([]);
    const { draw, end } = await opened(
      {
        ...change,
        toolsSettings: {
          ...toolsSettings,
          ...("toolsSettings" in change ? change.toolsSettings : {}),
        },
      },
      [prompted],
    );
    expect(chips(draw(MemberCard, card))).toEqual([
      [["Voice a concern", why].filter(Boolean).join(", "), why !== ""],
      ["Word count", false],
    ]);
    await end();
  }
});

test("settings that do nothing where the model that answers calls the tools are not shown", async () => {
  const f = s.council.form;
  for (const mode of ["sidecar", "inline"] as const) {
    const { toolsSettings } = council([]);
    const { draw, end } = await opened({
      mode: "tools",
      toolsSettings: { ...toolsSettings, mode },
    });
    const said = draw(RunSettings, {}).textContent ?? "";
    for (const words of [f.window, f.timeout, f.words, f.toolsTold, f.userPersona, f.retain])
      expect([words, said.includes(words)]).toEqual([words, mode === "sidecar"]);
    expect(said).toContain(f.toolMode);
    await end();
  }
});

test("a lane offers what can still be done about its member", async () => {
  const { panel, held, draw, end } = await opened();
  const both = [
    task("0/r/search", { kind: "tool", state: "failed" }),
    task("0/r/count", { kind: "tool", state: "working", phase: "using" }),
  ];
  const offered = async (head: Partial<Run>, tasks = both) => {
    const state = held([lane(researcher, "a", tasks)], { live: true, ...head });
    const [row] = state.lanes;
    if (!row) throw new Error("there is no lane");
    const target = draw(LaneRow, {
      ...{ panel, run: state, lane: row, place: 0, axis: 1000, now: 10, time: Infinity },
    });
    target.querySelector<HTMLElement>("[aria-haspopup=menu]")?.click();
    await until("the menu", () => {
      flushSync();
      return document.querySelector("[role=menuitem]") !== null;
    });
    const labels = texts(document.querySelectorAll("[role=menuitem]"));
    target.querySelector<HTMLElement>("[aria-haspopup=menu]")?.click();
    await until("the menu to close", () => {
      flushSync();
      return document.querySelector("[role=menuitem]") === null;
    });
    const acts: string[] = [s.council.nudge, s.council.skip, s.council.retry];
    return labels.filter((label) => acts.includes(label ?? ""));
  };
  const [failed] = both;
  expect(await offered({ state: "running" })).toEqual([s.council.nudge, s.council.skip, s.council.retry]);
  expect(await offered({ state: "asking" }, failed && [failed])).toEqual([s.council.retry]);
  expect(await offered({ state: "answering" }, failed && [failed])).toEqual([]);
  expect(await offered({ state: "running", early: "You finished it." })).toEqual([s.council.nudge, s.council.skip]);
  await end();
});

test("a run is made again from what its member had then, whatever is set by now", async () => {
  const { app, fake, held, draw, end } = await opened({ mode: "opinions" }, [
    { ...researcher, tools: ["notes:write_note"] },
    sceptic,
  ]);
  const again = () => fake.given("Council.Again");
  const context = { ...researcher.context, policy: "messages" as const, last: 7 };
  const then = { ...researcher, context, tools: ["voice_concern"] };
  const state = held([lane(then, "a", [])], { mode: "tools" });
  const show = () => {
    draw(AgainDialog, { run: state, of: then.id, onclose: () => {} });
    return document.querySelector("[role=dialog]") as HTMLElement;
  };
  const press = (words: string) => {
    const all = document.querySelectorAll<HTMLElement>("[role=dialog] :is(button, [role=radio], label)");
    [...all].find((one) => one.textContent?.trim() === words)?.click();
    flushSync();
  };
  const dialog = show();
  press(s.council.contextShort);
  expect(dialog.querySelector<HTMLInputElement>("input[type=number]")?.value).toBe("7");
  press(s.council.form.tools);
  const ticked = [...dialog.querySelectorAll<HTMLInputElement>(".tool input:checked")];
  expect(texts(ticked.map((box) => box.closest("label") as Element))).toEqual([
    expect.stringMatching(/^Voice a concern/),
  ]);
  expect(dialog.textContent).not.toContain(s.council.toolsModeAlone); // it is of the run's mode
  press(s.council.runAgain);
  await until("it to be asked", () => again().length > 0);
  const nothing = { member: then.id, model: null, role: null, context: null, tools: null };
  expect(again().at(-1)).toEqual(["run-1", { ...nothing, tools: ["voice_concern"] }]);
  await until("the dialog to be ready", () => {
    flushSync();
    return !dialog.querySelector(".primary:disabled");
  });
  press(s.council.form.role);
  const role = dialog.querySelector<HTMLInputElement>("input.field");
  if (!role) throw new Error("there is no field for the role");
  role.value = "";
  role.dispatchEvent(new Event("input", { bubbles: true }));
  press(s.council.runAgain);
  await until("it to be asked again", () => again().length > 1);
  expect(again().at(-1)).toEqual(["run-1", { ...nothing, role: "" }]);
  expect(app.toasts.list).toEqual([]);
  await end();
});

test("the request that is looked at is compared with the one of its number", async () => {
  const { fake, held, draw, end } = await opened();
  const compared = vi.spyOn(fake.council, "Compare");
  const state = held([
    lane(researcher, "a", [ended("0/a/answer", 0, 900, 0), ended("1/a/review", 900, 1800, 0)]),
    lane(sceptic, "b", [ended("0/b/answer", 0, 900, 0)]),
  ]);
  const request = { model: "demo/guide", body: "{}", bytes: 2, tokens: 1, at_ms: 0, blocks: [] };
  fake.council.Sent = async () => Array(3).fill({ ...request, tool: "", without: "" }) as SentRequest[];
  draw(Inspector, { run: state, member: researcher.id, task: "0/a/answer", onclose: () => {} });
  const press = (words: string) => {
    const all = document.querySelectorAll<HTMLElement>("[role=dialog] label");
    [...all].find((one) => one.textContent?.trim() === words)?.click();
    flushSync();
  };
  await until("the requests", () => {
    flushSync();
    return document.body.textContent?.includes(s.council.requestNumber(3)) === true;
  });
  press(s.council.requestNumber(2));
  press(s.council.comparison);
  press(s.council.requestNumber(3));
  expect(compared.mock.calls).toEqual([
    ["run-1", "0/a/answer", "0/b/answer", 1],
    ["run-1", "0/a/answer", "0/b/answer", 2],
  ]);
  await end();
});

test("the council is asked again where one would work, as it is set now, else as it was", async () => {
  const { app, fake, end } = await opened();
  const again = () => fake.given("Council.Again");
  const anew = () => fake.given("Chats.Regenerate");
  fake.council.add(run(app.chat?.id ?? "", []));
  const panel = new Panel(app);
  await panel.switchTo(app.chat?.id ?? "");
  await until("the run", () => panel.run?.head !== null);
  await panel.askCouncil();
  expect([anew().length, again().length]).toEqual([1, 0]);
  for (const change of [
    { enabled: false },
    { enabled: true, members: three.map((m) => ({ ...m, off: true })) },
    {
      members: three,
      mode: "tools" as const,
      toolsSettings: { ...council([]).toolsSettings, mode: "inline" as const },
    },
  ]) {
    app.council.set(change);
    await panel.askCouncil();
  }
  expect(anew().length).toBe(1);
  const everybody = { member: "", model: null, role: null, context: null, tools: null };
  expect(again()).toEqual(Array(3).fill(["run-1", everybody]));
  panel.close();
  await end();
});

test("a council that is moved to another scope can be put back", async () => {
  const { app, fake, end } = await opened();
  const chat = app.chat?.id ?? "";
  app.council.set({ mode: "vote" });
  await app.undoable(() => app.council.moveTo("global"));
  // What was changed just before is kept first: written later it would be in the scope that was left.
  expect(fake.asked.filter(({ name }) => /Council\.(Set|Move)/.test(name)).map(({ name }) => name)).toEqual([
    "Council.Set",
    "Council.Move",
  ]);
  const [moved] = fake.given("Council.Move") as [[string, string, Council]];
  expect([moved[0], moved[1], moved[2].mode]).toEqual([chat, "global", "vote"]);
  expect([app.council.settings?.scope, app.canUndo]).toEqual(["global", true]);
  expect(app.toasts.list.map((toast) => toast.action?.label)).toEqual([s.app.undo]);
  await end();
});

test("where the table has no room for them, a task, when it began and its tokens are in other cells", async () => {
  const { panel, held, draw, end } = await opened();
  const state = held([lane(researcher, "a", [ended("0/a/answer", 1200, 4200, 0.012)])]);
  const table = draw(RunTable, { panel, run: state, time: Infinity });
  const cells = [...table.querySelectorAll("tbody td")];
  expect(texts(cells.filter((cell) => cell.matches(".wide")))).toEqual(["Answer", "1.2 s", "1,500"]);
  const lines = [...table.querySelectorAll("tbody .narrow")];
  expect(lines.map((line) => [line.closest<HTMLTableCellElement>("th, td")?.cellIndex, line.textContent])).toEqual([
    [0, "Answer"],
    [4, "Began at 1.2\u00a0s"],
    [6, "1,500 tokens"],
  ]);
  // At a time before it ended nobody is shown what it used by then.
  const before = draw(RunTable, { panel, run: state, time: 2000 });
  expect(before.textContent).not.toContain("1,500");
  await end();
});

test("a lane that is opened in a replay says nothing of what came later", async () => {
  const { panel, held, draw, end } = await opened();
  const calls = [called("c", "Search the web", 1200, 1900)];
  const state = held([lane(researcher, "a", [ended("0/a/answer", 1200, 4200, 0.012, { calls })])]);
  const [row] = state.lanes;
  if (!row) throw new Error("there is no lane");
  panel.open.add(row.key);
  const at = (time: number) =>
    draw(LaneRow, {
      ...{ panel, run: state, lane: row, place: 0, axis: 5000, now: 4200, time },
    }).textContent;
  expect(at(Infinity)).toContain("$0.012");
  expect(at(2000)).not.toContain("$0.012");
  await end();
});

/** What a person wrote, chose or reads stays theirs: nothing takes it back, and nothing takes the place of it. */
import { flushSync, mount, unmount, type Component } from "svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { inApp, type App } from "../app.svelte";
import { AppError } from "../bridge/calls";
import { council, three } from "./make";
import type { Council, CouncilPreset, Member, Run, Task } from "../bridge/generated";
import AnswerCost from "../chat/AnswerCost.svelte";
import { s } from "../strings";
import { startApp, until } from "../testing";
import CouncilTab from "./CouncilTab.svelte";
import CouncilTop from "./CouncilTop.svelte";
import FoldedLine from "./FoldedLine.svelte";
import Inspector from "./Inspector.svelte";
import LaneRow from "./Lane.svelte";
import MemberCard from "./MemberCard.svelte";
import MemberForm from "./MemberForm.svelte";
import { Panel } from "./panel.svelte";
import RunArea from "./RunArea.svelte";
import RunSettings from "./RunSettings.svelte";
import TaskDetail from "./TaskDetail.svelte";
import ToolShelf from "./ToolShelf.svelte";

const [researcher, sceptic] = three as [Member, Member];
const scrolled = vi.fn();

beforeEach(() => {
  scrolled.mockClear();
  // jsdom has neither.
  Element.prototype.scrollIntoView = scrolled;
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      unobserve() {}
      disconnect() {}
    },
  );
});

/** A component on the page, until end is called. */
function shown<P extends Record<string, unknown>>(app: App, what: Component<P>, props: P) {
  const target = document.createElement("div");
  document.body.append(target);
  const made = mount(what, { target, props, context: inApp(app) });
  flushSync();
  const all = (selector: string) => [...target.querySelectorAll<HTMLElement>(selector)];
  const button = (name: string) => all("button").find((b) => b.textContent.trim() === name || b.ariaLabel === name);
  const end = async () => {
    await unmount(made);
    target.remove();
  };
  const says = () => {
    flushSync();
    return target.textContent.replace(/\s+/g, " ").trim();
  };
  return { target, all, button, says, end };
}

/** Writes into a field as a person does. */
function type(field: HTMLElement | undefined, value: string) {
  if (!field) throw new Error("there is no such field");
  field.focus();
  (field as HTMLInputElement).value = value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  flushSync();
}

function press(key: string, at: HTMLElement | undefined) {
  const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
  at?.dispatchEvent(event);
  flushSync();
  return event;
}

async function set() {
  const { app, fake } = await startApp("councilset");
  await until("the council", () => app.council.settings !== null);
  return { app, fake };
}

/** A run's panel, as the scene has it. */
async function ran(scene: string) {
  const { app, fake } = await startApp(scene);
  const panel = new Panel(app);
  await panel.switchTo(app.chat?.id ?? "");
  await until("the run", () => (panel.run?.lanes.length ?? 0) > 0);
  const run = panel.run as NonNullable<typeof panel.run>;
  const row = (key: string) => {
    const of = run.lane(key);
    if (!of) throw new Error(`no lane ${key}`);
    const place = run.lanes.indexOf(of);
    const props = { panel, run, lane: of, place, axis: 12_000, now: 3000, time: Infinity };
    return shown(app, LaneRow, props);
  };
  const end = () => {
    panel.close();
    app.close();
  };
  return { app, fake, panel, run, row, end };
}

const refused = (message: string) => new AppError({ kind: "invalid", message, hint: "Shorten it." });

describe("what is typed in a form of the council", () => {
  it("stays when it cannot be written, with the reason in its form, and goes with the next change", async () => {
    const { app, fake } = await set();
    const Set = vi.spyOn(fake.council, "Set").mockRejectedValueOnce(refused("It is too long."));
    app.council.setMember("maker", { role: "x".repeat(900) });
    await app.council.open();
    app.council.setMember("sceptic", { role: "y".repeat(900) });
    const role = (of: string) => app.council.members.find((m) => m.id === of)?.role.length;
    await until("it to be refused", () => app.council.wrong !== null);
    expect([app.council.wrong?.member, app.toasts.list]).toEqual(["sceptic", []]);
    fake.bus.changed("councils"); // somebody else changed something
    await app.council.open();
    expect([role("maker"), role("sceptic")]).toEqual([900, 900]);
    app.council.setMember("sceptic", { role: "short" });
    await app.council.saved();
    expect([app.council.wrong, Set.mock.calls.length]).toEqual([null, 2]);
    expect([role("maker"), role("sceptic")]).toEqual([900, 5]);
    app.close();
  });

  it("is said where its form is not seen any more: before a message goes, and of a chat that is left", async () => {
    const { app, fake } = await set();
    const Set = vi.spyOn(fake.council, "Set").mockRejectedValue(refused("It is too long."));
    app.council.setMember("maker", { role: "x".repeat(900) });
    await app.council.saved();
    expect(app.toasts.list.map((t) => t.text)).toEqual(["It is too long."]);
    app.toasts.dismiss(app.toasts.list[0]?.key ?? 0);
    await app.council.switchTo("another");
    expect(app.toasts.list.map((t) => t.text)).toEqual(["It is too long."]);
    expect(app.council.wrong).toBe(null);
    Set.mockRestore();
    const before = fake.given("Council.Set").length;
    await app.council.saved();
    expect(fake.given("Council.Set").length).toBe(before);
    app.close();
  });

  it("an empty name is written nowhere; who leaves the field has the former one", async () => {
    const { app, fake } = await set();
    const form = shown(app, MemberForm, { member: researcher, place: 0 });
    const name = form.all("input.field")[0] as HTMLInputElement;
    type(name, "");
    await app.council.saved();
    expect([fake.given("Council.Set"), name.value]).toEqual([[], ""]);
    name.blur();
    flushSync();
    expect(name.value).toBe("Researcher");
    type(name, "Ada");
    await app.council.saved();
    expect(app.council.members[0]?.name).toBe("Ada");
    await form.end();
    app.close();
  });

  it("the reason stands in the form, in the card where that is closed, and with what holds for the run", async () => {
    const { app, fake } = await set();
    app.council.forPanel();
    await until("the choices", () => app.council.choices !== null);
    vi.spyOn(fake.council, "Set").mockRejectedValue(refused("It is too long."));
    const card = shown(app, MemberCard, {
      ...{ member: researcher, place: 0, count: 3, open: false, ontoggle: () => {} },
      ...{ onmove: () => {}, onduplicate: () => {}, onremove: () => {} },
    });
    const form = shown(app, MemberForm, { member: researcher, place: 0 });
    const whole = shown(app, RunSettings, {});
    const where = () => [card, form, whole].map((one) => one.says().includes("It is too long."));
    app.council.setMember("researcher", { role: "x".repeat(900) });
    await until("it to be refused", () => app.council.wrong !== null);
    expect(where()).toEqual([true, true, false]);
    app.council.set({ mode: "vote" });
    flushSync();
    const choices = whole.all("textarea")[0] as HTMLTextAreaElement;
    choices.value = "Yes\nyes";
    choices.dispatchEvent(new Event("change", { bubbles: true }));
    await until("that to be refused", () => app.council.wrong?.member === "");
    expect(where()).toEqual([false, false, true]);
    expect(choices.value).toBe("Yes\nyes");
    for (const one of [card, form, whole]) await one.end();
    app.close();
  });

  it("stays open below a run that begins, for as long as the focus is in it", async () => {
    const { app, fake } = await startApp("council");
    const tab = shown(app, CouncilTab, {});
    const members = () => tab.all("details.members")[0] as HTMLDetailsElement;
    await until("the run", () => tab.all("[data-lane]").length > 0);
    tab.all("details.members > summary")[0]?.click();
    flushSync();
    tab.all("[data-member] .who")[0]?.focus();
    const begin = async (run: string) => {
      const was = structuredClone(fake.council.of("run-1"));
      fake.council.add({ ...was, run, live: true, state: "running" });
      await until("it to be shown", () => tab.says().includes(s.council.finish));
      flushSync();
      return members().open;
    };
    expect(await begin("run-2")).toBe(true);
    fake.council.change("run-2", [], { live: false, state: "over" });
    await until("it to end", () => !tab.says().includes(s.council.finish));
    (document.activeElement as HTMLElement).blur();
    expect(await begin("run-3")).toBe(false);
    await tab.end();
    app.close();
  });
});

describe("a council that takes the place of another", () => {
  const undo = (app: App) => app.toasts.list.at(-1)?.action?.run();

  it("from a file, or forgotten, is taken back in its chat and where it was set", async () => {
    const { app, fake } = await set();
    const top = shown(app, CouncilTop, { panel: new Panel(app), onadd: () => {} });
    const before = app.council.council as Council;
    fake.council.ReadCouncil = async () => council([sceptic], { name: "Red team", chair: "a/b" });
    const input = top.target.querySelector("input[type=file]") as HTMLInputElement;
    const file = { name: "a file", text: () => Promise.resolve("{}") };
    Object.defineProperty(input, "files", { value: [file] });
    input.dispatchEvent(new Event("change", { bubbles: true }));
    await until("it to be read", () => app.toasts.list.length > 0);
    expect(app.toasts.list[0]?.text).toBe("This chat now uses Red team");
    await app.council.saved();
    expect(app.council.members.length).toBe(1);
    undo(app);
    await until("the former", () => app.council.members.length === 3);
    const kept = fake.given("Council.Set").at(-1) as [string, string, Council];
    expect(kept).toEqual([app.chat?.id, "chat chat-1", before]);

    const takeBack = await app.council.clear();
    const other = council([researcher]);
    fake.council.settings = { ...fake.council.settings, council: other, scope: "global" };
    await app.council.open();
    await takeBack();
    expect(fake.given("Council.Set").at(-1)?.slice(1)).toEqual(["chat chat-1", before]);
    await top.end();
    app.close();
  });

  it("by a preset is taken back whole, also what only the preset has", async () => {
    const { app, fake } = await set();
    const chat = app.chat?.id ?? "";
    const before = app.council.council as Council;
    const [preset] = fake.council.choices.presets as [CouncilPreset];
    const takeBack = await app.council.setIn(chat, () => ({ ...preset.council, chair: "a/b" }));
    app.council.setMember("maker", { name: "Ada" }); // on its way still
    await takeBack();
    expect(app.council.council).toEqual(before);
    app.close();
  });
});

describe("the reader of a run", () => {
  it("is brought to a point once: not when its lane is drawn anew, and not with each change of the run", async () => {
    const { fake, panel, run, row, end } = await ran("council");
    let lane = row("researcher");
    const point = () => lane.all('[data-point="a1"]')[0];
    panel.goTo("a1");
    flushSync();
    await until("the point", () => point() !== undefined);
    flushSync();
    expect(document.activeElement).toBe(point());
    const times = scrolled.mock.calls.length;
    expect(times).toBe(2); // its lane, and itself
    expect(point()?.className).toContain("marked");
    (document.activeElement as HTMLElement).blur();
    const [first] = structuredClone(fake.council.of("run-1").lanes) as [Run["lanes"][number]];
    run.take({ ...fake.council.of("run-1"), lanes: [{ ...first, name: "Ada" }] });
    flushSync();
    expect(lane.says()).toContain("Ada");
    await lane.end();
    lane = row("researcher");
    await until("the point again", () => point() !== undefined);
    flushSync();
    expect([scrolled.mock.calls.length, document.activeElement]).toEqual([times, document.body]);
    expect(point()?.className).toContain("marked");
    panel.goTo("a1");
    flushSync();
    expect(document.activeElement).toBe(point());
    await lane.end();
    end();
  });

  it("is brought to what a member asks once, however often the requests are brought", async () => {
    const { app, row, end } = await ran("councilpermission");
    const lane = row("researcher");
    await until("the card", () => lane.all(".asked").length > 0);
    const times = scrolled.mock.calls.length;
    expect(times).toBe(1);
    app.permissions.requests = structuredClone(app.permissions.requests);
    flushSync();
    expect([lane.all(".asked").length, scrolled.mock.calls.length]).toEqual([1, times]);
    await lane.end();
    end();
  });

  it("sees why a task failed once: in its lane, and where that is opened in the task", async () => {
    const { panel, row, end } = await ran("councilasking");
    const lane = row("researcher");
    const often = () => lane.says().split("did not answer in 30 s").length - 1;
    expect(often()).toBe(1);
    panel.open.add("researcher");
    expect(often()).toBe(1);
    await lane.end();
    end();
  });

  it("sees what a member did and how long, and in its bar where a call began and ended", async () => {
    const { row, end } = await ran("council");
    const lane = row("researcher");
    expect(lane.says()).toMatch(/Done · \d+\.\d s/);
    const calls = lane.all(".notch").map((n) => n.style.transform);
    expect(calls.length).toBeGreaterThan(1);
    expect(new Set(calls).size).toBe(calls.length);
    await lane.end();
    end();
  });
});

describe("what could not be brought", () => {
  it("is said of the chat it was asked for, and tried again", async () => {
    const { app, fake } = await startApp("council");
    const Runs = vi.spyOn(fake.council, "Runs").mockRejectedValue(refused("It is locked."));
    const tab = shown(app, CouncilTab, {});
    await until("it to fail", () => tab.says().includes("It is locked."));
    Runs.mockRestore();
    tab.button(s.app.tryAgain)?.click();
    await until("the run", () => tab.all("[data-lane]").length > 0);
    expect(tab.says()).not.toContain("It is locked.");
    await tab.end();
    vi.spyOn(fake.council, "Runs").mockRejectedValue(refused("It is locked."));
    const panel = new Panel(app);
    await panel.switchTo(app.chat?.id ?? "");
    expect(panel.error?.message).toBe("It is locked.");
    void panel.switchTo("");
    expect(panel.error).toBe(null);
    app.close();
  });

  it("of a run that is shown is said above its lanes", async () => {
    const { app, fake, panel, run, end } = await ran("council");
    const area = shown(app, RunArea, { panel, run });
    vi.spyOn(fake.council, "Run").mockRejectedValueOnce(refused("It is locked."));
    await run.open();
    expect(area.says()).toContain("It is locked.");
    area.button(s.app.tryAgain)?.click();
    await until("it to be brought", () => run.error === null);
    expect(area.says()).not.toContain("It is locked.");
    await area.end();
    end();
  });

  it("of a member's words is asked for again", async () => {
    const { app, fake, panel, run, end } = await ran("council");
    const of = run.lane("researcher") as NonNullable<ReturnType<typeof run.lane>>;
    const answer = of.view.tasks.find((t) => t.kind === "answer") as Task;
    vi.spyOn(fake.council, "Said").mockRejectedValueOnce(refused("It is locked."));
    const props = { panel, run, lane: of, task: answer, live: false, tone: 1 };
    const detail = shown(app, TaskDetail, props);
    await until("it to fail", () => detail.says().includes("It is locked. Shorten it."));
    detail.button(s.app.tryAgain)?.click();
    flushSync();
    await until("the points", () => detail.all("[data-point]").length > 0);
    await detail.end();
    end();
  });

  it("of what a member was told is asked for again", async () => {
    const { app, fake, run, end } = await ran("council");
    const task = run.lane("sceptic")?.view.tasks[0]?.id ?? "";
    vi.spyOn(fake.council, "Sent").mockRejectedValueOnce(refused("It is locked."));
    const dialog = shown(app, Inspector, { run, member: "sceptic", task, onclose: () => {} });
    const sheet = () => document.body.textContent;
    await until("it to fail", () => sheet().includes("It is locked."));
    flushSync();
    const again = [...document.querySelectorAll("button")].find((b) => b.textContent.trim() === s.app.tryAgain);
    again?.click();
    await until("it to be brought", () => sheet().includes("82 tokens"));
    expect(sheet()).not.toContain("It is locked.");
    await dialog.end();
    end();
  });
});

describe("a line that is written in the panel", () => {
  it("a nudge stays until it was taken, and Esc leaves its field and nothing else", async () => {
    const { app, fake, row, end } = await ran("councillive");
    const lane = row("sceptic");
    const open = async () => {
      lane.button(s.council.laneMenu("Sceptic"))?.click();
      flushSync();
      const item = () =>
        [...document.querySelectorAll<HTMLElement>("[role=menuitem]")].find((i) =>
          i.textContent.includes(s.council.nudge),
        );
      press("Enter", lane.button(s.council.laneMenu("Sceptic")));
      await until("the menu", () => item() !== undefined);
      item()?.click();
      flushSync();
      await until("the field", () => lane.all("form input").length > 0);
      return lane.all("form input")[0] as HTMLInputElement;
    };
    const field = await open();
    type(field, "They stand outside.");
    fake.council.Act = () => Promise.reject(refused("It has ended."));
    (lane.all("form")[0] as HTMLFormElement).requestSubmit();
    await until("it to be said", () => app.toasts.list.length > 0);
    flushSync();
    expect((lane.all("form input")[0] as HTMLInputElement).value).toBe("They stand outside.");
    const escape = press("Escape", lane.all("form .quiet")[0]);
    expect([escape.defaultPrevented, lane.all("form").length]).toEqual([true, 0]);
    expect((await open()).value).toBe("They stand outside.");
    fake.council.Act = () => Promise.resolve();
    (lane.all("form")[0] as HTMLFormElement).requestSubmit();
    await until("it to be taken", () => {
      flushSync();
      return lane.all("form").length === 0;
    });
    await lane.end();
    end();
  });
});

describe("what is heard", () => {
  it("that the council waits is said at once, by the panel or else by the line in the chat", async () => {
    const { app, panel, run, end } = await ran("councilasking");
    const area = shown(app, RunArea, { panel, run });
    expect(app.alert).toBe("The council is waiting for you: 1 task failed.");
    await area.end();
    app.alert = "";
    app.layout.setDock(true, "council");
    const costs = { ms: 0, cost: 0, known: true };
    const line = { run: "run-1", members: 3, silent: 0, disagree: 0, seats: [], ...costs };
    const asks = { line: { ...line, state: "asking", live: true } };
    const seen = shown(app, FoldedLine, asks);
    expect(app.alert).toBe("");
    await seen.end();
    app.layout.setDock(true, "tools");
    const folded = shown(app, FoldedLine, asks);
    expect(app.alert).toBe(s.council.lineAsks);
    await folded.end();
    end();
  });

  it("members that end in one pull are all named", async () => {
    const { app, fake, panel, run, end } = await ran("councillive");
    const lanes = structuredClone(fake.council.of(run.id).lanes);
    const over = { state: "done", phase: "" as Task["phase"], calls: [], end_ms: 4000 } as const;
    for (const of of lanes.slice(0, 2)) of.tasks = of.tasks.map((t) => ({ ...t, ...over, calls: [] }));
    run.take({ ...fake.council.of(run.id), lanes });
    await Promise.resolve();
    expect(app.status).toBe("Researcher: Done, Sceptic: Done");
    expect(panel.run).toBe(run);
    end();
  });
});

describe("the page says in words", () => {
  it("why a member cannot use a tool that it has", async () => {
    const { app } = await set();
    app.council.forPanel();
    await until("the choices", () => app.council.choices !== null);
    const member = { ...researcher, tools: ["mail:send", "gone:tool"] };
    const card = shown(app, MemberCard, {
      ...{ member, place: 0, count: 1, open: false, ontoggle: () => {} },
      ...{ onmove: () => {}, onduplicate: () => {}, onremove: () => {} },
    });
    expect(card.says()).toContain("Send mail: It is switched off.");
    expect(card.says()).toContain(s.council.toolGone("gone:tool"));
    await card.end();
    app.close();
  });

  it("nothing of dragging where there is no tool", async () => {
    const { app, fake } = await set();
    app.council.choices = { ...fake.council.choices, tools: [] };
    const shelf = shown(app, ToolShelf, {});
    expect(shelf.says()).toBe("");
    await shelf.end();
    app.close();
  });

  it("under a council's answer, of time and money, only what its line does not say", async () => {
    const { app } = await startApp("council");
    const seq = app.chat?.outline.findLast((n) => app.chat?.entry(n)?.head.council) ?? 0;
    const head = app.chat?.entry(seq)?.head;
    if (!head?.council) throw new Error("the scene has no council");
    const usage = { input_tokens: 1000, output_tokens: 224, cost: 0, known: true } as never;
    const times = { created: "2026-11-25T14:00:00Z", ended: "2026-11-25T14:00:02.7Z", usage };
    const says = async (more: object) => {
      const cost = shown(app, AnswerCost, { head: { ...head, ...times, ...more } });
      const words = cost.says();
      await cost.end();
      return words;
    };
    const line = { ...head.council, cost: 0, known: true };
    expect(await says({ council: line })).toBe("1,224 tokens");
    expect(await says({ council: { ...line, cost: 0.04 } })).toBe("1,224 tokens · no cost");
    expect(await says({ council: null })).toBe("1,224 tokens · 2.7 s · no cost");
    app.close();
  });
});

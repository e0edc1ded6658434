import { flushSync } from "svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { fakeBridge } from "../bridge/fake";
import { called, council, ended, lane, member, run, task, three } from "./make";
import { Notices } from "../bridge/events";
import { s } from "../strings";
import type { Council, CouncilTool, Lane, Member, Run, Task } from "../bridge/generated";
import { startApp, until } from "../testing";
import { sentence } from "./cite";
import { at, axisOf, bars, marks, moments, spentBy } from "./lanes";
import { brief, folded, placeOf, rough, took } from "./line";
import { Panel } from "./panel.svelte";
import { Replay } from "./replay.svelte";
import { RunState } from "./run.svelte";
import {
  axisTime,
  callFacts,
  estimated,
  expected,
  laneDid,
  laneWhy,
  laneWord,
  lasted,
  leading,
  leftUntil,
  letterAt,
  listed,
  policyOf,
  runLabels,
  shareOf,
  taskWord,
  titleOf,
  whose,
} from "./words";

const [researcher, sceptic] = three as [Member, Member];

describe("a run on its axis", () => {
  it("tasks that overlap stand below one another, and those that follow share a row", () => {
    const drawn = bars(
      [ended("a", 0, 4000, 0), ended("b", 1000, 2000, 0), ended("c", 2000, 3000, 0), task("d", { state: "waiting" })],
      10_000,
      10_000,
    );
    expect(drawn.map((bar) => [bar.task.id, bar.row, bar.from, bar.to])).toEqual([
      ["a", 0, 0, 0.4],
      ["b", 1, 0.1, 0.2],
      ["c", 1, 0.2, 0.3],
    ]);
  });

  it("what was taken over from another run took no time of this one", () => {
    const kept = ended("kept", 0, 0, 0);
    const [bar] = bars([kept], 10_000, 10_000);
    expect(bar?.to).toBeLessThan(0.01);
    expect(at([kept], 500)).toEqual([kept]);
  });

  it("the axis fits its run, ends at a round mark a little beyond it, and has seven marks at most", () => {
    expect([66, 100, 150, 1900, 4900, 5000, 11_800, 61_000].map(axisOf)).toEqual([
      80, 120, 200, 2000, 5000, 6000, 15_000, 75_000,
    ]);
    for (let ms = 10; ms < 40_000_000; ms = Math.ceil(ms * 1.3)) {
      const axis = axisOf(ms);
      expect(axis).toBeGreaterThanOrEqual(ms);
      expect(axis).toBeLessThanOrEqual(ms * 1.52);
      expect(marks(axis).length).toBeLessThanOrEqual(7);
      expect(marks(axis)[0]).toBe(0);
      expect(marks(axis).at(-1)).toBe(axis);
    }
  });

  it("at a time of the run nothing is shown of what came later", () => {
    const tasks = [
      ended("a", 1000, 4000, 0, { calls: [called("1", "Search", 1500, 2500)] }),
      task("b", { state: "failed", start_ms: 0, end_ms: 3000, why: "It is down.", hint: "Wait." }),
    ];
    expect(at(tasks, 500).map((t) => t.state)).toEqual(["waiting", "working"]);
    const between = at(tasks, 2000);
    expect(between.map((t) => [t.state, t.why])).toEqual([
      ["working", ""],
      ["working", ""],
    ]);
    expect(between[0]?.calls[0]?.end_ms).toBe(0);
    expect(at(tasks, 3500)[1]?.why).toBe("It is down.");
    expect(at(tasks, Infinity)).toEqual(tasks);
    // What was used by then: nobody is shown the end before it happens.
    const spent = { input_tokens: 20, output_tokens: 4, ms: 3000, cost: 0.5, known: true };
    const paid = tasks.map((task) => ({ ...task, spent }));
    expect([500, 3500, 4000].map((ms) => spentBy(at(paid, ms)).input_tokens)).toEqual([0, 20, 40]);
    expect(at(paid, 500).map((task) => task.spent.cost)).toEqual([0, 0]);
    expect(at(paid, 3500).map((task) => task.spent.cost)).toEqual([0, 0.5]);
    expect(spentBy(at(paid, 4000))).toEqual({
      ...spent,
      input_tokens: 40,
      output_tokens: 8,
      ms: 6000,
      cost: 1,
    });
    expect(moments([lane(researcher, "a", tasks)], 4000)).toEqual([0, 1000, 1500, 2500, 3000, 4000]);
  });

  it("the letters of members go on after Z", () => {
    expect([0, 25, 26, 51].map(letterAt)).toEqual(["A", "Z", "AA", "AZ"]);
  });
});

describe("the words of a run", () => {
  it("are those of the brief", () => {
    expect(
      folded({
        run: "r",
        state: "over",
        live: false,
        members: 3,
        silent: 0,
        ms: 11_800,
        cost: 0.037,
        known: true,
        disagree: 1,
        seats: [],
      }),
    ).toBe("3 members · 11.8 s · $0.037 · 1 disagreement");
    const line = { run: "r", state: "over", live: false, ms: 100, cost: 0, known: true, seats: [] };
    const saying = (members: number, silent: number) => folded({ ...line, members, silent, disagree: 0 });
    expect(saying(3, 1)).toBe("3 members · 1 missing · 0.1 s · no cost");
    expect(saying(2, 2)).toBe("2 members · nobody answered · 0.1 s · no cost");
    const e = {
      calls: 4,
      tools: 0,
      input_tokens: 1,
      output_tokens: 1,
      cost: 0.04,
      known: true,
      cap: 0.25,
      seconds: 12.2,
      problems: [],
    };
    expect(estimated(e)).toBe("4 calls, about $0.04, about 12 s, cap $0.25");
    expect(brief(e)).toBe(" · about $0.04 · about 12 s");
    const work = { input_tokens: 1, output_tokens: 1, ms: 3000, cost: 0.002, known: true };
    const tasks = { "0/ada/answer": work, "1/ada/review": work, "0/bo/answer": work, chair: work };
    expect(shareOf({ ...e, tasks }, "ada")).toBe("about $0.004 · about 6 s");
    expect(shareOf({ ...e, tasks }, "cy") + shareOf(null, "ada")).toBe("");
    const tools = { "0/ada/web:search": work, "0/ada/text:count": { ...work, ms: 1000 } };
    expect(shareOf({ ...e, tasks: tools }, "ada")).toBe("about $0.004 · about 3 s"); // at once
    expect(shareOf({ ...e, tasks: { "0/ada/answer": { ...work, known: false } } }, "ada")).toBe("about 3 s");
    expect([
      rough(0.1),
      rough(0.0375),
      rough(2),
      took(125_000),
      took(59_990),
      took(600_000),
      took(66),
      took(0),
    ]).toEqual(["$0.10", "$0.037", "$2.00", "2 min 5 s", "1 min", "10 min", "66 ms", "0 s"]);
  });

  it("what is left of a time is said in whole seconds, until it is over", () => {
    expect(leftUntil(20_000, 3_100)).toBe("17 s left");
    expect(leftUntil(125_000, 0)).toBe("2 min 5 s left");
    expect([leftUntil(3_000, 3_000), leftUntil(0, 500)]).toEqual(["", ""]);
  });

  it("marks of the axis are times that can be read", () => {
    expect([0, 250, 1500, 60_000, 80_000, 100_000, 600_000].map(axisTime)).toEqual([
      "0 s",
      "250 ms",
      "1.5 s",
      "1 min",
      "1:20",
      "1:40",
      "10 min",
    ]);
  });

  it("a lane says what works, then what failed, then what was last", () => {
    const done = ended("a", 0, 1, 0);
    const failed = task("b", { state: "failed" });
    const working = task("c", { state: "working", phase: "thinking" });
    expect(leading([done, failed, working])).toBe(working);
    expect(leading([done, failed])).toBe(failed);
    expect(laneWord({ in: true }, [done, failed], "running")).toBe("Failed");
    expect(laneWord({ in: false }, [], "running")).toBe("Skipped");
    const asks = task("d", {
      state: "working",
      phase: "using",
      calls: [called("1", "Search", 0, 0, { request: "r" })],
    });
    expect(laneWord({ in: true }, [asks], "running")).toBe("Waiting for you");
    const went = { ...done, refused: 2 };
    expect(taskWord(went)).toBe("Done, 2 calls refused");
    expect(laneWord({ in: true }, [went], "over")).toBe("Done, 2 calls refused");
    expect(laneWord({ in: true }, [went, ended("e", 2, 3, 0)], "over")).toBe("Done, 2 calls refused");
    expect(laneWord({ in: true }, [went, failed], "over")).toBe("Failed");
  });

  it("a member that answered has done its work, though a review was left out", () => {
    const why = "The answers agree, so no review follows.";
    const review = (attempt: number) => task("1/a/review", { kind: "review", state: "stopped", attempt, why });
    const answer = ended("0/a/answer", 0, 900, 0);
    const says = (tasks: Task[]) => [laneWord({ in: true }, tasks, "over"), laneWhy({ in: true, why: "" }, tasks)];
    expect(says([answer, review(0)])).toEqual(["Done", ""]);
    expect(says([answer, review(1)])).toEqual(["Stopped", why]); // it had begun
    expect(says([review(0)])).toEqual(["Stopped", why]);
  });

  it("a member that answered has done its work, though nobody else did", () => {
    const answer = ended("0/a/answer", 0, 900, 0);
    const ballot = task("1/a/ballot", {
      kind: "ballot",
      state: "skipped",
      attempt: 1,
      why: "No other member answered.",
      hint: "Have the one that failed try again.",
    });
    expect(laneWord({ in: true }, [answer, ballot], "over")).toBe("Done");
    expect(laneWhy({ in: true, why: "" }, [answer, ballot])).toBe("");
    expect(laneWord({ in: true }, [ballot], "over")).toBe("Skipped");
    const byHand = { ...ballot, why: "You skipped it.", hint: "" };
    expect(laneWord({ in: true }, [answer, byHand], "over")).toBe("Skipped");
  });

  it("a lane says what its member did and how long; what ran at once is counted once", () => {
    const tool = (id: string, from: number, to: number, title: string) =>
      ended(id, from, to, 0, { kind: "tool", tool: "x:y", title });
    const did = (...tasks: Task[]) => Object.values(laneDid(tasks));
    expect(did(tool("a", 0, 79, "Write berth"))).toEqual(["Write berth", "79 ms"]);
    const both = [tool("a", 0, 1000, "Weather"), tool("b", 500, 1200, "Depth")];
    expect(did(...both)).toEqual(["2 tools", "1.2 s"]);
    expect(did(ended("a", 0, 3000, 0), ended("b", 9000, 11_000, 0))).toEqual(["", "5.0 s"]);
    expect(did(ended("kept", 0, 0, 0), task("w", { state: "waiting" }))).toEqual(["", ""]);
  });

  it("a task is called by the tool that it is, or by its kind; who writes the answer is the chair", () => {
    expect(titleOf(task("a", { kind: "tool", tool: "x:y", title: "Weather" }))).toBe("Weather");
    expect(titleOf(task("a", { kind: "tool", tool: "x:y" }))).toBe("x:y");
    expect(titleOf(task("a", { kind: "review" }))).toBe("Review");
    expect(s.council.see(s.council.chair)).toBe("What did Chair see?");
  });

  it("a ballot that is written is a vote", () => {
    const ballot = task("1/a/ballot", { kind: "ballot", state: "working", phase: "writing" });
    expect(laneWord({ in: true }, [ballot], "running")).toBe("Voting");
  });

  it("a letter under an answer has the colour of its place at the table", () => {
    expect([placeOf("a", 7), placeOf("e", 1), placeOf("", 2)]).toEqual([0, 4, 2]);
  });

  it("runs of one minute are told apart by their seconds, and those of another day by it", () => {
    const now = new Date(2026, 10, 23, 14, 30);
    const of = (...at: [number, number, number, number?]) => ({
      began: new Date(2026, 10, ...at).toISOString(),
      mode: "vote" as const,
      members: 3,
    });
    expect(
      runLabels([of(23, 14, 5, 40), of(23, 14, 5, 9), of(23, 13, 5), of(22, 13, 5)], now).map((label) =>
        label.replace(" · Answers, then a secret vote · 3 members", ""),
      ),
    ).toEqual(["14:05:40", "14:05:09", "13:05", "yesterday 13:05"]);
  });

  it("what a member cost stands beside what it was to cost", () => {
    const [first, second] = [ended("a", 0, 1, 0.008), ended("b", 0, 1, 0.011)];
    expect(expected([first, second])).toBe("(estimated $0.02)");
    const unknown = { ...second, expected: { ...second.expected, known: false } };
    expect([expected([task("c")]), expected([first, unknown])]).toEqual(["", ""]);
  });

  it("of the time of a task is said how much of it the person was asked", () => {
    const answer = ended("a", 1000, 13_000, 0);
    expect(lasted(answer)).toBe("12.0 s");
    expect(lasted({ ...answer, asked_ms: 10_000 })).toBe("12.0 s, 10.0 s of it waiting for you");
  });

  it("letters that were drawn for one member are said to be whose they are", () => {
    const drawn = [
      { letter: "a", name: "Maker" },
      { letter: "b", name: "Sceptic" },
    ];
    expect(whose("review", drawn)).toBe("The answers were anonymous: a is Maker, b is Sceptic.");
    expect([whose("answer", drawn), whose("ballot", [])]).toEqual(["", ""]);
  });

  it("a task that is a tool names it once, in its title", () => {
    const call = called("1", "Search", 0, 1);
    const [only] = listed(ended("a", 0, 1, 0, { kind: "tool", title: "Search", calls: [call] }));
    expect(only).toEqual({ ...call, title: "Input" });
    expect(listed(ended("a", 0, 1, 0, { calls: [call] }))).toEqual([call]);
  });

  it("the one call of a task that is a tool says its time where it is not that of the task", () => {
    const call = called("1", "Search", 200, 1400);
    const says = (change: Partial<Task>) => callFacts(call, ended("a", 200, 1400, 0, change));
    expect(says({ kind: "tool", calls: [call] })).toBe("Done");
    expect(says({ kind: "tool", calls: [call], end_ms: 2600 })).toBe("Done · 1.2 s");
    expect(says({ kind: "tool", calls: [call, call] })).toBe("Done · 1.2 s");
    expect(says({ calls: [call] })).toBe("Done · 1.2 s");
    expect(callFacts(called("1", "Search", 200, 0), ended("a", 0, 0, 0))).toBe("Running");
  });
});

describe("what a member is told", () => {
  it("is said also where it goes by the mode", () => {
    const as = (policy: Member["context"]["policy"], last = 0) =>
      member("ada", "Ada", { context: { ...researcher.context, policy, last } });
    expect(policyOf(as("question"), council([]))).toBe("Question only");
    expect(policyOf(as("turns", 3), council([]))).toBe("Last 3 turns");
    expect(policyOf(as(""), council([]))).toBe("Whole chat");
    expect(policyOf(as(""), council([], { mode: "tools" }))).toBe("Last 25 messages");
  });
});

describe("a run that is watched", () => {
  const streamed = (text: string, offset: number, change = {}): Lane =>
    lane(sceptic, "a", [task("0/s", { state: "working", phase: "writing", text, offset, ...change })]);
  const watched = () => {
    const fake = fakeBridge({ scene: "council" });
    const state = new RunState(fake, new Notices(fake), "run-1");
    const view = (lanes: Lane[], revision: number) =>
      state.take(run("chat-1", lanes, { revision, state: "running", live: true }));
    return { fake, state, view };
  };

  it("takes pieces of words in, and leaves the lane as it is drawn", () => {
    const { state, view } = watched();
    const heard: [string, boolean][] = [];
    view([streamed("Water, ", 0)], 2);
    state.words.hear("0/s", (piece, whole) => heard.push([piece, whole]));
    const drawn = state.lanes[0]?.view;
    view([streamed("yes.", 7)], 3);
    view([streamed("", 11)], 4);
    expect(heard).toEqual([
      ["Water, ", true],
      ["yes.", false],
    ]);
    expect(state.lanes[0]?.view).toBe(drawn);
    view([streamed("Anew", 0, { attempt: 2 })], 5);
    expect(heard.at(-1)).toEqual(["Anew", true]);
    expect(state.words.held("0/s")).toBe("Anew");
  });

  it("a missing piece has all of it brought by the next pull", async () => {
    const { fake, state, view } = watched();
    view([streamed("Water, ", 0)], 2);
    view([streamed("may be.", 90)], 3);
    expect(state.words.held("0/s")).toBe("Water, ");
    const since = vi.spyOn(fake.council, "Run").mockResolvedValue(
      run("chat-1", [streamed("Water, and all of it, may be.", 0)], {
        revision: 4,
        live: true,
        state: "running",
      }),
    );
    await state.open();
    expect(since).toHaveBeenCalledWith("run-1", 0);
    expect(state.words.held("0/s")).toBe("Water, and all of it, may be.");
  });

  it("a run that began to be told anew is pulled from what it has now", async () => {
    const { fake, state, view } = watched();
    view([streamed("Water, ", 0)], 50);
    const pulled = vi
      .spyOn(fake.council, "Run")
      .mockResolvedValue(run("chat-1", [streamed("Water, ", 0)], { revision: 3, reset: true, live: true }));
    await state.open();
    await state.open();
    expect(pulled.mock.calls).toEqual([
      ["run-1", 50],
      ["run-1", 3],
    ]);
  });

  it("what a member said is asked once, and anew for another attempt", async () => {
    const { fake, state, view } = watched();
    const asked = vi.spyOn(fake.council, "Said").mockResolvedValue({
      html: "",
      text: "",
      opinion: null,
      first: 0,
      stances: [],
      ballot: null,
      chosen: "",
    });
    view([lane(sceptic, "a", [ended("0/s", 0, 1, 0)])], 2);
    await Promise.all([state.said("0/s"), state.said("0/s")]);
    expect(asked).toHaveBeenCalledTimes(1);
    view([lane(sceptic, "a", [ended("0/s", 0, 5, 0, { attempt: 2 })])], 3);
    await state.said("0/s");
    expect(asked).toHaveBeenCalledTimes(2);
  });

  it("says that its chat was changed since, and keeps its lanes as they are", async () => {
    const { fake, state, view } = watched();
    view([lane(sceptic, "a", [ended("0/s", 0, 1, 0)])], 2);
    state.head = { ...(state.head as Run), live: false, state: "over" };
    const [drawn] = state.lanes;
    const now = run("chat-1", [], { revision: 9, edited: true });
    vi.spyOn(fake.council, "Run").mockResolvedValue(now);
    await state.look();
    expect([state.head.edited, state.lanes[0]]).toEqual([true, drawn]);
  });
});

describe("a replay", () => {
  beforeEach(
    () =>
      void vi.useFakeTimers({
        toFake: ["requestAnimationFrame", "cancelAnimationFrame", "performance"],
      }),
  );
  afterEach(() => void vi.useRealTimers());

  it("plays to the end at its speed, and begins anew there", () => {
    const replay = new Replay(() => 4000);
    replay.to(1000);
    replay.speed = 4;
    replay.play();
    vi.advanceTimersByTime(500);
    expect(replay.position).toBeGreaterThan(2500);
    expect(replay.position).toBeLessThan(3200);
    vi.advanceTimersByTime(500);
    expect([replay.playing, replay.at]).toEqual([false, Infinity]);
    replay.play();
    expect(replay.position).toBe(0);
    replay.end();
  });
});

describe("the panel", () => {
  const open = async () => {
    const { app, fake } = await startApp("councilagain");
    const panel = new Panel(app);
    const chat = app.chat?.id ?? "";
    await panel.switchTo(chat);
    const notice = async () => {
      fake.bus.changed("councils", chat);
      await panel.refresh();
      return panel.run?.id;
    };
    const end = () => {
      panel.close();
      app.close();
    };
    return { app, fake, panel, notice, end };
  };

  it("shows what is named once, and stays where one goes from there", async () => {
    const { app, fake, panel, notice, end } = await open();
    expect(panel.run?.id).toBe("run-2");
    for (let press = 0; press < 2; press++) {
      app.showCouncil("run-1");
      panel.heed();
      expect(panel.run?.id).toBe("run-1");
      expect(await notice()).toBe("run-1");
      panel.choose("run-2");
      expect(await notice()).toBe("run-2");
    }
    panel.choose("run-1");
    app.showCouncil(); // the newest
    panel.heed();
    expect(panel.run?.id).toBe("run-2");
    panel.choose("run-1");
    fake.council.add({ ...structuredClone(fake.council.of("run-2")), run: "run-3", live: true });
    expect(await notice()).toBe("run-3");
    // A run that is not known yet is waited for.
    app.showCouncil("run-4");
    expect(panel.heed()).toBe(false);
    expect(await notice()).toBe("run-3");
    fake.council.runs.unshift({ ...structuredClone(fake.council.of("run-2")), run: "run-4" });
    expect(await notice()).toBe("run-4");
    end();
  });

  it("what is open over a run goes with it, and does nothing to another", async () => {
    const { fake, panel, notice, end } = await open();
    panel.choose("run-1");
    const seeing = { member: "researcher", task: "1/researcher" };
    Object.assign(panel, { again: "", seeing });
    expect(await notice()).toBe("run-1");
    expect([panel.again, panel.seeing]).toEqual(["", seeing]);
    fake.council.add({ ...structuredClone(fake.council.of("run-2")), run: "run-3", live: true });
    expect(await notice()).toBe("run-3");
    expect([panel.again, panel.seeing]).toEqual([null, null]);
    end();
  });

  it("puts no run beside another than the one that repeats it", async () => {
    const { panel, end, fake } = await open();
    await until("the run", () => !!panel.run?.head?.again);
    let go = () => {};
    const Run = fake.council.Run.bind(fake.council);
    vi.spyOn(fake.council, "Run").mockImplementation(async (...given) => {
      await new Promise<void>((resolve) => (go = resolve));
      return Run(...given);
    });
    const compared = panel.compare();
    vi.mocked(fake.council.Run).mockRestore();
    panel.choose("run-1");
    go();
    await compared;
    expect([panel.run?.id, panel.compared]).toEqual(["run-1", null]);
    end();
  });
});

describe("the council of a chat", () => {
  it("has the helper write for a tool that asks for arguments, until somebody says otherwise", async () => {
    const { app, fake } = await startApp("councilset");
    await until("the council", () => app.council.settings !== null);
    const dice = fake.council.choices.tools.find((t) => t.id === "dice:roll") as CouncilTool;
    dice.asks_arguments = true;
    app.council.forPanel();
    await until("the choices", () => app.council.choices !== null);
    const maker = () => app.council.council?.members.find((m) => m.id === "maker") as Member;
    app.council.giveTools(maker(), ["dice:roll", "text:word_count"]);
    expect(maker().plan).toEqual(["dice:roll"]);
    app.council.setMember("maker", { plan: [] });
    app.council.giveTools(maker(), ["dice:roll"]);
    expect([maker().tools, maker().plan]).toEqual([["dice:roll"], []]);
    app.close();
  });

  it("a removed member is put back into the council of its own chat, among what was changed since", async () => {
    const { app, fake } = await startApp("councilset");
    await until("the council", () => app.council.settings !== null);
    const here = app.chat?.id ?? "";
    const members = () => app.council.council?.members ?? [];
    const [first, second, ...rest] = members() as [Member, Member, ...Member[]];
    app.council.set({ members: [first, ...rest] });
    app.council.setMember(first.id, { name: "Renamed" });
    await app.council.putBack(here, second, 1);
    expect(members().map((m) => m.name)).toEqual(["Renamed", second.name, ...rest.map((m) => m.name)]);
    await app.council.saved();

    const councils = new Map([
      [here, council([first])],
      ["other", council([member("x", "Xena")])],
    ]);
    fake.council.Settings = async (...[chat]: string[]) => ({
      ...fake.council.settings,
      council: councils.get(chat ?? "") as Council,
      scope: `chat ${chat}`,
    });
    await app.council.switchTo("other");
    await app.council.putBack(here, second, 1);
    const [chat, scope, set] = fake.asked.findLast((a) => a.name === "Council.Set")?.args as [string, string, Council];
    expect([chat, scope, set.members.map((m) => m.id)]).toEqual([here, `chat ${here}`, [first.id, second.id]]);
    expect(members().map((m) => m.name)).toEqual(["Xena"]);
    app.close();
  });

  it("is written a moment after its last change, whole and once", async () => {
    const { app, fake } = await startApp("councilset");
    await until("the council", () => app.council.settings !== null);
    app.council.setMember("maker", { name: "M" });
    app.council.setMember("maker", { name: "Ma" });
    app.council.set({ mode: "vote" });
    flushSync();
    expect(app.council.council?.members[2]?.name).toBe("Ma");
    await app.council.saved();
    expect(fake.given("Council.Set").map(([, , c]) => (c as { mode: string }).mode)).toEqual(["vote"]);
    app.close();
  });

  it("offers the panel what it can be made of, and what comes while it is open", async () => {
    const { app, fake } = await startApp("councilset");
    await until("the council", () => app.council.settings !== null);
    expect(app.council.choices).toBeNull();
    const shut = app.council.forPanel();
    await until("the choices", () => app.council.choices !== null);
    expect(app.council.choices?.tools).toHaveLength(fake.council.choices.tools.length);
    const tool = { ...(fake.council.choices.tools[0] as CouncilTool), id: "new:tool" };
    fake.council.choices.tools = [...fake.council.choices.tools, tool];
    fake.bus.changed("tools");
    await until("the new tool", () => !!app.council.choices?.tools.some((t) => t.id === "new:tool"));
    // Closed, it asks for nothing of the kind.
    shut();
    const choices = vi.spyOn(fake.council, "Choices");
    fake.bus.changed("tools");
    await app.council.open();
    expect(choices).not.toHaveBeenCalled();
    app.close();
  });

  it("is switched on after what is being written, which would switch it off again", async () => {
    const { app, fake } = await startApp("councilset");
    await until("the council", () => app.council.settings !== null);
    await app.council.use(false);
    const Set = fake.council.Set.bind(fake.council);
    let go = () => {};
    vi.spyOn(fake.council, "Set").mockImplementation(async (...given) => {
      await new Promise<void>((resolve) => (go = resolve));
      return Set(...given);
    });
    app.council.set({ mode: "tools" });
    void app.council.saved();
    await Promise.resolve();
    const used = app.council.use(true);
    expect(app.council.on).toBe(true);
    await Promise.resolve();
    go();
    await used;
    expect([app.council.on, app.council.council?.mode]).toEqual([true, "tools"]);
    app.close();
  });

  it("is forgotten after what is being written, which would bring it back", async () => {
    const { app, fake } = await startApp("councilset");
    await until("the council", () => app.council.settings !== null);
    const forgotten = () => fake.given("Council.Clear").length;
    const before: number[] = [];
    let go = () => {};
    vi.spyOn(fake.council, "Set").mockImplementation(async () => {
      await new Promise<void>((resolve) => (go = resolve));
      before.push(forgotten());
    });
    app.council.set({ mode: "tools" });
    const saved = app.council.saved();
    const cleared = app.council.clear();
    await Promise.resolve();
    go();
    await Promise.all([saved, cleared]);
    expect([before, forgotten()]).toEqual([[0], 1]);
    app.close();
  });

  it("speaks through the chat’s model where it names no helper, as one of another program does", async () => {
    const { app } = await startApp("councilset");
    const read = (model: string) => council(three, { helper: { model } });
    expect(app.council.speaking(read(""), "acme/large-2").helper.model).toBe("acme/large-2");
    expect(app.council.speaking(read("demo/guide"), "acme/large-2").helper.model).toBe("demo/guide");
    app.close();
  });

  it("what is changed while it is being written is written too", async () => {
    const { app, fake } = await startApp("councilset");
    await until("the council", () => app.council.settings !== null);
    const held: (() => void)[] = [];
    const written: string[] = [];
    vi.spyOn(fake.council, "Set").mockImplementation(async (_chat, _scope, set) => {
      await new Promise<void>((resolve) => held.push(resolve));
      written.push(set.mode);
      fake.council.settings = { ...fake.council.settings, council: structuredClone(set) };
    });
    app.council.set({ mode: "vote" });
    const first = app.council.saved();
    await until("the first to be written", () => held.length === 1);
    app.council.set({ mode: "relay" });
    held[0]?.();
    await first;
    expect(app.council.council?.mode).toBe("relay");
    const second = app.council.saved();
    await until("the second to be written", () => held.length === 2);
    held[1]?.();
    await second;
    expect(written).toEqual(["vote", "relay"]);
    expect(app.council.council?.mode).toBe("relay");
    app.close();
  });

  it("an answer that was asked before a change does not take the change back", async () => {
    const { app, fake } = await startApp("councilset");
    await until("the council", () => app.council.settings !== null);
    app.council.forPanel();
    await until("the choices", () => app.council.choices !== null);
    let go = () => {};
    const choices = vi.spyOn(fake.council, "Choices").mockImplementationOnce(async () => {
      await new Promise<void>((resolve) => (go = resolve));
      return fake.council.choices;
    });
    const asked = app.council.open(); // it has the settings, and waits for the choices
    await until("the choices to be asked", () => choices.mock.calls.length === 1);
    app.council.setMember("maker", { name: "Ada" });
    const saved = app.council.saved();
    await until("the change to be written", () => fake.given("Council.Set").length === 1);
    go();
    await asked;
    expect(app.council.council?.members[2]?.name).toBe("Ada");
    await saved;
    expect(app.council.council?.members[2]?.name).toBe("Ada");
    app.close();
  });

  it("a letter and a number are a point of the answer, and then of the review", async () => {
    const { app } = await startApp("councilreview");
    const button = document.createElement("button");
    const title = async (cite: string) => {
      button.title = "";
      button.dataset.cite = cite;
      await sentence(app, "run-1", button);
      return button.title;
    };
    expect(await title("a2")).toBe("Researcher: Mulch keeps the soil evenly moist.");
    expect(await title("a3")).toBe("Researcher: A dry week is enough.");
    expect(await title("a4")).toBe("");
    app.close();
  });

  it("two quick changes of the chat end in the one that was chosen last", async () => {
    const { app, fake } = await startApp("councilset");
    await until("the council", () => app.council.settings !== null);
    fake.council.Settings = async (...[chat]: string[]) => ({
      ...fake.council.settings,
      scope: `chat ${chat}`,
    });
    app.council.setMember("maker", { name: "Ada" }); // is written first
    await Promise.all([app.council.switchTo("one"), app.council.switchTo("two")]);
    expect(app.council.settings?.scope).toBe("chat two");
    app.close();
  });

  it("a change that is made before the chat's council has come is made when it is the one that was seen", async () => {
    const { app, fake } = await startApp("councilset");
    await until("the council", () => app.council.settings !== null);
    const Settings = fake.council.Settings.bind(fake.council);
    let go = () => {};
    fake.council.Settings = async (...args) => {
      await new Promise<void>((resolve) => (go = resolve));
      return Settings(...args);
    };
    const nothing = go;
    const switched = app.council.switchTo("");
    await until("the council of the new chat to be asked for", () => go !== nothing);
    app.council.set({ mode: "vote" });
    expect(app.council.council?.mode).toBe("opinions");
    fake.council.Settings = Settings;
    go();
    await switched;
    await app.council.saved();
    const [set] = fake.given("Council.Set") as [[string, string, Council]];
    expect([set[0], set[2].mode, app.toasts.list]).toEqual(["", "vote", []]);
    app.close();
  });

  it("between two chats nothing is changed in either, and what was named of the first is forgotten", async () => {
    const { app, fake } = await startApp("councilset");
    await until("the council", () => app.council.settings !== null);
    const left = app.chat?.id ?? "";
    const nothing = () => {};
    let go = nothing;
    fake.council.Settings = async (...[chat]: string[]) => {
      if (go === nothing) await new Promise<void>((resolve) => (go = resolve));
      return { ...fake.council.settings, scope: `chat ${chat}` };
    };
    app.showCouncil("run-1", "a2");
    const switched = app.council.switchTo("other");
    await until("the other to be asked for", () => go !== nothing);
    app.council.set({ mode: "vote" });
    await app.council.moveTo("global");
    await app.council.clear();
    await app.council.saved();
    go();
    await switched;
    expect([fake.given("Council.Set"), fake.given("Council.Clear")]).toEqual([[], []]);
    expect([app.council.settings?.scope, app.council.council?.mode]).toEqual(["chat other", "opinions"]);
    expect(app.toasts.list.map(({ text, hint }) => [text, hint])).toEqual([
      [s.council.tooEarly, s.council.tooEarlyHint],
    ]);
    expect([app.council.shown, app.council.point]).toEqual([null, ""]);
    // Where it cannot be read, the council that was left does not stand in its place.
    fake.council.Settings = async () => {
      throw new Error("It is locked.");
    };
    await app.council.switchTo(left);
    expect([app.council.settings, app.council.error?.message]).toEqual([null, "It is locked."]);
    app.close();
  });

  it("“@name ” asks a member by its whole name alone", async () => {
    const { app } = await startApp("councilset");
    await until("the council", () => app.council.settings !== null);
    expect(app.council.only("@Sceptic, is it so?")?.id).toBe("sceptic");
    expect(app.council.only("  @maker")?.id).toBe("maker");
    expect(app.council.only("@Makers say")).toBeUndefined();
    expect(app.council.only("ask @Maker")).toBeUndefined();
    expect(app.council.only("@Maker-2, is it so?")).toBeUndefined();
    const more = { ...app.council.members[0], id: "longer", name: "Maker of Maps" } as Member;
    app.council.set({ members: [...app.council.members, more] });
    expect(app.council.only("@maker of maps, is it so?")?.id).toBe("longer");
    expect(app.council.only("@Maker of what?")?.id).toBe("maker");
    expect(app.council.only("@longer?")?.id).toBe("longer");
    app.council.setMember("longer", { off: true });
    expect(app.council.only("@maker of maps, is it so?")?.id).toBe("maker");
    const names = (text: string) => app.council.named(text).map((m) => m.name);
    expect(names("@")).toEqual(["Researcher", "Sceptic", "Maker"]);
    expect(names("@s")).toEqual(["Sceptic"]);
    expect([names("@Sceptic "), names("@x"), names("mail@s"), names("@s\n")]).toEqual([[], [], [], []]);
    app.close();
  });
});

/** What hooks did to answers: every action, at every point. */
import type * as t from "../generated";

const same = (text: string): t.DiffLine => ({ kind: "same", text });
const added = (text: string): t.DiffLine => ({ kind: "added", text });
const removed = (text: string): t.DiffLine => ({ kind: "removed", text });
const heading = (text: string, kind: t.DiffKind = "same"): t.DiffLine => ({
  kind,
  text,
  heading: true,
});

/** A step of a hook, of which only what counts is named. */
export const step = (title: string, change: Partial<t.HookStep> = {}): t.HookStep => ({
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

export const hooked: t.HookedThing[] = [
  {
    request: 1,
    call: "",
    steps: [
      step("Conclave", {
        plugin: "conclave",
        action: "changed",
        notes: ["Weather station changed what the model is sent: {{temperature}}."],
        ms: 0.2,
        lines: [
          heading("Person"),
          removed("It is {{temperature}} here."),
          added("It is 21 °C here."),
        ],
      }),
      step("Lorebook", {
        action: "changed",
        notes: ["Lorebook changed what the model is sent."],
        ms: 12.6,
        lines: [
          heading("System text", "gap"),
          same("Answer in the language you are asked in."),
          same("Name your sources."),
          same("Keep it short."),
          removed("The city of Varn has two gates."),
          added(
            "The city of Varn has three gates; the third is known to the guild of bakers alone.",
          ),
          added("Its river is called the Lower Ashwater."),
          same("Winters there are long."),
          heading("Settings", "added"),
          added("temperature 0.4"),
        ],
        left: "12 more lines differ and are not kept.",
      }),
      step("Counter", { ms: 0.7 }),
      step("Slow index", { action: "timed out", reason: "It took too long.", ms: 10_002 }),
      step("Old hook", {
        action: "failed",
        reason:
          "TypeError: cannot read properties of undefined (reading “at”) in backend.js, line 14.",
        ms: 3.1,
      }),
      step("House style", {
        point: "after model",
        action: "changed",
        lines: [heading("Answer"), removed("Gonna check!"), added("I will check.")],
      }),
    ],
  },
  {
    request: 1,
    call: "Word count",
    steps: [
      step("Path keeper", {
        point: "before tool",
        action: "changed",
        lines: [
          heading("Arguments"),
          same("{"),
          removed('  "path": "/home/ada/../bob/notes.md"'),
          added('  "path": "/home/ada/notes.md"'),
          same("}"),
        ],
      }),
      step("Sunday guard", {
        point: "approve",
        action: "denied",
        reason: "Nothing is counted on Sundays.",
      }),
    ],
  },
  {
    request: 2,
    call: "",
    steps: [
      step("Lorebook", { action: "stopped", reason: "The guild of bakers keeps its secret." }),
    ],
  },
];

/** The marks of what is in them. */
export const marksOf = (things: t.HookedThing[]): t.HookMark[] =>
  things
    .flatMap((thing) => thing.steps)
    .filter((s) => s.action !== "")
    .map((s) => ({ plugin: s.plugin, title: s.title, did: s.action }));

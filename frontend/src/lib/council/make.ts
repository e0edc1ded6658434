/** Councils and runs for unit tests: recorded ones, changed in what a test is about. */
import { Scene } from "../bridge/fake/scene";
import type * as t from "../bridge/generated";
import { newMember } from "./member";

const recorded = new Scene("council");
const set = recorded.of<t.CouncilSettings>("Council.Settings").council;
const ran = recorded.of<t.Run>("Council.Run run-1");

export const three = set.members;

const nothing: t.Spending = { input_tokens: 0, output_tokens: 0, ms: 0, cost: 0, known: true };

export const member = (id: string, name: string, change: Partial<t.Member> = {}): t.Member => ({
  ...newMember([], name),
  id,
  ...change,
});

export const council = (members: t.Member[], change: Partial<t.Council> = {}): t.Council => ({
  ...set,
  enabled: members.length > 0,
  members,
  ...change,
});

export const task = (id: string, change: Partial<t.Task> = {}): t.Task => ({
  ...(ran.lanes.at(-1)?.tasks[0] as t.Task),
  id,
  stage: 0,
  kind: "answer",
  title: "",
  attempt: change.state === "waiting" || change.state === "skipped" ? 0 : 1,
  start_ms: 0,
  end_ms: 0,
  spent: nothing,
  expected: nothing,
  ...change,
});

/** A task that has ended, and what it cost. */
export const ended = (id: string, from: number, to: number, cost: number, change: Partial<t.Task> = {}): t.Task =>
  task(id, {
    start_ms: from,
    end_ms: to,
    bytes: 420,
    sent: 1,
    spent: { ...nothing, input_tokens: 1240, output_tokens: 260, cost },
    expected: { ...nothing, input_tokens: 1300, output_tokens: 300, ms: 9000, cost: cost && 0.01 },
    ...change,
  });

export const called = (
  id: string,
  title: string,
  from: number,
  to: number,
  change: Partial<t.Called> = {},
): t.Called => ({
  id,
  tool: "web:search",
  title,
  state: to ? "done" : "running",
  start_ms: from,
  end_ms: to,
  request: "",
  ...change,
});

export const lane = (of: t.Member, letter: string, tasks: t.Task[]): t.Lane => ({
  ...(ran.lanes[0] as t.Lane),
  member: of.id,
  name: of.name,
  role: of.role,
  letter,
  model: of.model || "demo/guide",
  chance: of.chance,
  context: of.context,
  tools: of.tools,
  tasks,
});

export const run = (conversation: string, lanes: t.Lane[], change: Partial<t.Run> = {}): t.Run => ({
  ...ran,
  conversation,
  lanes,
  members: lanes.filter((l) => l.member !== "" && l.in).length,
  result: null,
  ...change,
});

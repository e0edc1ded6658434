import { expect, test } from "vitest";
import type { Bridge } from "../bridge/calls";
import type { ToolAccess } from "../bridge/generated";
import { until } from "../testing";
import { MatrixState } from "./matrix.svelte";

test("of two rows pressed in a row the last one is opened, whichever answers first", async () => {
  const answers: Record<string, (tools: ToolAccess[]) => void> = {};
  const Tools = (plugin: string) => new Promise<ToolAccess[]>((resolve) => (answers[plugin] = resolve));
  const matrix = new MatrixState({ permissions: { Tools } } as unknown as Bridge);
  const first = matrix.toggle("dice");
  const second = matrix.toggle("notes");
  answers.notes?.([{ tool: "write" } as ToolAccess]);
  answers.dice?.([{ tool: "roll" } as ToolAccess]);
  await Promise.all([first, second]);
  expect(matrix.open).toBe("notes");
  expect(matrix.tools.map((t) => t.tool)).toEqual(["write"]);
});

test("the tools of a row that was opened while the table was read stay", async () => {
  const held: { plugin: string; tell: () => void }[] = [];
  const Tools = (plugin: string) =>
    new Promise<ToolAccess[]>((resolve) =>
      held.push({ plugin, tell: () => resolve([{ tool: `of ${plugin}` } as ToolAccess]) }),
    );
  const Matrix = async () => ({ rows: [], mode: "standard" });
  const matrix = new MatrixState({ permissions: { Tools, Matrix } } as unknown as Bridge);
  const opened = matrix.toggle("dice");
  held[0]?.tell();
  await opened;
  const read = matrix.load();
  await until("its tools to be asked for again", () => held.length === 2);
  const other = matrix.toggle("notes");
  held[2]?.tell();
  await other;
  held[1]?.tell();
  await read;
  expect(held.map(({ plugin }) => plugin)).toEqual(["dice", "dice", "notes"]);
  expect([matrix.open, ...matrix.tools.map((t) => t.tool)]).toEqual(["notes", "of notes"]);
});

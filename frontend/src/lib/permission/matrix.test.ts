import { expect, test } from "vitest";
import type { Bridge } from "../bridge/calls";
import type { ToolAccess } from "../bridge/generated";
import { MatrixState } from "./matrix.svelte";

test("of two rows pressed in a row the last one is opened, whichever answers first", async () => {
  const answers: Record<string, (tools: ToolAccess[]) => void> = {};
  const Tools = (plugin: string) =>
    new Promise<ToolAccess[]>((resolve) => (answers[plugin] = resolve));
  const matrix = new MatrixState({ permissions: { Tools } } as unknown as Bridge);
  const first = matrix.toggle("dice");
  const second = matrix.toggle("notes");
  answers.notes?.([{ tool: "write" } as ToolAccess]);
  answers.dice?.([{ tool: "roll" } as ToolAccess]);
  await Promise.all([first, second]);
  expect(matrix.open).toBe("notes");
  expect(matrix.tools.map((t) => t.tool)).toEqual(["write"]);
});

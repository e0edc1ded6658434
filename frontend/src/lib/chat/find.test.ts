import { expect, test } from "vitest";
import type { Find } from "../bridge/generated";
import type { OpenChat } from "./chat.svelte";
import { FindState } from "./find.svelte";

function finds(...seqs: number[]) {
  const chat = { target: null as Find | null, find: async () => seqs.map((seq) => ({ seq, spot: 0, nth: 0 })) };
  return { chat, find: new FindState(() => chat as unknown as OpenChat) };
}

test("find begins at the newest place, a search's find at the last one up to its message", async () => {
  const { chat, find } = finds(2, 2, 4, 9);
  await find.look("harbour");
  expect([find.at, chat.target?.seq]).toEqual([3, 9]);
  // The call's result is message 5; it is shown in the answer that begins with 4.
  await find.look("harbour", 5);
  expect([find.at, chat.target?.seq]).toEqual([2, 4]);
  await find.look("harbour", 1);
  expect(find.at, "before all").toBe(0);
});
